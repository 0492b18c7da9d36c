"""``swefuse library list``, ``tag`` and ``snapshot`` choose by the same options."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from swefuse.cli.main import main

Capture = pytest.CaptureFixture[str]


def result(capsys: Capture, *arguments: object) -> Any:
    assert main([*map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_options_choose(lib: Path, capsys: Capture) -> None:
    for options, count in [
        ([], 2),
        (["--kind", "bugfix", "--source", "demo", "--operator", "arithmetic", "--split", "train"], 2),
        (["--refused"], 1),
        (["--query", "Repair double"], 2),
        (["--query", "AND OR ("], 0),
        (["--query", "unheard"], 0),
        (["--min-strength", "0.1"], 0),
        (["--max-steps", "0"], 0),
        (["--repo", "me/tool"], 0),
    ]:
        assert len(result(capsys, "library", "list", lib, *options)) == count, options


def test_pages_say_what_is_left(lib: Path, capsys: Capture) -> None:
    assert main(["library", "list", str(lib), "--limit", "1"]) == 0
    first = capsys.readouterr()
    assert first.err == "1 to 1 of 2; --offset 1 shows the next\n"
    assert main(["library", "list", str(lib), "--limit", "1", "--offset", "1"]) == 0
    second = capsys.readouterr()
    assert second.err == "" and len({first.out, second.out}) == 2


def test_tags_are_given_shown_and_taken(lib: Path, capsys: Capture) -> None:
    assert result(capsys, "library", "tag", lib, "good", "--accepted") == {"changed": 1, "tagged": 1}
    (row,) = result(capsys, "library", "list", lib, "--tag", "good")
    assert row["accepted"] and row["tags"] == ["good"]
    assert main(["library", "list", str(lib)]) == 0
    assert capsys.readouterr().out.count("accepted #good") == 1
    assert main(["library", "tag", str(lib), "good", "--remove"]) == 0
    assert capsys.readouterr().out == "1 trajectories lost the tag good; 0 have it\n"
    assert main(["library", "tag", str(lib), "a b"]) == 2
    assert "'a b' is no name for a tag" in capsys.readouterr().err


def test_a_snapshot_is_read_by_its_name(lib: Path, capsys: Capture) -> None:
    made = result(capsys, "library", "snapshot", lib, "v1", "--accepted")
    assert (made["entries"], made["accepted"]) == (1, 1)
    assert result(capsys, "library", "snapshots", lib) == [made]
    assert len(result(capsys, "library", "list", lib, "--snapshot", "v1")) == 1
    assert len(result(capsys, "library", "list", f"{lib}@v1")) == 1
    assert result(capsys, "library", "stats", f"{lib}@v1")["fingerprint"] == made["fingerprint"]
    for words, told in [
        (["list", lib, "--snapshot", "v2"], "there is no snapshot 'v2'; snapshots: v1"),
        (["snapshot", lib, "v1"], "there is a snapshot 'v1' already"),
        (["tag", f"{lib}@v1", "x"], "is a snapshot, which never changes"),
        (["gate", f"{lib}@v1"], "is a snapshot, which never changes"),
        (["list", lib, "--query", "!!"], "holds no word"),
    ]:
        assert main(["library", *map(str, words)]) == 2
        assert told in capsys.readouterr().err
    assert main(["library", "snapshots", str(lib)]) == 0
    assert made["fingerprint"][:16] in capsys.readouterr().out
