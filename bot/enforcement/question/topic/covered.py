"""Is a question about something that the rules speak of? Every content word is known to the bundle, or it is not.

A question whose matter nobody declared is not answered from the nearest rule: "not in our rules", and whom to ask.
What is told around the question may be anything; only the clause that asks has to be about a declared matter.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import chain

from bot.enforcement.question.case.days import named_days
from bot.enforcement.question.case.facts import Read
from bot.enforcement.question.case.mentions import phrases_of, said_by, words_of
from bot.enforcement.question.intent import asking_clause, clauses
from bot.enforcement.question.kept import kept
from bot.enforcement.question.topic.stems import (
    DENIALS,
    names_of_action,
    names_of_outcome,
    stems_in,
    stems_of,
    unmarked,
)
from bot.index import BundleIndex
from bylaw.authored.vocabulary import Fact
from bylaw.language.lexicon import closed, lexicon, stem
from bylaw.language.text import parse
from bylaw.language.words import DETERMINERS, FUNCTION_WORDS, PRONOUNS, Word, read_words

POLICY_ID = re.compile(r"\bPOL-[A-Z0-9]+(?:-[A-Z0-9]+)*\b", re.IGNORECASE)
_FORM = frozenset(map(stem, closed("forming")))
_DEGREES = closed("degree")
_MAY = closed("modal")
_WHOLE, _HALF, _NONE = Decimal(1), Decimal("0.5"), Decimal(0)


@dataclass(frozen=True)
class Coverage:
    """Whether the bundle knows what is asked, the content words of what is asked, and those that it does not know.

    `typed` are the unknown ones as they stand in the text.
    """

    is_covered: bool
    asked: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    typed: tuple[str, ...] = ()


def coverage(text: str, reads: Sequence[Read], index: BundleIndex) -> Coverage:
    """How far *index* knows what *text* asks. The words of the facts that it states, *reads*, are known."""
    if POLICY_ID.search(text):
        return Coverage(True)
    clause = asking_clause(text)
    inside = [read for read in reads if any(read.start <= word.start < read.end for word in clause)]
    told = _told(text, inside)
    free = [word for word in clause if not any(start <= word.start < end for start, end in told)]
    runs = _runs(free)
    named = [span for _, span in named_lightly(text, index) if any(word.start in span for word in clause)]
    kinds = (stems_in(read.fact) for read in reads if isinstance(read.value, str))  # "a cat" says "animal", too
    said = _known(index).said(stems_in(text).union(*kinds))
    is_named = bool(named) or not stems_of(w.text for w in (clause or read_words(text))).isdisjoint(said.named)
    if not runs:
        is_told = not any(word.is_number for word in free) and bool(reads)
        return (None if is_named or not clause else _of_a_number(text, reads, said)) or Coverage(is_told or is_named)
    weights = index.rules.enforcement.covered
    weighed = [one for run in runs for one in _weighed([stems_of([word.text]) for word in run], said, weights.part)]
    whole = Decimal(len(inside) + len(named))
    known = sum((weight * worth for weight, worth in weighed), whole)
    share = known / sum((weight for weight, _ in weighed), whole)
    strange = [word for run in runs for word in run if said.is_unknown(stems_of([word.text]))]
    open_ = _uncovered(text, runs, strange)
    is_case = len(reads) > 1 or any(_tells_a_case(read, read in inside) for read in reads)
    if is_case or is_named:  # of a case that is told, what is asked is often said in other words
        is_covered = share >= weights.named_from or (is_case and (share > 0 or not strange))
    else:
        is_covered = bool(said.told) and share >= weights.told_from
    heads = [stems_of([word.text]) for run in runs for word in run]
    names = [name for name in _called(index) if len(name) <= 2 * len(heads)]  # at least half of it is said
    is_called = not strange and any(all(not one.isdisjoint(name) for one in heads) for name in names)
    return replace(open_, is_covered=is_covered or is_called)


def _of_a_number(text: str, reads: Sequence[Read], said: _Said) -> Coverage | None:
    """What is asked where but a number is told, which may be of anything: the words before "do they have to pay?".

    None where these are known.
    """
    told = _told(text, reads)
    runs = _runs(word for word in read_words(text) if not any(start <= word.start < end for start, end in told))
    strange = [word for run in runs for word in run if said.is_unknown(stems_of([word.text]))]
    is_number = [isinstance(read.value, str | bool) for read in reads] == [False]
    return _uncovered(text, runs, strange) if strange and is_number else None


def _told(text: str, reads: Iterable[Read]) -> list[tuple[int, int]]:
    """Where *text* tells the facts *reads*, or names days."""
    return [*((read.start, read.end) for read in reads), *named_days(text)]


def _uncovered(text: str, runs: Iterable[Sequence[Word]], strange: Sequence[Word]) -> Coverage:
    """The words of *runs* are asked, and those that are *strange* unknown."""
    asked = tuple(dict.fromkeys(word.text for run in runs for word in run))
    typed = {word.text: text[word.start : word.end] for word in strange}
    return Coverage(False, asked, tuple(typed), tuple(typed.values()))


def named_lightly(text: str, index: BundleIndex) -> Iterator[tuple[str, range]]:
    """The actions named by a phrase none of whose words tells one matter from another ("go in"), and where."""
    words = words_of(parse(text))
    for one in phrases_of(index.vocabulary).find(words):
        if one.value is None and not stems_of(words[i].word for i in one.used):
            yield one.owner, range(words[one.first].start, words[one.last].end)


def _tells_a_case(read: Read, is_asked: bool) -> bool:
    """Is it more than a value? What *is_asked* with a single word may mean much that is no case ("broken")."""
    return not isinstance(read.value, str | bool if is_asked else str)


def _weighed(run: Sequence[frozenset[str]], said: _Said, part: Decimal) -> Iterator[tuple[Decimal, Decimal]]:
    """The weight and the worth of each word of a row, the last of which says what it is ("parking ticket").

    An unknown word before a thing only describes it ("a purple TV"); before a matter it makes another of it: "sick
    leave".
    """
    head = run[-1]
    is_other = len(run) == 2 and not head.isdisjoint(said.named - said.told) and any(map(said.is_unknown, run[:-1]))
    for stems in run[:-1]:
        yield _WHOLE if is_other and said.is_unknown(stems) else _HALF, said.worth(stems, part)
    yield _WHOLE, said.worth(head, part) * (_HALF if is_other else _WHOLE)


def _runs(words: Iterable[Word]) -> list[list[Word]]:
    """The content words in rows: a function word, or the end of a clause, ends one."""
    runs: list[list[Word]] = [[]]
    clause, before = -1, ""
    for word in words:
        is_measure = before == "how" and word.text in _DEGREES
        before = word.text
        if word.clause != clause:
            runs.append([])
        clause = word.clause
        if word.is_number or word.text in lexicon().ordinals:
            continue
        is_empty = word.text in lexicon()["function"] or word.text in lexicon().numbers or stem(word.text) in _FORM
        if not (is_empty or is_measure) and stems_of([word.text]) - DENIALS:
            runs[-1].append(word)
        else:
            runs.append([])
    return [run for run in runs if run]


# ---- what would be done ---------------------------------------------------------------------------------------------


def is_of_another_deed(text: str, reads: Sequence[Read], index: BundleIndex) -> bool:
    """Would a question do something that nothing in the bundle speaks of ("may I film the show?"), whatever else it
    names?

    Of what is named by its verb ("return") the thing may be any.
    """
    said = _known(index).said(stems_in(text))
    told = [range(read.start, read.end) for read in reads]

    def is_strange(word: Word) -> bool:
        is_name = word.start > 0 and text[word.start].isupper() and text[: word.start].rstrip()[-1:] not in ".!?"
        is_told = is_name or any(word.start in one for one in told)
        return said.is_unknown(stems_of([word.text])) and not is_told

    if any(True for _ in named_lightly(text, index)):
        return False
    named = said.named | said.told
    deeds = _deeds(text)
    return any(map(is_strange, chain.from_iterable(d[: 1 if stems_of([d[0].text]) & named else 2] for d in deeds)))


def _deeds(text: str) -> Iterator[Sequence[Word]]:
    """The verb of each question for permission ("may I share a room?"), and the thing that stands behind it."""
    for clause, asks in clauses(text):
        rows = [*_rows(clause[1:])] if asks and clause[0].text in _MAY else []
        for between, row in rows[:1]:
            is_light = any(word.text not in FUNCTION_WORDS for word in between)  # "get", "take": what matters is what
            if not PRONOUNS.isdisjoint(word.text for word in between):
                behind = [its for among, its in rows[1:2] if all(one.text in DETERMINERS for one in among)]
                thing = [its[-1] for its in (row[1:], *behind) if its][:1]
                yield row[-1:] if is_light else [row[0], *thing]
            elif len(row) > 1:  # "can my cats share": whoever does it is named before it
                yield row[-1:]


def _rows(words: Sequence[Word]) -> Iterator[tuple[Sequence[Word], Sequence[Word]]]:
    """The telling words side by side, each row with the words before it that tell nothing."""
    start = 0
    while start < len(words):
        first = next((i for i in range(start, len(words)) if _is_telling(words[i])), len(words))
        end = next((i for i in range(first, len(words)) if not _is_telling(words[i])), len(words))
        if first < end:
            yield words[start:first], words[first:end]
        start = end


def _is_telling(word: Word) -> bool:
    is_number = word.is_number or word.text in lexicon().numbers
    return not is_number and bool(stems_of([word.text]) - DENIALS)


# ---- what the bundle speaks of --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Said:
    """What the stems of a question are of: a `named` matter, a `told` value, a policy's `text`, a `part` of a name."""

    named: frozenset[str]
    told: frozenset[str]
    text: frozenset[str]
    part: frozenset[str]

    def worth(self, stems: frozenset[str], part: Decimal) -> Decimal:
        """How well one word is known: whole, half in a policy's text, as *part* of a longer name, or not at all."""
        if not stems.isdisjoint(self.named | self.told):
            return _WHOLE
        if not stems.isdisjoint(self.text):
            return _HALF
        return _NONE if stems.isdisjoint(self.part) else part

    def is_unknown(self, stems: frozenset[str]) -> bool:
        """Is the word nowhere in the bundle?"""
        return stems.isdisjoint(self.named | self.told | self.text | self.part)


@dataclass(frozen=True)
class _Known:
    """The declared expressions by their stems: `matters` can be asked about, `values` tell of a case."""

    matters: Mapping[str, tuple[frozenset[str], ...]]
    values: Mapping[str, tuple[frozenset[str], ...]]
    texts: frozenset[str]
    parts: frozenset[str]

    def said(self, stems: frozenset[str]) -> _Said:
        """What of it *stems* say."""
        named = _hit(self.matters, stems)
        return _Said(named, _hit(self.values, stems), stems & self.texts, stems & self.parts)


@kept(4)
def _called(index: BundleIndex) -> tuple[frozenset[str], ...]:
    """The stems of what each action and outcome is called: who asks with nothing else asks about it."""
    actions, outcomes = index.vocabulary.actions, index.vocabulary.outcomes
    told = {name: one.label for name, one in actions.items()} | {name: one.label for name, one in outcomes.items()}
    return tuple(dict.fromkeys(stems_in(label or name.replace("_", " ")) for name, label in told.items()))


def _hit(expressions: Mapping[str, tuple[frozenset[str], ...]], stems: frozenset[str]) -> frozenset[str]:
    """The stems of expressions that are said whole, or by two words that are at least half of it."""
    found: set[str] = set()
    for word in stems:
        for one in expressions.get(word, ()):
            hit = one & stems
            if hit == one or (len(hit) > 1 and 2 * len(hit) >= len(one)):
                found |= hit
    return frozenset(found)


@kept(4)
def _known(index: BundleIndex) -> _Known:
    vocabulary, rules = index.vocabulary, index.ruleset.rules
    matters: list[frozenset[str]] = [stems_in(rule.domain) for rule in rules]
    for name in vocabulary.actions:
        matters += map(unmarked, names_of_action(name, vocabulary))
    for name in vocabulary.outcomes:
        matters += names_of_outcome(name, vocabulary)
    matters += [stems_in(term) for term in vocabulary.terms]
    for domain in index.rules.enforcement.domains.values():
        matters += [stems_in(keyword) for keyword in domain.keywords]
    values: list[frozenset[str]] = []
    for name, fact in vocabulary.facts.items():
        matters += [stems_in(name), stems_in(fact.label or ""), stems_in(fact.ask or "")]
        values += _of_fact(fact)
    texts = [stems_in(rule.source.text) for rule in rules if rule.source.text]
    parts = [stems_in(phrase) for fact in vocabulary.facts.values() for phrase in fact.phrases if "{" in phrase]
    return _Known(
        _by_stem(matters), _by_stem(values), frozenset().union(*texts), frozenset().union(*matters, *values, *parts)
    )


def _of_fact(fact: Fact) -> list[frozenset[str]]:
    """What tells a value of the fact; a phrase with a number tells nothing without it."""
    return [stems_in(text) for _, text, _ in said_by("", fact)]


def _by_stem(expressions: Iterable[frozenset[str]]) -> dict[str, tuple[frozenset[str], ...]]:
    found: dict[str, set[frozenset[str]]] = defaultdict(set)
    for one in expressions:
        for word in one:
            found[word].add(one)
    return {word: tuple(sorted(ones, key=sorted)) for word, ones in found.items()}
