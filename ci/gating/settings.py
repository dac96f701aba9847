"""What gates, as one version of a repository has it: a name in words for each setting, its value, and its place.

One function a kind of setting; `ci.gating.gates` is the table of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from bylaw.authored.context import Context
from bylaw.authored.machines.rules import Rules
from bylaw.authored.policies import Policy
from bylaw.authored.vocabulary import Fact, Vocabulary
from ci.findings import SEVERITIES, Place
from ci.loading.file_kinds import CaseEntry, PolicyFile
from ci.loading.load import Workspace

LONGEST = 160  # letters of one value


@dataclass(frozen=True, slots=True)
class Side:
    """One version, as far as it can gate. `guards` are files outside the policy folders that decide who is asked."""

    rules: Rules
    vocabulary: Vocabulary
    policies: Sequence[PolicyFile] = ()
    cases: Sequence[CaseEntry] = ()
    context: Context | None = None
    guards: Mapping[str, str] = field(default_factory=dict)
    word_paths: Mapping[tuple[str, str], str] = field(default_factory=dict)

    def place_of_word(self, section: str, *route: str) -> Place:
        """The place of a word of the vocabulary."""
        return Place(self.word_paths.get((section, route[0]), "policies/vocabulary.yaml"), (section, *route))


def side_of(workspace: Workspace, guards: Mapping[str, str] | None = None) -> Side:
    """The side that a workspace is."""
    return Side(
        workspace.rules,
        workspace.vocabulary,
        workspace.policies,
        workspace.cases,
        workspace.context,
        guards or {},
        workspace.word_paths,
    )


@dataclass(frozen=True, slots=True)
class Setting:
    """One thing that gates: its value, how that is written, and where it stands."""

    value: Any
    shown: str
    at: Place


Settings = Iterator[tuple[str, Setting]]


def setting(value: Any, at: Place) -> Setting:
    """A setting that is shown as it is written."""
    return Setting(value, _shown(value), at)


def _shown(value: Any) -> str:
    match value:
        case None:
            return "not set"
        case bool():
            return "yes" if value else "no"
        case list() | tuple() | set() | frozenset():
            text = ", ".join(map(_shown, sorted(value, key=str))) or "nothing"
        case dict():
            text = ", ".join(f"{key} {_shown(one)}" for key, one in sorted(value.items())) or "nothing"
        case _:
            text = str(value)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


# ---- rules ----------------------------------------------------------------------------------------------------------


def severities(side: Side) -> Settings:
    """How bad each kind of finding is."""
    own = side.rules.ci.severities
    for id, usual in SEVERITIES.items():
        yield f"`{id}`", setting(own.get(id, usual), Place("rules/ci.yaml", ("severities", id)))


def limits(side: Side) -> Settings:
    """What else `rules/ci.yaml` insists on, and what it lets a check cost."""
    return _flat("ci", side.rules.ci, leaving=("severities", "schema_version"))


def waivers(side: Side) -> Settings:
    """What people have accepted for a while."""
    path = "rules/waivers.yaml"
    yield "`longest_days` of waivers", setting(side.rules.waivers.longest_days, Place(path, ("longest_days",)))
    for i, one in enumerate(side.rules.waivers.waivers):
        value = f"until {one.until} by {one.by}"
        yield f"the waiver of `{one.finding}` ({one.id})", setting(value, Place(path, ("waivers", i)))


def pii(side: Side) -> Settings:
    """What counts as personal."""
    return _flat("pii", side.rules.pii)


def roles(side: Side) -> Settings:
    """Who may see what."""
    return _flat("roles", side.rules.roles)


def features(side: Side) -> Settings:
    """What is in use."""
    return _flat("features", side.rules.features)


def priorities(side: Side) -> Settings:
    """Which policy goes before which."""
    return _flat("priorities", side.rules.priorities)


def evaluation(side: Side) -> Settings:
    """How good answers have to be."""
    return iter(()) if side.rules.evaluation is None else _flat("evaluation", side.rules.evaluation)


def enforcement(side: Side) -> Settings:
    """What an answer has to pass, and which readings a person confirms first."""
    return _flat("enforcement", side.rules.enforcement)


def _flat(name: str, record: BaseModel, leaving: tuple[str, ...] = ("schema_version",)) -> Settings:
    data = record.model_dump(mode="json", exclude=set(leaving), exclude_none=True)
    for route, value in _leaves(data, ()):
        yield f"`{'.'.join(route)}` of rules/{name}.yaml", setting(value, Place(f"rules/{name}.yaml", route))


def _leaves(data: Mapping[str, Any], route: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    for key, value in sorted(data.items()):
        if isinstance(value, Mapping):
            yield from _leaves(value, (*route, str(key)))
        else:
            yield (*route, str(key)), value


# ---- words ----------------------------------------------------------------------------------------------------------


def least(side: Side) -> Settings:
    """The least that each fact can be."""
    for name, fact in sorted(side.vocabulary.facts.items()):
        yield f"`minimum` of `{name}`", setting(fact.minimum, side.place_of_word("facts", name))


def most(side: Side) -> Settings:
    """The most that each fact can be."""
    for name, fact in sorted(side.vocabulary.facts.items()):
        yield f"`maximum` of `{name}`", setting(fact.maximum, side.place_of_word("facts", name))


def values(side: Side) -> Settings:
    """Which values each fact can have."""
    for name, fact in sorted(side.vocabulary.facts.items()):
        if fact.values:
            yield f"`values` of `{name}`", setting(frozenset(fact.values), side.place_of_word("facts", name))


def types(side: Side) -> Settings:
    """The type and the unit of each fact."""
    for name, fact in sorted(side.vocabulary.facts.items()):
        yield f"the type of `{name}`", setting(_type(fact), side.place_of_word("facts", name))


def _type(fact: Fact) -> str:
    return f"{fact.type} in {fact.unit}" if fact.unit else fact.type


def complete(side: Side) -> Settings:
    """Which outcomes every case must get."""
    for name, outcome in sorted(side.vocabulary.outcomes.items()):
        yield f"`complete` of `{name}`", setting(outcome.complete, side.place_of_word("outcomes", name))


def exclusions(side: Side) -> Settings:
    """Which actions are never taken together."""
    for one, other in sorted({tuple(sorted(pair)) for pair in side.vocabulary.excluded_pairs()}):
        yield f"that `{one}` and `{other}` exclude each other", setting("held", Place("policies/vocabulary.yaml"))


def outcomes(side: Side) -> Settings:
    """Which outcome each action answers, and which action it is another name for."""
    for name, action in sorted(side.vocabulary.actions.items()):
        value = f"same as {action.same_as}" if action.same_as else action.outcome
        yield f"the outcome of `{name}`", setting(value, side.place_of_word("actions", name))


def idle_words(side: Side) -> Settings:
    """Which words nobody is asked about where they are left over."""
    yield "the `idle` words", setting(frozenset(side.vocabulary.idle), Place("policies/vocabulary.yaml", ("idle",)))


# ---- policies and cases ---------------------------------------------------------------------------------------------


def invariants(side: Side) -> Settings:
    """What every case satisfies: a case that breaks one does not exist."""
    for file in side.policies:
        formal = file.policy.formal
        for i, one in enumerate(formal.constraints if formal else ()):
            at = Place(file.path, ("formal", "constraints", i))
            text = one.expression or one.z3_expr or one.natural_language
            yield f"the invariant `{one.constraint_id}` of {file.policy.policy_id}", setting(text, at)


def periods(side: Side) -> Settings:
    """From when until when each policy holds."""
    for file in side.policies:
        metadata, id = file.policy.metadata, file.policy.policy_id
        for key in ("effective_date", "expiry_date"):
            yield f"`{key}` of {id}", setting(getattr(metadata, key), Place(file.path, ("metadata", key)))


def validations(side: Side) -> Settings:
    """Which policies take part: one that was found in logs does once a person has confirmed it."""
    for file in side.policies:
        at = Place(file.path, ("discovery", "human_validated"))
        yield f"whether {file.policy.policy_id} takes part", setting(_takes_part(file.policy), at)


def _takes_part(policy: Policy) -> bool:
    return policy.is_active and policy.has_logic


def drafts(side: Side) -> Settings:
    """Which policies are compiled: a draft passes the check of its cases, and nobody is answered by it."""
    for file in side.policies:
        at = Place(file.path, ("draft",))
        yield f"whether {file.policy.policy_id} is compiled", setting(not file.policy.draft, at)


def audiences(side: Side) -> Settings:
    """Whom each policy is for."""
    for file in side.policies:
        at = Place(file.path, ("audience",))
        yield f"the audience of {file.policy.policy_id}", setting(frozenset(file.policy.audience) or "everybody", at)


def owners(side: Side) -> Settings:
    """Who decides about each policy."""
    for file in side.policies:
        at = Place(file.path, ("metadata", "owner"))
        yield f"the owner of {file.policy.policy_id}", setting(file.policy.metadata.owner, at)


def cases(side: Side) -> Settings:
    """What each test of the policies expects."""
    for entry in side.cases:
        facts, expected = (_shown(one) for one in (entry.case.facts, entry.case.expect))
        at = Place(entry.path, (entry.index,))
        yield f"the case `{entry.case.name}` of {entry.path}", Setting((facts, expected), f"{facts}: {expected}", at)


def personal(side: Side) -> Settings:
    """Which columns are personal."""
    for name, entity in sorted(side.context.entities.items() if side.context else ()):
        at = Place(side.context.paths.get(f"entities/{name}", "") if side.context else "", ("pii",))
        yield f"the personal columns of `{name}`", setting(frozenset(entity.pii), at)


def guards(side: Side) -> Settings:
    """What runs the checks, and who is asked."""
    for path, state in sorted(side.guards.items()):
        yield f"`{path}`", setting(state, Place(path, line=1))
