"""The words that an import proposes are those of its source, each for one thing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from ci.importers.asked import asked_by, phrase_in
from ci.importers.draft import ContextDraft
from ci.importers.phrases import PARTS, propose_phrases

ROWS = yaml.safe_load(Path(__file__).with_name("phrases.yaml").read_text(encoding="utf-8"))


def drafted(row: dict[str, Any]) -> ContextDraft:
    draft = ContextDraft()
    for section in ("entities", "metrics"):
        for name, record in row.get(section, {}).items():
            draft.records[section][name] = {"name": name, **record}
    return draft


def words(draft: ContextDraft) -> dict[str, list[str]]:
    entities, metrics = draft.records["entities"], draft.records["metrics"]
    parts = {
        f"{name}.{part['name']}": part
        for name, entity in entities.items()
        for section in PARTS
        for part in entity.get(section, ())
    }
    found = {name: one["synonyms"] for name, one in {**entities, **metrics, **parts}.items() if "synonyms" in one}
    for name, part in parts.items():
        found |= {f"{name}={value}": said for value, said in part.get("value_synonyms", {}).items()}
    return found


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["title"])
def test_what_the_source_calls_a_thing_is_proposed(row: dict[str, Any]) -> None:
    draft = drafted(row)
    before = words(draft)
    propose_phrases(draft)
    assert {name: said for name, said in words(draft).items() if before.get(name) != said} == row["proposed"]
    marked = {text for notes in draft.notes.values() for _, text in notes}
    assert all(text.startswith("proposed, for review: ") for text in marked)
    assert all(any(phrase in text for text in marked) for said in row["proposed"].values() for phrase in said)


def test_a_second_import_proposes_nothing_more() -> None:
    draft = drafted(ROWS[0])
    propose_phrases(draft)
    once = words(draft)
    propose_phrases(draft)
    assert words(draft) == once


@pytest.mark.parametrize(
    ("type_", "label", "ask", "phrases"),
    [
        ("boolean", "is affordable", "Is it affordable?", {"true": ["affordable"], "false": ["not affordable"]}),
        ("boolean", "has receipt", "Is there receipt?", {"true": ["with receipt"], "false": ["without receipt"]}),
        ("integer", "days since purchase", "How many days since purchase?", ["{value} days since purchase"]),
        ("decimal", "price {EUR}", "What is the price (EUR)?", ["price (EUR) {value}"]),
    ],
)
def test_a_fact_is_asked_for_by_its_heading(type_: str, label: str, ask: str, phrases: Any) -> None:
    assert asked_by(type_, label) == {"ask": ask, "phrases": phrases}


@pytest.mark.parametrize(
    ("sentence", "name", "phrase"),
    [
        ("You must authenticate the user before anything else.", "authenticate_user", "authenticate the user"),
        ("Give a full refund.", "full_refund", None),  # its name says so
        ("Help one user at a time.", "help_other_user", None),  # a word is missing
        ("You may not refund in full.", "refund_may_full", None),  # the stretch is denied
        ("", "refund", None),
    ],
)
def test_a_sentence_says_an_action_in_its_own_words(sentence: str, name: str, phrase: str | None) -> None:
    assert phrase_in(sentence, name) == phrase
