"""Statements of one meaning."""

from __future__ import annotations

import pytest

from swefuse.code.meaning import meaning


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('    if n < 0:\n        raise ValueError("n")', "if n < 0:\n    raise ValueError"),
        ("if len(items) == 0: return []", "if not items:\n    return []"),
        ('if text == "":\n    return 0', "if not text:\n    return 0"),
        ("if n < 1:\n    return 0", "if n <= 0:\n    return 0"),
        ("if n > 1:\n    return 0", "if n >= 2:\n    return 0"),
        ("if not x in y:\n    break", "if x not in y:\n    break"),
    ],
)
def test_counts_as_the_same(one: str, other: str) -> None:
    assert meaning(one) == meaning(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("if n < 0:\n    raise ValueError", "if n < 0:\n    raise KeyError"),
        ("if n < 0:\n    return 0", "if n <= 0:\n    return 0"),
        ("if not items:\n    return []", "if items:\n    return []"),
        ("if len(items) == 1:\n    return []", "if not items:\n    return []"),
        ("if n < m:\n    return 0", "if n <= m:\n    return 0"),
        ("total = 0", "total = 1"),
        ("elif x:", "if x:\n    pass"),
    ],
)
def test_counts_as_different(one: str, other: str) -> None:
    assert meaning(one) != meaning(other)
