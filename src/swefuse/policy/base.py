"""The seam to whoever answers: ``Policy.act``. A request is a task and what happened so far; a reply is one message.

``Choice`` lists are the closed form of guidance: when a request carries them, the reply must be one of them. A single choice is a
forced move: nobody decided it, so it carries no token trace and teaches nothing. A request without choices is open: the policy
writes, and whoever asked reads what it wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from swefuse.records import Action, PolicyIdentity, Step, Task, TokenTrace

Role = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class Choice:
    """A message that applies in the present state: a one-line thought (may be empty) and an action."""

    thought: str
    action: Action


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool as chat protocols have it; ``arguments`` is the text of a JSON object, as it was written."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation as chat protocols have it. ``call`` is the id of the call that a ``tool`` turn answers."""

    role: Role
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    call: str = ""


@dataclass(frozen=True, slots=True)
class Freedom:
    """How an open request may be answered, by at most ``max_tokens`` tokens.

    ``messages`` is the conversation so far, for policies that speak chat. ``tools``: JSON schemas of the tools that may be called,
    as chat protocols have them; empty where the reply is text. ``grammar``: text of a grammar (Lark, as llguidance reads it) that
    the whole reply must follow; empty for none. ``check``: asked at the ends of lines how many characters of what was written may
    stand; a policy that can take back the rest does so and writes on from there, a few times. ``temperature`` None: its own.
    """

    messages: tuple[Message, ...]
    max_tokens: int = 512
    tools: tuple[dict[str, Any], ...] = ()
    grammar: str = ""
    temperature: float | None = None
    check: Callable[[str], int] | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """What the policy is asked. ``seed`` fixes the draw; requests of equal content and seed get equal replies. ``greedy``
    asks for the policy's most probable message and ignores it. ``freedom`` is there where there are no ``choices``."""

    task: Task
    steps: tuple[Step, ...]
    choices: tuple[Choice, ...]
    seed: int = 0
    greedy: bool = False
    freedom: Freedom | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """What a reply took. ``cost`` in the currency of the policy's prices; zero where none are set."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    cost: float = 0.0


@dataclass(frozen=True, slots=True)
class Reply:
    """One message. ``trace`` is None when no model wrote it (a scripted policy or a forced move), or its tokens are not known.

    ``choice`` is None for an open request; then ``text`` and ``tool_calls`` are what was written, and ``cut`` says that the limit
    of tokens ended it. ``problem``: why there is no answer to this request; the others of the batch are not touched by it.
    """

    choice: Choice | None
    trace: TokenTrace | None = None
    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    cut: bool = False
    usage: Usage = field(default_factory=Usage)
    problem: str = ""


class Policy(Protocol):
    """Answers requests in batches, in the order given. Raises InfraError when it cannot answer, never a made-up reply."""

    @property
    def identity(self) -> PolicyIdentity:
        """Who this is, for the trajectory's record."""
        ...

    def act(self, requests: Sequence[Request]) -> list[Reply]:
        """One reply for each request."""
        ...
