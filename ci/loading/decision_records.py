"""Decision memory, offline half: authored records → one normalised snapshot whose links resolve and point both ways.

Nothing is guessed: a link that resolves to nothing is a finding and is left out of the snapshot. Orphans are valid.
Every step is linear in records and links.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field

from pydantic import BaseModel, JsonValue

from bylaw.authored.decisions import (
    EDGES,
    Decision,
    Decisions,
    Event,
    Kind,
    Record,
    Recorded,
    Status,
    Transition,
    clipped,
    slug_of,
    snapshot_etag,
    spelled,
)
from bylaw.authored.machines.intents import Lengths
from bylaw.authored.recorded import names_of
from bylaw.canonical import fingerprint
from ci.findings import Finding, Place
from ci.loading.schema.nearest import did_you_mean, one_right
from ci.loading.schema.schema_findings import clip
from ci.loading.source import Source

# Seed 002, section L2: what a caller without rules gets; `rules/intents.yaml` holds the same figures.
SEED_LENGTHS = Lengths(
    short_answer=320, rationale_note=280, rationale=600, reason=280, summary=120, repaired_summary=96
)

# A suggestion compares one name with every id; past this many comparisons a batch gets findings without suggestions.
COMPARISONS = 20_000_000

# Field → the kind of record it names, per kind of record.
LINKS: Mapping[Kind, Mapping[str, Kind]] = {
    "decision": {
        "supported_by": "event",
        "based_on": "decision",
        "transitions": "transition",
        "supersedes": "decision",
        "superseded_by": "decision",
        "amends": "decision",
        "amended_by": "decision",
    },
    "event": {"led_to": "decision"},
    "transition": {"from": "decision", "to": "decision"},
}

# What one decision does to another, and what that is called from the other side.
REPLACING: Mapping[str, str] = {"supersedes": "superseded_by", "amends": "amended_by"}

# A sentence ends where the next word does not go on with it: "1. April" and "e.g. this" are no ends.
_SENTENCE = re.compile(r".+?(?<!\b\d)(?<!\b\w)(?<!\.\w)[.!?](?=\s+[^a-z\s]|\s*$)")


@dataclass(frozen=True, slots=True)
class Sourced:
    """An authored record and the file that says it."""

    model: Record
    path: str


def ingest(
    records: Sequence[Sourced], lengths: Lengths = SEED_LENGTHS, lost: Set[str] = frozenset()
) -> tuple[Decisions, list[Finding]]:
    """The snapshot of *records*, and what is wrong between them. The order of *records* changes nothing.

    *lost* are ids whose files do not fit their model: links to them are left out without a second finding.
    """
    kept, findings = _unique(records)
    links = _Links()
    findings += _resolve(kept, links, lost)
    findings += _complete_ends(kept, links)
    findings += _long_texts(kept.values(), lengths)
    _link_back(links)
    derived = _derive_transitions(kept, links)
    kept = dict(sorted({**kept, **derived}.items()))
    decisions = {id: _decision(one.model, links, kept) for id, one in kept.items() if isinstance(one.model, Decision)}
    events = {id: _event(one.model, links, lengths) for id, one in kept.items() if isinstance(one.model, Event)}
    transitions = {id: _transition(one.model, links) for id, one in kept.items() if isinstance(one.model, Transition)}
    snapshot = Decisions(
        decisions=decisions,
        events=events,
        transitions=transitions,
        field_catalogue=_fields([*decisions.values(), *events.values(), *transitions.values()]),
        relation_catalogue=_relations(decisions.values(), events.values(), transitions.values()),
        sources={id: one.path for id, one in kept.items()},
        snapshot_etag=snapshot_etag(decisions, events, transitions),
    )
    return snapshot, findings


def extra_fields(model: type[BaseModel], source: Source) -> Iterator[Finding]:
    """What stands in a record and is none of its fields: it is kept in `x-extra`, and told because it may be a slip."""
    known = names_of(model) if issubclass(model, Recorded) else frozenset(source.data)
    for key in source.data if isinstance(source.data, dict) else ():
        if key not in known:
            help = did_you_mean(clip(key), known, "write it under `x-extra` if it is meant to be there")
            detail = one_right(key, known)
            message = f"the key `{clip(key)}` is no field of a record: it is kept in `x-extra`"
            yield Finding("extra-field", message, Place(source.path, (key,), on_key=True), help=help, detail=detail)


def kind_of(model: Recorded) -> Kind:
    """Which of the three records this is."""
    return "decision" if isinstance(model, Decision) else "event" if isinstance(model, Event) else "transition"


def _unique(records: Iterable[Sourced]) -> tuple[dict[str, Sourced], list[Finding]]:
    """One record an id, across all three kinds; the first file by name keeps it."""
    kept: dict[str, Sourced] = {}
    findings = []
    for one in sorted(records, key=lambda one: (one.path, one.model.id, kind_of(one.model))):
        first = kept.setdefault(one.model.id, one)
        if first is not one:
            findings.append(
                Finding(
                    "duplicate-id",
                    f"the id `{one.model.id}` is declared twice",
                    Place(one.path, ("id",)),
                    related=((Place(first.path, ("id",)), f"first declared here, as {_a(kind_of(first.model))}"),),
                    help="decisions, events and transitions share one name space: give one of them another id",
                )
            )
    return dict(sorted(kept.items())), findings


@dataclass(slots=True)
class _Links:
    """Who points at whom, while it is being completed."""

    supported_by: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    based_on: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    transitions: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    led_to: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    supersedes: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    superseded_by: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    amends: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    amended_by: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    ends: dict[str, tuple[str | None, str | None]] = field(default_factory=dict)
    causal: set[str] = field(default_factory=set)


def _named_links(model: Record) -> Iterator[tuple[str, int | None, str]]:
    """Every (field, position, id) that the author wrote."""
    if isinstance(model, Transition):
        yield from (("from", None, model.from_),) if model.from_ else ()
        yield from (("to", None, model.to),) if model.to else ()
        return
    for name in LINKS[kind_of(model)]:
        yield from ((name, i, id) for i, id in enumerate(getattr(model, name)))


def _resolve(kept: Mapping[str, Sourced], links: _Links, lost: Set[str]) -> Iterator[Finding]:
    """Fill *links* with every link that resolves to the right kind of record; tell about the others."""
    nearest, called = _Nearest(kept), _by_other_names(kept.values())
    for id, one in kept.items():
        resolved: dict[str, list[str]] = defaultdict(list)
        for name, position, target in _named_links(one.model):
            wanted = LINKS[kind_of(one.model)][name]
            found = kept.get(target)
            meant = (
                [target]
                if found is not None
                else sorted(called.get(spelled(target), ()))
                if wanted == "decision"
                else []
            )
            if len(meant) == 1 and kind_of(kept[meant[0]].model) == wanted:
                resolved[name].append(meant[0])
                continue
            if found is None and target in lost:
                continue
            place = Place(one.path, (name,) if position is None else (name, position))
            about = f"{kind_of(one.model)} `{id}` names `{target}` in `{name}`"
            if len(meant) > 1:
                message, help = (
                    f"{about}, which {len(meant)} decisions are called",
                    f"write the id: {', '.join(meant[:5])}",
                )
            elif found is not None:
                message, help = f"{about}, which is {_a(kind_of(found.model))}", f"`{name}` names {_a(wanted)}"
            else:
                message, help = f"{about}, which no file declares", nearest.help(target, wanted)
            yield Finding("dangling-reference", message, place, help=help)
        if isinstance(one.model, Transition):
            links.ends[id] = (next(iter(resolved["from"]), None), next(iter(resolved["to"]), None))
            if one.model.relation == "causal":
                links.causal.add(id)
        for name in resolved.keys() - {"from", "to"}:
            getattr(links, name)[id].update(resolved[name])


def _by_other_names(records: Iterable[Sourced]) -> dict[str, set[str]]:
    """The ids of the decisions that have a name beside their id: their aliases, and `#4` for the number 4."""
    called: dict[str, set[str]] = defaultdict(set)
    for one in records:
        if isinstance(one.model, Decision):
            for name in one.model.names_beside_id():
                called[spelled(name)].add(one.model.id)
    return called


def _complete_ends(kept: Mapping[str, Sourced], links: _Links) -> Iterator[Finding]:
    """A decision that lists a transition with one open end is that end; one that lists a stranger's is told so."""
    for id in sorted(links.transitions):
        for name in sorted(links.transitions[id]):
            start, end = links.ends[name]
            if id in (start, end) or (start is None and end is None):
                continue
            if start is None or end is None:
                links.ends[name] = (start or id, end or id)
                continue
            links.transitions[id].discard(name)
            written = kept[id].model
            assert isinstance(written, Decision)
            yield Finding(
                "dangling-reference",
                f"decision `{id}` lists the transition `{name}`, which leads from `{start}` to `{end}`",
                Place(kept[id].path, ("transitions", written.transitions.index(name))),
                related=((Place(kept[name].path, ("id",)), "the transition"),),
                help=f"take `{name}` out of `transitions`, or correct its `from` or `to`",
            )


def _link_back(links: _Links) -> None:
    """Reciprocity: event.led_to ↔ decision.supported_by, transition ends ↔ decision.transitions ↔ based_on."""
    for event, decisions in sorted(links.led_to.items()):
        for decision in decisions:
            links.supported_by[decision].add(event)
    for decision, events in sorted(links.supported_by.items()):
        for event in events:
            links.led_to[event].add(decision)
    for transition, (start, end) in links.ends.items():
        for touched in (start, end):
            if touched is not None:
                links.transitions[touched].add(transition)
        if transition in links.causal and start is not None and end is not None:
            links.based_on[end].add(start)
    for does, done in REPLACING.items():
        forward, back = getattr(links, does), getattr(links, done)
        pairs = {(later, earlier) for later in forward for earlier in forward[later]}
        pairs |= {(later, earlier) for earlier in back for later in back[earlier]}
        for later, earlier in pairs:
            forward[later].add(earlier)
            back[earlier].add(later)


def _long_texts(records: Iterable[Sourced], lengths: Lengths) -> Iterator[Finding]:
    """Texts that are kept whole and of which the evidence of an answer shows the beginning only."""
    for one in records:
        for name, bound in bounds_of(one.model, lengths):
            text = getattr(one.model, name)
            if text and len(_text(text)) > bound:
                yield Finding(
                    "long-text",
                    f"`{name}` has {len(_text(text)):,} characters; the evidence of an answer shows the first {bound}",
                    Place(one.path, (name,)),
                    help="all of it is kept and searched: put what matters most first",
                )


def bounds_of(model: Recorded, lengths: Lengths) -> tuple[tuple[str, int], ...]:
    """How many characters of its texts the evidence of an answer shows (seed 002, L2)."""
    if isinstance(model, Decision):
        return (("rationale", lengths.rationale),)
    if isinstance(model, Transition):
        return (("reason", lengths.reason),)
    return (("summary", lengths.summary), ("snippet", lengths.summary))


def _derive_transitions(kept: Mapping[str, Sourced], links: _Links) -> dict[str, Sourced]:
    """`based_on` without a transition becomes one, so that the prior decision knows what followed from it.

    It tells of the earlier decision, so it has the day of that one.
    """
    joined = {ends for ends in links.ends.values() if None not in ends}
    derived: dict[str, Sourced] = {}
    for decision in sorted(links.based_on):
        for prior in sorted(links.based_on[decision]):
            if (prior, decision) in joined:
                continue
            later, earlier = kept[decision].model, kept[prior].model
            assert isinstance(later, Decision)
            assert isinstance(earlier, Decision)
            id = f"{decision[:110]}--based-on--{prior[:110]}"
            if id in kept or id in derived:
                id = f"based-on-{fingerprint([decision, prior])[:32]}"
            model = Transition(
                id=id,
                from_=prior,
                to=decision,
                relation="causal",
                reason=f"based on the earlier decision: {_text(earlier.option)}",
                timestamp=earlier.timestamp or later.timestamp,
                x_extra=_derived_extra(earlier),
            )
            derived[id] = Sourced(model, kept[decision].path)
            links.ends[id] = (prior, decision)
            links.transitions[decision].add(id)
            links.transitions[prior].add(id)
    return derived


def _derived_extra(earlier: Decision) -> dict[str, JsonValue]:
    zone = earlier.x_extra.get("source_tz")
    return {"derived_from": "based_on", **({"source_tz": zone} if zone else {})}


class _Nearest:
    """The declared id of one kind that a wrong one comes closest to."""

    def __init__(self, kept: Mapping[str, Sourced]) -> None:
        self._ids: dict[Kind, list[str]] = defaultdict(list)
        for id, one in kept.items():
            self._ids[kind_of(one.model)].append(id)
        self._seen: dict[tuple[str, Kind], str | None] = {}
        self._left = COMPARISONS

    def help(self, target: str, kind: Kind) -> str:
        where = f"{kind}s are declared in context/decisions/**/{kind}s/"
        match = self._match(slug_of(target), kind)
        return f"did you mean `{match}`? {where}" if match else where

    def _match(self, target: str, kind: Kind) -> str | None:
        if (target, kind) not in self._seen:
            self._left -= len(self._ids[kind])
            if self._left < 0:
                return None
            from rapidfuzz import fuzz, process

            best = process.extractOne(target, self._ids[kind], scorer=fuzz.ratio, score_cutoff=70)
            self._seen[target, kind] = best[0] if best else None
        return self._seen[target, kind]


def _a(kind: Kind) -> str:
    return f"an {kind}" if kind == "event" else f"a {kind}"


def _text(text: str) -> str:
    # NFKC would spell the ellipsis of a clipped text as three characters and so push it over its bound.
    folded = "…".join(unicodedata.normalize("NFKC", part) for part in text.split("…"))
    return " ".join(folded.split())


def _tags(tags: Iterable[str]) -> list[str]:
    return sorted({slug_of(tag, "_") for tag in tags})


def _decision(model: Decision, links: _Links, kept: Mapping[str, Sourced]) -> Decision:
    deciders = list(dict.fromkeys(_text(name) for name in model.deciders))
    return model.model_copy(
        update={
            "option": _text(model.option),
            "rationale": _text(model.rationale),
            "status": _status(model, links, kept),
            "decision_maker": next(iter(deciders), None),
            "deciders": deciders,
            "tags": _tags(model.tags),
            **{name: sorted(getattr(links, name)[model.id]) for name in LINKS["decision"]},
        }
    )


def _status(model: Decision, links: _Links, kept: Mapping[str, Sourced]) -> Status:
    """What was accepted does not stand any more where an accepted decision says that it supersedes it."""
    later = (kept[id].model for id in sorted(links.superseded_by[model.id]))
    is_replaced = model.stands and any(isinstance(one, Decision) and one.stands for one in later)
    return "superseded" if is_replaced else model.status


def _event(model: Event, links: _Links, lengths: Lengths) -> Event:
    """Repaired where it says too little: what is missing of summary and snippet comes from the description."""
    description = _text(model.description) if model.description else None
    summary, snippet = model.summary, model.snippet
    if description and (summary is None or summary.strip() == model.id):
        summary = clipped(description, lengths.repaired_summary)
    if description and snippet is None:
        sentence = _SENTENCE.match(description)
        snippet = sentence.group() if sentence else description
    return model.model_copy(
        update={
            "summary": _text(summary or ""),
            "description": description,
            "snippet": _text(snippet) if snippet else None,
            "tags": _tags(model.tags),
            "led_to": sorted(links.led_to[model.id]),
        }
    )


def _transition(model: Transition, links: _Links) -> Transition:
    start, end = links.ends[model.id]
    reason = _text(model.reason)
    return model.model_copy(update={"from_": start, "to": end, "reason": reason, "tags": _tags(model.tags)})


def _fields(records: Iterable[Recorded]) -> dict[str, list[str]]:
    """Semantic name → where it is found: the core name, the aliases in use, and every field of `x-extra`."""
    core: dict[str, set[str]] = defaultdict(set)
    extra: dict[str, set[str]] = defaultdict(set)
    for model in records:
        cores = {alias: name for name, aliases in model.ALIASES.items() for alias in aliases}
        for name in type(model).model_fields:
            if name not in ("schema_version", "x_extra") and _says(model, name):
                core.setdefault(name.rstrip("_"), set())
        for name in model.x_extra:
            if name in cores:
                core[cores[name]].add(name)
            else:
                extra[name].add(f"x-extra.{name}")
    catalogue = {name: [name, *sorted(aliases)] for name, aliases in core.items()}
    return dict(sorted({**{name: sorted(found) for name, found in extra.items()}, **catalogue}.items()))


def _says(model: Recorded, name: str) -> bool:
    """Does the record say something of its own in that field?"""
    value = getattr(model, name)
    return bool(value) and value != type(model).model_fields[name].default


def _relations(
    decisions: Iterable[Decision], events: Iterable[Event], transitions: Iterable[Transition]
) -> dict[str, list[str]]:
    """Edge → directions in which a decision can follow it; only edges that exist."""
    edges = {EDGES[one.relation] for one in transitions if one.from_ and one.to}
    edges |= {"BASED_ON"} if any(one.based_on for one in decisions) else set()
    catalogue = {edge: ["in", "out"] for edge in edges}
    if any(one.led_to for one in events):
        catalogue["LED_TO"] = ["in"]
    return dict(sorted(catalogue.items()))
