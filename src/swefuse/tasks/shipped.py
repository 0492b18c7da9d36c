"""The functions that come along, as a parameter of templates: each drawn with other local names, its stub, a bug, and answers.

They are our own, so that templates may run them here while a draw is made; every task that comes of it is proven in the sandbox.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from swefuse.code.functions import Source, function, rename
from swefuse.code.operators import apply, breaks
from swefuse.code.stubs import without_body
from swefuse.tasks.families import composed_functions, corpus_functions
from swefuse.tasks.names import new_names
from swefuse.tasks.spec import FunctionSpec
from swefuse.tasks.template import Parameter, drawn

COMPOSED = 4000
_CORPUS_SHARE = 0.6
_LONGEST = 200


@lru_cache(maxsize=1)
def _families() -> tuple[list[FunctionSpec], list[FunctionSpec]]:
    return corpus_functions(), composed_functions(COMPOSED)


def shipped(bug: bool = False, answers: bool = False) -> Parameter:
    """A function: gaps ``_name``, ``_text``, ``_stub`` (its body is missing), ``_calls``, ``_key``, ``_topic`` and ``_body_hash``.

    ``bug``: also ``_broken``, the text with one bug. ``answers``: also ``_tests``, assertions on what its own arguments give, and
    ``_ask``, one of its calls.
    """
    return drawn(lambda rng: _draw(rng, bug, answers))


def _draw(rng: random.Random, bug: bool, answers: bool) -> Mapping[str, Any]:
    corpus, composed = _families()
    spec = rng.choice(corpus if rng.random() < _CORPUS_SHARE else composed)
    source = Source(spec.text)
    text = rename(source, function(source.tree, spec.name), new_names(spec, rng))
    found: dict[str, Any] = {
        "name": spec.name, "text": text, "stub": without_body(text, spec.name), "calls": "\n".join(spec.arguments),
        "key": spec.key, "topic": spec.topic, "body_hash": spec.body_hash,
    }  # fmt: skip
    if bug:
        found["broken"] = apply(text, rng.choice(breaks(text, spec.name)))
    if answers:
        rows = [(call, _answer(spec.text, spec.name, call)) for call in spec.arguments]
        found["tests"] = "\n\n\n".join(
            f"def test_{number}():\n{_assertion(spec.name, call, *answer)}" for number, (call, answer) in enumerate(rows)
        )
        found["ask"] = rng.choice([call for call, answer in rows if answer != ("value", "None")] or spec.arguments)
    return {key: value.replace("$", "$$") if isinstance(value, str) else value for key, value in found.items()}


@lru_cache(maxsize=65536)
def _answer(text: str, name: str, call: str) -> tuple[str, str]:
    """``("value", text)`` or ``("raises", class name)`` of one call of a function that ships with the package."""
    scope: dict[str, Any] = {}
    exec(compile(text, "<shipped>", "exec"), scope)  # noqa: S102 - our own text, out of our own package
    try:
        return "value", repr(scope[name](*ast.literal_eval(call)))
    except Exception as error:  # noqa: BLE001 - whatever it raises is its answer
        return "raises", type(error).__name__


def _assertion(name: str, call: str, how: str, answer: str) -> str:
    arguments = call.removeprefix("(").removesuffix(")").removesuffix(",")
    if how == "raises":
        return f"    with pytest.raises({answer}):\n        {name}({arguments})"
    return f"    assert {name}({arguments}) == {answer}"
