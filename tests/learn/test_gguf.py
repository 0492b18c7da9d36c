"""Models in one file of GGUF: written here with the library that reads them, quantised, as others publish them."""

from __future__ import annotations

import shutil
from pathlib import Path

import gguf
import numpy as np
import pytest
import torch

from swefuse.errors import DataError
from swefuse.learn.model import load, load_tokenizer, save

WIDTH, INNER, HEADS = 64, 96, 2
TOKENS = ["<|endoftext|>", *(f"{chr(first)}" for first in range(ord("!"), ord("~") + 1)), "Ġ", "in"]


def write(path: Path) -> dict[str, np.ndarray]:
    """A Llama of one block with weights in Q8_0; what its tensors were before they were quantised."""
    draw = np.random.default_rng(0)
    shapes = {
        "token_embd": (len(TOKENS), WIDTH), "blk.0.ffn_gate": (INNER, WIDTH), "blk.0.ffn_up": (INNER, WIDTH),
        "blk.0.ffn_down": (WIDTH, INNER), "blk.0.attn_q": (WIDTH, WIDTH), "blk.0.attn_k": (WIDTH, WIDTH),
        "blk.0.attn_v": (WIDTH, WIDTH), "blk.0.attn_output": (WIDTH, WIDTH),
    }  # fmt: skip
    tensors = {name: draw.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(128)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(1)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_vocab_size(len(TOKENS))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(TOKENS)
    writer.add_token_types([3] + [1] * (len(TOKENS) - 1))
    writer.add_token_merges(["i n"])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(0)
    for name, values in tensors.items():
        kind = gguf.GGMLQuantizationType.Q8_0
        writer.add_tensor(f"{name}.weight", gguf.quantize(values, kind), raw_dtype=kind)
    for name in ("output_norm", "blk.0.attn_norm", "blk.0.ffn_norm"):
        writer.add_tensor(f"{name}.weight", np.ones(WIDTH, dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return tensors


def test_a_quantised_file_loads_as_plain_numbers_and_is_saved_as_a_folder(tmp_path: Path) -> None:
    file = tmp_path / "tiny.gguf"
    tensors = write(file)
    model, tokenizer = load(file, "cpu")
    state = model.state_dict()
    for ours, theirs in (("embed_tokens", "token_embd"), ("layers.0.mlp.down_proj", "blk.0.ffn_down")):
        got, want = state[f"model.{ours}.weight"], torch.from_numpy(tensors[theirs])
        assert got.dtype == torch.float32
        assert 0 < float((got - want).abs().max()) < 0.02, "Q8_0 keeps seven bits of each"
    assert tokenizer.encode("in") == load_tokenizer(file).encode("in") == [TOKENS.index("in")]
    folder = save(model, tokenizer, tmp_path / "plain")
    again, _ = load(folder, "cpu")
    assert all(torch.equal(again.state_dict()[name], value) for name, value in state.items())


def test_a_folder_with_one_such_file_is_enough_and_two_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "tiny.gguf"
    write(file)
    assert load(tmp_path, "cpu")[0].config.hidden_size == WIDTH
    shutil.copy(file, tmp_path / "other.gguf")
    with pytest.raises(DataError, match=r"holds 2 \.gguf files; name one of them"):
        load(tmp_path, "cpu")
