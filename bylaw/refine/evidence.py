"""What a rule rests on: a verbatim quote that speaks of all it speaks of, or an axiom from which it follows."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from bylaw.language.lexicon import closed
from bylaw.logic.formula.ir import Formula, Not
from bylaw.refine.notation import Parsed
from bylaw.refine.program import Ontology, Predicate
from bylaw.refine.theory import conjuncts

_HUMPS = re.compile(r"(?<=[a-z0-9à-ÿ])(?=[A-Z])|_|-")
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class Evidence:
    """The text that may be quoted, and the words and axioms of the domain."""

    text: str = ""
    ontology: Ontology = field(default_factory=Ontology)

    def is_verbatim(self, quote: str) -> bool:
        """Does the text say *quote*, letter by letter but for white space, and in whole words?"""
        wanted = re.escape(" ".join(quote.split()))
        return bool(wanted) and re.search(rf"(?<!\w){wanted}(?!\w)", " ".join(self.text.split())) is not None

    def unspoken(self, quote: str, predicates: Mapping[str, Predicate], used: Collection[str]) -> tuple[str, ...]:
        """Those of the predicates *used* which *quote* does not name, by their names, labels and synonyms."""
        words = _words(quote)
        declared = {**self.ontology.predicates, **predicates}
        return tuple(
            name
            for name in sorted(used)
            if not any(_stands_in(form, words) for form in _forms(name, declared.get(name)))
        )

    def denies(self, quote: str) -> bool:
        """Does *quote* deny something?"""
        negations = self.ontology.negations or tuple(closed("negation"))
        words = _words(quote)
        return any(_stands_in(_words(one), words) for one in map(str, negations))


def denies_something(*parts: Parsed | None) -> bool:
    """Does a rule deny something: has one of its parts a negated literal?"""
    return any(isinstance(item, Not) for part in parts if part for item in _literals(part.formula))


def _literals(formula: Formula) -> Iterator[Formula]:
    yield from conjuncts(formula) or ()


def _forms(name: str, declared: Predicate | None) -> Iterator[Sequence[str]]:
    yield _words(_HUMPS.sub(" ", name))
    if declared is not None:
        yield from (_words(said) for said in (declared.label, *declared.synonyms) if said)


def _words(text: str) -> Sequence[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _stands_in(phrase: Sequence[str], words: Sequence[str]) -> bool:
    return bool(phrase) and any(
        list(words[i : i + len(phrase)]) == list(phrase) for i in range(len(words) - len(phrase) + 1)
    )
