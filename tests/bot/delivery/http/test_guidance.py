"""`POST /v2/guidance` against a real server."""

from __future__ import annotations

import shutil

import httpx
import pytest


@pytest.fixture(scope="module")
def scaffold(tmp_path_factory, repository):
    """A server on the scaffold's own policies."""
    from tests.bot.delivery.http.conftest import servers

    with servers(tmp_path_factory.mktemp("guidance")) as started:
        server = started()
        shutil.copy(repository.bundle, server.folder / "bundle.json")
        yield server


def post(server, **body) -> httpx.Response:
    return httpx.post(f"{server.address}/v2/guidance", json=body, timeout=30)


def test_guidance_says_which_rules_speak_and_where_they_stand(scaffold) -> None:
    answered = post(scaffold, text="Can I get a refund?", facts={"has_receipt": False})
    assert answered.status_code == 200, answered.text
    found = answered.json()
    assert found["facts"] == {"has_receipt": False}
    assert found["policies"][0]["relevance"] == 1
    assert found["policies"][0]["rules"][0]["path"].startswith("policies/refund/")


def test_what_no_rule_covers_names_an_owner(scaffold) -> None:
    found = post(scaffold, text="Who may sign contracts?").json()
    assert found["policies"] == []
    assert found["uncovered"]["owners"]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({}, 422),
        ({"text": ""}, 422),
        ({"text": " "}, 422),
        ({"text": "x" * 9_000}, 422),
        ({"text": "May I?", "facts": {"hours_lat": 1}}, 422),
        ({"text": "May I?", "fact": {}}, 422),
        ({"text": "May I?", "at": "never"}, 422),
    ],
)
def test_what_is_no_question_is_refused(shared, body, code) -> None:
    answered = post(shared, **body)
    assert answered.status_code == code
    assert answered.json()["error"]["message"]
