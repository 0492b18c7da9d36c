"""SWE-bench predictions: for each task a patch. And verl's rows, which hold a prompt and what the answer is judged by."""

from __future__ import annotations

from collections import Counter
from typing import Any

from swefuse.errors import DataError
from swefuse.library.formats.base import Format, Reduced, Sign
from swefuse.library.formats.messages import Style, inner, read_messages, shown, word, write_messages
from swefuse.library.formats.transcript import Transcript

_PATCH = ("model_patch", "patch", "prediction")


def _take(value: Any, where: str) -> Transcript:
    key = next((one for one in _PATCH if one in value), None) if isinstance(value, dict) else None
    instance = word(value, "instance_id", "task_id")
    if key is None or not instance:
        raise DataError(f"{where}: a prediction has instance_id and model_patch, not {shown(value)}")
    patch = value[key]
    if not isinstance(patch, str | None):
        raise DataError(f"{where}: {key} must be text, not {shown(patch)}")
    return Transcript(instance=instance, model=word(value, "model_name_or_path"), patch=patch or "")


def _make(transcript: Transcript) -> dict[str, Any]:
    names = {"instance_id": transcript.instance, "model_name_or_path": transcript.model}
    return {**names, "model_patch": transcript.patch or ""}


def _detect(value: Any) -> Sign | None:
    found = isinstance(value, dict) and "instance_id" in value and "model_patch" in value and "messages" not in value
    return Sign(3, "instance_id and model_patch") if found else None


def _take_verl(value: Any, where: str) -> Transcript:
    if not isinstance(value, dict) or "prompt" not in value or not isinstance(value.get("reward_model", {}), dict):
        raise DataError(f"{where}: a row of verl has prompt and reward_model, not {shown(value)}")
    turns = read_messages(value["prompt"], where, "prompt")
    return Transcript(turns=turns, instance=word(inner(value, "extra_info"), "instance_id"))


def _make_verl(transcript: Transcript) -> dict[str, Any]:
    made: dict[str, Any] = {"data_source": "swefuse", "prompt": write_messages(transcript.turns, Style()), "ability": "code"}
    made["reward_model"] = {"style": "rule", "ground_truth": transcript.instance}
    return {**made, "extra_info": {"instance_id": transcript.instance}}


def _reduce_verl(transcript: Transcript) -> Reduced:
    """The prompt alone: whoever trains makes the rest anew."""
    opening = transcript.opening()
    return transcript.model_copy(update={"turns": opening}), Counter(turns=len(transcript.turns) - len(opening))


def _detect_verl(value: Any) -> Sign | None:
    found = isinstance(value, dict) and "prompt" in value and "reward_model" in value
    return Sign(4, "prompt and reward_model") if found else None


PREDICTIONS = Format(
    "predictions", "SWE-bench predictions", frozenset({"instance", "model", "patch"}), _take, _make, _detect,
    needs=("instance", "patch"),
)  # fmt: skip
VERL = Format("verl", "verl rows for reinforcement learning", frozenset({"turns", "instance"}), _take_verl, _make_verl,
              _detect_verl, _reduce_verl)  # fmt: skip
