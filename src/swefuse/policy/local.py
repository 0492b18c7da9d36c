"""A torch model in this process that chooses among the messages that apply, or writes its own where none are given.

A choice is sampled under a trie of token ids: at every token only the continuations of open choices are allowed, so each sample is
well formed, applies and parses, and has an exact probability: the product of the softmaxes over what was allowed. An open request
is sampled freely, or under its grammar. Equal prompts are read once, whatever the number of samples.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from swefuse.errors import DataError, InfraError
from swefuse.policy.base import Choice, Freedom, Reply, Request, Usage
from swefuse.policy.sampler import Masker, Sampled, Sampling, sample
from swefuse.policy.trie import Draw, build_trie, likeliest, most_tokens, run_trie
from swefuse.records import PolicyIdentity, Step, Task, TokenTrace

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from swefuse.policy.masks import Vocabulary


class Encoder(Protocol):
    """What sampling needs to know about tokens; ``learn.tokens`` has the implementations."""

    def row(self, task: Task, steps: Sequence[Step], prompt: bool = False) -> Any:
        """An object with ``ids``: the episode so far, with the agent's turn opened."""
        ...

    def messages(self, task: Task, choices: Sequence[Choice]) -> list[tuple[int, ...]]:
        """The ids of each message."""
        ...

    @property
    def tokenizer(self) -> PreTrainedTokenizerBase | None:
        """Whose ids these are; needed for grammars."""
        ...

    @property
    def stops(self) -> frozenset[int]:
        """Ids that end a message."""
        ...

    @property
    def holds_stop(self) -> bool:
        """Whether such an id is part of the message."""
        ...

    @property
    def dialect(self) -> str:
        """How actions are written; a name of ``collect.dialects``."""
        ...

    def text(self, ids: Sequence[int]) -> str:
        """What a message says, without its terminator."""
        ...


class LocalPolicy:
    """Samples from ``model`` with ``encoder``. Same requests, same replies, in the same batches.

    ``batch``: prompts read at once; 0: 16 on a CPU, where padding costs more than calls, and 64 elsewhere. ``version``: which state
    of a model that is being trained this is; -1 for one that is not.
    """

    def __init__(
        self, model: PreTrainedModel, encoder: Encoder, name: str, temperature: float = 1.0, batch: int = 0, version: int = -1
    ) -> None:
        if temperature <= 0:
            raise ValueError(f"temperature must be above 0, not {temperature}; ask for greedy replies instead")
        self.model, self.encoder, self.name = model, encoder, name
        self.temperature = temperature
        self.batch = batch or (16 if model.device.type == "cpu" else 64)
        self.version = version
        self._vocabulary: Vocabulary | None = None

    @property
    def identity(self) -> PolicyIdentity:
        """Model name and temperature, and which state of it is meant where it is being trained."""
        version = {} if self.version < 0 else {"version": self.version}
        return PolicyIdentity(model=self.name, parameters={"temperature": self.temperature, **version})

    def act(self, requests: Sequence[Request]) -> list[Reply]:
        """One reply for each request; forced moves cost nothing. Raises DataError where there are neither choices nor freedom."""
        replies = dict(pair for part in self.parts(requests) for pair in part)
        return [replies[number] for number in range(len(requests))]

    def likeliest(self, requests: Sequence[Request], most: int) -> list[list[Reply]]:
        """The ``most`` most probable replies to each closed request, the most probable first, with their exact probabilities.

        None to a request whose row is longer than the model reads.
        """
        rows = [self.encoder.row(request.task, request.steps, prompt=True).ids for request in requests]
        messages = [self.encoder.messages(request.task, request.choices) for request in requests]
        room = most_tokens(self.model)
        sizes = [len(row) + max(map(len, listed)) for row, listed in zip(rows, messages, strict=True)]
        order = [n for n in sorted(range(len(rows)), key=sizes.__getitem__) if room is None or sizes[n] <= room]
        found: list[list[Reply]] = [[] for _ in requests]
        was_training = self.model.training
        self.model.train(False)
        for at in range(0, len(order), self.batch):
            part = order[at : at + self.batch]
            tries = [build_trie(messages[n]) for n in part]
            for n, draws in zip(part, likeliest(self.model, [rows[n] for n in part], tries, most, self.temperature), strict=True):
                found[n] = [_reply(requests[n], draw) for draw in draws]
        self.model.train(was_training)
        return found

    def parts(self, requests: Sequence[Request]) -> Iterator[list[tuple[int, Reply]]]:
        """The replies of ``act`` by number, a batch of prompts at a time, for whoever has work to do between them."""
        yield [(number, Reply(request.choices[0])) for number, request in enumerate(requests) if len(request.choices) == 1]
        groups: dict[tuple[str, tuple[Step, ...]], list[int]] = {}
        written: list[int] = []
        for number, request in enumerate(requests):
            if len(request.choices) > 1:
                groups.setdefault((request.task.id, request.steps), []).append(number)
            elif not request.choices:
                written.append(number)
        was_training = self.model.training
        self.model.train(False)
        try:
            yield from self._choose(requests, list(groups.values()))
            yield list(self._write(requests, written))
        finally:
            self.model.train(was_training)

    def _choose(self, requests: Sequence[Request], groups: list[list[int]]) -> Iterator[list[tuple[int, Reply]]]:
        """Replies to the closed requests, by number, a batch at a time. ``groups``: those of one prompt together."""
        rows = [self.encoder.row(requests[n].task, requests[n].steps, prompt=True).ids for n, *_ in groups]
        ordered = sorted(zip(rows, groups, strict=True), key=lambda pair: len(pair[0]))  # like lengths: less padding
        for at in range(0, len(ordered), self.batch):
            prompts, members = zip(*ordered[at : at + self.batch], strict=True)
            flat = [number for group in members for number in group]
            replies = self._sample(prompts, [[requests[n] for n in group] for group in members])
            yield list(zip(flat, replies, strict=True))

    def _write(self, requests: Sequence[Request], numbers: list[int]) -> Iterator[tuple[int, Reply]]:
        """Replies to the open requests ``numbers``. The encoder writes their prompts, whatever conversation they carry: it knows
        the ids of what the model wrote before."""
        prompts: list[tuple[int, ...]] = []
        draws: list[Sampling] = []
        asked: list[int] = []
        for number in numbers:
            request = requests[number]
            if request.freedom is None:
                raise DataError("a request has neither choices nor freedom, so there is nothing that could be answered")
            if bool(request.freedom.tools) != (self.encoder.dialect == "tools"):
                wish = "tools are to be called" if request.freedom.tools else "text without calls of tools is to be written"
                yield number, Reply(None, problem=f"{wish}, and this model's rows are in the dialect {self.encoder.dialect}")
                continue
            prompt = self.encoder.row(request.task, request.steps, prompt=True).ids
            most = self._most(len(prompt), request.freedom)
            if most < 1:
                yield number, Reply(None, problem=f"the prompt has {len(prompt)} tokens, more than the model reads")
                continue
            draws.append(self._wish(request, request.freedom, len(prompts), most))
            prompts.append(prompt)
            asked.append(number)
        for number, prompt, found in zip(asked, prompts, sample(self.model, prompts, draws, 4 * self.batch), strict=True):
            yield number, self._written(len(prompt), found)

    def _most(self, length: int, freedom: Freedom) -> int:
        """How many tokens may be written behind a prompt of ``length``."""
        longest = most_tokens(self.model)
        return freedom.max_tokens if longest is None else min(freedom.max_tokens, longest - length)

    def _wish(self, request: Request, freedom: Freedom, prompt: int, most: int) -> Sampling:
        cold = freedom.temperature == 0
        return Sampling(
            prompt=prompt,
            rng=_stream(request),
            max_tokens=most,
            temperature=self.temperature if cold or freedom.temperature is None else freedom.temperature,
            greedy=request.greedy or cold,
            stops=self.encoder.stops,
            masker=self._masker(freedom.grammar) if freedom.grammar else None,
            guard=self._guard(freedom.check) if freedom.check else None,
        )

    def _guard(self, check: Callable[[str], int]) -> Callable[[Sequence[int]], int]:
        """The check of a text as one of ids, which is asked where a line or the message ends."""
        encoder = self.encoder

        def guard(ids: Sequence[int]) -> int:
            text = encoder.text(ids)
            if ids[-1] not in encoder.stops and not text.endswith("\n"):
                return 0
            stands = check(text)
            back = 0
            while stands < len(text) and back < len(ids) and (back == 0 or len(encoder.text(ids[:-back])) > stands):
                back += 1
            return back

        return guard

    def _masker(self, grammar: str) -> Masker:
        """A matcher at the start of a grammar; the vocabulary is made at the first."""
        if self._vocabulary is None:
            if self.encoder.tokenizer is None:
                raise InfraError("a grammar needs the model's tokenizer, and this policy's encoder has none")
            from swefuse.policy.masks import Vocabulary

            size = max(self.model.config.get_text_config().vocab_size, len(self.encoder.tokenizer))
            self._vocabulary = Vocabulary(self.encoder.tokenizer, size, sorted(self.encoder.stops))
        return self._vocabulary.matcher(grammar)

    def _written(self, length: int, found: Sampled) -> Reply:
        size = len(found.ids)
        if size and found.ids[-1] in self.encoder.stops and not self.encoder.holds_stop:
            size -= 1
        trace = TokenTrace(
            token_ids=tuple(found.ids[:size]),
            logprobs=tuple(found.logprobs[:size]),
            raw_logprobs=tuple(found.raw_logprobs[:size]),
            entropies=tuple(found.entropies[:size]),
        )
        usage = Usage(length, len(found.ids), found.seconds)
        return Reply(None, trace, self.encoder.text(found.ids), cut=found.finish == "length", usage=usage)

    def _sample(self, prompts: Sequence[Sequence[int]], groups: list[list[Request]]) -> list[Reply]:
        draws: list[Draw] = []
        for number, group in enumerate(groups):
            trie = build_trie(self.encoder.messages(group[0].task, group[0].choices))
            for r in group:
                draws.append(Draw(trie, _stream(r), number, r.greedy))
        run_trie(self.model, prompts, draws, self.temperature)
        flat = [request for group in groups for request in group]
        return [_reply(request, draw) for request, draw in zip(flat, draws, strict=True)]


def _stream(request: Request) -> random.Random:
    """A stream of the request's own: batching changes nothing."""
    return random.Random(f"{request.task.id}-{request.seed}-{len(request.steps)}")


def _reply(request: Request, draw: Draw) -> Reply:
    trace = TokenTrace(
        token_ids=tuple(draw.ids), logprobs=tuple(draw.logprobs), raw_logprobs=tuple(draw.raw), entropies=tuple(draw.entropies)
    )
    return Reply(request.choices[draw.node.choice], trace)
