"""A connection to the fake GitHub that waits without waiting."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from bylaw.github.client import Hub, connect
from bylaw.github.credentials import Credentials, Token
from bylaw.github.patience import Patience


@dataclass
class Waiting:
    """A clock that only sleeping moves, and how long was slept each time."""

    now: datetime = field(default_factory=lambda: datetime.now(UTC))
    slept: list[float] = field(default_factory=list)

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += timedelta(seconds=seconds)


@pytest.fixture
def waiting() -> Waiting:
    return Waiting()


@pytest.fixture
def hub(github, waiting) -> Callable[..., Hub]:
    """`hub(kind="workflow")` connects with a new token of that kind, `hub(credentials=...)` with those."""

    def make(credentials: Credentials | None = None, attempts: int = 6, **token) -> Hub:
        given = credentials or Token(github.token(**token))
        patience = Patience(lambda: waiting.now, waiting.sleep, attempts=attempts)
        return connect(given, "acme/policies", patience, github.base)

    return make


@pytest.fixture(scope="session")
def key_pair() -> tuple[str, str]:
    """A private key and its public half, as PEM."""
    key = rsa.generate_private_key(65537, 2048)
    pem = serialization.Encoding.PEM
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    public = key.public_key().public_bytes(pem, serialization.PublicFormat.SubjectPublicKeyInfo)
    return private.decode(), public.decode()
