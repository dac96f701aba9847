"""A lexical search over decisions, events and transitions: BM25 with weighted fields, the same on every machine.

An inverted index in flat arrays, built once a bundle in linear time; a question costs what its postings cost. What is
asked for is found by `bot.ask`: this ranks what comes near, and what a search for words alone finds.
"""

from __future__ import annotations

import heapq
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import islice
from math import log

from bylaw.authored.decisions import Decision, Decisions, Event, Kind, Record
from bylaw.authored.machines.intents import SearchRules
from bylaw.authored.state import local_day
from bylaw.language.lexicon import closed, stem
from bylaw.language.text import words_of

_FREQUENT = 1_000  # records that one word stands in
_MOST_RANKED = 500  # of which a filter may leave those that it fits
KINDS: tuple[Kind, ...] = ("decision", "event", "transition")


@dataclass(frozen=True, slots=True)
class Hit:
    """A record that shares words with a text. `score` is that of BM25."""

    id: str
    kind: Kind
    title: str
    score: float


@dataclass(frozen=True, slots=True)
class Wanted:
    """A search: words, how many records of which kinds, and what each of them has to be. Both days are included."""

    text: str = ""
    k: int = 10
    kinds: Sequence[Kind] = KINDS
    person: str | None = None
    tag: str | None = None
    status: str | None = None
    since: date | None = None
    until: date | None = None

    def fits(self, record: Record) -> bool:
        """Is the record what every filter asks for? Only a decision has people and a state."""
        is_decision = isinstance(record, Decision)
        people = (*record.deciders, *record.consulted, *record.informed) if isinstance(record, Decision) else ()
        status = record.status if isinstance(record, Decision) else None
        day = (record.decided_on or record.proposed_on) if isinstance(record, Decision) else local_day(record)
        is_dated = day is not None and (self.since or day) <= day <= (self.until or day)
        return (
            (self.person is None or self.person.casefold() in {one.casefold() for one in people})
            and (self.tag is None or self.tag in record.tags)
            and (self.status is None or (is_decision and status == self.status))
            and (is_dated or (self.since is None and self.until is None))
        )


def find_records(wanted: Wanted, search: RecordSearch, decisions: Decisions) -> list[Hit]:
    """What is *wanted*: by words the nearest first, without words the latest."""
    kinds = tuple(wanted.kinds)
    if wanted.text.strip():
        return search.find(wanted.text, wanted.k, kinds, wanted.fits)
    held: Mapping[Kind, Mapping[str, Record]] = {
        "decision": decisions.decisions,
        "event": decisions.events,
        "transition": decisions.transitions,
    }
    fitting = [(kind, one) for kind in KINDS if kind in kinds for one in held[kind].values() if wanted.fits(one)]
    latest = sorted(fitting, key=lambda pair: pair[1].id)
    latest.sort(key=lambda pair: pair[1].timestamp or "", reverse=True)
    return [Hit(one.id, kind, title_of(one), 0.0) for kind, one in latest[: wanted.k]]


class RecordSearch:
    """The index of one snapshot, weighed by *rules*. Immutable once built."""

    def __init__(self, decisions: Decisions, rules: SearchRules) -> None:
        self._records: list[tuple[Kind, Record]] = [
            *(("decision", one) for _, one in sorted(decisions.decisions.items())),
            *(("event", one) for _, one in sorted(decisions.events.items())),
            *(("transition", one) for _, one in sorted(decisions.transitions.items())),
        ]
        self._documents: dict[str, array[int]] = defaultdict(lambda: array("I"))
        self._impacts: dict[str, array[float]] = defaultdict(lambda: array("f"))
        k1, b = float(rules.k1), float(rules.b)
        lengths = array("f")
        for number, (_, record) in enumerate(self._records):
            weighed: Counter[str] = Counter()
            for weight, text in _fields(record, rules):
                for term in terms(text):
                    weighed[term] += weight
            lengths.append(weighed.total())
            for term, weight in weighed.items():
                self._documents[term].append(number)
                self._impacts[term].append(weight)
        mean = sum(lengths) / len(lengths) if lengths else 1.0
        damping = array("f", (k1 * (1 - b + b * length / mean) for length in lengths))
        for term, impacts in self._impacts.items():
            for at, number in enumerate(self._documents[term]):
                impacts[at] *= (k1 + 1) / (impacts[at] + damping[number])

    def find(
        self, text: str, k: int, kinds: tuple[Kind, ...] = KINDS, fits: Callable[[Record], bool] = lambda record: True
    ) -> list[Hit]:
        """The *k* records of *kinds* that share most with *text* and that a filter *fits*; equal ones by their ids."""
        scores: dict[int, float] = {}
        known = sorted(
            {term for term in terms(text) if term in self._documents}, key=lambda term: (self._df(term), term)
        )
        for term in known:
            weight = log(1 + (len(self._records) - self._df(term) + 0.5) / (self._df(term) + 0.5))
            if scores and self._df(term) > max(_FREQUENT, 4 * len(scores)):
                continue  # a frequent word after rare ones finds nothing that is nearer
            for number, impact in zip(self._documents[term], self._impacts[term], strict=True):
                scores[number] = scores.get(number, 0.0) + weight * impact
        of_kinds = (n for n in scores if self._records[n][0] in kinds)
        ranked = heapq.nsmallest(_MOST_RANKED, of_kinds, key=lambda n: (-round(scores[n], 6), n))
        best = islice((n for n in ranked if fits(self._records[n][1])), k)
        return [self._hit(number, scores[number]) for number in best]

    def _hit(self, number: int, score: float) -> Hit:
        kind, record = self._records[number]
        return Hit(record.id, kind, title_of(record), round(score, 6))

    def _df(self, term: str) -> int:
        return len(self._documents[term])


def title_of(record: Record) -> str:
    """What a record says in short."""
    if isinstance(record, Decision):
        return record.option
    return (record.summary or record.id) if isinstance(record, Event) else record.reason


def terms(text: str) -> list[str]:
    """What *text* is about: the stems of its words of content, in order."""
    empty = closed("function")
    return [stem(word) for word in words_of(text) if word not in empty]


def _fields(record: Record, rules: SearchRules) -> Iterator[tuple[int, str]]:
    """The texts of a record, each with the weight of where it stands."""
    weights = rules.fields
    yield weights.title, f"{title_of(record)} {record.id.replace('-', ' ')}"
    yield weights.near, " ".join(record.tags)
    if isinstance(record, Decision):
        yield weights.near, " ".join((*record.aliases, *record.deciders, *(one.option for one in record.options)))
        yield weights.body, " ".join((record.rationale, record.context or "", *record.consequences))
        yield weights.body, " ".join(text for one in record.options for text in (*one.pros, *one.cons))
    elif isinstance(record, Event):
        yield weights.body, f"{record.description or ''} {record.snippet or ''}"
