"""Find the clone of a repository that a row names, below one folder. Names come from outside and never lead out of it."""

from __future__ import annotations

import re
from pathlib import Path

from swefuse.errors import UserError
from swefuse.tasks.git import Repository, opened

_PART = re.compile(r"[A-Za-z0-9_.-]+")
_SMITH = re.compile(r"[^/]+/(.+?)__(.+)\.([0-9a-f]{7,40})")
_COMMIT = re.compile(r"[0-9a-f]{7,64}")


def smith_name(repo: str) -> tuple[str, str]:
    """``owner/name`` and the beginning of the commit that SWE-smith's name for its copy of a repository holds; else empty."""
    found = _SMITH.fullmatch(repo)
    return (f"{found[1]}/{found[2]}", found[3]) if found else (repo, "")


def find(folder: Path, repo: str) -> Repository | None:
    """The clone of ``owner/name``: a work tree or a bare repository; None where there is none.

    It is called ``owner__name``, ``owner+name/repo``, ``owner+name``, ``owner/name`` or ``name``, maybe with ``.git`` behind.
    """
    parts = repo.split("/")
    if len(parts) > 2 or not all(_PART.fullmatch(part) and set(part) != {"."} for part in parts):
        return None
    names = ["__".join(parts), f"{'+'.join(parts)}/repo", "+".join(parts), "/".join(parts), parts[-1]]
    for name in dict.fromkeys(names):
        for path in (folder / name, folder / f"{name}.git"):
            if _is_git(path):
                try:
                    return opened(path.resolve())
                except UserError:
                    continue
    return None


def _is_git(path: Path) -> bool:
    """Whether a repository begins here; git itself would also find one further up."""
    return (path / ".git").exists() or ((path / "HEAD").is_file() and (path / "objects").is_dir())


def state(repository: Repository, commits: tuple[str, ...]) -> tuple[str, dict[str, str]]:
    """The first of the commits that the repository holds, with its files; empty where it holds none."""
    for commit in commits:
        if _COMMIT.fullmatch(commit) and (files := repository.files(commit)):
            return commit, files
    return "", {}
