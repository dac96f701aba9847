"""The proposer without a model: declared phrases, longest first, and values in the units of declared names.

Nothing else: what it does not take is residue. An author who wants more taken declares words.
"""

from __future__ import annotations

from itertools import islice

from bot.ask.matcher.cases import match_case
from bot.ask.matcher.queries import match_query
from bot.ask.matcher.records import match_records
from bylaw.hold.hold import Ground
from bylaw.hold.item import MOST_ITEMS, Proposal
from bylaw.hold.text import see
from bylaw.hold.values import Values


def match(text: str, ground: Ground) -> Proposal:
    """What *text* says in the declared words of *ground*."""
    seen = see(text)
    values = Values(seen, ground.clock)
    if ground.kind == "policy":
        found = match_case(seen, values, ground.index)
    elif ground.kind == "data":
        found = match_query(seen, values, ground.index)
    else:
        found = match_records(seen, values, ground.index)
    return Proposal(tuple(islice(found, MOST_ITEMS)))
