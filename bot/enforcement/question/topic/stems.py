"""Words that can tell one matter from another, by their stems: those of a text, of an action, of an outcome."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from bylaw.authored.vocabulary import Vocabulary
from bylaw.authored.wording import Wording
from bylaw.language.lexicon import content, lexicon, stem
from bylaw.language.text import words_of
from bylaw.language.words import FUNCTION_WORDS, read_words

DENIALS = frozenset(("no", "not"))


def stems_of(words: Iterable[str]) -> frozenset[str]:
    """The stems of those words that can tell one topic from another."""
    return frozenset(stem(word) for word in words if word in DENIALS or not _is_light(word))


@lru_cache(maxsize=20_000)
def _is_light(word: str) -> bool:
    """Is it a word that stands beside any matter ("customer", "get"), or one that carries no content?"""
    vague = lexicon()["vague"]
    return word in FUNCTION_WORDS or word in vague or lexicon().irregular.get(word, word) in vague


def stems_in(text: str) -> frozenset[str]:
    """The stems of a declared name, label or phrase."""
    return stems_of(word.text for word in read_words(text.replace("_", " ").replace("{value}", " ")))


def names_of_action(name: str, vocabulary: Vocabulary) -> tuple[frozenset[str], ...]:
    """The names of an action, each as its stems: of its aliases, too."""
    aliases = [other for other in sorted(vocabulary.actions) if vocabulary.canonical(other) == name] or [name]
    texts: list[str] = []
    asked: list[frozenset[str]] = []
    for alias in aliases:
        declared = vocabulary.actions.get(alias)
        texts += [alias, *((declared.label or "", *declared.phrases) if declared else ())]
        asked += [stems_in(declared.label.ask)] if declared and declared.label and declared.label.ask else []
    whole = (one for one in asked if len(one) > 1)  # a question of one telling word ("is it free?") names nothing
    return tuple(dict.fromkeys((*(found for text in texts if (found := _name(text))), *whole)))


def _name(text: str) -> frozenset[str]:
    """The stems of a name; of one that but one word tells apart ("ask for a password") the others have to be said."""
    told = stems_in(text)
    return told if len(told) != 1 else told | marked(text)


def marked(text: str) -> frozenset[str]:
    """The stems of all words that carry content, telling or not, marked so that they are no others."""
    return frozenset(f"={stem}" for stem in content(words_of(text.replace("_", " "))))


def unmarked(stems: frozenset[str]) -> frozenset[str]:
    """Those that tell something by themselves."""
    return frozenset(stem for stem in stems if not stem.startswith("="))


def names_of_outcome(name: str, vocabulary: Vocabulary) -> tuple[frozenset[str], ...]:
    """The names of an outcome, each as its stems."""
    declared = vocabulary.outcomes.get(name)
    labels = [stems_in(text) for text in _said(declared.label)] if declared else []
    phrases = map(stems_in, declared.phrases) if declared else ()
    # one word of a label ("back" in "what the customer gets back") names nothing; one that is declared for it does
    told = (stems_in(name), *(one for one in labels if len(one) > 1), *phrases)
    return tuple(dict.fromkeys(filter(None, told)))


def _said(label: Wording | None) -> tuple[str, ...]:
    """What a label says of a matter: its name, and the question that it answers."""
    return () if label is None else (label, label.ask or "")
