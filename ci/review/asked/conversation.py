"""A comment that asks for something is heard, answered once, and marked with how it went.

The answer carries the number of the comment it belongs to: told of the same comment again, bylaw edits its answer.
"""

from __future__ import annotations

import re
from datetime import date
from typing import TYPE_CHECKING, assert_never

from bylaw.errors import UsageError
from bylaw.github.client import Hub, told
from bylaw.github.text import LONGEST_BODY, fenced, quiet
from ci.review.asked.acceptance import accept, proposed
from ci.review.asked.answers import Head, changes, why
from ci.review.asked.commands import USAGE, Accept, Diff, Misunderstood, Why, parse
from ci.review.asked.reply import Reaction, Reply
from ci.review.event import Spoken
from ci.review.posted.comments import see_to
from ci.review.posted.plan import Note, is_same, without_marks
from ci.review.posted.shown import notes

if TYPE_CHECKING:
    from bylaw.github.types import PullRequest

HEARD = "eyes"
DONE: Reaction = "+1"
REFUSED: Reaction = "-1"
CONFUSED: Reaction = "confused"


def is_asked(spoken: Spoken) -> bool:
    """Does the comment ask bylaw for something? Never one that a program wrote: two of them would never stop."""
    return not spoken.is_bot and parse(spoken.body) is not None


def computed(spoken: Spoken, head: Head, folder: str, waivers: str | None) -> Reply:
    """What is said to a comment that asks for something, as far as the files of the head say it.

    *waivers* is the head's file of them. Where something is to be written, it is only proposed.
    """
    asked, about = parse(spoken.body), {"comment": spoken.id, "head_sha": head.sha}
    assert asked is not None
    try:
        match asked:
            case Why():
                return Reply(**about, text=why(asked, head))
            case Diff():
                return Reply(**about, text=changes(head))
            case Accept():
                return Reply(**about, proposed=proposed(asked, head, folder, waivers))
            case Misunderstood():
                text = f"That is not understood: {asked.why}.\n\n{fenced(USAGE, 'text')}"
                return Reply(**about, text=text, reaction=CONFUSED)
            case _:
                assert_never(asked)
    except UsageError as problem:
        return Reply(**about, text=_told(problem), reaction=REFUSED)


def delivered(hub: Hub, pull: PullRequest, spoken: Spoken, reply: Reply, folder: str, today: date) -> str:
    """Answer the comment; the reaction that tells how it went. Raises GitHubError.

    Only what the comment itself asks for is written, whatever the reply proposes.
    """
    asked = parse(spoken.body)
    with told():
        comment = pull.get_issue_comment(spoken.id)
        comment.create_reaction(HEARD)
    text, reaction = without_marks(reply.text), reply.reaction
    if reply.proposed is not None and isinstance(asked, Accept):
        try:
            found = accept(hub, pull, asked, spoken.login, reply.proposed, folder, today)
            text, reaction = found.text, DONE if found.is_done else REFUSED
        except UsageError as problem:
            text, reaction = _told(problem), REFUSED
    _see_to_answer(hub, pull, spoken.id, text)
    with told():
        comment.create_reaction(reaction)
    return reaction


def _told(problem: UsageError) -> str:
    """Its own words quote with backticks and are quiet; those of a stranger in it were made so where it was raised."""
    return "\n\n".join(_shown(part) for part in (problem.message, problem.help) if part)


def _shown(text: str) -> str:
    """A message with what stands between backticks as code, the rest quiet."""
    parts = re.split(r"(`[^`\n]+`)", text)
    return "".join(part if part.startswith("`") and part.endswith("`") else quiet_within(part) for part in parts)


def quiet_within(text: str) -> str:
    """Like `quiet`, but spaces at both ends stay."""
    lead, tail = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    return f"{lead and ' '}{quiet(text)}{tail and ' '}" if text.strip() else text


def _see_to_answer(hub: Hub, pull: PullRequest, number: int, text: str) -> None:
    mark = f"<!-- bylaw:answer {number} -->"
    body = f"{mark}\n{text.strip()}\n"[:LONGEST_BODY]

    def held() -> Note | None:
        return next((note for note in notes(hub, pull.number) if note.body.startswith(mark)), None)

    before = held()
    if before is None:
        see_to(hub, lambda: held() is not None, lambda: pull.create_issue_comment(body))
    elif not is_same(before.body, body):
        with told():
            pull.get_issue_comment(before.id).edit(body)
