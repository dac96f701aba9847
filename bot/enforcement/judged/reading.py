"""An answer held against its text and the rules: who says what it claims, and the judge of `bot.claims` in a case."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from bot.claims import plain
from bot.claims.judge import Found, judge
from bot.claims.models import Claim
from bot.claims.situation import Situation
from bot.enforcement.case import Case
from bot.enforcement.judged.checks.result import AnswerDraft, Judge
from bot.enforcement.question.remembering import remember
from bot.pii import Mask
from bylaw.language.text import clean

if TYPE_CHECKING:
    from bot.claims.model import ModelReader
    from bylaw.authored.machines.enforcement import Pii


def found_in(
    case: Case,
    response: str,
    claims: Sequence[Claim] | None = None,
    reader: ModelReader | None = None,
    own: tuple[Claim, ...] = (),
) -> Found:
    """What becomes of *response* in *case*, read as *claims* where they are given, else by *reader*, else plainly.

    *own* are the claims of a model that wrote the answer: *reader* mends them where they do not hold.
    """
    told = situation(case, response)
    if claims is not None:
        return judge(response, claims, told, "given")
    read = None if reader is None or told.personal else reader.read(response, told, own)  # no personal data in a prompt
    if read is not None:
        return judge(response, read.claims, told, "model", read.is_twice)
    return judge(response, plain.read(response, told), told, "plain")


def found_by_template(case: Case, response: str, claims: Sequence[Claim]) -> Found:
    """What becomes of an answer of our own, which was made together with its *claims*."""
    return judge(response, claims, situation(case, response), "template")


def draft_of(case: Case, text: str, judge: Judge | None = None, found: Found | None = None) -> AnswerDraft:
    """*text* as an answer to *case*, and what was *found* in it, ready for the checks."""
    said, topic, told = case.text, case.memory.topic, case.told
    index, evaluator, facts, day = case.index, case.evaluator, case.facts, case.day
    return AnswerDraft(said, text, index, evaluator, facts, day, case.decision, case.scope, topic, judge, told, found)


def situation(case: Case, response: str) -> Situation:
    """What an answer to *case* is judged in."""
    scope = case.scope
    return Situation(
        index=case.index,
        evaluator=case.evaluator,
        day=case.day,
        facts=case.facts,
        bounds={name: bound.tests for name, bound in case.bounds.items()},
        query=case.text,
        outcomes=scope.outcomes,
        actions=scope.actions,
        is_covered=_is_covered(case),
        personal=tuple(_personal(case, response)),
        decided=case.decision,
    )


def _is_covered(case: Case) -> bool:
    """Do the rules speak of what was asked: by its name, or by what is told where nothing else is said?"""
    return case.memory.topic.is_named or (bool(case.told_now) and not case.reading.residue)


def _personal(case: Case, response: str) -> Iterator[str]:
    """The kinds of personal data in an answer that nobody told."""
    if not response:
        return
    told = clean(case.text)
    for found in _mask(case.index.rules.pii).find(clean(response)):
        if found.text not in told:
            yield found.label


@remember(4)
def _mask(rules: Pii) -> Mask:
    return Mask(rules)
