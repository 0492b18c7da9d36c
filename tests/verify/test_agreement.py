"""The two forms give the same verdict per test: calls against ``assert f(*args) == want`` and ``pytest.raises``."""

from __future__ import annotations

import pytest
from small_task import make_task

from swefuse.records import Outcome
from swefuse.verify import Verifier

MERGE = '''
def merge(spans: list[tuple[int, int]], gap: int = 0) -> list[tuple[int, int]]:
    """Join spans that touch."""
    if gap < 0:
        raise ValueError("gap")
    out: list[tuple[int, int]] = []
    for low, high in sorted(spans):
        if out and low <= out[-1][1] + gap:
            out[-1] = (out[-1][0], max(out[-1][1], high))
        else:
            out.append((low, high))
    return out
'''
MERGE_ROWS = [
    ("([],)", "[]", None), ("([(1, 2), (2, 3)],)", "[(1, 3)]", None), ("([(5, 6), (1, 2)],)", "[(1, 2), (5, 6)]", None),
    ("([(1, 9), (2, 3)],)", "[(1, 9)]", None), ("([(1, 2), (4, 5)], 2)", "[(1, 5)]", None), ("([], -1)", None, "ValueError"),
    ("([1],)", None, "TypeError"),
]  # fmt: skip
TALLY = '''
from collections import Counter


def tally(words: list[str]) -> dict[str, float]:
    """Share of each word."""
    counts = Counter(words)
    return {word: count / len(words) for word, count in counts.items()}
'''
TALLY_ROWS = [
    ("([],)", "{}", None), ("(['a'],)", "{'a': 1}", None), ("(['a', 'b', 'a', 'b'],)", "{'b': 0.5, 'a': 0.5}", None),
    ("(None,)", "{}", None), ("(3,)", None, "TypeError"),
]  # fmt: skip
CASES = [
    (MERGE, MERGE_ROWS, ("<=", "<")),
    (MERGE, MERGE_ROWS, ("max(out[-1][1], high)", "high")),
    (MERGE, MERGE_ROWS, ("(low, high))", "[low, high])")),
    (MERGE, MERGE_ROWS, ('ValueError("gap")', "UnicodeError('gap')")),
    (MERGE, MERGE_ROWS, ('ValueError("gap")', "KeyError('gap')")),
    (MERGE, MERGE_ROWS, ("return out", "return iter(out)")),
    (MERGE, MERGE_ROWS, ("sorted(spans)", "spans")),
    (TALLY, TALLY_ROWS, ("return {", "return counts and {")),
    (TALLY, TALLY_ROWS, ("count / len(words)", "count // len(words)")),
    (TALLY, TALLY_ROWS, ("count / len(words)", "str(count / len(words))")),
    (TALLY, TALLY_ROWS, ("Counter(words)", "Counter(words or ())")),
    (TALLY, TALLY_ROWS, ("return {", "return [] or {")),
]


@pytest.mark.parametrize("case", range(len(CASES)))
def test_forms_agree_on_a_changed_function(verifier: Verifier, case: int) -> None:
    source, rows, (old, new) = CASES[case]
    assert old in source
    task = make_task(rows, source=source, entry=f"m.py:{'merge' if source is MERGE else 'tally'}")
    changed = {**task.files, "m.py": source.replace(old, new)}
    calls, tests = verifier.verify(task, changed, form="calls"), verifier.verify(task, changed, form="pytest")
    assert {id_: result.outcome for id_, result in calls.tests.items()} == {
        id_.rpartition("test_")[2]: result.outcome for id_, result in tests.tests.items()
    }
    assert calls.outcome is tests.outcome
    assert calls.score == tests.score


def test_both_forms_pass_the_right_function(verifier: Verifier) -> None:
    task = make_task(MERGE_ROWS, source=MERGE, entry="m.py:merge")
    spaced = {**task.files, "m.py": MERGE + "\n"}
    assert [verifier.verify(task, spaced, form=form).outcome for form in ("calls", "pytest")] == [Outcome.PASSED] * 2
