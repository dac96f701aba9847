"""How a vocabulary speaks of its facts, in the form that the English of the logic reads."""

from __future__ import annotations

from itertools import chain

from bylaw.authored.vocabulary import Fact, Vocabulary
from bylaw.logic.words.prose import Label


def labels(vocabulary: Vocabulary) -> dict[str, Label]:
    """A label for every declared fact, by name."""
    return {name: label_of(fact) for name, fact in sorted(vocabulary.facts.items())}


def label_of(fact: Fact) -> Label:
    """The label of one fact. A plain list of phrases says that a boolean is true, or how a value is told."""
    if fact.type == "boolean":
        said = fact.phrases if isinstance(fact.phrases, dict) else {"true": fact.phrases}
        true, false = tuple(said.get("true", ())), tuple(said.get("false", ()))
        forms = (None, None) if fact.label is None else (fact.label.given, fact.label.denied)
        return Label(fact.label, None, fact.type, true, false, given=forms[0], denied=forms[1])
    told = fact.phrases if isinstance(fact.phrases, list) else list(chain.from_iterable(fact.phrases.values()))
    given = None if fact.label is None else fact.label.given
    return Label(fact.label, fact.unit, fact.type, value_phrases=tuple(told), given=given)


def called(vocabulary: Vocabulary) -> dict[str, str]:
    """How people call the actions and outcomes, by name: their labels, else their names as words."""
    actions, outcomes = vocabulary.actions.items(), vocabulary.outcomes.items()
    told = {name: action.label for name, action in actions} | {name: outcome.label for name, outcome in outcomes}
    return {name: label or name.replace("_", " ") for name, label in told.items()}
