"""Who asks, and what may they do: tokens of every kind, and the permission that each operation needs.

An App (and the workflow's own token, which is one too) may create check runs, a person's token never may. A token that
may not gets 403, in the words that GitHub has for its kind.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import jwt

from tests.fakes.github.state import Refused

Kind = Literal["app", "workflow", "personal", "fine-grained"]
Level = Literal["read", "write"]

_NAMES = ("contents", "pull_requests", "issues", "checks", "statuses", "actions", "metadata", "members")
ALL: Mapping[str, Level] = dict.fromkeys(_NAMES, "write")
READ: Mapping[str, Level] = dict.fromkeys(_NAMES, "read")
PREFIX: Mapping[Kind, str] = {"app": "ghs_", "workflow": "ghs_", "personal": "ghp_", "fine-grained": "github_pat_"}
WORKFLOW_APP = 15368  # GitHub's own App for workflows

_DENIED: Mapping[Kind, str] = {
    "app": "Resource not accessible by integration",
    "workflow": "Resource not accessible by integration",
    "personal": "Must have admin rights to Repository.",
    "fine-grained": "Resource not accessible by personal access token",
}

# What an operation is about, by its path; the first row that fits counts. Any one of the permissions is enough.
_SUBJECTS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"/pulls/\{pull_number\}/merge", ("contents",)),
    (r"/pulls(/|$)|/commits/\{commit_sha\}/pulls", ("pull_requests",)),
    (r"/issues(/|$)|/labels(/|$)", ("issues", "pull_requests")),
    (r"/check-runs", ("checks",)),
    (r"/status(es)?(/|$)", ("statuses",)),
    (r"/actions/", ("actions",)),
    (r"/git/|/contents/|/commits|/compare/|/branches/", ("contents",)),
    (r"", ("metadata",)),
)


@dataclass(frozen=True)
class Token:
    """A token as the server knows it."""

    value: str
    login: str
    kind: Kind
    permissions: Mapping[str, Level] = field(default_factory=lambda: ALL)
    app: int | None = None

    @property
    def is_app(self) -> bool:
        return self.kind in ("app", "workflow")

    def may(self, level: Level, *subjects: str) -> bool:
        """Is one of *subjects* among what the token may read or write?"""
        held = [self.permissions.get(subject) for subject in subjects]
        return "write" in held or (level == "read" and "read" in held)

    def denied(self) -> Refused:
        return Refused(403, _DENIED[self.kind])


@dataclass(frozen=True)
class App:
    """A GitHub App with one installation, known by the public half of its key."""

    id: int
    slug: str
    installation: int
    public_key: str
    permissions: Mapping[str, Level] = field(default_factory=lambda: ALL)


def subjects(template: str) -> tuple[str, ...]:
    """The permissions that an operation asks for."""
    path = template.removeprefix("/repos/{owner}/{repo}")
    return next(names for pattern, names in _SUBJECTS if re.search(pattern, path))


def authorize(token: Token, method: str, template: str) -> None:
    """Raise Refused unless *token* may do this."""
    if method != "GET" and "/check-runs" in template and not token.is_app:
        raise Refused(403, "You must authenticate via a GitHub App.")
    level: Level = "read" if method == "GET" else "write"
    if not token.may(level, *subjects(template)):
        raise token.denied()


def read_jwt(text: str, apps: Mapping[int, App]) -> App:
    """The App that signed *text*. Raises Refused in GitHub's words."""
    try:
        issuer = int(jwt.decode(text, options={"verify_signature": False})["iss"])
        app = apps[issuer]
        claims = jwt.decode(text, app.public_key, algorithms=["RS256"], leeway=5)
    except (jwt.ExpiredSignatureError, KeyError, ValueError):
        raise Refused(401, "'Expiration time' claim ('exp') is too far in the past, or the App is unknown") from None
    except jwt.InvalidTokenError:
        raise Refused(401, "A JSON web token could not be decoded") from None
    if claims["exp"] > time.time() + 600 + 5:
        raise Refused(401, "'Expiration time' claim ('exp') is too far in the future")
    return app
