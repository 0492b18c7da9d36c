"""Rows of SWE-bench, and of SWE-Gym, whose rows are the same without a commit for the environment."""

from __future__ import annotations

from swefuse.tasks.formats.rows import IDS, NUMBER, OBJECT, TEXT, Fields, Layout, Row, ids, text

REQUIRED = {
    **dict.fromkeys(("instance_id", "repo", "base_commit", "patch", "test_patch", "problem_statement"), TEXT),
    **dict.fromkeys(("FAIL_TO_PASS", "PASS_TO_PASS"), IDS),
}
OPTIONAL = {
    **dict.fromkeys(("hints_text", "version", "environment_setup_commit", "difficulty"), TEXT),
    **dict.fromkeys(("image", "eval_script", "log_parser", "eval_type"), TEXT),
    "created_at": (*TEXT, *NUMBER),
    "image_assets": (*OBJECT, *TEXT),
}


def make(name: str, where: str, line: str, raw: Fields) -> Row:
    """The row of a format whose fields are those of SWE-bench and maybe more."""
    setup = {key: raw[key] for key in ("environment_setup_commit", "install_config", "eval_script") if raw.get(key)}
    return Row(
        name, where, line, raw, raw["instance_id"], raw["repo"], raw["base_commit"], raw["patch"], text(raw, "test_patch"),
        text(raw, "problem_statement"), ids(where, raw, "FAIL_TO_PASS"), ids(where, raw, "PASS_TO_PASS"), text(raw, "created_at"),
        text(raw, "image", "image_name", "docker_image"), setup, text(raw, "language"), text(raw, "license_name", "license"),
    )  # fmt: skip


def _swebench(where: str, line: str, raw: Fields) -> Row:
    return make("swebench", where, line, raw)


def _swegym(where: str, line: str, raw: Fields) -> Row:
    return make("swegym", where, line, raw)


SWEBENCH = Layout("swebench", REQUIRED, OPTIONAL, _swebench)
SWEGYM = Layout("swegym", REQUIRED, OPTIONAL, _swegym)
