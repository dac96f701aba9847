"""What a comment is answered, as a file: computed where strangers' files are read, posted where the token is.

The file says nothing that decides where it goes or what may be written: who asked, what for and at which commit is read
again from GitHub's event, and who owns what from the base.
"""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from bylaw.authored.machines.waivers import FindingId, Fingerprint
from bylaw.errors import UsageError
from bylaw.github.text import LONGEST_BODY

MOST_BYTES = 4 * 1024 * 1024
Reaction = Literal["+1", "-1", "confused"]
Path = Annotated[str, StringConstraints(min_length=1, max_length=1_000)]


class Proposed(BaseModel):
    """The finding that is to be accepted, the files whose owners are asked, and the day that it was found on."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    finding: Fingerprint
    id: FindingId
    paths: Annotated[list[Path], Field(min_length=1, max_length=1_000)]
    at: date
    waivers: str | None  # the file of waivers at that commit


class Reply(BaseModel):
    """The answer to one comment, at one commit. Where something is *proposed*, it is for the other half to say."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    comment: Annotated[int, Field(gt=0)]
    head_sha: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}$")]
    text: Annotated[str, StringConstraints(max_length=4 * LONGEST_BODY)] = ""
    reaction: Reaction = "+1"
    proposed: Proposed | None = None


def read(data: bytes, comment: int, head_sha: str) -> Reply:
    """The reply in *data* to that comment, at that commit. Raises UsageError for any other."""
    if len(data) > MOST_BYTES:
        raise UsageError(f"the reply is larger than {MOST_BYTES:,} bytes")
    try:
        found = Reply.model_validate_json(data)
    except ValidationError as error:
        where = ".".join(map(str, error.errors(include_input=False, include_url=False)[0]["loc"]))
        raise UsageError(f"the file holds no reply to a comment, first at `{where or 'the start'}`") from None
    if found.comment != comment:
        raise UsageError(f"the reply is to the comment {found.comment}, not to {comment}")
    if found.head_sha != head_sha:
        raise UsageError(f"the reply is about {found.head_sha}, and the newest commit is {head_sha}", "ask again")
    return found
