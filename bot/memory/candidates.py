"""From corrections to candidates, and from a merged pull request back: who is told, what retires, what was refused.

Nothing here changes shared knowledge. What is shared is what the bundle in service says; when it says what somebody
corrected, their private correction has done its work.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from bot.conversation import Actor
from bot.evidence.store.connection import Connection
from bot.evidence.store.tables import audit, candidates, corrections, deliveries
from bot.evidence.store.tables.candidates import BY_PULL_REQUEST, WAITING, Candidate
from bot.evidence.store.tables.corrections import Correction
from bot.memory.changes import Change, in_words
from bot.memory.consensus import Consensus, consensus
from bot.memory.structure import is_in_force, is_readable, is_there, structure
from bot.services import Services
from bylaw.audit.entry import AuditEntry, after
from bylaw.authored.context import Context
from bylaw.errors import UsageError

_LONGEST_REASON = 1_000
_PROPOSED = (
    "{count} experienced colleagues made the same correction: {change}. Look at it: `bylaw promote show {name}`."
)
_ANOTHER = "its pull request was merged, and what is in service now says something else"
_MERGED = (
    "Your correction of {day} is shared knowledge now: {change}. It holds for everybody; your private one is retired."
)
_CLOSED = "The pull request of the correction `{name}` was closed without being merged: {url}. Opened again, it counts."
_PEOPLE = Actor(id=BY_PULL_REQUEST)  # who decided there is written down there
_REJECTED = "Your correction of {day} was not taken over for everybody: {reason}. It still holds for your own answers."


def gather(services: Services, now: datetime, about: Correction | None = None) -> int:
    """Make candidates of what enough people agree on by now (of the field that is spoken *about*), and tell the
    stewards, once. How many are new.
    """
    with services.store.reading() as connection:
        voices = _voices(connection, about)
        if not voices or not any(
            _is_news(connection, one, services) for one in _agreed(voices, connection, services, now)
        ):
            return 0
    with services.store.writing() as connection:
        found = _agreed(_voices(connection, about), connection, services, now)
        entries = [entry for one in found if (entry := _proposed(connection, one, services, now)) is not None]
    if entries:
        services.anchor(after(entries[-1]))
    return len(entries)


def retire(services: Services, now: datetime) -> int:
    """End the private corrections that the bundle in service now says itself, and tell who made them. How many."""
    with services.store.reading() as connection:
        if not any(_shared(connection, services)) and not _landed_otherwise(connection, services):
            return 0
    with services.store.writing() as connection:
        done, merged = _shared(connection, services)
        otherwise = _landed_otherwise(connection, services)
        rejected = [_reject(connection, one, _ANOTHER, BY_PULL_REQUEST, now) for one in otherwise]
        corrections.move(connection, [one.correction_id for one in done], now, stage="promoted", is_applied=False)
        for one in done:
            text = _MERGED.format(day=one.at.date().isoformat(), change=in_words(_change(one)))
            deliveries.notify(connection, one.actor_id, one.request_id, f"merged:{one.structure}", text, now)
        for candidate in merged:
            candidates.change(connection, candidate.candidate_id, stage="merged", merged_at=now)
            deliveries.supersede(connection, candidate.candidate_id, "candidate", now)
        entry = audit.append(connection, _merged_entry(done, merged, rejected, services), lambda: now)
    services.anchor(after(entry))
    return len(done)


def _shared(connection: Connection, services: Services) -> tuple[list[Correction], list[Candidate]]:
    """The private corrections, and the candidates, that the bundle in service says by now."""
    voices, waiting = corrections.in_play(connection), candidates.all_of(connection, *WAITING)
    if not voices and not waiting:
        return [], []
    context = services.index.bundle.context
    return (
        [one for one in voices if _says(context, _change(one))],
        [one for one in waiting if _says(context, Change.model_validate(one.change))],
    )


def _landed_otherwise(connection: Connection, services: Services) -> list[Candidate]:
    """Those that people merged with other words: what is in service is younger than the merge, and says others."""
    landed = candidates.all_of(connection, "landed")
    committed = services.index.bundle.bundle_metadata.committed_at if landed else None
    if committed is None:
        return []
    served, context = datetime.fromisoformat(committed), services.index.bundle.context
    return [
        one
        for one in landed
        if one.merged_at is not None
        and one.merged_at <= served
        and not _says(context, Change.model_validate(one.change))
    ]


def reject(name: str, reason: str, actor: Actor, services: Services) -> Candidate:
    """A steward says no, and why: it is not proposed again before as many say it anew. Raises UsageError."""
    reason = " ".join(reason.split())
    if not reason or len(reason) > _LONGEST_REASON:
        raise UsageError(f"the reason takes 1 to {_LONGEST_REASON} characters", "say why: who corrected is told")
    now = services.clock()
    with services.store.writing() as connection:
        candidate = held(connection, name, actor, services, is_locked=True)
        _reject(connection, candidate, reason, actor.id, now)
        entry = audit.append(connection, _reviewed("rejected", candidate, actor, services, reason=reason), lambda: now)
    services.anchor(after(entry))
    return candidate


def land(candidate: Candidate, merged_at: datetime, services: Services) -> bool:
    """Write down that its pull request is merged; answers change once a bundle says so. False: it moved meanwhile."""
    now = services.clock()
    with services.store.writing() as connection:
        if not _stands(connection, candidate):
            return False
        candidates.change(connection, candidate.candidate_id, stage="landed", merged_at=merged_at)
        deliveries.supersede(connection, candidate.candidate_id, "candidate", now)
        entry = audit.append(connection, _reviewed("landed", candidate, _PEOPLE, services), lambda: now)
    services.anchor(after(entry))
    return True


def close(candidate: Candidate, services: Services) -> bool:
    """Write down that people closed its pull request unmerged: that is a no, and who corrected it is told.

    False: it moved meanwhile.
    """
    now, reason = services.clock(), f"its pull request was closed without being merged: {candidate.pull_request}"
    with services.store.writing() as connection:
        if not _stands(connection, candidate):
            return False
        _reject(connection, candidate, reason, BY_PULL_REQUEST, now)
        if candidate.reviewed_by is not None:
            text = _CLOSED.format(name=candidate.candidate_id, url=candidate.pull_request)
            event = f"closed:{now.isoformat()}"
            deliveries.notify(connection, candidate.reviewed_by, candidate.candidate_id, event, text, now)
        said = _reviewed("rejected", candidate, _PEOPLE, services, reason=reason)
        entry = audit.append(connection, said, lambda: now)
    services.anchor(after(entry))
    return True


def reopen(candidate: Candidate, services: Services) -> bool:
    """Write down that people opened its pull request again. False: it moved meanwhile, or was proposed anew."""
    now = services.clock()
    with services.store.writing() as connection:
        if (
            not _stands(connection, candidate)
            or _open(connection, _meant(candidate, services.index.bundle.context), services) is not None
        ):
            return False
        candidates.change(connection, candidate.candidate_id, stage="opened", reason=None, reviewed_at=now)
        corrections.move(connection, candidate.members, now, stage="candidate")
        url = str(candidate.pull_request)
        entry = audit.append(connection, _reviewed("opened", candidate, _PEOPLE, services, url=url), lambda: now)
    services.anchor(after(entry))
    return True


def _stands(connection: Connection, candidate: Candidate) -> bool:
    """Is it still where it was? From now on until the transaction ends."""
    found = candidates.load(connection, candidate.candidate_id, is_locked=True)
    return found is not None and found.stage == candidate.stage


def _reject(connection: Connection, candidate: Candidate, reason: str, by: str, now: datetime) -> Candidate:
    """Move the candidate and its corrections, and tell who made them."""
    name = candidate.candidate_id
    values = {"stage": "rejected", "reviewed_by": by, "reviewed_at": now, "reason": reason}
    candidates.change(connection, name, **values)
    members = corrections.named(connection, candidate.members)
    corrections.move(connection, candidate.members, now, stage="rejected")
    deliveries.supersede(connection, name, "candidate", now)
    for one in members:
        text = _REJECTED.format(day=one.at.date().isoformat(), reason=reason)
        deliveries.notify(connection, one.actor_id, one.request_id, f"rejected:{name}", text, now)
    return candidate


def opened(name: str, url: str, actor: Actor, services: Services) -> None:
    """Write down that the pull request of a candidate is open."""
    now = services.clock()
    with services.store.writing() as connection:
        candidate = held(connection, name, actor, services, is_locked=True)
        values = {"stage": "opened", "reviewed_by": actor.id, "reviewed_at": now, "pull_request": url}
        candidates.change(connection, name, **values)
        deliveries.supersede(connection, name, "candidate", now)
        entry = audit.append(connection, _reviewed("opened", candidate, actor, services, url=url), lambda: now)
    services.anchor(after(entry))


def held(connection: Connection, name: str, actor: Actor, services: Services, is_locked: bool = False) -> Candidate:
    """The candidate, for a steward who may decide about it. Raises UsageError."""
    check_steward(actor, services)
    found = candidates.load(connection, name, is_locked)
    if found is None:
        raise UsageError(f"there is no candidate `{name}`", "`bylaw promote list` names them")
    if found.stage in ("rejected", "landed", "merged"):
        raise UsageError(f"`{name}` was {found.stage} already")
    return found


def check_steward(actor: Actor, services: Services) -> None:
    """Raise UsageError unless *actor* stewards the shared knowledge."""
    if not services.index.rules.roles.is_steward(actor.id):
        raise UsageError(
            "only a steward looks after what everybody corrects",
            "say who acts with `--as USER`; `steward` in rules/roles.yaml names them",
        )


def _agreed(
    found: Iterable[Correction], connection: Connection, services: Services, now: datetime
) -> tuple[Consensus, ...]:
    rules = services.index.rules
    refused = candidates.all_of(connection, "rejected")
    context = services.index.bundle.context
    rejected = {_meant(one, context): one.reviewed_at for one in refused if one.reviewed_at is not None}
    return consensus(found, rules.roles, rules.promotion, context, now, rejected)


def _voices(connection: Connection, about: Correction | None) -> tuple[Correction, ...]:
    if about is None:
        return corrections.in_play(connection)
    return corrections.about(connection, str(about.object), str(about.field))


def _is_news(connection: Connection, one: Consensus, services: Services) -> bool:
    standing = _open(connection, one.structure, services)
    return standing is None or standing.members != tuple(member.correction_id for member in one.members)


def _open(connection: Connection, meaning: str, services: Services) -> Candidate | None:
    """The candidate of that meaning that waits already, however it was spelled then."""
    context = services.index.bundle.context
    return next((one for one in candidates.all_of(connection, *WAITING) if _meant(one, context) == meaning), None)


def _meant(one: Candidate, context: Context) -> str:
    """What its change means over what is declared now; of one that cannot be read any more, what it meant then."""
    change = Change.model_validate(one.change)
    is_known = is_there(change, context) and is_readable(change, context)
    return structure(change, context) if is_known else one.structure


def _proposed(connection: Connection, one: Consensus, services: Services, now: datetime) -> AuditEntry | None:
    """Keep a new candidate; of one that waits already, who else agrees meanwhile."""
    members = tuple(member.correction_id for member in one.members)
    if (standing := _open(connection, one.structure, services)) is not None:
        if standing.stage == "proposed" and standing.members != members:
            candidates.change(connection, standing.candidate_id, members=members, similar=one.similar)
            corrections.move(connection, members, now, stage="candidate")
        return None
    name = f"P-{one.structure[:10]}-{len(candidates.of_structure(connection, one.structure)) + 1}"
    made = Candidate(name, one.structure, now, "proposed", one.change.model_dump(), one.domain, members, one.similar)
    if not candidates.keep(connection, made):
        return None
    corrections.move(connection, members, now, stage="candidate")
    text = _PROPOSED.format(count=len(one.people), change=in_words(one.change), name=name)
    for steward in services.index.rules.roles.stewards():
        deliveries.notify(connection, steward, name, "candidate", text, now)
    said = {"event": "candidate", "candidate": name, "change": made.change, "members": list(members)}
    return audit.append(connection, {**said, **_origin(services)}, lambda: now)


def _says(context: Context, change: Change) -> bool:
    return is_there(change, context) and is_readable(change, context) and is_in_force(change, context)


def _change(one: Correction) -> Change:
    return Change(object=str(one.object), field=str(one.field), new=str(one.new))


def _merged_entry(
    done: list[Correction], merged: list[Candidate], rejected: list[Candidate], services: Services
) -> dict[str, object]:
    named = {"corrections": [one.correction_id for one in done], "candidates": [one.candidate_id for one in merged]}
    if rejected:
        named["rejected"] = [one.candidate_id for one in rejected]
    return {"event": "promoted", **named, **_origin(services)}


def _reviewed(event: str, candidate: Candidate, actor: Actor, services: Services, **said: str) -> dict[str, object]:
    named = {"event": f"candidate {event}", "candidate": candidate.candidate_id, "actor": actor.model_dump()}
    return {**named, **said, **_origin(services)}


def _origin(services: Services) -> dict[str, object]:
    return {"bundle_etag": services.bundle_etag, "commit": services.commit, "artifacts": {}}
