"""Definitions in a question ("total loss, which is the sum of payments and reserves"): the catalogue says so anyway.

A clause that says what a number is adds nothing where a metric that is asked for, or one that it is made of, is made of
just these numbers in just this way. A definition of anything else is left over.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from bylaw.authored.context import Context, Metric
from bylaw.hold.item import Reading
from bylaw.hold.text import Seen
from bylaw.hold.words import Index, Mention, is_content, stems_of
from bylaw.language.lexicon import closed, lexicon
from bylaw.language.text import Token

Place = tuple[int, int]
_RELATIVES = ("which", "where")


def places_of_definitions(reading: Reading, seen: Seen, index: Index, context: Context) -> Iterator[Place]:
    """The words of definitions that the catalogue bears out."""
    asked = [one.item.name for one in reading.items if one.item.kind == "asks" and one.item.name in context.metrics]
    known = {name for one in asked for name in _made_of(str(one), context)}
    for passage in seen.text.passages if known else ():
        tokens = seen.words(passage.start, passage.end)
        clauses = list(_clauses(tokens))
        mentions = list(index.find(tokens)) if clauses else []
        for first, copula, behind in clauses:
            inside = [one for one in mentions if copula < one.first and one.last < behind]
            last = _last_of(tokens, copula, inside, index)
            inside = [one for one in inside if one.last <= last]
            words = tokens[first : last + 1]
            if any(_defines(name, tokens[first:copula], words, inside, index, context) for name in sorted(known)):
                yield from ((token.start, token.end) for token in words)


def _made_of(name: str, context: Context) -> Iterator[str]:
    """A metric, and all that it is made of."""
    yield name
    for part in _parts(context.metrics[name]):
        yield from _made_of(part, context) if part in context.metrics else ()


def _parts(metric: Metric) -> tuple[str, ...]:
    if metric.numerator and metric.denominator:
        return metric.numerator, metric.denominator
    return tuple(one.name for one in metric.inputs)


def _clauses(tokens: Sequence[Token]) -> Iterator[tuple[int, int, int]]:
    """Where a clause begins, where it says "is", and where the next one does: "where a is …, and b is …"."""
    starts = [k for k, token in enumerate(tokens) if token.word in _RELATIVES and k]
    for start, end in pairwise((*starts, len(tokens))):
        copulas = [k for k in range(start, end) if tokens[k].word in closed("copula")]
        begins = [start, *(_subject_of(tokens, k) for k in copulas[1:])]
        yield from zip(begins, copulas, (*begins[1:], end), strict=False)


def _subject_of(tokens: Sequence[Token], copula: int) -> int:
    """Where what is defined begins: behind the "and" before it."""
    return next((k for k in range(copula, 0, -1) if tokens[k].word == "and"), copula)


def _last_of(tokens: Sequence[Token], copula: int, inside: Sequence[Mention], index: Index) -> int:
    """The last word of the numbers that are listed one behind the other."""
    last = copula
    making = {k for name in _MAKING for a, b in lexicon()[name].find([one.word for one in tokens]) for k in range(a, b)}
    for mention in inside:
        between = [k for k in range(last + 1, mention.first) if is_content(tokens[k].word) and k not in making]
        if between or not _metrics(mention, index):
            break
        last = mention.last
    return last


_MAKING = ("aggregating_sum", "aggregating_count", "aggregating_ratio")


def _metrics(mention: Mention, index: Index) -> list[str]:
    return sorted(one.name for one in mention.owners if index.get("number", one.name) is not None)


def _defines(
    name: str,
    subject: Sequence[Token],
    words: Sequence[Token],
    inside: Sequence[Mention],
    index: Index,
    context: Context,
) -> bool:
    """Is the metric called so, and made of just these numbers, in the way that is said?"""
    metric, called = context.metrics[name], index.get("number", name)
    parts = _parts(metric)
    if called is None or len(parts) < 2 or len(inside) != len(parts):
        return False
    said = [_metrics(one, index) for one in inside]
    if metric.numerator is None:
        is_made = lexicon()["aggregating_sum"].any_in([one.word for one in words])
        is_sum = set(str(metric.expr or "").replace(" ", "")) & set("-*/()") == set()
        same = is_made and is_sum and all(any(part in those for those in said) for part in parts)
    else:
        divided = [one.word for one in words]
        same = lexicon()["aggregating_ratio"].any_in(divided) and all(p in s for p, s in zip(parts, said, strict=True))
    own = index.own(called)
    rest = [one for one in subject if is_content(one.word) and one.word not in _RELATIVES]
    return same and all(not stems_of(one.word).isdisjoint(own) for one in rest)
