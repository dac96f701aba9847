"""The environment, read once. The only module that looks at `os.environ`."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path

from bylaw.errors import UsageError
from bylaw.llm.wanted import Given, Wanted
from bylaw.signature import Keys, public_keys

PREFIX = "BYLAW_"
KNOWN = (
    "ARTIFACTS",
    "BODY_SECONDS",
    "BUNDLE",
    "BUNDLE_KEY",
    "CHECKPOINT",
    "CHECKPOINT_EVERY",
    "ENFORCEMENT_POINTS",
    "HEAD_SECONDS",
    "HOST",
    "JWT_AUDIENCE",
    "JWT_ISSUER",
    "JWT_KEYS",
    "JWT_USER_CLAIM",
    "LEASE_SECONDS",
    "LLM",
    "LLM_API_VERSION",
    "LLM_FOLDER",
    "LLM_KEY",
    "LLM_KEYS",
    "LLM_MODEL",
    "LLM_RECORD",
    "LLM_REGION",
    "LLM_URL",
    "LLM_URLS",
    "MAX_BODY_BYTES",
    "MAX_CONNECTIONS",
    "MAX_REQUESTS",
    "PORT",
    "PROXY_ADDRESSES",
    "PROXY_HEADER",
    "PUBLIC_URL",
    "RATE",
    "ROLLBACK_TO",
    "SLACK_API_URL",
    "SLACK_APP_TOKEN",
    "SLACK_BOT_TOKEN",
    "SLACK_SIGNING_SECRET",
    "STORE_URL",
    "TICK_SECONDS",
    "TOKEN",
    "TOKEN_USER",
    "WAREHOUSE",
    "WORKERS",
)


@dataclass(frozen=True)
class Limits:
    """How much of a process clients may take. `requests` are answered or wait for it; `rate` is a caller's, a second.

    Without a `rate` those who come from this machine may ask as fast as they like, others `USUAL_RATE`; 0 is no limit.
    """

    connections: int = 1000
    requests: int = 128
    rate: int | None = None
    head_seconds: float = 10.0
    body_seconds: float = 20.0


USUAL_RATE = 200


@dataclass(frozen=True)
class Tokens:
    """Whose JSON Web Tokens are believed: those of one issuer, made for one audience."""

    issuer: str
    audience: str
    keys: str  # the issuer's JWK set: a file or an https:// address
    user_claim: str = "sub"


Network = IPv4Network | IPv6Network


@dataclass(frozen=True)
class Settings:
    """How this process runs. Relative paths in `store_url` and `artifacts` are relative to `root`."""

    root: Path = Path()
    bundle: Path | None = None
    bundle_keys: Keys = ()  # who may sign what is served; nobody has to where this is empty
    rollback_to: str | None = None  # the etag or commit of an older bundle that is served all the same
    warehouse: str | None = field(default=None, repr=False)
    store_url: str = field(default="sqlite:///.bylaw/store.db", repr=False)  # may hold a password
    artifacts: str | None = None  # where papers are kept; None: in the store
    checkpoint: Path | None = None  # where the chain's length and head are kept; None: beside the store
    checkpoint_every: int = 1000  # entries
    token: str | None = field(default=None, repr=False)
    token_user: str = "api"
    tokens: Tokens | None = None
    proxy_header: str | None = None  # in which a proxy in front of this names who asks
    proxies: tuple[Network, ...] = ()  # who may
    enforcement_points: frozenset[str] | None = None  # who may ask for others by AuthZEN; None: whoever has a token
    public_url: str | None = None  # where clients find the server; None: where it listens
    host: str = "127.0.0.1"
    port: int = 8080
    workers: int | None = None  # processes that answer over HTTP; None: as many as suits this machine
    max_body_bytes: int = 64 * 1024
    limits: Limits = field(default_factory=Limits)
    lease_seconds: int = 120
    tick_seconds: int = 60  # how often a server does what is due; 0: never, `bylaw tick` does it
    llm: Wanted = field(default_factory=Wanted)  # which language model may put answers into words; none by default
    slack_api_url: str = "https://slack.com/api/"
    slack_bot_token: str | None = field(default=None, repr=False)
    slack_app_token: str | None = field(default=None, repr=False)  # opens the socket
    slack_signing_secret: str | None = field(default=None, repr=False)  # checks what comes over HTTP

    @property
    def is_identity_asked(self) -> bool:
        """Does who asks over HTTP have to say who they are?"""
        return self.token is not None or self.tokens is not None or self.proxy_header is not None


def environment() -> Mapping[str, str]:
    """The environment as it is, for what reads its own names there, such as the credentials for GitHub."""
    return os.environ


def read(root: Path = Path(), environ: Mapping[str, str] | None = None) -> Settings:
    """The settings of this process; an empty variable counts as one that is not set."""
    given = os.environ if environ is None else environ
    values = {name: given[PREFIX + name] for name in KNOWN if given.get(PREFIX + name)}
    bare = Settings()
    return Settings(
        root=root,
        bundle=Path(values["BUNDLE"]) if "BUNDLE" in values else None,
        bundle_keys=public_keys(values.get("BUNDLE_KEY", "")),
        rollback_to=values.get("ROLLBACK_TO"),
        warehouse=values.get("WAREHOUSE"),
        store_url=values.get("STORE_URL", bare.store_url),
        artifacts=values.get("ARTIFACTS", bare.artifacts),
        checkpoint=Path(values["CHECKPOINT"]) if "CHECKPOINT" in values else None,
        checkpoint_every=_number(values, "CHECKPOINT_EVERY", bare.checkpoint_every, 1, 10_000_000),
        token=values.get("TOKEN"),
        token_user=values.get("TOKEN_USER", bare.token_user),
        tokens=_tokens(values),
        proxy_header=_proxy_header(values),
        proxies=_proxies(values),
        enforcement_points=_enforcement_points(values),
        public_url=_public_url(values),
        host=values.get("HOST", bare.host),
        port=_number(values, "PORT", bare.port, 0, 65535),
        workers=_number(values, "WORKERS", 0, 1, 256) or None,
        max_body_bytes=_number(values, "MAX_BODY_BYTES", bare.max_body_bytes, 1024, 16 * 1024 * 1024),
        limits=_limits(values),
        lease_seconds=_number(values, "LEASE_SECONDS", bare.lease_seconds, 1, 86_400),
        tick_seconds=_number(values, "TICK_SECONDS", bare.tick_seconds, 0, 86_400),
        llm=_llm(values, root),
        slack_api_url=values.get("SLACK_API_URL", bare.slack_api_url),
        slack_bot_token=values.get("SLACK_BOT_TOKEN"),
        slack_app_token=values.get("SLACK_APP_TOKEN"),
        slack_signing_secret=values.get("SLACK_SIGNING_SECRET"),
    )


def _tokens(values: Mapping[str, str]) -> Tokens | None:
    """Raises UsageError for a part of the three that only hold together."""
    names = ("JWT_ISSUER", "JWT_AUDIENCE", "JWT_KEYS")
    given = [name for name in names if name in values]
    if not given:
        return None
    if len(given) < len(names):
        missing = next(name for name in names if name not in values)
        raise UsageError(f"`{PREFIX}{given[0]}` is set and `{PREFIX}{missing}` is not", "tokens need all three")
    claim = values.get("JWT_USER_CLAIM", Tokens.user_claim)
    return Tokens(values["JWT_ISSUER"], values["JWT_AUDIENCE"], values["JWT_KEYS"], claim)


def _proxy_header(values: Mapping[str, str]) -> str | None:
    name = values.get("PROXY_HEADER")
    if (name is None) != ("PROXY_ADDRESSES" not in values):
        raise UsageError(
            f"`{PREFIX}PROXY_HEADER` and `{PREFIX}PROXY_ADDRESSES` only hold together",
            "name the header, and from where it is believed",
        )
    if name is not None and not re.fullmatch(r"[A-Za-z0-9-]+", name):
        raise UsageError(f"`{PREFIX}PROXY_HEADER` is `{name}`, which is not the name of a header")
    return name


def _public_url(values: Mapping[str, str]) -> str | None:
    url = values.get("PUBLIC_URL")
    if url is not None and not re.fullmatch(r"https?://[^\s/?#@]+(/[^\s?#]*)?", url):
        raise UsageError(
            f"`{PREFIX}PUBLIC_URL` is `{url[:80]}`, which is no address", "write https://rules.example.org"
        )
    return None if url is None else url.rstrip("/")


def _proxies(values: Mapping[str, str]) -> tuple[Network, ...]:
    try:
        return tuple(ip_network(part) for part in values.get("PROXY_ADDRESSES", "").replace(",", " ").split())
    except ValueError as error:
        raise UsageError(f"`{PREFIX}PROXY_ADDRESSES`: {error}", "write it like `10.0.0.5 10.1.0.0/16`") from None


def _enforcement_points(values: Mapping[str, str]) -> frozenset[str] | None:
    """Raises UsageError where nobody says who they are, and so nobody can be told from them."""
    names = values.get("ENFORCEMENT_POINTS")
    if names is not None and not {"TOKEN", "JWT_ISSUER", "PROXY_HEADER"} & values.keys():
        raise UsageError(
            f"`{PREFIX}ENFORCEMENT_POINTS` is set, and nobody is asked who they are",
            f"set {PREFIX}TOKEN, {PREFIX}JWT_ISSUER or {PREFIX}PROXY_HEADER too",
        )
    return None if names is None else frozenset(names.replace(",", " ").split())


def _limits(values: Mapping[str, str]) -> Limits:
    bare = Limits()
    return Limits(
        connections=_number(values, "MAX_CONNECTIONS", bare.connections, 1, 1_000_000),
        requests=_number(values, "MAX_REQUESTS", bare.requests, 1, 1_000_000),
        rate=_number(values, "RATE", 0, 0, 1_000_000) if "RATE" in values else None,
        head_seconds=_number(values, "HEAD_SECONDS", int(bare.head_seconds), 1, 3600),
        body_seconds=_number(values, "BODY_SECONDS", int(bare.body_seconds), 1, 3600),
    )


def _llm(values: Mapping[str, str], root: Path) -> Wanted:
    """The language model, and where it is recorded: `BYLAW_LLM_RECORD=1` adds to the folder what it says.

    `BYLAW_LLM_KEYS` and `BYLAW_LLM_URLS` are those of single agents: `small=… large=…`.
    """
    given = Given(
        model=values.get("LLM_MODEL", ""),
        url=values.get("LLM_URL"),
        key=values.get("LLM_KEY"),
        region=values.get("LLM_REGION"),
        api_version=values.get("LLM_API_VERSION"),
    )
    folder = root / values["LLM_FOLDER"] if "LLM_FOLDER" in values else None
    is_recording = bool(_number(values, "LLM_RECORD", 0, 0, 1))
    keys, urls = _by_agent(values, "LLM_KEYS"), _by_agent(values, "LLM_URLS")
    return Wanted(values.get("LLM", "none"), given, folder, is_recording, keys, urls)


def _by_agent(values: Mapping[str, str], name: str) -> Mapping[str, str]:
    """`small=… large=…` by the name before the sign. The message repeats none of it: it may be secret."""
    pairs = [part.partition("=") for part in values.get(name, "").split()]
    if not all(agent and sign and value for agent, sign, value in pairs):
        raise UsageError(f"`{PREFIX}{name}` is no list of agents", "write it like `small=VALUE large=VALUE`")
    return {agent: value for agent, _, value in pairs}


def _number(values: Mapping[str, str], name: str, default: int, low: int, high: int) -> int:
    text = values.get(name)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and low <= int(text[:12]) <= high):
        raise UsageError(f"`{PREFIX}{name}` is `{text}`, which is not a number from {low} to {high}")
    return int(text)
