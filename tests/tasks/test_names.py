"""Renaming changes names and nothing else."""

from __future__ import annotations

import ast
import random

from swefuse.code.functions import Source, body_hash, function, local_names, rename
from swefuse.tasks.families import corpus_functions
from swefuse.tasks.names import new_names


def test_every_corpus_function_stays_the_same_under_new_names() -> None:
    for spec in corpus_functions():
        source = Source(spec.text)
        node = function(source.tree, spec.name)
        names = new_names(spec, random.Random(spec.key))
        renamed = function(ast.parse(rename(source, node, names)), spec.name)
        assert body_hash(renamed) == spec.body_hash, spec.key
        assert local_names(renamed) == [names.get(name, name) for name in local_names(node)]
        assert len(names) >= len(local_names(node)) - 1  # all but "_"


def test_names_follow_the_random_source_and_the_types() -> None:
    spec = next(spec for spec in corpus_functions() if spec.name == "wrap_words")
    assert new_names(spec, random.Random(0)) == new_names(spec, random.Random(0))
    found = [new_names(spec, random.Random(seed)) for seed in range(20)]
    assert len({tuple(names.values()) for names in found}) == 20
    assert all(names["width"] not in ("words", "text") for names in found)
