"""What an answer may claim: that something is given or denied, facts, limits, figures, sources, and mere courtesy."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from bylaw.hold import cases, standing
from bylaw.hold.bearing import Bearing, is_empty
from bylaw.hold.item import Item
from bylaw.hold.values import is_said, unit_of
from bylaw.hold.words import Name, stems_of
from bylaw.language.lexicon import lexicon, stem
from bylaw.language.text import words_of

# Who carries a word that alters a claim: a condition by `when`, an amount by a figure, a clause by an item of its own.
_OF_CONDITIONS = frozenset(("if", "unless", "except", "but", "until", "only", "without", "instead", "first"))
_OF_CONDITIONS |= frozenset(("which", "who", "whose", "whom", "whether", "or"))
_OF_AMOUNTS = frozenset(
    ("another", "additional", "minus", "plus", "free", "half", "double", "part", "most", "per", "each")
)
_OF_CLAUSES = frozenset(("also", "plus", "or", "but", "as well", "which", "who", "and"))


def bear_action(one: Bearing) -> None:
    """An action is given or denied, in words that name it and that nothing alters."""
    name = one.index.get("asks", one.item.action or "")
    if name is None or name.kind != "action":
        one.refuse(f"`{one.item.action}` is no declared action")
        return
    one.bear_name(name)
    _take_conditions(one)
    one.take_classes("light", "giving" if one.item.kind == "gives" else "refusal")
    phrase = one.own_mention(name.name)
    is_denial = bool(phrase) and _is_denying_phrase(one, name)
    is_refused = any(lexicon()[kind].any_in(one.words) for kind in ("refusal", "forbidding", "restriction"))
    is_negated = one.is_negated(*phrase) is not is_denial
    one.take_negations()
    one.take_classes("owing")
    if one.item.kind == "gives" and is_negated:
        one.refuse("a negation governs the words that are said to be given")
    elif one.item.kind == "denies" and not (is_negated or is_refused or standing_negation(one)):
        one.refuse("a denial without a negation or a word of refusal")


def standing_negation(one: Bearing) -> bool:
    """Does the quote itself hold a negation?"""
    return any(standing.is_negation(token) for token in one.tokens)


def _is_denying_phrase(one: Bearing, name: Name) -> bool:
    phrase = one.own_mention(name.name)
    owners = (m.owners for m, words in one.mentions if words == phrase)
    return any(owner.name == name.name and owner.value == "denied" for those in owners for owner in those)


def _take_conditions(one: Bearing) -> None:
    """The words of the conditions that the claim states itself."""
    for condition in one.item.when:
        name = one.index.get("fact", condition.named or "")
        if name is None:
            one.refuse(f"`{condition.named}` is no declared fact")
            continue
        own = one.index.own(name).union(*(one.index.told(name, value) for value in name.values))
        one.take(token for token in one.tokens if not stems_of(token.word).isdisjoint(own))
        for value in condition.values:
            unit = unit_of(condition.unit, name.unit)
            for figure in one.values.figures_at(*one.place, beside_time=True):
                if is_said(figure, value, unit):
                    one.take(one.seen.words(figure.start, figure.end))
    if one.item.when:
        one.take_comparisons()


def altered_by(one: Bearing, others: list[Bearing]) -> str | None:
    """The word in the quote of a claim that alters it and that nobody carries; None where each is carried."""
    phrase = one.own_mention(one.item.action or "")
    named = [
        one.index.get("asks", one.item.action or ""),
        *(one.index.get("fact", w.named or "") for w in one.item.when),
    ]
    called = frozenset[str]().union(*(one.index.own(name) for name in named if name is not None))
    for token in one.altering(called, *phrase):
        if token.word in _OF_CONDITIONS and one.item.when:
            continue
        near = [b for b in others if b.place[0] < one.place[1] and one.place[0] < b.place[1] and b.status != "refused"]
        holding = [b for b in near if b.place[0] <= token.start < b.place[1]]
        if token.word in _OF_AMOUNTS and any(b.item.kind in ("figure", "fact", "limit") for b in holding):
            continue
        following = (b for b in near if b.place[1] > token.end and b.item.named != one.item.named)
        if token.word in _OF_CLAUSES and any(b.item.kind in ("gives", "denies", "figure", "asks") for b in following):
            continue
        return token.word
    return None


def bear_fact(one: Bearing) -> None:
    """What the answer says of the case."""
    name = one.index.get("fact", one.item.fact or "")
    if name is None:
        one.refuse(f"`{one.item.fact}` is no declared fact")
        return
    cases.bear_value(one, name)


def bear_limit(one: Bearing) -> None:
    """Where a rule draws its line: the number stands in the quote, on whichever side."""
    name = one.index.get("fact", one.item.fact or "")
    if name is None:
        one.refuse(f"`{one.item.fact}` is no declared fact")
        return
    _bear_figures(one, unit_of(one.item.unit, name.unit))
    one.take_comparisons()
    one.take_classes("measure_words")
    one.bear_name(name, otherwise=f"nothing but its unit ties it to {name.name}")


def bear_figure(one: Bearing) -> None:
    """How much, how many or how long of an action."""
    name = one.index.get("asks", one.item.action or "")
    if one.item.action is not None and name is None:
        one.refuse(f"`{one.item.action}` is no declared action")
        return
    _bear_figures(one, unit_of(one.item.unit, None))
    one.take_comparisons()
    one.take_classes("light", "giving", "owing", "measure_words")
    if name is not None:
        called = one.index.own(name) | one.index.near(name)
        one.take(token for token in one.tokens if not stems_of(token.word).isdisjoint(called))


def _bear_figures(one: Bearing, unit: str | None) -> None:
    figures = one.values.figures_at(*one.place, beside_time=True)
    for value in one.item.values:
        mine = [figure for figure in figures if is_said(figure, value, unit)]
        if not mine:
            one.refuse(f"the words do not say {value} {unit or ''}".rstrip())
        for figure in mine:
            one.take(one.seen.words(figure.start, figure.end))


def bear_source(one: Bearing) -> None:
    """A policy, by its id or by what its source is called."""
    name = one.index.get("source", one.item.policy_id or "")
    if name is None:
        one.refuse(f"`{one.item.policy_id}` is no policy")
        return
    quote = one.seen.text.seen[one.place[0] : one.place[1]]
    titles = (frozenset(map(stem, words_of(text))) for text in name.texts)
    said = frozenset(stem(token.word) for token in one.tokens)
    if name.name.casefold() not in quote.casefold() and not any(title and title <= said for title in titles):
        one.refuse(f"it does not name {name.name}")
    one.take(one.tokens)


def bear_question(one: Bearing) -> None:
    """The person is asked for a fact."""
    name = one.index.get("fact", one.item.fact or "")
    if name is None:
        one.refuse(f"`{one.item.fact}` is no declared fact")
        return
    words = [token.word for token in one.around]
    sentence = one.seen.text.seen[one.passage.start : one.passage.end]
    if "?" not in sentence and not lexicon()["asking"].any_in(words):
        one.refuse("this asks for nothing")
    one.take_classes("asking")
    one.bear_name(name)


def bear_outside(one: Bearing) -> None:
    """Something that no declared word expresses: it accounts for its words, and is judged as what it is."""
    one.take(one.tokens)


def bear_courtesy(one: Bearing) -> None:
    """A greeting, thanks, comfort: each of its words is one of those, or one that the person said."""
    courtesy = lexicon()["courtesy"]
    if one.values.figures_at(*one.place, beside_time=True):
        one.refuse("this is no courtesy: it holds a figure")
    for token in one.tokens:
        if token.word in courtesy or is_empty(token.word):
            one.take([token])
    for kind in ("forbidding", "promising"):
        if lexicon()[kind].any_in(one.words):
            one.refuse("this is no courtesy: it forbids or promises")


def is_about_action(item: Item) -> bool:
    """Does the claim give or deny an action?"""
    return item.kind in ("gives", "denies")


KINDS_OF_ANSWER: Mapping[str, Callable[[Bearing], None]] = {
    "gives": bear_action,
    "denies": bear_action,
    "fact": bear_fact,
    "limit": bear_limit,
    "figure": bear_figure,
    "source": bear_source,
    "asks": bear_question,
    "outside": bear_outside,
    "courtesy": bear_courtesy,
}
