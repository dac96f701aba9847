"""Whether a bundle holds together: every name in it leads to what it names, and every count counts what is there.

`broken` walks the sections one by one and tells what leads nowhere, by its place in the bundle.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from bylaw.authored.context import Context
from bylaw.authored.decisions import Decisions, Recorded
from bylaw.authored.machines.layers import LAYERS, SCORES
from bylaw.authored.machines.rules import Rules
from bylaw.canonical import spelled
from bylaw.compiled import CompiledPolicyBundle
from bylaw.declared import Broken, Route, broken_business, broken_context, broken_words, named, same
from bylaw.logic.formula.codec import decode
from bylaw.logic.formula.ir import Effect, Ruleset, ValueMisfit, names
from bylaw.logic.words.graph import graph_problems
from bylaw.sections import RuleSource

_WON_BY = ("override", "priority")


def broken(bundle: CompiledPolicyBundle, ruleset: Ruleset) -> Iterator[Broken]:
    """Everything in *bundle* that leads nowhere; *ruleset* is the logic in it."""
    known = _Known(bundle, ruleset)
    for check in _SECTIONS:
        yield from check(known)
    yield from broken_words(bundle.vocabulary)
    yield from broken_context(bundle.context)
    if bundle.business is not None:
        yield from broken_business(bundle.business, bundle.context)
    yield from _decisions(bundle.decisions)
    yield from _rights(bundle.rules, bundle.context)


def _takes_part(policy: Mapping[str, Any]) -> bool:
    """Does the logic know the policy? Text alone, and what nobody has validated, it does not."""
    return policy.get("is_active") is True and policy.get("processing_status", {}).get("formalization") == "complete"


class _Known:
    """What the sections of one bundle may name."""

    def __init__(self, bundle: CompiledPolicyBundle, ruleset: Ruleset) -> None:
        self.bundle, self.ruleset = bundle, ruleset
        self.variables = ruleset.variables
        self.policies = bundle.policies
        self.rules = {rule.rule_id: rule for rule in ruleset.rules}
        self.actions = bundle.vocabulary.actions
        self.active = {policy_id for policy_id, policy in bundle.policies.items() if _takes_part(policy)}

        self._fitting: set[tuple[object, ...]] = set()

    def fits(self, written: Any) -> bool:
        """Is it a formula over declared facts? The same test stands in a rule, in its path and in its graph."""
        try:
            value = written.get("value")
            values = tuple(value) if type(value) is list else (value,)
            key = (*written, written.get("var"), written.get("op"), type(value), *map(type, values), *values)
            if "value" not in written or key not in self._fitting:
                decode(written, self.variables)
                self._fitting.add(key)
        except (ValueError, KeyError, TypeError, AttributeError):
            return False
        return True

    def policy(self, route: Route, policy_id: object) -> Iterator[Broken]:
        return named(route, policy_id, self.policies, "the policy")

    def action(self, route: Route, action: str) -> Iterator[Broken]:
        return named(route, action, self.actions, "the action")

    def source(self, route: Route, source: RuleSource, policy_id: str) -> Iterator[Broken]:
        """What came from a file came from that of its policy."""
        yield from same((*route, "source", "policy_id"), source.policy_id, policy_id, "it")
        path = self.policies[policy_id].get("path")
        yield from same((*route, "source", "path"), source.path, path, f"the policy `{policy_id}`")


# ---- what is derived -----------------------------------------------------------------------------------------------


def _variables(known: _Known) -> Iterator[Broken]:
    """The facts of the vocabulary, no more and no fewer, each of its type."""
    facts = known.bundle.vocabulary.facts
    for name, variable in known.variables.items():
        yield from named(("variables", name), name, facts, "the fact")
        if name in facts:
            fact = facts[name]
            yield from same(("variables", name, "type"), variable.kind, fact.type, "the vocabulary")
            yield from same(("variables", name, "unit"), variable.unit, fact.unit, "the vocabulary")
            yield from same(
                ("variables", name, "values"), sorted(variable.values), sorted(fact.values), "the vocabulary"
            )
    for name in facts:
        yield from named(("vocabulary", "facts", name), name, known.variables, "the variable")


def _policies(known: _Known) -> Iterator[Broken]:
    """Each policy has a level of the lattice and is for roles that there are."""
    levels = known.bundle.priority_lattice
    roles = known.bundle.rules.roles.roles
    for policy_id, policy in known.policies.items():
        route = ("policies", policy_id)
        name = policy.get("priority_name")
        yield from named((*route, "priority_name"), name, levels, "the level")
        yield from same((*route, "priority_level"), policy.get("priority_level"), levels.get(str(name)), "the lattice")
        for i, lifting in enumerate(policy.get("lifted_by", ())):
            if not known.fits(lifting.get("conditions")):
                yield Broken((*route, "lifted_by", i), f"holds {lifting}, whose conditions do not fit")
            for k, action in enumerate(lifting.get("actions", ())):
                yield from known.action((*route, "lifted_by", i, "actions", k), action)
        for i, fact in enumerate(policy.get("steps", ())):
            yield from named((*route, "steps", i), fact, known.variables, "the fact")
        for i, role in enumerate(policy.get("audience", ())):
            yield from named((*route, "audience", i), role, roles, "the role")
    yield from same(("priority_lattice",), levels, known.bundle.rules.priorities.levels, "`rules.priorities.levels`")


def _rules(known: _Known) -> Iterator[Broken]:
    """A rule is of a policy that is there, does what it says, and repeats what its policy is."""
    if len(known.rules) != len(known.ruleset.rules):
        twice, _ = Counter(rule.rule_id for rule in known.ruleset.rules).most_common(1)[0]
        yield Broken(("conditional_rules",), f"holds two rules that share an id, `{twice}`")
    for i, rule in enumerate(known.bundle.conditional_rules):
        route: Route = ("conditional_rules", i)
        if rule.policy_id not in known.policies:
            yield from known.policy((*route, "policy_id"), rule.policy_id)
            continue
        policy, of = known.policies[rule.policy_id], f"the policy `{rule.policy_id}`"
        yield from known.source(route, rule.source, rule.policy_id)
        if rule.policy_id not in known.active:
            yield Broken((*route, "policy_id"), f"is a rule of `{rule.policy_id}`, which takes no part")
        yield from same((*route, "action"), rule.action, rule.effect.action, "its effect")
        metadata = rule.metadata
        for key, said in (
            ("domain", metadata.domain),
            ("owner", metadata.owner),
            ("priority_level", metadata.priority_level),
            ("audience", metadata.audience),
        ):
            yield from same((*route, "metadata", key), said, policy.get(key), of)
        yield from _effect(known, (*route, "effect"), known.ruleset.rules[i].effect)


def _effect(known: _Known, route: Route, effect: Effect) -> Iterator[Broken]:
    """It does something declared to outcomes that there are."""
    words, outcomes = known.bundle.vocabulary, known.bundle.outcomes
    yield from known.action((*route, "action"), effect.action)
    if (effect.kind == "outcome") != (effect.outcome is not None):
        yield Broken((*route, "outcome"), f"is `{effect.outcome}` in an effect of the kind `{effect.kind}`")
    answered = [(effect.outcome, effect.action)] if effect.outcome is not None else []
    for outcome, action in (*answered, *effect.implied_takes):
        yield from named((*route, "outcome"), outcome, outcomes, "the outcome")
        if action in known.actions:
            yield from same((*route, "outcome"), outcome, words.outcome_of(action), f"the action `{action}`")
    for i, action in enumerate(effect.implied):
        yield from known.action((*route, "implied", i), action)
    for _, action in effect.implied_takes:
        yield from named((*route, "implied_takes"), action, effect.implied, "the implied action")


def _constraints(known: _Known) -> Iterator[Broken]:
    """An invariant is of a policy that is there, a prohibition of an action that a rule of it forbids, and there."""
    forbidden: dict[tuple[str, str], list[Any]] = {}
    for rule in known.bundle.conditional_rules:
        if rule.effect.kind == "prohibited":
            forbidden.setdefault((rule.policy_id, f"NOT({rule.effect.action})"), []).append(rule.conditions)
    for i, constraint in enumerate(known.bundle.constraints):
        route: Route = ("constraints", i)
        if constraint.policy_id not in known.policies:
            yield from known.policy((*route, "policy_id"), constraint.policy_id)
            continue
        yield from known.source(route, constraint.source, constraint.policy_id)
        if constraint.formula is None and (constraint.policy_id, constraint.constraint) not in forbidden:
            message = f"is `{constraint.constraint}`, which no rule of `{constraint.policy_id}` says"
            yield Broken((*route, "constraint"), message)
        elif constraint.conditions not in (None, *forbidden.get((constraint.policy_id, constraint.constraint), ())):
            message = f"holds {spelled(constraint.conditions)}, where no rule says `{constraint.constraint}`"
            yield Broken((*route, "conditions"), message)


def _paths(known: _Known) -> Iterator[Broken]:
    """A path leads to a rule that is there, over facts that are declared, in tests that fit them."""
    for i, path in enumerate(known.bundle.compiled_paths):
        route: Route = ("compiled_paths", i)
        rule = known.rules.get(path.rule_id)
        if rule is None:
            yield from named((*route, "rule_id"), path.rule_id, known.rules, "the rule")
            continue
        yield from same((*route, "policy_id"), path.policy_id, rule.policy_id, f"the rule `{path.rule_id}`")
        yield from same((*route, "leaf_action"), path.leaf_action, rule.effect.text, f"`{path.rule_id}`")
        for n, step in enumerate(path.path):
            yield from named((*route, "path", n, "var"), step.var, known.variables, "the fact")
            for test in step.tests if step.var in known.variables else ():
                whole = {"var": step.var, **test} if len(test) == 2 and "value" in test else test
                if not known.fits(whole):
                    yield Broken((*route, "path", n, "tests"), f"holds the test {spelled(whole)}, which does not fit")


def _nodes(known: _Known) -> Iterator[Broken]:
    """What is asked is what the rules speak of, each fact once."""
    asked = known.bundle.decision_nodes
    spoken = {name for rule in known.ruleset.rules for name in names(rule.guard)}
    for i, name in enumerate(asked):
        yield from named(("decision_nodes", i), name, known.variables, "the fact")
        if name in asked[:i]:
            yield Broken(("decision_nodes", i), f"asks for `{name}` a second time")
    for name in sorted(spoken.difference(asked)):
        yield Broken(("decision_nodes",), f"leaves out the fact `{name}`, which a rule speaks of")


def _outcomes(known: _Known) -> Iterator[Broken]:
    """The outcomes of the vocabulary, each with actions of its own."""
    words = known.bundle.vocabulary
    for name, outcome in known.bundle.outcomes.items():
        route = ("outcomes", name)
        yield from named(route, name, words.outcomes, "the outcome")
        if name in words.outcomes:
            declared = words.outcomes[name].complete
            yield from same((*route, "complete"), outcome.get("complete"), declared, "the vocabulary")
            said, its = sorted(outcome.get("restrictive", ())), sorted(words.restrictive(name))
            yield from same((*route, "restrictive"), said, its, "the vocabulary")
    for name in words.outcomes:
        yield from named(("vocabulary", "outcomes", name), name, known.bundle.outcomes, "the outcome")


def _overrides(known: _Known) -> Iterator[Broken]:
    for policy_id, others in known.bundle.overrides.items():
        yield from known.policy(("overrides", policy_id), policy_id)
        for i, other in enumerate(others):
            yield from known.policy(("overrides", policy_id, i), other)


def _graphs(known: _Known) -> Iterator[Broken]:
    """Each policy that takes part has one, whose edges lead somewhere."""
    for policy_id, graph in known.bundle.graphs.items():
        route = ("graphs", policy_id)
        yield from known.policy(route, policy_id)
        try:
            problems = graph_problems(graph)
            for name, node in graph["nodes"].items():
                if (test := node.get("test")) is not None and not known.fits(test):
                    yield Broken((*route, "nodes", name), f"holds the test {spelled(test)}, which does not fit")
        except (ValueError, KeyError, TypeError, AttributeError) as problem:
            problems = [f"something does not fit: {problem}"]
        yield from (Broken(route, f"is a graph in which {problem}") for problem in problems)
    for policy_id in sorted(known.active ^ known.bundle.graphs.keys()):
        yield Broken(("graphs",), f"and the policies that take part differ in `{policy_id}`")


def _layers(known: _Known) -> Iterator[Broken]:
    for policy_id, layer in known.bundle.layers.items():
        route = ("layers", policy_id)
        yield from known.policy(route, policy_id)
        assigned = layer.get("assigned_layers") or ()
        for i, name in enumerate(assigned):
            yield from named((*route, "assigned_layers", i), name, LAYERS, "the layer")
        yield from named((*route, "primary_layer"), layer.get("primary_layer"), assigned, "the layer")
        for name in layer.get("scores") or ():
            yield from named((*route, "scores", name), name, SCORES, "the score")


def _conflicts(known: _Known) -> Iterator[Broken]:
    """Two rules of two sides, a case in declared facts, and a winner that is one of them."""
    seen: set[object] = set()
    for i, conflict in enumerate(known.bundle.conflicts):
        route: Route = ("conflicts", i)
        if conflict.get("conflict_id") in seen:
            yield Broken((*route, "conflict_id"), f"is `{conflict['conflict_id']}` like another one")
        seen.add(conflict.get("conflict_id"))
        sides = {key: conflict.get(key) or {} for key in ("policy_a", "policy_b")}
        for key, side in sides.items():
            yield from known.policy((*route, key, "id"), side.get("id"))
            rule = known.rules.get(str(side.get("rule_id")))
            if rule is None:
                yield from named((*route, key, "rule_id"), side.get("rule_id"), known.rules, "the rule")
                continue
            yield from same((*route, key, "id"), side.get("id"), rule.policy_id, f"the rule `{rule.rule_id}`")
            yield from same((*route, key, "priority_level"), side.get("priority_level"), rule.level, rule.policy_id)
        yield from _case(known, (*route, "counterexample"), conflict.get("counterexample") or {})
        resolution = conflict.get("resolution") or {}
        yield from named((*route, "resolution", "method"), resolution.get("method"), (*_WON_BY, "manual"), "the method")
        if resolution.get("method") in _WON_BY:
            either = [side.get("id") for side in sides.values()]
            yield from named((*route, "resolution", "winner"), resolution.get("winner"), either, "the winner")


def _case(known: _Known, route: Route, facts: Mapping[str, Any]) -> Iterator[Broken]:
    for name, value in facts.items():
        if name not in known.variables:
            yield from named((*route, name), name, known.variables, "the fact")
            continue
        try:
            known.variables[name].read(value)
        except ValueMisfit as misfit:
            yield Broken((*route, name), f"does not fit: {misfit}")


def _dominance(known: _Known) -> Iterator[Broken]:
    for i, rule in enumerate(known.bundle.dominance_rules):
        fire = rule.when.get("policies_fire", [])
        for n, policy_id in enumerate(fire):
            yield from known.policy(("dominance_rules", i, "when", "policies_fire", n), policy_id)
        yield from named(("dominance_rules", i, "then", "enforce"), rule.then.get("enforce"), fire, "the policy")
        yield from named(("dominance_rules", i, "then", "mode"), rule.then.get("mode"), _WON_BY, "the mode")


def _escalations(known: _Known) -> Iterator[Broken]:
    """The owners are those of the policies."""
    for i, escalation in enumerate(known.bundle.escalations):
        for n, policy_id in enumerate(escalation.policies):
            yield from known.policy(("escalations", i, "policies", n), policy_id)
        owners = {known.policies.get(policy_id, {}).get("owner") for policy_id in escalation.policies}
        for n, owner in enumerate(escalation.owners_to_notify):
            yield from named(("escalations", i, "owners_to_notify", n), owner, owners, "the owner")
        if not owners.issubset(escalation.owners_to_notify):
            yield Broken(("escalations", i, "owners_to_notify"), "leaves out an owner of one of its policies")


def _metadata(known: _Known) -> Iterator[Broken]:
    """The counts count, and the versions are of entities."""
    bundle, metadata = known.bundle, known.bundle.bundle_metadata
    for key, count in (
        ("policy_count", len(bundle.policies)),
        ("rule_count", len(bundle.conditional_rules)),
        ("constraint_count", len(bundle.constraints)),
        ("path_count", len(bundle.compiled_paths)),
        ("active_policy_count", len(known.active)),
    ):
        if getattr(metadata, key) != count:
            yield Broken(("bundle_metadata", key), f"says {getattr(metadata, key)}, and there are {count}")
    for i, unproven in enumerate(metadata.unproven):
        place: Route = ("bundle_metadata", "unproven", i)
        for action in (*unproven.actions, *unproven.beside):
            yield from known.action((*place, "actions"), action)
        for outcome in unproven.outcomes:
            yield from named((*place, "outcomes"), outcome, bundle.outcomes, "the outcome")
    for name in metadata.schema_versions:
        route = ("bundle_metadata", "schema_versions", name)
        yield from named(route, name, bundle.context.entities, "the entity")


_SECTIONS = (
    _variables,
    _policies,
    _rules,
    _constraints,
    _paths,
    _nodes,
    _outcomes,
    _overrides,
    _graphs,
    _layers,
    _conflicts,
    _dominance,
    _escalations,
    _metadata,
)


# ---- what is normalised elsewhere ----------------------------------------------------------------------------------


def _decisions(decisions: Decisions) -> Iterator[Broken]:
    """Links lead to records of the right kind."""
    kinds: Mapping[str, Mapping[str, Recorded]] = {
        "decisions": decisions.decisions,
        "events": decisions.events,
        "transitions": decisions.transitions,
    }
    for section, records in kinds.items():
        for id, record in records.items():
            yield from same(("decisions", section, id, "id"), record.id, id, "its key")
    for id, decision in decisions.decisions.items():
        for key, ids, kind in (
            ("supported_by", decision.supported_by, "events"),
            ("based_on", decision.based_on, "decisions"),
            ("transitions", decision.transitions, "transitions"),
            ("supersedes", decision.supersedes, "decisions"),
            ("superseded_by", decision.superseded_by, "decisions"),
            ("amends", decision.amends, "decisions"),
            ("amended_by", decision.amended_by, "decisions"),
        ):
            for i, other in enumerate(ids):
                yield from named(("decisions", "decisions", id, key, i), other, kinds[kind], f"in {kind}")
    for id, event in decisions.events.items():
        for i, other in enumerate(event.led_to):
            yield from named(("decisions", "events", id, "led_to", i), other, decisions.decisions, "the decision")
    for id, transition in decisions.transitions.items():
        for key, end in (("from", transition.from_), ("to", transition.to)):
            if end is not None:
                route = ("decisions", "transitions", id, key)
                yield from named(route, end, decisions.decisions, "the decision")
    for id in decisions.sources:
        yield from named(("decisions", "sources", id), decisions.record(id) and id, (id,), "the record")


def _rights(rules: Rules, context: Context) -> Iterator[Broken]:
    """Rules on rows speak of entities that there are."""
    for name, role in rules.roles.roles.items():
        for i, rule in enumerate(role.rows):
            route: Route = ("rules", "roles", "roles", name, "rows", i)
            head = rule.dimension.partition(".")[0].partition("@")[0]
            yield from named((*route, "dimension"), head, context.entities, "the entity")
            for n, spared in enumerate(rule.spared):
                yield from named((*route, "except", n), spared, context.entities, "the entity")
