"""The gate: what a trajectory must be before a model learns from it. Ordered checks, each pure; every refusal has its reasons.

A ``Check`` looks at one task, one trajectory and the verdict that the caller *just* obtained for the trajectory's final files; the
verdict inside the trajectory is never believed. It answers None or the reason to refuse. ``CHECKS`` holds ours by name; some
take a prepared ``Context`` besides. A check of your own is named by its dotted path ``package.module:function``, and
``conformance.failures`` tells whether it behaves.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from swefuse.code import analysers, lint
from swefuse.errors import ConfigError, nearest
from swefuse.library.checks.basic import Item, bandit, new_findings, passed, static, syntax, trainable, types
from swefuse.library.checks.contamination import contamination
from swefuse.library.checks.licence import licence
from swefuse.library.checks.observed import observed
from swefuse.library.checks.repeats import repeated, repeats
from swefuse.library.checks.secrets import secrets
from swefuse.library.checks.size import length
from swefuse.library.checks.tamper import tamper
from swefuse.library.claims import consistent, truthful
from swefuse.library.coherence import coherence
from swefuse.library.context import Context
from swefuse.library.evidence import effective, fresh, seen
from swefuse.library.looked_at import looked_at
from swefuse.library.parts import foreign
from swefuse.library.settings import CHECKS as DEFAULT
from swefuse.records import Decision, Task, Trajectory, Verdict

GATE_VERSION = "5"
_LONGEST = 500


class Check(Protocol):
    """The reason to refuse a trajectory, one line of text, or None. Pure: the same three records give the same answer."""

    def __call__(self, task: Task, trajectory: Trajectory, verdict: Verdict) -> str | None:
        """See the class."""
        ...


CHECKS: dict[str, Check] = {
    "syntax": syntax,
    "verdict": passed,
    "static": static,
    "coherence": coherence,
    "observed": observed,
    "seen": seen,
    "consistent": consistent,
    "effective": effective,
    "fresh": fresh,
    "truthful": truthful,
    "trainable": trainable,
    "length": length,
    "repeats": repeats,
    "contamination": contamination,
    "licence": licence,
    "secrets": secrets,
    "tamper": tamper,
}
OPTIONAL: dict[str, Check] = {"types": types, "bandit": bandit}
"""Checks of ours that are made only where the settings name them."""
OURS = ("coherence", "observed", "seen", "consistent", "effective", "fresh", "truthful")
"""Checks of what actions did: of trajectories whose actions are not ours they ask nothing."""
_WITH_CONTEXT: Mapping[str, Callable[[Task, Trajectory, Verdict, Context], str | None]] = {
    "length": length,
    "contamination": contamination,
    "licence": licence,
    "secrets": secrets,
}
_TOGETHER: Mapping[str, Callable[[Sequence[tuple[str, str]]], list[lint.Findings]]] = {
    "static": lint.lint, "types": analysers.mypy, "bandit": analysers.bandit,
}  # fmt: skip


def gate(batch: Sequence[Item], checks: Sequence[str] | None = None, *, context: Context | None = None) -> list[Decision]:
    """One decision per item, in order. All checks run on all items, so that a refusal names everything that is wrong.

    A reason reads ``check: what it found``. ``checks``: other ones than those of the context's settings. ``context``: prepared once
    for many batches; what is accepted joins it, so that a later batch cannot repeat it. Give many items at once: an analyser costs
    two processes a batch. Neither the order of a batch nor how trajectories are cut into batches changes a decision, as long as ids
    rise from one batch to the next.
    Raises ConfigError for an unknown check or none at all, InfraError when an analyser cannot run.
    """
    context = Context() if context is None else context
    names = context.settings.checks if checks is None else tuple(checks)
    if not names:
        raise ConfigError(f"a gate without checks lets everything through; checks: {', '.join(CHECKS)}")
    answers = {name: _answers(name, batch, context) for name in names if name != "repeats"}
    good = [all(column[position] is None for column in answers.values()) for position in range(len(batch))]
    if "repeats" in names:
        answers["repeats"] = repeated(batch, good, context)
    version = version_of(context, names)
    decisions = []
    for position, item in enumerate(batch):
        found = [(name, answers[name][position]) for name in names]
        reasons = tuple(f"{name}: {_one_line(text)}" for name, text in found if text is not None)
        told = {name: _one_line(text) for name, text in looked_at(item, context).items() if name in names}
        told |= dict.fromkeys(told.keys() & OURS, "nothing: its actions are not ours") if foreign(item[1]) else {}
        decisions.append(Decision(accepted=not reasons, reasons=reasons, gate_version=version, seen=told))
    return decisions


def version_of(context: Context, checks: Sequence[str] | None = None) -> str:
    """The gate's version in decisions: its number, the checks if they are others than the usual ones, and what differs in settings.

    Example: ``5 with syntax, verdict; steps = 50``.
    """
    names = context.settings.checks if checks is None else tuple(checks)
    other = "" if tuple(names) == DEFAULT else f" with {', '.join(names)}"
    told = context.version()
    return f"{GATE_VERSION}{other}{f'; {told}' if told else ''}"


def find_check(name: str) -> Check:
    """A check by name, or by ``package.module:function``. Raises ConfigError when there is no such thing."""
    if name in CHECKS or name in OPTIONAL:
        return CHECKS.get(name) or OPTIONAL[name]
    module, colon, attribute = name.partition(":")
    if not colon:
        raise ConfigError(f"there is no check {name!r}{nearest(name, (*CHECKS, *OPTIONAL))}; your own: 'package.module:function'")
    try:
        check: Check = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise ConfigError(f"the check {name!r} cannot be loaded: {error}") from error
    return check


def _one_line(text: str) -> str:
    """Short and fit to be shown and stored, whatever a policy wrote into it."""
    line = " ".join(text.split())[:_LONGEST]
    return "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in line)


def _answers(name: str, batch: Sequence[Item], context: Context) -> list[str | None]:
    if name in _TOGETHER:
        return new_findings(batch, _TOGETHER[name])
    if name in _WITH_CONTEXT:
        check = _WITH_CONTEXT[name]
        return [check(*item, context) for item in batch]
    plain = find_check(name)
    return [None if name in OURS and foreign(item[1]) else plain(*item) for item in batch]


__all__ = ["CHECKS", "DEFAULT", "GATE_VERSION", "OPTIONAL", "OURS", "Check", "Item", "find_check", "gate", "version_of"]
