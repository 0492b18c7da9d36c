"""``swefuse verify``: judge patches in the sandbox, exactly as rewards are made."""

from __future__ import annotations

import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from swefuse.cli.common import JsonOption, example, print_json, say
from swefuse.cli.console import stage_progress
from swefuse.errors import DataError, InfraError, UserError, nearest

if TYPE_CHECKING:
    from swefuse.records import Task, Verdict

_SHOWN = 5  # failing tests of a patch


class Measured(StrEnum):
    """Parts of the score beside the tests."""

    COST = "cost"
    STYLE = "style"


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    text = example(
        "swefuse verify --task runs/quickstart/tasks --id 3f2a --patch fix.diff",
        "swefuse verify --task task.json --patch - < fix.diff",
    )
    app.command("verify", epilog=text)(verify)


def verify(
    task: Annotated[Path, typer.Option("--task", metavar="FILE", help="A task as JSON, a tasks.jsonl or a folder that holds one.")],
    patch: Annotated[list[str], typer.Option("--patch", metavar="FILE", help="A unified diff; '-' is stdin. May be given again.")],
    task_id: Annotated[str | None, typer.Option("--id", help="Which task of the file: its id or the beginning of it.")] = None,
    form: Annotated[str | None, typer.Option("--form", help="calls or pytest; calls where the task has both.")] = None,
    repeat: Annotated[int, typer.Option("--repeat", min=1, help="Runs that must agree, else the verdict is FLAKY.")] = 1,
    fail_fast: Annotated[
        bool, typer.Option("--fail-fast", help="Fail-to-pass tests first, and no test after the first failure (pytest form).")
    ] = False,
    workers: Annotated[int, typer.Option("--workers", min=1, help="Processes that verify.")] = os.cpu_count() or 1,
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
    from swefuse.sandbox import open_sandbox
    from swefuse.sandbox.choose import AUTO, resolve
    from swefuse.scale import ProcessExecutor
    from swefuse.verify import Patched, init_worker, verify_many

    if fail_fast and repeat > 1:
        raise UserError("--fail-fast has no effect with --repeat: runs that are to be compared are whole; give one of the two")
    chosen = _task(task, task_id)
    if form is not None and chosen.suite(form) is None:
        raise UserError(f"--form {form}: the task has no such tests{nearest(form, {suite.form for suite in chosen.suites})}")
    wanted = tuple(dict.fromkeys(one.value for one in measure or ()))
    items = [Patched(chosen, _read(name), form, repeat, fail_fast=fail_fast) for name in patch]
    found: list[Verdict] = []
    if allow_weak and sandbox != AUTO:
        raise UserError(f"--allow-weak-sandbox has no effect with --sandbox {sandbox}, which is what it is; leave one of them out")
    sandbox = resolve(sandbox, allow_weak)
    open_sandbox(sandbox).close()  # a wrong name, or a program that is missing, is said here and once
    pool = ProcessExecutor(min(workers, len(items)), init_worker, (sandbox, True, None, None, wanted))
    with pool as executor, stage_progress("verify", quiet=as_json or len(items) == 1) as progress:
        for verdict in verify_many(items, executor):
            found.append(verdict)
            progress(len(found), len(items))
    notes = [_notes(chosen, item.patch) for item in items]
    if as_json:
        print_json([
            {"patch": name, "task": chosen.id, "notes": note, "verdict": verdict.model_dump(mode="json")}
            for name, note, verdict in zip(patch, notes, found, strict=True)
        ])  # fmt: skip
    else:
        for name, note, verdict in zip(patch, notes, found, strict=True):
            say("\n".join(_lines(name, note, verdict)))
    _leave(found)


def _leave(found: list[Verdict]) -> None:
    """Leave with the exit code that the verdicts ask for."""
    from swefuse.records import Outcome

    broken = [verdict.reason for verdict in found if verdict.outcome is Outcome.INFRA]
    if broken:
        raise InfraError(f"{len(broken)} of {len(found)} patches have no verdict: {broken[0]}")
    if any(verdict.outcome is not Outcome.PASSED for verdict in found):
        raise typer.Exit(1)


def _task(path: Path, wanted: str | None) -> Task:
    from swefuse.tasks.store import load_tasks

    tasks = load_tasks(path / "tasks.jsonl" if path.is_dir() else path)
    named = [one for one in tasks if wanted is None or one.id.startswith(wanted)]
    if len(named) == 1:
        return named[0]
    if not tasks:
        raise DataError(f"{path} holds no task")
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


def _lines(name: str, notes: list[str], verdict: Verdict) -> list[str]:
    failing: dict[str, Any] = {id_: result for id_, result in verdict.tests.items() if result.outcome != "passed"}
    passed = f"{len(verdict.tests) - len(failing)} of {len(verdict.tests)} tests pass" if verdict.tests else "no test was run"
    lines = [f"{verdict.outcome}  {name}: {passed}, score {verdict.score:.2f}, {verdict.cpu_s:.2f} s of CPU"]
    if verdict.reason:
        lines.append(f"  {verdict.reason}")
    lines += [
        f"  {id_}: {result.outcome}{': ' if result.detail else ''}{result.detail}" for id_, result in list(failing.items())[:_SHOWN]
    ]
    if len(failing) > _SHOWN:
        lines.append(f"  and {len(failing) - _SHOWN} more; --json has all")
    return lines + [f"  note: {note}" for note in notes]
