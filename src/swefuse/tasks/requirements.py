"""What the tests of a source tree need to run, as far as the tree says so."""

from __future__ import annotations

import ast
import configparser
import re
import shlex
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import Any

from swefuse.tasks.environment import distribution
from swefuse.workspace import Files

_GROUPS = re.compile(r"(unit[-_]?)?(tests?|testing|dev|develop|development)([-_].*)?")
_FILES = re.compile(r"(.*[-_/])?(requirements[-_./]?)?(tests?|testing|dev)([-_]requirements)?\.(txt|in)")
_ONE = re.compile(r"[A-Za-z0-9][\w.-]*(\[[\w,. -]+\])?\s*([<>=!~].*|;.*)?")
_PKG_RESOURCES = re.compile(r"^\s*(import|from) pkg_resources\b", re.MULTILINE)
# what checks, builds or publishes, and no test imports
_OTHER = re.compile(
    r"(tox|nox|pre-?commit|mypy|pyright|pyre|black|ruff|flake8.*|pylint|isort|sphinx.*|furo|mkdocs.*|twine|build|coverage|pytest|"
    r"pytest-(cov|xdist|sugar|mypy.*|black|flake8|randomly)|towncrier|bump.*|cogapp|changelog.*|codecov|hatch.*|uv|pip.*|wheel|"
    r"tox-.*|pluggy|iniconfig|py|virtualenv|nodeenv|cfgv|identify|distlib|filelock|pep517|pep8|toposort|invoke|setuptools.*)"
)


def needs(files: Files) -> list[str]:
    """Requirements of the project and of its tests, sorted; the project itself and tools that no test imports are left out."""
    own = re.sub(r"[-_.]+", "-", distribution(files)[0]).lower()
    found: dict[str, str] = {}
    for text in (*_of_pyproject(files), *_of_setup_cfg(files), *_of_setup(files), *_of_files(files)):
        line = text.split(" #")[0].strip()
        match = _ONE.fullmatch(line)
        if match:
            name = re.sub(r"[-_.]+", "-", re.match(r"[\w.-]+", line)[0]).lower()  # type: ignore[index]
            if name != own and not _OTHER.fullmatch(name):
                found.setdefault(name, line)
    if any(path.endswith(".py") and _PKG_RESOURCES.search(text) for path, text in files.items()):
        found["setuptools"] = "setuptools<81"  # the last that brings pkg_resources
    return sorted(found.values())


def _of_pyproject(files: Files) -> Iterator[str]:
    try:
        whole: dict[str, Any] = tomllib.loads(files.get("pyproject.toml", ""))
    except tomllib.TOMLDecodeError:
        return
    project = whole.get("project", {})
    groups = {**project.get("optional-dependencies", {}), **whole.get("dependency-groups", {})}
    lists = [project.get("dependencies", []), *(value for key, value in groups.items() if _GROUPS.fullmatch(key.lower()))]
    for one in lists:
        yield from (text for text in (one if isinstance(one, list) else []) if isinstance(text, str))


def _of_setup_cfg(files: Files) -> Iterator[str]:
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string(files.get("setup.cfg", ""))
    except configparser.Error:
        return
    texts = [parser.get("options", "install_requires", fallback=""), parser.get("options", "tests_require", fallback="")]
    if parser.has_section("options.extras_require"):
        texts += [value for key, value in parser.items("options.extras_require") if _GROUPS.fullmatch(key.lower())]
    for text in texts:
        yield from text.splitlines()


def _of_setup(files: Files) -> Iterator[str]:
    """Lists in setup.py under names that say so; the file is read and never run."""
    try:
        tree = ast.parse(files.get("setup.py", ""))
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        pairs: list[tuple[ast.expr | str | None, ast.expr | None]] = []
        if isinstance(node, ast.Dict):
            pairs = list(zip(node.keys, node.values, strict=True))
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
            pairs = [(node.targets[0].slice, node.value)]
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            pairs = [(node.targets[0].id.lower(), node.value)]
        elif isinstance(node, ast.keyword):
            pairs = [(node.arg, node.value)]
        for key, value in pairs:
            name = key.value if isinstance(key, ast.Constant) else key
            wanted = isinstance(name, str) and (_GROUPS.fullmatch(name.lower()) or name in ("install_requires", "tests_require"))
            lists = ast.walk(value) if wanted and value is not None else ()
            for part in (element for one in lists if isinstance(one, ast.List | ast.Tuple) for element in one.elts):
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    yield part.value


def _of_files(files: Files) -> Iterator[str]:
    for path, text in files.items():
        if len(PurePosixPath(path).parts) <= 2 and _FILES.fullmatch(path) and "requirements" in path:
            yield from text.splitlines()


def marker(files: Files) -> str:
    """The expression of ``-m`` in the project's own pytest options, such as ``not stress``; empty where there is none."""
    words = list(_addopts(files))
    for at, word in enumerate(words):
        if word == "-m" and at + 1 < len(words):
            return words[at + 1]
        if word.startswith("-m") and len(word) > 2:
            return word[2:].lstrip("=")
    return ""


def _addopts(files: Files) -> Iterable[str]:
    """Words of ``addopts`` in the file that pytest would take."""
    for path, section in (("pytest.ini", "pytest"), (".pytest.ini", "pytest"), ("tox.ini", "pytest"), ("setup.cfg", "tool:pytest")):
        parser = configparser.ConfigParser(interpolation=None)
        try:
            parser.read_string(files.get(path, ""))
        except configparser.Error:
            continue
        if parser.has_option(section, "addopts"):
            return _words(parser.get(section, "addopts"))
    try:
        own = tomllib.loads(files.get("pyproject.toml", "")).get("tool", {}).get("pytest", {})
    except tomllib.TOMLDecodeError:
        return []
    given = own.get("ini_options", own).get("addopts", "") if isinstance(own, dict) else ""
    return _words(given) if isinstance(given, str) else [str(word) for word in (given if isinstance(given, list) else [])]


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()
