"""Masks of trajectories of every shape, for models of every family; and that a wrong one is seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from chat_samples import FAMILIES, REFERENCE, chat, real, varied

from learn_samples import TASKS, tokenizer
from swefuse.errors import DataError
from swefuse.learn.chat import Row
from swefuse.learn.examples import all_fitted, fitted, make_example
from swefuse.learn.masks import inspect
from swefuse.learn.tokens import Codec, codec_for
from swefuse.records import Step, Task, TokenTrace


@pytest.mark.parametrize("written", ["compact", "tools"])
@pytest.mark.parametrize("name", [*FAMILIES, "nano"])
def test_the_laws_hold_for_every_family(name: str, written: str) -> None:
    if (name, written) == ("nano", "tools"):
        return
    codec = codec_for(tokenizer()) if name == "nano" else real(name, written)
    for number in range(4):
        task, trajectory = varied(number, codec, written == "tools")
        found = inspect(codec, task, trajectory)
        assert found.broken == ()
        assert [step.keep for step in found.steps] == [step.keep for step in trajectory.steps]
        assert sum(found.trained) == sum(step.written for step in found.steps if step.keep)
        pieces = found.pieces(codec)
        assert sum(piece.tokens for piece in pieces) == len(found.ids)
        assert sum(piece.tokens for piece in pieces if piece.trained) == sum(found.trained)


def test_what_is_trained_reads_as_what_the_agent_wrote() -> None:
    codec = real("chatml")
    dropped = REFERENCE[0].steps[0].model_copy(update={"keep": False})
    found = inspect(codec, TASKS[0], REFERENCE[0].model_copy(update={"steps": (dropped, *REFERENCE[0].steps[1:])}))
    trained = [piece.text for piece in found.pieces(codec) if piece.trained]
    assert trained == [step.raw.removesuffix("\n") + "<|im_end|>\n" for step in REFERENCE[0].steps[1:]]
    assert found.steps[0].trained == 0 < found.steps[0].written


class Wrong:
    """A codec with one thing wrong."""

    def __init__(self, codec: Codec, how: str) -> None:
        self.codec, self.how = codec, how

    def __getattr__(self, name: str) -> Any:
        return getattr(self.codec, name)

    def row(self, task: Task, steps: Sequence[Step], prompt: bool = False) -> Row:
        row = self.codec.row(task, steps, prompt)
        if self.how == "prompt" and prompt:
            return replace(row, ids=row.ids[:-1])
        if self.how == "start":
            start = self.codec.tokenizer.bos_token_id  # type: ignore[union-attr]
            return Row((start, *row.ids), tuple((a + 1, b + 1) for a, b in row.spans))
        if self.how == "trace":
            return replace(row, ids=tuple(token + 1 for token in row.ids))
        return row


@pytest.mark.parametrize(
    ("how", "message"),
    [("prompt", "is not how the row begins"), ("start", "begins a text stands at"), ("trace", "does not hold the ids"), ("", "")],
)
def test_a_wrong_row_is_seen(how: str, message: str) -> None:
    codec = real("llama")
    zeros = (0.0,) * 3
    trace = TokenTrace(token_ids=(9, 8, 7), logprobs=zeros, raw_logprobs=zeros, entropies=zeros)
    steps = tuple(step.model_copy(update={"trace": trace}) for step in REFERENCE[1].steps)
    broken = inspect(Wrong(codec, how), TASKS[1], REFERENCE[1].model_copy(update={"steps": steps})).broken  # type: ignore[arg-type]
    assert any(message in law for law in broken) if how else broken == ()


def test_hints_tell_where_a_server_may_see_another_text() -> None:
    thinking = tuple(step.model_copy(update={"raw": f"<think>\nhm\n</think>\n{step.raw}"}) for step in REFERENCE[0].steps)
    trajectory = REFERENCE[0].model_copy(update={"steps": thinking})
    assert any("<think>" in hint for hint in inspect(real("qwen"), TASKS[0], trajectory).hints)
    assert inspect(real("chatml"), TASKS[0], trajectory).hints == ()
    assert any("first question" in hint for hint in inspect(real("mistral"), TASKS[0], REFERENCE[0]).hints)
    assert any("in words" in hint for hint in inspect(real("llama", "tools"), TASKS[0], REFERENCE[0]).hints)


def test_an_answer_from_elsewhere_that_is_kept_is_trained() -> None:
    codec = chat()
    step = Step(thought="", action=None, raw="```bash\nls\n```", observation="m.py", before="a", after="a")
    for keep in (True, False):
        trajectory = REFERENCE[0].model_copy(update={"steps": (step.model_copy(update={"keep": keep}), *REFERENCE[0].steps)})
        found = inspect(codec, TASKS[0], trajectory)
        assert found.broken == () and found.steps[0].trained == (found.steps[0].written if keep else 0)


def test_a_row_that_is_too_long_is_cut_behind_a_step_and_never_inside_one() -> None:
    codec = real("chatml")
    example = make_example(codec, TASKS[0], REFERENCE[0])
    ends = [end for _, end in codec.row(TASKS[0], REFERENCE[0].steps).spans]
    assert fitted(example, len(example.ids)) == example
    for longest in range(len(example.ids) - 1, 0, -1):
        wanted = max((end for end in ends if end <= longest), default=0)
        cut = fitted(example, longest)
        assert (cut is None) == (wanted == 0)
        if cut is not None:
            assert len(cut.ids) == wanted == cut.positions[-1] + 1 and example.ids[:wanted] == cut.ids
            assert cut.positions == tuple(at for at in example.positions if at < wanted) and len(cut.allowed) == len(cut.positions)


def test_what_was_cut_and_left_out_is_told() -> None:
    codec = real("chatml")
    examples = [make_example(codec, task, one) for task, one in zip(TASKS, REFERENCE, strict=True)]
    first = [codec.row(task, one.steps).spans[0][1] for task, one in zip(TASKS, REFERENCE, strict=True)]
    kept, told = all_fitted(examples, sorted(first)[1])
    assert told["cut"] + len(told["left_out"]) == 4 and len(kept) == told["cut"] == sum(end <= sorted(first)[1] for end in first)
    assert all_fitted(examples, 10**6) == (examples, {}) == all_fitted(examples, None)
    with pytest.raises(DataError, match="no trained step of any trajectory ends within the 3 tokens"):
        all_fitted(examples, 3)
