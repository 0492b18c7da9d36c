"""What stands between the pages and whoever asks: the names under which they may be asked for, the token, and the headers."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable
from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_address
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "swefuse"
LOOPBACK = ("127.0.0.1", "localhost", "::1")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}


class Guard:
    """Answers by itself what must not reach the pages, and puts the headers on every answer.

    ``hosts``: what the Host header may name, whatever its port; another page's script that reaches this server under a name of its
    own (DNS rebinding) is turned away by that. ``addresses``: bare addresses may be named, too, which no name server can forge.
    ``token``: what a caller must know; empty for none. It is taken from ``?token=``
    once, which sets a cookie and leads to the same address without it, or from ``Authorization: Bearer``.
    """

    def __init__(self, app: ASGIApp, hosts: Iterable[str] = LOOPBACK, token: str = "", addresses: bool = False) -> None:
        self._app, self._token, self._addresses = app, token, addresses
        self._hosts = frozenset(host.lower() for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # nothing here speaks anything else
        refused = self._refused(scope)

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("cache-control", "no-store")
            await send(message)

        await (refused or self._app)(scope, receive, guarded)

    def _refused(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        if scope["method"] not in ("GET", "HEAD"):
            return PlainTextResponse("these pages can only be read\n", 405, {"allow": "GET, HEAD"})
        host = named(headers.get("host", ""))
        if host not in self._hosts and not (self._addresses and is_address(host)):
            return PlainTextResponse(
                "this server does not answer under that name; 'swefuse serve --allow-host NAME' adds one\n", 421
            )
        if not self._token or self._known(headers):
            return None
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if any(name == "token" and same(value, self._token) for name, value in query):
            rest = urlencode([pair for pair in query if pair[0] != "token"])
            path = "/" + scope["path"].lstrip("/")  # never another host
            answer = RedirectResponse(path + (f"?{rest}" if rest else ""), 303)
            answer.set_cookie(COOKIE, cookie_of(self._token), httponly=True, samesite="strict", path="/")
            return answer
        return PlainTextResponse("a token is needed: open the address that 'swefuse serve' printed\n", 401)

    def _known(self, headers: Headers) -> bool:
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and same(given.strip(), self._token):
            return True
        try:
            found = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
        except CookieError:
            return False
        return found is not None and same(found.value, cookie_of(self._token))


def cookie_of(token: str) -> str:
    """What the cookie holds, from which the token cannot be read."""
    return hashlib.sha256(f"swefuse {token}".encode()).hexdigest()


def same(given: str, wanted: str) -> bool:
    """Whether two texts are equal, in a time that does not tell where they differ."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), wanted.encode("utf-8", "replace"))


def is_address(host: str) -> bool:
    """Whether a host is an address, and no name."""
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def named(host: str) -> str:
    """The name in a Host header, without its port and the brackets of IPv6."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].lower()
