"""Inside a wall that another program built: one job, in a new interpreter, then the end. Standard library only.

``python cold.py PACKAGE_ROOT SITE_FOLDERS BOX FD PYTHON`` with the job as JSON on standard input; records go to descriptor FD. It
lays out the files, gives up what it can still give up and runs the candidate in this process, or, where PYTHON names another
interpreter, becomes that one.
"""

from __future__ import annotations

import ast
import json
import marshal
import os
import sys
from typing import Any


def main() -> None:
    """Run the job. Problems that are ours are written as plain text before the mark ``+``."""
    package, site, box, records, python = sys.argv[1:]
    os.dup2(int(records), 3)
    os.closerange(4, 1024)
    os.environ.pop("PWD", None)  # bubblewrap's own
    sys.path.insert(0, package)
    from swefuse.sandbox import candidate, jail, limits, recorder, seccomp

    try:
        job = json.load(sys.stdin)
        packed = [(id_, marshal.dumps(ast.literal_eval(arguments))) for id_, arguments in job["calls"]]
        lay_out(job, f"{box}/repo")
        os.chdir(f"{box}/repo")
        jail.prctl(38, 1)  # PR_SET_NO_NEW_PRIVS
        seccomp.install(jail.LIBC)
        limits.apply(job, job["size_mb"], job["own_processes"])
    except (OSError, ValueError, SyntaxError) as error:
        os.write(3, f"{type(error).__name__}: {error}".encode())
        os._exit(1)
    recorder.seed()
    os.write(3, b"+")
    emit = candidate.emitter(3)
    sys.path[:] = [*sys.path[2:], *(site.split(os.pathsep) if not python else [])]
    if job["kind"] == "calls":
        candidate.run_calls(job, packed, emit)
    elif python:
        os.write(3, b"=")
        wanted = {name: job[name] for name in (*recorder.WANTED, "parse")}
        candidate.exec_pytest(wanted, python, recorder.__file__, site.split(os.pathsep), box)
    elif candidate.parse_all(candidate.MemoryFinder({}), job["files"], job["parse"], emit):
        os.write(3, b"=")
        import pytest  # noqa: F401

        jail.prctl(4, 1)  # PR_SET_DUMPABLE: the tests may look into their own /proc
        os.write(3, b"+")
        recorder.run({name: job[name] for name in recorder.WANTED}, f"{box}/repo")
    os._exit(0)


def lay_out(job: dict[str, Any], root: str) -> None:
    """Write every file but the protected ones, which lie there already, and which nobody here can change."""
    for path in job["files"]:
        if path.startswith("/") or path != os.path.normpath(path) or path.split("/")[0] == "..":
            raise ValueError(f"path {path!r} leaves the work tree")
    if job["kind"] == "calls":
        return
    for path, text in job["files"].items():
        if path not in job["protected"]:
            os.makedirs(os.path.dirname(f"{root}/{path}"), exist_ok=True)
            with open(f"{root}/{path}", "x", encoding="utf-8", errors="surrogateescape", newline="") as file:
                file.write(text)


if __name__ == "__main__":
    main()
