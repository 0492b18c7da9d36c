"""The exception tree: exit codes hang on it, and errors cross process borders."""

from __future__ import annotations

import inspect
import pickle

import pytest

from swefuse import errors

CLASSES = [value for value in vars(errors).values() if inspect.isclass(value) and issubclass(value, Exception)]


@pytest.mark.parametrize("kind", CLASSES)
def test_every_error_pickles_with_its_message_and_has_one_side(kind: type[errors.SweFuseError]) -> None:
    copy = pickle.loads(pickle.dumps(kind("what, where, remedy")))
    assert type(copy) is kind and str(copy) == "what, where, remedy"
    sides = [side for side in (errors.UserError, errors.InfraError) if issubclass(kind, side)]
    assert len(sides) == (kind is not errors.SweFuseError)


def test_a_missing_extra_names_the_module_and_the_line_to_type() -> None:
    error = errors.missing_extra("torch", "train")
    assert isinstance(error, ImportError)
    assert str(error) == "torch is not installed. It belongs to the extra 'train': pip install 'swe-fuse[train]'"


@pytest.mark.parametrize(
    ("name", "valid", "hint"),
    [
        ("sede", ["steps", "seed"], "; did you mean 'seed'?"),
        ("zzz", ["b", "a"], "; valid: a, b"),
        ("zzz", [], ""),
        ("seed", iter(["seeds", "seed"]), "; did you mean 'seed'?"),
    ],
)
def test_nearest(name: str, valid: list[str], hint: str) -> None:
    assert errors.nearest(name, valid) == hint
