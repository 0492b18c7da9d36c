from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from test_sft import apart, examples, weights_after

from learn_samples import tokenizer
from swefuse.errors import ConfigError
from swefuse.learn.batch import Example, collate, fill, kept_apart, shown
from swefuse.learn.model import make_nano
from swefuse.learn.sft import SftSettings, check_packing, sft_loss
from swefuse.policy.attention import use_products


def test_rows_are_filled_the_longest_first() -> None:
    assert fill([3, 6, 2, 5, 4], 9) == [[1, 0], [3, 4], [2]]
    assert fill([9, 12], 9) == [[1], [0]] and fill([], 9) == []


@given(st.lists(st.integers(1, 20), max_size=20), st.integers(20, 50))
def test_filling_loses_nothing_and_no_row_is_too_long(lengths: list[int], room: int) -> None:
    rows = fill(lengths, room)
    assert sorted(number for row in rows for number in row) == list(range(len(lengths)))
    assert all(sum(lengths[number] for number in row) <= room for row in rows)
    assert len(rows) <= 11 / 9 * -(-sum(lengths) // max(1, room)) * 2 + 1


def test_a_packed_batch_by_hand() -> None:
    rows = [Example((5, 6), (1,), ((),)), Example((7, 8, 9), (1, 2), ((8, 3), ())), Example((4, 3, 2, 1), (2,), ((),))]
    batch = collate(rows, vocabulary=10, pad=0, room=6)
    assert batch.ids.tolist() == [[4, 3, 2, 1, 5, 6], [7, 8, 9, 0, 0, 0]]
    assert batch.mask.tolist() == [[1, 1, 1, 1, 2, 2], [1, 1, 1, 0, 0, 0]]
    assert list(zip(batch.row.tolist(), batch.column.tolist(), strict=True)) == [(0, 1), (0, 4), (1, 0), (1, 1)]
    assert batch.targets.tolist() == [2, 6, 8, 9]
    assert [row.nonzero().flatten().tolist() for row in batch.allowed] == [[], [], [3, 8], []]
    positions, seen = kept_apart(batch.mask)
    assert positions.tolist() == [[0, 1, 2, 3, 0, 1], [0, 1, 2, 0, 1, 2]]
    own = [[1, 0, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0], [1, 1, 1, 0, 0, 0], [1, 1, 1, 1, 0, 0], [0, 0, 0, 0, 1, 0], [0, 0, 0, 0, 1, 1]]
    assert seen[0].int().tolist() == own
    assert shown(batch).nonzero().tolist() == [[0, 1], [0, 3]], "the first token of the second example is predicted by nothing"


def chat_model(kind: str) -> Any:
    """A tiny model of a family that chat models belong to, in float32."""
    from transformers import AutoConfig, AutoModelForCausalLM

    if kind == "llama":
        return make_nano(tokenizer(), 64, 2)
    torch.manual_seed(0)
    config = AutoConfig.for_model(
        kind, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=1, intermediate_size=48,
        vocab_size=len(tokenizer()), head_dim=16,
    )  # fmt: skip
    return AutoModelForCausalLM.from_config(config)


def gradients(model: Any, rows: list[Example], parts: list[list[int]], room: int) -> tuple[float, dict[str, torch.Tensor]]:
    """Loss and gradients of one optimizer step whose forward passes are ``parts`` of the rows."""
    settings = SftSettings(raw_loss=0.5, prompt_loss=0.3, pack=room)
    batches = [collate([rows[n] for n in part], model.config.vocab_size, 0, room) for part in parts]
    tokens, others = sum(len(b.targets) for b in batches), sum(int(shown(b).sum()) for b in batches)
    model.zero_grad()
    total = 0.0
    for batch in batches:
        loss, _ = sft_loss(model, batch, tokens, others, settings)
        loss.backward()
        total += loss.item()
    return total, {name: p.grad.clone() for name, p in model.named_parameters()}


@pytest.mark.parametrize("kind", ["llama", "qwen3", "qwen2"])
@pytest.mark.parametrize("attention", ["products", "sdpa", "eager"])
def test_packing_changes_neither_loss_nor_gradients(kind: str, attention: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SWEFUSE_FLOAT32", "1")  # where hardware has bfloat16, figures agree to its last digit only
    model = chat_model(kind)
    assert model.dtype == torch.float32
    if attention == "products":
        use_products(model)
    else:
        model.set_attn_implementation(attention)
    rows = [*examples(), *[Example(tuple(range(1, n)), (1, n - 2), ((), ())) for n in (5, 30, 9, 4)]]
    longest = max(len(row.ids) for row in rows)
    plain, gradient = gradients(model, rows, [list(range(8))], 0)
    shuffled = random.Random(1).sample(range(8), 8)
    for parts, room in [
        ([list(range(8))], longest),
        ([list(range(8))], 10 * longest),  # all in one row
        ([shuffled], 2 * longest),
        ([[n] for n in range(8)], longest + 7),  # accumulated, a row with one example
        ([shuffled[:3], shuffled[3:]], 2 * longest + 1),
    ]:
        loss, packed = gradients(model, rows, parts, room)
        assert loss == pytest.approx(plain, rel=1e-5)
        scale = max(float(g.abs().max()) for g in gradient.values())
        assert all(float((packed[name] - gradient[name]).abs().max()) < 1e-5 * max(1.0, scale) for name in gradient)


def test_examples_that_saw_each_other_would_be_noticed() -> None:
    model, rows = chat_model("llama"), examples()
    packed = collate(rows, model.config.vocab_size, 0, 10_000)
    one = packed._replace(mask=packed.mask.clamp(max=1))
    settings = SftSettings(pack=10_000, prompt_loss=0.0)
    apart_, together = (sft_loss(model, batch, len(packed.targets), 1, settings)[0].item() for batch in (packed, one))
    assert abs(apart_ - together) > 1e-4


def test_a_packed_run_is_the_run(tmp_path: Path) -> None:
    plain = weights_after(tmp_path / "plain")
    assert apart(plain, weights_after(tmp_path / "packed", pack=2000)) < 1e-5
    assert apart(plain, weights_after(tmp_path / "accumulated", pack=2000, micro_batch=2)) < 1e-5


def test_what_cannot_be_packed_is_refused() -> None:
    model, rows = chat_model("llama"), examples()
    check_packing(model, rows, 0)
    with pytest.raises(ConfigError, match=rf"trajectory {rows[0].name} has {len(rows[0].ids)} tokens, more than pack=20"):
        check_packing(model, rows, 20)
    model.config.layer_types = ["full_attention", "linear_attention"]
    with pytest.raises(ConfigError, match="this model has linear_attention"):
        check_packing(model, rows, 2000)
    model.config.layer_types, model.config.sliding_window = None, 64
    with pytest.raises(ConfigError, match="this model has sliding_attention"):
        check_packing(model, rows, 2000)
