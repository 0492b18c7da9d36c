"""Random trajectories and files of every outside format, for the laws that reading and writing must keep."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from swefuse.library.formats import FORMATS
from swefuse.library.formats.atif_rules import problems
from swefuse.library.formats.base import Format
from swefuse.library.formats.delta import delta
from swefuse.library.formats.transcript import Call, Trace, Transcript, Turn, present

ODD = (
    "\u2028",
    "\u2029",
    "\x85",
    "\x0b",
    "\x0c",
    "\x1c",
    "\r\n",
    "\r",
    "\ufeff",
    "\x00",
    "\ud800",
    "</function>",
    "```",
    "<tool_call>",
)
TEXT = st.one_of(
    st.sampled_from(["", " ", "Look.", "\n", "{}", '["a"]', "<function=bash>\n", "a\n\nb", "unknown", "true", "1"]),
    st.text(st.characters(), max_size=12),
    st.tuples(st.text(max_size=4), st.sampled_from(ODD), st.text(max_size=4)).map("".join),
)
NAME = st.one_of(st.sampled_from(["", "", "bash", "a__b-1", "é\u2028"]), st.text(min_size=1, max_size=8))
VALUE: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**63), 2**63), st.floats(allow_nan=False, allow_infinity=False), TEXT),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(TEXT, inner, max_size=2)),
    max_leaves=4,
)
ARGUMENTS = st.one_of(
    st.just("{}"),
    st.dictionaries(TEXT, VALUE, max_size=2).map(json.dumps),
    st.dictionaries(TEXT, VALUE, max_size=2).map(lambda value: json.dumps(value, ensure_ascii=False, indent=1)),
    st.sampled_from(["", "not json", "[1]", '{"a": ', '{"a": NaN}', '{"a": 1, "a": 2}', '"x"', '{"a": 1e999}']),
)
CALL = st.builds(Call, id=NAME, name=st.sampled_from(["bash", "edit", "é"]), arguments=ARGUMENTS)
TRACE = st.lists(st.tuples(st.integers(0, 99), st.floats(-9, 0)), min_size=1, max_size=3).map(
    lambda rows: Trace(ids=tuple(row[0] for row in rows), logprobs=tuple(row[1] for row in rows), prompt=(1, 2))
)
TURN = st.one_of(
    st.builds(Turn, role=st.sampled_from(["system", "user"]), text=TEXT),
    st.builds(Turn, role=st.just("tool"), text=TEXT, answers=NAME, name=NAME),
    st.builds(
        Turn, role=st.just("assistant"), text=TEXT, thinking=TEXT, calls=st.lists(CALL, max_size=2).map(tuple),
        trained=st.sampled_from([None, None, True, False]), trace=st.one_of(st.none(), st.none(), TRACE),
    ),
)  # fmt: skip
TURNS = st.lists(TURN, min_size=1, max_size=5).map(tuple)
SAID = ("borders between turns", "calls", "turns", "results before any call", "what the system says")  # these take turns along
TOOL = st.dictionaries(st.sampled_from(["type", "function", "x"]), VALUE, min_size=1, max_size=2)


@st.composite
def transcripts(draw: st.DrawFn, for_: Format) -> Transcript:
    """Transcripts that hold what the format needs, and much that it may not carry."""
    ids = draw(st.lists(st.integers(0, 9), min_size=1, max_size=4)) if draw(st.booleans()) or "ids" in for_.needs else []
    mask = tuple(draw(st.integers(0, 1)) for _ in ids) if draw(st.booleans()) else ()
    turns = draw(TURNS)
    rejected = draw(TURNS) if "rejected" in for_.needs or draw(st.integers(0, 3)) == 0 else ()
    fields = {name: draw(NAME) for name in ("id", "instance", "agent", "model", "stop")}
    if "instance" in for_.needs and not fields["instance"]:
        fields["instance"] = "a__b-1"
    patch = draw(st.one_of(st.none(), TEXT))
    return Transcript(
        **fields, turns=turns, rejected=rejected, split=draw(st.one_of(st.none(), st.integers(0, len(turns)))),
        tools=tuple(draw(st.lists(TOOL, max_size=2))), patch="" if patch is None and "patch" in for_.needs else patch,
        resolved=draw(st.sampled_from([None, True, False])), reward=draw(st.sampled_from([None, 0.0, 0.5, 1.0])),
        ids=tuple(ids), mask=mask, entry=draw(st.sampled_from([None, None, {"task": {"id": "a"}}])),
    )  # fmt: skip


@st.composite
def files(draw: st.DrawFn, for_: Format) -> Any:
    """Values of the format as its tools may write them: with fields that nobody knows, and things said in other ways."""
    plain, _ = for_.write(draw(transcripts(for_)).model_copy(update={"entry": None}))
    return plain if for_.exact else _strewn(draw, plain)


def _strewn(draw: st.DrawFn, value: Any, depth: int = 0) -> Any:
    if isinstance(value, list):
        return [_strewn(draw, one, depth + 1) for one in value]
    if not isinstance(value, dict):
        return value
    made = {
        key: _otherwise(draw, key, one) if draw(st.integers(0, 5)) == 0 else _strewn(draw, one, depth + 1)
        for key, one in value.items()
    }
    if depth < 4 and draw(st.integers(0, 3)) == 0:
        made[draw(st.sampled_from(["timestamp", "extra", "cost", "x\u2028", "agent"]))] = draw(VALUE)
    return dict(reversed(made.items())) if draw(st.integers(0, 9)) == 0 else made


def _otherwise(draw: st.DrawFn, key: str, value: Any) -> Any:
    """The same said in another way that files use."""
    if key == "content" and isinstance(value, str):
        image = {"type": "image_url", "image_url": {"url": "x"}}
        return draw(
            st.sampled_from([None, [{"type": "text", "text": value}], [value], [{"type": "text", "text": value}, image], value])
        )
    if key == "arguments":
        return draw(st.sampled_from([None, {"command": "ls"}, '{"command":"ls"}', value]))
    if key in ("weight", "turn_mask", "resolved", "label", "reward"):
        return draw(st.sampled_from([str(value), None, value]))
    if key in ("messages", "tools", "conversations") and isinstance(value, list):
        return draw(st.sampled_from([json.dumps(value), value]))
    return value


def came_back(for_: Format, given: Transcript) -> str:
    """The first law: what is written and read again is the transcript without what the format says that it loses; empty if so."""
    value, lost = for_.write(given)
    text = json.dumps(value, allow_nan=False)
    again = for_.read(json.loads(text), "here")
    expected, _ = for_.reduced(given)
    expected = expected.model_copy(update={"layout": {}, "extras": {}})
    found = again.model_copy(update={"layout": {}})
    if found != expected:
        return f"{for_.name}: {found!r} is not {expected!r}"
    if "rejected" in lost:
        given = given.model_copy(update={"rejected": ()})
    untold = [name for name in present(given) - present(expected) if not lost[name] and not {*SAID} & lost.keys()]
    return f"{for_.name}: {untold} went without a word ({lost})" if untold else ""


def stayed(for_: Format, value: Any) -> str:
    """The second law: what is read and written again is the file's value, to the order of its keys; empty if so."""
    try:
        read = for_.read(value, "here")
    except ValueError as error:
        return "" if "here" in str(error) else f"{for_.name}: an error without a place: {error}"
    if any(not present(read)[name] for name in for_.needs):
        return ""
    written, _ = for_.write(read)
    if for_.name == "atif" and any(problems(value)):  # what strict readers refuse is written in another way
        return "" if not any(problems(written)) else f"atif: {list(problems(written))} in {written!r}"
    return "" if delta(written, value) is None else f"{for_.name}: {written!r} is not {value!r}"


NAMES = tuple(FORMATS)
