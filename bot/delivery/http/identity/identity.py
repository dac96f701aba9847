"""Who asks? Said by a token that belongs to one user, by a JSON Web Token, or by a proxy that has asked for it.

Where none of them is set up, by whoever asks: then only this machine is served.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass, field
from ipaddress import ip_address

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers

from bot.delivery.http.identity.bearer import Bearer, UnknownKey
from bot.evidence.store.columns import ID_LENGTH
from bot.settings import Settings

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


@dataclass(frozen=True, slots=True)
class Known:
    """Who asks. None: everybody here is trusted to say so in the request."""

    user: str | None


@dataclass(frozen=True, slots=True)
class Stranger:
    """Who asks is not known, and why."""

    why: str


@dataclass(frozen=True)
class Identity:
    """How it is found out, as the settings say."""

    settings: Settings
    bearer: Bearer | None = field(default=None)

    @classmethod
    def set_up(cls, settings: Settings) -> Identity:
        """With the keys of the issuer, where one is named. Raises UsageError where they cannot be read."""
        if settings.tokens is None:
            return cls(settings)
        bearer = Bearer(settings.tokens)
        bearer.open()
        return cls(settings, bearer)

    async def of(self, headers: Headers, address: str) -> Known | Stranger:
        """Who sends a request with these *headers* from that *address*."""
        if not self.settings.is_identity_asked:
            return Known(None)
        if self._is_proxy(address):
            return _vouched(headers.getlist(self.settings.proxy_header or ""))
        sent = headers.getlist("authorization")
        scheme, _, given = (sent[0] if len(sent) == 1 else "").partition(" ")
        if scheme.lower() != "bearer":
            return Stranger("a bearer token is needed")
        if self.settings.token is not None and _same(given.strip(), self.settings.token):
            return Known(self.settings.token_user)
        user = None if self.bearer is None else await _belongs(given.strip(), self.bearer)
        return Stranger("a bearer token that holds here is needed") if user is None else Known(user)

    def _is_proxy(self, address: str) -> bool:
        if self.settings.proxy_header is None:
            return False
        try:
            found = ip_address(address.partition("%")[0])
        except ValueError:
            return False
        found = getattr(found, "ipv4_mapped", None) or found
        return any(found in network for network in self.settings.proxies)


async def _belongs(token: str, bearer: Bearer) -> str | None:
    if bearer.is_stale:
        await run_in_threadpool(bearer.renew)
    try:
        return bearer.user(token)
    except UnknownKey:
        await run_in_threadpool(bearer.renew)
    try:
        return bearer.user(token)
    except UnknownKey:
        return None


def _vouched(said: list[str]) -> Known | Stranger:
    """Whom the proxy names: one, by a name that can be one."""
    name = said[0].strip() if len(said) == 1 else ""
    if not name or len(name) > ID_LENGTH or not name.isprintable():
        return Stranger("the proxy names nobody")
    return Known(name)


def _same(given: str, token: str) -> bool:
    return hmac.compare_digest(given.encode("latin-1", "replace"), token.encode())
