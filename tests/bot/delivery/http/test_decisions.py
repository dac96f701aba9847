"""Decisions over HTTP against a real server: asked with an intent, searched, looked up, by who may read them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from tests.bot.decisions.repository import HIDDEN, KEPT, PARTNER, build
from tests.bot.delivery.http.conftest import Server, servers
from tests.rows import each

BOOTH = "joinery-spray-booth-2021"


@pytest.fixture(scope="module")
def joinery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server on the joinery's repository, with the answerers of the product."""
    bundle = build(tmp_path_factory.mktemp("joinery") / "repository")
    with servers(tmp_path_factory.mktemp("served")) as started:
        server = started("real")
        shutil.copy(bundle, server.folder / "bundle.json")
        yield server


def post(server: Server, path: str, **body: Any) -> httpx.Response:
    return httpx.post(f"{server.address}{path}", json=body, timeout=30)


def get(server: Server, path: str, **query: str) -> httpx.Response:
    return httpx.get(f"{server.address}{path}", params=query, timeout=30)


def found(server: Server, **body: Any) -> list[str]:
    answered = post(server, "/v2/decisions/search", **body)
    assert answered.status_code == 200, answered.text
    return [one["id"] for one in answered.json()["matches"]]


def test_an_intent_and_a_decision_are_named_outright(joinery: Server) -> None:
    reply = post(joinery, "/v2/ask", intent="alternatives", decision_ref=BOOTH).json()
    assert (reply["kind"], reply["status"], reply["intent"]) == ("decision", "answered", "alternatives")
    assert reply["answer"]["supporting_ids"] == [BOOTH]
    assert "Send pieces to a paint shop" in reply["answer"]["short_answer"]
    assert reply["meta"]["prompt_fingerprint"] and reply["meta"]["snapshot_etag"]


def test_what_is_not_on_record_has_the_error_of_the_seed(joinery: Server) -> None:
    reply = post(joinery, "/v2/ask", intent="why_decision", decision_ref="the hovercraft").json()
    assert reply["status"] != "answered"
    assert reply["meta"]["error"]["code"] == "ANCHOR_NOT_FOUND"
    assert reply["evidence"] is None


@each(
    ("body", "ids"),
    [
        ({"text": "spray booth"}, [BOOTH]),
        ({"text": "varnish", "status": "rejected"}, []),
        (
            {"tag": "working_hours", "kinds": ["decision"]},
            ["joinery-four-day-week-2022", "joinery-no-night-shift-2020"],
        ),
        ({"person": "tom reyes", "since": "2021-01-01", "until": "2021-12-31"}, [BOOTH]),
        ({"status": "proposed"}, ["joinery-solar-roof-2024"]),
        ({"kinds": ["event"], "since": "2024-02-20", "until": "2024-02-20"}, ["roof-survey-done"]),
        ({"kinds": ["decision"], "tag": "finish", "k": 1}, ["joinery-water-varnish-2023"]),  # the latest
        ({"tag": "no_such_tag"}, []),
    ],
)
def test_a_search_has_words_and_filters(body: dict[str, Any], ids: list[str], joinery: Server) -> None:
    assert found(joinery, **body)[: max(1, len(ids))] == ids


def test_a_match_says_how_it_stands_and_where(joinery: Server) -> None:
    answered = post(joinery, "/api/resolve/text", text="franchise")
    first = answered.json()["matches"][0]
    assert first["state"].startswith("Rejected") and first["stands"] is False
    assert first["path"].endswith("joinery-franchise-2022.yaml")
    assert answered.headers["X-Snapshot-ETag"] == answered.json()["snapshot_etag"]


def test_nobody_else_learns_of_a_record_that_is_for_partners(joinery: Server) -> None:
    """Neither by search, id, neighbour or link, nor by what it superseded."""
    for body in ({"text": "ash beside oak"}, {"tag": "timber"}, {"k": 100}):
        assert HIDDEN not in found(joinery, **body)
        assert HIDDEN in found(joinery, **body, user=PARTNER)
    assert get(joinery, f"/api/enrich/decision/{HIDDEN}").status_code == 404
    assert get(joinery, f"/api/enrich/decision/{HIDDEN}", user=PARTNER).status_code == 200
    shown = get(joinery, f"/api/enrich/decision/{KEPT}")
    assert shown.json()["status"] == "superseded" and HIDDEN not in shown.text
    told = [
        post(joinery, "/api/graph/expand_candidates", node_id=KEPT),
        post(joinery, "/v2/ask", intent="replaced_by", decision_ref=KEPT),
        post(joinery, "/v2/ask", intent="chains", decision_ref=KEPT),
        post(joinery, "/v2/ask", intent="why_decision", decision_ref=HIDDEN),
        post(joinery, "/v2/query", text="is it still oak only?"),
        post(joinery, "/v2/query", text="since when is ash allowed?"),
    ]
    for one in told:
        assert one.status_code == 200, one.text
        said = one.text.replace(f'"{HIDDEN}"', "", 1) if HIDDEN in (one.request.content.decode()) else one.text
        assert "Allow ash" not in said and "Marta Lund allowed" not in said
        assert HIDDEN not in said
    mine = post(joinery, "/v2/ask", intent="replaced_by", decision_ref=KEPT, user=PARTNER).json()
    assert "Allow ash beside oak" in mine["answer"]["short_answer"]


def test_neighbours_have_their_edge_and_direction(joinery: Server) -> None:
    told = post(joinery, "/api/graph/expand_candidates", node_id="joinery-four-day-week-2022").json()
    assert [(one["id"], one["rel"], one["dir"]) for one in told["neighbors"]] == [
        ("trial-of-short-weeks", "LED_TO", "in")
    ]
    back = post(joinery, "/api/graph/expand_candidates", node_id="trial-of-short-weeks").json()
    assert [one["dir"] for one in back["neighbors"]] == ["out"]


def test_the_catalogues_are_served_under_both_names(joinery: Server) -> None:
    for prefix in ("/v2", "/api"):
        fields = get(joinery, f"{prefix}/schema/fields").json()["fields"]
        assert fields["rationale"] == ["rationale"] and "superseded_by" in fields
        assert get(joinery, f"{prefix}/schema/rels").json()["rels"]["LED_TO"] == ["in"]
    assert get(joinery, "/v2/schema/secrets").status_code == 422


@each(
    ("path", "body", "code"),
    [
        ("/v2/ask", {"intent": "no_such_intent"}, 422),
        ("/v2/ask", {}, 422),
        ("/v2/ask", {"intent": "why_decision", "decision_ref": "x" * 600}, 422),
        ("/v2/ask", {"intent": "why_decision", "decision": BOOTH}, 422),
        ("/v2/decisions/search", {"text": "x" * 9_000}, 422),
        ("/v2/decisions/search", {"k": 0}, 422),
        ("/v2/decisions/search", {"k": 1_000}, 422),
        ("/v2/decisions/search", {"kinds": ["secret"]}, 422),
        ("/v2/decisions/search", {"since": "yesterday"}, 422),
        ("/v2/decisions/search", {"owner": "me"}, 422),
        ("/api/graph/expand_candidates", {"node_id": "../../etc/passwd"}, 404),
    ],
)
def test_what_does_not_fit_is_refused(path: str, body: dict[str, Any], code: int, joinery: Server) -> None:
    answered = post(joinery, path, **body)
    assert answered.status_code == code, answered.text
    assert answered.json()["error"]["message"]


def test_many_at_once_are_answered_alike(joinery: Server) -> None:
    with ThreadPoolExecutor(8) as pool:
        told = list(pool.map(lambda n: found(joinery, text="oak", user=(PARTNER, "")[n % 2] or None), range(24)))
    assert {HIDDEN in ids for ids in told[::2]} == {True}
    assert {HIDDEN in ids for ids in told[1::2]} == {False}
