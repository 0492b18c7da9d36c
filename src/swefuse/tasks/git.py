"""Read a git history: commits with the paths that they change, and whole states. Nothing is checked out and nothing written.

Works on a work tree and on a bare repository, through the program ``git``: one process lists the commits, one hands out contents.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import IO

from swefuse.errors import PatchError, UserError
from swefuse.workspace import check_path

LARGEST = 1 << 20  # bytes of a file that is still taken into a state
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_PLAIN = (b"100644", b"100755")  # no links, no submodules


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit with one parent. ``changes`` maps each path to ``A`` (new), ``M`` (changed) or ``D`` (deleted); no renames."""

    sha: str
    parent: str
    date: str
    subject: str
    changes: tuple[tuple[str, str], ...]


class Repository:
    """A git repository at a path. Raises UserError where there is none, or no program ``git``."""

    def __init__(self, path: Path) -> None:
        if shutil.which("git") is None:
            raise UserError("the program git is needed to read a history: install it with your system's package manager")
        found = _git(["-C", str(path), "rev-parse", "--absolute-git-dir"]) if path.is_dir() else b""
        if not found:
            raise UserError(f"{path} is no git repository: give a work tree or a bare repository")
        self.path, self._dir = path, found.decode().strip()
        if not self._ask("rev-parse", "--verify", "--quiet", "HEAD"):
            raise UserError(f"{path} has no commit")
        self._contents: subprocess.Popen[bytes] | None = None

    @cached_property
    def name(self) -> str:
        """``owner/name`` as the place that it was cloned from is called, else the name of its folder."""
        url = self._ask("config", "--get", "remote.origin.url").decode("utf-8", "replace").strip().removesuffix("/")
        parts = re.split(r"[/:]", url.removesuffix(".git"))
        remote = bool(re.match(r"\w+://|[\w.-]+@[\w.-]+:", url)) and not url.startswith("file:")
        return "/".join(parts[-2:]) if remote and len(parts) > 2 else self.path.resolve().name.removesuffix(".git")

    @property
    def shallow(self) -> bool:
        """Whether the history is cut off, so that the parents of its last commits are not there."""
        return self._ask("rev-parse", "--is-shallow-repository").strip() == b"true"

    def resolve(self, revision: str) -> str:
        """The commit that a revision names. Raises UserError for one that is not there."""
        found = self._ask("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}").decode().strip()
        if not found:
            raise UserError(f"{self.path} has no revision {revision}")
        return found

    def commits(self, since: str = "") -> Iterator[Commit]:
        """Commits with exactly one parent that HEAD descends from, the newest first; ``since``: a date that git understands.

        Of a plain day all commits count; git itself would begin at the time of day that it is now.
        """
        since += "T00:00:00" if _DAY.fullmatch(since) else ""
        wanted = ["--no-merges", "--no-renames", "--raw", "--abbrev=4", "-z", "--format=%x01%H%x00%P%x00%cs%x00%s%x00"]
        wanted += [f"--since={since}"] if since else []
        for part in self._ask("log", *wanted, "HEAD").split(b"\x01")[1:]:
            sha, parent, date, subject, *rest = part.split(b"\0")
            if parent and b" " not in parent:
                changes = tuple(_changes(rest))
                yield Commit(sha.decode(), parent.decode(), date.decode(), subject.decode("utf-8", "replace"), changes)

    def files(self, sha: str) -> dict[str, str]:
        """The state of a commit: path -> text, bytes that are no UTF-8 as surrogates. No links, submodules, huge files."""
        found: dict[str, str] = {}
        for entry in self._ask("ls-tree", "-r", "-l", "-z", "--full-tree", sha).split(b"\0"):
            meta, _, name = entry.partition(b"\t")
            mode, _, blob, size = (*meta.split(), b"", b"", b"", b"")[:4]
            path = name.decode("utf-8", "surrogateescape")
            if mode in _PLAIN and int(size) <= LARGEST and _plain(path):
                found[path] = self._text(blob.decode())
        return found

    def submodules(self, sha: str) -> list[str]:
        """Paths of a commit whose content lies in another repository, and so is not here."""
        entries = self._ask("ls-tree", "-r", "-z", "--full-tree", sha).split(b"\0")
        return [one.partition(b"\t")[2].decode("utf-8", "replace") for one in entries if one.startswith(b"160000")]

    def close(self) -> None:
        """End the process that hands out contents."""
        if self._contents is not None:
            _end(self._contents)
            self._contents = None

    def _text(self, blob: str) -> str:
        return _remembered(self._dir, blob) or _remember(self._dir, blob, self._read(blob))

    def _read(self, blob: str) -> str:
        if self._contents is None:
            command = ["git", f"--git-dir={self._dir}", "cat-file", "--batch"]
            self._contents = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=_ENVIRONMENT)  # noqa: S603
            weakref.finalize(self, _end, self._contents)
        asked, answers = self._contents.stdin, self._contents.stdout
        assert asked is not None and answers is not None
        asked.write(f"{blob}\n".encode())
        asked.flush()
        size = int(answers.readline().split()[2])
        return _exactly(answers, size + 1)[:-1].decode("utf-8", "surrogateescape")

    def _ask(self, *arguments: str) -> bytes:
        return _git([f"--git-dir={self._dir}", *arguments])


# a repository's own configuration could name programs to run
_ENVIRONMENT = {
    "PATH": os.environ.get("PATH", ""),
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_OPTIONAL_LOCKS": "0",
    "LC_ALL": "C.UTF-8",
}
_SAFE = ("-c", "safe.directory=*", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false")
_texts: dict[tuple[str, str], str] = {}
_MOST_TEXTS = 20_000


def _remembered(place: str, blob: str) -> str | None:
    return _texts.get((place, blob))


def _remember(place: str, blob: str, text: str) -> str:
    if len(_texts) >= _MOST_TEXTS:
        _texts.clear()
    _texts[place, blob] = text
    return text


def _git(arguments: list[str]) -> bytes:
    """What git prints; nothing where it fails."""
    done = subprocess.run(  # noqa: S603
        ["git", *_SAFE, *arguments],  # noqa: S607
        capture_output=True,
        check=False,
        env=_ENVIRONMENT,
    )
    return done.stdout if done.returncode == 0 else b""


def _changes(parts: list[bytes]) -> Iterator[tuple[str, str]]:
    entries = iter(parts)
    for meta in entries:
        if meta.lstrip(b"\n").startswith(b":"):
            path = next(entries).decode("utf-8", "surrogateescape")
            status = meta.split()[4][:1].decode()
            yield path, status if status in "AD" else "M"


def _plain(path: str) -> bool:
    try:
        check_path(path)
    except PatchError:
        return False
    return True


def _exactly(stream: IO[bytes], size: int) -> bytes:
    parts = bytearray()
    while len(parts) < size:
        part = stream.read(size - len(parts))
        if not part:
            raise OSError("git cat-file ended early")
        parts += part
    return bytes(parts)


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.stdin:
        process.stdin.close()
    if process.stdout:
        process.stdout.close()
    process.kill()
    process.wait()


def listed(folder: Path) -> list[str] | None:
    """Paths below a folder of a work tree, as seen from there: tracked ones, and untracked ones that are not ignored.

    None where git knows nothing of the folder, or is not installed. Nothing is written, not even an index brought up to date.
    """
    if shutil.which("git") is None:
        return None
    found = _git(["-C", str(folder), "ls-files", "-z", "--cached", "--others", "--exclude-standard"])
    return sorted({name.decode("utf-8", "surrogateescape") for name in found.split(b"\0") if name}) or None


@lru_cache(maxsize=8)
def opened(path: Path) -> Repository:
    """One ``Repository`` for each path and process."""
    return Repository(path)
