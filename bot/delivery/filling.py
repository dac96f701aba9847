"""The form of a data question in a terminal: one line a field, numbers or words as the answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bot.conversation import Choice, Form, FormField
from bot.delivery.render import safe

Say = Callable[[str], None]
Hear = Callable[[str], str]
_SHOWN = 20  # options of one field that a screen takes
_NOTHING = "-"


def fill(form: Form, hear: Hear, say: Say) -> dict[str, Any]:
    """What somebody picks: an empty line keeps what was understood, `-` takes it away."""
    say(f"An empty line keeps what stands in [brackets], `{_NOTHING}` leaves the field empty.")
    from bot.analytics.form import from_choices  # heavy, and few questions need a form

    picked: dict[str, Sequence[str]] = {}
    for field in form.fields:
        if field.name == "values":
            picked["values"] = _typed(picked.get("filters", ()), form, hear)
        elif field.options:
            picked[field.name] = _picked(field, hear, say)
    return from_choices(picked)


def _typed(picked: Sequence[str], form: Form, hear: Hear) -> list[str]:
    """What somebody types for each option that was picked and is open."""
    labels = {one.value: one.label for field in form.fields for one in field.options}
    return [hear(f"{safe(labels.get(one, one))}: ") for one in picked if one.endswith("?")]


def _picked(field: FormField, hear: Hear, say: Say) -> Sequence[str]:
    for number, option in enumerate(field.options[:_SHOWN], 1):
        say(f"  {number}. {safe(option.label)}")
    if len(field.options) > _SHOWN:
        say(f"  … and {len(field.options) - _SHOWN} more: type a part of the name")
    labels = {one.value: one.label for one in field.options}
    kept = ", ".join(safe(labels.get(one, one)) for one in field.chosen)
    many = " (several: 1, 3)" if field.is_many else ""
    while True:
        said = hear(f"{field.label}{many} [{kept}]: ").strip()
        if not said:
            return field.chosen
        if said == _NOTHING:
            return ()
        parts = [part.strip() for part in said.split(",")] if field.is_many else [said]
        found = [_option(part, field) for part in parts]
        if None not in found:
            return tuple(one.value for one in found if one is not None)
        say(f"I do not know `{safe(parts[found.index(None)])}` here.")


def _option(said: str, field: FormField) -> Choice | None:
    """The option of that number, value or label; else the only one that holds these words."""
    if said.isascii() and said.isdigit() and 1 <= int(said[:6]) <= len(field.options) and field.name != "limit":
        return field.options[int(said[:6]) - 1]
    if field.name == "limit":
        return Choice(value=said, label=said) if said.isascii() and said.isdigit() and int(said[:6]) > 0 else None
    words = said.casefold()
    exact = [one for one in field.options if words in (one.value.casefold(), one.label.casefold())]
    near = exact or [one for one in field.options if words in one.label.casefold()]
    if field.name in ("period", "compared_with") and not near:
        return Choice(value=said, label=said)  # "2025", "march to may": the compiler of the form reads it
    return near[0] if len(near) == 1 or exact else None
