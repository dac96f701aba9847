"""A steward turns a candidate into a pull request: what it edits, who agrees, and what would be different, before and
after. It is never merged from here, and nobody opens what they asked for themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

from bot.conversation import Actor
from bot.evidence.store.tables import candidates, corrections
from bot.evidence.store.tables.candidates import Candidate
from bot.index import BundleIndex
from bot.memory import candidates as deciding
from bot.memory import effects
from bot.memory.changes import LEAVE_OUT, Change, in_words
from bot.memory.consensus import Consensus, consensus, person_of
from bot.memory.structure import current, gotcha_of
from bot.pii import Mask
from bot.services import Services
from bylaw.bundle import read
from bylaw.errors import UsageError
from bylaw.github.client import Hub
from bylaw.github.commit import read_file
from bylaw.github.pull_request import Opened, Proposal, open_pull_request

_LOGIN = "github"  # the attribute of rules/roles.yaml that says under which name somebody is on GitHub
_MOST_REQUESTS = 20


class Edited(Protocol):
    """What `ci.commands.promotion` makes of an edit."""

    files: Mapping[str, str]
    before: Mapping[str, str | None]
    bundle: Path
    new_findings: tuple[str, ...]
    cases_before: str
    cases_after: str


Edit = Callable[..., Edited]  # (directory, **fields of ci.commands.promotion.Edit)


@dataclass(frozen=True)
class Review:
    """Everything a steward looks at before they decide."""

    candidate: Candidate
    agreed: Consensus
    proposal: Proposal
    before: Mapping[str, str | None]


def review(name: str, actor: Actor, services: Services, edit: Edit, base: str = "main") -> Review:
    """What the pull request of the candidate would be. Raises UsageError where it no longer fits or is agreed upon."""
    with services.store.reading() as connection:
        candidate = deciding.held(connection, name, actor, services)
    agreed = _agreed(candidate, services)
    with TemporaryDirectory(prefix="bylaw-") as folder:
        edited = edit(Path(folder), **_edit(agreed.change, services))
        after = BundleIndex(read(edited.bundle))
        basis = (*_who(agreed, services), *_effects(after, edited, services))
        proposal = Proposal(
            branch=f"bylaw/{name}",
            title=f"{in_words(agreed.change)}"[:200],
            why=_why(agreed),
            files=dict(edited.files),
            base=base,
            basis=basis,
            asked_by=f"a steward ({actor.id})" if services.index.rules.promotion.names_people else "a steward",
            labels=("bylaw", "correction"),
            reviewers=_reviewers(services),
        )
        return Review(candidate, agreed, proposal, dict(edited.before))


def open_(name: str, actor: Actor, services: Services, edit: Edit, hub: Hub, base: str = "main") -> Opened:
    """Open the pull request of the candidate; asking again changes nothing. Raises UsageError, GitHubError."""
    found = review(name, actor, services, edit, base)
    if person_of(actor.id, services.index.rules.roles) in found.agreed.people:
        raise UsageError("nobody promotes what they corrected themselves", "ask another steward")
    for path, text in found.before.items():
        if read_file(hub, path, base) != text:
            raise UsageError(f"`{path}` is another one on `{base}` than here", "bring --root up to date first")
    done = open_pull_request(hub, found.proposal)
    if done.url is not None:
        deciding.opened(name, done.url, actor, services)
    return done


def waiting(actor: Actor, services: Services, is_all: bool = False) -> tuple[Candidate, ...]:
    """The candidates that a steward has to look at; with *is_all* also those that were decided."""
    deciding.check_steward(actor, services)
    with services.store.reading() as connection:
        return candidates.all_of(connection, *(() if is_all else candidates.WAITING))


def _agreed(candidate: Candidate, services: Services) -> Consensus:
    rules, change = services.index.rules, Change.model_validate(candidate.change)
    with services.store.reading() as connection:
        voices = corrections.about(connection, change.object, change.field)
    found = consensus(voices, rules.roles, rules.promotion, services.index.bundle.context, services.clock())
    named = set(candidate.members)  # the meaning that its members say now, whatever the fingerprint was then
    agreed = next((one for one in found if named & {member.correction_id for member in one.members}), None)
    if agreed is None:
        raise UsageError(
            f"`{candidate.candidate_id}` is no longer what enough people say",
            "somebody changed their mind, the record moved on, or the time is over: reject it",
        )
    return agreed


def _edit(change: Change, services: Services) -> dict[str, Any]:
    context = services.index.bundle.context
    if change.kind in ("metrics", "entities") and change.field == LEAVE_OUT:
        made = gotcha_of(change)
        record = made.model_dump(by_alias=True, exclude_unset=True)
        path = f"context/gotchas/{made.id}.yaml"
        return {"path": path, "field": change.field, "old": None, "new": change.new, "record": record}
    is_added = change.field == "synonyms"
    where = {"path": context.paths[change.object], "field": change.field, "new": change.new}
    return {**where, "old": current(change, context), "is_added": is_added}


def _why(agreed: Consensus) -> str:
    count, against = len(agreed.people), len(agreed.against)
    said = f"{count} experienced people corrected the same thing: {in_words(agreed.change)}."
    return f"{said} {against} said something else." if against else f"{said} Nobody of equal weight said otherwise."


def _who(agreed: Consensus, services: Services) -> tuple[str, ...]:
    """Who agrees, by role unless the rules let people be named, why, and the requests it came from."""
    names, mask = services.index.rules.promotion.names_people, Mask(services.index.rules.pii)
    lines = [
        f"{one.actor_id if names else ', '.join(one.actor_roles)}, {one.at.date().isoformat()}: {mask.text(one.reason)}"
        for one in agreed.members
    ]
    named = ", ".join(one.request_id for one in agreed.members[:_MOST_REQUESTS])
    return (*lines, f"from the requests {named}")


def _effects(after: BundleIndex, edited: Edited, services: Services) -> tuple[str, ...]:
    before, now = services.index, services.clock()
    days = before.rules.promotion.work_history_days
    count, changed = effects.verified(before, after, now, services.warehouse)
    with services.store.reading() as connection:
        found = effects.answers(connection, services.artifacts, before, after, now - timedelta(days=days))
    unread = f"; of {found.unread} no plan was kept" if found.unread else ""
    named = f": {', '.join(found.changed[:_MOST_REQUESTS])}" if found.changed else ""
    return (
        f"cases before: {edited.cases_before}; after: {edited.cases_after}",
        f"{len(changed)} of {count} verified queries change",
        *effects.listed(changed),
        f"{len(found.changed)} of {found.count} answers of the last {days} days would change{unread}{named}",
        *(edited.new_findings or ("the check finds nothing new: it holds together with the rest of the context",)),
    )


def _reviewers(services: Services) -> tuple[str, ...]:
    """The stewards, as far as it is known who they are on GitHub."""
    roles = services.index.rules.roles
    logins = (roles.attributes.get(user, {}).get(_LOGIN) for user in roles.stewards())
    return tuple(dict.fromkeys(str(login) for login in logins if login))
