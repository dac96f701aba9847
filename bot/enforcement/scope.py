"""Which part of a decision a question is about: its outcomes, the duties that go with them, and what is missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from bot.enforcement.facts import Read
from bot.enforcement.lookups import Lookups, lookups
from bot.enforcement.recognise import Topic, topic
from bot.index import BundleIndex
from bylaw.logic.evaluate import Decision, Evaluator
from bylaw.logic.ir import ConditionalRule, Value, names
from bylaw.logic.truth import simplify, truth

Duty = tuple[str, str, ConditionalRule]


@dataclass(frozen=True)
class Scope:
    """`outcomes` are those asked about, the likeliest first; `actions` those named that answer no outcome.

    `duties` hold in the case: (kind, action, rule). `silent` are named actions that no rule speaks about here.
    `missing` are the unknown facts that could still change the answer, the most deciding first.
    """

    outcomes: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    is_named: bool = False
    duties: tuple[Duty, ...] = ()
    silent: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


def scope_of(
    topic: Topic,
    touched: Collection[str],
    facts: Mapping[str, Value],
    index: BundleIndex,
    evaluator: Evaluator,
    decision: Decision,
    day: int,
) -> Scope:
    """What to answer from *decision*. Without a named outcome it is what the mentioned facts decide."""
    known = lookups(index)
    named = tuple(name for name in topic.outcomes if known.answering((name,), evaluator, day))
    called = topic.actions if topic.is_named or topic.likely else topic.near
    alone = tuple(name for name in called if known.demanding(name, evaluator, day))
    if named or alone:
        outcomes: tuple[str, ...] = named
    else:
        guessed = _by_facts(known, topic.domains, touched, evaluator, day)
        likely = [name for name in topic.likely if name in guessed]
        outcomes = tuple(dict.fromkeys((*likely, *guessed)))
        if not likely and _is_settled(known, topic.domains[:1], facts, evaluator, day):
            outcomes = ()
    first = outcomes if named else outcomes[:1]
    domains = _domains(first, decision, topic, evaluator)
    standing = _standing(decision, evaluator)
    is_open = not named and not any(decision.outcomes[name].action for name in first)
    duties = tuple(_duties(decision, standing, domains, alone, facts, topic.domains[:2] if is_open else ()))
    open_ = Counter[str]()
    told = () if outcomes or alone or duties else _touched(known, topic.domains[:1], facts, evaluator, day)
    for rule in known.speaking(alone or told, evaluator, day):
        if truth(rule.guard, facts) is None:
            open_.update(names(simplify(rule.guard, facts)))
    spoken = {action for _, action, _ in duties}
    waiting = sorted(open_, key=lambda fact: (-open_[fact], evaluator.question_order(fact)))
    missing = [fact for name in first for fact in decision.undecided.get(name, ())]
    if not spoken & set(alone):
        missing += waiting
    silent = tuple(name for name in alone if name not in spoken)
    return Scope(outcomes, alone, bool(named), duties, silent, tuple(dict.fromkeys(missing)))


def _touched(
    known: Lookups, domains: Sequence[str], facts: Mapping[str, Value], evaluator: Evaluator, day: int
) -> tuple[str, ...]:
    """The actions of the rules of *domains* that test a fact of the case, and hold in it as far as that is known."""
    inside = (rule for domain in domains for rule in known.of_domain(domain, evaluator) if rule.holds_on(day))
    near = (rule for rule in inside if not names(rule.guard).isdisjoint(facts))
    return tuple(sorted({rule.effect.action for rule in near if truth(rule.guard, facts) is not False}))


def told_alone(
    actions: Collection[str], reads: Sequence[Read], decision: Decision, index: BundleIndex
) -> tuple[str, ...]:
    """The outcomes that *reads* alone decide, where nothing but these names the *actions*: "wrong password twice"."""
    if not set(actions) <= set(topic(" ".join(read.words for read in reads), index).actions):
        return ()
    now = {read.fact for read in reads}
    winners = {name: result.rule_id for name, result in sorted(decision.outcomes.items()) if result.rule_id is not None}
    tested = {name: names(index.rule(rule_id).guard) for name, rule_id in winners.items()}
    return tuple(name for name, facts in tested.items() if facts and facts <= now)


def of_domains(domains: Sequence[str], index: BundleIndex, evaluator: Evaluator, day: int) -> tuple[str, ...]:
    """The outcomes that rules of *domains* decide, those of the first domain first."""
    known = lookups(index)
    place: dict[str, int] = {}
    for outcome in known.in_force(day).by_outcome:
        for domain, _ in known.kinds_of(known.answering((outcome,), evaluator, day)):
            if domain in domains:
                place[outcome] = min(domains.index(domain), place.get(outcome, len(domains)))
    return tuple(sorted(place, key=lambda name: (place[name], name)))


def _is_settled(
    known: Lookups, domains: Sequence[str], facts: Mapping[str, Value], evaluator: Evaluator, day: int
) -> bool:
    """Do the facts touch rules of the likeliest domain, which decides no outcome: "it is smoking" says what to do?"""
    answering = known.kinds_of(known.answering(known.in_force(day).by_outcome, evaluator, day))
    if any(domain in domains for domain, _ in answering):
        return False
    return bool(_touched(known, domains, facts, evaluator, day))


def _by_facts(
    known: Lookups, domains: Sequence[str], touched: Collection[str], evaluator: Evaluator, day: int
) -> tuple[str, ...]:
    """The outcomes that the mentioned facts decide, in the likeliest domain first, by how many of them matter."""
    weight: dict[str, tuple[int, int]] = {}
    mentioned = frozenset(touched)
    for outcome in known.in_force(day).by_outcome:
        for domain, facts in known.kinds_of(known.answering((outcome,), evaluator, day)):
            place = domains.index(domain) if domain in domains else len(domains) + 1
            count = len(facts & mentioned)
            if count or place == 0:
                weight[outcome] = max(weight.get(outcome, (-99, 0)), (-place, count))
    return tuple(sorted(weight, key=lambda name: (-weight[name][0], -weight[name][1], name)))


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
    near: Collection[str],
) -> Iterator[Duty]:
    """The duties of the case that were asked for, or that come from these domains and from this case.

    Those of the domains *near* count where they follow from what was told alone.
    """
    lists = {"required": decision.required, "prohibited": decision.prohibited, "permitted": decision.permitted}
    for kind, actions in lists.items():
        for action in actions:
            rule = next((rule for rule in standing if _gives(rule, kind, action)), None)
            if rule is None:
                continue
            tested = names(rule.guard)
            follows = rule.domain in near and tested <= set(facts)
            is_of_this_case = bool(tested & set(facts)) and (rule.domain in domains or follows)
            if action in asked_for or (not asked_for and is_of_this_case):
                yield kind, action, rule


def _gives(rule: ConditionalRule, kind: str, action: str) -> bool:
    if kind == "required":
        return action in rule.effect.demands
    return rule.effect.kind == kind and rule.effect.action == action
