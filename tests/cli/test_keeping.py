"""``swefuse library split``, ``stats --page``, ``merge`` and ``gc``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from swefuse.cli.main import main
from swefuse.library.store import Library

Capture = pytest.CaptureFixture[str]


def result(capsys: Capture, *arguments: object) -> Any:
    assert main([*map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_split_tells_the_parts(lib: Path, capsys: Capture) -> None:
    words = ["library", "split", lib, "--by", "function", "--shares", "train=0.9,test=0.1"]
    made = result(capsys, *words)
    assert sum(made["entries"].values()) == 2 and made["placed"] == 1
    assert main([*map(str, words), "--seed", "0"]) == 0
    assert "0 units got their part now; 0 are in none" in capsys.readouterr().out
    (part,) = (part for part, count in made["entries"].items() if count)
    assert len(result(capsys, "library", "list", lib, "--split", part)) == 2


@pytest.mark.parametrize(
    ("by", "shares", "told"),
    [
        ("function", "train", "'train' is no NAME=SHARE"),
        ("function", "a=0.5,a=0.5", "a is named twice"),
        ("function", "a=0.5", "the shares add up to 0.5"),
        ("files", "a=1", "--by files: a library is split by one of: repository, function"),
    ],
)
def test_splits_that_cannot_be(lib: Path, by: str, shares: str, told: str, capsys: Capture) -> None:
    assert main(["library", "split", str(lib), "--by", by, "--shares", shares]) == 2
    assert told in capsys.readouterr().err


def test_stats_tell_lengths_and_diversity(lib: Path, capsys: Capture) -> None:
    counts = result(capsys, "library", "stats", lib)
    assert counts["diversity"] == {"tasks": 1, "functions": 1, "repositories": 0, "edits": 1}
    assert counts["steps"]["least"] == counts["steps"]["median"] == counts["steps"]["greatest"] > 0
    assert main(["library", "tag", str(lib), "good"]) == 0
    assert main(["library", "stats", str(lib)]) == 0
    shown = capsys.readouterr().out
    assert "of the accepted ones" in shown and "\ntags\n  good" in shown


def test_the_page_is_written_whole_or_refused(lib: Path, tmp_path: Path, capsys: Capture) -> None:
    page = tmp_path / "library.html"
    assert main(["library", "stats", str(lib), "--page", str(page)]) == 0
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    capsys.readouterr()
    for target, told in [
        (tmp_path, "is a folder; name a file"),
        (lib, "is also what is read"),
        (tmp_path / "no" / "x", "no folder"),
    ]:
        assert main(["library", "stats", str(lib), "--page", str(target)]) == 2
        error = capsys.readouterr().err
        assert f"--page {target}" in error and told in error


def test_merge_makes_one_of_several(lib: Path, library: Path, tmp_path: Path, capsys: Capture) -> None:
    with Library(lib) as other:
        other.snapshot("v1")
    into = tmp_path / "all.db"
    made = result(capsys, "library", "merge", into, lib, library)
    assert [(row["added"], row["known"]) for row in made.values()] == [(2, 0), (0, 2)]
    assert made[str(lib)]["snapshots"] == {"v1": "v1"}
    assert main(["library", "merge", str(into), str(lib)]) == 0
    assert "0 entries came in, 2 were there" in capsys.readouterr().out
    assert main(["library", "merge", str(into), str(into)]) == 2
    assert "cannot be merged into itself" in capsys.readouterr().err
    assert main(["library", "merge", str(tmp_path / "new.db"), str(tmp_path / "absent.db")]) == 2
    assert "absent.db" in capsys.readouterr().err and not (tmp_path / "new.db").exists()


def test_gc_tells_what_it_removed(lib: Path, capsys: Capture) -> None:
    assert result(capsys, "library", "gate", lib, "--workers", 1)
    superseded = result(capsys, "library", "stats", lib)["superseded"]
    assert result(capsys, "library", "gc", lib)["entries"] == 0
    assert main(["library", "gc", str(lib), "--superseded"]) == 0
    assert capsys.readouterr().out.startswith(f"removed {superseded} entries and ")
    assert result(capsys, "library", "verify", lib)["ok"]
