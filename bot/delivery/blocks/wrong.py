"""How an answer is corrected in Slack: one line with a button under it, and the form that the button opens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bot.conversation import CORRECTS, PROPOSED, Reply
from bot.delivery.blocks import kit

WRONG = "wrong"  # the button, and the form's name
WHAT, NEW, REASON = "wrong_what", "wrong_new", "wrong_reason"
PERMISSION = "permission"
PREFERENCES = {"preference/grain": "How I like figures over time: by day, week, month …"}
TITLE = "What is wrong?"
_CORRECTABLE = frozenset({"answered", "recommended"})
_INVITATION = "Wrong? Say so in this thread, or with the button: it changes your answers at once."
_OBJECTION = "Wrong? Tell who owns the rule, with the button."
_TOLD_TO_OWNERS = (
    "Who owns it sees the rule, the case and your words, and answers you. The answer itself stays as it is."
)
SOURCE = "source/"  # what the choice of a cited rule or record begins with
_CONFIRMED = "The form is filled in with it: send it, or change it."
_ASKED = "Say it in the form: your words are its reason."
_PRIVATE = "Your correction changes your own answers at once, and nobody else's before it was reviewed."


def line(reply: Reply) -> list[kit.Block]:
    """How to say that *reply* is wrong, under everything that answers something."""
    if (reply.meta or {}).get(CORRECTS):
        return [
            {
                **kit.section(_CONFIRMED if PROPOSED in (reply.meta or {}) else _ASKED),
                "accessory": kit.button("Say what is right…", WRONG, reply.request_id, "primary"),
            }
        ]
    if reply.status not in _CORRECTABLE or reply.kind == "refusal":
        return []
    said = _INVITATION if reply.kind == "data" else _OBJECTION
    return [{**kit.section(said), "accessory": kit.button("Wrong…", WRONG, reply.request_id)}]


def form(
    request_id: str, offered: Sequence[tuple[str, str]], now: str | None = None, given: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """The form: what is wrong (values and labels), what it should say, why. *now* is what the chosen field says."""
    given = given or {}
    is_objection = any(value.startswith(SOURCE) for value, _ in offered)
    liked = () if is_objection else PREFERENCES.items()
    options = [*offered[: kit.OPTIONS - 8], (PERMISSION, "I should not be able to see this"), *liked]
    made = kit.menu("Choose", WHAT, [(label, value) for value, label in options])
    if (chosen := given.get(WHAT)) is not None:
        shown = [one for one in made["options"] if one["value"] == chosen]
        made |= {"initial_option": shown[0]} if shown else {}
    told = [] if now is None else [kit.context(f"It says now: {now or 'nothing'}")]
    new = kit.asked("What should it say", NEW, kit.typed(NEW, given.get(NEW)), is_optional=True)
    return {
        "type": "modal",
        "callback_id": WRONG,
        "private_metadata": request_id,
        "title": kit.plain(TITLE),
        "submit": kit.plain("Send"),
        "close": kit.plain("Cancel"),
        "blocks": [
            kit.asked("What is wrong", WHAT, made, is_dispatched=True),
            *told,
            *([] if is_objection else [new]),
            kit.asked("Why", REASON, kit.typed(REASON, given.get(REASON), is_long=True)),
            kit.context(_TOLD_TO_OWNERS if is_objection else _PRIVATE),
        ],
    }


def done(text: str) -> dict[str, Any]:
    """What the form turns into once it was sent."""
    return {"type": "modal", "title": kit.plain("Noted"), "close": kit.plain("Close"), "blocks": [kit.section(text)]}


def filled(state: Mapping[str, Any]) -> dict[str, str]:
    """What stands in the form, by field."""
    found: dict[str, str] = {}
    values = state.get("values")
    for block_id, elements in values.items() if isinstance(values, Mapping) else ():
        for element in elements.values() if isinstance(elements, Mapping) else ():
            value = _value(element)
            if value is not None:
                found[str(block_id)] = value
    return found


def _value(element: Any) -> str | None:
    if not isinstance(element, Mapping):
        return None
    option = element.get("selected_option")
    value = option.get("value") if isinstance(option, Mapping) else element.get("value")
    return value if isinstance(value, str) else None
