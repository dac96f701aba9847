"""A candidate follows its pull request: merged, closed or opened again by people, it is here what it is there."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from bot.evidence.store.tables import candidates
from bot.evidence.store.tables.candidates import Candidate
from bot.memory.candidates import close, land, reopen
from bot.services import Services
from bylaw.github.errors import GitHubError

if TYPE_CHECKING:
    from bylaw.github.pull_request import Standing

_EVERY = timedelta(minutes=5)  # how often GitHub is asked for one of them
_SERVER_ERROR = 500
_REOPENED = timedelta(days=30)  # how long one that was closed may still be opened again

_log = logging.getLogger("bylaw.bot")


def follow(services: Services, now: datetime) -> int:
    """Look at the pull requests of candidates, where GitHub is connected; how many candidates moved.

    Any number of processes may do so: each pull request is looked at by one of them.
    """
    if services.pull_request is None:
        return 0
    with services.store.reading() as connection:
        if not candidates.all_of(connection, "opened", "rejected"):
            return 0
    with services.store.writing() as connection:
        found = candidates.to_follow(connection, now, _EVERY, now - _REOPENED)
    moved = 0
    for one in found:
        try:
            standing = services.pull_request(str(one.pull_request))
        except GitHubError as error:  # looked at again in a while
            reason = {"candidate": one.candidate_id, "reason": error.message}
            _log.warning("a pull request could not be looked at", extra={"meta": reason})
            if error.status in (0, 401) or error.status >= _SERVER_ERROR or error.is_limit:
                break  # the others would fare no better
            continue
        moved += standing is not None and _move(one, standing, services)
    return moved


def _move(candidate: Candidate, standing: Standing, services: Services) -> bool:
    """Bring the candidate to where its pull request is. False: it is there."""
    match candidate.stage, standing.state:
        case "opened" | "rejected", "merged":
            return land(candidate, standing.merged_at or services.clock(), services)
        case "opened", "closed":
            return close(candidate, services)
        case "rejected", "open":
            return reopen(candidate, services)
    return False
