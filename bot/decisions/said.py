"""What an answer says and no cited record does: numbers, sums, days, people, ids, states, and what is turned round.

The values are read by the one reader of values; nothing is parsed here. What no cited record has is named.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import date
from fractions import Fraction
from functools import lru_cache
from typing import get_args

from bot.decisions.contract import Anchor, Evidence, EvidenceEvent, EvidenceTransition, Related
from bylaw.authored.decisions import Status
from bylaw.hold.standing import is_negation
from bylaw.hold.text import see
from bylaw.hold.values import Clock, Values
from bylaw.language.dates import Span
from bylaw.language.figures import Figure
from bylaw.language.lexicon import content
from bylaw.language.text import Passage, words_of

_Record = Anchor | EvidenceEvent | EvidenceTransition | Related
_ID = re.compile(r"(?<![\w/.@-])[a-z0-9]+(?:[-_][a-z0-9]+){2,}(?![\w/@-])|\b[A-Z]{2,10}-\d{1,6}\b")
_NAME = re.compile(r"\b[A-Z][\w'’]+(?:\s+(?:[a-z]{2,3}\s+)?[A-Z][\w'’]+)+")
_CLOCK = Clock(date(2000, 1, 1))  # an answer tells days as they are: nothing in it is relative
_DAYS = ("timestamp", "day", "proposed_on")
_STATES = frozenset(get_args(Status))
_COUNTED = re.compile(r"\(\d+ of \d+ are told here\.\)")  # our own count of what is told
_CUT_OFF = re.compile(r"[^\s…]*…")  # a word that was cut says nothing any more
_ALIKE = 0.5  # of the content words of a sentence: so many stand in the one that it is held against


def unsupported(said: str, evidence: Evidence, cited: Sequence[str], people: Sequence[str]) -> list[str]:
    """What *said* says and the records that are *cited* do not, in the words of the answer."""
    records = texts_of(evidence, cited)
    text = _CUT_OFF.sub(" ", _COUNTED.sub("", said))
    known = "\n\n".join(records)
    found = [
        *_values(text, known),
        *_people(text, known, people),
        *_ids(text, known),
        *_states(text, evidence),
        *_turned(text, records),
    ]
    return list(dict.fromkeys(found))


def texts_of(evidence: Evidence, cited: Sequence[str]) -> list[str]:
    """The texts of the *cited* records: their words, and their days as people write them."""
    anchor, moves = evidence.anchor, evidence.transitions
    shown: tuple[_Record, ...] = (anchor, *evidence.events, *moves.preceding, *moves.succeeding)
    found: list[str] = []
    for one in (*shown, *(evidence.related or ())):
        if one.id in cited:
            document = one.document()
            days = {str(value)[:10] for key, value in document.items() if key in _DAYS and value}
            found += [*_strings(document), *map(_written, sorted(days)), *_following(one)]
    return found


def _following(record: object) -> Iterator[str]:
    """What follows from the fields of a decision: who decided it, and that the other options were not chosen."""
    if not isinstance(record, Anchor):
        return
    people = record.deciders or ((record.decision_maker,) if record.decision_maker else ())
    if people:
        yield f"Decided by {', '.join(people)}."
    title = content(words_of(record.option))
    for one in record.options or ():
        if one.is_chosen:
            yield f"{one.option} was considered and chosen."
        elif content(words_of(one.option)) - title:
            yield f"{one.option} was considered and not chosen."


def _strings(value: object) -> Iterator[str]:
    match value:
        case dict():
            for key, inner in value.items():
                yield from _strings(inner) if key not in _DAYS else ()
        case list() | tuple():
            for inner in value:
                yield from _strings(inner)
        case str():
            yield value


def _written(day: str) -> str:
    on = date.fromisoformat(day)
    return f"{on.day} {on:%B} {on.year}\n{on.isoformat()}"


@lru_cache(maxsize=256)
def _read(text: str) -> Values:
    return Values(see(text), _CLOCK)


def _values(said: str, known: str) -> Iterator[str]:
    """Figures, sums and days that no cited record has."""
    mine, theirs = _read(said), _read(known)
    figures = {(value, one.unit) for one in theirs.figures for value in one.values}
    bare = {value for value, _ in figures}
    days = [(one.start, one.end) for one in theirs.spans if one.start is not None and one.end is not None]
    dated = [(one.begins, one.ends) for one in mine.spans]
    for span in mine.spans:
        if not span.is_untold and not _is_within(span, days):
            yield mine.seen.text.seen[span.begins : span.ends]
    for figure in mine.figures:
        if any(begins <= figure.first and figure.core <= ends for begins, ends in dated):
            continue
        if not _is_known(figure, figures, bare):
            yield mine.seen.text.seen[figure.start : figure.end]


def _is_known(
    figure: Figure, figures: Collection[tuple[Fraction | date, str | None]], bare: Collection[Fraction | date]
) -> bool:
    return any((value, figure.unit) in figures or (figure.unit is None and value in bare) for value in figure.values)


def _is_within(span: Span, days: Iterable[tuple[date, date]]) -> bool:
    """Is it a day of a record, or the month or year that one of its days lies in?"""
    first, behind = span.start, span.end
    return first is not None and behind is not None and any(first <= day and end <= behind for day, end in days)


def _people(said: str, known: str, people: Sequence[str]) -> Iterator[str]:
    """People, and names of several words, that no cited record has."""
    folded = " ".join(known.casefold().split())
    for person in people:
        if person.casefold() in said.casefold() and person.casefold() not in folded:
            yield person
    for match in _NAME.finditer(said):
        words = [word for word in re.split(r"\s+", match[0]) if word[0].isupper()]
        inside = [word for word in words if word.casefold() not in folded]
        is_opening = match.start() == 0 or said[: match.start()].rstrip()[-1:] in ".!?:"
        if inside and not (is_opening and inside == words[:1]):
            yield match[0]


def _ids(said: str, known: str) -> Iterator[str]:
    """What looks like an id and is none of a cited record."""
    folded = known.casefold()
    yield from (match[0] for match in _ID.finditer(said) if match[0].casefold() not in folded)


def _states(said: str, evidence: Evidence) -> Iterator[str]:
    """States of a decision that none of those told has."""
    shown = {evidence.anchor.status or "accepted", *(one.status or "accepted" for one in evidence.related or ())}
    known = frozenset(words_of(" ".join(_strings(evidence.document()))))
    for word in words_of(said):
        if word in _STATES and word not in shown and word not in known:
            yield word


def _turned(said: str, records: Sequence[str]) -> Iterator[str]:
    """Sentences that deny what a cited record says, or say what it denies."""
    theirs = [one for record in records for one in _sentences(record)]
    for words, denials, text in _sentences(said):
        near = max(theirs, key=lambda one: len(one[0] & words), default=None)
        if near is None or not words or len(near[0] & words) < _ALIKE * len(words):
            continue
        if denials % 2 != near[1] % 2 and not any(
            one[1] % 2 == denials % 2 and len(one[0] & words) == len(near[0] & words) for one in theirs
        ):
            yield text


def _sentences(text: str) -> Iterator[tuple[frozenset[str], int, str]]:
    """Each clause: the stems of its content words, how often it denies, its text."""
    seen = see(text)
    for passage in seen.text.passages:
        tokens = seen.words(passage.start, passage.end)
        words = (token.word for token in tokens if not token.is_number)  # these are held as values
        yield content(words), sum(map(is_negation, tokens)), _cut(seen.text.seen, passage)


def _cut(text: str, passage: Passage) -> str:
    return " ".join(text[passage.start : passage.end].split())[:60]
