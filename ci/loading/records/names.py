"""How the documents of one source call the parts of a record: the names of its format, and its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import get_args

from bylaw.authored.decision_sources import DecisionSource
from bylaw.authored.decisions import STATUS_WORDS, Status
from ci.loading.records.headings import HEADINGS, KEYS, RELATIONS

STATUSES = frozenset(get_args(Status))


@dataclass(frozen=True, slots=True)
class Names:
    """Words in small letters, and the field, status or relation that each means."""

    headings: Mapping[str, str]
    keys: Mapping[str, str]
    statuses: Mapping[str, str]
    relations: Mapping[str, str]

    def heading(self, title: str) -> str | None:
        """The field that a heading stands for: by all of it, or by what stands before or in its brackets."""
        before, _, inner = title.partition("(")
        forms = (title, before, inner.rpartition(")")[0])
        return next((self.headings[form] for form in map(bare, forms) if form in self.headings), None)

    def key(self, written: str) -> str | None:
        """The field that the key of a line, a table or the front matter stands for."""
        return self.keys.get(bare(written.replace("_", " ").replace("-", " ")))


def names_of(source: DecisionSource) -> Names:
    """The names of a source's format and its own `words`, which mean what an English one does."""
    statuses = {**{word: word for word in STATUSES}, **STATUS_WORDS}
    tables = (HEADINGS[source.format], KEYS, statuses, RELATIONS)
    return Names(*(_with_own(table, source.words) for table in tables))


def bare(text: str) -> str:
    """*text* in small letters, without what stands around its letters and digits."""
    return trimmed(text).casefold()


def trimmed(text: str) -> str:
    """*text* on one line, without what stands around its letters and digits: marks, emoji, white space."""
    line = " ".join(text.split())
    first = next((at for at, char in enumerate(line) if char.isalnum()), len(line))
    last = next((at for at in range(len(line), first, -1) if line[at - 1].isalnum()), first)
    return line[first:last]


def _with_own(table: Mapping[str, str], own: Mapping[str, str]) -> Mapping[str, str]:
    more = {bare(word): table[meaning] for word, meaning in own.items() if meaning in table}
    return {**table, **more} if more else table
