"""What was redacted is nowhere any more, what was not is all there, and what was interrupted is ended by the next."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text

from bot.conversation import Actor
from bot.evidence.artifacts import Artifacts, shelf
from bot.evidence.store.engine import Store
from bot.evidence.store.tables import audit, deliveries, requests, served
from bot.evidence.store.tables.papers import Papers, everywhere
from bot.operate.redaction import Scope, redact
from bot.request.orchestrator import handle
from bylaw.audit import entry
from bylaw.audit.entry import REDACTION
from bylaw.bundle import BundleMetadata
from bylaw.errors import UsageError
from tests.fakes import stored
from tests.fakes.forked import Forked
from tests.fakes.frame import NOON, question, services
from tests.fakes.stored import every_row

SECRET = "anabelle"  # in everything that she says, and in nothing else
LATER = NOON + timedelta(hours=1)


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request):
    if request.param == "sqlite":
        return "sqlite:///store.db"
    from tests.fakes.postgresql import emptied

    server = request.getfixturevalue("postgresql")
    emptied(server, "bylaw")
    return f"{server}bylaw"


@pytest.fixture(params=["store", "folder", "memory"])
def place(request, tmp_path):
    """The value of BYLAW_ARTIFACTS."""
    return {"store": None, "folder": "papers", "memory": f"memory://{tmp_path.name}"}[request.param]


@pytest.fixture
def bot(url, place, tmp_path):
    """Services that kept a conversation of hers, an answer that she accepted, and one of somebody else."""
    made = on(url, place, tmp_path)
    yield made
    made.store.close()


def on(url, place, root):
    made = services(root, url)
    return replace(made, artifacts=everywhere(place, root, made.store)[0])


def talked(bot):
    """Her words are in a question, a conversation, an answer that was accepted, and a delivery; Ben asks the same."""
    for n, said in ((1, "may I return it?"), (2, "9 days ago"), (3, "true")):
        tell(bot, f"ana{n}", f"{said} {SECRET}", "ana")
    tell(bot, "sum", f"revenue by region for {SECRET}", "sum")
    with bot.store.writing() as connection:
        requests.settle(connection, "sum", requests.Outcome.ACCEPTED, f"accepted by {SECRET}", NOON)
        said = {"event": "accepted", "request_id": "sum", "actor": {"id": SECRET}, **named(connection, "sum")}
        audit.append(connection, said, NOON, "sum")
        deliveries.keep(connection, "ana1", {"text": SECRET}, NOON)
        deliveries.close(connection, deliveries.claim(connection, "ana1", "me", NOON, bot.lease), NOON, {"ts": "1"})
    for n, said in ((1, "may I return it?"), (2, "9 days ago"), (3, "true")):
        tell(bot, f"ben{n}", said, "ben")


def tell(bot, name, said, session):
    return handle(question(name, said, session_id=session, actor=Actor(id=session)), bot)


def named(connection, request_id):
    return {"artifacts": dict(requests.load(connection, request_id).artifacts)}


def take(bot, place, root, scope, **others):
    shelves = everywhere(place, root, bot.store)
    return redact(scope, bot.store, shelves, "dpo", "asked for", lambda: NOON, **others)


def everything(bot):
    """All that is kept, as text."""
    with bot.store.reading() as connection:
        rows = every_row(connection)
    kept = bot.artifacts
    files = [kept.fs.cat_file(path).decode() for path in kept.fs.find(kept.base)] if isinstance(kept, Artifacts) else []
    return "\n".join([*rows, *files])


def holds(bot):
    with bot.store.reading() as connection:
        return audit.verify(connection)


def marks_of(bot, name):
    """The fingerprints of the papers of the request, as its entry tells them."""
    with bot.store.reading() as connection:
        (entry, *_) = audit.about(connection, name)
    return entry.body["artifacts"]


def papers_of(bot, marks):
    """Which papers of a request are there."""
    found = set()
    for role, mark in marks.items():
        try:
            bot.artifacts.get(mark)
            found.add(role)
        except Exception as error:
            assert "is not" in str(error)
    return found


def test_what_was_said_is_nowhere_and_the_chain_holds(bot, place, tmp_path):
    talked(bot)
    assert SECRET in everything(bot)
    hers, his = marks_of(bot, "ana3"), marks_of(bot, "ben3")
    told = [take(bot, place, tmp_path, Scope(name)) for name in ("ana1", "ana2", "ana3", "sum")]
    assert [(one.entry_count, one.request_count) for one in told] == [(1, 1), (1, 1), (1, 1), (2, 1)]
    assert SECRET not in everything(bot)
    assert (holds(bot).is_intact, holds(bot).redacted_count) == (True, 5)
    assert papers_of(bot, hers) <= {"case"}  # Ben's case is the same
    assert papers_of(bot, his) == {"case", "reply", "request"}
    if bot.store.dialect == "sqlite":
        assert bot.store.settle()
        assert not [path for path in tmp_path.glob("store.db*") if SECRET.encode() in path.read_bytes()]
    again = take(bot, place, tmp_path, Scope("ana1"))
    assert (again.entry, again.entry_count, again.request_count, again.paper_count) == (None, 0, 0, 0)


def test_a_paper_that_two_answers_share_goes_with_the_last_of_them(bot, place, tmp_path):
    talked(bot)
    his = marks_of(bot, "ben3")
    take(bot, place, tmp_path, Scope("ana3"))
    assert "case" in papers_of(bot, his)
    done = take(bot, place, tmp_path, Scope("ben3"))
    assert (papers_of(bot, his), done.paper_count) == (set(), 3)


def test_by_time_everything_goes_that_was_kept_before_with_or_without_an_entry(bot, place, tmp_path):
    talked(bot)
    late = replace(bot, clock=lambda: LATER)
    tell(late, "late", "revenue by month", "late")
    with bot.store.writing() as connection:
        for name, moment in (("dead", NOON), ("alive", LATER)):
            requests.claim(connection, question(name, SECRET, session_id=name), "gone", moment, bot.lease)
        deliveries.keep(connection, "waits", {"text": "hello"}, NOON)
    done = take(bot, place, tmp_path, Scope(before=LATER))
    assert done.entry_count == 8
    with bot.store.reading() as connection:
        left = {name: requests.load(connection, name) is not None for name in ("ana1", "sum", "dead", "late", "alive")}
        assert stored.delivery(connection, "waits") is not None
    assert left == {"ana1": False, "sum": False, "dead": True, "late": True, "alive": True}  # the dead hold a lease
    after = replace(bot, clock=lambda: LATER)
    redact(Scope(before=LATER), bot.store, everywhere(place, tmp_path, bot.store), "dpo", "due", after.clock)
    with bot.store.reading() as connection:
        assert requests.load(connection, "dead") is None
    assert (holds(bot).is_intact, papers_of(bot, marks_of(bot, "late"))) == (True, {"plan", "reply", "request"})


@pytest.mark.parametrize("place", ["folder", "memory"], indirect=True)
def test_by_time_a_paper_goes_that_its_process_did_not_live_to_record(place, tmp_path):
    bot = on("sqlite:///store.db", place, tmp_path)
    served = bot.artifacts.put({"bundle_metadata": {}, "vocabulary": {}})  # of a bot that answered nothing yet
    talked(bot)
    bot.artifacts.put({"question": {"text": SECRET}})
    take(bot, place, tmp_path, Scope(before=LATER))
    assert SECRET in everything(bot)  # files are dated by their own clock: this one was kept later
    now, shelves = datetime.now(UTC), everywhere(place, tmp_path, bot.store)
    for hours, is_there in ((0, True), (2, False)):  # what is young may be of an answer that is about to be kept
        clock = now + timedelta(hours=hours)
        redact(Scope(before=now + timedelta(days=9)), bot.store, shelves, "dpo", "due", lambda at=clock: at)
        assert (SECRET in everything(bot)) == is_there
    assert "vocabulary" in bot.artifacts.get(served)
    bot.store.close()


class Killed(BaseException):
    """What a signal would do."""


@pytest.mark.parametrize("steps", range(8))
def test_wherever_it_is_interrupted_doing_it_again_ends_it(tmp_path, monkeypatch, steps):
    """The steps are the transactions and the deletions of files."""
    bot = on("sqlite:///store.db", "papers", tmp_path)
    talked(bot)
    tell(replace(bot, artifacts=Papers(bot.store)), "inside", f"may I return it? {SECRET}", "inside")
    left = [steps]
    writing, delete = Store.writing, Artifacts._delete

    def step():
        left[0] -= 1
        if left[0] < 0:
            raise Killed

    @contextmanager
    def counted(store, is_durable=True):
        with writing(store, is_durable) as connection:
            yield connection
            step()

    def deleted(kept, places):
        for one in places:
            step()
            delete(kept, [one])

    monkeypatch.setattr(Store, "writing", counted)
    monkeypatch.setattr(Artifacts, "_delete", deleted)
    with pytest.raises(Killed):
        take(bot, "papers", tmp_path, Scope(before=LATER))
    monkeypatch.undo()
    assert holds(bot).is_intact
    assert SECRET in everything(bot)  # the chain is the last to go
    done = take(bot, "papers", tmp_path, Scope(before=LATER))
    assert (done.entry_count, SECRET in everything(bot)) == (9, False)
    assert (holds(bot).is_intact, holds(bot).redacted_count) == (True, 9)
    assert list((tmp_path / "papers").rglob("*.json")) == []
    bot.store.close()


KILL = """
import os, signal, sys
from pathlib import Path
from bot.operate import redaction
from bot.evidence.store import erasure
from bot.evidence.store.engine import connect
from bot.evidence.store.tables.papers import everywhere
from tests.fakes.frame import NOON
root, url = Path(sys.argv[1]), sys.argv[2]
redaction._AT_ONCE = 1
forget, left = erasure.forget, [3]
def counted(connection, names):
    left[0] -= 1
    found = forget(connection, names)
    if not left[0]:
        os.kill(os.getpid(), signal.SIGKILL)
    return found
erasure.forget = counted
store = connect(url, root)
redaction.redact(redaction.Scope(before=NOON.replace(hour=13)), store, everywhere("papers", root, store), "dpo", "due",
    lambda: NOON)
"""


def test_a_process_that_is_killed_in_the_middle_leaves_what_another_ends(url, tmp_path):
    bot = on(url, "papers", tmp_path)
    talked(bot)
    assert Forked("-c", KILL, tmp_path, url).wait() == -signal.SIGKILL
    assert holds(bot).is_intact
    assert (holds(bot).redacted_count, SECRET in everything(bot)) == (0, True)
    ended = take(bot, "papers", tmp_path, Scope(before=LATER))
    assert (ended.entry_count, ended.request_count, SECRET in everything(bot)) == (8, 5, False)
    assert (holds(bot).is_intact, holds(bot).redacted_count) == (True, 8)
    bot.store.close()


def test_two_at_once_redact_everything_once(url, place, tmp_path):
    bots = [on(url, place, tmp_path) for _ in range(2)]
    talked(bots[0])
    both, found = threading.Barrier(2), []

    def run(bot):
        both.wait()
        found.append(take(bot, place, tmp_path, Scope(before=LATER)))

    threads = [threading.Thread(target=run, args=(bot,)) for bot in bots]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(one.entry_count for one in found) == [0, 8]
    assert SECRET not in everything(bots[0])
    with bots[0].store.reading() as connection:
        assert [entry.body["event"] for entry in audit.entries(connection)].count(REDACTION) == 1
    assert holds(bots[0]).is_intact
    for bot in bots:
        bot.store.close()


def test_what_is_answered_meanwhile_keeps_the_papers_it_shares(url, tmp_path, monkeypatch):
    """Ben's case is the same as hers; his answer is kept after the redaction looked who needs her papers."""
    bot, other = (on(url, None, tmp_path) for _ in range(2))
    for n, said in ((1, "may I return it?"), (2, "9 days ago"), (3, "true")):
        tell(bot, f"ana{n}", said, "ana")
    settled = Store.reading

    def planned(*given):
        found = plan(*given)
        for n, said in ((1, "may I return it?"), (2, "9 days ago"), (3, "true")):
            tell(other, f"ben{n}", said, "ben")
        return found

    from bot.operate import redaction

    plan = redaction._planned
    monkeypatch.setattr(redaction, "_planned", planned)
    if bot.store.dialect == "sqlite":  # its readers do not keep writers from writing
        monkeypatch.setattr(Store, "reading", settled)
    hers = marks_of(bot, "ana3")
    take(bot, None, tmp_path, Scope("ana3"))
    his = marks_of(bot, "ben3")
    assert (papers_of(bot, hers), papers_of(bot, his)) == ({"case"}, {"case", "reply", "request"})
    assert marks_of(bot, "ana3") == {}  # whoever guesses what she said could make sure by them
    assert holds(bot).is_intact
    for one in (bot, other):
        one.store.close()


@pytest.fixture
def small(tmp_path):
    made = on("sqlite:///store.db", None, tmp_path)
    yield made
    made.store.close()


def test_what_is_being_answered_is_not_redacted_and_what_nobody_knows_is_wrong_usage(small, tmp_path):
    with small.store.writing() as connection:
        requests.claim(connection, question("r1", SECRET), "me", NOON, small.lease)
    with pytest.raises(UsageError, match="is being answered right now"):
        take(small, None, tmp_path, Scope("r1"))
    with pytest.raises(UsageError, match="nothing is recorded of a request `nobody`"):
        take(small, None, tmp_path, Scope("nobody"))
    later = redact(Scope("r1"), small.store, everywhere(None, tmp_path, small.store), "d", "r", lambda: LATER)
    assert (later.entry, later.request_count, SECRET in everything(small)) == (None, 1, False)


def test_later_requests_of_the_conversation_are_named(small, tmp_path):
    for n, said in enumerate(("may I return it?", "9 days ago", "true")):
        moment = NOON + timedelta(minutes=n)
        tell(replace(small, clock=lambda moment=moment: moment), f"ana{n}", said, "ana")
    assert take(small, None, tmp_path, Scope("ana0")).carried_on == ("ana1", "ana2")
    assert take(small, None, tmp_path, Scope("ana2")).carried_on == ()


def test_the_redaction_names_the_bundle_that_was_in_force_and_null_where_none_is_known(small, tmp_path):
    talked(small)
    bare = take(small, None, tmp_path, Scope("ana1")).entry
    with small.store.writing() as connection:
        bundle = BundleMetadata.model_construct(etag="sha256:1", source_commit="c", committed_at=None)
        served.admit(connection, bundle, None, NOON)
        origin = served.origin(connection)
    told = take(small, None, tmp_path, Scope("ana2"), origin=origin).entry
    assert [(one.body["bundle_etag"], one.body["commit"]) for one in (bare, told)] == [(None, None), ("sha256:1", "c")]
    with small.store.reading() as connection:
        bodies = [entry.body for entry in audit.entries(connection)]
    assert all(
        {"bundle_etag", "artifacts"} <= body.keys() for body in bodies if body["event"] not in ("accepted", "served")
    )


def test_what_an_earlier_version_redacted_loses_its_rows_and_papers_too(small, tmp_path, monkeypatch):
    with monkeypatch.context() as earlier:
        earlier.setattr(entry, "ARTIFACTS", "of another name")  # its headers held all fingerprints
        talked(small)
    marks = marks_of(small, "ana1")
    with small.store.writing() as connection:
        connection.execute(text("UPDATE audit SET payload = NULL WHERE request_id LIKE 'ana%'"))
        audit.append(connection, {"event": REDACTION, "redacts": [[1, 3]], "by": "dpo", "reason": "was"}, NOON)
    assert (holds(small).is_intact, papers_of(small, marks)) == (True, {"reply", "request"})
    done = take(small, None, tmp_path, Scope("ana1"))
    assert (done.entry_count, done.request_count, papers_of(small, marks)) == (1, 1, set())
    assert (holds(small).is_intact, holds(small).redacted_count) == (True, 3)
    assert take(small, None, tmp_path, Scope("ana1")).entry_count == 0


def test_papers_that_were_kept_before_the_shelf_was_named_go_too(tmp_path):
    before = on("sqlite:///store.db", None, tmp_path)
    tell(before, "old", f"may I return it? {SECRET}", "old")
    (tmp_path / ".bylaw" / "artifacts").mkdir(parents=True)
    earlier = replace(before, artifacts=shelf(".bylaw/artifacts", tmp_path))
    tell(earlier, "older", f"may I return it? {SECRET}", "older")
    for name in ("old", "older"):
        take(before, "papers", tmp_path, Scope(name))
    assert SECRET not in everything(before)
    assert list((tmp_path / ".bylaw" / "artifacts").rglob("*.json")) == []
    before.store.close()


def test_a_shelf_that_cannot_be_used_leaves_the_chain_as_it_was(tmp_path):
    bot = on("sqlite:///store.db", "papers", tmp_path)
    talked(bot)
    broken = replace(bot.artifacts, fs=Unwilling())
    with pytest.raises(Exception, match="artifacts cannot be removed at `papers`: no right to"):
        redact(Scope("ana1"), bot.store, (broken,), "dpo", "r", lambda: NOON)
    assert (holds(bot).redacted_count, SECRET in everything(bot)) == (0, True)
    bot.store.close()


class Unwilling:
    """A file system where nothing may be deleted."""

    def invalidate_cache(self):
        pass

    def exists(self, path):
        return True

    def rm(self, paths):
        raise PermissionError("no right to delete")
