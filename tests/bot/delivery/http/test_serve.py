"""A server starts on loopback only unless it has a token, stops gracefully, and logs without telling what was asked."""

from __future__ import annotations

import json
import signal
import socket
import threading
import time

import httpx
import pytest

from bot.delivery.http.identity.identity import LOOPBACK
from bot.delivery.http.serving.serve import address, bound
from bot.settings import Settings
from bylaw.errors import BylawError, UsageError
from tests.rows import each


def log(server):
    return [json.loads(line) for line in (server.folder / "log").read_text().splitlines()]


@each("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])
def test_others_are_not_served_without_a_token(host):
    with pytest.raises(UsageError, match="without a token"):
        bound(Settings(host=host))


def test_a_port_in_use_is_an_error_with_words():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(BylawError, match=f"cannot listen on 127.0.0.1:{port}"):
            bound(Settings(port=port))


@each("host, shown", [("127.0.0.1", "http://127.0.0.1:"), ("::1", "http://[::1]:")])
def test_an_address_is_told_as_a_browser_takes_it(host, shown):
    with bound(Settings(host=host, port=0)) as listening:
        assert address(listening) == f"{shown}{listening.getsockname()[1]}"


def test_no_answer_waits_for_the_client_to_acknowledge_its_head():
    with bound(Settings(port=0)) as listening, socket.create_connection(listening.getsockname()):
        taken, _ = listening.accept()
        with taken:
            assert taken.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_loopback_has_three_names():
    assert {"127.0.0.1", "localhost", "::1"} == LOOPBACK


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_stopping_server_answers_what_it_has_begun(start, how):
    server = start("slow")
    got = {}
    asking = threading.Thread(target=lambda: got.update(server.ask("slowly", request_id="r1")))
    asking.start()
    while "r1" not in _begun(server):
        pass
    server.process.send_signal(how)
    asking.join(30)
    assert got["text"] == "It lost money."
    assert server.process.wait(30) == 0
    assert server.process.stdout.read() == "closed\n"  # everything after serving still ran
    with pytest.raises(httpx.TransportError):
        httpx.get(f"{server.address}/healthz")


def test_a_client_that_goes_ends_its_question_and_may_ask_it_again(start):
    server = start("patient")
    with pytest.raises(httpx.TimeoutException):
        httpx.post(f"{server.address}/v2/query", json={"text": "slowly", "request_id": "r1"}, timeout=0.5)
    end = time.monotonic() + 2.5  # the answer itself would take three
    while (found := _standing(server)) is None or found.failure is None:
        assert time.monotonic() < end
    assert (found.reply, found.failure.partition(":")[0]) == (None, "NobodyWaits")
    assert server.ask("slowly", request_id="r1")["text"] == "It lost money."
    server.process.terminate()
    server.process.wait(30)
    assert [line["meta"]["status"] for line in log(server) if line.get("message") == "request"] == [499, 200]


def _begun(server):
    found = _standing(server)
    return [] if found is None else [found.request_id]


def _standing(server):
    from bot.evidence.store.engine import connect
    from bot.evidence.store.tables import requests

    store = connect("sqlite:///.bylaw/store.db", server.folder)
    with store.reading() as connection:
        found = requests.load(connection, "r1")
    store.close()
    return found


def test_a_reply_is_there_after_a_restart(start):
    first = start()
    said = first.ask("may I return it?", request_id="r1", session_id="s")
    first.process.kill()
    first.process.wait()
    second = start()
    assert second.ask("may I return it?", request_id="r1", session_id="s") == said
    assert second.ask("20 days", session_id="s")["facts"] == {"days": 20}


def test_the_log_is_json_and_does_not_say_what_was_asked(start):
    server = start()
    server.ask("may I return the SECRET thing?", request_id="r1")
    httpx.post(f"{server.address}/v2/query", json={"text": "revenue crash SECRET"})
    server.process.terminate()
    server.process.wait(30)
    lines = log(server)
    (mine,) = [line for line in lines if line.get("request_id") == "r1"]
    assert mine["meta"] == {"method": "POST", "path": "/v2/query", "status": 200}
    assert {"timestamp", "level", "service", "latency_ms", "stage"} <= set(mine)
    assert any("ZeroDivisionError" in line.get("error", "") for line in lines)
    assert "SECRET" not in (server.folder / "log").read_text()
