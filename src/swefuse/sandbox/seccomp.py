"""A small seccomp filter, assembled by hand: what no candidate needs and what leads out of its namespaces.

Namespaces hide files, processes and networks; they do not stop a process from opening an AF_VSOCK socket (on a virtual machine a
way to the hypervisor), making new namespaces in which it is root, or leaving System V memory behind for the next candidate.
Standard library only: this runs inside the worker.
"""

from __future__ import annotations

import ctypes
import errno
import platform
import socket
import struct

# name -> number on (x86_64, aarch64)
_NUMBERS = {
    "socket": (41, 198),
    "clone": (56, 220),
    "prlimit64": (302, 261),
    "clone3": (435, 435),
    "pivot_root": (155, 41),
    "unshare": (272, 97),
    "setns": (308, 268),
    "ptrace": (101, 117),
    "bpf": (321, 280),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "io_uring_setup": (425, 425),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "shmget": (29, 194),
    "semget": (64, 190),
    "msgget": (68, 186),
    "mq_open": (240, 180),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "kexec_load": (246, 104),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "swapon": (167, 224),
    "quotactl": (179, 60),
    "acct": (163, 89),
    "reboot": (169, 142),
    "settimeofday": (164, 170),
}
_ARCH = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
_REFUSED = (
    "unshare", "setns", "ptrace", "bpf", "keyctl", "add_key", "request_key", "io_uring_setup", "perf_event_open", "userfaultfd",
    "shmget", "semget", "msgget", "mq_open", "process_vm_readv", "process_vm_writev", "name_to_handle_at", "open_by_handle_at",
    "open_tree", "move_mount", "fsopen", "kexec_load", "init_module", "finit_module", "swapon", "quotactl", "acct", "reboot",
    "settimeofday", "memfd_create", "memfd_secret",
)  # fmt: skip
_FAMILIES = (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6)
_NEW_NAMESPACES = 0x7E020000 | 0x00000080  # every CLONE_NEW* flag
_X32 = 0x40000000

_LOAD, _JUMP_EQ, _JUMP_GE, _JUMP_SET, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _ERRNO, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_NR, _ARCHITECTURE, _ARG0 = 0, 4, 16
_Instruction = tuple[int, int, int, int]


def number(name: str) -> int:
    """System call number of ``name`` on this processor. Raises OSError (ENOSYS) on one that we have no table for."""
    machine = platform.machine()
    if machine not in _ARCH:
        raise OSError(errno.ENOSYS, f"no system call table for {machine}")
    return _NUMBERS[name][_ARCH[machine][0]]


def _program(network: bool) -> list[_Instruction]:
    def refuse(code: int) -> _Instruction:
        return (_RETURN, 0, 0, _ERRNO | code)

    def when(name: str, block: list[_Instruction]) -> list[_Instruction]:
        return [(_JUMP_EQ, 0, len(block), number(name)), *block]

    allow: _Instruction = (_RETURN, 0, 0, _ALLOW)
    arg0: _Instruction = (_LOAD, 0, 0, _ARG0)
    allowed = _FAMILIES if network else ()
    families = [(_JUMP_EQ, len(allowed) - i, 0, int(family)) for i, family in enumerate(allowed)]
    program: list[_Instruction] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_JUMP_EQ, 1, 0, _ARCH[platform.machine()][1]),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NR),
        (_JUMP_GE, 0, 1, _X32),
        refuse(errno.ENOSYS),
        *when("clone3", [refuse(errno.ENOSYS)]),  # glibc then falls back to clone, whose flags can be seen
        *when("clone", [arg0, (_JUMP_SET, 0, 1, _NEW_NAMESPACES), refuse(errno.EPERM), allow]),
        *when("prlimit64", [arg0, (_JUMP_EQ, 0, 1, 0), allow, refuse(errno.EPERM)]),  # own limits only
        *when("socket", [arg0, *families, refuse(errno.EAFNOSUPPORT), allow]),
    ]
    for name in _REFUSED:
        program += when(name, [refuse(errno.EPERM)])
    return [*program, allow]


def install(libc: ctypes.CDLL, network: bool = True) -> None:
    """Apply the filter to this process and all that it will fork; needs no_new_privs. Raises OSError.

    Without ``network`` no socket can be made but pairs: one with a path could reach any service of this machine.
    """
    code = b"".join(struct.pack("HBBI", *instruction) for instruction in _program(network))
    buffer = ctypes.create_string_buffer(code, len(code))
    header = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(buffer))
    if libc.prctl(22, 2, ctypes.c_char_p(header), 0, 0) < 0:  # PR_SET_SECCOMP, SECCOMP_MODE_FILTER
        raise OSError(ctypes.get_errno(), "cannot install the seccomp filter")
