"""What a pull request shows of bylaw now, read from GitHub: its own threads and comments, nobody else's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bylaw.github.client import Hub, told
from ci.review.posted.plan import Note, Shown, Thread, lines_of

_PAGE = "first: 100, after: $after"
_THREADS = f"""
query($owner: String!, $name: String!, $number: Int!, $after: String) {{
  repository(owner: $owner, name: $name) {{ pullRequest(number: $number) {{ reviewThreads({_PAGE}) {{
    pageInfo {{ hasNextPage endCursor }}
    nodes {{
      id line isResolved isOutdated viewerCanResolve viewerCanUnresolve
      comments(first: 1) {{ nodes {{ fullDatabaseId body viewerDidAuthor }} }}
    }}
  }} }} }}
}}
"""
_NOTES = f"""
query($owner: String!, $name: String!, $number: Int!, $after: String) {{
  repository(owner: $owner, name: $name) {{ pullRequest(number: $number) {{ comments({_PAGE}) {{
    pageInfo {{ hasNextPage endCursor }}
    nodes {{ fullDatabaseId body viewerDidAuthor }}
  }} }} }}
}}
"""


def shown(hub: Hub, number: int) -> Shown:
    """What pull request *number* shows of bylaw. Raises GitHubError."""
    return Shown(threads(hub, number), notes(hub, number), lines(hub, number))


def threads(hub: Hub, number: int) -> tuple[Thread, ...]:
    """The threads that bylaw began, oldest first."""
    return tuple(
        Thread(
            node["id"],
            int(first["fullDatabaseId"]),
            first["body"],
            node["line"],
            node["isResolved"],
            node["isOutdated"],
            node["viewerCanResolve"],
            node["viewerCanUnresolve"],
        )
        for node in nodes_of(hub, number, _THREADS, "reviewThreads")
        for first in node["comments"]["nodes"]
        if first["viewerDidAuthor"]
    )


def notes(hub: Hub, number: int) -> tuple[Note, ...]:
    """The comments below the pull request that bylaw wrote, oldest first."""
    return tuple(
        Note(int(node["fullDatabaseId"]), node["body"])
        for node in nodes_of(hub, number, _NOTES, "comments")
        if node["viewerDidAuthor"]
    )


def lines(hub: Hub, number: int) -> dict[str, frozenset[int]]:
    """Path -> the lines of the head that the pull request's diff shows."""
    with told():
        files = hub.repository.get_pull(number).get_files()
        return {file.filename: lines_of(file.patch) for file in files if file.status != "removed"}


def nodes_of(hub: Hub, number: int, query: str, field: str) -> Iterator[dict[str, Any]]:
    """What *query* tells of a pull request's *field*, over all pages. Raises GitHubError."""
    owner, name = hub.slug.split("/")
    after = None
    while True:
        given = {"owner": owner, "name": name, "number": number, "after": after}
        page = hub.graphql(query, given)["repository"]["pullRequest"][field]
        yield from page["nodes"]
        if not page["pageInfo"]["hasNextPage"]:
            return
        after = page["pageInfo"]["endCursor"]
