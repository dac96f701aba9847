"""A draft of `rules/tools.yaml` from the tool list of an MCP server: it binds what is declared, people finish it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bylaw.authored.vocabulary import Vocabulary
from bylaw.canonical import write_atomically
from bylaw.errors import UsageError
from bylaw.language.money import currency_of
from bylaw.language.units import unit_of
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
    blocks = ["\n".join(_block(tool, workspace.vocabulary, notes)) for tool in listed if tool["name"] not in known]
    added = tuple(tool["name"] for tool in listed if tool["name"] not in known)
    gone = sorted(set(known) - {tool["name"] for tool in listed})
    notes += [f"the server no longer lists `{name}`" for name in gone]
    before = path.read_text(encoding="utf-8") if path.is_file() else ""
    return Drafted(_joined(before, blocks, bool(known)), added, tuple(notes))


def _joined(before: str, blocks: Sequence[str], has_tools: bool) -> str:
    if not blocks:
        return before
    if not has_tools:
        head = "".join(line for line in before.splitlines(keepends=True) if line.startswith("#")) or FIRST
        return head + "tools:\n" + "\n".join(blocks) + "\n"
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
    schema = tool.get("inputSchema") or tool.get("input_schema") or {}
    properties = schema.get("properties") if isinstance(schema, dict) else None
    arguments = sorted(map(str, properties)) if isinstance(properties, dict) else []
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
            is_told = unit is not None and (currency_of(unit) or unit_of(unit))
            yield f"      {fact}: {{from: argument, name: {fact}{f', unit: {unit}' if is_told else ''}}}"
    keys = [argument for argument in arguments if re.fullmatch(r"[A-Za-z_]\w*(_id|Id)", argument)]
    if keys:
        yield f"    keys: {{{', '.join(f'{key}: {key}' for key in keys)}}}"
    left = sorted(set(arguments) - {*facts, *keys})
    notes += [f"`{name}` takes `{argument}`, which is bound to no fact" for argument in left]


def _is_bound(argument: str, vocabulary: Vocabulary) -> bool:
    declared = vocabulary.facts.get(argument)
    return declared is not None and declared.history is None
