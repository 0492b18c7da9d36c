"""ATIF, the Agent Trajectory Interchange Format: 1.0 to 1.8 are read, 1.8 is written so that the strictest reader takes it.

A step of the agent holds its calls and their results, so that one step is several turns here. What the format has no place for lies
in ``extra.swe_fuse``, as do fields of a file that strict readers refuse.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from swefuse.errors import DataError
from swefuse.library.formats.atif_rules import VERSION, problems
from swefuse.library.formats.base import Format, Reduced, Sign
from swefuse.library.formats.delta import delta
from swefuse.library.formats.messages import arguments_text, content, flag, inner, number, shown, tools_of, word
from swefuse.library.formats.transcript import FEATURES, Call, Role, Trace, Transcript, Turn, values

OWN = "swe_fuse"
_SOURCES: dict[str, Role] = {
    "system": "system",
    "user": "user",
    "agent": "assistant",
    "assistant": "assistant",
    "environment": "user",
}
_UNKNOWN = "unknown"
_SAID = ("instance", "stop", "patch", "resolved", "reward")


def _take(value: Any, where: str) -> Transcript:
    steps = value.get("steps") if isinstance(value, dict) else None
    if not isinstance(steps, list):
        raise DataError(f"{where}: a trajectory of ATIF has a list of steps, not {shown(value)}")
    turns = [turn for place, step in enumerate(steps, 1) for turn in _turns(step, f"{where}, step {place}")]
    own, agent = inner(value, "extra", OWN), value.get("agent")
    reward, patch = number(inner(own, "reward")), inner(own, "patch")
    name = word(agent, "name")
    return Transcript(
        id=word(value, "trajectory_id", "session_id"), agent="" if name == _UNKNOWN else name, model=word(agent, "model_name"),
        tools=tools_of(inner(agent, "tool_definitions"), where), turns=tuple(turns), instance=word(own, "instance"),
        stop=word(own, "stop"), patch=patch if isinstance(patch, str) else None, resolved=flag(inner(own, "resolved")),
        reward=reward,
    )  # fmt: skip


def _turns(step: Any, where: str) -> Iterator[Turn]:
    if not isinstance(step, dict) or step.get("source") not in _SOURCES:
        raise DataError(f"{where}: a step has a source ({', '.join(_SOURCES)}) and a message, not {shown(step)}")
    role = _SOURCES[step["source"]]
    text = content(step.get("message"), where)
    if role == "assistant":
        trained = flag(inner(step, "extra", OWN, "trained"))
        if trained is None and step.get("is_copied_context") is True:
            trained = False  # it is there for context, and its reader must not train on it
        thinking = step.get("reasoning_content")
        yield Turn(
            role="assistant", text=text, thinking=thinking if isinstance(thinking, str) else "", trained=trained,
            calls=tuple(_call(one, where) for one in step.get("tool_calls") or []), trace=_trace(step.get("metrics")),
        )  # fmt: skip
    else:
        yield Turn(role=role, text=text)
    results = inner(step, "observation", "results")
    for one in results if isinstance(results, list) else ():
        own = inner(one, "extra", OWN)
        answers = word(own, "answers") or word(one, "source_call_id")
        yield Turn(role="tool", text=content(inner(one, "content"), where), answers=answers, name=word(own, "name"))


def _call(raw: Any, where: str) -> Call:
    if not isinstance(raw, dict) or not isinstance(raw.get("function_name"), str):
        raise DataError(f"{where}: a call has a function_name, not {shown(raw)}")
    own = inner(raw, "extra", OWN)
    exact, name = inner(own, "arguments"), inner(own, "id")
    return Call(
        id=name if isinstance(name, str) else word(raw, "tool_call_id"), name=raw["function_name"],
        arguments=exact if isinstance(exact, str) else arguments_text(raw.get("arguments")),
    )  # fmt: skip


def _trace(metrics: Any) -> Trace | None:
    lists = {name: inner(metrics, name) for name in ("completion_token_ids", "logprobs", "prompt_token_ids")}
    kept = {name: one if isinstance(one, list) else [] for name, one in lists.items()}
    whole = all(isinstance(one, int) and not isinstance(one, bool) for name in kept if name != "logprobs" for one in kept[name])
    numbers = [number(one) for one in kept["logprobs"]]
    if not kept["completion_token_ids"] or not whole or None in numbers:
        return None
    ids, prompt = tuple(kept["completion_token_ids"]), tuple(kept["prompt_token_ids"])
    return Trace(ids=ids, logprobs=tuple(one for one in numbers if one is not None), prompt=prompt)


def _make(transcript: Transcript) -> dict[str, Any]:
    agent: dict[str, Any] = {"name": transcript.agent or _UNKNOWN, "version": _UNKNOWN}
    agent |= {"model_name": transcript.model} if transcript.model else {}
    agent |= {"tool_definitions": list(transcript.tools)} if transcript.tools else {}
    made: dict[str, Any] = {
        "schema_version": VERSION,
        **({"trajectory_id": transcript.id} if transcript.id else {}),
        "agent": agent,
    }
    steps: list[dict[str, Any]] = []
    at = 0
    while at < len(transcript.turns):
        end = at + 1
        while end < len(transcript.turns) and transcript.turns[end].role == "tool":
            end += 1
        steps.append({"step_id": len(steps) + 1, **_step(transcript.turns[at], transcript.turns[at + 1 : end])})
        at = end
    own = {name: one for name in _SAID if (one := getattr(transcript, name)) not in (None, "")}
    if transcript.patch == "":
        own["patch"] = ""
    return {**made, "steps": steps, **({"extra": {OWN: own}} if own else {})}


def _step(turn: Turn, results: Sequence[Turn]) -> dict[str, Any]:
    made: dict[str, Any] = {"source": "agent" if turn.role == "assistant" else turn.role, "message": turn.text}
    if turn.thinking:
        made["reasoning_content"] = turn.thinking
    names = _names(turn.calls)
    if turn.calls:
        made["tool_calls"] = [_written(call, name) for call, name in zip(turn.calls, names, strict=True)]
    if results:
        made["observation"] = {"results": [_result(one, names) for one in results]}
    if turn.trace:
        lists = {
            "prompt_token_ids": turn.trace.prompt, "completion_token_ids": turn.trace.ids, "logprobs": turn.trace.logprobs,
        }  # fmt: skip
        made["metrics"] = {name: list(one) for name, one in lists.items() if one}
    return {**made, **({"extra": {OWN: {"trained": turn.trained}}} if turn.trained is not None else {})}


def _names(calls: Sequence[Call]) -> list[str]:
    """Ids of calls, each of its own."""
    found: list[str] = []
    for place, call in enumerate(calls, 1):
        name = call.id or f"call_{place}"
        while name in found:
            name += "_"
        found.append(name)
    return found


def _written(call: Call, name: str) -> dict[str, Any]:
    arguments = values(call.arguments)
    own = {} if name == call.id else {"id": call.id}
    if arguments is None or json.dumps(arguments, ensure_ascii=False) != call.arguments:
        own["arguments"] = call.arguments
    made = {"tool_call_id": name, "function_name": call.name, "arguments": arguments or {}}
    return {**made, **({"extra": {OWN: own}} if own else {})}


def _result(turn: Turn, names: Sequence[str]) -> dict[str, Any]:
    made = {"source_call_id": turn.answers} if turn.answers in names else {}
    own = {"answers": turn.answers} if turn.answers and not made else {}
    own |= {"name": turn.name} if turn.name else {}
    return {**made, "content": turn.text, **({"extra": {OWN: own}} if own else {})}


def _reduce(transcript: Transcript) -> Reduced:
    """Results stand within the step that they follow: one that opens a conversation is told by the user."""
    turns = list(transcript.turns)
    lost: Counter[str] = Counter()
    for at, turn in enumerate(turns):
        if turn.role != "tool":
            break
        turns[at] = Turn(role="user", text=turn.text)
        lost["results before any call"] += 1
    agent = "" if transcript.agent == _UNKNOWN else transcript.agent
    return transcript.model_copy(update={"turns": tuple(turns), "agent": agent}), lost


def _finish(plain: Any, full: Any) -> Any:
    """What the file said, where strict readers take it; else the plain form, with the rest in ``extra``."""
    if not any(problems(full)):
        return full
    own = plain.get("extra", {}).get(OWN, {})
    return {**plain, "extra": {**plain.get("extra", {}), OWN: {**own, "kept": delta(plain, full)}}}


def _detect(value: Any) -> Sign | None:
    version = value.get("schema_version") if isinstance(value, dict) else None
    if isinstance(version, str) and version.upper().startswith("ATIF"):
        return Sign(3, f"schema_version {version}")
    steps = value.get("steps") if isinstance(value, dict) else None
    if isinstance(steps, list) and steps and isinstance(steps[0], dict) and {"step_id", "source", "message"} <= steps[0].keys():
        return Sign(2, "steps with step_id, source and message")
    return None


ATIF = Format(
    "atif", "ATIF, written as 1.8", frozenset(FEATURES) - {"split", "rejected", "ids", "entry", "fields"}, _take, _make, _detect,
    _reduce, _finish, whole=True, suffix=".json",
)  # fmt: skip
