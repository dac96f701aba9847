"""`bylaw decide` and `bylaw sql check`: a verdict on stdout, the exit code, and nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]


@pytest.fixture
def decide(company: Any, call: Command) -> Command:
    return lambda facts, *more: call("decide", "--bundle", company.bundle, "--facts", facts, "--json", *more)


def test_facts_may_lie_in_a_file(decide: Command, tmp_path: Path) -> None:
    (tmp_path / "case.json").write_text('{"hours_late": 5}\n', encoding="utf-8")
    assert decide(f"@{tmp_path}/case.json").json == decide('{"hours_late": 5}').json


def test_numbers_with_a_point_stay_exact(decide: Command) -> None:
    """A tenth is a tenth: three times 0.1 is not more than 0.3."""
    below = decide('{"is_damaged": true, "damage_cost": 50.00}').json
    above = decide('{"is_damaged": true, "damage_cost": 50.000000000000000001}').json
    assert below["outcomes"]["deposit"]["action"] is None
    assert above["outcomes"]["deposit"]["action"] == "keep_deposit"


def test_a_number_may_be_text_that_says_it_exactly(decide: Command) -> None:
    assert (
        decide('{"damage_cost": "50.01", "is_damaged": true}').json["outcomes"]["deposit"]["action"] == "keep_deposit"
    )


def test_the_day_decides_which_rules_are_in_force(decide: Command) -> None:
    now = decide('{"hours_late": 2, "is_member": true}', "--at", "2026-06-01").json
    before = decide('{"hours_late": 2, "is_member": true}', "--at", "2025-12-31").json
    assert now["outcomes"]["late_fee"]["action"] == "no_fee"
    assert before["outcomes"]["late_fee"]["action"] != "no_fee"


@pytest.mark.parametrize("at", ["tomorrow", "2026-13-01", "2026-06-01T10:00:00"])
def test_a_day_that_is_none_is_wrong_usage(at: str, decide: Command) -> None:
    assert decide("{}", "--at", at).code == 2


def test_the_same_facts_in_another_order_are_the_same_case(decide: Command) -> None:
    one = decide('{"has_booking": true, "rider_age": 13, "hours_late": 2}')
    two = decide('{"hours_late": 2, "rider_age": 13, "has_booking": true}')
    assert one.out == two.out


def test_stdout_is_one_document_and_stderr_is_empty(company: Any, bylaw: Command) -> None:
    done = bylaw("decide", "--bundle", company.bundle, "--facts", '{"hours_late": 5}', "--json")
    assert (done.code, done.err) == (0, "")
    assert list(done.json) == sorted(done.json)
    assert done.out.endswith("}\n")


# ---- sql check ------------------------------------------------------------------------------------------------------

SHAPES = [
    ("select 1", True),
    ("with a as (select 1 as x) select x from a", True),
    ("select count(*) from shop.orders where status = 'returned'", True),
    ("delete from shop.orders", False),
    ("select 1; drop table shop.orders", False),
    ("copy shop.orders to '/tmp/x'", False),
    ("attach '/tmp/x.db'", False),
    ("select * from read_text('/etc/passwd')", False),
    ("pragma database_list", False),
    ("set memory_limit = '1GB'", False),
    ("select", False),
    ("", False),
    ("/* nothing */", False),
    ("select 'it''s; fine'", True),
    ("(" * 5_000 + "select 1" + ")" * 5_000, False),
    ("select " + "1+" * 20_000 + "1", False),
    ("\x00", False),
]


@pytest.mark.parametrize(("statement", "allowed"), SHAPES, ids=[text[:40] or "nothing" for text, _ in SHAPES])
def test_a_statement_is_judged_by_its_shape(statement: str, allowed: bool, call: Command) -> None:
    done = call("sql", "check", "--no-catalogue", "--json", statement)
    assert (done.code, done.err) == (0 if allowed else 1, "")
    verdict = done.json
    assert set(verdict) == {
        "is_allowed",
        "sql_type",
        "schemas_referenced",
        "schemas_blocked",
        "reason",
        "line",
        "column",
        "columns_checked",
        "sql",
    }
    assert verdict["columns_checked"] is False
    assert verdict["is_allowed"] is allowed
    assert (verdict["reason"] is None) is allowed
    said = call("sql", "check", "--no-catalogue", statement)
    where = "" if verdict["line"] is None else f" at {verdict['line']}:{verdict['column']}"
    line, loud = said.out.strip().split("\n")
    assert (said.code, line) == (done.code, "allowed" if allowed else f"denied{where}: {verdict['reason']}")
    assert loud.startswith("ONLY ITS SHAPE WAS CHECKED")


def test_with_a_catalogue_tables_and_rights_count(tmp_path: Path, call: Command) -> None:
    assert call("init", tmp_path / "shop").code == 0
    bundle = tmp_path / "out" / "compiled_policy_bundle.json"
    assert call("compile", "--root", tmp_path / "shop", "-o", tmp_path / "out").code == 0
    table = next(iter(json.loads(bundle.read_text())["context"]["entities"].values()))["base_table"]
    known = f"select count(*) as n from {table['schema']}.{table['table']}"
    assert call("sql", "check", "--bundle", bundle, known).out == "allowed\n"
    unknown = call("sql", "check", "--bundle", bundle, "--json", f"select * from {table['schema']}.nowhere")
    assert (unknown.code, unknown.json["is_allowed"]) == (1, False)
    assert "nowhere" in unknown.json["reason"]


def test_an_answer_is_judged_and_the_exit_code_says_whether_it_may_be_given(
    repository: Any, call: Command, tmp_path: Path
) -> None:
    done = call(
        "enforce",
        "--bundle",
        repository.bundle,
        "--query",
        "Can I get a refund?",
        "--response",
        "You get a full refund, guaranteed.",
        "--json",
        cwd=tmp_path,
    )
    assert done.code == 1
    assert done.json["action"] == "escalate"
    assert {"over-promise"} <= {broken["kind"] for broken in done.json["violations"]}
    assert {"score", "action", "violations", "evidence", "audit_trail", "llm_response"} <= set(done.json)


def test_an_answer_that_asks_back_where_the_case_is_open_may_be_given(
    repository: Any, call: Command, tmp_path: Path
) -> None:
    done = call(
        "enforce",
        "--bundle",
        repository.bundle,
        "--query",
        "Can I get a refund?",
        "--response",
        "Do you have the receipt?",
        cwd=tmp_path,
    )
    assert (done.code, done.out.split(" ")[0]) == (0, "pass")


def test_facts_of_an_answer_are_declared(repository: Any, call: Command, tmp_path: Path) -> None:
    words = ("--query", "x", "--response", "y", "--facts", '{"nope": 1}')
    done = call("enforce", "--bundle", repository.bundle, *words, cwd=tmp_path)
    assert done.code == 2
    assert "`nope` is no declared fact" in done.err


ASKS_BACK = ("--query", "Can I get a refund?", "--response", "Do you have the receipt?", "--as", "ana")


def test_a_verdict_is_recorded_where_a_store_is(repository: Any, call: Command, tmp_path: Path) -> None:
    judged = ("enforce", "--bundle", repository.bundle, *ASKS_BACK)
    assert call(*judged, cwd=tmp_path).code == 0
    assert list(tmp_path.iterdir()) == []  # a folder in which nothing was ever recorded is left as it is
    assert call("ask", "Can I get a refund?", "--bundle", repository.bundle, cwd=tmp_path).code == 1  # asked back
    assert call(*judged, cwd=tmp_path).code == 0
    shown = call("audit", "export", cwd=tmp_path).out.splitlines()
    assert [json.loads(json.loads(line)["header"])["kept"]["event"] for line in shown[2:-1]] == ["reply", "enforce"]
    told = json.loads(json.loads(shown[3])["payload"])
    assert (told["final_action"], told["actor"]["id"]) == ("pass", "ana")
    assert "the chain holds: 3 entries" in call("audit", "verify", cwd=tmp_path).out


def test_a_store_that_is_named_is_made(
    repository: Any, call: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BYLAW_STORE_URL", "sqlite:///kept/named.db")
    assert call("enforce", "--bundle", repository.bundle, *ASKS_BACK, cwd=tmp_path).code == 0
    assert "the chain holds: 1 entry" in call("audit", "verify", cwd=tmp_path).out


def test_a_verdict_that_cannot_be_recorded_is_not_given(
    repository: Any, call: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BYLAW_STORE_URL", "postgresql+psycopg://u:hidden@127.0.0.1:1/none")
    done = call("enforce", "--bundle", repository.bundle, *ASKS_BACK, cwd=tmp_path)
    assert (done.code, done.out) == (3, "")
    assert "the store does not answer" in done.err and "hidden" not in done.err


REFUSED = [
    (("--query", " ", "--response", "x"), "the query is empty"),
    (("--query", "x", "--response", ""), "the response is empty"),
    (("--query", "x" * 8_001, "--response", "x"), "the query is longer than 8000 characters"),
    (("--query", "x", "--response", "x" * 20_001), "the response is longer than 20000 characters"),
    (("--query", "\udcff", "--response", "x"), "the query holds characters that are not text"),
    (("--query", "x", "--response", "x", "--as", "a\nb"), "the user must have 1 to 128 printable characters"),
    (("--query", "x", "--response", "x", "--at", "0001-01-01T00:00:00+14:00"), "is not a time that a calendar has"),
    (("--query", "x", "--response", "x", "--facts", "@/dev/zero"), "has more than 1,000,000 characters"),
    (("--query", "x", "--response", "x", "--facts", "@no"), "`no` cannot be read"),
]


@pytest.mark.parametrize(("words", "says"), REFUSED, ids=[says for _, says in REFUSED])
def test_what_is_no_answer_to_a_question_is_wrong_usage(
    words: tuple[str, ...], says: str, repository: Any, call: Command, tmp_path: Path
) -> None:
    done = call("enforce", "--bundle", repository.bundle, *words, cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert says in done.err


PIPED = [
    (b"Do you have the receipt?", 0, "pass"),
    (b"\xef\xbb\xbfDo you have the receipt?", 0, "pass"),  # some editors begin a file so
    (b"Do you have \xff", 2, "is not UTF-8"),
    (b"x" * 3_000_000, 2, "the response is longer than 20000 characters"),
    ("€".encode() * 30_000, 2, "the response is longer than 20000 characters"),
    (b"", 2, "the response is empty"),
]


@pytest.mark.parametrize(("data", "code", "says"), PIPED, ids=range(len(PIPED)))
def test_an_answer_may_come_through_a_pipe(
    data: bytes, code: int, says: str, repository: Any, tmp_path: Path, call: Command
) -> None:
    words = ["enforce", "--bundle", repository.bundle, "--query", "refund?", "--response", "-"]
    done = call(*words, stdin=data, cwd=tmp_path)
    assert done.code == code
    assert says in done.out + done.err


@pytest.mark.slow
def test_a_pipe_that_nobody_reads_to_its_end_is_refused_all_the_same(repository: Any, tmp_path: Path) -> None:
    words = [sys.executable, "-m", "bylaw.cli", "enforce", "--bundle", str(repository.bundle), "--query", "refund?"]
    done = subprocess.run([*words, "--response", "-"], input=PIPED[3][0], capture_output=True, cwd=tmp_path)
    assert done.returncode == PIPED[3][1]
    assert PIPED[3][2] in done.stderr.decode()
