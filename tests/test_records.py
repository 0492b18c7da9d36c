"""Records: exact JSON round trips, strict fields, names by content."""

from __future__ import annotations

import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from swefuse.records import (
    SCHEMA,
    Action,
    Call,
    Evidence,
    Kind,
    Outcome,
    PolicyIdentity,
    Provenance,
    Record,
    Step,
    Suite,
    Task,
    TestResult,
    TokenTrace,
    Trajectory,
    Verdict,
    content_hash,
)

WORDS = st.text(max_size=4)
FLOATS = st.floats(allow_nan=False)
SOME = st.lists(WORDS, max_size=2).map(tuple)
FILES = st.dictionaries(WORDS, WORDS, max_size=2)
WHOLE = st.integers(-(2**63), 2**63 - 1)
COUNT = st.integers(0, 99)

CALL = st.builds(Call, id=WORDS, args=WORDS, want=st.none() | WORDS, raises=st.none() | WORDS, visible=st.booleans())
SUITE = st.builds(
    Suite, form=st.sampled_from(["calls", "pytest"]), fail_to_pass=SOME, pass_to_pass=SOME, entry=WORDS,
    calls=st.lists(CALL, max_size=2).map(tuple), files=SOME,
)  # fmt: skip
PROVENANCE = st.builds(Provenance, source=WORDS, repo=WORDS, licence=WORDS, parameters=FILES)
EVIDENCE = st.builds(
    Evidence, repeats=COUNT, reference_passes=st.booleans(), null_fails=st.booleans(), failing_ids=SOME, sandbox=WORDS
)
TASK = st.builds(
    Task, id=WORDS, kind=st.sampled_from(Kind), instruction=WORDS, hide_instruction=st.booleans(), files=FILES, editable=SOME,
    protected=SOME, suites=st.lists(SUITE, max_size=2).map(tuple), reference=st.none() | FILES, provenance=PROVENANCE,
    evidence=st.none() | EVIDENCE, split=WORDS,
)  # fmt: skip
VERDICT = st.builds(
    Verdict, outcome=st.sampled_from(Outcome), form=WORDS,
    tests=st.dictionaries(WORDS, st.builds(TestResult, outcome=st.sampled_from(["passed", "missing"]), detail=WORDS), max_size=2),
    score=FLOATS, parts=st.dictionaries(WORDS, FLOATS, max_size=2), reason=WORDS, cpu_s=FLOATS, wall_s=FLOATS, repeats=COUNT,
)  # fmt: skip
ACTION = st.builds(
    Action, name=st.sampled_from(["view", "edit", "submit"]), path=WORDS, line=WHOLE, nth=WHOLE, old=WORDS, new=WORDS
)
NUMBERS = st.lists(FLOATS, max_size=2).map(tuple)
TRACE = st.builds(
    TokenTrace, token_ids=st.lists(COUNT, max_size=2).map(tuple), logprobs=NUMBERS, raw_logprobs=NUMBERS, entropies=NUMBERS
)
STEP = st.builds(
    Step, thought=WORDS, action=st.none() | ACTION, raw=WORDS, observation=WORDS, before=WORDS, after=WORDS, checks=SOME,
    keep=st.booleans(), trace=st.none() | TRACE,
)  # fmt: skip
POLICY = st.builds(
    PolicyIdentity, model=WORDS, revision=WORDS, seed=WHOLE,
    parameters=st.dictionaries(WORDS, st.booleans() | WHOLE | FLOATS | WORDS, max_size=3),
)  # fmt: skip
TRAJECTORY = st.builds(
    Trajectory, id=WORDS, task_id=WORDS, initial=WORDS, steps=st.lists(STEP, max_size=2).map(tuple), final=WORDS, files=FILES,
    stop_reason=WORDS, policy=POLICY, verdict=st.none() | VERDICT, source=WORDS,
)  # fmt: skip


@given(TASK | TRAJECTORY | VERDICT | POLICY)
@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_a_json_round_trip_is_exact(record: Record) -> None:
    text = record.model_dump_json()
    copy = type(record).model_validate_json(text)
    assert copy == record and copy.model_dump_json() == text
    assert repr(copy) == repr(record)  # tells 1 from 1.0 and True, which compare equal


def test_infinities_and_nan_survive_too() -> None:
    verdict = Verdict(outcome=Outcome.FAILED, form="", parts={"a": math.inf, "b": -math.inf, "c": math.nan})
    parts = Verdict.model_validate_json(verdict.model_dump_json()).parts
    assert parts["a"] == math.inf and parts["b"] == -math.inf and math.isnan(parts["c"])


@pytest.mark.parametrize("kind", [Task, Trajectory, Verdict, Action, Step])
def test_an_unknown_field_is_refused(kind: type[Record]) -> None:
    with pytest.raises(ValidationError) as caught:
        kind.model_validate({"surplus": 1})
    assert ("surplus", "extra_forbidden") in [(error["loc"][0], error["type"]) for error in caught.value.errors()]


def test_records_are_frozen_and_carry_the_schema() -> None:
    action = Action(name="test")
    with pytest.raises(ValidationError, match="frozen"):
        action.path = "x"
    assert all(kind.model_fields["schema_version"].default == SCHEMA for kind in (Task, Trajectory))


def test_only_flaky_and_infra_are_not_graded() -> None:
    assert [outcome.name for outcome in Outcome if not outcome.graded] == ["FLAKY", "INFRA"]


JSON = st.recursive(
    st.none() | st.booleans() | COUNT | WORDS, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(WORDS, inner)
)


def turned(value: object) -> object:
    """The same value, every mapping written in the other order."""
    if isinstance(value, dict):
        return {key: turned(item) for key, item in reversed(value.items())}
    return [turned(item) for item in value] if isinstance(value, list) else value


@given(JSON)
@settings(deadline=None)
def test_content_hash_does_not_see_the_order_of_keys_but_all_else(value: object) -> None:
    assert content_hash(turned(value)) == content_hash(value)
    assert content_hash([value]) != content_hash(value)


def test_content_hash_by_hand() -> None:
    # printf '{"a":[1,"ü"],"b":null}' | sha256sum
    assert content_hash({"b": None, "a": [1, "ü"]}) == "0315e7da7dad15415af50795b6eea22b22929c6804ff4aad3ebbc45ace4a1aa7"
    assert content_hash("\ud800") != content_hash("\ud801")
    assert content_hash([1, 2]) != content_hash([2, 1])
    assert content_hash(1) != content_hash("1")


def test_the_id_of_a_task_is_its_work_not_its_wording() -> None:
    suites = (Suite(form="calls", entry="m.py:f"),)
    one = Task.make_id(Kind.BUGFIX, {"a": "1", "b": "2"}, suites)
    assert one == Task.make_id(Kind.BUGFIX, {"b": "2", "a": "1"}, suites)
    others = [(Kind.QA, {"a": "1", "b": "2"}, suites), (Kind.BUGFIX, {"a": "1"}, suites), (Kind.BUGFIX, {"a": "1", "b": "2"}, ())]
    assert one not in [Task.make_id(*other) for other in others]
