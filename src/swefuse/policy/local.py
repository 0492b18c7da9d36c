"""A torch model in this process that chooses among the messages that apply: sampling under a trie of token ids.

At every token only the continuations of open choices are allowed, so each sample is well formed, applies and parses, and has
an exact
probability: the product of the softmaxes over what was allowed. Equal prompts are read once, whatever the number of samples.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import torch

from swefuse.policy.base import Choice, Reply, Request
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


@dataclass(slots=True)
class Node:
    """A trie node: the next token ids and what follows, and at a leaf the position of the choice."""

    children: dict[int, Node] = field(default_factory=dict)
    choice: int = -1


def build_trie(messages: Sequence[Sequence[int]]) -> Node:
    """The trie of messages; of equal messages the first counts. No message may be a prefix of another."""
    root = Node()
    for number, ids in enumerate(messages):
        node = root
        for token in ids:
            node = node.children.setdefault(token, Node())
        if node.choice < 0:
            node.choice = number
    return root


@dataclass(slots=True)
class _Draw:
    """One sample on its way through the trie."""

    request: Request
    node: Node
    rng: random.Random
    prompt: int
    ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    raw: list[float] = field(default_factory=list)
    entropies: list[float] = field(default_factory=list)


class LocalPolicy:
    """Samples from ``model`` with ``encoder``. ``batch``: prompts read at once. Same requests, same replies, in the same
    batches."""

    def __init__(self, model: PreTrainedModel, encoder: Encoder, name: str, temperature: float = 1.0, batch: int = 64) -> None:
        if temperature <= 0:
            raise ValueError(f"temperature must be above 0, not {temperature}; ask for greedy replies instead")
        self.model, self.encoder, self.name = model, encoder, name
        self.temperature, self.batch = temperature, batch

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
        ordered = sorted(groups.values(), key=lambda members: sum(len(step.observation) for step in requests[members[0]].steps[:1]))
        was_training = self.model.training
        self.model.train(False)
        for at in range(0, len(ordered), self.batch):
            members = ordered[at : at + self.batch]
            flat = [number for group in members for number in group]
            for number, reply in zip(flat, self._sample([[requests[n] for n in group] for group in members]), strict=True):
                replies[number] = reply
        self.model.train(was_training)
        return [reply for reply in replies if reply is not None]

    def _sample(self, groups: list[list[Request]]) -> list[Reply]:
        prompts = [self.encoder.row(group[0].task, group[0].steps, prompt=True).ids for group in groups]
        draws: list[_Draw] = []
        for number, group in enumerate(groups):
            trie = build_trie(self.encoder.messages(group[0].task, group[0].choices))
            for r in group:
                rng = random.Random(f"{r.task.id}-{r.seed}-{len(r.steps)}")  # a stream of its own: batching changes nothing
                draws.append(_Draw(r, trie, rng, number))
        run_trie(self.model, prompts, draws, self.temperature)
        return [_reply(draw) for draw in draws]


def _reply(draw: _Draw) -> Reply:
    trace = TokenTrace(
        token_ids=tuple(draw.ids), logprobs=tuple(draw.logprobs), raw_logprobs=tuple(draw.raw), entropies=tuple(draw.entropies)
    )
    return Reply(draw.request.choices[draw.node.choice], trace)


@torch.no_grad()
def run_trie(model: PreTrainedModel, prompts: list[tuple[int, ...]], draws: list[_Draw], temperature: float) -> None:
    """Move every draw to a leaf. Reads each prompt once, then one token a step for all draws that are still on their way."""
    device = model.device
    longest = max(len(prompt) for prompt in prompts)
    ids = torch.zeros(len(prompts), longest, dtype=torch.long)
    mask = torch.zeros(len(prompts), longest, dtype=torch.long)
    for number, prompt in enumerate(prompts):
        ids[number, longest - len(prompt) :] = torch.tensor(prompt)
        mask[number, longest - len(prompt) :] = 1
    positions = (mask.cumsum(-1) - 1).clamp(min=0)
    with autocast(model):
        out = model(
            input_ids=ids.to(device),
            attention_mask=mask.to(device),
            position_ids=positions.to(device),
            use_cache=True,
            logits_to_keep=1,
        )
    rows = torch.tensor([draw.prompt for draw in draws])
    cache, logits = out.cache, out.logits[:, -1].float().cpu()[rows]
    cache.batch_select_indices(rows.to(device))
    mask, last = mask[rows], positions[:, -1][rows]
    active = list(draws)
    while True:
        tokens = [advance(draw, row, temperature) for draw, row in zip(active, logits, strict=True)]
        going = [number for number, draw in enumerate(active) if draw.node.children]
        if not going:
            return
        keep = torch.tensor(going)
        if len(going) < len(active):
            cache.batch_select_indices(keep.to(device))
            mask, last = mask[keep], last[keep]
            active = [active[number] for number in going]
        step = torch.tensor([[tokens[number]] for number in going])
        mask = torch.cat([mask, torch.ones(len(going), 1, dtype=torch.long)], 1)
        last = last + 1
        with autocast(model):
            out = model(
                input_ids=step.to(device),
                attention_mask=mask.to(device),
                position_ids=last[:, None].to(device),
                cache=cache,
                use_cache=True,
            )
        cache, logits = out.cache, out.logits[:, -1].float().cpu()


def advance(draw: _Draw, logits: torch.Tensor, temperature: float) -> int:
    """Draw the next token of one sample among its node's children and move there; ``logits`` has shape [V]."""
    options = list(draw.node.children)
    raw = torch.log_softmax(logits, -1)
    open_logits = logits[options].double() / temperature
    logprobs = torch.log_softmax(open_logits, -1).tolist()
    if draw.request.greedy:
        pick = max(range(len(options)), key=lambda k: logprobs[k])
    else:
        pick = draw_index([math.exp(value) for value in logprobs], draw.rng.random())
    token = options[pick]
    draw.ids.append(token)
    draw.logprobs.append(logprobs[pick])
    draw.raw.append(float(raw[token]))
    draw.entropies.append(max(0.0, -sum(math.exp(value) * value for value in logprobs)))
    draw.node = draw.node.children[token]
    return token


def draw_index(weights: Sequence[float], uniform: float) -> int:
    """The index where the running sum of ``weights`` (which add up to 1) passes ``uniform`` in [0, 1)."""
    total = 0.0
    for index, weight in enumerate(weights):
        total += weight
        if uniform < total:
            return index
    return len(weights) - 1


def autocast(model: PreTrainedModel) -> torch.autocast:
    """bfloat16 where the machine computes faster in it; weights stay as they are."""
    device = model.device.type
    return torch.autocast(device, dtype=torch.bfloat16, enabled=fast_bf16(device))


def fast_bf16(device: str) -> bool:
    """Whether matrix products in bfloat16 run in hardware here."""
    if device == "cuda":
        return bool(torch.cuda.is_bf16_supported())
    capability: Callable[[], bool] = getattr(torch.cpu, "_is_avx512_bf16_supported", lambda: False)
    return device == "cpu" and capability()
