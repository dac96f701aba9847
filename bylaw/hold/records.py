"""What a decision question may say: what is asked of which record, by whom, when, of which tag."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from bylaw.hold.bearing import Bearing
from bylaw.language.lexicon import closed


def bear_intent(one: Bearing) -> None:
    """An intent of `rules/intents.yaml`, by its routing words."""
    name = one.index.get("asks", one.item.named or "")
    if name is None:
        one.refuse(f"`{one.item.named}` is no intent")
        return
    one.take(token for token in one.tokens if token.word in closed("wh"))
    one.bear_name(name)


def bear_anchor(one: Bearing) -> None:
    """A decision or event, by its option, aliases, numbers or tags."""
    name = one.index.get("anchor", one.item.named or "")
    if name is None:
        one.refuse(f"`{one.item.named}` is no decision or event on record")
        return
    one.bear_name(name)


def bear_filter(one: Bearing) -> None:
    """A person, a day, a tag or a state: the value stands in the words."""
    said = one.seen.text.seen[one.place[0] : one.place[1]].casefold()
    missing = [str(value) for value in one.item.values if str(value).casefold() not in said]
    if missing:
        one.refuse(f"the words do not say {missing[0]}")
    one.take(one.tokens)


KINDS_OF_DECISION: Mapping[str, Callable[[Bearing], None]] = {
    "asks": bear_intent,
    "anchor": bear_anchor,
    "filter": bear_filter,
}
