"""The environment is read once, into values that are right or refused by name."""

from __future__ import annotations

from ipaddress import ip_network
from pathlib import Path

import pytest

from bot.settings import KNOWN, PREFIX, Limits, Settings, Tokens, read
from bylaw.errors import UsageError
from bylaw.llm.wanted import Given, Wanted
from tests.rows import each

# The key whose bytes are 0 to 31, as openssl would write the middle of it.
PUBLIC = "MCowBQYDK2VwAyEAAAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="


def test_an_empty_environment_gives_the_defaults():
    assert read(Path("here"), {}) == Settings(root=Path("here"))
    assert Settings().store_url == "sqlite:///.bylaw/store.db"
    assert Settings().host == "127.0.0.1"


def test_an_empty_variable_is_one_that_is_not_set():
    assert read(environ={PREFIX + name: "" for name in KNOWN}) == Settings()


def test_every_variable_is_read():
    given = {
        "BYLAW_ARTIFACTS": "memory://shelf",
        "BYLAW_BODY_SECONDS": "7",
        "BYLAW_BUNDLE": "out/b.json",
        "BYLAW_BUNDLE_KEY": PUBLIC,
        "BYLAW_CHECKPOINT": "kept/checkpoints.jsonl",
        "BYLAW_CHECKPOINT_EVERY": "50",
        "BYLAW_ENFORCEMENT_POINTS": "gateway, mesh",
        "BYLAW_HEAD_SECONDS": "3",
        "BYLAW_HOST": "::1",
        "BYLAW_JWT_AUDIENCE": "bylaw",
        "BYLAW_JWT_ISSUER": "https://login.example",
        "BYLAW_JWT_KEYS": "keys.json",
        "BYLAW_JWT_USER_CLAIM": "email",
        "BYLAW_LEASE_SECONDS": "5",
        "BYLAW_LLM": "recorded",
        "BYLAW_LLM_API_VERSION": "2024-10-21",
        "BYLAW_LLM_FOLDER": "said",
        "BYLAW_LLM_KEY": "sk-1",
        "BYLAW_LLM_KEYS": "small=sk-2 large=sk-3=",
        "BYLAW_LLM_MODEL": "azure:gpt-5",
        "BYLAW_LLM_RECORD": "1",
        "BYLAW_LLM_REGION": "eu-west-1",
        "BYLAW_LLM_URL": "https://models.example",
        "BYLAW_LLM_URLS": "small=http://127.0.0.1:1",
        "BYLAW_MAX_BODY_BYTES": "2048",
        "BYLAW_MAX_CONNECTIONS": "300",
        "BYLAW_MAX_REQUESTS": "20",
        "BYLAW_PORT": "0",
        "BYLAW_PROXY_ADDRESSES": "10.0.0.5, 10.1.0.0/16",
        "BYLAW_PROXY_HEADER": "X-User",
        "BYLAW_PUBLIC_URL": "https://rules.example/bylaw/",
        "BYLAW_RATE": "10",
        "BYLAW_ROLLBACK_TO": "sha256:abc",
        "BYLAW_SLACK_API_URL": "https://slack.example/api/",
        "BYLAW_SLACK_APP_TOKEN": "xapp-1",
        "BYLAW_SLACK_BOT_TOKEN": "xoxb-1",
        "BYLAW_SLACK_SIGNING_SECRET": "signs",
        "BYLAW_STORE_URL": "sqlite:///x.db",
        "BYLAW_TICK_SECONDS": "0",
        "BYLAW_TOKEN": "secret",
        "BYLAW_TOKEN_USER": "ana",
        "BYLAW_WAREHOUSE": "duckdb:///w.duckdb",
        "BYLAW_WORKERS": "3",
    }
    assert set(given) == {PREFIX + name for name in KNOWN}
    assert read(environ=given) == Settings(
        artifacts="memory://shelf",
        bundle=Path("out/b.json"),
        bundle_keys=(bytes(range(32)),),
        checkpoint=Path("kept/checkpoints.jsonl"),
        checkpoint_every=50,
        enforcement_points=frozenset({"gateway", "mesh"}),
        host="::1",
        lease_seconds=5,
        llm=Wanted(
            "recorded",
            Given("azure:gpt-5", "https://models.example", "sk-1", "eu-west-1", "2024-10-21"),
            Path("said"),
            is_recording=True,
            keys={"small": "sk-2", "large": "sk-3="},
            urls={"small": "http://127.0.0.1:1"},
        ),
        max_body_bytes=2048,
        limits=Limits(connections=300, requests=20, rate=10, head_seconds=3, body_seconds=7),
        port=0,
        rollback_to="sha256:abc",
        slack_api_url="https://slack.example/api/",
        slack_app_token="xapp-1",
        slack_bot_token="xoxb-1",
        slack_signing_secret="signs",
        store_url="sqlite:///x.db",
        tick_seconds=0,
        token="secret",
        token_user="ana",
        tokens=Tokens("https://login.example", "bylaw", "keys.json", "email"),
        proxy_header="X-User",
        public_url="https://rules.example/bylaw",
        proxies=(ip_network("10.0.0.5"), ip_network("10.1.0.0/16")),
        warehouse="duckdb:///w.duckdb",
        workers=3,
    )


@each(
    ("name", "text"),
    [
        ("BYLAW_PORT", "http"),
        ("BYLAW_PORT", "-1"),
        ("BYLAW_PORT", "65536"),
        ("BYLAW_PORT", "8080.0"),
        ("BYLAW_PORT", "٨٠"),
        ("BYLAW_PORT", "9" * 5000),
        ("BYLAW_CHECKPOINT_EVERY", "0"),
        ("BYLAW_MAX_BODY_BYTES", "0"),
        ("BYLAW_LEASE_SECONDS", "0"),
        ("BYLAW_LLM_RECORD", "yes"),
        ("BYLAW_WORKERS", "0"),
    ],
)
def test_a_number_that_is_none_is_wrong_usage_and_named(name, text):
    with pytest.raises(UsageError, match=f"`{name}`"):
        read(environ={name: text})


def test_enforcement_points_only_hold_where_who_asks_is_known():
    with pytest.raises(UsageError, match="nobody is asked"):
        read(environ={"BYLAW_ENFORCEMENT_POINTS": "gateway"})


@pytest.mark.parametrize(
    "url", ["rules.example", "ftp://rules.example", "https://a@rules.example", "https://", "http://x y"]
)
def test_a_public_address_is_one(url):
    with pytest.raises(UsageError, match="is no address"):
        read(environ={"BYLAW_PUBLIC_URL": url})


def test_no_secret_is_shown_with_the_settings():
    shown = repr(
        read(
            environ={
                "BYLAW_TOKEN": "s3cret",
                "BYLAW_LLM_KEY": "s3cret",
                "BYLAW_LLM_URL": "https://u:s3cret@models.example",
                "BYLAW_STORE_URL": "postgresql://u:s3cret@h/d",
                "BYLAW_WAREHOUSE": "x:s3cret@y",
            }
        )
    )
    assert "s3cret" not in shown
