"""What tasks there are, and what was refused and why: counts for people and for JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from swefuse.records import Task
from swefuse.tasks.store import load_tasks

# logs of the sources: file -> keys under which a line says why it came to nothing
_LOGS = {
    "refused.jsonl": ("reason",), "attempts.jsonl": ("refusal",), "drawn.jsonl": ("reason",), "proved.jsonl": ("refusal",),
}  # fmt: skip
_BANDS = ((0.5, "below 0.5"), (0.8, "0.5 to 0.8"), (1.0, "0.8 to 1"), (float("inf"), "1"))


def gather(paths: Sequence[Path]) -> tuple[list[Task], Counter[str]]:
    """The tasks of files and folders, and how many were refused for which reason, as far as the folders tell.

    A log that a folder has beside its own list of refusals is only read where there is no such list.
    """
    tasks, refused = list[Task](), Counter[str]()
    for path in paths:
        tasks += load_tasks(path / "tasks.jsonl" if path.is_dir() else path)
        if path.is_dir():
            log = next((path / name for name in _LOGS if (path / name).exists()), None)
            refused.update(_reasons(log) if log else ())
    return tasks, refused


def _reasons(log: Path) -> Iterable[str]:
    for line in log.read_text(encoding="utf-8").splitlines():
        try:
            row = json.loads(line)
        except ValueError:
            continue
        reason = next((row[key] for key in _LOGS[log.name] if row.get(key)), "")
        if reason:
            yield str(reason)


def stats(tasks: Sequence[Task], refused: Counter[str]) -> dict[str, Any]:
    """Counts and medians; keys are plain text."""
    evidence = [task.evidence for task in tasks if task.evidence]
    strengths = [one.strength for one in evidence if one.strength is not None]
    seconds = [one.cpu_s for one in evidence if one.cpu_s is not None]
    return {
        "tasks": len(tasks),
        "proven": len(evidence),
        "kinds": _counted(task.kind.value for task in tasks),
        "sources": _counted(task.provenance.source for task in tasks),
        "kinds_by_source": {
            source: _counted(task.kind.value for task in tasks if task.provenance.source == source)
            for source in _counted(task.provenance.source for task in tasks)
        },
        "repositories": _counted(task.provenance.repo for task in tasks if task.provenance.repo),
        "licences": _counted(task.provenance.licence or "none stated" for task in tasks),
        "splits": _counted(task.split or "none" for task in tasks),
        "forms": _counted(suite.form for task in tasks for suite in task.suites),
        "functions": len({task.provenance.body_hash for task in tasks if task.provenance.body_hash}),
        "fail_to_pass": _middle([len(suite.fail_to_pass) for task in tasks for suite in task.suites[:1]]),
        "pass_to_pass": _middle([len(suite.pass_to_pass) for task in tasks for suite in task.suites[:1]]),
        "files": _middle([len(task.files) for task in tasks]),
        "cpu_s": _middle(seconds),
        "cold": sum(bool(one.cold) for one in evidence),
        "with_flaky_tests_left_out": sum(one.flake_rate > 0 for one in evidence),
        "strength": _counted(next(name for bound, name in _BANDS if one < bound) for one in strengths),
        "refused": dict(refused.most_common()),
    }  # fmt: skip


def _counted(items: Iterable[str]) -> dict[str, int]:
    return dict(Counter(items).most_common())


def _middle(values: Sequence[float]) -> dict[str, float]:
    """Least, median, most and sum; nothing without values."""
    return {"least": min(values), "median": median(values), "most": max(values), "sum": round(sum(values), 3)} if values else {}
