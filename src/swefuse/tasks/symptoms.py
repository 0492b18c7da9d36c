"""What an instruction tells of failing tests: which they are and how some of them fail, but not where the fault lies."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from swefuse.sandbox.base import Output

SHOWN, EXPLAINED = 5, 2  # failing tests that are named, and of these how many with what they say
_LINES, _LONGEST = 6, 400
# where a work tree, a temporary folder or an interpreter lies says nothing, nor do addresses; a line would say too much
_CLEANED = (
    (re.compile(r"(?<![\w.])/(?:box|dev|home|mnt|opt|proc|root|run|srv|tmp|usr|var|work)(?:/[\w.@+-]+)*/([\w.@+-]+)"), r"\1"),
    (re.compile(r"\b0x[0-9a-fA-F]{4,}\b"), "0x…"),
    (re.compile(r"(\.py)(?:\", line \d+|:\d+)"), r"\1"),
    (re.compile(r"\n\s*Use -v to get more diff"), ""),
    (re.compile(r",? \(?\b(?:at |on )?line \d+\)?"), ""),
)


def details(output: Output, ids: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """What the first of these tests said when they failed, cleaned; those that said nothing are left out."""
    wanted, found = set(ids), dict[str, str]()
    for line in output.records.split("\n")[:-1]:
        record = json.loads(line)
        if record.get("id") in wanted and record.get("outcome") not in (None, "passed") and record.get("detail"):
            found.setdefault(record["id"], clean(record["detail"]))
    return tuple((id_, found[id_]) for id_ in ids if found.get(id_))[: 2 * EXPLAINED]


def clean(message: str) -> str:
    """A message without absolute paths, addresses and line numbers, and not too much of it."""
    for pattern, new in _CLEANED:
        message = pattern.sub(new, message)
    lines = [line.rstrip() for line in message.strip().splitlines()]
    kept = "\n".join(lines[:_LINES])[:_LONGEST].rstrip()
    return f"{kept} …" if len(lines) > _LINES or len("\n".join(lines)) > _LONGEST else kept


def instruction(failing: Sequence[str], shown: Sequence[tuple[str, str]], bugs: int) -> str:
    """Names failing tests, first those of which it can tell how they fail."""
    explained = dict(shown[:EXPLAINED])
    named = [*explained, *(id_ for id_ in failing if id_ not in explained)]
    parts = [f"- {id_}" + "".join(f"\n      {line}" for line in explained.get(id_, "").splitlines()) for id_ in named[:SHOWN]]
    parts += [f"- and {len(named) - SHOWN} more"] if named[SHOWN:] else []
    several = "There is more than one fault. " if bugs > 1 else ""
    head = "This test fails:" if len(named) == 1 else "These tests fail:"
    return "\n".join([head, *parts, f"{several}Find the cause in the source and repair it; the tests must stay as they are."])
