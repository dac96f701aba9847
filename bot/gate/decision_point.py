"""The durable decision point: decisions of all processes at one store, one after another, each kept before it is said.

One thread of a process takes what waits, decides it under the lock of the chain and commits the whole batch at once. A
second one waits for the disk and then answers, while the first decides what came meanwhile. What is known of history is
kept in memory, session by session and key by key, and follows what other processes changed by the number of their
changes.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from bot.conversation import sayable
from bot.evidence.anchoring import anchoring, notice_loss
from bot.evidence.store.columns import ID_LENGTH
from bot.evidence.store.connection import Connection
from bot.evidence.store.engine import Store, connect
from bot.evidence.store.marks import new_salt
from bot.evidence.store.migrate import upgrade
from bot.evidence.store.tables import audit, calls
from bot.settings import Settings
from bylaw.audit.entry import Checkpoint, after
from bylaw.canonical import canonical_json, fingerprint, is_sound
from bylaw.errors import BylawError, UsageError
from bylaw.gate.answer import GateAnswer
from bylaw.gate.bindings import Call, clip
from bylaw.gate.decision_point import NothingOpen, NotTheirs, check, new_id
from bylaw.gate.engine import Gate
from bylaw.gate.events import NO_EVENTS, Event, Ledger, Scope, Timeline
from bylaw.logic.formula.ir import Value

MOST_AT_ONCE = 64  # decisions that are committed together
MOST_HELD = 20_000  # sessions and keys whose history is kept in memory
SKEW = timedelta(seconds=60)  # by which the clocks of those who ask may be ahead
MOST_OUTPUT = 2_000  # characters of what a call gave back, beyond which only its fingerprint is kept

T = TypeVar("T")
Work = Callable[["_Turn"], Any]
Batch = list[tuple[Work, Future[Any]]]

_log = logging.getLogger("bylaw.gate")


@dataclass
class StoreDecisionPoint:
    """Decides with the history of everybody who shares the *store*."""

    store: Store
    gate: Callable[[], Gate]
    clock: Callable[[], datetime]
    anchor: Callable[[Checkpoint], None] = lambda tail: None
    commit: Callable[[], str | None] = lambda: None
    _waiting: SimpleQueue[tuple[Work, Future[Any]]] = field(default_factory=SimpleQueue)
    _committed: SimpleQueue[_Committed] = field(default_factory=SimpleQueue)
    _ledger: Ledger = field(default_factory=lambda: Ledger(holds=set()))
    _change: int = -1
    _starting: threading.Lock = field(default_factory=threading.Lock)
    _workers: tuple[threading.Thread, ...] = ()

    # ---- what doors call --------------------------------------------------------------------------------------------

    def decide(self, call: Call) -> GateAnswer:
        found: GateAnswer = self.deciding(call).result()
        return found

    def ended(self, decision_id: str, ok: bool, output: Any = None) -> None:
        self.ending(decision_id, ok, output).result()

    def tools(self, actor: str | None, session_facts: Mapping[str, Any]) -> Mapping[str, bool]:
        return self.gate().tools(actor, session_facts, self.clock())

    def deciding(self, call: Call, by: str | None = None) -> Future[GateAnswer]:
        """`decide` for who does not wait here. *by*: whose token asks; None is the host itself.

        Raises UsageError where a token's owner dates the call into the future.
        """
        if by is not None and call.at is not None and call.at - self.clock() > SKEW:
            # no call is earlier than what its history holds: from a time to come nobody would come back
            raise UsageError("`at` lies in the future", "leave it out, or give the moment of the call")
        # INVARIANT: what waits for its turn can be written down, as all that are committed together fail together
        if not all(map(is_sound, (call.action, call.tool, call.arguments, call.facts, call.keys, call.session_facts))):
            raise UsageError("the call holds characters that are not text, or is nested too deeply")
        gate = self.gate()
        meaning = gate.read(check(call))  # lookups: before anybody's turn
        return self._queued(partial(self._decided, gate, call, meaning, by))

    async def answering(self, call: Call, by: str | None = None) -> GateAnswer:
        """`decide` for a coroutine, whose loop a lookup holds up no longer than a thread takes to begin with it."""
        tool = None if call.tool is None else self.gate().reader.tools.get(call.tool)
        begin = partial(self.deciding, call, by)
        deciding = await asyncio.to_thread(begin) if tool is not None and tool.looks_up else begin()
        return await asyncio.wrap_future(deciding)

    def extend(self, decision_id: str, seconds: float) -> None:
        self._queued(partial(self._extended, decision_id, seconds)).result()

    def ending(self, decision_id: str, ok: bool, output: Any = None, by: str | None = None) -> Future[None]:
        """`ended` for who does not wait here. Raises NotTheirs where another token than that of *by* asked."""
        return self._queued(partial(self._reported, decision_id, ok, output, by))

    # ---- taking turns -----------------------------------------------------------------------------------------------

    def _queued(self, work: Work) -> Future[Any]:
        future: Future[Any] = Future()
        self._waiting.put((work, future))
        if not self._workers:
            with self._starting:
                self._workers = self._workers or tuple(map(_started, (self._run, self._tell)))
        return future

    def _run(self) -> None:
        while True:
            self._take(_batch(self._waiting))

    def _take(self, batch: Batch) -> None:
        """Do everything in *batch* in one transaction; nobody hears of anything before it is kept."""
        told: list[_Told] = []
        try:
            with self.store.writing_ahead() as connection:
                turn = _Turn(connection, audit.End.of(connection), self.commit())
                self._follow(connection)
                for work, future in batch:
                    try:
                        found = work(turn)
                        told.append((future, found, None))
                    except BylawError as error:  # refused before anything of it was written
                        told.append((future, None, error))
                turn.write()
        except BaseException as error:  # nothing was kept, so nothing is known either
            self._forget()
            _not_kept([future for _, future in batch], error)
            return
        self._committed.put((told, turn.last))

    def _tell(self) -> None:
        """Say what was decided once the disk holds it."""
        while True:
            kept = _batch(self._committed)
            try:
                self.store.last()
                for last in [last for _, last in kept if last is not None][-1:]:
                    self.anchor(last)
            except BaseException as error:
                _not_kept([future for told, _ in kept for future, *_ in told], error)
                continue
            for told, _ in kept:
                for one in told:
                    _say(*one)

    # ---- one decision, one report -----------------------------------------------------------------------------------

    def _decided(self, gate: Gate, call: Call, meaning: Any, by: str | None, turn: _Turn) -> GateAnswer:
        known = None if call.session is None else turn.last_of(call.session)
        if known is not None:
            self._ledger.decided(call.session, known.at)
        find = partial(self._line, turn.connection, gate)
        answer = gate.decide(call, self._ledger, self.clock(), new_id(), find, meaning)
        assert answer.reads is not None
        rows: dict[str, str] = {}
        if call.session is not None and (known is None or known.at != answer.reads.at):
            self._ledger.decided(call.session, answer.reads.at)
            last = calls.Last(answer.reads.at, new_salt() if known is None else known.salt)
            turn.moved[call.session] = last
            rows = last.mark(call.session)
        event = gate.event_of(answer)
        if event is not None:
            self._change += 1
            event.order = self._change
            self._ledger.take(event)
            rows |= calls.add(turn.connection, _row(event, gate, by))
        turn.keep(decision_entry(answer, gate, call, turn.commit), answer.decision_id, self.clock, rows)
        return answer

    def _reported(self, decision_id: str, ok: bool, output: Any, by: str | None, turn: _Turn) -> None:
        found = _open_call(turn, decision_id, by)
        self._change += 1
        rows = calls.change(turn.connection, found, {"ok": ok, "change": self._change})
        self._ledger.end(decision_id, ok, self._change)
        body = {
            "event": "gate-event",
            "request_id": decision_id,
            "ok": ok,
            "bundle_etag": self.gate().etag,
            "commit": turn.commit,
            **_output(output),
        }
        turn.keep(body, decision_id, self.clock, rows)

    def _extended(self, decision_id: str, seconds: float, turn: _Turn) -> None:
        found = _open_call(turn, decision_id, None)
        self._change += 1
        until = found["at"] + round(seconds * 1_000_000)
        rows = calls.change(turn.connection, found, {"reserved_until": until, "change": self._change})
        event = self._ledger.event(decision_id)
        if event is not None:
            event.until = until
        origin = {"bundle_etag": self.gate().etag, "commit": turn.commit}
        body = {"event": "gate-extended", "request_id": decision_id, "reserved_until": until, **origin}
        turn.keep(body, decision_id, self.clock, rows)

    # ---- what is known of history -----------------------------------------------------------------------------------

    def _line(self, connection: Connection, gate: Gate, scope: Scope) -> Timeline:
        holds = self._ledger.holds
        assert holds is not None
        if scope not in holds:
            if len(holds) >= MOST_HELD:
                self._ledger.clear()
            self._ledger.hold(scope, [_event(row, gate) for row in calls.of(connection, *scope)])
        return self._ledger.line(scope) or NO_EVENTS

    def _follow(self, connection: Connection) -> None:
        """Take down what other processes changed since."""
        if self._change < 0:
            self._change = calls.last_change(connection)
            return
        if calls.last_change(connection) == self._change:
            return
        gate = self.gate()
        for row in calls.behind(connection, self._change):
            self._change = row["change"]
            event = _event(row, gate)
            if self._ledger.event(event.decision_id) is None:
                self._ledger.take(event)
            elif event.ok is not None:
                self._ledger.end(event.decision_id, event.ok, event.order)
            elif (known := self._ledger.event(event.decision_id)) is not None:
                known.until = event.until

    def _forget(self) -> None:
        self._ledger.clear()
        self._change = -1


@dataclass
class _Turn:
    """One transaction: its end of the chain, and the sessions that it moved on."""

    connection: Connection
    end: audit.End
    commit: str | None
    moved: dict[str, calls.Last] = field(default_factory=dict)
    last: Checkpoint | None = None  # where the chain ends since, if anything was added

    def last_of(self, session: str) -> calls.Last | None:
        """When the session's last decision was."""
        return self.moved.get(session) or calls.last_of(self.connection, session)

    def keep(
        self, body: Mapping[str, Any], decision_id: str, clock: Callable[[], datetime], rows: Mapping[str, str]
    ) -> None:
        """Add an entry to the chain, with the marks of the *rows* that go with it."""
        self.last = after(self.end.add(audit.prepare(sayable(body)), clock(), decision_id, rows))

    def write(self) -> None:
        """Write down what is kept."""
        self.end.write(self.connection)
        calls.move(self.connection, self.moved)


_Told = tuple[Future[Any], Any, BaseException | None]  # who hears of it: what was found, or what is wrong
_Committed = tuple[list[_Told], Checkpoint | None]  # what is to be said once the disk holds it, and where it ends


def _open_call(turn: _Turn, decision_id: str, by: str | None) -> dict[str, Any]:
    """The row of an allowed call that waits for its end. Raises NotTheirs and NothingOpen."""
    found = None if len(decision_id) > ID_LENGTH else calls.stored(turn.connection, decision_id)
    if found is not None and by is not None and found["asked_by"] != by:
        raise NotTheirs(decision_id)
    if found is None or found["ok"] is not None:
        raise NothingOpen(decision_id)
    return found


def _started(work: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=work, name="gate", daemon=True)
    thread.start()
    return thread


def _batch(queue: SimpleQueue[T]) -> list[T]:
    """What waits, at least one."""
    found = [queue.get()]
    with suppress(Empty):
        while len(found) < MOST_AT_ONCE:
            found.append(queue.get_nowait())
    return found


def _say(future: Future[Any], found: Any, problem: BaseException | None) -> None:
    """Let who waits hear of it, unless nobody does any more."""
    with suppress(InvalidStateError):
        future.set_result(found) if problem is None else future.set_exception(problem)


def _not_kept(futures: Iterable[Future[Any]], error: BaseException) -> None:
    _log.error("decisions were not kept", extra={"meta": {"reason": str(error)[:300]}})
    for future in futures:
        _say(future, None, error)


def open_decision_point(
    url: str,
    gate: Callable[[], Gate],
    clock: Callable[[], datetime],
    root: Path = Path(),
    settings: Settings | None = None,
) -> StoreDecisionPoint:
    """A decision point on the store at *url*, whose tables are made where they are missing.

    Beside the store it is said where the chain stands, and every so often for good, as the *settings* of a server say;
    a chain that is not the one that was written here is told of.
    """
    given = settings or Settings(root, store_url=url)
    store = connect(url, root)
    upgrade(store)
    notice_loss(given, store)
    return StoreDecisionPoint(store, gate, clock, anchoring(given))


def decision_entry(answer: GateAnswer, gate: Gate, call: Call, commit: str | None) -> dict[str, Any]:
    """What the chain holds of a decision: enough to decide it again."""
    reads = answer.reads
    assert reads is not None
    entry: dict[str, Any] = {
        "event": "gate",
        "request_id": answer.decision_id,
        "session_id": reads.session,
        "actor": reads.actor,
        "action": reads.action,
        "tool": call.tool if call.tool is None or call.tool.isprintable() else clip(call.tool),
        "keys": dict(reads.keys),
        "facts": gate.shown(reads.facts),
        "asked_at": reads.at,
        "day": reads.day,
        "decision": answer.decision,
        "ruling": answer.ruling,
        "mode": answer.mode,
        "missing": list(answer.missing),
        "first": list(answer.first),
        "duties": list(answer.duties),
        "rules": [reason.rule_id for reason in answer.reasons if reason.rule_id],
        "policies": sorted({reason.policy_id for reason in answer.reasons if reason.policy_id}),
        "pending": answer.is_pending,
        "bundle_etag": answer.etag,
        "commit": commit,
    }
    if not entry["rules"]:
        entry["why"] = [reason.text for reason in answer.reasons]
    if answer.is_refused:
        entry["refused"] = True
    if answer.not_taken:
        entry["not_taken"] = list(answer.not_taken)
    return entry


def _output(output: Any) -> dict[str, Any]:
    if output is None:
        return {}
    if not is_sound(output):
        return {"output": "not JSON"}
    try:
        text = canonical_json(output)
    except (TypeError, ValueError, RecursionError):
        return {"output": "not JSON"}
    found: dict[str, Any] = {"output_fingerprint": fingerprint(output)}
    return found if len(text) > MOST_OUTPUT else {**found, "output": output}


def _row(event: Event, gate: Gate, by: str | None) -> dict[str, Any]:
    return {
        "decision_id": event.decision_id,
        "change": event.order,
        "session_id": event.session,
        "actor": event.actor,
        "action": event.action,
        "tool": event.tool,
        "keys": dict(event.keys),
        "facts": gate.shown(event.facts),
        "at": event.at,
        "ok": None,
        "asked_by": by,
    }


def _event(row: Mapping[str, Any], gate: Gate) -> Event:
    facts: dict[str, Value] = gate.known(row["facts"])
    ok = row["ok"]
    return Event(
        row["decision_id"],
        row["session_id"],
        row["actor"],
        row["action"],
        row["keys"],
        facts,
        row["at"],
        row["change"],
        None if ok is None else bool(ok),
        row["tool"],
        row["reserved_until"] or 0,
    )
