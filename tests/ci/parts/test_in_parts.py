"""A check in parts prints what a check of everything prints: against a base, and by any number of workers."""

import subprocess
import tempfile
from dataclasses import replace
from datetime import date
from pathlib import Path
from unittest.mock import patch

import pytest
from click.testing import CliRunner
from hypothesis import given

from ci import check as checking
from ci import pipeline
from ci.cli import check
from ci.executors.port import WorkerLost
from ci.executors.serial import Serial
from ci.parts import snapshot
from ci.parts.glance import Glance
from ci.parts.incremental import updated
from ci.parts.whole import whole
from ci.proofs.answers import Answered, counted
from ci.proofs.registry import ASKED
from ci.report.jsonl import render
from tests.ci.parts.conftest import DAY, VOCABULARY, policy
from tests.ci.parts.test_incremental import quietly, told, versions
from tests.ci.parts.test_incremental import whole as asked_at_once

SET = {
    "POL-SHOP-001": policy("POL-SHOP-001", 0, 10, "full"),
    "POL-SHOP-002": policy("POL-SHOP-002", 8, 20, "part"),
    "POL-SHOP-003": policy("POL-SHOP-003", 5, 9, "notify"),
    "POL-SHOP-004": policy("POL-SHOP-004", 9, 12, "notify", kind="prohibited"),
}
CASES = (
    "[{name: one, facts: {days: 1}, expect: {refund: part}}, {name: two, facts: {days: 30}, expect: {refund: null}}]"
)


def printed(checked):
    return render(checked.findings, checked.workspace.sources, checked.existing, None, checked.answers)


def at_once(old, now):
    """The printed findings of a check of both versions from the first file to the last."""
    after = pipeline.recorded(pipeline.check(now.workspace(), now.at))
    if old is None:
        return printed(checking.Checked(after.workspace, after.findings, answers=after.proofs.answers))
    compared = checking.against(
        pipeline.recorded(pipeline.check(old.workspace(), now.at)), after, checking.Gating(is_merged=True)
    )
    return printed(replace(compared, answers=after.proofs.answers))


@pytest.mark.slow
@given(versions())
@quietly(25)
def test_against_a_base_it_prints_the_same(sides):
    assert_printed_the_same(sides)


@pytest.mark.longer
@given(versions())
@quietly(1000)
def test_against_many_more_bases_it_prints_the_same(sides):
    assert_printed_the_same(sides)


def assert_printed_the_same(sides):
    with tempfile.TemporaryDirectory() as folder:
        old, now = (replace(side, root=Path(folder), at=sides[1].at) for side in sides)
        for _ in range(2):  # the second time from what the first one left
            kept = Path(folder) / "kept.json"
            told = printed(
                checking.in_parts(now, old, kept=kept, last=snapshot.read(kept), gating=checking.Gating(is_merged=True))
            )
            assert told.splitlines() == at_once(old, now).splitlines()


def _record(id, rest):
    return f"{{id: {id}, option: o, rationale: r, decided_on: 2026-01-01, {rest}}}"


RECORDS = {
    "context__decisions__decisions__keep-one": _record(
        "keep-one", "confirmation: [{policy: POL-SHOP-001}, {case: one}, {no_finding: conflict}]"
    ),
    "context__decisions__decisions__older-one": _record(
        "older-one", "status: retired, affects: {policy: [POL-SHOP-002]}"
    ),
}


def test_what_decisions_say_of_what_is_found_is_the_same_in_parts(made, tmp_path, monkeypatch):
    monkeypatch.setattr("ci.check.MANY", 1)
    kept = tmp_path / "kept.json"
    ending = SET["POL-SHOP-001"].replace("domain: shop", "domain: shop, expiry_date: 2026-06-01")
    alone = {"POL-SHOP-002": SET["POL-SHOP-002"]}
    steps = (SET, alone, {**SET, "POL-SHOP-001": ending}, SET)
    sides = [made(policies, policies__shop__cases=CASES, **RECORDS) for policies in steps]
    seen = []
    for old, now in zip((None, *sides), sides, strict=False):
        told = checking.in_parts(now, old, kept=kept, last=snapshot.read(kept), gating=checking.Gating(is_merged=True))
        assert printed(told).splitlines() == at_once(old, now).splitlines()
        seen.append([one.rules[1:] for one in told.findings if one.id == "unkept-decision"])
    assert seen[0] == [("case", "one"), ("no_finding", "conflict")] and ("policy", "POL-SHOP-001") in seen[2]
    assert any("`POL-SHOP-002` comes from `older-one` (o): Retired" in (one.help or "") for one in told.findings)


def test_a_policy_in_parts_names_a_decision_that_is_on_record(made, tmp_path):
    kept = tmp_path / "kept.json"
    named = {id: text.replace("domain: shop", "domain: shop, decision: keep-one") for id, text in SET.items()}
    lost = {**named, "POL-SHOP-002": named["POL-SHOP-002"].replace("keep-one", "lost-one")}
    steps = ((SET, RECORDS), (named, RECORDS), (named, {}), (named, RECORDS), (lost, RECORDS))
    seen = []
    for policies, records in steps:
        now = made(policies, policies__shop__cases=CASES, **records)
        told = checking.in_parts(now, None, kept=kept, last=snapshot.read(kept))
        assert printed(told).splitlines() == at_once(None, now).splitlines()
        seen.append([one.policies for one in told.findings if one.id == "dangling-reference"])
    each = [(id,) for id in SET]
    assert seen == [[], [], each, [], [("POL-SHOP-002",)]]


@pytest.mark.slow
@given(versions())
@quietly(30)
def test_shared_among_workers_it_finds_the_same(sides):
    assert_shared_out_it_is_the_same(sides[1])


@pytest.mark.longer
@given(versions())
@quietly(2000)
def test_many_more_sets_are_the_same_when_shared_among_workers(sides):
    assert_shared_out_it_is_the_same(sides[1])


def assert_shared_out_it_is_the_same(now):
    expected = asked_at_once(now)
    for look in (Glance.card, without_actions):
        with patch("ci.parts.whole.SHARE", 1), patch.object(Glance, "card", look):
            found = whole(now, Serial())
        assert told(found) == told(expected)
        assert found.cards == expected.cards
        assert found.statuses == expected.statuses
        assert found.clashing == expected.clashing
        assert found.complete == expected.complete


def without_actions(glance, file, look=Glance.card):
    """What somebody sees who takes no policy for the neighbour of another."""
    card = look(glance, file)
    return replace(card, overrides=(), kind=replace(card.kind, keys=()))


def test_shares_are_many_when_policies_are(made, monkeypatch):
    monkeypatch.setattr("ci.parts.whole.SHARE", 1)
    now = made(SET, policies__shop__cases=CASES)
    heard = []
    found = whole(now, Serial(), lambda *state: heard.append(state))
    assert told(found) == told(asked_at_once(now))
    assert ("checking policies", 2, 2) in heard  # two groups
    assert heard[-1] == ("asking the rest", 3, 3)  # what is shared, two cases


MISLEADING = {
    "an action": {"POL-SHOP-001": SET["POL-SHOP-001"].replace("action: full", r'"acti\x6fn": "f\x75ll"')},
    "an id": {"POL-SHOP-001": SET["POL-SHOP-001"].replace("POL-SHOP-001", r'"POL-SHOP-00\x31"')},
    "an invariant": {
        "POL-SHOP-009": policy("POL-SHOP-009", 0, 3, "slow")
        + r'formal: {"c\x6fnstraints": [{constraint_id: C-1, expression: "days <= 9"}]}'
    },
    "another action": {"POL-SHOP-005": policy("POL-SHOP-005", 0, 3, "slow", more="# action: full")},
    "an unreadable text": {"POL-SHOP-001": SET["POL-SHOP-001"] + "]"},
    "an action that does not exist": {"POL-SHOP-001": policy("POL-SHOP-001", 0, 10, "fill")},
    "an outcome that nobody decides": {"POL-SHOP-005": policy("POL-SHOP-005", 0, 3, "ruin", more="# action: slow")},
}
COMPLETE = VOCABULARY.replace("shipping: {}", "shipping: {complete: true}").replace(
    "refund: {}", "refund: {complete: true}"
)


@pytest.mark.parametrize("misleading", MISLEADING.values(), ids=MISLEADING)
def test_a_text_that_misleads_a_glance_changes_nothing(made, monkeypatch, misleading):
    monkeypatch.setattr("ci.parts.whole.SHARE", 1)
    now = made({**SET, **misleading}, policies__vocabulary=COMPLETE, policies__shop__cases=CASES)
    expected, found = asked_at_once(now), whole(now, Serial())
    assert told(found) == told(expected)
    assert found.cards == expected.cards
    assert found.statuses == expected.statuses
    assert found.clashing == expected.clashing


def test_what_the_glance_got_right_is_asked_once(made, monkeypatch):
    monkeypatch.setattr("ci.parts.whole.SHARE", 1)
    asked = []
    monkeypatch.setattr(
        "ci.pipeline.check", lambda w, *given, check=pipeline.check: asked.append(w) or check(w, *given)
    )
    whole(made(SET), Serial())
    assert sorted(path for w in asked for path in w.sources if "POL-" in path) == sorted(
        f"policies/shop/{name}.yaml" for name in SET
    )


BOUND = 'formal: {constraints: [{constraint_id: C-1, expression: "days <= 30"}]}\n'
CHANGES = {
    "a rule that an invariant now silences": policy("POL-SHOP-001", 35, 60, "full"),
    "a rule that contradicts nobody any more": policy("POL-SHOP-001", 21, 29, "full"),
    "a rule about something else": policy("POL-SHOP-001", 0, 10, "fast"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_beside_an_invariant_the_same_is_known_of_everyone(made, monkeypatch, change):
    monkeypatch.setattr("ci.parts.whole.SHARE", 1)
    before = {**SET, "POL-SHOP-009": policy("POL-SHOP-009", 0, 3, "slow", more=BOUND)}
    cases = "[{name: one, facts: {days: 1}, expect: {refund: full}}, {name: two, facts: {days: 31}, expect: {}}]"
    old, now = (made(found, policies__shop__cases=cases) for found in (before, {**before, "POL-SHOP-001": change}))
    expected, found = asked_at_once(now), updated(asked_at_once(old), now)
    assert found is not None
    assert found.statuses == whole(now, Serial()).statuses == expected.statuses
    assert {answered.question: answered.asked for answered in counted(found.statuses, ASKED)}["violated-invariant"] == 7
    assert told(found) == told(expected)


class Losing(Serial):
    """An executor whose workers die of everything that holds a certain policy and is asked about it."""

    def run(self, work, items, heard=None):
        return [
            WorkerLost(n) if any("003" in path for path in item.asked.paths) else work(item)
            for n, item in enumerate(items)
        ]


def test_a_part_that_is_lost_is_an_open_question_and_the_rest_is_answered(made, monkeypatch):
    monkeypatch.setattr("ci.parts.whole.SHARE", 1)
    found = whole(made(SET), Losing())
    (lost,) = [finding for finding in found.findings if finding.id == "unknown-answer"]
    assert lost.policies == ("POL-SHOP-003", "POL-SHOP-004")
    assert "the process that did it died twice" in lost.message
    assert [finding.policies for finding in found.findings if finding.id == "conflict"] == [
        ("POL-SHOP-001", "POL-SHOP-002")
    ]
    assert not found.is_final
    answers = {answered.question: answered for answered in counted(found.statuses, ASKED)}
    assert answers["conflict"] == Answered("conflict", 0, 2, 2, 0, ((WorkerLost(1).message, 2),))
    assert answers["priority-mismatch"].unknown == 2


def test_a_case_that_is_lost_is_open_too(made):
    found = whole(made(SET, policies__shop__cases=CASES), LosingCases())
    answers = {answered.question: answered for answered in counted(found.statuses, ASKED)}
    assert (answers["failing-case"].asked, answers["failing-case"].unknown) == (2, 2)
    assert (answers["conflict"].asked, answers["conflict"].unknown) == (4, 0)


class LosingCases(Serial):
    """An executor whose workers die of cases."""

    def run(self, work, items, heard=None):
        return [WorkerLost(n) if item.asked.cases else work(item) for n, item in enumerate(items)]


def test_what_is_open_because_a_worker_was_lost_is_asked_again(made, monkeypatch, tmp_path):
    monkeypatch.setattr("ci.parts.whole.SHARE", 1)
    monkeypatch.setattr("ci.check.MANY", 1)
    now = made(SET)
    kept = tmp_path / "kept.json"
    first = checking.in_parts(now, None, executors=lambda: _Given(Losing()), kept=kept)
    assert first.failed
    assert not kept.exists()
    again = checking.in_parts(now, None, executors=lambda: _Given(Serial()), kept=kept)
    assert printed(again) == at_once(None, now)


def test_what_is_brought_up_to_date_is_no_more_final_than_what_it_comes_from(made, monkeypatch):
    monkeypatch.setattr("ci.parts.whole.SHARE", 1)
    changed = {**SET, "POL-SHOP-001": policy("POL-SHOP-001", 0, 7, "full")}
    for executor, is_final in ((Losing(), False), (Serial(), True)):
        found = updated(whole(made(SET), executor), made(changed))
        assert found is not None
        assert found.is_final is is_final


class _Given:
    def __init__(self, value):
        self.value = value

    def __enter__(self):
        return self.value

    def __exit__(self, *_):
        return None


# ---- on the command line --------------------------------------------------------------------------------------------


@pytest.fixture
def repository(made, tmp_path):
    """A folder with a commit, and `edit` that changes a policy in it."""
    now = made(SET, policies__shop__cases=CASES)
    for path, file in now.files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(file.data)
    (tmp_path / ".gitignore").write_text(".bylaw/\n")
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "all"]):
        subprocess.run(["git", "-c", "user.name=n", "-c", "user.email=e@x", *words], cwd=tmp_path, check=True)
    return tmp_path


@pytest.mark.parametrize("where", ["nonsense", "dask://", "processes://x"])
def test_where_no_work_can_run_is_said_before_any_is_done(repository, bylaw, where):
    done = bylaw("check", "--root", repository, "--executor", where, "--at", "2026-06-15")
    assert done.code == 2
    assert f"`{where}` is not an executor" in done.err
    assert "write serial, processes or dask://host:port" in done.err


def test_a_second_check_reads_what_the_first_left(repository, monkeypatch, tmp_path):
    monkeypatch.setattr(checking, "SMALL", 0)
    first = checking.check(repository, DAY, DAY, cache=tmp_path / "cache")
    asked = []
    monkeypatch.setattr(pipeline, "check", lambda *given, **named: asked.append(given))
    second = checking.check(repository, DAY, DAY, cache=tmp_path / "cache")
    assert printed(second) == printed(first)
    assert asked == []


def test_only_what_changed_is_asked_again(repository, monkeypatch, tmp_path):
    monkeypatch.setattr(checking, "SMALL", 0)
    checking.check(repository, DAY, DAY, cache=tmp_path / "cache")
    (repository / "policies/shop/POL-SHOP-002.yaml").write_text(policy("POL-SHOP-002", 11, 20, "part"))
    read, ask = [], pipeline.check
    monkeypatch.setattr(
        pipeline, "check", lambda w, *given, **named: read.append(sorted(w.sources)) or ask(w, *given, **named)
    )
    checked = checking.check(repository, DAY, DAY, cache=tmp_path / "cache")
    assert [finding.id for finding in checked.findings if finding.policies == ("POL-SHOP-001", "POL-SHOP-002")] == []
    assert {path for paths in read for path in paths if "003" in path or "004" in path} == set()


def test_another_day_is_asked_where_it_makes_a_difference(repository, monkeypatch, tmp_path):
    monkeypatch.setattr(checking, "SMALL", 0)
    checking.check(repository, DAY, DAY, cache=tmp_path / "cache")
    later = date(2026, 12, 24)
    assert printed(checking.check(repository, later, later, cache=tmp_path / "cache")) == at_once(
        None, checking.inventory(repository, checking.files_of(repository), checking.Revision(), later)
    )


def test_what_comes_with_the_repository_is_never_believed(repository, monkeypatch, tmp_path):
    monkeypatch.setattr(checking, "SMALL", 0)
    mine, theirs = tmp_path / "mine", repository / ".bylaw" / "cache"
    clean = repository / "policies/shop/POL-SHOP-002.yaml"
    written = clean.read_text()
    clean.write_text(policy("POL-SHOP-002", 11, 20, "part"))
    checking.check(repository, DAY, DAY, cache=theirs)  # all is well here, says a file in the repository
    clean.write_text(written)
    checked = checking.check(repository, DAY, DAY, cache=mine)
    assert [finding.id for finding in checked.new if finding.severity == "error"] != []
    assert not list(repository.glob("**/.bylaw/cache/*"))[1:]


@pytest.mark.parametrize("flags", [[], ["--no-cache"]])
def test_the_command_keeps_what_it_knows_only_where_it_may(repository, monkeypatch, tmp_path, flags):
    monkeypatch.setattr(checking, "SMALL", 0)
    cache = tmp_path / "cache"
    words = ["--root", str(repository), "--cache", str(cache), "--at", "2026-06-15", "--format", "json"]
    done = CliRunner().invoke(check, [*words, *flags])
    assert done.exit_code == 1
    assert len(list(cache.glob("check-*.json"))) == (0 if flags else 1)
    assert CliRunner().invoke(check, words).stdout == done.stdout
