"""Looking back as people do: verify, export, anchor, redact, replay and trace, on answers that were really given."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner
from sqlalchemy import text

from bot.app import open_bot
from bot.commands import records
from bot.conversation import Reply
from bot.evidence.artifacts import written
from bot.evidence.store.engine import Store, StoreError, connect
from bot.evidence.store.tables import audit
from bot.operate.replay import NotReplayable, _past, replay
from bot.operate.trace import in_words, trace
from bot.request.orchestrator import handle
from bot.settings import Settings
from bylaw import progress
from bylaw.audit.export import read_checkpoints
from bylaw.cli import bundle_for_root
from bylaw.errors import BylawError, UsageError
from bylaw.warehouses.port import WarehouseError
from tests.bot.conftest import write_orders
from tests.fakes.frame import NOON, question

LAMP = "Can I return a lamp I bought 12 days ago? I have the receipt."
ASKED = (
    ("policy", LAMP),
    ("more", "Do I get my money back?"),
    ("fact", "I bought it 12 days ago"),
    ("picked", "1"),
    ("data", "What was the revenue last month by region?"),
    ("tied", "Which region has the most orders?"),
    ("decision", "Why do we give customers 30 days to return an item?"),
    ("unknown", "How do I fly to the moon?"),
    ("failing", "What was the revenue last month by region?"),
)


@pytest.fixture(scope="module")
def given(repository, tmp_path_factory):
    """A repository whose bot answered one question of each kind, and a conversation."""
    root = tmp_path_factory.mktemp("given") / "repository"
    shutil.copytree(repository.root, root, ignore=shutil.ignore_patterns(".bylaw"))
    write_orders(root / "data.duckdb")
    settings = Settings(
        root, warehouse=f"duckdb:///{root}/data.duckdb", checkpoint=root / "auto.jsonl", checkpoint_every=3
    )
    bot = open_bot(settings, bundle_for_root(root))
    for name, said in ASKED[:-1]:
        session = "talk" if name in ("more", "fact", "picked") else name
        handle(question(name, said, session_id=session), bot.services())
    bot.close()
    with duckdb.connect(root / "data.duckdb") as warehouse:
        warehouse.execute("DROP TABLE shop.orders")
    bot = open_bot(settings, bundle_for_root(root))
    handle(question(*ASKED[-1], session_id="failing"), bot.services())
    bot.close()
    return root


@pytest.fixture
def root(given, tmp_path):
    """A copy of it, to be damaged."""
    return shutil.copytree(given, tmp_path / "copy")


@pytest.fixture
def opened(root):
    """The bot that remembers what is in the copy."""
    bot = open_bot(Settings(root), bundle_for_root(root))
    yield bot.services()
    bot.close()


def call(verb, *words, root):
    return CliRunner().invoke(verb, [*map(str, words), "--root", str(root)], catch_exceptions=False)


def edit(root, statement):
    store = connect("sqlite:///.bylaw/store.db", root)
    with store.writing() as connection:
        connection.execute(text(statement))
    store.close()


@pytest.mark.parametrize("name", [name for name, _ in ASKED])
def test_an_answer_is_rebuilt_byte_for_byte(opened, name):
    found = replay(name, opened.store, opened.artifacts)
    assert [(one.field, one.kept, one.rebuilt) for one in found.differences] == []
    with opened.store.reading() as connection:
        kept = connection.execute(text("SELECT artifacts FROM requests WHERE request_id = :id"), {"id": name}).scalar()
    assert found.text == opened.artifacts.get_text(json.loads(kept)["reply"])


def test_the_answers_were_of_every_kind(opened):
    stories = {name: trace(name, opened.store, opened.artifacts).papers["reply"] for name, _ in ASKED}
    assert {name: reply["kind"] for name, reply in stories.items()} == {
        "policy": "policy",
        "more": "policy",
        "fact": "policy",
        "picked": "policy",
        "data": "data",
        "tied": "data",
        "decision": "decision",
        "unknown": "refusal",
        "failing": "data",
    }
    assert [len(stories["data"]["rows"]), stories["failing"]["status"]] == [2, "refused"]
    assert stories["tied"]["text"].endswith(": north (10). Tied with it: south.")


def test_an_answer_is_rebuilt_after_the_repository_has_moved_on(root):
    policy = root / "policies/refund/POL-REFUND-001.yaml"
    policy.write_text(policy.read_text().replace("value: 30", "value: 7"))
    bundle_for_root(root)
    shown = call(records.replay, "policy", root=root)
    assert (shown.exit_code, "the same, byte for byte" in shown.output) == (0, True)
    assert "a full refund" in shown.output


def test_the_rows_of_then_answer_what_was_asked_of_them_then_and_nothing_else():
    given = Reply(
        kind="data",
        status="answered",
        text="",
        request_id="r",
        session_id="s",
        bundle_etag="sha256:test",
        columns=("region",),
        rows=(("EU",),),
    )
    plan = {
        "sql": "answer",
        "estimate": {},
        "freshness": {"newest": "2026-11-01"},
        "joins": {"most": 1},
        "ties": {"equal": [["US"]]},
    }
    past = _past(given, {"plan": plan})
    asked = {sql: past.run(sql, 1).rows for sql in ("answer", "newest", "most", "equal", "a look that came later")}
    assert asked == {
        "answer": (("EU",),), "newest": (("2026-11-01",),), "most": ((1,),), "equal": (("EU",), ("US",)),
        "a look that came later": (),
    }  # fmt: skip
    result = {"columns": ["region"], "rows": [["EU"]], "caveats": []}
    readings = [{"sql": "one", "result": result}, {"sql": "other", "result": {**result, "rows": [["US"]]}}]
    several = _past(given, {"readings": readings})
    told = [several.run(sql, 1).rows for sql in ("one", "other", "a look that came later")]
    assert told == [(("EU",),), (("US",),), ()]
    with pytest.raises(WarehouseError):
        _past(given, {"plan": {**plan, "ties": {"equal": None}}}).run("equal", 1)


def test_what_differs_is_named(opened):
    """As if the program had answered otherwise then."""
    (entry,) = trace("policy", opened.store, opened.artifacts).entries
    papers = entry["recorded"]["artifacts"]
    other = opened.artifacts.put({**opened.artifacts.get(papers["reply"]), "text": "No."})
    body = {"event": "reply", "request_id": "policy", "artifacts": {**papers, "reply": other}}
    with opened.store.writing() as connection:
        audit.append(connection, body, NOON, "policy")
    found = replay("policy", opened.store, opened.artifacts)
    assert [(one.field, one.kept) for one in found.differences] == [("text", "No.")]
    assert not found.is_same


@pytest.mark.parametrize("name", ["envelope", "evidence", "plan", "validation", "resolution"])
def test_a_paper_that_was_edited_in_the_store_is_seen(opened, name):
    papers = trace("decision", opened.store, opened.artifacts).entries[0]["recorded"]["artifacts"]
    before = opened.artifacts.get_text(papers[name])
    assert replay("decision", opened.store, opened.artifacts).is_same
    for damage in (before.replace("e", "3", 1), None):
        _overwrite(opened.store, papers[name], damage)
        with pytest.raises(NotReplayable, match=f"the {name} kept with the answer to `decision` cannot be had"):
            replay("decision", opened.store, opened.artifacts)


def test_another_envelope_in_the_place_of_the_kept_one_is_a_difference(opened):
    papers = trace("decision", opened.store, opened.artifacts).entries[0]["recorded"]["artifacts"]
    other = opened.artifacts.get(papers["envelope"]) | {"question": "Why did we leave?"}
    name = opened.artifacts.put(other)
    body = {"event": "reply", "request_id": "decision", "artifacts": {**papers, "envelope": name}}
    with opened.store.writing() as connection:
        audit.append(connection, body, NOON, "decision")
    found = replay("decision", opened.store, opened.artifacts)
    assert [one.field for one in found.differences] == ["paper: envelope"]
    assert not found.is_same


def test_an_altered_artifact_is_refused(root, opened):
    papers = trace("policy", opened.store, opened.artifacts).entries[0]["recorded"]["artifacts"]
    for name in ("bundle", "reply", "request"):
        before = opened.artifacts.get_text(papers[name])
        for damage in (before.replace("0", "1", 1), b"\xff\x00", None):
            _overwrite(opened.store, papers[name], damage)
            with pytest.raises(
                NotReplayable, match=f"the {name} kept with the answer to `policy` cannot be had"
            ) as lost:
                replay("policy", opened.store, opened.artifacts)
            assert "altered after" in lost.value.message if damage else "is not in the store" in lost.value.message
            assert (lost.value.exit_code, "from a backup" in (lost.value.help or "")) == (1, True)
            trace("policy", opened.store, opened.artifacts)  # tells what is left
            with opened.store.writing() as connection:
                opened.artifacts.within(connection, [written(before)])
        _overwrite(opened.store, papers[name], before)
    assert replay("policy", opened.store, opened.artifacts).is_same


def test_an_edited_record_is_not_replayed(root, opened):
    edit(root, "UPDATE audit SET payload = replace(payload, 'lamp', 'sofa') WHERE request_id = 'policy'")
    with pytest.raises(NotReplayable, match="was edited after it was written"):
        replay("policy", opened.store, opened.artifacts)
    assert "which was edited after it was written" in in_words(trace("policy", opened.store, opened.artifacts))


def test_every_paper_is_on_the_shelf_before_the_entry_that_names_it(opened):
    with opened.store.reading() as connection:
        bodies = [entry.body for entry in audit.entries(connection)]
    assert len(bodies) == 1 + len(ASKED), "the first says which bundle is served"
    assert {body["artifacts"]["bundle"] for body in bodies[1:]} == {opened.bundle_artifact}  # kept once
    for body in bodies[1:]:
        assert body["bundle_etag"] == opened.bundle_etag
        for mark in body["artifacts"].values():
            assert opened.artifacts.get_text(mark)


def test_a_story_tells_words_facts_path_checks_and_verdict(root):
    told = call(records.trace, "policy", root=root).output
    for expected in (
        "asked by ana",
        "read as    policy",
        "heard      has_receipt, in “have the receipt”",
        "path       has_receipt=true",
        "source     POL-REFUND-001 policies/refund/POL-REFUND-001.yaml:",
        "check      consistency: 1.0",
        "verdict    valid, pass with score 1.0",
        "way        INTAKE → SCOPE → PLAN → EXECUTE → DELIVER → CLOSE",
        "recorded   entry 2 ",
    ):
        assert expected in told
    document = json.loads(call(records.trace, "data", "--json", root=root).output)
    assert document["artifacts"]["plan"]["sql"].startswith("SELECT")
    assert [entry["entry"] for entry in document["audit"]] == [6]


@pytest.mark.parametrize("verb", [records.trace, records.replay])
def test_a_request_nobody_knows_is_wrong_usage(verb, root):
    with pytest.raises(UsageError, match="`nobody`"):
        call(verb, "nobody", root=root)


def test_the_chain_verifies_against_the_checkpoints_that_were_kept_on_the_way(root):
    assert [known.count for known in read_checkpoints(root / "auto.jsonl")] == [3, 6, 9]
    shown = call(records.audit, "verify", "--checkpoint", root / "auto.jsonl", root=root)
    assert shown.exit_code == 0


def invoke(*words):
    return CliRunner().invoke(records.audit, [*map(str, words)], catch_exceptions=False)


def test_verify_says_what_holds_and_what_does_not(root):
    shown = invoke("verify", "--root", root)
    assert (shown.exit_code, shown.output.splitlines()[0][:30]) == (0, "the chain holds: 10 entries; i")
    assert "held against 1 checkpoint" in shown.output  # of its own accord
    edit(root, "DELETE FROM audit WHERE position IN (4, 8)")
    shown = invoke("verify", "--root", root, "--checkpoint", root / "auto.jsonl")
    first, *said, last = shown.output.splitlines()
    assert (shown.exit_code, last) == (1, "held against 4 checkpoints")  # and where it last stood
    assert first.startswith("the chain does not hold: 2 deleted, ")
    kept = ("a reply to `{}` is kept, and no entry records one", "a request is kept that no entry records: `{}`")
    rows = (*kept, "a row of the query log is kept that no entry records: `{}`")
    expected = {f"  unrecorded: {one.format(name)}" for one in rows for name in ("decision", "fact")}
    assert expected | {f"  deleted: missing from the chain: {n}" for n in (4, 8)} <= set(said)
    document = json.loads(invoke("verify", "--root", root, "--json").output)
    deleted = [one for one in document["breaks"] if one["kind"] == "deleted"]
    assert (document["is_intact"], deleted) == (
        False,
        [{"kind": "deleted", "entry": n, "detail": f"missing from the chain: {n}"} for n in (4, 8)],
    )


def test_an_export_verifies_without_the_store(root, tmp_path):
    log = tmp_path / "log.jsonl"
    assert invoke("export", "-o", log, "--root", root).exit_code == 0
    assert invoke("verify", log).exit_code == 0
    assert invoke("export", "--root", root).output == log.read_text()
    part = invoke("export", "--since", "7", "--root", root).output
    assert [json.loads(line).get("seq") for line in part.splitlines()] == [None, 7, 8, 9, 10, None]
    later = invoke("export", "--since", (NOON + timedelta(days=9000)).isoformat(), "--root", root).output
    assert len(later.splitlines()) == 2
    log.write_text(log.read_text()[:-70])
    shown = invoke("verify", log)
    assert (shown.exit_code, "torn: the last line is incomplete" in shown.output) == (1, True)


def _overwrite(store, name, said):
    with store.writing() as connection:
        if said is None:
            connection.execute(text("DELETE FROM papers WHERE name = :name"), {"name": name})
            return
        connection.execute(text("UPDATE papers SET text = :said WHERE name = :name"), {"name": name, "said": said})


def test_a_checkpoint_is_not_added_to_a_chain_that_lost_the_last_one(root, tmp_path):
    path = tmp_path / "kept.jsonl"
    for _ in range(2):
        assert invoke("checkpoint", "-o", path, "--root", root).exit_code == 0
    assert [known.count for known in read_checkpoints(path)] == [10]
    edit(root, "DELETE FROM audit WHERE position = 10")
    with pytest.raises(Exception, match="entry 10 is not the one that the last checkpoint knew"):
        invoke("checkpoint", "-o", path, "--root", root)
    shown = invoke("verify", "--root", root, "--checkpoint", path)
    assert "truncated: the chain ends at entry 9, a checkpoint knew 10" in shown.output


def _full(_):
    raise StoreError("the store does not answer: database or disk is full", "make room on its disk, then ask again")


def test_a_redaction_is_recorded_and_the_chain_holds(root):
    shown = invoke("redact", "--request", "policy", "--reason", "asked for", "--by", "dpo", "--root", root)
    assert shown.stdout == "redacted 1 entry\n"
    assert shown.stderr == "deleted the rows of 1 request, and 4 papers\n"
    shown = invoke("verify", "--root", root, "--checkpoint", root / "auto.jsonl")
    assert (shown.exit_code, "11 entries, 1 of them redacted" in shown.output) == (0, True)
    assert "  entry 11 redacts 2: by dpo, 20" in shown.output
    assert shown.output.splitlines()[1].endswith("Z: asked for")
    (known,) = json.loads(invoke("verify", "--root", root, "--json").output)["redactions"]
    assert (known["entry"], known["redacts"], known["by"], known["reason"]) == (11, [[2, 2]], "dpo", "asked for")
    assert "lamp I bought" not in invoke("export", "--root", root).output
    for verb in (records.replay, records.trace):
        with pytest.raises(BylawError) as refused:
            call(verb, "policy", root=root)
        assert re.search(r"`policy` was redacted by dpo on 20.* \(entry 11\): asked for", refused.value.message)
    shown = invoke("redact", "--request", "more", "--reason", "asked for", "--by", "dpo", "--root", root)
    assert "the conversation went on: what was said may stand in fact, picked too" in shown.stderr
    assert call(records.replay, "data", root=root).exit_code == 0
    shown = invoke("redact", "--before", "2100-01-01", "--reason", "retention", "--by", "dpo", "--root", root)
    assert shown.stdout == "redacted 8 entries\n"
    assert invoke("verify", "--root", root).exit_code == 0


@pytest.mark.parametrize(
    ("settled", "words"),
    [(lambda _: False, "another process reads it"), (_full, "database or disk is full")],
)
def test_what_is_redacted_and_yet_in_the_file_is_told_and_the_next_redaction_ends_it(root, monkeypatch, settled, words):
    asked = [*map(str, ("redact", "--request", "policy", "--reason", "r", "--by", "b", "--root", root))]
    monkeypatch.setattr(Store, "settle", settled)
    done = CliRunner().invoke(records.audit, asked)
    assert (done.stdout, words in done.exception.message) == ("redacted 1 entry\n", True)
    assert "do the same again" in done.exception.help
    monkeypatch.undo()
    assert invoke(*asked).stdout == "redacted 0 entries\n"
    files = (root / ".bylaw").glob("store.db*")
    assert not [path for path in files if b"lamp I bought" in path.read_bytes()]


def test_a_redaction_too_may_be_the_entry_that_is_kept_elsewhere(root, monkeypatch):
    monkeypatch.setenv("BYLAW_CHECKPOINT", "auto.jsonl")
    monkeypatch.setenv("BYLAW_CHECKPOINT_EVERY", "11")
    invoke("redact", "--request", "policy", "--reason", "asked for", "--by", "dpo", "--root", root)
    assert [known.count for known in read_checkpoints(root / "auto.jsonl")] == [3, 6, 9, 11]


def test_what_is_older_than_the_rules_keep_it_is_redacted(root):
    expired = ("redact", "--expired", "--reason", "retention", "--by", "dpo", "--root", root)
    with pytest.raises(UsageError, match="no rule says how long"):
        invoke(*expired)
    rules = root / "rules" / "pii.yaml"
    text = (Path(__file__).parents[3] / "ci/loading/defaults/rules/pii.yaml").read_text()
    rules.write_text(text + "retention_days: 400\n")
    assert invoke(*expired).stdout == "redacted 0 entries\n"  # all of them are of today
    body = {"event": "reply", "request_id": "old", "query": "long ago"}
    with connect("sqlite:///.bylaw/store.db", root).writing() as connection:
        entry = audit.append(connection, body, NOON - timedelta(days=500), "old")
    assert invoke(*expired).stdout == "redacted 1 entry\n"
    with connect("sqlite:///.bylaw/store.db", root).reading() as connection:
        (bare,) = audit.about(connection, "old")
    assert bare.body == {"at": entry.body["at"], "event": "reply", "request_id": "old"}
    assert bare.entry_hash == entry.entry_hash
    assert "1 of them redacted" in invoke("verify", "--root", root, "--checkpoint", root / "auto.jsonl").output
    rules.write_text(text + "retention_days: 0\n")
    with pytest.raises(BylawError):
        invoke(*expired)


@pytest.mark.parametrize(
    "words",
    [
        ("redact", "--reason", "r", "--by", "b"),
        ("redact", "--expired", "--before", "2026-01-01", "--reason", "r", "--by", "b"),
        ("redact", "--request", "\udcff", "--reason", "r", "--by", "b"),
        ("redact", "--request", "x", "--reason", " ", "--by", "b"),
        ("redact", "--request", "x", "--reason", "r", "--by", ""),
        ("redact", "--before", "0001-01-01T00:00:00+14:00", "--reason", "r", "--by", "b"),
        ("redact", "--before", "9999-12-31T23:59:59-14:00", "--reason", "r", "--by", "b"),
        ("export", "--since", "9" * 20),
        ("checkpoint", "-o", "/proc/no/such/place"),
        ("export", "-o", "/proc/no/such/place"),
        ("export", "-o", "/dev/full"),
        ("verify", "/dev/null"),
        ("verify", "--checkpoint", "/dev/null"),
        ("redact", "--request", "nobody", "--reason", "r", "--by", "b"),
    ],
)
def test_what_cannot_be_done_is_wrong_usage_and_changes_nothing(root, words):
    with connect("sqlite:///.bylaw/store.db", root).reading() as connection:
        before = audit.tail(connection)
    done = CliRunner().invoke(records.audit, [*words, "--root", str(root)])
    assert done.exit_code == 2 or isinstance(done.exception, UsageError), done.exception
    with connect("sqlite:///.bylaw/store.db", root).reading() as connection:
        assert audit.tail(connection) == before


@pytest.mark.parametrize("words", [("verify",), ("verify", "LOG"), ("export", "-o", "OUT"), ("redact",)])
def test_long_work_tells_a_terminal_how_far_it_is(root, tmp_path, monkeypatch, words):
    """A bar, on stderr alone; here at once instead of after a while."""
    log, told = tmp_path / "log.jsonl", []
    invoke("export", "-o", log, "--root", root)

    @contextmanager
    def drawn():
        yield lambda *one: told.append(one)

    monkeypatch.setattr(progress, "progress", drawn)
    chosen = ("--before", "2100-01-01", "--reason", "r", "--by", "b") if words == ("redact",) else ()
    named = {"LOG": log, "OUT": tmp_path / "out.jsonl"}
    assert invoke(*(named.get(word, word) for word in words), *chosen, "--root", root).exit_code == 0
    assert told
    assert all(0 <= done <= of for _, done, of in told)


def test_an_export_into_a_pipe_leaves_the_pipe_there(root, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as beside:
        read = beside.submit(pipe.read_text)
        assert invoke("export", "-o", pipe, "--root", root).exit_code == 0
        assert len(read.result().splitlines()) == 12
    assert pipe.is_fifo()


@pytest.mark.parametrize("is_settled", [True, False])
def test_where_the_store_may_only_be_read_it_is_verified_exported_and_replayed(root, monkeypatch, is_settled):
    """As on a backup: to whoever runs the tests everything may be writable, so the rights are said, not taken."""
    writer = sqlite3.connect(root / ".bylaw" / "store.db")
    if not is_settled:  # what was written last still stands beside the file
        writer.execute("UPDATE audit SET position = position")
        writer.commit()
    else:
        writer.close()
    monkeypatch.setattr(os, "access", lambda _, mode: mode != os.W_OK)
    files = {path.name: path.read_bytes() for path in (root / ".bylaw").glob("store.db*")}
    assert ("store.db-wal" in files) is not is_settled
    assert invoke("verify", "--root", root).exit_code == 0
    assert len(invoke("export", "--root", root).output.splitlines()) == 12
    assert call(records.replay, "policy", root=root).exit_code == 0
    with pytest.raises(StoreError) as refused:
        invoke("redact", "--request", "policy", "--reason", "r", "--by", "b", "--root", root)
    assert "may only be read here" in refused.value.help
    files.pop("store.db-shm", None)  # where readers meet
    assert files.items() <= {path.name: path.read_bytes() for path in (root / ".bylaw").glob("store.db*")}.items()
    writer.close()


@pytest.mark.parametrize("verb", [records.replay, records.trace])
def test_bytes_that_are_no_text_name_no_request(root, verb):
    assert CliRunner().invoke(verb, ["\udcff", "--root", str(root)]).exit_code == 2


@pytest.mark.parametrize("is_there", [False, True])
def test_where_nothing_was_recorded_nothing_is_said_to_hold(tmp_path, is_there):
    path = tmp_path / ".bylaw" / "store.db"
    if is_there:  # as where a backup was cut off at its beginning
        path.parent.mkdir()
        path.touch()
    with pytest.raises(UsageError, match="nothing was ever recorded here"):
        invoke("verify", "--root", tmp_path)
    assert [one for one in tmp_path.rglob("*") if one.is_file() and one.stat().st_size] == []


def test_a_lost_log_of_the_store_is_seen(given, tmp_path, monkeypatch):
    root = tmp_path / "lost"
    shutil.copytree(given, root)
    settings = Settings(root=root)
    bundle = bundle_for_root(root)
    kept = root / ".bylaw" / "store.db"
    with closing(open_bot(settings, bundle, is_compiled_here=True)) as bot:
        handle(question("before", LAMP, session_id="before"), bot.services())
        bot.services().store.settle()
        copy = kept.read_bytes()  # what the file holds without its log
        handle(question("after", LAMP, session_id="after"), bot.services())
    for beside in kept.parent.glob("store.db-*"):
        beside.unlink()
    kept.write_bytes(copy)
    result = CliRunner().invoke(records.audit, ["verify", "--root", str(root), "--json"])
    told = json.loads(result.output)
    assert (result.exit_code, [one["kind"] for one in told["breaks"]]) == (1, ["truncated"])
    # and it stays seen after the next answer has taken the place of the lost one
    with closing(open_bot(settings, bundle, is_compiled_here=True)) as bot:
        handle(question("later", LAMP, session_id="later"), bot.services())
        handle(question("latest", LAMP, session_id="latest"), bot.services())
    result = CliRunner().invoke(records.audit, ["verify", "--root", str(root), "--json"])
    assert (result.exit_code, [one["kind"] for one in json.loads(result.output)["breaks"]]) == (1, ["rewritten"])


def test_a_reply_edited_in_the_store_does_not_verify(given, tmp_path):
    root = tmp_path / "edited"
    shutil.copytree(given, root)
    with sqlite3.connect(root / ".bylaw" / "store.db") as connection:
        change = (
            "UPDATE requests SET reply = json_set(reply, '$.text', 'You get ONE MILLION.') WHERE request_id = 'policy'"
        )
        assert connection.execute(change).rowcount == 1
    result = CliRunner().invoke(records.audit, ["verify", "--root", str(root)])
    assert result.exit_code == 1
    assert "altered: the reply to `policy`" in result.output


def test_a_witness_hears_where_the_chain_stands(given):
    heard = []

    class Witness(BaseHTTPRequestHandler):
        def do_POST(self):
            heard.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(307 if "elsewhere" in self.path else 204)
            self.send_header("Location", "/moved")
            self.end_headers()

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Witness) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        place = f"http://127.0.0.1:{server.server_port}"
        words = ["checkpoint", "--root", str(given), "--witness"]
        assert CliRunner().invoke(records.audit, [*words, place]).exit_code == 0
        assert isinstance(CliRunner().invoke(records.audit, [*words, f"{place}/elsewhere"]).exception, BylawError)
        server.shutdown()
    assert isinstance(CliRunner().invoke(records.audit, [*words, "file:///etc/passwd"]).exception, UsageError)
    with connect("sqlite:///.bylaw/store.db", given).reading() as connection:
        tail = audit.tail(connection)
    assert heard[0] == {"closing": {"count": tail.count, "head": tail.head}}
    assert len(heard) == 2


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE query_log SET actor_id = 'eve' WHERE log_id = 'policy'", "a row of the query log is not as entry 2"),
        ("DELETE FROM sessions", "a conversation is gone that entry"),
        ("UPDATE requests SET state = 'ACCEPT' WHERE request_id = 'policy'", "a request is not as entry 2"),
        ("UPDATE served SET etag = 'sha256:old'", "which bundle was served is not as entry 1"),
    ],
)
def test_what_was_done_to_a_row_is_named(root, statement, words):
    edit(root, statement)
    shown = invoke("verify", "--root", root)
    assert (shown.exit_code, words in shown.output) == (1, True), shown.output
