"""A history fact in words: what is counted, over how long, for whom."""

from __future__ import annotations

from bylaw.authored.history import History

_LEAD = {
    "count": "how many {actions} there were",
    "sum": "the sum of {summed} over {actions}",
    "happened": "whether {actions} happened",
    "since": "how long ago the last {actions} was",
    "previous": "whether the call just before was {actions}",
}


def history_in_words(history: History) -> str:
    """`how many full_refund or store_credit there were within 24 hours, for the same customer_id`."""
    parts = [_LEAD[history.kind].format(actions=" or ".join(history.actions), summed=history.sum)]
    parts[0] += f" within {history.within}" if history.within else ""
    parts.append(f"for the same {' and '.join(history.same)}" if history.same else "in the same session")
    parts += ["by somebody else than who asks"] if history.other else []
    parts += [f"after the last {' or '.join(history.not_after)}"] if history.not_after else []
    parts += ["calls that failed included"] if history.including_failed else []
    return ", ".join(parts)
