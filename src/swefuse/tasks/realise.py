"""From a template with filled gaps to a proven task. Runs in worker processes."""

from __future__ import annotations

import ast
import platform
import random
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from swefuse.code.imports import imported_modules
from swefuse.errors import DataError, SandboxError
from swefuse.records import Call, Evidence, Kind, Outcome, Provenance, Suite, Task, Verdict
from swefuse.sandbox.base import Job
from swefuse.tasks.inputs import candidates
from swefuse.tasks.observe import observe, results
from swefuse.tasks.prove import failing
from swefuse.tasks.spec import FunctionSpec
from swefuse.tasks.steps import solution
from swefuse.tasks.suites import FEWEST_CALLS, choose_calls, show
from swefuse.tasks.template import Template, problem
from swefuse.tasks.workers import verifier
from swefuse.verify.kinds import RULES
from swefuse.verify.kinds.base import report
from swefuse.verify.kinds.qa import ANSWER

LICENCE = "Apache-2.0"
INPUTS = 40
CPU_S = 1.0  # of all calls together
TEST_CPU_S = 4.0
_UNANSWERED = "def answer():\n    return None\n"
_LONGEST = 200
_ABOUT = ("function", "body_hash", "topic")  # values that go into the provenance under their own names


@dataclass(frozen=True, slots=True)
class Made:
    """A task, or why there is none, of one draw of a template."""

    template: str
    number: int
    task: Task | None
    reason: str = ""


def realise(filled: Template, number: int, repeats: int = 2) -> Made:
    """Run whatever says what the tests are, then prove the task: the reference does what is asked, the initial state does not.

    Each ``repeats`` times alike. What does not hold is told as the reason; a failure of the sandbox too.
    """
    try:
        if wrong := problem(filled):
            raise DataError(wrong)
        task = _task(filled, number)
        return Made(filled.name, number, _proven(task, repeats))
    except SandboxError as error:
        return Made(filled.name, number, None, f"the sandbox could not run it: {error}")
    except DataError as error:
        return Made(filled.name, number, None, str(error))


def _task(filled: Template, number: int) -> Task:
    files = {**filled.files, **filled.tests}
    reference = {**files, **filled.solution}
    suites: list[Suite] = []
    editable = tuple(sorted(filled.solution))
    protected = tuple(sorted(filled.tests))
    goal, tests = dict(filled.goal), not RULES[filled.kind].alone
    if filled.kind is Kind.QA:
        goal, editable, protected, tests = {**goal, "answer": ANSWER}, (ANSWER,), tuple(sorted(files)), False
        suites = [_answer(filled)]
        files = {**files, ANSWER: _UNANSWERED}
        reference = {**files, ANSWER: _UNANSWERED.replace("None", str(suites[0].calls[0].want))}
    elif filled.entry:
        suites.append(_calls(filled, files, reference, number))
    if filled.tests:
        suites.append(_pytest(sorted(filled.tests), files, reference))
    if filled.kind is Kind.TESTGEN:
        protected = (goal["module"],)
    values = filled.values
    shown = {key: str(value)[:_LONGEST] for key, value in values.items() if key not in _ABOUT and len(str(value)) <= _LONGEST}
    return Task.make(
        filled.kind, instruction=filled.instruction, files=files, editable=editable, protected=protected, suites=tuple(suites),
        goal=goal, reference=reference, solution=solution(files, reference, filled.thoughts, tests),
        provenance=Provenance(
            source="template", licence=LICENCE, operator=filled.name, topic=str(values.get("topic", filled.domain)),
            function=str(values.get("function", "")), body_hash=str(values.get("body_hash", "")),
            parameters={"template": filled.name, "number": str(number), "domain": filled.domain, **shown},
        ),
    )  # fmt: skip


def _modules(state: Mapping[str, str], without: Sequence[str]) -> dict[str, str]:
    return {path: text for path, text in state.items() if path.endswith(".py") and path not in without}


def _calls(filled: Template, files: Mapping[str, str], reference: Mapping[str, str], number: int) -> Suite:
    """The template's calls and variations of them, with the answers of the reference."""
    box = verifier().sandbox
    rng = random.Random(f"calls|{filled.name}|{number}")
    right, broken = (_modules(state, list(filled.tests)) for state in (reference, files))
    texts = candidates(rng, list(dict.fromkeys(filled.calls)), INPUTS)
    name = filled.entry.partition(":")[2]
    spec = FunctionSpec("corpus", filled.domain, name, "", "", LICENCE, arguments=tuple(filled.calls))
    chosen = choose_calls(spec, list(zip(texts, observe(box, right, filled.entry, texts, CPU_S), strict=True)), rng)
    if len(chosen) < FEWEST_CALLS:
        raise DataError("fewer than two calls have an answer that can be a test")
    got = results(box, broken, filled.entry, chosen, CPU_S)
    failing = {id_ for id_, result in got.items() if result.outcome != "passed"}
    return Suite(
        form="calls", entry=filled.entry, calls=show(chosen, failing),
        fail_to_pass=tuple(call.id for call in chosen if call.id in failing),
        pass_to_pass=tuple(call.id for call in chosen if call.id not in failing),
    )  # fmt: skip


def _answer(filled: Template) -> Suite:
    """The one hidden call of a question, whose answer is computed here."""
    if filled.ask is not None:
        want = repr(filled.ask(filled.files, filled.values))
        try:
            ast.literal_eval(want)
        except (ValueError, SyntaxError) as error:
            raise DataError(f"the answer {want[:100]} is no literal") from error
    else:
        (got,) = observe(verifier().sandbox, _modules(filled.files, ()), filled.entry, list(filled.calls), CPU_S)
        if got.trouble:
            raise DataError(f"the call that is asked for cannot be answered: {got.trouble}")
        want = got.want if got.want is not None else repr(got.raises)
    if want == "None":
        raise DataError("the answer is None, which stands there already")
    return Suite(
        form="calls", entry=f"{ANSWER}:answer", calls=(Call(id="question", args="()", want=want),), fail_to_pass=("question",)
    )


def _pytest(tests: Sequence[str], files: Mapping[str, str], reference: Mapping[str, str]) -> Suite:
    """The suite of test files: which tests there are, and which of them the initial state fails, is seen by running them."""
    seen = []
    for state in (reference, files):
        nonce = secrets.token_hex(16)
        preload = imported_modules(tuple(text for path, text in sorted(files.items()) if path.endswith(".py")))
        job = Job("pytest", state, tests=tuple(tests), protected=tuple(tests), nonce=nonce, preload=preload, cpu_s=TEST_CPU_S)
        seen.append(report(verifier().sandbox.run(job), nonce))
    good, before = seen
    if not good.good:
        raise DataError(
            f"the reference does not pass: {', '.join(good.failed[:3]) or good.broken or 'no test ran to its end'}"[:300]
        )
    ids = list(good.results)
    failing = [id_ for id_ in ids if before.results.get(id_) != "passed"]
    return Suite(
        form="pytest", files=tuple(tests), fail_to_pass=tuple(failing),
        pass_to_pass=tuple(id_ for id_ in ids if id_ not in failing),
    )  # fmt: skip


def _proven(task: Task, repeats: int) -> Task:
    judge = verifier()
    forms: list[str | None] = [suite.form for suite in task.suites] or [None]
    more = max(1, repeats - bool(task.suites))  # the runs that showed which tests there are were the first
    right = [judge.verify(task, task.reference or {}, form, more, fresh=True) for form in forms]
    start = judge.verify(task, task.files, None, more, fresh=True)
    for verdict in (*right, start):
        _steady(verdict)
    if task.suites and failing(start) != set(task.suites[0].fail_to_pass):
        raise DataError("it does not always give the same results")
    for verdict in right:
        if verdict.outcome is not Outcome.PASSED:
            failed = [f"{id_}: {one.detail}" for id_, one in verdict.tests.items() if one.outcome != "passed"]
            raise DataError(f"the reference does not pass: {verdict.reason or '; '.join(failed[:3]) or verdict.outcome}"[:300])
    if start.outcome is Outcome.PASSED:
        raise DataError("the initial state passes")
    evidence = Evidence(
        repeats=repeats, reference_passes=True, null_fails=True, sandbox=start.sandbox, python=platform.python_version(),
        cpu_s=round(right[0].cpu_s, 4),
        failing_ids=tuple(sorted(failing(start))),
    )  # fmt: skip
    return task.model_copy(update={"evidence": evidence})


def _steady(verdict: Verdict) -> None:
    if verdict.outcome is Outcome.INFRA:
        raise SandboxError(verdict.reason)
    if verdict.outcome is Outcome.FLAKY or verdict.matrix:
        raise DataError("it does not always give the same results")
