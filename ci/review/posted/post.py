"""A review is brought to GitHub: comments, then the verdict, then the one summary, which knows what had no place.

Each step looks at what is there first. A run that was cut off is run again and does what is missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from bylaw.github.client import Hub, told
from bylaw.github.text import LONGEST_BODY, code, shortened
from ci.review.posted import verdict
from ci.review.posted.comments import Comments, see_to
from ci.review.posted.plan import SUMMARY, Edit, FileComment, Resolve, Review, Shown, is_same, plan, without_marks
from ci.review.posted.shown import notes, shown
from ci.review.posted.verdict import PostedAs
from ci.review.words.rendered import Annotation, Comment, Rendered

if TYPE_CHECKING:
    from bylaw.github.types import PullRequest


@dataclass(frozen=True)
class Posted:
    """What a run did; empty when everything was there. `unplaced`: comments that no line and no file took."""

    did: tuple[str, ...] = ()
    verdict: PostedAs | None = None
    unplaced: tuple[Comment, ...] = ()
    notes: tuple[str, ...] = field(default=())


def post(hub: Hub, number: int, rendered: Rendered) -> Posted:
    """See to it that pull request *number* shows *rendered*. Raises GitHubError."""
    with told():
        pull = hub.repository.get_pull(number)
    if (stale := _stale(pull, rendered)) is not None:
        return Posted(notes=(stale,))
    seen = shown(hub, number)
    done = Comments(hub, pull, seen, rendered.head_sha)
    planned = plan(seen, rendered)
    for action in planned.actions:
        match action:
            case Review():
                done.review(action.comments)
            case FileComment():
                done.on_file(action.comment)
            case Edit():
                done.edit(action.comment, action.body)
            case Resolve():
                done.resolve(action)
    unplaced = (*planned.unplaced, *done.refused)
    return _concluded(hub, pull, rendered, seen, Posted(tuple(done.did), unplaced=unplaced))


def check_only(hub: Hub, rendered: Rendered) -> Posted:
    """The verdict on a commit that belongs to no pull request: what a merge queue asks for. Raises GitHubError."""
    return Posted((), verdict.deliver(hub, rendered, rendered.annotations))


def _stale(pull: PullRequest, rendered: Rendered) -> str | None:
    """Why there is nothing to post any more."""
    if pull.state != "open":
        return f"pull request {pull.number} is closed: nothing was posted"
    if pull.head.sha != rendered.head_sha:
        return f"pull request {pull.number} has moved on to {pull.head.sha}: the review of that commit will be posted"
    return None


def _concluded(hub: Hub, pull: PullRequest, rendered: Rendered, seen: Shown, so_far: Posted) -> Posted:
    there = {(annotation.path, annotation.line) for annotation in rendered.annotations}
    extra = [_annotation(comment) for comment in so_far.unplaced if (comment.path, comment.line or 1) not in there]
    as_what = verdict.deliver(hub, rendered, [*rendered.annotations, *extra])
    lost = list(hub.abilities.lost[:1]) if not hub.abilities.creates_checks else []
    if as_what == "status" and not lost:
        lost = ["this token may not create check runs: the verdict is a commit status instead"]
    rows = so_far.unplaced if as_what == "status" else ()
    did = _see_to_summary(hub, pull, seen, summary(rendered, rows, lost))
    return replace(so_far, did=(*so_far.did, *did), verdict=as_what, notes=tuple(lost))


def summary(rendered: Rendered, rows: Sequence[Comment], lost: Sequence[str]) -> str:
    """The one comment below: what the review says, what had no place elsewhere, and what the token cannot do."""
    body = rendered.summary.replace(SUMMARY, "").strip()
    if not body and not rows:
        return ""
    about = [f"**{code(comment.path)}**\n\n{without_marks(comment.body)}" for comment in rows]
    told_of = ["<sub>" + "; ".join(lost) + "</sub>"] if lost else []
    head = [SUMMARY + "\n" + body, *told_of]
    room = LONGEST_BODY - sum(len(part) + 2 for part in head)
    placed = [shortened(about, "{count} more have no place here", room)] if about else []
    return "\n\n".join([*head, *placed]) + "\n"


def _see_to_summary(hub: Hub, pull: PullRequest, seen: Shown, body: str) -> list[str]:
    held = seen.summary
    if not body:
        if held is None:
            return []
        body = f"{SUMMARY}\nNothing to say about this change any more.\n"
    if held is not None:
        if is_same(held.body, body):
            return []
        with told():
            pull.get_issue_comment(held.id).edit(body)
        return ["summary edited"]
    is_there = partial(_has_summary, hub, pull.number)
    see_to(hub, is_there, lambda: pull.create_issue_comment(body))
    return ["summary"]


def _has_summary(hub: Hub, number: int) -> bool:
    return Shown(notes=notes(hub, number)).summary is not None


def _annotation(comment: Comment) -> Annotation:
    """A comment that found no place, as an annotation: those may stand anywhere in the commit."""
    return Annotation(comment.path, comment.line or 1, "notice", "said outside the diff", without_marks(comment.body))
