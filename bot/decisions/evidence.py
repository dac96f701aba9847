"""What an answer may rest on: the anchor's neighbours along the intent's edges, cut to what a prompt can hold.

Everything is collected first; only what is too large is cut, the least telling first. No clock, no randomness.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from bot.decisions.contract import (
    Anchor,
    Budget,
    Evidence,
    EvidenceEvent,
    EvidenceTransition,
    Plan,
    Step,
    Transitions,
)
from bot.decisions.search import terms
from bylaw.authored.decisions import EDGES, Decision, Decisions, Event, Transition, clipped
from bylaw.authored.machines.intents import Intent, Intents, Lengths

_Shown = EvidenceEvent | EvidenceTransition
_SECONDS_A_YEAR = 365 * 86_400.0


@dataclass(frozen=True, slots=True)
class Gathered:
    """The evidence, and what was left out of it."""

    evidence: Evidence
    neighbours_found: int
    dropped_ids: tuple[str, ...]
    size_bytes: int

    @property
    def is_truncated(self) -> bool:
        return bool(self.dropped_ids)


def plan(anchor: str, intent: Intent, rules: Intents) -> Plan:
    """The graph query that answers this intent."""
    steps = tuple(Step(rel=edge.rel, type=edge.type, dir=edge.dir) for edge in intent.edges)
    budget = Budget(max_prompt_bytes=rules.prompt.max_prompt_bytes)
    return Plan(from_=f"decision:{anchor}", k=intent.k, out=steps, prompt_budget=budget)


def gather(query: Plan, question: str, decisions: Decisions, rules: Intents) -> Gathered:
    """Run *query*. What does not fit goes by score, and at least `min_evidence_items` of it stay."""
    anchor = decisions.decisions[query.from_.removeprefix("decision:")]
    bounds = rules.lengths
    anchor = anchor.model_copy(update={"rationale": clipped(anchor.rationale, bounds.rationale)})
    found: list[list[_Shown]] = [
        _by_time(_event(decisions.events[id], anchor.id, bounds) for id in _events(anchor, query)),
        _by_time(_transition(one, bounds) for one in _walk(anchor.id, "in", query, decisions)),
        _by_time(_transition(one, bounds) for one in _walk(anchor.id, "out", query, decisions)),
    ]
    return _fitted(anchor, found, question, rules)


def size_of(evidence: Evidence) -> int:
    """Its length as JSON text, spelt the longest way (seed 002, M4), so that it fits however it is sent."""
    return len(json.dumps(evidence.document()))


def _events(anchor: Decision, query: Plan) -> list[str]:
    wanted = any(step.type == "event" and step.rel == "LED_TO" for step in query.out)
    return list(anchor.supported_by) if wanted else []


def _walk(start: str, direction: Literal["in", "out"], query: Plan, decisions: Decisions) -> list[Transition]:
    """The transitions at most k steps back from *start* (`in`), or on from it (`out`), each once."""
    edges = {step.rel for step in query.out if step.type == "transition" and step.dir in (direction, None)}
    reached: dict[str, Transition] = {}
    seen, frontier = {start}, [start]
    for _ in range(query.k if edges else 0):
        following: list[str] = []
        for id in frontier:
            for name in decisions.decisions[id].transitions:
                one = decisions.transitions[name]
                near, far = (one.to, one.from_) if direction == "in" else (one.from_, one.to)
                if near != id or EDGES[one.relation] not in edges:
                    continue
                reached[name] = _dated_by_its_far_end(one, far, decisions)
                if far is not None and far not in seen:
                    seen.add(far)
                    following.append(far)
        frontier = following
    return list(reached.values())


def _dated_by_its_far_end(one: Transition, far: str | None, decisions: Decisions) -> Transition:
    """A derived transition has no day of its own: it is told with that of the decision to which it leads from here."""
    if "derived_from" not in one.x_extra or far is None:
        return one
    return one.model_copy(update={"timestamp": decisions.decisions[far].timestamp})


def _by_time(items: Iterable[_Shown]) -> list[_Shown]:
    return sorted(items, key=lambda one: (one.timestamp or "", one.id))


def _fitted(anchor: Decision, found: Sequence[Sequence[_Shown]], question: str, rules: Intents) -> Gathered:
    """Events, preceding and succeeding transitions in, the same without the least telling ones out."""
    limit, least = rules.prompt.max_prompt_bytes, rules.prompt.min_evidence_items
    neighbours = {one.id: one for part in found for one in part}
    kept = set(neighbours)
    evidence = _evidence(anchor, found, kept)
    size = size_of(evidence)
    if size > limit:
        telling = frozenset(terms(f"{anchor.rationale} {question}"))
        counts = [len(part) for part in found]
        parts = [frozenset(one.id for one in part) for part in found]
        for id in sorted(kept, key=lambda id: (_score(neighbours[id], anchor, telling, rules), id)):
            if size <= limit or len(kept) <= least:
                break
            kept.discard(id)
            size -= _freed(neighbours[id], counts, parts)
        evidence = _evidence(anchor, found, kept)
        size = size_of(evidence)
    return Gathered(evidence, len(neighbours), tuple(sorted(neighbours.keys() - kept)), size)


def _freed(one: _Shown, counts: list[int], parts: Sequence[frozenset[str]]) -> int:
    """How much shorter the JSON becomes without *one*: its text and its id, with the commas between neighbours."""
    freed = len(json.dumps(one.id)) + 2
    length = len(json.dumps(one.document()))
    for number, part in enumerate(parts):
        if one.id in part:
            counts[number] -= 1
            freed += length + (2 if counts[number] else 0)
    return freed


def _evidence(anchor: Decision, found: Sequence[Sequence[_Shown]], kept: Set[str]) -> Evidence:
    events, preceding, succeeding = ([one for one in part if one.id in kept] for part in found)
    # INVARIANT: exactly the ids that are in the evidence after truncation, the anchor first.
    ids = dict.fromkeys([anchor.id, *(one.id for one in (*events, *preceding, *succeeding))])
    return Evidence(
        anchor=Anchor(
            id=anchor.id,
            option=anchor.option,
            rationale=anchor.rationale,
            timestamp=anchor.timestamp,
            decision_maker=anchor.decision_maker,
            tags=tuple(anchor.tags),
        ),
        events=tuple(one for one in events if isinstance(one, EvidenceEvent)),
        transitions=Transitions(
            preceding=tuple(one for one in preceding if isinstance(one, EvidenceTransition)),
            succeeding=tuple(one for one in succeeding if isinstance(one, EvidenceTransition)),
        ),
        allowed_ids=tuple(ids),
    )


def _event(event: Event, anchor: str, bounds: Lengths) -> EvidenceEvent:
    return EvidenceEvent(
        id=event.id,
        summary=clipped(event.summary or event.id, bounds.summary),
        timestamp=event.timestamp,
        led_to=(anchor,),
        snippet=clipped(event.snippet, bounds.summary) if event.snippet else None,
        tags=tuple(event.tags),
    )


def _transition(transition: Transition, bounds: Lengths) -> EvidenceTransition:
    return EvidenceTransition(
        id=transition.id,
        from_=transition.from_,
        to=transition.to,
        reason=clipped(transition.reason, bounds.reason),
        timestamp=transition.timestamp,
        tags=tuple(transition.tags),
    )


def _score(one: _Shown, anchor: Decision, telling: frozenset[str], rules: Intents) -> float:
    """Recency and similarity (seed 002, B2.1): near the decision in time, and about what it and the question say."""
    years = 0.0
    if one.timestamp and anchor.timestamp:
        years = abs((_moment(one.timestamp) - _moment(anchor.timestamp)).total_seconds()) / _SECONDS_A_YEAR
    said = one.summary + " " + (one.snippet or "") if isinstance(one, EvidenceEvent) else one.reason
    about = set(terms(said))
    similarity = len(about & telling) / len(about) if about else 0.0
    return float(rules.selector.recency) / (1 + years) + float(rules.selector.similarity) * similarity


def _moment(timestamp: str) -> datetime:
    return datetime.fromisoformat(timestamp.replace("Z", "+00:00"))
