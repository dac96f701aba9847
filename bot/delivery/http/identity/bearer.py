"""Who a JSON Web Token belongs to: signed by a key of the issuer, made for us, and in its time.

Only signatures that take a private key to make are read, each with a key of its own kind: what a token says of keys,
other than the name of one, is not looked at. The issuer's keys are read anew when they change, and when a token names
one that is not among them, but not at every stranger's bidding.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import urlopen

import jwt
from jwt import PyJWK
from jwt.exceptions import PyJWKError, PyJWTError

from bot.evidence.store.columns import ID_LENGTH
from bot.settings import Tokens
from bylaw.errors import UsageError

KINDS: Mapping[str, str] = {  # an algorithm, and the kind of its keys
    **dict.fromkeys(("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"), "RSA"),
    **dict.fromkeys(("ES256", "ES384", "ES512"), "EC"),
    "EdDSA": "OKP",
}
SKEW_SECONDS = 60  # by which clocks may differ
FRESH_SECONDS = 300.0  # after which the keys are read anew
AGAIN_SECONDS = 10.0  # between two looks for a key that a token names
_FETCH_SECONDS = 5.0
_MOST_BYTES = 256 * 1024
_LONGEST = 8 * 1024
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


class UnknownKey(Exception):
    """A key that is not among the issuer's, as far as they are known."""


@dataclass
class Bearer:
    """The reader of tokens, with the keys it knows."""

    settings: Tokens
    clock: Callable[[], float] = time.monotonic
    _keys: Mapping[str | None, tuple[Mapping[str, Any], ...]] = field(default_factory=dict)
    _read_at: float = float("-inf")
    _reading: Lock = field(default_factory=Lock)

    def user(self, token: str) -> str | None:
        """Whose it is; None where it is nobody's. Raises UnknownKey for one that should be looked at once more."""
        if len(token) > _LONGEST:
            return None
        try:
            head = jwt.get_unverified_header(token)
            algorithm, name = str(head.get("alg")), head.get("kid")
            if algorithm not in KINDS or "crit" in head or not isinstance(name, str | None):
                return None
            for key in self._of(algorithm, name):
                claims = self._claims(token, key, algorithm)
                if claims is not None:
                    return _name(claims.get(self.settings.user_claim))
        except (PyJWTError, ValueError, TypeError, RecursionError):
            return None
        return None

    @property
    def is_stale(self) -> bool:
        """Is it time to read the keys anew?"""
        return self.clock() - self._read_at > FRESH_SECONDS

    def renew(self) -> None:
        """Read the keys anew, unless that was done just now. Those that cannot be read stay the ones they were."""
        with self._reading:
            if self.clock() - self._read_at < AGAIN_SECONDS:
                return
            self._read_at = self.clock()
            try:
                self._keys = _sorted(_document(self.settings.keys))
            except (OSError, URLError, ValueError, RecursionError):
                return

    def open(self) -> None:
        """Read the keys for the first time. Raises UsageError where there are none."""
        try:
            self._keys = _sorted(_document(self.settings.keys))
        except (OSError, URLError, ValueError, RecursionError) as error:
            raise UsageError(f"the keys of the issuer cannot be read: {error}", "see BYLAW_JWT_KEYS") from None
        if not self._keys:
            raise UsageError("the keys of the issuer hold none that tokens can be checked with", "see BYLAW_JWT_KEYS")
        self._read_at = self.clock()

    def _of(self, algorithm: str, name: str | None) -> list[Mapping[str, Any]]:
        if name is not None and name not in self._keys:
            raise UnknownKey
        named = self._keys.get(name, ()) if name is not None else [one for some in self._keys.values() for one in some]
        fitting = [key for key in named if key["kty"] == KINDS[algorithm] and key.get("alg", algorithm) == algorithm]
        return fitting[:8]

    def _claims(self, token: str, key: Mapping[str, Any], algorithm: str) -> Mapping[str, Any] | None:
        required = ["exp", "iss", "aud", self.settings.user_claim]
        try:
            return jwt.decode(
                token,
                PyJWK(dict(key), algorithm).key,
                algorithms=[algorithm],
                audience=self.settings.audience,
                issuer=self.settings.issuer,
                leeway=SKEW_SECONDS,
                options={"require": required, "strict_aud": False},
            )
        except (PyJWTError, PyJWKError):
            return None


def _name(value: Any) -> str | None:
    if not isinstance(value, str) or not value.strip() or len(value) > ID_LENGTH or not value.isprintable():
        return None
    return value


def _sorted(document: Any) -> Mapping[str | None, tuple[Mapping[str, Any], ...]]:
    """The keys of a JWK set that signatures can be checked with, by their names. Raises ValueError."""
    if not isinstance(document, dict) or not isinstance(document.get("keys"), list):
        raise ValueError("that is no JWK set")
    found: dict[str | None, tuple[Mapping[str, Any], ...]] = {}
    for key in document["keys"]:
        if isinstance(key, dict) and key.get("kty") in KINDS.values() and key.get("use", "sig") == "sig":
            name = key.get("kid") if isinstance(key.get("kid"), str) else None
            found[name] = (*found.get(name, ()), key)
    return found


def _document(where: str) -> Any:
    parts = urlsplit(where)
    if parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK):
        with urlopen(where, timeout=_FETCH_SECONDS) as response:
            data = response.read(_MOST_BYTES + 1)
    elif parts.scheme in ("", "file"):
        with Path(parts.path).open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    else:
        raise ValueError("keys are read from a file, or from https://")
    if len(data) > _MOST_BYTES:
        raise ValueError(f"more than {_MOST_BYTES} bytes")
    return json.loads(data)
