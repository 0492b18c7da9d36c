"""mypy and bandit on many small files at once."""

from __future__ import annotations

from collections import Counter

from swefuse.code.analysers import bandit, mypy

WRONG = "def f(x: int) -> int:\n    return str(x)\n"
RIGHT = "import nowhere\n\n\ndef f(x: int) -> int:\n    return nowhere.g(x) + 1\n"
UNSAFE = "import yaml\n\n\ndef f(text):\n    return yaml.load(text)  # nosec\n"


def test_type_errors_are_found_file_by_file() -> None:
    found = mypy([("a/m.py", WRONG), ("m.py", RIGHT), ("broken.py", "def ("), ("pkg/__init__.py", WRONG), ("b.py", WRONG)])
    assert [list(one) for one in found[:3]] == [
        ['return-value Incompatible return value type (got "str", expected "int")'], [], []
    ]  # fmt: skip
    assert found[3] == found[4] == found[0]
    assert mypy([]) == [] and mypy([("broken.py", "def (")]) == [Counter()]


def test_unsafe_calls_are_found_whatever_a_comment_says() -> None:
    unsafe, right, broken = bandit([("m.py", UNSAFE), ("n.py", RIGHT), ("broken.py", "def (")])
    assert [one.split()[0] for one in unsafe] == ["B506"] and not right and not broken
    assert bandit([]) == []
