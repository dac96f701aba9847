"""What the plain writer says of a decided case, made together with the claims that it says: nobody reads it again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from bot.claims.models import Claim
from bot.claims.situation import holds
from bot.enforcement.case import Case
from bot.enforcement.judged.reading import situation
from bot.enforcement.question.asking import asking_clause, asks_for_permission, asks_open
from bot.enforcement.question.scope import Duty
from bot.enforcement.writing import write
from bylaw.language.lexicon import lexicon
from bylaw.language.text import words_of
from bylaw.logic.formula.ir import Atom, ConditionalRule, Variable, names

_REFUSING = ("negation", "refusal", "forbidding")


@dataclass(frozen=True)
class Line:
    """A line of an answer, what it claims, and the rule that it rests on."""

    text: str
    claims: tuple[Claim, ...] = ()
    rule: ConditionalRule | None = None


def decided(case: Case, outcomes: Sequence[str]) -> Iterator[Line]:
    """What each of *outcomes* gets, and why."""
    for outcome in outcomes:
        result = case.decision.outcomes[outcome]
        assert result.action is not None and result.rule_id is not None  # it is decided
        rule = case.index.rule(result.rule_id)
        asked_for = _asked_for(case, outcome)
        denied = [name for name in asked_for if name != result.action]
        denied = [name for name in denied if not case.words.vocabulary.is_part(name, result.action)]
        is_yes = _says_yes(case, result.action, denied) if asked_for else None
        said = write.taken(case.words, outcome, result.action, is_yes, denied)
        claims = [Claim(kind="gives", quote=said, action=result.action)]
        claims += [Claim(kind="denies", quote=said, action=name) for name in denied]
        yield Line(said, tuple(claims), rule)
        if case.withheld and outcome == case.scope.outcomes[0]:
            yield Line(f"{write.RESTRICTIVE} ({rule.policy_id}).", (), rule)
        else:
            yield because(case, rule)


def _asked_for(case: Case, outcome: str) -> list[str]:
    """The one action of *outcome* that a yes or no may answer; none where "when" is asked, or which of several."""
    vocabulary = case.index.vocabulary
    named = dict.fromkeys(map(vocabulary.canonical, case.memory.topic.actions))
    found = [name for name in named if vocabulary.outcome_of(name) == outcome]
    return found if len(found) == 1 and _asks_whether(case) else []


def _asks_whether(case: Case) -> bool:
    """May a yes answer the question: does it ask whether it is so, and not whether it is forbidden?"""
    clause = [word.text for word in asking_clause(case.text)]
    return not asks_open(case.text) and not lexicon()["forbidding"].any_in(clause)


def _says_yes(case: Case, action: str, denied: Sequence[str]) -> bool | None:
    """Does *action*, taken where it was asked for, say yes? None where neither does: "can you reject it?" is rejected.

    What is called by what it is not ("no fee") is a yes where the question says just that ("can I leave without a
    fee?") and nothing of the outcome is less restrictive.
    """
    if denied or not is_refusal(case, action):
        return not denied
    if not _is_said_so(case, action):  # "rent it out" may be no refusal at all
        return False if lexicon()["negation"].any_in(words_of(case.words.action(action))) else None
    vocabulary = case.index.vocabulary
    outcome = vocabulary.outcomes.get(vocabulary.outcome_of(action) or "")
    return True if outcome and action in map(vocabulary.canonical, outcome.restrictive[-1:]) else None


def _is_said_so(case: Case, action: str) -> bool:
    """Does the question say a name of the action whole ("without a fee"), and not but the thing that it refuses?"""
    vocabulary = case.index.vocabulary
    return any(vocabulary.canonical(one.item.named or "") == action for one in case.asks if one.status == "borne")


def because(case: Case, rule: ConditionalRule) -> Line:
    """The facts of the case that a rule rests on, and its policy."""
    order = sorted(names(rule.guard), key=case.evaluator.question_order)
    said = write.because(rule, case.said_of(order))
    variables = case.evaluator.ruleset.variables
    known = [Atom(name, "==", case.facts[name]) for name in order if name in case.facts]
    known += [test for name in order if name in case.bounds for test in case.bounds[name].tests]
    claims = [_fact(test, said, variables[test.var]) for test in known]
    return Line(said, (*claims, Claim(kind="source", quote=said, policy_id=rule.policy_id)), rule)


def _fact(test: Atom, said: str, variable: Variable) -> Claim:
    """The claim that the case passes *test*."""
    assert not isinstance(test.value, tuple)  # it is one value, or a bound
    return Claim.model_validate(
        {"kind": "fact", "quote": said, "fact": test.var, "operator": test.op, "value": variable.show(test.value)}
    )


def duties(
    case: Case, held: Sequence[Duty], is_explained: bool, cited: Sequence[ConditionalRule] = ()
) -> Iterator[Line]:
    """What has to be done, may not be done or may be, and every duty of the case that must be told."""
    seen = {rule.rule_id for rule in cited}
    for kind, action, rule in (*held, *_brought(case, held), *_untold(case, {action for _, action, _ in held})):
        if kind != "prohibited" and not holds(situation(case, ""), action):
            yield Line(write.open_duty(case.words, action), (), rule)
            continue
        is_alone = kind != "required" and is_explained and [*case.scope.actions] == [action]
        is_asked = is_alone and not is_refusal(case, action) and asks_for_permission(case.text) and _asks_whether(case)
        said = write.duty(case.words, kind, action, is_asked)
        yield Line(said, (Claim(kind="denies" if kind == "prohibited" else "gives", quote=said, action=action),), rule)
        if is_explained and rule.rule_id not in seen:
            yield because(case, rule)
        seen.add(rule.rule_id)


def is_refusal(case: Case, action: str) -> bool:
    """Is the action one that turns down what was asked: by its label, or as the most restrictive of its outcome?"""
    words = words_of(case.words.action(action))
    return any(lexicon()[name].any_in(words) for name in _REFUSING)


def _brought(case: Case, held: Sequence[Duty]) -> Iterator[Duty]:
    """What must be told of what is allowed: the duties that it brings with it."""
    vocabulary, told = case.index.vocabulary, {action for _, action, _ in held}
    for kind, action, rule in held:
        for other in vocabulary.implied(action) if kind == "permitted" else ():
            if other not in told and other in vocabulary.actions and vocabulary.actions[other].must_tell:
                told.add(other)
                yield "required", other, rule


def _untold(case: Case, told: set[str]) -> Iterator[Duty]:
    """The duties of the case that must be told and that nobody asked about."""
    actions = case.index.vocabulary.actions
    lost = {fired.rule_id for fired in case.decision.lost}
    standing = [case.index.rule(fired.rule_id) for fired in case.decision.fired if fired.rule_id not in lost]
    alike = [case.index.rule(one.rule_id) for one in case.decision.outcomes.values() if one.rule_id]  # not all fired
    brought = [other for rule in alike for other in rule.effect.demands]
    for action in dict.fromkeys((*case.decision.required, *brought)):
        if action in told or not (action in actions and actions[action].must_tell):
            continue
        rule = next((rule for rule in (*standing, *alike) if action in rule.effect.demands), None)
        if rule is not None and (action in case.decision.required or holds(situation(case, ""), action)):
            yield "required", action, rule


def of_case(case: Case) -> list[Line]:
    """Everything that is decided in a case, whatever was asked about."""
    outcomes = [name for name, result in case.decision.outcomes.items() if result.action is not None]
    scope = replace(case.scope, outcomes=tuple(outcomes))
    whole = replace(case, scope=scope)
    lost = {fired.rule_id for fired in case.decision.lost}
    standing = [case.index.rule(fired.rule_id) for fired in case.decision.fired if fired.rule_id not in lost]
    lists = {"required": case.decision.required, "prohibited": case.decision.prohibited}
    held = [
        (kind, action, rule)
        for kind, actions in lists.items()
        for action in actions
        for rule in [_speaking(standing, kind, action)]
        if rule is not None
    ]
    return [*decided(whole, outcomes), *duties(whole, held, is_explained=True)]


def _speaking(standing: Sequence[ConditionalRule], kind: str, action: str) -> ConditionalRule | None:
    for rule in standing:
        own = rule.effect.kind == kind and rule.effect.action == action
        if own or (kind == "required" and action in rule.effect.demands):
            return rule
    return None
