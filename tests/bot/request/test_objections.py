"""The owner's queue in the terminal and over HTTP: the same objections, seen and settled by the same people."""

from __future__ import annotations

import httpx
import pytest

from bot import app
from bot.clock import new_id
from bot.delivery.http import api
from bot.settings import Settings
from tests.conftest import call_bylaw
from tests.fakes.slack.house import running
from tests.fakes.voltmark import compiled

ASKED = "policy: I bought a laptop online 5 days ago and have the receipt, it is unopened, can I get my money back?"


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    return compiled(tmp_path_factory.mktemp("voltmark"))


@pytest.fixture
def bylaw(bundle, tmp_path):
    store = {"BYLAW_STORE_URL": f"sqlite:///{tmp_path}/store.db", "BYLAW_ARTIFACTS": str(tmp_path / "artifacts")}
    return lambda verb, *words: call_bylaw(*verb.split(), *words, "--bundle", bundle, **store)


@pytest.fixture
def asked(bylaw):
    reply = bylaw("ask", ASKED, "--as", "amara", "--json").json
    assert reply["status"] == "answered" and reply["citations"]
    return reply["request_id"]


def test_in_the_terminal_what_is_wrong_goes_to_the_queue_and_is_settled(bylaw, asked):
    shown = bylaw("correct", asked, "--as", "amara").out
    assert "1. POL-" in shown and f"bylaw correct {asked} --source 1" in shown
    said = bylaw("correct", asked, "--source", "1", "--reason", "30 days by then", "--as", "amara")
    assert (said.code, "Nothing has changed yet" in said.out) == (0, True)
    assert bylaw("correct", asked, "--source", "99", "--reason", "x", "--as", "amara").code == 2
    listed = bylaw("requests objections", "--as", "grace").out
    assert "30 days by then" in listed and "rule: POL-" in listed and "case: " in listed and ".yaml:" in listed
    (one,) = bylaw("requests objections", "--as", "grace", "--json").json
    assert one["source"]["line"] and one["source"]["text"] and one["case"]
    for user in ("amara", "ben", "nobody"):
        assert bylaw("requests objections", "--as", user).out == "nothing waits\n"
        assert bylaw("requests settle", one["objection"], "no", "--as", user).code == 2
    assert bylaw("requests settle", one["objection"], "It changes on Monday.", "--as", "grace").code == 0
    assert bylaw("requests objections", "--as", "grace").out == "nothing waits\n"
    assert "It changes on Monday." in bylaw("requests notices", "--as", "amara").out


def test_over_http_they_are_the_same(bylaw, asked, bundle, tmp_path):
    given = Settings(root=tmp_path, store_url=f"sqlite:///{tmp_path}/store.db", artifacts=str(tmp_path / "artifacts"))
    bot = app.open_bot(given, bundle)
    try:
        with running(api.build(bot, given, new_id)) as base:
            http = httpx.Client(base_url=base, timeout=30)
            body = {"request_id": asked, "reason": "30 days by then", "source": 0, "user": "amara"}
            assert http.post("/v2/objections", json=body).status_code == 200
            assert http.post("/v2/objections", json={**body, "user": "nobody", "request_id": "r"}).status_code == 422
            assert http.post("/v2/objections", json={**body, "reason": ""}).status_code == 422
            assert http.get("/v2/objections", params={"user": "ben"}).json() == {"objections": []}
            (one,) = http.get("/v2/objections", params={"user": "grace"}).json()["objections"]
            path = f"/v2/objections/{one['objection']}/settle"
            assert http.post(path, json={"text": "no", "user": "ben"}).status_code == 422
            done = http.post(path, json={"text": "It changes.", "user": "grace"})
            assert (done.status_code, done.json()["settled"]) == (200, True)
            assert http.post(path, json={"text": "again", "user": "grace"}).status_code == 422
    finally:
        bot.close()
    assert bylaw("requests objections", "--as", "grace").out == "nothing waits\n"
