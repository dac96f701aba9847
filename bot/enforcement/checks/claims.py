"""What is stated of actions against what the rules decide: it follows, contradicts, or is left open.

A contradiction names its core: the rule that says otherwise, with file and line, and the facts that it rests on.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from fractions import Fraction
from itertools import pairwise, zip_longest
from typing import Literal

from bot.enforcement.bounds import bound, is_granted, of_others
from bot.enforcement.checks.result import Draft, Violation
from bot.enforcement.checks.told import assumed_facts
from bot.enforcement.checks.unread import stems_in
from bot.enforcement.figures import Figure, figures, measure, told
from bot.enforcement.lookups import lookups
from bot.enforcement.polarity import is_supposed, says_yes_or_no
from bot.enforcement.said import Claim
from bot.enforcement.write import Words, listing
from bylaw.language.units import SECONDS, unit_of
from bylaw.language.words import Word, read_words
from bylaw.logic.evaluate import Decision
from bylaw.logic.ir import Atom, ConditionalRule, Value, atoms, names
from bylaw.logic.truth import simplify, truth

Verdict = Literal["follows", "contradicts", "open"]
_ADDED = re.compile(r"(?i)\b(?:add|spend|another)\b")
_MISSED = re.compile(r"(?i)\bwould(?: not|n['’]t)? have\b(?! to\b)")  # what would have been is not


def claims(draft: Draft) -> Iterator[Violation]:
    """What is promised or denied and does not follow."""
    assumed = assumed_facts(draft)
    for claim in draft.stated.claims:
        if claim.condition is not None and not holds_here(draft, claim):
            yield from _conditional(draft, claim)
            continue
        verdict = judge(draft, draft.decision, draft.facts, claim)
        if verdict == "open" and assumed:
            facts = {**draft.facts, **assumed}
            decision = draft.evaluator.decide(facts, draft.day)
            verdict = judge(draft, decision, facts, claim)
            if verdict == "follows":
                told = listing(Words(draft.index.vocabulary).fact(name) for name in sorted(assumed))
                yield Violation("assumed-fact", f"what it says rests on facts that nobody gave: {told}", claim.words)
                continue
            if verdict == "contradicts":
                yield _contradiction(draft, decision, facts, claim)
                continue
        if verdict == "contradicts":
            yield _contradiction(draft, draft.decision, draft.facts, claim)
        elif verdict == "open":
            yield _unsupported(draft, claim)


def offers(draft: Draft) -> Iterator[Violation]:
    """ "Shall I refund you instead?" offers something; to repeat what was asked, or to say no to it, does not."""
    for said, following in zip_longest(draft.stated.sentences, draft.stated.sentences[1:]):
        is_answered = following is not None and says_yes_or_no(following.sentence.words) is False
        if said.offers and not is_answered and not stems_in([said.sentence.text]) <= stems_in([draft.query]):
            for claim in said.offers:
                if claim.gives and judge(draft, draft.decision, draft.facts, claim) == "contradicts":
                    yield _contradiction(draft, draft.decision, draft.facts, claim)


def limits(draft: Draft) -> Iterator[Violation]:
    """ "You have 60 days, so you get …": who takes all of them has to get it too."""
    today, declared = date.fromordinal(draft.day), draft.index.vocabulary.facts
    for said in draft.stated.sentences:
        given = [claim for claim in said.claims if claim.gives and claim.condition is None]
        text = said.sentence.text
        for figure, quantity in figures(text, today) if given else ():
            if not is_granted(text, quantity, today) or quantity in of_others(text, told(draft.facts, declared), today):
                continue
            limited = lookups(draft.index).limited.get(figure, frozenset()) & draft.facts.keys()
            tested = (atom for rule in draft.relevant if limited for atom in _tests(rule, draft) if atom.var in limited)
            ends = {atom.var: atom.value for atom in tested if measure(declared.get(atom.var), atom.value) == figure}
            if not ends:
                continue
            facts = {**draft.facts, **{name: end for name, end in ends.items() if not isinstance(end, tuple)}}
            decision = draft.evaluator.decide(facts, draft.day)
            if any(judge(draft, decision, facts, claim) == "contradicts" for claim in given):
                yield Violation("wrong-figure", f"what it promises does not hold for all of “{quantity.words}”", text)


def judge(draft: Draft, decision: Decision, facts: Mapping[str, Value], claim: Claim) -> Verdict:
    """Does *claim* follow from *decision*, does it contradict it, or is it left open?"""
    if claim.outcome is not None and claim.outcome in decision.outcomes:
        taken = decision.outcomes[claim.outcome].action
        if claim.is_general and _is_possible(draft, _sorts(draft, facts), claim):
            return "open"
        if taken is not None:
            holds = taken in claim.targets and not claim.is_partial
            return "follows" if holds is claim.gives else "contradicts"
        if not claim.is_partial and _is_possible(draft, facts, claim):
            return "open"
        return "contradicts" if claim.gives else "follows"
    (action,) = claim.targets[:1]
    return _of_duty(draft, decision, facts, action, claim.gives)


def _sorts(draft: Draft, facts: Mapping[str, Value]) -> Mapping[str, Value]:
    """The facts that are kinds, or yes or no: what is said "never" to hold may not hold for other amounts either."""
    return {name: value for name, value in facts.items() if draft.evaluator.ruleset.variables[name].is_finite}


def _is_possible(draft: Draft, facts: Mapping[str, Value], claim: Claim) -> bool:
    """Could some completion of the unknown facts still give one of the claim's actions?"""
    return any(
        truth(rule.guard, facts) is not False
        for rule in lookups(draft.index).speaking(claim.targets, draft.evaluator, draft.day)
        if any(action in claim.targets for outcome, action in rule.effect.takes if outcome == claim.outcome)
    )


def _of_duty(draft: Draft, decision: Decision, facts: Mapping[str, Value], action: str, gives: bool) -> Verdict:
    if action in decision.prohibited:
        return "contradicts" if gives else "follows"
    if action in decision.required or action in decision.permitted:
        return "follows" if gives else "contradicts"
    speaking = lookups(draft.index).speaking((action,), draft.evaluator, draft.day)
    open_ = {rule.effect.kind for rule in speaking if truth(rule.guard, facts) is None}
    if gives:
        return "open" if open_ - {"prohibited"} or not speaking else "contradicts"
    return "open" if open_ - {"prohibited"} else "follows"


def _conditional(draft: Draft, claim: Claim) -> Iterator[Violation]:
    """ "If you have the receipt, …" is held against the case in which that is so."""
    assert claim.condition is not None  # its caller has looked
    supposed = dict(claim.condition)
    for name, value in _limits(draft, claim):
        supposed.setdefault(name, value)
    facts = {**draft.facts, **supposed}
    decision = draft.evaluator.decide(facts, draft.day)
    if not supposed and _MISSED.search(claim.words):
        claim = replace(claim, gives=not claim.gives)
    verdict = judge(draft, decision, facts, claim)
    is_asked = claim.gives and is_supposed(read_words(claim.words))
    is_blind = is_asked if not supposed and verdict == "follows" else not supposed
    if is_asked and _is_idle(draft, claim, supposed):
        is_blind = True
    if is_blind or (claim.is_only and claim.gives and _is_given_elsewhere(draft, claim)):
        yield _unsupported(draft, claim)
    elif claim.is_only and claim.condition and _is_of_another_case(draft, claim.condition):
        if judge(draft, draft.decision, draft.facts, replace(claim, gives=not claim.gives)) == "contradicts":
            yield _contradiction(draft, draft.decision, draft.facts, replace(claim, gives=not claim.gives))
    elif verdict == "contradicts":
        yield _contradiction(draft, decision, facts, claim)
    elif verdict == "open" and not _is_of_another_case(draft, supposed):
        yield _unsupported(draft, claim)


def _is_idle(draft: Draft, claim: Claim, supposed: Mapping[str, Value]) -> bool:
    """Does it ask for a fact that matters to nothing here, and that nobody told?"""
    idle = [name for name in supposed if name not in draft.facts]
    sorts = _sorts(draft, draft.facts)
    rules = lookups(draft.index).speaking(claim.targets, draft.evaluator, draft.day) if idle else ()
    near = (
        {name for rule in (*draft.relevant, *rules) for name in names(simplify(rule.guard, sorts))} if idle else set()
    )
    return any(name not in near for name in idle)


def holds_here(draft: Draft, claim: Claim) -> bool:
    """Is its condition the bound of a figure, as "only after 15 days", and does the case keep it?"""
    supposed = claim.condition or {}
    if not supposed or is_supposed(read_words(claim.words)):
        return False
    today, declared = date.fromordinal(draft.day), draft.index.vocabulary.facts
    bounds = {figure: bound(claim.words, quantity, today) for figure, quantity in figures(claim.words, today)}
    kept = []
    for name, value in supposed.items():
        figure, told = measure(declared.get(name), value), measure(declared.get(name), draft.facts.get(name))
        holds = bounds.get(figure) if figure else None
        if holds is None or figure is None or told is None:
            kept.append(draft.facts.get(name) == value)
        elif not holds(told[1], figure[1]):
            return False
    return len(kept) < len(supposed) and all(kept)


def _is_given_elsewhere(draft: Draft, claim: Claim) -> bool:
    """Does a case that differs only in the kind that is said to be the only one get it too?"""
    variables = draft.evaluator.ruleset.variables
    for name, value in (claim.condition or {}).items():
        others = (True, False) if variables[name].kind == "boolean" else variables[name].values
        for other in others if variables[name].is_finite else ():
            facts = {**draft.facts, name: other}
            decided = other != value and draft.evaluator.decide(facts, draft.day)
            if decided and judge(draft, decided, facts, claim) == "follows":
                return True
    return False


def _is_of_another_case(draft: Draft, supposed: Mapping[str, Value]) -> bool:
    """Does the condition contradict what is known? Then it explains, and what it leaves open is not promised here."""
    return any(draft.facts.get(name, value) != value for name, value in supposed.items())


def _limits(draft: Draft, claim: Claim) -> Iterator[tuple[str, Value]]:
    """The limits that the condition names ("within 15 days"), each as the value at the limit that a rule asks for."""
    today = date.fromordinal(draft.day)
    wanted = {figure: bound(claim.words, quantity, today) for figure, quantity in figures(claim.words, today)}
    declared, words = draft.index.vocabulary.facts, read_words(claim.words)
    wanted |= dict.fromkeys(_firsts(words))
    if not wanted:
        return
    rest = {kind: amount for kind, amount in wanted if _ADDED.search(claim.words)}
    for rule in lookups(draft.index).speaking(claim.targets, draft.evaluator, draft.day):
        for atom in _tests(rule, draft):
            if isinstance(atom.value, tuple):
                continue
            figure = measure(declared.get(atom.var), atom.value)
            here = measure(declared.get(atom.var), draft.facts.get(atom.var))
            if here and figure and rest.get(here[0]) == figure[1] - here[1]:
                yield atom.var, atom.value  # "add another $8 and it is free"
            if atom.op not in ("<=", ">=", "==") or figure not in wanted:
                continue
            is_over = atom.op == "<=" and wanted[figure] in (operator.gt, operator.ge)  # "only after 15 days"
            yield atom.var, atom.value + 1 if is_over and isinstance(atom.value, int | Fraction) else atom.value


def _firsts(words: Sequence[Word]) -> Iterator[Figure]:
    """The times that are called first: "the first hour is free"."""
    for one, other in pairwise(words):
        unit = unit_of(other.text) if one.text == "first" else None
        if unit is not None and unit in SECONDS:
            yield "seconds", Fraction(SECONDS[unit])


def _tests(rule: ConditionalRule, draft: Draft) -> Iterator[Atom]:
    yield from (atom for atom in atoms(rule.guard) if not draft.evaluator.ruleset.variables[atom.var].is_finite)


def _contradiction(draft: Draft, decision: Decision, facts: Mapping[str, Value], claim: Claim) -> Violation:
    """The claim and its core: the rule that says otherwise, and the facts of the case that it rests on."""
    words = Words(draft.index.vocabulary)
    rule = core(draft, decision, claim)
    said = listing(words.action(name) for name in claim.targets[:3])
    part = "a part of " if claim.is_partial else ""
    stated = f"the answer {'promises' if claim.gives else 'denies'} {part}{said}"
    if rule is None:
        return Violation("wrong-action", f"{stated}; no rule in force gives it in this case", claim.words)
    held = words.case(facts, sorted(names(rule.guard), key=draft.evaluator.question_order))
    place = f"{rule.policy_id}, {rule.source.path}:{rule.source.line}"
    verb = "forbids it" if rule.effect.kind == "prohibited" else f"says {words.action(rule.effect.action)}"
    because = f" ({held})" if held else ""
    return Violation("wrong-action", f"{stated}; {place} {verb}{because}", claim.words, rule)


def core(draft: Draft, decision: Decision, claim: Claim) -> ConditionalRule | None:
    """The rule that contradicts the claim, None where no rule gives what it promises."""
    if claim.outcome is not None and claim.outcome in decision.outcomes:
        rule_id = decision.outcomes[claim.outcome].rule_id
        return None if rule_id is None else draft.index.rule(rule_id)
    lost = {fired.rule_id for fired in decision.lost}
    standing = [draft.index.rule(fired.rule_id) for fired in decision.fired if fired.rule_id not in lost]
    return next((rule for rule in standing if claim.targets[0] in (rule.effect.action, *rule.effect.implied)), None)


def _unsupported(draft: Draft, claim: Claim) -> Violation:
    words = Words(draft.index.vocabulary)
    said = listing(words.action(name) for name in claim.targets[:3])
    missing = draft.decision.undecided.get(claim.outcome or "", ())[:3]
    told = f"; it depends on what is not known: {listing(words.fact(name) for name in missing)}" if missing else ""
    verb = "promises" if claim.gives else "denies"
    return Violation(
        "unsupported-action", f"the answer {verb} {said}, which the case does not settle{told}", claim.words
    )
