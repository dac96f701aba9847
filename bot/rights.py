"""What a person may do with a reply besides reading it: show it to others, accept it. Decided by the bundle's rules.

A reply is for everyone when somebody whom `rules/roles.yaml` does not list could have been given it as well.
"""

from __future__ import annotations

import re
from typing import Any

from bot.conversation import Actor, Reply
from bot.index import BundleIndex

PERSONAL = "personal"  # of a reply's `meta`: what of the asker's own memory it rests on
_NOBODY = ""  # no id in roles.yaml is empty: this one has the default role


def is_for_everyone(reply: Reply, actor: Actor, index: BundleIndex) -> bool:
    """May *reply*, which *actor* asked for, be read by whoever is in the room? Not what rests on their own memory."""
    if (reply.meta or {}).get(PERSONAL):
        return False
    if reply.sql is not None:
        return _is_open_data(reply.sql, index)
    return reply.kind not in ("policy", "refusal") or _is_open_policy(reply, actor, index)


def may_accept(actor: Actor, asker: Actor, index: Any) -> bool:
    """May *actor* accept what *asker* was answered?"""
    return actor.id == asker.id or bool(index.rules.roles.is_steward(actor.id))


def is_listed(user: str, index: Any) -> bool:
    """Does `rules/roles.yaml` name this person?"""
    return user in index.rules.roles.users


def rows_shown(index: Any) -> int:
    """How many rows of a result one message shows."""
    return int(index.rules.autonomy.execution.rows_shown)


def _is_open_data(sql: str, index: BundleIndex) -> bool:
    """Could somebody with the default role run the statement, and does it read no table tagged sensitive?"""
    entities = index.bundle.context.entities.values()
    tags = set(index.rules.autonomy.triggers.sensitive_tables.tags)
    sensitive = [entity.base_table.table for entity in entities if tags & set(entity.tags)]
    if any(re.search(rf"\b{re.escape(table)}\b", sql, re.IGNORECASE) for table in sensitive):
        return False
    from bylaw.semantic.rights import verdict_on  # heavy, and only needed where a statement is shown

    return verdict_on(sql, index.bundle.context, index.rules.roles, _NOBODY).is_allowed


def _is_open_policy(reply: Reply, actor: Actor, index: BundleIndex) -> bool:
    """Does nothing that only some may see speak about what the reply is about?

    A rule with an audience shows through outcomes and questions that it changes, not only where it is cited: the whole
    domain counts. A reply that cites nothing may name any domain.
    """
    roles = index.rules.roles
    own, everyones = set(roles.roles_of(actor.id)), set(roles.roles_of(_NOBODY))
    hidden = [rule for rule in index.ruleset.rules if own & set(rule.audience) and not everyones & set(rule.audience)]
    if not hidden:
        return True
    cited = {citation.id for citation in reply.citations}
    domains = {rule.domain for rule in index.ruleset.rules if rule.policy_id in cited}
    return bool(cited) and not any(rule.domain in domains for rule in hidden)
