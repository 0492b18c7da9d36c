"""Progress: lines where there is no terminal, silence when asked for."""

from __future__ import annotations

import io

import pytest

from swefuse.cli.console import PlainProgress, duration, stage_progress


def test_plain_progress_speaks_every_ten_seconds_and_at_the_end() -> None:
    times = iter([0.0, 1.0, 10.0, 11.0, 19.9, 40.0])
    stream = io.StringIO()
    progress = PlainProgress("sft", stream, lambda: next(times))
    for done in (10, 100, 110, 199, 400):
        progress(done, 400)
    assert stream.getvalue() == "sft: 100/400, 10 s elapsed, about 30 s left\nsft: 400/400, 40 s elapsed\n"


def test_a_rate_is_told_where_it_is_asked_for() -> None:
    times, stream = iter([0.0, 10.0]), io.StringIO()
    PlainProgress("verify", stream, lambda: next(times), rate="candidates")(400, 400)
    assert stream.getvalue() == "verify: 400/400, 10 s elapsed, 40.0 candidates/s\n"


@pytest.mark.parametrize("done", [0, 3])
def test_a_beginning_promises_no_time(done: int) -> None:
    times = iter([0.0, 10.0])
    stream = io.StringIO()
    PlainProgress("sft", stream, lambda: next(times))(done, 400)
    assert stream.getvalue() == f"sft: {done}/400, 10 s elapsed\n"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("stream", [io.StringIO(), Terminal()])
def test_quiet_is_quiet(stream: io.StringIO) -> None:
    with stage_progress("sft", quiet=True, stream=stream) as progress:
        progress(4, 4)
    assert stream.getvalue() == ""


def test_a_terminal_shows_a_bar_with_count_and_times() -> None:
    stream = Terminal()
    with stage_progress("sft", stream=stream) as progress:
        progress(3, 4)
    assert "sft" in stream.getvalue() and "3/4" in stream.getvalue() and "0:00:00" in stream.getvalue()


@pytest.mark.parametrize(("seconds", "text"), [(0.4, "0 s"), (59.6, "1 min 00 s"), (185, "3 min 05 s"), (7800, "2 h 10 min")])
def test_durations_read_well(seconds: float, text: str) -> None:
    assert duration(seconds) == text
