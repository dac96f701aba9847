"""Guidance before an answer is written: which policies speak, what must be told, what must never be said or done.

For whoever else answers, a person or an organisation's own assistant. It decides nothing anew: the rules, the decision
and the scaffold are those of the plain answer, and the texts go to the layers that seed 000 assigns.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from pydantic import Field

from bot.conversation import Question, Spoken
from bot.enforcement.assemble import case_of
from bot.enforcement.case import Case
from bot.enforcement.judged.reading import draft_of
from bot.enforcement.outlook import Outlook, outlook, winner_over
from bot.enforcement.question.lookups import lookups
from bot.enforcement.scaffold import scaffold
from bot.enforcement.uncovered import texts_on
from bot.enforcement.writing import missing
from bot.enforcement.writing.overview import line
from bot.enforcement.writing.unchecked import NOTE, Unchecked, unchecked_of
from bot.enforcement.writing.write import question
from bot.index import BundleIndex
from bylaw.logic.boxes.truth import truth
from bylaw.logic.decide.unproven import document
from bylaw.logic.formula.ir import ConditionalRule, Value

_MOST_POLICIES = 20
# how much a rule has to do with a question: it answers what is named, it follows from what is told, it is near
_ANSWERS, _FOLLOWS, _TOUCHES, _NEAR = 1.0, 0.8, 0.6, 0.3
_RULED_OUT = 0.5  # of that, where the case rules it out


class GuidedRule(Spoken):
    """A rule in words, where it stands, and whether it holds in the case as far as that is known.

    One that is overruled gives way to a rule of the policy `overruled_by`.
    """

    rule_id: str
    action: str
    kind: str
    text: str
    source_text: str | None = None
    path: str
    line: int
    status: Outlook
    overruled_by: str | None = None


class GuidedPolicy(Spoken):
    """A policy that speaks of the question. `texts` are its sentences that no logic knows, and `note` says so;
    `checked` false: it is text alone.
    """

    policy_id: str
    relevance: float
    owner: str
    domain: str
    priority_level: int | None = None
    assigned_layers: tuple[str, ...] = ()
    checked: bool = True
    note: str | None = None
    rules: tuple[GuidedRule, ...] = ()
    texts: tuple[str, ...] = ()
    path: str | None = None
    line: int | None = None


class ToldAction(Spoken):
    """An action with its words and the policy that speaks of it."""

    action: str
    label: str
    policy_id: str | None = None


class Missing(Spoken):
    """A fact that could still change the answer, and the question that fetches it."""

    fact: str
    question: str


class Uncovered(Spoken):
    """What no rule speaks of, and whom to ask."""

    words: tuple[str, ...] = ()
    owners: tuple[str, ...] = ()


class UnprovenRule(Spoken):
    """A rule that cannot be read, and what it may change: an answer neither gives nor denies that."""

    policy_id: str | None = None
    path: str | None = None
    line: int | None = None
    actions: tuple[str, ...] = ()
    outcomes: tuple[str, ...] = ()
    finding: str
    reason: str
    owner: str = ""


class Layer(Spoken):
    """What one layer of an assistant is given: the policies of it, and their text."""

    policies: tuple[str, ...] = ()
    text: str = ""


class Guidance(Spoken):
    """Everything that an answer to one question may rest on."""

    question: str
    domains: tuple[str, ...] = ()
    uncovered: Uncovered | None = None
    facts: dict[str, Any] = Field(default_factory=dict)
    outcomes: dict[str, Any] = Field(default_factory=dict)
    missing: tuple[Missing, ...] = ()
    policies: tuple[GuidedPolicy, ...] = ()
    must_tell: tuple[ToldAction, ...] = ()
    required: tuple[ToldAction, ...] = ()
    prohibited: tuple[ToldAction, ...] = ()
    permitted: tuple[ToldAction, ...] = ()
    unproven: tuple[UnprovenRule, ...] = ()
    scaffold: dict[str, Any] = Field(default_factory=dict)
    layers: dict[str, Layer] = Field(default_factory=dict)
    reading: dict[str, Any] = Field(default_factory=dict)
    bundle_etag: str
    commit: str | None = None


def guide(asked: Question, index: BundleIndex, given: Mapping[str, Value] | None = None) -> Guidance:
    """The guidance for *asked*, by the rules that who asks may read. Facts *given* count more than those read."""
    today = index.local(asked.asked_at).date()
    readers = index.readers(asked.actor.id)
    case = case_of(asked.text, today, {}, index, index.evaluator_of(readers), given)
    is_covered = case.memory.topic.is_named or bool(given)
    texts = [] if is_covered else texts_on(case, readers)
    speaking = _policies(case) if is_covered else []
    beside = {one.policy_id: one for one in unchecked_of((one.policy_id for one in speaking), readers, index, case.day)}
    policies = [_with_texts(one, beside.get(one.policy_id)) for one in speaking]
    policies += (_as_text(one, index) for one in texts if one.policy_id not in beside)
    policies.sort(key=lambda one: (-one.relevance, one.policy_id))
    policies = policies[:_MOST_POLICIES]
    variables = case.evaluator.ruleset.variables
    return Guidance(
        question=asked.text,
        domains=case.memory.topic.domains if is_covered else (),
        uncovered=None if is_covered or texts else _uncovered([one.text for one in case.reading.residue], case),
        facts={name: variables[name].show(value) for name, value in sorted(case.facts.items())},
        outcomes=_outcomes(case) if is_covered else {},
        missing=tuple(_missing(case)) if is_covered else (),
        policies=tuple(policies),
        must_tell=tuple(_must_tell(case)) if is_covered else (),
        required=_duties(case, "required") if is_covered else (),
        prohibited=_told(case, case.decision.prohibited),
        permitted=_duties(case, "permitted") if is_covered else (),
        unproven=tuple(_unproven(case, readers)),
        scaffold=scaffold(draft_of(case, "")).document() if is_covered else {},
        layers=_layers(policies, case),
        reading=case.reading.written(),
        bundle_etag=index.etag,
        commit=index.commit,
    )


def _uncovered(words: Sequence[str], case: Case) -> Uncovered:
    owners = missing.owners(case.memory.topic, case.index, case.evaluator)
    return Uncovered(words=tuple(words), owners=tuple(owners))


# ---- the policies that speak ----------------------------------------------------------------------------------------


def _policies(case: Case) -> list[GuidedPolicy]:
    """Every policy that has something to do with the case, by how much."""
    by_policy: dict[str, list[tuple[float, ConditionalRule]]] = {}
    for rule in case.evaluator.ruleset.rules:
        if rule.holds_on(case.day) and (weight := _relevance(rule, case)):
            by_policy.setdefault(rule.policy_id, []).append((weight, rule))
    return [_policy(policy_id, found, case) for policy_id, found in sorted(by_policy.items())]


def _relevance(rule: ConditionalRule, case: Case) -> float:
    """How much *rule* has to do with the case; 0 for nothing."""
    holds = truth(rule.guard, case.facts)
    about = set(case.scope.outcomes)
    duties = {duty.rule_id for _, _, duty in case.scope.duties}
    if about.intersection(outcome for outcome, _ in rule.effect.takes) or rule.effect.action in case.scope.actions:
        weight = _ANSWERS
    elif rule.rule_id in duties:
        weight = _FOLLOWS
    elif rule.domain in case.memory.topic.domains[:1]:
        tested = lookups(case.index).facts[rule.rule_id]
        weight = _TOUCHES if not tested.isdisjoint(case.facts) else _NEAR
    else:
        return 0.0
    return weight if holds is not False else weight * _RULED_OUT


def _policy(policy_id: str, found: Iterable[tuple[float, ConditionalRule]], case: Case) -> GuidedPolicy:
    ranked = sorted(found, key=lambda pair: (-pair[0], pair[1].rule_id))
    record = case.index.bundle.policies.get(policy_id, {})
    return GuidedPolicy(
        policy_id=policy_id,
        relevance=ranked[0][0],
        owner=case.index.owner(policy_id),
        domain=ranked[0][1].domain,
        priority_level=ranked[0][1].level,
        assigned_layers=_assigned(policy_id, case.index),
        rules=tuple(_rule(rule, case) for _, rule in ranked),
        path=str(record["path"]) if "path" in record else None,
        line=ranked[0][1].source.line,
    )


def _rule(rule: ConditionalRule, case: Case) -> GuidedRule:
    is_unsure = bool(case.evaluator.unproven.about(rule.effect.action, case.day))  # what holds of it, nobody can say
    status = outlook(rule, case.facts, case.decision)
    winner = winner_over(rule, case.decision, case.evaluator) if status == "overruled" else None
    return GuidedRule(
        rule_id=rule.rule_id,
        action=rule.effect.action,
        kind=rule.effect.kind,
        text=line(case.words, rule, {}, case.evaluator.ruleset.variables),
        source_text=rule.source.text,
        path=rule.source.path,
        line=rule.source.line,
        status="open" if is_unsure and status != "overruled" else status,
        overruled_by=winner.policy_id if winner is not None else None,
    )


def _unproven(case: Case, readers: Collection[str]) -> Iterator[UnprovenRule]:
    """The rules in force that cannot be read; of those for others only what they may change."""
    for rule in case.decision.unproven:
        yield UnprovenRule.model_validate(document(rule, readers))


def _with_texts(policy: GuidedPolicy, beside: Unchecked | None) -> GuidedPolicy:
    """*policy* with what it says beside its rules."""
    return policy if beside is None else policy.model_copy(update={"texts": beside.texts, "note": NOTE})


def _as_text(found: Unchecked, index: BundleIndex) -> GuidedPolicy:
    return GuidedPolicy(
        policy_id=found.policy_id,
        relevance=round(float(found.relevance) * _FOLLOWS, 2),
        owner=found.owner,
        domain=found.domain,
        assigned_layers=_assigned(found.policy_id, index),
        checked=False,
        note=NOTE,
        texts=found.texts,
        path=found.path,
        line=1,
    )


def _assigned(policy_id: str, index: BundleIndex) -> tuple[str, ...]:
    found = index.bundle.layers.get(policy_id)
    return tuple(found.get("assigned_layers", ())) if isinstance(found, dict) else ()


# ---- what has to be said and what must not --------------------------------------------------------------------------


def _outcomes(case: Case) -> dict[str, Any]:
    results = {name: case.decision.outcomes[name] for name in case.scope.outcomes}
    return {name: {"action": one.action, "policy_id": one.policy_id} for name, one in results.items()}


def _missing(case: Case) -> Iterable[Missing]:
    facts = case.index.vocabulary.facts
    return (Missing(fact=name, question=question(case.words, name)) for name in case.scope.missing if name in facts)


def _must_tell(case: Case) -> Iterable[ToldAction]:
    """What the decision gives that an answer may not leave out."""
    actions, vocabulary = case.index.vocabulary.actions, case.index.vocabulary
    taken = [result.action for result in case.decision.outcomes.values() if result.action is not None]
    for action in dict.fromkeys((*taken, *case.decision.required)):
        declared = actions.get(vocabulary.canonical(action))
        if declared is not None and getattr(declared, "must_tell", False):
            yield from _told(case, [action])


def _duties(case: Case, kind: str) -> tuple[ToldAction, ...]:
    return tuple(
        ToldAction(action=action, label=case.words.action(action), policy_id=rule.policy_id)
        for held, action, rule in case.scope.duties
        if held == kind
    )


def _told(case: Case, actions: Iterable[str]) -> tuple[ToldAction, ...]:
    speaking = {fired.action: fired.policy_id for fired in reversed(case.decision.fired)}
    return tuple(ToldAction(action=one, label=case.words.action(one), policy_id=speaking.get(one)) for one in actions)


# ---- the layers of seed 000 -----------------------------------------------------------------------------------------

_LAYERS = {"system_prompt": "system_prompt", "rag": "prompt_context", "guardrail": "guardrail"}


def _layers(policies: Sequence[GuidedPolicy], case: Case) -> dict[str, Layer]:
    """The texts for each layer: what always holds goes to the system prompt, what this question needs beside it.

    The system prompt has every policy of its layer that holds without a case; it does not change with the question.
    """
    always = [_policy(policy_id, [(_NEAR, rule) for rule in rules], case) for policy_id, rules in _standing(case)]
    found = {}
    for layer, name in _LAYERS.items():
        near = always if layer == "system_prompt" else policies
        mine = [one for one in near if layer in one.assigned_layers or (not one.assigned_layers and layer == "rag")]
        texts = [_layer_text(one, is_of_case=layer != "system_prompt") for one in mine]
        found[name] = Layer(policies=tuple(one.policy_id for one in mine), text="\n".join(texts))
    return found


def _standing(case: Case) -> list[tuple[str, list[ConditionalRule]]]:
    by_policy: dict[str, list[ConditionalRule]] = {}
    for rule in case.evaluator.ruleset.rules:
        if rule.holds_on(case.day) and "system_prompt" in _assigned(rule.policy_id, case.index):
            by_policy.setdefault(rule.policy_id, []).append(rule)
    return sorted(by_policy.items())


def _layer_text(policy: GuidedPolicy, is_of_case: bool) -> str:
    lines = [f"- {rule.text}, {rule.path}:{rule.line}{_given_way(rule) * is_of_case}" for rule in policy.rules]
    lines += [f"- {policy.note}: “{text}” ({policy.policy_id}, {policy.path})" for text in policy.texts]
    return "\n".join(lines)


def _given_way(rule: GuidedRule) -> str:
    return f" (not in this case: {rule.overruled_by} goes before it)" if rule.overruled_by else ""


def in_words(found: Guidance) -> str:
    """The guidance for a terminal."""
    lines: list[str] = []
    if found.uncovered is not None:
        about = f": nothing in them speaks of {', '.join(found.uncovered.words)}" if found.uncovered.words else ""
        lines.append(f"Our rules do not cover this{about}.")
        lines.append(f"to ask: {', '.join(found.uncovered.owners) or 'nobody named'}")
    for name, result in found.outcomes.items():
        lines.append(f"{name}: {result['action'] or 'open'}")
    for one in found.unproven:
        about = ", ".join(dict.fromkeys((*one.outcomes, *one.actions)))
        place = f"\n    --> {one.path}:{one.line}" if one.path else ""
        lines.append(f"cannot be read, so give and deny nothing of it ({about}): {one.reason}{place}")
    for title, told in (("must tell", found.must_tell), ("required", found.required), ("never", found.prohibited)):
        lines += [f"{title}: {one.label}{f' ({one.policy_id})' if one.policy_id else ''}" for one in told]
    lines += [f"still unknown: {one.question}" for one in found.missing]
    for policy in found.policies:
        note = "" if policy.checked else f", {policy.note}"
        owner = policy.owner or "nobody named"
        lines.append(f"{policy.policy_id} (relevance {policy.relevance:g}, owner {owner}{note})")
        lines += [f"  {rule.text} [{_status_words(rule)}]\n    --> {rule.path}:{rule.line}" for rule in policy.rules]
        lines += [f"  “{text}” [{policy.note}]\n    --> {policy.path}:{policy.line}" for text in policy.texts]
    return "\n".join(lines)


def _status_words(rule: GuidedRule) -> str:
    return f"{rule.status} by {rule.overruled_by}" if rule.overruled_by else rule.status
