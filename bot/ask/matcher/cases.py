"""What is asked of the rules, and the facts of a case: flags, categories, numbers and days."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from bot.ask.matcher.mentions import asking_sentences, owned, quote_of
from bylaw.hold import standing
from bylaw.hold.bearing import is_empty
from bylaw.hold.cases import count_units, form_words, words_around
from bylaw.hold.days import elapsed, past_days, said_days, words_of_day
from bylaw.hold.item import MOST_ITEMS, Item
from bylaw.hold.text import Seen
from bylaw.hold.values import Values, comparisons_at
from bylaw.hold.words import Index, Mention, Name, is_content, stems_of
from bylaw.language.figures import Figure, measure
from bylaw.language.lexicon import closed, lexicon
from bylaw.language.text import Passage, Token, words_of
from bylaw.language.units import unit_named

_WINDOW = 80  # characters around a number that are looked at
_NEXT = 2
_FAR = 6  # words between a number and what names it
_NUMBERS = ("integer", "decimal")
_ELAPSED = frozenset(("after", "since"))


def match_case(seen: Seen, values: Values, index: Index) -> Iterator[Item]:
    """What is asked, and the facts of the case. Of several values of one fact the corrected one stands, else none."""
    asking = asking_sentences(seen)
    asks: dict[str, Item] = {}
    taken: set[int] = set()
    mentions = []
    for passage in seen.text.passages:
        tokens = [token for token in seen.words(passage.start, passage.end) if not seen.is_identified(token.start)]
        for mention, words in _mentions(tokens, index, passage.start in asking):
            name = _asked(owned(index, mention, "asks")) if passage.start in asking else None
            if name is None:
                mentions.append((passage, mention, words))
                continue
            taken.update(token.start for token in words)
            if name not in asks:
                own = index.own(found) if (found := index.get("asks", name)) is not None else frozenset[str]()
                asks[name] = _ask(seen, name, tokens, words, own)
    yield from asks.values()
    asked = [found for one in asks if (found := index.get("asks", one)) is not None]
    tested = frozenset[str]().union(*(one.tests for one in asked))
    beside = frozenset[str]().union(*(one.beside for one in asked))
    facts = _Facts(seen, values, index, tested, tested | beside, asking if asked else frozenset())
    told = [*facts.said(mentions, taken), *facts.elapsed(taken), *facts.figures(taken)]
    yield from _agreed(seen, [*told, *facts.days({at for at, item in told if item.unit is not None})])


def _mentions(tokens: Sequence[Token], index: Index, is_asking: bool) -> Iterator[tuple[Mention, Sequence[Token]]]:
    """The declared phrases, each with its words; where none asks, also those with a number inside: "keep 6 hens"."""
    found = [(one, tokens[one.first : one.last + 1]) for one in index.find(tokens)]
    yield from found
    if is_asking and not any(_asked(owned(index, one, "asks")) for one, _ in found):
        counted = [token for token in tokens if not token.is_number]
        for one in index.find(counted):
            if one.size > 1 and _asked(owned(index, one, "asks")):
                yield one, counted[one.first : one.last + 1]


def _ask(seen: Seen, name: str, tokens: Sequence[Token], words: Sequence[Token], own: frozenset[str]) -> Item:
    """What is asked, with other words of its *own* in the sentence ("does he *pay* the tourist tax?"); of the rules
    themselves where the sentence says so ("our refund policy", "the rules for …").
    """
    ruling = closed("rules_themselves")
    said = [token for token in tokens if token.word in ruling and token.clause == words[0].clause]
    near = (token for token in tokens if abs(token.start - words[0].start) <= _WINDOW)
    more = [token for token in near if is_content(token.word) and not stems_of(token.word).isdisjoint(own)]
    whole = sorted((*said, *words, *more), key=lambda token: token.start)
    return Item(kind="asks", name=name, quote=quote_of(seen, whole), mode="rules" if said else None)


def _agreed(seen: Seen, found: Sequence[tuple[int, Item]]) -> Iterator[Item]:
    """Of each fact what is said of it last, behind a correction; nothing where it is said in two ways."""
    by_name: dict[str, list[tuple[int, Item]]] = {}
    for at, item in sorted(found, key=lambda one: one[0]):
        by_name.setdefault(item.name or "", []).append((at, item))
    agreed: list[tuple[int, Item]] = []
    for said in by_name.values():
        last = said[0]
        kept = [last]
        for one in said[1:]:
            if (one[1].value, one[1].operator, one[1].unit) != (last[1].value, last[1].operator, last[1].unit):
                between = [token.word for token in seen.words(last[0], one[0])]
                kept = [one] if lexicon()["correcting"].any_in(between) else []
            elif kept:
                kept.append(one)
            last = one
        agreed += kept
    once: dict[str, Item] = {}
    for _, item in sorted(agreed, key=lambda one: one[0]):
        once.setdefault(item.model_dump_json().casefold(), item)  # the same words again say the same
    yield from once.values()


def _asked(owners: Sequence[tuple[Name, str | None]]) -> str | None:
    """The one thing that the phrase asks for: an outcome before its actions; None where it may be several."""
    outcomes = [name for name, _ in owners if name.kind == "outcome"]
    names = outcomes or [name for name, _ in owners]
    others = {name.name for name in names if name.kind == "action"}
    names = [name for name in names if name.kind != "action" or name.kin.isdisjoint(others)] or names  # no mere aliases
    return names[0].name if len({name.name for name in names}) == 1 else None


@dataclass(frozen=True)
class _Facts:
    """The facts of one text. *tested* are those that decide what is asked, *near* those of its domain: in the sentences
    that ask, which are *asking*, no other is taken, so that nothing which is asked vanishes.
    """

    seen: Seen
    values: Values
    index: Index
    tested: frozenset[str]
    near: frozenset[str]
    asking: frozenset[int]

    def is_wanted(self, name: Name, passage: Passage) -> bool:
        return name.name in self.near or passage.start not in self.asking

    def said(
        self, mentions: Iterable[tuple[Passage, Mention, Sequence[Token]]], taken: set[int]
    ) -> Iterator[tuple[int, Item]]:
        """Flags and categories by their declared words."""
        for passage, mention, words in mentions:
            owners = [one for one in owned(self.index, mention, "fact") if one[1] is not None]
            near = [one for one in owners if one[0].name in self.tested]
            item = _state(self.seen, passage, words, near or owners)
            if item is not None and self.is_wanted((near or owners)[0][0], passage):
                taken.update(token.start for token in words)
                yield words[0].start, item

    def elapsed(self, taken: set[int]) -> Iterator[tuple[int, Item]]:
        """Durations by the day since which they have run, each for the names whose words stand beside it."""
        for day in past_days(self.values):
            passage = self.seen.passage_of(day.begins, day.ends)
            if passage is None:
                continue
            tokens = self.seen.words(passage.start, passage.end)
            said = words_of_day(day, self.index, tokens)
            names = ((self.index.names["fact", name], words) for name, words in said.items())
            found = [one for one in names if self.is_wanted(one[0], passage)]
            tested = [one for one in found if one[0].name in self.tested]
            for name, words in tested or (found if len(found) == 1 else ()):
                quote = self.seen.text.seen[min(day.begins, words[0].start) : max(day.ends, words[-1].end)]
                taken.update(token.start for token in tokens if day.begins <= token.start < day.ends)
                yield day.begins, elapsed(day, name, self.values.clock.today).item(name, quote)

    def figures(self, taken: set[int]) -> Iterator[tuple[int, Item]]:
        """Numbers, each for the one name whose unit fits and whose words stand in its clause."""
        numbers = [one for (group, _), one in self.index.names.items() if group == "fact" and one.type in _NUMBERS]
        for passage in self.seen.text.passages:
            wanted = [name for name in numbers if self.is_wanted(name, passage)]
            found = self.values.figures_at(passage.start, passage.end, beside_time=True)
            for figure in found[:MOST_ITEMS]:  # the rest is residue
                item = self._figure(passage, figure, wanted, taken)
                if item is not None:
                    yield figure.start, item

    def _figure(self, passage: Passage, figure: Figure, numbers: Sequence[Name], taken: set[int]) -> Item | None:
        seen = self.seen
        tokens = seen.words(max(passage.start, figure.start - _WINDOW), min(passage.end, figure.end + _WINDOW))
        amounts = [value for value in figure.values if isinstance(value, Fraction)]
        is_taken = any(t.start in taken or seen.is_identified(t.start) for t in _in(tokens, figure))
        is_day = figure.unit is None and bool(self.values.spans_at(figure.first, figure.core))
        is_below = seen.text.seen[max(figure.start - 1, 0) : figure.start] == "-"
        if len(amounts) != 1 or is_below or figure.is_ordinal or figure.per or is_taken or is_day:
            return None
        behind = next((t.word for t in tokens if t.start >= figure.end), "")
        is_open = behind in closed("apiece") or _is_either(tokens, figure)
        found = None if is_open else _named(figure, numbers, tokens, taken, self.index, self.tested)
        if found is None:
            return None
        name, words = found
        quote, operator = _bounded(seen, tokens, words, figure, form_words(name, tokens, (figure,)))
        value = amounts[0].numerator if amounts[0].denominator == 1 else float(amounts[0])
        counted = count_units(name, tokens, (figure,))[0]
        return Item(kind="fact", name=name.name, operator=operator, value=value, unit=counted.unit, quote=quote)

    def days(self, taken: set[int]) -> Iterator[tuple[int, Item]]:
        """Days, each for the one date whose own words stand in its sentence; durations are *taken* where they begin."""
        dates = [one for (group, _), one in self.index.names.items() if group == "fact" and one.type == "date"]
        for passage in self.seen.text.passages if dates else ():
            wanted = [name for name in dates if self.is_wanted(name, passage)]
            found = _days(self.seen, passage, self.values, self.index, wanted)
            yield from (one for one in found if one[0] not in taken)


def _state(
    seen: Seen, passage: Passage, words: Sequence[Token], told: Sequence[tuple[Name, str | None]]
) -> Item | None:
    """A flag or a category that the phrase says, turned by a negation before it; None where it may be several."""
    if len(told) != 1:
        return None
    name, value = told[0]
    assert value is not None
    if name.type == "enum" and not _is_value(seen, words, (value, *name.values.get(value, ()))):
        return None
    if name.type == "boolean" and _is_open(seen, passage, words):
        return None
    place = words[0].start, words[-1].end
    is_denied = standing.negations(seen, passage, place, words) % 2 == 1
    if is_denied:
        near = seen.words(max(passage.start, words[0].start - _WINDOW), words[0].start)
        before = [token for token in near if standing.is_negation(token)]
        words = (*seen.words(before[-1].start, words[0].start), *words) if before else words
    quote = quote_of(seen, words)
    if name.type == "boolean":
        return Item(kind="fact", name=name.name, value=(value == "true") is not is_denied, quote=quote)
    return Item(kind="fact", name=name.name, value=value, operator="!=" if is_denied else None, quote=quote)


def _is_open(seen: Seen, passage: Passage, words: Sequence[Token]) -> bool:
    """Is a flag asked about ("do you have the receipt?") or one of two ("with or without it"), and not told?"""
    around = [token for token in seen.words(passage.start, passage.end) if token.clause == words[0].clause]
    first, last = around.index(words[0]), around.index(words[-1])
    beside = {token.word for token in (*around[max(first - 1, 0) : first], *around[last + 1 : last + 2])}
    before = [token.word for token in around[:first]]
    is_asked = seen.text.seen[passage.start : passage.end].rstrip().endswith("?")
    is_opened = is_asked and bool(before) and before[0] in {*lexicon().auxiliaries, *closed("auxiliary")}
    between = set(before[1:]) - closed("personal") - closed("bare_auxiliary") - {"need", "to"}
    is_thing = words[0].word in closed("opening_a_place") | closed("determining")
    return "or" in beside or (is_opened and not between and not is_thing)


def _is_value(seen: Seen, words: Sequence[Token], texts: Iterable[str]) -> bool:
    """Are the words a value as it is declared, and neither what somebody did ("I placed it") nor a mere "nothing"?"""
    if not _is_literal(words, texts):
        return False
    before = seen.words(max(words[0].start - _WINDOW, 0), words[0].start)
    is_verb = bool(before) and before[-1].word in closed("personal") and before[-1].clause == words[0].clause
    return len(words) > 1 or not (is_verb or words[0].word in closed("nothing"))


def _is_literal(words: Sequence[Token], texts: Iterable[str]) -> bool:
    """Are the words one of the texts as it is declared, and not only of its stem?"""
    said = tuple(token.word for token in words)
    return any(said == words_of(text.replace("_", " ")) for text in texts)


def _is_either(tokens: Sequence[Token], figure: Figure) -> bool:
    """Is it one of two numbers of which either may be ("more than 40 or less than 3")?"""
    clauses = {token.clause for token in _in(tokens, figure)}
    same = [token for token in tokens if token.clause in clauses]
    others = [token for token in same if token.is_number and not figure.start <= token.start < figure.end]
    return bool(others) and any(token.word == "or" for token in same)


def _in(tokens: Sequence[Token], figure: Figure) -> list[Token]:
    return [token for token in tokens if figure.start <= token.start < figure.end]


def _named(
    figure: Figure,
    numbers: Iterable[Name],
    tokens: Sequence[Token],
    taken: Collection[int],
    index: Index,
    tested: frozenset[str],
) -> tuple[Name, list[Token]] | None:
    """The one name that a figure is of, and the words near it that name it; None where several are as near.

    Of those that fit alike, the one that decides what is asked wins. Words that are *taken* name nothing but by a form.
    """
    inside = _in(tokens, figure)
    clause = inside[0].clause if inside else -1
    at = tokens.index(inside[0]) if inside else 0
    far = _FAR if figure.unit is not None else _NEXT  # a bare number belongs to the word beside it
    near = [t for k, t in enumerate(tokens) if t.clause == clause and abs(k - at) <= far and t not in inside]
    ranked: list[tuple[int, Name, list[Token]]] = []
    for name in numbers:
        if _fits(count_units(name, tokens, (figure,))[0], name):
            own = index.own(name)
            whole = _form_words(name, tokens, figure)
            called = form_words(name, tokens, (figure,))
            free = [token for token in near if token.start not in taken or token.start in called]
            words = [token for token in free if not stems_of(token.word).isdisjoint(own)]
            if figure.unit is None and name.unit is not None and (not whole or _counts(figure, tokens, own)):
                continue  # a bare number measures nothing, unless a form says so; "2 bills" are no sum
            ranked.append((len(words) + whole, name, words))
    best = max((count for count, _, _ in ranked), default=0)
    first = [(name, words) for count, name, words in ranked if count == best]
    deciding = [one for one in first if one[0].name in tested]
    first = deciding if len(deciding) == 1 and (best or figure.unit is not None) else first
    return first[0] if len(first) == 1 and (best > 0 or figure.unit is not None) else None


def _counts(figure: Figure, tokens: Sequence[Token], own: frozenset[str]) -> bool:
    """Does a word of content stand right behind the number, which is not one of the name's?"""
    behind = next((token for token in tokens if token.start >= figure.core), None)
    return behind is not None and not is_empty(behind.word) and stems_of(behind.word).isdisjoint(own)


def _form_words(name: Name, tokens: Sequence[Token], figure: Figure) -> int:
    """How many words of one of its forms stand around the figure, whatever bounds it: all of them, or none counts."""
    bounding = {i for first, behind, _ in comparisons_at([t.word for t in tokens]) for i in range(first, behind)}
    before = [t.word for k, t in enumerate(tokens) if t.end <= figure.start and k not in bounding]
    best = 0
    for ends in (figure.core, figure.end):  # the unit stands in the form, or in its slot
        behind = [t.word for t in tokens if t.start >= ends]
        for form in name.forms:
            first, last = words_around(form, figure if ends == figure.end else None)
            said = _shared(first[::-1], before[::-1]) + _shared(last, behind)
            best = max(best, said if said == len(first) + len(last) else 0)
    return best


def _shared(words: Sequence[str], others: Sequence[str]) -> int:
    """How many words two rows begin with alike."""
    count = 0
    for one, other in zip(words, others, strict=False):
        if stems_of(one).isdisjoint(stems_of(other)):
            break
        count += 1
    return count


def _fits(figure: Figure, name: Name) -> bool:
    unit = unit_named(name.unit)
    if figure.unit is None or unit is None:
        return figure.unit is None
    return measure(Fraction(1), figure.unit).kind == measure(Fraction(1), unit).kind


def _bounded(
    seen: Seen, tokens: Sequence[Token], words: Sequence[Token], figure: Figure, called: frozenset[int]
) -> tuple[str, str | None]:
    """The quote of a number from the words that name it to the figure and what bounds it, and the operator. What it is
    *called* by, where such words begin, bounds nothing.
    """
    inside = _in(tokens, figure)
    spelled = [token.word for token in tokens]
    operator: str | None = None
    starts, ends = [token.start for token in (*words, *inside)], [token.end for token in (*words, *inside)]
    for first, behind, said in comparisons_at(spelled):
        is_before = tokens[behind - 1].end <= figure.start and tokens[behind - 1].clause == inside[0].clause
        is_next = is_before and behind < len(tokens) and tokens[behind].start >= figure.start - 12
        is_behind = tokens[first].start >= figure.end and first > 0 and tokens[first - 1] is inside[-1]
        is_behind = is_behind and not seen.text.seen[figure.end : tokens[first].start].strip()
        is_behind = is_behind and tokens[first].word not in _ELAPSED  # "40 days after" is how long it has been
        if said != "==" and (is_next or is_behind) and tokens[first].start not in called:
            operator = said
            starts.append(tokens[first].start)
            ends.append(tokens[behind - 1].end)
    following = [t for t in tokens if t.start >= figure.end and t.clause == inside[0].clause][:1]
    ends += [token.end for token in following if token.word in closed("measure_words")]
    return seen.text.seen[min(*starts, figure.start) : max(*ends, figure.end)], operator


def _days(
    seen: Seen, passage: Passage, values: Values, index: Index, dates: Sequence[Name]
) -> Iterator[tuple[int, Item]]:
    for span in values.spans_at(passage.start, passage.end):
        said = said_days(span, seen)
        if said is None:
            continue
        tokens = seen.words(max(passage.start, span.begins - _WINDOW), min(passage.end, span.ends + _WINDOW))
        beside = [token for token in tokens if token.end <= span.begins or token.start >= span.ends]
        words = {one.name: [t for t in beside if not stems_of(t.word).isdisjoint(index.own(one))] for one in dates}
        named = [one for one in dates if words[one.name]]
        if len(named) == 1:
            near = words[named[0].name]
            start = min([span.begins, *(token.start for token in near)])
            end = max([span.ends, *(token.end for token in near)])
            yield span.begins, said.item(named[0].name, seen.text.seen[start:end])
