"""`bylaw new KIND NAME`: a commented file to fill in, in its place and in the words that the repository declares.

What is written checks without errors as it is: what an author has to choose stands in comments beside it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path, PurePosixPath
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from bylaw.authored.vocabulary import Fact
from bylaw.canonical import write_atomically
from bylaw.errors import UsageError
from ci.commands.appending import appended
from ci.loading.load import Workspace

_SKELETONS = Path(__file__).parent / "skeletons"
_ID = re.compile(r"POL-(?:IMP-)?(?P<domain>[A-Z][A-Z0-9_-]*)-\d{3,}")
_SLUG = re.compile(r"[a-z0-9][a-z0-9_-]{2,}[a-z0-9]")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SHOWN = 4  # of the repository's facts and actions, as examples


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of file: where it lies, which schema its editor is pointed at, and how a name of it is formed."""

    path: str  # of a new file, with `{domain}` and `{name}`
    schema: str
    form: re.Pattern[str]
    told: str  # the form in words


KINDS: Mapping[str, Kind] = {
    "policy": Kind("policies/{domain}/{name}.yaml", "policy", _ID, "an id like POL-EXPENSE-001, or its domain"),
    "case": Kind("policies/{domain}/cases.yaml", "cases", re.compile(r"[^\n\"#:]{1,200}"), "a short sentence"),
    "entity": Kind("context/entities/{name}.yaml", "entity", _NAME, "letters, digits and `_`"),
    "metric": Kind("context/metrics/{name}.yaml", "metric", _NAME, "letters, digits and `_`"),
    "gotcha": Kind("context/gotchas/{name}.yaml", "gotcha", _SLUG, "small letters, digits, `-` and `_`"),
    "glossary": Kind("context/glossary/{name}.yaml", "glossary", _SLUG, "small letters, digits, `-` and `_`"),
    "decision": Kind("context/decisions/decisions/{name}.yaml", "decision", _SLUG, "small letters, digits, `-`, `_`"),
}


@dataclass(frozen=True, slots=True)
class Skeleton:
    """A file to write: its path from the root, and its whole text."""

    path: str
    text: str


def skeleton(
    workspace: Workspace, kind: str, name: str, today: date, domain: str | None = None, owner: str = "TBD"
) -> Skeleton:
    """The new file of *kind*. Raises UsageError for a name of the wrong form, or one that is taken.

    A policy may be named by its domain alone: it gets the next free number. A case needs its *domain*; it goes to the
    end of that domain's file.
    """
    if kind == "policy":
        name = name if _ID.fullmatch(name) else _next_id(workspace, name)
        domain = _domain_of(name, domain)
    made = KINDS[kind]
    if not made.form.fullmatch(name):
        raise UsageError(f"`{name}` is no name of a {kind}", f"write {made.told}")
    if kind == "case" and domain is None:
        raise UsageError("a case belongs to a domain", "name it with --domain")
    path = made.path.format(domain=domain, name=name)
    before = _before(workspace, path, kind)
    text = _rendered(
        kind,
        {
            **_words(workspace, domain),
            "name": name,
            "id": name,
            "domain": domain,
            "owner": owner,
            "today": today.isoformat(),
        },
    )
    if before:
        return Skeleton(path, appended(path, before, [text]))
    return Skeleton(path, _schema_line(workspace.root, path, made.schema) + text)


def write(root: Path, made: Skeleton) -> Path:
    """Write it; the path of the file. Raises UsageError where that fails."""
    target = root / made.path
    try:
        write_atomically(target, made.text)
    except OSError as error:
        raise UsageError(f"cannot write `{target}`: {error.strerror or error}") from None
    return target


def _next_id(workspace: Workspace, domain: str) -> str:
    word = re.sub(r"[^A-Z0-9_-]", "-", domain.upper())
    if not re.fullmatch(r"[A-Z][A-Z0-9_-]*", word):
        raise UsageError(f"`{domain}` is neither the id of a policy nor a domain", f"write {KINDS['policy'].told}")
    numbers = [int(one.rpartition("-")[2]) for one in workspace.policy_ids if re.fullmatch(rf"POL-{word}-\d+", one)]
    return f"POL-{word}-{max(numbers, default=0) + 1:03}"


def _domain_of(id: str, domain: str | None) -> str:
    told = _ID.fullmatch(id)
    assert told is not None
    if domain is not None and domain.upper() != told["domain"]:
        raise UsageError(f"the domain in `{id}` is not `{domain}`", "leave --domain out, or change the id")
    return domain or told["domain"].lower()


def _before(workspace: Workspace, path: str, kind: str) -> str:
    """The text that an entry is added to; a file of one record may not be there yet."""
    there = workspace.root / path
    if kind != "case" and there.exists():
        raise UsageError(f"`{path}` is there already", "choose another name, or edit that file")
    if path not in workspace.sources and there.exists():
        raise UsageError(f"`{path}` cannot be read", "see `bylaw check`, and correct it first")
    return workspace.sources[path].text if path in workspace.sources else ""


def _words(workspace: Workspace, domain: str | None) -> dict[str, Any]:
    """The repository's own words as examples, those of the domain first."""
    vocabulary = workspace.vocabulary
    facts = sorted(vocabulary.facts.items(), key=lambda item: (domain not in item[1].domains, item[0]))[:_SHOWN]
    actions = [name for name, action in sorted(vocabulary.actions.items()) if action.same_as is None][:_SHOWN]
    outcomes = sorted((action.outcome, name) for name, action in vocabulary.actions.items() if action.outcome)
    return {
        "scope": next(iter(sorted(vocabulary.scope)), ""),
        "conditions": [_condition(name, fact) for name, fact in facts],
        "actions": actions,
        "facts": ", ".join(f"{name}: {_example(fact)}" for name, fact in facts[:2]),
        "expect": ": ".join(map(str, outcomes[0])) if outcomes else "required: []",
        "source": "handbook, section …",
        "entity": next(iter(sorted(workspace.context.entities)), "orders"),
    }


def _condition(name: str, fact: Fact) -> str:
    operator = ', operator: "<="' if fact.type in ("integer", "decimal", "date") else ""
    unit = f", unit: {fact.unit}" if fact.unit else ""
    return f"{{type: fact, parameter: {name}{operator}, value: {_example(fact)}{unit}}}"


def _example(fact: Fact) -> str:
    """A value that the fact can have, as YAML spells it."""
    if fact.type == "enum":
        return next(iter(fact.values))
    if fact.type == "date":
        return f'"{fact.minimum or "2026-01-31"}"'
    return "true" if fact.type == "boolean" else str(fact.minimum or fact.maximum or 30)


def _rendered(kind: str, words: Mapping[str, Any]) -> str:
    environment = Environment(
        loader=FileSystemLoader(_SKELETONS), undefined=StrictUndefined, keep_trailing_newline=True, autoescape=False
    )
    return environment.get_template(f"{kind}.yaml.j2").render(words)


def _schema_line(root: Path, path: str, schema: str) -> str:
    """The line that points an editor at the schema, where `bylaw schema` or `bylaw init` has put one."""
    for folder in ("schemas", "bylaw/schemas"):
        target = f"{folder}/{schema}.schema.json"
        if (root / target).is_file():
            way = os.path.relpath(target, PurePosixPath(path).parent)
            return f"# yaml-language-server: $schema={PurePosixPath(way)}\n"
    return ""
