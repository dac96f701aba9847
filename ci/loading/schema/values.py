"""What to do about a value that its fact cannot take: the help of a finding, and the fix where there is one alone."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from bylaw.logic.formula.ir import Kind, Variable
from ci.loading.schema.nearest import nearest, one_right, suggest

SAID: Mapping[str, str] = {"true": "true", "yes": "true", "on": "true", "false": "false", "no": "false", "off": "false"}
_FORMS: Mapping[Kind, str] = {
    "boolean": "write true or false",
    "date": 'write a day of the calendar: year, month and day, in quotes, "2026-01-31"',
}


def value_help(
    raw: Any, variable: Variable, synonyms: Mapping[str, Sequence[str]]
) -> tuple[str | None, dict[str, str]]:
    """Help and fix for *raw*, which *variable* cannot take. *synonyms*: value -> other words that people say for it."""
    if variable.kind == "enum":
        return _value_of_list(raw, variable, synonyms)
    help, fix = unquoted(raw, variable.kind)
    return help or _range_of(variable) or _FORMS.get(variable.kind), fix


def unquoted(raw: Any, kind: Kind) -> tuple[str | None, dict[str, str]]:
    """What to do about a number, or a yes or no, that stands there as text, and the fix; nothing for other text."""
    if isinstance(raw, str) and kind in ("integer", "decimal"):
        if re.fullmatch(r"-?\d+(\.\d+)?", raw):
            return f"write it without quotes: {raw}", {"written": raw, "spelled": raw}
        if told := re.fullmatch(r"(-?\d+(?:\.\d+)?) *([A-Za-z]+)", raw):
            return f"write the number and its unit apart: `value: {told[1]}, unit: {told[2]}`", {}
        example = "a whole number in digits: 30" if kind == "integer" else "a number, with a point and no comma: 16.5"
        return f"write {example}", {}
    if isinstance(raw, str) and kind == "boolean" and raw.casefold() in SAID:
        return f"write {SAID[raw.casefold()]}, without quotes", {"written": raw, "spelled": SAID[raw.casefold()]}
    return None, {}


def _value_of_list(raw: Any, variable: Variable, synonyms: Mapping[str, Sequence[str]]) -> tuple[str, dict[str, str]]:
    """Files say the value itself: what people say for it is read in questions alone."""
    word, listed = str(raw), f"its values are {', '.join(variable.values)}"
    owners = {other: value for value, others in synonyms.items() for other in others}
    if word in owners:
        fix = {"written": word, "replacement": owners[word]} if isinstance(raw, str) else {}
        return f"`{word}` is what people say for `{owners[word]}`: write `{owners[word]}`", fix
    near = nearest(word, [*variable.values, *owners])
    if near is None or near == word:  # the same letters, but no text: a number, or a yes or no
        return f'write it in quotes: "{word}"' if near == word else listed, {}
    if near in owners:
        return f"did you mean `{owners[near]}`? {listed}", {}
    return suggest(word, near), one_right(word, variable.values)


def _range_of(variable: Variable) -> str | None:
    low = None if variable.minimum is None else variable.show(variable.minimum)
    high = None if variable.maximum is None else variable.show(variable.maximum)
    if low is None or high is None:
        return None if low is high else f"it is at most {high}" if low is None else f"it is {low} or more"
    return f"it runs from {low} to {high}"
