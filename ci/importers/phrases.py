"""What people may call the parts of an imported context: words that its source says, proposed for review.

They are read off names (`cust_nm` is customer name, a prefix that all columns of a table share is none of its words),
off descriptions that are a name themselves, and off those that say what a code means ("P = placed"). A phrase that
already means something, or would mean two things, is not proposed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

from bylaw.language import dates
from bylaw.language.words import FUNCTION_WORDS, read_words
from ci.importers.draft import ContextDraft, Record
from ci.importers.names import KEYS, is_tally, of_table
from ci.loading.spelling import is_said, spoken, words

PARTS: Final = ("dimensions", "time_dimensions", "facts", "filters", "relationships")
_COLUMNS: Final = PARTS[:3]
_ANY_DAY: Final = date(2100, 6, 15)
_MOST: Final = 4  # words of a description that is a name
_LETTERS: Final = 3  # of a prefix that all columns of a table share
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z -]*[A-Za-z]")
_KINDS: Final = frozenset(
    ("column", "dimension", "field", "metric", "table")
)  # what a description says that a thing is


@dataclass(frozen=True, slots=True)
class Proposal:
    """A phrase for one thing: the record, the route of the part in it, the part, and what the phrase was read off."""

    section: str
    owner: str
    route: tuple[str, ...]
    part: Record
    phrase: str
    source: str
    value: str | None = None


class Meanings:
    """Every phrase that some records give a meaning."""

    def __init__(self, records: Mapping[str, Mapping[str, Record]]) -> None:
        self._known = {key_of(phrase) for phrase in _phrases(records)}

    def taken(self, phrase: str) -> str:
        """Why *phrase* is no new word for anything; empty where it may be one."""
        key = key_of(phrase)
        if not key or FUNCTION_WORDS.issuperset(key) or is_tally(key):
            return "it says nothing of its own"
        if dates.find(phrase, _ANY_DAY):
            return "it is a word of time"
        return "it means something already" if key in self._known else ""

    def add(self, phrase: str) -> None:
        """From now on *phrase* means something."""
        self._known.add(key_of(phrase))


def key_of(phrase: str) -> tuple[str, ...]:
    """A phrase by its words: two that differ in case or signs alone are one."""
    return tuple(word.text for word in read_words(phrase.replace("_", " ")))


def propose_phrases(draft: ContextDraft) -> None:
    """Add to *draft* what its source calls things, each marked as a proposal."""
    meanings = Meanings(draft.records)
    found = [one for one in _proposals(draft.records) if not meanings.taken(one.phrase)]
    owners = Counter(key for key, _ in {(key_of(one.phrase), id(one.part)) for one in found})
    said: dict[tuple[str, str, tuple[str, ...]], dict[str, None]] = {}
    for one in found:
        if owners[key_of(one.phrase)] > 1 or meanings.taken(one.phrase):
            continue
        meanings.add(one.phrase)
        if one.value is None:
            one.part["synonyms"] = [*one.part.get("synonyms", ()), one.phrase]
        else:
            one.part.setdefault("value_synonyms", {}).setdefault(one.value, []).append(one.phrase)
        what = f"{one.phrase}, from its {one.source}" if one.value is None else f"{one.value} is {one.phrase}"
        said.setdefault((one.section, one.owner, one.route), {})[what] = None
    for (section, owner, route), phrases in said.items():
        draft.note(section, owner, route, f"proposed, for review: {'; '.join(phrases)}")


def _proposals(records: Mapping[str, Mapping[str, Record]]) -> Iterator[Proposal]:
    for name, entity in records["entities"].items():
        table = entity.get("base_table", {}).get("table", name)
        for phrase in dict.fromkeys((" ".join(of_table(name)), " ".join(of_table(table)))):
            yield Proposal("entities", name, (), entity, phrase, "name")
        prefix = _prefix(entity)
        hidden = {column.casefold() for column in entity.get("pii", ())}
        for section in _COLUMNS:
            for part in entity.get(section, ()):
                if not hidden & {part["name"].casefold(), str(part.get("expr", "")).casefold()}:
                    yield from _of_column(name, section, part, prefix)
    for name, metric in records["metrics"].items():
        called = " ".join(spoken(name))
        if called != name.replace("_", " "):
            yield Proposal("metrics", name, (), metric, called, "name")
        yield from _described("metrics", name, (), metric)


def _of_column(entity: str, section: str, part: Record, prefix: str) -> Iterator[Proposal]:
    route, said = (section, part["name"]), spoken(part["name"])
    short = said[1:] if prefix and said[:1] == (prefix,) else said
    short = short[:-1] if short[-1:] and short[-1] in KEYS and not is_said(short[-1]) and len(short) > 1 else short
    if " ".join(short) != part["name"].replace("_", " "):
        yield Proposal("entities", entity, route, part, " ".join(short), "name")
    yield from _described("entities", entity, route, part)
    for value, phrase in _meant(part):
        yield Proposal("entities", entity, route, part, phrase, "description", value)


def _described(section: str, owner: str, route: tuple[str, ...], part: Record) -> Iterator[Proposal]:
    """A description that is a name ("Brand name"), of something that has no other word."""
    text = str(part.get("description") or "").strip().rstrip(".")
    said = text.split()[: _MOST + 2]
    said = said[:-1] if said and said[-1].lower() in _KINDS else said
    is_name = _NAME.fullmatch(text) and 1 < len(said) <= _MOST and FUNCTION_WORDS.isdisjoint(key_of(text))
    if is_name and not part.get("synonyms"):
        yield Proposal(section, owner, route, part, " ".join(said), "description")


def _meant(part: Record) -> Iterator[tuple[str, str]]:
    """The values that the description of a column puts in words: "P = placed, S: shipped"."""
    text = str(part.get("description") or "")
    for value in map(str, part.get("sample_values", ())):
        pattern = rf"(?<!\w)[`'\"]?{re.escape(value)}[`'\"]?\s*(?:=|:|->|means)\s*[`'\"]?([A-Za-z][A-Za-z -]*)"
        found = re.findall(pattern, text)
        if len(found) == 1 and len(found[0].split()) <= _MOST:
            yield value, found[0].strip()


def _prefix(entity: Record) -> str:
    """A short first word that the names of all columns of a table share (`ss_quantity`, `ss_sales`); else nothing."""
    read = (str(part.get("expr") or part["name"]) for section in _COLUMNS for part in entity.get(section, ()))
    plain = [words(column) for column in read if column.isidentifier()]
    first = {column[0] for column in plain if column}
    return first.pop() if len(first) == 1 and len(plain) > 1 and len(min(first)) <= _LETTERS else ""


def _phrases(records: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    for entity in records["entities"].values():
        parts = [one for section in PARTS for one in entity.get(section, ())]
        for one in (entity, *parts):
            yield from (one["name"], *one.get("synonyms", ()), *map(str, one.get("sample_values", ())))
            yield from (said for phrases in one.get("value_synonyms", {}).values() for said in phrases)
        yield from entity.get("pii", ())
    for metric in records["metrics"].values():
        yield from (metric["name"], *metric.get("synonyms", ()))
