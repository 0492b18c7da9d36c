"""``swefuse verify``: judge patches in the sandbox, exactly as rewards are made."""

from __future__ import annotations

import fcntl
import json
import os
import sqlite3
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from swefuse.cli.common import JsonOption, example, output_file, print_json, say
from swefuse.cli.console import stage_progress
from swefuse.errors import DataError, InfraError, UserError, nearest

if TYPE_CHECKING:
    from swefuse.records import Task, Verdict

_MEASURED = frozenset({"cost", "reference_cost", "speed", "findings", "style"})
_SHOWN = 5  # failing tests of a patch


class Measured(StrEnum):
    """Parts of the score beside the tests."""

    COST = "cost"
    STYLE = "style"


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    text = example(
        "swefuse verify --task runs/quickstart/tasks --id 3f2a --patch fix.diff",
        "swefuse verify --task tasks.jsonl --predictions preds.jsonl --out verdicts.jsonl --cache verdicts.sqlite",
    )
    app.command("verify", epilog=text)(verify)


def verify(
    task: Annotated[Path, typer.Option("--task", metavar="FILE", help="A task as JSON, a tasks.jsonl or a folder that holds one.")],
    patch: Annotated[
        list[str] | None, typer.Option("--patch", metavar="FILE", help="A unified diff; '-' is stdin. May be given again.")
    ] = None,
    predictions: Annotated[
        Path | None,
        typer.Option("--predictions", metavar="FILE", help="Patches of many tasks: JSON (lines) with instance_id and model_patch."),
    ] = None,
    task_id: Annotated[str | None, typer.Option("--id", help="Which task of the file: its id or the beginning of it.")] = None,
    form: Annotated[str | None, typer.Option("--form", help="calls or pytest; calls where the task has both.")] = None,
    repeat: Annotated[int, typer.Option("--repeat", min=1, max=1000, help="Runs that must agree, else the verdict is FLAKY.")] = 1,
    fail_fast: Annotated[
        bool, typer.Option("--fail-fast", help="Fail-to-pass tests first, and no test after the first failure (pytest form).")
    ] = False,
    workers: Annotated[int, typer.Option("--workers", min=1, help="Processes that verify.")] = os.cpu_count() or 1,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write a line of JSON for each verdict; shows a summary instead.")
    ] = None,
    cache: Annotated[
        Path | None, typer.Option("--cache", metavar="FILE", help="Verdicts of earlier calls are found here, and new ones kept.")
    ] = None,
    measure: Annotated[
        list[Measured] | None, typer.Option("--measure", help="Let it count in the score of patches that pass; may be given again.")
    ] = None,
    sandbox: Annotated[
        str,
        typer.Option("--sandbox", help="local, bwrap (cold), podman, docker, package.module:Class; auto: the first that holds."),
    ] = "auto",
    allow_weak: Annotated[
        bool, typer.Option("--allow-weak-sandbox", help="Where none holds, go on with a weak one. Only for code you trust.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Judge patches on a task: 0 when all pass, 1 when one does not, 3 when the sandbox could not tell."""
    from swefuse.scale import ProcessExecutor
    from swefuse.verify import Patched, init_worker, verify_many

    if fail_fast and repeat > 1:
        raise UserError("--fail-fast has no effect with --repeat: runs that are to be compared are whole; give one of the two")
    asked = _asked(task, patch or [], predictions, task_id)
    _check_form(form, [one.task for one in asked])
    out = output_file(out, _tasks_file(task), predictions, cache, *map(Path, patch or [])) if out else None
    _check_cache(cache)
    sandbox = _sandbox(sandbox, allow_weak)
    wanted = tuple(dict.fromkeys(one.value for one in measure or ()))
    items = [Patched(one.task, one.patch, form, repeat, fail_fast=fail_fast) for one in asked]
    found: list[Verdict] = []
    tally: Counter[str] = Counter()
    pool = ProcessExecutor(min(workers, len(items)), init_worker, (sandbox, True, cache, None, wanted))
    quiet = as_json or len(items) == 1
    with _kept(out, cache) as keep, pool as executor, stage_progress("verify", quiet=quiet, rate="candidates") as progress:
        for one, verdict in zip(asked, verify_many(items, executor, tally), strict=True):
            found.append(verdict)
            keep(_row(one, verdict))
            progress(len(found), len(items))
    _show(asked, found, tally, as_json, brief=out is not None or (predictions is not None and not as_json))
    _leave(found)


def _show(asked: list[_Asked], found: list[Verdict], tally: Counter[str], as_json: bool, brief: bool) -> None:
    """Every verdict, or if ``brief`` how many there are of each outcome."""
    from swefuse.verify.many import saved

    counts = Counter(verdict.outcome.value for verdict in found)
    if as_json:
        print_json({"outcomes": counts, "tally": tally} if brief else [_row(*pair) for pair in zip(asked, found, strict=True)])
        return
    if brief:
        say("\n".join(f"{count:7}  {name}" for name, count in counts.most_common()))
    else:
        say("\n".join("\n".join(_lines(*pair)) for pair in zip(asked, found, strict=True)))
    if len(found) > 1:
        say(saved(tally))


@dataclass(frozen=True, slots=True)
class _Asked:
    """One patch to be judged. ``name`` is where it came from, ``number`` counts from 1, ``model`` is who made it, if said."""

    number: int
    name: str
    task: Task
    patch: bytes
    model: str = ""


def _asked(path: Path, patches: list[str], predictions: Path | None, wanted: str | None) -> list[_Asked]:
    from swefuse.cli.predictions import read_predictions
    from swefuse.tasks.store import load_tasks

    if bool(patches) == (predictions is not None):
        raise UserError("give either --patch, for patches of one task, or --predictions, for patches of many")
    if patches.count("-") > 1:
        raise UserError("--patch - is given twice, but stdin can be read once; leave one out")
    tasks = load_tasks(_tasks_file(path))
    if not tasks:
        raise DataError(f"{path} holds no task")
    if predictions is None:
        chosen = _one(path, tasks, wanted)
        return [_Asked(number, name, chosen, _read(name)) for number, name in enumerate(patches, 1)]
    if wanted is not None:
        raise UserError("--id has no effect with --predictions, each of which names its task; leave it out")
    known = {one.id: one for one in tasks}
    rows = read_predictions(predictions)
    for row in rows:
        if row.task_id not in known:
            raise UserError(f"{row.where}: {path} has no task {row.task_id!r}{nearest(row.task_id, list(known)[:2000])}")
    return [_Asked(number, row.where, known[row.task_id], row.patch, row.model) for number, row in enumerate(rows, 1)]


def _tasks_file(path: Path) -> Path:
    return path / "tasks.jsonl" if path.is_dir() else path


def _check_cache(path: Path | None) -> None:
    """Open and close the cache once, before there are workers that could only break down over it."""
    from swefuse.verify.cache import VerdictCache

    try:
        VerdictCache(path).close()
    except (OSError, sqlite3.Error) as error:
        raise UserError(f"--cache {path}: cannot be used: {error}; name a file that an earlier call made, or a new one") from error


def _sandbox(name: str, allow_weak: bool) -> str:
    """The name of a sandbox that is there: a wrong one, or a program that is missing, is said here and once."""
    from swefuse.sandbox import open_sandbox
    from swefuse.sandbox.choose import AUTO, resolve

    if allow_weak and name != AUTO:
        raise UserError(f"--allow-weak-sandbox has no effect with --sandbox {name}, which is what it is; leave one of them out")
    chosen = resolve(name, allow_weak)
    open_sandbox(chosen).close()
    return chosen


def _check_form(form: str | None, tasks: list[Task]) -> None:
    for one in tasks:
        if form is not None and one.suite(form) is None:
            raise UserError(f"--form {form}: task {one.id} has no such tests{nearest(form, {suite.form for suite in one.suites})}")


def _row(one: _Asked, verdict: Verdict) -> dict[str, Any]:
    return {
        "number": one.number, "patch": one.name, "task": one.task.id, "model": one.model, "notes": _notes(one.task, one.patch),
        "verdict": verdict.model_dump(mode="json"),
    }  # fmt: skip


def _locked(out: Path, part: Path) -> TextIO:
    """The empty file ``part``, which no other call writes at the same time."""
    try:
        file = part.open("a", encoding="utf-8")
    except OSError as error:
        raise UserError(f"--out {out}: cannot be written: {error.strerror}") from error
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        file.truncate(0)
    except OSError as error:
        file.close()
        raise UserError(f"--out {out}: another call is writing {part}; wait for it or name another file") from error
    return file


@contextmanager
def _kept(out: Path | None, cache: Path | None) -> Iterator[Callable[[dict[str, Any]], None]]:
    """Writes rows to ``out``, which appears when all are there; until then, and where it ends early, they are in ``out.part``."""
    if out is None:
        yield lambda row: None
        return
    part = out.with_name(out.name + ".part")
    file = _locked(out, part)
    kept = 0
    try:
        with file:

            def keep(row: dict[str, Any]) -> None:
                nonlocal kept
                file.write(json.dumps(row) + "\n")
                file.flush()
                kept += 1

            yield keep
    except BaseException:
        then = "the same call goes on from there" if cache else "give --cache, so that the next call can go on where it is ended"
        typer.echo(f"{kept} verdicts so far are in {part}; {then}", err=True)
        raise
    part.replace(out)


def _leave(found: list[Verdict]) -> None:
    """Leave with the exit code that the verdicts ask for."""
    from swefuse.records import Outcome

    broken = [verdict.reason for verdict in found if verdict.outcome is Outcome.INFRA]
    if broken:
        raise InfraError(f"{len(broken)} of {len(found)} patches have no verdict: {broken[0]}")
    if any(verdict.outcome is not Outcome.PASSED for verdict in found):
        raise typer.Exit(1)


def _one(path: Path, tasks: list[Task], wanted: str | None) -> Task:
    named = [one for one in tasks if wanted is None or one.id.startswith(wanted)]
    if len(named) == 1:
        return named[0]
    if named and all(one == named[0] for one in named):
        raise UserError(f"{path} holds task {named[0].id} {len(named)} times; leave one of them in")
    if not named:
        hint = nearest(wanted or "", [one.id for one in tasks[:2000]])
        raise UserError(f"--id {wanted}: none of the {len(tasks)} tasks of {path} has it{hint}")
    ids = ", ".join(one.id[:12] for one in named[:3])
    raise UserError(f"{path} holds {len(named)} tasks that this may be; choose one by --id, such as {ids}")


def _read(name: str) -> bytes:
    if name == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(name).read_bytes()
    except OSError as error:
        raise UserError(f"--patch {name}: cannot be read: {error.strerror}") from error


def _notes(task: Task, patch: bytes) -> list[str]:
    from swefuse.errors import PatchError
    from swefuse.verify.patch import apply_patch

    try:
        return list(apply_patch(task.files, patch).notes)
    except PatchError:
        return []  # the verdict says it


def _lines(one: _Asked, verdict: Verdict) -> list[str]:
    failing: dict[str, Any] = {id_: result for id_, result in verdict.tests.items() if result.outcome != "passed"}
    passed = f"{len(verdict.tests) - len(failing)} of {len(verdict.tests)} tests pass" if verdict.tests else "no test was run"
    passed += " in the first run" if verdict.repeats > 1 else ""
    lines = [f"{verdict.outcome}  {one.name}: {passed}, score {verdict.score:.2f}, {verdict.cpu_s:.2f} s of CPU"]
    measured = {name: value for name, value in verdict.parts.items() if name in _MEASURED}
    if measured:
        lines.append("  " + ", ".join(f"{name.replace('_', ' ')} {value:g}" for name, value in measured.items()))
    if verdict.reason:
        lines.append(f"  {verdict.reason}")
    lines += [
        f"  {id_}: {result.outcome}{': ' if result.detail else ''}{result.detail}" for id_, result in list(failing.items())[:_SHOWN]
    ]
    if len(failing) > _SHOWN:
        lines.append(f"  and {len(failing) - _SHOWN} more; --json has all")
    return lines + [f"  note: {note}" for note in _notes(one.task, one.patch)]
