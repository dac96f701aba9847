"""Any assistant's answer held against the policies: one verdict on the whole, or sentence by sentence as it is written.

The case is made of the facts in the question and those that are given; what the answer itself says of the case is held
against them. All rules count here, those for a narrow audience too.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from bot.conversation import MAX_TEXT, Question, is_text
from bot.enforcement.answer import Case, case_of, draft_of, plain
from bot.enforcement.checks.registry import CHECKS
from bot.enforcement.checks.result import Judge
from bot.enforcement.sentences import split
from bot.enforcement.verdict import ComplianceDecision, Correction, Escalated, verdict
from bot.index import BundleIndex
from bylaw.errors import UsageError
from bylaw.logic.ir import Value

MAX_RESPONSE = 20_000  # characters of an answer
_AT_THE_END = frozenset({"unanswered", "uncovered"})
_DURING = {name: check for name, check in CHECKS.items() if name in ("pattern", "consistency")}


@dataclass(frozen=True, slots=True)
class Passed:
    """A sentence that may leave."""

    text: str


def check_readable(query: str, response: str) -> None:
    """Raise UsageError for what is no question, or no answer to one that can be judged."""
    for name, said, most in (("query", query, MAX_TEXT), ("response", response, MAX_RESPONSE)):
        if not said.strip():
            raise UsageError(f"the {name} is empty")
        if len(said) > most:
            raise UsageError(f"the {name} is longer than {most} characters")
        if not is_text(said):
            raise UsageError(f"the {name} holds characters that are not text")


def enforce(
    question: Question,
    response: str,
    index: BundleIndex,
    given: Mapping[str, Value] | None = None,
    judge: Judge | None = None,
) -> ComplianceDecision:
    """The verdict on *response* as an answer to *question*. `auto_correct` comes with the corrected text."""
    case = case_of(question, {}, index, index.evaluator, given)
    return decided(case, response, judge)


def decided(case: Case, response: str, judge: Judge | None = None) -> ComplianceDecision:
    """The verdict on *response* in *case*; what is corrected has passed the checks itself, or the answer escalates."""
    found = verdict(draft_of(case, response, judge))
    if found.action != "auto_correct":
        return found
    turn = plain(case)
    checked = verdict(draft_of(case, turn.reply.text, judge))
    if checked.action != "pass":
        reason = f"the corrected text does not pass either: {checked.reason}"
        owners = tuple(sorted({case.index.owner(citation.id) for citation in found.evidence} - {""}))
        escalation = Escalated(owners=owners, reason=reason, case=found.facts)
        return found.model_copy(update={"action": "escalate", "reason": reason, "escalation": escalation})
    return _corrected(found, turn.reply.text)


def _corrected(found: ComplianceDecision, text: str) -> ComplianceDecision:
    """*found* with the text that is delivered instead, and what changed from the one to the other."""
    before, after = split(found.llm_response), split(text)
    diff = tuple(difflib.unified_diff(before, after, "answer", "corrected", lineterm="", n=0))
    reasons = [broken.message for broken in found.violations]
    reasons += [check.detail for check in found.checks if check.score is not None and check.score < 1]
    policies = found.audit_trail.applied_policies
    change = Correction(
        original_fragment=found.llm_response,
        corrected_fragment=text,
        reason="; ".join(dict.fromkeys(reasons)),
        policy_id=policies[0] if policies else None,
    )
    trail = found.audit_trail.model_copy(update={"auto_corrections": (change,), "diff": diff})
    return found.model_copy(update={"delivered": text, "audit_trail": trail})


def stream(
    question: Question,
    sentences: Iterable[str],
    index: BundleIndex,
    given: Mapping[str, Value] | None = None,
    judge: Judge | None = None,
) -> Iterator[Passed | ComplianceDecision]:
    """The sentences that may leave, each checked with all before it, and at the end the verdict on the whole.

    The first sentence that breaks a rule stays here, and the verdict on what was said so far ends the stream.
    """
    case = case_of(question, {}, index, index.evaluator, given)
    said: list[str] = []
    for sentence in sentences:
        said.append(sentence)
        so_far = verdict(draft_of(case, " ".join(said), judge), _DURING)
        if any(broken.kind not in _AT_THE_END for broken in so_far.violations):
            yield _stopped(decided(case, " ".join(said), judge))
            return
        yield Passed(sentence)
    yield decided(case, " ".join(said), judge)


def _stopped(found: ComplianceDecision) -> ComplianceDecision:
    """A verdict that ends a stream never lets its text go on."""
    return found.model_copy(update={"delivered": None})
