"""The form of a data question as blocks: a menu a field, with what was understood chosen, and one button."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bot.conversation import Choice, Form, FormField
from bot.delivery.blocks import kit

RUN = "form_run"
_FIELD = "form_field_"
_VALUE = 150  # characters of an option's value


def form(given: Form, request_id: str) -> Iterator[kit.Block]:
    """The blocks of *given*, an answer to *request_id*."""
    for field in given.fields:
        if field.name == "values":
            yield _typed(field)
        elif options := _options(field):
            yield {**kit.section(field.label), "block_id": f"{_FIELD}{field.name}", "accessory": _menu(field, options)}
    yield kit.actions([kit.button("Run", RUN, request_id, "primary")])


def picked(state: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """The values that the menus of a message stand at, as Slack sends them with a click."""
    blocks = state.get("values")
    found = {}
    for block_id, elements in blocks.items() if isinstance(blocks, Mapping) else ():
        if str(block_id).startswith(_FIELD) and isinstance(elements, Mapping):
            values = [value for element in elements.values() for value in _values(element)]
            found[str(block_id).removeprefix(_FIELD)] = tuple(values)
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


def _typed(field: FormField) -> kit.Block:
    """A line for what is typed."""
    block_id = f"{_FIELD}{field.name}"
    return kit.asked(field.label, block_id, kit.typed(block_id), is_optional=True)


def _options(field: FormField) -> list[Choice]:
    """As many as a menu takes, what was understood first."""
    fitting = [one for one in field.options if len(one.value) <= _VALUE]
    return sorted(fitting, key=lambda one: one.value not in field.chosen)[: kit.OPTIONS]


def _menu(field: FormField, options: list[Choice]) -> kit.Block:
    made = kit.menu(f"{field.label} …", f"{_FIELD}{field.name}", [(one.label, one.value) for one in options])
    chosen = [one for one in made["options"] if one["value"] in field.chosen]
    if field.is_many:
        return {**made, "type": "multi_static_select", **({"initial_options": chosen} if chosen else {})}
    return {**made, **({"initial_option": chosen[0]} if chosen else {})}
