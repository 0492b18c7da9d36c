"""The file that is run before the tests of a working copy, in the sandbox, to see where those that fail come by.

It prints, for each test that fails, the places in the work tree of its error's traceback as soon as it has failed, and at the end
for each function how many failing and how many passing tests have called it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

FILE = "test_swefuse_watch.py"
_MARK = "swefuse-watched"
_TEXT = """import json, os, sys, threading
import pytest

ROOT = os.path.dirname(os.path.abspath(__file__)) + os.sep
FAILING = frozenset(json.loads(IDS))
SEEN, COUNTS, TOLD = {}, {}, set()


def tell(**told):
    os.write(1, ("\\nMARK " + json.dumps(told) + "\\n").encode())


def trace(frame, event, value):
    SEEN.setdefault(id(frame.f_code), frame.f_code)  # kept, so that no other gets its id


def places(error):
    found, seen = [], []
    while error is not None and all(error is not one for one in seen):
        seen.append(error)
        part, at = [], error.__traceback__
        while at is not None:
            name = at.tb_frame.f_code.co_filename
            if name.startswith(ROOT):
                part.append([name[len(ROOT):], at.tb_lineno])
            at = at.tb_next
        found += part  # what it was caused by lies deeper
        error = error.__cause__ or error.__context__
    return found[-60:]


class Watch:
    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item, nextitem):
        SEEN.clear()
        threading.settrace(trace)
        sys.settrace(trace)
        yield
        sys.settrace(None)
        threading.settrace(None)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item, call):
        if call.excinfo is not None and item.nodeid in FAILING and item.nodeid not in TOLD:
            TOLD.add(item.nodeid)
            tell(id=item.nodeid, frames=places(call.excinfo.value))
        if call.when == "call" or (call.when == "setup" and call.excinfo is not None):
            side = item.nodeid not in FAILING
            for code in list(SEEN.values()):  # not after the last teardown: by then the counts are printed
                if code.co_filename.startswith(ROOT):
                    key = code.co_filename[len(ROOT):], code.co_firstlineno
                    COUNTS.setdefault(key, [0, 0])[side] += 1
        yield


@pytest.fixture(scope="session")
def watched(request):
    request.config.pluginmanager.register(Watch())
    yield
    tell(reached=[[path, line, both[0], both[1]] for (path, line), both in COUNTS.items() if both[0]])


def test_begin(watched):
    pass
"""


def text(failing: Iterable[str]) -> str:
    """The file, for a run in which these tests are expected to fail."""
    return _TEXT.replace("MARK", _MARK).replace("IDS", repr(json.dumps(sorted(failing))))


Places = tuple[tuple[str, int], ...]


def read(output: str) -> tuple[dict[str, Places], dict[tuple[str, int], tuple[int, int]]]:
    """Places of each failing test's error, the outermost first, and ``(failing, passing)`` tests by the function that they called.

    A function is named by its file and the line on which it begins. What was printed otherwise is passed over: it is a hint, and
    what ran with it may print what it likes.
    """
    frames: dict[str, Places] = {}
    reached: dict[tuple[str, int], tuple[int, int]] = {}
    for line in output.split("\n"):
        if not line.startswith(f"{_MARK} "):
            continue
        try:
            told: Any = json.loads(line.removeprefix(_MARK))
            if "id" in told:
                frames[str(told["id"])] = tuple((str(path), int(number)) for path, number in told["frames"])
            for path, number, failed, passed in told.get("reached", ()):
                reached[str(path), int(number)] = (int(failed), int(passed))
        except (ValueError, TypeError, AttributeError, KeyError):
            continue
    return frames, reached
