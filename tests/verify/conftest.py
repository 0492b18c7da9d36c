"""One verifier and one task for all tests of this room."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from small_task import make_task

from swefuse.records import Task
from swefuse.verify import Verifier


@pytest.fixture(scope="session")
def verifier() -> Iterator[Verifier]:
    with Verifier(cache=False) as made:
        yield made


@pytest.fixture(scope="session")
def task() -> Task:
    return make_task([("(0,)", "0", None), ("(1,)", "2", None), ("(-1,)", None, "ValueError"), ("(3,)", "6", None)])
