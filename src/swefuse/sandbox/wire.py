"""Messages between the caller and the worker: four bytes of length (big-endian) and ASCII JSON. Standard library only."""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping
from typing import Any


def send(channel: socket.socket, message: Mapping[str, Any]) -> None:
    """Write one message. Raises OSError when the other side is gone."""
    body = json.dumps(message).encode("ascii")
    channel.sendall(len(body).to_bytes(4, "big") + body)


def receive(channel: socket.socket, limit: int = 1 << 28) -> dict[str, Any] | None:
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


def _exactly(channel: socket.socket, size: int) -> bytes | None:
    parts = bytearray()
    while len(parts) < size:
        part = channel.recv(min(size - len(parts), 1 << 20))
        if not part:
            return None
        parts += part
    return bytes(parts)
