"""A held reading of a policy question as the case that it tells: what is asked, what is known, and what is not used.

Only what the text bears counts. A fact that is weak by its name, its value or the words beside it is used and told; one
that is doubted, past, of somebody else, or altered is never used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from bot.ask.ground import ground_for
from bot.ask.matcher.match import match
from bot.claims.conditions import atoms_of
from bot.claims.terms import Terms, terms_of
from bot.enforcement.case import Case
from bot.enforcement.question.bounds import Bound, Read, is_sayable
from bot.enforcement.question.carrying import Carried, carry, drop_earlier
from bot.enforcement.question.memory import Memory, load
from bot.enforcement.question.near import domains_near
from bot.enforcement.question.topic import Topic, topic_of
from bot.enforcement.weighed import weigh_within
from bot.enforcement.writing.write import Words
from bot.index import BundleIndex
from bylaw.hold.hold import hold
from bylaw.hold.item import HeldItem, Reading, Stretch
from bylaw.logic.decide.evaluate import Evaluator
from bylaw.logic.formula.ir import Atom, Value, ValueMisfit, Variable

UNUSABLE = frozenset(("standing", "altered"))
_BOUNDING = ("<", "<=", ">", ">=")


@dataclass(frozen=True, slots=True)
class Told:
    """What the held facts tell: values, bounds of facts without one, and the quotes that are not used."""

    reads: tuple[Read, ...]
    bounds: Mapping[str, Bound]
    unused: tuple[str, ...]


def matched(text: str, today: date, index: BundleIndex) -> Reading:
    """What the declared words of *text* say, held."""
    ground = ground_for(index, "policy", today)
    return hold(text, match(text, ground), ground, "matcher")


def case_of(
    text: str,
    today: date,
    state: Mapping[str, Any],
    index: BundleIndex,
    evaluator: Evaluator,
    given: Mapping[str, Value] | None = None,
) -> Case:
    """The case that the declared words of *text*, said *today*, tell. Facts *given* count more than those read."""
    return assemble_case(text, today, state, index, evaluator, matched(text, today, index), given)


def assemble_case(
    text: str,
    today: date,
    state: Mapping[str, Any],
    index: BundleIndex,
    evaluator: Evaluator,
    reading: Reading,
    given: Mapping[str, Value] | None = None,
    is_declined: bool = False,
    is_anew: bool = False,
) -> Case:
    """The case that *reading* tells, laid over the one that *state* carries; facts *given* count more than both. Where
    it *is_anew*, only what the last turn told is left of that.
    """
    before, given = load(state, evaluator.ruleset.variables), given or {}
    told = tell_facts(reading, index)
    carried = Carried(drop_earlier(before), True) if is_anew else carry(text, before, reading, told.reads, index)
    before, reading = carried.memory, _without_marks(reading, carried)
    memory = _lay_over(text, before, reading, told, index, evaluator, today)
    facts = {**memory.facts, **given}
    knows = frozenset(name for name, value in facts.items() if memory.facts.get(name, value) == value)
    memory = replace(memory, facts=facts)
    if is_declined and before.asking is not None:
        memory = replace(memory, declined=tuple(dict.fromkeys((*memory.declined, before.asking))))
    bounds, decision, scope = weigh_within(memory, index, evaluator, today.toordinal())
    left = tuple(f"not used: {words}" for words in dict.fromkeys((*told.unused, *_beside(reading.not_used, text))))
    reads = tuple(one for one in told.reads if given.get(one.fact, one.value) == one.value)
    return Case(
        text, today, index, evaluator, Words(index.vocabulary), memory, reads, told.bounds, decision, scope,
        before.asking, is_declined, unused=left, told=knows, bounds=bounds,
        reading=reading, is_new=carried.is_new,
    )  # fmt: skip


def _without_marks(reading: Reading, carried: Carried) -> Reading:
    """*reading* without the words that only say that another case begins, among what is left over."""

    def left(stretches: tuple[Stretch, ...]) -> tuple[Stretch, ...]:
        return tuple(one for one in stretches if not any(a <= one.start and one.end <= b for a, b in carried.marks))

    return (
        reading
        if not carried.marks
        else replace(reading, residue=left(reading.residue), not_used=left(reading.not_used))
    )


def _beside(stretches: tuple[Stretch, ...], text: str) -> Iterator[str]:
    """Words left over beside what is asked, those that follow each other as one."""
    at = 0
    while at < len(stretches):
        last = at
        while last + 1 < len(stretches) and not text[stretches[last].end : stretches[last + 1].start].strip():
            last += 1
        yield text[stretches[at].start : stretches[last].end]
        at = last + 1


def _lay_over(
    text: str, before: Memory, reading: Reading, told: Told, index: BundleIndex, evaluator: Evaluator, today: date
) -> Memory:
    """The memory with what this turn asks and tells: the same name is replaced, everything else is kept."""
    names = [one.item.named or "" for one in reading.items if one.item.kind == "asks"]
    topic = topic_of(names, index, evaluator, today.toordinal()) if names else before.topic
    if not topic.is_named:
        topic = Topic(domains=domains_near(text, index))
    facts = {**before.facts, **{read.fact: read.value for read in told.reads}}
    doubted = {one.item.name for one in reading.items if one.item.kind == "fact"} - {one.fact for one in told.reads}
    facts = {name: value for name, value in facts.items() if name not in doubted}  # told anew, and not for sure
    bounded = {**before.bounds, **told.bounds}
    bounds = {name: bound for name, bound in bounded.items() if name not in {read.fact for read in told.reads}}
    declined = tuple(name for name in before.declined if name not in facts and name not in bounds)
    now = tuple(sorted({*(read.fact for read in told.reads), *told.bounds}))
    return replace(before, facts=facts, asking=None, declined=declined, topic=topic, offered=(), bounds=bounds, now=now)


def tell_facts(reading: Reading, index: BundleIndex) -> Told:
    """What the facts of *reading* that may be used tell."""
    words = terms_of(index)
    reads: dict[str, Read] = {}
    bounds: dict[str, Bound] = {}
    unused: list[str] = []
    for one in reading.held:
        if one.item.kind != "fact" or one.item.name is None:
            continue
        is_used = one.status != "refused" and not one.weaknesses & UNUSABLE
        found = _tests(one, words, index.ruleset.variables) if is_used else None
        if found is None:
            unused += [one.item.quote] if one.item.quote and one.status != "refused" else []
        elif len(found) == 1 and found[0].op == "==":
            reads[one.item.name] = Read(one.item.name, found[0].value, one.item.quote or "")  # type: ignore[arg-type]  # `==` has one value
        else:
            bounds[one.item.name] = Bound(found, one.item.quote or "")
    return Told(tuple(reads.values()), {name: one for name, one in bounds.items() if name not in reads}, tuple(unused))


def _tests(one: HeldItem, words: Terms, variables: Mapping[str, Variable]) -> tuple[Atom, ...] | None:
    """A held fact as tests of the logic; None where words may not say it, or it leaves no value and no bound."""
    item = one.item
    fact = words.vocabulary.facts.get(item.name or "")
    if fact is None or not is_sayable(fact):
        return None
    value = list(item.values) if len(item.values) > 1 else item.value
    if fact.type == "boolean" and item.operator == "!=":
        return (Atom(item.name or "", "==", value is False),)
    found = atoms_of(words, item.name or "", item.operator or "==", value, item.unit)
    if isinstance(found, str) or not all(_fits(test, variables[test.var]) for test in found):
        return None
    return found if all(test.op in (*_BOUNDING, "==") for test in found) else None


def _fits(test: Atom, variable: Variable) -> bool:
    """May the fact have that value: no half item, and no day before there were any?"""
    if test.op != "==" or variable.kind == "date" or isinstance(test.value, tuple):
        return True
    try:
        variable.read(test.value)
    except ValueMisfit:
        return False
    return True
