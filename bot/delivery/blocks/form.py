"""The form of a data question as blocks: a field each, with what was understood chosen, and one button.

It stands in the message where that can carry it, else behind a button that opens it. Slack takes typed fields and menus
in messages, and a click tells what all of them stand at.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from bot.conversation import Choice, Form, FormField
from bot.delivery.blocks import kit

RUN, OPEN, SENT = "form_run", "form_open", "form_sent"
TITLE = "Your question"
_FIELD = "form_field_"
_VALUE = 150  # characters of an option's value
_NOTHING = Choice(value="form:nothing", label="– leave it out –")
_INLINE = 6_000  # letters of a form within a message, beside which the answer stands
_VIEW = 240_000  # bytes of a modal; Slack takes 250,000
_FEWER = (kit.OPTIONS, 50, 20)


def form(given: Form, request_id: str) -> Iterator[kit.Block]:
    """The blocks of *given*, an answer to *request_id*."""
    fields = list(_fields(given, kit.OPTIONS))
    if kit.letters(fields) > _INLINE:
        yield kit.actions([kit.button("Fill in the form…", OPEN, request_id, "primary")])
        return
    yield from fields
    yield kit.actions([kit.button("Run", RUN, request_id, "primary")])


def view(given: Form, name: str) -> dict[str, Any]:
    """The form by itself; *name* comes back with it."""
    made: dict[str, Any] = {}
    for most in _FEWER:
        made = {
            "type": "modal",
            "callback_id": SENT,
            "private_metadata": name,
            "title": kit.plain(TITLE),
            "submit": kit.plain("Run"),
            "close": kit.plain("Cancel"),
            "blocks": list(_fields(given, most)),
        }
        if len(json.dumps(made)) <= _VIEW:
            break
    return made


def told(text: str) -> dict[str, Any]:
    """A few words in the place of the form."""
    return {"type": "modal", "title": kit.plain(TITLE), "close": kit.plain("Close"), "blocks": [kit.section(text)]}


def picked(state: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """The values that the fields stand at, as Slack sends them with a click."""
    blocks = state.get("values")
    found = {}
    for block_id, elements in blocks.items() if isinstance(blocks, Mapping) else ():
        if str(block_id).startswith(_FIELD) and isinstance(elements, Mapping):
            values = [value for element in elements.values() for value in _values(element)]
            found[str(block_id).removeprefix(_FIELD)] = tuple(one for one in values if one != _NOTHING.value)
    return found


def _values(element: Any) -> Iterator[str]:
    if not isinstance(element, Mapping):
        return
    if isinstance(typed := element.get("value"), str):
        yield from (part.strip() for part in typed.split(","))
    options = element.get("selected_options") or [element.get("selected_option")]
    for option in options if isinstance(options, list) else ():
        value = option.get("value") if isinstance(option, Mapping) else None
        if isinstance(value, str):
            yield value


def _fields(given: Form, most: int) -> Iterator[kit.Block]:
    for field in given.fields:
        block_id = f"{_FIELD}{field.name}"
        if field.name == "values":
            yield kit.asked(field.label, block_id, kit.typed(block_id), is_optional=True)
        elif options := _options(field, most):
            left = len(field.options) - len(options)
            label = f"{field.label} ({left} more can be asked for in words)" if left else field.label
            yield kit.asked(label, block_id, _menu(field, options), is_optional=True)


def _options(field: FormField, most: int) -> list[Choice]:
    """As many as a menu takes, what was understood first."""
    fitting = [one for one in field.options if len(one.value) <= _VALUE]
    return sorted(fitting, key=lambda one: one.value not in field.chosen)[:most]


def _menu(field: FormField, options: list[Choice]) -> kit.Block:
    """A menu; of one that takes a single option and has one chosen, nothing can be chosen too."""
    if field.chosen and not field.is_many:
        options = [*options[: kit.OPTIONS - 1], _NOTHING]
    made = kit.menu(f"{field.label} …", f"{_FIELD}{field.name}", [(one.label, one.value) for one in options])
    chosen = [one for one in made["options"] if one["value"] in field.chosen]
    if field.is_many:
        return {**made, "type": "multi_static_select", **({"initial_options": chosen} if chosen else {})}
    return {**made, **({"initial_option": chosen[0]} if chosen else {})}
