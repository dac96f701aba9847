"""YAML and JSON text as data with positions: strict YAML 1.2 core, one pass over libyaml's events, no recursion.

Everything that could surprise a reviewer is refused (anchors, tags, merge keys, a second document) or reported (a
key given twice). `locate` turns the route of a value, or of its key, into line and column; both start at 1.
"""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

import yaml

from ci.findings import Route
from ci.loading.limits import MAX_BYTES, MAX_DEPTH, MAX_NODES

MAX_DIGITS = 40  # a longer number is a mistake or an attack

Problem = Literal["unreadable-file", "schema", "duplicate-key"]

_INT = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_NUMBER = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_WORDS: Mapping[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_NUMERIC = frozenset("+-.0123456789")
_TELLING = _NUMERIC | {word[:1] for word in _WORDS}  # how an unquoted word begins that may be more than text
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x84\x86-\x9f\ufffe\uffff\ufeff]")
_BREAK = re.compile("\r\n|\r|\n")
# YAML 1.1 (libyaml) ends a line at these, YAML 1.2 and every editor do not.
_OLD_BREAKS = ("\x85", "\u2028", "\u2029")
_ESCAPE = re.compile(r"\\(?:u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|.)", re.DOTALL)

_UNMERGED = re.compile("<{7} ")
_SHOWS_LATE = ("could not find expected ':'", "unexpected end of stream")  # the mistake is where the words before began
_TAG = "a value that begins with `!` is a tag to YAML: for the opposite of a fact write `not is_ours`, else use quotes"
# What libyaml says, and what to do then; `{opened}` is the block or the bracket that it was in.
_SYNTAX: Mapping[str, str] = {
    "mapping values": "put a value that contains `: ` in quotes; keys of one mapping begin in one column",
    "cannot start any token": "put a value that starts with a special character in quotes",
    "expected '-' indicator": "{opened} is a list: indent its items alike, and the keys of an item alike",
    "expected key": "{opened} is a mapping: indent its keys alike, and close every quote",
    "could not find expected ':'": "a key ends in `: `, with a space; text over several lines needs quotes",
    "expected ',' or ']'": "close the bracket: {opened} ends in `]`; text with `: ` or a comma needs quotes",
    "expected ',' or '}'": "close the bracket: {opened} ends in `}}`; text with `: ` or a comma needs quotes",
    "unexpected end of stream": "close the quote",
    "did not find expected whitespace or line break": _TAG,
    "did not find expected node content": "write the value that is missing, or take the comma or the bracket out",
    "expected <document start>": "write one record: text that goes on after a value belongs in quotes",
    "unknown escape": "write `\\\\` for a backslash, or use single quotes",
}

_SHIFT = 21  # a position is line << 21 | column: no line of a file within MAX_BYTES is longer
_COLUMN = (1 << _SHIFT) - 1


class Unreadable(Exception):
    """Why a text cannot be read as one record, with the place where that shows and, where known, its line."""

    def __init__(
        self, kind: Problem, message: str, line: int = 1, column: int = 1, help: str | None = None, written: str = ""
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.line = line
        self.column = column
        self.help = help
        self.written = written


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A key that its mapping already has. The first value counts; this one was read and dropped."""

    key: str
    line: int
    column: int
    first_line: int
    first_column: int


@dataclass(frozen=True, slots=True)
class Marks:
    """Where every node stands: flat arrays in document order, small enough to keep for a hundred thousand files.

    Node *i* has the key `keys[i]` (None for the root, for items, and for values that were dropped) and its subtree
    ends before node `ends[i]`. Positions are packed; `key_at` is 0 for what has no key.
    """

    keys: list[str | None]
    key_at: array[int]
    value_at: array[int]
    ends: array[int]

    def node(self, route: Route) -> tuple[int, bool]:
        """The node at *route* or its nearest parent that exists, and whether it is the route's own."""
        found = 0
        for step in route:
            child = self._child(found, step)
            if child is None:
                return found, False
            found = child
        return found, True

    def _child(self, parent: int, step: str | int) -> int | None:
        for position, child in enumerate(self.children(parent)):
            if self.keys[child] == step if isinstance(step, str) else position == step and not self.key_at[child]:
                return child
        return None

    def children(self, parent: int) -> Iterator[int]:
        """The nodes directly under *parent*, in the order of the file."""
        child = parent + 1
        while child < self.ends[parent]:
            yield child
            child = self.ends[child]


@dataclass(frozen=True, slots=True)
class Source:
    """One file as it was read. `data` is a mapping, list or scalar; mappings keep the order of the file."""

    path: str
    text: str
    data: Any
    marks: Marks
    duplicates: tuple[Duplicate, ...] = ()

    def line(self, number: int) -> str:
        """Line *number* of the text as an editor counts, without its line break; empty when there is none."""
        lines = _BREAK.split(self.text)
        return lines[number - 1] if 0 < number <= len(lines) else ""


def locate(source: Source, route: Route, on_key: bool = False) -> tuple[int, int]:
    """Line and column of the value at *route*, or of its key; of the nearest parent when the route leads nowhere."""
    node, is_own = source.marks.node(route)
    position = source.marks.key_at[node] if on_key and is_own else 0
    return _unpacked(position or source.marks.value_at[node])


def shown(path: str, content: bytes) -> Source:
    """The text of a file to show lines of: its data is not read, and places in it carry their line."""
    marks = Marks([None], array("Q", [0]), array("Q", [1 << _SHIFT | 1]), array("L", [1]))
    return Source(path, content.decode("utf-8-sig", "replace"), None, marks)


def read(path: str, content: bytes) -> Source:
    """The record in *content*. Raises Unreadable; keys given twice are listed in the source instead."""
    return parse(path, decoded(content))


def decoded(content: bytes) -> str:
    """The text of a file. Raises Unreadable where it is too large, or no plain text in UTF-8."""
    if len(content) > MAX_BYTES:
        raise Unreadable("unreadable-file", f"the file is larger than {MAX_BYTES:,} bytes", help="split it")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line, column = _end_of(content[: problem.start].decode("utf-8-sig", "replace"))
        raise Unreadable("unreadable-file", "the file is not UTF-8 text", line, column, "save it as UTF-8") from None
    _refuse_control_characters(text)
    return text


def _refuse_control_characters(text: str) -> None:
    if stray := _CONTROL.search(text):
        line, column = _end_of(text[: stray.start()])
        code = f"U+{ord(stray[0]):04X}"
        raise Unreadable(
            "unreadable-file", f"the file holds the control character `{code}`", line, column, "take it out"
        )


def parse(path: str, text: str) -> Source:
    """Like `read`, for text that is decoded already."""
    _refuse_control_characters(text)
    readable, restored = _without_old_breaks(text)
    if path.endswith(".json"):
        readable = _as_yaml(readable)
    builder = _Builder(restored)
    try:
        builder.build(yaml.CSafeLoader(readable))
    except yaml.MarkedYAMLError as problem:
        raise _invalid(path, text, problem) from None
    except (yaml.YAMLError, UnicodeEncodeError) as problem:
        # A lone surrogate from a caller that decoded carelessly; `read` cannot produce one.
        raise Unreadable(
            "unreadable-file", "the file holds a character that YAML does not know", help="take it out"
        ) from problem
    return Source(path, text, builder.root, builder.marks(), tuple(builder.duplicates()))


class _Builder:
    """The state of one pass: the value so far, and where everything in it stands."""

    def __init__(self, restored: Mapping[int, str]) -> None:
        self.root: Any = None
        self._keys: list[str | None] = []
        self._key_at: list[int] = []
        self._value_at: list[int] = []
        self._ends: list[int] = []
        self._repeated: list[tuple[int, str, int]] = []  # node of the mapping, key, position
        self._restored = restored
        self._has_document = False

    def build(self, parser: Any) -> None:
        """Read all events of *parser* (libyaml's). One loop without calls: it runs for every word of every file."""
        next_event = parser.get_event
        scalar, mapping, sequence = yaml.ScalarEvent, yaml.MappingStartEvent, yaml.SequenceStartEvent
        mapping_end, sequence_end = yaml.MappingEndEvent, yaml.SequenceEndEvent
        keys, key_at, value_at, ends = self._keys, self._key_at, self._value_at, self._ends
        restored, telling = self._restored, _TELLING
        stack: list[tuple[Any, int]] = []  # the containers around the open one, with their nodes
        container: Any = None
        node = count = 0
        key: str | None = None
        key_position = 0  # 0 while the open mapping waits for a key, and in lists
        is_dropped = False
        while (event := next_event()) is not None:
            kind = type(event)
            if kind is scalar or kind is mapping or kind is sequence:
                mark = event.start_mark
                position = mark.line + 1 << _SHIFT | mark.column
                if event.anchor is not None or event.tag is not None:
                    raise _decorated(event, position)
                if kind is scalar:
                    value = event.value.translate(restored) if restored else event.value
                    if not key_position and type(container) is dict:
                        if value == "<<" and not event.style:
                            raise _refused("the merge key `<<` is not allowed", position, "write the keys out")
                        key, key_position = value, position
                        if key in container:
                            self._repeated.append((node, key, position))
                            is_dropped, key = True, None
                        continue
                    if not event.style and value[:1] in telling:
                        value = _plain(value, position)
                elif not key_position and type(container) is dict:
                    raise _refused("a key is one word, not a list or a mapping", position, "put the key in quotes")
                else:
                    value = {} if kind is mapping else []
                keys.append(key)
                key_at.append(key_position)
                value_at.append(position)
                count += 1
                ends.append(count)
                if count > MAX_NODES:
                    raise _refused(f"the file holds more than {MAX_NODES:,} values", position, "split it")
                if is_dropped:
                    is_dropped = False
                elif key_position:
                    container[key] = value
                elif container is not None:
                    container.append(value)
                else:
                    self.root = value
                key, key_position = None, 0
                if kind is not scalar:
                    if len(stack) >= MAX_DEPTH:
                        raise _refused(f"values are nested more than {MAX_DEPTH} deep", position, "write it flatter")
                    stack.append((container, node))
                    container, node = value, count - 1
            elif kind is mapping_end or kind is sequence_end:
                ends[node] = count
                container, node = stack.pop()
            else:
                self._frame(event)
        if self.root is None:
            raise Unreadable("schema", "the file is empty", help="write the record, or delete the file")

    def _frame(self, event: Any) -> None:
        """What stands around the values: one document, and no aliases."""
        position = event.start_mark.line + 1 << _SHIFT | event.start_mark.column
        if isinstance(event, yaml.AliasEvent):
            raise _refused(f"the alias `*{event.anchor}` is not allowed", position, "write the value out")
        if isinstance(event, yaml.DocumentStartEvent):
            if self._has_document:
                raise _refused("a file holds one document, here starts another", position, "write a second file")
            self._has_document = True

    def marks(self) -> Marks:
        return Marks(self._keys, array("Q", self._key_at), array("Q", self._value_at), array("L", self._ends))

    def duplicates(self) -> Iterator[Duplicate]:
        """The keys given twice, in the order of the file, with the place of the first."""
        firsts: dict[int, dict[str | None, int]] = {}
        marks = self.marks() if self._repeated else None
        for node, key, position in self._repeated:
            assert marks is not None
            if node not in firsts:
                firsts[node] = {marks.keys[child]: marks.key_at[child] for child in marks.children(node)}
            yield Duplicate(key, *_unpacked(position), *_unpacked(firsts[node][key]))


def _plain(text: str, position: int) -> Any:
    """The YAML 1.2 core reading of an unquoted word. A date stays text; a number with a point is an exact decimal."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _NUMERIC:
        return text
    if _INT.fullmatch(text):
        if len(text) > MAX_DIGITS:
            raise _refused(f"a number of {len(text)} digits is not read", position, f"at most {MAX_DIGITS} are")
        return int(text, {"0o": 8, "0x": 16}.get(text[:2], 10))
    if (number := _NUMBER.fullmatch(text)) is None:
        return text
    exponent = number[3] or "e0"
    if len(text) > 2 * MAX_DIGITS or len(exponent) > 5 or abs(int(exponent[1:])) > MAX_DIGITS:
        raise _refused("a number of that size is not read", position, f"at most {MAX_DIGITS} digits are")
    return Decimal(text)


def _refused(message: str, position: int, help: str | None = None) -> Unreadable:
    return Unreadable("unreadable-file", message, *_unpacked(position), help)


def _decorated(event: Any, position: int) -> Unreadable:
    """Anchors and tags stand before the value they decorate."""
    if event.anchor is not None:
        return _refused(f"the anchor `&{event.anchor}` is not allowed", position, "write the value out")
    return _refused(f"the tag `{event.tag}` is not allowed", position, _TAG)


def _unpacked(position: int) -> tuple[int, int]:
    return position >> _SHIFT, (position & _COLUMN) + 1


def _end_of(text: str) -> tuple[int, int]:
    """Line and column just after *text*."""
    lines = _BREAK.split(text)
    return len(lines), len(lines[-1]) + 1


def _without_old_breaks(text: str) -> tuple[str, dict[int, str]]:
    """*text* with stand-ins, one column each, for what only YAML 1.1 takes as a line break, and the way back."""
    used = [char for char in _OLD_BREAKS if char in text]
    free = (chr(code) for code in range(0xE000, 0xF900) if chr(code) not in text)
    standins = dict(zip(used, free, strict=False))
    for char, standin in standins.items():
        text = text.replace(char, standin)
    return text, {ord(standin): char for char, standin in standins.items()}


def _as_yaml(text: str) -> str:
    """JSON says a character beyond U+FFFF as two escapes, and may start with a tab; YAML knows neither."""
    body = text.lstrip(" \t\r\n")
    text = text[: len(text) - len(body)].replace("\t", " ") + body
    return _ESCAPE.sub(_joined, text) if "\\u" in text else text


def _joined(escape: re.Match[str]) -> str:
    if escape[1] is None:
        return escape[0]
    return json.loads(f'"{escape[0]}"')  # type: ignore[no-any-return]  # a JSON string is a str


def _invalid(path: str, text: str, problem: yaml.MarkedYAMLError) -> Unreadable:
    """What libyaml complains of, at the place that a person has to mend."""
    lines, said = [*_BREAK.split(text), ""], f"{problem.problem}"
    opened = problem.context_mark or problem.problem_mark
    mark = opened if any(words in said for words in _SHOWS_LATE) else problem.problem_mark or opened
    # What ends too early ends where the last word does, not on a line behind it.
    line, column = min((mark.line + 1, mark.column + 1), _end_of(text.rstrip())) if mark else (1, 1)
    message, written = f"the file is no valid {'JSON' if path.endswith('.json') else 'YAML'}: {said}", lines[line - 1]
    if conflict := next((i for i, one in enumerate(lines, 1) if _UNMERGED.match(one)), None):
        message, help = "a merge left both of its sides in the file", "keep one, and delete the lines that git added"
        return Unreadable("unreadable-file", message, conflict, 1, help, lines[conflict - 1])
    if "\t" in written[: len(written) - len(written.lstrip())]:
        help = "indent with spaces, not with tabs"
    else:
        since = f"what begins on line {opened.line + 1}" if opened else "what stands before"
        help = next((help.format(opened=since) for words, help in _SYNTAX.items() if words in said), "")
    return Unreadable("unreadable-file", message, line, column, help or None, written)
