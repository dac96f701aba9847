"""`bylaw decide --why`: who lost and by which step, what failed, and what would have to be different."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

Command = Callable[..., Any]


@pytest.fixture
def why(company: Any, call: Command) -> Callable[..., Any]:
    def ask(facts: str, *more: str) -> Any:
        given = ("decide", "--bundle", company.bundle, "--facts", facts, "--at", "2026-06-01", *more)
        return call(*given, "--json").json["why"] if "--text" not in more else call(*given[:-1]).out

    return ask


def different(found: Any, subject: str) -> Any:
    return next(other for other in found["different"] if other["subject"] == subject)


def test_the_smallest_change_is_told_with_its_rule(why: Callable[..., Any]) -> None:
    other = different(why('{"hours_late": 5, "bike_type": "city", "is_member": true}', "--why"), "late_fee")
    assert [(change["fact"], change["from"], change["to"]) for change in other["changes"]] == [("hours_late", 5, 3)]
    assert (other["action"], other["policy_id"], other["is_sure"]) == ("no_fee", "POL-RENTAL-002", True)
    assert "hours late is between" in other["text"] or "hours late is at most 3 hours (now 5 hours)" in other["text"]


def test_the_changed_case_gets_what_was_told(why: Callable[..., Any], company: Any, call: Command) -> None:
    facts = '{"hours_late": 2, "bike_type": "city", "is_member": true}'
    other = different(why(facts, "--want", "hourly_fee"), "late_fee")
    assert other["action"] == "hourly_fee"
    changed = {"hours_late": 2, "bike_type": "city", "is_member": True}
    changed |= {change["fact"]: change["to"] for change in other["changes"]}
    told = (
        "{"
        + ", ".join(
            f'"{k}": {str(v).lower() if not isinstance(v, str) else chr(34) + v + chr(34)}' for k, v in changed.items()
        )
        + "}"
    )
    again = call("decide", "--bundle", company.bundle, "--facts", told, "--at", "2026-06-01", "--json")
    assert again.json["outcomes"]["late_fee"]["action"] == "hourly_fee"


def test_who_lost_is_told_with_the_winner_and_the_step(why: Callable[..., Any]) -> None:
    (lost,) = why('{"has_booking": true, "rider_age": 13, "hours_late": 0}', "--why")["lost"]
    assert lost["policy_id"] == "POL-RENTAL-004" and lost["lost_to"]["policy_id"] == "POL-SAFETY-001"
    assert "beats level" in lost["step"]


def test_the_tests_that_failed_are_told_of_the_nearest_rules_first(why: Callable[..., Any]) -> None:
    failed = why('{"hours_late": 5, "bike_type": "city", "is_member": true}', "--why")["failed"]["late_fee"]
    assert failed[0]["tests"] and all(len(a["tests"]) <= len(b["tests"]) for a, b in pairwise(failed))


def test_an_action_nobody_speaks_of_is_wrong_usage(company: Any, call: Command) -> None:
    done = call("decide", "--bundle", company.bundle, "--facts", "{}", "--want", "fly")
    assert done.code == 2 and "no policy speaks of the action `fly`" in done.err


def test_a_duty_can_be_wanted(why: Callable[..., Any]) -> None:
    other = different(why('{"hours_late": 0}', "--want", "send_reminder"), "send_reminder")
    assert other["changes"] and other["policy_id"]
