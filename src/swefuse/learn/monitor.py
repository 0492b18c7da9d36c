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


@dataclass(frozen=True, slots=True)
class Symptom:
    """What an event means (``what``, ``cause``) and what to do (``remedy``)."""

    what: str
    cause: str
    remedy: str


SYMPTOMS: dict[str, Symptom] = {
    "alarm": Symptom(
        "the mean entropy of the value model's verdicts jumped",
        "candidates are unlike those that the value model has learnt from: the policy moved fast, or the tasks changed",
        "the policy takes SFT steps for rlvr.watch.fallback rounds; if it comes again, lower rlvr.lr or raise rlvr.value.steps",
    ),
    "entropy_floor": Symptom(
        "the policy's entropy fell below its floor",
        "it settles on few edits: sampled pass@1 may still rise, pass@4 falls and groups tell it nothing more",
        "lower rlvr.lr or rlvr.rounds, raise rlvr.clip_slope, or take the best checkpoint before this round",
    ),
    "entropy_ceiling": Symptom(
        "the policy's entropy rose above its ceiling",
        "updates push probability away from what failed faster than towards what passed",
        "lower rlvr.lr or rlvr.clip_slope; look at pass_rate: below a few per cent there is hardly anything to push towards",
    ),
    "kl": Symptom(
        "the policy is far from the model that it started from",
        "many or large updates; what the value model reads off the reference fits such candidates less and less",
        "lower rlvr.lr or rlvr.rounds; with the pair objectives raise rlvr.beta",
    ),
    "winners": Symptom(
        "candidates that passed are less probable than under the reference",
        "a loss on pairs lowers both sides as long as the loser falls faster",
        "raise rlvr.anchor, or use rlvr.objective = group",
    ),
    "length": Symptom(
        "messages grew or shrank against the first round",
        "length pays by itself: in free writing mostly an end that is never written, or an empty answer that is rewarded",
        "read some messages ('swefuse library list'); lower the limit of tokens, or correct what the verifier rewards",
    ),
    "broken": Symptom(
        "many candidates do not parse, hang or touch what they may not",
        "the policy explores outside of what it learnt, or has found that breaking the verifier pays",
        "look at outcomes in metrics.jsonl; sample under a grammar (guide), lower rlvr.lr",
    ),
    "nothing_to_learn": Symptom(
        "hardly any group had candidates of unlike reward",
        "the tasks are too hard or too easy for this policy, so that all candidates of a task earn the same",
        "mix in tasks of other difficulty, raise rlvr.samples, or use rlvr.reward = score",
    ),
    "repeated": Symptom(
        "most samples of a task are the same message",
        "the policy has settled: a group of equal samples tells nothing, whatever it earns",
        "lower rlvr.lr or rlvr.rounds, raise rlvr.kl, or take tasks of other difficulty; more samples would repeat as well",
    ),
    "overfits_tests": Symptom(
        "many candidates pass the tests that count and not the hidden ones",
        "the tests of these tasks are weak and the policy has found it out; or they were weak before, if it is so from round 1 on",
        "make the tests stronger ('swefuse tasks strength --add'), lower rlvr.rounds, or weigh pairs by the posterior",
    ),
    "collusion": Symptom(
        "the value model got worse on pairs of known truth, and training ended with the best state restored",
        "value model and policy have learnt the verifier's errors from each other: what passes is no longer what is right",
        "look at suspects.jsonl for bad tests; lower rlvr.lr or rlvr.value.lr, or raise rlvr.value.foreign",
    ),
    "suspects": Symptom(
        "the value model was sure of the side that lost, in pairs that were verified anew at the end",
        "a bad or flaky test, or a value model that is sure of what it does not know",
        "read the candidates below and the tests of these tasks; what changed on the second look is flaky ('swefuse tasks flaky')",
    ),
    "one_class": Symptom(
        "all candidates that the value model could learn from had the same outcome",
        "the tasks are too hard or too easy for this policy, or the verifier says the same whatever it is shown",
        "nothing is weighed until both outcomes were seen; look at some verdicts, and mix in tasks of other difficulty",
    ),
    "ungraded": Symptom(
        "too many candidates could not be graded, and the run stopped",
        "the sandbox failed; the policy is not to blame",
        "run 'swefuse doctor', then call again: the run goes on from its last state",
    ),
    "not_finite": Symptom(
        "a gradient was not finite, and the run stopped before it was applied",
        "a loss ran over: rlvr.lr is too high, or a probability became 0",
        "lower rlvr.lr and call again; the round's batch lies in bad_batch.json beside events.jsonl",
    ),
}
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
