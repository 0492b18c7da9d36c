"""A policy behind an OpenAI-compatible chat endpoint. It answers open requests; choices are for policies in this process.

A request is tried again when the endpoint is busy, broken, slow or unintelligible, and not when the endpoint says that the request
is wrong. What cannot be answered is a reply with a ``problem``; the rest of the batch is answered all the same. The key comes from
an environment variable; it goes into one header and nowhere else.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from swefuse.errors import ConfigError, InfraError, UserError
from swefuse.policy import wire
from swefuse.policy.base import Reply, Request, Usage
from swefuse.policy.channel import Channel, EndpointSettings, Failure
from swefuse.policy.journal import Journal
from swefuse.records import PolicyIdentity, content_hash

__all__ = ["EndpointPolicy", "EndpointSettings", "Spent"]

T = TypeVar("T")
_SURE = 3  # refusals, with no answer before them, after which the rest is not sent
_DOWN = 3  # requests in a row, each with all its attempts, that no server was there for
_BROKEN = 10  # requests in a row that were given up for whatever a server said or did not say


@dataclass(slots=True)
class Spent:
    """What a policy has used so far. ``tokens`` and ``cost`` include replies that the journal kept from earlier runs.

    ``unmetered``: answers without counts from the server; for the budget they count with an upper estimate. ``attempts``: requests
    sent; ``failures``: how many attempts failed, by HTTP status or kind of error.
    """

    tokens: int = 0
    cost: float = 0.0
    attempts: int = 0
    answered: int = 0
    replayed: int = 0
    unmetered: int = 0
    untraced: int = 0
    failures: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class _Batch:
    """What the requests of one call of ``act`` know of each other."""

    refusal: str = ""
    refused: int = 0
    answered: int = 0


class EndpointPolicy:
    """Answers open requests through ``settings.base``. Safe to use from several threads; close it, or use it in a ``with``.

    ``journal``: file in which replies are kept; equal requests are answered from it. ``sleeper``, ``clock`` and ``wall`` are there
    for tests: they wait, tell monotonic seconds and tell seconds since 1970. Raises ConfigError for settings that cannot work.
    """

    def __init__(
        self,
        settings: EndpointSettings,
        journal: Path | None = None,
        *,
        sleeper: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
        rng: random.Random | None = None,
    ) -> None:
        self.settings, self.spent = settings, Spent()
        self._channel = Channel(settings, wall)
        if settings.budget_money and not settings.prompt_price + settings.completion_price:
            raise ConfigError("budget_money bounds nothing without prices; set prompt_price and completion_price")
        self._journal = Journal(journal)
        self.spent.tokens, self.spent.cost = self._journal.tokens, self._journal.cost
        self._sleeper, self._clock, self._rng = sleeper, clock, rng or random.Random()
        self._fingerprint = ""
        self._lock = threading.Lock()
        self._closed = self._ending = False
        self._unreached = self._failed = self._vain = 0
        self._last = ""
        self._process = os.getpid()
        self._loop: asyncio.AbstractEventLoop | None = None

    def __repr__(self) -> str:
        return f"EndpointPolicy({self.settings.model!r} at {self._channel.place})"

    @property
    def concurrent(self) -> int:
        """How many episodes may ask at a time."""
        return self.settings.concurrency

    @property
    def identity(self) -> PolicyIdentity:
        """Model, where it was asked and how. The revision is the server's fingerprint, once it has told one."""
        told = self.settings.model_dump(include={"temperature", "structured", "token_ids"})
        return PolicyIdentity(
            model=self.settings.model, revision=self._fingerprint, parameters={"endpoint": self._channel.place, **told}
        )

    @property
    def priced(self) -> bool:
        """Whether replies cost something, as far as is known."""
        return bool(self.settings.prompt_price + self.settings.completion_price)

    def cannot(self, guide: str) -> str:
        """See ``EndpointSettings.cannot``."""
        return self.settings.cannot(guide)

    def __enter__(self) -> EndpointPolicy:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End connections and give the journal back. Asking afterwards raises InfraError."""
        with self._lock:
            loop, self._loop, self._closed = self._loop, None, True
        if loop is not None and self._process == os.getpid():
            asyncio.run_coroutine_threadsafe(self._end(), loop).result()
            loop.call_soon_threadsafe(loop.stop)
            self._thread.join()
            loop.close()
        self._journal.close()

    def abandon(self, seconds: float) -> None:
        """For a caller that is interrupted: send nothing more, let what is under way end within ``seconds``, and drop the rest.

        Those who wait get a problem or an InfraError. The policy may be asked again afterwards.
        """
        with self._lock:
            loop = self._loop
        if loop is not None and self._process == os.getpid():
            self._ending = True
            try:
                asyncio.run_coroutine_threadsafe(self._drop(seconds), loop).result()
            finally:
                self._ending = False

    async def _drop(self, seconds: float) -> None:
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        if others and seconds:
            await asyncio.wait(others, timeout=seconds)
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _end(self) -> None:
        await self._drop(0)
        await self._channel.close()

    def act(self, requests: Sequence[Request]) -> list[Reply]:
        """One reply for each request, in their order. Equal requests are asked once; the usage stands in the first one's reply.

        Raises UserError when a request cannot be put to an endpoint at all, and when the endpoint refuses everything for a reason
        that the user can mend: the key, the account, the model's name. Raises InfraError when one request after the other was
        given up, because then the endpoint is down.
        """
        bodies = [None if len(request.choices) == 1 else self._body(request) for request in requests]
        asked: dict[str, tuple[int, dict[str, Any]]] = {}
        keys = ["" if body is None else content_hash(body) for body in bodies]
        replies: list[Reply | None] = [None] * len(requests)
        for number, (request, key, body) in enumerate(zip(requests, keys, bodies, strict=True)):
            wrong = wire.unpaired(request.freedom.messages) if request.freedom else ""
            if body is None:
                replies[number] = Reply(request.choices[0])
            elif wrong:
                replies[number] = Reply(None, problem=wrong)
            else:
                asked.setdefault(key, (number, body))
        if not asked:
            return [reply for reply in replies if reply is not None]
        found = self._run(self._batch({key: body for key, (_, body) in asked.items()}))
        return [
            reply or (found[key] if asked[key][0] == number else _shared(found[key]))
            for number, (reply, key) in enumerate(zip(replies, keys, strict=True))
        ]

    def _body(self, request: Request) -> dict[str, Any]:
        settings, freedom = self.settings, request.freedom
        if freedom is None or request.choices:
            raise UserError(
                f"{self._channel.place} writes freely and cannot be held to {len(request.choices)} choices; ask it open requests, "
                "or use a policy in this process"
            )
        temperature = settings.temperature if freedom.temperature is None else freedom.temperature
        body = wire.chat_body(freedom, settings.model, 0.0 if request.greedy else temperature, request.seed)
        body[settings.limit_field] = body.pop("max_tokens")
        if freedom.grammar:
            if settings.structured == "none":
                raise UserError(
                    "the request has a grammar, and nothing is known of how this endpoint takes one; set structured to 'vllm' if "
                    "it takes structured_outputs, or ask without a grammar"
                )
            body["structured_outputs"] = {"grammar": freedom.grammar}
        if settings.token_ids:
            body |= {"logprobs": True, "return_token_ids": True}
        return body

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run in the loop of this policy, in a thread of its own: the caller may have a loop already."""
        with self._lock:
            if self._closed:
                work.close()
                raise InfraError(f"{self!r} is closed")
            if self._loop is None or self._process != os.getpid():  # threads do not live through a fork
                self._process = os.getpid()
                self._loop = asyncio.new_event_loop()
                self._slots = asyncio.Semaphore(self.settings.concurrency)
                self._channel.open()
                self._thread = threading.Thread(target=self._loop.run_forever, name="endpoint", daemon=True)
                self._thread.start()
            future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except CancelledError as error:
            raise InfraError(f"{self!r} was closed while it was asked") from error
        finally:
            future.cancel()  # an interrupted caller leaves nothing running

    async def _batch(self, bodies: dict[str, dict[str, Any]]) -> dict[str, Reply]:
        batch = _Batch()
        tasks = {key: asyncio.ensure_future(self._one(key, body, batch)) for key, body in bodies.items()}
        try:
            await asyncio.gather(*tasks.values())
        finally:
            for task in tasks.values():
                task.cancel()
        if batch.refused == len(tasks):
            raise UserError(batch.refusal)
        if down := self._down():
            self._unreached = self._failed = self._vain = 0  # whoever asks again later tries again
            raise InfraError(down) from ConnectionError(self._last)
        return {key: task.result() for key, task in tasks.items()}

    async def _one(self, key: str, body: dict[str, Any], batch: _Batch) -> Reply:
        """Ask until there is an answer, a refusal, or no attempt or time left."""
        kept = self._journal.get(key)
        if kept is not None:
            reply, self._fingerprint = kept
            batch.answered += 1
            self.spent.replayed += 1
            return reply
        settings, used, cause, number = self.settings, 0.0, "", 0
        found: wire.Answer | Failure | None = None
        for number in range(1, settings.attempts + 1):
            async with self._slots:  # waiting for a slot costs no time of the request's own
                stop = self._stop() or self._given_up(batch)
                if stop:
                    return Reply(None, problem=stop)
                started = self._clock()
                self.spent.attempts += 1
                found = await self._channel.attempt(body, min(settings.attempt_seconds, settings.deadline_seconds - used))
                used += self._clock() - started
            if isinstance(found, wire.Answer):
                return self._keep(key, body, found, used, batch)
            self.spent.failures[found.kind] += 1
            self._charge(*found.tokens)
            self._last = cause = found.cause
            self._vain = 0 if found.reached else self._vain + 1
            if not found.again:
                return await self._refuse(found, batch)
            wait = self._wait(found, number)
            if number == settings.attempts or used + wait >= settings.deadline_seconds:
                break
            await self._sleeper(wait)
            used += wait
        assert isinstance(found, Failure)
        if number < settings.attempts:
            cause += f"; it asks to wait {found.wait:g} s" if found.wait else ""
            cause += f"; the deadline of {settings.deadline_seconds:g} s leaves no time for another attempt"
        self._failed += found.kind != "empty"  # then the endpoint works, and the model says nothing
        self._unreached = 0 if found.reached else self._unreached + 1
        return Reply(None, problem=f"{cause}; given up after {number} attempt{'s' if number > 1 else ''}")

    def _wait(self, found: Failure, number: int) -> float:
        """Seconds before the next attempt."""
        doubled = min(self.settings.backoff_most_seconds, self.settings.backoff_seconds * 2 ** min(number - 1, 30))
        return found.wait + self._rng.uniform(0, doubled)

    def _keep(self, key: str, body: dict[str, Any], found: wire.Answer, seconds: float, batch: _Batch) -> Reply:
        settings, spent = self.settings, self.spent
        batch.answered += 1
        spent.answered += 1
        self._unreached = self._failed = self._vain = 0
        read, written = found.prompt_tokens, found.completion_tokens
        usage = Usage(read, written, seconds, self._cost(read, written))
        if not found.metered:
            # a budget that counts nothing would be none: about two bytes a token read, and all that might have been written
            spent.unmetered += 1
            read, written = len(json.dumps(body)) // 2, int(body[settings.limit_field])
        self._charge(read, written)
        spent.untraced += settings.token_ids and found.trace is None
        self._fingerprint = found.fingerprint or self._fingerprint
        if found.problem:
            return Reply(None, usage=usage, problem=f"{self._channel.place}: {found.problem}")
        reply = Reply(None, found.trace, found.text, found.tool_calls, found.cut, usage)
        self._journal.put(key, reply, self._fingerprint)
        return reply

    def _cost(self, read: int, written: int) -> float:
        return (read * self.settings.prompt_price + written * self.settings.completion_price) / 1e6

    def _charge(self, read: int, written: int) -> None:
        self.spent.tokens += read + written
        self.spent.cost += self._cost(read, written)

    def _stop(self) -> str:
        """Why nothing more is sent; empty if it is."""
        return "not sent, because the call was ended" if self._ending else self._down() or self._budget()

    def _down(self) -> str:
        """That the endpoint does not work, once that is sure."""
        place = self._channel.place
        last = self._last.removeprefix(f"{place}: ").removeprefix(f"{place} ")
        # of many requests in one batch each is sent once before any is sent again
        vain = self._vain >= _DOWN * self.settings.attempts * self.settings.concurrency
        if vain or self._unreached >= _DOWN:
            return (
                f"no server answers at {place}: one request after the other did not reach it, the last with: {last}; is it running?"
            )
        if self._failed >= _BROKEN:
            return f"the endpoint {place} does not work: {_BROKEN} requests in a row were given up, the last with: {last}"
        return ""

    def _budget(self) -> str:
        tokens, money = self.settings.budget_tokens, self.settings.budget_money
        if tokens and self.spent.tokens >= tokens:
            return f"the budget of {tokens} tokens is spent"
        return f"the budget of {money:g} in money is spent" if money and self.spent.cost >= money else ""

    def _given_up(self, batch: _Batch) -> str:
        if batch.refused < _SURE or batch.answered or self.spent.answered:
            return ""
        batch.refused += 1
        return f"not sent, because others were refused: {batch.refusal}"

    async def _refuse(self, found: Failure, batch: _Batch) -> Reply:
        problem = found.cause + await self._channel.remedy(found)
        # a filter of contents may say 403 to one request; only an endpoint that has never answered says it of the key
        if found.remedy and not (found.kind == "403" and self.spent.answered):
            batch.refused += 1
            batch.refusal = batch.refusal or problem
        return Reply(None, problem=problem)


def _shared(reply: Reply) -> Reply:
    return Reply(None, reply.trace, reply.text, reply.tool_calls, reply.cut, Usage(), reply.problem)
