"""How a decision stands, in words, and what it is called: told before anything else of it, always."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, timedelta, timezone

from bylaw.authored.decisions import Decision, Decisions, Event, Status, Transition
from bylaw.canonical import plain

ACCEPTED: Status = "accepted"
_OPEN = ("proposed", "deferred")
_UNDATED: Mapping[str, str] = {
    "first_commit": " (the day of its first commit: the record names none)",
    "file_name": "",
    "record": "",
    "nothing": "",
}


def called(decision: Decision) -> str:
    """What people call it: its first alias, its number, else its id."""
    return next(iter(decision.names_beside_id()), decision.id)


def written_day(day: date | None) -> str:
    """`30 April 2012`."""
    return "an unknown day" if day is None else f"{day.day} {day:%B} {day.year}"


def local_day(record: Event | Transition) -> date | None:
    """The day of a record where it was written down, by the offset that stood beside its time."""
    if record.timestamp is None:
        return None
    moment = datetime.fromisoformat(record.timestamp.replace("Z", "+00:00"))
    return moment.astimezone(_zone(plain(record.x_extra).get("source_tz"))).date()


def _zone(offset: object) -> timezone:
    """`+09:00` as a time zone; UTC where nobody wrote one."""
    text = offset if isinstance(offset, str) else ""
    parts = text[1:].split(":")[:2]
    if text[:1] not in ("+", "-") or len(parts) != 2 or not all(part.isdigit() for part in parts):
        return UTC
    ahead = timedelta(hours=int(parts[0]), minutes=int(parts[1]))
    return timezone(ahead if text[0] == "+" else -ahead) if ahead < timedelta(hours=24) else UTC


def state_of(decision: Decision, decisions: Decisions) -> str:
    """How it stands, since when and by what: `Superseded by ADR-15 on 6 March 2018`."""
    word = decision.status.capitalize()
    others = {name: _known(getattr(decision, name), decisions) for name in ("superseded_by", "amended_by")}
    if decision.status in _OPEN:
        day = decision.proposed_on or decision.decided_on
        told = f"{word}{f' on {written_day(day)}' if day else ''}, not decided"
    elif others["superseded_by"] and decision.status != ACCEPTED:
        told = f"{word} by {_listed(others['superseded_by'])}{_since(others['superseded_by'])}"
    elif decision.status in (ACCEPTED, "rejected"):
        told = word + (f" on {written_day(decision.decided_on)}" if decision.decided_on else " (no day is recorded)")
    else:
        told = word + (f" (decided on {written_day(decision.decided_on)})" if decision.decided_on else "")
    if decision.status == ACCEPTED and others["superseded_by"]:
        told += f", in part superseded by {_listed(others['superseded_by'])}{_since(others['superseded_by'])}"
    if others["amended_by"]:
        told += f", amended by {_listed(others['amended_by'])}{_since(others['amended_by'])}"
    return f"{told}{_as_written(decision)}{_UNDATED[decision.dated_by]}"


def written_status(decision: Decision) -> str | None:
    """The state in the words of its own file, where that is another word."""
    said = decision.x_extra.get("status")
    return said if isinstance(said, str) and said.casefold() != decision.status else None


def _as_written(decision: Decision) -> str:
    said = written_status(decision)
    return f" (written “{said}”)" if said else ""


def _known(ids: Iterable[str], decisions: Decisions) -> list[Decision]:
    return [decisions.decisions[id] for id in ids if id in decisions.decisions]


def _listed(others: Iterable[Decision]) -> str:
    return " and ".join(called(one) for one in others)


def _since(others: Iterable[Decision]) -> str:
    days = [one.decided_on for one in others if one.decided_on is not None]
    return f" on {written_day(max(days))}" if days else ""
