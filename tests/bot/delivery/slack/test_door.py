"""Only what Slack signed, lately, comes in over HTTP; the application beside it is untouched."""

from __future__ import annotations

import json
import random
import time

import httpx
import pytest

from bot.delivery.slack.door import MAX_BODY_BYTES, PATH
from bot.request.capacity import Full, Slots
from tests.fakes.slack.payloads import click, mention, message, signed
from tests.hostile import VALUES, leaves, replaced

POSTED = {
    "ts": "1795000001.000002",
    "to": None,
    "channel": "C1",
    "thread_ts": "1795000001.000001",
    "text": "",
    "blocks": [],
}


@pytest.fixture
def bot(start):
    return start()


@pytest.fixture
def body():
    return json.dumps(mention("why did we leave plasma?", "UANA", "C1", "1795000001.000001"))


def post(bot, content, headers):
    sent = {"Content-Type": "application/json", **headers}
    return httpx.post(bot.url + PATH, content=content, headers=sent, timeout=10)


def test_slack_verifies_the_address(bot, slack):
    asked = json.dumps({"type": "url_verification", "challenge": "c4lL", "token": "t"})
    answered = post(bot, asked, signed(asked, slack.secret))
    assert (answered.status_code, answered.json()) == (200, {"challenge": "c4lL"})


@pytest.mark.parametrize("late", [-301, -86_400, 360])
def test_what_was_signed_at_another_time_is_refused(bot, slack, body, late):
    assert post(bot, body, signed(body, slack.secret, time.time() + late)).status_code == 401
    bot.settle()
    assert slack.posts("C1") == []


@pytest.mark.parametrize(
    "forged",
    [
        lambda body, secret: {},
        lambda body, secret: signed(body, "another secret"),
        lambda body, secret: signed(body + " ", secret),
        lambda body, secret: {**signed(body, secret), "X-Slack-Signature": "v0=00"},
        lambda body, secret: {**signed(body, secret), "X-Slack-Request-Timestamp": "now"},
        lambda body, secret: {"Authorization": f"Bearer {secret}"},
    ],
    ids=["nothing", "another secret", "another body", "no signature", "no time", "a token"],
)
def test_what_slack_did_not_sign_is_refused(bot, slack, body, forged):
    assert 400 <= post(bot, body, forged(body, slack.secret)).status_code < 600
    bot.settle()
    assert slack.posts("C1") == []
    assert [call.method for call in slack.calls if call.method.startswith("chat")] == []


MALFORMED = [
    "{",
    "[]",
    "[[]]",
    '"x"',
    "1e999",
    "null",
    '{"event": 5, "type": "event_callback"}',
    '{"event": [], "type": "event_callback"}',
    '{"type": ["event_callback"], "event": {}}',
    '{"type": "event_callback", "event": {"type": {"a": 1}}}',
    '{"type": "event_callback", "event": {"type": null, "user": {"id": 4}}}',
    '{"type": "event_callback", "event": {"type": "message", "channel": {"id": []}}}',
    '{"authorizations": 5}',
    '{"authorizations": [5]}',
    '{"authorizations": {"0": 1}}',
    '{"team": 5, "user": 7}',
    '{"team": {"id": {}}, "user": []}',
    '{"type": "block_actions", "actions": 5}',
    '{"type": "block_actions", "actions": []}',
    '{"type": "block_actions", "actions": [5]}',
    '{"type": "block_actions", "actions": [{"action_id": 5}]}',
    '{"type": "block_actions", "actions": [{"action_id": "bylaw_accept"}]}',
    '{"type": "url_verification"}',
    '{"type": "url_verification", "challenge": {"a": []}}',
    '{"is_ext_shared_channel": true, "event": null, "type": "event_callback"}',
    "[" * 100_000,
    '{"a":' * 100_000,
    "payload=",
    "payload={",
    "payload=5",
    "payload=[]",
    'payload={"type":"block_actions","actions":7}',
    "payload=%7B%22type%22%3A%22view_submission%22%7D",
    "command=/x",
    "ssl_check=1",
    "\u0000",
    "",
]


@pytest.mark.parametrize(
    "kind", ["application/json", pytest.param("application/x-www-form-urlencoded", marks=pytest.mark.slow)]
)
def test_what_is_signed_and_malformed_is_the_senders_fault(bot, slack, caplog, kind):
    for sent in MALFORMED:
        answered = post(bot, sent.encode(), {**signed(sent, slack.secret), "Content-Type": kind})
        assert answered.status_code < 500, sent
        assert "Traceback" not in answered.text
    bot.settle()
    assert [record for record in caplog.records if record.exc_info] == []


SENT = (
    mention("why did we leave plasma?", "UANA", "C1", "1795000001.000001"),
    message("net revenue by region", "UANA", "D1", "1795000002.000001"),
    click({"action_id": "bylaw_accept", "value": "r1", "type": "button"}, "UANA", POSTED, "https://127.0.0.1:1/answer"),
)
PLACES = [(n, at) for n, sent in enumerate(SENT) for at in leaves(sent)]


@pytest.mark.parametrize("seed", range(3))
def test_whatever_stands_in_a_payload_is_taken_or_refused(bot, slack, caplog, seed):
    """A few at a time: each place with a value at the edge of what can be kept."""
    chosen = random.Random(seed)
    for n, at in chosen.sample(PLACES, 25):
        sent = json.dumps(replaced(SENT[n], at, chosen.choice(VALUES)))
        answered = post(bot, sent.encode(), signed(sent, slack.secret))
        assert answered.status_code < 500, (at, sent[:200])
    bot.settle()
    assert [record.message for record in caplog.records if record.exc_info] == []


def test_a_signed_body_that_is_no_document_is_told_so(bot, slack):
    for sent in ("{", "[]", '{"event": 5}'):
        assert post(bot, sent, signed(sent, slack.secret)).status_code == 400


def test_more_than_there_is_room_for_is_sent_again_later(bot, slack, body, monkeypatch):
    monkeypatch.setattr(Slots, "place", _full)
    answered = post(bot, body, signed(body, slack.secret))
    assert (answered.status_code, answered.headers["retry-after"]) == (503, "1")


def _full(self):
    raise Full


def test_a_body_over_the_limit_is_not_read(bot, slack):
    body = "x" * (MAX_BODY_BYTES + 1)
    assert post(bot, body, signed(body, slack.secret)).status_code == 413


def test_bytes_that_are_no_text_are_refused(bot):
    assert post(bot, b"\xff\xfe", {}).status_code == 400


def test_only_post_is_for_slack(bot):
    assert httpx.get(bot.url + PATH).status_code == 405


def test_the_application_answers_beside_it(bot):
    assert httpx.get(f"{bot.url}/healthz").json() == {"status": "up"}
    asked = httpx.post(f"{bot.url}/v2/query", json={"text": "why did we leave plasma?"})
    assert asked.json()["text"] == "It lost money."


def test_the_door_needs_no_token_where_the_application_has_one(start, slack):
    bot = start(token="secret")
    assert httpx.post(f"{bot.url}/v2/query", json={"text": "why did we leave plasma?"}).status_code == 401
    slack.say("UANA", "D1", "why did we leave plasma?")
    bot.settle()
    assert len(slack.posts("D1")) == 1
