"""``swefuse train sft`` on a library, by the command itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from learn_samples import library, model, tokenizer
from swefuse.cli.main import main
from swefuse.learn.model import save

Capture = pytest.CaptureFixture[str]


def given(place: Path, *trained: bool) -> list[str]:
    """Arguments of a run from a small model on a library of hand-made trajectories, see ``library``."""
    save(model(), tokenizer(), place / "base")
    parts = {"--model": place / "base", "--library": library(place / "l.db", *trained), "--out": place / "out"}
    return ["train", "sft", *(str(word) for pair in parts.items() for word in pair)]


@pytest.mark.parametrize("trained", [(True, True, False), (False, False)], ids=["one", "all"])
def test_a_trajectory_that_trains_nothing_is_named_before_the_first_step(
    tmp_path: Path, capsys: Capture, trained: tuple[bool, ...]
) -> None:
    assert main(given(tmp_path, *trained)) == 2
    assert f"trajectory hand-made-{trained.index(False)} has no trained token" in capsys.readouterr().err
    assert list((tmp_path / "out").iterdir()) == []


def test_a_mix_of_what_is_not_there_is_refused(tmp_path: Path, capsys: Capture) -> None:
    assert main([*given(tmp_path, True, True), "--set", "mix.sources={tast = 2.0}"]) == 2
    assert "no trajectory has source 'tast'; did you mean 'test'?" in capsys.readouterr().err
