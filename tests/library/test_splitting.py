"""Parts of a library share nothing, and what is in a part stays there."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from store_samples import about, different, like, varied

from swefuse.code.duplicates import SIMILAR, similarity
from swefuse.errors import DataError, UserError
from swefuse.library import Entry, Filter, Library
from swefuse.library.splitting import Rule, code, neighbours

HALVES = {"train": 0.5, "test": 0.5}


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    with Library(tmp_path / "l.db", create=True) as opened:
        yield opened


def parts(library: Library) -> dict[str, str]:
    return {row.trajectory_id: row.split for row in library.query()}


def test_alike_functions_stay_together(library: Library) -> None:
    library.add_many([like(number, variant) for number in range(12) for variant in range(4)])
    made = library.split("function", HALVES)
    found = parts(library)
    families = {number: {found[f"n{number:02}-{variant}"] for variant in range(4)} for number in range(12)}
    assert all(len(parts_of) == 1 for parts_of in families.values())
    assert set.union(*families.values()) == {"train", "test"}
    assert (sum(made.units.values()), sum(made.entries.values()), made.placed, made.apart) == (48, 48, 48, 0)
    assert library.count(Filter(split="train")) == made.entries["train"] == library.stats().by["split"]["train"][0]


def test_shares_are_met_on_many(library: Library) -> None:
    library.add_many(different(number) for number in range(400))
    made = library.split("function", {"train": 0.75, "dev": 0.05, "test": 0.2}, seed=3)
    assert abs(made.units["train"] - 300) < 35 and abs(made.units["test"] - 80) < 30 and abs(made.units["dev"] - 20) < 15


def test_what_comes_later_goes_to_its_family(library: Library) -> None:
    library.add_many([like(number, 0) for number in range(8)] + [different(number) for number in range(8)])
    library.split("function", HALVES)
    before = parts(library)
    library.add_many([varied("again", body_hash="near3-0"), like(3, 1), different(9)])
    at_once = parts(library)
    assert (at_once["again"], at_once["n03-1"], at_once["t0009"]) == (before["n03-0"], "", "")
    made = library.split("function", HALVES)
    assert (made.placed, parts(library)["n03-1"]) == (2, before["n03-0"]) and parts(library)["t0009"]
    assert {name: part for name, part in parts(library).items() if name in before} == before
    assert library.verify() == []


def test_what_is_like_both_sides_is_in_neither(library: Library) -> None:
    words = [f"a{at}" for at in range(40)]
    texts = {"left": words[:34], "middle": words, "right": words[6:]}

    def made(name: str) -> Entry:
        return about(name, f"def f(x):\n    return x({', '.join(map(repr, texts[name]))})\n", "f", name)

    codes = {name: code(made(name).task) for name in texts}
    assert similarity(codes["left"], codes["right"]) < SIMILAR <= similarity(codes["left"], codes["middle"])
    seed = next(seed for seed in range(99) if len({Rule("function", HALVES, seed).draw(unit) for unit in ("left", "right")}) == 2)
    library.add_many([made("left"), made("right")])
    library.split("function", HALVES, seed)
    library.add_many([made("middle")])
    split = library.split("function", HALVES, seed)
    assert (split.placed, split.apart, parts(library)["middle"]) == (0, 1, "")
    assert library.count(Filter(split="train")) + library.count(Filter(split="test")) == 2


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), unique=True, max_size=14), st.integers(0, 14), st.integers(0, 3))
def test_no_part_holds_what_another_nearly_does(chosen: list[tuple[int, int]], first: int, seed: int) -> None:
    batch = [like(number, variant) for number, variant in chosen]
    with tempfile.TemporaryDirectory() as folder, Library(Path(folder) / "l.db", create=True) as library:
        library.add_many(batch[:first])
        library.split("function", HALVES, seed)
        before = {name: part for name, part in parts(library).items() if part}
        library.add_many(batch[first:])
        library.split("function", HALVES, seed)
        found = parts(library)
        assert before.items() <= found.items()
        for one, other in combinations(batch, 2):
            here, there = found[one.trajectory.id], found[other.trajectory.id]
            if here and there and here != there:
                assert similarity(code(one.task), code(other.task)) < SIMILAR


@given(
    st.dictionaries(st.integers(0, 20), st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=12).map(" ".join), max_size=12)
)
def test_neighbours_are_exactly_those_that_are_alike(texts: dict[int, str]) -> None:
    named = {str(key): text for key, text in texts.items()}
    near = neighbours(named)
    for one, other in combinations(named, 2):
        assert (other in near[one]) == (one in near[other]) == (similarity(named[one], named[other]) >= SIMILAR)


def test_forks_of_a_repository_stay_together(library: Library) -> None:
    names = [f"{owner}/tool{number}" for number in range(20) for owner in ("me", "you")]
    library.add_many(varied(f"{at:02}", repo=name) for at, name in enumerate(names))
    made = library.split("repository", HALVES)
    found = list(parts(library).values())
    assert sum(made.units.values()) == 20 and set(found) == {"train", "test"}
    assert all(found[at] == found[at + 1] for at in range(0, 40, 2))
    library.add_many([varied("new", repo="https://github.com/them/tool3.git")])
    assert parts(library)["new"] == found[6]


def test_another_rule_needs_a_word(library: Library) -> None:
    library.add_many(different(number) for number in range(10))
    library.split("function", HALVES)
    before = parts(library)
    with pytest.raises(
        DataError, match=r"it is split by function into .* already; name the same again, or forget that with --anew"
    ):
        library.split("function", HALVES, seed=1)
    assert parts(library) == before
    library.split("function", HALVES, seed=1, anew=True)
    assert parts(library) != before
    library.split("function", HALVES, seed=0, anew=True)
    assert parts(library) == before


@pytest.mark.parametrize(
    ("unit", "shares", "told"),
    [
        ("file", HALVES, "--by file: a library is split by one of: repository, function"),
        ("function", {"train": 0.5, "test": 0.4}, "the shares add up to 0.9, not to 1"),
        ("function", {"train": 1.5, "test": -0.5}, "the share of train is 1.5"),
        ("function", {"": 1.0}, "is no name for a part"),
        ("function", {}, "the shares add up to 0, not to 1"),
    ],
)
def test_rules_that_cannot_be_followed(library: Library, unit: str, shares: dict[str, float], told: str) -> None:
    with pytest.raises(UserError, match=told):
        library.split(unit, shares)
    assert library._db().execute("SELECT count(*) FROM rule").fetchone() == (0,)


def test_before_a_split_the_tasks_say_where_they_belong(library: Library) -> None:
    library.add_many([varied("a", split="train"), varied("b", split="unseen")])
    assert parts(library) == {"a": "train", "b": "unseen"} and library.count(Filter(split="unseen")) == 1
    library.split("function", {"all": 1})
    assert parts(library) == {"a": "all", "b": "all"} and library.count(Filter(split="unseen")) == 0


def test_a_part_that_was_changed_by_hand_is_found(library: Library) -> None:
    library.add_many([different(1), different(2)])
    library.split("function", {"all": 1})
    library._db().execute("UPDATE entry SET part = 'other' WHERE seq = 1")
    assert library.verify() == ["1 entries are in another part than their function"]


def test_what_a_task_is_about() -> None:
    assert code(like(1, 0).task).startswith("v2 = 0\nfor v3 in v0:")
    commit = varied("a", files={"m.py": "a\nb\n"}, reference={"m.py": "a\nc\n"}, editable=("m.py",), function="gone")
    assert code(commit.task) == "c"
    assert code(varied("a", reference=None, instruction="why?").task) == "why?"
    late = "async def f(x):\n    return x\n"
    assert code(about("a", late, "f", "h").task) == late.strip()
    nested = "class A:\n    def f(self, x):\n        return x\n"
    assert code(about("a", nested, "A.f", "h").task)
