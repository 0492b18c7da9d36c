"""Rows of SWE-smith. Their ``patch`` brings the bug in: the repaired state is the commit, and work begins behind the patch."""

from __future__ import annotations

import dataclasses

from swefuse.tasks.formats.rows import IDS, NUMBER, TEXT, Fields, Layout, Row
from swefuse.tasks.formats.swebench import make

_REQUIRED = {**dict.fromkeys(("instance_id", "repo", "patch"), TEXT), **dict.fromkeys(("FAIL_TO_PASS", "PASS_TO_PASS"), IDS)}
_OPTIONAL = {
    **dict.fromkeys(("base_commit", "image_name", "problem_statement", "test_patch", "version", "hints_text"), TEXT),
    "created_at": (*TEXT, *NUMBER),
}


def _swesmith(where: str, line: str, raw: Fields) -> Row:
    return dataclasses.replace(make("swesmith", where, line, {"base_commit": "", **raw}), raw=raw, inverted=True)


SWESMITH = Layout("swesmith", _REQUIRED, _OPTIONAL, _swesmith)
