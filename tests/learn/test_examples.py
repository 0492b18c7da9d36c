from __future__ import annotations

from pathlib import Path

import pytest
from chat_samples import CALLING, chat

from learn_samples import TASKS, episodes, tokenizer
from swefuse.collect import protocol
from swefuse.collect.dialects import render_call
from swefuse.errors import DataError
from swefuse.learn.batch import About, Example, collate
from swefuse.learn.examples import load_examples, make_example, save_examples, without_tail
from swefuse.learn.tokens import Codec, codec_for
from swefuse.policy.base import Choice
from swefuse.policy.scripted import ScriptedPolicy
from swefuse.records import Action, Evidence, Step, TokenTrace, Trajectory


def trajectory(**changes: object) -> Trajectory:
    return episodes(ScriptedPolicy("reference"))[0].model_copy(update=changes)


def test_the_agents_tokens_are_trained_and_the_edit_among_what_was_open() -> None:
    codec, task, made = codec_for(tokenizer()), TASKS[0], trajectory()
    row, example = codec.row(task, made.steps), make_example(codec, task, made)
    assert example.ids == row.ids
    assert example.positions == tuple(place for start, end in row.spans for place in range(start, end))
    open_at = dict(zip(example.positions, example.allowed, strict=True))
    start, end = row.spans[2]
    messages = codec.messages(task, protocol.choices(task, task.files, made.steps[:2]))
    assert open_at[start] == tuple(sorted({ids[0] for ids in messages}))
    assert all(row.ids[place] in open_at[place] for place in range(start, end))
    assert any(len(open_at[place]) > 1 for place in range(start, end))
    assert all(open_at[place] == () for place in example.positions if not start <= place < end), "forced moves are free text"


def test_an_example_tells_where_it_comes_from() -> None:
    task = TASKS[0].model_copy(update={"evidence": Evidence(repeats=2, reference_passes=True, null_fails=True, strength=0.75)})
    made = trajectory()
    open_edits = len(protocol.choices(task, task.files, made.steps[:2]))
    about = make_example(codec_for(tokenizer()), task, made).about
    assert about == About(task.id, "test", "bugfix", len(made.steps), open_edits, 0.75) and open_edits > 1


def test_a_step_that_was_taken_back_stays_context() -> None:
    codec, made = codec_for(tokenizer()), trajectory()
    steps = tuple(step.model_copy(update={"keep": number != 2}) for number, step in enumerate(made.steps))
    example = make_example(codec, TASKS[0], trajectory(steps=steps))
    row = codec.row(TASKS[0], made.steps)
    start, end = row.spans[2]
    assert example.ids == row.ids
    assert not set(range(start, end)) & set(example.positions) and len(example.positions) == sum(b - a for a, b in row.spans) - (
        end - start
    )


@pytest.mark.parametrize("codec", [codec_for(tokenizer()), chat(), chat(CALLING, "tools")], ids=["small", "chat", "tools"])
def test_of_a_hand_made_trajectory_only_the_kept_steps_are_trained(codec: Codec) -> None:
    """View, test, a wrong edit that is not kept, the right one, submit: the wrong one is read, and never written."""
    wrong = Action(name="edit", path="m.py", line=3, old="x", new="low")
    right = Action(name="edit", path="m.py", line=3, old=">", new="<")
    moves = [
        (Action(name="view", path="m.py"), True),
        (Action(name="test"), True),
        (wrong, False),
        (right, True),
        (Action(name="submit"), True),
    ]
    steps = tuple(Step(thought="", action=a, raw="", observation="seen", before="", after="", keep=k) for a, k in moves)
    made = trajectory(steps=steps, id="by hand")
    example, row = make_example(codec, TASKS[0], made), codec.row(TASKS[0], steps)
    kept = [place for (start, end), (_, keep) in zip(row.spans, moves, strict=True) if keep for place in range(start, end)]
    assert example.ids == row.ids and list(example.positions) == kept
    start, end = row.spans[2]
    assert row.ids[start:end] == codec.message(TASKS[0], Choice("", wrong)), "still there to be read"
    assert sum(len(codec.message(TASKS[0], Choice("", action))) for action, keep in moves if keep) == len(kept)
    batch = collate([example], len(tokenizer()) + 9, 0)
    assert not set(range(start - 1, end - 1)) & set(batch.column.tolist()), "no logit that predicts it enters the loss"


def test_a_trajectory_without_anything_to_train_is_refused_by_name() -> None:
    steps = tuple(step.model_copy(update={"keep": False}) for step in trajectory().steps)
    with pytest.raises(DataError, match="no-7"):
        make_example(codec_for(tokenizer()), TASKS[0], trajectory(steps=steps, id="no-7"))


def test_what_a_model_wrote_as_calls_is_not_trained_as_another_dialect() -> None:
    ids = tuple(tokenizer().encode("@test", add_special_tokens=False))
    trace = TokenTrace(token_ids=ids, logprobs=(-1.0,) * len(ids), raw_logprobs=(-1.0,) * len(ids), entropies=(0.0,) * len(ids))
    said = render_call(Action(name="test"))
    first, *others = trajectory().steps
    made = trajectory(steps=(first.model_copy(update={"raw": said, "trace": trace}), *others), id="called")
    with pytest.raises(DataError, match="trajectory called was written as calls of tools: train on it with dialect=tools"):
        make_example(codec_for(tokenizer()), TASKS[0], made)
    assert make_example(chat(CALLING, "tools"), TASKS[0], made).ids
    quoted = trajectory(steps=(first.model_copy(update={"raw": said}), *others))
    assert make_example(codec_for(tokenizer()), TASKS[0], quoted).ids, "what no model wrote is written as the codec has it"


def test_a_row_without_its_tail_ends_with_the_last_choice() -> None:
    codec, task, made = codec_for(tokenizer()), TASKS[0], trajectory()
    whole, (_, end) = make_example(codec, task, made), codec.row(task, made.steps).spans[2]
    cut = without_tail(whole)
    assert cut.ids == whole.ids[:end] and max(cut.positions) == end - 1 < max(whole.positions)
    assert cut.positions == whole.positions[: len(cut.positions)] and cut.allowed == whole.allowed[: len(cut.positions)]
    assert without_tail(cut) == cut


def test_a_row_in_which_nothing_was_open_stays_whole() -> None:
    steps = tuple(step.model_copy(update={"keep": number != 2}) for number, step in enumerate(trajectory().steps))
    example = make_example(codec_for(tokenizer()), TASKS[0], trajectory(steps=steps))
    assert without_tail(example) == example


def test_saved_examples_come_back_the_same_and_damage_is_told(tmp_path: Path) -> None:
    examples = [
        Example((1, 2, 3), (1, 2), ((), (2, 7)), "a", About("t", "corpus", "bugfix", 4, 31, 0.5)),
        Example((5, 6), (1,), ((),), "b"),
    ]
    file = tmp_path / "rows.jsonl"
    save_examples(file, examples)
    assert load_examples(file) == examples
    file.write_text(file.read_text()[:-9] + "\n")
    with pytest.raises(DataError, match=r"rows\.jsonl holds no examples"):
        load_examples(file)
    with pytest.raises(DataError, match="none"):
        load_examples(tmp_path / "none")
