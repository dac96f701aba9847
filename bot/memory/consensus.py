"""When corrections of many become a candidate (seed 004, 9.4): decided by structure, never by how alike words look.

More people than the rules ask for, distinct, experienced in the domain, each with their latest word, within the window,
and against nobody of equal weight. Who says the opposite takes one away. Text similarity only shows a steward what else
may mean the same, and never across other numbers or a negation.

INVARIANT: pure. The same corrections, rules, context and moment give the same candidates in the same order.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from difflib import SequenceMatcher

from bot.evidence.store.tables.corrections import Correction
from bot.memory.changes import Change
from bot.memory.structure import current, domain_of, is_in_force, is_readable, is_there, schema_of, structure
from bylaw.authored.context import Context
from bylaw.authored.machines.access import Promotion, Roles
from bylaw.language.figures import figures
from bylaw.language.lexicon import lexicon
from bylaw.language.text import words_of

_PERSON = "person"  # the attribute of rules/roles.yaml that says whose other name this is
_ADDITIVE = frozenset({"synonyms"})  # one more word contradicts no other


@dataclass(frozen=True)
class Consensus:
    """One change that enough people mean. `people` are distinct; `similar` may mean it too: nobody counts them."""

    change: Change
    structure: str
    domain: str | None
    members: tuple[Correction, ...]
    people: tuple[str, ...]
    against: tuple[str, ...]
    similar: tuple[str, ...]


def consensus(
    found: Iterable[Correction],
    roles: Roles,
    rules: Promotion,
    context: Context,
    now: datetime,
    rejected: Mapping[str, datetime] | None = None,
) -> tuple[Consensus, ...]:
    """The changes that enough people mean at *now*. *rejected*: structure → when a steward said no: only later words
    count for it."""
    since = now - timedelta(days=rules.consensus_window_days)
    no = rejected or {}
    standing = [one for one in found if since <= one.at <= now and _counts(one, roles, rules, context)]
    meant = [replace(one, structure=structure(_change(one), context)) for one in standing]
    counted = [one for one in meant if not (one.structure in no and one.at <= no[str(one.structure)])]
    fields: dict[tuple[str, str], list[Correction]] = defaultdict(list)
    for one in sorted(counted, key=lambda one: (one.at, one.correction_id)):
        fields[str(one.object), str(one.field)].append(one)
    return tuple(
        agreed for _, voices in sorted(fields.items()) for agreed in _agreed(_latest(voices, roles), roles, rules)
    )


def person_of(user: str, roles: Roles) -> str:
    """Who is meant by a name: people who are listed twice count once. Names that look alike are one."""
    named = roles.attributes.get(user, {}).get(_PERSON, user)
    return unicodedata.normalize("NFKC", str(named)).casefold().strip()


def weighs(user: str, then: Sequence[str], object_: str, roles: Roles, rules: Promotion, context: Context) -> bool:
    """Is the person experienced in the domain of the record: in a role that they had *then* and have now, of a
    seniority that counts, and that reads the rows behind it? Only who is listed by name has a seniority."""
    if user not in roles.users:
        return False
    schema = schema_of(object_, context)
    known = frozenset(entity.base_table.schema_name for entity in context.entities.values())
    return any(
        roles.roles[name].seniority in rules.role_filter and (schema is None or schema in roles.reads(name, known))
        for name in roles.roles_of(user)
        if name in then
    )


def _counts(one: Correction, roles: Roles, rules: Promotion, context: Context) -> bool:
    """Is it a change of shared knowledge by somebody of weight, about what still stands as they saw it?"""
    if one.correction_type not in ("factual", "gotcha") or one.structure is None or one.stage == "withdrawn":
        return False
    change = _change(one)
    if not is_there(change, context) or not is_readable(change, context) or is_in_force(change, context):
        return False
    if one.field not in _ADDITIVE and current(change, context) != one.old:
        return False
    if rules.same_domain and one.domain != domain_of(change.object, context):
        return False
    return weighs(one.actor_id, one.actor_roles, change.object, roles, rules, context)


def _latest(voices: Sequence[Correction], roles: Roles) -> list[Correction]:
    """The last word of each person about a field; about words each one counts."""
    last = {(person_of(one.actor_id, roles), one.structure if one.field in _ADDITIVE else None): one for one in voices}
    return sorted(last.values(), key=lambda one: (one.at, one.correction_id))


def _agreed(voices: Sequence[Correction], roles: Roles, rules: Promotion) -> list[Consensus]:
    sides: dict[str, list[Correction]] = defaultdict(list)
    for one in voices:
        sides[str(one.structure)].append(one)
    found = []
    for name, members in sorted(sides.items()):
        others = [one for one in voices if one.structure != name]
        against = () if members[0].field in _ADDITIVE else _people(others, roles)
        people = _people(members, roles)
        if len(people) - len(against) > rules.distinct_user_threshold:
            first = members[0]
            change = _change(first)
            similar = tuple(one.correction_id for one in others if _is_alike(one, first, rules))
            found.append(Consensus(change, name, first.domain, tuple(members), people, against, similar))
    return found


def _change(one: Correction) -> Change:
    return Change(object=str(one.object), field=str(one.field), new=str(one.new))


def _people(voices: Iterable[Correction], roles: Roles) -> tuple[str, ...]:
    return tuple(sorted({person_of(one.actor_id, roles) for one in voices}))


def _is_alike(one: Correction, other: Correction, rules: Promotion) -> bool:
    """May they mean the same? Never where a number or a negation tells them apart."""
    texts = [f"{said.new} {said.reason}".casefold() for said in (one, other)]
    if _numbers(texts[0]) != _numbers(texts[1]) or _negations(texts[0]) != _negations(texts[1]):
        return False
    alike = SequenceMatcher(None, texts[0], texts[1], autojunk=False).ratio()
    return alike > float(rules.semantic_similarity_threshold)


def _numbers(text: str) -> list[str]:
    return sorted(str(value) for figure in figures(text) for value in figure.values)


def _negations(text: str) -> int:
    said = sum(1 for name in ("negation", "restriction", "refusal") for _ in lexicon()[name].find(words_of(text)))
    return said + text.count("<>") + text.count("!=")
