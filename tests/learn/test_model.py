from __future__ import annotations

from pathlib import Path

import pytest
import torch

from learn_samples import tokenizer
from swefuse.errors import DataError
from swefuse.learn.model import load, make_nano, save, train_tokenizer
from swefuse.learn.tokens import SPECIAL, is_nano


def test_a_saved_model_comes_back_bit_for_bit(tmp_path: Path) -> None:
    made = make_nano(tokenizer(), 64, 1)
    folder = tmp_path / "model"
    save(make_nano(tokenizer(), 64, 1, seed=5), tokenizer(), folder)
    assert save(made, tokenizer(), folder) == folder, "what stood there is replaced"
    assert [path.name for path in tmp_path.iterdir()] == ["model"], "no partial folder is left"
    loaded, words = load(folder, "cpu")
    assert loaded.state_dict().keys() == made.state_dict().keys()
    for name, value in made.state_dict().items():
        assert torch.equal(loaded.state_dict()[name], value), name
    text = "#guard\n@edit f:2\n-x1 // 10\n+é\n"
    assert words.encode(text) == tokenizer().encode(text) and is_nano(words)


def test_the_tokenizer_reads_any_text_and_knows_its_marks() -> None:
    made = train_tokenizer(["def f(v0):\n    return v0\n"] * 3, 300)
    assert made.convert_tokens_to_ids(list(SPECIAL)) == [0, 1, 2, 3]
    text = "naïve \t`x` <|act|>\n 漢字 🙂"
    ids = made.encode(text)
    assert made.decode(ids) == text and ids.count(2) == 1
    assert len(made.encode("return")) < len("return"), "it merged what it saw"


def test_a_new_model_is_made_from_its_seed() -> None:
    one, same, other = (make_nano(tokenizer(), 128, 1, seed).get_input_embeddings().weight for seed in (1, 1, 2))
    assert torch.equal(one, same) and not torch.equal(one, other)
    assert make_nano(tokenizer(), 128, 1).config.num_attention_heads == 2


def test_a_folder_that_is_no_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="has no tokenizer"):
        load(tmp_path)
    save(make_nano(tokenizer(), 64, 1), tokenizer(), tmp_path / "model")
    weights = tmp_path / "model" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(DataError, match="cannot load a model"):
        load(tmp_path / "model")
    (tmp_path / "model" / "config.json").unlink()
    with pytest.raises(DataError, match=r"config\.json is missing"):
        load(tmp_path / "model")
