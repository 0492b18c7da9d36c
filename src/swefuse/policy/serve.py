"""A small OpenAI-compatible server over a model in this process, for agents of others and for our own endpoint policy.

Requests that wait are written together, by one thread. Chat completions only, whole or as server-sent events.
"""

from __future__ import annotations

import hmac
import importlib
import json
import logging
import os
import socket
import threading
import time
from collections.abc import Sequence
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any

from swefuse.errors import DataError, InfraError, UserError, nearest
from swefuse.policy.asked import Asked, Order, Written, chunks, completion, read_order
from swefuse.policy.batcher import STOPPING, Batcher, Limits, Writer

__all__ = ["Asked", "ChatServer", "Handler", "Limits", "Writer", "Written", "load_writer", "server_key"]

_log = logging.getLogger(__name__)
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1", "[::1]"})


class _Busy:
    """How many are within, and a wait until nobody is."""

    def __init__(self) -> None:
        self._count, self._changed = 0, threading.Condition()

    def __enter__(self) -> None:
        with self._changed:
            self._count += 1

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self._count -= 1
            self._changed.notify_all()

    def wait(self, seconds: float) -> None:
        with self._changed:
            self._changed.wait_for(lambda: not self._count, seconds)


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False  # a connection that is kept alive would hold up the end
    request_queue_size = 128
    chat: ChatServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        _log.warning("a connection failed", exc_info=True)


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else head and body are two packets, 40 ms apart
    server: _Http
    server_version = "swefuse"
    sys_version = ""

    def setup(self) -> None:
        """As above, with the limit of idle time."""
        super().setup()
        self.connection.settimeout(self.server.chat.limits.idle)

    def log_message(self, format: str, *args: Any) -> None:
        """To the log instead of stderr."""
        _log.info(format, *args)

    def do_GET(self) -> None:
        """Health and the list of models."""
        chat = self.server.chat
        self.close_connection = self.close_connection or "content-length" in self.headers  # what is not read must not be the next
        if self.path == "/health":
            self.reply(*((503, {"status": STOPPING}) if chat.stopping else (200, {"status": "ok"})))
        elif self.path in ("/v1/models", f"/v1/models/{chat.model}"):
            one = {"id": chat.model, "object": "model", "created": chat.created, "owned_by": "swefuse"}
            if self.allowed():
                self.reply(200, one if self.path != "/v1/models" else {"object": "list", "data": [one]})
        else:
            self.refuse(404, f"there is no {self.path}; there are /v1/models, /v1/chat/completions and /health")

    def do_POST(self) -> None:
        """Chat completions."""
        body = self.body()
        if body is None or not self.allowed():
            return
        if self.path != "/v1/chat/completions":
            self.refuse(404, f"there is no {self.path}; there is /v1/chat/completions")
            return
        try:
            value = json.loads(body)
            order = read_order(value, self.server.chat.limits.tokens)
        except DataError as error:
            self.refuse(400, str(error))
        except (ValueError, RecursionError) as error:
            self.refuse(400, f"the body is no JSON: {error}")
        else:
            named = value.get("model")
            if named == self.server.chat.model:
                self.answer(order)
            elif isinstance(named, str):
                hint = nearest(named, [self.server.chat.model])
                self.refuse(404, f"there is no model {named!r}{hint}", "model_not_found")
            else:
                self.refuse(400, "model must be the name of a model")

    def body(self) -> bytes | None:
        """The body of a request; None after a refusal, with which the connection ends if the body was not read."""
        limit, told = self.server.chat.limits.body, self.headers.get("content-length", "")
        if not told.isascii() or not told.isdigit():
            self.close_connection = True
            self.refuse(411, "the request must tell its Content-Length, and not be sent in chunks")
        elif int(told) > limit:
            self.close_connection = True
            self.refuse(413, f"the body has {told} bytes; at most {limit} are taken")
        else:
            body = self.rfile.read(int(told))
            if len(body) == int(told):
                return body
            self.close_connection = True
        return None

    def allowed(self) -> bool:
        """Whether this asker may ask. Without a key a page in the user's browser could, if its kind and host were not looked at."""
        chat = self.server.chat
        if chat.key:
            given = self.headers.get("authorization", "")
            if hmac.compare_digest(given.encode(), f"Bearer {chat.key}".encode()):
                return True
            self.refuse(401, "the key is missing or wrong", "invalid_api_key")
            return False
        host = self.headers.get("host", "localhost")
        name = host if host.endswith("]") else host.rpartition(":")[0] or host
        if name.lower() not in _LOOPBACK:
            self.refuse(403, f"this server is for programs of this machine, and does not answer to the name {name!r} without a key")
        elif self.command == "POST" and self.headers.get_content_type() != "application/json":
            self.refuse(415, "the Content-Type must be application/json")
        else:
            return True
        return False

    def answer(self, order: Order) -> None:
        """Have the samples written, and tell them."""
        with self.server.chat.answering:
            self._answer(order)

    def _answer(self, order: Order) -> None:
        chat = self.server.chat
        promised = chat.batcher.put(order.samples)
        if isinstance(promised, str):
            self.refuse(503, promised, extra={"Retry-After": "1"})
            return
        try:
            written = [future.result() for future in promised]
            if order.stream:
                told = chunks(order, written, chat.model, chat.revision)
                self.events([json.dumps(body, allow_nan=False) for body in told])
            else:
                self.reply(200, completion(order, written, chat.model, chat.revision))
        except UserError as error:
            self.refuse(400, str(error))
        except (ConnectionError, TimeoutError):
            self.close_connection = True  # the asker has gone
        except InfraError as error:
            self.refuse(503 if chat.stopping else 500, str(error))
        except Exception as error:  # noqa: BLE001 - whatever it is, the asker is told and the connection lives on
            _log.error("a reply could not be written", exc_info=True)
            self.refuse(500, f"the reply could not be written: {type(error).__name__}")

    def events(self, bodies: Sequence[str]) -> None:
        """Send server-sent events."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-cache")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for body in [*bodies, "[DONE]"]:
            data = f"data: {body}\n\n".encode()
            self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
        self.wfile.write(b"0\r\n\r\n")

    def refuse(self, status: int, message: str, code: str = "", extra: dict[str, str] | None = None) -> None:
        """An error as the protocol has it."""
        kind = "invalid_request_error" if status < 500 else "server_error"
        self.reply(status, {"error": {"message": message, "type": kind, "param": None, "code": code or None}}, extra)

    def reply(self, status: int, value: Any, extra: dict[str, str] | None = None) -> None:
        """Send JSON."""
        data = json.dumps(value, allow_nan=False).encode()
        self.close_connection = self.close_connection or self.server.chat.stopping
        self.send_response(status, HTTPStatus(status).phrase)
        for name, text in {"Content-Type": "application/json", "Content-Length": str(len(data)), **(extra or {})}.items():
            self.send_header(name, text)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(data)


class ChatServer:
    """Serves ``writer`` as ``model``. Use it in a ``with``, or ``start`` and ``close`` it.

    ``address``: host and port; port 0 takes a free one. ``key``: bearer key that every request but /health must carry; needed for
    an address that other machines can reach. ``revision``: the fingerprint that replies tell. Raises UserError when it cannot
    listen.
    """

    def __init__(
        self,
        writer: Writer,
        model: str,
        address: tuple[str, int] = ("127.0.0.1", 0),
        key: str = "",
        revision: str = "",
        limits: Limits | None = None,
        handler: type[Handler] = Handler,
    ) -> None:
        self.model, self.key, self.revision = model, key, revision
        self.limits, self.created, self.stopping = limits or Limits(), int(time.time()), False
        if not key and address[0] not in _LOOPBACK:
            raise UserError(f"{address[0]} can be reached by other machines; set a key, or listen on 127.0.0.1")
        self.batcher, self.answering = Batcher(writer, self.limits), _Busy()
        try:
            self._http = (_Http6 if ":" in address[0] else _Http)(address, handler)
        except (OSError, OverflowError) as error:
            why = getattr(error, "strerror", None) or error
            raise UserError(f"cannot listen on {address[0]}, port {address[1]}: {why}; choose another") from error
        self._http.chat = self
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), name="listener", daemon=True)
        self._ended = threading.Event()

    @property
    def url(self) -> str:
        """The address to give to clients."""
        host, port = self._http.server_address[:2]
        name = host.decode() if isinstance(host, bytes | bytearray) else str(host)
        return f"http://{f'[{name}]' if ':' in name else name}:{port}/v1"

    def start(self) -> None:
        """Listen, in threads of its own."""
        self.batcher.start()
        self._thread.start()

    def wait(self) -> None:
        """Until somebody closes it, or a signal comes."""
        self._ended.wait()

    def close(self) -> None:
        """Refuse what waits, end what is being written, and stop listening."""
        self.stopping = True
        self.batcher.stop()
        self.answering.wait(5.0)
        if self._thread.is_alive():
            self._http.shutdown()
        self._http.server_close()
        self._ended.set()

    def __enter__(self) -> ChatServer:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


class _Http6(_Http):
    address_family = socket.AF_INET6


def server_key(variable: str) -> str:
    """The key in the environment variable ``variable``; empty where none is named. Raises UserError when it is not set."""
    key = os.environ.get(variable, "").strip() if variable else ""
    if variable and not key:
        raise UserError(f"the variable {variable} is not set; put the key there that clients have to send")
    return key


def load_writer(spec: str, model: Path) -> Writer:
    """What the function ``package.module:name`` makes of the folder of a model. Raises UserError when there is no such
    function, ModuleNotFoundError when its file lacks an optional dependency."""
    module, _, name = spec.partition(":")
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        if isinstance(error, ModuleNotFoundError) and not f"{module}.".startswith(f"{error.name}."):
            raise  # the function's file is there, and lacks something itself
        raise UserError(f"{spec!r} cannot be loaded: {error}; it must look like package.module:function") from error
    made: Writer = found(model)
    return made
