"""A real chat server on 127.0.0.1 that fails as a script says: for tests of the endpoint policy and of the server."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from swefuse.errors import UserError
from swefuse.policy.asked import Asked, Written
from swefuse.policy.batcher import Limits
from swefuse.policy.serve import ChatServer, Handler

MODEL = "echo-1"
# name of a fault -> whether the endpoint policy tries again
FAULTS = ("busy", "broken", "slow", "trickle", "cut", "drop", "malformed", "no-choices", "no-message", "list", "empty", "error-200")


class EchoWriter:
    """Writes the last message again, word by word, with the seed after it. Remembers the batches that it was given."""

    def __init__(self) -> None:
        self.batches: list[list[Asked]] = []

    def write(self, asked: Sequence[Asked]) -> list[Written]:
        self.batches.append(list(asked))
        return [self._one(one) for one in asked]

    def _one(self, asked: Asked) -> Written:
        said = asked.messages[-1].content
        if asked.grammar.startswith("bad") or said == "too long":
            raise UserError(f"cannot be written: {asked.grammar or said}")
        if said == "crash":
            raise RuntimeError("the writer broke, and here is a secret")
        text = said if asked.tools else f"{said} /{asked.seed}"
        for stop in asked.stop:
            text = text.partition(stop)[0]
        words = [word + " " for word in text.split(" ")]
        words[-1] = words[-1][:-1]
        finish = "length" if len(words) > asked.max_tokens else "stop"
        words = words[: asked.max_tokens]
        numbers = tuple(-0.125 * n - 0.1 for n in range(len(words)))
        return Written(
            text="".join(words),
            token_ids=tuple(range(7, 7 + len(words))),
            logprobs=numbers,
            raw_logprobs=tuple(2 * number for number in numbers),
            entropies=tuple(-3 * number for number in numbers),
            tokens=tuple(words),
            prompt_tokens=sum(len(message.content.split()) for message in asked.messages),
            finish=finish,
        )


def load(model: Path) -> EchoWriter:
    """What ``--writer faulty_server:load`` finds."""
    assert model.name
    return EchoWriter()


@dataclass
class Script:
    """What goes wrong, and what came in. ``choose`` gives the fault of a request by its number and body, or ''."""

    choose: Callable[[int, dict[str, Any]], str]
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)


class FaultyHandler(Handler):
    """The server's handler, with faults before it."""

    script: Script

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers["content-length"]))
        body = json.loads(raw)
        with self.script.lock:
            number = len(self.script.bodies)
            self.script.bodies.append(body)
            self.script.headers.append({name.lower(): value for name, value in self.headers.items()})
        fault = self.script.choose(number, body)
        self._raw = raw
        if fault:
            self._fail(fault)
        else:
            super().do_POST()

    def body(self) -> bytes | None:
        return self._raw

    def _fail(self, fault: str) -> None:
        kind, _, argument = fault.partition(":")
        if kind == "busy":
            self.refuse(429, "slow down", extra={"Retry-After": argument or "0"})
        elif kind == "broken":
            self.refuse(500, "our fault")
        elif kind == "status":
            code, _, name = argument.partition("/")
            self.refuse(int(code), f"refused; you sent {self.headers.get('authorization')}", name)
        elif kind == "slow":
            self.script.over.wait(30)
            self.close_connection = True
        elif kind in ("cut", "trickle", "drop"):
            self._tear(kind)
        else:
            self._say(
                {
                    "malformed": '{"choices": [',
                    "no-choices": '{"object": "chat.completion"}',
                    "no-message": '{"choices": [{"index": 0}]}',
                    "list": "[]",
                    "empty": '{"choices": [{"message": {"role": "assistant", "content": ""}, "finish_reason": "stop"}]}',
                    "error-200": '{"error": {"message": "upstream is gone", "code": 502}}',
                    "say": argument,
                }[kind]
            )

    def _say(self, text: str) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def _tear(self, kind: str) -> None:
        self.close_connection = True
        if kind == "drop":
            return
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b'{"choices": [{"message": {"content": "he')
        while kind == "trickle" and not self.script.over.wait(0.02):
            try:
                self.wfile.write(b"y")
            except OSError:
                return


class FaultyServer:
    """A ``ChatServer`` over an ``EchoWriter`` that fails by ``faults``: the faults of its requests in order, or a function."""

    def __init__(
        self, faults: Iterable[str] | Callable[[int, dict[str, Any]], str] = (), key: str = "", limits: Limits | None = None
    ) -> None:
        listed = deque(() if callable(faults) else faults)
        choose = faults if callable(faults) else lambda number, body: listed.popleft() if listed else ""
        self.script, self.writer = Script(choose), EchoWriter()
        handler = type("ScriptedHandler", (FaultyHandler,), {"script": self.script})
        self.server = ChatServer(self.writer, MODEL, key=key, revision="fp-1", limits=limits, handler=handler)

    @property
    def url(self) -> str:
        return self.server.url

    @property
    def bodies(self) -> list[dict[str, Any]]:
        """The bodies that came in, those that failed included."""
        return self.script.bodies

    def __enter__(self) -> FaultyServer:
        self.server.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.script.over.set()
        self.server.close()
