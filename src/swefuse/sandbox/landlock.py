"""Landlock: what a process without namespaces may reach in the file system, and whom it may talk to. Much weaker than ``jail``.

It bounds the candidate only: no memory, no disk, no process table of its own. Linux 6.12 or later (ABI 6, which keeps signals and
abstract sockets inside). Standard library only: this runs inside the worker. Source: the kernel's userspace-api/landlock.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable

LEAST_ABI = 6
_CREATE, _ADD, _RESTRICT = 444, 445, 446  # the same on x86_64 and aarch64
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_TRUNCATE = 1 << 14
_ALL_FILES = (1 << 16) - 1  # the sixteen rights of ABI 5 and 6
_ALL_TCP, _ABSTRACT_UNIX_AND_SIGNALS = 3, 3
READ = _EXECUTE | _READ_FILE | _READ_DIR
ON_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | 1 << 15  # those that a rule on a plain file may name


def abi(libc: ctypes.CDLL) -> int:
    """The version that this kernel knows; 0 for none."""
    return max(0, int(libc.syscall(ctypes.c_long(_CREATE), None, ctypes.c_size_t(0), ctypes.c_uint(1))))


def restrict(libc: ctypes.CDLL, readable: Iterable[str], writable: Iterable[str]) -> None:
    """From now on this process and all that it forks may read below ``readable``, do anything below ``writable``, and no more.

    No TCP, and no signal or abstract socket to anyone outside. Paths that do not exist are passed over. Needs no_new_privs. Raises
    OSError, also where the kernel knows less than LEAST_ABI.
    """
    known = abi(libc)
    if known < LEAST_ABI:
        raise OSError(f"Landlock of ABI {known}, less than {LEAST_ABI} (Linux 6.12)")
    handled = (ctypes.c_uint64 * 3)(_ALL_FILES, _ALL_TCP, _ABSTRACT_UNIX_AND_SIGNALS)
    ruleset = _call(libc, _CREATE, handled, ctypes.c_size_t(24), ctypes.c_uint(0))
    try:
        for paths, rights in ((readable, READ), (writable, _ALL_FILES)):
            for path in paths:
                _allow(libc, ruleset, path, rights)
        _call(libc, _RESTRICT, ctypes.c_int(ruleset), ctypes.c_uint(0))
    finally:
        os.close(ruleset)


def _allow(libc: ctypes.CDLL, ruleset: int, path: str, rights: int) -> None:
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        held = rights if os.path.isdir(path) else rights & ON_FILES
        rule = held.to_bytes(8, "little") + fd.to_bytes(4, "little")  # struct landlock_path_beneath_attr is packed
        _call(libc, _ADD, ctypes.c_int(ruleset), ctypes.c_int(1), ctypes.c_char_p(rule), ctypes.c_uint(0))
    finally:
        os.close(fd)


def _call(libc: ctypes.CDLL, number: int, *arguments: object) -> int:
    result = int(libc.syscall(ctypes.c_long(number), *arguments))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"Landlock: {os.strerror(code)}")
    return result
