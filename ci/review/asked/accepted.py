"""Which waivers of a pull request hold before it is merged: those that an owner has asked for in a comment.

The comment itself is read again: who wrote it, that nobody else has edited it, and what the base says of owners. That a
waiver lies in the branch says nothing: its author may have put it there.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from bylaw.github.client import Hub
from ci.review.asked.acceptance import longest_days, without_owner
from ci.review.asked.commands import Accept, parse
from ci.review.computed.document import FoundItem, ReviewDocument, WaiverItem
from ci.review.posted.shown import nodes_of

if TYPE_CHECKING:
    from bylaw.github.types import PullRequest

_COMMENTS = """
query($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) { pullRequest(number: $number) { comments(first: 100, after: $after) {
    pageInfo { hasNextPage endCursor }
    nodes { body author { __typename login } editor { login } }
  } } }
}
"""


def with_accepted(hub: Hub, pull: PullRequest, document: ReviewDocument, today: date) -> ReviewDocument:
    """The document, its findings as notices where an owner has accepted them. Raises GitHubError."""
    waivers = {waiver.finding: waiver for waiver in document.waivers}
    waiting = [one for one in document.new if one.fingerprint in waivers and one.severity != "notice"]
    if not waiting:
        return document
    last = min(date.fromisoformat(document.at), today) + timedelta(days=longest_days(hub, pull, document.folder))
    said = [(login, asked) for login, asked in _asked(hub, pull.number) if asked.until <= last]
    held = {one.fingerprint for one in waiting if _is_held(hub, pull, document, one, waivers[one.fingerprint], said)}
    return document.with_notices(held)


def _asked(hub: Hub, number: int) -> Iterator[tuple[str, Accept]]:
    """What people have asked to be accepted, by whom; a comment that another one edited is nobody's."""
    node: dict[str, Any]
    for node in nodes_of(hub, number, _COMMENTS, "comments"):
        author, editor = node["author"], node["editor"]
        is_own = author is not None and author["__typename"] == "User" and editor in (None, {"login": author["login"]})
        if is_own and isinstance(asked := parse(node["body"]), Accept):
            yield author["login"], asked


def _is_held(
    hub: Hub,
    pull: PullRequest,
    document: ReviewDocument,
    finding: FoundItem,
    waiver: WaiverItem,
    said: list[tuple[str, Accept]],
) -> bool:
    """Has somebody who owns every file that the finding is about asked for the waiver, or for a longer one?"""
    paths = sorted({document.folder + spot.path for spot in (finding.at, *finding.related)})
    until = date.fromisoformat(waiver.until)
    return any(
        (finding.fingerprint.startswith(asked.finding) or finding.id == asked.finding)
        and date.fromisoformat(document.at) <= until <= asked.until
        and not without_owner(hub, pull, login, paths)
        for login, asked in said
    )
