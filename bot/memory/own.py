"""What the bot remembers of one person, shown to that person, and forgotten when they say so (seed 004, 9.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

from bot.conversation import Actor
from bot.evidence.store.tables import audit, corrections, querylog
from bot.memory import preferences
from bot.memory.changes import Change
from bot.memory.changes import in_words as change_in_words
from bot.services import Services
from bylaw.audit.entry import after
from bylaw.errors import UsageError

_MOST_INTERESTS = 5


def remembered(actor: Actor, services: Services) -> dict[str, Any]:
    """Corrections, preferences, the work of the last days and what it was about; all of this person alone."""
    days = services.index.rules.promotion.work_history_days
    since = services.clock() - timedelta(days=days)
    with services.store.reading() as connection:
        mine = [one for one in corrections.of(connection, actor.id) if one.stage != "withdrawn"]
        liked = preferences.of(connection, actor.id)
        history = querylog.by_actor(connection, actor.id, since)
    interests = Counter(str(one["domain"]) for one in history if one["domain"])
    return {
        "actor": actor.id,
        "corrections": [
            {
                "correction_id": one.correction_id,
                "at": one.at.isoformat(),
                "type": one.correction_type,
                "object": one.object,
                "field": one.field,
                "new": one.new,
                "stage": one.stage,
                "shapes_your_answers": one.is_applied,
            }
            for one in mine
        ],
        "preferences": preferences.grouped(liked),
        "work_history": {"days": days, "requests": len(history)},
        "interests": [name for name, _ in interests.most_common(_MOST_INTERESTS)],
        "roles": list(services.index.rules.roles.roles_of(actor.id)),
    }


def forget(name: str, actor: Actor, services: Services) -> None:
    """Forget a correction by its id, or a preference by its name. Raises UsageError for what is not remembered."""
    with services.store.writing() as connection:
        now = services.clock()
        own = {one.correction_id: one for one in corrections.of(connection, actor.id) if one.stage != "withdrawn"}
        if name in own:
            corrections.move(connection, [name], now, stage="withdrawn", is_applied=False)
        elif not preferences.forget(connection, actor.id, name):
            raise UsageError(f"nothing of yours is remembered as `{name}`", "`bylaw memory list` names what is")
        said = {"event": "forgotten", "actor": actor.model_dump(), "what": name, "artifacts": {}}
        entry = audit.append(
            connection, {**said, "bundle_etag": services.bundle_etag, "commit": services.commit}, lambda: now
        )
    services.anchor(after(entry))


def in_words(found: Mapping[str, Any]) -> str:
    """As lines."""
    return "\n".join(_lines(found))


def _lines(found: Mapping[str, Any]) -> Iterator[str]:
    for one in found["corrections"]:
        what = one["type"]
        if one["object"]:
            what = change_in_words(Change(object=one["object"], field=one["field"], new=str(one["new"])))
        shapes = "shapes your answers" if one["shapes_your_answers"] else one["stage"]
        yield f"{one['correction_id']}  {one['at'][:10]}  {what} ({shapes})"
    liked = found["preferences"]
    if grain := liked.get(preferences.GRAIN):
        yield f"{preferences.GRAIN}  {preferences.in_words(preferences.GRAIN, grain)}"
    for care in liked.get(preferences.CARE, ()):
        yield f"{care}  {preferences.in_words(preferences.CARE, care)} (of all such wishes, the strictest counts)"
    work = found["work_history"]
    yield f"{work['requests']} requests in the last {work['days']} days"
    if found["interests"]:
        yield f"mostly about {', '.join(found['interests'])}"
