"""`POST /v2/enforce` against a real server: verdicts, events, refusals, and the audit chain."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import httpx
import psutil
import pytest

from bot.enforcement.judged.verdict import ComplianceDecision
from bot.evidence.store.engine import connect
from tests.rows import each

QUERY = "Can I get a refund?"


@pytest.fixture(scope="module")
def scaffold(tmp_path_factory, repository):
    """A server on the scaffold's own policies."""
    from tests.bot.delivery.http.conftest import servers

    with servers(tmp_path_factory.mktemp("enforce")) as started:
        server = started()
        shutil.copy(repository.bundle, server.folder / "bundle.json")
        yield server


def post(server, accept: str = "application/json", **body) -> httpx.Response:
    return httpx.post(f"{server.address}/v2/enforce", json=body, headers={"Accept": accept}, timeout=30)


@pytest.mark.parametrize(
    "said",
    [
        " ".join(str(n) for n in range(1000, 5000)),
        "\n".join(str(n % 1000) for n in range(4000)),
        ". ".join(str(1000 + n) for n in range(3300)),
        "No. " * 4900,
    ],
    ids=["in a row", "in lines", "in sentences", "nothing but sentences"],
)
def test_an_answer_of_thousands_of_figures_is_refused_before_it_is_read(shared, said):
    body = {"text": "may I return it?", "response": said[:20_000]}
    server = psutil.Process(shared.process.pid)
    before = server.cpu_times()
    answered = httpx.post(f"{shared.address}/v2/enforce", json=body, timeout=30)
    after = server.cpu_times()
    took = after.user + after.system - before.user - before.system  # a busy machine takes its time
    assert (answered.status_code, answered.json()["error"]["code"]) == (422, "VALIDATION_FAILED")
    assert "more than 500" in answered.json()["error"]["message"]
    assert took < 0.1


def test_a_verdict_is_the_whole_decision(scaffold):
    answered = post(scaffold, text=QUERY, response="You get a full refund.", request_id="e1")
    assert answered.status_code == 200, answered.text
    found = ComplianceDecision.model_validate(answered.json())
    assert found.action != "pass"
    assert found.violations
    assert found.delivered is None
    assert answered.headers["x-request-id"] == "e1"


def test_facts_are_read_as_declared(scaffold):
    answered = post(scaffold, text=QUERY, response="No.", facts={"no_such_fact": 1})
    assert (answered.status_code, answered.json()["error"]["code"]) == (422, "VALIDATION_FAILED")
    assert "no_such_fact" in answered.json()["error"]["message"]


@each(
    "body",
    [
        {"text": QUERY},
        {"response": "No."},
        {"text": "", "response": "No."},
        {"text": QUERY, "response": "x" * 20_001},
    ],
)
def test_what_is_no_answer_to_a_question_is_refused(scaffold, body):
    assert post(scaffold, **body).status_code == 422


def test_a_stream_ends_with_the_decision_and_holds_back_what_may_not_leave(scaffold):
    said = "Thanks for asking. You get a full refund. Have a nice day."
    answered = post(scaffold, "text/event-stream", text=QUERY, response=said)
    assert answered.headers["content-type"].startswith("text/event-stream")
    events = [block.split("\ndata: ", 1) for block in answered.text.strip().split("\n\n")]
    assert [name for name, _ in events] == ["event: sentence", "event: decision"]
    assert json.loads(events[0][1]) == {"text": "Thanks for asking."}
    assert ComplianceDecision.model_validate(json.loads(events[1][1])).delivered is None


@each("accept", ["application/json", "text/event-stream"])
def test_an_answer_may_come_with_what_it_claims(scaffold, accept):
    said = "Thanks for asking. You get a full refund."
    claims = [{"kind": "courtesy", "quote": "Thanks for asking."},
              {"kind": "gives", "quote": "You get a full refund.", "action": "full_refund"}]  # fmt: skip
    answered = post(scaffold, accept, text=QUERY, response=said, claims=claims)
    text = answered.text if accept == "application/json" else answered.text.strip().split("\ndata: ")[-1]
    found = ComplianceDecision.model_validate(json.loads(text))
    assert (found.verdict, found.action, found.reading.by) == ("incomplete", "auto_correct", "given")
    assert found.delivered is not None and found.delivered.startswith(said)
    assert [one.status for one in found.reading.claims] == ["valid", "satisfiable"]
    assert "event: sentence" not in answered.text


@each("claims", [[{"kind": "gives", "quote": "No."}], [{"kind": "loves", "quote": "No."}], "none"])
def test_what_is_no_claim_is_refused(scaffold, claims):
    assert post(scaffold, text=QUERY, response="No.", claims=claims).status_code == 422


def test_every_verdict_is_in_the_chain(scaffold):
    post(scaffold, text=QUERY, response="You get a full refund.", request_id="kept")
    store = connect("sqlite:///.bylaw/store.db", Path(scaffold.folder))
    with store.reading() as connection:
        rows = connection.all("SELECT * FROM audit WHERE request_id = 'kept'")
    store.close()
    (row,) = rows
    text = " ".join(str(value) for value in row.values())
    assert '"event":"enforce"' in text
    assert '"final_action"' in text


ODD = [
    {"facts": {"\ud800": 1}},
    {"facts": {"has_receipt": "\ud800"}},
    {"facts": {"x" * 50_000: 1}},
    {"facts": {"days_since_purchase": [[[[1]]]]}},
    {"facts": []},
    {"user": "a\nb"},
    {"user": "\ud800"},
    {"request_id": "a\u2028b"},
    {"request_id": "\ud800"},
    {"request_id": "a\r\nX-Evil: 1"},
    {"at": "9999-12-31T23:59:59-14:00"},
    {"text": "\ud800"},
    {"response": "a\0"},
    {"\ud800": 1},
]


def test_a_request_may_be_named_in_any_letters(scaffold):
    answered = post(scaffold, text=QUERY, response="Do you have the receipt?", request_id="注文 1")
    assert (answered.status_code, answered.headers["x-request-id"]) == (200, "?? 1")


@each("body", ODD, ids=range(len(ODD)))
def test_odd_words_are_refused_in_words_that_can_be_sent(scaffold, body):
    given = {"text": QUERY, "response": "No.", **body}
    headers = {"Content-Type": "application/json"}
    answered = httpx.post(f"{scaffold.address}/v2/enforce", content=json.dumps(given), headers=headers, timeout=30)
    assert answered.status_code == 422, answered.text
    assert len(answered.json()["error"]["message"]) <= 1_000
