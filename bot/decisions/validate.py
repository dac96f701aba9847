"""May this answer be given? Its shape, the ids it cites, the ids it must cite (seed 002, B4).

Whoever wrote the answer, template or model, it passes here before anyone reads it.
"""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import ValidationError

from bot.decisions.contract import DecisionAnswer, Evidence
from bylaw.authored.machines.intents import Intent, Intents


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer when it holds, else why not: `schema:…`, `too_long:…`, `unsupported_ids:…`, `missing_ids:…`."""

    answer: DecisionAnswer | None
    reasons: tuple[str, ...] = ()


def validate(written: object, evidence: Evidence, intent: Intent, rules: Intents) -> Verdict:
    """Check what an author wrote (an Answer, or parsed JSON) against the evidence it was given."""
    try:
        answer = DecisionAnswer.model_validate(written)
    except ValidationError as problem:
        places = sorted({".".join(str(step) for step in error["loc"]) or "answer" for error in problem.errors()})
        return Verdict(None, tuple(f"schema:{place}" for place in places))
    reasons = [*_lengths(answer, rules), *_forbidden(answer, rules), *_ids(answer, evidence, intent)]
    return Verdict(None if reasons else answer, tuple(reasons))


def mandatory_ids(evidence: Evidence, intent: Intent) -> frozenset[str]:
    """What must be cited: the anchor, and every transition that is present and that the intent counts."""
    ids: set[str] = set()
    for part in intent.mandatory:
        match part:
            case "anchor":
                ids.add(evidence.anchor.id)
            case "preceding":
                ids.update(one.id for one in evidence.transitions.preceding)
            case "succeeding":
                ids.update(one.id for one in evidence.transitions.succeeding)
    return frozenset(ids)


def _lengths(answer: DecisionAnswer, rules: Intents) -> list[str]:
    bounds = (
        ("short_answer", answer.short_answer, rules.lengths.short_answer),
        ("rationale_note", answer.rationale_note or "", rules.lengths.rationale_note),
    )
    return [f"too_long:{name} has {len(text)} of {bound}" for name, text, bound in bounds if len(text) > bound]


def _forbidden(answer: DecisionAnswer, rules: Intents) -> list[str]:
    said = f"{answer.short_answer}\n{answer.rationale_note or ''}"
    return [f"forbidden_text:{text}" for text in rules.prompt.forbidden_text if text in said]


def _ids(answer: DecisionAnswer, evidence: Evidence, intent: Intent) -> list[str]:
    cited = set(answer.supporting_ids)
    unsupported = sorted(cited - set(evidence.allowed_ids))
    missing = sorted(mandatory_ids(evidence, intent) - cited)
    return [
        *([f"unsupported_ids:{', '.join(unsupported)}"] if unsupported else []),
        *([f"missing_ids:{', '.join(missing)}"] if missing else []),
    ]
