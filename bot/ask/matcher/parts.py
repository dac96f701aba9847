"""The parts of a data question as they are found: items with the stretch of marks that says each.

A `Draft` reads one sentence under one choice of names: a mark of several names stands for the one that is chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from bot.ask.matcher.marks import Mark, Sentence
from bylaw.hold.item import Item
from bylaw.hold.words import Index, Name
from bylaw.language.lexicon import stem
from bylaw.language.text import words_of

GROUPABLE = ("entity", "dimension", "date")
_COLUMNS = ("dimension", "number", "date")
_THERE = frozenset(("done", "belong"))
_PASSED = frozenset(("of", "to", "with", "have", "has", "having", "that", "who", "which", "whose"))


@dataclass
class Part:
    """An item that is being read: the marks from `first` to `last` say it; `owner` is the entity that it is of."""

    kind: str
    first: int
    last: int
    name: str | None = None
    operator: Any = None
    value: Any = None
    unit: str | None = None
    owner: str | None = None
    of: list[Part] = field(default_factory=list)
    any_of: list[Part] = field(default_factory=list)

    def item(self, sentence: Sentence) -> Item:
        """The item, with its quote."""
        first, last = sentence.marks[self.first].first, sentence.marks[self.last].last
        if first and self.kind in ("asks", "group") and sentence.tokens[first - 1].word == "all":
            first -= 1
        keys = {key: getattr(self, key) for key in ("name", "operator", "value", "unit")}
        inner: dict[str, Any] = {
            key: [one.item(sentence) for one in getattr(self, key)] for key in ("of", "any_of") if getattr(self, key)
        }
        given = {key: value for key, value in keys.items() if value is not None}
        assert self.first <= self.last, self
        return Item(kind=self.kind, quote=sentence.quote(first, last), **given, **inner)


@dataclass
class Draft:
    """A sentence as far as it is read. `is_asked`: an earlier sentence already says what is asked for."""

    sentence: Sentence
    index: Index
    choice: Sequence[tuple[tuple[Name, str | None], ...]]
    is_asked: bool = False
    thing: str | None = None  # the entity that earlier sentences ask about: "their", "the name"
    parts: list[Part] = field(default_factory=list)
    used: set[int] = field(default_factory=set)

    @property
    def marks(self) -> tuple[Mark, ...]:
        """The marks of the sentence."""
        return self.sentence.marks

    def says(self, i: int, *names: str) -> bool:
        """Is the mark there a word that asks for one of these?"""
        return 0 <= i < len(self.marks) and not self.marks[i].says.isdisjoint(names)

    def word(self, i: int) -> str:
        """The words of the mark there, in lower case."""
        if not 0 <= i < len(self.marks):
            return ""
        mark = self.marks[i]
        return " ".join(token.word for token in self.sentence.tokens[mark.first : mark.last + 1])

    def is_before_thing(self, i: int) -> bool:
        """Does a value stand there that narrows the thing behind it, and is none itself?"""
        is_thing = self.name(i, "metric", "entity") is not None
        return not is_thing or (self.value(i) is not None and self.name(i + 1, "entity") is not None)

    def kind(self, i: int) -> str:
        """The kind of the mark there; empty beyond the ends."""
        return self.marks[i].kind if 0 <= i < len(self.marks) else ""

    def name(self, i: int, *kinds: str) -> Name | None:
        """The declared name of these kinds that the phrase there is called by; one of a value is none."""
        if self.kind(i) != "name":
            return None
        found = [name for name, value in self.choice[i] if name.kind in kinds and (value is None or value == "true")]
        return next((name for name in found if "@" not in name.name), None)

    def role(self, i: int, entity: str) -> str | None:
        """The part that *entity* plays by the words there: `customers@sender`."""
        if self.kind(i) != "name":
            return None
        return next((one.name for one, _ in self.choice[i] if one.name.startswith(f"{entity}@")), None)

    def is_one_clause(self, i: int, k: int) -> bool:
        """Does no pause part the two marks?"""
        tokens, marks = self.sentence.tokens, self.marks
        return tokens[marks[i].last].clause == tokens[marks[k].first].clause

    def is_role(self, i: int) -> bool:
        """Do the words there only say how things belong together?"""
        return self.kind(i) == "name" and all("@" in name.name for name, _ in self.choice[i])

    def column_of(self, i: int) -> Name | None:
        """The column behind the entity there, where both are one name: "customer region", "region of the customer"."""
        entity = self.name(i, "entity")
        if entity is None or i + 1 >= len(self.marks) or self.marks[i + 1].first != self.marks[i].last + 1:
            return None
        column = self.name(i + 1, *_COLUMNS)
        is_own = column is not None and column.owner == entity.name and self.value(i + 1) is None
        return column if is_own else self.own_column(i + 1, entity.name)

    def own_column(self, i: int, thing: str | None) -> Name | None:
        """The column of *thing* that the phrase there calls so, or by which its rows are told ("name", "id")."""
        if thing is None or self.kind(i) not in ("name", "word") or self.name(i, "entity", "metric") is not None:
            return None
        called = [name for name, value in self.marks[i].names if name.owner == thing and value is None]
        if called:
            return called[0] if len(called) == 1 and called[0].kind in _COLUMNS else None
        said = {stem(word) for word in self.word(i).split()}
        own = [one for one in self.index.of(thing) if one.near]
        told = [one for one in own if said <= self.index.own(one)]
        return told[0] if len(told) == 1 else None

    def is_literal(self, i: int, name: Name) -> bool:
        """Do the words there call it so to the letter?"""
        mark = self.marks[i]
        said = tuple(token.word for token in self.sentence.tokens[mark.first : mark.last + 1])
        return any(words_of(text) == said for text in name.texts)

    def value(self, i: int) -> tuple[Name, str] | None:
        """The declared value that the phrase there says, with the name that it is of."""
        if self.kind(i) != "name":
            return None
        return next(((name, value) for name, value in self.choice[i] if value is not None), None)

    def after(self, i: int) -> int:
        """The place of the mark behind, past words that only join."""
        i += 1
        while self._is_passed(i):
            i += 1
        return i

    def before(self, i: int) -> int:
        """The place of the mark before, past words that only join."""
        i -= 1
        while self._is_passed(i):
            i -= 1
        return i

    def _is_passed(self, i: int) -> bool:
        """Does the word there only join, or say that something is there, or belongs to something?"""
        if not 0 <= i < len(self.marks) or i in self.used:
            return False
        mark = self.marks[i]
        is_joining = mark.kind == "joining" and not mark.says.isdisjoint(_PASSED)
        return is_joining or (mark.kind == "operator" and frozenset[str]() < mark.says <= _THERE)

    def free(self, *kinds: str) -> Iterator[int]:
        """The marks of these kinds that no part has taken yet."""
        return (i for i in range(len(self.marks)) if i not in self.used and self.kind(i) in kinds)

    def add(self, part: Part) -> None:
        """One part more, which takes its marks."""
        self.parts.append(part)
        self.take(part)

    def take(self, part: Part) -> None:
        """The marks of a part, and of those inside, are taken."""
        self.used.update(range(part.first, part.last + 1))
        for one in (*part.of, *part.any_of):
            if one.kind != "group":  # what has the number is spoken of besides
                self.take(one)

    def has(self, kind: str) -> bool:
        """Is there a part of that kind?"""
        return any(one.kind == kind for one in self.parts)


Rule = Callable[[Draft], None]


def is_numeric(name: Name) -> bool:
    """Are its values numbers?"""
    return name.kind == "number" or (name.kind == "dimension" and name.type in ("integer", "decimal"))


def widened(part: Part, first: int, last: int) -> Part:
    """The part over more marks."""
    return replace(part, first=min(first, part.first), last=max(last, part.last))
