"""Which part of a decision a question is about: its outcomes, the duties that go with them, and what is missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from bot.enforcement.question.lookups import Lookups, lookups
from bot.enforcement.question.topic import Topic
from bot.index import BundleIndex
from bylaw.logic.boxes.truth import simplify, truth
from bylaw.logic.decide.evaluate import Decision, Evaluator
from bylaw.logic.formula.ir import And, Atom, Compare, ConditionalRule, Value, atoms, names

Duty = tuple[str, str, ConditionalRule]


@dataclass(frozen=True)
class Scope:
    """`outcomes` are those asked about that rules decide, in the order of asking; `actions` those that answer none.

    `duties` hold in the case: (kind, action, rule). `silent` are named actions that no rule speaks about here.
    `missing` are the unknown facts that could still change the answer, the most deciding first.
    """

    outcomes: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    duties: tuple[Duty, ...] = ()
    silent: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


def scope_of(
    topic: Topic,
    facts: Mapping[str, Value],
    index: BundleIndex,
    evaluator: Evaluator,
    decision: Decision,
    day: int,
) -> Scope:
    """What to answer from *decision*: what is asked by its name, and nothing else."""
    known = lookups(index)
    outcomes = tuple(name for name in topic.outcomes if known.answering((name,), evaluator, day))
    free = [name for name in topic.actions if index.vocabulary.outcome_of(name) is None]
    unruled = {name for name in free if not known.speaking((name,), index.evaluator, day)}
    alone = tuple(name for name in topic.actions if name in unruled or known.demanding(name, evaluator, day))
    standing = _standing(decision, evaluator)
    domains = _domains(outcomes, decision, topic, evaluator)
    duties = tuple(_duties(decision, standing, domains, alone, facts))
    open_ = Counter[str]()
    for rule in known.speaking(alone, evaluator, day):
        if truth(rule.guard, facts) is None:
            open_.update(names(simplify(rule.guard, facts)))
    spoken = {action for _, action, _ in duties}
    missing = [
        fact for name in outcomes for fact in _in_order(decision.undecided.get(name, ()), name, known, evaluator, day)
    ]
    if not spoken & set(alone):
        missing += sorted(open_, key=lambda fact: (-open_[fact], evaluator.question_order(fact)))
    silent = tuple(name for name in alone if name not in spoken)
    return Scope(outcomes, alone, duties, silent, tuple(dict.fromkeys(missing)))


def _in_order(missing: Sequence[str], outcome: str, known: Lookups, evaluator: Evaluator, day: int) -> Iterator[str]:
    """The missing facts, those last that only an exception asks about, as it asks: the rule comes before it."""
    rules = known.answering((outcome,), evaluator, day)
    own = {
        fact
        for rule in rules
        if rule.origin != "exception"
        for part in (rule.guard.items if isinstance(rule.guard, And) else (rule.guard,))
        if isinstance(part, Atom | Compare)
        for fact in names(part)
    }
    asked = [test.var for rule in rules if rule.origin == "exception" for test in atoms(rule.guard)]
    excepting = {fact: place for place, fact in enumerate(dict.fromkeys(asked)) if fact not in own}
    yield from sorted(missing, key=lambda fact: excepting.get(fact, -1))


def _domains(outcomes: Sequence[str], decision: Decision, topic: Topic, evaluator: Evaluator) -> frozenset[str]:
    """The domains whose duties belong to the answer: those that decide it, else the likeliest."""
    winners = [
        evaluator.ruleset.rules[evaluator.index_of(rule_id)].domain
        for name in outcomes
        if (rule_id := decision.outcomes[name].rule_id) is not None
    ]
    return frozenset(winners) or frozenset(topic.domains[:1])


def _standing(decision: Decision, evaluator: Evaluator) -> list[ConditionalRule]:
    lost = {fired.rule_id for fired in decision.lost}
    rules = evaluator.ruleset.rules
    return [rules[evaluator.index_of(fired.rule_id)] for fired in decision.fired if fired.rule_id not in lost]


def _duties(
    decision: Decision,
    standing: Sequence[ConditionalRule],
    domains: Collection[str],
    asked_for: Collection[str],
    facts: Mapping[str, Value],
) -> Iterator[Duty]:
    """The duties of the case that were asked for, or that come from these domains and from this case."""
    lists = {"required": decision.required, "prohibited": decision.prohibited, "permitted": decision.permitted}
    for kind, actions in lists.items():
        for action in actions:
            rule = next((rule for rule in standing if _gives(rule, kind, action)), None)
            if rule is None:
                continue
            tested = names(rule.guard)
            is_of_this_case = bool(tested & set(facts)) and rule.domain in domains
            if action in asked_for or (not asked_for and is_of_this_case):
                yield kind, action, rule


def _gives(rule: ConditionalRule, kind: str, action: str) -> bool:
    if kind == "required":
        return action in rule.effect.demands
    return rule.effect.kind == kind and rule.effect.action == action
