"""How people may say and ask for the words of imported rules: by their headings, their names and their sentences.

No word is invented: what is proposed are the words of the source, with those that only join ("with", "not").
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from bylaw.language.lexicon import closed, stem
from bylaw.language.text import words_of
from bylaw.language.units import units_in

Record = dict[str, Any]
_LONGEST: Final = 5  # words of a stretch of a sentence that names an action
_MOST: Final = 150  # characters of a heading that is asked for


def asked_by(type_: str, label: str) -> Record:
    """`ask` and `phrases` of a fact of *type_* that is called *label*."""
    words = label.replace("{", "(").replace("}", ")")[:_MOST]
    first, _, rest = words.partition(" ")
    match type_:
        case "boolean":
            return _yes_or_no(first.lower(), rest, words)
        case "date":
            return {"ask": f"On which day is the {words}?", "phrases": [f"{words} {{value}}"]}
        case "enum":
            return {"ask": f"Which {words} is it?"}
    if rest and units_in(first):  # "days since purchase" are counted
        return {"ask": f"How many {words}?", "phrases": [f"{{value}} {words}"]}
    return {"ask": f"What is the {words}?", "phrases": [f"{words} {{value}}"]}


def _yes_or_no(first: str, rest: str, words: str) -> Record:
    """`is affordable` is said so or not, `has receipt` with it or without."""
    if rest and first == "is":
        return {"ask": f"Is it {rest}?", "phrases": {"true": [rest], "false": [f"not {rest}"]}}
    if rest and first == "has":
        return {"ask": f"Is there {rest}?", "phrases": {"true": [f"with {rest}"], "false": [f"without {rest}"]}}
    return {"ask": f"Is it so: {words}?", "phrases": {"true": [words], "false": [f"not {words}"]}}


def phrase_in(sentence: str, name: str) -> str | None:
    """The stretch of *sentence* that says *name* in the words of its author; None where it says it no otherwise.

    It begins and ends with words of the name, holds all of them, and no word that alters what it says.
    """
    said, wanted = words_of(sentence), {stem(word) for word in words_of(name)}
    found = [one for one in _stretches(said) if wanted and {stem(one[0]), stem(one[-1])} <= wanted]
    whole = [one for one in found if wanted <= set(map(stem, one))]
    best = min(whole, key=len, default=())
    is_same = " ".join(best) == name.replace("_", " ")
    altered = closed("altering") | closed("negation") | closed("modal")
    return None if not best or is_same or altered & set(best) else " ".join(best)


def _stretches(words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for start in range(len(words)):
        yield from (words[start : start + size] for size in range(1, _LONGEST + 1) if start + size <= len(words))
