"""The reply to a fact that was asked for, as items of that fact: "yes", "12 days", "electronics", "in May".

The fact is known already, so its name need not be said. What else the reply tells, the matcher takes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from bylaw.hold import standing
from bylaw.hold.bearing import is_empty
from bylaw.hold.days import counts_back, elapsed, past_days, said_days
from bylaw.hold.hold import Ground, hold
from bylaw.hold.item import HeldItem, Item, Proposal, Reading
from bylaw.hold.text import Seen, see
from bylaw.hold.values import Values, comparisons_at
from bylaw.hold.words import Name, stems_of
from bylaw.language.figures import measure
from bylaw.language.lexicon import closed, lexicon
from bylaw.language.text import Token, words_of
from bylaw.language.turns import goes_on
from bylaw.language.units import unit_named
from bylaw.language.words import read_words

_SHORT = 4  # words of a reply that says little beside its number
_LONGEST = 12  # words within which somebody says that they do not know
_BY_ASKING = frozenset(("name", "words", "value"))  # what a fact may lack that was asked for by its name


def declines(text: str) -> bool:
    """Does the person say that they cannot or will not answer?"""
    said = _words(text)[:_LONGEST]
    found = lexicon()["declining"].find(said)
    return any(behind - first > 1 or len(said) <= _SHORT for first, behind in found)


def _words(text: str) -> list[str]:
    return [word.text for word in read_words(text)]


def read_reply(text: str, asked: str, others: Sequence[Item], ground: Ground) -> Reading | None:
    """The reading of *text* as the reply to the fact *asked*, with the *others* that it tells beside; None for none."""
    name = ground.index.get("fact", asked)
    seen = see(text)
    tokens = seen.words(0, len(seen.text.seen))
    is_question = text.rstrip().endswith("?") and not goes_on(text)  # "what about 40?" tells a number
    if name is None or not tokens or is_question or declines(text):
        return None
    stated = [one for one in others if one.name == asked]
    if not stated and (day := _since_day(text, name, seen, others, ground)) is not None:
        return day
    found = stated or list(_items(name, seen, tokens, ground))
    if len({(one.operator, str(one.value), one.unit) for one in found}) != 1:
        return None
    said = _yes_or_no(tokens) if name.type == "boolean" else None
    if stated and said is not None and said is not stated[0].value:
        return None  # it says yes and no
    beside = [one for one in others if one.name != asked and one.quote not in {item.quote for item in found}]
    reading = hold(text, Proposal((*found[:1], *beside)), ground, "matcher")
    held = tuple(_answering(one) if one.item.name == asked else one for one in reading.held)
    if not any(one.item.name == asked and one.status != "refused" and not one.weaknesses for one in held):
        return None
    return replace(reading, held=held)


def _since_day(text: str, name: Name, seen: Seen, others: Sequence[Item], ground: Ground) -> Reading | None:
    """The reading of a day or period as the reply to how long ago something was; None for none, or for several."""
    days = past_days(Values(seen, ground.clock)) if counts_back(name) else ()
    if len(days) != 1:
        return None
    place = days[0].begins, days[0].ends
    passage = seen.passage_of(*place)
    if passage is None or standing.unsure(seen, passage, place) or standing.negations(seen, passage, place, ()):
        return None
    item = elapsed(days[0], name, ground.clock.today).item(name, seen.text.seen[slice(*place)])
    reading = hold(text, Proposal(tuple(others)), ground, "matcher")
    day = seen.stretch(*place)
    residue, beside = (
        tuple(one for one in left if not day.start <= one.start < day.end)
        for left in (reading.residue, reading.not_used)
    )
    held = HeldItem(item, "borne", "it was asked for", place)
    return replace(reading, held=(held, *reading.held), residue=residue, not_used=beside)


def _answering(one: HeldItem) -> HeldItem:
    """A fact that was asked for is borne where it lacks but its name."""
    if one.status == "weak" and one.weaknesses <= _BY_ASKING:
        return replace(one, status="borne", why="it was asked for", weaknesses=frozenset())
    return one


def _items(name: Name, seen: Seen, tokens: Sequence[Token], ground: Ground) -> Iterator[Item]:
    quote = seen.text.seen[tokens[0].start : tokens[-1].end]
    if name.type == "boolean":
        said, short = _yes_or_no(tokens), _in_short(name, tokens, ground)
        if said is not None:
            first = tokens[0] if _opens(tokens) else None
            yield Item(kind="fact", name=name.name, value=said, quote=first and seen.text.seen[first.start : first.end])
        elif short is not None:
            yield Item(kind="fact", name=name.name, value=short, quote=quote)
    elif name.type == "enum":
        words = [token.word for token in tokens]
        for value, texts in name.values.items():
            for told in dict.fromkeys((value.replace("_", " "), *texts)):
                row = list(words_of(told))
                at = next((i for i in range(len(words)) if row and words[i : i + len(row)] == row), None)
                if at is not None:
                    place = tokens[at].start, tokens[at + len(row) - 1].end
                    yield Item(kind="fact", name=name.name, value=value, quote=seen.text.seen[place[0] : place[1]])
                    break
    elif name.type == "date":
        for span in Values(seen, ground.clock).spans:
            if (days := said_days(span, seen)) is not None:
                yield days.item(name.name, seen.text.seen[span.begins : span.ends])
    else:
        yield from _amounts(name, seen, tokens, quote, ground)


def _amounts(name: Name, seen: Seen, tokens: Sequence[Token], quote: str, ground: Ground) -> Iterator[Item]:
    if len(tokens) <= _SHORT and any(token.word in closed("nothing") for token in tokens):
        yield Item(kind="fact", name=name.name, value=0)
        return
    if any(token.word == "or" for token in tokens):
        return  # "10 or 15"
    bounds = {operator for _, _, operator in comparisons_at([token.word for token in tokens])} - {"=="}
    unit = unit_named(name.unit)
    for figure in Values(seen, ground.clock).figures:
        values = [one for one in figure.values if isinstance(one, Fraction)]
        if len(values) != 1 or figure.is_ordinal or len(bounds) > 1:
            continue
        if figure.unit is not None and (unit is None or _kind(figure.unit) != _kind(unit)):
            continue
        behind = next((token for token in tokens if token.start >= figure.end), None)
        if behind is not None and not bounds and _is_counted(behind, name, seen, figure.start, ground):
            continue  # "3 shirts" are no days
        if seen.text.seen[max(figure.start - 1, 0) : figure.start] == "-":
            continue
        amount = values[0].numerator if values[0].denominator == 1 else float(values[0])
        said = seen.text.seen[figure.start : figure.end] if not bounds else quote
        yield Item(
            kind="fact", name=name.name, value=amount, unit=figure.unit, quote=said, operator=next(iter(bounds), None)
        )


def _is_counted(behind: Token, name: Name, seen: Seen, start: int, ground: Ground) -> bool:
    """Does the word behind a number say that other things are counted?"""
    if behind.word == "ago" and counts_back(name):
        return False
    is_same = any(token.clause == behind.clause for token in seen.words(start, behind.start))
    return is_same and not is_empty(behind.word) and not stems_of(behind.word) & ground.index.own(name)


def _kind(unit: str) -> str | None:
    return measure(Fraction(1), unit).kind


def _in_short(name: Name, tokens: Sequence[Token], ground: Ground) -> bool | None:
    """The side of a flag whose words are all that the reply has: "lost it". None where they may be of either."""
    said = {token.word for token in tokens if not is_empty(token.word)}
    if not said or len(tokens) > _SHORT or any(word in lexicon()["negation"] for word in said):
        return None
    sides = {
        value
        for value in ("true", "false")
        if all(not stems_of(word).isdisjoint(ground.index.told(name, value)) for word in said)
    }
    return sides.pop() == "true" if len(sides) == 1 else None


def _opens(tokens: Sequence[Token]) -> bool:
    """Does the reply begin with yes or no?"""
    said = [token.word for token in tokens]
    return bool(lexicon()["denying"].at(said, 0) or lexicon()["affirming"].at(said, 0))


def _yes_or_no(tokens: Sequence[Token]) -> bool | None:
    """The yes or no that a reply begins with, or all of whose words only say that it is so ("I do", "it isn't")."""
    lex = lexicon()
    said = [token.word for token in tokens]
    while said and said[0] in lex["opening"]:
        said = said[1:]
    is_denied = lex["negation"].any_in(said) or any(word.endswith("n't") for word in said)
    if not said or any(word in lex["ending_scope"] for word in said):  # "yes, but …" is neither
        return None
    if lex["denying"].at(said, 0):
        return False
    if lex["affirming"].at(said, 0):
        return None if is_denied else True
    is_bare = all(is_empty(word) or word in lex["negation"] or word.endswith("n't") for word in said)
    is_said = any(word in lex.auxiliaries or word in ("do", "have", "be") for word in said) or is_denied
    return not is_denied if is_bare and is_said else None
