"""``swefuse solve`` on ten real bugs: parents of repairs in cachetools, click and boltons, with the repair's tests put in place.

``python benchmarks/solve.py --repos DIR --model DIR --json``; DIR holds clones (bare ones do) that are named like the projects.
The bugs are the newest repairs of each project, as of August 2026, that ``swefuse tasks mine`` proves and whose subject speaks of
no new feature. What the model gets is the subject of the repair as the issue, and the test files that the repair changed.

``solve_ran`` (of 10): it ended with a result, 0 or 1. ``solve_solved``: all of these tests pass with the chosen candidate.
``solve_untouched``: no byte of the working copy, its .git folder included, has changed. ``solve_seconds``: of one bug, on average.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import io
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from swefuse.cli.main import main as swefuse
from swefuse.tasks.commits import sides, states
from swefuse.tasks.git import Commit, Repository

BUGS = {
    "cachetools": ("18e5930ced2c", "57d2e4813d98", "91aa4c63f571"),
    "click": ("07c909f23f0f", "bec59289d8cf", "762c97eef7c1"),
    "boltons": ("5df26592c29b", "ec1ff9f6728f", "b5c495bec206", "c1c25da365cf"),
}


def find(repos: Path, name: str) -> Repository:
    """The clone of a project: a folder whose name holds the project's, or that lies in one. Exits where there is none."""
    for folder in sorted(repos.glob(f"*{name}*")):
        for place in (folder, folder / "repo"):
            if (place / "HEAD").exists() or (place / ".git").exists():
                return Repository(place)
    sys.exit(f"{repos} has no clone of {name}")


def lay_out(repository: Repository, start: str, folder: Path) -> tuple[Commit, list[str], list[str]]:
    """Write the state before a repair, with the repair's tests, as a work tree of its own; its test files, and what it changes."""
    commit = next((one for one in repository.commits() if one.sha.startswith(start)), None)
    if commit is None:
        sys.exit(f"{repository.path} has no commit {start}: fetch its whole history")
    before, after = repository.files(commit.parent), repository.files(commit.sha)
    parts = sides(commit, after)
    for path, text in states(commit, parts, before, after)[0].items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text.encode("utf-8", "surrogateescape"))
    own = ["git", "-C", str(folder), "-c", "user.name=bench", "-c", "user.email=bench@localhost"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "before the repair"]):
        subprocess.run([*own, *words], check=True, capture_output=True)
    return commit, list(parts.run), [path for path in parts.sources if path.endswith(".py")]


def digest(folder: Path) -> str:
    """Of every path, content and time of change below a folder."""
    found = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        found.update(f"{path.relative_to(folder)}|{path.lstat().st_mtime_ns if path.is_file() else ''}\n".encode())
        found.update(path.read_bytes() if path.is_file() else b"")
    return found.hexdigest()


def one(repository: Repository, start: str, options: argparse.Namespace) -> dict[str, float]:
    """Work on one bug, and tell on stderr how it went."""
    folder = Path(tempfile.mkdtemp(prefix="swefuse-solve-"))
    try:
        commit, tests, changed = lay_out(repository, start, folder)
        before, began, said = digest(folder), time.monotonic(), io.StringIO()
        value = ["--value", str(options.value), "--reference", str(options.reference)] if options.value else []
        with contextlib.redirect_stdout(said):
            code = swefuse([
                "solve", str(folder), "--issue", commit.subject, "--tests", f"pytest {' '.join(tests)}", "--model",
                str(options.model), "-n", str(options.n), "--json", *value,
            ])  # fmt: skip
        seconds, untouched = time.monotonic() - began, digest(folder) == before
        found = json.loads(said.getvalue()) if code in (0, 1) else {"functions": [], "candidates": [], "tests": None}
        hits = [n for n, function in enumerate(found["functions"], 1) if function["path"] in changed]
        seen = found["tests"] or {"failing": [], "passing": 0}
        print(
            f"{repository.name} {start} {commit.subject[:60]!r}: exit {code}, {len(seen['failing'])} fail, {seen['passing']} pass, "
            f"{len(found['candidates'])} candidates, first of a repaired file: {hits[0] if hits else '-'}, {seconds:.0f} s",
            file=sys.stderr,
        )
        return {"ran": code in (0, 1), "solved": code == 0, "untouched": untouched, "seconds": seconds}
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repos", type=Path, required=True, help="folder of clones")
    parser.add_argument("--model", type=Path, required=True, help="model of a quickstart, such as runs/quickstart/models/rlvr")
    parser.add_argument("--value", type=Path, help="value model, such as runs/quickstart/rlvr/value.pt")
    parser.add_argument("--reference", type=Path, help="model that it was trained beside, such as runs/quickstart/models/sft")
    parser.add_argument("-n", type=int, default=16, help="candidates a bug")
    parser.add_argument("--only", choices=[start for starts in BUGS.values() for start in starts], help="run one bug")
    parser.add_argument("--json", action="store_true", help="print one flat JSON object as the last line")
    options = parser.parse_args()
    rows = [
        one(find(options.repos, name), start, options)
        for name, starts in BUGS.items() for start in starts if options.only in (None, start)
    ]  # fmt: skip
    found = {f"solve_{key}": sum(row[key] for row in rows) for key in ("ran", "solved", "untouched")}
    found["solve_seconds"] = round(sum(row["seconds"] for row in rows) / len(rows), 1)
    print(json.dumps(found) if options.json else "\n".join(f"{name:20} {value}" for name, value in found.items()))


if __name__ == "__main__":
    main()
