"""What holds of a kind, a column whose value many rows share; and what no row can be at once."""

from __future__ import annotations

from bot.analytics.reader.meaning.draft import QueryDraft
from bot.analytics.reader.reading import NotUnderstood, Stop, not_understood
from bot.analytics.reader.said import Narrowing
from bylaw.semantic.query import Condition, Filter


def stop_at_denied(draft: QueryDraft, narrowing: Narrowing, condition: Filter) -> None:
    """ "Food types that are not served in Miami", "cities with no Mexican restaurant": no row of theirs is so."""
    said, owner = draft.said, condition.dimension.partition(".")[0]
    asked = [*said.outputs, *(number.ref for number in said.numbers if number.agg == "count")]
    columns = [one for ref in (said.subject, *asked) if ref is not None for one in ref.of("dimension")]
    is_kind = any(not draft.tells_apart(one.name, one.owner) for one in columns)
    if is_kind or not draft.nearness.leads_to_one(draft.base or owner, owner):
        words = narrowing.ref.words
        message = f"I do not see of which rows `{words}` is denied"
        raise Stop(not_understood(message, "ask for the rows that are so", (words,)))


def is_other_value(one: Condition, other: Condition) -> bool:
    """Two values of one column, one of them perhaps denied: no row has both, so they speak of two rows."""
    if not isinstance(one, Filter) or not isinstance(other, Filter):
        return False
    is_plain = one.operator == other.operator == "in" and not (one.negated and other.negated) and bool(one.values)
    return is_plain and one.dimension == other.dimension and one.values != other.values


def both_or_either(narrowing: Narrowing) -> NotUnderstood:
    """ "Who bought tea and milk": both, or one of them?"""
    values = tuple(str(value) for value in narrowing.values)
    return not_understood(f"I do not see whether each of `{'` and `'.join(values)}` is meant", "say `or`", values)
