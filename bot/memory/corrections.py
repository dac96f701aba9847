"""A person says that an answer is wrong, as structure (seed 004, 9.3): kept with its request, routed by its type.

A fact or a trap shapes the answers of this person at once, and of nobody else. A wrong permission changes nothing and
is told to who looks after security. How somebody likes their answers is only theirs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bot import rights
from bot.conversation import Actor, Reply
from bot.evidence.store import kept, marks
from bot.evidence.store.connection import Connection
from bot.evidence.store.tables import audit, corrections, deliveries, querylog
from bot.evidence.store.tables.corrections import Correction, CorrectionType, Stage
from bot.evidence.store.tables.requests import Standing
from bot.memory import preferences
from bot.memory.candidates import gather
from bot.memory.changes import Change, field_of, in_words
from bot.memory.structure import (
    checked,
    current,
    domain_of,
    is_readable,
    is_there,
    may_read,
    objects_behind,
    owners_behind,
    schema_of,
    structure,
)
from bot.pii import Mask
from bot.services import Services
from bylaw.audit.entry import after
from bylaw.authored.context import Context
from bylaw.canonical import fingerprint, is_text
from bylaw.errors import UsageError

LONGEST_REASON = 1_000
MOST = 200  # corrections that shape one person's answers at a time

GONE = "I do not know that answer. Ask the question again."
LOCALIZED = (  # seed 004, C.4
    "I have applied this correction to your personal context: it improves my answers for you immediately. If multiple "
    "senior colleagues make the same correction, it may be flagged for review to update the shared knowledge base."
)
CAPTURED = (
    "I have noted this correction. It changes no answer, not even yours, before a steward has reviewed it: rights and "
    "tables hang on it."
)
PERMISSION_EVENT = "permission"  # what the event of a notice to who looks after it begins with
_FLAGGED = (
    "{who} says that a right is wrong, of the answer `{name}`: “{reason}”. Nothing has changed: look at who may read "
    "what (rules/roles.yaml), with `bylaw trace {name}`."
)
PERMISSION = "I've flagged this as a permission issue for immediate review. It changes nothing by itself."
PREFERENCE = "I've noted your preference and will apply it to future queries."
AGAIN = "You have said so before: it is applied already."


@dataclass(frozen=True)
class Given:
    """What somebody says about the answer to a request. Of a permission only the reason counts."""

    request_id: str
    correction_type: CorrectionType | None = None
    object: str = ""
    field: str = ""
    new: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Noted:
    """What became of it, and what to tell the person."""

    correction: Correction
    text: str
    is_new: bool = True


def correct(given: Given, actor: Actor, services: Services) -> Noted:
    """Keep the correction in the name of *actor*. Raises UsageError for what cannot be one."""
    reason = _reason(given)
    with services.store.reading() as connection:
        standing = answered(connection, given.request_id, actor, services)
    made = _made(given, reason, standing, actor, services)
    with services.store.writing() as connection:
        if (before := _before(connection, made, services.index.bundle.context)) is not None:
            return Noted(before, AGAIN, is_new=False)
        if made.is_applied and len(corrections.applied(connection, actor.id)) >= MOST:
            raise UsageError(f"{MOST} corrections shape your answers already", "forget some: `bylaw memory list`")
        corrections.keep(connection, made)
        if made.correction_type == "preference":
            liked = (str(made.field), str(made.new))
            preferences.retain(connection, actor.id, liked, made.request_id, services.clock())
        if made.correction_type == "permission":
            _tell_who_looks_after_it(connection, made, standing, services)
        querylog.correct(connection, made.request_id, made.correction_type)
        rows = marks.of_request(connection, made.request_id, "query_log")
        entry = audit.append(connection, _entry(made, actor, services), services.clock, made.request_id, rows)
    services.anchor(after(entry))
    if made.structure is not None:
        gather(services, made.at, made)
    return Noted(made, _told(made))


def answered(connection: Connection, request_id: str, actor: Actor, services: Services) -> Standing:
    """The request whose answer *actor* has seen. Raises UsageError: to everybody else there is no such answer."""
    standing = kept.standing(connection, request_id)
    if standing is None or standing.reply is None:
        raise UsageError(GONE)
    asker = standing.question.actor
    if actor.id != asker.id and not rights.is_for_everyone(standing.reply, asker, services.index):
        raise UsageError(GONE)
    return standing


def _tell_who_looks_after_it(connection: Connection, made: Correction, standing: Standing, services: Services) -> None:
    """Who owns what the answer rests on, as far as the roles know them, else the stewards; not who says so."""
    assert standing.reply is not None
    roles = services.index.rules.roles
    owners = {user for name in owners_behind(standing.reply, services.index) for user in roles.people(name)}
    people = (owners - {made.actor_id}) or (set(roles.stewards()) - {made.actor_id})
    text = _FLAGGED.format(who=made.actor_id, name=made.request_id, reason=made.reason)
    for person in sorted(people):
        event = f"{PERMISSION_EVENT}:{made.correction_id}"
        deliveries.notify(connection, person, made.request_id, event, text, made.at)


def _reason(given: Given) -> str:
    text = " ".join(given.reason.split())
    if not text or not is_text(text) or len(text) > LONGEST_REASON:
        raise UsageError(f"the reason takes 1 to {LONGEST_REASON} characters", "say why: who reviews it will ask")
    return text


def _made(given: Given, reason: str, standing: Standing, actor: Actor, services: Services) -> Correction:
    assert standing.reply is not None
    roles = services.index.rules.roles
    now = services.clock()
    whole: dict[str, Any] = {
        "at": now,
        "actor_id": actor.id,
        "actor_roles": tuple(roles.roles_of(actor.id)),
        "request_id": standing.request_id,
        "reason": reason,
        "stage": "captured",
        "is_applied": False,
        **dict.fromkeys(("domain", "object", "field", "old", "new", "structure")),
    }
    match given.correction_type:
        case "permission":
            whole |= {"correction_type": "permission"}
        case "preference":
            name, value = preferences.checked(given.field, given.new, services.index.rules)
            whole |= {"correction_type": "preference", "field": name, "new": value, "stage": "localized"}
        case _:
            whole |= _changed(given, standing.reply, actor, services)
    named = {**whole, "at": now.isoformat(), "actor_roles": list(whole["actor_roles"])}
    return Correction(correction_id=f"C-{fingerprint(named)[:12]}", **whole)


def _changed(given: Given, reply: Reply, actor: Actor, services: Services) -> dict[str, Any]:
    context, roles = services.index.bundle.context, services.index.rules.roles
    change = checked(Change(object=given.object, field=given.field, new=given.new), context)
    if (personal := next(Mask(services.index.rules.pii).find(change.new), None)) is not None:
        raise UsageError(
            f"the value holds personal data ({personal.label})", "say it without: reviewers and git read it"
        )
    behind = objects_behind(reply, context)
    if change.object not in behind:
        named = ", ".join(behind) or "nothing that is written in a file"
        raise UsageError(f"the answer does not rest on `{change.object}`", f"it rests on {named}")
    schema = schema_of(change.object, context)
    known = {entity.base_table.schema_name for entity in context.entities.values()}
    if schema is not None and schema not in roles.schemas_of(actor.id, known):
        raise UsageError(GONE)
    if not may_read(change, actor.id, roles, context):  # as if there were none: its rows are not theirs
        raise UsageError(f"`{change.new}` reads a column that the context does not know")
    field = field_of(change)
    assert field is not None  # it was checked
    stage: Stage = "localized" if field.is_private else "captured"
    return {
        "correction_type": field.correction_type,
        "domain": domain_of(change.object, context),
        "object": change.object,
        "field": change.field,
        "old": current(change, context),
        "new": change.new,
        "structure": structure(change, context),
        "stage": stage,
        "is_applied": field.is_private,
    }


def _before(connection: Connection, made: Correction, context: Context) -> Correction | None:
    """The same correction by the same person, where it still holds. Another value takes the place of the one before."""
    if made.structure is None or made.object is None or made.field is None:
        return None
    own = [one for one in corrections.about(connection, made.object, made.field) if one.actor_id == made.actor_id]
    standing = [one for one in own if one.stage in ("captured", "localized", "candidate")]
    if (same := next((one for one in standing if _meant(one, context) == made.structure), None)) is not None:
        return same
    if made.field != "synonyms":
        replaced = [one.correction_id for one in own if one.is_applied or one in standing]
        corrections.move(connection, replaced, made.at, stage="withdrawn", is_applied=False)
    return None


def _meant(one: Correction, context: Context) -> str | None:
    change = Change(object=str(one.object), field=str(one.field), new=str(one.new))
    is_known = is_there(change, context) and is_readable(change, context)
    return structure(change, context) if is_known else one.structure


def _told(made: Correction) -> str:
    match made.correction_type:
        case "permission":
            return PERMISSION
        case "preference":
            return PREFERENCE
        case "factual" | "gotcha":
            change = Change(object=str(made.object), field=str(made.field), new=str(made.new))
            return f"{LOCALIZED if made.is_applied else CAPTURED} ({in_words(change)})"


def _entry(made: Correction, actor: Actor, services: Services) -> dict[str, object]:
    """The audit entry. A permission that is wrong is an event of security."""
    return {
        "event": "security" if made.correction_type == "permission" else "corrected",
        "request_id": made.request_id,
        "actor": actor.model_dump(),
        "correction": {
            "correction_id": made.correction_id,
            "type": made.correction_type,
            "target_layer": made.target_layer,
            "object": made.object,
            "field": made.field,
            "new": made.new,
            "reason": made.reason,
        },
        "bundle_etag": services.bundle_etag,
        "commit": services.commit,
        "artifacts": {},
    }
