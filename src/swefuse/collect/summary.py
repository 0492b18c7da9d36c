"""What came of a collection: the files that others read, and its figures."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from swefuse.collect.diversity import diversity, normal
from swefuse.collect.parts import Log, Part, Row, plain
from swefuse.collect.plan import Chosen, Method
from swefuse.records import Outcome, Task, Trajectory, to_json
from swefuse.tasks.store import save_lines, save_tasks

UNITS: dict[Method, str] = {"replay": "ways played", "sample": "attempts", "search": "paths", "free": "attempts"}
_SAME = "another attempt gave the same program"


def written(out: Path, log: Log, chosen: Chosen, method: Method, total: int, keep_refused: bool) -> dict[str, Any]:
    """Write what is known; of trajectories of one task that lead to the same program the first is kept. Returns the summary."""
    known = {task.id: task for task in chosen.tasks}
    parts = [log.parts[number] for number in sorted(log.parts)]
    rows = [row for part in parts for row in part.rows]
    kept: dict[tuple[str, str], Trajectory] = {}
    doubled: dict[str, Trajectory] = {}
    for one in (one for part in parts for one in part.made):
        key = (one.task_id, one.id if method == "replay" else normal(known[one.task_id], one.files))
        if kept.setdefault(key, one).id != one.id:
            doubled[one.id] = one
    for row in rows:
        names = row.trajectory.split()
        if names and all(name in doubled for name in names):
            row.why = _SAME
        if not keep_refused:
            row.trajectory = " ".join(name for name in names if name not in doubled)
    made = list(kept.values())
    save_tasks(out / "tasks.jsonl", chosen.tasks)
    save_lines(out / "trajectories.jsonl", (to_json(one) for one in made))
    if keep_refused:
        save_lines(out / "refused.jsonl", [*log.refused(), *(to_json(one) for one in doubled.values())])
    save_lines(out / "attempts.jsonl", (json.dumps(plain(row)) for row in rows))
    summary = {
        **summarise(rows, made, parts, known), "unit": UNITS[method], "wall_s": log.wall_s, "hidden": chosen.hidden,
        "left_out": chosen.left_out, "parts": len(parts), "parts_in_all": total,
    }  # fmt: skip
    save_lines(out / "summary.json", [json.dumps(summary, indent=2)])
    return summary


def summarise(rows: Sequence[Row], made: Sequence[Trajectory], parts: Sequence[Part], known: dict[str, Task]) -> dict[str, Any]:
    """Figures of a collection: yield, what an accepted trajectory took, why others were not, how different those of a task are.

    ``tried`` counts what came to a verdict: attempts, paths of a search, ways of a replay. ``open`` are attempts that did not, for
    want of an answer (``unanswered``) or of a sandbox (``infra``), and that the same call asks again.
    """
    tried = sum(row.tried for row in rows)
    spent = {"tokens": sum(row.tokens for row in rows), "policy_s": sum(row.policy_s for row in rows)}
    spent["verifications"] = sum(part.verified for part in parts)
    each = {f"{name}_per_accepted": value / len(made) if made else None for name, value in spent.items()}
    by_task: dict[str, list[Any]] = {}
    for one in made:
        by_task.setdefault(one.task_id, []).append(one.files)
    spread = [diversity(known[id_], files) for id_, files in by_task.items()]
    several = [one.distance for one in spread if one.distinct > 1]
    infra = sum(row.outcome == Outcome.INFRA for row in rows)
    return {
        "attempts": len(rows), "tried": tried, "accepted": len(made), "yield": len(made) / max(1, tried), "tasks": len(known),
        "tasks_with_one": len(by_task), **each,
        "prompt_tokens": sum(row.prompt_tokens for row in rows), **spent,
        "cost": sum(row.cost for row in rows), "malformed": sum(row.malformed for row in rows),
        "distinct_per_task": sum(one.distinct for one in spread) / max(1, len(spread)),
        "distance": sum(several) / max(1, len(several)),
        "refused": dict(Counter(row.why for row in rows if row.why).most_common()),
        "undone": dict(sum((Counter(row.undone) for row in rows), Counter())),
        "open": sum(row.again for row in rows), "unanswered": sum(row.again and row.outcome != Outcome.INFRA for row in rows),
        "infra": infra,
    }  # fmt: skip
