"""Does what the answer states follow from the facts of the case? Each claim is held against what the rules decide.

The decision is the exact reading of the rules (boxes); what it leaves open, an answer may not promise. A contradiction
names its core: the rule that says otherwise, with file and line, and the facts of the case that the rule rests on.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from itertools import chain

from bot.enforcement.checks import claimed
from bot.enforcement.checks.claims import claims, core, holds_here, judge, limits, offers
from bot.enforcement.checks.result import CheckResult, Draft, Violation
from bot.enforcement.checks.told import facts, sums
from bot.enforcement.checks.unread import Known, is_signed, known_of, stems_in, unread
from bot.enforcement.figures import figures
from bot.enforcement.lookups import lookups
from bot.enforcement.namings import namings
from bot.enforcement.polarity import is_yes_or_no, opening, says_yes_or_no
from bot.enforcement.said import Claim, Said
from bot.enforcement.senses import stem
from bot.enforcement.stated import LONGEST
from bot.enforcement.write import Words, listing
from bylaw.language.glyphs import disguised
from bylaw.language.words import AUXILIARIES

_SERIOUS = frozenset({"wrong-action", "wrong-figure", "wrong-fact", "broken-invariant", "wrong-source", "unreadable"})


def check(draft: Draft) -> CheckResult:
    """What is stated of actions, figures and facts against the rules and the case; nothing stated answers nothing."""
    if draft.found is not None:
        return claimed.check(draft, draft.found)
    found = (part(draft) for part in (_unread, facts, claims, offers, limits, sums, _sources, _silence, _untold))
    violations = tuple(_distinct(list(chain.from_iterable(found))))
    levels = draft.index.rules.enforcement.consistency
    if any(violation.kind in _SERIOUS for violation in violations):
        return CheckResult("consistency", float(levels.contradicted), violations[0].message, violations)
    if violations:
        return CheckResult("consistency", float(levels.unread), violations[0].message, violations)
    count = len(draft.stated.claims)
    return CheckResult(
        "consistency", 1.0, f"{count} statement{'' if count == 1 else 's'} about actions, all of them follow"
    )


def _distinct(violations: list[Violation]) -> Iterator[Violation]:
    """Each message once, what contradicts before what is merely unsupported."""
    seen: set[str] = set()
    for violation in sorted(violations, key=lambda one: one.kind not in _SERIOUS):
        if violation.message not in seen:
            seen.add(violation.message)
            yield violation


def _unread(draft: Draft) -> Iterator[Violation]:
    """What nobody can have read has not been checked."""
    word = disguised(draft.seen)
    if word is not None:
        yield Violation("unreadable", f"“{word}” is not the word that it looks like", word)
    for said in draft.stated.sentences:
        if said.is_unread:
            told = f"a sentence has {len(said.sentence.words)} words, at most {LONGEST} are read"
            yield Violation("unreadable", told, said.sentence.text[:100])


def _sources(draft: Draft) -> Iterator[Violation]:
    """A policy that is cited exists, and has something to do with what is said."""
    if not draft.stated.policies:
        return
    claimed = {name for claim in draft.stated.claims for name in claim.targets}
    near = {rule.policy_id for rule in (*draft.relevant, *draft.deciding)} | {f.policy_id for f in draft.decision.fired}
    near |= {rule.policy_id for rule in lookups(draft.index).speaking(claimed, draft.evaluator, draft.day)}
    for policy in draft.stated.policies:
        if policy not in near:
            yield Violation("wrong-source", f"it cites {policy}, which does not speak of this case", policy)


def _silence(draft: Draft) -> Iterator[Violation]:
    """What was asked is answered, or asked back where it is open."""
    if is_uncovered(draft):
        yield Violation("uncovered", "no policy in force speaks about this question")
        return
    if draft.is_quoting:
        return
    claims = draft.stated.claims
    scope, words = draft.scope, Words(draft.index.vocabulary)
    wanted = scope.outcomes[:1]
    if not scope.is_named and not scope.actions and _says_something_right(draft):
        return  # what is asked is only guessed from the facts; the answer found something that holds
    for outcome in wanted:
        mine = [claim for claim in claims if claim.outcome == outcome and _is_of_this_case(draft, claim)]
        if draft.decision.outcomes[outcome].action is None:
            if not (draft.stated.asks or _leaves_open(draft) or mine or _says_something_right(draft)):
                yield Violation("unanswered", f"it neither answers nor asks: {words.outcome(outcome)}")
        elif not any(_answers(draft, claim) for claim in mine):
            yield Violation("unanswered", f"it does not say: {words.outcome(outcome)}")
    if not wanted and not scope.actions and not claims and _is_bare(draft):
        yield Violation("unanswered", f"it does not say: {listing(words.action(name) for _, name, _ in scope.duties)}")
    if not wanted and scope.actions:
        spoken = {name for claim in claims for name in claim.targets}
        is_open = bool(scope.missing)
        is_put_off = is_open and (draft.stated.asks or draft.stated.hedges)
        is_settled = any(_is_ruled(draft, action) for action in scope.actions)
        is_told = not is_settled and _says_something_right(draft)  # "first we verify your identity"
        if not spoken & set(scope.actions) and not is_put_off and not is_told:
            yield Violation("unanswered", f"it does not say: {listing(words.action(name) for name in scope.actions)}")


def _is_bare(draft: Draft) -> bool:
    """Is it a yes or no where only duties hold, to which of them nobody knows?"""
    leads = draft.stated.sentences[draft.stated.lead :]
    return bool(draft.scope.duties and leads) and says_yes_or_no(leads[0].sentence.words) is not None


def _leaves_open(draft: Draft) -> bool:
    """Does it leave something open, and not with a yes or no to what was not understood?"""
    hedging = (said for said in draft.stated.sentences if said.is_conditional)
    return any(said.claims or says_yes_or_no(said.sentence.words) is None for said in hedging)


def _is_ruled(draft: Draft, action: str) -> bool:
    """Does a rule say in this case whether *action* is done?"""
    return any(
        action in names for names in (draft.decision.required, draft.decision.permitted, draft.decision.prohibited)
    )


def _answers(draft: Draft, claim: Claim) -> bool:
    """Does it say what holds: by what is given, by a word on what was asked for, or with a no to all of it?"""
    if claim.gives or claim.targets[0] in draft.topic.actions:
        return True
    taken = draft.decision.outcomes[claim.outcome].action if claim.outcome is not None else None
    return claim.is_generic and taken is not None and namings(draft.index.vocabulary).is_denial(taken)


def _untold(draft: Draft) -> Iterator[Violation]:
    """Nothing that speaks of the answer is passed over."""
    if is_uncovered(draft):
        return
    today = date.fromordinal(draft.day)
    known: Known | None = None
    for i, said in enumerate(draft.stated.sentences):
        if (not said.silent and not said.beside) or is_signed(draft.stated.sentences[:i], said):
            continue
        if (
            is_yes_or_no(said.sentence.words)
            or (i == draft.stated.lead and _is_asked_again(draft, said))
            or _is_contrary(draft, i)
        ):
            word = (
                said.sentence.text if i > draft.stated.lead else None
            )  # behind the first sentence: yes or no to what?
        else:
            known = known or known_of(draft)
            word = unread(said, known, [quantity for _, quantity in figures(said.sentence.text, today)])
        if word is not None:
            yield Violation("unread", f"nobody could check what it says with “{word}”", said.sentence.text)


def _is_asked_again(draft: Draft, said: Said) -> bool:
    """Does a yes only repeat what was asked: "Yes, you can return the camera."?"""
    opened = opening(said.sentence.words)
    if not opened or said.claims or says_yes_or_no(said.sentence.words) is False:
        return False
    rest = [word for word in said.sentence.words if word not in opened]
    if any(word.text in ("not", "no", "only", "or") or word.is_number for word in rest):
        return False
    stems = {found for word in rest if (found := stem(word.text)) is not None}
    return len(stems) > 0 and stems <= stems_in([draft.query])


def _is_contrary(draft: Draft, i: int) -> bool:
    """Does sentence *i* say yes or no anew, with nothing else, and other than the answer began?"""
    said, stated = draft.stated.sentences[i], draft.stated
    answer = None if said.claims else says_yes_or_no(said.sentence.words)
    if i > stated.lead and not said.claims and said.sentence.words[:1] and said.sentence.words[0].text == "not":
        return True  # "Not in your case."
    if i > stated.lead and _is_left_to(said):
        is_yes = (
            all(draft.facts.get(read.fact) == read.value for read in said.reading.reads) and said.reading.reads != ()
        )
        return is_yes is not says_yes_or_no(stated.sentences[stated.lead].sentence.words)
    if answer is None or i <= stated.lead or stated.sentences[i - 1].is_question:
        return False
    return answer is not says_yes_or_no(stated.sentences[stated.lead].sentence.words)


def _is_left_to(said: Said) -> bool:
    """Does it only say who may, or does: "only managers can"?"""
    words = said.sentence.words
    return len(words) > 1 and words[0].text == "only" and words[-1].text in AUXILIARIES and not said.claims


def _says_something_right(draft: Draft) -> bool:
    domains = draft.topic.domains
    return any(
        claim.condition is None
        and judge(draft, draft.decision, draft.facts, claim) == "follows"
        and _domain_of(draft, claim) in domains
        for claim in draft.stated.claims
    )


def _domain_of(draft: Draft, claim: Claim) -> str | None:
    rule = core(draft, draft.decision, claim)
    return None if rule is None else rule.domain


def _is_of_this_case(draft: Draft, claim: Claim) -> bool:
    if claim.condition is None or holds_here(draft, claim):
        return True
    return bool(claim.condition) and all(draft.facts.get(name) == value for name, value in claim.condition.items())


def is_uncovered(draft: Draft) -> bool:
    """Does no rule speak about what was asked?"""
    scope = draft.scope
    return not scope.outcomes and not scope.actions and not scope.duties
