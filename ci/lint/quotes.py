"""Quotes against the structure beside them: another number of the same kind of unit, or a "must not" on a duty.

Deliberately shallow: it reads figures and modal verbs, not sentences. What a quote does not speak of is not missed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from bylaw.authored.conditions import AllOf, AnyOf, Condition, FactCheck, Not
from bylaw.authored.policies import Policy, PolicyAction, PolicyException
from bylaw.authored.vocabulary import Vocabulary
from bylaw.language.figures import Amount, figures, measure
from bylaw.language.lexicon import lexicon
from bylaw.language.text import parse
from bylaw.language.units import unit_named
from bylaw.language.words import Word, read_words
from bylaw.logic.formula.ir import exact
from ci.findings import Finding, Place, Route
from ci.lint.sides import limit_of, other_modality, other_side
from ci.lint.unused import names_of
from ci.loading.load import PolicyFile, Workspace

_MODALS = frozenset(("must", "may", "shall", "should", "can", "will"))
_SUBORDINATES = frozenset(("who", "whom", "whose", "which", "that", "if", "when", "whenever", "where", "whether"))
_TAKE_BACK = frozenset(("without", "unless", "until", "except", "before", "but", "only"))  # "never without review"
_NEAR = 4  # words between "who" and its "cannot"; further away the verb is the sentence's own


@dataclass(frozen=True, slots=True)
class _Measure:
    """A figure with its kind of unit: seconds for durations, else the currency's or the unit's own terms.

    `amounts` are all that it may mean.
    """

    kind: str
    amounts: frozenset[Amount]
    words: str
    number: Fraction  # as it is written

    def says(self, other: _Measure) -> bool:
        """Is it the same amount of the same kind?"""
        return self.kind == other.kind and not self.amounts.isdisjoint(other.amounts)


def quote_mismatches(workspace: Workspace) -> Iterator[Finding]:
    """A quote says the numbers of its condition, and forbids only what is forbidden."""
    vocabulary = workspace.vocabulary
    for file in workspace.policies:
        policy = file.policy
        yield from _conditions(file, vocabulary, policy.conditions, ("conditions",))
        for i, action in enumerate(policy.actions):
            at: Route = ("actions", i)
            yield from _conditions(file, vocabulary, action.when, (*at, "when"))
            if not action.source_text:
                continue
            terms = [one for name in action.requires for one in _term(vocabulary, name)]
            tested = _tested(vocabulary, policy.metadata.domain, [*_required(policy, action), *action.when, *terms])
            own = _own(vocabulary, [action.action])
            yield from _sentence(file, action.source_text, (*at, "source_text"), tested, own)
            yield from _negation(file, vocabulary, action, at)
            if (word := other_modality(action, vocabulary)) is not None:
                complaint = f"has the {action.type} action `{action.action}`, and its quote says `{word}`"
                yield _of(
                    file, complaint, (*at, "source_text"), "correct the quote, the type of the action, or the action"
                )
        yield from _exceptions(file, vocabulary, policy.exceptions, ())


def _required(policy: Policy, action: PolicyAction) -> list[Condition]:
    """The conditions of a policy that one of its actions needs: all, or what its `requires` names, denied or not."""
    if not action.requires:
        return policy.conditions
    named = {name.casefold() for name in action.requires}
    named |= {name.removeprefix("not ").removeprefix("no_") for name in named}
    return [one for one in policy.conditions if not named.isdisjoint(names_of(one))]


def _term(vocabulary: Vocabulary, name: str) -> Sequence[Condition]:
    return next((term for other, term in vocabulary.terms.items() if other.casefold() == name.casefold()), ())


def _exceptions(
    file: PolicyFile, vocabulary: Vocabulary, exceptions: Sequence[PolicyException], at: Route
) -> Iterator[Finding]:
    for i, exception in enumerate(exceptions):
        here: Route = (*at, "exceptions", i)
        if exception.has_force and exception.action is not None:
            yield from _conditions(file, vocabulary, exception.conditions, (*here, "conditions"))
            tested = _tested(vocabulary, file.policy.metadata.domain, exception.conditions)
            own = _own(vocabulary, [exception.action, *exception.replaces])
            yield from _sentence(file, exception.source_text, (*here, "source_text"), tested, own)
        yield from _exceptions(file, vocabulary, exception.exceptions, here)


def _conditions(
    file: PolicyFile, vocabulary: Vocabulary, conditions: Sequence[Condition], at: Route
) -> Iterator[Finding]:
    """Each figure of a condition stands in its quote, where the quote has figures of that kind at all."""
    for route, node in _nodes(conditions, at):
        text = node.source_text
        if not text:
            continue
        tested = _tested(vocabulary, file.policy.metadata.domain, [node])
        if not isinstance(node, FactCheck):
            yield from _sentence(file, text, (*route, "source_text"), tested, ())
        elif "not" not in route and (words := other_side(node, _unit(vocabulary, file.policy.metadata.domain, node))):
            complaint = f"tests `{limit_of(node)}`, and its quote says `{words}`: the other side"
            yield _of(file, complaint, (*route, "source_text"), "correct the quote or the operator")
        else:
            said, bare = _read(text)
            for one in tested:
                others = [other for other in said if other.kind == one.kind]
                if others and one.number not in bare and not any(other.says(one) for other in others):
                    yield _mismatch(file, (*route, "source_text"), one, others)
                    break


def _sentence(
    file: PolicyFile, text: str | None, route: Route, tested: Sequence[_Measure], own: Sequence[_Measure]
) -> Iterator[Finding]:
    """Of the figures of a whole sentence one at least is tested, where figures of that kind are; an action's *own* ones
    do not count.
    """
    if not text or not tested:
        return
    said, _bare = _read(text)
    said = [one for one in said if not any(one.says(other) for other in own)]
    for kind in sorted({one.kind for one in said}):
        others, known = ([one for one in side if one.kind == kind] for side in (said, tested))
        if known and not any(one.says(other) for one in others for other in known):
            yield _mismatch(file, route, known[0], others)
            return


def _own(vocabulary: Vocabulary, actions: Sequence[str]) -> list[_Measure]:
    """The figures that actions declare, and those in what they are called: "answer within 2 days"."""
    found: list[_Measure] = []
    for name in actions:
        declared = vocabulary.actions.get(name)
        texts = [name.replace("_", " "), *([declared.label or "", *declared.phrases] if declared else ())]
        found += [measure for text in texts for measure in _read(text)[0]]
        told = declared.figures or () if declared else ()
        measures = (_measure(str(one.value), one.unit) for one in told if one.unit)
        found += [measure for measure in measures if measure is not None]
    return found


def _negation(file: PolicyFile, vocabulary: Vocabulary, action: PolicyAction, at: Route) -> Iterator[Finding]:
    """A "must not" beside a duty. The most restrictive action of an outcome is itself a no: "cannot be returned"."""
    text = action.source_text or ""
    if action.type == "prohibited":
        return
    words = read_words(text)
    for i, word in enumerate(words):
        sentence = {other.text for other in words if other.sentence == word.sentence}
        if _is_modal_negation(words, i) and _TAKE_BACK.isdisjoint(sentence) and not _is_subordinate(words, i):
            if _is_refusal(vocabulary, action.action):
                return
            said = text[words[i - 1].start if word.text == "not" else word.start : word.end]
            complaint = f"has the {action.type} action `{action.action}`, and its quote says `{said}`"
            help = "correct the quote, the type of the action, or the action"
            yield _of(file, complaint, (*at, "source_text"), help)
            return


def _is_refusal(vocabulary: Vocabulary, action: str) -> bool:
    outcome = vocabulary.outcome_of(action)
    return outcome is not None and vocabulary.canonical(action) in vocabulary.restrictive(outcome)[:1]


def _is_modal_negation(words: Sequence[Word], i: int) -> bool:
    return words[i].text == "never" or (words[i].text == "not" and i > 0 and words[i - 1].text in _MODALS)


def _is_subordinate(words: Sequence[Word], i: int) -> bool:
    """Does the "cannot" belong to a "who cannot …"?"""
    near = words[max(0, i - _NEAR) : i]
    return any(word.text in _SUBORDINATES and word.clause == words[i].clause for word in near)


def _nodes(conditions: Sequence[Condition | list[Condition]], at: Route) -> Iterator[tuple[Route, Condition]]:
    """Every part of the trees with its route, the outer ones first."""
    for i, one in enumerate(conditions):
        yield from _parts(one, (*at, i))


def _parts(one: Condition | list[Condition], at: Route) -> Iterator[tuple[Route, Condition]]:
    if isinstance(one, list):
        yield from _nodes(one, at)
        return
    yield at, one
    if isinstance(one, AllOf):
        yield from _nodes(one.all_of, (*at, "all_of"))
    elif isinstance(one, AnyOf):
        yield from _nodes(one.any_of, (*at, "any_of"))
    elif isinstance(one, Not):
        yield from _parts(one.not_, (*at, "not"))


def _tested(vocabulary: Vocabulary, domain: str, conditions: Sequence[Condition]) -> list[_Measure]:
    """The figures that the leaves of *conditions* test, in the units they are written in."""
    found: list[_Measure] = []
    for _route, node in _nodes(conditions, ()):
        if isinstance(node, FactCheck):
            name = node.parameter or vocabulary.default_fact(node.type, domain)
            fact = vocabulary.facts.get(name) if name else None
            unit = node.unit or (fact.unit if fact else None)
            given = node.value if isinstance(node.value, list) else [node.value]
            if fact is not None and fact.type in ("integer", "decimal") and unit is not None:
                measures = [_measure(str(value), unit) for value in node.between or given if value is not None]
                found += [measure for measure in measures if measure is not None]
    return found


def _unit(vocabulary: Vocabulary, domain: str, node: FactCheck) -> str | None:
    """The unit of the fact that a condition tests."""
    name = node.parameter or vocabulary.default_fact(getattr(node, "type", ""), domain)
    fact = vocabulary.facts.get(name or "")
    return node.unit or (fact.unit if fact is not None else None)


@lru_cache(4096)  # policies test the same figures, and their sentences say the same things
def _measure(value: str, unit: str) -> _Measure | None:
    """*value* in *unit*; None where either is not what it should be (which is told elsewhere)."""
    named = unit_named(unit)
    try:
        number = Fraction(exact(value))
    except ValueError:
        return None
    return _measured([number], named, f"{value} {unit}") if named in lexicon().units.values() else None


def _measured(numbers: Sequence[Fraction], unit: str | None, words: str) -> _Measure:
    amounts = [measure(number, unit) for number in numbers]
    return _Measure(amounts[0].kind or "", frozenset(one.amount for one in amounts), words, numbers[0])


@lru_cache(1024)
def _read(text: str) -> tuple[Sequence[_Measure], Sequence[Fraction]]:
    """The figures of *text* with their kinds of unit, and the numbers without one."""
    found, bare = [], []
    for one in figures(text):
        numbers = [value for value in one.values if isinstance(value, Fraction)]
        if not numbers or one.is_ordinal or not one.is_firm:
            continue
        if one.unit is None:
            bare += numbers
        else:
            found.append(_measured(numbers, one.unit, parse(text).seen[one.start : one.end]))
    return tuple(found), tuple(bare)


def _mismatch(file: PolicyFile, route: Route, tested: _Measure, said: Sequence[_Measure]) -> Finding:
    quoted = " and ".join(f"`{one.words}`" for one in said)
    return _of(
        file, f"tests `{tested.words}`, and its quote says {quoted}", route, "correct the quote or the condition"
    )


def _of(file: PolicyFile, said: str, route: Route, help: str) -> Finding:
    name = file.policy.policy_id
    return Finding("quote-mismatch", f"policy `{name}` {said}", Place(file.path, route), policies=(name,), help=help)
