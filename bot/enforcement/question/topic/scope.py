"""Which part of a decision a question is about: its outcomes, the duties that go with them, and what is missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from bot.enforcement.question.case.facts import Read
from bot.enforcement.question.lookups import Lookups, lookups
from bot.enforcement.question.topic.recognise import AHEAD, LEAST, NAMED, Topic, topic
from bot.index import BundleIndex
from bylaw.logic.boxes.truth import simplify, truth
from bylaw.logic.decide.evaluate import Decision, Evaluator
from bylaw.logic.formula.ir import And, Atom, Compare, ConditionalRule, Value, atoms, names

NOTHING: Mapping[str, Value] = {}
Duty = tuple[str, str, ConditionalRule]


@dataclass(frozen=True)
class Scope:
    """`outcomes` are those asked about, the likeliest first; `actions` those named that answer no outcome.

    `duties` hold in the case: (kind, action, rule). `silent` are named actions that no rule speaks about here.
    `missing` are the unknown facts that could still change the answer, the most deciding first. `choices` are what
    the question may be about where its words do not tell: nobody guesses. `is_offer`: they name none of them, so that
    it may as well be about something else.
    """

    outcomes: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    is_named: bool = False
    duties: tuple[Duty, ...] = ()
    silent: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    is_offer: bool = False


def scope_of(
    topic: Topic,
    facts: Mapping[str, Value],
    said: Mapping[str, Value],
    index: BundleIndex,
    evaluator: Evaluator,
    decision: Decision,
    day: int,
) -> Scope:
    """What to answer from *decision*: what is named, else the only thing in a named area that words and facts fit.

    *said* are those of the *facts* that were told just now. What facts alone fit is offered, and decides nothing.
    """
    known = lookups(index)
    named, besides = _by_words_and_facts(topic, said, index, evaluator, day)
    if named and besides:
        return Scope(choices=(*besides, *named), is_offer=True)
    told = tuple(name for name in named if not _tested(known, name, evaluator, day).isdisjoint(said))
    alone = tuple(name for name in topic.actions if known.demanding(name, evaluator, day))
    is_told = any(not _tested(known, name, evaluator, day).isdisjoint(said) for name in alone)
    named = told or (() if is_told else named)  # of several that are named, those that what is told matters for
    outcomes: tuple[str, ...] = named
    choices: tuple[str, ...] = ()
    if not named and not alone:
        found = candidates(topic, facts, index, evaluator, day)
        within = _within(topic.areas, found, known, evaluator, day)
        if not within:
            return Scope(choices=_offered(found, said or facts, index, evaluator, day), is_offer=True)
        outcomes, alone, choices = _taken(within, known)
    elif not alone and said and all(_tested(known, name, evaluator, day).isdisjoint(said) for name in named):
        choices = tuple(
            dict.fromkeys((*named, *_by_facts(said, index, evaluator, day)))
        )  # it is told of something else
        named, outcomes = ((), ()) if len(choices) > 1 else (named, named)
        choices = choices if len(choices) > 1 else ()
    first = outcomes if named else outcomes[:1]
    domains = _domains(first, decision, topic, evaluator)
    standing = _standing(decision, evaluator)
    is_open = not named and not any(decision.outcomes[name].action for name in first)
    duties = tuple(_duties(decision, standing, domains, alone, facts, topic.domains[:2] if is_open else ()))
    open_ = Counter[str]()
    for rule in known.speaking(alone, evaluator, day):
        if truth(rule.guard, facts) is None:
            open_.update(names(simplify(rule.guard, facts)))
    spoken = {action for _, action, _ in duties}
    waiting = sorted(open_, key=lambda fact: (-open_[fact], evaluator.question_order(fact)))
    missing = [
        fact for name in first for fact in _in_order(decision.undecided.get(name, ()), name, known, evaluator, day)
    ]
    if not spoken & set(alone):
        missing += waiting
    silent = tuple(name for name in alone if name not in spoken)
    asked = evaluator.asking.in_turn(tuple(dict.fromkeys(missing)))
    return Scope(outcomes, alone, bool(named), duties, silent, asked, choices)


def _by_words_and_facts(
    topic: Topic, said: Mapping[str, Value], index: BundleIndex, evaluator: Evaluator, day: int
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The outcomes that are named, the likeliest first, by what is told and then by the words; and what else it may be.

    Where words speak of one as much as its whole name would, and far more than of all that is named, that is asked for
    if what is told matters for it, and else it may be that.
    """
    known, likely = lookups(index), dict(topic.likely)
    tested = {name: _tested(known, name, evaluator, day) & said.keys() for name in (*topic.outcomes, *likely)}
    named = [name for name in topic.outcomes if known.answering((name,), evaluator, day)]
    named.sort(key=lambda name: (-len(tested[name]), -likely.get(name, 0.0)))
    ahead = tuple(name for name in _ahead(likely) if name in known.deciding)
    is_alone = any(known.demanding(name, evaluator, day) for name in topic.actions)
    if len(ahead) != 1 or likely[ahead[0]] < NAMED or ahead[0] in named or is_alone:
        return tuple(named), ()
    if tested[ahead[0]]:
        return ahead, ()
    cases = {fact for fact, value in said.items() if not isinstance(value, str)}  # "a dog" is only of a kind
    return tuple(named), () if any(tested[name] & cases for name in named) else ahead


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


def candidates(
    topic: Topic, facts: Mapping[str, Value], index: BundleIndex, evaluator: Evaluator, day: int
) -> tuple[str, ...]:
    """What a question may be about that names nothing: a single one where its words and its facts leave no other.

    Its words speak of one much more than of another; a told fact is tested by what it is told for.
    """
    likely = dict(topic.likely)
    if not facts:
        sure = {name: weight for name, weight in likely.items() if weight >= LEAST}
        return _ahead({name: weight for name, weight in sure.items() if _tested(lookups(index), name, evaluator, day)})
    by_facts = _by_facts(facts, index, evaluator, day)
    whole = [name for name, count in by_facts.items() if count == len(facts)]
    if found := _ahead({name: likely[name] for name in whole if name in likely}):
        return found
    near = [name for name in likely if name in by_facts]
    found = tuple(dict.fromkeys((*_ahead({name: likely[name] for name in near}), *whole)))
    return found or tuple(dict.fromkeys((*_ahead(likely), *by_facts)))


def _offered(
    found: Sequence[str], said: Mapping[str, Value], index: BundleIndex, evaluator: Evaluator, day: int
) -> tuple[str, ...]:
    """What is offered where nothing is named: what fits best, then all else that the told facts matter for."""
    by_facts = _by_facts(said, index, evaluator, day) if said else {}
    known = (name for name in (*found, *by_facts) if _tested(lookups(index), name, evaluator, day))
    return tuple(dict.fromkeys(known)) if found else ()


def _ahead(points: Mapping[str, float]) -> tuple[str, ...]:
    """Those of which the words speak almost as much as of the first one."""
    best = max(points.values(), default=0.0)
    return tuple(name for name, weight in points.items() if weight * AHEAD > best)


def _by_facts(facts: Mapping[str, Value], index: BundleIndex, evaluator: Evaluator, day: int) -> dict[str, int]:
    """The outcomes, and the actions of none, that still depend on how many of these facts, the most first.

    Where several outcomes do, what else has to be done is no other matter.
    """
    known = lookups(index)
    table = known.in_force(day)
    outcomes = [name for name in index.vocabulary.outcomes if name in table.by_outcome]
    names = (*outcomes, *(name for name in sorted(table.by_duty) if name not in table.by_outcome))
    count = {name: len(_tested(known, name, evaluator, day, facts) & set(facts)) for name in names}
    best = max(count.values(), default=0)
    is_of_several = sum(count[name] == best for name in outcomes) > 1
    kept = {name: n for name, n in count.items() if n and not (is_of_several and name not in outcomes)}
    return dict(sorted(kept.items(), key=lambda pair: -pair[1]))


def _within(
    areas: Sequence[str], found: Sequence[str], known: Lookups, evaluator: Evaluator, day: int
) -> tuple[str, ...]:
    """Those of *found* that rules of the *areas* decide, else all that these do."""
    rules = [rule for area in areas for rule in known.of_domain(area, evaluator) if rule.holds_on(day)]
    subjects = dict.fromkeys(
        name for rule in rules for name in [outcome for outcome, _ in rule.effect.takes] or [rule.effect.action]
    )
    return tuple(name for name in found if name in subjects) or tuple(subjects)


def _taken(found: Sequence[str], known: Lookups) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """The outcome and the actions that a question is about, or what it has to be asked about.

    Only one outcome is decided at a time, but several things may have to be done.
    """
    outcomes = tuple(name for name in found if name in known.deciding)
    actions = tuple(name for name in found if name not in known.deciding)
    if len(outcomes) > 1 or (outcomes and actions):
        return (), (), tuple(found)
    return outcomes, actions, ()


def asked_about(
    topic: Topic, facts: Mapping[str, Value], index: BundleIndex, evaluator: Evaluator, day: int
) -> tuple[frozenset[str], frozenset[str]]:
    """The facts that matter for what is named, else for what it may be about; and those of the rules beside them."""
    known = lookups(index)
    named, besides = _by_words_and_facts(topic, facts, index, evaluator, day)
    found = dict.fromkeys((*topic.outcomes, *named, *besides, *topic.actions))
    names = tuple(found) or candidates(topic, facts, index, evaluator, day)
    matter = frozenset().union(*(_tested(known, name, evaluator, day) for name in names)) - {""}
    rules = (*known.answering(names, evaluator, day), *known.speaking(names, evaluator, day))
    near = (known.of_domain(domain, evaluator) for domain in sorted({rule.domain for rule in rules}))
    return matter, frozenset().union(*(known.facts_of(those) for those in near))


def _tested(
    known: Lookups, name: str, evaluator: Evaluator, day: int, facts: Mapping[str, Value] = NOTHING
) -> frozenset[str]:
    """The facts that an outcome, or an action of none, still depends on where *facts* hold."""
    rules = known.answering((name,), evaluator, day) or known.speaking((name,), evaluator, day)
    if facts and known.facts_of(rules).isdisjoint(facts):  # none of them is decided by what is told
        return known.facts_of(rules) | {""} if rules else frozenset()
    open_ = tuple(rule for rule in rules if not facts or truth(rule.guard, facts) is not False)
    return known.facts_of(open_) | {""} if open_ else frozenset()  # what always holds is tested, too


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


def following(said: Collection[str], decision: Decision, evaluator: Evaluator) -> tuple[str, ...]:
    """The actions that rules give by the facts that were just *said*, and by no other."""
    tested = ((rule.effect.action, names(rule.guard)) for rule in _standing(decision, evaluator))
    return tuple(dict.fromkeys(action for action, facts in tested if facts and facts <= set(said)))


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
