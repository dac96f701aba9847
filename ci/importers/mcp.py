"""A draft of `rules/tools.yaml` from the tool list of an MCP server: it binds what is declared, people finish it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bylaw.authored.tools import KeyType
from bylaw.authored.vocabulary import Vocabulary
from bylaw.canonical import write_atomically
from bylaw.errors import UsageError
from bylaw.language.lexicon import lexicon
from bylaw.language.units import unit_named
from ci.loading.load import load

PATH = "rules/tools.yaml"
FIRST = "# yaml-language-server: $schema=../bylaw/schemas/rules_tools.schema.json\n"
MOST_BYTES = 4_000_000
_WORD = re.compile(r"[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])")


@dataclass(frozen=True, slots=True)
class Drafted:
    """The file as it would be, the tools that are new in it, and what a person has to settle."""

    text: str
    added: tuple[str, ...]
    notes: tuple[str, ...]

    def write(self, root: Path) -> None:
        """Write the file."""
        path = root / PATH
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, self.text)


def draft(manifest: Path, root: Path) -> Drafted:
    """The draft from the list in *manifest* for the repository at *root*. Raises UsageError."""
    listed = list(_tools(manifest))
    workspace = load(root)
    known, path = workspace.rules.tools.tools, root / PATH
    notes: list[str] = []
    new = [tool for tool in listed if tool["name"] not in known]
    blocks = ["\n".join(_block(tool, workspace.vocabulary, notes)) for tool in new]
    added = tuple(tool["name"] for tool in new)
    types = _types(new, workspace.rules.tools.keys, notes)
    gone = sorted(set(known) - {tool["name"] for tool in listed})
    notes += [f"the server no longer lists `{name}`" for name in gone]
    before = path.read_text(encoding="utf-8") if path.is_file() else ""
    if known and types:
        notes += [f"`keys` at the top of {PATH} may say `{line.strip()}`" for line in types]
    return Drafted(_joined(before, blocks, types, bool(known)), added, tuple(notes))


def _joined(before: str, blocks: Sequence[str], types: Sequence[str], has_tools: bool) -> str:
    if not blocks:
        return before
    if not has_tools:
        head = "".join(line for line in before.splitlines(keepends=True) if line.startswith("#")) or FIRST
        return head + "\n".join([*(["keys:", *types] if types else []), "tools:", *blocks]) + "\n"
    keys = [line for line in before.splitlines() if re.match(r"\S[^#]*:", line)]
    if not keys or not keys[-1].startswith("tools:") or keys[-1].rstrip() != "tools:":
        raise UsageError(f"`{PATH}` does not end with its tools, so nothing can be added to it", "see --dry-run")
    return before.rstrip("\n") + "\n" + "\n".join(blocks) + "\n"


def _tools(manifest: Path) -> Iterator[Mapping[str, Any]]:
    try:
        text = manifest.read_bytes()
        found = json.loads(text) if len(text) <= MOST_BYTES else None
    except (OSError, ValueError, RecursionError):
        raise UsageError(f"`{manifest}` is no list of tools", "save what the server answers to tools/list") from None
    while isinstance(found, dict) and "tools" not in found and isinstance(found.get("result"), dict):
        found = found["result"]
    listed = found.get("tools") if isinstance(found, dict) else found
    if not isinstance(listed, list):
        raise UsageError(f"`{manifest}` is no list of tools", "save what the server answers to tools/list")
    for tool in listed:
        if isinstance(tool, dict) and isinstance(tool.get("name"), str) and 0 < len(tool["name"]) <= 200:
            yield tool


def _block(tool: Mapping[str, Any], vocabulary: Vocabulary, notes: list[str]) -> Iterator[str]:
    name = tool["name"]
    action = "_".join(part.lower() for part in _WORD.split(name) if part) or "action"
    arguments = sorted(_arguments(tool))
    yield f"  {json.dumps(name, ensure_ascii=False)}:"
    if isinstance(tool.get("description"), str) and (said := " ".join(tool["description"].split())[:180]):
        yield f"    description: {json.dumps(said, ensure_ascii=False)}"
    yield f"    action: {action}"
    if action not in vocabulary.actions:
        notes.append(f"`{name}` means `{action}`, which no vocabulary declares: declare it, or name another action")
    facts = [argument for argument in arguments if _is_bound(argument, vocabulary)]
    if facts:
        yield "    facts:"
        for fact in facts:
            unit = vocabulary.facts[fact].unit
            is_told = unit_named(unit) in lexicon().units.values()
            yield f"      {fact}: {{from: argument, name: {fact}{f', unit: {unit}' if is_told else ''}}}"
    keys = _keys(arguments)
    if keys:
        yield f"    keys: {{{', '.join(f'{key}: {key}' for key in keys)}}}"
    left = sorted(set(arguments) - {*facts, *keys})
    notes += [f"`{name}` takes `{argument}`, which is bound to no fact" for argument in left]


def _arguments(tool: Mapping[str, Any]) -> Mapping[str, Any]:
    """The arguments of a tool, each with its schema."""
    schema = tool.get("inputSchema") or tool.get("input_schema") or {}
    properties = schema.get("properties") if isinstance(schema, dict) else None
    return {str(name): said for name, said in properties.items()} if isinstance(properties, dict) else {}


def _keys(arguments: Iterable[str]) -> list[str]:
    return sorted(argument for argument in arguments if re.fullmatch(r"[A-Za-z_]\w*(_id|Id)", argument))


def _types(tools: Iterable[Mapping[str, Any]], known: Mapping[str, KeyType], notes: list[str]) -> list[str]:
    """A line for each key on whose type the tools agree; a note for each that none of them tells."""
    said: dict[str, set[str | None]] = {}
    for tool in tools:
        arguments = _arguments(tool)
        for key in _keys(arguments):
            if key not in known:
                said.setdefault(key, set()).add(_type(arguments[key]))
    found = {key: types.pop() for key, types in sorted(said.items()) if len(types) == 1}
    notes += [
        f"nothing says how `{key}` is spelled: give it a type under `keys`"
        for key in sorted(said)
        if not found.get(key)
    ]
    return [f"  {key}: {type_}" for key, type_ in found.items() if type_]


def _type(schema: Any) -> str | None:
    """The type of a key as the schema of its argument tells it; text alone tells of no spelling."""
    if not isinstance(schema, dict):
        return None
    kind, format_, pattern = (schema.get(name) for name in ("type", "format", "pattern"))
    if kind == "integer":
        return "{type: integer}"
    if kind == "string" and format_ in ("uuid", "date"):
        return f"{{type: {format_}}}"
    if kind == "string" and isinstance(pattern, str) and pattern[:1] == "^" and pattern[-1:] == "$":
        with suppress(ValueError):
            whole = KeyType.model_validate({"type": "text", "pattern": pattern[1:-1]})
            return f"{{type: text, pattern: {json.dumps(whole.pattern, ensure_ascii=False)}}}"
    return None


def _is_bound(argument: str, vocabulary: Vocabulary) -> bool:
    declared = vocabulary.facts.get(argument)
    return declared is not None and declared.history is None
