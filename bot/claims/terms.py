"""What a vocabulary declares of actions and facts: what they are called, their phrases, figures and units.

Built once for each bundle.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction
from functools import cached_property

from bot.index import BundleIndex
from bylaw.authored.vocabulary import Fact, Vocabulary
from bylaw.language.figures import Figure, Measure, figures, measure
from bylaw.language.lexicon import content, lexicon, stem
from bylaw.language.text import Token, words_of
from bylaw.language.units import unit_named
from bylaw.logic.formula.ir import Value, Variable, exact

Stems = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Mention:
    """Declared words in a text: the tokens from `first` to `last`, and whose they are."""

    first: int
    last: int
    owners: frozenset[str]


class Table:
    """Phrases by the stems of their words but for determiners ("half of the/your deposit"), each with its owners."""

    def __init__(self, rows: Iterable[tuple[str, str]]) -> None:
        self._owners: dict[Stems, set[str]] = {}
        for phrase, owner in rows:
            if content(words_of(phrase)):
                self._owners.setdefault(_undetermined(words_of(phrase)), set()).add(owner)
        self._longest: dict[str, int] = {}
        for words in self._owners:
            self._longest[words[0]] = max(len(words), self._longest.get(words[0], 0))

    def holds(self, phrase: str) -> bool:
        """Is *phrase*, whole, one of them?"""
        return _undetermined(words_of(phrase)) in self._owners

    def find(self, tokens: Sequence[Token]) -> Iterator[Mention]:
        """The phrases in *tokens* (words and numbers of one passage), the longest first, none within another."""
        determiners = lexicon()["determiner"]
        places = [k for k, token in enumerate(tokens) if token.word not in determiners]
        stems = [stem(tokens[k].word) for k in places]
        i = 0
        while i < len(stems):
            for length in range(min(self._longest.get(stems[i], 0), len(stems) - i), 0, -1):
                owners = self._owners.get(tuple(stems[i : i + length]))
                first, last = places[i], places[i + length - 1]
                if owners is not None and _runs_on(tokens[first : last + 1]):
                    yield Mention(first, last, frozenset(owners))
                    i += length - 1
                    break
            i += 1


def _undetermined(words: Iterable[str]) -> Stems:
    determiners = lexicon()["determiner"]
    return tuple(stem(word) for word in words if word not in determiners)


def _runs_on(tokens: Sequence[Token]) -> bool:
    """Do the words follow each other without a pause?"""
    return tokens[0].clause == tokens[-1].clause


@dataclass(frozen=True)
class Terms:
    """What the plain reader searches for, and what the judge knows of figures and units."""

    vocabulary: Vocabulary
    variables: Mapping[str, Variable]
    policies: frozenset[str]
    _content: dict[tuple[str, object], frozenset[str]] = field(default_factory=dict)

    # ---- actions ----------------------------------------------------------------------------------------------------

    def phrases_of(self, action: str) -> tuple[str, ...]:
        """How a canonical action and its other names are called: labels and phrases."""
        found: list[str] = []
        for name, declared in self.vocabulary.actions.items():
            if self.vocabulary.canonical(name) == action:
                given = declared.label.given if declared.label else None
                found += [text for text in (declared.label, given, *declared.phrases) if text]
        return tuple(found)

    def denials_of(self, action: str) -> tuple[str, ...]:
        """How the labels of a canonical action and its other names say that it is not so."""
        declared = self.vocabulary.actions.items()
        mine = [one.label for name, one in declared if one.label and self.vocabulary.canonical(name) == action]
        return tuple(label.denied for label in mine if label.denied)

    def called(self, action: str) -> str:
        """The action's label, else its name as words."""
        declared = self.vocabulary.actions.get(action)
        return declared.label if declared and declared.label else action.replace("_", " ")

    def called_outcome(self, name: str) -> tuple[str, ...]:
        """How an outcome is called and asked for."""
        declared = self.vocabulary.outcomes.get(name)
        label = declared.label if declared else None
        return (
            name.replace("_", " "),
            label or "",
            (label and label.ask) or "",
            *(declared.phrases if declared else ()),
        )

    @cached_property
    def actions(self) -> Table:
        """Phrases of actions, and labels of more than one word. A mere figure falls under the rule of figures."""
        rows: list[tuple[str, str]] = []
        for name, declared in self.vocabulary.actions.items():
            canonical = self.vocabulary.canonical(name)
            said = (declared.label, declared.label.given) if declared.label else ()
            labels = [text for text in said if text and len(content(words_of(text))) > 1]
            rows += [(_bare(text), canonical) for text in (*labels, *declared.phrases) if not _is_figure(text)]
        return Table(rows)

    @cached_property
    def denials(self) -> Table:
        """The clauses by which labels deny their actions, but for one that is declared to give another action."""
        owners = {self.vocabulary.canonical(name) for name in self.vocabulary.actions}
        rows = [(_bare(text), owner) for owner in sorted(owners) for text in self.denials_of(owner)]
        return Table(
            (text, owner) for text, owner in rows if len(content(words_of(text))) > 1 and not self.actions.holds(text)
        )

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
        texts = [action.replace("_", " "), *self.phrases_of(action)]
        named = [figure for text in texts for figure in figures(text) if figure.is_firm]
        return tuple((measure(value, figure.unit), figure, None) for figure in named for value in figure.values)

    # ---- facts ------------------------------------------------------------------------------------------------------

    @cached_property
    def states(self) -> Table:
        """Words that state a flag or a category: owners are `fact=value`."""
        return Table(
            (phrase, f"{name}={value}")
            for name, fact in self.vocabulary.facts.items()
            for value in _values(fact)
            for phrase in _phrases(name, fact, value)
        )

    def words_of_fact(self, name: str) -> frozenset[str]:
        """The stems of all that names a fact."""
        key = name, None
        if key not in self._content:
            fact = self.vocabulary.facts[name]
            texts = [name.replace("_", " "), fact.label or "", fact.unit or "", fact.ask or "", *_all_phrases(fact)]
            self._content[key] = frozenset(stem(word) for text in texts for word in words_of(text))
        return self._content[key]

    def unit_of(self, fact: str) -> str | None:
        """The unit of a fact, as the lexicon spells it."""
        declared = self.vocabulary.facts.get(fact)
        return unit_named(declared.unit) if declared else None

    def measured(self, fact: str, value: Value) -> Measure | None:
        """A value of a number or date as a measure; None for flags and categories."""
        variable = self.variables[fact]
        if variable.is_finite or isinstance(value, bool | str):
            return None
        if variable.kind == "date":
            return Measure("date", date.fromordinal(int(value)))
        return measure(Fraction(value), self.unit_of(fact))


def terms_of(index: BundleIndex) -> Terms:
    """The words of a bundle, built when they are first asked for."""
    return index.recently(_terms)()


def _terms(index: BundleIndex) -> Terms:
    return Terms(index.vocabulary, index.ruleset.variables, frozenset(index.bundle.policies))


def _bare(text: str) -> str:
    """A label without the pronoun that it begins with: "we take the animal in"."""
    words = text.split()
    return " ".join(words[1:]) if len(words) > 2 and words[0].casefold() in lexicon()["pronoun"] else text


def _is_figure(phrase: str) -> bool:
    """Is the phrase nothing but a figure ("7 days")?"""
    found = figures(phrase)
    return bool(found) and not phrase[: found[0].start].strip() and not phrase[found[-1].end :].strip()


def _values(fact: Fact) -> Sequence[object]:
    return (True, False) if fact.type == "boolean" else tuple(fact.values)


def _phrases(name: str, fact: Fact, value: object) -> Iterator[str]:
    if fact.type == "enum":
        yield str(value).replace("_", " ")
        yield from fact.values.get(str(value), ())
        return
    if fact.label and fact.label.denied:  # so the label itself is a clause that says it
        yield fact.label if value else fact.label.denied
    if isinstance(fact.phrases, dict):
        yield from fact.phrases.get("true" if value else "false", ())
    elif value:
        yield from fact.phrases


def _all_phrases(fact: Fact) -> Iterator[str]:
    rows = fact.phrases.values() if isinstance(fact.phrases, dict) else [fact.phrases]
    for row in rows:
        yield from row
    for value, synonyms in fact.values.items():
        yield from (value, *synonyms)
