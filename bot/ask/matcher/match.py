"""The proposer without a model: declared phrases, longest first, and values in the units of declared names.

Nothing else: what it does not take is residue. An author who wants more taken declares words.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from bot.ask.matcher.cases import match_case
from bot.ask.matcher.queries import match_query
from bot.ask.matcher.records import match_records
from bylaw.hold.hold import Ground
from bylaw.hold.item import MOST_ITEMS, Proposal
from bylaw.hold.text import see
from bylaw.hold.values import Values


def match(text: str, ground: Ground) -> Proposal:
    """What *text* says in the declared words of *ground*; of several readings the likeliest."""
    return next(matches(text, ground))


def matches(text: str, ground: Ground) -> Iterator[Proposal]:
    """The readings of *text*: several where a phrase of a data question is what several names are called."""
    seen = see(text)
    values = Values(seen, ground.clock)
    if ground.kind == "data":
        yield from map(Proposal, match_query(seen, values, ground.index))
    else:
        is_policy = ground.kind == "policy"
        found = match_case(seen, values, ground.index) if is_policy else match_records(seen, values, ground.index)
        yield Proposal(tuple(islice(found, MOST_ITEMS)))
