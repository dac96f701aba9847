"""May an answer be given: rows in validate.yaml, and the lengths."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.decisions.contract import Anchor, Evidence, EvidenceEvent, EvidenceTransition, Transitions
from bot.decisions.validate import mandatory_ids, validate
from bylaw.authored.machines.intents import Intents
from ci.loading.source import read
from tests.rows import each

ROWS = read("validate.yaml", Path(__file__).with_name("validate.yaml").read_bytes()).data
TIME = "2012-04-30T09:00:00Z"
EVIDENCE = Evidence(
    anchor=Anchor(
        id="exit-plasma",
        option="Exit plasma",
        rationale="Losses. The panel unit was not profitable.",
        timestamp=TIME,
        decision_maker="Kazuhiro Tsuga",
    ),
    events=(EvidenceEvent(id="pan-e2", summary="Third loss, of €1.2 bn", timestamp=TIME, led_to=("exit-plasma",)),),
    transitions=Transitions(
        preceding=(EvidenceTransition(id="trans-in", to="exit-plasma", reason="so", timestamp=TIME),),
        succeeding=(EvidenceTransition(id="trans-out", from_="exit-plasma", reason="so", timestamp=TIME),),
    ),
    allowed_ids=("exit-plasma", "pan-e2", "trans-in", "trans-out"),
)
PEOPLE = ["Fumio Ohtsubo", "Kazuhiro Tsuga"]  # whom any record names
CITED = ["exit-plasma", "trans-in", "trans-out"]


@each("row", ROWS, ids=lambda row: row["title"])
def test_an_answer_is_held_to_its_evidence(row: dict[str, Any], intents: Intents) -> None:
    intent = intents.intents[row.get("intent", "why_decision")]
    verdict = validate(row["answer"], EVIDENCE, intent, intents, PEOPLE)
    assert list(verdict.reasons) == row["reasons"]
    assert (verdict.answer is None) == bool(row["reasons"])


@each(("field", "bound"), [("short_answer", 320), ("rationale_note", 280)])
def test_an_answer_keeps_its_lengths(field: str, bound: int, intents: Intents) -> None:
    intent = intents.intents["why_decision"]
    fitting = {"short_answer": "Losses.", "supporting_ids": CITED, field: "x" * bound}
    assert validate(fitting, EVIDENCE, intent, intents).reasons == ()
    too_long = {**fitting, field: "x" * (bound + 1)}
    assert validate(too_long, EVIDENCE, intent, intents).reasons == (f"too_long:{field} has {bound + 1} of {bound}",)


def test_what_must_be_cited_is_the_rules_affair(intents: Intents) -> None:
    lax = intents.intents["why_decision"].model_copy(update={"mandatory": ["preceding"]})
    assert mandatory_ids(EVIDENCE, lax) == {"trans-in"}
    assert mandatory_ids(EVIDENCE, intents.intents["why_decision"]) == set(CITED)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=15), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None)
@given(written=JSON | st.fixed_dictionaries({"short_answer": JSON, "supporting_ids": JSON}))
def test_whatever_a_model_writes_gets_a_verdict(written: object, intents: Intents) -> None:
    verdict = validate(written, EVIDENCE, intents.intents["why_decision"], intents)
    if verdict.answer is not None:
        assert set(CITED) <= set(verdict.answer.supporting_ids) <= set(EVIDENCE.allowed_ids)
