"""Cases that tell what happened instead of the facts it comes to: `history:` of cases.yaml, computed as the gate does.

A key that an event leaves out is the case's own, and the case's own is the one that its events agree on.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from math import floor
from typing import Any

from bylaw.authored.history import seconds_of
from bylaw.authored.policies import Case, PastEvent
from bylaw.authored.vocabulary import Vocabulary
from bylaw.canonical import number_text
from bylaw.gate.bindings import key_text
from bylaw.gate.events import Event, Ledger
from bylaw.gate.history import HistoryFact, PendingCall, history_facts, value_of
from bylaw.logic.formula.ir import Value, ValueMisfit, Variable
from ci.loading.derived.variables import variables
from ci.loading.file_kinds import CaseEntry

HERE = "case"  # the actor, the session and the keys of a case that names none
NOW = 2**52


def filled(entries: Iterable[CaseEntry], vocabulary: Vocabulary) -> list[CaseEntry]:
    """The cases, with the history facts that their `history` comes to; what they say themselves stays."""
    entries = list(entries)
    if not any(entry.case.history is not None for entry in entries):
        return entries
    known = variables(vocabulary)
    facts = history_facts(vocabulary, known)
    return [
        entry if entry.case.history is None else replace(entry, case=_filled(entry.case, vocabulary, known, facts))
        for entry in entries
    ]


def _filled(case: Case, vocabulary: Vocabulary, known: dict[str, Variable], facts: dict[str, HistoryFact]) -> Case:
    assert case.history is not None
    named = sorted({key for fact in facts.values() for key in fact.same})
    keys = {key: value for key in named if (value := _key(key, case)) is not None}
    ledger = Ledger()
    for n, past in enumerate(case.history):
        event = _event(n, past, vocabulary, known, keys)
        ledger.reserve(event)
        ledger.end(event.decision_id, past.ok)
    asked = PendingCall(NOW, HERE, case.actor or HERE, keys)
    found = {name: value_of(fact, asked, ledger.line) for name, fact in facts.items() if name not in case.facts}
    shown = {name: _shown(value) for name, value in found.items() if value is not None}
    return case.model_copy(update={"facts": {**case.facts, **shown}})


def _key(key: str, case: Case) -> str | None:
    if key in case.keys:
        return key_text(case.keys[key])
    said = {key_text(past.said[key]) for past in case.history or () if key in past.said}
    return HERE if not said else said.pop() if len(said) == 1 else None


def _event(n: int, past: PastEvent, vocabulary: Vocabulary, known: dict[str, Variable], keys: dict[str, str]) -> Event:
    said: dict[str, Any] = past.said
    facts: dict[str, Value] = {}
    for name, raw in said.items():
        if name in known:
            try:
                facts[name] = known[name].read(raw)
            except ValueMisfit:
                continue  # an event without it
    own = {name: text for name, raw in said.items() if name not in known and (text := key_text(raw)) is not None}
    at = NOW - floor(seconds_of(past.ago) * 1_000_000)
    actor = str(said.get("actor", HERE))
    return Event(f"{n:06}", HERE, actor, vocabulary.canonical(past.action), {**keys, **own}, facts, at)


def _shown(value: Value) -> bool | int | str | Decimal:
    return Decimal(number_text(value)) if isinstance(value, Fraction) else value
