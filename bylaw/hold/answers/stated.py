"""What an answer states of facts: flags, categories, numbers with their side, and the conditions of its claims."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from bylaw.hold import cases, standing
from bylaw.hold.bearing import Bearing
from bylaw.hold.item import Item
from bylaw.hold.values import amount_of, comparisons_at, is_said, unit_of
from bylaw.hold.words import Name, stems_of
from bylaw.language.figures import Figure
from bylaw.language.lexicon import closed, lexicon, stem
from bylaw.language.text import Passage, Token

_MOST_TRIES = 8  # places where the text may state a condition
_SIDES = frozenset(("<", "<=", ">", ">="))
_RELATING = frozenset(("before", "after", "from"))  # behind a duration they lead to the event that it counts to
_GRAINS = frozenset(("day", "week", "month", "year"))


def bear_stated(one: Bearing, name: Name) -> None:
    """A fact that the answer says to be so. Whether the case is so is looked up, so another form of a word will do."""
    if name.type == "boolean":
        own = {*one.own}
        cases.bear_value(one, name)
        if any(flaw.weakness == "name" for flaw in one.flaws):
            one.own = own
    elif name.type == "enum":
        _bear_category(one, name)
    else:
        _bear_number(one, name)
    one.take_classes("polarity", "filling")


def bear_line(one: Bearing, name: Name) -> None:
    """A number at which a rule draws its line, on whichever side."""
    bear_figures(one, unit_of(one.item.unit, name.unit), name)
    one.take_comparisons()
    one.take(token for token in one.tokens if token.word == "only")  # a line is where something ends
    one.take_classes("measure_words", "dimension", "polarity", "owing", "light")
    _tie(one, name)


# ---- conditions -----------------------------------------------------------------------------------------------------


def take_conditions(one: Bearing) -> list[Name]:
    """The facts of the conditions that a claim states itself: the text bears each, and the claim takes its words."""
    found: list[Name] = []
    for condition in one.item.when:
        name = one.index.get("fact", condition.named or "")
        if name is None:
            one.refuse(f"`{condition.named}` is no declared fact")
            continue
        found.append(name)
        called = _called(one, name)
        one.take(token for token in one.tokens if not stems_of(token.word).isdisjoint(called))
        best = _best_place(one, condition, name)
        if best is None or best.status == "refused":
            one.refuse(best.why if best is not None else f"the text does not say the condition about {name.name}")
        else:
            one.own |= best.own
    if found:
        one.take_comparisons()
        one.take_classes("measure_words")
    return found


def _best_place(one: Bearing, condition: Item, name: Name) -> Bearing | None:
    """The condition where the text states it: in its own quote, else in the claim's, else in some sentence."""
    if condition.quote is not None:
        places = one.seen.find(condition.quote)[:_MOST_TRIES]
    else:
        places = (one.place, *((passage.start, passage.end) for passage in _speaking_of(one, name)))
    first: Bearing | None = None
    for place in places[: _MOST_TRIES + 1]:
        passage = one.seen.passage_of(*place)
        if passage is not None:
            tried = _try(one, condition, name, place, passage)
            if tried.status != "refused":
                return tried
            first = first or tried
    return first


def _try(one: Bearing, condition: Item, name: Name, place: tuple[int, int], passage: Passage) -> Bearing:
    """The condition at one place, looked at once for all places of the claim's quote."""
    key = id(condition), place
    tried = one.sentences.tried.get(key)
    if tried is None:
        tried = Bearing(condition, one.seen, one.index, one.values, place, passage, one.sentences)
        _bear_condition(tried, name)
        if condition.quote is not None:
            tried.take_classes("causing")
        one.sentences.tried[key] = tried
    return tried


def _speaking_of(one: Bearing, name: Name) -> tuple[Passage, ...]:
    """The first sentences that hold a figure, or a word that says one of the fact's values."""
    known = one.sentences.speaking
    if name.name not in known:
        passages = one.seen.text.passages
        if is_number(name):
            found = (one.seen.passage_of(figure.start, figure.start + 1) for figure in one.values.figures)
            known[name.name] = tuple(islice(dict.fromkeys(passage for passage in found if passage), _MOST_TRIES))
        else:
            called = _called(one, name)
            saying = (p for p in passages if any(stems_of(t.word) & called for t in one.sentences.words(p)))
            known[name.name] = tuple(islice(saying, _MOST_TRIES))
    return known[name.name]


def _bear_condition(one: Bearing, name: Name) -> None:
    if name.type == "boolean":
        _bear_flag(one, name)
    elif name.type == "enum":
        _bear_category(one, name, is_condition=True)
    else:
        _bear_bound(one, name)


def _called(one: Bearing, name: Name) -> frozenset[str]:
    """The stems of the words that name a fact or say one of its values."""
    return one.index.own(name).union(*(one.index.told(name, value) for value in name.values))


def _bear_flag(one: Bearing, name: Name) -> None:
    """A flag as a condition: words that name it, and no phrase that says the opposite alone."""
    meant = "true" if one.item.values == ((one.item.operator or "==") == "==",) else "false"
    called = _called(one, name)
    mine = [token for token in one.tokens if not stems_of(token.word).isdisjoint(called)]
    if not mine:
        one.refuse(f"no word of it says whether {name.name}")
    one.take(mine)
    phrases = [(m, words) for m, words in one.mentions if any(o.name == name.name and o.value for o in m.owners)]
    sides = {owner.value for mention, _ in phrases for owner in mention.owners if owner.name == name.name}
    inside = {word.start for _, words in phrases for word in words}
    is_denied = any(standing.is_negation(token) for token in one.tokens if token.start not in inside)
    if sides and meant not in sides and not is_denied:
        one.refuse("the words say the opposite")
    if not sides and meant == "false" and not is_denied and not is_turned_down(one):
        one.refuse("the words say the opposite")
    one.take_negations()


def is_turned_down(one: Bearing) -> bool:
    """Does the quote hold a word of refusal?"""
    return any(lexicon()[kind].any_in(one.words) for kind in ("refusal", "forbidding", "restriction"))


def _bear_bound(one: Bearing, name: Name) -> None:
    """The number of a condition, on the side on which the words put it."""
    operator = one.item.operator or "=="
    for figure in bear_figures(one, unit_of(one.item.unit, name.unit), name):
        said = side_of(one, figure)
        if said is not None and operator in _SIDES and said[0] != operator[0]:
            one.refuse(f"the words say {said}, not {operator}")


# ---- categories -----------------------------------------------------------------------------------------------------


def _bear_category(one: Bearing, name: Name, is_condition: bool = False) -> None:
    """A category: a word of each value, or of another one where it is excluded."""
    values = [str(value) for value in one.item.values]
    is_out = one.item.operator in ("!=", "not in")
    if unknown := [value for value in values if value not in name.values]:
        one.refuse(f"`{unknown[0]}` is no value of `{name.name}`")
        return
    one.take(token for token in one.tokens if not stems_of(token.word).isdisjoint(one.index.own(name)))
    others = [word for value in name.values if value not in values for word in _spoken(one, name, value)]
    for value in values:
        mine = _spoken(one, name, value)
        if not mine and not (is_out and others):
            one.refuse(f"no word of it says {value.replace('_', ' ')}")
        elif mine and len(values) == 1 and not _fits(one, mine, is_out, is_condition):
            one.refuse("the words say the opposite")
        one.take(mine)
    if is_out:
        one.take(others)
        one.take_negations()


def _fits(one: Bearing, mine: Sequence[Token], is_out: bool, is_condition: bool) -> bool:
    """Is a value denied where it is excluded, and only there?

    Of a condition only a word right before it denies it: another negation in the sentence is of what it bounds.
    """
    if is_condition:
        before = [t for t in one.around if t.end <= mine[0].start and t.word not in closed("determining")]
        is_denied = bool(before) and (standing.is_negation(before[-1]) or before[-1].word in lexicon()["restriction"])
    else:
        is_denied = standing.negations(one.seen, one.passage, (mine[0].start, mine[-1].end), mine) % 2 == 1
    return is_denied is is_out or (is_out and is_turned_down(one))


def _spoken(one: Bearing, name: Name, value: str) -> list[Token]:
    """The words of the quote that say one of the values, in whatever form; "US" only as it is written."""
    called = one.index.told(name, value)
    shared = frozenset[str]().union(*(one.index.told(name, other) for other in name.values if other != value))
    alone = called - shared or called  # "ticket" says neither of a flex ticket and a saver ticket
    is_told = any(not stems_of(token.word).isdisjoint(alone) for token in one.tokens)
    found = [token for token in one.tokens if is_told and not stems_of(token.word).isdisjoint(called)]
    shown = one.seen.text.seen
    return found or [token for token in one.tokens if shown[token.start : token.end] in name.values.get(value, ())]


# ---- numbers --------------------------------------------------------------------------------------------------------


def is_number(name: Name) -> bool:
    """Is the fact a number or a day?"""
    return name.type not in ("boolean", "enum")


def _bear_number(one: Bearing, name: Name) -> None:
    """A number or a day, on the side on which the words right beside it put it; its unit ties it to its fact too."""
    mine = bear_figures(one, unit_of(one.item.unit, name.unit), name)
    operator = one.item.operator or "=="
    for figure in mine:
        said, is_elapsed = side_of(one, figure), _is_elapsed(one, figure)
        if operator == "==" and said is not None and not is_elapsed:
            one.refuse(f"the words say {said}, not ==")
        elif operator in _SIDES and said is None:
            one.refuse("the words bound nothing")
        elif operator in _SIDES and said not in (operator, *((operator[0], f"{operator[0]}=") if is_elapsed else ())):
            one.refuse(f"the words say {said}, not {operator}")
    if operator == "!=" and not one.is_negated():
        one.refuse("the words deny nothing")
    one.take_comparisons()
    one.take_classes("measure_words", "dimension")
    if mine:
        _tie(one, name)


def _is_elapsed(one: Bearing, figure: Figure) -> bool:
    """Does "after" or "since" stand before it: how long it has been, or a limit?"""
    before = [token.word for token in one.around if token.end <= figure.start]
    return bool(before) and before[-1] in ("after", "since")


def side_of(one: Bearing, figure: Figure) -> str | None:
    """The side on which the words right beside a figure put it; "up to two days before" leaves at least two days."""
    tokens, words = one.around, [token.word for token in one.around]
    first = next((k for k, token in enumerate(tokens) if token.start >= figure.start), len(tokens))
    behind = next((k for k, token in enumerate(tokens) if token.start >= figure.end), len(tokens))
    starts = (first, first - 1 if first and words[first - 1] in closed("determining") else first)
    others = {other.start for other in one.values.figures if other is not figure}
    leading: str | None = None
    following: str | None = None
    for a, b, operator in comparisons_at(words):
        if operator not in _SIDES:
            continue
        if b in starts:
            is_deadline = " ".join(words[a:b]) in closed("deadline") and words[behind : behind + 1] == ["before"]
            leading = ">=" if is_deadline else operator
        elif a == first < b or (a == behind and words[a] not in _RELATING and not _opens(tokens, b, others)):
            following = following or operator
    return leading or following


def _opens(tokens: Sequence[Token], k: int, starts: set[int]) -> bool:
    """Does another figure begin there?"""
    return any(token.start in starts for token in tokens[k : k + 1])


def bear_figures(one: Bearing, unit: str | None, name: Name | None = None) -> list[Figure]:
    """The figures of the quote that say the values of the item; a value that none says refuses it."""
    figures = one.values.figures_at(*one.place, beside_time=True)
    found: list[Figure] = []
    for value in one.item.values:
        mine = [figure for figure in figures if is_said(figure, value, unit) or _counts(one, figure, value, unit, name)]
        if not mine:
            one.refuse(f"the words do not say {value} {unit or ''}".rstrip())
        for figure in mine:
            one.take(one.seen.words(figure.start, figure.end))
        found += mine
    return found


def _counts(one: Bearing, figure: Figure, value: object, unit: str | None, name: Name | None) -> bool:
    """Is its unit what a number without unit counts: "14 nights" of the "number of nights"?"""
    if name is None or unit is not None or amount_of(value) not in figure.values:
        return False
    own = one.index.own(name)
    return any(not stems_of(token.word).isdisjoint(own) for token in one.seen.words(figure.start, figure.end))


def bear_rate(one: Bearing, figure: Figure, name: Name) -> None:
    """A period beside a figure ("4 EUR a day") is one that the action is called by or counted by."""
    if lexicon().sizes.get(figure.per or "", ("", 0))[0] != "time":
        return
    period = str(figure.per).removesuffix("s")
    said = closed(f"grain_{period}") if period in _GRAINS else frozenset((period,))
    if (one.index.own(name) | stems_of(name.unit or "-")).isdisjoint(map(stem, said)):
        one.refuse(f"no figure of it is for each {period}")


def _tie(one: Bearing, name: Name) -> None:
    """The words of a fact beside its number, where some stand there; those of another number refuse it."""
    called = one.index.own(name) | one.index.near(name)
    if any(not stems_of(token.word).isdisjoint(called) for token in one.tokens if token.start not in one.own):
        one.bear_name(name)
        return
    start, end = one.place
    for mention, words in one.mentions:
        is_inside = start <= words[0].start and words[-1].end <= end
        if is_inside and any(word.start not in one.own for word in words):
            facts = (one.index.get("fact", owner.name) for owner in mention.owners)
            owners = sorted(fact.name for fact in facts if fact is not None and is_number(fact))
            if owners and name.name not in owners:
                one.refuse(f"its words are those of {' or '.join(owners)}")
