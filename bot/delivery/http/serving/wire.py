"""What is read off a connection: requests, by the parser in C of `bylaw-policies[fast]`, which minds no length.

A head may be as long here as where the server's own parser reads. The body has its own limit, once it is known who
asks: `bot.delivery.http.frame`.
"""

from __future__ import annotations

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from bot.delivery.http.serving.patience import Patience

MAX_HEAD = 16 * 1024  # bytes of the request line and the headers, as in h11


class Wire(Patience, HttpToolsProtocol):  # type: ignore[misc]  # the mixin is told of one reader, and fits both
    """One connection."""

    _is_in_head = True
    _head_size = 0

    def data_received(self, data: bytes) -> None:
        """Read on; the connection ends with a head that does not."""
        self._head_size += len(data)
        super().data_received(data)
        if self._is_in_head and self._head_size > MAX_HEAD and not self.transport.is_closing():
            self.logger.warning("the head of a request is too long")
            self.send_400_response(f"The head of a request may have {MAX_HEAD} bytes.")

    def on_headers_complete(self) -> None:
        """From here on it is the body that comes."""
        self._is_in_head = False
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """What comes next is the head of another."""
        super().on_message_complete()
        self._is_in_head, self._head_size = True, 0
