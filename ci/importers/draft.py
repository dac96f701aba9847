"""What an importer writes into: records of the context in the order of their models, and what is left behind and why.

`checked` holds the records to the very lints of `bylaw check`: what would be an error there is left behind here, so
what is written checks clean. Where leaving out a part would change a number, the whole record is left out.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import BaseModel

from bylaw.authored.context import Entity, Guide, Metric, VerifiedQuery
from bylaw.authored.decisions import Decision
from ci.findings import Finding, Route
from ci.importers.sql import with_table
from ci.importers.units import propose_units
from ci.lint.catalog import catalog
from ci.lint.context import context_references
from ci.loading.commits.revision import Revision
from ci.loading.files import Content
from ci.loading.load import read

Record = dict[str, Any]
Note = tuple[tuple[str, ...], str]  # where in a record, and what a comment there says

KINDS: Mapping[str, tuple[type[BaseModel], str, str]] = {  # section -> model, identity, schema
    "entities": (Entity, "name", "entity"),
    "metrics": (Metric, "name", "metric"),
    "guides": (Guide, "domain", "guide"),
    "verified_queries": (VerifiedQuery, "name", "verified_query"),
    "decisions/decisions": (Decision, "id", "decision"),
}
NO_PLACE = "there is no place for it in context/"
LONGEST_WORD = 200
ROUNDS = 50
# Parts that may go without changing what the rest says. Of lists, the item; of lists of words, the word.
_LOOSE = {
    "entities": {"description", "domain", "owner", "tags", "synonyms", "label", "freshness", "primary_key", "pii"}
    | {"dimensions", "time_dimensions", "facts", "filters", "relationships"},
    "metrics": {"description", "synonyms", "tags", "owner", "format", "unit"},
    "guides": {"description", "conventions", "entities", "owner"},
    "verified_queries": {"description"},
    "decisions/decisions": set(),
}
_UNWRITTEN = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufeff\ufffe\uffff]")
_WORDS = frozenset(("synonyms", "sample_values", "tags", "pii", "label", "conventions"))


@dataclass(frozen=True, slots=True)
class Dropped:
    """Something of the source that was not carried over: its place there, and the reason."""

    where: str
    why: str


class ContextDraft:
    """The records so far, and what was left behind. `schema` is meant for tables whose source names none."""

    def __init__(self, schema: str = "main", dialect: str | None = None) -> None:
        self.schema = schema
        self.dialect = dialect
        self.records: dict[str, dict[str, Record]] = {section: {} for section in KINDS}
        self.origin: dict[tuple[str, str], str] = {}  # (section, name) -> place in the source
        self.notes: dict[tuple[str, str], list[Note]] = {}
        self.dropped: list[Dropped] = []
        self.guesses: list[str] = []  # what the source does not say, and people review

    def note(self, section: str, name: str, route: tuple[str, ...], text: str) -> None:
        """Say *text* in a comment over a part of a record; the items of a list are known by their names."""
        self.notes.setdefault((section, name), []).append((route, text))

    def drop(self, where: str, why: str) -> None:
        """Say that what stands at *where* in the source is left behind."""
        self.dropped.append(Dropped(where, why))

    def rest(self, source: Mapping[str, Any], known: Iterable[str], where: str, why: Mapping[str, str] = {}) -> None:
        """Say which keys of *source*, beyond the *known*, are left behind. An empty value says nothing."""
        for key in sorted(set(source) - set(known)):
            if source[key] not in (None, "", False, [], {}):
                self.drop(f"{where}.{key}" if where else key, why.get(key, NO_PLACE))

    def add(self, section: str, record: Record, where: str) -> bool:
        """Keep *record*, unless one of its name (whatever the case: files are named by it) is there already."""
        model, identity, _ = KINDS[section]
        name = record.get(identity)
        if not isinstance(name, str) or not name:
            self.drop(where, "it has no name that could be written here")
            return False
        if any(name.casefold() == known.casefold() for known in self.records[section]):
            self.drop(where, f"`{name}` is there already")
            return False
        self.records[section][name] = _ordered(model, record)
        self.origin[section, name] = where
        return True

    def mappings(self, source: Any, where: str) -> list[tuple[str, dict[str, Any]]]:
        """The mappings of a list with their places; anything else is left behind."""
        if source is None:
            return []
        if not isinstance(source, list):
            self.drop(where, "it should be a list")
            return []
        found = []
        for i, item in enumerate(source):
            if isinstance(item, dict):
                found.append((f"{where}[{i}]", item))
            else:
                self.drop(f"{where}[{i}]", "it should be a mapping")
        return found

    def name(self, said: Any, where: str) -> str | None:
        """*said* as a name: `Daily Revenue!` is `Daily_Revenue`. None, and said, where nothing is left of it."""
        found = identifier(said)
        if found is None:
            self.drop(where, "it has no name that could be written here")
        return found

    def base_table(self, schema: Any, table: Any, where: str) -> Record | None:
        """The table behind an entity. None, and said, where there is none."""
        named = schema if is_name(schema) else None
        if schema not in (None, "") and named is None:
            self.drop(f"{where}.schema", f"the schema is no plain name, `{self.schema}` is meant instead")
        elif named is None:
            self.drop(f"{where}.schema", f"no schema is named: `{self.schema}` is meant (--schema says another)")
        if not is_name(table):
            self.drop(where, "no table is named that could be written here")
            return None
        return {"schema": named or self.schema, "table": table}

    # ---- held to the lints

    def checked(self) -> None:
        """Leave behind what `bylaw check` would call an error, until nothing is left to complain of."""
        self._tell_apart()
        self._propose_units()
        for _ in range(ROUNDS):
            errors = self._errors()
            if not errors:
                return
            cuts: dict[tuple[str, str, Route], Finding] = {}
            for finding in errors:
                path = PurePosixPath(finding.at.path.removeprefix("context/"))
                section, name = path.parent.as_posix(), path.stem
                cuts.setdefault((section, name, self._cut(section, name, finding)), finding)
            for (section, name, route), finding in sorted(cuts.items(), key=lambda cut: _last_first(cut[0])):
                self._remove(section, name, route, finding)
        for section, name in [(s, n) for s, n, *_ in sorted(cuts, key=_last_first)]:
            self._remove(section, name, (), finding)

    def _tell_apart(self) -> None:
        """An entity that is called as a metric: people who say the name ask for the number, so the table gives way."""
        entities, metrics = self.records["entities"], self.records["metrics"]
        numbers = {name.casefold() for name in metrics}
        for name in [name for name in entities if name.casefold() in numbers]:
            new = f"{name[:90]}_rows"
            while new.casefold() in numbers or new in entities:
                new += "_"
            self.origin["entities", new] = where = self.origin.pop(("entities", name))
            self.drop(f"{where}: the name `{name}`", f"a metric is called so too: the entity is `{new}` here")
            self.records["entities"] = entities = {
                new if key == name else key: _with_entity(record, name, new) for key, record in entities.items()
            }
            entities[new]["name"] = new
            self.notes["entities", new] = self.notes.pop(("entities", name), [])
            for section in ("metrics", "guides"):
                self.records[section] = {k: _with_entity(v, name, new) for k, v in self.records[section].items()}

    def _propose_units(self) -> None:
        """A number beside a column that is called like a currency or a unit is told by it."""
        for section, record, number, column in propose_units(self.records):
            route = ("facts", number) if section == "entities" else ("unit_column",)
            self.note(section, record, route, f"in the unit that `{column}` says, by its name: people know better")
            where = self.origin[section, record]
            self.guesses.append(f"{where}: `{number}` is in the unit that `{column}` says (`unit_column`), by its name")

    def _errors(self) -> list[Finding]:
        files = [
            # JSON is YAML, and is written in a tenth of the time.
            Content(f"context/{section}/{name}.yaml", json.dumps(record, ensure_ascii=False).encode())
            for section, records in self.records.items()
            for name, record in records.items()
        ]
        workspace = read(Path(), files, Revision(), None)
        fatal = ("schema", "duplicate-id", "unreadable-file", "duplicate-key")
        found = [finding for finding in workspace.findings if finding.id in fatal]
        if found:
            return found
        lints = [*context_references(workspace), *catalog(workspace)]
        return [finding for finding in lints if finding.id in ("invalid-sql", "unknown-column", "dangling-reference")]

    def _cut(self, section: str, name: str, finding: Finding) -> Route:
        """How much goes: a word of a list, an item, a loose key, or the record."""
        route = finding.at.route
        if not route or route[0] not in _LOOSE[section]:
            return ()
        for i, step in enumerate(route):
            if step in _WORDS and i + 1 < len(route):
                return route[: i + 2]
        return route[:2] if len(route) > 1 and isinstance(route[1], int) else route[:1]

    def _remove(self, section: str, name: str, route: Route, finding: Finding) -> None:
        record: Any = self.records[section].get(name)
        if record is None:
            return
        where = self.origin[section, name]
        if not route:
            del self.records[section][name]
            self.drop(where, finding.message)
            return
        for step in route[:-1]:
            record = record[step]
        last: Any = route[-1]
        if isinstance(record, list) and last >= len(record):
            return
        part = record[last]
        label = part.get("name") if isinstance(part, dict) else None
        del record[last]
        if record == []:
            self._remove_empty(section, name, route[:-1])
        self.drop(f"{where}: {_spoken(route, label)}", finding.message)

    def _remove_empty(self, section: str, name: str, route: Route) -> None:
        holder: Any = self.records[section][name]
        for step in route[:-1]:
            holder = holder[step]
        del holder[route[-1]]


def _with_entity(record: Record, old: str, new: str) -> Record:
    """*record* with every mention of the entity *old* as *new*: by itself, and before a column."""

    def renamed(key: str, value: Any) -> Any:
        if isinstance(value, dict):
            return {inner: renamed(inner, item) for inner, item in value.items()}
        if isinstance(value, list):
            return [renamed(key, item) for item in value]
        if key in ("entity", "right_entity", "entities") and value == old:
            return new
        return with_table(value, old, new) if key in ("expr", "filter") and isinstance(value, str) else value

    return {key: renamed(key, value) for key, value in record.items()}


def _last_first(cut: tuple[str, str, Route]) -> tuple[str, str, list[Any]]:
    section, name, route = cut
    return section, name, [-step if isinstance(step, int) else step for step in route]


def _spoken(route: Route, label: Any) -> str:
    shown = ".".join(map(str, route))
    return f"{shown} (`{label}`)" if isinstance(label, str) else shown


def _ordered(model: type[BaseModel], record: Record) -> Record:
    """*record* in the order of its model, without what says nothing."""
    order = [field.alias or name for name, field in model.model_fields.items()]
    kept = {key: value for key, value in record.items() if value not in (None, [], {}, "")}
    return {key: kept[key] for key in order if key in kept} | {k: v for k, v in kept.items() if k not in order}


# ---- words of others


def is_name(said: Any) -> bool:
    """Can *said* be written as a name as it is?"""
    return isinstance(said, str) and re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,99}", said) is not None


def identifier(said: Any) -> str | None:
    """*said* with everything that no name may hold turned into `_`."""
    if not isinstance(said, str | int | float):
        return None
    plain = unicodedata.normalize("NFKD", str(said)).encode("ascii", "ignore").decode()
    cut = re.sub(r"\W+", "_", plain).strip("_")[:99]
    return f"_{cut}" if cut[:1].isdigit() else cut or None


def slug(said: Any) -> str | None:
    """*said* as a name with dashes: of a guide, or a verified query."""
    if not isinstance(said, str | int | float):
        return None
    plain = unicodedata.normalize("NFKD", str(said)).encode("ascii", "ignore").decode()
    return re.sub(r"[^A-Za-z0-9_.]+", "-", plain).strip("-_.")[:100] or None


def text(said: Any) -> str | None:
    """*said* as a description: no control characters, no blanks around it. None where it says nothing."""
    if not isinstance(said, str):
        return None
    lines = (
        re.sub(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ufeff\ufffe\uffff]|\t", " ", line).rstrip() for line in said.splitlines()
    )
    return "\n".join(lines).strip()[:20_000] or None


def word(said: Any) -> str | None:
    """*said* as one word or phrase on one line."""
    if isinstance(said, bool) or not isinstance(said, str | int | float):
        return None
    return " ".join((text(str(said)) or "").split())[:LONGEST_WORD] or None


def words(said: Any) -> list[str]:
    """The words of a list, or the one word, each once, whatever its case."""
    found: dict[str, str] = {}
    for item in said if isinstance(said, list) else [said]:
        one = word(item)
        if one is not None:
            found.setdefault(one.casefold(), one)
    return list(found.values())


def listed(said: Any) -> list[Any]:
    """*said* where it is a list; nothing where it is anything else."""
    return said if isinstance(said, list) else []


def values(said: Any) -> list[str | int | bool]:
    """The values of an enum: words, whole numbers, true and false; each once."""
    found: list[str | int | bool] = []
    for item in listed(said):
        one = item if isinstance(item, bool | int) else word(item)
        if one is not None and all(one != other or type(one) is not type(other) for other in found):
            found.append(one)
    return found
