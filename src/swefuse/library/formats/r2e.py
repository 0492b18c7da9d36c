"""R2E-Gym trajectories (one a line) and SWE-Master's rows for fine-tuning. https://github.com/R2E-Gym/R2E-Gym"""

from __future__ import annotations

from typing import Any

from swefuse.errors import DataError
from swefuse.library.formats.base import Format, Reduced, Sign
from swefuse.library.formats.messages import Style, inner, number, read_messages, shown, word, write_messages
from swefuse.library.formats.swesmith import as_xml, in_words
from swefuse.library.formats.transcript import Transcript, Turn, merged

_OPEN = "<function="


def _take(value: Any, where: str) -> Transcript:
    listed = value.get("trajectory_steps") if isinstance(value, dict) else None
    if not isinstance(listed, list):
        raise DataError(f"{where}: a trajectory of R2E-Gym has a list of trajectory_steps, not {shown(value)}")
    told = value.get("problem_statement")
    turns = [Turn(role="user", text=told)] if isinstance(told, str) else []
    for place, one in enumerate(listed, 1):
        if not isinstance(one, dict):
            raise DataError(f"{where}, trajectory_steps {place}: a step is an object, not {shown(one)}")
        turns.append(Turn(role="assistant", text=_joined(_text(one, "thought"), _text(one, "action"))))
        if isinstance(one.get("observation"), str):
            turns.append(Turn(role="user", text=one["observation"]))
    reward = number(value.get("reward"))
    patch = value.get("output_patch")
    return Transcript(
        turns=tuple(turns), instance=word(inner(value, "ds"), "instance_id"), stop=word(value, "exit_reason"), reward=reward,
        resolved=None if reward is None else reward >= 1, patch=patch if isinstance(patch, str) else None,
    )  # fmt: skip


def _text(raw: dict[str, Any], name: str) -> str:
    return raw[name] if isinstance(raw.get(name), str) else ""


def _joined(thought: str, action: str) -> str:
    return f"{thought}\n\n{action}" if thought and action else thought or action


def _parted(text: str) -> tuple[str, str]:
    """Thought and action of what the agent wrote; two line feeds stand between them."""
    at = text.find(_OPEN)
    if at < 0 or (at and not text[:at].endswith("\n\n")) or text[:at] == "\n\n":
        return text, ""
    return text[:at].removesuffix("\n\n"), text[at:]


def _make(transcript: Transcript) -> dict[str, Any]:
    made: dict[str, Any] = {"trajectory_steps": []}
    for place, (said, seen) in enumerate(transcript.steps()):
        thought, action = _parted(said.text)
        step: dict[str, Any] = {"step_idx": place, "thought": thought, "action": action}
        made["trajectory_steps"].append({**step, **({"observation": seen[0].text} if seen else {})})
    if opening := transcript.opening():
        made["problem_statement"] = opening[0].text
    if transcript.instance:
        made["ds"] = {"instance_id": transcript.instance}
    said_of = {"exit_reason": transcript.stop or None, "output_patch": transcript.patch, "reward": transcript.reward}
    return {**made, **{key: value for key, value in said_of.items() if value is not None}}


def _reduce(transcript: Transcript) -> Reduced:
    """One text to begin with, and one observation behind each answer. What the system says is told by the agent's settings."""
    made, lost = in_words(transcript, as_xml)
    opening = [turn for turn in made.opening() if turn.role != "system"]
    lost["what the system says"] += sum(turn.role == "system" for turn in made.turns)
    turns = [Turn(role="user", text=merged(opening))] if opening else []
    for said, answers in made.steps():
        seen = [turn for turn in answers if turn.role != "system"]
        turns += [said, *([Turn(role="user", text=merged(seen))] if seen else [])]
        lost["borders between turns"] += max(len(seen) - 1, 0)
    lost["borders between turns"] += max(len(opening) - 1, 0)
    reward = float(made.resolved) if made.reward is None and made.resolved is not None else made.reward
    resolved = None if reward is None else reward >= 1
    lost["resolved"] += made.resolved not in (None, resolved)
    return made.model_copy(update={"turns": tuple(turns), "reward": reward, "resolved": resolved}), lost


def _detect(value: Any) -> Sign | None:
    return Sign(3, "the field trajectory_steps") if isinstance(value, dict) and "trajectory_steps" in value else None


def _take_rows(value: Any, where: str) -> Transcript:
    if not isinstance(value, dict) or "input" not in value:
        raise DataError(f"{where}: a row of SWE-Master has input, not {shown(value)}")
    return Transcript(turns=read_messages(value["input"], where, "input"), instance=word(value, "instance_id"))


def _make_rows(transcript: Transcript) -> dict[str, Any]:
    steps = sum(turn.role == "assistant" for turn in transcript.turns)
    made: dict[str, Any] = {"input": write_messages(transcript.turns, Style()), "step_count": steps}
    return {**made, **({"instance_id": transcript.instance} if transcript.instance else {})}


def _reduce_rows(transcript: Transcript) -> Reduced:
    return in_words(transcript, as_xml)


def _detect_rows(value: Any) -> Sign | None:
    if isinstance(value, dict) and isinstance(value.get("input"), list) and {"step_count", "response_ranges"} & value.keys():
        return Sign(3, "input beside step_count or response_ranges")
    return None


_TOLD = frozenset({"turns", "calls", "arguments", "answers", "instance"})
R2E = Format(
    "r2e", "R2E-Gym trajectories", _TOLD | {"stop", "patch", "resolved", "reward"}, _take, _make, _detect, _reduce, worded=True,
)  # fmt: skip
SWEMASTER = Format(
    "swemaster", "SWE-Master rows for fine-tuning", _TOLD, _take_rows, _make_rows, _detect_rows, _reduce_rows, worded=True
)
