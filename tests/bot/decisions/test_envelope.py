"""The prompt envelope: all an author may see, and one fingerprint for equal questions."""

from __future__ import annotations

from bot.decisions.contract import Document
from bot.decisions.envelope import envelope
from bot.decisions.evidence import gather, plan
from bylaw.authored.decisions import Decisions
from bylaw.authored.machines.intents import Intents
from bylaw.canonical import fingerprint

PLASMA = "panasonic-exit-plasma-2012"


def _envelope(decisions: Decisions, rules: Intents, question: str, anchor: str = PLASMA) -> Document:
    intent = rules.intents["why_decision"]
    evidence = gather(plan(anchor, intent, rules), question, decisions, intent, rules).evidence
    return envelope("why_decision", intent, question, evidence, rules)


def test_the_envelope_has_the_shape_of_the_seed(panasonic: Decisions, intents: Intents) -> None:
    paper = _envelope(panasonic, intents, "Why did Panasonic exit plasma?")
    assert set(paper) == {
        "prompt_version",
        "intent",
        "policy",
        "question",
        "evidence",
        "allowed_ids",
        "constraints",
        "explanations",
    }
    assert paper["prompt_version"] == "why_v1"
    assert paper["policy"] == {"json_mode": True, "retries": 2, "temperature": 0}
    assert paper["constraints"] == {
        "output_schema": "WhyDecisionAnswer@1",
        "max_tokens": 256,
        "forbidden_text": ["```", "<xml>"],
    }
    evidence = paper["evidence"]
    assert isinstance(evidence, dict)
    assert paper["allowed_ids"] == evidence["allowed_ids"]


def test_white_space_does_not_make_another_prompt(panasonic: Decisions, intents: Intents) -> None:
    one = _envelope(panasonic, intents, "Why did Panasonic exit plasma?")
    other = _envelope(panasonic, intents, "  Why did Panasonic\texit plasma? ")
    assert fingerprint(one) == fingerprint(other)


def test_another_question_or_another_decision_does(panasonic: Decisions, intents: Intents) -> None:
    papers = [
        _envelope(panasonic, intents, "Why did Panasonic exit plasma?"),
        _envelope(panasonic, intents, "Why did Panasonic leave plasma?"),
        _envelope(panasonic, intents, "Why did Panasonic exit plasma?", "initial-cloud-decision-2024"),
    ]
    assert len({fingerprint(paper) for paper in papers}) == 3
