"""What a policy conversation carries from one turn to the next, and whether a new turn goes on with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

from bot.enforcement.question.case.bounds import Bound
from bot.enforcement.question.case.days import Days
from bot.enforcement.question.case.facts import Reading
from bot.enforcement.question.earlier import EarlierCase, left
from bot.enforcement.question.topic.recognise import Topic
from bylaw.language.lexicon import closed
from bylaw.language.words import read_words
from bylaw.logic.formula.ir import Atom, Value, ValueMisfit, Variable

_GOES_ON = closed("going_on")
NO_TOPIC = Topic()
_POINTING = closed("pointing")
_BOUNDING = ("<", "<=", ">", ">=")


@dataclass(frozen=True)
class Memory:
    """The case so far: its facts, the fact that was asked for, those nobody knows, and what it is about.

    `offered` are the outcomes and actions that it may be about, where that was asked; how sure its domain is, is kept
    with them, to name the same owner again. `days` are those it named.
    """

    facts: Mapping[str, Value]
    asking: str | None = None
    declined: tuple[str, ...] = ()
    topic: Topic = NO_TOPIC
    number: int = 0  # which case of the conversation it is
    earlier: tuple[EarlierCase, ...] = ()  # the others, as they were left
    offered: tuple[str, ...] = ()
    days: Days | None = None
    bounds: Mapping[str, Bound] = field(default_factory=dict)  # what is told of facts that have no value

    @property
    def now(self) -> EarlierCase:
        """The case as it stands."""
        return EarlierCase(self.number, self.facts, self.topic)

    def at(self, case: EarlierCase, earlier: Memory) -> Memory:
        """This memory as that of *case*, which takes the place of the one that *earlier* was at."""
        return replace(self, number=case.number, earlier=left(earlier.earlier, earlier.now, case.number))

    def dump(self, variables: Mapping[str, Variable]) -> dict[str, Any]:
        """As JSON, values in the facts' declared units."""
        case = _dumped(self.now, variables)
        earlier = {"earlier": [_dumped(told, variables) for told in self.earlier]} if self.earlier else {}
        offered = {"offered": list(self.offered), "confidence": self.topic.confidence} if self.offered else {}
        days = {"days": [self.days.start.isoformat(), self.days.end.isoformat()]} if self.days else {}
        bounds = {"bounds": {name: _shown(one, variables[name]) for name, one in sorted(self.bounds.items())}}
        told = {**case, **earlier, **offered, **days, **(bounds if self.bounds else {})}
        return {**told, "asking": self.asking, "declined": list(self.declined)}


def _dumped(case: EarlierCase, variables: Mapping[str, Variable]) -> dict[str, Any]:
    return {
        "facts": {name: variables[name].show(value) for name, value in sorted(case.facts.items())},
        "outcomes": list(case.topic.outcomes),
        "actions": list(case.topic.actions),
        "domains": list(case.topic.domains),
        **({"number": case.number} if case.number else {}),
    }


def _shown(bound: Bound, variable: Variable) -> dict[str, Any]:
    tests = [[test.op, variable.show(test.value)] for test in bound.tests if not isinstance(test.value, tuple)]
    return {"words": bound.words, "tests": tests}


def load(state: Mapping[str, Any], variables: Mapping[str, Variable]) -> Memory:
    """The memory in *state*. What the bundle no longer knows, or what no longer fits, is forgotten."""
    now, asking, earlier = _loaded(state, variables), state.get("asking"), state.get("earlier")
    sure = state.get("confidence")
    return Memory(
        now.facts,
        asking if isinstance(asking, str) and asking in variables else None,
        tuple(name for name in _words(state.get("declined")) if name in variables),
        replace(now.topic, confidence=sure) if isinstance(sure, float) else now.topic,
        now.number,
        tuple(_loaded(told, variables) for told in earlier if isinstance(told, dict))
        if isinstance(earlier, list)
        else (),
        _words(state.get("offered")),
        _days(state.get("days")),
        dict(_bounds(state.get("bounds"), variables)),
    )


def _bounds(told: Any, variables: Mapping[str, Variable]) -> Iterator[tuple[str, Bound]]:
    for name, one in sorted(told.items()) if isinstance(told, dict) else ():
        try:
            tests = tuple(
                Atom(name, op, variables[name].recall(shown)) for op, shown in one["tests"] if op in _BOUNDING
            )
            yield name, Bound(tests, str(one["words"]))
        except (KeyError, TypeError, ValueError, ValueMisfit):
            continue


def _loaded(state: Mapping[str, Any], variables: Mapping[str, Variable]) -> EarlierCase:
    facts: dict[str, Value] = {}
    told, number = state.get("facts"), state.get("number")
    for name, shown in sorted(told.items()) if isinstance(told, dict) else ():
        try:
            facts[name] = variables[name].recall(shown)
        except (KeyError, ValueMisfit):
            continue
    topic = Topic(_words(state.get("outcomes")), _words(state.get("actions")), _words(state.get("domains")))
    return EarlierCase(number if isinstance(number, int) else 0, facts, topic)


def _words(value: Any) -> tuple[str, ...]:
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def _days(value: Any) -> Days | None:
    match _words(value):
        case [start, end]:
            try:
                return Days(date.fromisoformat(start), date.fromisoformat(end))
            except ValueError:
                return None
    return None


def goes_on(text: str) -> bool:
    """Does *text* open like more of what was said: "and if", "sorry, it was"?"""
    words = [word.text for word in read_words(text[:400])[:2]]
    return bool(words) and not _GOES_ON.isdisjoint((words[0], " ".join(words)))


def continued(memory: Memory, text: str, topic: Topic, reading: Reading) -> Memory:
    """The memory that *text* goes on with: all of it, or, for a case of its own, a fresh one."""
    if not memory.facts and not memory.topic.outcomes and not memory.topic.domains:
        return replace(memory, topic=topic)
    if not topic.is_named:
        return memory
    words = [word.text for word in read_words(text[:400])]
    contradicts = any(memory.facts.get(name, value) != value for name, value in reading.facts.items())
    points_back = not contradicts and any(word in _POINTING for word in words)
    if not reading.facts or goes_on(text) or points_back:
        return replace(memory, topic=topic, asking=None)
    return Memory({}, declined=(), topic=topic)
