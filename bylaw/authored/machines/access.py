"""Who may do what: `rules/roles.yaml`, and whose corrections weigh enough to be reviewed: `rules/promotion.yaml`.

Rights come from these files by the id of the person, never from what a message says.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Literal, Self

from pydantic import Field, StrictBool, StringConstraints, model_validator

from bylaw.authored.machines.amounts import Positive, Share
from bylaw.authored.record import Authored, AuthoredFile, Name, Value, Word, misfit

EVERY_SCHEMA = "*"
OWN_ID = "id"  # the attribute that everybody has: the name they ask under
DimensionName = Annotated[str, StringConstraints(pattern=r"^\w+(@\w+)?\.\w+$", max_length=300)]


class RowRule(Authored):
    """Which rows a role may see: those of which a dimension has one of `values`, or of the asker's own `attribute`.

    It holds for every entity that leads to the dimension's, and closes all others, except those that `except` names.
    A row without a value meets no rule. `dimension` is `entity.dimension`, or `entity@relationship.dimension`.
    """

    dimension: DimensionName
    operator: Literal["in", "not_in", "<", "<=", ">", ">="] = "in"
    values: list[Value] = Field(default_factory=list)
    attribute: Word | None = None
    spared: list[Name] = Field(default_factory=list, alias="except")

    @model_validator(mode="after")
    def _says_what_it_compares_with(self) -> Self:
        if (self.attribute is None) == (not self.values):
            raise ValueError("a rule takes either `values` or `attribute`")
        if self.operator in ("<", "<=", ">", ">=") and len(self.values) > 1:
            raise misfit(f"`{self.operator}` takes one value", "values")
        return self


class Role(Authored):
    """What a role may read: all rows of its schemas that meet every one of `rows`.

    `*` is every schema that an entity of the context declares, never one outside it.
    """

    schemas: list[Word] = Field(default_factory=list)
    rows: list[RowRule] = Field(default_factory=list)
    seniority: Word | None = None
    steward: StrictBool = False


@dataclass(frozen=True, slots=True)
class Grant:
    """What one role lets one person read. The person's attributes stand in `rules` as values, none where they lack."""

    schemas: frozenset[str]
    rules: tuple[RowRule, ...] = ()


@dataclass(frozen=True, slots=True)
class Rights:
    """What one person may read: a row is seen where one of the grants shows it."""

    grants: tuple[Grant, ...]

    @property
    def schemas(self) -> frozenset[str]:
        """The schemas of all grants."""
        return frozenset(name for grant in self.grants for name in grant.schemas)


class Roles(AuthoredFile):
    """`rules/roles.yaml`: roles, and the roles of each person. Somebody who is not listed has `default_role`.

    `attributes` is what rules on rows may know of a person: `amara: {region: EMEA, teams: [north, south]}`.
    """

    roles: dict[Word, Role]
    users: dict[Word, list[Word]] = Field(default_factory=dict)
    attributes: dict[Word, dict[Word, Value | list[Value]]] = Field(default_factory=dict)
    default_role: Word | None = None
    steward_channel: Word | None = None  # told where Slack lets no steward be told

    @model_validator(mode="after")
    def _names_its_own_roles(self) -> Self:
        for user, names in self.users.items():
            for i, name in enumerate(names):
                if name not in self.roles:
                    raise misfit(f"`{user}` has the role `{name}`, which `roles` does not list", "users", user, i)
        if self.default_role is not None and self.default_role not in self.roles:
            known = f"the roles are {', '.join(self.roles)}"
            raise misfit(f"`{self.default_role}` is not one of the `roles`", "default_role", help=known)
        return self

    @model_validator(mode="after")
    def _gives_the_attributes_that_rules_ask_for(self) -> Self:
        for user, own in self.attributes.items():
            if OWN_ID in own:
                raise misfit(f"everybody's `{OWN_ID}` is the name they ask under", "attributes", user, OWN_ID)
        known = {OWN_ID, *(name for own in self.attributes.values() for name in own)}
        for role, given in self.roles.items():
            for i, rule in enumerate(given.rows):
                if rule.attribute is not None and rule.attribute not in known:
                    message = f"`{role}` asks for the attribute `{rule.attribute}`, which `attributes` gives nobody"
                    raise misfit(message, "roles", role, "rows", i, "attribute")
        return self

    def roles_of(self, user: str) -> tuple[str, ...]:
        """The names of the user's roles, sorted; none when the user is unknown and no default role is set."""
        listed = self.users.get(user)
        if listed is None:
            listed = [] if self.default_role is None else [self.default_role]
        return tuple(sorted(set(listed)))

    def people(self, named: str) -> tuple[str, ...]:
        """The users that *named* means: the user or everybody with the role of that name, sorted."""
        return tuple(sorted(user for user, own in self.users.items() if named == user or named in own))

    def stewards(self) -> tuple[str, ...]:
        """Who stewards the shared knowledge, sorted."""
        return tuple(sorted(user for user in self.users if self.is_steward(user)))

    def schemas_of(self, user: str, catalogue: Iterable[str]) -> frozenset[str]:
        """The schemas the user may read, out of those the *catalogue* of entities knows for a role with `*`."""
        return self.rights_of(user, catalogue).schemas

    def rights_of(self, user: str, catalogue: Iterable[str]) -> Rights:
        """What the user may read: a grant for each role."""
        known = frozenset(catalogue)
        return Rights(tuple(self._grant(self.roles[name], user, known) for name in self.roles_of(user)))

    def _grant(self, role: Role, user: str, catalogue: frozenset[str]) -> Grant:
        schemas = frozenset(role.schemas)
        if EVERY_SCHEMA in schemas:
            schemas = (schemas - {EVERY_SCHEMA}) | catalogue
        return Grant(schemas, tuple(self._filled_in(rule, user) for rule in role.rows))

    def _filled_in(self, rule: RowRule, user: str) -> RowRule:
        """The rule with what the user has of the attribute that it asks for."""
        if rule.attribute is None:
            return rule
        own = user if rule.attribute == OWN_ID else self.attributes.get(user, {}).get(rule.attribute, [])
        return rule.model_copy(update={"values": own if isinstance(own, list) else [own]})

    def seniorities_of(self, user: str) -> frozenset[str]:
        """The seniorities of the user's roles, compared with the `role_filter` of a promotion."""
        found = (self.roles[name].seniority for name in self.roles_of(user))
        return frozenset(seniority for seniority in found if seniority is not None)

    def reads(self, role: str, catalogue: Iterable[str]) -> frozenset[str]:
        """The schemas that one role reads, out of those the *catalogue* knows for a role with `*`."""
        schemas = frozenset(self.roles[role].schemas)
        return (schemas - {EVERY_SCHEMA}) | frozenset(catalogue) if EVERY_SCHEMA in schemas else schemas

    def is_steward(self, user: str) -> bool:
        """May the user turn a candidate into a pull request?"""
        return any(self.roles[name].steward for name in self.roles_of(user))


class Promotion(AuthoredFile):
    """`rules/promotion.yaml`: when corrections of many become a candidate. People review every one of them."""

    distinct_user_threshold: Positive  # strictly more users than this
    role_filter: Annotated[list[Word], Field(min_length=1)]
    same_domain: StrictBool
    semantic_similarity_threshold: Share  # proposes members; structural equality decides
    approval_required: Literal[True] = True
    promotion_mechanism: Literal["pull_request"] = "pull_request"
    consensus_window_days: Positive  # corrections older than this no longer count
    names_people: StrictBool = False  # in pull requests; else those who agree are told by their roles
    told_days: Positive  # how long answers say that many corrected what they rest on
    work_history_days: Positive
