"""The server's side of a WebSocket (RFC 6455), as much as Slack's socket needs: text, ping, pong, close."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import threading
from dataclasses import dataclass, field
from socket import socket
from typing import BinaryIO

_MAGIC = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_TEXT, _CLOSE, _PING, _PONG = 0x1, 0x8, 0x9, 0xA


def accepting(key: str) -> str:
    """The answer to a client's key."""
    return base64.b64encode(hashlib.sha1(f"{key}{_MAGIC}".encode()).digest()).decode()


@dataclass
class WebSocket:
    """One connection after its handshake."""

    connection: socket
    reading: BinaryIO
    _writing: threading.Lock = field(default_factory=threading.Lock)

    def send(self, text: str) -> None:
        """One text message. Raises OSError when nobody is there."""
        self._frame(_TEXT, text.encode())

    def receive(self) -> str | None:
        """The next text message, None at the end. Pings are answered on the way."""
        while True:
            kind, data = self._read()
            if kind == _TEXT:
                return data.decode()
            if kind == _PING:
                self._frame(_PONG, data)
            if kind == _CLOSE:
                return None

    def close(self) -> None:
        """Cut the connection, as a network does."""
        with contextlib.suppress(OSError):
            self.connection.shutdown(2)

    def _frame(self, kind: int, data: bytes) -> None:
        size = len(data)
        length = bytes([size]) if size < 126 else b"\x7e" + size.to_bytes(2, "big")
        if size > 0xFFFF:
            length = b"\x7f" + size.to_bytes(8, "big")
        with self._writing:
            self.connection.sendall(bytes([0x80 | kind]) + length + data)

    def _read(self) -> tuple[int, bytes]:
        head = self.reading.read(2)
        if len(head) < 2:
            return _CLOSE, b""
        size = head[1] & 0x7F
        if size > 125:
            size = int.from_bytes(self.reading.read(2 if size == 126 else 8), "big")
        assert head[1] & 0x80, "a client masks what it sends"
        mask = self.reading.read(4)
        data = self.reading.read(size)
        return head[0] & 0x0F, bytes(byte ^ mask[n % 4] for n, byte in enumerate(data))
