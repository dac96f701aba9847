"""Facts of a case that a model proposes, held against the words they are quoted from.

A quote is verbatim; a number, a sum or a day is what our own readers make of it; a value or a flag is declared. Where
the model and the plain reader differ, neither counts and the person is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from bot.claims.measures import agree, amount_of
from bot.enforcement.question.case.facts import Read, Reading, Unclear, is_sayable
from bot.enforcement.question.case.replies import read_answer
from bylaw.authored.vocabulary import Fact, Vocabulary
from bylaw.language.figures import Measure, figures, measure
from bylaw.language.units import factor, unit_named
from bylaw.logic.formula.ir import Value, ValueMisfit, Variable

_MOST = 60  # proposals that are looked at
_MOST_UNUSED = 3  # that are told


class Proposal(BaseModel):
    """One fact as somebody read it: the words are verbatim, the value is in `unit`, or in the fact's own."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    fact: Annotated[str, StringConstraints(max_length=100)]
    operator: Literal["==", "!=", "<", "<=", ">", ">=", "in", "between"] = "=="
    value: bool | int | Decimal | str | list[bool | int | Decimal | str]
    unit: Annotated[str, StringConstraints(max_length=40)] | None = None
    quote: Annotated[str, StringConstraints(min_length=1, max_length=400)]


class ReadCase(BaseModel):
    """What a reader makes of a question: its domain, the facts it tells, and what it tells beside them."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    domain: str | None = None
    facts: Annotated[list[Proposal], Field(max_length=200)] = Field(default_factory=list)
    unused: Annotated[list[Annotated[str, StringConstraints(max_length=400)]], Field(max_length=200)] = Field(
        default_factory=list
    )


@dataclass(frozen=True)
class Held:
    """The proposals that their words bear; those that they do not, with why; and what was told and is not used."""

    reads: tuple[Read, ...] = ()
    stopped: tuple[Unclear, ...] = ()
    unused: tuple[str, ...] = ()
    domain: str | None = None


def held(case: ReadCase, text: str, vocabulary: Vocabulary, variables: Mapping[str, Variable], today: date) -> Held:
    """What of *case* the words of *text* bear."""
    reads: list[Read] = []
    stopped: list[Unclear] = []
    for proposal in case.facts[:_MOST]:
        found = _held(proposal, text, vocabulary, variables, today)
        if isinstance(found, Read):
            reads.append(found)
        elif found is not None:
            stopped.append(found)
    one_each = _one_each(reads)
    stopped += [Unclear(read.fact, read.words, _TWICE) for read in reads if read.fact not in one_each]
    unused = tuple(words for words in dict.fromkeys(case.unused) if words.strip() and words in text)
    return Held(tuple(one_each.values()), tuple(dict.fromkeys(stopped)), unused, case.domain)


_TWICE = "it was read in two ways"


def _one_each(reads: Sequence[Read]) -> dict[str, Read]:
    """The reads by fact, without those facts that have two values."""
    values: dict[str, set[Value]] = {}
    for read in reads:
        values.setdefault(read.fact, set()).add(read.value)
    return {read.fact: read for read in reversed(reads) if len(values[read.fact]) == 1}


def _held(
    proposal: Proposal, text: str, vocabulary: Vocabulary, variables: Mapping[str, Variable], today: date
) -> Read | Unclear | None:
    """The proposal as a reading; why it is none; None for what speaks of nothing that words may say."""
    fact, variable, start = vocabulary.facts.get(proposal.fact), variables.get(proposal.fact), text.find(proposal.quote)
    if fact is None or variable is None or start < 0 or not proposal.quote.strip() or not is_sayable(fact):
        return None
    if isinstance(proposal.value, list):
        return Unclear(proposal.fact, proposal.quote, "it gives no single value")
    try:
        value = variable.read(_outside(proposal, fact))
    except (ValueMisfit, ValueError, TypeError):
        return Unclear(proposal.fact, proposal.quote, "it is no value of this")
    if proposal.operator != "==":  # a bound is one where our own reader finds the same
        direct = read_answer(proposal.quote, proposal.fact, vocabulary, variables, today)
        is_same = isinstance(direct, Unclear) and direct.tests == ((proposal.operator, value),)
        tests = direct.tests if isinstance(direct, Unclear) and is_same else ()
        return Unclear(proposal.fact, proposal.quote, "it gives no single value", tests, start)
    read = Read(proposal.fact, value, proposal.quote, start, start + len(proposal.quote))
    if fact.type in ("boolean", "enum") or _bears(proposal, fact):
        return read
    direct = read_answer(proposal.quote, proposal.fact, vocabulary, variables, today)
    is_same = isinstance(direct, Read) and direct.value == value
    return read if is_same else Unclear(proposal.fact, proposal.quote, "the words do not say this value")


def _bears(proposal: Proposal, fact: Fact) -> bool:
    """Is the value among the figures of the quote?"""
    amount, own = amount_of(proposal.value), unit_named(proposal.unit or fact.unit)
    if amount is None:
        return False
    if isinstance(amount, date):
        told: Iterable[Measure] = (Measure("date", amount),)
    else:
        told = (measure(amount, own), *((Measure("bare", amount),) if proposal.unit in (None, fact.unit) else ()))
    return any(agree(figure, one) for figure in figures(proposal.quote) for one in told)


def _outside(proposal: Proposal, fact: Fact) -> Any:
    """The proposed value as a fact of this unit takes it. Raises ValueError for a unit that does not convert."""
    value = proposal.value
    if isinstance(value, bool | str) or proposal.unit is None or unit_named(proposal.unit) == unit_named(fact.unit):
        return value
    if fact.unit is None:
        raise ValueError("a unit for what has none")
    times = factor(proposal.unit, fact.unit)
    if times is None or isinstance(value, list):
        raise ValueError("another kind of unit")
    found = amount_of(value)
    assert found is not None and not isinstance(found, date)  # a number
    whole = found * times
    return whole.numerator if whole.denominator == 1 else Decimal(whole.numerator) / Decimal(whole.denominator)


# ---- beside the plain reading ---------------------------------------------------------------------------------------


def merged(plain: Reading, model: Held) -> Reading:
    """*plain* with what the model read. Where they differ, nothing is read and the person is asked."""
    proposed = {read.fact: read for read in model.reads}
    differs = list(_differing(plain, model, proposed))
    away = {one.fact for one in differs}
    kept = [read for read in plain.reads if read.fact not in away]
    mine = {read.fact for read in kept}
    added = [read for read in model.reads if read.fact not in away | mine]
    told = {read.fact for read in (*kept, *added)}
    unclear = [one for one in (*differs, *plain.unclear, *model.stopped) if one.fact not in told]
    firsts = {one.fact: one for one in reversed(unclear)}
    reads = tuple(sorted((*kept, *added), key=lambda read: (read.start, read.fact)))
    return replace(plain, reads=reads, unclear=tuple(firsts.values()), mentioned=plain.mentioned | told)


def _differing(plain: Reading, model: Held, proposed: Mapping[str, Read]) -> Iterator[Unclear]:
    """What the plain reader read and the model otherwise: as another value, of another fact, or as no fact at all.

    A word alone says little ("cash"): of what the model has not read so, a second reader is not sure.
    """
    for read in plain.reads:
        other = proposed.get(read.fact)
        if other is not None:
            if other.value != read.value:
                yield Unclear(read.fact, read.words, _TWICE)
        elif _is_a_word(read) or any(_meet(read, one) for one in model.reads) or _is_unused(read, model.unused):
            yield Unclear(read.fact, read.words, "it may be said of something else")


def _is_a_word(read: Read) -> bool:
    return len(read.words.split()) == 1 and not any(char.isdigit() for char in read.words)


def _meet(one: Read, other: Read) -> bool:
    """Do they rest on the same figure?"""
    is_amount = not isinstance(one.value, str | bool) and not isinstance(other.value, str | bool)
    return is_amount and one.start < other.end and other.start < one.end


def _is_unused(read: Read, unused: Sequence[str]) -> bool:
    return any(read.words in words or (not isinstance(read.value, str) and words in read.words) for words in unused)


def not_used(model: Held | None, reading: Reading) -> list[str]:
    """What to say of what was told and not used."""
    told = [one.words for one in reading.unclear]
    listed = (
        [] if model is None else [words for words in model.unused if not any(w in words or words in w for w in told)]
    )
    used = [*told, *listed, *(read.words for read in reading.reads)]
    left = [*listed, *(words for words in reading.unused if not any(words in one or one in words for one in used))]
    return [f"not used: {words}" for words in left[:_MOST_UNUSED]]
