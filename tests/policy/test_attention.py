"""Our attention against torch's own, as the models use it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedModel

from learn_samples import tokenizer
from swefuse.learn.model import load, make_nano, save
from swefuse.policy import attention
from swefuse.policy.attention import products, use_products


def model(groups: int) -> PreTrainedModel:
    torch.manual_seed(0)
    config = LlamaConfig(
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=4 // groups,
        intermediate_size=48,
        vocab_size=50,
    )
    made: PreTrainedModel = LlamaForCausalLM(config)
    return made.eval()


def padded() -> dict[str, Any]:
    ids = torch.arange(36).reshape(3, 12) % 50
    mask = torch.ones_like(ids)
    mask[0, :5] = 0
    mask[1, 9:] = 0
    return {"input_ids": ids, "attention_mask": mask}


@pytest.mark.parametrize("groups", [1, 2])
def test_models_compute_the_same_and_have_the_same_gradients(groups: int) -> None:
    batch = padded()
    seen = batch["attention_mask"].bool()
    found = []
    for ours in (False, True):
        llama = model(groups)
        if ours:
            use_products(llama)
            assert llama.config._attn_implementation == attention.NAME
        logits = llama(**batch).logits[seen]
        torch.nn.functional.cross_entropy(logits, batch["input_ids"][seen]).backward()
        found.append((logits.detach(), [p.grad.clone() for p in llama.parameters() if p.grad is not None]))
    assert torch.allclose(found[0][0], found[1][0], atol=1e-5)
    assert all(torch.allclose(a, b, atol=1e-5) for a, b in zip(found[0][1], found[1][1], strict=True))


@pytest.mark.parametrize("short", [True, False])
def test_rows_padded_on_the_left_are_never_nan_in_bfloat16(short: bool) -> None:
    batch = padded() if short else {"input_ids": torch.zeros(1, 600, dtype=torch.long), "attention_mask": torch.ones(1, 600)}
    batch["attention_mask"][0, :3] = 0
    llama = model(1)
    use_products(llama)
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
        assert not bool(llama(**batch).logits.isnan().any())


def operations(result: torch.Tensor) -> set[str]:
    """Names of all steps that led to a result."""
    found, left = set(), [result.grad_fn]
    while left:
        node = left.pop()
        if node is not None:
            found.add(type(node).__name__)
            left += [before for before, _ in node.next_functions]
    return found


@pytest.mark.parametrize(("keys", "fused"), [(8, False), (attention.SHORT // 8 + 1, True)])
def test_only_long_rows_go_to_the_fused_kernel(keys: int, fused: bool) -> None:
    query, key = torch.randn(1, 2, 8, 16, requires_grad=True), torch.randn(1, 2, keys, 16)
    mask = torch.zeros(1, 1, 8, keys)
    found, weights = products(torch.nn.Module(), query, key, key, mask, 0.25)
    expected = torch.nn.functional.scaled_dot_product_attention(query, key, key, attn_mask=mask, scale=0.25)
    assert weights is None and torch.allclose(found, expected.transpose(1, 2), atol=1e-5)
    assert any("ScaledDotProduct" in name for name in operations(found)) == fused


def test_a_saved_folder_knows_nothing_of_it_and_generates_with_a_cache(tmp_path: Path) -> None:
    llama, words = load(save(make_nano(tokenizer(), 64, 1), tokenizer(), tmp_path / "made"))
    assert llama.config._attn_implementation == attention.NAME
    llama.config.use_cache = False
    folder = save(llama, words, tmp_path / "again")
    config = (folder / "config.json").read_text()
    assert attention.NAME not in config and '"use_cache": true' in config
