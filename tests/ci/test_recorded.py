"""Recorded answers held against two versions: how many would be different, and which kinds of change they are."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from bot.app import open_bot
from bot.request.orchestrator import handle
from bot.settings import Settings
from bylaw.audit import export
from bylaw.audit.entry import START, after, draft, link
from bylaw.canonical import write_atomically
from bylaw.cli import bundle_for_root
from bylaw.errors import UsageError
from ci import recorded
from ci.cli import diff
from ci.diff import sides
from ci.scaffold import init
from tests.fakes.frame import question

ROWS = yaml.safe_load(Path(__file__).with_name("recorded.yaml").read_text())


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """The scaffold's repository, and a head with a shorter window."""
    base = tmp_path_factory.mktemp("two") / "base"
    init(base)
    head = shutil.copytree(base, base.with_name("head"))
    policy = head / "policies/refund/POL-REFUND-001.yaml"
    policy.write_text(policy.read_text().replace("value: 30", "value: 10"))
    return base, head


@pytest.fixture(scope="module")
def versions(folders):
    return sides(str(folders[0]), str(folders[1]), Path(), date(2026, 11, 20), date(2026, 11, 20))


def log(path: Path, answers) -> Path:
    tail, entries = START, []
    for n, answer in enumerate(answers, start=1):
        body = {"event": "reply", "kind": "policy", "actor": {"id": "ana"}, "request_id": f"r{n}", **answer}
        is_redacted = body.pop("redacted", False)
        entry = link(tail, draft(body, f"{n:032}"))
        entries.append(replace(entry, payload=None) if is_redacted else entry)
        tail = after(entry)
    gone = [[entry.seq, entry.seq] for entry in entries if entry.payload is None]
    entries.append(link(tail, draft({"event": "redaction", "redacts": gone}, "salt")))
    write_atomically(path, export.lines(entries))
    return path


@pytest.mark.parametrize("row", ROWS, ids=[row["title"] for row in ROWS])
def test_what_would_be_different_is_counted_and_told(row, versions, tmp_path):
    answers, left_out = recorded.read_log(str(log(tmp_path / "log.jsonl", row["answers"])), tmp_path)
    found = recorded.compare(answers, left_out, *versions)
    told = recorded.in_words(found, ("base", "head")).splitlines()
    assert [found.answer_count, found.different_count, found.new_count, found.left_out_count] == row["expect"]
    assert [line.strip() for line in told[1:]] == row["lines"]
    assert recorded.document(found)["different"] == found.different_count


def test_whoever_listens_hears_how_far_it_is(versions, tmp_path):
    given, told = max((row["answers"] for row in ROWS), key=len), []
    path = log(tmp_path / "log.jsonl", given)
    answers, left_out = recorded.read_log(str(path), tmp_path, lambda *one: told.append(one))
    recorded.compare(answers, left_out, *versions, lambda *one: told.append(one))
    size = path.stat().st_size
    assert [one[0] for one in told] == ["reading the log"] * 2 + ["deciding recorded answers"] * 2
    assert [told[1][1:], told[3][1:]] == [(size, size), (len(answers), len(answers))]


def test_a_log_that_does_not_hold_is_refused(tmp_path):
    path = log(tmp_path / "log.jsonl", [{"facts": {}, "outcomes": {"refund": "reject"}}])
    path.write_text(path.read_text().replace("reject", "full_refund"))
    with pytest.raises(UsageError, match="does not hold: 1 edited"):
        recorded.read_log(str(path), tmp_path)


def test_a_log_that_is_not_there_is_wrong_usage(tmp_path):
    with pytest.raises(UsageError, match="cannot be read"):
        recorded.read_log(str(tmp_path / "none.jsonl"), tmp_path)


def test_answers_really_given_are_compared_from_the_store_and_from_an_export_alike(folders, tmp_path):
    base, head = folders
    bot = open_bot(Settings(tmp_path), bundle_for_root(base))
    for name, days in (("short", 5), ("long", 20)):
        said = f"Can I return a lamp I bought {days} days ago? I have the receipt."
        handle(question(name, said, session_id=name), bot.services())
    bot.close()
    words = [str(base), str(head), "--root", str(tmp_path), "--audit", "sqlite:///.bylaw/store.db"]
    shown = CliRunner().invoke(diff, words, catch_exceptions=False)
    assert shown.exit_code == 0
    told = f"2 policy answers recorded: 1 would be different under `{head}`, 1 of them by the change since `{base}`"
    assert told in shown.output
    assert "refund: full_refund → reject: 1 policy answer, such as long (" in shown.output
    first, second = (CliRunner().invoke(diff, [*words, "--json"], catch_exceptions=False).output for _ in range(2))
    assert first == second
    document = json.loads(first)["recorded"]
    assert (document["answers"], document["different"], document["not_under_base"]) == (2, 1, 1)
    assert document["kinds"][0]["example"]["request_id"] == "long"
    assert document["kinds"][0]["outcome"] == "refund"


def test_answers_about_duties_and_those_that_nobody_could_give_are_compared_too(folders, tmp_path):
    base, _ = folders
    head = shutil.copytree(base, tmp_path / "head")
    policy = head / "policies/refund/POL-REFUND-002.yaml"
    policy.write_text(policy.read_text().replace("type: prohibited", "type: permitted"))
    bot = open_bot(Settings(tmp_path), bundle_for_root(base))
    for name, said in (
        ("cash", "I paid 4000 dollars for a lamp. Can I have it in cash?"),
        ("open", "Can I get a refund?"),
        ("open-2", "I don't know"),
        ("open-3", "I don't know"),
    ):
        handle(question(name, said, session_id=name[:4]), bot.services())
    bot.close()
    words = [str(base), str(head), "--root", str(tmp_path), "--audit", "sqlite:///.bylaw/store.db", "--json"]
    document = json.loads(CliRunner().invoke(diff, words, catch_exceptions=False).output)["recorded"]
    assert (document["answers"], document["different"]) == (3, 1)  # the cash; nothing decides the others
    (kind,) = document["kinds"]
    assert (kind["action"], kind["before"], kind["after"]) == ("refund_in_cash", "prohibited", "permitted")
    assert kind["example"]["request_id"] == "cash"
