"""Rows of SWE-rebench, first and second version: those of SWE-bench with more about the environment."""

from __future__ import annotations

from swefuse.tasks.formats.rows import IDS, LIST, OBJECT, TEXT, Fields, Layout, Row
from swefuse.tasks.formats.swebench import OPTIONAL, REQUIRED, make

_MORE = {
    **dict.fromkeys(("requirements", "environment", "license_name", "docker_image"), TEXT),
    **dict.fromkeys(("language", "interface", "pr_description", "image_name"), TEXT),
    **dict.fromkeys(("FAIL_TO_FAIL", "PASS_TO_FAIL"), IDS),
    **dict.fromkeys(("meta", "install_config"), (*OBJECT, *LIST, *TEXT)),
}


def _swerebench(where: str, line: str, raw: Fields) -> Row:
    return make("swerebench", where, line, raw)


SWEREBENCH = Layout("swerebench", REQUIRED, {**OPTIONAL, **_MORE}, _swerebench)
