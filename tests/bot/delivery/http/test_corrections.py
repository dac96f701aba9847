"""Every answer over HTTP says where it is corrected, and what may be is listed there."""

from __future__ import annotations

import httpx
import pytest


def told(server, **body) -> httpx.Response:
    return httpx.post(f"{server.address}/v2/query", json={"user": "ana", **body}, timeout=30)


def test_an_answer_names_where_it_is_corrected(shared):
    said = told(shared, text="revenue by region", request_id="a b/c")
    where = said.links["edit-form"]["url"]
    assert where == "/v2/requests/a%20b%2Fc/correctable"


@pytest.mark.parametrize("text", ["hello", "blub blub"])
def test_what_is_no_answer_names_nothing(shared, text):
    assert "Link" not in told(shared, text=text).headers


def test_what_may_be_corrected_is_listed(shared):
    said = told(shared, text="revenue by region", request_id="listed")
    found = httpx.get(f"{shared.address}{said.links['edit-form']['url']}", params={"user": "ana"}, timeout=30).json()
    assert (found["request_id"], found["proposed"]) == ("listed", None)
