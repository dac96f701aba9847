"""What the judge of the claims found, as the check of consistency: seed 001's scores by what is wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal

from bot.claims.judge import Found
from bot.claims.models import Judged
from bot.enforcement.judged.checks.result import AnswerDraft, CheckResult, Kind, Violation


def check(draft: AnswerDraft) -> CheckResult:
    """The claims of the answer, each of which has to follow."""
    levels, found = draft.index.rules.enforcement.consistency, draft.found
    if found is None:
        return CheckResult("consistency", float(levels.unread), _NOT_READ, (Violation("unread", _NOT_READ),))
    violations = tuple(_violations(draft, found))
    scores: dict[str, Decimal | int] = {
        "valid": 1,
        "incomplete": levels.incomplete,
        "unread": levels.unread,
        "invalid": levels.contradicted if found.is_action_wrong else levels.misstated,
    }
    score = float(scores.get(found.verdict, levels.contradicted))
    count = len(found.reading.claims)
    detail = violations[0].message if violations else f"{count} claim{'' if count == 1 else 's'}, all of them follow"
    return CheckResult("consistency", score, detail, violations)


_NOT_READ = "nobody said what the answer claims"
_KINDS: Mapping[str, Kind] = {
    "gives": "wrong-action",
    "denies": "wrong-action",
    "outside": "wrong-action",
    "fact": "wrong-fact",
    "limit": "wrong-figure",
    "figure": "wrong-figure",
    "source": "wrong-source",
}


def _violations(draft: AnswerDraft, found: Found) -> Iterator[Violation]:
    """The worst first: what is wrong, what cannot be, what nobody covers or could read, what is missing."""
    yield from (_of(draft, one, _KINDS[one.kind]) for one in found.reading.claims if one.status == "invalid")
    if found.verdict == "impossible" or any(one.status == "impossible" for one in found.reading.claims):
        telling = ("break", "contradict", "cannot be read")
        said = next((text for text in found.objections if any(word in text for word in telling)), "it cannot be")
        rule = found.rules[0] if found.rules and not found.unproven else None
        yield Violation("impossible", said, "", rule, next(iter(found.unproven), None))
    if found.verdict == "uncovered":
        yield Violation("uncovered", "no policy in force speaks about this question")
    for gap in found.reading.unread:
        yield Violation("unread", gap.why, gap.quote)
    for one in found.reading.claims:
        if one.status == "unread" and all(gap.quote != one.quote for gap in found.reading.unread):
            yield _of(draft, one, "unread")
        if one.status == "satisfiable":
            yield _of(draft, one, "unsupported-action")
    for text in found.objections:
        if text.startswith(("it does not say", "it neither")):
            yield Violation("unanswered", text)


def _of(draft: AnswerDraft, one: Judged, kind: Kind) -> Violation:
    rule = next((rule for rule in draft.evaluator.ruleset.rules if rule.policy_id == one.policy_id), None)
    if rule is not None and one.line is not None:
        same = [r for r in draft.evaluator.ruleset.rules if r.policy_id == one.policy_id and r.source.line == one.line]
        rule = same[0] if same else rule
    return Violation(kind, one.why, one.quote, rule if one.path is not None else None)
