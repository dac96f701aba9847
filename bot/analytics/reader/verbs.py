"""How one speaks of a date without its name: by what was done then ("shipped"), by what happened ("registration")."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

_DONE: Mapping[str, tuple[str, ...]] = {  # what happens, and how one says that it has
    "sale": ("sold",), "payment": ("paid",), "birth": ("born",), "start": ("began", "begun"), "due": ("due",),
    "registration": ("registered",), "approval": ("approved",), "shipment": ("shipped",), "delivery": ("delivered",),
    "creation": ("created",), "arrival": ("arrived",), "departure": ("departed",), "admission": ("admitted",),
    "publication": ("published",), "signup": ("signed up",), "sign up": ("signed up",), "expiry": ("expired",),
    "purchase": ("bought",), "report": ("reported",), "assessment": ("assessed",), "inspection": ("inspected",),
    "employment": ("employed",), "foundation": ("founded",), "closing": ("closed",), "opening": ("opened",),
}  # fmt: skip

_EVENTS = {done: event for event, all_done in _DONE.items() for done in all_done} | {"started": "start", "ended": "end"}
DOING: Mapping[str, str] = {  # what one is doing, where it is not the verb with an ending
    "sending": "sent", "reading": "read", "paying": "paid", "buying": "bought", "selling": "sold", "leaving": "left",
    "making": "made", "beginning": "began", "giving": "given", "taking": "taken",
}  # fmt: skip


_PLAIN = frozenset(("sending", "reading", "paying", "buying", "selling"))  # the verb itself stands before their ending
IRREGULAR = frozenset(
    "sent made held sold born paid bought read taken given begun written left won lost".split()  # noqa: SIM905 - words
)


def forms_of(done: str) -> Iterator[str]:
    """How one says who does what was *done*, in one word: "received" is what they receive."""
    plain = {said: doing.removesuffix("ing") for doing, said in DOING.items() if doing in _PLAIN}
    if done in plain:
        yield plain[done]
    elif done.endswith("ed") and done.isalpha():
        yield from (done[:-1], done[:-2])


def is_done(word: str) -> bool:
    """Does *word* say that something was done?"""
    return word.endswith("ed") or word in IRREGULAR


def events_of(phrase: str) -> Iterator[str]:
    """What happened on the date that *phrase* tells by what was done: "registered" is the registration."""
    words = phrase.lower().replace("_", " ").split()
    done = " ".join(words[:-1] if len(words) > 1 and words[-1] in ("at", "on") else words)
    if done in _EVENTS:
        yield _EVENTS[done]


def said_of(phrase: str) -> Iterator[str]:
    """The ways to speak of the date that *phrase* names."""
    words = phrase.lower().replace("_", " ").replace("-", " ").split()
    if len(words) > 1 and words[-1] in ("at", "on"):
        yield " ".join(words[:-1])
        yield " ".join((*words[:-1], "date"))
    elif words[0].endswith("ed") or phrase in ("sent", "made", "held", "sold", "born"):
        yield phrase
    for event in events_of(phrase):
        yield event
        yield f"{event} date"
    event = " ".join(words[:-1]) if words[-1] == "date" else " ".join(words[2:]) if words[:2] == ["date", "of"] else ""
    if event:
        yield event
        yield from _DONE.get(event, ())
        yield f"{event}d" if event.endswith("e") else f"{event}ed"
