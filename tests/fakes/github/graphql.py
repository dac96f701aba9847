"""GitHub's GraphQL as far as review threads go: its own schema, cut down, checks and runs the queries."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

from graphql import GraphQLError, GraphQLSchema, build_schema, graphql_sync

from tests.fakes.github.access import Token
from tests.fakes.github.state import IssueComment, LineComment, Pull
from tests.fakes.github.world import World

Json = dict[str, Any]


@cache
def schema() -> GraphQLSchema:
    """What may be asked."""
    return build_schema(Path(__file__).with_name("schema.graphql").read_text(encoding="utf-8"))


def answer(world: World, token: Token, body: Any) -> Json:
    """The answer to one query; refusals stand in `errors`, with a `type` as GitHub gives them."""
    root = _Root(world, token)
    result = graphql_sync(schema(), body.get("query", ""), root.fields(), variable_values=body.get("variables"))
    shown: Json = (
        {} if result.data is None and result.errors and result.errors[0].path is None else {"data": result.data}
    )
    if result.errors:
        shown["errors"] = [_error(error) for error in result.errors]
    return shown


def _error(error: GraphQLError) -> Json:
    formatted: Json = dict(error.formatted)
    kind = formatted.pop("extensions", {}).get("type")
    return {**({"type": kind} if kind else {}), **formatted}


def _refused(kind: str, message: str) -> GraphQLError:
    return GraphQLError(message, extensions={"type": kind})


class _Root:
    """What one token sees, as mappings whose callables are fields with arguments."""

    def __init__(self, world: World, token: Token) -> None:
        self.world = world
        self.token = token

    def fields(self) -> Json:
        def mutation(act: Callable[[Json], Json]) -> Callable[..., Json]:
            return lambda _info, input: {"clientMutationId": input.get("clientMutationId"), **act(input)}

        return {
            "viewer": self.actor(self.token.login),
            "rateLimit": None,
            "node": lambda _info, id: self.node(id),
            "repository": self.repository,
            "organization": self.organization,
            "resolveReviewThread": mutation(lambda given: self.resolve(given, True)),
            "unresolveReviewThread": mutation(lambda given: self.resolve(given, False)),
            "minimizeComment": mutation(lambda given: self.minimize(given["subjectId"], given["classifier"])),
        }

    # --- reading

    def repository(self, _info: Any, owner: str, name: str, **_: Any) -> Json:
        if f"{owner}/{name}".lower() != self.world.slug.lower():
            raise _refused("NOT_FOUND", f"Could not resolve to a Repository with the name '{owner}/{name}'.")
        return {
            "id": "R_42",
            "name": name,
            "nameWithOwner": self.world.slug,
            "pullRequest": lambda _info, number: self.pull(number),
        }

    def organization(self, _info: Any, login: str) -> Json:
        if login.lower() != self.world.slug.split("/")[0].lower():
            raise _refused("NOT_FOUND", f"Could not resolve to an Organization with the login of '{login}'.")
        return {"id": "O_1", "login": login, "team": lambda _info, slug: self.team(slug)}

    def team(self, slug: str) -> Json | None:
        """A team for whoever may read members; a workflow's own token never may."""
        if self.token.kind == "workflow" or not self.token.may("read", "members"):
            raise _refused("FORBIDDEN", self.token.denied().message)
        if slug not in self.world.state.teams:
            return None
        held = sorted(self.world.state.teams[slug])

        def members(_info: Any, query: str = "", **page: Any) -> Json:
            return connection([self.actor(one) for one in held if query.lower() in one.lower()], page)

        return {"id": f"T_{slug}", "slug": slug, "members": members}

    def pull(self, number: int) -> Json:
        pull = self.world.state.pulls.get(number)
        if pull is None:
            raise _refused("NOT_FOUND", f"Could not resolve to a PullRequest with the number of {number}.")
        return {
            "__typename": "PullRequest",
            "id": f"PR_{number}",
            "number": number,
            "headRefOid": self.world.head(pull),
            "isDraft": pull.draft,
            "reviewThreads": lambda _info, **page: connection(self.threads(pull), page),
            "comments": lambda _info, **page: connection(
                [self.comment(one) for one in self.world.comments_of(number)], page
            ),
        }

    def threads(self, pull: Pull) -> list[Json]:
        comments = self.world.line_comments_of(pull.number)
        return [self.thread(number, comments) for number in dict.fromkeys(one.thread for one in comments)]

    def thread(self, number: int, comments: Iterable[LineComment]) -> Json:
        said = [one for one in comments if one.thread == number]
        first, by = said[0], self.world.state.resolved.get(number)
        can = self.may_resolve()
        return {
            "__typename": "PullRequestReviewThread",
            "id": f"PRRT_{number}",
            "isResolved": by is not None,
            "isOutdated": self.world.is_outdated(first),
            "isCollapsed": by is not None,
            "line": self.world.line_now(first),
            "originalLine": first.line,
            "startLine": first.start_line,
            "originalStartLine": first.start_line,
            "path": first.path,
            "diffSide": first.side,
            "startDiffSide": first.start_side,
            "subjectType": "FILE" if first.is_file else "LINE",
            "resolvedBy": by and self.actor(by),
            "viewerCanResolve": can and by is None,
            "viewerCanUnresolve": can and by is not None,
            "viewerCanReply": True,
            "comments": lambda _info, **page: connection([self.line_comment(one) for one in said], page),
        }

    def line_comment(self, comment: LineComment) -> Json:
        page = f"{self.world.base}/{self.world.slug}/pull/{comment.pull}#discussion_r{comment.id}"
        return {
            "__typename": "PullRequestReviewComment",
            "path": comment.path,
            "line": self.world.line_now(comment),
            "originalLine": comment.line,
            "outdated": self.world.is_outdated(comment),
            **self._said(comment, f"PRRC_{comment.id}", page),
        }

    def comment(self, comment: IssueComment) -> Json:
        page = f"{self.world.base}/{self.world.slug}/pull/{comment.pull}#issuecomment-{comment.id}"
        edited = comment.editor and self.actor(comment.editor)
        return {"__typename": "IssueComment", "editor": edited, **self._said(comment, f"IC_{comment.id}", page)}

    def _said(self, comment: LineComment | IssueComment, id: str, url: str) -> Json:
        return {
            "id": id,
            "databaseId": comment.id,
            "fullDatabaseId": str(comment.id),
            "body": comment.body,
            "isMinimized": comment.minimized is not None,
            "minimizedReason": comment.minimized,
            "viewerCanMinimize": self.token.may("write", "pull_requests", "issues"),
            "author": self.actor(comment.author),
            "viewerDidAuthor": comment.author == self.token.login,
            "url": url,
            "createdAt": comment.created_at,
        }

    def actor(self, login: str) -> Json:
        """GraphQL names an App without the `[bot]` that REST puts behind it."""
        kind = "Bot" if login.endswith("[bot]") else "User"
        return {"__typename": kind, "id": f"U_{login}", "login": login.removesuffix("[bot]"), "databaseId": 1}

    def node(self, id: str) -> Json:
        kind, _, number = id.partition("_")
        state = self.world.state
        if kind == "PRRT" and number.isdigit():
            said = [one for one in state.line_comments.values() if one.thread == int(number)]
            if said:
                return self.thread(int(number), said)
        if kind == "PRRC" and number.isdigit() and int(number) in state.line_comments:
            return self.line_comment(state.line_comments[int(number)])
        if kind == "IC" and number.isdigit() and int(number) in state.comments:
            return self.comment(state.comments[int(number)])
        raise _refused("NOT_FOUND", f"Could not resolve to a node with the global id of '{id}'")

    # --- writing

    def may_resolve(self) -> bool:
        """An App needs to write contents too before it may resolve a thread; reviews alone are not enough."""
        pulls, contents = self.token.may("write", "pull_requests"), self.token.may("write", "contents")
        return pulls and (contents or not self.token.is_app)

    def resolve(self, given: Json, is_resolved: bool) -> Json:
        self.node(given["threadId"])
        if not self.may_resolve():
            raise _refused("FORBIDDEN", self.token.denied().message)
        number = int(given["threadId"].partition("_")[2])
        if is_resolved:
            self.world.state.resolved.setdefault(number, self.token.login)
        else:
            self.world.state.resolved.pop(number, None)
        return {"thread": self.node(given["threadId"])}

    def minimize(self, id: str, reason: str) -> Json:
        self.node(id)
        if not self.token.may("write", "pull_requests", "issues"):
            raise _refused("FORBIDDEN", self.token.denied().message)
        kind, _, number = id.partition("_")
        held: dict[int, Any] = self.world.state.comments if kind == "IC" else self.world.state.line_comments
        held[int(number)].minimized = reason.lower()
        return {"minimizedComment": self.node(id)}


def connection(items: list[Json], page: Json) -> Json:
    """One page of *items*. GitHub insists on `first` or `last`, and on 100 at most."""
    size = page.get("first") or page.get("last")
    if size is None:
        raise _refused(
            "MISSING_PAGINATION_BOUNDARIES", "You must provide a `first` or `last` value to properly paginate."
        )
    if not 1 <= size <= 100:
        raise _refused("EXCESSIVE_PAGINATION", f"Requesting {size} records exceeds the `first` limit of 100 records.")
    start = int(page.get("after") or 0)
    end = min(start + size, len(items))
    if page.get("last") and not page.get("first"):
        start, end = max(0, len(items) - size), len(items)
    shown = items[start:end]
    return {
        "nodes": shown,
        "edges": [{"cursor": str(start + i + 1), "node": item} for i, item in enumerate(shown)],
        "totalCount": len(items),
        "pageInfo": {
            "hasNextPage": end < len(items),
            "hasPreviousPage": start > 0,
            "startCursor": str(start + 1) if shown else None,
            "endCursor": str(end) if shown else None,
        },
    }
