"""Decisions in time: what is told before what it led to, and chains that lead back to where they began."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from datetime import date

from bylaw.authored.decisions import Decision
from ci.findings import Finding, Place
from ci.lint.cycles import cycles
from ci.loading.load import Workspace


def chronology(workspace: Workspace) -> Iterator[Finding]:
    """What led to a decision lies before it, and what takes its place after it, as far as their days are known."""
    records = workspace.decisions
    for id, decision in records.decisions.items():
        for event in decision.supported_by:
            yield from _late(workspace, id, event, "supported_by", "it led to")
        for name, does in (("based_on", "is based on it"), ("supersedes", "supersedes it"), ("amends", "amends it")):
            for other in getattr(decision, name):
                yield from _late(workspace, id, other, name, does)
    for id, transition in records.transitions.items():
        if transition.from_ and transition.to and "derived_from" not in transition.x_extra:
            yield from _backwards(workspace, id, transition.from_, transition.to)


def decision_cycles(workspace: Workspace) -> Iterator[Finding]:
    """A decision is not based on what followed from it, and takes no place of what took its own."""
    decisions = workspace.decisions.decisions
    kinds = {
        "based_on": "is based on itself, by way of",
        "supersedes": "supersedes itself, by way of",
    }
    for name, words in kinds.items():
        for cycle in cycles({id: getattr(one, name) for id, one in decisions.items()}):
            others = ", ".join(f"`{id}`" for id in cycle[1:])
            yield Finding(
                "decision-cycle",
                f"decision `{cycle[0]}` {words} {others}",
                place_of_link(workspace, cycle[0], cycle[1], name),
                rules=cycle,
                related=tuple(
                    (place_of_link(workspace, id, cycle[(n + 1) % len(cycle)], name), "then this one")
                    for n, id in enumerate(cycle)
                    if n
                ),
                help="one of these links leads the wrong way: take it out",
            )


def place_of_link(workspace: Workspace, id: str, other: str, name: str) -> Place:
    """Where *id* names *other* under *name*; where only *other* says so, there; else the record itself."""
    back = {"supported_by": "led_to", "supersedes": "superseded_by", "amends": "amended_by"}.get(name, "")
    for here, there, field in ((id, other, name), (other, id, back)):
        path = workspace.decisions.sources.get(here, "")
        source = workspace.sources.get(path)
        written = source.data.get(field) if source is not None and isinstance(source.data, dict) else None
        if isinstance(written, list) and there in written:
            return Place(path, (field, written.index(there)))
        if isinstance(written, list) and written and field == name:
            return Place(path, (field,))
    return Place(workspace.decisions.sources.get(id, ""), ("id",))


def known_day(workspace: Workspace, id: str) -> date | None:
    """The day of a record that somebody wrote down; the day of a first commit is no day of a decision."""
    record = workspace.decisions.record(id)
    if record is None or (isinstance(record, Decision) and record.dated_by == "first_commit"):
        return None
    return record.day


def _late(workspace: Workspace, id: str, other: str, name: str, does: str) -> Iterator[Finding]:
    day, later = known_day(workspace, id), known_day(workspace, other)
    if day is None or later is None or later <= day:
        return
    was = "happened" if name == "supported_by" else "was decided"
    yield Finding(
        "decision-chronology",
        f"`{other}` {was} on {later}, after `{id}` of {day}, which {does}",
        place_of_link(workspace, id, other, name),
        related=((Place(workspace.decisions.sources.get(other, ""), ("id",)), "the later one"),),
        help=f"correct one of the two days, or take `{other}` out of `{name}`",
    )


def _backwards(workspace: Workspace, id: str, start: str, end: str) -> Iterator[Finding]:
    days = known_day(workspace, start), known_day(workspace, end)
    path = workspace.decisions.sources.get(id, "")
    if days[0] is None or days[1] is None or days[0] <= days[1]:
        return
    if start in workspace.decisions.decisions[end].based_on and _says_based_on(workspace, end, start):
        return  # told at that link
    yield Finding(
        "decision-chronology",
        f"transition `{id}` leads from `{start}` of {days[0]} back to `{end}` of {days[1]}",
        Place(path, ("from",)),
        help="turn it round, or correct one of the two days",
    )


def _says_based_on(workspace: Workspace, id: str, prior: str) -> bool:
    source = workspace.sources.get(workspace.decisions.sources.get(id, ""))
    written = source.data.get("based_on") if source is not None and isinstance(source.data, dict) else None
    return isinstance(written, list) and prior in written


def by_folder_and_number(workspace: Workspace) -> dict[tuple[str, int], list[str]]:
    """The decisions of one folder by their number."""
    found: dict[tuple[str, int], list[str]] = defaultdict(list)
    for id, one in workspace.decisions.decisions.items():
        if one.number is not None:
            found[workspace.decisions.sources[id].rpartition("/")[0], one.number].append(id)
    return found
