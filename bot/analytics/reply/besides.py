"""What else the words of a question could have meant: other numbers that are called with the same words.

Nothing is said where the words are the number's own name, or where the question says that rows are counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from bot.conversation import Binding
from bylaw.authored.context import Context, Metric
from bylaw.language.lexicon import lexicon
from bylaw.language.text import words_of
from bylaw.language.words import read_words

MOST = 3  # names, in one line


def told(text: str, bindings: Iterable[Binding], context: Context) -> Iterator[str]:
    """A line for each number that *text* names in fewer words than several numbers have in common."""
    if _counts(text):
        return
    for words, name in dict.fromkeys((one.words, one.name) for one in bindings if one.kind == "metric"):
        metric = context.metrics.get(name)
        if metric is None or _words(words) == _words(name):
            continue
        said = set(_words(words))
        found = [(_more(said, other), other.name) for other in context.metrics.values() if other is not metric]
        names = [f"`{_readable(other)}`" for more, other in sorted(found) if more][:MOST]
        if names:
            listed = ", ".join(names[:-1]) + (" or " if names[1:] else "") + names[-1]
            yield f"`{words}` is read as {_readable(name)}; it could also mean {listed}."


def _counts(text: str) -> bool:
    """Do its words say that something is counted?"""
    return lexicon()["aggregating_count"].any_in(words_of(text))


def _more(said: set[str], metric: Metric) -> int:
    """How many words its shortest name has that holds all that were said, and more; 0 where none does."""
    names = [set(_words(name)) for name in (metric.name, *metric.synonyms)]
    return min((len(name) for name in names if said and said < name), default=0)


def _words(name: str) -> tuple[str, ...]:
    return tuple(word.text for word in read_words(_readable(name)))


def _readable(name: str) -> str:
    return name.replace("_", " ")
