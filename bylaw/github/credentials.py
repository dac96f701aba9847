"""As whom bylaw speaks to GitHub, and what that leaves out: a token, or the installation of a GitHub App."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from bylaw.errors import UsageError

Kind = Literal["app", "workflow", "personal"]


@dataclass(frozen=True)
class Token:
    """A token as it was given: a person's, or that of a running workflow."""

    secret: str = field(repr=False)


@dataclass(frozen=True)
class Installation:
    """A GitHub App with its private key (PEM). Without a number, the installation is looked up by the repository."""

    app: int
    private_key: str = field(repr=False)
    number: int | None = None


Credentials = Token | Installation


@dataclass(frozen=True)
class Abilities:
    """What may be done with the given credentials; `lost` says what may not, and what happens instead."""

    kind: Kind
    creates_checks: bool
    starts_workflows: bool

    @property
    def lost(self) -> tuple[str, ...]:
        """Sentences for a person, none when nothing is lost."""
        told = []
        if not self.creates_checks:
            told.append(
                "only a GitHub App may create check runs: the verdict is a commit status instead, "
                "and what cannot stand on a line stands in the summary"
            )
        if not self.starts_workflows:
            told.append(
                "what a workflow's own token pushes or opens starts no workflow: "
                "use a GitHub App where the pull request must be checked"
            )
        return tuple(told)


# A token's first letters tell whose it is. A workflow's own belongs to an App of GitHub: it may create check runs.
_BY_KIND: Mapping[Kind, Abilities] = {
    "app": Abilities("app", creates_checks=True, starts_workflows=True),
    "workflow": Abilities("workflow", creates_checks=True, starts_workflows=False),
    "personal": Abilities("personal", creates_checks=False, starts_workflows=True),
}


def abilities(credentials: Credentials) -> Abilities:
    """What *credentials* may do, as far as their kind decides it. Permissions that were not granted show when used."""
    if isinstance(credentials, Installation):
        return _BY_KIND["app"]
    return _BY_KIND["workflow" if credentials.secret.startswith("ghs_") else "personal"]


def read_credentials(environ: Mapping[str, str]) -> Credentials:
    """An App's (`BYLAW_APP_ID`, `BYLAW_APP_PRIVATE_KEY`, `BYLAW_APP_INSTALLATION`), else `GITHUB_TOKEN`'s.

    Raises UsageError when there are none, or only half of an App's.
    """
    app, key = environ.get("BYLAW_APP_ID", "").strip(), environ.get("BYLAW_APP_PRIVATE_KEY", "").strip()
    if bool(app) != bool(key):
        missing = "BYLAW_APP_PRIVATE_KEY" if app else "BYLAW_APP_ID"
        raise UsageError(f"half of a GitHub App is given: `{missing}` is not set")
    if app:
        installation = environ.get("BYLAW_APP_INSTALLATION", "").strip()
        # A key kept in one line has its line breaks written out.
        text = key.replace("\\n", "\n")
        return Installation(_number(app, "BYLAW_APP_ID"), text, _installation(installation))
    secret = environ.get("GITHUB_TOKEN", "").strip()
    if not secret:
        raise UsageError("no credentials for GitHub", "set GITHUB_TOKEN, or BYLAW_APP_ID and BYLAW_APP_PRIVATE_KEY")
    return Token(secret)


def _installation(text: str) -> int | None:
    return _number(text, "BYLAW_APP_INSTALLATION") if text else None


def _number(text: str, name: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise UsageError(f"`{name}` is not a number")
    return int(text)
