"""What a source tree says that its tests need, in every place where it may be said."""

from __future__ import annotations

import pytest

from swefuse.tasks.requirements import marker, needs

PYPROJECT = """[project]
name = "The_Shop"
version = "1"
dependencies = ["attrs>=20", "the-shop[more]", "mypy"]
[project.optional-dependencies]
tests = ["freezegun", "pytest-cov"]
docs = ["sphinx"]
[dependency-groups]
dev = ["pytz==2024.1", {include-group = "tests"}]
"""
SETUP = """
from setuptools import setup
EXTRAS = {"tests": ["simplejson", "pytest"], "docs": ["alabaster"]}
EXTRAS["dev"] = EXTRAS["tests"] + ["hypothesis", "tox"]
raise SystemExit("never run")
setup(name="shop", install_requires=["six"], extras_require=EXTRAS, classifiers=["x"])
"""
SETUP_CFG = (
    "[options]\ninstall_requires =\n    six\n[options.extras_require]\ntesting =\n    zope.interface  # why\ndocs =\n    furo\n"
)


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({"pyproject.toml": PYPROJECT}, ["attrs>=20", "freezegun", "pytz==2024.1"]),
        ({"setup.py": SETUP}, ["hypothesis", "simplejson", "six"]),
        ({"setup.cfg": SETUP_CFG}, ["six", "zope.interface"]),
        ({"requirements/tests.txt": "-r base.txt\n--hash x\npytz==1\nhttps://x.org/a\n# c\n"}, ["pytz==1"]),
        ({"test-requirements.txt": "simplejson\n", "docs/requirements.txt": "sphinx-thing\nmore\n"}, ["simplejson"]),
        ({"pyproject.toml": "no [toml", "setup.cfg": "no cfg", "setup.py": "no py("}, []),
        ({"setup.py": "", "src/a/__init__.py": "import pkg_resources\n"}, ["setuptools<81"]),
        ({}, []),
    ],
)
def test_requirements_are_found_where_they_are_said(files: dict[str, str], found: list[str]) -> None:
    assert needs(files) == found


@pytest.mark.parametrize(
    ("files", "expression"),
    [
        ({"pyproject.toml": "[tool.pytest.ini_options]\naddopts = \"-ra -m 'not stress'\"\n"}, "not stress"),
        ({"pyproject.toml": '[tool.pytest.ini_options]\naddopts = ["-m", "not slow and not net"]\n'}, "not slow and not net"),
        ({"pytest.ini": "[pytest]\naddopts = -mfast\n", "setup.cfg": "[tool:pytest]\naddopts = -m slow\n"}, "fast"),
        ({"setup.cfg": "[tool:pytest]\naddopts = --cov -m=slow\n"}, "slow"),
        ({"tox.ini": "[pytest]\naddopts = -m 'a\n"}, "'a"),
        ({"pyproject.toml": "[tool.pytest.ini_options]\naddopts = 3\n"}, ""),
        ({"pyproject.toml": "["}, ""),
        ({}, ""),
    ],
)
def test_the_projects_own_choice_of_tests_is_found(files: dict[str, str], expression: str) -> None:
    assert marker(files) == expression
