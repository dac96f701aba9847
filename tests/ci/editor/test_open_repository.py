"""What is typed is checked as if it were saved, from the last check, and says what a whole check says."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from ci.editor.open_repository import OpenRepository
from ci.pipeline import run
from ci.scaffold import init

DAY = date(2026, 11, 20)
FIRST = "policies/refund/POL-REFUND-001.yaml"
SECOND = "policies/refund/POL-REFUND-002.yaml"


@pytest.fixture
def repository(tmp_path: Path) -> OpenRepository:
    init(tmp_path / "p")
    return OpenRepository(tmp_path / "p", DAY)


def text(repository: OpenRepository, path: str) -> str:
    return (repository.root / path).read_text(encoding="utf-8")


def test_each_keystroke_says_what_a_whole_check_would(repository: OpenRepository, tmp_path: Path) -> None:
    right = text(repository, SECOND)
    for wrong in (
        right.replace("ask_manager", "full_refund"),
        right.replace("500", "-1"),
        "{",
        right[: len(right) // 2],
        right,
    ):
        repository.texts[SECOND] = wrong
        (repository.root / SECOND).write_text(wrong, encoding="utf-8")
        told = {
            (path, one.id, one.message, one.at.line) for path, found in repository.findings().items() for one in found
        }
        whole = run(repository.root, DAY, DAY)
        assert told == {
            (one.at.path, one.id, one.message, whole.workspace.position(one.at)[0]) for one in whole.findings
        }


def test_unsaved_text_counts_and_the_disk_stays(repository: OpenRepository) -> None:
    before = text(repository, SECOND)
    repository.texts[SECOND] = before.replace("ask_manager", "telephone")
    assert [one.id for one in repository.findings()[SECOND]] == ["unknown-action"]
    assert text(repository, SECOND) == before
    repository.texts.clear()
    assert repository.findings() == {}


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
def test_a_place_offers_the_words_that_may_stand_there(repository: OpenRepository, line: str, offered: str) -> None:
    assert offered in {one.word for one in repository.offers(line, len(line), [])}


def test_text_for_people_offers_nothing(repository: OpenRepository) -> None:
    assert repository.offers("    source_text: refunds ", 25, []) == []
    assert repository.offers("# a remark", 5, []) == []


def test_a_word_has_a_meaning_a_place_and_its_uses(repository: OpenRepository) -> None:
    assert "has the receipt" in (repository.meaning("has_receipt") or "")
    assert "ask a manager" in (repository.meaning("POL-REFUND-002") or "")
    assert repository.meaning("banana") is None
    place = repository.definition("has_receipt")
    assert place is not None and (place.path, place.line) == ("policies/vocabulary.yaml", 5)
    assert {one.path for one in repository.references("has_receipt")} >= {
        FIRST,
        "policies/vocabulary.yaml",
        "policies/refund/cases.yaml",
    }
    assert list(repository.references("banana")) == []


def test_a_slip_has_its_fix(repository: OpenRepository) -> None:
    repository.texts[SECOND] = text(repository, SECOND).replace("ask_manager", "ask_maneger")
    (finding,) = repository.findings()[SECOND]
    fix = repository.fix(finding)
    assert fix is not None and (fix.title, fix.text) == ("write ask_manager", "    action: ask_manager")
