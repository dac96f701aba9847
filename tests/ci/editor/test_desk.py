"""What is typed is checked as if it were saved, from the last check, and says what a whole check says."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from ci.editor.desk import Desk
from ci.pipeline import run
from ci.scaffold import init

DAY = date(2026, 11, 20)
FIRST = "policies/refund/POL-REFUND-001.yaml"
SECOND = "policies/refund/POL-REFUND-002.yaml"


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    init(tmp_path / "p")
    return Desk(tmp_path / "p", DAY)


def text(desk: Desk, path: str) -> str:
    return (desk.root / path).read_text(encoding="utf-8")


def test_each_keystroke_says_what_a_whole_check_would(desk: Desk, tmp_path: Path) -> None:
    right = text(desk, SECOND)
    for wrong in (
        right.replace("ask_manager", "full_refund"),
        right.replace("500", "-1"),
        "{",
        right[: len(right) // 2],
        right,
    ):
        desk.texts[SECOND] = wrong
        (desk.root / SECOND).write_text(wrong, encoding="utf-8")
        told = {(path, one.id, one.message, one.at.line) for path, found in desk.findings().items() for one in found}
        whole = run(desk.root, DAY, DAY)
        assert told == {
            (one.at.path, one.id, one.message, whole.workspace.position(one.at)[0]) for one in whole.findings
        }


def test_unsaved_text_counts_and_the_disk_stays(desk: Desk) -> None:
    before = text(desk, SECOND)
    desk.texts[SECOND] = before.replace("ask_manager", "telephone")
    assert [one.id for one in desk.findings()[SECOND]] == ["unknown-action"]
    assert text(desk, SECOND) == before
    desk.texts.clear()
    assert desk.findings() == {}


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("  - {type: fact, parameter: ", "days_since_purchase"),
        ("    action: ", "full_refund"),
        ("    requires: [has_receipt, ", "within_window"),
        ("  - {type: fact, parameter: has_receipt, value: ", "true"),
        ("overrides: [", "POL-REFUND-002"),
        ("  owner: ", "Customer Service Dept."),
    ],
)
def test_a_place_offers_the_words_that_may_stand_there(desk: Desk, line: str, offered: str) -> None:
    assert offered in {one.word for one in desk.offers(line, len(line), [])}


def test_text_for_people_offers_nothing(desk: Desk) -> None:
    assert desk.offers("    source_text: refunds ", 25, []) == []
    assert desk.offers("# a remark", 5, []) == []


def test_a_word_has_a_meaning_a_place_and_its_uses(desk: Desk) -> None:
    assert "has the receipt" in (desk.meaning("has_receipt") or "")
    assert "ask a manager" in (desk.meaning("POL-REFUND-002") or "")
    assert desk.meaning("banana") is None
    place = desk.definition("has_receipt")
    assert place is not None and (place.path, place.line) == ("policies/vocabulary.yaml", 5)
    assert {one.path for one in desk.references("has_receipt")} >= {
        FIRST,
        "policies/vocabulary.yaml",
        "policies/refund/cases.yaml",
    }
    assert list(desk.references("banana")) == []


def test_a_slip_has_its_fix(desk: Desk) -> None:
    desk.texts[SECOND] = text(desk, SECOND).replace("ask_manager", "ask_maneger")
    (finding,) = desk.findings()[SECOND]
    fix = desk.fix(finding)
    assert fix is not None and (fix.title, fix.text) == ("write ask_manager", "    action: ask_manager")
