"""What the rules say, for who asks about them and not about a case: "what is our refund policy?".

They are told in their own sentences, each with the conditions without which it never holds: a sentence of a policy
leaves out what others around it said. Facts that are told narrow the rules to those that could still hold.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from bot.enforcement.question.asking import named_policies
from bot.enforcement.question.lookups import lookups
from bot.enforcement.question.topic import Topic
from bot.enforcement.writing.unchecked import Unchecked, unchecked_of
from bot.enforcement.writing.write import Words, listing
from bot.index import BundleIndex
from bylaw.authored.labels import labels
from bylaw.logic.boxes.truth import simplify, truth
from bylaw.logic.decide.evaluate import Evaluator
from bylaw.logic.formula.ir import TRUE, And, Atom, Compare, ConditionalRule, Formula, Not, Or, Value, Variable, conj
from bylaw.logic.words.prose import sentence
from bylaw.logic.words.shorter import shorter

MOST_RULES = 12  # of one answer; the rest are named
_MOST_NAMED = 5  # policies, of those whose rules are not told
_LONGEST = 200  # characters of a condition that people still read
_VERBS: Mapping[str, str] = {"required": "required: ", "prohibited": "not allowed: ", "permitted": "allowed: "}


@dataclass(frozen=True)
class Overview:
    """The rules that are asked for, and what they are about, in words; `unknown` are policies that nobody may read.

    `is_whole`: the rules themselves are what is asked for, and no fact of a case is missing. `texts`: what these
    policies say that logic does not know.
    """

    about: str
    rules: tuple[ConditionalRule, ...]
    unknown: tuple[str, ...] = ()
    is_whole: bool = False
    texts: tuple[Unchecked, ...] = ()


@dataclass(frozen=True)
class Wanted:
    """What rules are asked for: those of the policies that the text names, else those about a topic. *facts* narrow
    them to those that may still hold.
    """

    text: str
    topic: Topic
    facts: Mapping[str, Value]
    is_general: bool


def overview(
    wanted: Wanted, index: BundleIndex, evaluator: Evaluator, day: int, readers: Collection[str]
) -> Overview | None:
    """The rules of *evaluator* in force that are *wanted*; None where a case is asked about.

    What is decided stands before what else must be done, and the strongest policy first.
    """
    topic, facts = wanted.topic, wanted.facts
    named = () if topic.is_named and not wanted.is_general else named_policies(wanted.text)
    rules: Sequence[ConditionalRule]
    if named:
        rules = [rule for rule in evaluator.ruleset.rules if rule.policy_id in named and rule.holds_on(day)]
        found = {rule.policy_id for rule in rules}
        found |= {one.policy_id for one in unchecked_of(sorted(named), readers, index, day)}
        about, unknown = " and ".join(sorted(found)), tuple(sorted(set(named) - found))
    elif topic.facts:
        unknown, (about, rules) = (), _testing(topic, index, evaluator, day)
    elif wanted.is_general:
        unknown, (about, rules) = (), _about(topic, index, evaluator, day)
    else:
        return None
    open_ = [rule for rule in rules if truth(rule.guard, facts) is not False]
    open_.sort(
        key=lambda rule: (
            not rule.effect.takes,
            rule.level,
            rule.policy_id,
            rule.source.path,
            rule.source.line,
            rule.rule_id,
        )
    )
    if not (open_ or named):
        return None
    policies = sorted(named) or [rule.policy_id for rule in open_[:MOST_RULES]]
    is_whole = bool(topic.facts)
    return Overview(about, tuple(open_), unknown, is_whole, tuple(unchecked_of(policies, readers, index, day)))


def _testing(topic: Topic, index: BundleIndex, evaluator: Evaluator, day: int) -> tuple[str, Sequence[ConditionalRule]]:
    """What the asked facts are called, and the rules in force that test one of them: of what else is asked, if any."""
    known = lookups(index)
    rules = (rule for rule in evaluator.ruleset.rules if rule.holds_on(day))
    found = [rule for rule in rules if not known.facts[rule.rule_id].isdisjoint(topic.facts)]
    named = {*topic.actions, *topic.outcomes}
    near = [r for r in found if r.effect.action in named or named & {outcome for outcome, _ in r.effect.takes}]
    return listing(map(Words(index.vocabulary).fact, topic.facts)), near or found


def lines_of(words: Words, found: Overview, facts: Mapping[str, Value], variables: Mapping[str, Variable]) -> list[str]:
    """The lines of the answer."""
    shown, rest = found.rules[:MOST_RULES], found.rules[MOST_RULES:]
    lines = [f"What the policies say about {found.about}:"] if shown or found.texts else []
    lines += [f"- {line(words, rule, facts, variables)}" for rule in shown]
    if rest:
        ids = list(dict.fromkeys(rule.policy_id for rule in rest))
        others = [f"{len(ids) - _MOST_NAMED} other policies"] if len(ids) > _MOST_NAMED + 1 else ids[_MOST_NAMED:]
        places = listing([*ids[:_MOST_NAMED], *others])
        lines.append(f"- and {len(rest)} more {'rule' if len(rest) == 1 else 'rules'}, in {places}")
    lines += [f"- {one.quoted}" for one in found.texts]
    if found.about and not (shown or found.texts):
        lines.append(f"Nothing of {found.about} holds in such a case.")
    return [*lines, *(f"I know no policy {name} that is in force and that you may read." for name in found.unknown)]


def _about(topic: Topic, index: BundleIndex, evaluator: Evaluator, day: int) -> tuple[str, Sequence[ConditionalRule]]:
    """What is asked: its actions, else its outcomes, and the rules that speak of them.

    An action is not even called by its name where nothing that speaks of it may be read.
    """
    known, words = lookups(index), Words(index.vocabulary)
    actions = [name for name in topic.actions if known.speaking((name,), evaluator, day)]
    if actions:
        return listing(map(words.action, actions)), known.speaking(actions, evaluator, day)
    outcomes = [name for name in topic.outcomes if known.answering((name,), evaluator, day)]
    return listing(map(words.outcome, outcomes)) if outcomes else "", known.answering(outcomes, evaluator, day)


def line(words: Words, rule: ConditionalRule, facts: Mapping[str, Value], variables: Mapping[str, Variable]) -> str:
    """One rule: what it gives, when, and its sentence."""
    when = _when(simplify(rule.guard, facts), words, variables)
    given = f"{_VERBS.get(rule.effect.kind, '') if not rule.effect.takes else ''}{words.action(rule.effect.action)}"
    quoted = f": “{rule.source.text}”" if rule.source.text else ""
    return f"{given}{when}{quoted} ({rule.policy_id})"


def _when(guard: Formula, words: Words, variables: Mapping[str, Variable]) -> str:
    """When a rule holds, exactly where that is short enough to be read, else what it needs at least."""
    short, names = shorter(guard, variables), labels(words.vocabulary)
    if short == TRUE:
        return ""
    exact = sentence(short, names)
    if len(exact) <= _LONGEST:
        return f", when {exact}"
    needed = conj(necessary(guard))
    return ", otherwise" if needed == TRUE else f", only if {sentence(needed, names)}"


def necessary(formula: Formula) -> tuple[Formula, ...]:
    """Tests that hold wherever *formula* does, in its order: all of them but what only says that other rules fail."""
    match formula:
        case And(items):
            return tuple(dict.fromkeys(part for item in items for part in necessary(item)))
        case Or(items) if any(isinstance(item, And | Or) for item in items):
            first, *others = map(necessary, items)
            return tuple(part for part in first if all(part in other for other in others))
        case Not(Atom() | Compare()) | Atom() | Compare() | Or():
            return (formula,)
    return ()
