"""Policies without a model: the baselines that stand in every table, and the reference for making trajectories.

``random`` draws a kind of bug, then an edit of that kind, so that kinds with many edits do not crowd out the rest. ``rule``
undoes what
gives itself away, a bare expression where a ``return`` stood or a stray ``not``, and is ``random`` where nothing does.
``reference``
plays the edit that is stored with the task.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from swefuse.errors import DataError
from swefuse.policy.base import Choice, Reply, Request
from swefuse.records import PolicyIdentity

Picker = Callable[[Request, random.Random], Choice]


def pick_random(request: Request, rng: random.Random) -> Choice:
    """A random kind, then a random choice of that kind."""
    kind = rng.choice(sorted({choice.thought for choice in request.choices}))
    return rng.choice([choice for choice in request.choices if choice.thought == kind])


def gives_itself_away(choice: Choice) -> bool:
    """Whether an edit puts a ``return`` before a bare expression or takes a ``not`` away."""
    old, new = choice.action.old, choice.action.new
    return bool(old) and (new == "return " + old or (old.startswith("not ") and new == old.removeprefix("not ")))


def pick_rule(request: Request, rng: random.Random) -> Choice:
    """One of the edits that undo a giveaway; a random edit where there is none."""
    telling = [choice for choice in request.choices if gives_itself_away(choice)]
    return rng.choice(telling) if telling else pick_random(request, rng)


def pick_reference(request: Request, rng: random.Random) -> Choice:
    """The choice whose action is the task's stored mending edit. Raises DataError when it is not among the choices."""
    stored = request.task.provenance.parameters
    for choice in request.choices:
        action = choice.action
        known = (str(action.line), str(action.nth), action.old, action.new)
        if known == (stored.get("line"), stored.get("nth"), stored.get("old"), stored.get("new")):
            return choice
    raise DataError("the task's reference edit is not among the edits that are open")


PICKERS: dict[str, Picker] = {"random": pick_random, "rule": pick_rule, "reference": pick_reference}


class ScriptedPolicy:
    """A policy that picks among the choices by a rule; see the module's text for the three that are built in.

    A picker that finds nothing raises DataError: that request has no answer then, and the others have.
    """

    certain = True  # asked again, it says the same: a problem is not worth another try

    def __init__(self, name: str, picker: Picker | None = None) -> None:
        self.name = name
        self.picker = picker or PICKERS[name]

    @property
    def identity(self) -> PolicyIdentity:
        """The rule's name stands for the model."""
        return PolicyIdentity(model=f"scripted/{self.name}")

    def cannot(self, guide: str) -> str:
        """Why it cannot answer under a guide; empty if it can."""
        return "" if guide == "choices" else f"the policy {self.name!r} chooses and cannot write: --set guide=choices"

    def act(self, requests: Sequence[Request]) -> list[Reply]:
        """Pick for each request with a generator of its own, so that batching changes nothing."""
        return [self._reply(request) for request in requests]

    def _reply(self, request: Request) -> Reply:
        if len(request.choices) == 1:
            return Reply(request.choices[0])
        rng = random.Random(f"{request.task.id}-{request.seed}-{len(request.steps)}")
        try:
            return Reply(self.picker(request, rng))
        except DataError as error:
            return Reply(None, problem=str(error))
