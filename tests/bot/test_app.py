"""The composition: real answerers on a real bundle, and a bundle that changes while it is being served."""

from __future__ import annotations

import gc
import shutil
import threading
from datetime import date
from pathlib import Path
from types import SimpleNamespace

import pytest

from bot import app
from bot.clock import new_id, now
from bot.conversation import Actor, Question
from bot.evidence.store.engine import StoreError
from bot.request.orchestrator import handle
from bot.settings import Settings
from bylaw.bundle import dump, read
from bylaw.errors import BundleError, UsageError
from bylaw.language.text import parse
from bylaw.signature import public_keys
from tests.bylaw.test_signature import OURS
from tests.fakes.bundle import write_bundle
from tests.fakes.frame import ANSWERERS, NOON


@pytest.fixture
def opened(tmp_path, monkeypatch):
    """A bot on a bundle of commit `one`. It spares what stays, and searches nothing else of this process."""
    write_bundle(tmp_path / "bundle.json", "one")
    spared = SimpleNamespace(collect=lambda: None, freeze=gc.freeze, unfreeze=gc.unfreeze)
    monkeypatch.setattr(app, "gc", spared)
    bot = app.open_bot(Settings(root=tmp_path), tmp_path / "bundle.json", ANSWERERS)
    yield bot
    bot.close()


def ask(bot, text, request_id, **others):
    return handle(Question(text=text, asked_at=NOON, request_id=request_id, **others), bot.services())


def test_the_clock_is_aware_and_names_are_new():
    assert now().utcoffset().total_seconds() == 0
    assert len({new_id() for _ in range(100)}) == 100


def test_a_newer_bundle_is_picked_up(opened):
    before = ask(opened, "revenue", "r1")
    etag = write_bundle(opened.path, "two")
    after = ask(opened, "revenue", "r2")
    assert (before.commit, after.commit, after.bundle_etag) == ("one", "two", etag)
    assert opened.readiness().bundle_etag == etag


@pytest.mark.parametrize(
    "spoil",
    [
        lambda path: path.write_text("{}"),
        lambda path: path.write_text(path.read_text().replace('"one"', '"two"')),
        lambda path: path.write_text(path.read_text()[:-100]),
        lambda path: path.write_bytes(b"\xff\xfe"),
        lambda path: path.unlink(),
    ],
    ids=["another document", "one word changed", "cut short", "no text", "gone"],
)
def test_a_refused_bundle_leaves_the_one_before_it(opened, spoil):
    spoil(opened.path)
    assert ask(opened, "revenue", "r1").commit == "one"
    ready = opened.readiness()
    assert ready.is_ready
    assert ready.commit == "one"
    assert ready.refused
    write_bundle(opened.path, "three")
    assert ask(opened, "revenue", "r2").commit == "three"
    assert opened.readiness().refused is None


def rewritten(path, committed_at, key=None):
    """The bundle at *path* as one of another commit; its etag."""
    bundle = read(path)
    metadata = bundle.bundle_metadata.model_copy(update={"committed_at": committed_at, "signature": None})
    path.write_text(dump(bundle.model_copy(update={"bundle_metadata": metadata}), key), encoding="utf-8")
    return read(path).bundle_metadata.etag


def test_an_older_bundle_is_refused_while_serving_and_at_the_next_start(opened, tmp_path):
    new = rewritten(opened.path, "2026-06-02T00:00:00Z")
    assert ask(opened, "revenue", "r1").bundle_etag == new
    old = rewritten(opened.path, "2026-06-01T00:00:00Z")
    assert ask(opened, "revenue", "r2").bundle_etag == new
    assert "served before" in opened.readiness().refused
    with pytest.raises(BundleError, match="served before"):
        app.open_bot(Settings(root=tmp_path), opened.path, ANSWERERS)
    told = app.open_bot(Settings(root=tmp_path, rollback_to=old), opened.path, ANSWERERS)
    assert ask(told, "revenue", "r3").bundle_etag == old
    told.close()


def test_what_is_compiled_here_may_be_older(opened, tmp_path):
    rewritten(opened.path, "2026-06-02T00:00:00Z")
    opened.services()
    old = rewritten(opened.path, "2026-06-01T00:00:00Z")
    bot = app.open_bot(Settings(root=tmp_path), opened.path, ANSWERERS, is_compiled_here=True)
    assert bot.services().bundle_etag == old
    bot.close()


def test_given_a_key_an_unsigned_bundle_is_refused_at_the_start_and_later(tmp_path):
    path = tmp_path / "bundle.json"
    write_bundle(path, "one")
    given = Settings(root=tmp_path, bundle_keys=public_keys(OURS.public))
    with pytest.raises(BundleError, match="is not signed"):
        app.open_bot(given, path, ANSWERERS)
    signed = rewritten(path, None, OURS.private)
    bot = app.open_bot(given, path, ANSWERERS)
    rewritten(path, "2026-06-02T00:00:00Z")
    assert bot.services().bundle_etag == signed
    assert "is not signed" in bot.readiness().refused
    bot.close()


def test_while_the_store_does_not_answer_the_bundle_before_stays_and_the_newer_is_tried_again(opened, monkeypatch):
    def no_store(_index):
        raise StoreError("the store does not answer")

    before = opened.services().bundle_etag
    admit = opened._admit
    monkeypatch.setattr(opened, "_admit", no_store)
    newer = rewritten(opened.path, "2026-06-02T00:00:00Z")
    assert opened.services().bundle_etag == before
    monkeypatch.setattr(opened, "_admit", admit)
    assert opened.services().bundle_etag == newer


def test_a_refused_bundle_is_not_read_again_until_it_changes(opened, monkeypatch):
    opened.path.write_text("{}")
    opened.services()
    monkeypatch.setattr(app, "_load", None)  # would fail if it were called
    assert opened.services().commit == "one"


def test_the_answer_that_has_begun_ends_with_the_bundle_it_began_with(opened):
    services = opened.services()
    write_bundle(opened.path, "two")
    assert opened.services().commit == "two"
    assert handle(Question(text="revenue", asked_at=NOON, request_id="r1"), services).commit == "one"


def test_while_one_thread_loads_a_bundle_the_others_go_on(opened, monkeypatch):
    loading, go_on = threading.Event(), threading.Event()
    real = app._load

    def slow(*arguments):
        loading.set()
        assert go_on.wait(30)
        return real(*arguments)

    monkeypatch.setattr(app, "_load", slow)
    write_bundle(opened.path, "two")
    first = threading.Thread(target=opened.services)
    first.start()
    assert loading.wait(30)
    assert opened.services().commit == "one"
    go_on.set()
    first.join()
    assert opened.services().commit == "two"


def test_without_a_good_bundle_there_is_no_bot(tmp_path):
    with pytest.raises(BundleError, match="no bundle"):
        app.open_bot(Settings(root=tmp_path), tmp_path / "bundle.json", ANSWERERS)
    assert not (tmp_path / ".bylaw").exists()  # and nothing is left behind


def test_an_unknown_warehouse_is_wrong_usage(tmp_path):
    write_bundle(tmp_path / "bundle.json")
    with pytest.raises(UsageError, match="oracle"):
        app.open_bot(Settings(root=tmp_path, warehouse="oracle://x"), tmp_path / "bundle.json")


def test_the_real_answerers_answer_from_a_bundle_alone(repository, tmp_path):
    shutil.copy(repository.bundle, tmp_path / "bundle.json")  # no YAML, no git beside it
    bot = app.open_bot(Settings(root=tmp_path), tmp_path / "bundle.json")
    said = {
        text: ask(bot, text, f"r{n}")
        for n, text in enumerate(
            [
                "Can I return a lamp I bought 12 days ago? I have the receipt.",
                "revenue last month",
                "why do customers have 30 days to return an item?",
                "sing me a song",
                "can we remove the receipt?",
                "delete all orders",
            ]
        )
    }
    bot.close()
    assert [(one.kind, one.status) for one in said.values()] == [
        ("policy", "answered"),
        ("data", "recommended"),  # no warehouse is connected
        ("decision", "answered"),
        ("refusal", "refused"),
        ("refusal", "refused"),
        ("refusal", "refused"),
    ]
    assert said["Can I return a lamp I bought 12 days ago? I have the receipt."].citations[0].line


def test_a_question_that_somebody_asked_before_is_read_no_more(repository, tmp_path):
    shutil.copy(repository.bundle, tmp_path / "bundle.json")
    bot = app.open_bot(Settings(root=tmp_path), tmp_path / "bundle.json")
    text = "Can I return a lamp I bought 12 days ago? I have the receipt."
    first = ask(bot, text, "r1", actor=Actor(id="amara"))
    parse.cache_clear()
    again = ask(bot, text, "r2", actor=Actor(id="zoe"))
    bot.close()
    assert (again.text, again.citations) == (first.text, first.citations)
    assert parse.cache_info().misses == 0


@pytest.mark.slow
def test_rights_come_from_the_rules_and_from_nowhere_else(tmp_path):
    """Data of a schema that nobody was granted is not read, whatever the message says."""
    from bylaw.demos.warehouse import build

    root = Path(__file__).parents[2]
    build(tmp_path / "w.duckdb", date(2026, 11, 20))
    from bylaw.cli import bundle_for_root

    copied = tmp_path / "repository"
    for name in ("policies", "context", "rules"):
        shutil.copytree(root / name, copied / name)
    granted = "{agent: {schemas: []}, manager: {schemas: []}, analyst: {schemas: [shop]}}"
    roles = f'schema_version: "1.0"\nroles: {granted}\nusers: {{amara: [analyst]}}\n'
    (copied / "rules/roles.yaml").write_text(roles)
    bundle = bundle_for_root(copied)
    bot = app.open_bot(Settings(root=tmp_path, warehouse=f"duckdb:///{tmp_path}/w.duckdb"), bundle)
    allowed = ask(bot, "net revenue by region last quarter", "r1", actor=Actor(id="amara"))
    refused = ask(bot, "net revenue by region last quarter", "r2", actor=Actor(id="zoe"))
    bot.close()
    assert (allowed.status, len(allowed.rows)) == ("answered", 3)
    assert (refused.status, refused.rows) == ("refused", ())


def test_what_stays_is_spared_from_searches_for_garbage(opened):
    gc.unfreeze()
    write_bundle(opened.path, "two")
    try:
        assert ask(opened, "revenue", "r1").commit == "two"
        assert gc.get_freeze_count() > 0
    finally:
        gc.unfreeze()
