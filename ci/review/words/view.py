"""What a rendering knows beside the document, and how it speaks of places."""

from __future__ import annotations

from dataclasses import dataclass, field

from bylaw.authored.machines.rules import ReviewRules
from ci.review.computed.document import ReviewDocument, Spot
from ci.review.computed.owners import Owners
from ci.review.words.markdown import Markdown, address, coded, joined, linked, said


@dataclass(frozen=True, slots=True)
class Setting:
    """The trusted side's own: how much is shown, who owns which file, and where links lead (None: nowhere).

    `is_bound`: the document is known to be what the trusted side computed; one that is not is never green.
    """

    rules: ReviewRules
    owners: Owners = field(default_factory=Owners)
    server: str = "https://github.com"
    repository: str | None = None
    is_bound: bool = True


def place(spot: Spot, document: ReviewDocument, setting: Setting, most: int = 300) -> Markdown:
    """A line of the head, linked at its commit."""
    path = document.folder + spot.path
    where = address(setting.server, setting.repository, document.head_sha, path, spot.line)
    return linked(coded(f"{spot.path}:{spot.line}", most), where)


def side(note: str | None, spot: Spot, document: ReviewDocument, setting: Setting, most: int) -> Markdown:
    """A place and what is said there."""
    return joined(*((said(note, most), " — ") if note else ()), place(spot, document, setting))
