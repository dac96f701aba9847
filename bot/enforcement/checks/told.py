"""What is stated of the case, its facts and its figures, against what is known of it and what the rules test."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from itertools import chain, pairwise

from bot.enforcement.checks.result import Draft, Violation
from bot.enforcement.checks.roles import misplaced
from bot.enforcement.checks.worth import mistaken
from bot.enforcement.endings import has_ended
from bot.enforcement.figures import Ground, counts, figures, is_figure, measure
from bot.enforcement.lookups import lookups
from bot.enforcement.of_whom import is_told_not
from bot.enforcement.said import Said
from bot.enforcement.wordings import kinds
from bot.enforcement.write import Words
from bylaw.language.span import listed
from bylaw.language.units import SECONDS, unit_of
from bylaw.language.words import AUXILIARIES, PREPOSITIONS, PRONOUNS, read_words
from bylaw.logic.ir import Value, atoms
from bylaw.logic.truth import simplify, truth

_REST = listed(
    "short left remain remaining more still until till late later early over past ago another beyond too after in"
)
_NO = re.compile(r"(?i)\b(?:not|never)\b|n['’]t\b")
_UNREAL = re.compile(r"(?i)\b(?:would|could|might)\b|['’]d\b")
_OF_THE_CASE = listed("because since as given due therefore so hence you your customer")


def assumed_facts(draft: Draft) -> dict[str, Value]:
    """What the answer says of the case and nobody else did."""
    return {read.fact: read.value for read in draft.stated.asserted if read.fact not in draft.facts}


def facts(draft: Draft) -> Iterator[Violation]:
    """What is said of the case and is not so, or that nobody said."""
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
                if figure is not None and ground_of(draft).holds(figure, {}):
                    continue  # "after 60 days" names the limit, not the case
            held = words.value(read.fact, given)
            yield Violation("wrong-fact", f"it says {label}: {value}; the case says {held}", read.words)
    yield from _invariants(draft)
    yield from _times(draft)
    yield from _denied_kinds(draft)


def _denied_kinds(draft: Draft) -> Iterator[Violation]:
    """A kind that the case is of, and that is said not to be: "since it has not been packed"."""
    mine = [(name, value) for name, value in draft.facts.items() if isinstance(value, str)]
    for said in draft.stated.sentences:
        is_unreal = said.is_conditional and _UNREAL.search(said.sentence.text) is not None
        if said.is_question or is_unreal or _NO.search(said.sentence.text) is None:
            continue
        for name, value in mine:
            called_so = kinds(draft.index.vocabulary).get((name, value), ())
            if any(is_told_not(said.sentence.words, called) for called in called_so):
                words = Words(draft.index.vocabulary)
                message = f"it says {words.fact(name)}: not {words.value(name, value)}; the case says it is"
                yield Violation("wrong-fact", message, said.sentence.text)


def _times(draft: Draft) -> Iterator[Violation]:
    """A time that is said to be over, or not to be, with no figure that tells which: "the window has closed"."""
    for said in draft.stated.sentences:
        words = said.sentence.words
        for at, verb in () if said.is_question or said.is_conditional else said.ends:
            is_told = any(word.is_number and word.clause == words[at].clause for word in words[:at])
            if not is_told and has_ended(verb) is not is_late(draft):
                text = said.sentence.text[words[at].start : verb[-1].end]
                yield Violation("wrong-fact", f"the case does not say that “{text}”", said.sentence.text)


def is_late(draft: Draft) -> bool:
    """Does a time of the case lie beyond a limit of a rule that could matter? Else nothing here has expired."""
    variables, facts, declared = draft.evaluator.ruleset.variables, draft.facts, draft.index.vocabulary.facts
    sorts = {name: value for name, value in facts.items() if variables[name].is_finite}
    return any(
        atom.op in ("<", "<=") and (unit_of(declared[atom.var].unit or "") in SECONDS) and truth(atom, facts) is False
        for rule in draft.relevant
        for atom in atoms(simplify(rule.guard, sorts))
        if atom.var in facts
    )


def _is_of_the_case(said: Said) -> bool:
    return any(word.text in _OF_THE_CASE for word in said.sentence.words)


def _gives_reason(said: Said) -> bool:
    texts = [word.text for word in said.sentence.words]
    pairs = set(pairwise(texts))
    return bool({"because", "since", "as", "given", "due"} & set(texts) or {("you", "be"), ("you", "have")} & pairs)


def _invariants(draft: Draft) -> Iterator[Violation]:
    """Figures that break what holds in every case; judged with the facts of the case beside them."""
    facts = {**assumed_facts(draft), **draft.facts}
    for said in draft.stated.sentences:
        facts |= {read.fact: read.value for read in said.asserted if read.fact not in draft.facts}
    for constraint in draft.evaluator.ruleset.constraints:
        in_force = (constraint.start or 0) <= draft.day <= (constraint.end or draft.day)
        if in_force and truth(constraint.formula, facts) is False and truth(constraint.formula, draft.facts) is None:
            place = f"{constraint.policy_id}, {constraint.source.path}:{constraint.source.line}"
            yield Violation("broken-invariant", f"its figures break {constraint.text} ({place})")


def ground_of(draft: Draft) -> Ground:
    """Where the figures of an answer may come from."""
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


def _is_left_over(said: Said) -> bool:
    """Does it only add under which condition the sentence before it holds: "Only from $2,000."?"""
    texts = {word.text for word in said.sentence.words}
    return said.sentence.words[0].text == "only" and texts.isdisjoint(PRONOUNS | AUXILIARIES) and not said.claims


def sums(draft: Draft) -> Iterator[Violation]:
    """Figures that nobody gave, or that stand for something else where they are said."""
    ground = ground_of(draft)
    asked: set[tuple[object, str]] = set()
    for said in draft.stated.sentences:
        if said.is_question:
            continue
        supposed = {read.fact: read.value for read in said.reading.reads} if said.is_conditional else {}
        text, is_rest = said.sentence.text, any(word.text in _REST for word in said.sentence.words)
        wrong = [
            quantity
            for figure, quantity in figures(text, ground.today)
            if not ground.holds(figure, supposed, is_rest) and not (supposed and ground.holds(figure, {}, is_rest))
        ]
        if len(said.sentence.words) > 1:  # a lone number counts the points of a list
            asked = asked or {(quantity.value, behind) for quantity, behind in counts(draft.query, ground.today)}
            wrong += [
                quantity
                for quantity, behind in counts(text, ground.today)
                if (quantity.value, behind) not in asked and not ground.counts(quantity.value, behind, supposed)
            ]
        wrong += mistaken(said, ground)
        for quantity in wrong:
            yield Violation("wrong-figure", f"no rule and no fact of the case gives “{quantity.words}”", text)
        if not said.is_conditional or _is_left_over(said):
            for quantity in misplaced(said, ground):
                yield Violation("wrong-figure", f"“{quantity.words}” does not hold where it is said", text)
