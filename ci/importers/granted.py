"""Schemas that were imported and that no role may read: the line of `rules/roles.yaml` that changes it."""

from __future__ import annotations

from collections.abc import Iterable

from bylaw.authored.machines.access import EVERY_SCHEMA, Roles

PATH = "rules/roles.yaml"


def ungranted(roles: Roles, schemas: Iterable[str]) -> tuple[str, ...]:
    """Those of *schemas* that no role may read, sorted. Without roles everybody may read everything."""
    if not roles.roles:
        return ()
    granted = {schema.casefold() for role in roles.roles.values() for schema in role.schemas}
    return () if EVERY_SCHEMA in granted else tuple(sorted({one for one in schemas if one.casefold() not in granted}))


def line_for(roles: Roles, schemas: Iterable[str]) -> str:
    """What to write so that the default role, or the first one, may read *schemas* as well."""
    name = roles.default_role if roles.default_role in roles.roles else next(iter(roles.roles))
    return f"{name}: {{schemas: [{', '.join([*roles.roles[name].schemas, *schemas])}]}}"
