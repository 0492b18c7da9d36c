"""mini-swe-agent trajectories: the first and second version, and bare lists of messages. https://mini-swe-agent.com"""

from __future__ import annotations

from collections import Counter
from typing import Any

from swefuse.errors import DataError
from swefuse.library.formats.base import Format, Reduced, Sign
from swefuse.library.formats.messages import Style, inner, read_messages, shown, word, write_messages
from swefuse.library.formats.transcript import Transcript

_VERSION = "mini-swe-agent-1.1"
_LAYOUT = "file"  # of Transcript.layout: "bare" for a list of messages and nothing else


def _take(value: Any, where: str) -> Transcript:
    if isinstance(value, list):
        return Transcript(turns=read_messages(value, where, "message"), layout={_LAYOUT: "bare"})
    if not isinstance(value, dict) or not isinstance(value.get("messages"), list):
        raise DataError(f"{where}: a trajectory of mini-swe-agent has a list of messages, not {shown(value)}")
    info = value.get("info") if isinstance(value.get("info"), dict) else {}
    patch = inner(info, "submission")
    return Transcript(
        turns=read_messages(value["messages"], where), patch=patch if isinstance(patch, str) else None,
        stop=word(info, "exit_status"), model=word(inner(info, "config", "model"), "model_name"),
        instance=word(value, "instance_id"),
    )  # fmt: skip


def _make(transcript: Transcript) -> Any:
    messages = write_messages(transcript.turns, Style(thinking="reasoning_content"))
    if transcript.layout.get(_LAYOUT) == "bare":
        return messages
    info: dict[str, Any] = {}
    if transcript.model:
        info["config"] = {"model": {"model_name": transcript.model}}
    if transcript.stop:
        info["exit_status"] = transcript.stop
    if transcript.patch is not None:
        info["submission"] = transcript.patch
    made: dict[str, Any] = {"info": info, "messages": messages, "trajectory_format": _VERSION}
    return {**made, **({"instance_id": transcript.instance} if transcript.instance else {})}


def _reduce(transcript: Transcript) -> Reduced:
    """A bare list says nothing but its messages; what has come from one is written as one only if there is no more to say."""
    if transcript.layout.get(_LAYOUT) == "bare" and (
        transcript.model or transcript.stop or transcript.patch is not None or transcript.instance
    ):
        return transcript.model_copy(update={"layout": {}}), Counter()
    return transcript, Counter()


def _detect(value: Any) -> Sign | None:
    if isinstance(value, list):
        talk = bool(value) and all(isinstance(one, dict) and "role" in one and "content" in one for one in value)
        return Sign(3, "a bare list of messages") if talk else None
    if not isinstance(value, dict) or not isinstance(value.get("messages"), list):
        return None
    if str(value.get("trajectory_format", "")).startswith("mini-swe-agent"):
        return Sign(3, f"trajectory_format {value['trajectory_format']}")
    info = value.get("info")
    return Sign(3, "messages beside info with exit_status") if isinstance(info, dict) and "exit_status" in info else None


MINI = Format(
    "mini", "mini-swe-agent trajectories",
    frozenset({"turns", "calls", "arguments", "answers", "thinking", "patch", "stop", "model", "instance"}),
    _take, _make, _detect, _reduce, whole=True, suffix=".traj.json",
)  # fmt: skip
