"""The scaffold of an answer (seed 001, during generation): what is known, which rules speak, what holds and why.

Deterministic steps from the rules in force: facts in question order, rules by policy id. Whoever writes the answer,
plain or by a model, has these steps and nothing else to go by.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from bot.enforcement.judged.checks.result import AnswerDraft, known
from bot.enforcement.outlook import Outlook, outlook, winner_over
from bot.enforcement.writing.write import Words
from bylaw.authored.labels import labels
from bylaw.authored.vocabulary import Fact
from bylaw.logic.boxes.truth import truth
from bylaw.logic.formula.codec import decode
from bylaw.logic.formula.ir import ConditionalRule, Formula, conj
from bylaw.logic.words.prose import sentence

_MOST_RULES = 20  # those that decide come first; a case has a handful
_MOST_PATHS = 6  # of one rule
_STATES: Mapping[Outlook, str] = {
    "holds": "It holds in this case.",
    "does not hold": "It does not hold in this case.",
    "overruled": "It does not hold in this case.",
    "open": "Whether it holds depends on what is unknown.",
}


@dataclass(frozen=True)
class Decided:
    """One thing that holds in the case: what an outcome gets, or a duty."""

    what: str
    action: str
    words: str
    policy: str


@dataclass(frozen=True)
class Scaffold:
    """Everything an author of the answer may say. `path` is the way through the decision graph that the case takes."""

    steps: tuple[str, ...]
    invariants: tuple[str, ...]
    path: str
    priorities: tuple[str, ...]
    decided: tuple[Decided, ...]

    def document(self) -> dict[str, Any]:
        """The scaffold as JSON."""
        return asdict(self)

    @property
    def actions(self) -> frozenset[str]:
        """The actions that an answer has to state, and the only ones."""
        return frozenset(one.action for one in self.decided)

    @property
    def policies(self) -> frozenset[str]:
        """The policies that an answer may cite."""
        return frozenset(one.policy for one in self.decided)


def scaffold(draft: AnswerDraft) -> Scaffold:
    """The scaffold of the case of *draft*; its text plays no part."""
    rules = _rules(draft)
    bodies = [*_facts(draft, rules), *(line for rule in rules for line in _rule(draft, rule))]
    bodies.append("FINAL: state the action and cite the policy that it comes from.")
    return Scaffold(
        steps=tuple(f"STEP {number}: {body}" for number, body in enumerate(bodies, start=1)),
        invariants=tuple(_invariants(draft)),
        path=_path(draft),
        priorities=tuple(_priorities(draft)),
        decided=tuple(_decided(draft)),
    )


def _rules(draft: AnswerDraft) -> list[ConditionalRule]:
    """The rules of the case: those that decide, and those that speak of it and are not ruled out, by policy id."""
    deciding = {rule.rule_id for rule in draft.deciding}
    speaking = [
        rule for rule in draft.relevant if rule.rule_id in deciding or truth(rule.guard, draft.facts) is not False
    ]
    speaking += [rule for rule in draft.deciding if rule not in speaking]
    first = sorted(speaking, key=lambda rule: (rule.rule_id not in deciding, rule.policy_id, rule.rule_id))
    return sorted(first[:_MOST_RULES], key=lambda rule: (rule.policy_id, rule.rule_id))


def _facts(draft: AnswerDraft, rules: list[ConditionalRule]) -> Iterator[str]:
    """What these rules ask about, in question order: the value that was given, or that nobody gave one."""
    words, facts = Words(draft.index.vocabulary), draft.index.vocabulary.facts
    asked = {name for rule in rules for name in known(draft.index).facts[rule.rule_id]}
    for name in sorted(asked, key=draft.evaluator.question_order):
        if name in draft.facts:
            yield f"{words.fact(name)}: {words.value(name, draft.facts[name])} (given)."
        else:
            yield f"{words.fact(name)}: unknown{_domain(facts.get(name))}. DO NOT assume it."


def _domain(fact: Fact | None) -> str:
    if fact is None or not fact.values:
        return ""
    return f", one of: {', '.join(value.replace('_', ' ') for value in sorted(fact.values))}"


def _rule(draft: AnswerDraft, rule: ConditionalRule) -> Iterator[str]:
    """The ways to the rule's action that the case leaves open, each as one line."""
    action = Words(draft.index.vocabulary).action(rule.effect.action)
    verb = {"prohibited": "NEVER", "permitted": "ALLOWED", "required": "REQUIRED"}.get(rule.effect.kind, "ACTION")
    place = f"{rule.policy_id}, {rule.source.path}:{rule.source.line}"
    for formula in _ways(draft, rule):
        when = sentence(formula, labels(draft.index.vocabulary))
        yield f"IF {when} THEN {verb} => {action} (per {place}). {_state(draft, rule, formula)}"


def _state(draft: AnswerDraft, rule: ConditionalRule, way: Formula) -> str:
    """What the case leaves of one way to the rule's action."""
    found = outlook(replace(rule, guard=way), draft.facts, draft.decision)
    winner = winner_over(rule, draft.decision, draft.evaluator) if found == "overruled" else None
    if winner is not None:
        return f"It does not hold in this case: {winner.policy_id} goes before it."
    if found == "open" and truth(way, draft.facts) is True:
        return "Nothing decides yet whether it holds."  # it contradicts another, or what is unknown may go before it
    return _STATES[found]


def _ways(draft: AnswerDraft, rule: ConditionalRule) -> list[Formula]:
    """The compiled paths of *rule* that its case does not rule out; the guard itself where there are none or many."""
    variables = draft.evaluator.ruleset.variables
    ways = [
        conj([decode(_whole(step.var, test), variables) for step in path.path for test in step.tests])
        for path in draft.index.bundle.compiled_paths
        if path.rule_id == rule.rule_id
    ]
    left = [way for way in ways if truth(way, draft.facts) is not False]
    return left if 0 < len(left) <= _MOST_PATHS else [rule.guard]


def _whole(var: str, test: Mapping[str, Any]) -> Mapping[str, Any]:
    """A test of a path with the fact that it is of; one that compares two facts names both itself."""
    return {"var": var, **test} if "value" in test else test


def _invariants(draft: AnswerDraft) -> Iterator[str]:
    """What must not be promised or done in this case, and what holds in every case."""
    words = Words(draft.index.vocabulary)
    yield from (f"NEVER {words.action(action)}." for action in draft.decision.prohibited)
    domains = {rule.domain for rule in draft.deciding}
    policies = {rule.policy_id for rule in draft.evaluator.ruleset.rules if rule.domain in domains}
    for constraint in draft.evaluator.ruleset.constraints:
        is_in_force = (constraint.start or draft.day) <= draft.day <= (constraint.end or draft.day)
        if constraint.policy_id in policies and is_in_force:
            yield f"ALWAYS {constraint.said} ({constraint.policy_id})."


def _path(draft: AnswerDraft) -> str:
    asked = {name for rule in draft.deciding for name in known(draft.index).facts[rule.rule_id]}
    steps = [step for step in draft.decision.path if step.partition("=")[0] in asked]
    return " → ".join((*steps, *dict.fromkeys(rule.effect.action for rule in draft.deciding)))


def _priorities(draft: AnswerDraft) -> Iterator[str]:
    """Which rule gave way to those that decide: it fired, and its action is not the answer."""
    words = Words(draft.index.vocabulary)
    about = set(draft.scope.outcomes)
    winners = [rule for rule in draft.deciding if any(outcome in about for outcome, _ in rule.effect.takes)]
    for fired in draft.decision.lost:
        loser = draft.index.rule(fired.rule_id)
        contested = about & {outcome for outcome, _ in loser.effect.takes}
        for winner in winners:
            if contested & {outcome for outcome, _ in winner.effect.takes}:
                way = f"level {winner.level} before level {loser.level}"
                yield (
                    f"{winner.policy_id} decides ({way}); {loser.policy_id} gives way, so DO NOT promise "
                    f"{words.action(fired.action)}."
                )


def _decided(draft: AnswerDraft) -> Iterator[Decided]:
    words = Words(draft.index.vocabulary)
    for name in draft.scope.outcomes:
        result = draft.decision.outcomes[name]
        if result.action is not None and result.policy_id is not None:
            yield Decided(words.outcome(name), result.action, words.action(result.action), result.policy_id)
    for kind, action, rule in draft.scope.duties:
        yield Decided(kind, action, words.action(action), rule.policy_id)
