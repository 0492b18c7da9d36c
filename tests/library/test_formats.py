"""Every outside format: laws on random trajectories, small files as its tools write them, and files that are wrong in some way."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from format_cases import NAMES, came_back, files, stayed, transcripts
from swefuse.errors import DataError, UserError
from swefuse.library.formats import FORMATS, detect
from swefuse.library.formats.atif_rules import problems
from swefuse.library.formats.convert import load, save
from swefuse.library.formats.delta import apply, delta
from swefuse.library.formats.files import NO_NUMBER, read_values
from swefuse.library.formats.transcript import ALL, FEATURES, Call, Transcript, Turn

SAMPLES = Path(__file__).parent / "format_samples"
REAL = Path(__file__).parents[2].parent / "shared" / "inputs" / "formats"
FAR = settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
TREES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=3)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from("abcd"), inner, max_size=3)),
    max_leaves=8,
)
TALK = (
    Turn(role="system", text="You repair code."),
    Turn(role="user", text="It fails.\u2028Why?"),
    Turn(role="assistant", text="I look.", calls=(Call(id="c1", name="bash", arguments='{"command": "ls"}'),), trained=False),
    Turn(role="tool", text="m.py\r\n", answers="c1"),
    Turn(role="assistant", text="Done."),
)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_what_is_written_comes_back_without_what_was_told_to_be_lost(name: str) -> None:
    @FAR
    @given(transcripts(FORMATS[name]))
    def law(transcript: Transcript) -> None:
        assert came_back(FORMATS[name], transcript) == ""

    law()


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_what_is_read_is_written_as_it_was(name: str) -> None:
    @FAR
    @given(files(FORMATS[name]))
    def law(value: Any) -> None:
        assert stayed(FORMATS[name], value) == ""

    law()


@settings(max_examples=300, deadline=None)
@given(TREES, TREES)
def test_a_difference_leads_from_one_value_to_the_other(one: Any, two: Any) -> None:
    found = delta(one, two)
    assert delta(apply(one, found), two) is None
    assert delta(one, one) is None


def test_a_difference_leaves_alone_what_was_changed_meanwhile() -> None:
    found = delta({"a": 1, "b": [1]}, {"a": 2, "b": [1], "c": 3})
    assert apply({"a": 5, "b": [1], "c": 4}, found) == {"a": 5, "b": [1], "c": 4}
    assert apply({"a": 1, "b": []}, found) == {"a": 2, "b": [], "c": 3}


@pytest.mark.parametrize("path", sorted(SAMPLES.iterdir()), ids=lambda path: path.name)
def test_samples_are_recognised_and_written_again_exactly(path: Path, tmp_path: Path) -> None:
    found = load(path)
    assert found.format.name == path.name.partition(".")[0] and found.evidence
    out = tmp_path / f"out{found.format.suffix}"
    saved = save(out, found.format, found.transcripts, found.format)
    assert saved.lost == {} and saved.exact == len(found.transcripts)
    before, after = (read_values(one, Counter()) for one in (path, out))
    if found.format.name != "atif":  # older versions are written as 1.8
        assert [value for _, value in before] == [value for _, value in after]


@pytest.mark.skipif(not REAL.is_dir(), reason="real samples are not here")
@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("sweagent_1_0_1.traj", "sweagent"),
        ("mini_github_issue.traj.json", "mini"),
        ("mini_local.traj.json", "mini"),
        ("mini_preds.json", "predictions"),
        ("swesmith_sft_xml.jsonl", "swesmith-xml"),
    ],
)
def test_real_files_are_written_again_exactly(file: str, name: str) -> None:
    for where, value in read_values(REAL / file, Counter()):
        read = FORMATS[name].read(value, where)
        written, lost = FORMATS[name].write(read)
        assert delta(written, value) is None and not lost
    assert detect(read_values(REAL / file, Counter()))[0].name == name


@pytest.mark.skipif(not REAL.is_dir(), reason="real samples are not here")
@pytest.mark.parametrize("file", ["swebench_rows.jsonl", "swesmith_instance.json", "swe_rebench_v2_row.json"])
def test_tasks_are_sent_to_the_command_that_reads_them(file: str) -> None:
    with pytest.raises(DataError, match="tasks import"):
        load(REAL / file)


def test_formats_differ_in_what_they_carry_and_say_so() -> None:
    given = Transcript(instance="a__b-1", turns=TALK, patch="", resolved=True)
    assert FORMATS["swefuse"].write(given)[1] == Counter()
    assert FORMATS["trl"].write(given)[1] == Counter(patch=1, resolved=1, trained=1)
    assert FORMATS["openai"].write(given)[0]["messages"][2]["weight"] == 0
    assert FORMATS["llamafactory"].write(given)[0]["messages"][2]["turn_mask"] == 0
    xml, lost = FORMATS["swesmith-xml"].write(given)
    assert "<function=bash>\n<parameter=command>ls</parameter>\n</function>" in xml["messages"][2]["content"]
    assert xml["messages"][3]["role"] == "user" and lost["calls"] == 1
    assert set(FEATURES) == ALL and all(one.carries <= ALL and one.holds <= one.carries for one in FORMATS.values())


def test_fields_of_one_format_are_counted_when_another_is_written() -> None:
    read = FORMATS["openai"].read({"messages": [{"role": "user", "content": "a", "mood": "good"}], "run": 7}, "x")
    assert FORMATS["trl"].write(read)[1]["fields"] == 2
    assert FORMATS["openai"].write(read)[0] == {"messages": [{"role": "user", "content": "a", "mood": "good"}], "run": 7}


def test_exports_of_atif_pass_the_strict_rules_and_an_independent_reader() -> None:
    reader = pytest.importorskip("atif")
    odd = (*TALK, Turn(role="assistant", calls=(Call(name="x", arguments="no"), Call(name="x", arguments="[1]"))))
    value, _ = FORMATS["atif"].write(Transcript(turns=odd, model="m"))
    assert list(problems(value)) == []
    reader.Trajectory.model_validate(value)


@pytest.mark.slow
def test_an_independent_reader_takes_every_export_of_atif() -> None:
    reader = pytest.importorskip("atif")

    @FAR
    @given(files(FORMATS["atif"]))
    def law(value: Any) -> None:
        try:
            read = FORMATS["atif"].read(value, "x")
        except DataError:
            return
        if read.turns:
            written, _ = FORMATS["atif"].write(read)
            assert list(problems(written)) == []
            reader.Trajectory.model_validate(json.loads(json.dumps(written).replace("\\ud800", "?")))

    law()


def test_old_atif_is_read_numbered_from_zero_and_copied_context_is_not_trained_on() -> None:
    steps = [
        {"step_id": 0, "source": "user", "message": "a", "mood": 1},
        {"step_id": 1, "source": "agent", "message": "b", "is_copied_context": True},
    ]
    old = {"schema_version": "ATIF-v1.3", "session_id": "s", "agent": {"name": "a", "version": "1"}, "steps": steps}
    read = FORMATS["atif"].read(old, "x")
    assert [turn.trained for turn in read.turns] == [None, False]
    written, _ = FORMATS["atif"].write(read)
    assert list(problems(written)) == [] and written["extra"]["swe_fuse"]["kept"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", ":1: the file holds nothing"),
        (b"\n \n", ":1: the file holds nothing"),
        (b'{"messages": []}\n{"messages": [\n', ":2: no JSON"),
        (b'{"messages": []}\n{"messages": "\xff"}\n', ":2: the line is not UTF-8"),
        (b'{"messages": [], "messages": []}\n', "'messages' stands there twice"),
        (b'{"messages": [{"role": "usr", "content": "a"}]}\n', "no role 'usr'; did you mean 'user'"),
        (b'{"messages": [{"content": "a"}]}\n', "messages 1: a message is an object with a role"),
        (b'{"messages": [{"role": "assistant", "tool_calls": [7]}]}\n', "call 1: a call names a function"),
        (b'{"some": "thing"}\n', "its fields are some. Name it with --from"),
        (b'{"messages": []}\n{"chosen": [], "rejected": []}\n', "some of its values look like"),
        (b"[" * 100_000, "no JSON"),
    ],
)
def test_files_that_are_wrong_are_refused_with_their_place(text: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(text)
    with pytest.raises(DataError) as caught:
        load(tmp_path / "a.jsonl")
    assert message in str(caught.value) and "a.jsonl" in str(caught.value)


def test_odd_bytes_of_whole_files_are_no_fault(tmp_path: Path) -> None:
    rows = [{"messages": [{"role": "user", "content": f"a\u2028b\x85c{n}"}]} for n in range(2)]
    text = "\ufeff" + "\r\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    (tmp_path / "a.jsonl").write_bytes(text.encode())
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(text.encode()))
    for name in ("a.jsonl", "a.jsonl.gz"):
        assert [one.turns[0].text for one in load(tmp_path / name).transcripts] == ["a\u2028b\x85c0", "a\u2028b\x85c1"]


def test_what_json_does_not_have_and_images_are_told(tmp_path: Path) -> None:
    parts = '[{"type": "text", "text": "see "}, {"type": "image_url", "image_url": {"url": "x"}}]'
    text = f'{{"messages": [{{"role": "user", "content": {parts}, "cost": NaN, "p": 1e999}}]}}\n'
    (tmp_path / "a.jsonl").write_text(text)
    found = load(tmp_path / "a.jsonl")
    assert found.transcripts[0].turns[0].text == "see [image]"
    assert found.notes[NO_NUMBER] == 2 and any("images" in note for note in found.notes)


def test_values_that_are_written_as_texts_are_read_as_values() -> None:
    calls = [{"id": "1", "function": {"name": "bash", "arguments": {"command": "ls"}}}]
    messages = [{"role": "assistant", "content": None, "tool_calls": calls, "weight": "0"}]
    for given_ in (messages, json.dumps(messages)):
        (turn,) = FORMATS["openai"].read({"messages": given_}, "x").turns
        assert turn.trained is False and turn.calls[0].arguments == '{"command": "ls"}'
    read = FORMATS["sweagent"].read(
        {"trajectory": [], "history": messages, "replay_config": '{"agent": {"model": {"name": "m"}}}'}, "x"
    )
    assert read.model == "m"
    read = FORMATS["sweagent"].read(
        {"trajectory": [], "history": messages, "replay_config": {"agent": {"model": {"name": "m"}}}}, "x"
    )
    assert read.model == "m"


def test_steps_without_a_history_are_read_by_what_the_last_one_was_asked() -> None:
    asked = [{"role": "user", "content": "a"}]
    step = {"action": "ls", "observation": "m.py", "response": "I look.\nls", "thought": "I look."}
    for steps, texts in (
        ([step, {**step, "query": asked}], ["a", "I look.\nls", "m.py"]),
        ([{**step, "messages": [*asked, {"role": "assistant", "content": "b"}]}], ["a", "b"]),
        ([{**step, "state": "{}"}], ["I look.\nls", "m.py"]),
    ):
        value = {"trajectory": steps, "info": {}}
        read = FORMATS["sweagent"].read(value, "x")
        assert [turn.text for turn in read.turns] == texts and FORMATS["sweagent"].write(read)[0] == value


def test_tables_hold_the_same_rows_and_say_which_columns_are_texts(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    rows = [Transcript(turns=TALK, tools=({"type": "function", "function": {"name": "bash"}},)), Transcript(turns=TALK[:2])]
    for out in (tmp_path / "a.parquet", tmp_path / "folder"):
        saved = save(out, FORMATS["trl"], rows)
        back = load(out)
        assert [one.turns for one in back.transcripts] == [FORMATS["trl"].reduced(one)[0].turns for one in rows]
        assert back.transcripts[0].tools == rows[0].tools and back.format.name == "trl" and saved.written == 2
    with pytest.raises(UserError, match="a folder of its own"):
        (tmp_path / "folder" / "other.txt").write_text("a")
        save(tmp_path / "folder", FORMATS["trl"], rows)


def test_the_library_of_datasets_reads_our_folders_and_we_read_its(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    rows = [Transcript(turns=TALK[:2])]
    save(tmp_path / "ours", FORMATS["trl"], rows)
    table = datasets.Dataset.from_parquet(str(tmp_path / "ours/data/train-00000-of-00001.parquet"), cache_dir=str(tmp_path / "c"))
    assert table[0]["messages"][1]["content"] == TALK[1].text
    table.save_to_disk(str(tmp_path / "its"))
    assert load(tmp_path / "its").transcripts[0].turns == rows[0].turns
