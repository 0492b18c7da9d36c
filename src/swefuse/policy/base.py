"""The seam to whoever answers: ``Policy.act``. A request is a task and what happened so far; a reply is one message.

``Choice`` lists are the closed form of guidance: when a request carries them, the reply must be one of them. A single choice is a
forced move: nobody decided it, so it carries no token trace and teaches nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from swefuse.records import Action, PolicyIdentity, Step, Task, TokenTrace


@dataclass(frozen=True, slots=True)
class Choice:
    """A message that applies in the present state: a one-line thought (may be empty) and an action."""

    thought: str
    action: Action


@dataclass(frozen=True, slots=True)
class Request:
    """What the policy is asked. ``seed`` fixes the draw; requests of equal content and seed get equal replies. ``greedy``
    asks for the policy's most probable message and ignores it."""

    task: Task
    steps: tuple[Step, ...]
    choices: tuple[Choice, ...]
    seed: int = 0
    greedy: bool = False


@dataclass(frozen=True, slots=True)
class Reply:
    """One message. ``trace`` is None when no model wrote it (a scripted policy or a forced move)."""

    choice: Choice
    trace: TokenTrace | None = None


class Policy(Protocol):
    """Answers requests in batches, in the order given. Raises InfraError when it cannot answer, never a made-up reply."""

    @property
    def identity(self) -> PolicyIdentity:
        """Who this is, for the trajectory's record."""
        ...

    def act(self, requests: Sequence[Request]) -> list[Reply]:
        """One reply for each request."""
        ...
