"""Rows are read strictly and kept exactly; what a format does not name stays and is counted."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swefuse.errors import DataError, UserError
from swefuse.tasks.formats import LAYOUTS
from swefuse.tasks.formats.rows import Row, dumps, read_rows

IDS = ["tests/test_a.py::test_x", "tests/test_a.py::test_y[1 + 1]"]
BENCH: dict[str, Any] = {
    "repo": "a/b", "instance_id": "a__b-1", "base_commit": "0" * 40, "patch": "--- a/x\r\n+++ b/x\r\n", "test_patch": "",
    "problem_statement": "It is broken.\r\n\u2028\ud800", "created_at": 1609298073000, "FAIL_TO_PASS": json.dumps(IDS),
    "PASS_TO_PASS": IDS,
}  # fmt: skip
R2E: dict[str, Any] = {
    "repo_name": "b", "docker_image": "x/b:1", "commit_hash": "12ab", "parsed_commit_content": '{"old": 1}',
    "expected_output_json": '{"T.test_a": "PASSED", "T.test_b": "FAILED"}', "modified_files": ["b.py"], "num_non_test_lines": 3,
}  # fmt: skip
ROWS: dict[str, dict[str, Any]] = {
    "swebench": BENCH,
    "swegym": BENCH,
    "swerebench": {**BENCH, "language": "python", "license_name": "MIT", "image_name": "i:1", "meta": {"llm_metadata": []}},
    "swesmith": {"instance_id": "i", "repo": "swesmith/a__b.0123abcd", "patch": "p", "FAIL_TO_PASS": IDS, "PASS_TO_PASS": "[]"},
    "r2e": R2E,
}


def read(name: str, path: Path, *texts: str) -> list[Row]:
    path.write_bytes("\n".join(texts).encode())
    return read_rows(LAYOUTS[name], path)


@pytest.mark.parametrize("name", LAYOUTS)
def test_every_format_reads_its_row_and_writes_it_back(name: str, tmp_path: Path) -> None:
    line = dumps({**ROWS[name], "of_mine": [1.50, None, True]})
    (found,) = read(name, tmp_path / "rows.jsonl", line)
    assert found.text == line and found.raw == json.loads(line) and found.format == name
    assert LAYOUTS[name].unknown([found]) == {"of_mine": 1}


def test_both_ways_to_write_lists_mean_the_same_and_stay(tmp_path: Path) -> None:
    (found,) = read("swebench", tmp_path / "rows", dumps(BENCH))
    assert found.fail_to_pass == found.pass_to_pass == tuple(IDS)
    assert isinstance(found.raw["FAIL_TO_PASS"], str) and isinstance(found.raw["PASS_TO_PASS"], list)
    assert found.created == "1609298073000" and json.loads(found.text)["created_at"] == 1609298073000
    assert "\r\n" in found.patch and found.problem.endswith("\ud800")


def test_what_the_other_formats_say_is_found(tmp_path: Path) -> None:
    (one,) = read("swerebench", tmp_path / "v2", dumps(ROWS["swerebench"]))
    assert (one.language, one.licence, one.image, one.inverted) == ("python", "MIT", "i:1", False)
    (two,) = read("swesmith", tmp_path / "smith", dumps(ROWS["swesmith"]))
    assert two.inverted and two.base_commit == "" and "base_commit" not in two.raw
    (three,) = read("r2e", tmp_path / "r2e", dumps(R2E))
    assert three.only_image and three.image == "x/b:1" and three.pass_to_pass == ("T.test_a",)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.lists(st.dictionaries(st.text(min_size=1, max_size=8).map("x_{}".format), VALUES, max_size=4), min_size=1, max_size=4),
    st.sampled_from([None, 1, "\t"]), st.booleans(),
)  # fmt: skip
def test_a_list_laid_out_for_people_holds_the_same_rows_as_lines_do(
    tmp_path_factory: pytest.TempPathFactory, extra: list[dict[str, Any]], indent: Any, ascii_: bool
) -> None:
    rows = [{**BENCH, **more, "instance_id": str(number)} for number, more in enumerate(extra)]
    path = tmp_path_factory.mktemp("rows") / "rows.json"
    whole = (
        json.dumps(rows, indent=indent).encode()
        if ascii_
        else json.dumps(rows, indent=indent, ensure_ascii=False).encode("utf-8", "replace")
    )
    path.write_bytes(whole)
    found = read_rows(LAYOUTS["swebench"], path)
    assert [one.raw for one in found] == json.loads(whole) == [json.loads(one.text) for one in found]
    assert not [one for one in found if "\n" in one.text]
    path.write_text("\n".join(one.text for one in found), encoding="utf-8", newline="")
    assert [one.text for one in read_rows(LAYOUTS["swebench"], path)] == [one.text for one in found]


def test_one_object_over_many_lines_and_gzip(tmp_path: Path) -> None:
    (found,) = read("swebench", tmp_path / "row.json", json.dumps(BENCH, indent=2))
    assert found.raw == BENCH and "\n" not in found.text
    (tmp_path / "rows.jsonl.gz").write_bytes(gzip.compress(dumps(BENCH).encode()))
    assert read_rows(LAYOUTS["swebench"], tmp_path / "rows.jsonl.gz")[0].raw == BENCH
    whole = (tmp_path / "rows.jsonl.gz").read_bytes()
    for damaged in (whole[:40], whole[:30] + b"xxxx" + whole[34:], b"plain"):
        (tmp_path / "rows.jsonl.gz").write_bytes(damaged)
        with pytest.raises(UserError, match="cannot be read"):
            read_rows(LAYOUTS["swebench"], tmp_path / "rows.jsonl.gz")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("nonsense", "the line is no JSON"),
        ("[1]", "rows.jsonl:2: a row of swebench is an object, not a whole number"),
        (dumps({**BENCH, "patch": None}), "field 'patch' must be text, not null"),
        (dumps({**BENCH, "created_at": True}), "field 'created_at' must be text or a whole number or a number, not true or false"),
        (dumps({**BENCH, "FAIL_TO_PASS": "test_x"}), "field 'FAIL_TO_PASS' is no JSON"),
        (dumps({**BENCH, "PASS_TO_PASS": [1]}), "field 'PASS_TO_PASS' must hold a list of test ids"),
        (dumps({**BENCH, "FAIL_TO_PASS": ['']}), "field 'FAIL_TO_PASS' must hold a list of test ids"),
        (dumps(BENCH)[:-1] + ', "repo": "c/d"}', "the field 'repo' stands there twice"),
        (dumps(BENCH)[:-1] + ', "x": NaN}', "NaN is no number of JSON"),
        (dumps(BENCH).replace('"patch"', '"patchs"'), "needs the field 'patch'; did you mean 'patchs'"),
    ],
)  # fmt: skip
def test_a_bad_row_is_named_with_file_and_line(line: str, said: str, tmp_path: Path) -> None:
    texts = [line] if line == "[1]" else [dumps(BENCH), line]
    with pytest.raises(DataError) as caught:
        read("swebench", tmp_path / "rows.jsonl", *(["", *texts] if line == "[1]" else texts))
    assert said in str(caught.value) and "rows.jsonl:2" in str(caught.value)


def test_lists_that_do_not_end_and_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"rows:2: no JSON: a comma or the end of the list"):
        read("swebench", tmp_path / "rows", f"[{dumps(BENCH)}", dumps(BENCH), "]")
    with pytest.raises(DataError, match="something stands behind the list"):
        read("swebench", tmp_path / "rows", f"[{dumps(BENCH)}] {{}}")
    with pytest.raises(DataError, match="holds no row"):
        read("swebench", tmp_path / "rows", "", "")
    with pytest.raises(UserError, match="cannot be read"):
        read_rows(LAYOUTS["swebench"], tmp_path / "none")
    with pytest.raises(DataError, match="field 'expected_output_json' must hold an object"):
        read("r2e", tmp_path / "rows", dumps({**R2E, "expected_output_json": "[]"}))
    with pytest.raises(DataError, match="field 'parsed_commit_content' is no JSON"):
        read("r2e", tmp_path / "rows", dumps({**R2E, "parsed_commit_content": "{"}))


def test_a_parquet_file_holds_the_same_rows(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    made = {**BENCH, "problem_statement": "It is broken.", "PASS_TO_PASS": IDS, "created_at": datetime(2020, 12, 30, tzinfo=UTC)}
    parquet.write_table(pyarrow.Table.from_pylist([made, {**made, "instance_id": "a__b-2"}]), tmp_path / "rows.parquet")
    one, two = read_rows(LAYOUTS["swebench"], tmp_path / "rows.parquet")
    assert (one.instance, two.instance, two.where) == ("a__b-1", "a__b-2", f"{tmp_path / 'rows.parquet'}:2")
    assert one.fail_to_pass == one.pass_to_pass == tuple(IDS) and one.created == "2020-12-30T00:00:00+00:00"
    assert json.loads(one.text) == one.raw
    (tmp_path / "bad.parquet").write_bytes(b"PAR1")
    with pytest.raises(UserError, match=r"bad\.parquet: cannot be read"):
        read_rows(LAYOUTS["swebench"], tmp_path / "bad.parquet")
    parquet.write_table(pyarrow.Table.from_pylist([{**made, "version": b"1"}]), tmp_path / "odd.parquet")
    with pytest.raises(DataError, match=r"odd\.parquet:1: a value that has no text: bytes"):
        read_rows(LAYOUTS["swebench"], tmp_path / "odd.parquet")
