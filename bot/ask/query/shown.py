"""The declared words that a model is shown for a question: those that matter for it, one line each, as many as fit.

No row, no personal column, and nothing that who asks may not know of: only what the index of that person holds. Lines
are ranked by BM25 over names, labels, synonyms, values and the verified questions that ask for them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log

from bylaw.authored.context import Context, Entity
from bylaw.canonical import canonical_json
from bylaw.hold.words import Index, Name, stems_of
from bylaw.language.lexicon import closed
from bylaw.language.text import words_of

_K1, _B = 1.2, 0.75  # the usual numbers of BM25
_MOST_VALUES = 25
_KINDS = {"metric": "metric", "entity": "entity", "dimension": "field", "date": "date", "number": "number",
          "filter": "named filter"}  # fmt: skip


@dataclass(frozen=True)
class Line:
    """A declared name as a model reads it, and the stems that speak of it. `owner` is its entity."""

    text: str
    stems: tuple[str, ...]
    name: str
    owner: str | None


@dataclass(frozen=True)
class Lines:
    """Every declared name that may be shown."""

    lines: tuple[Line, ...]

    @cached_property
    def _rarity(self) -> Counter[str]:
        return Counter(one for line in self.lines for one in set(line.stems))

    @cached_property
    def _average(self) -> float:
        return sum(len(one.stems) for one in self.lines) / len(self.lines)

    def nearest(self, text: str, most: int) -> list[str]:
        """The lines that are nearest to *text*, at most so many characters, in their own order.

        An entity stands beside each of its fields that is shown, and its dates and names with it.
        """
        asked = frozenset[str]().union(*(stems_of(word) for word in words_of(text)))
        scores = {line.name: self._score(line, asked) for line in self.lines}
        best: dict[str, float] = {}
        for line in self.lines:
            if line.owner is not None:
                best[line.owner] = max(best.get(line.owner, 0.0), scores[line.name])
        ranked = sorted(self.lines, key=lambda one: (-_rank(one, scores, best), one.name))
        chosen, left = set[str](), most
        for line in ranked:
            if len(line.text) + 1 <= left:
                left -= len(line.text) + 1
                chosen.add(line.name)
        return [line.text for line in self.lines if line.name in chosen]

    def _score(self, line: Line, asked: frozenset[str]) -> float:
        if not line.stems:
            return 0.0
        found = 0.0
        for stem in sorted(asked.intersection(line.stems)):
            times, having = line.stems.count(stem), self._rarity[stem]
            rarity = log(1 + (len(self.lines) - having + 0.5) / (having + 0.5))
            found += rarity * times * (_K1 + 1) / (times + _K1 * (1 - _B + _B * len(line.stems) / self._average))
        return found


def _rank(line: Line, scores: dict[str, float], best: dict[str, float]) -> float:
    """An entity is as near as the nearest of what it has; its dates and labels come with it, a little behind."""
    own = scores[line.name]
    if line.owner is None:
        return max(own, best.get(line.name, 0.0))
    return max(own, 0.4 * max(best.get(line.owner, 0.0), scores.get(line.owner, 0.0)))


def lines_of(index: Index, context: Context) -> Lines:
    """The lines of everything that *index* holds."""
    asked = _verified(context)
    found = []
    for _, name in sorted(index.names.items()):
        if name.kind not in _KINDS or (name.kind == "entity" and "@" in name.name):
            continue
        words = (*name.texts, *(text for texts in name.values.values() for text in texts), *name.near)
        words = (*words, *(question for question, said in asked if f'"{name.name}"' in said))
        stems = [stem for text in words for word in words_of(text) if _speaks(word) for stem in sorted(stems_of(word))]
        found.append(Line(_told(name, context), tuple(stems), name.name, name.owner))
    return Lines(tuple(found))


def _speaks(word: str) -> bool:
    return word not in closed("function")


def _verified(context: Context) -> list[tuple[str, str]]:
    """The verified questions, with the names that their queries use."""
    known = sorted(context.verified_queries.items())
    return [(one.question, canonical_json(one.query.model_dump(mode="json"))) for _, one in known if one.query]


def _told(name: Name, context: Context) -> str:
    """`kind name | meaning | unit | also: … | values: … | roles: …`, what there is of it."""
    parts = [f"{_KINDS[name.kind]} {name.name}", _meaning(name, context), name.unit or ""]
    also = [text for text in name.texts if text.casefold() != name.name.rpartition(".")[2].replace("_", " ").casefold()]
    parts += [f"also: {', '.join(also)}"] if also else []
    values = [_value(value, texts) for value, texts in list(name.values.items())[:_MOST_VALUES] if name.type == "enum"]
    parts += [f"values: {', '.join(values)}"] if values else []
    parts += ["true or false"] if name.type == "boolean" else []
    entity = context.entities.get(name.name) if name.kind == "entity" else None
    parts += list(_roles(entity)) if entity is not None else []
    return " | ".join(part for part in parts if part)


def _value(value: str, texts: Sequence[str]) -> str:
    others = [text for text in texts if text != value]
    return f"{value} ({', '.join(others)})" if others else value


def _meaning(name: Name, context: Context) -> str:
    """What its author says that it is, on one line."""
    if name.kind == "metric":
        said = context.metrics[name.name].description
    else:
        entity = context.entities.get((name.owner or name.name).partition("@")[0])
        short = name.name.partition(".")[2]
        parts = (*entity.dimensions, *entity.time_dimensions, *entity.facts) if entity is not None else ()
        own = entity.description if entity is not None else None
        said = next((part.description for part in parts if part.name == short), None) if short else own
    return " ".join((said or "").split())


def _roles(entity: Entity) -> Iterator[str]:
    """Where several relationships lead to one entity: how each of them is named and called."""
    several = Counter(one.right_entity for one in entity.relationships)
    roles = [
        f"{one.right_entity}@{one.name}{' (default)' if one.default else ''}"
        + (f" = {', '.join(one.synonyms)}" if one.synonyms else "")
        for one in entity.relationships
        if several[one.right_entity] > 1
    ]
    if roles:
        yield f"roles: {'; '.join(roles)}"
