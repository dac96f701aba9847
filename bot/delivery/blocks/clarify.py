"""What a reply offers to choose from: a button each, a menu where they are many."""

from __future__ import annotations

from collections.abc import Sequence

from bot.conversation import Choice, Reply
from bot.delivery.blocks import kit

ACTION = "choose"
_MOST_BUTTONS = 5  # more than a row of a phone takes is easier to read as a menu


def offered(reply: Reply) -> tuple[Choice, ...]:
    """The choices of *reply*, whether it asks for a reading or for a fact; those beyond Slack's limit can be typed."""
    return reply.offered[: kit.OPTIONS]


def choices(reply: Reply) -> list[kit.Block]:
    """The choices as blocks; how to answer without them where there are none."""
    found = offered(reply)
    if found:
        return [kit.actions(_elements(found, reply.request_id))]
    if reply.status == "needs_fact":
        return [kit.context("Answer in this thread.")]
    return []


def value(request_id: str, number: int) -> str:
    """What a click sends back: which choice of which reply. The words themselves stay in the store."""
    return f"{number}:{request_id}"


def read_value(text: str) -> tuple[str, int] | None:
    """The request and the number of the choice that *text* names."""
    number, _, request_id = text.partition(":")
    return (request_id, int(number)) if request_id and number.isascii() and number.isdigit() else None


def _elements(found: Sequence[Choice], request_id: str) -> list[kit.Block]:
    values = [value(request_id, n) for n in range(len(found))]
    if len(found) > _MOST_BUTTONS:
        labels = [choice.label for choice in found]
        return [kit.menu("Choose one", ACTION, list(zip(labels, values, strict=True)))]
    return [kit.button(choice.label, f"{ACTION}_{n}", values[n]) for n, choice in enumerate(found)]
