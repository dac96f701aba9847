"""Does what the answer states follow from the facts of the case? Each claim is held against what the rules decide.

The decision is the exact reading of the rules (boxes); what it leaves open, an answer may not promise. A contradiction
names its core: the rule that says otherwise, with file and line, and the facts of the case that the rule rests on.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date
from fractions import Fraction
from itertools import chain, pairwise, zip_longest
from typing import Literal

from bot.enforcement.checks.result import CheckResult, Draft, Violation
from bot.enforcement.checks.roles import bound, misplaced
from bot.enforcement.checks.unread import Known, is_signed, known_of, stems_in, unread
from bot.enforcement.facts import Read
from bot.enforcement.figures import Ground, counts, figures, is_figure, measure
from bot.enforcement.lookups import lookups
from bot.enforcement.namings import namings
from bot.enforcement.polarity import is_yes_or_no, says_yes_or_no
from bot.enforcement.sentences import is_quote, quotable_texts, split
from bot.enforcement.stated import LONGEST, Claim, Said
from bot.enforcement.write import Words, listing
from bylaw.language.glyphs import disguised
from bylaw.language.span import listed
from bylaw.language.words import PREPOSITIONS, read_words
from bylaw.logic.evaluate import Decision
from bylaw.logic.ir import Atom, ConditionalRule, Value, atoms, names
from bylaw.logic.truth import truth

Verdict = Literal["follows", "contradicts", "open"]
_SERIOUS = frozenset({"wrong-action", "wrong-figure", "wrong-fact", "broken-invariant", "wrong-source", "unreadable"})
_REST = listed("left remain remaining more still until till late later early over past ago another beyond too after in")
_MISSED = re.compile(r"(?i)\bwould(?: not|n['’]t)? have\b(?! to\b)")  # what would have been is not
_OF_THE_CASE = listed("because since as given due therefore so hence you your customer")


def check(draft: Draft) -> CheckResult:
    """What is stated of actions, figures and facts against the rules and the case; nothing stated answers nothing."""
    found = (part(draft) for part in (_unread, _facts, _claims, _offers, _figures, _sources, _silence, _untold))
    violations = tuple(_distinct(list(chain.from_iterable(found))))
    levels = draft.index.rules.enforcement.consistency
    if any(violation.kind in _SERIOUS for violation in violations):
        return CheckResult("consistency", float(levels.contradicted), violations[0].message, violations)
    if violations:
        return CheckResult("consistency", float(levels.unsupported), violations[0].message, violations)
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


# ---- actions --------------------------------------------------------------------------------------------------------


def _claims(draft: Draft) -> Iterator[Violation]:
    assumed = _assumed(draft)
    for claim in draft.stated.claims:
        if claim.condition is not None:
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


def _offers(draft: Draft) -> Iterator[Violation]:
    """ "Shall I refund you instead?" offers something; to repeat what was asked, or to say no to it, does not."""
    for said, following in zip_longest(draft.stated.sentences, draft.stated.sentences[1:]):
        is_answered = following is not None and says_yes_or_no(following.sentence.words) is False
        if said.offers and not is_answered and not stems_in([said.sentence.text]) <= stems_in([draft.query]):
            for claim in said.offers:
                if claim.gives and judge(draft, draft.decision, draft.facts, claim) == "contradicts":
                    yield _contradiction(draft, draft.decision, draft.facts, claim)


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
    if (not supposed and verdict != "follows") or (claim.is_only and claim.gives and _is_given_elsewhere(draft, claim)):
        yield _unsupported(draft, claim)
    elif claim.is_only and claim.condition and _is_of_another_case(draft, claim.condition):
        if judge(draft, draft.decision, draft.facts, replace(claim, gives=not claim.gives)) == "contradicts":
            yield _contradiction(draft, draft.decision, draft.facts, replace(claim, gives=not claim.gives))
    elif verdict == "contradicts":
        yield _contradiction(draft, decision, facts, claim)
    elif verdict == "open" and not _is_of_another_case(draft, supposed):
        yield _unsupported(draft, claim)


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
    if not wanted:
        return
    for rule in lookups(draft.index).speaking(claim.targets, draft.evaluator, draft.day):
        for atom in _tests(rule, draft):
            figure = measure(draft.index.vocabulary.facts.get(atom.var), atom.value)
            if atom.op not in ("<=", ">=", "==") or figure not in wanted or isinstance(atom.value, tuple):
                continue
            is_over = atom.op == "<=" and wanted[figure] in (operator.gt, operator.ge)  # "only after 15 days"
            yield atom.var, atom.value + 1 if is_over and isinstance(atom.value, int | Fraction) else atom.value


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


# ---- facts and figures ----------------------------------------------------------------------------------------------


def _assumed(draft: Draft) -> dict[str, Value]:
    """What the answer says of the case and nobody else did."""
    return {read.fact: read.value for read in draft.stated.asserted if read.fact not in draft.facts}


def _facts(draft: Draft) -> Iterator[Violation]:
    words = Words(draft.index.vocabulary)
    needed = lookups(draft.index).facts_of(draft.deciding)
    declared = draft.index.vocabulary.facts
    told = {measure(declared.get(name), value) for name, value in draft.facts.items()} - {None}
    for said in draft.stated.sentences:
        for read in said.asserted:
            given = draft.facts.get(read.fact)
            label = words.fact(read.fact)
            value = words.value(read.fact, read.value)
            if given is None:
                if measure(declared.get(read.fact), read.value) in told:
                    continue  # the $400 that were paid are the $400 that are refunded
                if read.fact in needed or (_is_of_the_case(said) and _gives_reason(said)):
                    yield Violation(
                        "assumed-fact", f"it takes for granted what nobody said: {label}: {value}", read.words
                    )
                continue
            if given == read.value or not read.words[:1].isalpha() or is_figure(read.words):
                continue  # a bare number is a figure
            if (
                read_words(read.words)[:1]
                and read_words(read.words)[0].text in PREPOSITIONS
                and "ago" not in read.words
            ):
                figure = measure(draft.index.vocabulary.facts.get(read.fact), read.value)
                if figure is not None and _ground(draft).holds(figure, {}):
                    continue  # "after 60 days" names the limit, not the case
            held = words.value(read.fact, given)
            yield Violation("wrong-fact", f"it says {label}: {value}; the case says {held}", read.words)
    yield from _invariants(draft)


def _may_be_a_limit(read: Read) -> bool:
    """Could the words name a limit ("after 60 days") rather than the case?"""
    words = [word.text for word in read_words(read.words)]
    return words[:1] != [] and words[0] in PREPOSITIONS and "ago" not in words


def _is_of_the_case(said: Said) -> bool:
    return any(word.text in _OF_THE_CASE for word in said.sentence.words)


def _gives_reason(said: Said) -> bool:
    texts = [word.text for word in said.sentence.words]
    pairs = set(pairwise(texts))
    return bool({"because", "since", "as", "given", "due"} & set(texts) or {("you", "be"), ("you", "have")} & pairs)


def _invariants(draft: Draft) -> Iterator[Violation]:
    """Figures that break what holds in every case; judged with the facts of the case beside them."""
    facts = {**_assumed(draft), **draft.facts}
    for said in draft.stated.sentences:
        facts |= {read.fact: read.value for read in said.asserted if read.fact not in draft.facts}
    for constraint in draft.evaluator.ruleset.constraints:
        in_force = (constraint.start or 0) <= draft.day <= (constraint.end or draft.day)
        if in_force and truth(constraint.formula, facts) is False and truth(constraint.formula, draft.facts) is None:
            place = f"{constraint.policy_id}, {constraint.source.path}:{constraint.source.line}"
            yield Violation("broken-invariant", f"its figures break {constraint.text} ({place})")


def _ground(draft: Draft) -> Ground:
    claimed = [name for claim in draft.stated.claims for name in claim.targets]
    outcomes = (draft.decision.outcomes[name].action for name in draft.scope.outcomes[:1])
    taken = [action for action in outcomes if action is not None]
    found = lookups(draft.index)
    rules = draft.relevant, draft.deciding, found.speaking(claimed, draft.evaluator, draft.day)
    return Ground(
        draft.facts,
        tuple(chain.from_iterable(rules)),
        found.by_limit,
        found.limited,
        found.numbers,
        frozenset().union(*map(found.facts_of, rules)),
        tuple(dict.fromkeys((*claimed, *draft.scope.actions, *taken))),
        draft.index.vocabulary,
        draft.evaluator.ruleset.variables,
        date.fromordinal(draft.day),
    )


def _figures(draft: Draft) -> Iterator[Violation]:
    ground = _ground(draft)
    asked: set[tuple[object, str]] = set()
    for said in draft.stated.sentences:
        if said.is_question:
            continue
        supposed = {read.fact: read.value for read in said.reading.reads} if said.is_conditional else {}
        text, is_rest = said.sentence.text, any(word.text in _REST for word in said.sentence.words)
        wrong = [
            quantity for figure, quantity in figures(text, ground.today) if not ground.holds(figure, supposed, is_rest)
        ]
        if len(said.sentence.words) > 1:  # a lone number counts the points of a list
            asked = asked or {(quantity.value, behind) for quantity, behind in counts(draft.query, ground.today)}
            wrong += [
                quantity
                for quantity, behind in counts(text, ground.today)
                if (quantity.value, behind) not in asked and not ground.counts(quantity.value, behind, supposed)
            ]
        for quantity in wrong:
            yield Violation("wrong-figure", f"no rule and no fact of the case gives “{quantity.words}”", text)
        if not said.is_conditional:
            for quantity in misplaced(said, ground):
                yield Violation("wrong-figure", f"“{quantity.words}” does not hold where it is said", text)


# ---- sources, and silence -------------------------------------------------------------------------------------------


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
    if _quotes_the_deciding(draft):
        return
    claims = draft.stated.claims
    scope, words = draft.scope, Words(draft.index.vocabulary)
    wanted = scope.outcomes[:1]
    if not scope.is_named and not scope.actions and _says_something_right(draft):
        return  # what is asked is only guessed from the facts; the answer found something that holds
    for outcome in wanted:
        mine = [claim for claim in claims if claim.outcome == outcome and _is_of_this_case(draft, claim)]
        if draft.decision.outcomes[outcome].action is None:
            if not (draft.stated.asks or draft.stated.hedges or mine or _says_something_right(draft)):
                yield Violation("unanswered", f"it neither answers nor asks: {words.outcome(outcome)}")
        elif not any(_answers(draft, claim) for claim in mine):
            yield Violation("unanswered", f"it does not say: {words.outcome(outcome)}")
    if not wanted and scope.actions:
        spoken = {name for claim in claims for name in claim.targets}
        is_open = bool(scope.missing)
        is_put_off = is_open and (draft.stated.asks or draft.stated.hedges)
        is_settled = any(_is_ruled(draft, action) for action in scope.actions)
        is_told = not is_settled and _says_something_right(draft)  # "first we verify your identity"
        if not spoken & set(scope.actions) and not is_put_off and not is_told:
            yield Violation("unanswered", f"it does not say: {listing(words.action(name) for name in scope.actions)}")


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
        if is_yes_or_no(said.sentence.words) or _is_contrary(draft, i):
            word = (
                said.sentence.text if i > draft.stated.lead else None
            )  # behind the first sentence: yes or no to what?
        else:
            known = known or known_of(draft)
            word = unread(said, known, [quantity for _, quantity in figures(said.sentence.text, today)])
        if word is not None:
            yield Violation("unread", f"nobody could check what it says with “{word}”", said.sentence.text)


def _is_contrary(draft: Draft, i: int) -> bool:
    """Does sentence *i* say yes or no anew, with nothing else, and other than the answer began?"""
    said, stated = draft.stated.sentences[i], draft.stated
    answer = None if said.claims else says_yes_or_no(said.sentence.words)
    if answer is None or i <= stated.lead or stated.sentences[i - 1].is_question:
        return False
    return answer is not says_yes_or_no(stated.sentences[stated.lead].sentence.words)


def _quotes_the_deciding(draft: Draft) -> bool:
    """Does it repeat the words of a rule that decides this case? That is an answer too."""
    standing = [*draft.deciding, *(rule for _, action, rule in draft.scope.duties if action in draft.scope.actions)]
    texts = quotable_texts(rule.source.text for rule in standing if rule.source.text)
    return any(is_quote(part, texts) for part in split(draft.seen))


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
    if claim.condition is None:
        return True
    return bool(claim.condition) and all(draft.facts.get(name) == value for name, value in claim.condition.items())


def is_uncovered(draft: Draft) -> bool:
    """Does no rule speak about what was asked?"""
    scope = draft.scope
    return not scope.outcomes and not scope.actions and not scope.duties
