"""What a decision question may say: what is asked of which record, by whom, when, of which tag or state."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from bylaw.hold.bearing import Bearing
from bylaw.hold.standing import is_negation
from bylaw.hold.text import Seen
from bylaw.hold.values import interval_of, written_interval
from bylaw.hold.words import Index, Owner
from bylaw.language.lexicon import closed, lexicon, stem
from bylaw.language.text import Token, words_of

DENIAL = "{not}"  # in the words of an intent: behind them stands a denial
_LONGEST_DENIAL = 4  # words: "have we ever not"
NUMBER = "number"  # of a record's values: what it is called by its number
GOVERNED = "governs"  # and by the policies and metrics that come from it


def number_mentions(
    seen: Seen, tokens: Sequence[Token], index: Index
) -> Iterator[tuple[tuple[str, ...], Sequence[Token], int]]:
    """The records that each number in *tokens* is of ("ADR 4", "#33"), its words, and where it begins."""
    for words, label in _numbered(seen, tokens, index):
        number = words[-1]
        said = Token(label, number.start, number.start, number.clause), replace(number, word=str(int(number.word)))
        owners = (one for mention in index.find(said) if mention.size == 2 for one in mention.owners)
        if names := tuple(sorted({one.name for one in owners if one.value == NUMBER})):
            yield names, words, words[0].start - _is_hashed(seen, words[0])


def unknown_numbers(seen: Seen, tokens: Sequence[Token], index: Index) -> Iterator[Sequence[Token]]:
    """Numbers that are said to be those of a record ("PEP 9999", "#12"), and are of none."""
    known = {token.start for _, words, _ in number_mentions(seen, tokens, index) for token in words}
    yield from (words for words, _ in _numbered(seen, tokens, index) if words[-1].start not in known)


def _numbered(seen: Seen, tokens: Sequence[Token], index: Index) -> Iterator[tuple[Sequence[Token], str]]:
    """Each number behind a label or a hash, with its words, and the label that it is looked up with."""
    any_number, labels = _labels(index)
    for k, token in enumerate(tokens):
        if not (token.word.isascii() and token.word.isdigit()):
            continue
        before = tokens[k - 1].word if k else ""
        if before in labels:
            yield tokens[k - 1 : k + 1], NUMBER if before in any_number else before
        elif _is_hashed(seen, token):
            yield (token,), NUMBER


def _is_hashed(seen: Seen, token: Token) -> bool:
    return seen.text.seen[token.start - 1 : token.start] == "#"


@lru_cache(maxsize=8)  # bundles
def _labels(index: Index) -> tuple[frozenset[str], frozenset[str]]:
    """The words that may stand before any number of a record, and these with those that records are numbered by."""
    found = index.get("part", NUMBER)
    any_number = frozenset() if found is None else frozenset(found.near)
    texts = (text for one in index.names.values() for text in one.values.get(NUMBER, ()))
    return any_number, any_number | {text.split(" ", 1)[0] for text in texts}


def intent_mentions(tokens: Sequence[Token], index: Index) -> Iterator[tuple[str, Sequence[Token]]]:
    """The intents whose words stand in *tokens*, in order, the longest at each place; with its words each."""
    phrases = index.phrases("intent")
    longest = max(map(len, phrases), default=0)
    stems = [stem(token.word) for token in tokens]
    k = 0
    while k < len(tokens):
        for name, opening in _denying(index):
            behind = k + len(opening)
            if tuple(stems[k:behind]) == opening and (end := _behind_denial(tokens, behind)):
                yield name, tokens[k:end]
                k = end
        for size in range(min(longest, len(tokens) - k), 0, -1):
            names = phrases.get(tuple(stems[k : k + size]), frozenset())
            if names and tokens[k].clause == tokens[k + size - 1].clause:
                yield from ((name, tokens[k : k + size]) for name in sorted(names))
                k += size - 1
                break
        k += 1


@lru_cache(maxsize=8)  # bundles
def _denying(index: Index) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The intents that are asked by a denial ("why {not}"), each with the stems of the words before it."""
    intents = (one for one in index.names.values() if one.kind == "intent")
    return tuple(
        (one.name, tuple(map(stem, words_of(form.removesuffix(DENIAL)))))
        for one in intents
        for form in one.forms
        if form.endswith(DENIAL)
    )


def _behind_denial(tokens: Sequence[Token], k: int) -> int:
    """Where the denial that begins at place *k* ends: "not", "aren't we", "do we not"; 0 where none does."""
    for end, token in enumerate(tokens[k : k + _LONGEST_DENIAL], k + 1):
        if is_negation(token) and token.clause == tokens[k].clause:
            return end
        if token.word not in closed("personal") | closed("auxiliary") | lexicon().auxiliaries.keys():
            return 0
    return 0


def bear_intent(one: Bearing) -> None:
    """An intent of `rules/intents.yaml`, by its routing words."""
    name = one.index.get("asks", one.item.named or "")
    if name is None:
        one.refuse(f"`{one.item.named}` is no intent")
        return
    one.take(token for token in one.tokens if token.word in closed("wh"))
    said = [words for found, words in intent_mentions(one.tokens, one.index) if found == name.name]
    for words in said:
        one.take(words)
    if not said:
        one.bear_name(name)


def bear_anchor(one: Bearing) -> None:
    """A decision or event, by its option, aliases, numbers, tags or the options considered."""
    name = one.index.get("anchor", one.item.named or "")
    if name is None:
        one.refuse(f"`{one.item.named}` is no decision or event on record")
        return
    for names, words, start in number_mentions(one.seen, one.tokens, one.index):
        if name.name in names:
            one.take(words)
            one.own.add(start)
        else:
            one.refuse(f"“{one.seen.text.seen[start : words[-1].end]}” is the number of {' or '.join(names)}")
    for mention, words in one.mentions:
        if Owner(name.name, GOVERNED) in mention.owners:
            one.take(words)
    if not one.own:
        one.bear_name(name)
        if any(word in lexicon()["negation"] for text in name.texts for word in words_of(text)):
            one.take_negations()  # "no emphasis on headings", of the decision not to have it


def bear_filter(one: Bearing) -> None:
    """A person, a tag, a state or a span of days, as the words say it."""
    name = one.index.get("part", one.item.named or "")
    if name is None:
        one.refuse(f"`{one.item.named}` is nothing that decisions are filtered by")
    elif name.name == "date":
        _bear_days(one)
    else:
        for value in map(str, one.item.values):
            _bear_value(one, Owner(name.name, value), value in name.values)


def _bear_value(one: Bearing, owner: Owner, is_known: bool) -> None:
    if not is_known:
        one.refuse(f"`{owner.value}` is no {owner.name} on record")
        return
    said = [words for mention, words in one.mentions if owner in mention.owners]
    if not said:
        one.refuse(f"the words do not say {owner.value}")
    for words in said:
        one.take(words)


def _bear_days(one: Bearing) -> None:
    spans = [span for span in one.values.spans_at(*one.place) if not span.is_untold]
    if len(spans) != 1:
        one.refuse("these words are no time that is read here" if not spans else "these words are more than one time")
        return
    if left := one.values.cut_off(*one.place):
        one.refuse(f"“{left}” belongs to the time as well")
    written = written_interval(spans[0])
    if one.item.value is not None and interval_of(one.item.value) != interval_of(written):
        one.refuse(f"the words say {written}")
    one.value = written
    one.take(one.seen.words(spans[0].begins, spans[0].ends))


KINDS_OF_DECISION: Mapping[str, Callable[[Bearing], None]] = {
    "asks": bear_intent,
    "anchor": bear_anchor,
    "filter": bear_filter,
}
