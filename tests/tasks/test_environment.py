"""What a tree states about itself, and what it lacks until it is installed."""

from __future__ import annotations

import pytest

from swefuse.tasks.commits import is_source, is_test
from swefuse.tasks.environment import distribution, licence, supplied


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({"pyproject.toml": '[project]\nname = "A.b"\nversion = "1.2"\n'}, ("A.b", "1.2")),
        ({"setup.cfg": "[metadata]\nname = old\n", "old/__init__.py": '__version__ = "3.1"\n'}, ("old", "3.1")),
        ({"setup.py": "setup(name='older', version=V)\n"}, ("older", "9999.0")),
        ({"pyproject.toml": "no [toml"}, ("", "9999.0")),
        ({}, ("", "9999.0")),
    ],
)
def test_name_and_version(files: dict[str, str], found: tuple[str, str]) -> None:
    assert distribution(files) == found


def test_files_that_are_there_are_not_supplied() -> None:
    files = {"pyproject.toml": '[project]\nname = "a"\n[x]\nwrite_to = "a/_version.py"\n', "a/_version.py": '__version__ = "2.0"\n'}
    assert list(supplied(files)) == ["a-2.0.dist-info/METADATA"]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Permission is hereby granted,\nfree of charge, ...", "MIT"),
        ("Redistribution and use in source\nand binary forms, ...", "BSD"),
        ("Apache License\nVersion 2.0", "Apache-2.0"),
        ("all rights reserved", ""),
    ],
)
def test_licences(text: str, name: str) -> None:
    assert licence({"LICENSE.txt": text}) == name
    assert licence({"src/LICENSE": text}) == ""


@pytest.mark.parametrize(
    ("path", "test", "source"),
    [
        ("src/p/a.py", False, True), ("tests/test_a.py", True, False), ("p/test/helper.py", True, False),
        ("a_test.py", True, False),
        ("conftest.py", True, False), ("docs/conf.py", False, False), ("setup.py", False, False), ("p/a.pyi", False, False),
    ],
)  # fmt: skip
def test_sides_of_a_commit(path: str, test: bool, source: bool) -> None:
    assert (is_test(path), is_source(path)) == (test, source)
