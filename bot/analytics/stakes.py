"""Words that say how much depends on an answer, or how it is to be given: they are no part of what is asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from bot.conversation import Binding
from bylaw.hold.text import see
from bylaw.hold.words import Index
from bylaw.language.lexicon import stem
from bylaw.language.text import Token, words_of


def hear(text: str, phrases: Iterable[str], index: Index) -> tuple[Binding, ...]:
    """Each of *phrases* that *text* says, as it stands there; one within a longer declared name is part of the name."""
    seen = see(text)
    known = {one: tuple(map(stem, words_of(one))) for one in sorted(set(phrases))}
    found: list[Binding] = []
    for passage in seen.text.passages:
        tokens = seen.words(passage.start, passage.end)
        names = [(one.first, one.last) for one in index.find(tokens)]
        for first, last, phrase in _places(tokens, known):
            if not any(a <= first and last <= b and (a, b) != (first, last) for a, b in names):
                words = seen.text.seen[tokens[first].start : tokens[last].end]
                found.append(Binding(words=words, kind="stakes", name=phrase))
    return tuple(found)


def _places(tokens: Sequence[Token], known: Mapping[str, tuple[str, ...]]) -> Iterator[tuple[int, int, str]]:
    """Where each of the phrases stands; two may share a word ("for the board", "board meeting")."""
    stems = [stem(token.word) for token in tokens]
    for k in range(len(stems)):
        for phrase, row in known.items():
            if row and tuple(stems[k : k + len(row)]) == row:
                yield k, k + len(row) - 1, phrase
