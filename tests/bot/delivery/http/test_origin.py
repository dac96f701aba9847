"""A page of another site makes a browser of this machine ask: nothing that is asked so is done, on any path."""

from __future__ import annotations

import httpx
import pytest

from tests.rows import each

FOREIGN = [
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    {"Origin": "http://127.0.0.1"},
    {"Origin": "http://127.0.0.1:1"},
    {"Origin": "http://localhost.evil.example"},
    {"Origin": ""},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors"},
    {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"},  # a form that posts
]
PLAIN = {"Content-Type": "text/plain"}  # what a page may send without being asked first
SUBJECT = (
    '{"subject": {"type": "user", "id": "ana"}, "action": {"name": "pay"}, "resource": {"type": "order", "id": "17"}}'
)


def posts(server):
    """Every path that is posted to, as the server itself lists them."""
    told = httpx.get(f"{server.address}/openapi.json", timeout=30).json()["paths"]
    return [path.replace("{request_id}", "r1") for path, methods in told.items() if "post" in methods]


def test_nothing_is_posted_by_a_page_of_another_site(shared):
    paths = posts(shared)
    assert {"/v2/decide", "/access/v1/evaluation", "/access/v1/evaluations", "/v2/requests/r1/accept"} <= set(paths)
    for path in [*paths, "/v2/enforce", "/nothing"]:
        for headers in FOREIGN:
            told = httpx.post(f"{shared.address}{path}", content=SUBJECT, headers={**PLAIN, **headers}, timeout=30)
            assert (told.status_code, told.json()["error"]["code"]) == (403, "ORIGIN_NOT_ALLOWED"), (path, headers)


@each("headers", [*FOREIGN[:5], {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}], ids=str)
def test_nothing_is_fetched_by_one_either(shared, headers):
    told = httpx.get(f"{shared.address}/v2/requests/r1/result", headers=headers, timeout=30)
    assert told.status_code == 403


def test_who_is_here_may_ask(shared):
    own = {"Origin": shared.address, "Sec-Fetch-Site": "same-origin"}
    for headers in ({}, own, {"Sec-Fetch-Site": "none"}):
        told = httpx.post(f"{shared.address}/v2/query", json={"text": "hello"}, headers=headers, timeout=30)
        assert told.status_code == 200, told.text
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert httpx.get(f"{shared.address}/healthz", headers=link, timeout=30).status_code == 200


def test_a_token_is_none_that_a_page_could_send(guarded):
    given = {"Authorization": "Bearer s3cret-ü".encode(), "Origin": b"https://intranet.example"}
    told = httpx.post(f"{guarded.address}/v2/query", json={"text": "hello"}, headers=given, timeout=30)
    assert told.status_code == 200, told.text


def test_behind_a_proxy_that_signs_people_in_the_browser_says_whose_page_it_is(start):
    server = start(BYLAW_PROXY_HEADER="X-User", BYLAW_PROXY_ADDRESSES="127.0.0.1")
    ana = {"X-User": "ana", "Origin": "https://rules.example"}  # the proxy calls this server by another name
    for site, status in (("cross-site", 403), ("same-site", 403), ("same-origin", 200), ("none", 200)):
        headers = {**ana, "Sec-Fetch-Site": site}
        told = httpx.post(f"{server.address}/v2/query", json={"text": "hello"}, headers=headers, timeout=30)
        assert told.status_code == status, site


@pytest.mark.parametrize("host", ["evil.example", "evil.example:1", "a.example/x"])
def test_the_metadata_say_where_the_server_is_and_not_how_it_was_called(guarded, start, host):
    path, given = "/.well-known/authzen-configuration", {"Authorization": "Bearer s3cret-ü".encode()}
    told = httpx.get(f"{guarded.address}{path}", headers={**given, "Host": host.encode()}, timeout=30)
    assert told.status_code == 400 or told.json()["policy_decision_point"] == guarded.address
    public = start(BYLAW_PUBLIC_URL="https://rules.example/bylaw/")
    told = httpx.get(f"{public.address}{path}", timeout=30)
    assert told.json()["access_evaluation_endpoint"] == "https://rules.example/bylaw/access/v1/evaluation"
