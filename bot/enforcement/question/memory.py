"""What a policy conversation carries from one turn to the next: the case so far, and what it is about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from bot.enforcement.question.bounds import Bound
from bot.enforcement.question.topic import NO_TOPIC, Topic
from bylaw.logic.formula.ir import Atom, Value, ValueMisfit, Variable

_BOUNDING = ("<", "<=", ">", ">=")


@dataclass(frozen=True)
class Memory:
    """The case so far: its facts, the fact that was asked for, those nobody knows, and what it is about.

    `offered` are the outcomes and actions that it may be about, where that was asked; `bounds` what is told of facts
    that have no value. `now` are the facts that the last turn told, `subject` the person whom the case is of where it
    is not the one who asks.
    """

    facts: Mapping[str, Value]
    asking: str | None = None
    declined: tuple[str, ...] = ()
    topic: Topic = NO_TOPIC
    offered: tuple[str, ...] = ()
    bounds: Mapping[str, Bound] = field(default_factory=dict)
    now: tuple[str, ...] = ()
    subject: str = ""

    def dump(self, variables: Mapping[str, Variable]) -> dict[str, Any]:
        """As JSON, values in the facts' declared units."""
        told = {
            "facts": {name: variables[name].show(value) for name, value in sorted(self.facts.items())},
            "outcomes": list(self.topic.outcomes),
            "actions": list(self.topic.actions),
            "domains": list(self.topic.domains),
            "asking": self.asking,
            "declined": list(self.declined),
        }
        asked = {"about": list(self.topic.facts)} if self.topic.facts else {}
        offered = {"offered": list(self.offered)} if self.offered else {}
        bounds = {name: _shown(one, variables[name]) for name, one in sorted(self.bounds.items())}
        more = {"bounds": bounds, "now": list(self.now), "subject": self.subject}
        return {**told, **asked, **offered, **{key: value for key, value in more.items() if value}}


def _shown(bound: Bound, variable: Variable) -> dict[str, Any]:
    tests = [[test.op, variable.show(test.value)] for test in bound.tests if not isinstance(test.value, tuple)]
    return {"words": bound.words, "tests": tests}


def load(state: Mapping[str, Any], variables: Mapping[str, Variable]) -> Memory:
    """The memory in *state*. What the bundle no longer knows, or what no longer fits, is forgotten."""
    asking = state.get("asking")
    return Memory(
        dict(_facts(state.get("facts"), variables)),
        asking if isinstance(asking, str) and asking in variables else None,
        tuple(name for name in _words(state.get("declined")) if name in variables),
        Topic(*(_words(state.get(key)) for key in ("outcomes", "actions", "about", "domains"))),
        _words(state.get("offered")),
        dict(_bounds(state.get("bounds"), variables)),
        _words(state.get("now")),
        str(state.get("subject", "")),
    )


def _facts(told: Any, variables: Mapping[str, Variable]) -> Iterator[tuple[str, Value]]:
    for name, shown in sorted(told.items()) if isinstance(told, dict) else ():
        try:
            yield name, variables[name].recall(shown)
        except (KeyError, TypeError, ValueError, ValueMisfit):
            continue


def _bounds(told: Any, variables: Mapping[str, Variable]) -> Iterator[tuple[str, Bound]]:
    for name, one in sorted(told.items()) if isinstance(told, dict) else ():
        try:
            tests = tuple(
                Atom(name, op, variables[name].recall(shown)) for op, shown in one["tests"] if op in _BOUNDING
            )
            yield name, Bound(tests, str(one["words"]))
        except (KeyError, TypeError, ValueError, ValueMisfit):
            continue


def _words(given: Any) -> tuple[str, ...]:
    return tuple(one for one in given if isinstance(one, str)) if isinstance(given, list | tuple) else ()
