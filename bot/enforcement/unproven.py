"""What is said where a rule that cannot be read may change the answer: no yes, no no, its place, and whom to ask."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from bot.conversation import Citation, Turn
from bot.enforcement.case import Case
from bot.enforcement.question.asking import asks_for_permission
from bot.enforcement.turn import turn_of
from bot.enforcement.writing import missing, write
from bot.enforcement.writing.unchecked import unchecked_of
from bylaw.logic.formula.ir import Unproven

_MOST = 3  # rules that are named


def undecidable(case: Case, readers: Collection[str]) -> Turn | None:
    """The turn where what is asked may be changed by a rule that cannot be read; None where nothing asked may."""
    found = _about(case)
    if not found:
        return None
    lines = [
        "I cannot decide this at the moment: a rule that may change the answer cannot be read"
        f" ({'; '.join(_places(found, readers))}).",
        _whom_to_ask(found, case),
        *(f"It says: {text}" for text in _quoted(found, readers, case)),
    ]
    turn = turn_of(case, "policy", "escalated", lines, ())
    cited = tuple(_cited(found, readers, case.index.commit))
    return replace(turn, reply=turn.reply.model_copy(update={"citations": cited}))


def names_policy(case: Case) -> bool:
    """Is it asked what a policy says, with no case told and no permission asked for? That has its own sentences."""
    said = case.text.upper()
    is_named = any(policy_id in said for policy_id in case.index.bundle.policies)
    return is_named and not case.told_now and not asks_for_permission(case.text)


def with_unproven(case: Case, readers: Collection[str], turn: Turn) -> Turn:
    """*turn*, which tells rules or finds none, with the rules in force beside them that cannot be read."""
    found = case.decision.unproven
    if turn.reply.status not in ("answered", "refused") or not found:
        return turn
    domains = {*case.memory.topic.domains[:1], *(_domain_of(case, one.id) for one in turn.reply.citations)}
    if turn.reply.status == "answered":
        found = tuple(one for one in found if one.is_everything or one.domain is None or one.domain in domains)
    if not found:
        return turn
    line = f"This may not be all: a rule cannot be read at the moment ({'; '.join(_places(found, readers))})."
    text = "\n".join((turn.reply.text, f"{line} {_whom_to_ask(found, case)}"))
    return replace(turn, reply=turn.reply.model_copy(update={"text": text}))


def _about(case: Case) -> tuple[Unproven, ...]:
    """The rules that cannot be read and may change what is asked: what is named, else what the case brings."""
    scope, topic, vocabulary = case.scope, case.memory.topic, case.index.vocabulary
    if not case.decision.unproven:
        return ()
    actions = {*scope.actions, *scope.silent, *map(vocabulary.canonical, topic.actions)}
    actions.update(action for _, action, _ in scope.duties)
    outcomes = {*scope.outcomes, *topic.outcomes}
    outcomes.update(filter(None, map(vocabulary.outcome_of, actions)))
    return case.evaluator.unproven.about_any(outcomes & vocabulary.outcomes.keys(), actions, case.day)


def _domain_of(case: Case, policy_id: str) -> str:
    return str(case.index.bundle.policies.get(policy_id, {}).get("domain", ""))


def _may_read(rule: Unproven, readers: Collection[str]) -> bool:
    return not rule.audience or not set(rule.audience).isdisjoint(readers)


def _places(rules: Sequence[Unproven], readers: Collection[str]) -> list[str]:
    """Where they stand, as far as *readers* may know of them."""
    mine = [one for one in rules if _may_read(one, readers)]
    shown = [", ".join(filter(None, (one.policy_id, f"{one.path}:{one.line}"))) for one in mine[:_MOST]]
    shown += [f"and {len(mine) - _MOST} more"] if len(mine) > _MOST else []
    return [*shown, *(["one that is not for you to read"] if len(mine) < len(rules) else [])]


def _whom_to_ask(rules: Sequence[Unproven], case: Case) -> str:
    owners = list(dict.fromkeys(one.owner for one in rules if one.owner))
    owners = owners or missing.owners(case.memory.topic, case.index, case.evaluator)
    return (
        f"Please ask {write.listing(owners[:_MOST]).removesuffix('.')}."
        if owners
        else "Please ask the people who own the policies."
    )


def _quoted(rules: Sequence[Unproven], readers: Collection[str], case: Case) -> Iterator[str]:
    """What those of them that were loaded say in words."""
    ids = (one.policy_id for one in rules if one.policy_id)
    yield from (one.quoted for one in unchecked_of(ids, readers, case.index, case.day)[:_MOST])


def _cited(rules: Sequence[Unproven], readers: Collection[str], commit: str | None) -> Iterator[Citation]:
    for one in rules[:_MOST]:
        if _may_read(one, readers):
            yield Citation(id=one.policy_id or one.path, path=one.path, line=one.line, commit=commit)
