"""The report of a run: ``report.html`` from ``report.json`` and ``report_data.json``, and the same figures for a terminal.

The page is one file that opens offline, loads nothing and trusts none of the text it shows.
"""

from __future__ import annotations

import os
from pathlib import Path

from swefuse.evaluate.html.page import build
from swefuse.evaluate.report_model import ReportData, ReportModel, load
from swefuse.evaluate.tables import seeds_terminal, terminal

__all__ = ["ReportData", "ReportModel", "load", "render", "save", "seeds_terminal", "terminal"]


def save(run: Path, report: ReportModel, data: ReportData) -> None:
    """Write ``report.json`` and ``report_data.json`` into the run folder, each whole or not at all."""
    _write(run / "report_data.json", data.model_dump_json(indent=1))
    _write(run / "report.json", report.model_dump_json(indent=1))


def render(run: Path, out: Path | None = None) -> Path:
    """Write the page to ``out`` (default ``report.html`` in the run folder) and return its path.

    Raises DataError when ``report.json`` is missing or a file does not follow its schema, OSError when the page cannot be written;
    an older page is then left as it was.
    """
    page = build(*load(run))
    path = out or run / "report.html"
    _write(path, page)
    return path


def _write(path: Path, text: str) -> None:
    partial = path.with_name(f".{path.name}.partial")
    try:
        partial.write_text(text, "utf-8")
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)
