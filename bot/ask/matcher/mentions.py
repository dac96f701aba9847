"""What a sentence mentions: quotes of its words, the names that a phrase is of, and the sentences that ask."""

from __future__ import annotations

from collections.abc import Sequence

from bylaw.hold.text import Seen
from bylaw.hold.words import Index, Mention, Name
from bylaw.language.text import Token


def quote_of(seen: Seen, tokens: Sequence[Token]) -> str:
    return seen.text.seen[tokens[0].start : tokens[-1].end]


def owned(index: Index, mention: Mention, group: str) -> list[tuple[Name, str | None]]:
    """The names of one group that the phrase is of, each with the value that it says."""
    found = ((index.get(group, owner.name), owner.value) for owner in mention.owners)
    return sorted(((name, value) for name, value in found if name is not None), key=lambda one: one[0].name)


def asking_sentences(seen: Seen) -> frozenset[int]:
    """The sentences that ask, by where they begin: those with a question mark, else all."""
    found = [p.start for p in seen.text.passages if seen.text.seen[p.start : p.end].rstrip().endswith("?")]
    return frozenset(found or (passage.start for passage in seen.text.passages))
