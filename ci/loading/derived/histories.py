"""Cases that tell what happened instead of the facts it comes to: `history:` of cases.yaml, computed as the gate does.

A key that an event leaves out is the case's own, and the case's own is the one that its events agree on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from math import floor
from typing import Any

from bylaw.authored.history import seconds_of
from bylaw.authored.policies import Case, PastEvent
from bylaw.authored.tools import KeyType
from bylaw.authored.vocabulary import Vocabulary
from bylaw.canonical import number_text
from bylaw.gate.events import Event, Ledger
from bylaw.gate.history import HistoryFact, PendingCall, history_facts, value_of
from bylaw.gate.keys import KeyMisfit, Keys
from bylaw.logic.formula.ir import Value, ValueMisfit, Variable
from ci.loading.derived.variables import variables
from ci.loading.file_kinds import CaseEntry

HERE = "case"  # the actor, the session and the keys of a case that names none
NOW = 2**52


def filled(entries: Iterable[CaseEntry], vocabulary: Vocabulary, types: Mapping[str, KeyType]) -> list[CaseEntry]:
    """The cases, with the history facts that their `history` comes to; what they say themselves stays."""
    entries = list(entries)
    if not any(entry.case.history is not None for entry in entries):
        return entries
    known = variables(vocabulary)
    read = _Read(vocabulary, known, history_facts(vocabulary, known), Keys(types))
    return [entry if entry.case.history is None else replace(entry, case=read.case(entry.case)) for entry in entries]


@dataclass(frozen=True)
class _Read:
    """What the history of a case comes to, by these words."""

    vocabulary: Vocabulary
    variables: Mapping[str, Variable]
    facts: Mapping[str, HistoryFact]
    keys: Keys

    def case(self, case: Case) -> Case:
        """The case with all its facts."""
        named = sorted({key for fact in self.facts.values() for key in fact.same})
        keys = {key: value for key in named if (value := self._key(key, case)) is not None}
        ledger = Ledger()
        for n, past in enumerate(case.history or ()):
            event = self._event(n, past, keys)
            ledger.reserve(event)
            ledger.end(event.decision_id, past.ok)
        asked = PendingCall(NOW, HERE, case.actor or HERE, keys)
        found = {
            name: value_of(fact, asked, ledger.line) for name, fact in self.facts.items() if name not in case.facts
        }
        shown = {name: _shown(value) for name, value in found.items() if value is not None}
        return case.model_copy(update={"facts": {**case.facts, **shown}})

    def _key(self, key: str, case: Case) -> str | None:
        if key in case.keys:
            return self._text(key, case.keys[key])
        said = {self._text(key, past.said[key]) for past in case.history or () if key in past.said}
        return HERE if not said else said.pop() if len(said) == 1 else None

    def _event(self, n: int, past: PastEvent, keys: Mapping[str, str]) -> Event:
        said: dict[str, Any] = past.said
        facts: dict[str, Value] = {}
        for name, raw in said.items():
            if name in self.variables:
                with suppress(ValueMisfit):  # an event without it
                    facts[name] = self.variables[name].read(raw)
        told = {name: self._text(name, raw) for name, raw in said.items() if name not in self.variables}
        own = {name: text for name, text in told.items() if text is not None}
        at = NOW - floor(seconds_of(past.ago) * 1_000_000)
        actor = str(said.get("actor", HERE))
        action = self.vocabulary.canonical(past.action)
        return Event(f"{n:06}", HERE, actor, action, {**keys, **own}, facts, at)

    def _text(self, key: str, raw: Any) -> str | None:
        try:
            return self.keys.read(key, raw)
        except KeyMisfit:  # a check names it: ci.lint.tools
            return None


def _shown(value: Value) -> bool | int | str | Decimal:
    return Decimal(number_text(value)) if isinstance(value, Fraction) else value
