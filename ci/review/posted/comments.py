"""Comments on the lines and files of one pull request: made once, edited, their threads closed and opened."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import TYPE_CHECKING

from bylaw.github.client import Hub, told
from bylaw.github.errors import GitHubError
from ci.review.posted.plan import Resolve, Shown, body_at
from ci.review.posted.shown import threads
from ci.review.words.rendered import Comment

if TYPE_CHECKING:
    from bylaw.github.types import PullRequest

_RESOLVE = "mutation($id: ID!) { resolveReviewThread(input: {threadId: $id}) { thread { isResolved } } }"
_UNRESOLVE = "mutation($id: ID!) { unresolveReviewThread(input: {threadId: $id}) { thread { isResolved } } }"
_REFUSED = 422


def see_to(hub: Hub, is_there: Callable[[], bool], make: Callable[[], object]) -> None:
    """*make* what is known not to be there. After a broken answer it is made again only if it still is not.

    Raises GitHubError.
    """
    looks = count()
    hub.once(lambda: True if next(looks) and is_there() else None, lambda: bool(make()) or True)


class Comments:
    """What one run does to the comments of one pull request: `did`, and the comments that GitHub `refused`."""

    def __init__(self, hub: Hub, pull: PullRequest, seen: Shown, head_sha: str) -> None:
        self.hub = hub
        self.pull = pull
        self.head_sha = head_sha
        self.known = {thread.id for thread in seen.threads}
        self.did: list[str] = []
        self.refused: list[Comment] = []

    def review(self, comments: Sequence[Comment]) -> None:
        """All of them in one request; where GitHub refuses one of them, each for itself."""
        try:
            self._make(comments, lambda: self._create_review(comments))
            self.did.append(f"review of {len(comments)}")
        except GitHubError as problem:
            if problem.status != _REFUSED:
                raise
            for comment in comments:
                self._on_line(comment)

    def on_file(self, comment: Comment) -> None:
        """A comment on the file; what GitHub refuses there too is left to whoever concludes."""
        if self._is_taken(comment, subject_type="file"):
            self.did.append("file comment")
        else:
            self.refused.append(comment)

    def edit(self, comment: int, body: str) -> None:
        with told():
            self.pull.get_review_comment(comment).edit(body)
        self.did.append("edit")

    def resolve(self, action: Resolve) -> None:
        """A thread is closed or opened. Who may not has said so in the comment's own words already."""
        try:
            self.hub.graphql(_UNRESOLVE if action.is_open else _RESOLVE, {"id": action.thread})
        except GitHubError as problem:
            if problem.status != 403 or problem.is_limit:
                raise
            self.did.append("may not resolve")
            return
        self.did.append("reopened" if action.is_open else "resolved")

    def _on_line(self, comment: Comment) -> None:
        assert comment.line is not None
        if self._is_taken(comment, line=comment.line, side="RIGHT"):
            self.did.append("comment")
        else:
            self.on_file(comment)

    def _is_taken(self, comment: Comment, **place: int | str) -> bool:
        def make() -> None:
            body = body_at(comment, comment.line if "line" in place else None)
            self.pull.create_review_comment(body, self.head_sha, comment.path, **place)  # type: ignore[arg-type]  # its own options, by name

        try:
            self._make([comment], make)
        except GitHubError as problem:
            if problem.status != _REFUSED:
                raise
            return False
        return True

    def _make(self, comments: Sequence[Comment], make: Callable[[], None]) -> None:
        wanted = {comment.fingerprint for comment in comments}

        def is_there() -> bool:
            new = (thread for thread in threads(self.hub, self.pull.number) if thread.id not in self.known)
            return wanted <= {thread.fingerprint for thread in new}

        see_to(self.hub, is_there, make)

    def _create_review(self, comments: Sequence[Comment]) -> None:
        rows = [{"path": one.path, "line": one.line, "side": "RIGHT", "body": one.body} for one in comments]
        commit = self.hub.repository.get_commit(self.head_sha)
        self.pull.create_review(commit, event="COMMENT", comments=rows)  # type: ignore[arg-type]  # its type knows positions only
