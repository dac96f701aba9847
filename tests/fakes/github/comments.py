"""What is said on a pull request: reviews, comments on lines and files, comments below, reactions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from tests.fakes.github.call import Answer, Call, Table, not_blank, not_too_long
from tests.fakes.github.description import Json, sample
from tests.fakes.github.repository import Changed
from tests.fakes.github.state import IssueComment, LineComment, Pull, Reaction, Refused, Review, State
from tests.fakes.github.world import World

C = TypeVar("C", LineComment, IssueComment)

STATES = {"COMMENT": "COMMENTED", "REQUEST_CHANGES": "CHANGES_REQUESTED", "APPROVE": "APPROVED"}
CONTENTS = ("+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes")


@dataclass(frozen=True)
class Spot:
    """Where a comment stands, checked against the diff."""

    file: Changed
    position: int | None = None
    line: int | None = None
    side: str = "RIGHT"
    start_line: int | None = None
    start_side: str | None = None


class Nowhere(Exception):
    """What of a place is not in the diff: `path`, `line` or `start_line`."""


def find_spot(files: tuple[Changed, ...], body: Json, is_file: bool = False) -> Spot:
    """Where in the diff *body* wants to stand. Raises Nowhere."""
    file = next((file for file in files if file.path == body["path"]), None)
    if file is None:
        raise Nowhere("path")
    if is_file:
        return Spot(file)
    if body.get("line") is None:
        by_position = {at: key for key, (_, at) in file.lines.items()}
        if body.get("position") not in by_position:
            raise Nowhere("position" if "position" in body else "line")
        side, line = by_position[body["position"]]
        return Spot(file, body["position"], line, side)
    side, line = body.get("side") or "RIGHT", body["line"]
    if (side, line) not in file.lines:
        raise Nowhere("line")
    hunk, position = file.lines[side, line]
    if body.get("start_line") is None:
        return Spot(file, position, line, side)
    start_side, start = body.get("start_side") or side, body["start_line"]
    if file.lines.get((start_side, start), (0, 0))[0] != hunk or start >= line:
        raise Nowhere("start_line")
    return Spot(file, position, line, side, start, start_side)


def show_review(world: World, review: Review) -> Json:
    """A review as GitHub shows it."""
    pull = f"{world.api}/pulls/{review.pull}"
    return {
        **sample("pull-request-review", world.base),
        "id": review.id,
        "node_id": f"PRR_{review.id}",
        "user": world.user(review.author),
        "body": review.body,
        "state": review.state,
        "commit_id": review.commit,
        "submitted_at": review.submitted_at,
        "pull_request_url": pull,
        "html_url": f"{world.base}/{world.slug}/pull/{review.pull}#pullrequestreview-{review.id}",
    }


def show_line_comment(world: World, comment: LineComment, schema: str = "pull-request-review-comment") -> Json:
    """A comment on a line as GitHub shows it: `line` is null once the line has changed."""
    line = world.line_now(comment)
    shift = 0 if line is None or comment.line is None else line - comment.line
    page = f"{world.base}/{world.slug}/pull/{comment.pull}#discussion_r{comment.id}"
    return {
        **sample(schema, world.base),
        "id": comment.id,
        "node_id": f"PRRC_{comment.id}",
        "url": f"{world.api}/pulls/comments/{comment.id}",
        "html_url": page,
        "pull_request_url": f"{world.api}/pulls/{comment.pull}",
        "pull_request_review_id": comment.review,
        "user": world.user(comment.author),
        "body": comment.body,
        "path": comment.path,
        "diff_hunk": comment.hunk,
        "commit_id": world.head(world.state.pulls[comment.pull]),
        "original_commit_id": comment.commit,
        "position": None if line is None and not comment.is_file else comment.position or 1,
        "original_position": comment.position or 1,
        "line": line,
        "side": comment.side,
        "start_line": comment.start_line and comment.start_line + shift,
        "original_start_line": comment.start_line,
        "start_side": comment.start_side,
        "subject_type": "file" if comment.is_file else "line",
        "created_at": comment.created_at,
        "updated_at": comment.updated_at,
        **({"in_reply_to_id": comment.reply_to} if comment.reply_to else {}),
        **({"original_line": comment.line} if comment.line else {}),
        "reactions": _rollup(world, f"line/{comment.id}", f"{world.api}/pulls/comments/{comment.id}/reactions"),
    }


def show_comment(world: World, comment: IssueComment) -> Json:
    """A comment below a pull request as GitHub shows it."""
    return {
        **sample("issue-comment", world.base),
        "id": comment.id,
        "node_id": f"IC_{comment.id}",
        "url": f"{world.api}/issues/comments/{comment.id}",
        "html_url": f"{world.base}/{world.slug}/pull/{comment.pull}#issuecomment-{comment.id}",
        "issue_url": f"{world.api}/issues/{comment.pull}",
        "body": comment.body,
        "user": world.user(comment.author),
        "created_at": comment.created_at,
        "updated_at": comment.updated_at,
        "reactions": _rollup(world, f"issue/{comment.id}", f"{world.api}/issues/comments/{comment.id}/reactions"),
    }


def _rollup(world: World, subject: str, url: str) -> Json:
    given = [reaction.content for reaction in world.state.reactions.values() if reaction.subject == subject]
    counts = {content: given.count(content) for content in CONTENTS}
    return {**sample("reaction-rollup", world.base), **counts, "total_count": len(given), "url": url}


# --- reviews


def _create_review(call: Call) -> Answer:
    world, body = call.world, call.body or {}
    pull = world.pull(call.params["pull_number"])
    commit, event = body.get("commit_id") or world.head(pull), body.get("event")
    _check_commit(world, pull, commit)
    not_too_long("PullRequestReview", body)
    if event in ("APPROVE", "REQUEST_CHANGES") and pull.author == call.token.login:
        verb = "approve" if event == "APPROVE" else "request changes on"
        raise Refused(422, "Unprocessable Entity", [f"Review Can not {verb} your own pull request"])
    said, comments = bool((body.get("body") or "").strip()), body.get("comments") or []
    if (event == "REQUEST_CHANGES" and not said) or (event == "COMMENT" and not said and not comments):
        raise Refused(422, "Unprocessable Entity", ["Review body can't be blank"])
    mine = (one for one in world.state.reviews.values() if one.pull == pull.number and one.author == call.token.login)
    if event is None and any(one.state == "PENDING" for one in mine):
        raise Refused(422, "Unprocessable Entity", ["User can only have one pending review per pull request"])
    # All or nothing: one comment that cannot stand anywhere refuses the review.
    placed = list(_placed(world, pull, commit, comments))
    review = _new_review(call, pull, commit, STATES.get(event or "", "PENDING"), body.get("body") or "")
    for one, spot in placed:
        _new_line_comment(call, pull, review, one["body"], commit, spot)
    return Answer(200, show_review(world, review))


def _check_commit(world: World, pull: Pull, commit: str) -> None:
    head = world.head(pull)
    base = world.git.merge_base(world.base_sha(pull), head) or ""
    if commit != head and commit not in world.git.commits(base, head):
        raise Refused(422, "Unprocessable Entity", ["Commit is not part of the pull request"])


def _placed(world: World, pull: Pull, commit: str, comments: list[Json]) -> Iterator[tuple[Json, Spot]]:
    files = world.files(pull, commit)
    for comment in comments:
        if not comment["body"].strip():
            raise Refused(422, "Unprocessable Entity", ["Body can't be blank"])
        if len(comment["body"]) > 65_536:
            raise Refused(422, "Unprocessable Entity", ["Body is too long (maximum is 65536 characters)"])
        try:
            yield comment, find_spot(files, comment)
        except Nowhere as part:
            told = {"path": "Path", "line": "Line", "start_line": "Start line", "position": "Position"}[str(part)]
            raise Refused(422, "Unprocessable Entity", [f"{told} could not be resolved"]) from None


def _new_review(call: Call, pull: Pull, commit: str, state: str, body: str = "") -> Review:
    kept = call.world.state
    review = Review(kept.next_id(), pull.number, call.token.login, body, state, commit, kept.tick())
    kept.reviews[review.id] = review
    return review


def _new_line_comment(
    call: Call, pull: Pull, review: Review, body: str, commit: str, spot: Spot, reply_to: int | None = None
) -> LineComment:
    state, now = call.world.state, call.world.state.tick()
    comment = LineComment(
        id=state.next_id(),
        pull=pull.number,
        review=review.id,
        author=call.token.login,
        body=body,
        path=spot.file.path,
        commit=commit,
        hunk=spot.file.patch.split("\n", 1)[0],
        created_at=now,
        updated_at=now,
        position=spot.position,
        line=spot.line,
        side=spot.side,
        start_line=spot.start_line,
        start_side=spot.start_side,
        reply_to=reply_to,
        is_file=spot.line is None,
    )
    state.line_comments[comment.id] = comment
    return comment


def _review(call: Call) -> Review:
    review = call.world.state.reviews.get(call.number("review_id"))
    if review is None or review.pull != call.world.pull(call.params["pull_number"]).number:
        raise Refused.missing()
    return review


def _reviews(call: Call) -> Answer:
    pull, state = call.world.pull(call.params["pull_number"]), call.world.state
    seen = [one for one in state.reviews.values() if one.state != "PENDING" or one.author == call.token.login]
    return Answer(200, [show_review(call.world, one) for one in seen if one.pull == pull.number])


def _edit_review(call: Call) -> Answer:
    review = _review(call)
    not_too_long("PullRequestReview", call.body)
    not_blank("PullRequestReview", call.body)
    review.body = call.body["body"]
    return Answer(200, show_review(call.world, review))


def _submit_review(call: Call) -> Answer:
    review = _review(call)
    if review.state != "PENDING":
        raise Refused(422, "Could not submit a review that is not pending")
    review.state, review.body = STATES[call.body["event"]], call.body.get("body") or review.body
    return Answer(200, show_review(call.world, review))


def _dismiss_review(call: Call) -> Answer:
    review = _review(call)
    if review.state not in ("APPROVED", "CHANGES_REQUESTED"):
        raise Refused(422, "Can not dismiss a commented pull request review")
    review.state = "DISMISSED"
    return Answer(200, show_review(call.world, review))


def _drop_review(call: Call) -> Answer:
    review, state = _review(call), call.world.state
    if review.state != "PENDING":
        raise Refused(422, "Can not delete a non-pending pull request review")
    del state.reviews[review.id]
    state.line_comments = {key: one for key, one in state.line_comments.items() if one.review != review.id}
    return Answer(200, show_review(call.world, review))


def _comments_of_review(call: Call) -> Answer:
    review = _review(call)
    found = [one for one in call.world.state.line_comments.values() if one.review == review.id]
    return Answer(200, [show_line_comment(call.world, one, "review-comment") for one in found])


# --- comments on lines


def _line_comments(call: Call) -> Answer:
    pull = call.world.pull(call.params["pull_number"])
    return Answer(200, [show_line_comment(call.world, one) for one in call.world.line_comments_of(pull.number)])


def _create_line_comment(call: Call) -> Answer:
    world, body = call.world, call.body
    pull = world.pull(call.params["pull_number"])
    not_blank("PullRequestReviewComment", body)
    not_too_long("PullRequestReviewComment", body)
    if "in_reply_to" in body:
        return _reply_to(call, pull, body["in_reply_to"], body["body"])
    _check_commit(world, pull, body["commit_id"])
    try:
        spot = find_spot(world.files(pull, body["commit_id"]), body, body.get("subject_type") == "file")
    except Nowhere as part:
        resource, field = "PullRequestReviewComment", f"pull_request_review_thread.{part}"
        raise Refused.invalid(resource, field, "custom", f"{field} must be part of the diff") from None
    review = _new_review(call, pull, body["commit_id"], "COMMENTED")
    comment = _new_line_comment(call, pull, review, body["body"], body["commit_id"], spot)
    return Answer(201, show_line_comment(world, comment))


def _reply(call: Call) -> Answer:
    not_blank("PullRequestReviewComment", call.body)
    not_too_long("PullRequestReviewComment", call.body)
    pull = call.world.pull(call.params["pull_number"])
    return _reply_to(call, pull, call.number("comment_id"), call.body["body"])


def _reply_to(call: Call, pull: Pull, parent: int, body: str) -> Answer:
    first = call.world.state.line_comments.get(parent)
    if first is None or first.pull != pull.number:
        raise Refused.missing()
    changed = Changed(first.path, "modified", "", None, first.hunk)
    spot = Spot(changed, first.position, first.line, first.side, first.start_line, first.start_side)
    review = _new_review(call, pull, first.commit, "COMMENTED")
    comment = _new_line_comment(call, pull, review, body, first.commit, spot, first.thread)
    return Answer(201, show_line_comment(call.world, comment))


# --- comments below


def _comments(call: Call) -> Answer:
    pull = call.world.pull(call.params["issue_number"])
    return Answer(200, [show_comment(call.world, one) for one in call.world.comments_of(pull.number)])


def _create_comment(call: Call) -> Answer:
    pull, state = call.world.pull(call.params["issue_number"]), call.world.state
    not_blank("IssueComment", call.body)
    not_too_long("IssueComment", call.body)
    now = state.tick()
    comment = IssueComment(state.next_id(), pull.number, call.token.login, call.body["body"], now, now)
    state.comments[comment.id] = comment
    return Answer(201, show_comment(call.world, comment))


# --- what comments on lines and comments below have in common


@dataclass(frozen=True)
class Kind(Generic[C]):
    """One of the two: how its reactions are filed, what GitHub calls it, where it is kept, how it is shown."""

    name: str
    resource: str
    kept: Callable[[State], dict[int, C]]
    show: Callable[[World, C], Json]

    def _found(self, call: Call) -> C:
        comment = self.kept(call.world.state).get(call.number("comment_id"))
        if comment is None:
            raise Refused.missing()
        return comment

    def get(self, call: Call) -> Answer:
        """The comment."""
        return Answer(200, self.show(call.world, self._found(call)))

    def edit(self, call: Call) -> Answer:
        """Say something else."""
        comment = self._found(call)
        not_blank(self.resource, call.body)
        not_too_long(self.resource, call.body)
        comment.body, comment.updated_at = call.body["body"], call.world.state.tick()
        return Answer(200, self.show(call.world, comment))

    def drop(self, call: Call) -> Answer:
        """Take it back."""
        del self.kept(call.world.state)[self._found(call).id]
        return Answer(204)

    def react(self, call: Call) -> Answer:
        """Add a reaction; the same one by the same person stands once."""
        subject, state = f"{self.name}/{self._found(call).id}", call.world.state
        for known in state.reactions.values():
            if (known.subject, known.author, known.content) == (subject, call.token.login, call.body["content"]):
                return Answer(200, _show_reaction(call.world, known))
        reaction = Reaction(state.next_id(), subject, call.body["content"], call.token.login, state.tick())
        state.reactions[reaction.id] = reaction
        return Answer(201, _show_reaction(call.world, reaction))

    def reactions(self, call: Call) -> Answer:
        """The reactions to it."""
        subject = f"{self.name}/{self._found(call).id}"
        found = [one for one in call.world.state.reactions.values() if one.subject == subject]
        return Answer(200, [_show_reaction(call.world, one) for one in found])


ON_A_LINE = Kind("line", "PullRequestReviewComment", lambda state: state.line_comments, show_line_comment)
BELOW = Kind("issue", "IssueComment", lambda state: state.comments, show_comment)


def _show_reaction(world: World, reaction: Reaction) -> Json:
    return {
        **sample("reaction", world.base),
        "id": reaction.id,
        "node_id": f"REA_{reaction.id}",
        "user": world.user(reaction.author),
        "content": reaction.content,
        "created_at": reaction.created_at,
    }


def _drop_reaction(call: Call) -> Answer:
    if call.world.state.reactions.pop(call.number("reaction_id"), None) is None:
        raise Refused.missing()
    return Answer(204)


TABLE: Table = {
    ("GET", "/pulls/{pull_number}/reviews"): _reviews,
    ("POST", "/pulls/{pull_number}/reviews"): _create_review,
    ("GET", "/pulls/{pull_number}/reviews/{review_id}"): lambda call: Answer(
        200, show_review(call.world, _review(call))
    ),
    ("PUT", "/pulls/{pull_number}/reviews/{review_id}"): _edit_review,
    ("DELETE", "/pulls/{pull_number}/reviews/{review_id}"): _drop_review,
    ("GET", "/pulls/{pull_number}/reviews/{review_id}/comments"): _comments_of_review,
    ("POST", "/pulls/{pull_number}/reviews/{review_id}/events"): _submit_review,
    ("PUT", "/pulls/{pull_number}/reviews/{review_id}/dismissals"): _dismiss_review,
    ("GET", "/pulls/{pull_number}/comments"): _line_comments,
    ("POST", "/pulls/{pull_number}/comments"): _create_line_comment,
    ("POST", "/pulls/{pull_number}/comments/{comment_id}/replies"): _reply,
    ("GET", "/pulls/comments/{comment_id}"): ON_A_LINE.get,
    ("PATCH", "/pulls/comments/{comment_id}"): ON_A_LINE.edit,
    ("DELETE", "/pulls/comments/{comment_id}"): ON_A_LINE.drop,
    ("GET", "/pulls/comments/{comment_id}/reactions"): ON_A_LINE.reactions,
    ("POST", "/pulls/comments/{comment_id}/reactions"): ON_A_LINE.react,
    ("GET", "/issues/{issue_number}/comments"): _comments,
    ("POST", "/issues/{issue_number}/comments"): _create_comment,
    ("GET", "/issues/comments/{comment_id}"): BELOW.get,
    ("PATCH", "/issues/comments/{comment_id}"): BELOW.edit,
    ("DELETE", "/issues/comments/{comment_id}"): BELOW.drop,
    ("GET", "/issues/comments/{comment_id}/reactions"): BELOW.reactions,
    ("POST", "/issues/comments/{comment_id}/reactions"): BELOW.react,
    ("DELETE", "/issues/comments/{comment_id}/reactions/{reaction_id}"): _drop_reaction,
}
