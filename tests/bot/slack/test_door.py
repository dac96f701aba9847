"""Only what Slack signed, lately, comes in over HTTP; the application beside it is untouched."""

from __future__ import annotations

import json
import time

import httpx
import pytest

from bot.slack.door import MAX_BODY_BYTES, PATH
from tests.fakes.slack.payloads import mention, signed


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
