"""An answer again, as a file or for an agent, against a real server: in every form, and only for who may have it."""

from __future__ import annotations

import csv
import io
import uuid

import duckdb
import httpx
import pytest
import yaml

from bot.analytics.plan.interfaces import AnalyticsResponse


@pytest.fixture
def asked(shared):
    """The id of a data question that ana asked."""
    name = f"result-{uuid.uuid4().hex}"
    shared.ask("revenue by region", request_id=name, user="ana")
    return name


def fetched(server, name, **query) -> httpx.Response:
    return httpx.get(f"{server.address}/v2/requests/{name}/result", params=query, timeout=30)


def test_the_rows_come_as_a_spreadsheet(shared, asked):
    answered = fetched(shared, asked, format="csv", user="ana")
    assert answered.headers["content-type"] == "text/csv; charset=utf-8"
    assert answered.headers["content-disposition"] == 'attachment; filename="result.csv"'
    assert list(csv.reader(io.StringIO(answered.text, newline=""))) == [
        ["region", "revenue"],
        ["EU", "12.5"],
        ["US", "7"],
    ]


def test_the_rows_come_typed(shared, asked, tmp_path):
    answered = fetched(shared, asked, format="parquet", user="ana")
    path = tmp_path / "result.parquet"
    path.write_bytes(answered.content)
    with duckdb.connect() as connection:
        assert connection.execute(f"SELECT * FROM read_parquet('{path}')").fetchall() == [("EU", 12.5), ("US", 7.0)]


def test_the_whole_answer_comes_as_a_document(shared, asked):
    whole = fetched(shared, asked, user="ana").json()
    assert (whole["request_id"], whole["rows"]) == (asked, [["EU", 12.5], ["US", 7]])
    assert yaml.safe_load(fetched(shared, asked, format="yaml", user="ana").text) == whole


@pytest.mark.parametrize("user", ["ben", "", None])
def test_somebody_elses_answer_is_no_answer(shared, asked, user):
    answered = fetched(shared, asked, format="csv", **({} if user is None else {"user": user}))
    assert answered.status_code == 404
    assert answered.json()["error"]["message"] == "there is no such request"
    assert fetched(shared, "never-asked", user="ana").json()["error"]["message"] == "there is no such request"


def test_with_a_token_only_its_owner_counts(start):
    server = start(BYLAW_TOKEN="t" * 32, BYLAW_TOKEN_USER="ana")
    headers = {"Authorization": f"Bearer {'t' * 32}"}
    body = {"text": "revenue by region", "request_id": "r-token"}
    httpx.post(f"{server.address}/v2/query", json=body, headers=headers, timeout=30)
    address = f"{server.address}/v2/requests/r-token/result?format=csv&user=ben"
    assert httpx.get(address, headers=headers).status_code == 200
    assert httpx.get(address).status_code == 401


def test_what_cannot_be_had_is_said(shared, asked):
    assert fetched(shared, asked, format="png", user="ana").json()["error"]["message"] == "this answer has no chart"
    assert fetched(shared, asked, format="xlsx", user="ana").status_code == 422
    shared.ask("why did we leave?", request_id="no-rows", user="ana")
    refused = fetched(shared, "no-rows", format="csv", user="ana")
    assert (refused.status_code, refused.json()["error"]["message"]) == (422, "this answer has no rows to write")


def posted(server, **body) -> httpx.Response:
    return httpx.post(f"{server.address}/v2/analytics", json=body, timeout=30)


def test_an_agent_asks_in_the_words_of_the_interface(shared):
    answered = posted(
        shared,
        request_id="agent-1",
        actor={"id": "robo", "type": "agent"},
        query={"natural_language": "revenue by region"},
        preferences={"autonomy_override": 4, "criticality": "high"},
    )
    assert answered.headers["x-request-id"] == "agent-1"
    said = AnalyticsResponse.model_validate(answered.json())
    assert (said.request_id, said.status) == ("agent-1", "completed")
    assert said.result.sql == "SELECT 1"
    assert said.result.data == ({"region": "EU", "revenue": 12.5}, {"region": "US", "revenue": 7})
    assert fetched(shared, "agent-1", user="robo").status_code == 200


@pytest.mark.parametrize(
    "body",
    [
        {"query": {"natural_language": ""}},
        {"query": "revenue"},
        {"query": {"natural_language": "revenue"}, "preferences": {"autonomy_override": 6}},
        {"query": {"natural_language": "revenue"}, "preferences": {"autonomy_override": True}},
        {"query": {"natural_language": "revenue"}, "preferences": {"criticality": "enormous"}},
        {"query": {"natural_language": "revenue"}, "rights": "all"},
        {},
    ],
)
def test_a_request_of_another_shape_is_refused(shared, body):
    assert posted(shared, **body).status_code == 422
