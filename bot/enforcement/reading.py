"""An answer that came with claims, held against its text and the rules: the judge of `bot.claims` in a case of ours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bot.claims.judge import Found, Situation, judge
from bot.claims.models import By, Claim
from bot.enforcement.case import Case
from bot.enforcement.covered import coverage
from bot.enforcement.kept import kept
from bot.pii import Mask
from bylaw.authored.enforcement import Pii
from bylaw.language.text import clean


def found_by(case: Case, response: str, claims: Sequence[Claim], by: By, is_twice: bool = False) -> Found:
    """What becomes of *response* with *claims* in *case*; *is_twice*: two readers had each of them."""
    return judge(response, claims, situation(case, response), by, is_twice)


def situation(case: Case, response: str) -> Situation:
    """What an answer to *case* is judged in."""
    scope = case.scope
    return Situation(
        index=case.index,
        evaluator=case.evaluator,
        day=case.day,
        facts=case.facts,
        query=case.text,
        outcomes=scope.outcomes if scope.is_named else scope.outcomes[:1],
        actions=scope.actions,
        is_covered=_is_covered(case),
        personal=tuple(_personal(case, response)),
    )


def _is_covered(case: Case) -> bool:
    """Do the rules speak of what was asked: by its words, or by what is known of the case?"""
    is_about = case.scope.is_named or bool(case.scope.actions) or bool(case.facts)
    return is_about and coverage(case.text, case.reads, case.index).is_covered


def _personal(case: Case, response: str) -> Iterator[str]:
    """The kinds of personal data in an answer that nobody told."""
    told = clean(case.text)
    for found in _mask(case.index.rules.pii).find(clean(response)):
        if found.text not in told:
            yield found.label


@kept(4)
def _mask(rules: Pii) -> Mask:
    return Mask(rules)
