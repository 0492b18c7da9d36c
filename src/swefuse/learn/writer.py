"""A chat model as what ``swefuse policy serve`` serves: conversations in, text with its exact tokens out."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from swefuse.errors import UserError
from swefuse.learn.model import load as load_model
from swefuse.learn.template import Template
from swefuse.policy.asked import Asked, Written
from swefuse.policy.masks import Vocabulary
from swefuse.policy.sampler import Sampled, Sampling, sample
from swefuse.policy.trie import most_tokens
from swefuse.records import content_hash

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

_LONGEST_STOP = 64  # tokens that are looked at for a text that stops, beyond its own length


class ChatWriter:
    """Writes with ``model``, whose tokenizer has a chat template. Equal requests of equal seed get equal answers."""

    def __init__(self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> None:
        self.model, self.tokenizer = model, tokenizer
        self._template = Template(tokenizer)
        self._ends = _ends(tokenizer)
        self._vocabulary: Vocabulary | None = None

    def write(self, asked: Sequence[Asked]) -> list[Written]:
        """See ``policy.batcher.Writer``. Equal conversations are read once."""
        rows = [self._prompt(one) for one in asked]
        prompts = list(dict.fromkeys(rows))
        wishes = [self._wish(one, prompts.index(row), len(row)) for one, row in zip(asked, rows, strict=True)]
        found = sample(self.model, prompts, wishes)
        return [self._written(one, len(row), made) for one, row, made in zip(asked, rows, found, strict=True)]

    def _prompt(self, one: Asked) -> tuple[int, ...]:
        try:
            text = self._template.render(one.messages, one.tools, prompt=True)
        except Exception as error:  # a template is a program of the model's, and may refuse what it likes
            raise UserError(f"the chat template does not take this conversation: {error}") from error
        ids = tuple(self.tokenizer.encode(text, add_special_tokens=False))
        longest = most_tokens(self.model)
        if longest is not None and len(ids) + one.max_tokens > longest:
            raise UserError(
                f"the conversation has {len(ids)} tokens, and with {one.max_tokens} more that is over the model's {longest}"
            )
        return ids

    def _wish(self, one: Asked, prompt: int, length: int) -> Sampling:
        """The draw of a request; its stream hangs on its content and seed alone."""
        key = content_hash([[asdict(message) for message in one.messages], one.seed, one.grammar, length])
        return Sampling(
            prompt=prompt, rng=random.Random(key), max_tokens=one.max_tokens, temperature=one.temperature or 1.0,
            greedy=one.temperature == 0, stops=self._ends, ended=self._stopped(one.stop) if one.stop else None,
            masker=self._words().matcher(one.grammar) if one.grammar else None,
        )  # fmt: skip

    def _words(self) -> Vocabulary:
        if self._vocabulary is None:
            size = max(self.model.config.get_text_config().vocab_size, len(self.tokenizer))
            self._vocabulary = Vocabulary(self.tokenizer, size, sorted(self._ends))
        return self._vocabulary

    def _stopped(self, stops: tuple[str, ...]) -> Callable[[Sequence[int]], bool]:
        reach = max(map(len, stops)) + _LONGEST_STOP
        return lambda ids: any(stop in self._text(ids[-reach:]) for stop in stops)

    def _text(self, ids: Sequence[int]) -> str:
        return str(self.tokenizer.decode(list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False))

    def _written(self, one: Asked, length: int, made: Sampled) -> Written:
        text = self._text(made.ids)
        ends = [at for stop in one.stop if (at := text.find(stop)) >= 0]
        return Written(
            text[: min(ends, default=len(text))], tuple(made.ids), tuple(made.logprobs), tuple(made.raw_logprobs),
            tuple(made.entropies), tuple(str(self.tokenizer.decode([id_])) for id_ in made.ids), length,
            "length" if made.finish == "length" else "stop",
        )  # fmt: skip


def _ends(tokenizer: PreTrainedTokenizerBase) -> frozenset[int]:
    """Ids that end an answer: the tokenizer's own, and the one by which its template closes a turn."""
    found = {tokenizer.eos_token_id} - {None}
    turns = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "\u241f"}]
    text = str(tokenizer.apply_chat_template(turns, tokenize=False))
    tail = tokenizer.encode(text.rpartition("\u241f")[2], add_special_tokens=False)
    special = set(tokenizer.all_special_ids)
    found |= {id_ for id_ in tail[:1] if id_ in special}
    return frozenset(int(id_) for id_ in found if isinstance(id_, int))


def load(folder: Path) -> ChatWriter:
    """The writer of a model's folder. Raises DataError where it does not load or cannot be talked to."""
    return ChatWriter(*load_model(folder))
