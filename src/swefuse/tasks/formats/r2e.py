"""Rows of R2E-Gym. Tests and environment lie in an image alone; the row tells how the tests end with the repair."""

from __future__ import annotations

from swefuse.errors import DataError
from swefuse.tasks.formats.rows import LIST, NUMBER, TEXT, Fields, Layout, Row, loads, text

_REQUIRED = dict.fromkeys(("repo_name", "docker_image", "commit_hash", "expected_output_json"), TEXT)
_OPTIONAL = {
    **dict.fromkeys(("parsed_commit_content", "execution_result_content", "prompt", "problem_statement"), TEXT),
    **dict.fromkeys(("modified_files", "modified_entity_summaries", "relevant_files"), LIST),
    **dict.fromkeys(("num_non_test_files", "num_non_test_func_methods", "num_non_test_lines"), NUMBER),
}


def _r2e(where: str, line: str, raw: Fields) -> Row:
    expected = loads(where, raw["expected_output_json"], "field 'expected_output_json'")
    if not isinstance(expected, dict):
        raise DataError(f"{where}: field 'expected_output_json' must hold an object, from test to status")
    for name in ("parsed_commit_content", "execution_result_content"):
        if raw.get(name):
            loads(where, raw[name], f"field {name!r}")
    passing = tuple(id_ for id_, status in expected.items() if status == "PASSED")
    return Row(
        "r2e", where, line, raw, f"{raw['repo_name']}__{raw['commit_hash']}", raw["repo_name"], raw["commit_hash"], "",
        problem=text(raw, "problem_statement"), pass_to_pass=passing, image=raw["docker_image"], only_image=True,
    )  # fmt: skip


R2E = Layout("r2e", _REQUIRED, _OPTIONAL, _r2e)
