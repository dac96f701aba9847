"""What a question about decisions says: its intent, the record that it is about, and what it filters by.

A record is meant by its number, or by words: all that are neither the intent's, nor a filter's, nor words that people
speak of any decision with. Where several records have all of them, each is proposed; where none has, none is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from bot.ask.matcher.mentions import owned, quote_of
from bylaw.hold.item import MOST_NAMED, MOST_QUOTED, Item
from bylaw.hold.records import GOVERNED, intent_mentions, number_mentions, unknown_numbers
from bylaw.hold.text import Seen
from bylaw.hold.values import Values
from bylaw.hold.words import Index, Name, stems_of
from bylaw.language.lexicon import closed, content, stem
from bylaw.language.text import Token, words_of

_MOST = 30  # records that one question may be about


def match_records(seen: Seen, values: Values, index: Index) -> Iterator[Item]:
    """The intent by its words, the records by what they are called, and people, tags, states and days."""
    for passage in seen.text.passages:
        tokens = seen.words(passage.start, passage.end)
        taken: set[int] = set()
        titled = _titled(tokens, index)
        taken.update(token.start for words in titled.values() for token in words)
        for propose in (_numbers, _intent, _filters):
            free = [token for token in tokens if token.start not in taken]
            for item, words in propose(seen, free, index):
                taken.update(token.start for token in words)
                yield item
        for span in values.spans_at(passage.start, passage.end):
            inside = seen.words(span.begins, span.ends)
            if not span.is_untold and taken.isdisjoint(token.start for token in inside):
                taken.update(token.start for token in inside)
                yield Item(kind="filter", name="date", quote=seen.text.seen[span.begins : span.ends])
        lost = {token.start for words in unknown_numbers(seen, tokens, index) for token in words}
        left = [token for token in tokens if token.start not in taken | lost]
        yield from _named(seen, left, titled, index)


def _titled(tokens: Sequence[Token], index: Index) -> dict[str, Sequence[Token]]:
    """The records of which a whole name of more than one word is said, and its words."""
    mentions = [(mention, owned(index, mention, "anchor")) for mention in index.find(tokens)]
    return {
        name.name: tokens[mention.first : mention.last + 1]
        for mention, owners in mentions
        for name, value in owners
        if value == GOVERNED or (value is None and mention.size > 1)
    }


def _numbers(seen: Seen, tokens: Sequence[Token], index: Index) -> Iterator[tuple[Item, Sequence[Token]]]:
    for names, words, start in number_mentions(seen, tokens, index):
        for name in names:
            yield Item(kind="anchor", name=name, quote=seen.text.seen[start : words[-1].end]), words


def _intent(seen: Seen, tokens: Sequence[Token], index: Index) -> Iterator[tuple[Item, Sequence[Token]]]:
    """The intent whose words stand first; one that yields to others only where there is no other."""
    literal = _literal_words(index)
    found = [
        (name, words)
        for name, words in intent_mentions(tokens, index)
        if len(words) > 1 or words[0].word not in literal["record"] - literal["intent"]
    ]
    firm = [(name, words) for name, words in found if (one := index.get("asks", name)) is not None and not one.kin]
    meant = (firm or found)[:1]
    for name, words in firm or found:
        if name == meant[0][0]:  # said twice, it is still one: "which events wait for a decision?"
            yield Item(kind="asks", name=name, quote=quote_of(seen, words)), words


@lru_cache(maxsize=8)  # bundles
def _literal_words(index: Index) -> Mapping[str, frozenset[str]]:
    """The words as they are written that records and intents are called by: "validation" is not "valid"."""
    found: dict[str, set[str]] = {"record": set(), "intent": set()}
    for one in index.names.values():
        if one.kind in found:
            found[one.kind].update(word for text in (*one.texts, *one.near) for word in words_of(text))
    return {kind: frozenset(words) for kind, words in found.items()}


def _filters(seen: Seen, tokens: Sequence[Token], index: Index) -> Iterator[tuple[Item, Sequence[Token]]]:
    """People, tags and states, where the words are not what a record is called."""
    for mention in index.find(tokens):
        words = tokens[mention.first : mention.last + 1]
        filters = {(name.name, value) for name, value in owned(index, mention, "part") if value is not None}
        if len(filters) == 1 and not owned(index, mention, "anchor"):
            name, value = min(filters)
            yield Item(kind="filter", name=name, operator="==", value=value, quote=quote_of(seen, words)), words


def _named(seen: Seen, tokens: Sequence[Token], titled: Mapping[str, Sequence[Token]], index: Index) -> Iterator[Item]:
    """The records that have every word of content in *tokens*; of those whose name is said whole, these."""
    left = [token for token in tokens if _is_content(token, index)]
    names = _bearing(left, index) if left else frozenset(titled)
    if titled:
        names = names & titled.keys() or frozenset(titled)
    elif not left:
        left = [token for token in tokens if token.word not in closed("function")]
        names = _whole(left, index)
    beside = frozenset(stem(token.word) for token in (*tokens, *(t for words in titled.values() for t in words)))
    joining = [token for token in tokens if token.word in closed("function") - closed("empty")]
    for name in sorted(_nearest(names, left, joining, beside, index))[:_MOST]:
        words = [*titled.get(name, ()), *left, *_joining(index.get("anchor", name), joining, index)]
        start, end = min(token.start for token in words), max(token.end for token in words)
        if end - start <= MOST_QUOTED and len(name) <= MOST_NAMED:  # longer ones are left over
            yield Item(kind="anchor", name=name, quote=seen.text.seen[start:end])


def _joining(one: Name | None, tokens: Sequence[Token], index: Index) -> Iterator[Token]:
    """Of *tokens*, that only join others, those that stand in what a record is called: "oak only"."""
    spelled = index.spelled(one) if tokens and one is not None else frozenset()
    yield from (token for token in tokens if stem(token.word) in spelled)


def _is_content(token: Token, index: Index) -> bool:
    return (
        token.word not in closed("empty")
        and token.word not in closed("function")
        and stem(token.word) not in index.idle
    )


def _bearing(tokens: Iterable[Token], index: Index) -> frozenset[str]:
    """The records that have a word for each of the *tokens*."""
    sets = sorted(
        (frozenset[str]().union(*(index.bearers("anchor", root) for root in stems_of(token.word))) for token in tokens),
        key=len,
    )
    return sets[0].intersection(*sets[1:])


def _whole(tokens: Sequence[Token], index: Index) -> frozenset[str]:
    """Of words that any decision is spoken of with: the records that are called by nothing else."""
    said = frozenset(stem(token.word) for token in tokens)
    found = _bearing(tokens, index) if tokens else frozenset[str]()
    return frozenset(
        name for name in found if (one := index.get("anchor", name)) is not None and index.own(one) <= said
    )


def _nearest(
    names: frozenset[str], tokens: Sequence[Token], joining: Sequence[Token], beside: frozenset[str], index: Index
) -> frozenset[str]:
    """Those that are named best: by what they are called, whole, and with the words around as well."""
    known = {name: one for name in names if (one := index.get("anchor", name)) is not None}
    roots = [stems_of(token.word) for token in tokens]

    def is_title(one: Name) -> bool:
        own = index.own(one)
        return all(not stems.isdisjoint(own) for stems in roots)

    for is_better in (
        is_title,
        lambda one: any(_is_called(text, beside) for text in one.texts[:1]),
        lambda one: bool(index.idle & beside & index.own(one)),
        lambda one: any(_joining(one, joining, index)),
    ):
        better = {name: one for name, one in known.items() if is_better(one)}
        known = better or known
    return frozenset(known)


def _is_called(text: str, said: frozenset[str]) -> bool:
    return title_words(text) <= said


@lru_cache(maxsize=50_000)
def title_words(text: str) -> frozenset[str]:
    """The stems of the words of content of a title; kept, since many records are compared at once."""
    return content(words_of(text))
