"""Questions over HTTP, against a real server: every answer is a Reply, every mistake has its envelope."""

from __future__ import annotations

import json
import resource
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
import yaml

from bot.conversation import Reply
from bot.evidence.store.engine import connect
from bot.evidence.store.tables import audit
from bylaw.audit.verify import verify

ROWS = yaml.safe_load(Path(__file__).with_name("refused.yaml").read_text())


def envelope(answered: httpx.Response) -> dict:
    """The error in it, of the right shape and with the request's id."""
    body = answered.json()
    assert set(body) == {"error"}
    assert set(body["error"]) == {"code", "message", "details", "request_id"}
    assert body["error"]["request_id"] == answered.headers["x-request-id"]
    return body["error"]


def test_a_question_gets_a_reply(shared):
    answered = httpx.post(f"{shared.address}/v2/query", json={"text": "revenue by region", "request_id": "r1"})
    assert answered.status_code == 200
    assert answered.headers["content-type"] == "application/json"
    assert answered.headers["x-request-id"] == "r1"
    said = Reply.model_validate(answered.json())
    assert (said.kind, said.status, said.rows) == ("data", "answered", (("EU", 12.5), ("US", 7)))
    assert (said.bundle_etag, said.commit) == (shared.etag, "abc1234")


QUESTIONS = {"/v2/query": {}, "/v2/guidance": {}, "/v2/enforce": {"response": "It depends."}}


@pytest.mark.parametrize("path", QUESTIONS)
def test_a_question_is_called_text_in_every_body_and_an_older_name_is_said_to_be_old(path, shared):
    def post(**names: str) -> httpx.Response:
        return httpx.post(f"{shared.address}{path}", json={**QUESTIONS[path], **names}, timeout=30)

    fresh = post(text="revenue by region")
    assert fresh.status_code == 200 and not {"deprecation", "warning"} & set(fresh.headers)
    for old in ("question", "query"):
        aged = post(**{old: "revenue by region"})
        assert aged.status_code == 200 and aged.headers["deprecation"] == "@1795824000"
        assert f"write `text` instead of `{old}`" in aged.headers["warning"]
        assert post(text="revenue", **{old: "orders"}).status_code == 422  # two questions are none
    assert post().status_code == 422


def test_the_schema_of_every_question_names_its_text(shared):
    published = httpx.get(f"{shared.address}/openapi.json").json()
    for path in QUESTIONS:
        body = published["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"]
        model = published["components"]["schemas"][body["$ref"].rpartition("/")[2]]
        assert "text" in model["required"] and not {"question", "query"} & set(model["properties"])


@pytest.mark.parametrize("key", ["text", "natural_language"])
def test_an_agent_may_call_its_question_text_too(key, shared):
    answered = httpx.post(f"{shared.address}/v2/analytics", json={"query": {key: "revenue by region"}}, timeout=30)
    assert (answered.status_code, answered.json()["status"]) == (200, "completed")


def test_items_that_are_none_are_refused_by_name(shared):
    body = {"text": "revenue by region", "items": [{"kind": "asks", "nmae": "revenue", "quote": "revenue"}]}
    answered = httpx.post(f"{shared.address}/v2/query", json=body)
    assert answered.status_code in (400, 422)
    assert "nmae" in envelope(answered)["message"]


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("application/json; charset=utf-8", 200),
        ("Application/JSON", 200),
        ("application/vnd.api+json", 200),
        ("application/jsonp", 422),
        ("json", 422),
        ("text/json", 422),
        ("", 422),
    ],
)
def test_a_body_is_read_where_it_is_said_to_be_json(shared, kind, status):
    headers = {"content-type": kind}
    answered = httpx.post(f"{shared.address}/v2/query", content=b'{"text": "revenue"}', headers=headers)
    assert answered.status_code == status
    assert status == 200 or envelope(answered)["code"] == "VALIDATION_FAILED"


@pytest.mark.parametrize(
    ("text", "kind", "status"),
    [
        ("why did we leave plasma?", "decision", "answered"),
        ("may I return it?", "policy", "needs_fact"),
        ("sing me a song", "refusal", "refused"),
        ("revenue offline", "data", "escalated"),
        ("revenue drop", "data", "refused"),
    ],
)
def test_every_kind_of_answer_is_a_reply(shared, text, kind, status):
    said = Reply.model_validate(shared.ask(text))
    assert (said.kind, said.status) == (kind, status)


def test_a_conversation_needs_its_session_and_its_person(shared):
    shared.ask("may I return it?", session_id="s", user="ana")
    assert shared.ask("20 days", session_id="s", user="bob")["kind"] == "refusal"
    assert shared.ask("20 days", session_id="s", user="ana")["facts"] == {"days": 20}
    assert shared.ask("Yes", session_id="s", user="ana")["outcomes"] == {"refund": "full_refund"}


def test_without_a_session_every_question_stands_alone(shared):
    first = shared.ask("may I return it?")
    assert shared.ask("20 days")["kind"] == "refusal"
    assert shared.ask("20 days", session_id=first["session_id"])["kind"] == "policy"


def test_the_same_request_is_answered_once(server):
    first = server.ask("revenue", request_id="r1")
    assert server.ask("revenue", request_id="r1") == first
    store = connect("sqlite:///.bylaw/store.db", server.folder)
    with store.reading() as connection:
        entries = list(audit.entries(connection))
    assert [entry.body.get("request_id") for entry in entries] == [None, "r1"]  # the first says what is served
    conflict = httpx.post(f"{server.address}/v2/query", json={"text": "other", "request_id": "r1"})
    assert conflict.status_code == 409
    assert envelope(conflict)["code"] == "REQUEST_CONFLICT"


def test_the_time_may_be_given(shared):
    assert shared.ask("revenue", at="2026-11-20T09:30:00+01:00")["status"] == "answered"


@pytest.mark.parametrize(
    ("given", "kept"),
    [("mine-1", True), ("", False), ("x" * 129, False), ("två", False), ("a\tb", False)],
)
def test_a_request_id_may_come_in_the_header(shared, given, kept):
    headers = [(b"x-request-id", given.encode())]
    answered = httpx.post(f"{shared.address}/v2/query", json={"text": "revenue"}, headers=headers)
    assert answered.status_code == 200
    assert (answered.headers["x-request-id"] == given) == kept
    assert answered.json()["request_id"] == answered.headers["x-request-id"]


@pytest.mark.parametrize("row", ROWS, ids=[row["title"] for row in ROWS])
def test_a_bad_request_has_its_envelope(shared, row):
    body = row["body"] * row.get("times", 1) if isinstance(row["body"], str) else json.dumps(row["body"])
    headers = {"content-type": "application/json", **row.get("headers", {})}
    raw = bytes.fromhex(row["hex"]) if "hex" in row else body.encode()
    answered = httpx.request(
        row.get("method", "POST"), shared.address + row.get("path", "/v2/query"), content=raw, headers=headers
    )
    assert answered.status_code == row["status"], answered.text
    error = envelope(answered)
    assert error["code"] == row["code"]
    assert row.get("says", "") in answered.text
    assert shared.ask("revenue")["status"] == "answered"  # and the shared goes on


def test_a_body_that_does_not_say_its_length_is_cut_off_at_the_limit(shared):
    def endless():
        yield b'{"text": "'
        for _ in range(100):
            yield b"x" * 4096
        yield b'"}'

    with socket.create_connection(("127.0.0.1", shared.port)) as wire:
        wire.sendall(b"POST /v2/query HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
        try:
            for part in endless():
                wire.sendall(f"{len(part):x}\r\n".encode() + part + b"\r\n")
        except OSError:
            pass  # the shared hung up in the middle, as it should
        said = wire.recv(65536)
    assert said.startswith(b"HTTP/1.1 413")


def test_an_internal_error_is_said_without_its_inside_and_recorded(server):
    answered = httpx.post(f"{server.address}/v2/query", json={"text": "revenue crash", "request_id": "r1"})
    assert answered.status_code == 500
    error = envelope(answered)
    assert (error["code"], error["request_id"]) == ("INTERNAL", "r1")
    assert "division" not in answered.text
    store = connect("sqlite:///.bylaw/store.db", server.folder)
    with store.reading() as connection:
        (entry,) = audit.about(connection, "r1")
    assert entry.body["error"] == "ZeroDivisionError: division by zero"


@pytest.mark.slow
def test_many_at_once_are_all_answered_and_kept(server):
    with ThreadPoolExecutor(12) as pool:
        texts = ["revenue by region", "why did we leave plasma?", "may I return it?", "sing"]
        replies = list(pool.map(lambda n: server.ask(texts[n % 4], request_id=f"r{n}", session_id="s"), range(60)))
    assert [said["request_id"] for said in replies] == [f"r{n}" for n in range(60)]
    store = connect("sqlite:///.bylaw/store.db", server.folder)
    with store.reading() as connection:
        entries = list(audit.entries(connection))
    assert len(entries) == 61  # the bundle is served, and each answer
    assert verify(entries).is_intact


def test_the_schema_of_a_reply_is_published(shared):
    schema = httpx.get(f"{shared.address}/openapi.json").json()
    assert "Reply" in schema["components"]["schemas"]
    assert httpx.get(f"{shared.address}/docs").status_code == 404


# --- who may come in -------------------------------------------------------------------------------------------------


def test_with_a_token_the_actor_is_the_tokens_user(guarded):
    headers = [(b"authorization", "Bearer s3cret-ü".encode())]
    body = {"text": "revenue", "request_id": "r1", "user": "the boss"}
    assert httpx.post(f"{guarded.address}/v2/query", json=body, headers=headers).status_code == 200
    store = connect("sqlite:///.bylaw/store.db", guarded.folder)
    with store.reading() as connection:
        (entry,) = audit.about(connection, "r1")
    assert entry.body["actor"]["id"] == "desk"


@pytest.mark.parametrize(
    "given", [None, "", "Bearer", "Bearer wrong", "Basic s3cret-ü", "s3cret-ü", "Bearer s3cret-ü x"]
)
def test_without_the_token_nothing_is_read(guarded, given):
    headers = [] if given is None else [(b"authorization", given.encode())]
    answered = httpx.post(f"{guarded.address}/v2/query", content=b"{not even json", headers=headers)
    assert answered.status_code == 401
    assert answered.headers["www-authenticate"] == "Bearer"
    assert envelope(answered)["code"] == "UNAUTHORIZED"
    assert "s3cret" not in answered.text
    assert httpx.get(f"{guarded.address}/healthz").status_code == 200  # health needs no token
    assert httpx.get(f"{guarded.address}/openapi.json").status_code == 401


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", ""])
def test_without_a_token_a_foreign_host_name_is_not_served(shared, host):
    answered = httpx.post(f"{shared.address}/v2/query", json={"text": "revenue"}, headers={"host": host})
    assert answered.status_code in (400, 403)
    good = httpx.post(
        f"{shared.address}/v2/query", json={"text": "revenue"}, headers={"host": f"localhost:{shared.port}"}
    )
    assert good.status_code == 200


# --- health ----------------------------------------------------------------------------------------------------------


def test_a_healthy_server_is_up_and_ready(shared):
    assert httpx.get(f"{shared.address}/healthz").json() == {"status": "up"}
    ready = httpx.get(f"{shared.address}/readyz")
    assert ready.status_code == 200
    assert ready.json() == {
        "status": "ready",
        "bundle_etag": shared.etag,
        "commit": "abc1234",
        "store": "reachable",
        "refused_bundle": None,
        "unproven": 0,
    }


def test_without_its_store_a_server_is_up_but_not_ready(server):
    store = connect("sqlite:///.bylaw/store.db", server.folder)
    with store.writing() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = 'other'")
    assert httpx.get(f"{server.address}/healthz").status_code == 200
    ready = httpx.get(f"{server.address}/readyz")
    assert ready.status_code == 503
    assert ready.json()["store"] == "unreachable"


def test_a_server_that_could_keep_nothing_is_not_ready(server):
    assert httpx.get(f"{server.address}/readyz").status_code == 200
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (1, resource.RLIM_INFINITY))  # as on a full disk
    until = time.monotonic() + 10
    while (ready := httpx.get(f"{server.address}/readyz")).status_code == 200:
        assert time.monotonic() < until
    assert (ready.status_code, ready.json()["store"], ready.json()["status"]) == (503, "read-only", "not ready")
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    while httpx.get(f"{server.address}/readyz").status_code != 200:
        assert time.monotonic() < until


def test_a_disk_without_room_for_a_reply_is_not_ready(server):
    """The pulse writes one row over and over, into space that the log of the store has: that alone says nothing."""
    for _ in range(2):
        assert httpx.get(f"{server.address}/readyz").status_code == 200
    limits = (300_000, resource.RLIM_INFINITY)  # no file grows beyond that, as where a disk is nearly full
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, limits)
    until = time.monotonic() + 10
    while (ready := httpx.get(f"{server.address}/readyz")).status_code == 200:
        assert time.monotonic() < until
    assert ready.json()["store"] == "read-only"


def test_a_store_that_breaks_is_said_without_its_address(server):
    store = connect("sqlite:///.bylaw/store.db", server.folder)
    with store.writing() as connection:
        connection.exec_driver_sql("DROP TABLE audit")
    answered = httpx.post(f"{server.address}/v2/query", json={"text": "revenue"})
    assert answered.status_code == 503
    assert envelope(answered)["code"] == "NOT_READY"
    assert envelope(answered)["details"]["help"].startswith("ask again later")
    assert "audit" not in answered.text
