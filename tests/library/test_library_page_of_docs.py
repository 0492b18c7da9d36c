"""The queries in docs/library.md run on a library as they stand there."""

from __future__ import annotations

import re
import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest
from store_samples import different, varied

from swefuse.library import Library

PAGE = (Path(__file__).parents[2] / "docs" / "library.md").read_text(encoding="utf-8")
QUERIES = re.findall(r"```sql\n(.*?)\n```", PAGE, re.S)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("docs") / "mine.db"
    with Library(path, create=True) as library:
        library.add_many([varied("a", refused=True, strength=0.9, repo="me/tool", instruction="the timezone"), different(1)])
        library.split("function", {"train": 0.5, "test": 0.5})
        library.snapshot("v1")
    return path


def test_there_are_queries() -> None:
    assert len(QUERIES) == 7


@pytest.mark.parametrize("query", QUERIES)
def test_a_documented_query_finds_something(query: str, path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        assert db.execute(query).fetchall()


def test_every_table_is_explained(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    own = {name for name in tables if not name.startswith(("words_", "sqlite_"))}
    assert own == set(re.findall(r"`(\w+)`", "".join(re.findall(r"^\| (`.*?) \|", PAGE, re.M))))


@pytest.mark.skipif(shutil.which("sqlite3") is None, reason="needs the program sqlite3")
def test_the_program_sqlite3_reads_it(path: Path) -> None:
    done = subprocess.run(["sqlite3", str(path), QUERIES[2]], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["a"]
