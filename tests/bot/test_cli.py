"""`bylaw ask` and `bylaw serve` as people call them, with real answers; what a process may spoil in one of its own."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from typing import get_args

import httpx
import pytest

from bot.conversation import GIVEN, Reply, ReplyStatus
from bot.evidence.store.engine import connect
from bot.evidence.store.tables import audit
from bylaw.cli import main
from tests.conftest import call_bylaw
from tests.fakes.forked import Forked

NOON = "2026-11-20T12:00:00+00:00"
LAMP = "Can I return a lamp I bought 12 days ago? I have the receipt."


@pytest.fixture
def folder(tmp_path):
    """Where the command is run: what it remembers lands here."""
    return tmp_path


@pytest.fixture
def call(folder):
    """Run `bylaw` with these words, in this environment, where the test runs."""

    def called(*words, **environ):
        done = call_bylaw(*words, cwd=folder, **environ)
        return subprocess.CompletedProcess(words, done.code, done.out, done.err)

    return called


@pytest.mark.slow
def test_a_question_is_answered_from_a_bundle(folder, repository):
    env = {k: v for k, v in os.environ.items() if not k.startswith("BYLAW_") and k != "NO_COLOR"}
    command = [sys.executable, "-m", "bylaw.cli", "ask", LAMP, "--bundle", str(repository.bundle)]
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "policies/refund/POL-REFUND-001.yaml:" in done.stdout
    assert "\x1b" not in done.stdout
    assert (folder / ".bylaw/store.db").exists()


def test_json_is_one_document_and_nothing_else(call, repository):
    done = call("ask", LAMP, "--bundle", repository.bundle, "--json", "--as", "ana", "--at", "2026-11-20")
    said = Reply.model_validate_json(done.stdout)
    assert (said.kind, said.status, done.stderr) == ("policy", "answered", "")
    assert said.bundle_etag == json.loads(repository.bundle.read_text())["bundle_metadata"]["etag"]


def test_with_a_root_the_repository_is_compiled_first_and_remembers(call, repository, folder):
    copied = folder / "mine"
    shutil.copytree(repository.root, copied, ignore=shutil.ignore_patterns(".bylaw"))
    first = Reply.model_validate_json(call("ask", LAMP, "--root", copied, "--json").stdout)
    policy = copied / "policies/refund/POL-REFUND-001.yaml"
    policy.write_text(policy.read_text().replace("value: 30", "value: 7"))
    second = Reply.model_validate_json(call("ask", LAMP, "--root", copied, "--json").stdout)
    assert (first.outcomes["refund"]["action"], second.outcomes["refund"]["action"]) == ("full_refund", "reject")
    assert first.bundle_etag != second.bundle_etag
    with connect("sqlite:///.bylaw/store.db", copied).reading() as connection:
        etags = [entry.body["bundle_etag"] for entry in audit.entries(connection)]
    assert etags == [first.bundle_etag, second.bundle_etag]


def test_a_conversation_goes_on_over_several_calls(call, repository):
    first = call("ask", "Do I get my money back?", "--bundle", repository.bundle, "--session", "s")
    assert "answer with: bylaw ask --session s" in first.stderr
    call("ask", "I bought it 12 days ago", "--bundle", repository.bundle, "--session", "s")
    last = call("ask", "1", "--bundle", repository.bundle, "--session", "s", "--json")
    said = Reply.model_validate_json(last.stdout)
    assert said.facts == {"days_since_purchase": 12, "has_receipt": True}
    assert said.status == "answered"


def test_without_a_session_nothing_is_carried_over(call, repository):
    call("ask", "Can I return a lamp I bought 12 days ago?", "--bundle", repository.bundle)
    said = Reply.model_validate_json(call("ask", "Can I return it?", "--bundle", repository.bundle, "--json").stdout)
    assert "days_since_purchase" not in said.facts


@pytest.mark.parametrize(
    ("question", "status", "code"),
    [
        ("What does POL-REFUND-001 say?", "answered", 0),
        ("how many orders last month", "recommended", 0),
        ("Can I get a refund?", "needs_fact", 1),
        ("orders by weather", "needs_choice", 1),
        ("sing me a song", "refused", 1),
    ],
)
def test_the_exit_code_says_whether_there_is_an_answer(call, repository, question, status, code):
    said = call("ask", question, "--json", "--at", NOON, "--bundle", repository.bundle)
    assert (json.loads(said.stdout)["status"], said.returncode) == (status, code)
    read = call("ask", question, "--at", NOON, "--bundle", repository.bundle)
    assert read.returncode == code and read.stdout.strip()


def test_what_is_asked_back_passed_on_or_refused_is_no_answer():
    assert set(get_args(ReplyStatus)) - GIVEN == {"needs_choice", "needs_fact", "escalated", "refused"}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["ask", LAMP, "--bundle", "nowhere.json"], "no bundle at `nowhere.json`"),
        (["ask", LAMP, "--bundle", "B", "--root", "."], "`--bundle` and `--root`"),
        (["ask", LAMP, "--bundle", "B", "--at", "soon"], "`soon` is not an ISO time"),
        (["ask", LAMP, "--bundle", "B", "--warehouse", "nonsense"], "nonsense"),
        (["ask", "  ", "--bundle", "B"], "the question is empty"),
        (["ask", "x" * 9000, "--bundle", "B"], "at most 8000"),
        (["ask", LAMP, "--bundle", "B", "--session", "a\nb"], "session id"),
        (["ask", LAMP, "--bundle", "B", "--as", ""], "user"),
        (["ask"], "the question is empty"),
        (["ask", LAMP, "--root", "nowhere"], "nowhere"),
        (["serve", "--bundle", "B", "--host", "0.0.0.0"], "without a token"),
        (["serve", "--bundle", "nowhere.json", "--workers", "1"], "no bundle"),
        (["serve", "--bundle", "B", "--port", "70000"], "70000"),
    ],
)
def test_a_wrong_call_says_what_is_wrong(repository, folder, monkeypatch, capsys, words, says):
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", ["bylaw", *(str(repository.bundle) if word == "B" else word for word in words)])
    with pytest.raises(SystemExit) as ended:
        main()
    told = capsys.readouterr()
    assert ended.value.code == 2, told.err
    assert says in told.err
    assert told.out == ""
    assert "Traceback" not in told.err


def test_a_changed_bundle_is_refused(call, repository, folder):
    spoilt = folder / "spoilt.json"
    spoilt.write_text(repository.bundle.read_text().replace("store_credit", "store_credot", 1))
    done = call("ask", LAMP, "--bundle", spoilt)
    assert done.returncode == 2
    assert "etag" in done.stderr
    assert not (folder / ".bylaw").exists()


def test_a_store_that_is_none_is_our_fault_in_words(call, repository, folder):
    (folder / "broken.db").write_bytes(b"no database at all" * 100)
    done = call("ask", LAMP, "--bundle", repository.bundle, BYLAW_STORE_URL="sqlite:///broken.db")
    assert done.returncode == 3
    assert "the store does not answer" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_environment_may_name_the_bundle_and_the_store(call, repository, folder):
    named = {"BYLAW_BUNDLE": str(repository.bundle), "BYLAW_STORE_URL": "sqlite:///elsewhere/s.db"}
    assert call("ask", LAMP, **named).returncode == 0
    assert (folder / "elsewhere/s.db").exists()


def test_serve_answers_until_it_is_told_to_stop(folder, repository):
    env = {k: v for k, v in os.environ.items() if not k.startswith("BYLAW_")}
    command = ("-m", "bylaw.cli", "serve", "--bundle", repository.bundle, "--port", "0")
    running = Forked(*command, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        address = running.stdout.readline().strip().removeprefix("serving on ")
        said = httpx.post(f"{address}/v2/query", json={"text": LAMP, "request_id": "r1"}, timeout=30).json()
        assert (said["kind"], said["status"]) == ("policy", "answered")
        assert httpx.get(f"{address}/readyz").status_code == 200
    finally:  # also of a test that fails no server is left
        running.send_signal(signal.SIGTERM)
    assert running.wait(30) == 0
    assert "Traceback" not in running.communicate()[1]
    with connect("sqlite:///.bylaw/store.db", folder).reading() as connection:
        assert len(audit.about(connection, "r1")) == 1
