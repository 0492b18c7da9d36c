"""Messages between the caller and the worker: four bytes of length (big-endian) and ASCII JSON. Standard library only."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, Protocol


class Channel(Protocol):
    """What messages go through: a socket, or ``Pipes``."""

    def sendall(self, data: bytes, /) -> None:
        """Write all of it."""
        ...

    def recv(self, size: int, /) -> bytes:
        """At most ``size`` bytes; none at the end of the stream."""
        ...

    def close(self) -> None:
        """Hang up."""
        ...


class Pipes:
    """A channel of two descriptors: one to read from, one to write to."""

    def __init__(self, source: int, target: int) -> None:
        self._source, self._target = source, target

    def sendall(self, data: bytes, /) -> None:
        """Write all of it. Raises OSError when the other side is gone."""
        view = memoryview(data)
        while view:
            view = view[os.write(self._target, view) :]

    def recv(self, size: int, /) -> bytes:
        """At most ``size`` bytes; none at the end of the stream."""
        return os.read(self._source, size)

    def close(self) -> None:
        """Close both."""
        os.close(self._source)
        os.close(self._target)


def send(channel: Channel, message: Mapping[str, Any]) -> None:
    """Write one message. Raises OSError when the other side is gone."""
    body = json.dumps(message).encode("ascii")
    channel.sendall(len(body).to_bytes(4, "big") + body)


def receive(channel: Channel, limit: int = 1 << 28) -> dict[str, Any] | None:
    """Read one message; None at the end of the stream. Raises ValueError for one above ``limit`` bytes or that is no object."""
    head = _exactly(channel, 4)
    if head is None:
        return None
    size = int.from_bytes(head, "big")
    if size > limit:
        raise ValueError(f"a message of {size} bytes")
    body = _exactly(channel, size)
    if body is None:
        return None
    message = json.loads(body)
    if not isinstance(message, dict):
        raise ValueError("a message that is no object")
    return message


def _exactly(channel: Channel, size: int) -> bytes | None:
    parts = bytearray()
    while len(parts) < size:
        part = channel.recv(min(size - len(parts), 1 << 20))
        if not part:
            return None
        parts += part
    return bytes(parts)
