"""May this answer be given? Its shape, the ids it cites and must cite (seed 002, B4), and every value that it says.

Whoever wrote the answer, template or model, it passes here before anyone reads it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import ValidationError

from bot.decisions.contract import DecisionAnswer, Evidence, Listed
from bot.decisions.said import unsupported
from bylaw.authored.machines.intents import Intent, Intents

_LONGEST_READ = 4_000  # characters of an answer: a longer one is refused for its length, and not looked at


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer when it holds, else why not: `schema:…`, `too_long:…`, `unsupported_ids:…`, `missing_ids:…`,
    `unsupported_values:…`.
    """

    answer: DecisionAnswer | None
    reasons: tuple[str, ...] = ()


def validate(
    written: object, evidence: Evidence | Listed, intent: Intent, rules: Intents, people: Sequence[str] = ()
) -> Verdict:
    """Check what an author wrote (an Answer, or parsed JSON) against the evidence it was given. *people* are those whom
    any record names: one of them has to stand in a record that is cited.
    """
    try:
        answer = DecisionAnswer.model_validate(written)
    except ValidationError as problem:
        places = sorted({".".join(str(step) for step in error["loc"]) or "answer" for error in problem.errors()})
        return Verdict(None, tuple(f"schema:{place}" for place in places))
    reasons = [*_lengths(answer, rules), *_forbidden(answer, rules), *_ids(answer, evidence, intent)]
    said = f"{answer.short_answer}\n{answer.rationale_note or ''}".strip()
    if isinstance(evidence, Evidence) and len(said) <= _LONGEST_READ:
        reasons += [f"unsupported_values:{one}" for one in unsupported(said, evidence, answer.supporting_ids, people)]
    return Verdict(None if reasons else answer, tuple(reasons))


def mandatory_ids(evidence: Evidence | Listed, intent: Intent) -> frozenset[str]:
    """What must be cited: the anchor, and every transition that is present and that the intent counts."""
    if isinstance(evidence, Listed):
        return frozenset()
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


def coverage(answer: DecisionAnswer, evidence: Evidence | Listed, intent: Intent) -> tuple[float, int]:
    """The share of what must be cited that is cited, and how many ids are missing (`completeness_debt`)."""
    demanded = mandatory_ids(evidence, intent)
    missing = demanded - set(answer.supporting_ids)
    return (1.0 if not demanded else round(1 - len(missing) / len(demanded), 6)), len(missing)


def _lengths(answer: DecisionAnswer, rules: Intents) -> list[str]:
    bounds = (
        ("short_answer", answer.short_answer, rules.lengths.short_answer),
        ("rationale_note", answer.rationale_note or "", rules.lengths.rationale_note),
    )
    return [f"too_long:{name} has {len(text)} of {bound}" for name, text, bound in bounds if len(text) > bound]


def _forbidden(answer: DecisionAnswer, rules: Intents) -> list[str]:
    said = f"{answer.short_answer}\n{answer.rationale_note or ''}"
    return [f"forbidden_text:{text}" for text in rules.prompt.forbidden_text if text in said]


def _ids(answer: DecisionAnswer, evidence: Evidence | Listed, intent: Intent) -> list[str]:
    cited = set(answer.supporting_ids)
    wrong = sorted(cited - set(evidence.allowed_ids))
    missing = sorted(mandatory_ids(evidence, intent) - cited)
    return [
        *([f"unsupported_ids:{', '.join(wrong)}"] if wrong else []),
        *([f"missing_ids:{', '.join(missing)}"] if missing else []),
    ]
