"""What each of our checks looked at, for people who read a decision later."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from swefuse.code import lint
from swefuse.library.checks.licence import spdx
from swefuse.library.context import Context
from swefuse.library.parts import changed_files, changed_sources
from swefuse.records import Task, Trajectory, Verdict
from swefuse.verify.kinds import RULES


def looked_at(item: tuple[Task, Trajectory, Verdict], context: Context) -> Mapping[str, str]:
    """A line of text for each check, by name."""
    task, trajectory, verdict = item
    changed = changed_sources(task, trajectory)
    sources = ", ".join(changed[:5]) or "no changed Python file"
    suite = None if RULES[task.kind].alone else task.suite(verdict.form)
    expected = len(suite.expected) if suite else len(verdict.tests)
    kept = [step for step in trajectory.steps if step.keep]
    names = Counter(step.action.name for step in trajectory.steps if step.action is not None)
    writes = names["edit"] + names["create"]
    thoughts = [step.thought for step in trajectory.steps if step.thought]
    characters = sum(len(step.raw) + len(step.observation) for step in trajectory.steps)
    steps = len(trajectory.steps)
    files = ", ".join(changed_files(task, trajectory)[:5]) or "nothing changed"
    sets = ", ".join(one.name for one in context.evaluation) or "no evaluation set"
    return {
        "syntax": sources,
        "verdict": f"{verdict.outcome}, {expected} tests as {verdict.form}, {verdict.repeats} times, {verdict.sandbox}",
        "static": f"{lint.identity()}: {sources}",
        "types": f"mypy: {sources}",
        "bandit": f"bandit: {sources}",
        "coherence": f"{steps} steps, {writes} writes, from {trajectory.initial} to {trajectory.final}",
        "observed": f"{names['view']} views, {names['search']} searches, {names['test']} tests",
        "seen": f"{writes} writes and {len(thoughts)} thoughts against {steps} observations",
        "consistent": f"{len(thoughts)} thoughts, {names['test']} tests, {writes} writes",
        "effective": f"{writes} writes, {names['undo']} undone",
        "fresh": f"{len(kept)} of {steps} steps",
        "truthful": f"{verdict.outcome}; last thought: {thoughts[-1] if thoughts else 'none'}",
        "trainable": f"{len(kept)} steps, {sum(len(step.trace.token_ids) for step in kept if step.trace)} traced tokens",
        "length": f"{steps} steps, {characters} characters, longest observation {_longest(trajectory)}",
        "repeats": f"{len(changed_files(task, trajectory))} changed files and {steps} steps, of task {task.id}",
        "contamination": f"{sets}; split {task.split or 'none'}",
        "licence": f"{task.provenance.licence or 'none stated'}, read as {spdx(task.provenance.licence.strip()) or 'unknown'}",
        "secrets": f"{steps} messages and observations, {sources}",
        "tamper": f"{names['run']} commands, {writes} writes, {files}",
    }


def _longest(trajectory: Trajectory) -> int:
    return max((len(step.observation) for step in trajectory.steps), default=0)
