"""A policy that writes what a test tells it to, for episodes in which the policy is asked openly."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from swefuse.policy.base import Reply, Request, Usage
from swefuse.records import PolicyIdentity


class Writing:
    """Answers each request with what ``say`` makes of it; every answer takes ``tokens`` tokens and a second."""

    identity = PolicyIdentity(model="scripted/writing")

    def __init__(self, say: Callable[[Request], str | Reply], tokens: int = 10) -> None:
        self.say, self.tokens = say, tokens
        self.asked: list[Request] = []

    def act(self, requests: Sequence[Request]) -> list[Reply]:
        """See ``Policy``."""
        self.asked += requests
        return [self._reply(self.say(request)) for request in requests]

    def _reply(self, said: str | Reply) -> Reply:
        return said if isinstance(said, Reply) else Reply(None, text=said, usage=Usage(5, self.tokens, 1.0, 0.5))
