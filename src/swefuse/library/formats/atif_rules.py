"""What a strict reader of ATIF 1.8 asks of a trajectory. https://github.com/harbor-framework/harbor/blob/main/rfcs/0001-trajectory-format.md

Readers differ: some refuse unknown fields, some an empty list of steps, some versions that they do not know. What passes here
passes all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

VERSION = "ATIF-v1.8"
_TEXT, _WHOLE, _NUMBER, _OBJECT, _LIST, _BOOL = (str,), (int,), (int, float), (dict,), (list,), (bool,)
_SAID = (str, list)
_ROOT = {
    "schema_version": _TEXT, "session_id": _TEXT, "trajectory_id": _TEXT, "agent": _OBJECT, "steps": _LIST, "notes": _TEXT,
    "final_metrics": _OBJECT, "continued_trajectory_ref": _TEXT, "subagent_trajectories": _LIST, "extra": _OBJECT,
}  # fmt: skip
_AGENT = {"name": _TEXT, "version": _TEXT, "model_name": _TEXT, "tool_definitions": _LIST, "extra": _OBJECT}
_STEP = {
    "step_id": _WHOLE, "timestamp": _TEXT, "source": _TEXT, "model_name": _TEXT, "reasoning_effort": (str, int, float),
    "message": _SAID, "reasoning_content": _TEXT, "tool_calls": _LIST, "observation": _OBJECT, "metrics": _OBJECT,
    "is_copied_context": _BOOL, "llm_call_count": _WHOLE, "extra": _OBJECT,
}  # fmt: skip
_CALL = {"tool_call_id": _TEXT, "function_name": _TEXT, "arguments": _OBJECT, "extra": _OBJECT}
_RESULT = {"source_call_id": _TEXT, "content": _SAID, "subagent_trajectory_ref": _LIST, "extra": _OBJECT}
_METRICS = {
    "prompt_tokens": _WHOLE, "completion_tokens": _WHOLE, "cached_tokens": _WHOLE, "cost_usd": _NUMBER, "prompt_token_ids": _LIST,
    "completion_token_ids": _LIST, "logprobs": _LIST, "extra": _OBJECT,
}  # fmt: skip
_FINAL = {
    "total_prompt_tokens": _WHOLE, "total_completion_tokens": _WHOLE, "total_cached_tokens": _WHOLE, "total_cost_usd": _NUMBER,
    "total_steps": _WHOLE, "extra": _OBJECT,
}  # fmt: skip
_REF = {"trajectory_id": _TEXT, "trajectory_path": _TEXT, "session_id": _TEXT, "extra": _OBJECT}
_SOURCE = {"media_type": _TEXT, "path": _TEXT, "duration_sec": _NUMBER}
_PART = {"type": _TEXT, "text": _TEXT, "source": _OBJECT}
_OF_AGENT = ("model_name", "reasoning_effort", "reasoning_content", "tool_calls", "metrics")
_MEDIA = {
    "image": ("jpeg", "png", "gif", "webp"),
    "audio": ("wav", "mpeg", "mp4", "aac", "ogg", "flac", "webm", "aiff"),
}


def problems(root: Any, where: str = "") -> Iterator[str]:
    """Everything that a strict reader would refuse, each with its place; none where the trajectory is fit for all."""
    yield from _fields(root, where or "trajectory", _ROOT, ("schema_version", "agent", "steps"))
    if not isinstance(root, dict):
        return
    if root.get("schema_version") != VERSION:
        yield f"{where}schema_version is not {VERSION}"
    yield from _fields(root.get("agent"), f"{where}agent", _AGENT, ("name", "version"))
    yield from _all(root, "agent", "tool_definitions", where)
    yield from _fields(root.get("final_metrics", {}), f"{where}final_metrics", _FINAL)
    steps = root.get("steps")
    if isinstance(steps, list):
        if not steps:
            yield f"{where}steps is empty"
        for number, step in enumerate(steps, 1):
            yield from _step(step, f"{where}step {number}", number)
    names: set[str] = set()
    for number, inner in enumerate(root["subagent_trajectories"] if isinstance(root.get("subagent_trajectories"), list) else (), 1):
        name = inner.get("trajectory_id") if isinstance(inner, dict) else None
        if not isinstance(name, str) or name in names:
            yield f"{where}subagent_trajectories {number} has no trajectory_id of its own"
        names.add(str(name))
        yield from problems(inner, f"{where}subagent {number}: ")


def _all(root: dict[str, Any], owner: str, name: str, where: str) -> Iterator[str]:
    listed = root[owner].get(name) if isinstance(root.get(owner), dict) else None
    if isinstance(listed, list) and not all(isinstance(one, dict) for one in listed):
        yield f"{where}{owner}.{name} holds something that is no object"


def _step(step: Any, where: str, number: int) -> Iterator[str]:
    yield from _fields(step, where, _STEP, ("step_id", "source", "message"))
    if not isinstance(step, dict):
        return
    if step.get("step_id") != number:
        yield f"{where} has the step_id {step.get('step_id')}"
    if step.get("source") not in ("system", "user", "agent"):
        yield f"{where} has the source {step.get('source')!r}"
    if step.get("source") != "agent":
        yield from (f"{where}: {name} is for steps of the agent" for name in _OF_AGENT if name in step)
    if isinstance(step.get("timestamp"), str) and not _dated(step["timestamp"]):
        yield f"{where}: its timestamp is not of ISO 8601"
    count = step.get("llm_call_count", 1)
    if isinstance(count, int) and count < 0:
        yield f"{where}: llm_call_count is negative"
    if count == 0 and {"metrics", "reasoning_content"} & step.keys():
        yield f"{where}: llm_call_count is 0 beside metrics or reasoning_content"
    yield from _parts(step.get("message"), f"{where}: message")
    yield from _metrics(step.get("metrics", {}), f"{where}: metrics")
    yield from _doings(step, where)


def _metrics(metrics: Any, where: str) -> Iterator[str]:
    yield from _fields(metrics, where, _METRICS)
    for name, types in (("prompt_token_ids", _WHOLE), ("completion_token_ids", _WHOLE), ("logprobs", _NUMBER)):
        listed = metrics.get(name) if isinstance(metrics, dict) else None
        if isinstance(listed, list) and not all(_is(one, types) for one in listed):
            yield f"{where}: {name} holds something that is no number"


def _doings(step: dict[str, Any], where: str) -> Iterator[str]:
    """Calls and their results."""
    calls = step["tool_calls"] if isinstance(step.get("tool_calls"), list) else []
    for number, call in enumerate(calls, 1):
        yield from _fields(call, f"{where}: call {number}", _CALL, ("tool_call_id", "function_name", "arguments"))
    names = [call.get("tool_call_id") for call in calls if isinstance(call, dict)]
    if any(names.count(name) > 1 for name in names):
        yield f"{where}: two calls have one tool_call_id"
    observation = step.get("observation", {"results": []})
    yield from _fields(observation, f"{where}: observation", {"results": _LIST}, ("results",))
    results = observation.get("results") if isinstance(observation, dict) else None
    for number, result in enumerate(results if isinstance(results, list) else (), 1):
        yield from _fields(result, f"{where}: result {number}", _RESULT)
        if isinstance(result, dict):
            if "source_call_id" in result and result["source_call_id"] not in names:
                yield f"{where}: result {number} answers a call that is not there"
            yield from _parts(result.get("content"), f"{where}: result {number}")
            for ref in result["subagent_trajectory_ref"] if isinstance(result.get("subagent_trajectory_ref"), list) else ():
                yield from _fields(ref, f"{where}: subagent_trajectory_ref", _REF)
                if isinstance(ref, dict) and not {"trajectory_id", "trajectory_path"} & ref.keys():
                    yield f"{where}: subagent_trajectory_ref leads nowhere"


def _parts(given: Any, where: str) -> Iterator[str]:
    for part in given if isinstance(given, list) else ():
        yield from _fields(part, where, _PART, ("type",))
        if not isinstance(part, dict):
            continue
        kind, source = part.get("type"), part.get("source")
        if kind == "text" and ("text" not in part or "source" in part):
            yield f"{where}: a part of the type text has text and nothing else"
        elif kind in _MEDIA:
            media = source.get("media_type") if isinstance(source, dict) else None
            if "text" in part or media not in [f"{kind}/{one}" for one in _MEDIA[kind]]:
                yield f"{where}: a part of the type {kind} has a source of that type and nothing else"
            allowed = _SOURCE if kind == "audio" else {key: _SOURCE[key] for key in ("media_type", "path")}
            yield from _fields(source, where, allowed, ("media_type", "path"))
        elif kind != "text":
            yield f"{where}: there is no part of the type {kind!r}"


def _fields(given: Any, where: str, known: Mapping[str, tuple[type, ...]], required: tuple[str, ...] = ()) -> Iterator[str]:
    if not isinstance(given, dict):
        yield f"{where} is no object"
        return
    yield from (f"{where}: {name} is missing" for name in required if name not in given)
    for name, value in given.items():
        if name not in known:
            yield f"{where}: there is no field {name!r}"
        elif not _is(value, known[name]):
            yield f"{where}: {name} is {type(value).__name__}"


def _is(value: Any, types: tuple[type, ...]) -> bool:
    return isinstance(value, types) and (bool in types or not isinstance(value, bool))


def _dated(text: str) -> bool:
    try:
        datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return False
    return True
