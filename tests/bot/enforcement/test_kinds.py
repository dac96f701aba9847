"""Kinds of answers that were wrong once: each is a row, asked from end to end."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml

from bot.conversation import Question
from bot.enforcement.answer import answer
from bot.index import BundleIndex
from tests.compiled import index_of

ROWS = yaml.safe_load(Path(__file__).with_name("kinds.yaml").read_text(encoding="utf-8"))
# A library: lending is against nobody, a refusal is; a duty is told beside it.
LIBRARY = {
    "policies/vocabulary.yaml": """\
schema_version: "1.0"
facts:
  owes_fees: {type: boolean, label: owes fees, ask: Are there open fees?,
              phrases: {"true": [owe fees, open fees], "false": [no open fees]}}
actions:
  lend: {outcome: loan, label: lend the book}
  refuse: {outcome: loan, label: no loan, against: true}
  show_card: {label: show the card, phrases: [show my card]}
outcomes:
  loan: {label: what becomes of a loan, phrases: [borrow, loan], restrictive: [refuse, lend]}
""",
    "policies/loan/POL-LOAN-001.yaml": """\
policy_id: POL-LOAN-001
conditions: [{type: boolean_flag, parameter: owes_fees, value: true}]
actions: [{type: required, action: refuse, source_text: Nobody who owes fees borrows a reference book.}]
metadata: {source: Handbook, owner: Desk, domain: loan}
""",
    "policies/loan/POL-LOAN-002.yaml": """\
policy_id: POL-LOAN-002
actions: [{type: required, action: show_card, source_text: A card is shown.}]
metadata: {source: Handbook, owner: Desk, domain: loan}
""",
}


def asked(text: str, index: BundleIndex) -> str:
    question = Question(text=text, asked_at=datetime(2026, 11, 20, 9, tzinfo=UTC), request_id="r")
    return answer(question, {}, index).reply.text


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["title"])
def test_what_is_said_and_what_never_is(row, own):
    question = Question(text=row["ask"], asked_at=datetime(2026, 11, 20, 9, tzinfo=UTC), request_id="r")
    reply = answer(question, {}, own).reply
    assert reply.status == row["status"], reply.text
    assert [one for one in row.get("says", ()) if one not in reply.text] == [], reply.text
    assert [one for one in row.get("never", ()) if one in reply.text] == [], reply.text
    assert reply.facts == row.get("facts", reply.facts)


def test_no_duty_is_told_without_the_refusal_that_is_decided(tmp_path):
    for name, text in LIBRARY.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    index = index_of(tmp_path)
    said = asked("I have open fees. Do I have to show my card?", index)
    assert "no loan" in said and "show the card" in said, said
    assert "no loan" not in asked("Do I have to show my card?", index)
