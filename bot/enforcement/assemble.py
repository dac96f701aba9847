"""A held reading of a policy question as the case that it tells: what is asked, what is known, and what is not used.

Only what the text bears counts. A fact that is weak by its name, its value or the words beside it is used and told; one
that is doubted, past, of somebody else, or altered is never used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from bot.claims.conditions import atoms_of
from bot.claims.terms import Terms, terms_of
from bot.enforcement.case import Case
from bot.enforcement.question.case.bounds import Bound
from bot.enforcement.question.case.facts import Read, Reading, Unclear, is_sayable
from bot.enforcement.question.lookups import lookups
from bot.enforcement.question.memory import Memory, load
from bot.enforcement.question.topic.recognise import Topic, naming
from bot.enforcement.weighed import weigh_within
from bot.enforcement.writing.write import Words
from bot.index import BundleIndex
from bylaw.hold.item import HeldItem, Stretch
from bylaw.hold.item import Reading as HeldReading
from bylaw.logic.decide.evaluate import Evaluator
from bylaw.logic.formula.ir import Atom

_UNUSABLE = frozenset(("standing", "altered"))
_BOUNDING = ("<", "<=", ">", ">=")


@dataclass(frozen=True, slots=True)
class Told:
    """What the held facts tell: values, bounds of facts without one, and the quotes that are not used."""

    reads: tuple[Read, ...]
    bounds: Mapping[str, Bound]
    unused: tuple[str, ...]


def asked_names(reading: HeldReading) -> tuple[HeldItem, ...]:
    """The held items that say what is asked."""
    return tuple(one for one in reading.items if one.item.kind == "asks")


def assemble_case(
    text: str, today: date, state: Mapping[str, Any], index: BundleIndex, evaluator: Evaluator, reading: HeldReading
) -> Case:
    """The case that *reading* tells, laid over the one that *state* carries."""
    before = load(state, evaluator.ruleset.variables)
    told = _facts(reading, index)
    memory = _laid_over(before, reading, told, index, evaluator, today)
    spoken = Reading(told.reads, tuple(_unclear(name, bound) for name, bound in sorted(told.bounds.items())))
    bounds, (about, decision, scope) = weigh_within(text, memory, spoken, index, evaluator, today.toordinal())
    memory = replace(memory, topic=about)
    left = tuple(f"not used: {words}" for words in dict.fromkeys((*told.unused, *_beside(reading.not_used, text))))
    case = Case(
        text, today, index, evaluator, Words(index.vocabulary), memory, told.reads, spoken.unclear, decision, scope,
        before.asking, unused=left, told=frozenset(memory.facts), bounds=bounds, on=today,
    )  # fmt: skip
    return replace(case, picked=_subject(about))


def _subject(about: Topic) -> str | None:
    return next(iter((*about.outcomes, *about.actions)), None)


def _beside(stretches: tuple[Stretch, ...], text: str) -> Iterator[str]:
    """Words left over beside what is asked, those that follow each other as one."""
    at = 0
    while at < len(stretches):
        last = at
        while last + 1 < len(stretches) and not text[stretches[last].end : stretches[last + 1].start].strip():
            last += 1
        yield text[stretches[at].start : stretches[last].end]
        at = last + 1


def _laid_over(
    before: Memory, reading: HeldReading, told: Told, index: BundleIndex, evaluator: Evaluator, today: date
) -> Memory:
    """The memory with what this turn asks and tells: the same name is replaced, everything else is kept."""
    topic = _topic(reading, index, evaluator, today)
    facts = {**before.facts, **{read.fact: read.value for read in told.reads}}
    facts = {name: value for name, value in facts.items() if name not in told.bounds}
    now = {**before.bounds, **told.bounds}
    bounds = {name: bound for name, bound in now.items() if name not in {read.fact for read in told.reads}}
    kept = topic if topic.is_named else before.topic
    return replace(before, facts=facts, bounds=bounds, topic=kept, asking=None, offered=())


def _topic(reading: HeldReading, index: BundleIndex, evaluator: Evaluator, today: date) -> Topic:
    """What the held `asks` name, with the domains whose rules answer it."""
    vocabulary, known = index.vocabulary, lookups(index)
    names = [one.item.named or "" for one in asked_names(reading)]
    actions = tuple(vocabulary.canonical(name) for name in names if name in vocabulary.actions)
    about = naming(Topic(), actions, index)
    outcomes = dict.fromkeys((*(name for name in names if name in vocabulary.outcomes), *about.outcomes))
    rules = (
        *known.answering(tuple(outcomes), evaluator, today.toordinal()),
        *known.speaking(actions, evaluator, today.toordinal()),
    )
    domains = tuple(dict.fromkeys(rule.domain for rule in rules))
    sure = 1.0 if outcomes or about.actions else 0.0
    return replace(about, outcomes=tuple(outcomes), domains=domains, confidence=sure)


def _facts(reading: HeldReading, index: BundleIndex) -> Told:
    words = terms_of(index)
    reads: dict[str, Read] = {}
    bounds: dict[str, Bound] = {}
    unused: list[str] = []
    for one in reading.held:
        if one.item.kind != "fact" or one.item.name is None:
            continue
        found = None if one.status == "refused" or one.weaknesses & _UNUSABLE else _tests(one, words)
        if found is None:
            unused += [one.item.quote] if one.item.quote and one.status != "refused" else []
        elif len(found) == 1 and found[0].op == "==":
            start, end = one.place or (0, 0)
            reads[one.item.name] = Read(one.item.name, found[0].value, one.item.quote or "", start, end)  # type: ignore[arg-type]  # `==` has one value
        else:
            bounds[one.item.name] = Bound(found, one.item.quote or "")
    return Told(tuple(reads.values()), {name: one for name, one in bounds.items() if name not in reads}, tuple(unused))


def _tests(one: HeldItem, words: Terms) -> tuple[Atom, ...] | None:
    """A held fact as tests of the logic; None where words may not say it, or it leaves no value and no bound."""
    item = one.item
    fact = words.vocabulary.facts.get(item.name or "")
    if fact is None or not is_sayable(fact):
        return None
    value = list(item.values) if len(item.values) > 1 else item.value
    if fact.type == "boolean" and item.operator == "!=":
        return (Atom(item.name or "", "==", value is False),)
    found = atoms_of(words, item.name or "", item.operator or "==", value, item.unit)
    if isinstance(found, str):
        return None
    return found if all(test.op in (*_BOUNDING, "==") for test in found) else None


def _unclear(name: str, bound: Bound) -> Unclear:
    tests = tuple((test.op, test.value) for test in bound.tests)
    return Unclear(name, bound.words, "it gives no single value", tests)  # type: ignore[arg-type]  # bounds have one value
