"""OpenHands, ``output.jsonl``: one line a task, its conversation as a history of events. https://github.com/OpenHands/OpenHands"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from swefuse.errors import DataError
from swefuse.library.formats.base import Format, Reduced, Sign
from swefuse.library.formats.messages import Style, content, flag, inner, read_message, shown, tools_of, word, write_message
from swefuse.library.formats.transcript import Call, Role, Transcript, Turn

_TALK = ("message", "system", "finish", "think")
_SILENT = ("change_agent_state", "recall", "null", "")  # events that say nothing to the model


def _take(value: Any, where: str) -> Transcript:
    history = value.get("history") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(history, list | None):
        raise DataError(f"{where}: a line of OpenHands is an object with a history of events, not {shown(value)}")
    events = [event for one in history or [] for event in (one if isinstance(one, list) else [one])]  # pairs, in older files
    if bad := [place for place, one in enumerate(events, 1) if not isinstance(one, dict)]:
        raise DataError(f"{where}, history {bad[0]}: an event is an object, not {shown(events[bad[0] - 1])}")
    turns = list(_turns(events, where))
    if not turns and isinstance(value.get("instruction"), str):
        turns = [Turn(role="user", text=value["instruction"])]
    patch = inner(value, "test_result", "git_patch")
    tools = next((event["args"]["tools"] for event in events if isinstance(inner(event, "args", "tools"), list)), None)
    return Transcript(
        instance=word(value, "instance_id"), turns=tuple(turns), tools=tools_of(tools, where),
        patch=patch if isinstance(patch, str) else None, model=word(inner(value, "metadata", "llm_config"), "model"),
        agent=word(inner(value, "metadata"), "agent_class"), resolved=flag(inner(value, "report", "resolved")),
    )  # fmt: skip


def _turns(events: list[dict[str, Any]], where: str) -> Iterator[Turn]:
    """A turn for each answer of the model, which may be several events, and for each other event that said something."""
    numbered = list(enumerate(events, 1))
    for answer, members in groupby(numbered, key=lambda item: _answer(item[1], item[0])):
        place, event = next(members)
        if isinstance(answer, str):
            yield read_message(inner(event, "tool_call_metadata", "model_response", "choices")[0]["message"], f"{where}, {place}")
        elif "observation" in event:
            if event["observation"] not in _SILENT and event["observation"] != "agent_state_changed":
                yield _seen(event, f"{where}, history {place}")
        elif event.get("action") not in _SILENT:
            yield _done(event, place)


def _answer(event: dict[str, Any], place: int) -> str | int:
    """The name of the model's answer to which an action belongs, or its place where it stands alone."""
    response = inner(event, "tool_call_metadata", "model_response")
    choices = inner(response, "choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    if "observation" in event or event.get("source") != "agent" or not isinstance(inner(first, "message", "role"), str):
        return place
    return word(response, "id") or f"event {place}"


def _seen(event: dict[str, Any], where: str) -> Turn:
    called = inner(event, "tool_call_metadata")
    text = content(event.get("content"), where)
    if called is None:
        return Turn(role="user", text=text)
    return Turn(role="tool", text=text, answers=word(called, "tool_call_id"), name=word(called, "function_name"))


def _done(event: dict[str, Any], place: int) -> Turn:
    given = event.get("args")
    arguments: dict[str, Any] = given if isinstance(given, dict) else {}
    text = next((arguments[key] for key in ("content", "thought") if isinstance(arguments.get(key), str)), "")
    if event.get("action") in _TALK:
        role: Role = "system" if event["action"] == "system" else "user" if event.get("source") == "user" else "assistant"
        return Turn(role=role, text=text)
    rest = {key: one for key, one in arguments.items() if key != "thought"}
    call = Call(id=f"event_{event.get('id', place)}", name=str(event.get("action")), arguments=json.dumps(rest, ensure_ascii=False))
    return Turn(role="assistant", text=text, calls=(call,))


def _make(transcript: Transcript) -> dict[str, Any]:
    history: list[dict[str, Any]] = []
    for turn in transcript.turns:
        for event in _events(turn, transcript, f"answer_{len(history)}"):
            history.append({"id": len(history), **event})
    made: dict[str, Any] = {"instance_id": transcript.instance} if transcript.instance else {}
    told = next((turn.text for turn in transcript.turns if turn.role == "user"), None)
    if told is not None:
        made["instruction"] = told
    about: dict[str, Any] = {"agent_class": transcript.agent} if transcript.agent else {}
    if transcript.model:
        about["llm_config"] = {"model": transcript.model}
    made |= {"metadata": about} if about else {}
    made["history"] = history
    made["test_result"] = {} if transcript.patch is None else {"git_patch": transcript.patch}
    return {**made, **({"report": {"resolved": transcript.resolved}} if transcript.resolved is not None else {})}


def _events(turn: Turn, transcript: Transcript, name: str) -> Iterator[dict[str, Any]]:
    if turn.role == "system":
        listed = list(transcript.tools) if turn is next(one for one in transcript.turns if one.role == "system") else []
        yield {"source": "agent", "action": "system", "args": {"content": turn.text, **({"tools": listed} if listed else {})}}
    elif turn.role == "user":
        yield {"source": "user", "action": "message", "args": {"content": turn.text}}
    elif turn.role == "tool":
        called = {"function_name": turn.name, "tool_call_id": turn.answers}
        yield {"source": "agent", "observation": "run", "content": turn.text, "tool_call_metadata": called}
    elif turn.calls or turn.thinking:
        response = {"id": name, "choices": [{"message": write_message(turn, Style(thinking="reasoning_content"))}]}
        for call in turn.calls or (Call(name="message"),):
            called = {"function_name": call.name, "tool_call_id": call.id}
            doing = {"action": call.name, "args": {"thought": turn.text}}
            yield {"source": "agent", **doing, "tool_call_metadata": {**called, "model_response": response}}
    else:
        yield {"source": "agent", "action": "message", "args": {"content": turn.text}}


def _reduce(transcript: Transcript) -> Reduced:
    """Tools are told where the system speaks; where it does not, nobody can tell them."""
    if transcript.tools and not any(turn.role == "system" for turn in transcript.turns):
        return transcript.model_copy(update={"tools": ()}), Counter(tools=len(transcript.tools))
    return transcript, Counter()


def _detect(value: Any) -> Sign | None:
    if isinstance(value, dict) and "instance_id" in value and isinstance(value.get("test_result"), dict) and "history" in value:
        return Sign(3, "instance_id, history and test_result")
    return None


OPENHANDS = Format(
    "openhands", "OpenHands, output.jsonl",
    frozenset({
        "turns", "calls", "arguments", "answers", "name", "thinking", "tools", "patch", "resolved", "model", "agent", "instance",
    }),
    _take, _make, _detect, _reduce,
)  # fmt: skip
