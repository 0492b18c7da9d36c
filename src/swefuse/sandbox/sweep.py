"""Remove what a hostile job left: trees of any depth, and folders without rights. Standard library only."""

from __future__ import annotations

import contextlib
import os
import stat


def sweep(folder: str) -> None:
    """Remove a folder and all below it, as far as rights allow; never follows a link and never recurses.

    Every folder found further down is first moved up to the top, so that no path is ever longer than two names.
    """
    number = 0
    with contextlib.suppress(OSError):
        top = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            waiting = _emptied(top)
            while waiting:
                name = waiting.pop()
                with contextlib.suppress(OSError):
                    os.chmod(name, 0o700, dir_fd=top)
                    below = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=top)
                    try:
                        for one in _emptied(below):
                            number += 1
                            os.rename(one, moved := f".swept-{os.getpid()}-{number}", src_dir_fd=below, dst_dir_fd=top)
                            waiting.append(moved)
                    finally:
                        os.close(below)
                    os.rmdir(name, dir_fd=top)
        finally:
            os.close(top)
        os.rmdir(folder)


def _emptied(folder: int) -> list[str]:
    """The names of the folders in an open folder, in which nothing else is left."""
    found = []
    for name in os.listdir(folder):
        with contextlib.suppress(OSError):
            if stat.S_ISDIR(os.lstat(name, dir_fd=folder).st_mode):
                found.append(name)
            else:
                os.unlink(name, dir_fd=folder)
    return found
