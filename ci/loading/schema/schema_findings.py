"""What does not fit its model, in the words of its author: pydantic's complaints become findings, for every model.

One value, one finding: what the branches of a union would each have liked is said in one sentence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from ci.findings import Finding, Place, Route
from ci.loading.schema.nearest import did_you_mean, nearest, one_right
from ci.loading.schema.pydantic_errors import Slip, slips
from ci.loading.schema.values import SAID

M = TypeVar("M", bound=BaseModel)

LONGEST = 60  # characters of a value that a message repeats

_EXPECTED: Mapping[str, str] = {
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "decimal_type": "a number",
    "decimal_parsing": "a number",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a number",
    "string_type": "text",
    "list_type": "a list",
    "tuple_type": "a list",
    "set_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "date_type": "a date like 2026-01-31",
    "date_parsing": "a date like 2026-01-31",
    "date_from_datetime_parsing": "a date like 2026-01-31",
    "date_from_datetime_inexact": "a date like 2026-01-31",
    "union_tag_not_found": "a mapping",
}
# How a value is written that is something else now.
_FORMS: Mapping[str, str] = {
    "text": "write one text, in quotes where it holds `: `, a comma or a bracket",
    "a list": "begin each item on a line of its own with `- `, or put all of them in [ ]",
    "a mapping": "write `key: value`, a line each, or put all of them in { }",
    "a date like 2026-01-31": 'write year, month and day, in quotes: "2026-01-31"',
}
_BOUNDS: Mapping[str, str] = {
    "greater_than_equal": "write {} or more",
    "less_than_equal": "write {} or less",
    "greater_than": "write more than {}",
    "less_than": "write less than {}",
}
_MEANT: Mapping[str, str] = {"=>": ">=", "=<": "<=", "<>": "!=", "===": "==", "≥": ">=", "≤": "<=", "≠": "!="}
_PATTERNS: Mapping[str, str] = {
    "^POL-": "the form is `POL-DOMAIN-001`, or `POL-IMP-DOMAIN-001` for an implicit policy, the domain in capitals",
    "^[A-Za-z_]": "letters, digits and `_`, and no digit first",
    "^[A-Za-z0-9]": "letters, digits, `_`, `-` and `.`, and a letter or digit first",
    "^[a-z0-9]": "small letters, digits, `_` and `-`, at least four, a letter or digit first and last",
}


def fitted(model: type[M], data: Any, path: str, prefix: Route = ()) -> tuple[M | None, list[Finding]]:
    """*data* as a *model*, or None with one finding for everything that does not fit. *prefix*: where *data* lies."""
    try:
        return model.model_validate(data), []
    except ValidationError as error:
        return None, misfits(error, model, data, path, prefix)


def misfits(error: ValidationError, model: type[BaseModel], data: Any, path: str, prefix: Route = ()) -> list[Finding]:
    """One finding for each value that *error* complains of, in the order of the complaints."""
    policies = _policies(data)
    found = []
    for alike in _grouped(_without_misspelt(slips(error, model, data))):
        group = [replace(slip, route=(*prefix, *slip.route)) for slip in alike]
        message, help = _said(group)
        place = Place(path, group[0].route, on_key=group[0].on_key)
        found.append(Finding("schema", message, place, policies=policies, help=help, detail=_one_right(group)))
    return found


def _without_misspelt(found: list[Slip]) -> list[Slip]:
    """Without complaints of a missing key that is there, misspelt: the misspelt one says it all."""
    written = {(slip.route[:-1], nearest(str(slip.route[-1]), slip.known)) for slip in found if _is_extra(slip)}
    return [slip for slip in found if slip.kind != "missing" or (slip.route, slip.context["key"]) not in written]


def _is_extra(slip: Slip) -> bool:
    return slip.kind == "extra_forbidden" and bool(slip.route)


def _one_right(group: list[Slip]) -> dict[str, str]:
    """The one right word where a key or a word of a closed list is misspelt, or a value is spelled as another type."""
    slip = group[0]
    wanted = {_EXPECTED.get(one.kind) for one in group}
    if len(wanted) == 1 and slip.route and (fix := _respelled(slip, wanted.pop())):
        return fix
    if len(group) > 1 or not slip.route:
        return {}
    if slip.kind == "extra_forbidden":
        return one_right(str(slip.route[-1]), slip.known)
    if slip.kind == "literal_error" and isinstance(slip.value, str) and slip.route[-1] != "schema_version":
        words = re.findall(r"'([^']*)'", slip.context["expected"])
        meant = _MEANT.get(slip.value, "")
        return {"written": slip.value, "replacement": meant} if meant in words else one_right(slip.value, words)
    return {}


def _respelled(slip: Slip, wanted: str | None) -> dict[str, str]:
    """A value as the type that is *wanted*, where nothing else can have been meant."""
    written = shown(slip.value)
    if wanted == "text" and isinstance(slip.value, bool | int | Decimal):
        return {"written": written, "spelled": f'"{written}"'}
    if wanted == "a list" and slip.holds_words and re.fullmatch(r"[A-Za-z][\w.-]*", str(slip.value)):
        return {"written": written, "spelled": f"[{written}]"}
    if wanted == "true or false" and str(slip.value).casefold() in SAID:
        return {"written": str(slip.value), "spelled": SAID[str(slip.value).casefold()]}
    told = re.fullmatch(r"pol[-_](imp[-_])?([a-z]+)[-_](\d{1,3})", str(slip.value), re.IGNORECASE)
    if slip.kind == "string_pattern_mismatch" and told and slip.context["pattern"].startswith("^POL-"):
        right = f"POL-{'IMP-' if told[1] else ''}{told[2].upper()}-{int(told[3]):03}"
        return {"written": str(slip.value), "replacement": right}
    return {}


def _policies(data: Any) -> tuple[str, ...]:
    named = data.get("policy_id") if isinstance(data, dict) else None
    return (named,) if isinstance(named, str) and len(named) <= LONGEST else ()


def _grouped(found: Iterable[Slip]) -> list[list[Slip]]:
    """The complaints about one value together; complaints about what lies inside it are told apart."""
    groups: dict[tuple[Route, bool, str], list[Slip]] = {}
    for slip in found:
        alike = "" if slip.branches and slip.route == slip.branches[-1][0] else f"{slip.kind}{slip.context.get('key')}"
        groups.setdefault((slip.route, slip.on_key, alike), []).append(slip)
    return list(groups.values())


def _said(group: list[Slip]) -> tuple[str, str | None]:
    """Message and help for the complaints about one value."""
    slip = group[0]
    if (say := _SAYERS.get(slip.kind)) is not None and len(group) == 1:
        return say(slip)
    expected = list(dict.fromkeys(_EXPECTED[one.kind] for one in group if one.kind in _EXPECTED))
    expected += [_of_error(one)[10:] for one in group if _of_error(one).startswith("should be ")]
    if not expected:
        return _other(slip)
    help: str | None = _FORMS.get(expected[0]) if len(expected) == 1 else None
    if expected == ["text"] and isinstance(slip.value, bool | int | Decimal):
        help = f'put it in quotes: "{shown(slip.value)}"'
    elif expected == ["a list"] and isinstance(slip.value, str) and slip.holds_words:
        help = f"write it as a list: [{clip(slip.value)}]"
    elif expected == ["true or false"] and str(slip.value).casefold() in ("yes", "no", "on", "off"):
        help = "YAML 1.2 reads `yes`, `no`, `on` and `off` as words: write true or false"
    return f"{spoken(slip.route)} should be {_or(list(dict.fromkeys(expected)))}, not {described(slip.value)}", help


def _missing(slip: Slip) -> tuple[str, str | None]:
    where = f" in {spoken(slip.route)}" if slip.route else ""
    help = slip.context.get("help", f"add `{slip.context['key']}: …`")
    return f"the key `{slip.context['key']}` is missing{where}", help


def _extra(slip: Slip) -> tuple[str, str | None]:
    key, parent = str(slip.route[-1]) if slip.route else "", slip.route[:-1]
    where = f" in {spoken(parent)}" if parent else ""
    keys = ", ".join(sorted(slip.known))
    if slip.value is None and (" " in key or key.isdigit()):
        return f"the key `{clip(key)}` is not known{where}", "text with a comma in it needs quotes inside { }"
    if key in slip.known:  # a second name of what another key has said already
        return f"the key `{clip(key)}`{where} says the same as another key here", "keep one of the two names"
    return f"the key `{clip(key)}` is not known{where}", did_you_mean(clip(key), slip.known, f"known keys: {keys}")


def _literal(slip: Slip) -> tuple[str, str | None]:
    words = re.findall(r"'([^']*)'", slip.context["expected"])
    if slip.route and slip.route[-1] == "schema_version":
        help: str | None = "update bylaw, or the file"
        if not isinstance(slip.value, str) and str(slip.value) in words:
            help = f'write it in quotes: "{slip.value}"'
        versions = ", ".join(f'"{word}"' for word in words)
        return f"`schema_version` is {described(slip.value)}; the versions that are read: {versions}", help
    allowed = ", ".join(f"`{word}`" for word in words)
    help = _nearest(slip.value, words) or "write one of these"
    return f"{spoken(slip.route)} is {described(slip.value)}, which is not one of {allowed}", help


def _nearest(value: Any, words: list[str]) -> str | None:
    """A suggestion for a word that is not among *words*; symbols are too short to compare."""
    if not isinstance(value, str) or len(value) > LONGEST:
        return None
    if not value and ">" in words:
        return 'YAML reads a bare `>` or `|` as the start of a text: write the word in quotes, ">"'
    return f"did you mean `{_MEANT[value]}`?" if _MEANT.get(value) in words else did_you_mean(value, words)


def _untagged(slip: Slip) -> tuple[str, str | None]:
    """A condition, say, whose `type` is missing or unknown."""
    if not isinstance(slip.value, dict):
        help = _FORMS["a mapping"]
        if isinstance(slip.value, str) and re.fullmatch(r"[A-Za-z_]\w*", slip.value):  # the name of a fact, it seems
            test = f"{{type: boolean_flag, parameter: {clip(slip.value)}, value: true}}"
            help = f"write what is tested: `{test}` (`value: false` for the opposite)"
        return f"{spoken(slip.route)} should be a mapping, not {described(slip.value)}", help
    words = re.findall(r"'([^']*)'", slip.context.get("expected_tags", ""))
    if not words:
        parts = "put conditions together with `all_of`, `any_of`, `not`"
        help = f"say what it tests, `type: fact` and its `parameter`; or {parts}"
        return f"{spoken(slip.route)} does not say its `type`", help
    kinds = [word for word in words if word not in ("all_of", "any_of", "not")]
    tag = slip.value.get("type")
    allowed = ", ".join(f"`{kind}`" for kind in kinds)
    return f"{spoken(slip.route)} is {described(tag)}, which is not one of {allowed}", _nearest(tag, kinds)


def _pattern(slip: Slip) -> tuple[str, str | None]:
    pattern = slip.context["pattern"]
    form = next((text for start, text in _PATTERNS.items() if pattern.startswith(start)), None)
    if slip.on_key:
        return f"`{clip(str(slip.value))}` is not a name that can be declared", form
    return f"{spoken(slip.route)} is `{clip(str(slip.value))}`, which does not have the right form", form


def _bound(slip: Slip) -> tuple[str, str | None]:
    relation = {"greater_than_equal": ("ge", "less than"), "less_than_equal": ("le", "more than")}
    relation |= {"greater_than": ("gt", "not more than"), "less_than": ("lt", "not less than")}
    key, words = relation[slip.kind]
    return f"{spoken(slip.route)} is {described(slip.value)}, {words} `{slip.context[key]}`", _BOUNDS[slip.kind].format(
        slip.context[key]
    )


def _length(slip: Slip) -> tuple[str, str | None]:
    least, most = slip.context.get("min_length"), slip.context.get("max_length")
    if slip.kind == "string_too_short":
        return f"{spoken(slip.route)} is empty", "write what belongs there, or take the key out"
    if slip.kind == "string_too_long":
        return f"{spoken(slip.route)} is longer than {most:,} characters", "say it in fewer words, or split it"
    if slip.kind == "too_short":
        few = "is empty" if not slip.value else "has too few items"
        return f"{spoken(slip.route)} {few}, it takes at least {least}", "write them in [ ], or begin each with `- `"
    return (
        f"{spoken(slip.route)} has too many items, it takes at most {most}",
        "keep those that are needed, or split the record",
    )


def _other(slip: Slip) -> tuple[str, str | None]:
    """What a model itself says about its record, and whatever else there may be."""
    if slip.kind == "misfit":
        return str(slip.context["message"]), slip.context.get("help")
    message, help = _of_error(slip) or "does not have the right form", getattr(slip.context.get("error"), "help", None)
    if slip.on_key or not slip.route:
        return message, help
    if message.startswith(("should ", "does not ")):
        return f"{spoken(slip.route)} {message}", help
    return f"{spoken(slip.route)}: {message}", help


def _of_error(slip: Slip) -> str:
    return str(slip.context["error"]) if slip.kind == "value_error" else ""


_SAYERS: Mapping[str, Callable[[Slip], tuple[str, str | None]]] = {
    "missing": _missing,
    "extra_forbidden": _extra,
    "literal_error": _literal,
    "enum": _literal,
    "union_tag_invalid": _untagged,
    "union_tag_not_found": _untagged,
    "string_pattern_mismatch": _pattern,
    **dict.fromkeys(("greater_than_equal", "less_than_equal", "greater_than", "less_than"), _bound),
    **dict.fromkeys(("too_short", "too_long", "string_too_short", "string_too_long"), _length),
    "misfit": _other,
}


def spoken(route: Route) -> str:
    """A route as a person writes it: `conditions[1].value`; "the file" for the whole."""
    text = ""
    for step in route:
        text += f"[{step}]" if isinstance(step, int) else f".{clip(step)}" if text else clip(step)
    return f"`{text}`" if text else "the file"


def described(value: Any) -> str:
    """What somebody wrote, short enough for a message."""
    match value:
        case None:
            return "empty"
        case dict():
            return "a mapping"
        case list():
            return "a list"
        case "":
            return "an empty text"
        case str():
            return f"the text `{clip(value)}`"
        case bool():
            return f"`{shown(value)}`"
        case _:
            return f"the number `{shown(value)}`"


def shown(value: Any) -> str:
    """A scalar as YAML spells it."""
    return clip(str(value).lower() if isinstance(value, bool) else str(value))


def clip(text: str) -> str:
    """*text* on one line, no longer than a message bears."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"


def _or(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
