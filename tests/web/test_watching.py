"""The terminal view, the state behind it, and the reading of files that are being written."""

from __future__ import annotations

import io
import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from web_samples import lines, rounds, run

from swefuse.cli.main import main
from swefuse.recipes.steps import STEPS
from swefuse.web.files import rows
from swefuse.web.places import Place
from swefuse.web.progress import STAGES, status
from swefuse.web.text import cut
from swefuse.web.watching import BARS, sparkline, view


def test_the_stages_are_those_of_the_recipe() -> None:
    assert tuple(STEPS) == STAGES


@given(st.lists(st.none() | st.floats(), max_size=200))
def test_a_sparkline_has_at_most_its_width_and_only_its_signs(values: list[float | None]) -> None:
    drawn = sparkline(values, 40)
    assert len(drawn) <= 40 and set(drawn) <= {*BARS, " "}


def test_a_sparkline_by_hand() -> None:
    assert sparkline([0.0, 1.0, 2.0, 3.0]) == "▁▃▆█"
    assert sparkline([None, 1.0, None]) == " ▄ " and sparkline([]) == ""


@given(st.text(alphabet="ab\n", max_size=60), st.integers(1, 5), st.integers(1, 5))
def test_a_cut_text_is_its_beginning(text: str, most: int, width: int) -> None:
    whole = text.split("\n")[:-1] if text.endswith("\n") else text.split("\n") if text else []
    found = cut(text, most, width)
    assert found.lines == [line if len(line) <= width else line[:width] + "…" for line in whole[:most]]
    assert found.more == len(whole) - len(found.lines)


def test_a_run_at_work_says_how_far_it_is(tmp_path: Path) -> None:
    folder = run(tmp_path / "r", STAGES[:6], count=2)
    seen = status(Place("r", folder, None))
    assert (seen.stage, seen.done, seen.total, seen.left_s, seen.finished) == ("rlvr", 2, 3, 2.0, False)
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(view("r", seen))
    told = console.export_text()
    assert "rlvr" in told and "2/3" in told and "2.0 s left" in told and "pass rate" in told and "repeated" in told
    assert max(map(len, told.splitlines())) <= 80


def test_a_log_that_is_being_written_is_read_as_far_as_it_is(tmp_path: Path) -> None:
    log = tmp_path / "metrics.jsonl"
    lines(log, rounds(2))
    with log.open("ab") as file:
        file.write(b'\xff\n[1]\n{"round": 3, "pa')
    assert [row["round"] for row in rows(log)] == [1, 2]
    assert rows(tmp_path / "none") == [] == rows(None)


def test_watching_a_finished_run_prints_it_and_ends(tmp_path: Path, capsys: object) -> None:
    folder = run(tmp_path / "r")
    assert main(["watch", str(folder), "--once"]) == 0
    assert main(["watch", str(folder), "--json"]) == 0
    told = capsys.readouterr().out  # type: ignore[attr-defined]
    assert "finished" in told and json.loads(told[told.index("{") :])["finished"] is True
    assert main(["watch", str(tmp_path)]) == 2


def test_serving_refuses_what_cannot_be(tmp_path: Path, capsys: object) -> None:
    assert main(["serve", str(tmp_path / "none")]) == 2
    assert main(["serve", str(tmp_path), "--token", "short"]) == 2
    assert "is not there" in capsys.readouterr().err  # type: ignore[attr-defined]
