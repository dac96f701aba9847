"""The decisions as a page tells them: year by year, who took whose place, what waits, and what leads nowhere."""

from __future__ import annotations

from dataclasses import dataclass

from bylaw.authored.decisions import Decision, Decisions
from ci.pipeline import Run
from ci.site.supersessions import Link, Row, drawings

UNDATED = "without a day"


@dataclass(frozen=True, slots=True)
class DecisionTold:
    """One decision. `earlier` and `later` are the ids of those whose place it took, and that took its own."""

    id: str
    option: str
    status: str
    day: str
    who: str
    why: str
    path: str
    tags: tuple[str, ...]
    names: tuple[str, ...]
    earlier: tuple[str, ...]
    later: tuple[str, ...]
    governs: tuple[str, ...]
    stale: tuple[str, ...]  # of what it governs, what is not there
    findings: tuple[tuple[str, str], ...]  # severity and words

    @property
    def year(self) -> str:
        """The year of its heading."""
        return self.day[:4] if self.day else UNDATED


@dataclass(frozen=True, slots=True)
class Timeline:
    """The decisions, newest first. `drawings`: as SVG, which of them took whose place.

    `stale` are decisions that govern what is not there, `alone` those that nothing led to and from which nothing
    followed, `pending` events that no decision rests on, each as its day, id and words. `tags`: each with its ids.
    """

    decisions: tuple[DecisionTold, ...]
    drawings: tuple[str, ...]
    stale: tuple[DecisionTold, ...]
    alone: tuple[str, ...]
    pending: tuple[tuple[str, str, str], ...]
    tags: tuple[tuple[str, tuple[str, ...]], ...]

    @property
    def years(self) -> tuple[tuple[str, tuple[DecisionTold, ...]], ...]:
        """The decisions of each year, the newest first; those without a day at the end."""
        years = sorted({one.year for one in self.decisions if one.day}, reverse=True)
        named = [*years, *([UNDATED] if any(not one.day for one in self.decisions) else [])]
        return tuple((year, tuple(one for one in self.decisions if one.year == year)) for year in named)


def timeline(run: Run) -> Timeline:
    """The decisions of a checked repository."""
    records = run.workspace.decisions
    told = [_told(one, run) for one in records.decisions.values()]
    tagged: dict[str, list[str]] = {}
    for one in records.decisions.values():
        for tag in one.tags:
            tagged.setdefault(tag, []).append(one.id)
    ordered = sorted(sorted(told, key=lambda one: one.id), key=lambda one: one.day, reverse=True)
    return Timeline(
        decisions=tuple(ordered),
        drawings=_drawn(records),
        stale=tuple(one for one in ordered if one.stale),
        alone=tuple(id for id, one in records.decisions.items() if _is_alone(one)),
        pending=tuple(
            (str(event.day or ""), id, event.summary or id) for id, event in records.events.items() if not event.led_to
        ),
        tags=tuple((tag, tuple(ids)) for tag, ids in sorted(tagged.items(), key=lambda item: (-len(item[1]), item[0]))),
    )


def _told(one: Decision, run: Run) -> DecisionTold:
    path = run.workspace.decisions.sources.get(one.id, "")
    affects, id = one.affects, one.id
    about = [finding for finding in run.findings if finding.at.path == path or one.id in finding.rules]
    return DecisionTold(
        id=one.id,
        option=one.option,
        status=one.status,
        day=str(one.decided_on or ""),
        who=", ".join(one.deciders),
        why=one.rationale,
        path=path,
        tags=tuple(one.tags),
        names=tuple(one.names_beside_id()),
        earlier=tuple(one.supersedes),
        later=tuple(one.superseded_by),
        governs=(*affects.path, *affects.policy, *affects.metric, *affects.package),
        stale=tuple(one.rules[2] for one in about if one.id == "unresolved-affects" and one.rules[0:1] == (id,)),
        findings=tuple((finding.severity, finding.message) for finding in about),
    )


def _is_alone(one: Decision) -> bool:
    linked = (one.supported_by, one.based_on, one.transitions, one.supersedes, one.superseded_by, one.amends)
    return not any((*linked, one.amended_by))


def _drawn(records: Decisions) -> tuple[str, ...]:
    """What took whose place, and what was changed in part."""
    ones = records.decisions
    rows = {id: Row(id, one.option, one.status, str(one.decided_on or "")) for id, one in ones.items()}
    replaced = [Link(old, id) for id, one in ones.items() for old in one.supersedes]
    return drawings(rows, [*replaced, *(Link(old, id, True) for id, one in ones.items() for old in one.amends)])
