"""What every outside format is read into and written from: a conversation, who had it about what, and what came of it.

A transcript holds what a format says and nothing that it does not: None and empty mean "not said". What a format says beside that
stays in ``extras`` and comes out again where the same format is written, see ``delta``.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any, Literal

from pydantic import Field

from swefuse.collect.dialects import in_text
from swefuse.policy.base import ToolCall
from swefuse.records import Record

SCHEMA = 1
Role = Literal["system", "user", "assistant", "tool"]
ROLES: dict[str, Role] = {
    "system": "system", "developer": "system", "user": "user", "human": "user", "assistant": "assistant", "gpt": "assistant",
    "ai": "assistant", "model": "assistant", "tool": "tool", "function": "tool", "observation": "tool", "exit": "user",
}  # fmt: skip
# what a transcript may hold, with the words in which a loss is told
FEATURES: dict[str, str] = {
    "id": "name of the trajectory",
    "instance": "name of the task",
    "agent": "name of the agent",
    "model": "name of the model",
    "stop": "why it ended",
    "patch": "the patch",
    "resolved": "whether it resolved the task",
    "reward": "the reward",
    "tools": "descriptions of tools",
    "split": "where the prompt ends",
    "rejected": "turns of the rejected answer",
    "ids": "token ids of the whole row",
    "entry": "records of the library: task, states, verdict, decision",
    "turns": "turns of the conversation",
    "calls": "tool calls as such (they become text)",
    "arguments": "arguments of calls letter by letter (their values stay)",
    "answers": "which call a result answers",
    "name": "name of the tool that answered",
    "thinking": "what the model thought",
    "trained": "whether a turn is trained on",
    "trace": "token ids and log-probs of turns",
    "fields": "fields that only the format it came from has",
}
ALL = frozenset(FEATURES)
_OF_TRANSCRIPT = (
    "id", "instance", "agent", "model", "stop", "patch", "resolved", "reward", "tools", "split", "rejected", "ids", "entry",
)  # fmt: skip
_OF_TURN = ("calls", "answers", "name", "thinking", "trained", "trace")


class Call(Record):
    """A call of a tool. ``arguments`` is the text of a JSON object, as it was written, or whatever else was written."""

    id: str = ""
    name: str
    arguments: str = "{}"


class Trace(Record):
    """What a model wrote, as ids, with the log-probability of each where that is known; ``prompt`` are the ids that it read."""

    ids: tuple[int, ...]
    logprobs: tuple[float, ...] = ()
    prompt: tuple[int, ...] = ()


class Turn(Record):
    """One turn. ``answers``: id of the call whose result a turn of the role ``tool`` is, ``name`` the tool.

    ``trained`` is said of the assistant's turns only; None where nobody says.
    """

    role: Role
    text: str = ""
    thinking: str = ""
    calls: tuple[Call, ...] = ()
    answers: str = ""
    name: str = ""
    trained: bool | None = None
    trace: Trace | None = None


class Transcript(Record):
    """One trajectory as others have it.

    ``split``: number of turns that are the prompt, where a row says so. ``rejected``: the other answer to that prompt, in rows of
    preference. ``ids`` and ``mask`` (1: trained): a row that is tokens already. ``layout``: which of several ways of writing its
    format a file used. ``extras``: for a format what its file says beside the rest. ``entry``: the library's own records.

    Example: ``Transcript(instance="a__b-1", turns=(Turn(role="user", text="Repair it."),))``.
    """

    schema_version: int = SCHEMA
    id: str = ""
    instance: str = ""
    agent: str = ""
    model: str = ""
    stop: str = ""
    turns: tuple[Turn, ...] = ()
    split: int | None = None
    rejected: tuple[Turn, ...] = ()
    tools: tuple[dict[str, Any], ...] = ()
    patch: str | None = None
    resolved: bool | None = None
    reward: float | None = None
    ids: tuple[int, ...] = ()
    mask: tuple[int, ...] = ()
    layout: dict[str, str] = Field(default_factory=dict)
    extras: dict[str, Any] = Field(default_factory=dict)
    entry: dict[str, Any] | None = None

    def opening(self) -> tuple[Turn, ...]:
        """The turns before the assistant's first."""
        return tuple(takewhile(lambda turn: turn.role != "assistant", self.turns))

    def steps(self) -> Iterator[tuple[Turn, tuple[Turn, ...]]]:
        """Each turn of the assistant with those that follow it, up to its next one."""
        for start, end in self.spans():
            yield self.turns[start], self.turns[start + 1 : end]

    def spans(self) -> list[tuple[int, int]]:
        """Where each of ``steps`` begins among the turns, and where the next one does."""
        at = [number for number, turn in enumerate(self.turns) if turn.role == "assistant"]
        return list(zip(at, [*at[1:], len(self.turns)][: len(at)], strict=True))


def present(transcript: Transcript) -> Counter[str]:
    """How often it holds each of ``FEATURES``, except ``arguments``, which a format has to judge."""
    found: Counter[str] = Counter()
    empty = Transcript()
    for name in _OF_TRANSCRIPT:
        value = getattr(transcript, name)
        if value != getattr(empty, name):
            found[name] += len(value) if name in ("tools", "rejected") else 1
    blank = Turn(role="user")
    turns = (*transcript.turns, *transcript.rejected)
    found["turns"] = len(turns)
    for turn in turns:
        for name in _OF_TURN:
            if getattr(turn, name) != getattr(blank, name):
                found[name] += len(turn.calls) if name == "calls" else 1
    return +found


def without(transcript: Transcript, carried: frozenset[str]) -> Transcript:
    """The transcript with only those of its features. Calls that are not carried become text; their results the user's words."""
    empty = Transcript()
    gone = {name: getattr(empty, name) for name in _OF_TRANSCRIPT if name not in carried}
    if "ids" not in carried:
        gone["mask"] = ()
    turns = {
        name: tuple(_turn_without(turn, carried) for turn in getattr(transcript, name)) if "turns" in carried else ()
        for name in ("turns", "rejected")
    }
    if "rejected" not in carried:
        turns["rejected"] = ()
    return transcript.model_copy(update={**gone, **turns})


def _turn_without(turn: Turn, carried: frozenset[str]) -> Turn:
    blank = Turn(role=turn.role)
    gone: dict[str, Any] = {name: getattr(blank, name) for name in _OF_TURN if name not in carried}
    if "calls" not in carried:
        gone["text"] = with_calls(turn)
        gone["role"] = "user" if turn.role == "tool" else turn.role
    if "arguments" not in carried and "calls" in carried:
        gone["calls"] = tuple(call.model_copy(update={"arguments": plain_arguments(call.arguments)}) for call in turn.calls)
    return turn.model_copy(update=gone)


def with_calls(turn: Turn) -> str:
    """A turn's text with its calls written into it, as our own agents write them."""
    calls = "\n".join(in_text(ToolCall(call.id, call.name, call.arguments)) for call in turn.calls)
    return f"{turn.text}\n{calls}" if calls and turn.text else turn.text or calls


def plain_arguments(text: str) -> str:
    """Arguments as they read once they have been values: those of a JSON object, or the text as it is."""
    value = values(text)
    return text if value is None else json.dumps(value, ensure_ascii=False)


def values(text: str) -> dict[str, Any] | None:
    """The arguments of a call as values; None where they are no JSON object."""
    try:
        found = json.loads(text or "{}")
        whole = json.dumps(found, allow_nan=False)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and whole else None


def merged(turns: Sequence[Turn]) -> str:
    """The texts of several turns as one."""
    return "\n\n".join(turn.text for turn in turns)
