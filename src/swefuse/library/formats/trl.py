"""TRL: rows of messages, of prompt and completion, of preference, and rows that are tokens already.

https://huggingface.co/docs/trl/dataset_formats
"""

from __future__ import annotations

from typing import Any

from swefuse.errors import DataError
from swefuse.library.formats.base import Format, Sign
from swefuse.library.formats.messages import Style, flag, number, read_messages, shown, tools_of, unfolded, word, write_messages
from swefuse.library.formats.openai import called, divided, parted
from swefuse.library.formats.transcript import Transcript, Turn

_STYLE = Style(values=True, thinking="reasoning_content", name=True)
_CARRIES = frozenset({"turns", "calls", "answers", "name", "thinking", "tools"})
_CHOSEN, _REJECTED = ("chosen", "chosen_conversations"), ("rejected", "rejected_conversations")
IGNORED = -100  # the label of a token that is not trained on


def _take(value: Any, where: str) -> Transcript:
    if not isinstance(value, dict) or "messages" not in value:
        raise DataError(f"{where}: a row of trl has messages, not {shown(value)}")
    return Transcript(
        turns=read_messages(value["messages"], where), tools=_tools(value, where), instance=word(value, "instance_id")
    )


def _make(transcript: Transcript) -> dict[str, Any]:
    return _with_rest({"messages": write_messages(transcript.turns, _STYLE)}, transcript)


def _with_rest(made: dict[str, Any], transcript: Transcript) -> dict[str, Any]:
    if transcript.tools:
        made["tools"] = list(transcript.tools)
    if transcript.instance:
        made["instance_id"] = transcript.instance
    return made


def _tools(value: dict[str, Any], where: str) -> tuple[dict[str, Any], ...]:
    return tools_of(next((value[key] for key in ("tools", "tool_defs") if value.get(key) is not None), None), where)


def _detect(value: Any) -> Sign | None:
    messages = value.get("messages") if isinstance(value, dict) else None
    if not isinstance(messages, list) or not all(isinstance(one, dict) for one in messages):
        return None
    if any(isinstance(arguments, dict) for arguments in called(messages)):
        return Sign(2, "messages whose calls have arguments as values")
    if any("reasoning_content" in one or "thinking" in one for one in messages):
        return Sign(3, "messages with the model's thoughts apart")
    return Sign(1, "messages")


def _said(given: Any, where: str, field: str, role: str) -> tuple[Turn, ...]:
    """The turns of a column, which in rows that are no conversations is a text."""
    given = unfolded(given)
    if isinstance(given, str):
        return read_messages([{"role": role, "content": given}], where, field)
    return () if given is None else read_messages(given, where, field)


def _take_prompt(value: Any, where: str) -> Transcript:
    if not isinstance(value, dict) or "prompt" not in value or "completion" not in value:
        raise DataError(f"{where}: a row of trl-prompt has prompt and completion, not {shown(value)}")
    prompt = _said(value["prompt"], where, "prompt", "user")
    rest = _said(value["completion"], where, "completion", "assistant")
    return Transcript(
        turns=(*prompt, *rest), split=len(prompt), tools=_tools(value, where), instance=word(value, "instance_id"),
        resolved=flag(value.get("label")),
    )  # fmt: skip


def _make_prompt(transcript: Transcript) -> dict[str, Any]:
    prompt, rest = divided(transcript)
    made: dict[str, Any] = {"prompt": write_messages(prompt, _STYLE), "completion": write_messages(rest, _STYLE)}
    if transcript.resolved is not None:
        made["label"] = transcript.resolved
    return _with_rest(made, transcript)


def _detect_prompt(value: Any) -> Sign | None:
    found = isinstance(value, dict) and "prompt" in value and "completion" in value
    return Sign(3, "the fields prompt and completion") if found else None


def _column(value: dict[str, Any], names: tuple[str, str]) -> str:
    return next((name for name in names if name in value), names[0])


def _take_pair(value: Any, where: str) -> Transcript:
    chosen, rejected = (_column(value, names) if isinstance(value, dict) else "" for names in (_CHOSEN, _REJECTED))
    if not isinstance(value, dict) or chosen not in value or rejected not in value:
        raise DataError(f"{where}: a row of trl-preference has chosen and rejected, not {shown(value)}")
    prompt = _said(value.get("prompt"), where, "prompt", "user")
    best = _said(value[chosen], where, chosen, "assistant")
    other = _said(value[rejected], where, rejected, "assistant")
    shared, within = 0, value.get("prompt") is None
    if within:  # the prompt stands in both, and is what they begin with alike
        same = [one == two for one, two in zip(best, other, strict=False)]
        shared = next((at for at, equal in enumerate(same) if not equal or best[at].role == "assistant"), len(same))
    return Transcript(
        turns=(*prompt, *best), split=len(prompt) + shared, rejected=other[shared:], tools=_tools(value, where),
        instance=word(value, "instance_id"), layout={"prompt": "within"} if within else {},
    )  # fmt: skip


def _make_pair(transcript: Transcript) -> dict[str, Any]:
    prompt, best = divided(transcript)
    if transcript.layout.get("prompt") == "within":
        both = ((*prompt, *best), (*prompt, *transcript.rejected))
        made: dict[str, Any] = {}
    else:
        both = (best, transcript.rejected)
        made = {"prompt": write_messages(prompt, _STYLE)}
    made |= {"chosen": write_messages(both[0], _STYLE), "rejected": write_messages(both[1], _STYLE)}
    return _with_rest(made, transcript)


def _detect_pair(value: Any) -> Sign | None:
    found = isinstance(value, dict) and _column(value, _CHOSEN) in value and _column(value, _REJECTED) in value
    return Sign(3, "the fields chosen and rejected") if found else None


def _take_ids(value: Any, where: str) -> Transcript:
    ids = _whole(value.get("input_ids") if isinstance(value, dict) else None)
    if not ids:
        raise DataError(f"{where}: a row of trl-ids has input_ids, a list of whole numbers, not {shown(value)}")
    masks = []
    for name in ("labels", "assistant_masks", "completion_mask", "loss_mask"):
        if value.get(name) is not None:
            given = _whole(value[name])
            if given is None or len(given) != len(ids):
                raise DataError(f"{where}: {name} must be a list of as many whole numbers as input_ids")
            masks.append(tuple(int(one != IGNORED if name == "labels" else one != 0) for one in given))
    mask = tuple(int(all(parts)) for parts in zip(*masks, strict=True)) if masks else ()
    return Transcript(ids=tuple(ids), mask=mask)


def _whole(given: Any) -> list[int] | None:
    given = unfolded(given)
    if not isinstance(given, list):
        return None
    found = [number(one) for one in given]
    return [int(one) for one in found if one is not None] if all(one is not None and one == int(one) for one in found) else None


def _make_ids(transcript: Transcript) -> dict[str, Any]:
    made: dict[str, Any] = {"input_ids": list(transcript.ids)}
    if transcript.mask:
        made["labels"] = [one if used else IGNORED for one, used in zip(transcript.ids, transcript.mask, strict=True)]
    return made


def _detect_ids(value: Any) -> Sign | None:
    return Sign(3, "the field input_ids") if isinstance(value, dict) and "input_ids" in value else None


TRL = Format("trl", "TRL rows of messages and tools", _CARRIES | {"instance"}, _take, _make, _detect)
TRL_PROMPT = Format(
    "trl-prompt", "TRL rows of prompt and completion", _CARRIES | {"instance", "split", "resolved"}, _take_prompt, _make_prompt,
    _detect_prompt, parted,
)  # fmt: skip
TRL_PREFERENCE = Format(
    "trl-preference", "TRL rows of preference", _CARRIES | {"instance", "split", "rejected"}, _take_pair, _make_pair, _detect_pair,
    parted, needs=("turns", "rejected"),
)  # fmt: skip
TRL_IDS = Format("trl-ids", "TRL rows of tokens and labels", frozenset({"ids"}), _take_ids, _make_ids, _detect_ids, needs=("ids",))
