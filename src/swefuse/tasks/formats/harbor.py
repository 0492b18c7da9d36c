"""Harbor's task folders: one of ours becomes the very task again, another becomes a row where its Python tests allow it."""

from __future__ import annotations

import json
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from swefuse.errors import DataError, PatchError, UserError
from swefuse.records import SCHEMA, Task
from swefuse.tasks.commits import is_test_file
from swefuse.tasks.environment import licence
from swefuse.tasks.formats.convert import Refusal, Refused, States, patched
from swefuse.tasks.formats.rows import Row, dumps, loads
from swefuse.tasks.git import LARGEST
from swefuse.verify.patch import apply_patch
from swefuse.workspace import blob_ref, check_path

OWN = "swe_fuse.json"  # beside task.toml: what the folder does not say
PATCH = "solution/solution.patch"
_PARTS = ("task.toml", "instruction.md", "environment", "environment/repo", "tests", "solution", PATCH, OWN)
_ANY: frozenset[str] = frozenset()  # what stands below is free
_PLACE = frozenset({"network_mode", "allowed_hosts"})
_MACHINE = _PLACE | {
    "build_timeout_sec", "docker_image", "os", "cpus", "memory_mb", "storage_mb", "gpus", "gpu_types", "tpu", "mcp_servers", "env",
    "skills_dir", "healthcheck", "workdir", "allow_internet", "memory", "storage",
}  # fmt: skip
_TOP = frozenset({"schema_version", "version", "source", "artifacts", "multi_step_reward_strategy", "steps"})
KNOWN: Mapping[str, frozenset[str]] = {
    "task": frozenset({"name", "version", "description", "authors", "keywords"}),
    "metadata": _ANY,
    "agent": _PLACE | {"timeout_sec", "user"},
    "verifier": frozenset({"timeout_sec", "env", "user", "environment_mode", "environment", "collect"}) | _PLACE,
    "environment": _MACHINE,
    "solution": frozenset({"env"}),
}
_UNITS = {"K": 1 / 1024, "M": 1, "G": 1024, "T": 1024 * 1024}


@dataclass(frozen=True, slots=True)
class Folder:
    """A task folder. ``raw``: task.toml as it was read; ``unknown``: keys of it that Harbor does not name, with their tables."""

    path: Path
    raw: dict[str, Any]
    unknown: tuple[str, ...]
    instruction: str
    schema_version: str
    memory_mb: int | None
    storage_mb: int | None
    image: str

    @property
    def own(self) -> bool:
        """Whether SWE-Fuse wrote it."""
        return (self.path / OWN).is_file()


def read_folders(path: Path) -> list[Folder]:
    """The task at a path, or those right below it. Raises UserError where there is none, DataError for one that is damaged."""
    if (path / "task.toml").is_file():
        return [read_folder(path)]
    found = sorted(one.parent for one in path.glob("*/task.toml")) if path.is_dir() else []
    if not found:
        raise UserError(f"{path} holds no task: no task.toml, and no folder with one")
    return [read_folder(one) for one in found]


def read_folder(path: Path) -> Folder:
    """The task folder at a path. Raises DataError naming the file and the key."""
    file = path / "task.toml"
    if links := [name for name in _PARTS if (path / name).is_symlink()]:
        raise DataError(f"{path / links[0]} is a link, which could lead out of the folder")
    try:
        raw = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"{file}: cannot be read: {error}") from error
    for table in KNOWN:
        if not isinstance(raw.get(table, {}), dict):
            raise DataError(f"{file}: {table!r} must be a table")
    unknown = [key for key in raw if key not in _TOP and key not in KNOWN]
    unknown += [f"{name}.{key}" for name, keys in KNOWN.items() if keys for key in raw.get(name, {}) if key not in keys]
    for name in ("agent", "verifier", "environment"):
        for key, value in raw.get(name, {}).items():
            if key.endswith("_sec") and (isinstance(value, bool) or not isinstance(value, int | float) or value <= 0):
                raise DataError(f"{file}: {name}.{key} must be a number of seconds above 0")
    version = raw.get("schema_version", raw.get("version", ""))
    if not isinstance(version, str):
        raise DataError(f"{file}: schema_version must be text")
    words = path / "instruction.md"
    if not words.is_file() and not raw.get("steps"):
        raise DataError(f"{path}: there is no instruction.md")
    machine = raw.get("environment", {})
    return Folder(
        path, raw, tuple(unknown), _text(words) if words.is_file() else "", version, _megabytes(file, machine, "memory"),
        _megabytes(file, machine, "storage"), str(machine.get("docker_image", "")),
    )  # fmt: skip


def unknown_keys(folders: list[Folder]) -> Counter[str]:
    """Keys that Harbor does not name, with the number of tasks that have them."""
    return Counter(key for folder in folders for key in folder.unknown)


def tried(folder: Folder) -> tuple[Row, Task | States | Refused]:
    """A folder as a row, with the task that it holds, or its states, or why it is none."""
    if not folder.own:
        return foreign(folder)
    found = own_task(folder)
    name = found.id if isinstance(found, Task) else folder.path.name
    text = found.provenance.parameters.get("row", name) if isinstance(found, Task) else name
    return Row("harbor", str(folder.path), text, folder.raw, name, "", "", "", problem=folder.instruction), found


def own_task(folder: Folder) -> Task | Refused:
    """The task that was exported into the folder. Its tests, its solution and its files must be as they were; its words may change.

    Raises DataError where the folder cannot be read.
    """
    file = folder.path / OWN
    try:
        held = loads(str(file), file.read_text(encoding="utf-8"), "it")
        names, solved, fields = held["files"], held["reference"], held["task"]
        if held["schema_version"] != SCHEMA:
            raise DataError(f"{file}: schema_version {held['schema_version']}, this version reads {SCHEMA}; export the task again")
        there = tree(folder.path / "environment" / "repo", sys.maxsize)
        files = {path: there.pop(path, "") for path in names}
        patch = folder.path / PATCH
        after = apply_patch(files, patch.read_bytes()).files if patch.is_file() else dict(files)
        reference = None if solved is None else {path: after.pop(path, "") for path in solved}
        odd = (
            sorted(there)
            + _differing(files, names)
            + ([] if solved is None else sorted(after) + _differing(reference or {}, solved))
        )
        if odd:
            return Refused(Refusal.CHANGED, f"{odd[0]} in {folder.path}")
        task = Task.model_validate({**fields, "instruction": folder.instruction, "files": files, "reference": reference})
    except PatchError as error:
        return Refused(Refusal.CHANGED, f"{PATCH} in {folder.path}: {error}"[:300])
    except (OSError, KeyError, TypeError, AttributeError, ValidationError) as error:
        raise DataError(f"{file}: not what SWE-Fuse writes: {type(error).__name__}: {error}"[:500]) from error
    if task.id != Task.make_id(task.kind, task.files, task.suites, task.goal):
        return Refused(Refusal.CHANGED, f"{OWN} in {folder.path}")
    return task


def foreign(folder: Folder) -> tuple[Row, States | Refused]:
    """A folder that others made, as a row without lists of tests, and its states where it has a work tree, tests and a patch."""
    name = str(folder.raw.get("task", {}).get("name", folder.path.name))
    text = dumps({"folder": folder.path.name, "task.toml": json.loads(json.dumps(folder.raw, default=str))})
    row = Row("harbor", str(folder.path), text, folder.raw, name, "", "", "", problem=folder.instruction, image=folder.image)
    if folder.raw.get("steps"):
        return row, Refused(Refusal.STEPS, str(folder.path))
    repo, tests = folder.path / "environment" / "repo", folder.path / "tests"
    patches = [
        path
        for path in sorted((folder.path / "solution").glob("*"))
        if path.suffix in (".patch", ".diff") and not path.is_symlink()
    ]
    laid = {f"tests/{path}": text for path, text in tree(tests).items() if path.endswith(".py")}
    run = tuple(path for path in laid if is_test_file(path))
    lacks = [
        what
        for what, there in (
            ("environment/repo", repo.is_dir()),
            ("tests/test_*.py", bool(run)),
            ("one patch in solution/", len(patches) == 1),
        )
        if not there
    ]
    if lacks:
        return row, Refused(Refusal.IMAGE, f"{folder.image or folder.path}: without {', '.join(lacks)}")
    base, repair = tree(repo), _text(patches[0])
    return row, patched(replace(row, patch=repair), "", {**base, **laid}, licence(base), run)


def tree(folder: Path, largest: int = LARGEST) -> dict[str, str]:
    """All plain files below a folder, bytes that are no UTF-8 as surrogates; no links, no history, and nothing too large."""
    return dict(sorted(_files(folder, folder, largest))) if folder.is_dir() else {}


def _files(folder: Path, root: Path, largest: int) -> Iterator[tuple[str, str]]:
    for path in folder.iterdir():
        if path.is_symlink() or path.name == ".git":
            continue
        if path.is_dir():
            yield from _files(path, root, largest)
        elif path.is_file() and path.stat().st_size <= largest:
            yield check_path(path.relative_to(root).as_posix()), _text(path)


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "surrogateescape")


def _differing(files: Mapping[str, str], names: Mapping[str, str]) -> list[str]:
    return [path for path, hash_ in names.items() if blob_ref(files[path]) != hash_]


def _megabytes(file: Path, machine: Mapping[str, Any], name: str) -> int | None:
    """``memory_mb``, or the older ``memory`` with a unit."""
    new, old = machine.get(f"{name}_mb"), machine.get(name)
    if new is not None:
        if isinstance(new, bool) or not isinstance(new, int):
            raise DataError(f"{file}: environment.{name}_mb must be a whole number")
        return new
    if old is None:
        return None
    number, unit = str(old).rstrip("iBb")[:-1], str(old).rstrip("iBb")[-1:].upper()
    try:
        return int(float(number) * _UNITS[unit])
    except (ValueError, KeyError, OverflowError) as error:
        raise DataError(f"{file}: environment.{name} must be a size such as 4G, not {old!r}") from error
