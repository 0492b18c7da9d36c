"""``swefuse library mask`` by the command itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from learn_samples import library, model, tokenizer
from swefuse.cli.main import main
from swefuse.learn.model import save

Capture = pytest.CaptureFixture[str]


def test_the_mask_of_a_stored_trajectory_is_shown_with_its_counts_and_laws(tmp_path: Path, capsys: Capture) -> None:
    save(model(), tokenizer(), tmp_path / "m")
    given = ["library", "mask", str(library(tmp_path / "l.db", True, False)), "hand-made-0", "--model", str(tmp_path / "m")]
    assert main(given) == 0
    text = capsys.readouterr().out
    assert "⟦@view f" in text and "laws hold" in text and "tokens are trained" in text
    assert main([*given, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert sum(told["trained"]) == sum(step["trained"] for step in told["steps"]) and told["broken"] == []
    assert [step["action"] for step in told["steps"]][-1] == "submit" and len(told["ids"]) == len(told["trained"])


def test_bad_input_is_refused_by_name(tmp_path: Path, capsys: Capture) -> None:
    save(model(), tokenizer(), tmp_path / "m")
    lib, folder = str(library(tmp_path / "l.db", True, False)), str(tmp_path / "m")
    for given, message in (
        (["hand-made-1", "--model", folder], "trajectory hand-made-1 has no trained token"),
        (["nobody", "--model", folder], "holds no trajectory 'nobody'"),
        (["hand-made-0", "--model", str(tmp_path / "none")], "there is no model at"),
        (["hand-made-0", "--model", folder, "--dialect", "tols"], "compact dialect only, not 'tols'"),
    ):
        assert main(["library", "mask", lib, *given]) == 2
        assert message in capsys.readouterr().err
