"""Decisions that stand, and what says otherwise: records in their place, what they govern, reviews and numbers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

from bylaw.authored.decisions import STATUS_WORDS, Decision
from ci.findings import Finding, Place
from ci.lint.decisions import by_folder_and_number, place_of_link
from ci.loading.commits.markers import markers_at, named_by
from ci.loading.load import Workspace
from ci.loading.packages import package_name, packages_of
from ci.loading.present import present
from ci.loading.records.sources import PATHS as SOURCES
from ci.loading.records.sources import source_for, sources_of
from ci.loading.schema.nearest import did_you_mean

ADR_DIR = ".adr-dir"
_BOT = Path(__file__).resolve().parents[2] / "bot" / "decisions" / "templates"


def supersessions(workspace: Workspace) -> Iterator[Finding]:
    """Both sides of a supersession say so, nothing that holds rests on what was rejected, and one scope has one."""
    decisions = workspace.decisions.decisions
    for id, one in decisions.items():
        yield from _one_sided(workspace, one)
        for name in ("based_on", "amends"):
            for other in getattr(one, name):
                if one.stands and decisions[other].status == "rejected":
                    message = f"`{id}` is accepted and {name.replace('_', ' ')} `{other}`, which was rejected"
                    help = f"take `{other}` out of `{name}`, or correct one of the two"
                    yield Finding("supersession", message, place_of_link(workspace, id, other, name), help=help)
    yield from _shared_scopes(workspace)


def duplicate_numbers(workspace: Workspace) -> Iterator[Finding]:
    """In one folder a number means one decision."""
    for (_, number), ids in by_folder_and_number(workspace).items():
        for later in ids[1:]:
            yield Finding(
                "duplicate-number",
                f"`{later}` has the number {number}, and so has `{ids[0]}`",
                _place(workspace, later, "number"),
                rules=(ids[0], later),
                related=((_place(workspace, ids[0], "number"), "the same number"),),
                help="give the later one the next free number",
            )


def overdue_reviews(workspace: Workspace) -> Iterator[Finding]:
    """A decision that should be looked at again by a day is, or says so."""
    for id, one in workspace.decisions.decisions.items():
        if one.stands and one.review_by is not None and workspace.at is not None and one.review_by < workspace.at:
            message = f"`{id}` should have been looked at again by {one.review_by}"
            help = "decide whether it still holds: write a later `review_by`, or supersede it"
            yield Finding("overdue-review", message, _place(workspace, id, "review_by"), rules=(id,), help=help)


def unresolved_affects(workspace: Workspace) -> Iterator[Finding]:
    """What a decision governs is there: its files, policies, metrics, and packages where all of them are known."""
    packages = _packages(workspace)
    ones = workspace.decisions.decisions
    there = present(workspace.root, {path for one in ones.values() for path in one.affects.path})
    for id, one in workspace.decisions.decisions.items():
        if not one.affects:
            continue
        for kind, names, known in (
            ("policy", one.affects.policy, workspace.policy_ids),
            ("metric", one.affects.metric, frozenset(workspace.context.metrics)),
        ):
            for number, name in enumerate(names):
                if name not in known and not workspace.is_lost(name):
                    yield _unresolved(workspace, id, kind, number, name, did_you_mean(name, known))
        for number, name in enumerate(one.affects.package if packages is not None else ()):
            if packages is not None and package_name(name) not in packages:
                yield _unresolved(workspace, id, "package", number, name, did_you_mean(name, packages))
        for number, pattern in enumerate(one.affects.path):
            if pattern not in there:
                yield _unresolved(workspace, id, "path", number, pattern, None)


def _packages(workspace: Workspace) -> frozenset[str] | None:
    """The packages of the repository, looked for where a decision names one."""
    is_asked = any(one.affects.package for one in workspace.decisions.decisions.values())
    return packages_of(workspace.root) if is_asked else None


def unresolved_markers(workspace: Workspace) -> Iterator[Finding]:
    """A mark in the code names a decision on record."""
    decisions = workspace.decisions.decisions
    if not decisions:
        return
    for marker, id in named_by(markers_at(workspace.root), decisions).items():
        if id is None and not workspace.is_lost(marker.name):
            yield Finding(
                "unresolved-affects",
                f"the mark names the decision `{marker.name}`, which no record is",
                Place(marker.path, line=marker.line),
                rules=(marker.name,),
                help=did_you_mean(marker.name, decisions) or "correct the name, or take the mark out",
            )


def unnamed_folders(workspace: Workspace) -> Iterator[Finding]:
    """The folder that adr-tools keeps its records in, by `.adr-dir`, is one that a source names."""
    try:
        with (workspace.root / ADR_DIR).open(encoding="utf-8") as file:
            folder = file.readline(500).strip().removeprefix("./").rstrip("/")
    except (OSError, UnicodeDecodeError):
        return
    named = [one for path in SOURCES if path in workspace.sources for one in sources_of(workspace.sources[path].data)]
    if folder and source_for(f"{folder}/0001.md", named) is None and present(workspace.root, [f"{folder}/*.md"]):
        message = f"adr-tools keeps decisions in `{folder}`, and no source reads that folder"
        help = f"name it in context/decisions/sources.yaml: `sources: [{{folder: {folder}}}]`"
        yield Finding("unread-file", message, Place(ADR_DIR, line=1), rules=(folder,), help=help)


def missing_templates(workspace: Workspace) -> Iterator[Finding]:
    """An intent is answered by a template that there is."""
    known = {path.stem for path in _BOT.glob("*.j2")}
    path = next((path for path in workspace.sources if path.startswith("rules/intents.")), None)
    if path is None or not known:
        return
    for name, intent in workspace.rules.intents.intents.items():
        if intent.template not in known:
            message = f"the intent `{name}` names the template `{intent.template}`, which does not exist"
            help = did_you_mean(intent.template, known, f"there are {', '.join(sorted(known))}")
            yield Finding("missing-template", message, Place(path, ("intents", name, "template")), help=help)


def _place(workspace: Workspace, id: str, *route: str | int) -> Place:
    return Place(workspace.decisions.sources.get(id, ""), route)


def _one_sided(workspace: Workspace, one: Decision) -> Iterator[Finding]:
    """A record that does not say what another says of it, or whose state nobody explains."""
    source = workspace.sources.get(workspace.decisions.sources.get(one.id, ""))
    data = source.data if source is not None and isinstance(source.data, dict) else {}
    written = str(data.get("status") or "accepted").casefold()
    later = [id for id in one.superseded_by if workspace.decisions.decisions[id].stands]
    if later and STATUS_WORDS.get(written, written) == "accepted":
        yield Finding(
            "supersession",
            f"`{one.id}` says that it is accepted, and `{later[0]}` supersedes it",
            _place(workspace, one.id, "status" if "status" in data else "id"),
            rules=(one.id, later[0]),
            related=((place_of_link(workspace, later[0], one.id, "supersedes"), "this one supersedes it"),),
            help=f"write `status: superseded` and `superseded_by: [{later[0]}]`; it is told as superseded already",
        )
    elif one.status == "superseded" and not one.superseded_by and not data.get("superseded_by"):
        message = f"`{one.id}` is superseded and does not say by what"
        help = "name it, `superseded_by: [ID]`, or call this one deprecated or retired"
        yield Finding("supersession", message, _place(workspace, one.id, "status"), rules=(one.id,), help=help)


def _shared_scopes(workspace: Workspace) -> Iterator[Finding]:
    """Two accepted decisions about one thing, of which neither knows the other."""
    scopes: dict[tuple[str, str], list[Decision]] = defaultdict(list)
    for one in workspace.decisions.decisions.values():
        if one.stands and one.affects:
            for kind in ("path", "policy", "metric", "package"):
                for name in getattr(one.affects, kind):
                    scopes[kind, name].append(one)
    told: set[tuple[str, str]] = set()
    for (kind, name), ones in sorted(scopes.items()):
        for first, second in combinations(ones[:20], 2):
            if (first.id, second.id) in told or _know_each_other(first, second):
                continue
            told.add((first.id, second.id))
            yield Finding(
                "supersession",
                f"`{first.id}` and `{second.id}` are both accepted and govern the {kind} `{name}`",
                _place(workspace, second.id, "affects", kind),
                rules=(first.id, second.id),
                related=((_place(workspace, first.id, "affects", kind), "the other one"),),
                help="let one supersede or amend the other, name one under `based_on`, or narrow what they govern",
            )


def _know_each_other(one: Decision, other: Decision) -> bool:
    names = ("supersedes", "superseded_by", "amends", "amended_by", "based_on")
    return any(b.id in getattr(a, name) for a, b in ((one, other), (other, one)) for name in names)


def _unresolved(workspace: Workspace, id: str, kind: str, number: int, name: str, nearest: str | None) -> Finding:
    return Finding(
        "unresolved-affects",
        f"decision `{id}` governs the {kind} `{name}`, which is not there",
        _place(workspace, id, "affects", kind, number),
        rules=(id, kind, name),
        help=nearest or "correct the name, or take it out",
    )
