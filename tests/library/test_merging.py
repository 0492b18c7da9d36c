"""One library out of several: nothing is lost, nothing comes twice, and what was decided counts on."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from store_samples import different, varied

from swefuse.errors import DataError
from swefuse.library import Entry, Filter, Library


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[tuple[Library, Library]]:
    with Library(tmp_path / "a.db", create=True) as one, Library(tmp_path / "b.db", create=True) as other:
        yield one, other


def judged(name: str, version: str, refused: bool = False) -> Entry:
    entry = varied(name, refused)
    return Entry(entry.task, entry.trajectory, entry.verdict, entry.decision.model_copy(update={"gate_version": version}))


def everything(library: Library) -> list[tuple[object, ...]]:
    query = "SELECT trajectory_id, task_sha, trajectory_sha, ruling_sha, current FROM entry ORDER BY 1, 2, 3, 4"
    return library._db().execute(query).fetchall()


def test_everything_comes_in_once(pair: tuple[Library, Library]) -> None:
    one, other = pair
    one.add_many([varied("a"), varied("b")])
    other.add_many([varied("b"), varied("c", refused=True), varied("d", instruction="the timezone")])
    other.add_many([varied("d", refused=True, instruction="the timezone")])
    other.tag("hard", Filter(accepted=False))
    made = one.merge(other)
    assert (made.added, made.known, made.disputed) == (3, 1, 0)
    assert [(row.trajectory_id, row.accepted, row.tags) for row in one.query()] == [
        ("a", True, ()), ("b", True, ()), ("c", False, ("hard",)), ("d", False, ("hard",)),
    ]  # fmt: skip
    assert (one.stats().superseded, one.count(Filter(query="timezone"))) == (1, 1)
    assert one.verify() == [] == other.verify()
    before = everything(one)
    again = one.merge(other)
    assert (again.added, again.known, everything(one)) == (0, 4, before)


@pytest.mark.parametrize(
    ("mine", "theirs", "counts"),
    [("3", "4", "4"), ("4", "3", "4"), ("3", "3 with verdict", "3"), ("9", "10", "10"), ("own", "1", "1")],
)
def test_of_two_decisions_the_one_of_the_newer_gate_counts(
    pair: tuple[Library, Library], mine: str, theirs: str, counts: str
) -> None:
    one, other = pair
    one.add_many([judged("a", mine)])
    other.add_many([judged("a", theirs, refused=True)])
    assert one.merge(other).disputed == 1
    assert (one.get("a").decision.gate_version, one.stats().superseded) == (counts, 1)
    assert one.verify() == []


def test_what_was_decided_later_there_counts_here_too(pair: tuple[Library, Library]) -> None:
    one, other = pair
    for library in pair:
        library.add_many([varied("a")])
    other.add_many([varied("a", refused=True)])
    assert one.merge(other).disputed == 0
    assert not one.get("a").decision.accepted
    assert other.merge(one).added == 0 and not other.get("a").decision.accepted


def test_snapshots_come_along_and_names_that_are_taken_are_told_apart(pair: tuple[Library, Library]) -> None:
    one, other = pair
    one.add_many([varied("a")])
    other.add_many([varied("b")])
    for library in pair:
        library.snapshot("v1")
    other.add_many([varied("b", refused=True)])
    old, late = *other.snapshots(), other.snapshot("late")
    made = one.merge(other)
    renamed = f"v1.{old.content[:8]}"
    assert made.snapshots == {"v1": renamed, "late": "late"}
    assert [each.name for each in one.snapshots()] == ["v1", renamed, "late"]
    assert one.snapshots()[1].content == old.content and one.snapshots()[1].made == old.made
    assert one.snapshots()[2] == late
    with Library(one.path.with_name(f"a.db@{renamed}")) as seen:
        assert [entry.decision.accepted for entry in seen.iter_accepted()] == [True]
    assert one.merge(other).snapshots == made.snapshots and len(one.snapshots()) == 3
    assert one.verify() == []


def test_a_split_comes_along_where_there_is_none(pair: tuple[Library, Library]) -> None:
    one, other = pair
    halves = {"train": 0.5, "test": 0.5}
    other.add_many(different(number) for number in range(10))
    other.split("function", halves)
    one.merge(other)
    assert list(one.query()) == list(other.query()) and one.verify() == []
    assert one.split("function", halves).placed == 0


def test_damage_is_not_carried_over(pair: tuple[Library, Library]) -> None:
    one, other = pair
    other.add_many([varied("a")])
    other._db().execute("UPDATE body SET data = zeroblob(9) WHERE sha = (SELECT trajectory_sha FROM entry)")
    with pytest.raises(DataError, match="is damaged"):
        one.merge(other)
    assert (one.count(), one.verify()) == (0, [])


_HISTORY = st.lists(st.tuples(st.sampled_from("abc"), st.booleans(), st.sampled_from(["3", "4"])), max_size=6)


@settings(max_examples=20, deadline=None)
@given(_HISTORY, _HISTORY)
def test_merging_keeps_every_entry_and_is_done_once(
    first: list[tuple[str, bool, str]], second: list[tuple[str, bool, str]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        one, other = (Library(Path(folder) / name, create=True) for name in ("a.db", "b.db"))
        for library, history in ((one, first), (other, second)):
            for name, refused, version in history:
                library.add_many([judged(name, version, refused)])
        wanted = {row[:4] for library in (one, other) for row in everything(library)}
        one.merge(other)
        merged = everything(one)
        assert {row[:4] for row in merged} == wanted
        one.merge(other)
        assert everything(one) == merged
        assert one.verify() == []
        one.close()
        other.close()
