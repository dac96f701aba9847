"""A draft of `rules/tools.yaml` from the tool list of an MCP server: what is declared is bound, the rest proposed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from bylaw.authored.tools import KeyType
from bylaw.authored.vocabulary import Vocabulary
from bylaw.canonical import write_atomically
from bylaw.errors import UsageError
from bylaw.language.lexicon import lexicon
from bylaw.language.units import unit_named
from ci.importers.tool_words import SCHEMA as WORDS_SCHEMA
from ci.importers.tool_words import WORDS, Words, fact_of, is_action
from ci.importers.write import missing_schemas, schema_line
from ci.loading.load import load

PATH = "rules/tools.yaml"
SCHEMA = "rules_tools"
MOST_BYTES = 4_000_000
MOST_NAME = 200  # characters of a tool's name
_WORD = re.compile(r"[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])")


@dataclass(frozen=True, slots=True)
class Drafted:
    """The file as it would be, the tools that are new in it, what a person has to settle, and the words they need."""

    text: str
    added: tuple[str, ...]
    notes: tuple[str, ...]
    words: str | None = None
    schemas: Mapping[str, str] = field(default_factory=dict)  # that the first lines point at, where they are missing

    def write(self, root: Path) -> None:
        """Write the files."""
        for name, text in ((PATH, self.text), (WORDS, self.words), *self.schemas.items()):
            if text is not None:
                path = root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                write_atomically(path, text)


@dataclass(frozen=True, slots=True)
class Listed:
    """The tools of a list, each once. `is_whole`: there is no other page of it."""

    tools: tuple[Mapping[str, Any], ...]
    notes: tuple[str, ...]
    is_whole: bool


def draft(manifest: Path, root: Path) -> Drafted:
    """The draft from the list in *manifest* for the repository at *root*. Raises UsageError."""
    listed = listed_tools(manifest)
    workspace = load(root)
    known, path = workspace.rules.tools.tools, root / PATH
    new = [tool for tool in listed.tools if tool["name"] not in known]
    blocks = _Blocks(workspace.vocabulary)
    texts = ["\n".join(blocks.of(tool)) for tool in new]
    notes = [*listed.notes, *blocks.notes]
    types = _types(new, workspace.rules.tools.keys, notes)
    if listed.is_whole:
        gone = sorted(set(known) - {tool["name"] for tool in listed.tools})
        notes += [f"the server no longer lists `{name}`" for name in gone]
    before = path.read_text(encoding="utf-8") if path.is_file() else ""
    if known and types:
        notes += [f"`keys` at the top of {PATH} may say `{line.strip()}`" for line in types]
    words, by_hand = blocks.words.written(root)
    text = _joined(before, texts, types, bool(known), schema_line(root, PATH, SCHEMA))
    schemas = dict(missing_schemas(root, {SCHEMA} if words is None else {SCHEMA, WORDS_SCHEMA}))
    return Drafted(text, tuple(tool["name"] for tool in new), (*notes, *by_hand), words, schemas)


def _joined(before: str, blocks: Sequence[str], types: Sequence[str], has_tools: bool, first: str) -> str:
    if not blocks:
        return before
    if not has_tools:
        head = "".join(line for line in before.splitlines(keepends=True) if line.startswith("#")) or first
        return head + "\n".join([*(["keys:", *types] if types else []), "tools:", *blocks]) + "\n"
    keys = [line for line in before.splitlines() if re.match(r"\S[^#]*:", line)]
    if not keys or not keys[-1].startswith("tools:") or keys[-1].rstrip() != "tools:":
        raise UsageError(f"`{PATH}` does not end with its tools, so nothing can be added to it", "see --dry-run")
    return before.rstrip("\n") + "\n" + "\n".join(blocks) + "\n"


def listed_tools(manifest: Path) -> Listed:
    """What the list in *manifest* holds. Raises UsageError where it is none."""
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
    tools: dict[str, Mapping[str, Any]] = {}
    notes: list[str] = []
    for n, tool in enumerate(listed, 1):
        name = tool.get("name") if isinstance(tool, dict) else None
        if not isinstance(name, str) or not 0 < len(name) <= MOST_NAME or not name.isprintable():
            notes.append(f"tool {n} of the list has no name that could be bound: it is left out, and denied")
        elif name in tools:
            notes.append(f"`{name}` is listed twice: the first is taken")
        else:
            tools[name] = tool
    is_whole = not (isinstance(found, dict) and found.get("nextCursor"))
    if not is_whole:
        notes.append("the list goes on (`nextCursor`): ask for the other pages too, what is not bound is denied")
    return Listed(tuple(tools.values()), tuple(notes), is_whole)


class _Blocks:
    """The blocks of new tools, and the words that they need."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self.notes: list[str] = []
        self.words = Words()
        self._owner: dict[str, str] = {}  # action -> the tool of this list that means it

    def of(self, tool: Mapping[str, Any]) -> Iterator[str]:
        """The lines of one tool."""
        name, arguments = tool["name"], _arguments(tool)
        if _is_reading(tool):
            yield "  # the server says that it only reads (readOnlyHint)"
        yield f"  {json.dumps(name, ensure_ascii=False)}:"
        if isinstance(tool.get("description"), str) and (said := " ".join(tool["description"].split())[:180]):
            yield f"    description: {json.dumps(said, ensure_ascii=False)}"
        yield f"    action: {_spelled(self._action(tool))}"
        keys = _keys(sorted(arguments))
        bound = dict(self._facts(name, {one: arguments[one] for one in sorted(arguments) if one not in keys}))
        if bound:
            yield "    facts:"
            for fact, argument in bound.items():
                declared = self.vocabulary.facts.get(fact)
                unit = None if declared is None else declared.unit
                is_told = unit_named(unit) in lexicon().units.values()
                shown = f"from: argument, name: {_spelled(argument)}{f', unit: {unit}' if is_told else ''}"
                yield f"      {_spelled(fact)}: {{{shown}}}"
        if keys:
            yield f"    keys: {{{', '.join(f'{key}: {key}' for key in keys)}}}"
        left = sorted(set(arguments) - {*bound.values(), *keys})
        self.notes += [f"`{name}` takes `{argument}`, which is bound to no fact" for argument in left]

    def _action(self, tool: Mapping[str, Any]) -> str:
        """The action that a tool means: one of its own, which is declared or proposed."""
        name = tool["name"]
        plain = "_".join(part.lower() for part in _WORD.split(name) if part)
        own = found = plain if is_action(plain) else f"call_{plain}"[:90] if plain else "call"
        count = 1
        is_declared = own in self.vocabulary.actions
        while found in self._owner and not is_declared:
            count += 1
            found = f"{own}_{count}"
        if own in self._owner:
            other = f"both mean `{own}`" if is_declared else f"would both be `{own}`: the second is `{found}` here"
            self.notes.append(f"`{self._owner[own]}` and `{name}` {other}; name another action if they differ")
        self._owner.setdefault(found, name)
        if found not in self.vocabulary.actions:
            does = "only reads, says the server" if _is_reading(tool) else "may change something"
            self.words.actions[found] = {"label": f"call {name}"[:180]}
            self.notes.append(f"`{name}` means `{found}`, which {does}: no policy permits it yet, so it is denied")
        return found

    def _facts(self, tool: str, arguments: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """The facts that arguments say, declared or proposed, each with its argument."""
        for argument, schema in arguments.items():
            declared = self.vocabulary.facts.get(argument)
            if declared is not None:
                if declared.history is None:
                    yield argument, argument
                continue
            proposed = fact_of(argument, schema)
            if proposed is None or proposed[0] in self.vocabulary.facts:
                continue
            name, said = proposed
            if self.words.facts.setdefault(name, said) == said:
                yield name, argument
            else:
                self.notes.append(f"`{tool}` takes `{argument}` as something else than another tool does")


def _spelled(name: str) -> str:
    """A name as YAML reads it back as text: `"true"`."""
    is_plain = name.isascii() and name.isidentifier() and yaml.safe_load(name) == name
    return name if is_plain else json.dumps(name, ensure_ascii=False)


def _is_reading(tool: Mapping[str, Any]) -> bool:
    """Does the server say that a call of it changes nothing?"""
    hints = tool.get("annotations")
    return isinstance(hints, dict) and hints.get("readOnlyHint") is True


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
