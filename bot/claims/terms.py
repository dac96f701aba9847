"""What a vocabulary declares of actions and facts: what they are called, their phrases, figures and units.

Built once for each bundle.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from functools import cached_property

from bot.ask.ground import ground_for
from bot.index import BundleIndex
from bylaw.authored.vocabulary import Vocabulary
from bylaw.hold.words import Index, Name
from bylaw.language.figures import Figure, Measure, figures, measure
from bylaw.language.lexicon import content, lexicon
from bylaw.language.text import words_of
from bylaw.language.units import unit_named
from bylaw.logic.formula.ir import Variable, exact


@dataclass(frozen=True)
class Terms:
    """What the plain reader searches for, and what the judge knows of figures and units."""

    vocabulary: Vocabulary
    variables: Mapping[str, Variable]
    policies: frozenset[str]
    index: Index  # of all that is declared

    # ---- actions ----------------------------------------------------------------------------------------------------

    def called(self, action: str) -> str:
        """The action's label, else its name as words."""
        declared = self.vocabulary.actions.get(action)
        return declared.label if declared and declared.label else action.replace("_", " ")

    @cached_property
    def said(self) -> Index:
        """What says an action or its denial, or a value of a fact, in the middle of a sentence.

        A mere figure falls under the rule of figures, and what gives another action is no denial.
        """
        declared = [one for one in self.index.names.values() if one.kind in ("action", "fact")]
        names = [replace(one, texts=_clauses(one.texts) if one.kind == "action" else ()) for one in declared]
        giving = {text for one in names for text in one.texts}
        return Index(replace(one, values=_values(one, giving)) for one in names if self._is_canonical(one))

    def _is_canonical(self, name: Name) -> bool:
        return name.kind == "fact" or self.vocabulary.canonical(name.name) == name.name

    def figures_of(self, action: str) -> tuple[tuple[Measure, Figure | None, str | None], ...]:
        """The declared figures of an action: each as a measure, the figure in its label, the fact it counts by."""
        declared = [one for name, one in self.vocabulary.actions.items() if self.vocabulary.canonical(name) == action]
        found: list[tuple[Measure, Figure | None, str | None]] = []
        for one in declared:
            for told in one.figures or ():
                unit = unit_named(told.unit)
                found.append((measure(Fraction(exact(told.value)), unit), None, told.per))
        if found:
            return tuple(found)
        name = self.index.get("asks", action)
        texts = [action.replace("_", " "), *(name.texts if name is not None else ())]
        named = [figure for text in texts for figure in figures(text) if figure.is_firm]
        return tuple((measure(value, figure.unit), figure, None) for figure in named for value in figure.values)

    # ---- facts ------------------------------------------------------------------------------------------------------

    def unit_of(self, fact: str) -> str | None:
        """The unit of a fact, as the lexicon spells it."""
        declared = self.vocabulary.facts.get(fact)
        return unit_named(declared.unit) if declared else None


def terms_of(index: BundleIndex) -> Terms:
    """The words of a bundle, built when they are first asked for."""
    return index.recently(_terms)()


def _terms(index: BundleIndex) -> Terms:
    words = ground_for(index, "answer", date.min).index
    return Terms(index.vocabulary, index.ruleset.variables, frozenset(index.bundle.policies), words)


def _clauses(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(_bare(text) for text in texts if not _is_figure(text))


def _values(name: Name, giving: Collection[str]) -> Mapping[str, tuple[str, ...]]:
    """What each value is called; a denial of one word ("not billed") denies whatever it stands beside."""
    if name.kind == "fact":
        return name.values
    told = {value: _clauses(texts) for value, texts in name.values.items()}
    return {
        value: tuple(text for text in texts if text not in giving and len(content(words_of(text))) > 1)
        for value, texts in told.items()
    }


def _bare(text: str) -> str:
    """A label without the pronoun that it begins with: "we take the animal in"."""
    words = text.split()
    return " ".join(words[1:]) if len(words) > 2 and words[0].casefold() in lexicon()["pronoun"] else text


def _is_figure(phrase: str) -> bool:
    """Is the phrase nothing but a figure ("7 days")?"""
    found = figures(phrase)
    return bool(found) and not phrase[: found[0].start].strip() and not phrase[found[-1].end :].strip()
