"""A small git history for the tests of mining: every commit a trap or a treasure."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

CODE = "def double(x):\n    return x + x\n\n\ndef half(x):\n    return x // 2\n"
HALVED = CODE.replace("//", "/")
TEST = """from shop.calc import double, half


def test_double():
    assert double(3) == 6


def test_half():
    assert half(4) == 2
"""
ODD = "\n\ndef test_odd():\n    assert half(3) == 1.5\n"
MORE = "from shop.more import A\n\n\ndef test_a():\n    assert A == {}\n"
CLOCK = """import os
import pytest
from shop.calc import double


@pytest.mark.parametrize("x", [os.urandom(4).hex()])
def test_r(x):
    pass


def test_text():
    assert double("a") == "a a"
"""
PROJECT = """[project]
name = "the-shop"
dynamic = ["version"]

[tool.hatch.build.hooks.vcs]
version-file = "src/shop/_version.py"
"""
MIT = "Permission is hereby granted, free of charge, to any person\n"


class History:
    """Commits files one after another; ``sha`` maps subjects to commits."""

    def __init__(self, folder: Path, year: int = 2024) -> None:
        self.folder, self.year, self.sha = folder, year, dict[str, str]()
        folder.mkdir()
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *arguments: str) -> str:
        person = {f"GIT_{who}_{what}": "t@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        days = {f"GIT_{who}_DATE": f"{self.year}-01-{len(self.sha) + 1:02}T12:00:00Z" for who in ("AUTHOR", "COMMITTER")}
        environment = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", **person, **days}
        done = subprocess.run(["git", *arguments], cwd=self.folder, env=environment, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def commit(self, subject: str, changes: dict[str, str | bytes | None]) -> None:
        for path, content in changes.items():
            file = self.folder / path
            if content is None:
                file.unlink()
                continue
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content if isinstance(content, bytes) else content.encode())
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", subject)
        self.sha[subject] = self.git("rev-parse", "HEAD")


def shop(folder: Path) -> History:
    """A project whose version file only a build would write, with two true repairs and others that are none."""
    made = History(folder)
    calc, tests = "src/shop/calc.py", "tests/test_calc.py"
    start = {"pyproject.toml": PROJECT, "LICENSE": MIT, "src/shop/__init__.py": "from ._version import __version__\n"}
    made.commit("begin", {**start, calc: CODE, tests: TEST, "logo.bin": b"\xff\xfe\0"})
    made.commit("fix half of odd numbers", {calc: HALVED, tests: TEST + ODD})
    made.commit("fix a comment only", {calc: HALVED + "# done\n", tests: TEST + ODD.replace("3) == 1.5", "5) == 2.5")})
    made.commit("fix without tests", {calc: HALVED + "# really\n"})
    made.commit("rename a thing", {"src/shop/more.py": "A = 1\n", "tests/test_more.py": MORE.format(1)})
    needs = "import no_such_module\n" + MORE.format(2)
    made.commit("fix what needs a module", {"src/shop/more.py": "A = 2\n", "tests/test_more.py": needs})
    text = CODE.replace("x + x", "2 * x if not isinstance(x, str) else x + ' ' + x")
    crash = "import os\n\n\ndef start():\n    os._exit(0)\n"
    boot = "from shop.boot import start\n\n\ndef test_start():\n    start()\n\n\ndef test_other():\n    pass\n"
    made.commit("start", {"src/shop/boot.py": crash})
    made.commit("fix a crash", {"src/shop/boot.py": "def start():\n    pass\n", "tests/test_boot.py": boot})
    made.commit("fix double of text", {calc: text, "tests/test_text.py": CLOCK})
    return made
