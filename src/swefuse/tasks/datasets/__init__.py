"""Tasks from published datasets, in the layouts in which they are published. Reference solutions are not believed, but run."""

from __future__ import annotations

from pathlib import Path

from swefuse.errors import DataError, UserError
from swefuse.records import Task
from swefuse.tasks.datasets import apps, classeval, cruxeval, functions, quixbugs
from swefuse.tasks.datasets.common import Layout, rows
from swefuse.tasks.datasets.proof import prove_tests

__all__ = ["DATASETS", "load", "prove_tests"]

DATASETS = {
    "humanevalfix": Layout(rows, functions.humanevalfix),
    "mbpp": Layout(rows, functions.mbpp),
    "humaneval": Layout(rows, functions.humaneval),
    "cruxeval": Layout(rows, cruxeval.tasks),
    "apps": Layout(apps.rows, apps.tasks),
    "quixbugs": Layout(quixbugs.rows, quixbugs.tasks),
    "classeval": Layout(rows, classeval.tasks),
}


def load(name: str, path: Path) -> list[Task]:
    """The tasks of a dataset, unproven. Raises UserError for an unknown name or a file that cannot be read, DataError for a row.

    A row of which nothing can be run is a task without a suite; ``prove_tests`` refuses it by its name.
    """
    if name not in DATASETS:
        raise UserError(f"there is no dataset {name!r}; valid: {', '.join(DATASETS)}")
    layout, found = DATASETS[name], list[Task]()
    for number, row in enumerate(layout.rows(path), 1):
        try:
            found += layout.tasks(row)
        except (KeyError, IndexError, TypeError, AttributeError, SyntaxError, ValueError) as error:
            raise DataError(f"{path}, row {number}: not a row of {name}: {type(error).__name__}: {error}") from error
    if not found:
        raise DataError(f"{path} holds no row")
    return found
