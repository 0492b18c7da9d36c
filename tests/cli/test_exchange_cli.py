"""``swefuse library convert``, ``import``, ``export`` and ``formats`` by the commands themselves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from swefuse.cli.main import main
from swefuse.library.formats import FORMATS
from swefuse.library.store import Library
from swefuse.records import Task
from swefuse.tasks.store import save_tasks
from swefuse.verify.patch import make_patch

Capture = pytest.CaptureFixture[str]
SAMPLES = Path(__file__).parents[1] / "library" / "format_samples"


def told(capsys: Capture) -> dict[str, object]:
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


def test_a_file_is_converted_and_what_is_lost_is_told(tmp_path: Path, capsys: Capture) -> None:
    source = str(SAMPLES / "sweagent.1_1.traj")
    assert main(["library", "convert", source, str(tmp_path / "a.jsonl"), "--to", "openai"]) == 0
    said = capsys.readouterr().out
    assert "1 read as sweagent (trajectory with steps" in said and "1  the patch" in said
    assert main(["library", "convert", source, str(tmp_path / "a.traj"), "--to", "sweagent", "--json"]) == 0
    found = told(capsys)
    assert (found["from"], found["exact"], found["lost"]) == ("sweagent", 1, {})
    assert json.loads((tmp_path / "a.traj").read_text()) == json.loads(Path(source).read_text())
    assert main(["library", "convert", str(SAMPLES / "mini.traj.json"), str(tmp_path / "all"), "--to", "atif"]) == 0
    assert [file.suffix for file in (tmp_path / "all").iterdir()] == [".json"]


def test_bad_input_is_refused_by_name_and_nothing_is_written(tmp_path: Path, capsys: Capture) -> None:
    good, out = str(SAMPLES / "openai.jsonl"), tmp_path / "out.jsonl"
    (tmp_path / "bad.jsonl").write_text('{"messages": []}\n{"messages": 7}\n')
    for given, message in (
        ([good, str(out), "--to", "opnai"], "there is no format 'opnai'; did you mean 'openai'"),
        ([good, str(out), "--from", "trll"], "did you mean 'trl'"),
        ([str(tmp_path / "none"), str(out)], "there is no such file"),
        ([str(tmp_path / "bad.jsonl"), str(out), "--from", "openai"], "bad.jsonl:2: messages must be a list"),
        ([str(SAMPLES / "predictions.jsonl"), str(out), "--to", "openai"], "it lacks turns of the conversation"),
        ([good, good], "this is also what is read"),
        ([good, str(out), "--to", "trl-ids"], "it lacks token ids"),
    ):
        assert main(["library", "convert", *given]) == 2, given
        assert message in capsys.readouterr().err
    assert not out.exists()


def test_what_comes_in_is_verified_where_its_task_is_given(tmp_path: Path, capsys: Capture, task: Task) -> None:
    mended = {"solution.py": task.files["solution.py"].replace("x - x", "x + x")}
    patch = make_patch(task.files, mended).decode()
    rows = [
        {
            "messages": [{"role": "user", "content": "Mend it."}, {"role": "assistant", "content": said}],
            "instance_id": of,
            "patch": one,
        }
        for said, of, one in (
            ("Done.", task.id, patch),
            ("I gave up here.", task.id, ""),
            ("Added, not taken away.", "o__o-1", patch),
        )
    ]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    save_tasks(tmp_path / "tasks.jsonl", [task])
    given = ["library", "import", str(tmp_path / "l.db"), str(tmp_path / "rows.jsonl")]
    assert main([*given, "--tasks", str(tmp_path / "tasks.jsonl"), "--json", "--workers", "1"]) == 0
    found = told(capsys)
    assert (found["accepted"], found["refused"], found["unverified"]) == (1, 2, 1)
    assert main([*given[:2], str(tmp_path / "m.db"), given[3], "--workers", "1"]) == 1
    assert "3  unverified, never trained on; --trust accepts such" in capsys.readouterr().out
    assert main([*given[:2], str(tmp_path / "t.db"), given[3], "--trust", "--workers", "1"]) == 0
    with Library(tmp_path / "t.db") as trusted:
        assert trusted.verify() == [] and sum(1 for _ in trusted.iter_accepted()) == 3
    capsys.readouterr()
    assert main(["library", "gate", str(tmp_path / "t.db"), "--json"]) == 0 and told(capsys) == {"accepted -> accepted": 3}
    assert main(["library", "gate", str(tmp_path / "l.db"), "--json"]) == 0
    assert told(capsys) == {"accepted -> accepted": 1, "refused -> refused": 2}
    with Library(tmp_path / "l.db") as library:
        assert [row.reasons for row in library.query() if row.task_id != task.id] == [
            ("verdict: unverified: no task 'o__o-1' is given",)
        ]
    assert main([*given[:2], str(tmp_path / "s.db"), given[3], "--trust", "--set", 'checks=["syntax", "sintax"]']) == 2
    assert "there is no check 'sintax'" in capsys.readouterr().err
    assert main([*given[:2], str(tmp_path / "s.db"), given[3], "--trust", "--workers", "1", "--set", "message=100"]) == 0
    out = tmp_path / "out.jsonl"
    capsys.readouterr()
    assert main(["library", "export", str(tmp_path / "l.db"), str(out), "--to", "swesmith-ticks", "--json"]) == 0
    assert json.loads(out.read_text()) == rows[0] and told(capsys)["lost"] == {}


def test_a_library_is_exported_in_every_format(tmp_path: Path, capsys: Capture, library: Path) -> None:
    for name, one in FORMATS.items():
        if "ids" not in one.needs:
            out = tmp_path / f"{name}{one.suffix}"
            assert main(["library", "export", str(library), str(out), "--to", name]) == 0, capsys.readouterr().err
            assert f"1 written to {out} as {name}" in capsys.readouterr().out
            assert main(["library", "convert", str(out), str(tmp_path / "back.jsonl"), "--from", name]) == 0
            capsys.readouterr()
    for given, message in (
        (["--to", "trl", "--model", "m"], "they are for trl-ids"),
        (["--to", "trl-ids"], "name the model with --model"),
        (["--kind", "qa"], "nothing to write as swefuse"),
    ):
        assert main(["library", "export", str(library), str(tmp_path / "none.jsonl"), *given]) == 2
        assert message in capsys.readouterr().err


def test_rows_of_tokens_are_those_that_training_would_use(tmp_path: Path, capsys: Capture) -> None:
    from learn_samples import library as made
    from learn_samples import model, tokenizer
    from swefuse.learn.model import save

    save(model(), tokenizer(), tmp_path / "m")
    lib, out = made(tmp_path / "l.db", True), tmp_path / "ids.jsonl"
    assert main(["library", "export", str(lib), str(out), "--to", "trl-ids", "--model", str(tmp_path / "m")]) == 0
    capsys.readouterr()
    assert main(["library", "mask", str(lib), "hand-made-0", "--model", str(tmp_path / "m"), "--json"]) == 0
    mask, row = told(capsys), json.loads(out.read_text())
    assert row["input_ids"] == mask["ids"] and [label != -100 for label in row["labels"]] == mask["trained"]


def test_the_formats_are_listed_with_what_they_carry(capsys: Capture) -> None:
    assert main(["library", "formats"]) == 0
    text = capsys.readouterr().out
    assert all(name in text for name in FORMATS)
    assert main(["library", "formats", "--json"]) == 0
    found = told(capsys)
    assert found["openai"]["not"] and "calls" not in found["swesmith-xml"]["carries"]  # type: ignore[index]


def test_the_page_names_every_format() -> None:
    page = (Path(__file__).parents[2] / "docs" / "exchange.md").read_text(encoding="utf-8")
    assert [name for name in FORMATS if f"`{name}`" not in page] == []
