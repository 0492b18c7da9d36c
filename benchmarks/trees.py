"""Real source trees to run on: clones that are given, or source releases that pip downloads, without a code host."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

from swefuse.tasks.git import Repository

# six projects with tests of their own in their source archives: version, and the day it came out
RELEASES = {
    "attrs": ("25.4.0", "2025-10-06"), "boltons": ("25.0.0", "2025-02-03"), "cachetools": ("6.2.2", "2025-11-13"),
    "click": ("8.3.1", "2025-11-15"), "humanize": ("4.14.0", "2025-10-15"), "marshmallow": ("4.1.0", "2025-11-01"),
}  # fmt: skip


def clones(folder: Path) -> dict[str, Path]:
    """Clones below a folder by the name of their project: ``click``, ``pallets+click/repo`` and ``click.git`` are all click."""
    found = {}
    for path in sorted(folder.iterdir()):
        place = next((one for one in (path, path / "repo") if (one / "HEAD").exists() or (one / ".git").exists()), None)
        if place is not None:
            found[path.name.rpartition("+")[2].removesuffix(".git")] = place
    return found


def newest(folder: Path | None) -> Iterator[tuple[str, dict[str, str], str]]:
    """Name, files and date (``YYYY-MM-DD``) of the last commit of each clone, bare or not, or, without a folder, of RELEASES."""
    places = clones(folder) if folder else {}
    for name, place in places.items():
        repository = Repository(place)
        head = repository.resolve("HEAD")
        asked = ["git", "-C", str(place), "show", "-s", "--format=%cs", head]
        yield name, repository.files(head), subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
        repository.close()
    for name, (version, date) in () if folder else RELEASES.items():
        with tempfile.TemporaryDirectory() as place:
            yield name, _texts(released(Path(place), name, version)), date


def released(folder: Path, name: str, version: str) -> Path:
    """The tree of a source release, below ``folder``."""
    pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:", "-d", str(folder)]
    subprocess.run([*pip, f"{name}=={version}"], check=True, stdout=sys.stderr)
    archive, tree = next(folder.glob(f"{name}-{version}.tar.*")), folder / f"{name}-{version}"
    with tarfile.open(archive) as tar:
        for member in tar.getmembers():
            member.name = member.name.partition("/")[2]
            if member.name:
                tar.extract(member, tree, filter="data")
    return tree


def _texts(tree: Path) -> dict[str, str]:
    files = (path for path in sorted(tree.rglob("*")) if path.is_file() and not path.is_symlink())
    return {path.relative_to(tree).as_posix(): path.read_bytes().decode("utf-8", "surrogateescape") for path in files}
