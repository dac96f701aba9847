"""What opens the pull request of a candidate: the repository that is edited here, and where it lives on GitHub."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path

from bot.conversation import Actor
from bot.memory import promotion
from bot.memory.promotion import Edit
from bot.services import Services
from bylaw.errors import UsageError
from bylaw.github.client import PUBLIC, Hub, connect
from bylaw.github.credentials import read_credentials
from bylaw.github.patience import Patience
from bylaw.github.pull_request import Standing, look_up


def editing(root: Path | None) -> Edit:
    """Edits in a copy of the repository at *root*."""
    from bylaw.cli import edit_for_root  # only the command composes the wings

    return partial(edit_for_root, root or Path())


def hub(repo: str | None, environ: Mapping[str, str], is_patient: bool = True) -> Hub:
    """The repository on GitHub, as *environ* lets us in. Raises UsageError where it is not known or does not.

    Not *is_patient*: what GitHub does not answer at once is asked again another time.
    """
    if not repo:
        raise UsageError("it is not known which repository this is", "name it: `--repo OWNER/NAME`")
    patience = Patience(lambda: datetime.now(UTC), time.sleep)
    patience = patience if is_patient else replace(patience, attempts=1, longest_limit_seconds=0)
    return connect(read_credentials(environ), repo, patience, environ.get("GITHUB_API_URL") or PUBLIC)


def following(environ: Mapping[str, str]) -> Callable[[str], Standing | None] | None:
    """What tells how a pull request stands; None where `GITHUB_REPOSITORY` names no repository."""
    repo = environ.get("GITHUB_REPOSITORY")
    connected = cache(lambda: hub(repo, environ, is_patient=False))
    return None if not repo else lambda url: look_up(connected(), url)


def promoting(root: Path | None, environ: Mapping[str, str]) -> Callable[[str, Actor, Services], str] | None:
    """What a server opens pull requests with; None where `GITHUB_REPOSITORY` names no repository."""
    repo = environ.get("GITHUB_REPOSITORY")
    if not repo:
        return None

    def promote(name: str, actor: Actor, services: Services) -> str:
        done = promotion.open_(name, actor, services, editing(root), hub(repo, environ))
        return done.url or done.state

    return promote
