"""A second opinion on the answer, from a model behind a port. Without one, or without a verdict, it weighs nothing."""

from __future__ import annotations

from bot.enforcement.judged.checks.result import AnswerDraft, CheckResult, Violation
from bylaw.authored.labels import labels
from bylaw.logic.words.prose import rule_in_words


def check(draft: AnswerDraft) -> CheckResult:
    """What the judge makes of the answer, held against the rules that decide its case."""
    if draft.judge is None:
        return CheckResult("judge", None, "no judge is configured")
    spoken = labels(draft.index.vocabulary)
    rules = [f"{rule.policy_id}: {rule_in_words(rule, spoken)}" for rule in draft.deciding]
    given = draft.judge(draft.query, draft.seen, rules)
    if given is None:
        return CheckResult("judge", None, "the judge gave no verdict")
    if not 0 <= given <= 1:  # also refuses what is not a number
        return CheckResult("judge", None, "the judge's verdict is no number from 0 to 1")
    floor = draft.index.rules.enforcement.escalate_below_for(draft.domain)
    if given < floor:
        found = Violation("judged", f"the judge holds the answer for {given:.2f} right")
        return CheckResult("judge", given, found.message, (found,))
    return CheckResult("judge", given, "the judge agrees")
