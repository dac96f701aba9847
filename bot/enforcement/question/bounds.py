"""What a turn tells of a fact: its value, or a bound ("after 40 days"), which decides where all that it leaves does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise, product
from math import prod

from bylaw.authored.vocabulary import Fact
from bylaw.logic.boxes.boxes import Box, Region, domain, meet_regions, point, region
from bylaw.logic.decide.evaluate import Evaluator
from bylaw.logic.formula.ir import Atom, Value, Variable, names

MOST = 64  # cases that are decided to see whether they agree


@dataclass(frozen=True, slots=True)
class Read:
    """A fact that the text states, and its words."""

    fact: str
    value: Value
    words: str


@dataclass(frozen=True, slots=True)
class Bound:
    """Tests that one fact passes, and the words that say so."""

    tests: tuple[Atom, ...]
    words: str

    def region(self, variable: Variable) -> Region:
        """The values that it leaves."""
        return reduce(meet_regions, (region(test, variable) for test in self.tests), domain(variable))


def is_sayable(fact: Fact) -> bool:
    """May words say the fact? Some come only from a system that is trusted, or from what happened before."""
    return fact.assertable is not False and fact.history is None


def cases(bounds: Mapping[str, Bound], evaluator: Evaluator) -> Iterator[dict[str, Value]]:
    """A case for each way in which what *bounds* leave falls among the lines that rules draw.

    None where a rule measures such a fact against another, or where there are more than MOST.
    """
    variables = evaluator.ruleset.variables
    rules = [i for i, rule in enumerate(evaluator.ruleset.rules) if not names(rule.guard).isdisjoint(bounds)]
    listed = [evaluator.boxes_of(i) for i in rules]
    drawn = [box for found in listed for box in found or ()]
    is_measured = any(not names(item).isdisjoint(bounds) for box in drawn for item in box.residue)
    parts = {name: _parts(name, bound.region(variables[name]), drawn) for name, bound in bounds.items()}
    if None in listed or is_measured or prod(map(len, parts.values())) > MOST:
        return
    for chosen in product(*parts.values()):
        yield point(Box(dict(zip(parts, chosen, strict=True))), variables)


def _parts(fact: str, whole: Region, drawn: Iterable[Box]) -> list[Region]:
    """*whole*, spans of numbers, cut wherever a box ends or begins."""
    regions = (whole, *(box.regions[fact] for box in drawn if fact in box.regions))
    cuts = sorted({cut for where in regions if isinstance(where, tuple) for span in where for cut in span})
    return [piece for span in pairwise(cuts) if (piece := meet_regions(whole, (span,)))]
