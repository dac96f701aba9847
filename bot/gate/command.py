"""`bylaw decide --action A` and `--tool T`: one call decided from the terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from bot.evidence.store.engine import is_there
from bot.gate.decision_point import open_decision_point
from bot.settings import Settings
from bylaw.bundle import read
from bylaw.canonical import fingerprint
from bylaw.gate.answer import GateAnswer
from bylaw.gate.bindings import Call
from bylaw.gate.decision_point import DecisionPoint, MemoryDecisionPoint, call_of
from bylaw.gate.engine import Gate
from bylaw.gate.lookups import WarehouseLookups
from bylaw.gate.port import LookUps, NoLookups


@dataclass(frozen=True)
class Words:
    """What the options say."""

    action: str | None
    tool: str | None
    facts: Mapping[str, Any]
    arguments: Mapping[str, Any] | None = None
    keys: Mapping[str, Any] = field(default_factory=dict)
    session: str | None = None
    session_facts: Mapping[str, Any] = field(default_factory=dict)
    actor: str | None = None
    at: str | None = None
    mode: str | None = None


def decided(words: Words, bundle: Path, given: Settings, now: Callable[[], datetime]) -> GateAnswer:
    """The answer to the call. It is kept where a store is, or where it belongs to a session."""
    gate = gate_of(bundle, given)
    call = _call(words, gate)
    if words.session is None and not is_there(given.store_url, given.root):
        return _alone(gate, call, now)
    point = open_decision_point(given.store_url, lambda: gate, now, given.root, given)
    try:
        return point.decide(call)
    finally:
        point.store.close()


def gate_of(bundle: Path, given: Settings) -> Gate:
    """The gate of the bundle in a file, with the warehouse of the settings."""
    loaded = read(bundle, given.bundle_keys)
    lookups: LookUps = NoLookups()
    if given.warehouse is not None and loaded.context.lookups:
        from bylaw.warehouses.registry import open_warehouse

        lookups = WarehouseLookups(loaded.context, loaded.rules.roles, open_warehouse(given.warehouse))
    return Gate(loaded, lookups)


def _alone(gate: Gate, call: Call, now: Callable[[], datetime]) -> GateAnswer:
    """Without a store nothing was done before, and nothing is reserved: the same call has the same id."""
    point: DecisionPoint = MemoryDecisionPoint(lambda: gate, now, lambda: fingerprint([gate.etag, repr(call)])[:32])
    return point.decide(call)


def _call(words: Words, gate: Gate) -> Call:
    facts, arguments = dict(words.facts), dict(words.arguments or {})
    tool = None if words.tool is None else gate.reader.tools.get(words.tool)
    if tool is not None and words.arguments is None:  # one object for both: what the binding reads is an argument
        read_ = {name.partition(".")[0] for name in tool.arguments} | tool.arguments
        arguments = {name: value for name, value in facts.items() if name in read_}
        facts = {name: value for name, value in facts.items() if name not in read_}
    return call_of(
        words.action,
        words.tool,
        arguments,
        facts,
        words.keys,
        {"id": words.session, "facts": dict(words.session_facts)},
        words.actor,
        words.at,
        words.mode,
    )


def as_text(answer: GateAnswer) -> str:
    """The answer for people."""
    return "\n".join(_lines(answer))


def _lines(answer: GateAnswer) -> Iterator[str]:
    yield answer.decision if answer.mode == "enforce" else f"{answer.decision} (shadow: would be {answer.ruling})"
    for reason in answer.reasons:
        yield f"  {reason.told}"
    if answer.missing:
        yield f"  it depends on: {', '.join(answer.missing)}"
    if answer.first:
        yield f"  to do first: {', '.join(answer.first)}"
    if answer.duties:
        yield f"  to do besides: {', '.join(answer.duties)}"
    if answer.not_taken:
        yield f"  not taken from the caller: {', '.join(answer.not_taken)}"
    if answer.counterfactual:
        yield f"  {answer.counterfactual['text']}"
