"""What answers look up in a bundle, built once when it is loaded."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from bylaw.bundle_logic import ruleset
from bylaw.logic.decide.evaluate import Evaluator
from bylaw.logic.formula.ir import ConditionalRule, Ruleset

if TYPE_CHECKING:
    from bylaw.authored.machines.rules import Rules
    from bylaw.authored.vocabulary import Vocabulary
    from bylaw.compiled import CompiledPolicyBundle
    from bylaw.sealed import SealedBundle
    from bylaw.sections import BundleLogic

MOST_READERS = 32  # sets of roles whose rules are kept indexed
_MOST_RECENT = 1_000  # questions whose answer is still known

P = ParamSpec("P")
T = TypeVar("T")


class LogicIndex:
    """Lookups over the logic of one bundle. Immutable for its readers: a new bundle gets a new index."""

    def __init__(self, bundle: BundleLogic) -> None:
        self.bundle = bundle

    @property
    def etag(self) -> str:
        """The bundle's etag, named in every answer and audit entry."""
        return self.bundle.bundle_metadata.etag

    @property
    def commit(self) -> str | None:
        """The commit the bundle was compiled from, None outside git."""
        return self.bundle.bundle_metadata.source_commit

    @property
    def vocabulary(self) -> Vocabulary:
        """The words."""
        return self.bundle.vocabulary

    @cached_property
    def ruleset(self) -> Ruleset:
        """The logic."""
        return ruleset(self.bundle)

    @cached_property
    def evaluator(self) -> Evaluator:
        """The logic, indexed for many cases."""
        return Evaluator(self.ruleset, is_indexed=True)

    @cached_property
    def _by_id(self) -> dict[str, ConditionalRule]:
        return {rule.rule_id: rule for rule in self.ruleset.rules}

    def rule(self, rule_id: str) -> ConditionalRule:
        """The rule of that id. Raises KeyError."""
        return self._by_id[rule_id]


class BundleIndex(LogicIndex):
    """Lookups over one whole bundle (seed 001)."""

    bundle: CompiledPolicyBundle | SealedBundle

    def __init__(self, bundle: CompiledPolicyBundle | SealedBundle) -> None:
        super().__init__(bundle)
        self._recent: dict[Callable[..., Any], Callable[..., Any]] = {}

    def recently(self, find: Callable[Concatenate[BundleIndex, P], T]) -> Callable[P, T]:
        """*find* over this index, which is not asked again for any of the last arguments: many people ask the same.

        They have to be hashable, and to be all that *find* depends on; nobody changes what it returns.
        """
        known = self._recent.get(find)
        if known is None:
            known = self._recent.setdefault(find, lru_cache(_MOST_RECENT)(partial(find, self)))
        return known

    @property
    def rules(self) -> Rules:
        """How the machines behave."""
        return self.bundle.rules

    def local(self, moment: datetime) -> datetime:
        """*moment* as the clocks of the organisation show it: its day is the organisation's."""
        return self.bundle.context.calendar.local(moment)

    def evaluator_of(self, roles: Iterable[str]) -> Evaluator:
        """The logic as somebody with *roles* may read it: the rules for everyone, and those for one of the roles."""
        return self._evaluators(frozenset(roles) & self._audiences)

    def readers(self, actor: str) -> frozenset[str]:
        """The roles of *actor*, as far as a rule is for one of them: who has the same may read the same."""
        return self._audiences and self._audiences.intersection(self.rules.roles.roles_of(actor))

    @cached_property
    def _audiences(self) -> frozenset[str]:
        texts = (record.get("audience", ()) for record in self.bundle.policies.values() if record.get("texts"))
        known = self.ruleset
        unproven = (rule.audience for rule in known.unproven)
        told = (*(rule.audience for rule in known.rules), *unproven, *texts)
        return frozenset(role for roles in told for role in roles)

    @cached_property
    def _evaluators(self) -> Callable[[frozenset[str]], Evaluator]:
        return lru_cache(MOST_READERS)(self._evaluator_of)

    def _evaluator_of(self, roles: frozenset[str]) -> Evaluator:
        shown = tuple(rule for rule in self.ruleset.rules if not rule.audience or roles & set(rule.audience))
        if len(shown) == len(self.ruleset.rules):
            return self.evaluator
        return Evaluator(replace(self.ruleset, rules=shown), is_indexed=True)

    @cached_property
    def rules_by_domain(self) -> dict[str, tuple[ConditionalRule, ...]]:
        """Domain → its rules, by id."""
        found: dict[str, list[ConditionalRule]] = {}
        for rule in self.ruleset.rules:
            found.setdefault(rule.domain, []).append(rule)
        return {domain: tuple(rules) for domain, rules in sorted(found.items())}

    def owner(self, policy_id: str) -> str:
        """Who answers for the policy, empty when nobody is named."""
        return self._owners.get(policy_id, "")

    @cached_property
    def _owners(self) -> dict[str, str]:
        return {policy_id: str(record.get("owner", "")) for policy_id, record in self.bundle.policies.items()}
