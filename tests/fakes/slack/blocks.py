"""What Slack says about blocks: every limit that its documentation gives for the ones in use, anything else refused."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

Block = Mapping[str, Any]

MESSAGE_BLOCKS = 50
MESSAGE_TEXT = 12_000  # of all blocks but tables together; undocumented: slackapi/bolt-js issues 2509 and 2867
TABLE_CELLS = 10_000
VIEW_BYTES = 250_000


def problems(blocks: Any) -> list[str]:
    """Why a message with these blocks is refused; nothing when it is not."""
    if not isinstance(blocks, list):
        return ["blocks is no list"]
    found = [f"no more than {MESSAGE_BLOCKS} items allowed"] if len(blocks) > MESSAGE_BLOCKS else []
    for n, block in enumerate(blocks):
        check = _BLOCKS.get(block.get("type"))
        said = [f"unsupported type: {block.get('type')}"] if check is None else list(check(block))
        found += [f"{one} [json-pointer:/blocks/{n}]" for one in said]
    ids = [block["block_id"] for block in blocks if "block_id" in block]
    if len(ids) != len(set(ids)):
        found.append("block_id already exists")
    if sum(block.get("type") == "table" for block in blocks) > 1:
        found.append("only_one_table_allowed")
    return found


def is_too_long(blocks: Any) -> bool:
    """Is there more text in these blocks together than a message may carry?"""
    return sum(map(_letters, (one for one in blocks if one.get("type") != "table"))) > MESSAGE_TEXT


def _letters(value: Any) -> int:
    if isinstance(value, dict):
        return sum(
            len(one) if name == "text" and isinstance(one, str) else _letters(one) for name, one in value.items()
        )
    return sum(map(_letters, value)) if isinstance(value, list) else 0


MODAL_BLOCKS = 100


def view_problems(view: Any) -> list[str]:
    """Why a view is refused; nothing when it is not."""
    if not isinstance(view, dict) or view.get("type") != "modal":
        return ["view must be a modal"]
    found = list(
        _only(view, "title", "submit", "close", "blocks", "private_metadata", "callback_id", "notify_on_close")
    )
    for name, limit in (("title", 24), ("submit", 24), ("close", 24)):
        if name in view or name == "title":
            found += [f"{name}: {one}" for one in _text(view.get(name), limit, ("plain_text",))]
    if len(view.get("private_metadata", "")) > 3000 or len(view.get("callback_id", "")) > 255:
        found.append("private_metadata or callback_id is too long")
    if len(json.dumps(view)) > VIEW_BYTES:
        found.append(f"a view has more than {VIEW_BYTES} bytes")
    blocks = view.get("blocks")
    if not isinstance(blocks, list) or len(blocks) > MODAL_BLOCKS:
        return [*found, f"a modal takes a list of up to {MODAL_BLOCKS} blocks"]
    inputs = [block for block in blocks if block.get("type") == "input"]
    if inputs and "submit" not in view:
        found.append("a modal with input blocks needs submit")
    return found + [
        one for at in range(0, len(blocks), MESSAGE_BLOCKS) for one in problems(blocks[at:][:MESSAGE_BLOCKS])
    ]


def _input(block: Block) -> Iterator[str]:
    yield from _only(block, "label", "element", "hint", "optional", "dispatch_action")
    yield from _text(block.get("label"), 2000, ("plain_text",))
    element = block.get("element", {})
    if "hint" in block:
        yield from _text(block["hint"], 2000, ("plain_text",))
    check = _INPUTS.get(element.get("type"))
    yield from [f"unsupported input: {element.get('type')}"] if check is None else check(element)


def _typed(one: Block) -> Iterator[str]:
    yield from _only(one, "action_id", "initial_value", "multiline", "max_length", "min_length", "placeholder")
    yield from _action_id(one)
    if "placeholder" in one:
        yield from _text(one["placeholder"], 150, ("plain_text",))
    if not 1 <= one.get("max_length", 3000) <= 3000:
        yield "max_length must be 1 to 3000"
    if len(one.get("initial_value", "")) > one.get("max_length", 3000):
        yield "initial_value is longer than max_length"


def _only(value: Block, *known: str) -> Iterator[str]:
    for name in sorted(set(value) - {"type", "block_id", *known}):
        yield f"additional property: {name}"
    if not 1 <= len(value.get("block_id", "-")) <= 255:
        yield "block_id must have 1 to 255 characters"


def _text(value: Any, limit: int, kinds: tuple[str, ...] = ("plain_text", "mrkdwn")) -> Iterator[str]:
    if not isinstance(value, dict) or value.get("type") not in kinds:
        yield f"text must be of {', '.join(kinds)}"
        return
    yield from _only(value, "text", *(("emoji",) if value["type"] == "plain_text" else ("verbatim",)))
    said = value.get("text")
    if not isinstance(said, str) or not 1 <= len(said) <= limit:
        yield f"text must have 1 to {limit} characters"


def _section(block: Block) -> Iterator[str]:
    yield from _only(block, "text", "fields", "accessory")
    if "text" not in block and not block.get("fields"):
        yield "missing text or fields"
    if "text" in block:
        yield from _text(block["text"], 3000)
    if (beside := block.get("accessory")) is not None:
        check = _ACCESSORIES.get(beside.get("type"))
        yield from [f"unsupported accessory: {beside.get('type')}"] if check is None else check(beside)
    fields = block.get("fields", [])
    if len(fields) > 10:
        yield "no more than 10 fields"
    for one in fields:
        yield from _text(one, 2000)


def _header(block: Block) -> Iterator[str]:
    yield from _only(block, "text")
    yield from _text(block.get("text"), 150, ("plain_text",))


def _context(block: Block) -> Iterator[str]:
    yield from _only(block, "elements")
    elements = block.get("elements", [])
    if not 1 <= len(elements) <= 10:
        yield "context takes 1 to 10 elements"
    for one in elements:
        yield from _text(one, 3000)


def _actions(block: Block) -> Iterator[str]:
    yield from _only(block, "elements")
    elements = block.get("elements", [])
    if not 1 <= len(elements) <= 25:
        yield "actions take 1 to 25 elements"
    ids = [one.get("action_id") for one in elements]
    if len(ids) != len(set(ids)):
        yield "action_id already exists"
    for one in elements:
        check = _ELEMENTS.get(one.get("type"))
        yield from [f"unsupported element: {one.get('type')}"] if check is None else check(one)


def _button(one: Block) -> Iterator[str]:
    yield from _only(one, "text", "action_id", "value", "style", "url", "confirm", "accessibility_label")
    yield from _text(one.get("text"), 75, ("plain_text",))
    yield from _action_id(one)
    if len(one.get("value", "")) > 2000:
        yield "value is longer than 2000 characters"
    if one.get("style", "primary") not in ("primary", "danger"):
        yield f"no such style: {one['style']}"


def _select(one: Block) -> Iterator[str]:
    yield from _only(one, "placeholder", "action_id", "options", "initial_option", "confirm")
    yield from _text(one.get("placeholder"), 150, ("plain_text",))
    yield from _action_id(one)
    options = one.get("options", [])
    if "initial_option" in one and one["initial_option"] not in options:
        yield "initial_option must be among the options"
    if not 1 <= len(options) <= 100:
        yield "a menu takes 1 to 100 options"
    for option in options:
        yield from _only(option, "text", "value", "description")
        yield from _text(option.get("text"), 75, ("plain_text",))
        if not 1 <= len(option.get("value", "")) <= 150:
            yield "an option's value must have 1 to 150 characters"


def _several(one: Block) -> Iterator[str]:
    """A menu of which several are picked: `initial_options` are some of its options."""
    yield from _only(one, "placeholder", "action_id", "options", "initial_options", "confirm", "max_selected_items")
    yield from _select({name: value for name, value in one.items() if name in ("placeholder", "action_id", "options")})
    if "initial_options" in one and not one["initial_options"]:
        yield "initial_options must not be empty"
    if any(option not in one.get("options", []) for option in one.get("initial_options", [])):
        yield "initial_options must be among the options"


def _action_id(one: Block) -> Iterator[str]:
    if not 1 <= len(one.get("action_id", "")) <= 255:
        yield "action_id must have 1 to 255 characters"


def _table(block: Block) -> Iterator[str]:
    yield from _only(block, "rows", "column_settings")
    rows = block.get("rows", [])
    if not 1 <= len(rows) <= 100:
        yield "a table takes 1 to 100 rows"
    if len({len(row) for row in rows}) > 1 or any(not 1 <= len(row) <= 20 for row in rows):
        yield "rows of a table have equally many cells, 1 to 20"
    cells = [cell for row in rows for cell in row]
    for cell in cells:
        if cell.get("type") != "raw_text" or not cell.get("text"):
            yield f"no such cell: {cell}"
    if sum(len(cell.get("text", "")) for cell in cells) > TABLE_CELLS:
        yield f"more than {TABLE_CELLS} characters in a table"


def _rich_text(block: Block) -> Iterator[str]:
    yield from _only(block, "elements")
    for one in block.get("elements", []):
        if one.get("type") not in ("rich_text_section", "rich_text_preformatted", "rich_text_quote"):
            yield f"unsupported element: {one.get('type')}"
        for inner in one.get("elements", []):
            if inner.get("type") != "text" or not inner.get("text"):
                yield "an element of rich text says nothing"


def _divider(block: Block) -> Iterator[str]:
    yield from _only(block)


_Check = Callable[[Block], Iterator[str]]
_BLOCKS: Mapping[Any, _Check] = {
    "actions": _actions,
    "context": _context,
    "divider": _divider,
    "header": _header,
    "input": _input,
    "rich_text": _rich_text,
    "section": _section,
    "table": _table,
}
_ELEMENTS: Mapping[Any, _Check] = {"button": _button, "static_select": _select}
_ACCESSORIES: Mapping[Any, _Check] = {**_ELEMENTS, "multi_static_select": _several}
# fields for an address of mail, a number, a link, a file or formatted text stand in modals alone; none is in use
_INPUTS: Mapping[Any, _Check] = {
    "plain_text_input": _typed,
    "static_select": _select,
    "multi_static_select": _several,
}
