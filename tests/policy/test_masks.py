from __future__ import annotations

import random
import subprocess
import sys
from functools import cache

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from swefuse.collect import actions
from swefuse.errors import DataError
from swefuse.learn.model import make_nano, train_tokenizer
from swefuse.policy import syntax
from swefuse.policy.action_syntax import State, action_grammar
from swefuse.policy.insertion import body_grammar
from swefuse.workspace import apply_edit

pytest.importorskip("llguidance")

from swefuse.policy.masks import GrammarLogitsProcessor, Matcher, Vocabulary, apply_masks, check_grammar

SOURCE = 'def clamp(x, low=0):\n    """Keep x."""\n    if x < low:\n        return low\n    return x + x\n\n\ny = [1, 2]\n'
PYTHON = syntax.python_grammar()
STATE = State({"a.py": SOURCE, "n.md": "one\n"}, ("a.py", "b.py", "n.md"))


@cache
def tokenizer():  # type: ignore[no-untyped-def]
    messages = "@edit a.py:3\n-x < low\n+x <= low\n@create b.py\n+import os\n@test\n@submit\n@undo\n@view a.py\n#why\n"
    return train_tokenizer([SOURCE * 5, messages * 5, "for i in range(3):\n    print(i)\n"], 400)


@cache
def vocabulary() -> Vocabulary:
    return Vocabulary(tokenizer())


def open_tokens(matcher: Matcher) -> list[int]:
    return [int(token) for token in matcher.allowed().nonzero().flatten()]


@cache
def weights(closing: bool) -> list[float]:
    """How probable a token is where it is open. At first what opens a string or a comment is rare, later all that closes is not."""

    def weight(text: str) -> float:
        if not text.isascii() or not text.replace("\n", "").isprintable():
            return 0.001
        if closing:
            return 100.0 if set(text) & set("\n)]}\"':") else 1.0
        return 0.1 if set(text) & set("#\"'") else 1.0

    return [weight(tokenizer().decode([token])) for token in range(len(tokenizer()))]


def sample(grammar: str, rng: random.Random, least: int, start: str = "") -> str | None:
    """``start`` and random tokens; the text ends where it may after ``least`` tokens. None if it does not within 80."""
    matcher = vocabulary().matcher(grammar)
    for token in tokenizer()(start)["input_ids"]:
        matcher.accept(token)
    while len(matcher.ids) < 80 and not matcher.is_done() and not (matcher.may_end() and len(matcher.ids) >= least):
        tokens = open_tokens(matcher)
        assert tokens, "a state without a way on"
        probable = weights(len(matcher.ids) >= least)
        matcher.accept(rng.choices(tokens, [probable[token] for token in tokens])[0])
    ids = [token for token in matcher.ids if token not in vocabulary().eos]
    return tokenizer().decode(ids) if matcher.may_end() or matcher.is_done() else None


def test_random_tokens_under_the_mask_are_nearly_always_python() -> None:
    rng = random.Random(0)
    texts = [text for _ in range(160) if (text := sample(PYTHON, rng, 12)) is not None]
    good = [text for text in texts if not syntax.problem_of(text)]
    assert len(texts) >= 50 and len(good) / len(texts) >= 0.9
    # the same tokens without a mask: little of it parses
    free = [tokenizer().decode(rng.choices(range(len(tokenizer())), weights(False), k=12)) for _ in range(100)]
    assert sum(not syntax.problem_of(text) for text in free) <= 10


def test_random_actions_always_parse_and_apply() -> None:
    rng, grammar, parses = random.Random(1), action_grammar(STATE), []
    starts = {"": 5, "#": 5, "@edit ": 60, "@edit a.py:5": 20, "@create b": 20, "@view": 3, "@search": 5, "@run": 5, "@test": 1}
    for start in [start for start, count in starts.items() for _ in range(count)]:
        message = sample(grammar, rng, 8, start)
        if message is None:
            continue
        thought, action = actions.parse(message)
        assert actions.render(action, thought) == message
        if action.name in ("edit", "create") and (action.name == "create" or action.old != action.new):
            changed = apply_edit(STATE.files, action)[action.path]
            parses.append(not action.path.endswith(".py") or not syntax.problem_of(changed))
    assert len(parses) >= 60 and sum(parses) / len(parses) >= 0.5


def test_random_bodies_fit_between_what_stands_before_and_after() -> None:
    before, after, rng = 'def f(x):\n    """Doc."""\n', "\n\ny = f(1)\n", random.Random(2)
    texts = [text for _ in range(80) if (text := sample(body_grammar(before, after), rng, 5)) is not None]
    assert len(texts) >= 25
    assert sum(not syntax.problem_of(before + text + after) for text in texts) / len(texts) >= 0.9


@pytest.mark.parametrize("text", ["", "x = (", "def f(x):\n", "if x:\n    return 'a", "x = 1\n"])
def test_a_mask_holds_the_tokens_that_are_accepted_and_no_others(text: str) -> None:
    matcher = vocabulary().matcher(PYTHON)
    for token in tokenizer()(text)["input_ids"]:
        matcher.accept(token)
    mask, taken = matcher.allowed(), []
    assert mask.dtype == torch.bool and mask.shape == (len(tokenizer()),)
    for token in range(len(mask)):
        try:
            matcher.accept(token)
        except DataError:
            continue
        taken.append(token)
        matcher.rollback(1)
    assert taken == mask.nonzero().flatten().tolist()
    assert 0 < len(taken) < len(mask)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 25), st.integers(0, 25))
def test_going_back_and_on_again_changes_no_mask(seed: int, count: int, back: int) -> None:
    rng, matcher, masks = random.Random(seed), vocabulary().matcher(PYTHON), []
    for _ in range(count):
        masks.append(matcher.allowed())
        tokens = [token for token in open_tokens(matcher) if token not in vocabulary().eos]
        matcher.accept(rng.choice(tokens))
    masks.append(matcher.allowed())
    back = min(back, count)
    again = matcher.ids[count - back :]
    matcher.rollback(back)
    assert torch.equal(matcher.allowed(), masks[count - back])
    for number, token in enumerate(again):
        matcher.accept(token)
        assert torch.equal(matcher.allowed(), masks[count - back + number + 1])
    fresh = vocabulary().matcher(PYTHON)
    for token in matcher.ids:
        fresh.accept(token)
    assert torch.equal(fresh.allowed(), masks[-1])


def test_the_end_is_open_where_the_text_is_complete() -> None:
    (end,) = vocabulary().eos
    matcher = vocabulary().matcher(PYTHON)
    ids = tokenizer()("x = (1)")["input_ids"]
    for token in ids[:-1]:
        matcher.accept(token)
    assert not matcher.may_end() and not matcher.allowed()[end]
    with pytest.raises(DataError, match="does not follow the grammar after"):
        matcher.accept(end)
    matcher.accept(ids[-1])
    assert matcher.may_end() and not matcher.is_done() and matcher.allowed()[end]
    matcher.accept(end)
    assert matcher.is_done() and open_tokens(matcher) == [end]
    with pytest.raises(DataError):
        matcher.accept(ids[0])
    matcher.rollback(1)
    assert not matcher.is_done() and matcher.may_end() and matcher.ids == ids
    with pytest.raises(DataError, match="cannot take back"):
        matcher.rollback(len(ids) + 1)
    matcher.rollback(len(ids))
    assert matcher.ids == [] and matcher.accepts(ids) == len(ids) and matcher.accepts([end, *ids]) == 1


def test_a_text_without_choice_is_forced() -> None:
    matcher = vocabulary().matcher(action_grammar(State({}, (), ("submit",))))
    assert matcher.forced() == [] and not matcher.is_done()  # a thought may come first
    matcher.accept(tokenizer()("@submit")["input_ids"][0])
    for token in matcher.forced():
        matcher.accept(token)
    assert actions.parse(tokenizer().decode([t for t in matcher.ids if t not in vocabulary().eos])) == (
        "",
        actions.parse("@submit\n")[1],
    )


def test_a_grammar_that_does_not_compile_is_refused_with_its_place() -> None:
    for attempt in (vocabulary().matcher, check_grammar):
        with pytest.raises(DataError, match=r"2\(\d+\): unknown name"):
            attempt('start: "a" next\nnext: other\n')
    check_grammar(PYTHON)


def test_masks_are_applied_to_scores() -> None:
    low = float("-inf")
    scores = torch.tensor([[1.0, 2.0, 3.0, 9.0], [4.0, 5.0, 6.0, 9.0]])
    masks = [torch.tensor([True, False, True]), torch.tensor([False, True, False])]
    assert apply_masks(scores, masks).tolist() == [[1.0, low, 3.0, low], [low, 5.0, low, low]]
    assert apply_masks(scores[:, :2], masks).tolist() == [[1.0, low], [low, 5.0]]


@pytest.mark.parametrize("beams", [1, 3])
def test_generate_stays_in_the_grammars_of_its_rows(beams: int) -> None:
    model = make_nano(tokenizer(), width=64, layers=1)
    prompts = tokenizer()(["x = 1\n", "@test\n"], return_tensors="pt", padding=True, padding_side="left")
    grammars = [action_grammar(State({}, (), ("submit", "undo"))), action_grammar(State({"a.py": ""}, (), ("view",)))]
    processor = GrammarLogitsProcessor(vocabulary(), [grammar.replace("THOUGHT?", "", 1) for grammar in grammars])
    torch.manual_seed(0)
    settings = {"num_beams": beams} if beams > 1 else {"num_return_sequences": 2}
    out = model.generate(**prompts, max_new_tokens=12, do_sample=beams == 1, logits_processor=[processor], **settings)
    texts = tokenizer().batch_decode(out[:, prompts["input_ids"].shape[1] :], skip_special_tokens=True)
    each = len(texts) // 2
    assert all(text in ("@submit\n", "@undo\n") for text in texts[:each])
    assert all(text in ("@view a.py\n", "@view a.py:1\n") for text in texts[each:])


def test_rows_may_change_places_between_tokens() -> None:
    processor, ids = GrammarLogitsProcessor(vocabulary(), PYTHON), [tokenizer()(text)["input_ids"] for text in ("x = (", "x = 1")]
    assert len(ids[0]) == len(ids[1])
    scores = torch.zeros(2, vocabulary().size)
    processor(torch.zeros(2, 0, dtype=torch.long), scores)
    straight = processor(torch.tensor(ids), scores)
    crossed = processor(torch.tensor(ids[::-1]), scores)
    assert not torch.equal(straight[0], straight[1])
    assert torch.equal(crossed, straight.flip(0))


def test_rows_and_grammars_go_together() -> None:
    processor = GrammarLogitsProcessor(vocabulary(), [PYTHON, PYTHON])
    with pytest.raises(DataError, match="3 rows for 2 grammars"):
        processor(torch.zeros(3, 2, dtype=torch.long), torch.zeros(3, 10))


def test_a_tokenizer_without_an_end_is_refused() -> None:
    from transformers import PreTrainedTokenizerFast

    bare = PreTrainedTokenizerFast(tokenizer_object=tokenizer().backend_tokenizer)
    with pytest.raises(DataError, match="no end-of-text token"):
        Vocabulary(bare)
    assert Vocabulary(bare, size=512, eos=(3, 4)).size == 512


def test_without_llguidance_the_extra_is_named() -> None:
    code = (
        "import sys; sys.modules['llguidance'] = None\n"
        "from swefuse.errors import MissingExtraError\nfrom swefuse.policy.masks import check_grammar\n"
        "try:\n    check_grammar('start: \"a\"')\nexcept MissingExtraError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "llguidance" in done.stdout and "swe-fuse[train]" in done.stdout
