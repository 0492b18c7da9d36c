"""Functions of installed packages, read as text."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from swefuse.errors import DataError
from swefuse.tasks.installed import STDLIB, functions_of, source_files, version

TEXT = '''
import os

class Box:
    @property
    def size(self, most=3):
        """Doc."""
        total = 0
        for row in self.rows:
            total += row if row < most else most
        return total

def tiny(a):
    return a + 1

def dull(a):
    b = open(a)
    c = b.read()
    return c

def long(a):
''' + "".join(f"    a += {n}\n" for n in range(31))  # fmt: skip


def test_functions_and_methods_stand_alone_without_decorators(tmp_path: Path) -> None:
    file = tmp_path / "boxes.py"
    file.write_text(TEXT)
    dropped: Counter[str] = Counter()
    [found] = functions_of("there", file, dropped)
    assert (found.family, found.name, found.topic) == ("text", "size", "there.boxes:6")
    assert found.text.startswith("def size(self, most=3):\n    ")
    assert dropped == {"tiny": 1, "decides nothing": 1, "long": 1}


def test_a_file_that_does_not_parse_is_counted(tmp_path: Path) -> None:
    file = tmp_path / "broken.py"
    file.write_bytes(b"def f(:\n")
    dropped: Counter[str] = Counter()
    assert list(functions_of("there", file, dropped)) == []
    assert dropped == {"the file does not parse": 1}


def test_the_standard_library_is_read_without_its_tests_and_what_others_installed() -> None:
    names = {path.name for path in source_files(STDLIB)}
    assert {"textwrap.py", "bisect.py"} <= names
    assert not any({"test", "site-packages"} & set(path.parts[-4:-1]) for path in source_files(STDLIB))
    assert version(STDLIB).startswith("3.")


def test_a_package_that_is_not_installed_is_named() -> None:
    with pytest.raises(DataError, match="no_such_package is not installed"):
        source_files("no_such_package")
