"""What a data question says: numbers that are called so, groups behind "by", declared values, spans of time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bot.ask.matcher.mentions import owned, quote_of
from bylaw.hold.item import Item
from bylaw.hold.text import Seen
from bylaw.hold.values import Values
from bylaw.hold.words import Index, Mention
from bylaw.language.lexicon import lexicon
from bylaw.language.text import Token


def match_query(seen: Seen, values: Values, index: Index) -> Iterator[Item]:
    """Numbers that are called so, groups behind "by", declared values, spans of time. Nothing else."""
    for passage in seen.text.passages:
        tokens = seen.words(passage.start, passage.end)
        for mention in index.find(tokens):
            words = tokens[mention.first : mention.last + 1]
            yield from _part(seen, tokens, mention, words, index)
        for span in values.spans_at(passage.start, passage.end):
            if not span.is_untold:
                yield Item(kind="time", quote=seen.text.seen[span.begins : span.ends])


def _part(
    seen: Seen, tokens: Sequence[Token], mention: Mention, words: Sequence[Token], index: Index
) -> Iterator[Item]:
    metrics = owned(index, mention, "number")
    parts = owned(index, mention, "part")
    told = [(name, value) for name, value in parts if value is not None]
    before = tokens[mention.first - 1] if mention.first else None
    if len(metrics) == 1:
        yield Item(kind="asks", name=metrics[0][0].name, quote=quote_of(seen, words))
    elif len(told) == 1:
        yield Item(kind="filter", name=told[0][0].name, operator="==", value=told[0][1], quote=quote_of(seen, words))
    elif len(parts) == 1 and before is not None and before.word in lexicon()["grouping"]:
        yield Item(kind="group", name=parts[0][0].name, quote=quote_of(seen, (before, *words)))
