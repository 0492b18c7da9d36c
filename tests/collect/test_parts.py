"""The log of a collection: one call at a time, whole lines, and words for what is wrong with it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from swefuse.collect.parts import LOG, Log, Part, Row, differences
from swefuse.errors import DataError, UserError

HEAD: dict[str, Any] = {"method": "free", "settings": {"seed": 0, "split": "", "temperature": None}}


def filled(folder: Path, count: int = 2) -> Path:
    with Log(folder, HEAD) as log:
        for number in range(count):
            log.add(Part(number, [Row(f"task {number}", 0, "it ends as FAILED", "FAILED")], [], [], 1))
    return folder / LOG


def test_one_call_holds_a_folder_at_a_time(tmp_path: Path) -> None:
    with Log(tmp_path, HEAD):
        with pytest.raises(UserError, match=f"another call is collecting into {tmp_path} now"):
            Log(tmp_path, HEAD)
        filled(tmp_path / "other")
    filled(tmp_path)


def test_what_differs_is_named_with_both_values(tmp_path: Path) -> None:
    filled(tmp_path)
    other = {**HEAD, "settings": {"seed": 7, "split": "train", "temperature": 0.5, "new": True}}
    said = r'\(seed was 0 and is now 7; split was "" and is now "train"; temperature was not given and is now 0.5; '
    with pytest.raises(UserError, match=said + "new was nothing and is now true"):
        Log(tmp_path, other)
    assert list(differences(HEAD, HEAD)) == []
    assert list(differences({"policy": {"model": "a"}}, {"policy": {"model": "b"}})) == ['policy.model was "a" and is now "b"']
    many = {**HEAD, "settings": {f"s{n}": n for n in range(9)}}
    with pytest.raises(UserError, match=r"and 7 more\)"):
        Log(tmp_path, many)
    Log(tmp_path, HEAD).__exit__()


@pytest.mark.parametrize(
    ("line", "text"),
    [(1, b"{"), (1, b"[]"), (2, b"{]"), (2, b"{}"), (3, b"null"), (2, b"\xff"), (3, b'{"number": 1, "rows": [3]}')],
)
def test_a_damaged_line_is_named(tmp_path: Path, line: int, text: bytes) -> None:
    log = filled(tmp_path)
    lines = log.read_bytes().splitlines()
    lines[line - 1] = text
    log.write_bytes(b"".join(one + b"\n" for one in lines))
    with pytest.raises(DataError, match=rf"{LOG}:{line}: the line is damaged"):
        Log(tmp_path, HEAD)
    log.write_bytes(b"".join(one + b"\n" for one in lines if one != text))
    if line > 1:
        with Log(tmp_path, HEAD) as whole:
            assert len(whole.parts) == 1, "as the message says, the others are still there"


def test_a_torn_last_line_is_dropped_and_a_later_line_wins(tmp_path: Path) -> None:
    log = filled(tmp_path)
    with log.open("ab") as file:
        file.write(b'{"number": 5, "ro')
    with Log(tmp_path, HEAD) as again:
        assert sorted(again.parts) == [0, 1]
        again.add(Part(0, [Row("task 0", 0, "")], [], [], 4))
    with Log(tmp_path, HEAD) as third:
        assert [third.parts[number].verified for number in (0, 1)] == [4, 1]
    assert len(log.read_bytes().splitlines()) == 4


def test_seconds_of_calls_are_added_up(tmp_path: Path) -> None:
    log = filled(tmp_path)
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert lines[1]["call"] == lines[2]["call"] == 1 and 0 <= lines[1]["at"] <= lines[2]["at"]
    lines[1]["at"], lines[2]["at"] = 3.0, 4.5
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with Log(tmp_path, HEAD) as again:
        assert again.wall_s == 4.5, "parts run side by side"
        again.add(Part(2, [], [], [], 0))
        assert 4.5 <= again.wall_s < 60 and again.parts[2].call == 2
        again.add(Part(1, [], [], [], 0))
        assert again.wall_s >= 4.5, "what was done in vain took time too"
