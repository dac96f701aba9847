"""A policy's actions and exceptions → guarded effects.

The guard of an action is the scope and what it requires, or else all conditions. A fallback excludes the policy's
primary actions of its outcome and earlier fallbacks. An exception holds where an action it replaces would hold, and
takes those actions' place there. Order among exceptions decides nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from bylaw.authored.policies import Policy, PolicyAction, PolicyException
from bylaw.authored.vocabulary import Vocabulary
from bylaw.logic.boxes.boxes import Box, TooManyBoxes, boxes, meets
from bylaw.logic.formula.ir import And, Atom, Effect, Formula, ValueMisfit, conj, disj, negate
from ci.findings import Route
from ci.formalize.lower import EVERYWHERE, Lowered, Lowering, targeted
from ci.formalize.requirements import Requirements
from ci.loading.derived.record import Lifting
from ci.loading.schema.nearest import did_you_mean, one_right

PRIMARY = frozenset(("required", "conditional", "discovered_pattern"))
ACTIONS_LIVE_IN = "actions are declared in policies/vocabulary.yaml"


@dataclass(frozen=True, slots=True)
class RuleDraft:
    """A rule in the making: everything but the policy's own level, period and line."""

    rule_id: str
    effect: Effect
    guard: Formula
    route: Route
    source_text: str | None = None
    is_exception: bool = False
    type: str = "required"
    lifts: tuple[Formula, ...] = ()

    def settled(self) -> RuleDraft:
        """The rule with the exceptions that lift it worked into its guard."""
        if not self.lifts:
            return self
        return replace(self, guard=conj([self.guard, *map(negate, self.lifts)]), lifts=())


@dataclass(frozen=True, slots=True)
class Nest:
    """Where a list of exceptions stands: its route, where it may hold at all, and what the policy's actions mention.

    `around` is the guard of the exception that carries the list, and `gone` names the rules that are replaced there.
    """

    route: Route
    within: Formula
    stem: str
    mentioned: frozenset[str]
    around: Formula = EVERYWHERE
    gone: frozenset[str] = frozenset()


def _may_meet(one: Sequence[Box] | None, other: Sequence[Box] | None) -> bool:
    """May both hold in one case? What cannot is not excluded: a row of a table need not name all rows before it.

    Where the tests of one hold for sure, a test of the other on the same fact fails for sure: so nothing that is
    unknown is decided sooner without it. Of a guard that can never hold that is not so.
    """
    return not one or not other or any(meets(a, b) for a in one for b in other)


def _is_plain(guard: Formula) -> bool:
    """Is it nothing but tests that all hold? Then it is one box, and no part of it was left out as impossible."""
    return isinstance(guard, Atom) or (isinstance(guard, And) and all(isinstance(one, Atom) for one in guard.items))


@dataclass
class Formalizer:
    """Turns one policy into drafts. What does not fit is reported through `lowering`; then there are none."""

    policy: Policy
    vocabulary: Vocabulary
    lowering: Lowering
    terms: Mapping[str, Formula]
    scope: Formula = EVERYWHERE
    requirements: Requirements | None = None
    all_conditions: Formula = EVERYWHERE
    stem: str = field(init=False)
    liftings: list[Lifting] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        self.stem = f"R-{self.policy.policy_id.removeprefix('POL-')}"

    def drafts(self) -> list[RuleDraft] | None:
        """Every rule of the policy, exceptions worked in; None when something has a finding."""
        already = len(self.lowering.findings)
        self._prepare()
        actions = self._actions()
        place = Nest(("exceptions",), self.scope, f"{self.stem}x", frozenset(d.effect.action for d in actions))
        checked = self._exceptions(self.policy.exceptions, actions, place)
        if len(self.lowering.findings) > already:
            return None
        return [draft.settled() for draft in checked]

    def steps(self) -> tuple[str, ...]:
        """The facts of the policy's procedure, in its order."""
        requirements = self.requirements
        if requirements is None:
            return ()
        return tuple(dict.fromkeys(fact for step in self.policy.steps for fact in requirements.facts_of(step)))

    def effect(self, type: str, action: str) -> Effect:
        """What an action of this type does, under its canonical name."""
        name = self.vocabulary.canonical(action)
        if type == "prohibited":
            return Effect("prohibited", name)
        implied = self.vocabulary.implied(name)
        if type == "permitted":
            return Effect("permitted", name, None, implied)
        takes = tuple((o, other) for other in implied if (o := self.vocabulary.outcome_of(other)) is not None)
        outcome = self.vocabulary.outcome_of(name)
        return Effect("outcome" if outcome else "required", name, outcome, implied, takes)

    # ---- conditions and scope -----------------------------------------------------------------------------------

    def _prepare(self) -> None:
        self.scope = self._scope()
        conditions = self.policy.conditions
        # A condition with a finding stands for everything here, so that what else is wrong is told in the same run.
        lowered = [
            self.lowering.condition(item, ("conditions", i)) or Lowered(item, EVERYWHERE)
            for i, item in enumerate(conditions)
        ]
        self.requirements = Requirements(self.lowering, conditions, lowered, self.terms)
        self.all_conditions = targeted(lowered)

    def _scope(self) -> Formula:
        parts: list[Formula] = []
        for dimension, values in sorted(self.policy.scope.items()):
            fact = self.vocabulary.scope.get(dimension)
            variable = self.lowering.variables.get(fact) if fact else None
            if variable is None and "all" in values:
                continue
            if variable is None:
                self.lowering.report(
                    "unknown-fact",
                    f"narrows its scope by `{dimension}`, which the vocabulary maps to no fact",
                    ("scope", dimension),
                    did_you_mean(dimension, self.vocabulary.scope, "map it under `scope` in policies/vocabulary.yaml"),
                )
                continue
            read = [self._scope_value(value, dimension, i) for i, value in enumerate(values) if value != "all"]
            if "all" in values or set(variable.values) <= set(read):
                continue  # `all` wins over the values beside it, every value is all; a wrong one is told all the same
            parts.append(Atom(variable.name, "in", tuple(value for value in read if value is not None)))
        return conj(parts)

    def _scope_value(self, value: str, dimension: str, i: int) -> str | None:
        variable = self.lowering.variables[self.vocabulary.scope[dimension]]
        try:
            variable.read(value)
        except ValueMisfit as misfit:
            help = did_you_mean(value, [*variable.values, "all"])
            message, at = f"has a scope that does not exist: {misfit}", ("scope", dimension, i)
            fix = one_right(value, [*variable.values, "all"])
            self.lowering.report("value-out-of-domain", message, at, help, fix=fix)
            return None
        return value

    # ---- actions ------------------------------------------------------------------------------------------------

    def _actions(self) -> list[RuleDraft]:
        drafts: list[RuleDraft] = []
        fallbacks: list[RuleDraft] = []
        for i, action in enumerate(self.policy.actions):
            draft = self._action(action, i)
            if draft is not None:
                (fallbacks if action.type == "fallback" else drafts).append(draft)
        primaries = [draft for draft in drafts if draft.type in PRIMARY]
        places = {draft.rule_id: self._boxes(draft.guard) for draft in (*primaries, *fallbacks)} if fallbacks else {}
        for draft in fallbacks:
            here = places[draft.rule_id]
            rivals = [d for d in primaries if d.effect.outcome == draft.effect.outcome]
            before = [d for d in rivals if _may_meet(here, places[d.rule_id])]
            drafts.append(replace(draft, guard=conj([draft.guard, *(negate(d.guard) for d in before)])))
            primaries.append(draft)
        return sorted(drafts, key=lambda draft: str(draft.route[1]).rjust(9))

    def _boxes(self, guard: Formula) -> tuple[Box, ...] | None:
        """*guard* as boxes; None where it is not plain, needs too many, or where a condition of it has a finding."""
        try:
            is_readable = _is_plain(guard) and not self.lowering.findings
            return boxes(guard, self.lowering.variables) if is_readable else None
        except TooManyBoxes:
            return None

    def _action(self, action: PolicyAction, i: int) -> RuleDraft | None:
        route: Route = ("actions", i)
        known = self.is_declared(action.action, (*route, "action"))
        assert self.requirements is not None
        if action.requires:
            guard = self.requirements.guard(action.requires, (*route, "requires"))
        else:
            guard = self.all_conditions if action.takes_all else EVERYWHERE
        when = self.lowering.all_of(action.when, (*route, "when"))
        if guard is None or when is None or not known:
            return None
        return RuleDraft(
            rule_id=f"{self.stem}{_letters(i)}",
            effect=self.effect(action.type, action.action),
            guard=conj([self.scope, guard, when]),
            route=route,
            source_text=action.source_text,
            type=action.type,
        )

    def is_declared(self, action: str, route: Route) -> bool:
        """May a policy use *action*? It is declared, and so is the outcome of everything that it brings."""
        fix: dict[str, str] = {}
        if action in self.vocabulary.actions:
            leading = leads_nowhere(self.vocabulary, action)
            if leading is None:
                return True
            message, help = f"uses the action `{action}`, which leads to `{leading}`: that is not declared", None
        else:
            message = f"uses the action `{action}`, which no vocabulary declares"
            help = did_you_mean(action, self.vocabulary.actions, ACTIONS_LIVE_IN)
            fix = one_right(action, self.vocabulary.actions)
        self.lowering.report("unknown-action", message, route, help, word=action, fix=fix)
        return False

    # ---- exceptions ---------------------------------------------------------------------------------------------

    def _exceptions(
        self, exceptions: Sequence[PolicyException], drafts: list[RuleDraft], nest: Nest
    ) -> list[RuleDraft]:
        """*drafts*, which the exceptions may replace, with the exceptions after them."""
        added: list[RuleDraft] = []
        for i, exception in enumerate(exceptions):
            at = (*nest.route, i)
            conditions = self.lowering.all_of(exception.conditions, (*at, "conditions"))
            replaces: list[tuple[str, Route]] = [(n, ("replaces", k)) for k, n in enumerate(exception.replaces)]
            words = [(exception.action, ("action",)), *replaces]
            declared = [self.is_declared(name, (*at, *key)) for name, key in words if name and name != "none"]
            if not exception.has_force or conditions is None or not all(declared):
                continue
            replaced = self._replaced(exception, drafts)
            guard = conj([conditions, self._reach(exception, replaced, nest)])
            lifted = frozenset(draft.rule_id for draft in replaced) - nest.gone
            lift = conj([nest.around, conditions])
            if exception.action == "none":
                self._lift(_lifting(exception, at, guard, lift, drafts, lifted, nest))
            own = self._exception(exception, drafts, guard, at, f"{nest.stem}{i + 1}")
            drafts = [
                replace(d, lifts=(*d.lifts, conditions if d.guard == nest.around else lift))
                if d.rule_id in lifted
                else d
                for d in drafts
            ]
            inner = Nest((*at, "exceptions"), guard, f"{nest.stem}{i + 1}.", nest.mentioned, guard, nest.gone | lifted)
            done = self._exceptions(exception.exceptions, [*drafts, *own], inner)
            drafts, added = done[: len(drafts)], [*added, *done[len(drafts) :]]
        return [*drafts, *added]

    def _lift(self, lifting: Lifting) -> None:
        self.liftings.append(lifting)
        if not lifting.is_named and len(lifting.lifts) > 1:
            actions = ", ".join(f"`{action}`" for action in lifting.lifts)
            self.lowering.note(
                "lifts-all",
                f"has an exception to `none` that lifts everything the policy says: {actions}",
                (*lifting.route, "action"),
                f"name what it lifts, and the rest stays: `replaces: [{', '.join(lifting.lifts)}]`, or fewer of them",
            )

    def _reach(self, exception: PolicyException, replaced: Sequence[RuleDraft], nest: Nest) -> Formula:
        """Where something that the exception replaces would hold.

        Only an action without outcome that the policy does not mention may hold by itself: it adds a duty.
        """
        if any(draft.guard == nest.around for draft in replaced):
            return nest.around
        action = self.vocabulary.canonical(exception.action or "none")
        is_new_duty = action not in nest.mentioned and action != "none" and self.vocabulary.outcome_of(action) is None
        if not replaced and is_new_duty:
            return nest.within
        return conj([nest.around, disj([draft.guard for draft in replaced])])

    def _replaced(self, exception: PolicyException, drafts: Sequence[RuleDraft]) -> list[RuleDraft]:
        assert exception.action is not None
        named = {self.vocabulary.canonical(name) for name in exception.replaces}
        if exception.action == "none":
            return [draft for draft in drafts if draft.effect.action in named] if named else list(drafts)
        action = self.vocabulary.canonical(exception.action)
        outcome = self.vocabulary.outcome_of(action)
        return [
            draft
            for draft in drafts
            if draft.effect.action in named
            or (
                self.vocabulary.outcome_of(draft.effect.action) == outcome if outcome else draft.effect.action == action
            )
        ]

    def _exception(
        self, exception: PolicyException, drafts: Sequence[RuleDraft], guard: Formula, route: Route, rule_id: str
    ) -> list[RuleDraft]:
        if exception.action is None or exception.action == "none":
            return []
        action = self.vocabulary.canonical(exception.action)
        is_prohibited = any(d.effect.kind == "prohibited" and d.effect.action == action for d in drafts)
        lifts_ban = is_prohibited and self.vocabulary.outcome_of(action) is None
        type = exception.type or ("permitted" if lifts_ban else "required")
        text = exception.source_text or exception.description
        return [RuleDraft(rule_id, self.effect(type, action), guard, route, text, is_exception=True, type=type)]


def _lifting(
    exception: PolicyException,
    route: Route,
    guard: Formula,
    where: Formula,
    drafts: Sequence[RuleDraft],
    lifted: frozenset[str],
    nest: Nest,
) -> Lifting:
    there = [draft for draft in drafts if draft.rule_id not in nest.gone]
    lifts = tuple(dict.fromkeys(draft.effect.action for draft in there if draft.rule_id in lifted))
    kept = tuple(draft.rule_id for draft in there if draft.rule_id not in lifted)
    return Lifting(route, guard, where, lifts, kept, bool(exception.replaces))


def leads_nowhere(vocabulary: Vocabulary, action: str) -> str | None:
    """What *action* leads to and no vocabulary declares: its canonical name, or an outcome of what it brings."""
    name = vocabulary.canonical(action)
    if name not in vocabulary.actions:
        return name
    outcomes = [vocabulary.outcome_of(brought) for brought in (name, *vocabulary.implied(name))]
    return next((outcome for outcome in outcomes if outcome is not None and outcome not in vocabulary.outcomes), None)


def _letters(i: int) -> str:
    """a, b, … z, aa, ab, … as in R-REFUND-001a."""
    text = ""
    i += 1
    while i:
        i, rest = divmod(i - 1, 26)
        text = chr(ord("a") + rest) + text
    return text
