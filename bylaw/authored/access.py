"""Who may do what: `rules/roles.yaml`, and whose corrections weigh enough to be reviewed: `rules/promotion.yaml`.

Rights come from these files by the id of the person, never from what a message says.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import Field, StrictBool, model_validator

from bylaw.authored.amounts import Positive, Share
from bylaw.authored.record import Authored, AuthoredFile, Word, misfit

EVERY_SCHEMA = "*"


class Role(Authored):
    """What a role may read. `*` is every schema that an entity of the context declares, never one outside it."""

    schemas: list[Word] = Field(default_factory=list)
    seniority: Word | None = None
    steward: StrictBool = False


class Roles(AuthoredFile):
    """`rules/roles.yaml`: roles, and the roles of each person. Somebody who is not listed has `default_role`."""

    roles: dict[Word, Role]
    users: dict[Word, list[Word]] = Field(default_factory=dict)
    default_role: Word | None = None

    @model_validator(mode="after")
    def _names_its_own_roles(self) -> Roles:
        for user, names in self.users.items():
            for i, name in enumerate(names):
                if name not in self.roles:
                    raise misfit(f"`{user}` has the role `{name}`, which `roles` does not list", "users", user, i)
        if self.default_role is not None and self.default_role not in self.roles:
            raise misfit(f"`{self.default_role}` is not one of the `roles`", "default_role")
        return self

    def roles_of(self, user: str) -> tuple[str, ...]:
        """The names of the user's roles, sorted; none when the user is unknown and no default role is set."""
        listed = self.users.get(user)
        if listed is None:
            listed = [] if self.default_role is None else [self.default_role]
        return tuple(sorted(set(listed)))

    def schemas_of(self, user: str, catalogue: Iterable[str]) -> frozenset[str]:
        """The schemas the user may read, out of those the *catalogue* of entities knows for a role with `*`."""
        granted = {schema for name in self.roles_of(user) for schema in self.roles[name].schemas}
        if EVERY_SCHEMA in granted:
            granted = (granted - {EVERY_SCHEMA}) | set(catalogue)
        return frozenset(granted)

    def seniorities_of(self, user: str) -> frozenset[str]:
        """The seniorities of the user's roles, compared with the `role_filter` of a promotion."""
        found = (self.roles[name].seniority for name in self.roles_of(user))
        return frozenset(seniority for seniority in found if seniority is not None)

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
    work_history_days: Positive
