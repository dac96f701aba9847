"""Further ways to name actions: by the words of the rules that give them, and in short where their outcome is asked.

"The address cannot be changed" is how a rule prohibits it; "it is locked" is enough where everybody speaks of a login.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from bot.enforcement.kept import kept
from bot.enforcement.namings import Naming, Namings, gathered, namings
from bot.enforcement.phrases import GENERIC, phrase_words
from bot.enforcement.polarity import is_giving
from bot.enforcement.senses import sense
from bot.enforcement.sentences import sentences
from bylaw.authored.vocabulary import Fact, Vocabulary
from bylaw.language.span import listed
from bylaw.language.units import unit_of
from bylaw.language.words import AUXILIARIES, PREPOSITIONS, PRONOUNS, read_words
from bylaw.logic.ir import ConditionalRule

_REPAID = frozenset(filter(None, map(sense, ("refund", "back"))))
_MOST = 6  # words of a clause that is taken for a name
_LEAST = 4  # letters of a word that is enough alone
_NO = listed("not no never")
# What makes a clause depend on another, or say too much or too little for a name.
_HELD_OPEN = listed("if unless until once when while as or than only nothing whether that which who")
_AT_FIRST = PREPOSITIONS | listed("within under against except though first because since")
_SCOPING = listed("everybody everything else other otherwise every all too case then later product item they")
_COMMON = listed("answer end good great well check step paid store same part")


def of_rules(vocabulary: Vocabulary, rules: Iterable[ConditionalRule]) -> Namings:
    """The names of *vocabulary* and the clauses in which *rules* say what they give, where they are of one action."""
    own = namings(vocabulary)
    known = {naming.stems for naming in own}
    found: dict[frozenset[str], set[tuple[str, bool]]] = defaultdict(set)
    said = {(rule.source.text or "", rule.effect.action, rule.effect.kind == "prohibited") for rule in rules}
    for text, action, is_prohibited in sorted(said):
        for stems, is_denied in _clauses(text):
            found[stems].add((vocabulary.canonical(action), is_denied is not is_prohibited))
    more = []
    for stems, meant in sorted(found.items(), key=lambda pair: sorted(pair[0])):
        if len(meant) == 1 and stems not in known:
            ((action, is_denial),) = meant
            more.append(Naming(stems, (action,), vocabulary.outcome_of(action), is_denial))
    return gathered([*own, *more]) if more else own


def _clauses(text: str) -> Iterator[tuple[frozenset[str], bool]]:
    """The stems of each clause of *text* that could be a name, and whether it denies."""
    for sentence in sentences(text):
        for clause in sentence.clauses:
            texts = [sentence.words[i].text for i in clause]
            if len(texts) > 2 and texts[0] in PREPOSITIONS and texts[1] == "that":
                texts = texts[2:]  # "after that we do not take items back"
            denials = sum(text in _NO for text in texts)
            stems = frozenset(
                found for text in texts if text not in _SCOPING and text not in _NO and (found := sense(text))
            )
            telling = stems if denials else {sense(text) for text in texts if not is_giving(text)} & stems
            is_said = texts[0] not in _AT_FIRST or not (PRONOUNS | AUXILIARIES).isdisjoint(texts)
            is_open = (
                denials > 1
                or not is_said
                or not _HELD_OPEN.isdisjoint(texts)
                or any(stem[0].isdigit() for stem in stems)
            )
            if not is_open and len(stems) <= _MOST and len(telling) >= 2:
                yield stems, denials == 1


def in_short(vocabulary: Vocabulary, outcome: str, apart: Collection[str]) -> Namings:
    """The first words of the names of actions of *outcome* that alone tell one from the others.

    What the facts *apart* are called by speaks of the case instead.
    """
    own = namings(vocabulary)
    texts = (text for name in sorted(apart) for text in fact_texts(name, vocabulary.facts[name]))
    of_case = frozenset().union(*map(_senses_of, texts))
    called: dict[str, set[str]] = defaultdict(set)
    for naming in (naming for naming in own if naming.outcome == outcome):
        for target in naming.targets if not naming.is_generic else ():
            called[target] |= naming.stems
    found = list(_without_outcome(own, outcome))
    for action in sorted(called):
        first = action.partition("_")[0]
        meant = sense(first)
        is_common = is_giving(first) or first in _COMMON or len(first) < _LEAST or own.is_denial(action)
        others = set().union(*(stems for other, stems in called.items() if other != action))
        if meant and not is_common and meant not in others | of_case:
            found.append(Naming(frozenset((meant,)), (action,), outcome))
        measured = frozenset(part for part in called[action] if part[0].isdigit() or unit_of(part) is not None)
        apart_from = called[action] - others - of_case
        if len(measured) > 1 and not measured <= others:
            found.append(Naming(measured, (action,), outcome))  # "within two days"
        elif measured and len(apart_from) == 1 and apart_from.isdisjoint(measured):
            found.append(Naming(measured | apart_from, (action,), outcome))  # "on the same day"
    return gathered(found)


def _without_outcome(own: Namings, outcome: str) -> Iterator[Naming]:
    """What is refunded, without the words by which its outcome is called: "the fee" where a plan ends."""
    for naming in (one for one in own if one.outcome == outcome and not one.is_generic):
        stems = naming.stems - _senses_of(outcome.replace("_", " "))
        if len(naming.stems) > len(stems) >= 2 and not stems.isdisjoint(_REPAID):
            yield Naming(stems, naming.targets, outcome, naming.is_denial)


def fact_texts(name: str, fact: Fact) -> Iterator[str]:
    """The words by which a fact and its values are called."""
    yield name.replace("_", " ")
    yield fact.label or ""
    for value, others in fact.values.items():
        yield value.replace("_", " ")
        yield from others
    groups = fact.phrases.values() if isinstance(fact.phrases, dict) else (fact.phrases,)
    for group in groups:
        yield from group


@kept(8)
def kinds(vocabulary: Vocabulary) -> Mapping[tuple[str, str], Sequence[tuple[str, ...]]]:
    """The words by which each kind is called: each value of a fact that has some."""
    return {
        (name, value): sorted({phrase_words(text) for text in (value, *others)})
        for name, fact in vocabulary.facts.items()
        for value, others in fact.values.items()
        if value not in GENERIC
    }


@lru_cache(maxsize=5_000)
def _senses_of(text: str) -> frozenset[str]:
    return frozenset(found for word in read_words(text) if (found := sense(word.text)) is not None)
