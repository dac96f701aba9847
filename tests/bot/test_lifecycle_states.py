"""Whatever people do, whenever, and wherever a process dies: no answer is lost, none ends twice, every timer is right.

A model of the requests beside the real store, on both databases. Time goes forward and back; a process is killed at a
random step within a transaction.
"""

from __future__ import annotations

import functools
import tempfile
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from bot.conversation import Actor
from bot.evidence.store.tables import audit, deliveries, querylog, remarks, requests, sessions
from bot.lifecycle import ENDS, FINAL, Outcome, State
from bot.request import acceptance, owners
from bot.request.orchestrator import REVISES, handle
from bot.request.scheduler import tick
from bylaw.audit.verify import verify
from bylaw.errors import BylawError
from tests.fakes.frame import NOON, question
from tests.fakes.levels import HOURS, level_services
from tests.fakes.postgresql import emptied

ANA, GRACE = Actor(id="ana"), Actor(id="grace")
ON_TIME = {5: Outcome.TIMEOUT, 4: Outcome.TIMEOUT, 3: Outcome.ABANDONED, 2: Outcome.EXPIRED}  # seed 004, 8.2
# within a transaction, before each of which a process may die
STEPS = (
    (requests, "_update"),
    (requests, "_record"),
    (requests, "insert_new"),
    (querylog, "record"),
    (querylog, "settle"),
    (deliveries, "insert_new"),
    (remarks, "insert_new"),
    (sessions, "save"),
    (audit, "append"),
)
SECONDS = st.integers(-36 * 3600, 9 * 24 * 3600)


class Killed(BaseException):
    """The process is gone."""


@dataclass
class Expected:
    """What the model knows of one request."""

    level: int
    due: datetime | None
    is_plan: bool = False
    state: State = State.ACCEPT
    outcome: Outcome | None = None
    by: str | None = None


class Requests(RuleBasedStateMachine):
    """People ask, take, use, revise, handle; time passes; processes die."""

    names = Bundle("names")
    url = "sqlite:///store.db"

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.now = self.latest = NOON
        self.count = 0
        self.known: dict[str, Expected] = {}
        self.told: set[tuple[str, str]] = set()
        self.kill_at: int | None = None
        self.patch = pytest.MonkeyPatch()

    @initialize()
    def opened(self):
        self.fresh()
        self.served = level_services(Path(self.folder.name), self.url, clock=lambda: self.now)
        for module, name in STEPS:
            self.patch.setattr(module, name, self._mortal(getattr(module, name)))

    def fresh(self):
        """An empty database."""

    def _mortal(self, step):
        """*step*, before which the process may die."""

        @functools.wraps(step)
        def taken(*given, **named):
            if self.kill_at is not None:
                self.kill_at -= 1
                if self.kill_at < 0:
                    self.kill_at = None
                    raise Killed
            return step(*given, **named)

        return taken

    @contextmanager
    def _perhaps_killed(self, after):
        """Whatever is done within dies at that step, where it gets so far; then it is done once more."""
        self.kill_at = after
        try:
            yield
        finally:
            self.kill_at = None

    def _done(self, work, after):
        if after is not None:
            with self._perhaps_killed(after):
                try:
                    return work()
                except (Killed, BylawError):
                    pass
        return work()

    # ---- what happens -----------------------------------------------------------------------------------------------

    kills = st.one_of(st.none(), st.integers(0, 12))

    @rule(target=names, level=st.integers(1, 5), is_plan=st.booleans(), after=kills)
    def ask(self, level, is_plan, after):
        self.count += 1
        name = f"r{self.count}"
        is_plan = is_plan and level in (3, 5)
        asked = question(name, f"{'plan' if is_plan else 'level'} {level}", session_id=f"s{self.count}")
        self._done(lambda: handle(asked, self.served), after)
        hours = HOURS[level]
        due = None if hours is None else self.now + timedelta(hours=hours)
        state = State.ESCALATED if level == 1 and not is_plan else State.ACCEPT
        self.known[name] = Expected(level, due, is_plan, state)
        return name

    @rule(name=names, after=kills)
    def accept(self, name, after):
        expected = self.known[name]
        self._done(lambda: acceptance.accept(name, ANA, self.served), after)
        if expected.state is State.ACCEPT:
            self._ends(name, Outcome.ACCEPTED)

    @rule(name=names)
    def stranger(self, name):
        assert not acceptance.accept(name, Actor(id="mallory"), self.served).is_accepted

    @rule(name=names, after=kills)
    def fetch(self, name, after):
        expected = self.known[name]

        def fetched():
            standing = acceptance.standing_for(name, ANA, self.served)
            return acceptance.use(standing, ANA, self.served)

        self._done(fetched, after)
        if expected.state is State.ACCEPT and expected.level >= 4 and not expected.is_plan:
            self._ends(name, Outcome.IMPLICIT)

    @rule(target=names, name=names, after=kills)
    def revise(self, name, after):
        expected = self.known[name]
        self.count += 1
        new = f"r{self.count}"
        asked = question(new, "level 4", session_id=f"s{self.count}", options={REVISES: name})
        self._done(lambda: handle(asked, self.served), after)
        self.known[new] = Expected(4, self.now + timedelta(hours=HOURS[4]))
        if expected.state in (State.ACCEPT, State.ESCALATED):
            self._ends(name, Outcome.REVISED)
        return new

    @rule(name=names, after=kills)
    def handled(self, name, after):
        expected = self.known[name]
        with suppress(BylawError):
            self._done(lambda: owners.answer(name, "41 %", GRACE, self.served), after)
        if expected.state is State.ESCALATED:
            expected.state = State.ACCEPT  # without a timer: it waits for a word

    @rule(seconds=SECONDS)
    def time_moves(self, seconds):
        self.now += timedelta(seconds=seconds)

    @rule(after=kills)
    def time_settles(self, after):
        self._done(lambda: tick(self.served, self.now), after)
        for name, expected in self.known.items():
            if expected.state is State.ACCEPT and expected.due is not None and expected.due <= self.now:
                outcome = ON_TIME[expected.level]
                is_unrun = expected.is_plan and outcome is Outcome.TIMEOUT
                self._ends(name, Outcome.EXPIRED if is_unrun else outcome)
                if expected.outcome is not Outcome.TIMEOUT:
                    self.told.add((name, str(expected.outcome)))

    def _ends(self, name, outcome):
        expected = self.known[name]
        expected.state, expected.outcome = ENDS[outcome], outcome

    # ---- what always holds ------------------------------------------------------------------------------------------

    @invariant()
    def every_request_stands_where_it_should(self):
        if not self.known:
            return
        with self.served.store.reading() as connection:
            for name, expected in self.known.items():
                found = requests.load(connection, name)
                assert found is not None and found.reply is not None, f"{name} is lost"
                assert (found.state, found.outcome) == (expected.state, expected.outcome), name
                is_ended = found.state in FINAL
                assert (found.settled_at is not None) == is_ended
                assert found.due_at == (None if is_ended else expected.due)
                ends = [state for state, _, _ in requests.steps(connection, name) if state in FINAL]
                assert len(ends) == is_ended, f"{name} ended {len(ends)} times"

    def teardown(self):
        try:
            if hasattr(self, "served"):
                self._all_of_it_is_on_record()
        finally:
            self.patch.undo()
            if hasattr(self, "served"):
                self.served.store.close()
            self.folder.cleanup()

    def _all_of_it_is_on_record(self):
        with self.served.store.reading() as connection:
            entries = list(audit.entries(connection))
            rows = {row["request_id"]: row for row in querylog.rows(connection)}
            notices = [one for _, one in deliveries.notices(connection, self.now)]
        assert verify(entries).is_intact
        events = [(entry.body["request_id"], entry.body["event"]) for entry in entries]
        for name, expected in self.known.items():
            assert events.count((name, "reply")) == 1
            ended = [what for who, what in events if who == name and what in set(Outcome)]
            assert ended == ([] if expected.outcome is None else [expected.outcome])
            assert rows[name]["outcome"] == expected.outcome
        mine = [(one["about"], one["event"]) for one in notices if one["to"] == "ana" and one["event"] in set(Outcome)]
        assert sorted(mine) == sorted(self.told)  # each once


@pytest.mark.parametrize(
    ("kind", "count"),
    [
        ("sqlite", 6),
        pytest.param("sqlite", 40, marks=pytest.mark.slow),
        pytest.param("postgresql", 8, marks=pytest.mark.slow),
    ],
)
def test_no_request_is_lost_or_ends_twice_and_every_timer_is_right(kind, count, request):
    server = request.getfixturevalue("postgresql") if kind == "postgresql" else None

    class Here(Requests):
        """On this database, empty each time."""

        url = Requests.url if server is None else f"{server}bylaw"

        def fresh(self):
            if server is not None:
                emptied(server, "bylaw")

    run_state_machine_as_test(Here, settings=settings(max_examples=count, stateful_step_count=25))
