"""What stage 2 keeps beside policy and value model: what it refuses, doubts, measures on the side and hands on at the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch

from swefuse.collect.agent import Verify
from swefuse.learn import hidden, suspects, winners
from swefuse.learn.backbone import OwnBackbone, ValueModel, teach_own
from swefuse.learn.checkpoint import load_state, save_state
from swefuse.learn.foreign import extras
from swefuse.learn.gold import Gold, aside, make_gold
from swefuse.learn.guards import both_classes, check_rewards, teachable
from swefuse.learn.monitor import event
from swefuse.learn.settings import RlvrSettings
from swefuse.learn.update import Models, Round
from swefuse.learn.value import Candidates, Judge, cool, train_head
from swefuse.records import Task, Trajectory, from_json, to_json

BEST = "best.pt"


@dataclass
class Keeper:
    """One object a run. ``tasks``: those that rounds are drawn from; ``verify``: what their rewards come from, ``judge``: the
    verifier with all tests. ``taught``: whether the value model has been trained, which it is once candidates of both outcomes were
    seen; no pair is weighed before that. ``ended``: training stopped early, at the state that did ``best`` on ``gold``."""

    settings: RlvrSettings
    models: Models
    tasks: list[Task]
    verify: Verify
    judge: Verify
    gold: Gold | None = None
    taught: bool = False
    best: float = -1.0
    ended: bool = False
    rounds: int = 0
    doubted: list[dict[str, Any]] = field(default_factory=list)
    winners: list[Trajectory] = field(default_factory=list)

    @classmethod
    def begin(cls, models: Models, tasks: Sequence[Task], verify: Verify, settings: RlvrSettings) -> Keeper:
        """Before the first round. Raises ConfigError or DataError for tasks from which nothing can be learnt or measured."""
        watch = settings.watch
        kept, drawn = aside(teachable(tasks, settings.tasks), watch.gold)
        drawn = teachable(drawn, settings.tasks)
        hidden.check_hidden(drawn, watch.hidden)
        rewards = hidden.Hiding(verify, watch.hidden) if watch.hidden else verify
        gold = make_gold(kept, models, verify, settings.micro_batch) if watch.gold else None
        return cls(settings, models, drawn, rewards, verify, gold)

    def dump(self) -> dict[str, Any]:
        """As ``save_state`` takes it."""
        return {
            "taught": self.taught, "best": self.best, "doubted": self.doubted, "winners": [to_json(one) for one in self.winners],
        }  # fmt: skip

    def resume(self, state: Mapping[str, Any]) -> None:
        """Go on from what ``dump`` gave."""
        self.taught, self.best, self.doubted = state["taught"], state["best"], list(state["doubted"])
        self.winners = [from_json(Trajectory, text.encode()) for text in state["winners"]]

    def accept(self, seen: Round, number: int) -> Round:
        """Round ``number``, counted from 0, as it may be learnt from. Raises what ``guards.check_rewards`` raises."""
        check_rewards(seen.data)
        self.rounds += 1
        if self.settings.winners:
            self.winners = winners.passed(seen.data, self.winners)
        if self.taught:
            found = suspects.doubted(seen, number + 1, self.settings.watch.doubt)
            self.doubted = suspects.surest([*self.doubted, *found])
            return seen
        pairs = [pair.model_copy(update={"weight": 1.0, "expected": None}) for pair in seen.pairs]
        return seen._replace(pairs=pairs, weighted=False)

    def lessons(self, seen: Round, number: int) -> Candidates:
        """What the value model learns from a round; the policy learns from its own candidates alone."""
        found = self._lessons(seen, number)
        return replace(found, written=()) if self.settings.value.backbone == "shared" else found

    def _lessons(self, seen: Round, number: int) -> Candidates:
        if not self.settings.value.foreign:
            return seen.known
        return extras(seen, self.models, self.verify, self.settings, number)

    def calibrated(self, head: ValueModel, seen: Round) -> dict[str, float]:
        """Fit the temperature of a value model that was taught before on a round that it has not learnt from, where the settings
        ask for it."""
        if not self.settings.value.calibrate or not self.taught:
            return {}
        return {"value_temperature": cool(head.head if isinstance(head, OwnBackbone) else head, seen.known)}

    def teach(self, head: ValueModel, known: Candidates, optimizer: torch.optim.Optimizer, seed: int) -> float | None:
        """Train the value model as ``train_head`` does; not on candidates of one outcome, from which it would learn to say always
        the same. Its loss; None where it was not trained."""
        if not both_classes(known):
            return None
        self.taught = True
        if isinstance(head, OwnBackbone):
            return teach_own(head, known, optimizer, self.settings.value.steps, seed)
        return train_head(head, known, optimizer, self.settings.value.steps, seed)

    def figures(self, seen: Round, head: Judge, number: int) -> dict[str, float]:
        """Figures of a round that are measured where the settings ask for it."""
        found = hidden.figures(seen.data) if self.settings.watch.hidden else {}
        due = (number + 1) % self.settings.save_every == 0 or number + 1 == self.settings.rounds
        if self.gold is not None and due and self.taught:
            found["gold_accuracy"] = self.gold.accuracy(head)
        return found

    def calibrate(self, row: Mapping[str, Any], head: ValueModel, out: Path) -> list[dict[str, Any]]:
        """Keep the state of the best accuracy on gold pairs; where that has fallen too far, go back to it and end."""
        accuracy = row.get("gold_accuracy")
        if accuracy is None:
            return []
        least = self.best - self.settings.watch.gold_drop
        if accuracy >= self.best:
            self.best = accuracy
            save_state(out / BEST, {"policy": self.models.policy.state_dict(), "head": head.state_dict()})
        elif accuracy < least and (kept := load_state(out / BEST)) is not None:
            self.models.policy.load_state_dict(kept["policy"])
            head.load_state_dict(kept["head"])
            self.ended = True
            return [event(row["round"], "collusion", accuracy, least)]
        return []

    def close(self, out: Path) -> list[dict[str, Any]]:
        """After the last round: look anew at what is doubted, and write that and the winners. Nothing where no round was done."""
        if not self.rounds:
            return []
        if self.settings.winners:
            winners.save(out / winners.FILE, self.winners)
        rows = suspects.verified_again(self.doubted, self.tasks, self.verify)
        suspects.save(out / suspects.FILE, rows)
        return [event(self.settings.rounds, "suspects", len(rows), 0)] if rows else []
