"""Tables: Parquet files, and folders of the ``datasets`` library, as hubs have them or as ``save_to_disk`` writes them.

A table has columns of one type each. Where the rows of a column are not of one type, the column holds JSON in texts, which readers
of this project undo. A table does not tell a field that is missing from one that is null: both are left out when it is read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import date, time
from pathlib import Path
from typing import Any

from swefuse.errors import DataError, UserError, missing_extra
from swefuse.library.formats.messages import unfolded

_FOLDED = b"swefuse_json"  # in a column's metadata: its texts are JSON


def is_table(path: Path) -> bool:
    """Whether a path is a Parquet file, or a folder that holds such files, or those of ``save_to_disk``, and nothing else."""
    if not path.is_dir():
        return path.suffix == ".parquet"
    return any(path.rglob("*.parquet")) or any(path.rglob("*.arrow"))


def read_table(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a table. Raises UserError where it cannot be read, MissingExtraError without pyarrow."""
    for file in [path] if path.is_file() else sorted([*path.rglob("*.parquet"), *path.rglob("*.arrow")]):
        table = _loaded(file)
        folded = {one.name for one in table.schema if (one.metadata or {}).get(_FOLDED)}
        for number, row in enumerate(table.to_pylist(), 1):
            try:
                plain = json.loads(json.dumps(row, default=_plainly, allow_nan=False))
            except (TypeError, ValueError) as error:
                raise DataError(f"{file}:{number}: a value that has no text: {error}") from error
            yield {
                name: json.loads(value) if name in folded else _filled(_undone(value))
                for name, value in plain.items()
                if value is not None
            }


def _loaded(file: Path) -> Any:
    try:
        import pyarrow as pa
        from pyarrow import ipc, parquet
    except ImportError as error:
        raise missing_extra("pyarrow", "train") from error
    try:
        if file.suffix == ".parquet":
            return parquet.read_table(file, partitioning=None)
        with pa.memory_map(str(file)) as source:
            return ipc.open_stream(source).read_all()
    except (OSError, ValueError) as error:  # pyarrow's own errors are of these kinds
        raise UserError(f"{file}: cannot be read: {error}") from error


def write_table(path: Path, rows: Sequence[dict[str, Any]]) -> list[str]:
    """Write rows as a Parquet file, whole or not at all; the columns that had to become texts of JSON."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        raise missing_extra("pyarrow", "train") from error
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns, fields, folded = [], [], []
    for name in names:
        values = [row.get(name) for row in rows]
        column = None if _mixed(values) else _column(pa, values)
        if column is None:
            folded.append(name)
            column = pa.array([None if name not in row else json.dumps(row[name]) for row in rows], pa.string())
        columns.append(column)
        fields.append(pa.field(name, column.type, metadata={_FOLDED: b"1"} if name in folded else None))
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.part")
    try:
        parquet.write_table(pa.Table.from_arrays(columns, schema=pa.schema(fields)), beside)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
    return folded


def _column(pa: Any, values: list[Any]) -> Any:
    """The values as a column, where that gives the same values back; None where it does not."""
    try:
        column = pa.array(values)
    except (ValueError, TypeError, OverflowError):  # pyarrow's own errors are of these kinds
        return None
    back = column.to_pylist()
    return column if all(_filled(one) == two and _filled(two) == two for one, two in zip(back, values, strict=True)) else None


def _mixed(values: Sequence[Any]) -> bool:
    """Whether a text could be taken for JSON that was folded into it, or a field is null and not missing."""
    return any(isinstance(one, str) and unfolded(one) is not one for one in values)


def _undone(value: Any) -> Any:
    return unfolded(value)


def _filled(value: Any) -> Any:
    """A value without fields that are null: in a table they may just as well be missing."""
    if isinstance(value, dict):
        return {key: _filled(one) for key, one in value.items() if one is not None}
    return [_filled(one) for one in value] if isinstance(value, list) else value


def _plainly(value: object) -> str:
    if isinstance(value, date | time):
        return value.isoformat()
    raise TypeError(type(value).__name__)
