"""What was measured as records of the context, each part with a comment that says on what it rests."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from bylaw.language.units import units_in
from ci.importers.database.catalogue import Table
from ci.importers.database.links import Key, Link
from ci.importers.database.metrics import drafted
from ci.importers.database.profile import ENUM, Measured, Profile
from ci.importers.draft import ContextDraft, Record, identifier, is_name
from ci.importers.names import (
    CODED,
    DELETED,
    HUNDREDTHS,
    KEYS,
    LABELS,
    LEVELS,
    held,
    is_tally,
    of_table,
    one,
    role,
)
from ci.loading.spelling import spoken, words

_TITLES = (*LABELS, "description")
_ORDER = (
    "name", "expr", "data_type", "description", "synonyms", "unique", "is_enum", "sample_values", "value_synonyms",
    "default_aggregation", "unit",
)  # fmt: skip
_MEANS = re.compile(r"([\w-]+)\s*[=:]\s*([^,;=:]+)")


@dataclass(slots=True)
class Drafter:
    """Writes the tables of one database into a draft. `names`: what each table, by its qualified name, is called."""

    draft: ContextDraft
    tables: Mapping[str, Measured]
    keys: Mapping[str, Key]
    links: Sequence[Link]
    on: date
    dialect: str
    names: dict[str, str] = field(default_factory=dict)

    def write(self) -> None:
        """The entities, then the metrics that count and add up their rows."""
        self.names = _called([found.table for found in self.tables.values()])
        for name in list(self.names):
            table = self.tables[name].table
            if not (is_name(table.schema) and is_name(table.name)):
                self.draft.drop(name, "its name needs quotes: give it a view with a plain one")
                del self.names[name]
        facts = Counter(fact for name in self.names for fact in self._facts(name))
        for name in self.names:
            self._entity(name)
        for name in self.names:
            self._metrics(name, facts)

    # ---- one table

    def _entity(self, name: str) -> None:
        found, called, key = self.tables[name], self.names[name], self.keys.get(name)
        table = found.table
        record: Record = {
            "name": called,
            "description": table.comment or f"one row per {' '.join(one(of_table(table.name)))}",
            "base_table": {"schema": table.schema, "table": table.name},
            "synonyms": self._kinds(name),
            "pii": [column for column, profile in found.columns.items() if profile.personal and is_name(column)],
        }
        self._note(called, (), f"drafted from the database on {self.on}, for review; {found.read} were read")
        if key is not None and all(map(is_name, key.columns)):
            record["primary_key"] = {"columns": list(key.columns)}
            self._note(called, ("primary_key",), self._of_key(found, key))
        else:
            self._note(
                called, (), "no column, and no pair of codes or days, tells its rows apart: name its primary_key"
            )
        for section in ("dimensions", "time_dimensions", "facts", "filters"):
            record[section] = []
        for column, profile in found.columns.items():
            self._column(name, record, column, profile)
        if record["pii"] and not record["facts"] and self.dialect == "postgres":
            text = "it has no fact, so its list of columns is open: beside personal columns no join of it runs"
            self._note(called, (), text)
        self._default_time(called, found, record)
        record["label"] = self._label(found, record)
        record["relationships"] = self._relationships(name)
        self.draft.add("entities", record, name)

    def _column(self, name: str, record: Record, column: str, profile: Profile) -> None:
        """One column as what it seems to be."""
        found, called = self.tables[name], self.names[name]
        part: Record = {"name": self._part(column), "data_type": profile.column.type.lower()}
        if (expr := self._expr(column)) != part["name"]:
            part["expr"] = expr
        where = f"{name}.{column}"
        note = _filled(profile, found)
        if profile.personal:
            text = f"{column}: looks personal, {profile.personal}; no value of it is shown anywhere"
            if is_name(column):
                self._note(called, ("pii",), text)
            else:
                self.draft.drop(where, "it looks personal, and its name needs quotes: no answer reads it")
            return
        if not profile.distinct:
            self.draft.drop(where, "no row that was read has a value there")
            return
        kind = self._kind(name, column, profile)
        part["description"] = profile.column.comment
        match kind:
            case "time":
                if profile.is_day:
                    part |= {"expr": f"CAST({expr} AS DATE)", "data_type": "date"}
                    note += "; text, and every value that was looked at is a date"
                if words(column)[0] in DELETED and profile.filled < found.rows:
                    gone = words(column)[0]
                    self._filter(called, record, column, gone, f"{expr} IS NOT NULL", "rows that have this date")
                    self._filter(called, record, column, f"not_{gone}", f"{expr} IS NULL", "rows without this date")
            case "fact":
                part["default_aggregation"] = _aggregation(column)
                part["unit"] = _unit(column)
                if (plain := _in_hundredths(column, found.table)) is not None:
                    part |= {"name": plain, "expr": f"{expr} / 100.0", "data_type": "decimal"}
                    note += "; kept in hundredths, told divided by 100"
            case "flag":
                says = expr if profile.column.kind == "flag" else f"{expr} = {_literal(profile.yes)}"
                part |= {"expr": says, "data_type": "boolean"}
                note += "; it says yes or no"
                self._filter(called, record, column, "_".join(held(column)), says, profile.column.comment)
            case "reference":
                return
            case _:
                part["unique"] = (
                    self.keys.get(name) == Key((column,), self.keys[name].how) if name in self.keys else False
                )
                if values := profile.values or self._words_of_list(name, profile):
                    part |= {"is_enum": True, "sample_values": list(values)}
                    part["value_synonyms"] = _told_values(values, profile.column.comment)
                    note += f"; a closed list: {profile.distinct:,} values"
                if profile.is_long:
                    note += "; long texts: worth a dimension?"
        part["synonyms"] = _synonyms(column, found.table, kind) + (self._happened(column) if kind == "time" else [])
        if any(
            part["name"] == other["name"]
            for parts in ("dimensions", "time_dimensions", "facts")
            for other in record[parts]
        ):
            self.draft.drop(where, f"another column is called `{part['name']}` too")
            return
        section = {"time": "time_dimensions", "fact": "facts"}.get(kind, "dimensions")
        record[section].append({key: part[key] for key in _ORDER if part.get(key) not in (None, [], {}, False)})
        self._note(called, (section, part["name"]), note)

    def _kind(self, name: str, column: str, profile: Profile) -> str:
        key = self.keys.get(name)
        if any(link.left == name and column in link.columns for link in self.links):
            return "reference" if key is None or key.columns != (column,) else "dimension"
        if profile.is_day or profile.column.kind in ("day", "moment"):
            return "time"
        is_key = key is not None and column in key.columns
        if profile.is_flag and not is_key:
            return "flag"
        ends = CODED if profile.values or words(column)[-1] == "by" else KEYS
        is_code = profile.column.kind == "number" and words(column)[-1] in ends
        return "fact" if profile.column.kind == "number" and not is_key and not is_code else "dimension"

    def _filter(self, called: str, record: Record, column: str, name: str, says: str, told: str | None) -> None:
        """Some of the rows, by the word that a column says of them."""
        named = identifier(name)
        if named is None or any(named == other["name"] for other in record["filters"]):
            return
        record["filters"].append({"name": named, "expr": says} | ({"description": told} if told else {}))
        self._note(called, ("filters", named), f"of `{column}`, for questions that say so")

    def _words_of_list(self, name: str, profile: Profile) -> tuple[str, ...]:
        """The names in a small table that others refer to: `species` with their names."""
        found = self.tables[name]
        is_list = found.is_all and found.rows <= ENUM and profile.distinct == profile.filled
        is_list &= any(link.right == name for link in self.links)
        is_list &= not any(one_.is_day or one_.column.kind in ("day", "moment") for one_ in found.columns.values())
        return profile.names if is_list and spoken(profile.column.name)[-1] in _TITLES else ()

    def _kinds(self, name: str) -> list[str]:
        """A table of several words by its last one, where no other table and no column is called so."""
        said = of_table(self.tables[name].table.name)
        whole = spoken("_".join(said))
        found = [" ".join(whole)] if whole != said else []
        last = one(whole[-1:])
        if len(said) < 2 or last[0] in CODED:
            return found
        tables = [one(of_table(found.table.name)) for other, found in self.tables.items() if other != name]
        columns = {one(spoken(column)) for found in self.tables.values() for column in found.columns}
        is_taken = any(table[-1:] == last for table in tables) or last in columns
        return found if is_taken else [*found, last[0]]

    def _happened(self, column: str) -> list[str]:
        """What happened on a date that is called by it: `joined_on` is joined, where no value and no flag says so."""
        said = spoken(column)
        if len(said) != 2 or said[1] not in ("on", "at"):
            return []
        columns = [pair for found in self.tables.values() for pair in found.columns.items()]
        values = {str(value).lower() for _, profile in columns for value in (*profile.values, *profile.names)}
        flags = {" ".join(held(other)) for other, profile in columns if profile.is_flag}
        return [said[0]] if said[0] not in values | flags | DELETED else []

    def _facts(self, name: str) -> list[str]:
        """What the numbers of a table are called that are added up or averaged."""
        found = self.tables[name]
        parts = [(column, profile) for column, profile in found.columns.items() if not profile.personal]
        return [
            _in_hundredths(column, found.table) or self._part(column)
            for column, profile in parts
            if profile.distinct and self._kind(name, column, profile) == "fact"
        ]

    def _default_time(self, called: str, found: Measured, record: Record) -> None:
        """Of several, the one that most rows have, and of these the first: it is what a row begins with."""
        times = record["time_dimensions"]
        if len(times) > 1:
            filled = {self._part(column): profile.filled for column, profile in found.columns.items()}
            chosen = max(times, key=lambda part: filled.get(part["name"], 0))
            chosen["default"] = True
            text = f"one of {len(times)} dates: the first that most rows have is meant where nobody says another"
            self._note(called, ("time_dimensions", chosen["name"]), text)

    def _label(self, found: Measured, record: Record) -> list[str]:
        """The name by which people tell its rows apart, where there is one; in a small table its description is one.

        Else the one text that tells all of them apart and is no key: a code, a nickname.
        """
        known = {self._part(column): profile for column, profile in found.columns.items()}
        texts = {
            part["name"]: profile
            for part in record["dimensions"]
            if (profile := known[part["name"]]).column.kind == "text" and not profile.values and not profile.is_long
        }
        for title in _TITLES:
            for part in record["dimensions"]:
                is_one = part["name"] in texts and spoken(part["name"])[-1] == title
                if is_one and (title in LABELS or part.get("is_enum")):
                    return [part["name"]]
        keys = {self._part(column) for column in (record.get("primary_key") or {"columns": []})["columns"]}
        apart = [name for name, profile in texts.items() if profile.distinct == found.rows and name not in keys]
        return apart if found.is_all and len(apart) == 1 else []

    def _relationships(self, name: str) -> list[Record]:
        made: list[Record] = []
        for link in self.links:
            if link.left == name and link.right not in self.names:
                self.draft.drop(f"{name}.{', '.join(link.columns)}", f"it joins `{link.right}`, which was left behind")
        links = [link for link in self.links if link.left == name and link.right in self.names]
        ends = Counter(link.right for link in links)
        is_mixed = len({link.is_declared for link in links}) > 1  # what is declared is meant, before what was found
        for link in links:
            if not all(map(is_name, (*link.columns, *link.theirs))):
                self.draft.drop(f"{name}.{', '.join(link.columns)}", "it refers by a column whose name needs quotes")
                continue
            called, right = self.names[name], self.names[link.right]
            said = role(link.columns[0]) if len(link.columns) == 1 else ()
            owner = one(of_table(self.tables[link.right].table.name))
            is_role = bool(said) and one(said) != owner and (ends[link.right] > 1 or link.is_declared)
            title = "_".join(said) if is_role else f"{called}_to_{right}"
            if any(other["name"] == title for other in made):
                title = f"{title}_by_{'_'.join(words(link.columns[0]))}"
            pairs = [
                {"left_column": ours, "right_column": theirs}
                for ours, theirs in zip(link.columns, link.theirs, strict=True)
            ]
            is_meant = (ends[link.right] > 1 and not is_role) or (is_mixed and link.is_declared)
            synonyms = [" ".join(said)] if is_role else []
            if is_role and ends[link.right] > 1 and said[-len(owner) :] == owner and len(said) > len(owner):
                synonyms.append(" ".join(said[: -len(owner)]))
            made.append(
                {"name": title, "right_entity": right, "relationship_columns": pairs, "relationship_type": link.type}
                | ({"synonyms": synonyms} if synonyms else {})
                | ({"default": True} if is_meant else {})
            )
            self._note(called, ("relationships", title), _of_link(link, self.tables[name]))
            if ends[link.right] > 1:
                self._note(called, ("relationships", title), f"one of {ends[link.right]} ways to {right}")
        return made

    # ---- metrics

    def _metrics(self, name: str, facts: Mapping[str, int]) -> None:
        """How many rows there are, and what their numbers add up to."""
        called, found = self.names[name], self.tables[name]
        entity = self.draft.records["entities"].get(called)
        wholes = self._wholes(name)
        words_ = [" ".join(one(of_table(self.tables[whole].table.name))) for whole in wholes]
        words_ += [kind for whole in wholes for kind in self._kinds(whole)]
        made = () if entity is None else drafted(called, of_table(found.table.name), entity, facts, words_)
        dated = None if entity is None or entity.get("time_dimensions") else self._dated_by(wholes)
        for record in made:
            if dated is not None:
                record["time_dimension"] = dated
            if self.draft.add("metrics", record, f"{found.table.qualified} ({record['name']})"):
                text = f"drafted from the database on {self.on}, for review: is it a number that people ask for?"
                self.draft.note("metrics", record["name"], (), text)

    def _wholes(self, name: str) -> list[str]:
        """What the rows of a table are parts of, where their key begins with its key: of order lines, the order."""
        key = self.keys.get(name)
        own = [link for link in self.links if link.left == name and key is not None and link.right in self.names]
        return [link.right for link in own if key is not None and link.columns == key.columns[: len(link.columns)]]

    def _dated_by(self, wholes: Sequence[str]) -> str | None:
        """The date of what rows without one are parts of."""
        for whole in wholes:
            entity = self.draft.records["entities"].get(self.names[whole], {})
            times = entity.get("time_dimensions", ())
            told = [part["name"] for part in times if part.get("default") or len(times) == 1]
            if told:
                return f"{self.names[whole]}.{told[0]}"
        return None

    # ---- words

    def _note(self, entity: str, route: tuple[str, ...], text: str) -> None:
        self.draft.note("entities", entity, route, text)

    def _part(self, column: str) -> str:
        return identifier("_".join(words(column))) or column

    def _expr(self, column: str) -> str:
        """A column in SQL: as it is where every database reads it so."""
        is_plain = is_name(column) and (column == column.lower() or self.dialect == "duckdb")
        return column if is_plain else '"' + column.replace('"', '""') + '"'

    def _of_key(self, found: Measured, key: Key) -> str:
        if key.how == "declared":
            return "declared in the database"
        one_ = found.columns[key.columns[0]]
        counted = f"{one_.distinct:,} values, none missing" if len(key.columns) == 1 else "each pair once, none missing"
        return f"measured, not declared: {counted} in {found.read}"


def _filled(profile: Profile, found: Measured) -> str:
    """How many rows have it, and how many different values that is."""
    missing = found.rows - profile.filled
    had = f"{profile.distinct:,} {'value' if profile.distinct == 1 else 'values'} in {found.read}"
    return f"{had}; {missing:,} have none" if missing else had


def _of_link(link: Link, left: Measured) -> str:
    how = "declared" if link.is_declared else "by its name and its values"
    none = left.rows - link.rows
    parts = [f"{how}: {link.rows:,} of {left.read} name one" + (f", {none:,} none" if none else "")]
    if link.rows:
        parts.append(
            f"{link.orphans:,} ({link.orphans / link.rows:.1%}) find nobody" if link.orphans else "all are found"
        )
    parts.append(f"up to {link.most_left:,} share one" if link.most_left > 1 else "no two share one")
    if link.most_right > 1:
        parts.append(f"one finds up to {link.most_right:,}: totals over it would be too high")
    return "; ".join(parts)


def _aggregation(column: str) -> str:
    """What a total of it would say: nothing, of a rate or an age."""
    return "avg" if LEVELS & set(words(column)) else "sum"


def _in_hundredths(column: str, table: Table) -> str | None:
    """What a sum of money that is kept in hundredths is called without them; None for any other number."""
    said = words(column)
    if said[-1] not in HUNDREDTHS or len(said) < 2:
        return None
    rest = spoken("_".join(said[:-1]))
    return identifier("_".join((*one(of_table(table.name)), "amount") if is_tally(rest) else rest))


def _literal(value: object) -> str:
    return str(value) if isinstance(value, int) else "'" + str(value) + "'"


def _told_values(values: Iterable[object], comment: str | None) -> dict[str, list[str]]:
    """What a comment says of codes: "A = active, B = blocked"."""
    told = {code: said.strip(" .") for code, said in _MEANS.findall(comment or "")}
    known = {str(value) for value in values}
    return {code: [said] for code, said in told.items() if code in known and said and said != code}


def _synonyms(column: str, table: Table, kind: str) -> list[str]:
    """The name as people say it, and without its table's: `bike_model` of a bike is its model."""
    said, owner = spoken(column), one(of_table(table.name))
    found = [said] if said != words(column) or _in_hundredths(column, table) else []
    rest = said[len(owner) :]
    if (
        said[: len(owner)] == owner
        and rest
        and rest[0] not in KEYS
        and rest not in (("name",), ("date",))
        and kind != "fact"
    ):
        found.append(rest)
    if kind == "fact" and _unit(column) is not None:
        found.append(said[:-1])
    if said[-1] in HUNDREDTHS and is_tally(said[:-1]):
        found.append((*owner, *said[:-1]))
    if kind == "dimension" and len(said) > 1 and said[-1] in LABELS and said[:-1] != owner:
        found.append(said[:-1])
    return [" ".join(one_) for one_ in found]


def _unit(column: str) -> str | None:
    """The unit that the name of a column ends with: `weight_kg` is told in kilograms."""
    said = words(column)
    units = units_in(said[-1]) if len(said) > 1 else ()
    return units[0].name if len(units) == 1 else None


def _called(tables: Iterable[Table]) -> dict[str, str]:
    """What each table is called: its plain name, with its schema where several are called so."""
    by_name: dict[str, list[Table]] = defaultdict(list)
    for table in tables:
        by_name["_".join(of_table(table.name))].append(table)
    found: dict[str, str] = {}
    for plain, group in by_name.items():
        for table in group:
            spelled = plain if len(group) == 1 else "_".join((*words(table.schema), *words(table.name)))
            found[table.qualified] = identifier(spelled) or "rows"
    return dict(sorted(found.items()))
