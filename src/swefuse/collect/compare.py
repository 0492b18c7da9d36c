"""Solutions that pass every test and are wrong all the same: told by calls that no test makes, answered by the reference.

A policy that may try often finds the holes of weak tests. Where a task is one function with tests by calls and has a reference,
what a policy made of it must answer like the reference on variations of the tests' arguments, wherever the reference gives an
answer. That is evidence, not proof, since the arguments may be such as nobody would give: the call that shows it is told.
"""

from __future__ import annotations

import random

from swefuse.errors import DataError
from swefuse.records import Task, Trajectory
from swefuse.tasks.inputs import candidates
from swefuse.tasks.observe import Observed, observe
from swefuse.verify.many import verifier
from swefuse.verify.screen import protected_paths
from swefuse.workspace import Files

DIFFERS = "it passes the tests and differs from the reference where no test asks"
CPU_S = 1.0  # of all calls together


def difference(count: int, item: tuple[Task, Trajectory]) -> str:
    """The first of ``count`` generated calls that the trajectory's solution answers otherwise than the reference, in words.

    Empty where there is none, and where nothing can be compared. Runs in a process of ``verify.many.init_worker``. Raises
    SandboxError when the sandbox fails.
    """
    task, made = item
    suite = task.suite("calls")
    state = {**task.files, **made.files}
    if suite is None or not task.reference or all(state.get(path) == text for path, text in task.reference.items()):
        return ""
    known = [call.args for call in suite.calls]
    rng = random.Random(f"compare|{task.id}")
    texts = [text for text in candidates(rng, known, count + len(known)) if text not in known][:count]
    name = suite.entry.partition(":")[2]
    try:
        wanted = _answers(task, {**task.files, **task.reference}, texts)
        wanted_again = _answers(task, {**task.files, **task.reference}, texts)
        got = _answers(task, state, texts)
    except DataError as error:
        return str(error)
    for text, want, again, answer in zip(texts, wanted, wanted_again, got, strict=True):
        if want.want is not None and want == again and answer != want:
            said = answer.want or answer.raises or answer.trouble
            return f"{name}{text} gives {said}, not {want.want}"
    return ""


def _answers(task: Task, files: Files, texts: list[str]) -> list[Observed]:
    suite = task.suite("calls")
    assert suite is not None
    protected = set(protected_paths(task))
    modules = {path: text for path, text in files.items() if path.endswith(".py") and path not in protected}
    return observe(verifier().sandbox, modules, suite.entry, texts, CPU_S)
