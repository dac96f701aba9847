"""What a policy question may say: what is asked (an outcome, an action, a fact), and the facts of the case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from bylaw.authored.wording import SLOT
from bylaw.hold import standing
from bylaw.hold.bearing import Bearing, is_empty
from bylaw.hold.days import Elapsed, elapsed, has_year, other_time, past_days, said_days, words_of_day
from bylaw.hold.item import Item
from bylaw.hold.values import amount_of, are_equal, comparisons_at, is_said, operators_in, unit_of
from bylaw.hold.words import Name, is_content, stems_of
from bylaw.language.figures import Figure
from bylaw.language.lexicon import lexicon, stem
from bylaw.language.text import Token, words_of
from bylaw.language.units import seconds_in, unit_named

_ELAPSED = frozenset(("after", "since"))  # beside a duration: how long it has been, or a limit
_ALTERING_FACT = frozenset(("without",))  # of a fact it is a negation
_JOINING = frozenset(("and", "but", "so", "or", "hi", "hello"))
_QUESTIONS = (("how", "much"), ("how", "many"), ("how", "long"), ("when",), ("where",), ("who",), ("why",))


def bear_asked(one: Bearing) -> None:
    """What is asked is declared, and the words name it."""
    name = one.index.get("asks", one.item.named or "") or one.index.get("fact", one.item.named or "")
    if name is None:
        one.refuse(f"`{one.item.named}` is no outcome, action or fact that is asked for")
        return
    one.bear_name(name)
    if one.item.mode == "rules":
        one.take_classes("rules_themselves")


def question_word(one: Bearing) -> tuple[tuple[Token, ...], bool]:
    """The question word that the sentence opens with ("how much", "where"), and whether what is asked answers it."""
    name = one.index.get("asks", one.item.named or "")
    if name is None:
        return (), True
    is_of_rules = one.item.mode == "rules"  # they say when, who and how much
    words = [token.word for token in one.around]
    opening = [k for k in range(len(words)) if k == 0 or one.around[k - 1].clause != one.around[k].clause]
    opening += [k + 1 for k in opening if words[k] in _JOINING]
    for row in _QUESTIONS:
        for k in opening:
            if tuple(words[k : k + len(row)]) == row:
                return one.around[k : k + len(row)], is_of_rules or "_".join(row) in name.answers
    return (), True


def bear_fact(one: Bearing) -> None:
    """A fact of the case: its name, its value, how the text stands to it, and what alters it."""
    item = one.item
    name = one.index.get("fact", item.named or "")
    if name is None:
        one.refuse(f"`{item.named}` is no declared fact")
        return
    bear_value(one, name)
    one.stand()
    phrase = one.own_mention(name.name)
    if _is_asked_denied(one, phrase):
        one.refuse("the words deny what is asked, and not this")
    compared = _comparing(one)
    relative = [one.tokens[0]] if one.words[:1] and one.words[0] in ("which", "who", "whose") else []
    called = one.index.own(name).union(*(one.index.told(name, value) for value in name.values))
    dated = [(span.begins, span.ends) for span in one.values.spans_at(*one.place)]
    dated += [(figure.start, figure.end) for figure in one.values.figures_at(*one.place, beside_time=True)]
    altering = (t for t in one.altering(called, *phrase, *compared, *relative) if t.word not in _ALTERING_FACT)
    left = [t for t in altering if not any(start <= t.start < end for start, end in dated)]  # "1 May", "half a kilo"
    for token in left:
        one.weaken("altered", f"“{token.word}” alters it")
    one.take(left)


def _is_asked_denied(one: Bearing, phrase: Sequence[Token]) -> bool:
    """Does what is asked stand between a negation and the words of a fact: "must I not *come in* on the weekend"?"""
    start = phrase[0].start if phrase else one.place[0]
    clauses = {token.clause for token in phrase or one.tokens}
    for mention, words in one.sentences.mentions(one.passage):
        is_before = words[-1].end <= start and words[0].clause in clauses
        if is_before and any(one.index.get("asks", owner.name) is not None for owner in mention.owners):
            place = words[0].start, words[-1].end
            if standing.negations(one.seen, one.passage, place, words):
                return True
    return False


def _comparing(one: Bearing) -> list[Token]:
    spans = ((first, behind) for first, behind, _ in comparisons_at(one.words))
    return [token for first, behind in spans for token in one.tokens[first:behind]]


def bear_value(one: Bearing, name: Name) -> None:
    """The value of a declared fact, by its type."""
    operator = one.item.operator or "=="
    if operator in ("contains", "is", "is not", "is null", "not null"):
        one.refuse(f"`{operator}` does not fit `{name.name}`")
    elif name.type == "boolean":
        _bear_flag(one, name)
    elif name.type == "enum":
        _bear_category(one, name)
    elif name.type == "date":
        bear_day(one, name)
    elif not _bear_elapsed(one, name):
        bear_amount(one, name)
        if seconds_in(name.unit) is not None and _is_of_else(one, name):
            one.refuse(f"the time is of something else than {name.name}")


def _is_of_else(one: Bearing, name: Name) -> bool:
    """Is a duration that of another deed, or of what is asked for: "lost it 2 months ago", "pause it for 8 months"?"""
    figures = one.values.figures_at(*one.place, beside_time=True)
    if len(figures) != 1:
        return False
    figure = figures[0]
    before = next((t.word for t in reversed(one.around) if t.end <= figure.start), "")
    behind = next((t.word for t in one.around if t.start >= figure.end), "")
    if other_time(name, before, behind):
        return True
    if form_words(name, one.around, figures):
        return False
    words = (token.word for token in one.tokens if lexicon().unit([token.word], 0) is None)
    if any(not stems_of(word).isdisjoint(one.index.own(name)) for word in words):
        return False
    own, mentions = one.index.own(name), one.sentences.mentions(one.passage)
    others = (m for m, said in mentions if all(stems_of(t.word).isdisjoint(own) for t in said))  # a *late* fee is of it
    owners = (owner.name for mention in others for owner in mention.owners)
    inside = {token.clause for token in one.tokens}
    beside = [t for t in one.around if t.clause in inside and not figure.start <= t.start < figure.end]
    is_alone = not any(is_content(t.word) and not is_empty(t.word) and t.word != "ago" for t in beside)
    return (behind == "ago" and not is_alone) or (
        before == "for" and any(one.index.get("asks", owner) for owner in owners)
    )


def _bear_elapsed(one: Bearing, name: Name) -> bool:
    """Hold a duration against the day that says since when; returns whether the quote has one, and no figure for it."""
    if seconds_in(name.unit) is None:
        return False
    days = [day for day in past_days(one.values) if day.begins < one.place[1] and one.place[0] < day.ends]
    unit = unit_of(one.item.unit, name.unit)
    figures = [
        figure
        for figure in one.values.figures_at(*one.place, beside_time=True)
        if not any(day.begins <= figure.start < day.ends for day in days)
    ]
    is_figure = any(is_said(figure, value, unit) for figure in figures for value in one.item.values)
    if not days or is_figure:
        return False
    words = None if len(days) > 1 else words_of_day(days[0], one.index, one.around).get(name.name)
    is_inside = words is not None and one.place[0] <= min(days[0].begins, words[0].start)
    if words is None or not is_inside or one.place[1] < max(days[0].ends, words[-1].end):
        one.refuse("no words of it stand beside the day")
        return True
    if not _is_elapsed(one.item, unit or "", elapsed(days[0], name, one.values.clock.today), name):
        one.refuse(f"since then it has not been {one.item.value} {unit}")
    if one.is_negated():
        one.refuse("the words deny it")
    one.take((*words, *one.seen.words(days[0].begins, days[0].ends)))
    if any(is_content(token.word) for token in words):  # else its form is of empty words, and stands there whole
        one.bear_name(name)
    return True


def _is_elapsed(item: Item, unit: str, told: Elapsed, name: Name) -> bool:
    """Does an item say a duration as the day tells it, or one of its bounds?"""
    said = [amount_of(value) for value in item.values]
    mine = [(told.operator, told.values), (">=", told.values[:1]), ("<=", told.values[1:])]
    wanted = next((values for operator, values in mine if operator == (item.operator or "==")), ())
    return len(said) == len(wanted) > 0 and all(
        isinstance(one, Fraction) and are_equal(one, unit, other, unit_named(name.unit) or "")
        for one, other in zip(said, wanted, strict=True)
    )


def _bear_flag(one: Bearing, name: Name) -> None:
    """Yes or no, as the words and their negations say."""
    values = one.item.values
    if len(values) != 1 or not isinstance(values[0], bool) or (one.item.operator or "==") not in ("==", "!="):
        one.refuse(f"`{name.name}` is true or false")
        return
    meant = values[0] is ((one.item.operator or "==") == "==")
    is_named = one.bear_name(name)
    phrase = one.own_mention(name.name)
    polarity = _declared_polarity(one, name)
    is_negated = one.is_negated(*phrase)
    one.take_negations()
    is_said = polarity is not None or is_negated or is_named
    if is_said and ((polarity if polarity is not None else True) is not is_negated) is not meant:
        one.refuse("the words say the opposite")


def _declared_polarity(one: Bearing, name: Name) -> bool | None:
    """Which side of a flag the longest declared phrase says; None where none does, or both."""
    phrase = one.own_mention(name.name)
    for mention, words in one.mentions:
        if words == phrase:
            sides = {owner.value for owner in mention.owners if owner.name == name.name}
            if sides == {"false"}:
                return False
            if sides in ({"true"}, {None}, {"true", None}):
                return True
    return _side_of_words(one, name)


def _side_of_words(one: Bearing, name: Name) -> bool | None:
    """Which side of a flag the words of the quote are of, where no phrase stands there whole; None where of both."""
    denied = one.index.told(name, "false")
    given = one.index.told(name, "true") | one.index.own_texts(name)
    said = frozenset[str]().union(*(stems_of(token.word) for token in one.tokens))
    is_denied, is_given = bool(said & (denied - given)), bool(said & (given - denied))
    return None if is_denied is is_given else is_given


def _bear_category(one: Bearing, name: Name) -> None:
    """One of the declared values: literally, never by its stem; a value said in other words is weak."""
    operator = one.item.operator or "=="
    if operator not in ("==", "!=", "in", "not in"):
        one.refuse(f"`{operator}` does not fit `{name.name}`")
        return
    values = [str(value) for value in one.item.values]
    unknown = next((value for value in values if value not in name.values), None)
    if unknown is not None or not values:
        one.refuse(f"`{unknown}` is no value of `{name.name}`" if values else f"`{name.name}` has no value here")
        return
    one.take(_literal(one, name, None))  # what the fact is called, and its values
    phrase: list[Token] = []
    for value in values:
        words = _literal(one, name, value)
        others = [other for other in name.values if other not in values and _literal(one, name, other)]
        if words:
            phrase += words
        elif others:
            one.refuse(f"the words say {' or '.join(sorted(others))}")
        else:
            one.weaken("value", f"none of its words is declared for `{value}`")
            one.take(one.tokens)
    is_negated = one.is_negated(*phrase)
    if is_negated:
        one.take_negations()
    if is_negated is not (operator in ("!=", "not in")):
        one.refuse("the words say the opposite")


def _literal(one: Bearing, name: Name, value: str | None) -> list[Token]:
    """The words of the quote that say one of the values as it is declared; with None the words of the name itself."""
    if value is None:
        own = one.index.own(name)
        return [token for token in one.tokens if stem(token.word) in own]
    for said in sorted((value.replace("_", " "), *name.values.get(value, ())), key=len, reverse=True):
        row = words_of(said)
        for i in range(len(one.words) - len(row) + 1 if row else 0):
            if tuple(one.words[i : i + len(row)]) == row:
                one.take(one.tokens[i : i + len(row)])
                return list(one.tokens[i : i + len(row)])
    return []


def bear_amount(one: Bearing, name: Name, is_named: bool = True) -> None:
    """A number, sum or duration: what the reader makes of the quote, on the side that its words say."""
    item, unit = one.item, unit_of(one.item.unit, name.unit)
    if not item.values:
        one.refuse(f"`{name.name}` has no value here")
        return
    is_duration = unit in lexicon().sizes and lexicon().sizes[unit or ""][0] == "time"
    is_counted = name.unit is None and any(SLOT in form for form in name.forms)
    figures = one.values.figures_at(*one.place, beside_time=is_duration or is_counted)
    figures = count_units(name, one.tokens, figures)
    is_none = not figures and [amount_of(value) for value in item.values] == [0] and one.holds_any("emptiness")
    if is_none:
        one.take_classes("emptiness")
    for value in item.values:
        mine = [figure for figure in figures if is_said(figure, value, unit)]
        if not mine and not is_none:
            shown = f"{value} {unit}" if unit else str(value)
            one.refuse(f"the words do not say {shown}")
        for figure in mine:
            one.take(one.seen.words(figure.start, figure.end))
    called = form_words(name, one.tokens, figures)
    if not is_none:
        _bear_operator(one, is_duration, called)
    one.take_comparisons()
    one.take_classes("measure_words")
    if is_named:
        one.bear_name(name, formed=called, otherwise=f"nothing but its unit ties it to {name.name}")


def form_words(name: Name, tokens: Sequence[Token], figures: Sequence[Figure]) -> frozenset[int]:
    """The starts of the words around the figures that are one of the declared forms of *name*: they bound nothing.

    "before" in "30 hours before the tour" is what the number is called where `{value} hours before the tour` is.
    """
    found: set[int] = set()
    for figure in figures:
        for ends in (figure.core, figure.end):  # the unit stands in the form, or in its slot
            found.update(token.start for token in _formed(name, tokens, figure, ends))
    return frozenset(found)


def _formed(name: Name, tokens: Sequence[Token], figure: Figure, ends: int) -> Sequence[Token]:
    """The words of a form of *name* around a figure that ends there, where one is said whole."""
    before = [token for token in tokens if token.end <= figure.first]
    behind = [token for token in tokens if token.start >= ends]
    for form in name.forms:
        first, last = words_around(form, figure if ends == figure.end else None)
        sides = _repeated(first[::-1], before[::-1]), _repeated(last, behind)
        if None not in sides:
            return [token for side in sides for token in side or ()]
    return ()


def words_around(form: str, whole: Figure | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words of a form before and behind its slot; of a *whole* figure, whose own unit stands in place of the form's
    ("2 days before the tour" where `{value} hours before the tour` is declared), without the unit.
    """
    left, _, right = form.partition(SLOT)
    last = words_of(right)
    has_unit = whole is not None and whole.unit is not None and bool(last) and unit_named(last[0]) is not None
    return words_of(left), last[1:] if has_unit else last


def count_units(name: Name, tokens: Sequence[Token], figures: Sequence[Figure]) -> tuple[Figure, ...]:
    """The figures; what a form names behind the number is no unit of a fact that has none ("{value} nights")."""
    if name.unit is not None:
        return tuple(figures)
    return tuple(
        replace(figure, unit=None) if figure.unit is not None and _formed(name, tokens, figure, figure.core) else figure
        for figure in figures
    )


def _repeated(words: Sequence[str], tokens: Sequence[Token]) -> Sequence[Token] | None:
    """The first tokens where they are *words*, in whatever forms of them; None where they are not."""
    mine = tokens[: len(words)]
    is_said = len(mine) == len(words) and all(
        not stems_of(word).isdisjoint(stems_of(token.word)) for word, token in zip(words, mine, strict=True)
    )
    return mine if is_said else None


def _bear_operator(one: Bearing, is_duration: bool, called: frozenset[int]) -> None:
    """The side that the words bound is the side that the item says; words that it is *called* by bound nothing."""
    said, operator = operators_in([t for t in one.tokens if t.start not in called]), one.item.operator or "=="
    if operator in ("between", "in", "not in"):
        return
    if operator == "!=":
        if not one.is_negated():
            one.refuse("the words deny nothing")
    elif operator == "==" and said and set(one.words) & _ELAPSED and is_duration:
        one.weaken("value", "“after” may be a limit as well")
    elif said and said != {operator}:
        one.refuse(f"the words say {' and '.join(sorted(said))}, not {operator}")
    elif not said and operator != "==":
        one.refuse("the words bound nothing")
    elif operator == "==" and one.is_negated(*one.own_mention(one.item.named or "")):
        one.refuse("the words deny it")


def bear_day(one: Bearing, name: Name) -> None:
    """A day or days, as the one grammar of time reads them: on, between, before or from."""
    spans = [span for span in one.values.spans_at(*one.place) if said_days(span, one.seen) is not None]
    if not spans:
        _bear_written_day(one)
    elif len(spans) > 1:
        one.refuse("these words are more than one time")
    else:
        told = said_days(spans[0], one.seen)
        assert told is not None
        if not told.bears(one.item.operator, one.item.values):
            one.refuse(f"the words say {told.operator} {' and '.join(told.values)}")
        if not has_year(spans[0], one.seen):
            one.weaken("value", "the year is not said")
        one.take(one.seen.words(spans[0].begins, spans[0].ends))
    if left := one.values.cut_off(*one.place):
        one.refuse(f"“{left}” belongs to the day as well")
    if one.is_negated():
        one.refuse("the words deny it")
    one.take_comparisons()
    one.bear_name(name)


def _bear_written_day(one: Bearing) -> None:
    """A day in digits, which may be one of two: 03/04/2026."""
    figures = one.values.figures_at(*one.place, beside_time=True)
    for value in one.item.values:
        mine = [figure for figure in figures if is_said(figure, value, None)]
        if not mine:
            one.refuse(f"the words do not say {value}")
        for figure in mine:
            one.take(one.seen.words(figure.start, figure.end))
    if operators_in(one.tokens) != {one.item.operator or "=="} - {"=="}:
        one.refuse("the words bound it otherwise")
