"""A connection gives up on a head that never ends, whatever it is made of, and reads one after the other."""

from __future__ import annotations

import json
import socket
from importlib.util import find_spec

import pytest

from bot.delivery.http.serving import serve
from bot.delivery.http.serving.patience import PlainWire

MAX_HEAD = 16 * 1024  # of both readers

HEALTH = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
MANY = b"".join(b"x-%d: %s\r\n" % (n, b"y" * 100) for n in range(MAX_HEAD // 100))


RESET = b"the connection was ended"  # while more was being sent: what was answered may be lost


def asked(connection, *pieces):
    """What is answered on *connection* to *pieces*, up to a whole JSON document or the end."""
    found = b""
    try:
        for piece in pieces:
            connection.sendall(piece)
        while not found.endswith(b"}") and (more := connection.recv(65536)):
            found += more
    except ConnectionError:
        return found or RESET
    return found


def told(server, *pieces):
    """The same on a connection of its own."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        return asked(connection, *pieces)


@pytest.mark.parametrize(
    "head",
    [b"GET /" + b"a" * 2 * MAX_HEAD, HEALTH + b"x: " + b"y" * 2 * MAX_HEAD, HEALTH + MANY * 2],
    ids=["an address", "a header", "headers"],
)
def test_a_head_that_does_not_end_is_not_read_on(shared, head):
    found = told(shared, head)
    assert found == RESET or (found.startswith(b"HTTP/1.1 400 ") and b"connection: close" in found.lower())


def test_a_long_head_that_ends_is_read(shared):
    assert told(shared, HEALTH, MANY[: MAX_HEAD // 2].rpartition(b"\r\n")[0], b"\r\n\r\n").startswith(b"HTTP/1.1 200 ")


def test_a_long_body_is_no_head(shared):
    body = json.dumps({"text": "a" * 2 * MAX_HEAD}).encode()
    head = b"POST /v2/query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    assert told(shared, head % len(body), body).startswith((b"HTTP/1.1 422 ", b"HTTP/1.1 413 "))


def test_each_request_of_a_connection_has_a_head_of_its_own(shared):
    whole = HEALTH + b"x: " + b"y" * (MAX_HEAD // 2) + b"\r\n\r\n"
    with socket.create_connection(("127.0.0.1", shared.port), timeout=60) as connection:
        for _ in range(4):
            assert asked(connection, whole).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("sent", [b"nonsense\r\n\r\n", b"GET /\xff HTTP/1.1\r\n\r\n"])
def test_what_is_no_request_is_refused(shared, sent):
    assert told(shared, sent).startswith(b"HTTP/1.1 400 ")


def test_without_the_faster_reader_another_reads(monkeypatch):
    is_there = find_spec("httptools") is not None
    assert (serve._reader() is not PlainWire) is is_there
    monkeypatch.setattr(serve, "find_spec", lambda name: None)
    assert serve._reader() is PlainWire
