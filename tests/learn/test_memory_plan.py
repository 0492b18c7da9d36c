"""Memory on paper."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM

from learn_samples import model
from swefuse.errors import UserError
from swefuse.learn.plan import GIB, SHAPES, PlanSettings, config_of, empty, kept, plan, shape_of, table

PLAIN = PlanSettings(rows=2, length=16, trained=0.5, half=False, recompute=False, overhead=0.0)
CONFIG = LlamaConfig(
    num_hidden_layers=2, hidden_size=64, intermediate_size=96, num_attention_heads=4, num_key_value_heads=2, vocab_size=50,
    tie_word_embeddings=False,
)  # fmt: skip
BLOCK = 64 * 64 * 2 + 2 * 64 * 32 + 3 * 64 * 96 + 2 * 64


@pytest.fixture
def folder(tmp_path: Path) -> str:
    CONFIG.save_pretrained(tmp_path)
    return str(tmp_path)


def test_parameters_by_where_they_lie() -> None:
    found = shape_of(empty(CONFIG, half=False))
    assert found.block == BLOCK and found.ends == 2 * 50 * 64
    assert found.parameters == 2 * BLOCK + 2 * 50 * 64 + 64 == sum(p.numel() for p in LlamaForCausalLM(CONFIG).parameters())
    assert found.inner == 2 * (BLOCK - 2 * 64)
    tied = model()
    assert shape_of(tied).ends == tied.get_input_embeddings().weight.numel(), "what is tied counts once"
    assert 7.9e9 < shape_of(empty(config_of("llama-8b"), half=True)).parameters < 8.1e9


def test_what_is_kept_is_what_a_real_pass_keeps() -> None:
    """A real model on the CPU, whose kept tensors are counted in the same way, keeps the same."""
    real = LlamaForCausalLM(CONFIG).train()
    found: dict[int, int] = {}
    weights = {p.untyped_storage().data_ptr() for p in real.parameters()}
    held = []

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        if tensor.untyped_storage().data_ptr() not in weights:
            found[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
            held.append(tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        real.base_model(input_ids=torch.zeros(2, 16, dtype=torch.long))
    inside, _ = kept(empty(CONFIG, half=False), 2, 16, 16)
    assert inside == pytest.approx(sum(found.values()), rel=0.16), "but for what a kernel of attention keeps of its own"


def test_what_is_kept_grows_with_the_rows_and_logits_with_what_is_trained() -> None:
    made = empty(CONFIG, half=False)
    (one, few), (two, many) = kept(made, 1, 16, 8), kept(made, 2, 16, 16)
    assert two == pytest.approx(2 * one, rel=0.05) and many == pytest.approx(2 * few, rel=0.1)
    assert few >= 3 * 8 * 50 * 4 * 0.6, "logits, their log-softmax and the gradient"
    assert kept(empty(CONFIG, half=True), 1, 16, 8)[0] < 0.8 * one


def test_the_parts_by_hand(folder: str) -> None:
    total = shape_of(empty(CONFIG, half=False)).parameters
    one = plan(folder, PLAIN, 1)
    assert (one.weights, one.gradients, one.optimizer, one.gathered) == (4 * total, 4 * total, 8 * total, 0)
    eight = plan(folder, PLAIN.model_copy(update={"reference": True}), 8)
    assert (eight.weights, eight.optimizer, eight.reference) == (total / 2, total, total / 2)
    assert eight.activations == one.activations, "its own rows are a device's own"
    assert eight.gathered == 4 * (2 * BLOCK + 2 * 50 * 64)
    muon = plan(folder, PLAIN.model_copy(update={"optimizer": "muon"}), 1)
    assert muon.optimizer == 8 * total - 4 * 2 * (BLOCK - 2 * 64)
    low = plan(folder, PLAIN.model_copy(update={"lora": 4, "half": True}), 1)
    adapters = 2 * 4 * (2 * (64 + 64) + 2 * (64 + 32) + 3 * (64 + 96))
    assert (low.weights, low.gradients, low.optimizer) == (2 * total + 4 * adapters, 4 * adapters, 8 * adapters)
    again = plan(folder, PLAIN.model_copy(update={"recompute": True}), 1)
    assert again.activations == pytest.approx(one.activations / 2 + 2 * 2 * 16 * 64 * 4)
    assert one.total == pytest.approx(one.weights + one.gradients + one.optimizer + one.activations + one.logits)


def test_the_table_and_names(folder: str) -> None:
    found = [plan(folder, PLAIN.model_copy(update={"overhead": 1.5}), count) for count in (1, 4)]
    lines = table(found)
    assert lines[0].split() == ["GiB", "a", "device", "1", "4"] and lines[-1].split()[0] == "total"
    assert found[0].total / GIB == pytest.approx(1.5, abs=0.01)
    with pytest.raises(UserError, match="did you mean 'llama-8b'"):
        config_of("lama-8b")
    assert set(SHAPES) >= {"llama-8b", "qwen-32b"}
