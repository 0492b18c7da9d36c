"""One sandbox for all tests of this room, and two functions with their calls."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from small_functions import CLIP, CLIP_ARGUMENTS, HELPED, HELPED_CHECK, make_spec

from swefuse.sandbox import Sandbox
from swefuse.tasks.prepare import prepare
from swefuse.tasks.spec import FunctionSpec
from swefuse.tasks.workers import init_worker, sandbox


@pytest.fixture(scope="session")
def box() -> Iterator[Sandbox]:
    init_worker()
    yield sandbox()
    sandbox().close()


@pytest.fixture(scope="session")
def clip(box: Sandbox) -> FunctionSpec:
    return prepare(make_spec(CLIP, "clip", CLIP_ARGUMENTS)).spec


@pytest.fixture(scope="session")
def helped(box: Sandbox) -> FunctionSpec:
    return prepare(make_spec(HELPED, "area", tests=HELPED_CHECK)).spec
