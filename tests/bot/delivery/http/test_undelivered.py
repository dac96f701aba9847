"""What waits for Slack over HTTP: shown, sent again and ended by whom it is for and by stewards, by nobody else."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from bot.evidence.store.engine import connect
from bot.evidence.store.tables import deliveries


@pytest.fixture
def name(shared):
    """A notice to ana that Slack refuses for good."""
    store, now = connect("sqlite:///.bylaw/store.db", shared.folder), datetime.now(UTC)
    about = f"r-{uuid.uuid4().hex}"
    with store.writing() as connection:
        deliveries.notify(connection, "ana", about, "handled", "It is 41 %.", now)
        (found,) = [name for name, letter in deliveries.notices(connection, now) if letter["about"] == about]
        held = deliveries.claim(connection, found, "a", now, timedelta(minutes=1))
        deliveries.block(connection, held, now, "user_not_found")
    yield found
    with store.writing() as connection:
        connection.run("DELETE FROM deliveries WHERE delivery_id = :name", {"name": found})
    store.close()


def waiting(server, user):
    found = httpx.get(f"{server.address}/v2/deliveries", params={"user": user}, timeout=30)
    assert found.status_code == 200
    return found.json()


def posted(server, name, what, **body):
    return httpx.post(f"{server.address}/v2/deliveries/{name}/{what}", json=body, timeout=30)


def test_who_it_is_for_sees_why_it_waits_and_what_to_do(shared, name):
    (one,) = waiting(shared, "ana")["undelivered"]
    assert (one["delivery"], one["why"], one["waits_for"]) == (name, "user_not_found", "a person")
    assert "rules/roles.yaml" in one["advice"] and one["text"] == "It is 41 %."
    assert waiting(shared, "ben") == {"undelivered": [], "unseen": []}


@pytest.mark.parametrize("what", ["retry", "close"])
@pytest.mark.parametrize("user", ["ben", None])
def test_to_others_there_is_no_such_delivery(shared, name, what, user):
    body = {"reason": "no"} if what == "close" else {}
    for named in (name, "notice:none"):
        refused = posted(shared, named, what, **body, **({"user": user} if user else {}))
        assert (refused.status_code, refused.json()["error"]["message"]) == (404, "there is no such delivery")
    assert len(waiting(shared, "ana")["undelivered"]) == 1


def test_it_is_sent_again_and_ended_by_whom_it_is_for(shared, name):
    assert posted(shared, name, "retry", user="ana").json() == {"delivery": name, "retried": True}
    assert posted(shared, name, "close", user="ana").status_code == 422
    assert posted(shared, name, "close", user="ana", reason="x" * 1_001).status_code == 422
    assert posted(shared, name, "close", user="ana", reason="I know it").json() == {"delivery": name, "closed": True}
    again = posted(shared, name, "close", user="ana", reason="I know it")
    assert (again.status_code, "does not wait" in again.json()["error"]["message"]) == (422, True)
    assert waiting(shared, "ana")["undelivered"] == []


def test_without_a_token_nobody_is_shown_anything(guarded):
    assert httpx.get(f"{guarded.address}/v2/deliveries", timeout=30).status_code == 401
