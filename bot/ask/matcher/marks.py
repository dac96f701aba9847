"""The marks of one sentence of a data question: declared phrases, spans of time, numbers, and words that ask.

The longest declared phrase stands first; a word of the closed classes is a mark of each class that holds it. A word
that is in none is a mark of its own, so that nothing is joined across it. Words that say nothing are no marks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from bot.ask.matcher.mentions import owned
from bylaw.hold.bearing import is_empty
from bylaw.hold.standing import is_negation
from bylaw.hold.targets import AGAIN
from bylaw.hold.text import Seen
from bylaw.hold.values import Values, comparisons_at
from bylaw.hold.words import Index, Mention, Name, stems_of
from bylaw.language.dates import Span
from bylaw.language.figures import Figure
from bylaw.language.lexicon import closed, lexicon
from bylaw.language.text import Passage, Token, words_of

MOST_TOKENS = 300  # of a sentence that is matched: a longer one is no question
_LITERAL = re.compile(r"\"([^\"\n]{1,80})\"|(?<!\w)'([^'\n]{1,80})'(?!\w)")
_CODE = re.compile(r"(?<![\w.'-])(?=[A-Z0-9_/-]*[A-Z])[A-Z0-9]+(?:[_/-][A-Z0-9]+)*(?![\w'-])")
# What a word asks for, by the closed class of the lexicon that holds it.
OPERATORS: Mapping[str, str] = {
    "count": "aggregating_count", "sum": "aggregating_sum", "avg": "aggregating_avg", "min": "aggregating_min",
    "max": "aggregating_max", "median": "aggregating_median", "list": "aggregating_list",
    "values": "aggregating_distinct", "share": "aggregating_share", "ratio": "aggregating_ratio", "by": "grouping",
    "desc": "ranking_desc", "asc": "ranking_asc", "compare": "comparing", "order": "ordering", "none": "emptiness",
    "day": "grain_day", "week": "grain_week", "month": "grain_month", "quarter": "grain_quarter",
    "year": "grain_year", "running": "over_running", "growth": "over_growth", "change": "over_change",
    "named": "naming", "done": "doing", "belong": "belonging", "contains": "containing", "starts with": "starting",
    "ends with": "ending", "same": "same", "weekend": "weekend", "days of the week": "days_of_week",
    "caseless": "caseless",
    **{again: f"cycle_{again}" for again in AGAIN},
}  # fmt: skip
GRAINS = ("day", "week", "month", "quarter", "year")
_ALWAYS = frozenset(("all", "there"))  # stand within what is said, and part nothing
_JOINING = frozenset(("and", "or", "with", "have", "has", "having", "that", "who", "which", "of", "to", "whose"))


@dataclass(frozen=True)
class Mark:
    """What the tokens from `first` to `last` are. `names` are what a phrase is called by, each with its value."""

    first: int
    last: int
    kind: str  # name, time, figure, text, operator, joining, word
    says: frozenset[str] = frozenset()
    names: tuple[tuple[Name, str | None], ...] = ()
    span: Span | None = None
    figure: Figure | None = None
    operator: str | None = None  # the side on which a number lies
    counted: str | None = None  # the metric that is called like the thing, and counts it
    text: str = ""


@dataclass(frozen=True)
class Sentence:
    """A sentence, its tokens and its marks in order."""

    seen: Seen
    tokens: tuple[Token, ...]
    marks: tuple[Mark, ...]

    def quote(self, first: int, last: int) -> str:
        """The words from one token to another, with the signs that belong to a number."""
        start, end = self.tokens[first].start, self.tokens[last].end
        for mark in self.marks:
            if mark.figure is not None and first <= mark.first and mark.last <= last:
                start, end = min(start, mark.figure.start), max(end, mark.figure.end)
        return self.seen.text.seen[start:end]


def read_sentence(seen: Seen, passage: Passage, values: Values, index: Index) -> Sentence:
    """The marks of a sentence; of one that is too long to be a question there are none."""
    tokens = seen.words(passage.start, passage.end)
    if len(tokens) > MOST_TOKENS:
        return Sentence(seen, tokens, ())
    names = list(_names(tokens, index))
    declared = {(one.first, one.last) for one in names}
    texts = [one for one in _texts(seen, passage, tokens) if (one.first, one.last) not in declared]
    times = [*_times(passage, values, tokens)]
    dated = frozenset(one.first for one in times if tokens[one.first].is_number)
    found = [*_phrases(tokens, dated), *texts, *times, *names, *_numbers(passage, values, tokens)]
    taken: dict[int, Mark] = {}
    for mark in sorted(found, key=lambda one: (one.first - one.last, _RANK[one.kind])):
        if all(k not in taken for k in range(mark.first, mark.last + 1)):
            taken.update(dict.fromkeys(range(mark.first, mark.last + 1), mark))
    return Sentence(seen, tokens, tuple(_bounding(list(_in_order(tokens, taken, dated)), tokens)))


_RANK: Mapping[str, int] = {"text": 0, "time": 1, "figure": 2, "name": 3, "operator": 4, "word": 4}


def _phrases(tokens: Sequence[Token], dated: frozenset[int]) -> Iterator[Mark]:
    """What asks in several words ("in descending order"), as a longer phrase than a name inside it."""
    words = [token.word for token in tokens]
    found = (_operator(words, k, dated) for k in range(len(words)))
    return (mark for mark in found if mark is not None and mark.last > mark.first)


def _in_order(tokens: Sequence[Token], taken: Mapping[int, Mark], dated: frozenset[int]) -> Iterator[Mark]:
    words = [token.word for token in tokens]
    k = 0
    while k < len(tokens):
        mark = taken.get(k)
        if mark is None:
            free = next((i for i in range(k, len(tokens)) if i in taken), len(tokens))
            mark = _operator(words[:free], k, dated) or _plain(tokens, k)
        if mark is not None:
            yield mark
        k = k + 1 if mark is None else mark.last + 1


def _bounding(marks: Sequence[Mark], tokens: Sequence[Token]) -> Iterator[Mark]:
    """The marks, those that bound a number only beside one: elsewhere "from" and "over" only join."""
    for i, mark in enumerate(marks):
        beside = {one.kind for one in (*marks[max(0, i - 1) : i], *marks[i + 1 : i + 2])}
        if mark.says == {"compare"} and mark.operator is None and is_empty(tokens[mark.first].word):
            continue  # "from Oslo"
        if mark.operator is None or "figure" in beside:
            yield mark
        elif mark.says and not (mark.says == {"compare"} and is_empty(tokens[mark.first].word)):
            yield replace(mark, operator=None)
        elif not is_empty(tokens[mark.first].word):
            yield replace(mark, kind="word", operator=None)


def _operator(words: Sequence[str], k: int, dated: frozenset[int]) -> Mark | None:
    """The longest phrase of the closed classes that begins there, with all that it says. What comes again of a date
    is none before a time, at one of the places *dated*: "each month of the year 2025".
    """
    sizes = {name: lexicon()[held].at(words, k) for name, held in OPERATORS.items()}
    sizes |= {name: 0 for name in AGAIN if k + sizes[name] in dated}
    bound, side = next(((behind, side) for first, behind, side in comparisons_at(words[k:]) if first == 0), (0, "=="))
    size = max(*sizes.values(), bound)
    if size == 0 or (size == 1 and words[k] in (*_ALWAYS, "to")):
        return None
    says = frozenset(name for name, length in sizes.items() if length == size)
    is_bound = bound == size and side != "=="
    return Mark(k, k + size - 1, "operator", says, operator=side if is_bound else None) if says or is_bound else None


def _plain(tokens: Sequence[Token], k: int) -> Mark | None:
    word = tokens[k].word
    if is_negation(tokens[k]):
        return Mark(k, k, "operator", frozenset(("not",)))
    if word in _JOINING:
        return Mark(k, k, "joining", frozenset((word,)))
    is_nothing = (is_empty(word) and not tokens[k].is_code) or word in _ALWAYS
    return None if is_nothing else Mark(k, k, "word")


def _texts(seen: Seen, passage: Passage, tokens: Sequence[Token]) -> Iterator[Mark]:
    """What stands between quotation marks, and codes, which are words to all but the column beside them."""
    for match in _LITERAL.finditer(seen.text.seen, passage.start, passage.end):
        inside = [k for k, token in enumerate(tokens) if match.start() < token.start < match.end()]
        if inside:
            yield Mark(inside[0], inside[-1], "text", text=(match[1] or match[2]).strip())
    for match in _CODE.finditer(seen.text.seen, passage.start + 1, passage.end):
        inside = [k for k, token in enumerate(tokens) if match.start() <= token.start < match.end()]
        if inside and match[0] != "I":
            yield Mark(inside[0], inside[-1], "word", text=match[0])


def _times(passage: Passage, values: Values, tokens: Sequence[Token]) -> Iterator[Mark]:
    for span in values.spans_at(passage.start, passage.end):
        inside = [k for k, token in enumerate(tokens) if span.begins <= token.start < span.ends]
        if inside:
            yield Mark(inside[0], inside[-1], "time", span=span)


def _numbers(passage: Passage, values: Values, tokens: Sequence[Token]) -> Iterator[Mark]:
    for figure in values.figures_at(passage.start, passage.end)[:MOST_TOKENS]:
        inside = [k for k, token in enumerate(tokens) if figure.start <= token.start < figure.end]
        is_said = figure.first >= 0 and len(figure.values) == 1 and isinstance(figure.values[0], Fraction)
        if inside and is_said:
            yield Mark(inside[0], inside[-1], "figure", figure=figure)


def _names(tokens: Sequence[Token], index: Index) -> Iterator[Mark]:
    """The declared phrases. A thing whose number is called like itself is the thing: who counts it names the number."""
    for mention in _mentions(tokens, index):
        found = (*owned(index, mention, "number"), *owned(index, mention, "part"))
        said = tuple(token.word for token in tokens[mention.first : mention.last + 1])
        counting = {one for name, _ in found if name.kind == "entity" for one in name.kin}
        names = tuple(one for one in found if one[0].name not in counting and _is_literal(*one, said))
        behind = tokens[mention.last + 1].word if mention.last + 1 < len(tokens) else ""
        names = tuple(one for one in names if not _is_period(*one, said, behind, index))
        if " ".join(said) in closed("naming") and not _is_thing(mention, tokens, index):  # "named" is no "name"
            continue
        if names:
            called = sorted({name.name for name, _ in found if name.name in counting})
            counted = called[0] if len(called) == 1 else None
            yield Mark(mention.first, mention.last, "name", names=names, counted=counted)


def _mentions(tokens: Sequence[Token], index: Index) -> Iterator[Mention]:
    """The declared phrases; a thing that is called to the letter is no word of a longer way to one that is not.

    "Requests by month" speaks of requests, and not of who they are "requested by"; "orders on Sundays" of orders, and
    not of what was "ordered on" them.
    """
    for mention in index.find(tokens):
        if _is_telling(mention, tokens) and not _is_thing(mention, tokens, index):
            continue
        inside = [*index.find(tokens[mention.first : mention.last])] if _is_loose_way(mention, tokens, index) else []
        things = [one for one in inside if _is_thing(one, tokens[mention.first : mention.last], index)]
        if not things:
            yield mention
        for one in things:
            yield replace(one, first=one.first + mention.first, last=one.last + mention.first)


def _is_telling(mention: Mention, tokens: Sequence[Token]) -> bool:
    """Does the word only say how it is to be told: "Show the bookings" of no shows, "ordered from lowest …"?"""
    if mention.first != mention.last:
        return False
    word = tokens[mention.first].word
    if word not in closed("ordering"):
        return mention.first == 0 and word in closed("aggregating_list")
    behind = {token.word for token in tokens[mention.last + 1 : mention.last + 4]}
    return not behind.isdisjoint(closed("ranking_desc")) or not behind.isdisjoint(closed("ranking_asc"))


def _is_loose_way(mention: Mention, tokens: Sequence[Token], index: Index) -> bool:
    """Do its stems alone say a date, or how things belong together, in words that nobody declares?"""
    names = [name for name, _ in owned(index, mention, "part")]
    is_way = bool(names) and all("@" in name.name or name.kind == "date" for name in names)
    is_way &= not owned(index, mention, "number")
    return is_way and not _is_thing(mention, tokens, index)


def _is_thing(mention: Mention, tokens: Sequence[Token], index: Index) -> bool:
    """Is something called so to the letter?"""
    said = tuple(token.word for token in tokens[mention.first : mention.last + 1])
    return any(words_of(text) == said for name, _ in owned(index, mention, "part") for text in name.texts)


def _is_period(name: Name, value: str | None, said: tuple[str, ...], behind: str, index: Index) -> bool:
    """Is it a value that reads like a period ("monthly"), and not beside what its column is called?"""
    is_grain = any(said == (word,) for grain in GRAINS for word in closed(f"grain_{grain}"))
    return value is not None and is_grain and stems_of(behind).isdisjoint(index.own_texts(name))


def _is_literal(name: Name, value: str | None, said: tuple[str, ...]) -> bool:
    """Is a listed value said as it is declared, and not only by its stem?"""
    if value is None or name.type != "enum":
        return True
    return any(words_of(text) == said for text in (value, *name.values.get(value, ())))
