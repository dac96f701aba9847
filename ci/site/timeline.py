"""The decisions as a page tells them: year by year, who took whose place, what waits, and what leads nowhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bylaw.authored.decisions import Decision, Decisions
from ci.pipeline import Run

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
    findings: tuple[tuple[str, str], ...]  # severity and words

    @property
    def year(self) -> str:
        """The year of its heading."""
        return self.day[:4] if self.day else UNDATED


@dataclass(frozen=True, slots=True)
class Timeline:
    """The decisions, newest first. `chains`: ids, each in the place of the one before it.

    `alone` are decisions that nothing led to and from which nothing followed, `pending` events that no decision rests
    on, each as its day, id and words.
    """

    decisions: tuple[DecisionTold, ...]
    chains: tuple[tuple[str, ...], ...]
    alone: tuple[str, ...]
    pending: tuple[tuple[str, str, str], ...]
    tags: tuple[tuple[str, int], ...]

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
    count: dict[str, int] = {}
    for one in records.decisions.values():
        for tag in one.tags:
            count[tag] = count.get(tag, 0) + 1
    return Timeline(
        decisions=tuple(sorted(sorted(told, key=lambda one: one.id), key=lambda one: one.day, reverse=True)),
        chains=tuple(_chains(records)),
        alone=tuple(id for id, one in records.decisions.items() if _is_alone(one)),
        pending=tuple(
            (str(event.day or ""), id, event.summary or id) for id, event in records.events.items() if not event.led_to
        ),
        tags=tuple(sorted(count.items(), key=lambda item: (-item[1], item[0]))),
    )


def _told(one: Decision, run: Run) -> DecisionTold:
    path = run.workspace.decisions.sources.get(one.id, "")
    affects = one.affects
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
        findings=tuple((finding.severity, finding.message) for finding in about),
    )


def _is_alone(one: Decision) -> bool:
    linked = (one.supported_by, one.based_on, one.transitions, one.supersedes, one.superseded_by, one.amends)
    return not any((*linked, one.amended_by))


def _chains(records: Decisions) -> Iterator[tuple[str, ...]]:
    """From each decision that took nobody's place, through the first that took its own, and so on."""
    for id, one in records.decisions.items():
        if one.superseded_by and not one.supersedes:
            chain, seen = [id], {id}
            while following := [name for name in records.decisions[chain[-1]].superseded_by if name not in seen]:
                chain.append(following[0])
                seen.add(following[0])
            yield tuple(chain)
