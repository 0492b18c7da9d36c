"""What becomes of a command's end: exit code, one line, a bundle."""

from __future__ import annotations

import contextlib
import errno
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import pytest
import typer

from swefuse import __version__
from swefuse.cli.main import app, main
from swefuse.errors import ConfigError, InfraError, SandboxError, missing_extra


def program(error: BaseException | None) -> typer.Typer:
    made = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)

    @made.command()
    def work() -> None:
        if error is not None:
            raise error

    return made


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Path]:
    with contextlib.chdir(tmp_path):
        yield tmp_path


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (None, 0, ""),
        (typer.Exit(1), 1, ""),
        (ConfigError("--set a=1: there is no setting 'a'"), 2, "error: --set a=1: there is no setting 'a'\n"),
        (
            missing_extra("torch", "train"),
            2,
            "error: torch is not installed. It belongs to the extra 'train': pip install 'swe-fuse[train]'\n",
        ),
        (SandboxError("no sandbox holds here"), 3, "error: no sandbox holds here\n"),
        (OSError(errno.ENOSPC, "No space left on device", "a.db"), 3, "error: no space is left on the disk for a.db; free some"),
    ],
)
def test_an_expected_end_is_one_line_and_no_bundle(
    error: BaseException | None, code: int, line: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([], program(error)) == code
    said = capsys.readouterr().err
    assert said.startswith(line) and said.count("\n") == bool(line)
    assert list(here.iterdir()) == []


def test_an_interrupt_is_one_line(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([], program(KeyboardInterrupt())) == 130
    assert capsys.readouterr().err.splitlines()[-1].startswith("interrupted")
    assert list(here.iterdir()) == []


def test_only_a_command_that_can_resume_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    made = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)

    @made.command()
    def plain() -> None:
        raise KeyboardInterrupt

    @made.command()
    def long(resume: Annotated[bool, typer.Option("--resume")] = False) -> None:
        raise KeyboardInterrupt

    assert (main(["plain"], made), main(["long"], made)) == (130, 130)
    said = [line for line in capsys.readouterr().err.splitlines() if line]
    assert said == ["interrupted", "interrupted; the same command with --resume goes on from its last finished step"]


def test_a_server_that_is_down_is_one_line_and_no_bundle(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    error = InfraError("no server answers at h:1")
    error.__cause__ = ConnectionError("refused")
    assert main([], program(error)) == 3
    assert capsys.readouterr().err == "error: no server answers at h:1\n" and list(here.iterdir()) == []


@pytest.mark.parametrize(
    ("error", "line"), [(InfraError("worker died"), "error: worker died"), (KeyError("x"), "error: KeyError: 'x'")]
)
def test_a_fault_of_ours_leaves_a_bundle(error: Exception, line: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tasks", "build"], program(error)) == 2  # the small program has no such arguments
    assert main([], program(error)) == 3
    said = capsys.readouterr().err
    (bundle,) = here.iterdir()
    assert line in said and str(bundle) in said
    assert "raise error" in (bundle / "traceback.txt").read_text(encoding="utf-8")


def test_version_goes_to_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"{__version__}\n"


def test_a_mistyped_command_gets_a_hint(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tasks", "biuld"]) == 2
    assert "'build'" in capsys.readouterr().err


def commands(group: typer.Typer, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    yield path
    for item in group.registered_commands:
        yield (*path, str(item.name))
    for item in group.registered_groups:
        assert item.typer_instance is not None
        yield from commands(item.typer_instance, (*path, str(item.typer_instance.info.name)))


@pytest.mark.parametrize("path", list(commands(app)), ids=" ".join)
def test_every_help_ends_with_an_example_that_is_a_command(path: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*path, "--help"]) == 0
    example = capsys.readouterr().out.rpartition("Example:\n")[2].splitlines()
    lines = [line.strip() for line in example if line.strip()]
    assert lines and all(re.match(" ".join(("swefuse", *path)), line) for line in lines)
