"""The repository's own policies under the checker: they are clean, and a wrong edit does not stay so."""

from __future__ import annotations

import shutil
from collections import Counter
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import yaml

from bylaw.logic.decide.evaluate import Evaluator
from bylaw.logic.formula.ir import Facts
from ci.pipeline import Run, run
from tests.rows import one_of

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
EDITS = yaml.safe_load((HERE / "policies_check.yaml").read_text(encoding="utf-8"))
DAYS = (date(2026, 11, 20), date(2027, 2, 18), date(2028, 1, 1))  # now, a policy starts, a policy has ended


def _copy(target: Path) -> Path:
    for folder in ("policies", "rules"):
        shutil.copytree(ROOT / folder, target / folder)
    return target


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _copy(tmp_path_factory.mktemp("own"))


@pytest.fixture(scope="module")
def checked(own: Path) -> Run:
    return run(own, DAYS[0], DAYS[0])


def _told(done: Run) -> list[str]:
    return [finding.message for finding in done.findings if finding.severity != "notice"]


@pytest.mark.parametrize("day", DAYS, ids=str)
def test_our_policies_check_clean_today_and_later(own: Path, day: date) -> None:
    assert _told(run(own, day, day)) == []


def test_the_notices_are_what_they_are_known_to_be(checked: Run) -> None:
    known = {"inactive-policy": 1, "resolved-conflict": 2}
    assert Counter(finding.id for finding in checked.findings) == known
    assert {finding.policies for finding in checked.findings if finding.id == "resolved-conflict"} == {
        ("POL-REFUND-001", "POL-REFUND-002"),
        ("POL-REFUND-001", "POL-REFUND-005"),
    }


@pytest.mark.parametrize("edit", one_of(3, EDITS), ids=lambda edit: edit["title"])
def test_a_wrong_edit_is_found(tmp_path: Path, edit: dict[str, Any]) -> None:
    path = _copy(tmp_path) / edit["file"]
    before = path.read_text(encoding="utf-8")
    assert before.count(edit["old"]) == 1
    path.write_text(before.replace(edit["old"], edit["new"]), encoding="utf-8")
    found = {finding.id for finding in run(tmp_path, DAYS[0], DAYS[0]).findings}
    assert set(edit["ids"]) <= found


def test_a_lost_receipt_asks_for_the_price_and_for_nothing_else(checked: Run) -> None:
    """I bought a TV 20 days ago and lost the receipt: only the price can change what the customer gets back."""
    facts: Facts = {"product_category": "electronics", "days_since_purchase": Fraction(20), "has_receipt": False}
    evaluator = Evaluator(checked.ruleset)
    first = evaluator.decide(facts, DAYS[0].toordinal())
    assert first.outcomes["refund"].action is None
    assert first.undecided["refund"] == ("purchase_amount",)
    then = evaluator.decide({**facts, "purchase_amount": Fraction(600)}, DAYS[0].toordinal())
    assert (then.outcomes["refund"].action, then.outcomes["refund"].policy_id) == ("store_credit", "POL-REFUND-001")


def test_both_examples_of_the_policy_format_compile_beside_our_words(tmp_path: Path) -> None:
    """The two example policies that the format was specified with use only words our vocabulary declares."""
    shutil.copytree(ROOT / "rules", tmp_path / "rules")
    folder = tmp_path / "policies" / "refund"
    folder.mkdir(parents=True)
    shutil.copy(ROOT / "policies" / "vocabulary.yaml", folder.parent)
    for name in ("POL-REFUND-001", "POL-IMP-REFUND-003"):
        shutil.copy(HERE / "examples" / f"{name}.json", folder)
    done = run(tmp_path, DAYS[0], DAYS[0])
    assert [finding.message for finding in done.findings if finding.severity == "error"] == []
    assert {record.policy.policy_id for record in done.proofs.records} == {"POL-REFUND-001", "POL-IMP-REFUND-003"}
