"""Where calls are decided and their ends are told: the interface behind every door, and the one in memory."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from threading import Lock
from typing import Any, Protocol

from bylaw.errors import UsageError
from bylaw.gate.answer import GateAnswer
from bylaw.gate.bindings import Call, clip
from bylaw.gate.engine import Gate
from bylaw.gate.events import Ledger
from bylaw.gate.keys import is_plain
from bylaw.language.periods import is_askable

ID_LENGTH = 128


class NothingOpen(UsageError):
    """No allowed call waits to be told how it ended under that decision id."""

    def __init__(self, decision_id: str) -> None:
        super().__init__(
            f"no allowed call waits for its end under the decision id `{clip(decision_id)}`",
            "an unknown, denied or already reported decision cannot be reported",
        )


class NotTheirs(UsageError):
    """Somebody else asked for the call whose end is told."""

    def __init__(self, decision_id: str) -> None:
        super().__init__(
            f"the decision `{clip(decision_id)}` was made for somebody else",
            "how a call ended is told by whoever asked for its decision",
        )


class DecisionPoint(Protocol):
    """Decides calls and hears how they ended."""

    def decide(self, call: Call) -> GateAnswer:
        """The answer to *call*, kept."""
        ...

    def ended(self, decision_id: str, ok: bool, output: Any = None) -> None:
        """Record how an allowed call ended. Raises NothingOpen."""
        ...

    def tools(self, actor: str | None, session_facts: Mapping[str, Any]) -> Mapping[str, bool]:
        """The bound tools, and whether that actor could ever call each."""
        ...


class HoldingPoint(DecisionPoint, Protocol):
    """One that keeps an allowed call reserved for longer than a minute."""

    def extend(self, decision_id: str, seconds: float) -> None:
        """Keep the call reserved until it ends, or so many seconds after its decision. Raises NothingOpen."""
        ...


def new_id() -> str:
    """A name for a decision."""
    return uuid.uuid4().hex


def now() -> datetime:
    """The time where nobody gives another clock."""
    return datetime.now(UTC)


@dataclass
class MemoryDecisionPoint:
    """Decides with history in this process alone: what happened is forgotten with it."""

    gate: Callable[[], Gate]
    clock: Callable[[], datetime] = now
    new_id: Callable[[], str] = new_id
    ledger: Ledger = field(default_factory=Ledger)
    _turn: Lock = field(default_factory=Lock)

    def decide(self, call: Call) -> GateAnswer:
        gate = self.gate()
        meaning = gate.read(check(call))  # a lookup takes its time, and nobody waits for it
        with self._turn:
            answer = gate.decide(call, self.ledger, self.clock(), self.new_id(), known=meaning)
            assert answer.reads is not None
            self.ledger.decided(call.session, answer.reads.at)
            event = gate.event_of(answer)
            if event is not None:
                self.ledger.reserve(event)
        return answer

    def ended(self, decision_id: str, ok: bool, output: Any = None) -> None:
        with self._turn:
            if not self.ledger.end(decision_id, ok):
                raise NothingOpen(decision_id)

    def extend(self, decision_id: str, seconds: float) -> None:
        with self._turn:
            event = self.ledger.event(decision_id)
            if event is None or event.ok is not None:
                raise NothingOpen(decision_id)
            event.until = event.at + round(seconds * 1_000_000)

    def tools(self, actor: str | None, session_facts: Mapping[str, Any]) -> Mapping[str, bool]:
        return self.gate().tools(actor, session_facts, self.clock())


def check(call: Call) -> Call:
    """*call* itself. Raises UsageError for one that is none."""
    if (call.action is None) == (call.tool is None):
        raise UsageError("a call names either an `action` or a `tool`")
    for name, value in (("actor", call.actor), ("session", call.session)):
        if value is not None and not (0 < len(value) <= ID_LENGTH and value.isprintable() and is_plain(value)):
            raise UsageError(f"the {name} must have 1 to {ID_LENGTH} printable characters, spelled in one way only")
    return call


def moment(raw: datetime | date | str | None) -> datetime | None:
    """A moment as people give it; without a time zone it is UTC. Raises UsageError."""
    if raw is None:
        return None
    try:
        found = datetime.fromisoformat(raw) if isinstance(raw, str) else raw
    except ValueError:
        raise UsageError(f"`{clip(str(raw))}` is no time", "write it like 2026-11-20T09:30:00Z") from None
    if not isinstance(found, datetime):
        found = datetime(found.year, found.month, found.day, tzinfo=UTC)
    found = found if found.tzinfo else found.replace(tzinfo=UTC)
    try:
        found = found.astimezone(UTC)
    except OverflowError:
        raise UsageError(f"`{clip(str(raw))}` is no time that can be") from None
    if not is_askable(found):
        raise UsageError(f"`{clip(str(raw))}` is too far away", "name a time of the years 1000 to 9000")
    return found


def call_of(
    action: str | None = None,
    tool: str | None = None,
    arguments: Mapping[str, Any] | None = None,
    facts: Mapping[str, Any] | None = None,
    keys: Mapping[str, Any] | None = None,
    session: str | Mapping[str, Any] | None = None,
    actor: str | None = None,
    at: datetime | date | str | None = None,
    mode: str | None = None,
) -> Call:
    """A call from what callers give: `session` is an id, or `{id, facts}`. Raises UsageError."""
    if mode not in (None, "enforce", "shadow"):
        raise UsageError(f"`{clip(str(mode))}` is no mode", "it is `enforce` or `shadow`")
    session_facts: Mapping[str, Any] = {}
    if isinstance(session, Mapping):
        given = session.get("facts") or {}
        if session.keys() - {"id", "facts"} or not isinstance(given, Mapping):
            raise UsageError("a session is an id, or `{id, facts}`")
        session, session_facts = session.get("id"), given
    if session is not None and not isinstance(session, str):
        raise UsageError("the id of a session is text")
    return check(
        Call(
            action=action,
            tool=tool,
            arguments=arguments or {},
            facts=facts or {},
            keys=keys or {},
            actor=actor,
            session=session,
            session_facts=session_facts,
            at=moment(at),
            mode=mode,  # type: ignore[arg-type]  # one of the two, as was just seen
        )
    )
