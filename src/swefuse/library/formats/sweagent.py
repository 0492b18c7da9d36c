"""SWE-agent trajectories, ``.traj``, from 0.7 to 1.1 and later. https://swe-agent.com/latest/usage/trajectories/

The conversation is that of ``history``; where there is none, what the last step was asked (``query`` since 1.1, ``messages``
before) with its answer; and where steps hold neither, what they did and saw.
"""

from __future__ import annotations

import json
from typing import Any

from swefuse.errors import DataError
from swefuse.library.formats.base import Format, Sign
from swefuse.library.formats.messages import Style, inner, read_messages, shown, word, write_messages
from swefuse.library.formats.transcript import Transcript, Turn, merged

_ASKED = "asked"  # of Transcript.layout: the field of a step that holds what the model was asked, "query" or "messages"
_TYPES = {"system": "system_prompt", "assistant": "action", "user": "observation", "tool": "observation"}


def _take(value: Any, where: str) -> Transcript:
    listed = value.get("trajectory", []) if isinstance(value, dict) else None
    history = value.get("history") if isinstance(value, dict) else None
    if not isinstance(listed, list) or not isinstance(history, list | None) or not (listed or history):
        raise DataError(f"{where}: a trajectory of SWE-agent has a list of steps in trajectory, or a history, not {shown(value)}")
    if bad := [place for place, one in enumerate(listed, 1) if not isinstance(one, dict)]:
        raise DataError(f"{where}, trajectory {bad[0]}: a step is an object, not {shown(listed[bad[0] - 1])}")
    turns = read_messages(history, where, "history") if history else _of_steps(listed, where)
    info = value.get("info")
    patch = inner(info, "submission")
    layout = {_ASKED: "messages"} if listed and "messages" in listed[-1] else {}
    return Transcript(
        turns=turns, instance=word(value, "environment"), model=word(inner(value, "replay_config", "agent", "model"), "name"),
        stop=word(info, "exit_status"), patch=patch if isinstance(patch, str) else None, layout=layout,
    )  # fmt: skip


def _of_steps(listed: list[dict[str, Any]], where: str) -> tuple[Turn, ...]:
    """The conversation where there is no history: requeries of steps before the last one are not in it."""
    last = listed[-1]
    asked = last["query"] if isinstance(last.get("query"), list) else last.get("messages")
    if isinstance(asked, list):
        turns = read_messages(asked, where, "the last step's messages")
        if "query" not in last:  # these were noted behind the step, with its answer
            return turns
        return (*turns, *_step(last))
    return tuple(turn for one in listed for turn in _step(one))


def _step(raw: dict[str, Any]) -> list[Turn]:
    said = next((raw[key] for key in ("response", "thought", "action") if isinstance(raw.get(key), str) and raw[key]), "")
    seen = raw.get("observation")
    return [Turn(role="assistant", text=said), *([Turn(role="user", text=seen)] if isinstance(seen, str) else [])]


def _make(transcript: Transcript) -> dict[str, Any]:
    history = [_message(turn, raw) for turn, raw in zip(transcript.turns, write_messages(transcript.turns, Style()), strict=True)]
    before = transcript.layout.get(_ASKED) == "messages"
    steps: list[dict[str, Any]] = []
    for (said, seen), (start, end) in zip(transcript.steps(), transcript.spans(), strict=True):
        steps.append({
            "action": _action(said), "observation": merged(seen), "response": said.text, "thought": said.text,
            "execution_time": 0.0, "state": {},
            **({"messages": history[:end]} if before else {"query": history[:start]}), "extra_info": {},
        })  # fmt: skip
    info: dict[str, Any] = {"exit_status": transcript.stop} if transcript.stop else {}
    if transcript.patch is not None:
        info["submission"] = transcript.patch
    made: dict[str, Any] = {"trajectory": steps, "history": history, "info": info}
    if transcript.model:
        made["replay_config"] = json.dumps({"agent": {"model": {"name": transcript.model}}})
    return {**made, **({"environment": transcript.instance} if transcript.instance else {})}


def _message(turn: Turn, raw: dict[str, Any]) -> dict[str, Any]:
    made = {**raw, "agent": "main", "message_type": _TYPES[turn.role]}
    if turn.role in ("user", "tool"):
        made["content"] = [{"type": "text", "text": turn.text}]
    if turn.role == "assistant":
        made |= {"thought": turn.text, "action": _action(turn)}
    if "tool_call_id" in made:
        made["tool_call_ids"] = [made.pop("tool_call_id")]
    return made


def _action(turn: Turn) -> str:
    """What the turn did, as text."""
    return "\n".join(f"{call.name} {call.arguments}" for call in turn.calls) or turn.text


def _detect(value: Any) -> Sign | None:
    if not isinstance(value, dict):
        return None
    steps = value.get("trajectory")
    if isinstance(steps, list) and steps and isinstance(steps[0], dict) and {"action", "observation"} <= steps[0].keys():
        return Sign(3, "trajectory with steps of action and observation")
    history = value.get("history")
    if isinstance(history, list) and history and isinstance(history[0], dict) and "role" in history[0]:
        return Sign(3, "a history of messages" + (" beside trajectory" if "trajectory" in value else " (a demonstration)"))
    return None


SWEAGENT = Format(
    "sweagent", "SWE-agent trajectories, .traj",
    frozenset({"turns", "calls", "arguments", "answers", "patch", "stop", "model", "instance"}),
    _take, _make, _detect, whole=True, suffix=".traj",
)  # fmt: skip
