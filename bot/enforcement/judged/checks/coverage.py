"""How much of what decides the case does whoever asks hear of? A terse answer may be a poor one, but is no breach.

He needs not hear what he said himself, or what was given with the question and his own words do not contradict.
"""

from __future__ import annotations

from bot.enforcement.judged.checks.result import AnswerDraft, CheckResult
from bot.enforcement.question.lookups import lookups


def check(draft: AnswerDraft) -> CheckResult:
    """The share of the facts on the taken path that were told or are claimed."""
    path = sorted(name for name in lookups(draft.index).facts_of(draft.deciding) if name in draft.facts)
    if not path:
        return CheckResult("coverage", 1.0, "nothing on the path to mention")
    known = draft.told | _claimed(draft)
    missing = [name for name in path if name not in known]
    count = len(path) - len(missing)
    detail = f"{count} of {len(path)} facts on the path were told or are mentioned"
    return CheckResult("coverage", count / len(path), f"{detail}; not: {', '.join(missing)}" if missing else detail)


def _claimed(draft: AnswerDraft) -> set[str]:
    """The facts that the answer says, or makes its own conditions."""
    claims = draft.found.reading.claims if draft.found is not None else ()
    return {name for one in claims for name in (one.fact, *(when.fact for when in one.when)) if name}
