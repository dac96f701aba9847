"""What a call means: its action, facts and keys, each from where `rules/tools.yaml` says, and nothing else believed.

Session facts come from the host and outweigh all but what is bound elsewhere; an agent's own `facts` count only where
the vocabulary opens them (`assertable: true`). A value that its fact cannot have makes the call one that does not
exist: it is denied, not taken for unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from typing import Any, Literal

from bylaw.authored.tools import ArgumentFact, LookupFact, SessionFact, Tool
from bylaw.authored.vocabulary import Vocabulary
from bylaw.gate.keys import KeyMisfit, Keys
from bylaw.language.units import convert
from bylaw.logic.formula.ir import Value, ValueMisfit, Variable, exact

LookUp = Callable[[LookupFact, Mapping[str, Any]], Any]  # the value of the column, None for unknown


@dataclass(frozen=True, slots=True)
class Call:
    """What somebody asks. `facts` are the agent's own; the host says `session_facts`, actor, session and `at`."""

    action: str | None = None
    tool: str | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    keys: Mapping[str, Any] = field(default_factory=dict)
    actor: str | None = None
    session: str | None = None
    session_facts: Mapping[str, Any] = field(default_factory=dict)
    at: datetime | None = None
    mode: Literal["enforce", "shadow"] | None = None


@dataclass(frozen=True, slots=True)
class Meaning:
    """A call as the logic sees it. `refused` says why it is denied whatever the rules say. `not_taken` are facts that
    the caller gave and that do not count.
    """

    action: str | None
    facts: Mapping[str, Value] = field(default_factory=dict)
    keys: Mapping[str, str] = field(default_factory=dict)
    not_taken: tuple[str, ...] = ()
    refused: str | None = None


@dataclass
class Reader:
    """Reads calls of one bundle's tools."""

    vocabulary: Vocabulary
    variables: Mapping[str, Variable]
    tools: Mapping[str, Tool]
    keys: Keys
    counted: frozenset[str]  # the keys on which something hangs: a history, or a type that they were given

    def read(self, call: Call, look_up: LookUp) -> Meaning:
        """What *call* means; *look_up* finds what is bound to the warehouse."""
        if call.tool is not None:
            tool = self.tools.get(call.tool)
            if tool is None:
                return Meaning(None, refused=f"the tool `{clip(call.tool)}` is not bound in rules/tools.yaml")
            return _Reading(self, call, look_up).of_tool(tool)
        assert call.action is not None
        if call.action not in self.vocabulary.actions:
            return Meaning(None, refused=f"the action `{clip(call.action)}` is not declared")
        return _Reading(self, call, look_up).of_action(self.vocabulary.canonical(call.action))


class _Reading:
    """One call being read."""

    def __init__(self, reader: Reader, call: Call, look_up: LookUp) -> None:
        self._reader, self._call, self._look_up = reader, call, look_up
        self._facts: dict[str, Value] = {}
        self._misfits: list[str] = []

    def of_action(self, action: str) -> Meaning:
        """A call by action: it brings its keys, and its facts count as an agent's do."""
        return self._done(action, self._keys({name: name for name in self._call.keys}, self._call.keys), frozenset())

    def of_tool(self, tool: Tool) -> Meaning:
        """A call of a bound tool."""
        arguments = self._call.arguments
        if isinstance(tool.action, str):
            written = tool.action
        else:
            raw = argument(arguments, tool.action.name)
            chosen = tool.action.values.get(_spelled(raw)) if raw is not None else None
            if chosen is None:
                what = "is missing" if raw is None else f"is `{clip(_spelled(raw))}`, which means no action"
                return Meaning(None, refused=f"the argument `{tool.action.name}` {what}")
            written = chosen
        if written not in self._reader.vocabulary.actions:
            return Meaning(None, refused=f"the action `{written}` is not declared")
        for name, bound in tool.facts.items():
            raw = None
            match bound:
                case ArgumentFact():
                    raw = argument(arguments, bound.name)
                case LookupFact():
                    raw = self._look_up(bound, arguments)
                case SessionFact():
                    raw = self._call.session_facts.get(name)
            self._take(name, raw, bound.unit)
        action = self._reader.vocabulary.canonical(written)
        return self._done(action, self._keys(tool.keys, arguments), frozenset(tool.facts))

    def _done(self, action: str, keys: Mapping[str, str], bound: frozenset[str]) -> Meaning:
        vocabulary = self._reader.vocabulary
        for name, raw in self._call.session_facts.items():
            declared = vocabulary.facts.get(name)
            if name not in bound and declared is not None and declared.history is None:
                self._take(name, raw, None)
        not_taken = []
        for name, raw in self._call.facts.items():
            declared = vocabulary.facts.get(name)
            if declared is None or not declared.assertable or name in bound or name in self._call.session_facts:
                not_taken.append(name)
            else:
                self._take(name, raw, None)
        refused = "; ".join(self._misfits) or None
        return Meaning(action, self._facts, keys, tuple(sorted(map(clip, not_taken)))[:20], refused)

    def _take(self, name: str, raw: Any, unit: str | None) -> None:
        variable = self._reader.variables.get(name)
        if variable is None or raw is None:
            return
        try:
            if unit is not None and not isinstance(raw, bool) and not variable.is_finite:
                raw = _converted(raw, unit, variable)
            self._facts[name] = variable.read(raw)
        except ValueMisfit as misfit:
            self._misfits.append(str(misfit))

    def _keys(self, named: Mapping[str, str], given: Mapping[str, Any]) -> dict[str, str]:
        found: dict[str, str] = {}
        for key, name in sorted(named.items()):
            try:
                text = self._reader.keys.read(key, argument(given, name))
            except KeyMisfit as misfit:
                if key in self._reader.counted:
                    self._misfits.append(f"the key {misfit}")
                continue
            if text is not None:
                found[key] = text
        return found


def argument(arguments: Mapping[str, Any], name: str) -> Any:
    """The argument of that name, or for `a.b` the `b` within `a`. Where both are there and differ, neither counts."""
    found: Any = arguments
    for part in name.split("."):
        if not isinstance(found, Mapping) or part not in found:
            return arguments.get(name)
        found = found[part]
    plain = arguments.get(name, found)
    return found if plain is found or (plain == found and type(plain) is type(found)) else None


def _converted(raw: Any, unit: str, variable: Variable) -> Any:
    """*raw*, told in *unit*, in the unit of its fact. Raises ValueMisfit where the two do not convert."""
    if variable.unit is None or unit == variable.unit:
        return raw
    value = Variable(variable.name, "decimal").read(raw)
    assert isinstance(value, int | Fraction)
    converted = convert(Fraction(value), unit, variable.unit)
    if converted is None:
        raise ValueMisfit("type", f"`{variable.name}` is in {variable.unit}, and {unit} do not convert")
    return exact(converted)


def _spelled(raw: Any) -> str:
    """An argument as `values` spell it."""
    if isinstance(raw, bool):
        return "true" if raw else "false"
    try:
        return raw if isinstance(raw, str) else str(raw)
    except ValueError:  # a whole number of thousands of digits, which Python spells for nobody
        return "a number of too many digits"


def clip(text: str) -> str:
    """*text* short enough for a message, without what a terminal or a log would obey."""
    shown = "".join(char if char.isprintable() else "?" for char in text)
    return shown if len(shown) <= 80 else f"{shown[:79]}…"
