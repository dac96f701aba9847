"""Words that say how much depends on an answer, or how it is to be given: they are no part of what is asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from bot.conversation import Binding
from bylaw.hold.text import see
from bylaw.hold.words import Index
from bylaw.language.lexicon import stem
from bylaw.language.text import Token, words_of


def hear(text: str, phrases: Iterable[str], index: Index) -> tuple[Binding, ...]:
    """Each of *phrases* that *text* says, as it stands there; one within a longer declared name is part of the name."""
    seen = see(text)
    known = sorted({tuple(map(stem, words_of(one))): one for one in phrases}.items(), key=lambda one: -len(one[0]))
    found: list[Binding] = []
    for passage in seen.text.passages:
        tokens = seen.words(passage.start, passage.end)
        names = [(one.first, one.last) for one in index.find(tokens)]
        for first, last, phrase in _places(tokens, known):
            if not any(a <= first and last <= b and (a, b) != (first, last) for a, b in names):
                words = seen.text.seen[tokens[first].start : tokens[last].end]
                found.append(Binding(words=words, kind="stakes", name=phrase))
    return tuple(found)


def _places(tokens: Sequence[Token], known: Sequence[tuple[tuple[str, ...], str]]) -> Iterator[tuple[int, int, str]]:
    """Where the phrases stand, the longest at each place."""
    stems = [stem(token.word) for token in tokens]
    k = 0
    while k < len(stems):
        found = next((one for one in known if one[0] and tuple(stems[k : k + len(one[0])]) == one[0]), None)
        if found is not None:
            yield k, k + len(found[0]) - 1, found[1]
        k += len(found[0]) if found is not None else 1
