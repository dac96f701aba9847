"""Accepting, revising and judging an answer over HTTP: for who asked and for stewards; to others there is none."""

from __future__ import annotations

import uuid

import httpx
import pytest


@pytest.fixture
def asked(shared):
    """The id of a data question that ana asked."""
    name = f"settled-{uuid.uuid4().hex}"
    shared.ask("revenue by region", request_id=name, user="ana")
    return name


def posted(server, name, what, **body) -> httpx.Response:
    return httpx.post(f"{server.address}/v2/requests/{name}/{what}", json=body, timeout=30)


def test_an_answer_is_accepted_once_and_stays_so(shared, asked):
    for _ in range(2):
        done = posted(shared, asked, "accept", user="ana")
        assert (done.status_code, done.json()["accepted"]) == (200, True)


BODIES = {"accept": {}, "revise": {"text": "revenue by month"}, "feedback": {"verdict": "positive"}}


@pytest.mark.parametrize("what", sorted(BODIES))
@pytest.mark.parametrize("user", ["ben", None])
def test_to_others_there_is_no_such_request(shared, asked, what, user):
    body = BODIES[what] | ({} if user is None else {"user": user})
    for name in (asked, "never-asked"):
        refused = posted(shared, name, what, **body)
        assert (refused.status_code, refused.json()["error"]["message"]) == (404, "there is no such request")


def test_a_question_in_other_words_replaces_its_answer(shared, asked):
    new = f"new-{uuid.uuid4().hex}"
    reply = posted(shared, asked, "revise", user="ana", text="revenue by month", request_id=new).json()
    assert (reply["request_id"], reply["status"], reply["kind"]) == (new, "answered", "data")
    again = posted(shared, asked, "revise", user="ana", text="revenue by month", request_id=new).json()
    assert again == reply
    refused = posted(shared, asked, "accept", user="ana").json()
    assert (refused["accepted"], "does not wait" in refused["text"]) == (False, True)


def test_what_cannot_be_answered_leaves_the_answer_before_it(shared, asked):
    assert posted(shared, asked, "revise", user="ana", text="revenue margin").json()["status"] == "refused"
    assert posted(shared, asked, "accept", user="ana").json()["accepted"]


def test_the_same_feedback_is_kept_once(shared, asked):
    said = {"user": "ana", "verdict": "negative", "text": "the test shops are in it"}
    assert [posted(shared, asked, "feedback", **said).json()["new"] for _ in range(2)] == [True, False]
    assert posted(shared, asked, "feedback", user="ana", verdict="so-so").status_code == 422


@pytest.mark.parametrize("what", sorted(BODIES))
def test_what_does_not_fit_is_refused(shared, asked, what):
    assert posted(shared, asked, what, **BODIES[what], user="ana", more=1).status_code == 422
