"""The gate: what a trajectory must be before a model learns from it. Ordered checks, each pure; every refusal has its reasons.

A ``Check`` looks at one task, one trajectory and the verdict that the caller *just* obtained for the trajectory's final files; the
verdict inside the trajectory is never believed. It answers None or the reason to refuse. ``CHECKS`` holds ours by name; a check of
your own is named by its dotted path ``package.module:function``, and ``conformance.failures`` tells whether it behaves.
"""

from __future__ import annotations

import importlib
import math
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Protocol

from swefuse.code import lint
from swefuse.errors import ConfigError, nearest
from swefuse.library.claims import consistent, truthful
from swefuse.library.coherence import coherence
from swefuse.library.evidence import effective, fresh, seen
from swefuse.records import Decision, Outcome, Task, Trajectory, Verdict
from swefuse.verify.kinds import RULES

GATE_VERSION = "3"
Item = tuple[Task, Trajectory, Verdict]
_LONGEST = 500


class Check(Protocol):
    """The reason to refuse a trajectory, one line of text, or None. Pure: the same three records give the same answer."""

    def __call__(self, task: Task, trajectory: Trajectory, verdict: Verdict) -> str | None:
        """See the class."""
        ...


def syntax(task: Task, trajectory: Trajectory, verdict: Verdict) -> str | None:
    """Every Python file that the trajectory changed compiles.

    Example: ``def f(:`` -> ``m.py, line 1: invalid syntax``.
    """
    for path in _changed_sources(task, trajectory):
        try:
            with warnings.catch_warnings():  # an invalid escape is a warning, and must not become an error by somebody's filter
                warnings.simplefilter("ignore")
                compile(trajectory.files[path], path, "exec", dont_inherit=True)
        except SyntaxError as error:
            return f"{path}{f', line {error.lineno}' if error.lineno else ''}: {error.msg}"
        except (ValueError, RecursionError, MemoryError, OverflowError) as error:
            return f"{path}: {error or type(error).__name__}"
    return None


def passed(task: Task, trajectory: Trajectory, verdict: Verdict) -> str | None:
    """The verdict is PASSED, holds a pass for every expected id of the task's suite in that form, and is that of the task's kind.

    A kind whose check runs all there is to run (``Rules.alone``) has no suite; of its verdict no test may have failed. One whose
    check comes after the tests leaves the share of the work that was done; without it the check was not asked.

    Example: a verdict over the visible calls only -> ``10 of 14 expected tests did not pass, first t4``.
    """
    if not verdict.outcome.graded:
        return f"not graded ({verdict.outcome}), verify it again: {verdict.reason}"
    if verdict.outcome is not Outcome.PASSED:
        return f"the verdict is {verdict.outcome}"
    rules, suite = RULES[task.kind], task.suite(verdict.form)
    if rules.alone:
        expected = tuple(verdict.tests)
    elif suite is not None and suite.expected:
        expected = suite.expected
    else:
        return f"the task has no tests of the form {verdict.form!r}"
    lacking = [id_ for id_ in expected if id_ not in verdict.tests or verdict.tests[id_].outcome != "passed"]
    if lacking:
        return f"{len(lacking)} of {len(expected)} expected tests did not pass, first {lacking[0]}"
    if rules.check is not None and "share" not in verdict.parts:
        return f"the verdict does not say what the check of the kind {task.kind} found"
    return None


def static(task: Task, trajectory: Trajectory, verdict: Verdict) -> str | None:
    """Static analysis finds nothing in the changed files that it did not find in the initial ones.

    Example: the fix adds ``import os`` and does not use it -> ``m.py: F401 `os` imported but unused``.
    """
    return _static([(task, trajectory, verdict)])[0]


def trainable(task: Task, trajectory: Trajectory, verdict: Verdict) -> str | None:
    """At least one step counts in the loss, and every token trace is whole: four lists of one length, only finite numbers.

    Example: every step has ``keep=False`` -> ``no step to train on``.
    """
    for number, step in enumerate(trajectory.steps, 1):
        if step.trace is None:
            continue
        numbers = (step.trace.logprobs, step.trace.raw_logprobs, step.trace.entropies)
        if not step.trace.token_ids or any(len(row) != len(step.trace.token_ids) for row in numbers):
            return f"step {number}: the lists of its token trace are empty or differ in length"
        if not all(math.isfinite(number) for row in numbers for number in row):
            return f"step {number}: its token trace holds numbers that are not finite"
    if not any(step.keep and step.raw for step in trajectory.steps):
        return "no step to train on"
    return None


CHECKS: dict[str, Check] = {
    "syntax": syntax,
    "verdict": passed,
    "static": static,
    "coherence": coherence,
    "seen": seen,
    "consistent": consistent,
    "effective": effective,
    "fresh": fresh,
    "truthful": truthful,
    "trainable": trainable,
}


def gate(batch: Sequence[Item], checks: Sequence[str] = tuple(CHECKS)) -> list[Decision]:
    """One decision per item, in order. All checks run on all items, so that a refusal names everything that is wrong.

    A reason reads ``check: what it found``. Give many items at once: static analysis costs two processes a batch.
    Raises ConfigError for an unknown check or none at all, InfraError when static analysis cannot run.
    """
    if not checks:
        raise ConfigError(f"a gate without checks lets everything through; checks: {', '.join(CHECKS)}")
    version = GATE_VERSION if tuple(checks) == tuple(CHECKS) else f"{GATE_VERSION} with {', '.join(checks)}"
    answers = [_answers(name, batch) for name in checks]
    decisions = []
    for position, item in enumerate(batch):
        found = [(name, column[position]) for name, column in zip(checks, answers, strict=True)]
        reasons = tuple(f"{name}: {_one_line(text)}" for name, text in found if text is not None)
        looked_at = {name: _one_line(text) for name, text in _seen(item).items() if name in checks}
        decisions.append(Decision(accepted=not reasons, reasons=reasons, gate_version=version, seen=looked_at))
    return decisions


def find_check(name: str) -> Check:
    """A check by name, or by ``package.module:function``. Raises ConfigError when there is no such thing."""
    if name in CHECKS:
        return CHECKS[name]
    module, colon, attribute = name.partition(":")
    if not colon:
        raise ConfigError(f"there is no check {name!r}{nearest(name, CHECKS)}; your own: 'package.module:function'")
    try:
        check: Check = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise ConfigError(f"the check {name!r} cannot be loaded: {error}") from error
    return check


def _one_line(text: str) -> str:
    """Short and fit to be shown and stored, whatever a policy wrote into it."""
    line = " ".join(text.split())[:_LONGEST]
    return "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in line)


def _answers(name: str, batch: Sequence[Item]) -> list[str | None]:
    check = find_check(name)
    return _static(batch) if check is static else [check(*item) for item in batch]


def _static(batch: Sequence[Item]) -> list[str | None]:
    """``static`` for many items: all final files in one call, then the initial versions of those in which there is something."""
    finals = [(at, path) for at, (task, trajectory, _) in enumerate(batch) for path in _changed_sources(task, trajectory)]
    found = lint.lint([(path, batch[at][1].files[path]) for at, path in finals])
    suspects = [(at, path, findings) for (at, path), findings in zip(finals, found, strict=True) if findings]
    known = lint.lint([(path, batch[at][0].files.get(path, "")) for at, path, _ in suspects])
    answers: list[str | None] = [None] * len(batch)
    for (at, path, findings), before in zip(suspects, known, strict=True):
        if new := sorted(findings - before):
            answers[at] = answers[at] or f"{path}: {'; '.join(new)}"
    return answers


def _changed_sources(task: Task, trajectory: Trajectory) -> list[str]:
    """Python files that the trajectory leaves otherwise than it found them; unchanged ones are not its fault."""
    changed = (path for path, text in trajectory.files.items() if task.files.get(path) != text)
    return sorted(path for path in changed if path.endswith((".py", ".pyi")))


def _seen(item: Item) -> Mapping[str, str]:
    """What each of our checks looked at, for people who read a decision later."""
    task, trajectory, verdict = item
    sources = ", ".join(_changed_sources(task, trajectory)[:5]) or "no changed Python file"
    suite = None if RULES[task.kind].alone else task.suite(verdict.form)
    expected = len(suite.expected) if suite else len(verdict.tests)
    kept = [step for step in trajectory.steps if step.keep]
    names = Counter(step.action.name for step in trajectory.steps if step.action is not None)
    writes = names["edit"] + names["create"]
    thoughts = [step.thought for step in trajectory.steps if step.thought]
    return {
        "syntax": sources,
        "verdict": f"{verdict.outcome}, {expected} tests as {verdict.form}, {verdict.repeats} times, {verdict.sandbox}",
        "static": f"{lint.identity()}: {sources}",
        "coherence": f"{len(trajectory.steps)} steps, {writes} writes, from {trajectory.initial} to {trajectory.final}",
        "seen": f"{writes} writes and {len(thoughts)} thoughts against {len(trajectory.steps)} observations",
        "consistent": f"{len(thoughts)} thoughts, {names['test']} tests, {writes} writes",
        "effective": f"{writes} writes, {names['undo']} undone",
        "fresh": f"{len(kept)} of {len(trajectory.steps)} steps",
        "truthful": f"{verdict.outcome}; last thought: {thoughts[-1] if thoughts else 'none'}",
        "trainable": f"{len(kept)} steps, {sum(len(step.trace.token_ids) for step in kept if step.trace)} traced tokens",
    }
