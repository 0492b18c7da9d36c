"""Tests that no reward sees: a share of each task's calls is kept from training, to tell whether the policy learns the tests or the
work. What passes all that counts and not what is hidden has been fitted to the tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from swefuse.collect.agent import Verify
from swefuse.errors import ConfigError
from swefuse.learn.rollouts import Rollouts
from swefuse.records import Outcome, Task, Verdict, content_hash
from swefuse.verify.kinds import RULES
from swefuse.verify.many import Candidate
from swefuse.verify.score import score

HIDDEN = "hidden_passed"  # a part of a verdict: 1 where every hidden test passed, else 0


@dataclass(frozen=True)
class Hiding:
    """``verify`` as rewards take it: ``share`` of each task's calls counts for nothing; how they ended is a part of the verdict."""

    verify: Verify
    share: float

    def __call__(self, items: Sequence[Candidate]) -> Iterator[Verdict]:
        """Verdicts in the order of the items."""
        for item, verdict in zip(items, self.verify(items), strict=True):
            yield without(verdict, hidden_calls(item.task, self.share))


def hidden_calls(task: Task, share: float) -> frozenset[str]:
    """Which calls of a task are hidden: always the same ones, of those that the agent is never shown.

    A test that must turn from fail to pass stays, so that the unchanged state never passes. None of a task of a kind that is
    checked by more than its tests, and none for a share of 0.
    """
    suite = task.suite("calls")
    if suite is None or RULES[task.kind].check is not None or share <= 0:
        return frozenset()
    unseen = sorted((call.id for call in suite.calls if not call.visible), key=lambda name: content_hash([task.id, name]))
    turning = set(suite.fail_to_pass)
    found: list[str] = []
    for name in unseen:
        if len(found) < max(1, round(share * len(suite.calls))) and turning - {*found, name}:
            found.append(name)
    return frozenset(found)


def check_hidden(tasks: Sequence[Task], share: float) -> None:
    """Raises ConfigError where tests are to be hidden and no task has any that could be."""
    if share > 0 and not any(hidden_calls(task, share) for task in tasks):
        raise ConfigError("watch.hidden has no effect: no task has a test by calls that its agent is not shown")


def without(verdict: Verdict, hidden: frozenset[str]) -> Verdict:
    """A verdict over the other tests. What is not graded, and what has nothing to hide, stays as it is."""
    if not hidden or not verdict.outcome.graded:
        return verdict
    shown = {name: result for name, result in verdict.tests.items() if name not in hidden}
    kept = all(name in verdict.tests and verdict.tests[name].outcome == "passed" for name in hidden)
    changes: dict[str, object] = {"tests": shown, "parts": {**verdict.parts, HIDDEN: float(kept)}}
    if verdict.outcome in (Outcome.FAILED, Outcome.TIMEOUT) and shown:
        rate = sum(result.outcome == "passed" for result in shown.values()) / len(shown)
        outcome = Outcome.PASSED if rate == 1 and not kept else verdict.outcome
        changes["outcome"], changes["parts"] = outcome, {**verdict.parts, HIDDEN: float(kept), "pass_rate": rate}
        changes["score"] = score(outcome, rate, verdict.parts.get("speed"), verdict.parts.get("style"))
        changes |= {} if kept else {"reason": ""}
    return verdict.model_copy(update=changes)


def figures(data: Rollouts) -> dict[str, float]:
    """Pass rates of a round on the tests that count and on the hidden ones, and the gap: the share that passes the first alone."""
    verdicts = [t.verdict for t in data.flat if t.verdict is not None and HIDDEN in t.verdict.parts]
    passed = [(verdict.outcome is Outcome.PASSED, verdict.parts[HIDDEN] > 0) for verdict in verdicts]
    count = max(1, len(passed))
    return {
        "visible_pass": sum(one for one, _ in passed) / count,
        "hidden_pass": sum(other for _, other in passed) / count,
        "test_gap": sum(one and not other for one, other in passed) / count,
    }
