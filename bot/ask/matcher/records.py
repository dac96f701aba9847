"""What a question about decisions says: its intent, and the record that it is about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from bot.ask.matcher.mentions import owned, quote_of
from bylaw.hold.item import Item
from bylaw.hold.text import Seen
from bylaw.hold.words import Index

_GROUP_KINDS: Mapping[str, str] = {"asks": "asks", "anchor": "anchor"}


def match_records(seen: Seen, index: Index) -> Iterator[Item]:
    """The intent by its routing words, and the record by what it is called."""
    for passage in seen.text.passages:
        tokens = seen.words(passage.start, passage.end)
        for mention in index.find(tokens):
            words = tokens[mention.first : mention.last + 1]
            for group, kind in _GROUP_KINDS.items():
                found = {name.name for name, _ in owned(index, mention, group)}
                if len(found) == 1:
                    yield Item(kind=kind, name=found.pop(), quote=quote_of(seen, words))
