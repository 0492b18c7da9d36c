"""Which tokens may come next under a grammar of ``policy.syntax``: masks for sampling, token by token.

llguidance works out the masks on the CPU. They are applied by a plain ``masked_fill`` here, for its own helper is compiled by torch
at first use, which takes a minute.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from swefuse.errors import DataError, InfraError, missing_extra

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

MOST_COMPILED = 64  # grammars that a vocabulary remembers
_BITS = torch.tensor([[byte >> bit & 1 for bit in range(8)] for byte in range(256)], dtype=torch.bool)


def _llguidance() -> Any:
    try:
        import llguidance
        import llguidance.hf
    except ImportError as error:
        raise missing_extra("llguidance", "train") from error
    return llguidance


def check_grammar(grammar: str) -> None:
    """Raises DataError, with the place, if the text of a grammar does not compile."""
    matcher = _llguidance().LLMatcher
    failed, messages = matcher.validate_grammar_with_warnings(matcher.grammar_from_lark(grammar))
    if failed:
        raise DataError(f"the grammar does not compile: {messages[0]}")


class Vocabulary:
    """The tokens of a fast Hugging Face tokenizer, arranged for masks; takes about a second to build, so build it once.

    ``size`` is the width of the logits, where a model's is above the tokenizer's; ``eos`` the ids that end a text. Raises DataError
    for a tokenizer that cannot be read, MissingExtraError without llguidance.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase, size: int | None = None, eos: Sequence[int] = ()) -> None:
        ends = list(eos) or ([tokenizer.eos_token_id] if tokenizer.eos_token_id is not None else [])
        if not ends:
            raise DataError("the tokenizer has no end-of-text token; pass 'eos'")
        library = _llguidance()
        try:
            self.inner = library.hf.from_tokenizer(tokenizer, n_vocab=size or len(tokenizer), eos_token=ends)
        except ValueError as error:
            raise DataError(f"masks need a fast tokenizer: {error}") from error
        self.eos = tuple(ends)
        self._compiled: OrderedDict[str, Any] = OrderedDict()

    @property
    def size(self) -> int:
        """Number of entries of a mask."""
        return int(self.inner.vocab_size)

    def matcher(self, grammar: str) -> Matcher:
        """A new matcher at the start of ``grammar``, which is compiled once. Raises DataError, with the place, if it cannot be."""
        known = self._compiled.get(grammar)
        if known is None:
            library = _llguidance()
            known = library.LLMatcher(self.inner, library.LLMatcher.grammar_from_lark(grammar), log_level=0)
            if known.is_error():
                raise DataError(f"the grammar does not compile: {known.get_error()}")
            self._compiled[grammar] = known
            if len(self._compiled) > MOST_COMPILED:
                self._compiled.popitem(last=False)
        self._compiled.move_to_end(grammar)
        return Matcher(self, known.deep_copy())


class Matcher:
    """How far one text has come in its grammar. ``ids`` are the tokens accepted so far."""

    def __init__(self, vocabulary: Vocabulary, inner: Any) -> None:
        self.vocabulary, self._inner = vocabulary, inner
        self.ids: list[int] = []

    def allowed(self) -> Tensor:
        """bool [V]: which tokens may follow; the end-of-text tokens are among them where the text may end.

        Raises InfraError where the grammar has come to be too complex to go on.
        """
        size = self.vocabulary.size
        if self.is_done():
            return torch.zeros(size, dtype=torch.bool).index_fill_(0, torch.tensor(self.vocabulary.eos), True)
        packed = torch.frombuffer(bytearray(self._inner.compute_bitmask()), dtype=torch.uint8)
        if self._inner.is_error():
            raise InfraError(f"no mask after {len(self.ids)} tokens: {self._inner.get_error()}")
        return _BITS[packed.long()].view(-1)[:size]

    def accept(self, token: int) -> None:
        """Go on by one token. Raises DataError if it is not allowed here; the state is then as before."""
        if self.is_done() or self.accepts([token]) != 1 or not self._inner.consume_token(token):
            shown = self.vocabulary.inner.dbg_tokens([token])
            raise DataError(f"token {token} ({shown}) does not follow the grammar after {len(self.ids)} tokens")
        self.ids.append(token)

    def accepts(self, tokens: Sequence[int]) -> int:
        """How many of ``tokens`` could follow, one after the other; the state stays."""
        return int(self._inner.validate_tokens(list(tokens)))

    def rollback(self, count: int) -> None:
        """Take back the last ``count`` tokens. Raises DataError if there are fewer."""
        if not 0 <= count <= len(self.ids):
            raise DataError(f"cannot take back {count} of {len(self.ids)} tokens")
        if count:
            if not self._inner.rollback(count):
                raise InfraError(f"could not take back {count} tokens: {self._inner.get_error()}")
            del self.ids[-count:]

    def may_end(self) -> bool:
        """Whether the text is complete as it is."""
        return bool(self._inner.is_accepting())

    def is_done(self) -> bool:
        """Whether the text has ended: by an end-of-text token, or because nothing can follow."""
        return bool(self._inner.is_stopped())

    def forced(self) -> list[int]:
        """The tokens that must come next whatever is sampled; empty where there is a choice."""
        return [int(token) for token in self._inner.compute_ff_tokens()]


def apply_masks(scores: Tensor, masks: Sequence[Tensor]) -> Tensor:
    """``scores`` [B, W] with minus infinity where the row's mask [V] forbids the token, and beyond V."""
    allowed = torch.stack(list(masks))
    if scores.shape[1] > allowed.shape[1]:
        allowed = torch.nn.functional.pad(allowed, (0, scores.shape[1] - allowed.shape[1]))
    return scores.masked_fill(~allowed[:, : scores.shape[1]].to(scores.device), float("-inf"))


class GrammarLogitsProcessor:
    """Holds ``generate`` of transformers to grammars: one for all rows, or one for each prompt.

    Good for one call of ``generate``. Rows may change places between tokens, as they do in a beam search: a row's matcher goes back
    to where the row still agrees with it. Raises DataError if the rows are no multiple of the grammars.
    """

    def __init__(self, vocabulary: Vocabulary, grammars: str | Sequence[str]) -> None:
        self.vocabulary = vocabulary
        self.grammars = [grammars] if isinstance(grammars, str) else list(grammars)
        self._rows: list[Matcher] = []
        self._prompt = 0

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        """``scores`` [B, W] for the token after ``input_ids`` [B, L], with minus infinity for what the grammars forbid."""
        if not self._rows:
            self._prompt = input_ids.shape[1]
            each, rest = divmod(len(input_ids), len(self.grammars))
            if rest or not each:
                raise DataError(
                    f"{len(input_ids)} rows for {len(self.grammars)} grammars: give one for all, or one for each prompt"
                )
            self._rows = [self.vocabulary.matcher(grammar) for grammar in self.grammars for _ in range(each)]
        for matcher, ids in zip(self._rows, input_ids[:, self._prompt :].tolist(), strict=True):
            self._follow(matcher, ids)
        return apply_masks(scores, [matcher.allowed() for matcher in self._rows])

    @staticmethod
    def _follow(matcher: Matcher, ids: list[int]) -> None:
        same = 0
        while same < min(len(ids), len(matcher.ids)) and ids[same] == matcher.ids[same]:
            same += 1
        matcher.rollback(len(matcher.ids) - same)
        for token in ids[same:]:
            if matcher.is_done():
                break  # what follows is padding
            matcher.accept(token)
