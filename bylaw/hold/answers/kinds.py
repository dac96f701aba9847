"""The kinds of claims of an answer: something is given or denied, facts, limits, figures, sources, mere courtesy."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from bylaw.hold import cases, standing
from bylaw.hold.answers.settling import is_called_refusal, is_denying_phrase
from bylaw.hold.answers.stated import (
    bear_figures,
    bear_line,
    bear_rate,
    bear_stated,
    is_number,
    is_turned_down,
    take_conditions,
)
from bylaw.hold.bearing import Bearing, is_empty
from bylaw.hold.values import unit_of
from bylaw.hold.words import Name, stems_of
from bylaw.language.lexicon import lexicon, stem
from bylaw.language.text import words_of


def bear_action(one: Bearing) -> None:
    """An action is given or denied, in words that name it; its conditions are borne as well."""
    name = one.index.get("asks", one.item.action or "")
    if name is None or name.kind != "action":
        one.refuse(f"`{one.item.action}` is no declared action")
        return
    conditions = take_conditions(one)
    if not _is_named_by_refusal(one, name):
        own = {*one.own}
        if not one.bear_name(name, *conditions):
            one.own = own  # nobody accounts for words that do not name it
    one.take_classes("light", "giving" if one.item.kind == "gives" else "refusal")
    one.take_classes("owing", "polarity")
    if one.item.kind == "denies" and not (is_turned_down(one) or _is_denying(one)):
        one.refuse("a denial without a negation or a word of refusal")


def _is_denying(one: Bearing) -> bool:
    """Does the quote hold a negation, or is it the clause by which the action is declared to be denied?"""
    has_negation = any(standing.is_negation(token) for token in one.tokens) or lexicon()["negation"].any_in(one.words)
    return has_negation or is_denying_phrase(one, one.item.action or "")


def _is_named_by_refusal(one: Bearing, name: Name) -> bool:
    """Is the action one that refuses, and do its words say no more than that somebody refuses?"""
    refusing = [token for token in one.tokens if token.word in lexicon()["refusal"] or standing.is_negation(token)]
    if not refusing or one.own_mention(name.name) or not is_called_refusal(one, name.name):
        return False
    one.take(refusing)
    return not any(one.index.is_action(owner.name) for mention, _ in one.mentions for owner in mention.owners)


def bear_fact(one: Bearing) -> None:
    """What the answer says of the case."""
    name = _fact_of(one)
    if name is not None:
        bear_stated(one, name)


def bear_limit(one: Bearing) -> None:
    """Where a rule draws its line: the number stands in the quote, on whichever side."""
    name = _fact_of(one)
    one.take_classes("rules_themselves")
    if name is not None and is_number(name):
        bear_line(one, name)
    elif name is not None:
        cases.bear_value(one, name)


def _fact_of(one: Bearing) -> Name | None:
    name = one.index.get("fact", one.item.fact or "")
    if name is None:
        one.refuse(f"`{one.item.fact}` is no declared fact")
    return name


def bear_figure(one: Bearing) -> None:
    """How much, how many or how long of an action."""
    name = one.index.get("asks", one.item.action or "")
    if one.item.action is not None and name is None:
        one.refuse(f"`{one.item.action}` is no declared action")
        return
    take_conditions(one)
    figures = bear_figures(one, unit_of(one.item.unit, None))
    one.take_comparisons()
    one.take_classes("light", "giving", "owing", "measure_words", "apiece", "rating")
    if name is not None:
        for figure in figures:
            bear_rate(one, figure, name)
        called = one.index.own(name) | one.index.near(name)
        one.take(token for token in one.tokens if not stems_of(token.word).isdisjoint(called))


def bear_source(one: Bearing) -> None:
    """A policy, by its id or by what its source is called; it accounts for these words alone."""
    name = one.index.get("source", one.item.policy_id or "")
    if name is None:
        one.refuse(f"`{one.item.policy_id}` is no policy")
        return
    start, end = one.place
    at = one.seen.text.seen.casefold().find(name.name.casefold(), start, end)
    said = frozenset(stem(token.word) for token in one.tokens)
    titles = (frozenset(map(stem, words_of(text))) for text in name.texts)
    called = frozenset[str]().union(*(title for title in titles if title and title <= said))
    if at < 0 and not called:
        one.refuse(f"it does not name {name.name}")
    called |= one.index.near(name) if called else frozenset()  # "section 3 of the garden rules"
    one.take(token for token in one.tokens if is_empty(token.word) or stem(token.word) in called)
    one.take(one.seen.words(at, at + len(name.name)) if at >= 0 else ())


def bear_question(one: Bearing) -> None:
    """The person is asked for a fact."""
    name = _fact_of(one)
    if name is None:
        return
    sentence = one.seen.text.seen[one.passage.start : one.passage.end]
    if "?" not in sentence and not lexicon()["asking"].any_in([token.word for token in one.around]):
        one.refuse("this asks for nothing")
    one.take_classes("asking", "question_words", "wh")
    one.take(token for token in one.tokens if is_empty(token.word))
    values = frozenset[str]().union(*(one.index.told(name, value) for value in name.values))
    own = {*one.own}
    if not one.bear_name(name, said=values):
        one.own = own


def bear_outside(one: Bearing) -> None:
    """Something that no declared word expresses: it accounts for its words, and is judged as what it is."""
    one.take(one.tokens)


def bear_courtesy(one: Bearing) -> None:
    """A greeting, thanks, comfort: no figure, and nothing that gives, owes, forbids or promises."""
    if one.values.figures_at(*one.place, beside_time=True):
        one.refuse("this is no courtesy: it holds a figure")
    words = one.words
    for first, behind in lexicon()["idioms"].find(words):
        words = [*words[:first], *("…" for _ in range(first, behind)), *words[behind:]]
    for kind in ("giving", "owing", "forbidding", "promising"):
        for first, behind in lexicon()[kind].find(words):
            one.refuse(f"this is no courtesy: “{' '.join(words[first:behind])}” gives, owes or forbids")


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
