"""The guard in process: decorator and context managers, sync and async, and what it imports."""

import asyncio
import shutil
import subprocess
import sys

import pytest

from bylaw.demos.gate import EXAMPLE, SCRIPT, story
from bylaw.errors import UsageError
from bylaw.guard import Denied, Guard
from tests.gate.shop import REFUND, SHOP
from tests.test_transcripts import DOCS, fences, replayed


@pytest.fixture
def guard(bundle_file):
    return Guard.open(bundle_file(SHOP))


def test_coroutines_and_exceptions_end_their_calls(guard):
    done = []

    @guard.protects("verify")
    async def check(customer_id):
        done.append(customer_id)
        if len(done) == 1:
            raise RuntimeError("the line broke")

    @guard.protects("issue_refund")
    async def pay(**order):
        return "paid"

    async def conversation():
        with guard.session("s", actor="bot", facts={"confirmed": True}):
            with pytest.raises(RuntimeError):
                await check("c1")
            with pytest.raises(Denied, match="identity"):
                await pay(**REFUND)
            await check(customer_id="c1")
            assert await pay(**REFUND) == "paid"
            with pytest.raises(Denied) as stopped:
                await pay(**REFUND)
            return stopped.value.answer

    answer = asyncio.run(conversation())
    assert answer.decision == "deny" and done == ["c1", "c1"] and answer.reasons[0].policy_id == "POL-REFUND-002"


def test_a_name_that_is_given_twice_is_decided_by_neither(guard):
    @guard.protects("issue_refund")
    def pay(amount, /, **order):
        pytest.fail("it was paid")

    with guard.session("s", actor="bot", facts={"confirmed": True}), pytest.raises(UsageError, match="twice"):
        pay(9_000, **REFUND)


def test_who_forgets_to_bind_a_tool_is_told_once(guard, caplog):
    assert not any(guard.may_ever("refund") for _ in range(3)) and guard.may_ever("verify")
    assert [one.getMessage().partition(":")[0] for one in caplog.records] == [
        "the tool `refund` is not bound in rules/tools.yaml"
    ]


def test_an_allowed_call_without_session_or_key_is_reported_too(guard):
    answer = guard.decide("logout")
    guard.ended(answer.decision_id)
    with pytest.raises(UsageError):  # it is known as reported
        guard.ended(answer.decision_id)


def test_a_new_bundle_is_picked_up_and_a_broken_one_is_not(tmp_path, bundle_file):
    path = tmp_path / "bundle.json"
    shutil.copy(bundle_file(SHOP), path)
    guard = Guard.open(path)
    assert guard.decide("disclose_pii").ruling == "deny"
    path.write_text("{}")
    assert guard.decide("disclose_pii").ruling == "deny"
    open_policy = {**SHOP, "policies": {**SHOP["policies"], "POL-PRIVACY-001": {"permitted": "disclose_pii"}}}
    shutil.copy(bundle_file(open_policy), path)
    assert guard.decide("disclose_pii").is_allowed


@pytest.mark.slow
def test_the_agent_of_the_handbook_says_what_the_page_says(tmp_path, request, call):
    page = DOCS / "agents.md"
    text = page.read_text(encoding="utf-8")
    replayed(text, tmp_path, call)
    ran = subprocess.run([sys.executable, "agent.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    (shown,) = [fence for fence in fences(text) if fence.language == "text"]
    if request.config.getoption("--update-golden"):
        page.write_text(text[: shown.start] + ran.stdout + text[shown.end :], encoding="utf-8")
    else:
        assert shown.text == ran.stdout


def test_nothing_of_a_server_or_a_database_is_imported():
    heavy = ("fastapi", "starlette", "sqlalchemy", "sqlglot", "duckdb", "z3", "mcp", "pydantic_ai", "bot", "ci")
    code = f"import sys, bylaw.guard; print([name for name in {heavy!r} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


@pytest.mark.slow
def test_the_demo_stops_at_the_proxy_what_it_should_and_is_cited(tmp_path):
    shutil.copytree(EXAMPLE, tmp_path, dirs_exist_ok=True)
    lines: list[str] = []
    story(tmp_path, lines.append)
    said = [line.strip() for line in lines if line.startswith("  ") and not line.startswith("    ")]
    wanted = ["done", "stopped: deny", "stopped: deny", "done", "done", "stopped: deny", "stopped: deny", "done"]
    assert said == [*wanted, "stopped: deny", "stopped: ask", "stopped: escalate"] and len(said) == len(SCRIPT)
    told = "\n".join(lines)
    assert told.count("policies/support/POL-SUPPORT-") >= 6 and told.count("text that matches `c-[0-9]+`") == 1
    assert lines[-1].endswith(": look_up_order, check_identity, issue_refund, send_voucher")
