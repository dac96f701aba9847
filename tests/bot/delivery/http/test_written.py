"""Answers that are sent to a real server while they are written: lines in, verdict lines out, nothing unbounded."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.enforcement.enforce import MAX_RESPONSE
from bot.enforcement.writing.sentences import Splitter, split
from bot.evidence.store.engine import connect
from bot.evidence.store.tables import audit
from tests.bot.delivery.http.test_enforce import QUERY, scaffold
from tests.rows import each

__all__ = ["scaffold"]
LINES = {"Content-Type": "application/x-ndjson"}


def line(**value: Any) -> bytes:
    return json.dumps(value).encode() + b"\n"


def sent(server: Any, body: Iterable[bytes], **headers: str) -> httpx.Response:
    return httpx.post(f"{server.address}/v2/enforce", content=iter(body), headers={**LINES, **headers}, timeout=60)


def said(server: Any, *pieces: str, **asked: Any) -> list[dict[str, Any]]:
    answered = sent(server, [line(text=QUERY, **asked), *(line(text=piece) for piece in pieces)])
    assert (answered.status_code, answered.headers["content-type"]) == (200, "application/x-ndjson")
    return [json.loads(one) for one in answered.text.splitlines()]


def recorded(server: Any, request_id: str) -> list[dict[str, Any]]:
    store = connect("sqlite:///.bylaw/store.db", Path(server.folder))
    with store.reading() as connection:
        found = [entry.body for entry in audit.about(connection, request_id)]
        assert audit.verify(connection).is_intact
    store.close()
    return found


def test_sentences_leave_one_by_one_and_the_decision_ends_them(scaffold: Any) -> None:
    *left, last = said(scaffold, "Thanks for as", "king. Do you ", "have the", " receipt?", request_id="w1")
    assert [one["sentence"]["text"] for one in left] == ["Thanks for asking.", "Do you have the receipt?"]
    assert (last["decision"]["action"], last["decision"]["delivered"]) == (
        "pass",
        "Thanks for asking. Do you have the receipt?",
    )
    (entry,) = recorded(scaffold, "w1")
    assert (entry["event"], entry["final_action"]) == ("enforce", "pass")


def test_it_is_the_verdict_that_the_whole_gets(scaffold: Any) -> None:
    text = "Thanks for asking. You get a full refund. Have a nice day."
    whole = httpx.post(f"{scaffold.address}/v2/enforce", json={"text": QUERY, "response": text}, timeout=30).json()
    *left, last = said(scaffold, *text)
    assert [one["sentence"]["text"] for one in left] == ["Thanks for asking."]
    kinds = [{broken["kind"] for broken in found["violations"]} for found in (last["decision"], whole)]
    assert kinds[0] and kinds[0] <= kinds[1]
    assert (last["decision"]["action"], last["decision"]["delivered"]) == (whole["action"], None)


def test_events_are_sent_where_they_are_asked_for(scaffold: Any) -> None:
    body = [line(text=QUERY), line(text="Do you have the receipt?")]
    answered = sent(scaffold, body, Accept="text/event-stream")
    assert answered.headers["content-type"].startswith("text/event-stream")
    assert [block.split("\n")[0] for block in answered.text.strip().split("\n\n")] == [
        "event: sentence",
        "event: decision",
    ]


def chunk(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


def opened(server: Any) -> socket.socket:
    wire = socket.create_connection(("127.0.0.1", server.port), timeout=30)
    head = "POST /v2/enforce HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-ndjson\r\n"
    wire.sendall(head.encode() + b"Transfer-Encoding: chunked\r\n\r\n")
    return wire


def until(wire: socket.socket, mark: bytes) -> bytes:
    got = b""
    while mark not in got:
        more = wire.recv(4096)
        assert more, got
        got += more
    return got


def test_a_sentence_leaves_before_the_next_one_is_written(scaffold: Any) -> None:
    with opened(scaffold) as wire:
        wire.sendall(chunk(line(text=QUERY)) + chunk(line(text="Thanks for asking. Do you ")))
        assert b"Thanks for asking." in until(wire, b"sentence")  # the request has not ended
        wire.sendall(chunk(line(text="have the receipt?")) + b"0\r\n\r\n")
        assert b'"action": "pass"' in until(wire, b"decision")


def test_a_breach_ends_it_while_the_writer_goes_on(scaffold: Any) -> None:
    with opened(scaffold) as wire:
        wire.sendall(
            chunk(line(text=QUERY, request_id="w2")) + chunk(line(text="You get a full refund, guaranteed. And"))
        )
        got = until(wire, b"decision")
        assert b"sentence" not in got
    (entry,) = recorded(scaffold, "w2")
    assert entry["final_action"] == "escalate"


def test_who_leaves_in_the_middle_is_recorded_all_the_same(scaffold: Any) -> None:
    with opened(scaffold) as wire:
        wire.sendall(chunk(line(text=QUERY, request_id="w3")) + chunk(line(text="Thanks for asking. We will ")))
        until(wire, b"sentence")
    for _ in range(100):
        if found := recorded(scaffold, "w3"):
            break
        time.sleep(0.1)
    assert [entry["event"] for entry in found] == ["enforce"]


HOSTILE = [
    ("nothing", [b""], 422),
    ("no JSON", [b"text\n"], 422),
    ("a list", [b"[]\n"], 422),
    ("no query", [b"{}\n"], 422),
    ("an answer in the first line", [line(text=QUERY, response="x")], 422),
    ("a query of spaces", [line(text="  ")], 422),
    ("a query that is too long", [line(text="x" * 8_001)], 422),
    ("a fact nobody declared", [line(text=QUERY, facts={"nope": 1})], 422),
    ("a name that is none", [line(text=QUERY, user="a\nb")], 422),
    ("a time that is none", [line(text=QUERY, at="0001-01-01T00:00:00+14:00")], 422),
    ("half a pair of surrogates", [b'{"text": "\\ud800"}\n'], 422),
    ("bytes that are no UTF-8", [b'{"text": "\xff"}\n'], 422),
    ("nested far too deep", [b'{"text":"x","facts":' + b"[" * 50_000], 422),
    ("a first line without an end", (b"x" * 1_000 for _ in range(1_000)), 413),
]


@each(("title", "body", "status"), HOSTILE, ids=[row[0] for row in HOSTILE])
def test_a_beginning_that_is_none_is_refused(title: str, body: Iterable[bytes], status: int, scaffold: Any) -> None:
    try:
        answered = sent(scaffold, body)
    except (httpx.WriteError, httpx.ReadError):  # the server need not read what it has refused
        assert status == 413
        return
    assert answered.status_code == status, answered.text
    assert set(answered.json()) == {"error"}


LATER = [
    ("a line that is no JSON", [b"nonsense\n"], "a line of the answer does not fit"),
    ("another key", [line(text="a", role="b")], "a line of the answer does not fit"),
    ("a null", [b'{"text": "a\\u0000b"}\n'], "characters that are not text"),
    ("too much of an answer", [line(text="x" * 10_000)] * 3, f"longer than {MAX_RESPONSE} characters"),
    ("too many bytes", [b'{"text": "' + b"\\u0041" * 3_000 + b'"}\n'] * 6, "the body may have 65536 bytes"),
    ("a line without an end", [b" " * 1_000] * 100, "the body may have 65536 bytes"),
]


@pytest.mark.parametrize(("title", "body", "says"), LATER, ids=[row[0] for row in LATER])
def test_what_goes_wrong_later_is_said_and_nothing_more_leaves(
    title: str, body: list[bytes], says: str, scaffold: Any
) -> None:
    name = f"later {title}"
    answered = sent(scaffold, [line(text=QUERY, request_id=name), line(text="Thanks for asking. "), *body])
    told = [json.loads(one) for one in answered.text.splitlines()]
    assert "decision" not in told[-1]
    assert says in told[-1]["error"]["message"]
    assert ("one JSON document" in told[-1]["error"].get("help", "")) is ("does not fit" in says)
    # where all of it came at once it is refused before anything could leave
    assert [entry["event"] for entry in recorded(scaffold, name)] == ["enforce"] * (answered.status_code == 200)
    assert httpx.get(f"{scaffold.address}/healthz").status_code == 200


def test_other_endpoints_read_no_lines(scaffold: Any) -> None:
    answered = httpx.post(f"{scaffold.address}/v2/query", content=iter([b"x" * 70_000]), headers=LINES, timeout=30)
    assert answered.status_code == 413


def pieces(text: str, cuts: list[int]) -> Iterator[str]:
    at = 0
    for cut in [*sorted(cut % (len(text) + 1) for cut in cuts), len(text)]:
        yield text[at:cut]
        at = cut


@given(st.text(alphabet="ab1 .!?;\n\"”')"), st.lists(st.integers(0, 1_000), max_size=6))
def test_pieces_make_the_sentences_of_the_whole(text: str, cuts: list[int]) -> None:
    splitter = Splitter()
    found = [sentence for piece in pieces(text, cuts) for sentence in splitter.feed(piece)]
    assert found + splitter.rest() == split(text)


def test_an_older_name_of_the_question_is_said_to_be_old_here_too(scaffold: Any) -> None:
    named = {name: sent(scaffold, [line(**{name: QUERY}), line(text="Thanks.")]).headers for name in ("text", "query")}
    assert "deprecation" not in named["text"]
    assert "write `text` instead of `query`" in named["query"]["warning"]
