"""What happens because time passes. Each job does what is due by now, in small transactions, and leaves the rest.

Any number of processes may tick at once: on a server each passes over the rows that another has locked, on SQLite one
writes at a time. A process that dies has done whole transactions; the next tick goes on from there.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime

from bot.evidence.store import marks
from bot.evidence.store.connection import Connection
from bot.evidence.store.engine import StoreError
from bot.evidence.store.tables import audit, deliveries, requests
from bot.evidence.store.tables.requests import Standing
from bot.lifecycle import Outcome
from bot.memory import candidates
from bot.memory.following import follow
from bot.request.orchestrator import handle
from bot.request.settlement import TIME, settle
from bot.services import Services, Serving
from bylaw.audit.entry import AuditEntry, after
from bylaw.authored.machines.autonomy import OnTimeout
from bylaw.errors import BylawError

Job = Callable[[Services, datetime], int]  # how many things it did

_RESUMED = 20  # questions that one tick answers
_BATCH = 50  # answers settled in one transaction: the chain is locked meanwhile
_OUTCOMES: Mapping[OnTimeout, Outcome] = {
    "accept": Outcome.TIMEOUT,
    "abandon": Outcome.ABANDONED,
    "expire": Outcome.EXPIRED,
}
# who asked is told; an answer that counts as accepted needs no word. The first is that of seed 004, 8.2
_NOTICES: Mapping[Outcome, str] = {
    Outcome.ABANDONED: (
        "Your query from {day} timed out without confirmation. Results were not finalized. "
        "Please resubmit if still needed."
    ),
    Outcome.EXPIRED: "What I recommended on {day} expired without a decision. Nothing ran. Please ask again if needed.",
}

_log = logging.getLogger("bylaw.bot")


def tick(services: Services, now: datetime, jobs: Mapping[str, Job] | None = None) -> dict[str, int]:
    """Do all that is due; how many things each job did. A job that the store or the world keeps from it is logged."""
    done = {}
    for name, job in (JOBS if jobs is None else jobs).items():
        try:
            done[name] = job(services, now)
        except BylawError as error:
            _log.warning("a job was not done", extra={"meta": {"job": name, "reason": error.message}})
            done[name] = 0
    return done


@contextmanager
def ticking(serving: Serving, seconds: float) -> Iterator[None]:
    """Tick every so many seconds as long as the context lasts; 0: never."""
    if not seconds:
        yield
        return
    ending = threading.Event()

    def run() -> None:
        while not ending.wait(seconds):
            services = serving.services()
            tick(services, services.clock(), {**JOBS, **SERVED})

    thread = threading.Thread(target=run, name="scheduler", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ending.set()
        thread.join()


def resume(services: Services, now: datetime) -> int:
    """Answer what a process began to answer and died over; how many it was. Another process passes them over.

    INVARIANT: a request that ends every process is asked `max_attempts` times and then left to a person.
    """
    with services.store.reading() as connection:
        found = requests.orphaned(connection, now, _RESUMED)
    at_once = replace(services, wait_seconds=0)
    for standing in found:
        try:
            handle(standing.question, at_once)
        except StoreError:
            raise
        except Exception as error:  # it is recorded with the request, which is nobody's any more
            _log.error("a question broke down", exc_info=error, extra={"request_id": standing.request_id})
    return len(found)


def timers(services: Services, now: datetime) -> int:
    """Settle the answers that nobody said anything about in time, as their level says."""
    count = 0
    while True:
        with services.store.writing() as connection:
            found = requests.due(connection, now, _BATCH)
            entries = [_time_out(connection, standing, services, now) for standing in found]
        settled = [entry for entry in entries if entry is not None]
        if settled:
            services.anchor(after(settled[-1]))
        count += len(settled)
        if len(found) < _BATCH:
            return count


def _time_out(connection: Connection, standing: Standing, services: Services, now: datetime) -> AuditEntry | None:
    outcome = _outcome(standing, services)
    if outcome is None:
        requests.keep_open(connection, standing.request_id)
        body = {"event": "kept-open", "request_id": standing.request_id}
        origin = {"bundle_etag": services.bundle_etag, "commit": services.commit}
        rows = marks.of_request(connection, standing.request_id, "requests")
        audit.append(connection, {**body, **origin}, now, standing.request_id, rows)
        return None
    entry = settle(connection, standing, outcome, TIME, lambda: now)
    if outcome in _NOTICES:
        day = services.index.local(standing.created_at).date().isoformat()
        text = _NOTICES[outcome].format(day=day)
        deliveries.notify(connection, standing.question.actor.id, standing.request_id, outcome.value, text, now)
    return entry


def _outcome(standing: Standing, services: Services) -> Outcome | None:
    """What becomes of it now. None: by the rules of today it waits on. A plan that never ran is never accepted."""
    assert standing.reply is not None and standing.reply.level is not None  # what has a timer has both
    on_timeout = services.index.rules.autonomy.level(standing.reply.level).on_timeout
    if on_timeout == "accept" and standing.reply.status != "answered":
        return Outcome.EXPIRED
    return _OUTCOMES.get(on_timeout)


JOBS: Mapping[str, Job] = {
    "timers": timers,
    "consensus": candidates.gather,
    "followed": follow,
    "retired": candidates.retire,
}
SERVED: Mapping[str, Job] = {"resumed": resume}  # only where questions are answered: it needs the same warehouse
