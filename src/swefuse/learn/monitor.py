"""What is watched while stage 2 runs: figures of each round against written thresholds, and what to try when one is passed.

An event is raised in the round in which a figure passes its threshold, and again only after it had come back.
docs/troubleshooting.md is made from ``SYMPTOMS``.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from swefuse.errors import DataError
from swefuse.learn.entropy import EntropyAlarm
from swefuse.learn.settings import WatchSettings
from swefuse.learn.symptoms import SYMPTOMS, Symptom

_LEAST_USEFUL = 0.05


@dataclass(slots=True)
class Watch:
    """Thresholds over the rounds. ``first``: the first round's figures; ``raised``: events that have not come back since."""

    settings: WatchSettings
    alarm: EntropyAlarm = field(default_factory=EntropyAlarm)
    first: dict[str, float] = field(default_factory=dict)
    raised: list[str] = field(default_factory=list)

    @classmethod
    def begin(cls, settings: WatchSettings) -> Watch:
        """Before the first round."""
        return cls(settings, EntropyAlarm(settings.alarm))

    def state(self) -> dict[str, Any]:
        """What ``resume`` needs."""
        return {"alarm": asdict(self.alarm), "first": dict(self.first), "raised": list(self.raised)}

    def resume(self, state: Mapping[str, Any]) -> None:
        """Go on from ``state``."""
        self.alarm, self.first, self.raised = EntropyAlarm(**state["alarm"]), dict(state["first"]), list(state["raised"])

    def rings(self, mean_h: float) -> bool:
        """Take in a round's mean entropy of verdicts; whether it is an outlier."""
        return self.alarm.update(mean_h)

    def events(self, row: Mapping[str, Any]) -> list[dict[str, Any]]:
        """What a round's line of metrics.jsonl raises, in the order of ``SYMPTOMS``."""
        for name in ("policy_entropy", "length"):
            if name not in self.first and row.get(name):
                self.first[name] = row[name]
        found = []
        for name, value, limit, passed in self._looks(row):
            if passed and name not in self.raised:
                found.append(event(int(row["round"]), name, value, limit))
            self.raised = [*(one for one in self.raised if one != name), *([name] if passed else [])]
        return found

    def _looks(self, row: Mapping[str, Any]) -> list[tuple[str, float, float, bool]]:
        """Each figure with its limit and whether it is passed; figures that a round does not have are left out."""
        s = self.settings
        looks: list[tuple[str, float, float, bool]] = []
        entropy, length = row.get("policy_entropy"), row.get("length")
        if entropy is not None and "policy_entropy" in self.first:
            low, high = s.entropy_floor * self.first["policy_entropy"], s.entropy_ceiling * self.first["policy_entropy"]
            looks += [("entropy_floor", entropy, low, entropy < low), ("entropy_ceiling", entropy, high, entropy > high)]
        if row.get("kl") is not None:
            looks.append(("kl", row["kl"], s.kl, row["kl"] > s.kl))
        if row.get("winner_gain") is not None:
            looks.append(("winners", row["winner_gain"], -s.winners, row["winner_gain"] < -s.winners))
        if length is not None and "length" in self.first:
            share = length / self.first["length"]
            looks.append(("length", share, s.length, not 1 / s.length <= share <= s.length))
        looks.append(("broken", row["broken"], s.broken, row["broken"] > s.broken))
        if "fallback_loss" not in row:
            looks.append(("nothing_to_learn", row["useful_groups"], _LEAST_USEFUL, row["useful_groups"] < _LEAST_USEFUL))
        if "head_loss" in row:
            looks.append(("one_class", 1.0, 2.0, row["head_loss"] is None))
        shares = (("repeated", "repeated", s.repeated), ("overfits_tests", "test_gap", s.overfit))
        looks += [(name, row[key], limit, row[key] > limit) for name, key, limit in shares if key in row]
        return looks


def event(number: int, name: str, value: float, limit: float) -> dict[str, Any]:
    """One line of events.jsonl."""
    return {"round": number, "event": name, "value": value, "limit": limit, "what": SYMPTOMS[name].what}


def folder_of(run: Path) -> Path:
    """The stage-2 folder of a run. Raises DataError where it holds none."""
    for folder in (run, run / "rlvr"):
        if (folder / "metrics.jsonl").exists() and (folder / "events.jsonl").exists():
            return folder
    raise DataError(f"{run} holds no run of stage 2 (metrics.jsonl and events.jsonl)")


def diagnose(run: Path) -> list[dict[str, Any]]:
    """The events of a stage-2 folder by kind, in the order in which they first came: rounds, values, cause and remedy.

    Raises DataError where the folder holds no run of stage 2.
    """
    place = folder_of(run)
    by_name: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in (place / "events.jsonl").read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        by_name[one["event"]].append(one)
    return [
        {
            "event": name, "rounds": [one["round"] for one in members], "value": members[-1]["value"],
            "limit": members[-1]["limit"], **asdict(SYMPTOMS[name]),
        }
        for name, members in by_name.items()
    ]  # fmt: skip


def page(symptoms: Mapping[str, Symptom] = SYMPTOMS) -> str:
    """docs/troubleshooting.md."""
    head = (
        "# Troubleshooting\n\nStage 2 watches itself. Each figure of a round that passes its threshold (`rlvr.watch`, see\n"
        "[settings.md](settings.md)) is an event in `events.jsonl`; `swefuse train diagnose RUN` tells those of a run.\n"
        "This page is made by `make docs`.\n\n| event | what happened | likely cause | what to try |\n|---|---|---|---|\n"
    )
    return head + "".join(f"| `{name}` | {one.what} | {one.cause} | {one.remedy} |\n" for name, one in symptoms.items())


def lines(found: Sequence[Mapping[str, Any]]) -> list[str]:
    """What ``diagnose`` found, for a terminal."""
    if not found:
        return ["nothing passed a threshold"]
    told = []
    for one in found:
        rounds = ", ".join(map(str, one["rounds"][:8])) + (f" and {len(one['rounds']) - 8} more" if len(one["rounds"]) > 8 else "")
        told += [
            f"{one['event']}: {one['what']} (round {rounds}; last {one['value']:.3g}, limit {one['limit']:.3g})",
            f"    because: {one['cause']}", f"    try: {one['remedy']}",
        ]  # fmt: skip
    return told
