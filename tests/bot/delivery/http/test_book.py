"""`GET /` leads to the rule book, or says how to write one; nothing else of the folder can be read."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from bot.delivery.http.endpoints.book import FOLDER, _hashed


@pytest.fixture
def book(server) -> Path:
    folder = server.folder / FOLDER
    (folder / "domains").mkdir(parents=True)
    (folder / "index.html").write_text("<title>Rules</title><script>1 < 2</script>", encoding="utf-8")
    (folder / "domains" / "refund.html").write_text("<title>refund</title>", encoding="utf-8")
    (server.folder / "secret.html").write_text("secret", encoding="utf-8")
    (folder / "domains" / "astray.html").symlink_to(server.folder / "secret.html")
    return folder


def test_without_a_rule_book_the_page_says_how_to_write_one(shared):
    answered = httpx.get(f"{shared.address}/")
    assert answered.status_code == 200 and "bylaw report" in answered.text
    assert answered.headers["content-type"].startswith("text/html")
    assert "script-src 'none'" in answered.headers["content-security-policy"]


def test_the_rule_book_is_shown_and_only_its_own_scripts_run(server, book):
    answered = httpx.get(f"{server.address}/")
    assert answered.text == (book / "index.html").read_text()
    policy = answered.headers["content-security-policy"]
    assert f"script-src 'sha256-{_hashed('1 < 2')}'" in policy and "default-src 'none'" in policy
    assert httpx.get(f"{server.address}/domains/refund.html").text == "<title>refund</title>"


@pytest.mark.parametrize(
    "path", ["domains/none.html", "domains/astray.html", "domains/..%2findex.html", "domains/%2e%2e", "secret.html"]
)
def test_nothing_else_is_there(server, book, path):
    answered = httpx.get(f"{server.address}/{path}")
    assert answered.status_code == 404 and "secret" not in answered.text


def test_who_must_say_who_they_are_must_say_it_here(start):
    server = start(BYLAW_TOKEN="t" * 32)
    assert httpx.get(f"{server.address}/").status_code == 401
    assert httpx.get(f"{server.address}/", headers={"Authorization": f"Bearer {'t' * 32}"}).status_code == 200
