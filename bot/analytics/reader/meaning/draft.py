"""A query in the making: what is decided already, and which of several records a word means."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date

from bot.analytics.reader.measured import unit_of
from bot.analytics.reader.nearness import Nearness
from bot.analytics.reader.reading import Stop, not_understood, unclear
from bot.analytics.reader.said import Ref, Said
from bot.analytics.reader.scope import Target
from bylaw.authored.context import Context, Dimension
from bylaw.language.units import Unit
from bylaw.language.words import read_words
from bylaw.semantic.compiler import Compiler
from bylaw.semantic.query import (
    Measure,
    Related,
    SemanticQuery,
    Summary,
)

_NOWHERE = 1_000_000


class QueryDraft:
    """One question on its way to a query: what it says, and what was decided of it so far."""

    def __init__(
        self,
        context: Context,
        compiler: Compiler,
        nearness: Nearness,
        said: Said,
        text: str,
        today: date,
        previous: SemanticQuery | None = None,
        follows: bool = False,
    ) -> None:
        self.context, self.compiler, self.nearness = context, compiler, nearness
        self.said, self.text, self.previous, self.follows = said, text, previous, follows
        self.today = today
        self.base: str | None = None
        self.per: list[str] = []
        self.rivals = 0
        self.measures: list[Measure] = []
        self.summaries: list[Summary] = []
        self.counted: list[str] = []  # the numbers of the catalogue that the answer is made of
        self.more: list[str] = []  # numbers found among what is shown
        self.nested: set[int] = set()  # the numbers of relations that are said of related rows
        self.clauses: dict[int, Related] = {}  # the conditions that the relations of the question became, by number
        self.names: dict[str, str] = {}  # what the words of the question were decided to mean

    def choose(self, ref: Ref, targets: Sequence[Target], near: Iterable[str] = ()) -> Target:
        """The target nearest to what the question speaks of."""
        if not targets:
            raise Stop(
                not_understood(f"answers cannot be grouped by `{ref.words}`", "group by a dimension", (ref.words,))
            )
        spoken = [name for head in self.said.heads for name in head.entities]
        hints = [name for name in ref.near if any(target.owner == name for target in targets)] or [*ref.near, *near]
        ranked = sorted(
            targets,
            key=lambda target: (
                target.owner not in hints if hints else False,
                target.owner not in self.per,
                self.distance(target.owner),
                spoken.index(target.owner) if target.owner in spoken else len(spoken),
                target.name,
            ),
        )
        best = ranked[0]
        if ref.is_owned and not any(self.nearness.leads_to_one(name, best.owner) for name in ref.near):
            message = f"`{ref.near[0]}` says nothing about `{ref.words}`"
            raise Stop(not_understood(message, "ask for it by its own name", (ref.words,)))
        rank = self.rank(best, hints, spoken)
        same = [target for target in ranked if self.rank(target, hints, spoken) == rank and target.name != best.name]
        if same:
            raise Stop(
                unclear(self.text, ref.words, [best.name, *(target.name for target in same)], self.context, best.value)
            )
        if self.distance(best.owner) == _NOWHERE and self.base is not None:
            message = f"`{self.base}` and `{best.owner}` are not connected in the catalogue"
            if best.kind in ("value", "condition"):
                message = f"`{ref.words}` is said of `{best.owner}` alone, and these are no part of `{self.base}`"
                raise Stop(not_understood(message, f"name a column of `{self.base}`, or leave it out", (ref.words,)))
            raise Stop(not_understood(message, "a relationship between them would have to be declared", (ref.words,)))
        self.rivals += len({target.name for target in targets}) - 1
        best = replace(best, name=best.name.replace(", today)", f", {self.today.isoformat()})"))
        self.names[ref.words] = best.name
        return best

    def rank(self, target: Target, hints: Sequence[str], spoken: Sequence[str]) -> tuple[object, ...]:
        return (
            target.owner not in hints if hints else False,
            target.owner not in self.per,
            self.distance(target.owner),
            spoken.index(target.owner) if target.owner in spoken else len(spoken),
        )

    def distance(self, owner: str) -> int:
        if self.base is None:
            return 0
        distance = self.nearness.distance(self.base, owner)
        return _NOWHERE if distance is None else distance

    def is_key(self, target: Target) -> bool:
        owner, _, short = target.name.partition(".")
        entity = self.context.entities[owner]
        dimension = entity.dimension(short)
        key = entity.primary_key.columns if entity.primary_key else []
        return dimension is not None and [dimension.sql] == list(key)

    def label(self, name: str) -> list[str]:
        """The dimensions that tell rows of an entity apart for people: its label, else its key."""
        entity = self.context.entities[name]
        if entity.label:
            return [f"{name}.{short}" for short in entity.label]
        key = entity.primary_key.columns if entity.primary_key else []
        shown = [f"{name}.{part.name}" for part in entity.dimensions if part.sql in key]
        if not shown:
            raise Stop(not_understood(f"nothing tells the rows of `{name}` apart", "name a dimension of it", (name,)))
        return shown

    def labels(self, name: str) -> list[str]:
        """The dimensions that people tell rows of an entity apart by; none where it declares none."""
        return [f"{name}.{short}" for short in self.context.entities[name].label]

    def unit_of(self, name: str) -> tuple[Unit | None, tuple[Unit, ...]]:
        """The declared unit of a number, and those that its texts name."""
        return unit_of(self.context, name)

    def columns(self, name: str) -> list[str]:
        """What a list of rows shows where nobody says what: the label, else everything that is known of a row."""
        entity = self.context.entities[name]
        if entity.label:
            return [f"{name}.{short}" for short in entity.label]
        parts = [*entity.dimensions, *entity.time_dimensions, *entity.facts]
        shown = [f"{name}.{part.name}" for part in parts if part.sql not in entity.pii]
        if not shown:
            raise Stop(not_understood(f"nothing of `{name}` can be shown", "name what it connects", (name,)))
        return shown

    def tells_apart(self, name: str, entity: str) -> bool:
        """Is it the label, or the key, of a row of *entity*?"""
        owner, _, short = name.partition(".")
        is_key = self.context.entities[owner].dimension(short) is not None and self.is_key(Target("dimension", name))
        return owner == entity and (short in self.context.entities[owner].label or is_key)

    def dimension(self, name: str) -> Dimension | None:
        """The dimension of that name, in whichever role its entity is; None for a date or a fact."""
        place, _, short = name.partition(".")
        return self.context.entities[place.partition("@")[0]].dimension(short)

    def default_time(self, name: str) -> str | None:
        owner, _, role = name.partition("@")
        default = self.context.default_time(owner)
        is_own = default is not None and default.startswith(f"{owner}.")
        return default.replace(owner, name, 1) if role and default and is_own else default

    def part(self, entity: str, part: str) -> Dimension | None:
        """The column of an entity for one part of a date."""
        dimensions = self.context.entities[entity].dimensions
        return next((dimension for dimension in dimensions if part in (dimension.name, *dimension.synonyms)), None)


def normal_words(words: str) -> list[str]:
    return [word.text for word in read_words(words)]
