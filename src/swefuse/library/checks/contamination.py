"""Would a model see an evaluation set? Its functions under any names, or a run of the words of its texts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from swefuse.code.functions import body_hash
from swefuse.library.context import USUAL, Context
from swefuse.library.evaluation import EvaluationSet, definitions, runs, shape
from swefuse.library.parts import changed_sources
from swefuse.records import Task, Trajectory, Verdict
from swefuse.tasks.splits import HELDOUT

_NUMBER = re.compile(r"^\d+>", re.MULTILINE)


def contamination(task: Task, trajectory: Trajectory, verdict: Verdict, context: Context = USUAL) -> str | None:
    """The task is not held out, and nothing of it belongs to an evaluation set of the settings.

    That is a function of the files that it changes or views, before or after, whose body is one of the set's up to names,
    annotations and docstring, from three statements on; or as many words in a row as the settings say, in the instruction, the
    messages, the observations or the changed files. The reason names the problem and the words, so that a false alarm can be seen.

    Example: ``def total(xs): …`` with the body of ``HumanEval/4`` -> ``solution.py: total is HumanEval/4 of humaneval, …``.
    """
    if task.split in HELDOUT.values():
        return f"the task is of the split {task.split}, which is not trained on"
    if not context.evaluation:
        return None
    return next(_functions(task, trajectory, context.evaluation), None) or next(_words(task, trajectory, context.evaluation), None)


def _functions(task: Task, trajectory: Trajectory, sets: tuple[EvaluationSet, ...]) -> Iterator[str]:
    looks = {step.action.path for step in trajectory.steps if step.action is not None and step.action.name == "view"}
    for path in dict.fromkeys((*changed_sources(task, trajectory), *sorted(path for path in looks if path.endswith(".py")))):
        for text in dict.fromkeys((task.files.get(path, ""), trajectory.files.get(path, ""))):
            for node in definitions(text):
                likely = [one for one in sets if shape(node) in one.shapes]
                body = body_hash(node) if likely else ""
                for one in likely:
                    if body in one.bodies:
                        yield f"{path}: {node.name} is {one.bodies[body]} of {one.name}, up to names and docstring"


def _words(task: Task, trajectory: Trajectory, sets: tuple[EvaluationSet, ...]) -> Iterator[str]:
    with_texts = [one for one in sets if one.grams]
    if not with_texts:
        return
    for where, text in _texts(task, trajectory):
        for one in with_texts:
            for run in runs(text, one.words):
                if run in one.grams:
                    yield f'{where}: {one.words} words of {one.grams[run]} of {one.name}: "{run}"'


def _texts(task: Task, trajectory: Trajectory) -> Iterator[tuple[str, str]]:
    yield "instruction", task.instruction
    for path in changed_sources(task, trajectory):
        yield path, task.files.get(path, "")
        yield path, trajectory.files[path]
    for number, step in enumerate(trajectory.steps, 1):
        yield f"step {number}", step.raw
        yield f"step {number}", _NUMBER.sub("", step.observation)
