"""What an answer may rest on: the anchor's neighbours along the intent's edges, cut to what a prompt can hold.

Everything is collected first; only what is too large is cut, the least telling first. No clock, no randomness.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

from bot.decisions.contract import (
    Anchor,
    Budget,
    Considered,
    Document,
    Evidence,
    EvidenceEvent,
    EvidenceTransition,
    Plan,
    Related,
    Relation,
    Step,
    Transitions,
)
from bylaw.authored.decisions import EDGES, ConsideredOption, Decision, Decisions, Event, Transition, clipped
from bylaw.authored.machines.intents import Intent, Intents
from bylaw.authored.state import ACCEPTED, called, local_day, written_status
from bylaw.language.lexicon import content
from bylaw.language.text import words_of

_Shown = EvidenceEvent | EvidenceTransition
_SECONDS_A_DAY = 86_400.0
_DAYS_A_YEAR = 365.0


@dataclass(frozen=True, slots=True)
class Gathered:
    """The evidence, and what was left out of it."""

    evidence: Evidence
    neighbours_found: int
    dropped_ids: tuple[str, ...]
    size_bytes: int
    reachable: int = 0  # transitions that lead to or from the anchor, however far
    features: tuple[Document, ...] = ()  # of each dropped item: what the selector knew of it
    clipped_fields: tuple[str, ...] = ()  # of the anchor: texts that were cut

    @property
    def is_truncated(self) -> bool:
        return bool(self.dropped_ids)


def plan(anchor: str, intent: Intent, rules: Intents) -> Plan:
    """The graph query that answers this intent."""
    steps = tuple(Step(rel=edge.rel, type=edge.type, dir=edge.dir) for edge in intent.edges)
    budget = Budget(max_prompt_bytes=rules.prompt.max_prompt_bytes)
    return Plan(from_=f"decision:{anchor}", k=intent.k, out=steps, prompt_budget=budget)


def gather(query: Plan, question: str, decisions: Decisions, intent: Intent, rules: Intents) -> Gathered:
    """Run *query*. What does not fit goes by score, events before transitions, and the anchor is cut last; at least
    `min_evidence_items` stay.
    """
    anchor = decisions.decisions[query.from_.removeprefix("decision:")]
    walked: list[list[Transition]] = [_walk(anchor.id, way, query.k, query, decisions) for way in ("in", "out")]
    farthest = len(decisions.decisions) if query.k > 1 else query.k
    reachable = sum(len(_walk(anchor.id, way, farthest, query, decisions)) for way in ("in", "out"))
    bounds = rules.lengths
    found: list[list[_Shown]] = [
        _by_time(event_shown(decisions.events[id], rules, (anchor.id,)) for id in _events(anchor, query)),
        *(_by_time(_transition(one, bounds.reason) for one in part) for part in walked),
    ]
    related = (*_replacing(anchor, decisions), *_passed(anchor, walked, query, decisions))
    shown = anchor_shown(anchor, intent, rules)
    return replace(_fitted(shown, found, related, question, rules), reachable=reachable)


def size_of(evidence: Evidence) -> int:
    """Its length as JSON text, spelt the longest way (seed 002, M4), so that it fits however it is sent."""
    return len(json.dumps(evidence.document()))


def _events(anchor: Decision, query: Plan) -> list[str]:
    wanted = any(step.type == "event" and step.rel == "LED_TO" for step in query.out)
    return list(anchor.supported_by) if wanted else []


def _walk(start: str, direction: Literal["in", "out"], k: int, query: Plan, decisions: Decisions) -> list[Transition]:
    """The transitions at most *k* steps back from *start* (`in`), or on from it (`out`), each once."""
    edges = {step.rel for step in query.out if step.type == "transition" and step.dir in (direction, None)}
    reached: dict[str, Transition] = {}
    seen, frontier = {start}, [start]
    for _ in range(k if edges else 0):
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
        if not frontier:
            break
    return list(reached.values())


def _dated_by_its_far_end(one: Transition, far: str | None, decisions: Decisions) -> Transition:
    """A derived transition has no day of its own: it is told with that of the decision to which it leads from here."""
    if "derived_from" not in one.x_extra or far is None:
        return one
    return one.model_copy(update={"timestamp": decisions.decisions[far].timestamp})


def _replacing(anchor: Decision, decisions: Decisions) -> Iterator[Related]:
    """What replaced or amended the anchor, and what it replaced or amended."""
    named: tuple[Relation, ...] = ("superseded_by", "supersedes", "amended_by", "amends")
    for relation in named:
        yield from _related(getattr(anchor, relation), relation, decisions)


def _passed(
    anchor: Decision, walked: Sequence[Sequence[Transition]], query: Plan, decisions: Decisions
) -> Iterator[Related]:
    """The decisions that a chain of more than one step passes."""
    if query.k > 1:
        before, after = ([one.from_ for one in walked[0]], [one.to for one in walked[1]])
        yield from _related(dict.fromkeys(id for id in before if id not in (None, anchor.id)), "before", decisions)
        yield from _related(dict.fromkeys(id for id in after if id not in (None, anchor.id)), "after", decisions)


def _related(ids: Iterable[str | None], relation: Relation, decisions: Decisions) -> Iterator[Related]:
    for id in ids:
        if (one := decisions.decisions.get(id or "")) is not None:
            yield Related(
                id=one.id,
                relation=relation,
                option=one.option,
                status=None if one.status == ACCEPTED else one.status,
                day=None if one.decided_on is None else one.decided_on.isoformat(),
                called=None if called(one) == one.id else called(one),
            )


def _by_time(items: Iterable[_Shown]) -> list[_Shown]:
    return sorted(items, key=lambda one: (one.timestamp or "", one.id))


def _fitted(
    anchor: Anchor, found: Sequence[Sequence[_Shown]], related: Sequence[Related], question: str, rules: Intents
) -> Gathered:
    """Events, preceding and succeeding transitions in, the same without the least telling ones out."""
    limit, least = rules.prompt.max_prompt_bytes, rules.prompt.min_evidence_items
    neighbours = {one.id: one for part in found for one in part}
    evidence = _evidence(anchor, found, related, neighbours.keys())
    features: list[Document] = []
    if size_of(evidence) > limit:
        telling = content(words_of(f"{anchor.rationale} {question}"))
        known = {id: _features(one, anchor, telling, rules) for id, one in neighbours.items()}
        order = sorted(neighbours, key=lambda id: (known[id]["kind"] != "event", known[id]["score"], id))

        def without(count: int) -> Evidence:
            return _evidence(anchor, found, related, frozenset(order[count:]))

        most = max(0, len(order) - least)
        count = bisect_left(range(most), True, key=lambda count: size_of(without(count)) <= limit)
        features = [{"id": id, **known[id]} for id in order[:count]]
        evidence = without(count)
    cut: tuple[str, ...] = ()
    kept = frozenset(neighbours) - {str(one["id"]) for one in features}
    if (size := size_of(evidence)) > limit:  # the anchor is cut last
        slim, cut = _slimmed(anchor, size - limit)
        evidence = _evidence(slim, found, related, kept)
        size = size_of(evidence)
    dropped = tuple(sorted(neighbours.keys() - kept))
    return Gathered(evidence, len(neighbours), dropped, size, features=tuple(features), clipped_fields=cut)


def _slimmed(anchor: Anchor, surplus: int) -> tuple[Anchor, tuple[str, ...]]:
    """The anchor with its long texts cut or left out, the least asked for first, until *surplus* bytes are gone."""
    cut: list[str] = []
    for name in ("context", "options", "consequences"):
        value = getattr(anchor, name)
        if value and surplus > 0:
            surplus -= len(json.dumps(anchor.document().get(name)))
            anchor = anchor.model_copy(update={name: None})
            cut.append(name)
    return anchor, tuple(cut)


def _evidence(
    anchor: Anchor, found: Sequence[Sequence[_Shown]], related: Sequence[Related], kept: Set[str]
) -> Evidence:
    events, preceding, succeeding = ([one for one in part if one.id in kept] for part in found)
    # INVARIANT: exactly the ids that are in the evidence after truncation, the anchor first.
    shown = (*events, *preceding, *succeeding, *related)
    ids = dict.fromkeys([anchor.id, *(one.id for one in shown)])
    return Evidence(
        anchor=anchor,
        events=tuple(one for one in events if isinstance(one, EvidenceEvent)),
        transitions=Transitions(
            preceding=tuple(one for one in preceding if isinstance(one, EvidenceTransition)),
            succeeding=tuple(one for one in succeeding if isinstance(one, EvidenceTransition)),
        ),
        related=tuple(related) or None,
        allowed_ids=tuple(ids),
    )


def anchor_shown(decision: Decision, intent: Intent, rules: Intents) -> Anchor:
    """What evidence shows of a decision: what every answer tells, and the fields that the intent asks for."""
    bounds = rules.lengths
    more: dict[str, Any] = {}
    for name in intent.shows:
        value = getattr(decision, name)
        if name == "options":
            value = tuple(_considered(one, bounds.reason) for one in value)
        elif name == "context":
            value = value and clipped(value, bounds.rationale)
        elif name == "consequences":
            value = tuple(clipped(text, bounds.reason) for text in value)
        more[name] = value or None
    day = decision.decided_on.isoformat() if decision.decided_on else None
    return Anchor(
        id=decision.id,
        option=clipped(decision.option, bounds.rationale),
        rationale=clipped(decision.rationale, bounds.rationale),
        timestamp=decision.timestamp,
        day=None if day == (decision.timestamp or "")[:10] else day,
        dated_by=None if decision.dated_by == "record" else decision.dated_by,
        decision_maker=decision.decision_maker,
        tags=tuple(decision.tags),
        status=None if decision.status == ACCEPTED else decision.status,
        written_status=written_status(decision),
        called=None if called(decision) == decision.id else called(decision),
        proposed_on=decision.proposed_on.isoformat() if decision.proposed_on else None,
        **more,
    )


def _considered(one: ConsideredOption, bound: int) -> Considered:
    said = (tuple(clipped(text, bound) for text in texts) for texts in (one.pros, one.cons))
    return Considered(option=clipped(one.option, bound), is_chosen=one.chosen or None, pros=next(said), cons=next(said))


def event_shown(event: Event, rules: Intents, led_to: tuple[str, ...] = ()) -> EvidenceEvent:
    """What evidence shows of an event."""
    bound = rules.lengths.summary
    return EvidenceEvent(
        id=event.id,
        summary=clipped(event.summary or event.id, bound),
        timestamp=event.timestamp,
        day=_other_day(event),
        led_to=led_to,
        snippet=event.snippet and clipped(event.snippet, bound),
        tags=tuple(event.tags),
    )


def _transition(transition: Transition, bound: int) -> EvidenceTransition:
    return EvidenceTransition(
        id=transition.id,
        from_=transition.from_,
        to=transition.to,
        reason=clipped(transition.reason, bound),
        timestamp=transition.timestamp,
        day=_other_day(transition),
        tags=tuple(transition.tags),
    )


def _other_day(record: Event | Transition) -> str | None:
    """The local day of a record, where it is not the one of its timestamp."""
    day = local_day(record)
    return None if day is None or day.isoformat() == (record.timestamp or "")[:10] else day.isoformat()


def _features(one: _Shown, anchor: Anchor, telling: frozenset[str], rules: Intents) -> dict[str, Any]:
    """Recency and similarity (seed 002, B2.1): near the decision in time, and about what it and the question say."""
    days = None
    if one.timestamp and anchor.timestamp:
        days = abs((_moment(one.timestamp) - _moment(anchor.timestamp)).total_seconds()) / _SECONDS_A_DAY
    said = one.summary + " " + (one.snippet or "") if isinstance(one, EvidenceEvent) else one.reason
    about = content(words_of(said))
    similarity = len(about & telling) / len(about) if about else 0.0
    recency = 1 / (1 + days / _DAYS_A_YEAR) if days is not None else 0.0
    weights = rules.selector
    return {
        "kind": "event" if isinstance(one, EvidenceEvent) else "transition",
        "recency": round(recency, 6),
        "similarity": round(similarity, 6),
        "tags_shared": len(set(one.tags) & set(anchor.tags)),
        "score": round(float(weights.recency) * recency + float(weights.similarity) * similarity, 6),
    }


def _moment(timestamp: str) -> datetime:
    return datetime.fromisoformat(timestamp.replace("Z", "+00:00"))
