"""What the rules say, for who asks about them and not about a case: "what is our refund policy?".

They are told in their own sentences, each with the conditions without which it never holds: a sentence of a policy
leaves out what others around it said. Facts that are told narrow the rules to those that could still hold.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from bot.enforcement.question.intent import is_general
from bot.enforcement.question.lookups import lookups
from bot.enforcement.question.topic.covered import POLICY_ID
from bot.enforcement.question.topic.recognise import Topic, figures_asked, hinted, limits_asked, spoken_of
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


def overview(
    text: str,
    topic: Topic,
    facts: Mapping[str, Value],
    index: BundleIndex,
    evaluator: Evaluator,
    day: int,
    readers: Collection[str],
) -> Overview | None:
    """The rules of *evaluator* in force that *text* asks for, as far as they may hold where *facts* do; None when it
    asks about a case.

    What is decided stands before what else must be done, and the strongest policy first.
    """
    named = {found.upper() for found in POLICY_ID.findall(text)}
    limits: Sequence[str] = [] if named else [name for name in limits_asked(text, index) if name not in facts]
    rules: Sequence[ConditionalRule]
    if named:
        rules = [rule for rule in evaluator.ruleset.rules if rule.policy_id in named and rule.holds_on(day)]
        found = {rule.policy_id for rule in rules}
        found |= {one.policy_id for one in unchecked_of(sorted(named), readers, index, day)}
        about, unknown = " and ".join(sorted(found)), tuple(sorted(named - found))
    elif limits:
        unknown, (about, rules) = (), _testing(limits, topic, index, evaluator, day)
    elif figured := figures_asked(text, topic, index):
        rules = lookups(index).speaking(figured, evaluator, day)
        rules = [rule for rule in rules if rule.effect.action in figured]
        about, unknown, limits = listing(map(Words(index.vocabulary).action, figured)), (), figured
    elif is_general(text):
        (about, rules), unknown = _about(topic, facts, index, evaluator, day), ()
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
    return Overview(about, tuple(open_), unknown, bool(limits), tuple(unchecked_of(policies, readers, index, day)))


def of_words(text: str, index: BundleIndex, evaluator: Evaluator, day: int) -> Overview | None:
    """The rules that test a fact which the words of *text* speak of, where they name nothing that is decided."""
    about, rules = _testing(spoken_of(text, index), Topic(), index, evaluator, day)
    return Overview(about, tuple(rules), is_whole=True) if rules else None


def _testing(
    facts: Sequence[str], topic: Topic, index: BundleIndex, evaluator: Evaluator, day: int
) -> tuple[str, Sequence[ConditionalRule]]:
    """What *facts* are called, and the rules in force that test one of them: of what is named or hinted at, if there
    are any."""
    known, words = lookups(index), Words(index.vocabulary)
    found = [
        rule
        for rule in evaluator.ruleset.rules
        if rule.holds_on(day) and not known.facts[rule.rule_id].isdisjoint(facts)
    ]
    named = {*topic.actions, *topic.outcomes} or set(hinted(topic))
    near = [r for r in found if r.effect.action in named or named & {outcome for outcome, _ in r.effect.takes}]
    return listing(map(words.fact, facts)) if facts else "", near or found


def told(words: Words, found: Overview, facts: Mapping[str, Value], variables: Mapping[str, Variable]) -> list[str]:
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


def _about(
    topic: Topic, facts: Mapping[str, Value], index: BundleIndex, evaluator: Evaluator, day: int
) -> tuple[str, Sequence[ConditionalRule]]:
    """What a text is about that names no policy: the actions it names, else its outcome, else its likeliest domain,
    and of that the rules about what its words tell or hint at.

    An action is not even called by its name where nothing that speaks of it may be read.
    """
    known, words = lookups(index), Words(index.vocabulary)
    actions = [name for name in topic.actions if known.speaking((name,), evaluator, day)]
    if actions:
        return listing(map(words.action, actions)), known.speaking(actions, evaluator, day)
    if topic.outcomes:
        return words.outcome(topic.outcomes[0]), known.answering(topic.outcomes[:1], evaluator, day)
    if topic.domains:
        rules = known.of_domain(topic.domains[0], evaluator)
        likely = {name for name, _ in topic.likely}
        near = [rule for rule in rules if not known.facts[rule.rule_id].isdisjoint(facts)] or [
            rule for rule in rules if rule.effect.action in likely or likely & {name for name, _ in rule.effect.takes}
        ]
        return topic.domains[0].replace("_", " "), near or rules
    return "", ()


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
