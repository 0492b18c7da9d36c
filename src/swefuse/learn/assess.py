"""The value model in use: score candidates for best-of-N, and measure it beside the baselines that it has to beat."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swefuse.errors import DataError
from swefuse.learn import model as models
from swefuse.learn.entropy import Probabilities
from swefuse.learn.learnt import Learnt
from swefuse.learn.rollouts import Rollouts, choice_group, describe
from swefuse.learn.settings import RlvrSettings
from swefuse.learn.tokens import Codec, codec_for
from swefuse.learn.value import Accuracy, Candidates, measure, sum_only
from swefuse.records import Task, Trajectory

if TYPE_CHECKING:
    from transformers import PreTrainedModel


class Assessor:
    """A trained value model with the reference policy whose log-probs and hidden states it reads."""

    def __init__(self, learnt: Learnt, reference: PreTrainedModel, codec: Codec, settings: RlvrSettings) -> None:
        self.learnt, self.reference, self.codec, self.settings = learnt, reference, codec, settings
        self.pad = reference.config.pad_token_id or 0
        self.seen: list[Candidates] = []

    @classmethod
    def load(cls, path: Path, reference: Path, settings: RlvrSettings) -> Assessor:
        """From the files that stage 2 wrote and the model folder of stage 1."""
        model, tokenizer = models.load(reference)
        return cls(Learnt.load(path, model, settings.micro_batch), model, codec_for(tokenizer), settings)

    def choose(self, tasks: Sequence[Task], groups: Sequence[Sequence[Trajectory]]) -> list[list[float]]:
        """A score for each candidate of each task; 0 for all where nothing was chosen. ``seen`` keeps what was described."""
        chosen = [
            (task, tuple(members), choice_group(task, members, self.codec)) for task, members in zip(tasks, groups, strict=True)
        ]
        open_ = [(task, members, group) for task, members, group in chosen if group is not None]
        scores: Iterator[float] = iter(())
        if open_:
            data = Rollouts(*(tuple(column) for column in zip(*open_, strict=True)))
            known = describe(self.reference, data, self.settings.micro_batch, self.pad)
            self.seen.append(known)
            scores = iter(self.learnt.head.scores(known))
        models.give_back()
        return [[next(scores) if group is not None else 0.0 for _ in members] for _, members, group in chosen]

    def verdicts(
        self, tasks: Sequence[Task], groups: Sequence[Sequence[Trajectory]], pairs: Sequence[tuple[int, int]]
    ) -> list[Probabilities]:
        """(a better, b better, tie) for pairs of candidates, which count task by task and need not be of one task.

        Raises DataError where nothing was chosen in one of the tasks.
        """
        chosen = [choice_group(task, members, self.codec) for task, members in zip(tasks, groups, strict=True)]
        if any(group is None for group in chosen):
            raise DataError("the value model compares what was chosen, and in some of these candidates nothing was")
        data = Rollouts(tuple(tasks), tuple(map(tuple, groups)), tuple(group for group in chosen if group is not None))
        known = describe(self.reference, data, self.settings.micro_batch, self.pad)
        return self.learnt.head.verdicts(known, pairs)

    def measure(self) -> dict[str, Any]:
        """Accuracy of head, Platt baseline, sum of log-probs and majority class on the pairs of all candidates that were ``seen``.

        Raises DataError when there was none.
        """
        if not self.seen:
            raise DataError("there is no candidate to measure the value model on")
        known = Candidates.join(self.seen)
        heads = {"head": self.learnt.head, "platt": self.learnt.baseline, "logprob": sum_only(self.reference.config.hidden_size)}
        return {name: asdict(measure(head, known)) for name, head in heads.items()}


__all__ = ["Accuracy", "Assessor"]
