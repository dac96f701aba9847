"""Two values of one column: of two rows, of one row that cannot have both, or left open by a bare "and"."""

from __future__ import annotations

import re

from bot.analytics.reader.meaning.draft import QueryDraft
from bot.analytics.reader.reading import NotUnderstood, Unclear, not_understood
from bot.analytics.reader.said import Narrowing
from bot.conversation import Choice
from bylaw.semantic.query import Condition, Filter


def is_other_value(one: Condition, other: Condition) -> bool:
    """Two values of one column, one of them perhaps denied: no row has both, so they speak of two rows."""
    if not isinstance(one, Filter) or not isinstance(other, Filter):
        return False
    is_plain = one.operator == other.operator == "in" and not (one.negated and other.negated) and bool(one.values)
    return is_plain and one.dimension == other.dimension and one.values != other.values


def both_or_either(draft: QueryDraft, narrowing: Narrowing) -> Unclear | NotUnderstood:
    """ "Who bought tea and milk": both, or one of them?"""
    values = [str(value) for value in narrowing.values]
    first = re.escape(narrowing.ref.words)
    pair = rf"[\"'“‘]?{first}[\"'”’]?[^.?!]*?\band\b[^.?!]*?{re.escape(values[-1])}[\"'”’]?"
    found = re.search(pair, draft.text, re.IGNORECASE)
    if found is None or len(values) > 2:
        message = f"I do not see whether each of `{'` and `'.join(values)}` is meant"
        return not_understood(message, "say `both` or `or`", tuple(values))
    before, after = draft.text[: found.start()], draft.text[found.end() :]
    either = re.sub(r"\band\b", "or", found[0], count=1, flags=re.IGNORECASE)
    choices = [Choice(value=f"{before}{said}{after}", label=said) for said in (f"both {found[0]}", either)]
    return Unclear(found[0], tuple(choices))
