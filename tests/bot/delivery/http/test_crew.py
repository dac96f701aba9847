"""Several processes at one address: one chain for all, one that dies is replaced, and they end together."""

from __future__ import annotations

import json
import signal
import threading
import time
from contextlib import ExitStack, contextmanager

import httpx
import psutil
import pytest

from bot.delivery.http.serving import crew
from bot.evidence.store.engine import connect
from bot.evidence.store.tables import audit
from tests.fakes.bundle import write_bundle

pytestmark = pytest.mark.slow

SECONDS = 60  # for what takes a moment on a machine that has nothing else to do


def until(is_so, *given):
    """Wait until it is so."""
    end = time.monotonic() + SECONDS
    while not is_so(*given):
        assert time.monotonic() < end, is_so
        time.sleep(0.05)


def workers(server):
    return {child.pid for child in psutil.Process(server.process.pid).children()}


@contextmanager
def reading(server):
    store = connect("sqlite:///.bylaw/store.db", server.folder)
    with store.reading() as connection:
        yield connection
    store.close()


def chain(server):
    with reading(server) as connection:
        return audit.verify(connection), list(audit.entries(connection))


class Client(threading.Thread):
    """Asks again and again, on one connection after the other; `said` are the replies it was given."""

    def __init__(self, server, name):
        super().__init__(daemon=True)
        self.server, self.said, self.over, self.named = server, {}, threading.Event(), name
        self.start()

    def run(self):
        while not self.over.is_set():
            with httpx.Client(base_url=self.server.address, timeout=SECONDS) as http:
                for _ in range(5):
                    asked = {"text": "revenue", "request_id": f"{self.named}-{len(self.said)}", "user": self.named}
                    try:
                        answered = http.post("/v2/query", json=asked)
                    except httpx.TransportError:
                        break  # asked again, under the same id
                    assert answered.status_code == 200, answered.text
                    self.said[asked["request_id"]] = answered.json()


def test_a_killed_process_loses_nothing_that_was_answered_and_is_replaced(start):
    server = start(BYLAW_WORKERS="2", BYLAW_LEASE_SECONDS="1")
    first = workers(server)
    assert len(first) == 2
    clients = [Client(server, f"u{n}") for n in range(6)]
    for victim in sorted(first):
        seen = [len(client.said) for client in clients]
        until(lambda seen=seen: all(len(client.said) > count for client, count in zip(clients, seen, strict=True)))
        psutil.Process(victim).kill()
    until(lambda: len(workers(server) - first) == 2)
    seen = [len(client.said) for client in clients]
    until(lambda: all(len(client.said) > count for client, count in zip(clients, seen, strict=True)))
    for client in clients:
        client.over.set()
    for client in clients:
        client.join(SECONDS)
    server.process.send_signal(signal.SIGTERM)
    assert server.process.wait(SECONDS) == 0
    found, entries = chain(server)
    assert found.is_intact, found.breaks
    kept = [entry.body["request_id"] for entry in entries if entry.body["event"] == "reply"]
    said = {name for client in clients for name in client.said}
    assert said <= set(kept)
    assert len(kept) == len(set(kept))


def test_all_end_when_they_are_told(start):
    server = start(BYLAW_WORKERS="2")
    answering = [psutil.Process(pid) for pid in workers(server)]
    server.process.send_signal(signal.SIGTERM)
    assert server.process.wait(SECONDS) == 0
    assert server.process.stdout.read() == "closed\n"
    assert not any(process.is_running() for process in answering)


def test_all_end_when_the_one_that_watches_is_killed(start):
    server = start(BYLAW_WORKERS="2")
    answering = [psutil.Process(pid) for pid in workers(server)]
    server.process.kill()
    until(lambda: not any(process.is_running() for process in answering))


def test_one_request_that_comes_to_all_of_them_is_answered_once(start):
    server = start(BYLAW_WORKERS="3")
    said = []

    def ask():
        said.append(server.ask("revenue", request_id="r1", session_id="s1"))

    asking = [threading.Thread(target=ask) for _ in range(12)]
    for one in asking:
        one.start()
    for one in asking:
        one.join(SECONDS)
    assert len(said) == 12
    assert all(reply == said[0] for reply in said)
    found, entries = chain(server)
    assert found.is_intact
    assert len(entries) == 2  # the bundle is served, and the one answer


def test_connections_that_stay_are_spread_evenly(start):
    server = start(BYLAW_WORKERS="2")

    def spread():
        held = [psutil.Process(pid).net_connections("tcp") for pid in workers(server)]
        return [sum(one.status == psutil.CONN_ESTABLISHED for one in each) for each in held]

    with ExitStack() as stack:
        for _ in range(8):
            http = stack.enter_context(httpx.Client(base_url=server.address, timeout=SECONDS))
            assert http.get("/healthz").status_code == 200
        until(lambda: spread() == [4, 4])


def test_each_of_them_takes_a_new_bundle_up(start):
    server = start(BYLAW_WORKERS="2")
    newer = write_bundle(server.folder / "bundle.json", "f" * 40)
    assert newer != server.etag
    assert {server.ask("revenue")["bundle_etag"] for _ in range(20)} == {newer}


def test_what_keeps_the_first_from_starting_is_said_once_and_ends_all(tmp_path, bylaw):
    (tmp_path / "bundle.json").write_text(json.dumps({"schema_version": "0"}))
    done = bylaw("serve", "--bundle", "bundle.json", "--port", "0", "--workers", "2", cwd=tmp_path)
    assert done.code == 2
    assert done.err.count("error: ") == 1


@pytest.mark.parametrize("killed", ["1", "2,3"], ids=["the first", "the second, twice"])
def test_one_that_is_killed_while_it_starts_is_replaced(start, killed):
    server = start("fragile", killed, BYLAW_WORKERS="2")
    assert len(workers(server)) == 2
    assert server.ask("revenue")["status"] == "answered"


def test_one_that_is_killed_whenever_it_starts_ends_all(start, tmp_path):
    with pytest.raises(pytest.fail.Exception):
        start("fragile", ",".join(map(str, range(2, 50))), BYLAW_WORKERS="2")
    assert (tmp_path / "log").read_text().count("a process that answers has ended") >= len(crew._PAUSES)


def test_a_socket_to_slack_is_held_by_one_process(tmp_path, bylaw):
    done = bylaw("serve", "--slack", "socket", "--workers", "2", cwd=tmp_path)
    assert done.code == 2
    assert "held by one process" in done.err


def test_there_are_as_many_as_processors_up_to_a_few(monkeypatch):
    monkeypatch.setattr(crew.os, "sched_getaffinity", lambda _pid: set(range(64)), raising=False)
    assert crew.usual_count() == crew.MOST
    monkeypatch.setattr(crew.os, "sched_getaffinity", lambda _pid: {3})
    assert crew.usual_count() == 1
