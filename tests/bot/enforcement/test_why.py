"""`bylaw decide --why`: who lost and by which step, what failed, and what would have to be different."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from bot.enforcement.writing.why import as_lines
from bot.enforcement.writing.why import why as explain
from bot.index import BundleIndex
from bylaw.bundle import parse

DAY = date(2026, 6, 1).toordinal()

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


def test_people_read_labels_and_no_line_twice(why: Callable[..., Any], company: Any) -> None:
    import yaml

    words = yaml.safe_load((company.root / "policies/vocabulary.yaml").read_text())
    names = [name for section in ("facts", "actions", "outcomes") for name in words[section] if "_" in name]
    for facts in ('{"hours_late": 5}', '{"has_booking": true, "rider_age": 13}', '{"is_damaged": true}', "{}"):
        lines = why(facts, "--why", "--text").splitlines()
        assert len(set(lines)) == len(lines)
        assert not [name for name in names if any(name in line for line in lines)]
        assert "not (" not in "".join(lines)


def test_nobody_is_told_why_not_of_what_is_given(why: Callable[..., Any]) -> None:
    for facts, given in (('{"hours_late": 2, "is_member": true}', "no_fee"), ('{"hours_late": 30}', "full_day_fee")):
        failed = why(facts, "--why")["failed"]["late_fee"]
        assert failed and given not in {rule["action"] for rule in failed}


def test_what_is_so_already_is_no_change(why: Callable[..., Any]) -> None:
    for facts, want in (('{"hours_late": 0}', "no_fee"), ('{"hours_late": 9}', "send_reminder")):
        (other,) = why(facts, "--want", want)["different"]
        assert other["is_given"] and not other["changes"]
        assert other["text"].endswith("as it is, nothing has to change")


def trade(root: Path) -> BundleIndex:
    """A climbing hall: an age that nobody changes, and a duty that an exception lifts."""
    from ci.pipeline import bundle_text, run

    (root / "policies/hall").mkdir(parents=True)
    (root / "policies/vocabulary.yaml").write_text(
        """schema_version: "1.0"
facts:
  climber_age: {type: integer, unit: years, minimum: 0, maximum: 120, changeable: false, label: age of the climber}
  guardian_present: {type: boolean, label: a guardian is present}
  is_regular: {type: boolean, label: the climber is a regular}
actions:
  admit: {outcome: entry, label: the climber may enter}
  turn_away: {outcome: entry, label: the climber may not enter}
  sign_waiver: {label: sign the waiver}
outcomes: {entry: {label: who may enter, complete: true}}
"""
    )
    (root / "policies/hall/POL-HALL-001.yaml").write_text(
        """policy_id: POL-HALL-001
metadata: {source: House rules, owner: Front desk, domain: hall}
conditions:
  - any_of:
      - {type: fact, parameter: climber_age, operator: ">=", value: 16}
      - {type: fact, parameter: guardian_present, value: true}
actions:
  - {action: admit, type: required}
  - {action: turn_away, type: fallback}
"""
    )
    (root / "policies/hall/POL-HALL-002.yaml").write_text(
        """policy_id: POL-HALL-002
metadata: {source: House rules, owner: Front desk, domain: hall}
actions: [{action: sign_waiver, type: required}]
exceptions:
  - description: Regulars have signed before.
    conditions: [{type: fact, parameter: is_regular, value: true}]
    action: none
"""
    )
    day = date(2026, 6, 1)
    return BundleIndex(parse(bundle_text(run(root, day, day))))


def test_the_change_that_a_person_can_make_comes_first(tmp_path: Path) -> None:
    index = trade(tmp_path)
    facts = {"climber_age": 15, "guardian_present": False}
    decision = index.evaluator.decide(facts, DAY)
    (line,) = [
        line for line in as_lines(explain(index, index.evaluator, facts, DAY, decision), index) if "diff" in line
    ]
    assert line == "different: who may enter: “the climber may enter” (POL-HALL-001) if a guardian is present (now no)"


def test_the_exception_that_lifts_a_duty_is_named(tmp_path: Path) -> None:
    index = trade(tmp_path)
    facts = {"climber_age": 20, "is_regular": True}
    decision = index.evaluator.decide(facts, DAY)
    told = list(as_lines(explain(index, index.evaluator, facts, DAY, decision), index))
    place = "policies/hall/POL-HALL-002.yaml:5"
    assert told[0] == (
        f"lifted: “sign the waiver” (POL-HALL-002), by the exception “Regulars have signed before.” --> {place}"
    )


def test_a_duty_comes_with_the_rule_that_gives_it(company: Any, call: Command) -> None:
    given = ("decide", "--bundle", company.bundle, "--facts", '{"hours_late": 5}', "--at", "2026-06-01")
    lines = call(*given, "--why").out.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("required: "))
    assert "then required: send a reminder" in lines[at + 1]
    assert lines[at + 2].startswith("  --> policies/")
    assert "then required: " not in call(*given).out
