"""The names of a vocabulary as the index holds them: facts, actions, outcomes, and the policies that are cited."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from bylaw.authored.vocabulary import Fact, Vocabulary
from bylaw.authored.wording import SLOT
from bylaw.hold.words import Index, Name
from bylaw.language.figures import figures
from bylaw.language.lexicon import lexicon
from bylaw.language.text import words_of
from bylaw.language.units import unit_named

_ASKED_BY_UNIT = {"time": "how_long"}


def index_vocabulary(
    vocabulary: Vocabulary,
    policies: Mapping[str, Iterable[str]],
    tested: Mapping[str, frozenset[str]] = MappingProxyType({}),
    beside: Mapping[str, frozenset[str]] = MappingProxyType({}),
) -> Index:
    """The index of a vocabulary. *policies* are the ids with what each is cited by: its source, the laws behind it;
    *tested* are the facts that the rules of each outcome and action test, *beside* those that their domain does.
    """
    names = [*_facts(vocabulary)]
    names += [
        replace(one, tests=tested.get(one.name, frozenset()), beside=beside.get(one.name, frozenset()))
        for one in (*_actions(vocabulary), *_outcomes(vocabulary))
    ]
    names += [
        Name(policy, "policy", tuple(map(_title, texts)), near=tuple(texts))
        for policy, texts in sorted(policies.items())
    ]
    return Index(names, vocabulary.idle, policies)


def _title(text: str) -> str:
    return text.partition(",")[0]


def _facts(vocabulary: Vocabulary) -> Iterator[Name]:
    for name, fact in sorted(vocabulary.facts.items()):
        said = _texts(fact.label or name.replace("_", " "))
        given = fact.label.given if fact.label else None
        phrases = [text for text in _phrases(fact) if SLOT in text or "{" in text]
        texts = [text for text in _phrases(fact) if "{" not in text] if fact.type not in ("boolean", "enum") else []
        yield Name(
            name,
            "fact",
            (*said, *texts),
            (*phrases, *([given] if given and SLOT in given else [])),
            fact.type,
            fact.unit,
            _values(fact),
            near=(name.replace("_", " "), fact.ask or ""),
        )


def _phrases(fact: Fact) -> tuple[str, ...]:
    return () if isinstance(fact.phrases, dict) else tuple(fact.phrases)


def _values(fact: Fact) -> Mapping[str, tuple[str, ...]]:
    if fact.type == "enum":
        return {value: (value.replace("_", " "), *synonyms) for value, synonyms in fact.values.items()}
    if fact.type != "boolean":
        return {}
    phrases = fact.phrases if isinstance(fact.phrases, dict) else {"true": fact.phrases}
    label = fact.label
    true = (*phrases.get("true", ()), *_forms(label.given if label else None))
    false = (*phrases.get("false", ()), *_forms(label.denied if label else None))
    return {"true": true, "false": false}


def _forms(text: str | None) -> tuple[str, ...]:
    return (text,) if text else ()


def _texts(label: str) -> tuple[str, ...]:
    return (str(label),)


def _actions(vocabulary: Vocabulary) -> Iterator[Name]:
    for name in sorted({vocabulary.canonical(one) for one in vocabulary.actions}):
        called, denied = _called(vocabulary, name)
        outcome = vocabulary.outcome_of(name)
        declared = vocabulary.actions.get(name)
        values = {"denied": tuple(denied)} if denied else {}
        found = Name(
            name,
            "action",
            tuple(called) or (name.replace("_", " "),),
            unit=_counted_by(vocabulary, name),
            values=values,
            near=(name.replace("_", " "), *_outcome_texts(vocabulary, outcome)),
            kin=frozenset({outcome} if outcome else ()),
            answers=frozenset(_answers(called)) | _declared_answers(vocabulary, outcome),
            owner=outcome,
        )
        yield found
        for other in sorted(vocabulary.actions) if declared is not None else ():
            if other != name and vocabulary.canonical(other) == name:
                yield Name(other, "action", found.texts, values=values, near=found.near, kin=found.kin | {name},
                           answers=found.answers, owner=outcome)  # fmt: skip


def _counted_by(vocabulary: Vocabulary, name: str) -> str | None:
    """The unit of the fact by which a figure of an action counts: "4 EUR for each hour"."""
    figures_of = [one.figures or () for other, one in vocabulary.actions.items() if vocabulary.canonical(other) == name]
    facts = (vocabulary.facts.get(figure.per or "") for those in figures_of for figure in those)
    return next((fact.unit for fact in facts if fact is not None and fact.unit), None)


def _called(vocabulary: Vocabulary, name: str) -> tuple[list[str], list[str]]:
    called: list[str] = []
    denied: list[str] = []
    for other, declared in sorted(vocabulary.actions.items()):
        if vocabulary.canonical(other) == name:
            label = declared.label
            called += [text for text in (label, label.given if label else None, *declared.phrases) if text]
            denied += _forms(label.denied if label else None)
    return called, denied


def _outcome_texts(vocabulary: Vocabulary, outcome: str | None) -> tuple[str, ...]:
    declared = vocabulary.outcomes.get(outcome or "")
    if declared is None:
        return (outcome.replace("_", " "),) if outcome else ()
    label = declared.label
    return tuple(text for text in (label, label.ask if label else None, *declared.phrases) if text)


def _outcomes(vocabulary: Vocabulary) -> Iterator[Name]:
    names = {*vocabulary.outcomes, *(one.outcome for one in vocabulary.actions.values() if one.outcome)}
    for name in sorted(names):
        actions = sorted(
            {vocabulary.canonical(one) for one in vocabulary.actions if vocabulary.outcome_of(one) == name}
        )
        told = [text for action in actions for text in _called(vocabulary, action)[0]]
        texts = tuple(dict.fromkeys((*_outcome_texts(vocabulary, name), name.replace("_", " "))))
        yield Name(
            name,
            "outcome",
            texts,
            near=(name.replace("_", " "), *told),
            kin=frozenset(actions),
            answers=frozenset(_answers((*texts, *told))) | _declared_answers(vocabulary, name),
        )


def _declared_answers(vocabulary: Vocabulary, outcome: str | None) -> frozenset[str]:
    declared = vocabulary.outcomes.get(outcome or "")
    return frozenset(declared.answers) if declared is not None else frozenset()


def _answers(texts: Iterable[str]) -> Iterator[str]:
    """The question words that texts answer: by the figures in them, and by the question words that they begin with."""
    for text in texts:
        words = words_of(text)
        for asked in ("when", "where", "who", "why"):
            if asked in words[:1]:
                yield asked
        for row in (("how", "much"), ("how", "many"), ("how", "long")):
            if words[:2] == row:
                yield "_".join(row)
        for figure in figures(text):
            unit = unit_named(figure.unit)
            if unit is None:
                yield from ("how_much", "how_many")
            elif lexicon().sizes.get(unit, ("", 0))[0] == "time" or unit in (
                "date",
                "day of the year",
                "business_days",
            ):
                yield from ("how_long", "when", "how_many")
            else:
                yield from ("how_much", "how_many")
