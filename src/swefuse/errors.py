"""The exception tree.

::

    SweFuseError
    ├── UserError(ValueError)              exit code 2: the message names what, where and the remedy
    │   ├── ConfigError                    unknown, duplicate, ineffective or ill-typed setting
    │   ├── DataError                      a file or record that does not follow its schema
    │   ├── PatchError                     a patch or action that cannot be applied
    │   └── MissingExtraError(ImportError) an optional dependency is absent; carries the pip line
    └── InfraError(RuntimeError)           exit code 3: our fault or the machine's, never the model's
        └── SandboxError                   the sandbox could not run a job; never a reward

Every class pickles, so that errors cross process borders unchanged.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class SweFuseError(Exception):
    """Root of every error raised on purpose by SWE-Fuse."""


class UserError(SweFuseError, ValueError):
    """The caller can fix it; the message says how. The command line exits with 2."""


class ConfigError(UserError):
    """A setting is unknown, given twice, without effect or of the wrong type."""


class DataError(UserError):
    """A file or record does not follow its schema."""


class PatchError(UserError):
    """A patch or an action cannot be applied to the state it was made for."""


class MissingExtraError(UserError, ImportError):
    """An optional dependency is not installed."""


class InfraError(SweFuseError, RuntimeError):
    """A failure of ours or of the machine. The command line exits with 3; it never counts against a model."""


class SandboxError(InfraError):
    """The sandbox could not run a job, so there is no verdict."""


_SHOWN = 20  # choices that are named where none is close


def missing_extra(module: str, extra: str) -> MissingExtraError:
    """The error to raise when ``module`` of optional dependency group ``extra`` cannot be imported."""
    return MissingExtraError(f"{module} is not installed. It belongs to the extra '{extra}': pip install 'swe-fuse[{extra}]'")


def nearest(name: str, valid: Iterable[str]) -> str:
    """A hint such as ``; did you mean 'seed'?`` naming the closest valid choice, or the list of choices."""
    choices = sorted(valid)
    close = difflib.get_close_matches(name, choices, n=1, cutoff=0.5)
    if close:
        return f"; did you mean '{close[0]}'?"
    more = f" and {len(choices) - _SHOWN} more" if len(choices) > _SHOWN else ""
    return f"; valid: {', '.join(choices[:_SHOWN])}{more}" if choices else ""
