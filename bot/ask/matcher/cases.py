"""What is asked of the rules, and the facts of a case: flags, categories, numbers and days."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from bot.ask.matcher.mentions import asking_sentences, owned, quote_of
from bylaw.hold import standing
from bylaw.hold.item import MOST_ITEMS, Item
from bylaw.hold.text import Seen
from bylaw.hold.values import Values, comparisons_at
from bylaw.hold.words import Index, Name, stems_of
from bylaw.language.figures import Figure, measure
from bylaw.language.lexicon import closed
from bylaw.language.text import Passage, Token, words_of
from bylaw.language.units import unit_named

_WINDOW = 80  # characters around a number that are looked at
_NEXT = 2
_FAR = 6  # words between a number and what names it
_NUMBERS = ("integer", "decimal")


def match_case(seen: Seen, values: Values, index: Index) -> Iterator[Item]:
    """What is asked, and the facts of the case."""
    asking = asking_sentences(seen)
    said: set[tuple[str, str]] = set()
    for passage in seen.text.passages:
        tokens = seen.words(passage.start, passage.end)
        taken: set[int] = set()
        for mention in index.find(tokens):
            words = tokens[mention.first : mention.last + 1]
            name = _asked(owned(index, mention, "asks")) if passage.start in asking else None
            if name is not None and ("asks", name) not in said:
                said.add(("asks", name))
                taken.update(token.start for token in words)
                yield Item(kind="asks", name=name, quote=quote_of(seen, words))
            elif name is None and (item := _state(seen, passage, words, owned(index, mention, "fact"))) is not None:
                taken.update(token.start for token in words)
                yield item
        yield from _amounts(seen, passage, values, index, taken)
        yield from _days(seen, passage, values, index)


def _asked(owners: Sequence[tuple[Name, str | None]]) -> str | None:
    """The one thing that the phrase asks for: an outcome before its actions; None where it may be several."""
    outcomes = [name for name, _ in owners if name.kind == "outcome"]
    names = outcomes or [name for name, _ in owners]
    return names[0].name if len({name.name for name in names}) == 1 else None


def _state(
    seen: Seen, passage: Passage, words: Sequence[Token], owners: Sequence[tuple[Name, str | None]]
) -> Item | None:
    """A flag or a category that the phrase says, turned by a negation before it; None where it may be several."""
    told = [(name, value) for name, value in owners if value is not None]
    if len(told) != 1:
        return None
    name, value = told[0]
    if name.type == "enum" and not _is_literal(words, (value, *name.values.get(value, ()))):
        return None
    place = words[0].start, words[-1].end
    is_denied = standing.negations(seen, passage, place, words) % 2 == 1
    if is_denied:
        near = seen.words(max(passage.start, words[0].start - _WINDOW), words[0].start)
        before = [token for token in near if standing.is_negation(token)]
        words = (*seen.words(before[-1].start, words[0].start), *words) if before else words
    quote = quote_of(seen, words)
    if name.type == "boolean":
        return Item(kind="fact", name=name.name, value=(value == "true") is not is_denied, quote=quote)
    return Item(kind="fact", name=name.name, value=value, operator="!=" if is_denied else None, quote=quote)


def _is_literal(words: Sequence[Token], texts: Iterable[str]) -> bool:
    """Are the words one of the texts as it is declared, and not only of its stem?"""
    said = tuple(token.word for token in words)
    return any(said == words_of(text.replace("_", " ")) for text in texts)


def _amounts(seen: Seen, passage: Passage, values: Values, index: Index, taken: set[int]) -> Iterator[Item]:
    """Numbers, each for the one name whose unit fits and whose words stand in its clause."""
    numbers = [one for (group, _), one in index.names.items() if group == "fact" and one.type in _NUMBERS]
    for figure in values.figures_at(passage.start, passage.end, beside_time=True)[:MOST_ITEMS]:  # the rest is residue
        tokens = seen.words(max(passage.start, figure.start - _WINDOW), min(passage.end, figure.end + _WINDOW))
        amounts = [value for value in figure.values if isinstance(value, Fraction)]
        if len(amounts) != 1 or figure.is_ordinal or any(token.start in taken for token in _in(tokens, figure)):
            continue
        found = _named(figure, numbers, tokens, index)
        if found is not None:
            name, words = found
            quote, operator = _bounded(seen, tokens, words, figure)
            amount = amounts[0]
            value = amount.numerator if amount.denominator == 1 else float(amount)
            yield Item(kind="fact", name=name.name, operator=operator, value=value, unit=figure.unit, quote=quote)


def _in(tokens: Sequence[Token], figure: Figure) -> list[Token]:
    return [token for token in tokens if figure.start <= token.start < figure.end]


def _named(
    figure: Figure, numbers: Iterable[Name], tokens: Sequence[Token], index: Index
) -> tuple[Name, list[Token]] | None:
    """The one name that a figure is of, and the words near it that name it; None where several are as near."""
    inside = _in(tokens, figure)
    clause = inside[0].clause if inside else -1
    at = tokens.index(inside[0]) if inside else 0
    far = _FAR if figure.unit is not None else _NEXT  # a bare number belongs to the word beside it
    near = [t for k, t in enumerate(tokens) if t.clause == clause and abs(k - at) <= far and t not in inside]
    ranked: list[tuple[int, Name, list[Token]]] = []
    for name in numbers:
        if _fits(figure, name):
            own = index.own(name)
            words = [token for token in near if not stems_of(token.word).isdisjoint(own)]
            ranked.append((len(words) + _form_words(name, tokens, figure), name, words))
    best = max((count for count, _, _ in ranked), default=0)
    first = [(name, words) for count, name, words in ranked if count == best]
    return first[0] if len(first) == 1 and (best > 0 or figure.unit is not None) else None


def _form_words(name: Name, tokens: Sequence[Token], figure: Figure) -> int:
    """How many words of one of its forms stand right before and right behind the figure, whatever bounds it."""
    bounding = {i for first, behind, _ in comparisons_at([t.word for t in tokens]) for i in range(first, behind)}
    before = [t.word for k, t in enumerate(tokens) if t.end <= figure.start and k not in bounding]
    behind = [t.word for t in tokens if t.start >= figure.core]
    best = 0
    for form in name.forms:
        left, _, right = form.partition("{value}")
        best = max(best, _shared(words_of(left)[::-1], before[::-1]) + _shared(words_of(right), behind))
    return best


def _shared(words: Sequence[str], others: Sequence[str]) -> int:
    """How many words two rows begin with alike."""
    count = 0
    for one, other in zip(words, others, strict=False):
        if stems_of(one).isdisjoint(stems_of(other)):
            break
        count += 1
    return count


def _fits(figure: Figure, name: Name) -> bool:
    unit = unit_named(name.unit)
    if figure.unit is None or unit is None:
        return figure.unit is None
    return measure(Fraction(1), figure.unit).kind == measure(Fraction(1), unit).kind


def _bounded(seen: Seen, tokens: Sequence[Token], words: Sequence[Token], figure: Figure) -> tuple[str, str | None]:
    """The quote of a number from the words that name it to the figure and what bounds it, and the operator."""
    inside = _in(tokens, figure)
    spelled = [token.word for token in tokens]
    operator: str | None = None
    starts, ends = [token.start for token in (*words, *inside)], [token.end for token in (*words, *inside)]
    for first, behind, said in comparisons_at(spelled):
        is_before = tokens[behind - 1].end <= figure.start and tokens[behind - 1].clause == inside[0].clause
        is_next = is_before and behind < len(tokens) and tokens[behind].start >= figure.start - 12
        is_behind = tokens[first].start >= figure.end and first > 0 and tokens[first - 1] is inside[-1]
        if said != "==" and (is_next or is_behind):
            operator = said
            starts.append(tokens[first].start)
            ends.append(tokens[behind - 1].end)
    following = [t for t in tokens if t.start >= figure.end and t.clause == inside[0].clause][:1]
    ends += [token.end for token in following if token.word in closed("measure_words")]
    return seen.text.seen[min(*starts, figure.start) : max(*ends, figure.end)], operator


def _days(seen: Seen, passage: Passage, values: Values, index: Index) -> Iterator[Item]:
    """Days for the only date there is, or the one whose words stand in the sentence."""
    dates = [one for (group, _), one in index.names.items() if group == "fact" and one.type == "date"]
    for span in values.spans_at(passage.start, passage.end) if dates else ():
        tokens = seen.words(max(passage.start, span.begins - _WINDOW), min(passage.end, span.ends + _WINDOW))
        if not span.start or not span.end or (span.end - span.start).days != 1:
            continue
        words = {one.name: [t for t in tokens if not stems_of(t.word).isdisjoint(index.own(one))] for one in dates}
        named = [one for one in dates if words[one.name]]
        if len(named) == 1:
            near = words[named[0].name]
            start = min([span.begins, *(token.start for token in near)])
            end = max([span.ends, *(token.end for token in near)])
            yield Item(kind="fact", name=named[0].name, value=span.start.isoformat(), quote=seen.text.seen[start:end])
