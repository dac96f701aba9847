"""Edits of YAML files that change exactly the lines they mean to change: comments, order and spelling stay.

An edit is a cut in the text at the place where PyYAML saw the value; nothing is written anew. Afterwards the text is
read again and compared with what was meant, so an edit either does what it says or is refused. Values are read as
YAML 1.2 core, as everywhere here: a date stays text, `no` is a word.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Sequence
from datetime import date
from decimal import Decimal
from typing import Any

import yaml

from bylaw.errors import UsageError

Route = Sequence[str | int]

MAX_BYTES = 1_048_576
_INDENT = 2
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_NUMBER = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_INT = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")


class _Reader(yaml.SafeLoader):
    """YAML 1.2 core: PyYAML's own loader follows 1.1."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 - the name that PyYAML reads

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        # A value that stands in two places cannot be edited in one; thousands of them fill the memory.
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("aliases are not allowed")
        node: yaml.Node | None = super().compose_node(parent, index)
        return node


class _Writer(yaml.SafeDumper):
    """Quotes what either version of YAML would misread, indents lists, never folds a line."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        return super().increase_indent(flow, False)

    def ignore_aliases(self, data: Any) -> bool:
        return True


_CORE = (
    ("null", re.compile(r"~|null|Null|NULL|"), ["~", "n", "N", ""]),
    ("bool", re.compile(r"true|True|TRUE|false|False|FALSE"), list("tTfF")),
    ("int", _INT, list("-+0123456789")),
    ("float", _NUMBER, list("-+.0123456789")),
)
for _name, _pattern, _first in _CORE:
    _whole = re.compile(f"(?:{_pattern.pattern})$")
    _Reader.add_implicit_resolver(f"tag:yaml.org,2002:{_name}", _whole, _first)
    if _name in ("int", "float"):
        _Writer.add_implicit_resolver(f"tag:yaml.org,2002:{_name}", _whole, _first)


def _construct_int(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> int:
    text = node.value
    return int(text, {"0o": 8, "0x": 16}.get(text[:2], 10))


def _represent_text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    style = "|" if "\n" in value else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Reader.add_constructor("tag:yaml.org,2002:int", _construct_int)
_Reader.add_constructor("tag:yaml.org,2002:float", lambda loader, node: Decimal(node.value))
_Writer.add_representer(str, _represent_text)
_Writer.add_representer(
    Decimal, lambda dumper, value: dumper.represent_scalar("tag:yaml.org,2002:float", format(value, "f"))
)


def dump(record: Any) -> str:
    """*record* as YAML in blocks, keys in their order."""
    return yaml.dump(record, Dumper=_Writer, sort_keys=False, default_flow_style=False, allow_unicode=True, width=10**6)


def read(text: str) -> dict[str, Any]:
    """The mapping that *text* spells, as the edits read it. Raises UsageError for what is none."""
    _, data = _found(text, ())
    if not isinstance(data, dict):
        raise UsageError("the file holds no record")
    return data


def annotated(text: str, notes: Iterable[tuple[Sequence[str], str]]) -> str:
    """*text* with a comment over each part that a note speaks of; items are known by their `name`.

    A note about a part that is not there is left out.
    """
    root = yaml.compose(text, Loader=_Reader)
    over: dict[int, list[str]] = {}
    for route, said in notes:
        start = _begins(root, route)
        if start is not None:
            line, column = start
            over.setdefault(line, []).append(f"{' ' * column}# {' '.join(said.split())}\n")
    lines = text.splitlines(keepends=True)
    return "".join(part for i, line in enumerate(lines) for part in (*over.get(i, ()), line))


def _begins(node: yaml.Node | None, route: Sequence[str]) -> tuple[int, int] | None:
    """Line and column where the part at *route* begins: at its key, or at the dash of its item."""
    start = 0, 0
    for step in route:
        if isinstance(node, yaml.MappingNode):
            key, node = next(((key, value) for key, value in node.value if key.value == step), (None, node))
            if key is None:
                return None
            start = key.start_mark.line, key.start_mark.column
        else:
            held = node.value if isinstance(node, yaml.SequenceNode) else []
            item = next((one for one in held if _name_of(one) == step), None)
            if item is None:
                return None
            node, start = item, (item.start_mark.line, max(item.start_mark.column - 2, 0))
    return start


def _name_of(node: yaml.Node) -> str | None:
    entries = node.value if isinstance(node, yaml.MappingNode) else ()
    return next((str(value.value) for key, value in entries if key.value == "name"), None)


def set_value(text: str, route: Route, value: Any) -> str:
    """*text* with *value* at *route*, which is there already. Raises UsageError for what cannot be cut out."""
    node, meant = _found(text, route)
    _put(meant, route, value)
    if not isinstance(value, dict | list) and _is_inline(node):
        start, end = node.start_mark.index, node.end_mark.index
        for spelled in _spellings(value, node):
            edited = text[:start] + spelled + text[end:]
            if _reads_as(edited, meant):
                return edited
    return _checked(_with_block(text, route, node, value), meant, route)


def add_item(text: str, route: Route, item: Any) -> str:
    """*text* with *item* at the end of the list at *route*."""
    node, meant = _found(text, route)
    held = _get(meant, route)
    if held is not None and not isinstance(held, list):
        raise UsageError(f"`{_shown(route)}` is not a list")
    _put(meant, route, [*(held or []), item])
    if isinstance(node, yaml.SequenceNode) and node.value and not node.flow_style:
        indent = " " * node.start_mark.column
        lines = dump([item]).splitlines(keepends=True)
        return _checked(_insert_after(text, node.value[-1], [indent + line for line in lines]), meant, route)
    if isinstance(node, yaml.SequenceNode) and node.value:
        return _checked(_in_flow(text, node, _flow(item)), meant, route)
    return _checked(_with_block(text, route, node, [item]), meant, route)


def add_key(text: str, route: Route, key: str, value: Any) -> str:
    """*text* with a new *key* at the end of the mapping at *route*."""
    node, meant = _found(text, route)
    held = _get(meant, route)
    if not isinstance(held, dict) or not held:
        raise UsageError(f"`{_shown(route)}` is not a mapping that holds something")
    if key in held:
        raise UsageError(f"`{_shown(route)}` has `{key}` already")
    held[key] = value
    assert isinstance(node, yaml.MappingNode)
    if node.flow_style:
        return _checked(_in_flow(text, node, _flow({key: value})[1:-1]), meant, route)
    indent = " " * node.start_mark.column
    lines = dump({key: value}).splitlines(keepends=True)
    return _checked(_insert_after(text, node.value[-1][1], [indent + line for line in lines]), meant, route)


def remove(text: str, route: Route) -> str:
    """*text* without the lines of the item or key at *route*. Comments stay. What would be left empty is refused."""
    if not route:
        raise UsageError("a file is not removed by an edit")
    node, meant = _found(text, route)
    parent, _ = _found(text, route[:-1])
    if not isinstance(parent, yaml.CollectionNode) or len(parent.value) < 2:
        raise UsageError(f"`{_shown(route)}` is the only one: set `{_shown(route[:-1])}` instead")
    held = _get(meant, route[:-1])
    del held[route[-1]]
    if parent.flow_style:
        return _checked(_with_block(text, route[:-1], parent, held), meant, route)
    own = _key_node(parent, route[-1])
    first, last = own.start_mark.line, _last_line(text, node)
    lines = text.splitlines(keepends=True)
    lead = lines[first][: own.start_mark.column]
    if lead.strip(" ") == "-" and isinstance(parent, yaml.MappingNode):
        # The first key of an item stands behind the dash, which the next key takes over.
        lines[last + 1] = lead + lines[last + 1].lstrip(" ")
    return _checked("".join(lines[:first] + lines[last + 1 :]), meant, route)


# --- reading


def _found(text: str, route: Route) -> tuple[yaml.Node, Any]:
    """The node at *route*, and a copy of all the data."""
    if len(text) > MAX_BYTES:
        raise UsageError("the file is too large to be edited")
    try:
        node = yaml.compose(text, Loader=_Reader)
        data = yaml.load(text, Loader=_Reader)
    except (yaml.YAMLError, RecursionError) as problem:
        raise UsageError("the file is no valid YAML and cannot be edited") from problem
    for depth, step in enumerate(route):
        node = _child(node, step)
        if node is None:
            raise UsageError(f"there is no `{_shown(route[: depth + 1])}` in the file")
    if node is None:
        raise UsageError("the file is empty")
    return node, copy.deepcopy(data)


def _child(node: yaml.Node | None, step: str | int) -> yaml.Node | None:
    if isinstance(node, yaml.MappingNode):
        held: dict[Any, yaml.Node] = {key.value: value for key, value in reversed(node.value)}
        return held.get(step)
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and 0 <= step < len(node.value):
        found: yaml.Node = node.value[step]
        return found
    return None


def _key_node(parent: yaml.Node, step: str | int) -> yaml.Node:
    """Where an entry begins: at its key, or at its item."""
    if isinstance(parent, yaml.MappingNode):
        own: yaml.Node = next(key for key, _ in parent.value if key.value == step)
        return own
    found: yaml.Node = parent.value[int(step)]
    return found


def _get(data: Any, route: Route) -> Any:
    for step in route:
        data = data[step]
    return data


def _put(data: Any, route: Route, value: Any) -> None:
    if not route:
        raise UsageError("a whole file is not replaced by an edit")
    _get(data, route[:-1])[route[-1]] = value


def _shown(route: Route) -> str:
    return ".".join(map(str, route)) or "the file"


# --- cutting


def _is_inline(node: yaml.Node) -> bool:
    """Does the value end where PyYAML says? Blocks end somewhere before the next word."""
    if isinstance(node, yaml.ScalarNode):
        return node.style not in ("|", ">") and node.start_mark.index < node.end_mark.index
    return isinstance(node, yaml.CollectionNode) and bool(node.flow_style)


def _last_line(text: str, node: yaml.Node) -> int:
    """The last line that belongs to *node*, counted from 0."""
    while isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        node = last[1] if isinstance(last, tuple) else last
    if _is_inline(node) or node.start_mark.index == node.end_mark.index:
        return node.end_mark.line
    lines, line = text.splitlines(), node.end_mark.line - 1 if node.end_mark.column == 0 else node.end_mark.line
    floor = node.start_mark.line
    while line > floor and (line >= len(lines) or not lines[line].strip()):
        line -= 1
    return line


def _insert_after(text: str, node: yaml.Node, lines: list[str]) -> str:
    at = _last_line(text, node) + 1
    held = text.splitlines(keepends=True)
    if held and not held[-1].endswith("\n"):
        held[-1] += "\n"
    return "".join(held[:at] + lines + held[at:])


def _in_flow(text: str, node: yaml.Node, spelled: str) -> str:
    """An entry more before the closing bracket."""
    last = node.value[-1]
    end = (last[1] if isinstance(last, tuple) else last).end_mark.index
    return f"{text[:end]}, {spelled}{text[end:]}"


def _with_block(text: str, route: Route, node: yaml.Node, value: Any) -> str:
    """The value at *route* written anew, the rest of its lines as they were."""
    if _is_inline(node) or node.start_mark.index == node.end_mark.index:
        start, end = node.start_mark.index, node.end_mark.index
        line = text[text.rfind("\n", 0, start) + 1 : start]
        comment = re.match(r"[^\n]*", text[end:])
        rest = comment[0] if comment else ""
        if isinstance(value, dict | list) and value and (not rest.strip() or rest.strip().startswith("#")):
            indent = len(line) - len(line.lstrip(" -")) + _INDENT
            block = "".join(" " * indent + row for row in dump(value).splitlines(keepends=True)).rstrip("\n")
            return f"{text[:start].rstrip(' ')}{rest}\n{block}{text[end + len(rest) :]}"
        gap = "" if line.endswith(" ") else " "
        return f"{text[:start]}{gap}{_flow(value)}{text[end:]}"
    lines = text.splitlines(keepends=True)
    first, last = node.start_mark.line, _last_line(text, node)
    if isinstance(node, yaml.ScalarNode) or not isinstance(value, dict | list) or not value:
        raise UsageError(f"`{_shown(route)}` is written over several lines and cannot be replaced by an edit")
    indent = node.start_mark.column
    rows = [" " * indent + row for row in dump(value).splitlines(keepends=True)]
    rows[0] = lines[first][:indent] + rows[0][indent:]
    return "".join(lines[:first] + rows + lines[last + 1 :])


def _flow(value: Any) -> str:
    spelled: str = yaml.dump(
        value, Dumper=_Writer, default_flow_style=True, sort_keys=False, allow_unicode=True, width=10**6
    )
    return spelled.removesuffix("...\n").strip()


def _spellings(value: Any, node: yaml.Node) -> list[str]:
    """How *value* may be written, the style of what stands there first."""
    usual = _flow(value)
    if not isinstance(value, str):
        return [usual]
    style = node.style if isinstance(node, yaml.ScalarNode) else None
    plain = [value] if _DATE.fullmatch(value) and not style else []
    quoted: list[str] = []
    if style in ("'", '"'):
        spelled: str = yaml.dump(value, Dumper=_Writer, default_style=style, allow_unicode=True, width=10**6)
        quoted = [spelled.strip()]
    return [*plain, *quoted, usual]


# --- the proof


def _reads_as(text: str, meant: Any) -> bool:
    try:
        return bool(_plain(yaml.load(text, Loader=_Reader)) == _plain(meant))
    except (yaml.YAMLError, ValueError):
        return False


def _checked(edited: str, meant: Any, route: Route) -> str:
    if not _reads_as(edited, meant):
        raise UsageError(f"`{_shown(route)}` cannot be edited where it stands", "edit the file by hand")
    return edited


def _plain(value: Any) -> Any:
    """*value* as it is read back: a date is its text, and 1 is not true."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, date):
        return value.isoformat()
    return (type(value).__name__ if isinstance(value, bool) else "", value)
