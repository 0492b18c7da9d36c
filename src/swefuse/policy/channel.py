"""One endpoint: a request is put to it once, and what became of that is said so that it is known whether to try again.

The key stands in one header. Whatever the endpoint says is cleaned of it before it goes further.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any, Literal

import httpx2
from pydantic import BaseModel, ConfigDict, Field, SecretStr

from swefuse.errors import ConfigError, nearest
from swefuse.policy import wire

_LARGEST = 64 << 20  # bytes of a reply; more is no completion
_SHOWN = 300  # characters of a server's error text
_LONG = 16  # characters from which a key is no word that a model may write, such as the EMPTY of local servers
_AGAIN = frozenset({408, 409, 425, 429})
_BROKE = frozenset({"insufficient_quota", "billing_not_active", "insufficient_credits"})


class EndpointSettings(BaseModel):
    """Settings of an endpoint."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    base: str = Field(description="address below which the API lies, such as http://127.0.0.1:8000/v1")
    model: str = Field(description="name of the model at the endpoint")
    key_env: str = Field("OPENAI_API_KEY", description="environment variable that holds the key; may be unset for local servers")
    temperature: float = Field(1.0, ge=0, le=2, description="temperature where a request names none")
    structured: Literal["none", "vllm"] = Field("none", description="how grammars are sent; none: requests with one are refused")
    token_ids: bool = Field(False, description="ask for token ids and log probabilities; not every server knows them")
    limit_field: Literal["max_tokens", "max_completion_tokens"] = Field("max_tokens", description="name of the limit of tokens")
    concurrency: int = Field(8, ge=1, le=1024, description="requests under way at a time")
    attempts: int = Field(6, ge=1, description="how often a request is sent at most")
    attempt_seconds: float = Field(120.0, gt=0, description="time for one attempt")
    deadline_seconds: float = Field(600.0, gt=0, description="time for all attempts of a request and the waits between them")
    backoff_seconds: float = Field(0.5, gt=0, description="longest wait before the second attempt; doubles with each attempt")
    backoff_most_seconds: float = Field(30.0, gt=0, description="bound of that doubling")
    budget_tokens: int = Field(0, ge=0, description="tokens, read and written, after which nothing more is asked; 0: no bound")
    budget_money: float = Field(0.0, ge=0, description="money after which nothing more is asked; 0: no bound")
    prompt_price: float = Field(0.0, ge=0, description="price of a million tokens read")
    completion_price: float = Field(0.0, ge=0, description="price of a million tokens written")

    def cannot(self, guide: str) -> str:
        """Why such an endpoint cannot answer under a guide; empty if it can."""
        if guide == "choices":
            return "an endpoint writes freely and cannot be held to choices: use another guide, or a policy in this process"
        if guide == "grammar" and self.structured == "none":
            return "nothing is known of how this endpoint takes a grammar: --endpoint structured=vllm, or use another guide"
        return ""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why an attempt gave no answer. ``wait``: seconds that the server asked for. ``remedy``: a refusal that the user can mend.

    ``reached``: whether a server was there. ``tokens``: read and written, where it told them all the same.
    """

    cause: str
    again: bool
    kind: str
    wait: float = 0.0
    remedy: bool = False
    reached: bool = True
    tokens: tuple[int, int] = (0, 0)


class Channel:
    """The way to ``settings.base``. ``wall`` tells seconds since 1970. Raises ConfigError for an address or key that cannot be."""

    def __init__(self, settings: EndpointSettings, wall: Callable[[], float]) -> None:
        self.settings, self.place = settings, _place(settings.base)
        self._key, self._wall = _key(settings.key_env), wall
        self._base = settings.base.rstrip("/")

    def open(self) -> None:
        """Make the client. It belongs to the event loop that uses it."""
        self._client = self._connect()

    async def close(self) -> None:
        """End the connections."""
        await self._client.aclose()

    def _connect(self) -> httpx2.AsyncClient:
        seconds = self.settings.attempt_seconds
        headers = {"content-type": "application/json"}
        if self._key.get_secret_value():
            headers["authorization"] = f"Bearer {self._key.get_secret_value()}"
        return httpx2.AsyncClient(
            headers=headers,
            timeout=httpx2.Timeout(seconds, connect=min(seconds, 15.0), pool=None),
            limits=httpx2.Limits(max_connections=self.settings.concurrency + 1),
        )

    async def attempt(self, body: dict[str, Any], seconds: float) -> wire.Answer | Failure:
        """Ask once, for at most so many seconds."""
        payload, chunks, size = json.dumps(body).encode(), [], 0
        try:
            async with (
                asyncio.timeout(seconds),
                self._client.stream("POST", f"{self._base}/chat/completions", content=payload) as response,
            ):
                async for chunk in response.aiter_bytes():
                    chunks.append(chunk)
                    size += len(chunk)
                    if size > _LARGEST:
                        return Failure(f"{self.place}: the reply is larger than {_LARGEST >> 20} MiB", False, "too large")
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            kind = type(error).__name__
            return Failure(f"{self.place}: {kind}: {self._hide(str(error))}", True, kind, reached=False)
        except (TimeoutError, httpx2.TimeoutException):
            return Failure(f"{self.place}: no whole reply within {seconds:g} s", True, "timeout")
        except httpx2.RequestError as error:
            kind = type(error).__name__
            return Failure(f"{self.place}: {kind}: {self._hide(str(error))}", True, kind)
        raw = b"".join(chunks)
        if response.status_code != 200:
            return self._failure(response.status_code, raw, response.headers.get("retry-after", ""))
        return self._read(raw)

    def _read(self, raw: bytes) -> wire.Answer | Failure:
        try:
            value = json.loads(raw)
        except (ValueError, RecursionError):
            return Failure(f"{self.place}: the reply is cut off or no JSON ({len(raw)} bytes)", True, "malformed")
        if isinstance(value, dict) and value.get("error") and "choices" not in value:  # some gateways say so under status 200
            code = value["error"].get("code") if isinstance(value["error"], dict) else None
            return self._failure(code if type(code) is int else 500, raw, "")
        key = self._key.get_secret_value()
        found = wire.read_answer(_without(value, key, f"[{self.settings.key_env}]") if len(key) >= _LONG else value)
        if isinstance(found, wire.Answer):
            return found
        kind = "empty" if found == wire.EMPTY else "malformed"
        return Failure(f"{self.place}: {found}", True, kind, tokens=wire.usage(value)[:2])

    def _failure(self, status: int, raw: bytes, retry_after: str) -> Failure:
        text, code = wire.error_text(raw)
        cause = f"{self.place} answered {status}: {self._hide(text) or 'without a word'}"
        remedy = status in (401, 402, 403, 404) or code in _BROKE or code == "model_not_found"
        again = (status in _AGAIN or status >= 500) and not remedy
        kind = "account" if code in _BROKE else "404" if code == "model_not_found" else str(status)
        return Failure(cause, again, kind, _seconds(retry_after, self._wall()) if again else 0.0, remedy)

    async def remedy(self, failure: Failure) -> str:
        """What can be done about a refusal; empty if nothing is known."""
        variable, base = self.settings.key_env, self.settings.base
        if failure.kind in ("401", "403"):
            state = "holds one" if self._key.get_secret_value() else "is not set"
            return f"; the key is taken from the variable {variable}, which {state}: put a key there that may use this model"
        if failure.kind in ("402", "account"):
            return "; the account that the key belongs to has to be topped up"
        if failure.kind != "404":
            return ""
        models = await self._models()
        if not models:
            return f"; is the address {base} right? it mostly ends in /v1"
        named = self.settings.model
        if named in models:
            return ""
        known = named in failure.cause  # then the server has said that it lacks it
        return nearest(named, models) if known else f"; there is no model {named!r}{nearest(named, models)}"

    async def _models(self) -> list[str]:
        """Names of the models that the endpoint says it has; empty if it does not say."""
        try:
            async with asyncio.timeout(min(10.0, self.settings.attempt_seconds)):
                response = await self._client.get(f"{self._base}/models")
            return [self._hide(str(one["id"])) for one in response.json()["data"]]
        except (TimeoutError, httpx2.HTTPError, ValueError, KeyError, TypeError):
            return []

    def _hide(self, text: str) -> str:
        """One short line of a server's text, without the key."""
        key = self._key.get_secret_value()
        line = " ".join((text.replace(key, f"[{self.settings.key_env}]") if key else text).split())
        return line if len(line) <= _SHOWN else line[:_SHOWN] + "..."


def _place(base: str) -> str:
    """Host, port and path of an address. Raises ConfigError, and does not repeat what may hold a secret."""
    try:
        url = httpx2.URL(base)
    except httpx2.InvalidURL as error:
        raise ConfigError("base is no address; it looks like http://127.0.0.1:8000/v1") from error
    if url.userinfo or url.query:
        raise ConfigError("base holds a login or a query; leave them out, and put the key in the variable that key_env names")
    if url.scheme not in ("http", "https") or not url.host:
        raise ConfigError(f"base is {base!r}; it looks like http://127.0.0.1:8000/v1")
    return f"{url.host}{f':{url.port}' if url.port else ''}{url.path.rstrip('/')}"


def _key(variable: str) -> SecretStr:
    key = os.environ.get(variable, "").strip()
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ConfigError(f"the variable {variable} holds characters that no key has; put the key there and nothing else")
    return SecretStr(key)


def _seconds(text: str, now: float) -> float:
    """Seconds that a Retry-After header asks for, given as seconds or as a date; 0 if it says nothing that is understood."""
    try:
        return max(0.0, float(text)) if text.strip().isdigit() else max(0.0, parsedate_to_datetime(text).timestamp() - now)
    except (ValueError, TypeError, OverflowError):
        return 0.0


def _without(value: Any, secret: str, label: str) -> Any:
    """``value`` with ``secret`` replaced in all of its texts."""
    if isinstance(value, str):
        return value.replace(secret, label)
    if isinstance(value, list):
        return [_without(one, secret, label) for one in value]
    return {name: _without(one, secret, label) for name, one in value.items()} if isinstance(value, dict) else value
