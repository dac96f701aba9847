"""Slow and many clients: who does not come to an end is let go, and nobody else is kept waiting by them."""

from __future__ import annotations

import json
import resource
import select
import socket
import threading
import time

import httpx
import pytest

from bot.delivery.http.serving import patience

BODY = json.dumps({"text": "revenue"}).encode()
HEAD = b"POST /v2/query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
WHOLE = HEAD + b"Content-Length: %d\r\n\r\n" % len(BODY) + BODY
SECONDS = 30  # for what takes one or two


def connected(server):
    return socket.create_connection(("127.0.0.1", server.port), timeout=SECONDS)


def trickled(connection, piece, pause=0.2):
    """What is answered to somebody who sends *piece* again and again, until the connection ends."""
    found, until = b"", time.monotonic() + SECONDS
    connection.settimeout(pause)
    while time.monotonic() < until:
        try:
            connection.sendall(piece)
            more = connection.recv(65536)
            if not more:
                return found
            found += more
        except TimeoutError:
            continue
        except OSError:
            return found
    pytest.fail(f"the connection was kept: {found}")


def answered(connection):
    """What comes until the connection ends."""
    found = b""
    while more := connection.recv(65536):
        found += more
    return found


@pytest.fixture
def hasty(start):
    return start(BYLAW_HEAD_SECONDS="1", BYLAW_BODY_SECONDS="1")


def test_a_head_that_comes_byte_by_byte_is_not_waited_for(hasty):
    with connected(hasty) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n")
        assert trickled(connection, b"x: y\r\n").startswith(b"HTTP/1.1 408 ")


def test_nothing_at_all_is_not_waited_for(hasty):
    with connected(hasty) as connection:
        assert answered(connection) == b""


def test_a_body_that_comes_byte_by_byte_is_not_waited_for(hasty):
    with connected(hasty) as connection:
        connection.sendall(HEAD + b"Content-Length: 5000\r\n\r\n")
        found = trickled(connection, b" ")
    assert found.startswith(b"HTTP/1.1 408 ")
    assert b'"TIMEOUT"' in found


def test_what_comes_behind_an_answer_is_not_waited_for_either(hasty):
    with connected(hasty) as connection:
        connection.sendall(b"GET /nowhere HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert trickled(connection, b"G").startswith(b"HTTP/1.1 404 ")


def test_a_slow_answer_is_waited_for(start):
    server = start("slow", BYLAW_HEAD_SECONDS="1", BYLAW_BODY_SECONDS="1")
    with connected(server) as connection:
        connection.sendall(WHOLE)
        time.sleep(0.9)  # what is under test is that time passes
        assert connection.recv(65536).startswith(b"HTTP/1.1 200 ")


def test_connections_that_say_nothing_give_their_place_to_those_that_ask(start):
    server = start(BYLAW_MAX_CONNECTIONS="20", BYLAW_WORKERS="1")
    idle = [connected(server) for _ in range(60)]
    assert server.ask("revenue")["status"] == "answered"
    until = time.monotonic() + SECONDS
    while len(closed := select.select(idle, [], [], 0.05)[0]) < 40:  # a closed one has its end to be read
        assert time.monotonic() < until, len(closed)
    assert server.ask("revenue")["status"] == "answered"
    for connection in idle:
        connection.close()


def test_where_all_are_being_answered_the_next_is_turned_away(start):
    server = start("slow", BYLAW_MAX_CONNECTIONS="4", BYLAW_WORKERS="1")
    busy = [connected(server) for _ in range(4)]
    for connection in busy:
        connection.sendall(WHOLE)
    time.sleep(0.3)  # until they are being answered
    with connected(server) as late:
        found = answered(late)
    assert found.startswith(b"HTTP/1.1 503 ")
    assert b"retry-after: 1" in found
    assert json.loads(found.partition(b"\r\n\r\n")[2]) == {"meta": {"load_shed": True}}
    for connection in busy:
        assert connection.recv(65536).startswith(b"HTTP/1.1 200 ")
        connection.close()


@pytest.mark.parametrize(
    "allowed, most", [(64, 16), (256, 64), (300, 75), (1024, 768), (100_000, 1000), (resource.RLIM_INFINITY, 1000)]
)
def test_descriptors_are_left_for_the_store(monkeypatch, allowed, most):
    monkeypatch.setattr(resource, "getrlimit", lambda what: (allowed, allowed))
    assert patience.most_connections(1000) == most


def test_beyond_what_there_is_room_for_is_told_at_once_to_come_back(start):
    server = start("slow", BYLAW_MAX_REQUESTS="4", BYLAW_WORKERS="1")
    found, lock = [], threading.Lock()

    def ask():
        answer = httpx.post(f"{server.address}/v2/query", json={"text": "slowly"}, timeout=SECONDS)
        with lock:
            found.append((answer.status_code, answer.headers.get("retry-after"), answer.json()))

    asking = [threading.Thread(target=ask) for _ in range(12)]
    for one in asking:
        one.start()
    for one in asking:
        one.join()
    shed = [one for one in found if one[0] == 503]
    assert sorted({status for status, *_ in found}) == [200, 503]
    assert len(found) - len(shed) >= 4
    for _, again, told in shed:
        assert (again, told["error"]["code"], told["meta"]) == ("1", "OVERLOADED", {"load_shed": True})
    assert httpx.get(f"{server.address}/healthz").status_code == 200


@pytest.mark.parametrize(
    "sent",
    [
        HEAD + b"Content-Length: 19\r\nTransfer-Encoding: chunked\r\n\r\n13\r\n" + BODY + b"\r\n0\r\n\r\n",
        HEAD + b"Transfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n0\r\n\r\nGET /healthz HTTP/1.1\r\n\r\n",
        HEAD + b"Content-Length: 19\r\nContent-Length: 20\r\n\r\n" + BODY,
        HEAD + b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
        HEAD + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        HEAD + b"Content-Length: +19\r\n\r\n" + BODY,
        HEAD + b"Host: evil\r\nContent-Length: 19\r\n\r\n" + BODY,
    ],
    ids=["both", "both, a second request", "two lengths", "another coding", "no coding", "a sign", "two hosts"],
)
def test_a_request_that_two_would_read_differently_is_refused(shared, sent):
    with connected(shared) as connection:
        connection.sendall(sent)
        found = answered(connection)
    assert found[:13] in (b"HTTP/1.1 400 ", b"HTTP/1.1 501 ")
    assert found.count(b"HTTP/1.1") == 1


def test_a_caller_may_ask_so_often_and_others_go_on(start):
    server = start(BYLAW_RATE="5", BYLAW_TOKEN="s3cret", BYLAW_WORKERS="1")
    with httpx.Client(base_url=server.address, headers={"Authorization": "Bearer s3cret"}) as http:
        told = [http.get("/nowhere") for _ in range(40)]
        assert {answer.status_code for answer in told} == {404, 429}
        late = next(answer for answer in told if answer.status_code == 429)
        assert late.json()["error"]["code"] == "TOO_MANY"
        assert 1 <= int(late.headers["retry-after"]) <= 2
        assert http.get("/healthz").status_code == 200
    assert httpx.get(f"{server.address}/nowhere").status_code == 401  # another caller: the address


def test_guessing_a_token_is_slowed_down(start):
    server = start(BYLAW_RATE="5", BYLAW_TOKEN="s3cret", BYLAW_WORKERS="1")
    with httpx.Client(base_url=server.address) as http:
        told = [http.get("/nowhere", headers={"Authorization": f"Bearer {n}"}).status_code for n in range(40)]
    assert (told[0], told[-1]) == (401, 429)
