"""A torch model in this process that chooses among the messages that apply: sampling under a trie of token ids.

At every token only the continuations of open choices are allowed, so each sample is well formed, applies and parses, and has
an exact
probability: the product of the softmaxes over what was allowed. Equal prompts are read once, whatever the number of samples.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from swefuse.policy.base import Choice, Reply, Request
from swefuse.policy.trie import Draw, build_trie, run_trie
from swefuse.records import PolicyIdentity, Step, Task, TokenTrace

if TYPE_CHECKING:
    from transformers import PreTrainedModel


class Encoder(Protocol):
    """What sampling needs to know about tokens; ``learn.tokens`` has the implementations."""

    def row(self, task: Task, steps: Sequence[Step], prompt: bool = False) -> Any:
        """An object with ``ids``: the episode so far, with the agent's turn opened."""
        ...

    def messages(self, task: Task, choices: Sequence[Choice]) -> list[tuple[int, ...]]:
        """The ids of each message."""
        ...


class LocalPolicy:
    """Samples from ``model`` with ``encoder``. Same requests, same replies, in the same batches.

    ``batch``: prompts read at once; 0: 16 on a CPU, where padding costs more than calls, and 64 elsewhere.
    """

    def __init__(self, model: PreTrainedModel, encoder: Encoder, name: str, temperature: float = 1.0, batch: int = 0) -> None:
        if temperature <= 0:
            raise ValueError(f"temperature must be above 0, not {temperature}; ask for greedy replies instead")
        self.model, self.encoder, self.name = model, encoder, name
        self.temperature = temperature
        self.batch = batch or (16 if model.device.type == "cpu" else 64)

    @property
    def identity(self) -> PolicyIdentity:
        """Model name and temperature."""
        return PolicyIdentity(model=self.name, parameters={"temperature": self.temperature})

    def act(self, requests: Sequence[Request]) -> list[Reply]:
        """One reply for each request; forced moves cost nothing."""
        replies: list[Reply | None] = [Reply(r.choices[0]) if len(r.choices) == 1 else None for r in requests]
        groups: dict[tuple[str, tuple[Step, ...]], list[int]] = {}
        for number, request in enumerate(requests):
            if replies[number] is None:
                groups.setdefault((request.task.id, request.steps), []).append(number)
        rows = [self.encoder.row(requests[n].task, requests[n].steps, prompt=True).ids for n, *_ in groups.values()]
        ordered = sorted(zip(rows, groups.values(), strict=True), key=lambda pair: len(pair[0]))  # like lengths: less padding
        was_training = self.model.training
        self.model.train(False)
        for at in range(0, len(ordered), self.batch):
            prompts, members = zip(*ordered[at : at + self.batch], strict=True)
            flat = [number for group in members for number in group]
            sampled = self._sample(prompts, [[requests[n] for n in group] for group in members])
            for number, reply in zip(flat, sampled, strict=True):
                replies[number] = reply
        self.model.train(was_training)
        return [reply for reply in replies if reply is not None]

    def _sample(self, prompts: Sequence[Sequence[int]], groups: list[list[Request]]) -> list[Reply]:
        draws: list[Draw] = []
        for number, group in enumerate(groups):
            trie = build_trie(self.encoder.messages(group[0].task, group[0].choices))
            for r in group:
                rng = random.Random(f"{r.task.id}-{r.seed}-{len(r.steps)}")  # a stream of its own: batching changes nothing
                draws.append(Draw(trie, rng, number, r.greedy))
        run_trie(self.model, prompts, draws, self.temperature)
        flat = [request for group in groups for request in group]
        return [_reply(request, draw) for request, draw in zip(flat, draws, strict=True)]


def _reply(request: Request, draw: Draw) -> Reply:
    trace = TokenTrace(
        token_ids=tuple(draw.ids), logprobs=tuple(draw.logprobs), raw_logprobs=tuple(draw.raw), entropies=tuple(draw.entropies)
    )
    return Reply(request.choices[draw.node.choice], trace)
