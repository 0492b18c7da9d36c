"""Files of predictions, as evaluation harnesses of the field write them: for each task a patch."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from swefuse.errors import DataError, UserError

_ID, _PATCH = ("instance_id", "task_id", "task"), ("model_patch", "patch", "prediction")


@dataclass(frozen=True, slots=True)
class Prediction:
    """A patch for a task: where it stands, and who made it if that is said."""

    where: str
    task_id: str
    patch: bytes
    model: str


def read_predictions(path: Path) -> list[Prediction]:
    """The predictions of a file, or with ``-`` of stdin, in order.

    JSON lines, a JSON list, or a JSON object that maps ids to predictions. A prediction without a patch (null) is an empty patch.
    Raises UserError when it cannot be read, DataError naming the place when it is something else.
    """
    try:
        text = (sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"--predictions {path}: cannot be read: {error}") from error
    rows = _rows(path, text)
    if not rows:
        raise DataError(f"{path} holds no prediction")
    return [_prediction(where, row) for where, row in rows]


def _rows(path: Path, text: str) -> list[tuple[str, Any]]:
    try:
        whole = json.loads(text)
    except ValueError:
        return [(f"{path}:{number}", _line(path, number, line)) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    if isinstance(whole, dict) and not {*_ID, *_PATCH} & whole.keys():
        return [(f"{path}, {key}", {_ID[0]: key, **row} if isinstance(row, dict) else row) for key, row in whole.items()]
    return [(f"{path}, entry {number}", row) for number, row in enumerate(whole if isinstance(whole, list) else [whole], 1)]


def _line(path: Path, number: int, line: str) -> Any:
    try:
        return json.loads(line)
    except ValueError as error:
        raise DataError(f"{path}:{number}: no JSON: {error}") from error


def _prediction(where: str, row: Any) -> Prediction:
    if not isinstance(row, dict):
        raise DataError(f"{where}: a prediction is an object with {_ID[0]} and {_PATCH[0]}, not {json.dumps(row)[:80]}")
    name, key = next((row[key] for key in _ID if key in row), None), next((key for key in _PATCH if key in row), None)
    if not isinstance(name, str) or key is None:
        raise DataError(f"{where}: a prediction needs {_ID[0]} (text) and {_PATCH[0]}, not only {', '.join(row) or 'nothing'}")
    patch = row[key]
    if not isinstance(patch, str | None):
        raise DataError(f"{where}: {key} must be text, not {json.dumps(patch)[:80]}")
    try:
        raw = (patch or "").encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # half a character, which no file holds either: let the judge of patches say so
        raw = (patch or "").encode("utf-8", "surrogatepass")
    return Prediction(where, name, raw, str(row.get("model_name_or_path", "")))
