"""What a change does to the decisions on record: what it decides, what it supersedes, and what it rewrites."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bylaw.authored.decisions import Decision, Decisions
from ci.findings import Finding, Place
from ci.loading.load import Workspace

# What a decision says that was decided then. A later day may add to a record, and may not say it otherwise.
SUBSTANCE = ("option", "context", "rationale", "consequences", "deciders", "decided_on")
_SUPERSEDE = "write a new decision that supersedes it; a slip of the pen may be mended with its owner's consent"


def decision_edits(before: Workspace, after: Workspace) -> Iterator[Finding]:
    """The accepted decisions that a change rewrites or takes away."""
    then, now = before.decisions, after.decisions
    renamed = {alias: one.id for one in now.decisions.values() for alias in one.aliases}
    for id, old in then.decisions.items():
        if not old.stands:
            continue
        new = now.decisions.get(renamed.get(id, id))
        if new is None:
            if not _is_unread(after, then.sources[id], id):
                path = then.sources[id]
                message = f"the decision `{id}` ({_day(old)}) was accepted, and this change deletes it"
                yield Finding("decision-edited", message, Place(path, line=1), rules=(id,), help=_SUPERSEDE)
        elif changed := rewritten_fields(old, new):
            yield _edited(new, changed, now.sources[new.id])


def rewritten_fields(old: Decision, new: Decision) -> list[str]:
    """The fields of its substance that an accepted decision says otherwise; what was not said is not rewritten."""
    return [name for name in SUBSTANCE if _says(old, name) and _says(old, name) != _says(new, name)]


def decision_changes(before: Decisions, after: Decisions) -> Iterator[str]:
    """What was decided, superseded, changed and taken away, a sentence each, in the order of the ids."""
    for id in sorted({*before.decisions, *after.decisions}):
        old, new = before.decisions.get(id), after.decisions.get(id)
        if new is None:
            yield f"the decision `{id}` is no longer on record: {_title(old)}"
        elif old is None:
            yield _begun(new)
        else:
            yield from _moved(old, new)


def _moved(old: Decision, new: Decision) -> Iterator[str]:
    if old.status != new.status:
        by = f" by {_names(new.superseded_by)}" if new.status == "superseded" and new.superseded_by else ""
        yield f"`{new.id}` is now {new.status}{by} (it was {old.status}): {_title(new)}"
    if old.stands and (changed := rewritten_fields(old, new)):
        yield f"the accepted decision `{new.id}` is rewritten: {', '.join(changed)}"


def _begun(new: Decision) -> str:
    in_place = f", in place of {_names(new.supersedes)}" if new.supersedes else ""
    who = f" by {new.decision_maker}" if new.decision_maker else ""
    if new.stands:
        return f"decided on {_day(new)}{who}: {_title(new)} (`{new.id}`){in_place}"
    return f"{new.status}{who}: {_title(new)} (`{new.id}`){in_place}"


def _edited(new: Decision, changed: list[str], path: str) -> Finding:
    places = [Place(path, (name,)) for name in changed]
    names = " and ".join(f"`{name}`" for name in changed)
    return Finding(
        "decision-edited",
        f"the decision `{new.id}` was accepted, and this change says {names} otherwise",
        places[0],
        rules=(new.id, *changed),
        related=tuple((place, "this too") for place in places[1:]),
        help=_SUPERSEDE,
    )


def _is_unread(workspace: Workspace, path: str, id: str) -> bool:
    """Is the file still there, and only cannot be read? That is told already."""
    return path in workspace.sources or workspace.is_lost(id) or any(one.at.path == path for one in workspace.findings)


def _says(one: Decision, name: str) -> Any:
    """What a field says, whatever its layout; the day of a commit is not what a record says."""
    if name == "decided_on" and one.dated_by in ("first_commit", "nothing"):
        return None
    value: Any = getattr(one, name)
    if isinstance(value, str):
        return " ".join(value.split())
    return [" ".join(part.split()) for part in value] if isinstance(value, list) else value


def _title(one: Decision | None) -> str:
    return " ".join(one.option.split()) if one is not None else ""


def _day(one: Decision) -> str:
    return str(one.decided_on) if one.decided_on else "an unknown day"


def _names(ids: list[str]) -> str:
    return ", ".join(f"`{id}`" for id in ids)
