"""The walls: namespaces, a minimal read-only root, no privileges to gain. Runs in the launcher and the worker, never in the caller.

The launcher (exec'd with an empty environment) makes the namespaces and forks the worker, which is process 1 of its own process
namespace; when it dies, everything in there dies. The launcher stays to watch: it ends the worker when the caller is gone.
Standard library only.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import socket
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from swefuse.sandbox import seccomp, wire

LIBC = ctypes.CDLL(None, use_errno=True)
BOX = "/box"
_READONLY, _NOSUID, _NODEV, _NOEXEC, _BIND, _REC, _PRIVATE = 1, 2, 4, 8, 4096, 16384, 1 << 18
_DETACH, _AT_FDCWD, _AT_RECURSIVE, _MOUNT_SETATTR = 2, -100, 0x8000, 442
_NEW_USER, _NEW_REST = 0x10000000, 0x00020000 | 0x20000000 | 0x40000000 | 0x08000000 | 0x04000000  # mount pid net ipc uts
_CAP_SYS_ADMIN = 1 << 21
DEVICES = ("null", "zero", "full", "random", "urandom")
_DEVICE_LINKS = {"fd": "/proc/self/fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2", "shm": f"{BOX}/tmp"}  # noqa: S108 - inside


def libc(name: str, *args: Any) -> int:
    """Call a C function; raise OSError that names it when it returns -1."""
    result: int = getattr(LIBC, name)(*args)
    if result < 0:
        code = ctypes.get_errno()
        shown = [a.decode(errors="replace") for a in args if isinstance(a, bytes)]
        raise OSError(code, f"{name}({', '.join(shown)}): {os.strerror(code)}")
    return result


def mount(source: str, target: str, kind: str, flags: int, data: str = "") -> None:
    """mount(2)."""
    libc("mount", source.encode(), target.encode(), kind.encode(), ctypes.c_ulong(flags), data.encode())


def restrict(target: str, flags: int, recursive: bool = True) -> None:
    """Add flags to the mount at ``target`` (and those below). It only adds, so it works on mounts that a user namespace locked."""
    attributes = (ctypes.c_uint64 * 4)(flags, 0, 0, 0)
    where = (ctypes.c_int(_AT_FDCWD), target.encode(), ctypes.c_uint(_AT_RECURSIVE if recursive else 0))
    libc("syscall", ctypes.c_long(_MOUNT_SETATTR), *where, attributes, ctypes.c_size_t(32))


def bind(source: str, target: str, flags: int = _READONLY | _NOSUID | _NODEV) -> None:
    """Show ``source`` at ``target`` with the given restrictions; the mount point is made when it is missing."""
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    elif not os.path.exists(target):
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o644))
    mount(source, target, "", _BIND | _REC)
    if flags:
        restrict(target, flags)


def bind_self(path: str, readonly: bool) -> None:
    """Make ``path`` a mount point, which nobody inside can rename or remove."""
    bind(path, path, _READONLY if readonly else 0)


def prctl(option: int, value: int = 0) -> None:
    """prctl(2) with one argument."""
    libc("prctl", option, ctypes.c_ulong(value), ctypes.c_ulong(0), ctypes.c_ulong(0), ctypes.c_ulong(0))


def drop_capabilities() -> None:
    """Give up every capability of this process for good."""
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    libc("capset", header, (ctypes.c_uint32 * 6)())


def has_admin() -> bool:
    """True for a root that may make namespaces; anyone else goes through a user namespace."""
    with open("/proc/self/status", encoding="ascii", errors="replace") as status:
        effective = next((line.split()[1] for line in status if line.startswith("CapEff")), "0")
    return os.geteuid() == 0 and bool(int(effective, 16) & _CAP_SYS_ADMIN)


def enter_namespaces(user: bool) -> None:
    """Leave the host's namespaces; the next fork is process 1. ``user``: first become root of our own namespace. Raises OSError."""
    if user:
        uid, gid = os.geteuid(), os.getegid()
        libc("unshare", _NEW_USER)
        for name, text in (("setgroups", "deny"), ("uid_map", f"0 {uid} 1"), ("gid_map", f"0 {gid} 1")):
            with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
                file.write(text)
    libc("unshare", _NEW_REST)


def build_root(roots: list[str]) -> None:
    """Replace the root by a read-only one that holds only ``roots``, /proc, a few devices and BOX. Raises OSError."""
    real = {path: os.path.realpath(path) for path in roots if os.path.exists(path)}
    links = {path: os.readlink(path) for path in real if os.path.islink(path) and path.count("/") == 1}
    mount("none", "/", "", _REC | _PRIVATE)
    mount("tmpfs", "/tmp", "tmpfs", _NOSUID | _NODEV, "size=1m,mode=755")  # noqa: S108 - in our own mount namespace
    os.mkdir("/tmp/old")  # noqa: S108
    libc("syscall", ctypes.c_long(seccomp.number("pivot_root")), b"/tmp", b"/tmp/old")
    os.chdir("/")
    for path in sorted(real, key=len):
        if path in links:
            os.symlink(links[path], path)
        else:
            bind("/old" + real[path], path)
    os.mkdir("/proc")
    mount("proc", "/proc", "proc", _NOSUID | _NODEV | _NOEXEC, "subset=pid")
    for name in DEVICES:
        bind(f"/old/dev/{name}", f"/dev/{name}", _NOSUID | _NOEXEC)
    for name, to in _DEVICE_LINKS.items():
        os.symlink(to, f"/dev/{name}")
    if os.path.exists("/old/etc/ld.so.cache"):
        bind("/old/etc/ld.so.cache", "/etc/ld.so.cache")
    os.mkdir(BOX)
    if not os.path.exists("/tmp"):  # noqa: S108 - it exists only when an interpreter lives below it
        os.symlink(f"{BOX}/tmp", "/tmp")  # noqa: S108
    libc("umount2", b"/old", _DETACH)
    os.rmdir("/old")
    restrict("/", _READONLY | _NOSUID | _NODEV, recursive=False)
    socket.sethostname("sandbox")


def fresh_box(box: str, size_mb: int) -> None:
    """Throw away everything a job wrote: a new sized tmpfs with empty ``tmp`` and ``repo``."""
    if os.path.ismount(box):
        libc("umount2", box.encode(), _DETACH)
    mount("tmpfs", box, "tmpfs", _NOSUID | _NODEV, f"size={size_mb}m,nr_inodes=20000,mode=755")
    for name in ("tmp", "repo"):
        os.mkdir(f"{box}/{name}")
        os.chmod(f"{box}/{name}", 0o1777)  # noqa: S103 - the candidate has another user id


def close_doors(network: bool) -> None:
    """Nothing that is forked from here can gain a privilege, trace us or use a refused system call. Raises OSError.

    ``network``: leave sockets, for a namespace in which there is nobody to talk to.
    """
    for capability in range(64):
        if LIBC.prctl(24, ctypes.c_ulong(capability), 0, 0, 0) < 0:  # PR_CAPBSET_DROP; ends at the last one the kernel knows
            break
    prctl(4, 0)  # PR_SET_DUMPABLE: /proc/1 stays closed to candidates that share our user id
    prctl(38, 1)  # PR_SET_NO_NEW_PRIVS
    seccomp.install(LIBC, network)


def _watch(worker: int, caller: int, piped: bool) -> int:
    """Wait in the launcher until the worker ends; kill it when the caller is gone: its process, or the other end of its pipe.

    PR_SET_PDEATHSIG would not do: it fires when the caller's *thread* ends.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    poll = select.poll()
    child = os.pidfd_open(worker)
    poll.register(child, select.POLLIN)
    poll.register(caller, 0 if piped else select.POLLIN)  # 0: a hang-up alone; what comes is for the worker
    if child not in [fd for fd, _ in poll.poll()]:
        os.kill(worker, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1]) & 0xFF


def _quiet(fds: Sequence[int] = (0, 1, 2)) -> None:
    null = os.open(os.devnull, os.O_RDWR)
    for fd in fds:
        os.dup2(null, fd)
    os.close(null)


def main(text: str) -> NoReturn:
    """Entry point of the launcher. ``text``: the settings of ``local.py`` as JSON. Problems go out as ``{"error": ...}``."""
    settings: Mapping[str, Any] = json.loads(text)
    piped = settings["fd"] is None  # in a container: the channel is our standard input and output
    channel = wire.Pipes(os.dup(0), os.dup(1)) if piped else socket.socket(fileno=settings["fd"])
    try:
        caller = os.dup(0) if piped else os.pidfd_open(settings["caller"])
        if piped:  # what pytest prints while the worker warms up is no message
            _quiet((0, 1))
        elif os.getppid() != settings["caller"]:
            os._exit(0)
        if settings["walls"] == "namespaces":
            enter_namespaces(settings["user_namespace"])
        worker = os.fork()
        if worker:
            channel.close()
            _quiet()
            os._exit(_watch(worker, caller, piped))
        os.close(caller)
        prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: the launcher has one thread, so here it is safe
        from swefuse.sandbox import worker as inside

        slot = inside.prepare(settings)
    except OSError as error:
        wire.send(channel, {"error": str(error)})
        os._exit(1)
    _quiet()
    inside.serve(channel, slot)
    os._exit(0)
