"""The average of what each of something has: "average number of orders per customer", "average monthly revenue".

An average, median, highest or lowest of rows needs nothing of this; one of counts and totals needs to know whose they
are. Where nobody says so, or two things could be it, the question is not understood.
"""

from __future__ import annotations

import re
from typing import Literal, cast

from bot.analytics.reader.meaning.draft import Each, QueryDraft, normal_words
from bot.analytics.reader.meaning.guesses import counted_in
from bot.analytics.reader.reading import Stop, Unclear, not_understood
from bot.analytics.reader.said import NumberSaid, Ref
from bot.analytics.reader.scope import Target
from bot.analytics.reader.wording import AMOUNTS, GRAINS
from bot.conversation import Choice
from bylaw.language.words import singular
from bylaw.semantic.query import Summary

Kind = Literal["avg", "median", "min", "max"]
_COUNTS = ("count", "count_distinct")
_WORDS: dict[Kind, str] = {"avg": "average", "median": "median", "min": "minimum", "max": "maximum"}


def decide_summaries(draft: QueryDraft) -> None:
    """Which numbers are of several numbers, and of each of what. Raises Stop."""
    said = draft.said
    decide_stored(draft)
    decide_own(draft)
    decide_adverbs(draft)
    said_so = [number for number in said.numbers if number.summary is not None]
    each = each_of(draft)
    for number in said.numbers if each is not None else ():
        if number.summary is None and number.agg in ("avg", "median") and adds_up(draft, number):
            is_sum = bool(number.ref.of("fact")) and number.is_total
            number.summary, number.agg = number.agg, "count" if are_rows(number) else "sum" if is_sum else None
    found = [number for number in said.numbers if number.summary is not None]
    if not found:
        stop_at_adverb(draft)
        stop_at_single_rows(draft)
        said.grain, said.with_empty = said.grain or said.each_grain, said.with_empty or said.is_empty_too
        return
    if each is None:
        raise of_whom(_WORDS[cast(Kind, said_so[0].summary)] if said_so else "average")
    for ref in each.refs:
        for refs in (said.groups, said.heads):
            refs[:] = [one for one in refs if one is not ref]
    if said.grain == each.grain:
        said.grain = None
    draft.each, said.with_empty = each, said.is_empty_too


def decide_stored(draft: QueryDraft) -> None:
    """ "Average number of citations per paper": where a paper has that number, it is the average of it."""
    said = draft.said
    for number in said.numbers:
        facts, rows = number.ref.of("fact"), number.ref.of("entity")
        if number.summary is None or not facts or not rows or number.ref.of("metric"):
            continue
        spoken = {name for ref in (*said.per, *said.heads) for name in ref.entities} - set(number.ref.entities)
        own = tuple(fact for fact in facts if fact.owner in spoken)
        number.ref = Ref(number.ref.words, own or rows, number.ref.near, number.ref.is_plural)
        if own:
            number.agg, number.summary = number.summary, None
            said.groups = [one for one in said.groups if one not in said.per or own[0].owner not in one.entities]


def decide_own(draft: QueryDraft) -> None:
    """ "Average list price per product", where each has one: the average of all, for that of one row is no average."""
    said = draft.said
    own = said.per[0].entities if len(said.per) == 1 else ()
    means = [number for number in said.numbers if number.summary is None and is_mean(draft, number)]
    owners = {name for number in means for name in counted_in(draft, number)}
    if len(own) == 1 and owners == {*own} and len(means) == len(said.numbers) and said.limit is None:
        said.groups = [one for one in said.groups if one is not said.per[0]]
        said.per.clear()


def is_mean(draft: QueryDraft, number: NumberSaid) -> bool:
    """Is it the average, or the median, of a column?"""
    metrics = {draft.context.metrics[target.name].agg for target in number.ref.of("metric")}
    if metrics:
        return number.agg in (None, "avg", "median") and metrics <= {"avg", "median"}
    return number.agg in ("avg", "median") and bool(number.ref.of("fact"))


def decide_adverbs(draft: QueryDraft) -> None:
    """ "Average monthly net revenue": what may be the name of a plan, where the rows that count lead to no plan."""
    said = draft.said
    means = [number for number in said.numbers if number.summary or number.agg in ("avg", "median")]
    bases = {base for number in means for base in counted_in(draft, number)}
    bases |= {base for number in means for m in number.ref.of("metric") for base in draft.compiler.bases_of(m.name)}
    for narrowing in list(said.conditions) if bases else ():
        grain = GRAINS.get(narrowing.ref.words.lower())
        owners = {target.owner for target in narrowing.ref.of("value")}
        leads = any(draft.nearness.leads_to_one(base, owner) for base in sorted(bases) for owner in sorted(owners))
        if grain and narrowing.values and not narrowing.is_labelled and not leads:
            said.conditions.remove(narrowing)
            draft.names[narrowing.ref.words] = grain
            said.each_grain, said.each_adverb = grain, narrowing.ref.words


def stop_at_adverb(draft: QueryDraft) -> None:
    """ "The average monthly amount": of the rows of each month, or of what each month adds up to? Raises Stop."""
    said = draft.said
    means = [number for number in said.numbers if number.agg in ("avg", "median") and number.ref.of("fact")]
    if not means or not said.each_adverb:
        return
    mean, grain, words = _WORDS[cast(Kind, means[0].agg)], said.each_grain, means[0].ref.words
    before, adverb, after = draft.text.rstrip(" ?.!").partition(said.each_adverb)
    rows, totals = f"{before}{after.lstrip()} by {grain}", f"{before}total{after} per {grain}"
    choices = (
        Choice(value=rows, label=f"the {mean} {words} of the single rows, by {grain}"),
        Choice(value=totals, label=f"the {mean} of what each {grain} adds up to"),
    )
    raise Stop(Unclear(f"{mean} {adverb} {words}", choices))


def stop_at_single_rows(draft: QueryDraft) -> None:
    """ "The average check-ins per shop": of its single rows, which nothing speaks of, or of what they add up to?

    Raises Stop.
    """
    said = draft.said
    spoken = {name for ref in (*said.heads, *said.outputs) for name in (*ref.entities, *ref.owners)}
    for number in said.numbers if len(said.per) == 1 and said.per[0].entities else ():
        facts = number.ref.of("fact") if number.agg in ("avg", "median") and not number.ref.of("metric") else ()
        if not facts or spoken & {fact.owner for fact in facts} or not all(has_many(draft, fact) for fact in facts):
            continue
        if any(names_rows(draft, number.ref, fact.owner) for fact in facts) or shows_each(draft, said.per[0]):
            continue
        mean, words, each = _WORDS[cast(Kind, number.agg)], number.ref.words, said.per[0].words
        named = re.search(r"\W+".join(map(re.escape, words.split())), draft.text, re.IGNORECASE)
        if named is None:
            raise of_whom(mean)
        before = re.sub(r"\bnumber of\s*$", "", draft.text[: named.start()], flags=re.IGNORECASE)
        after = draft.text[named.end() :].rstrip(" ?.!")
        rows = f"{before}{words}{re.sub('per', 'by', after, count=1, flags=re.IGNORECASE)}"
        totals = f"{before}total {words}{after}"
        choices = (
            Choice(value=rows, label=f"the {mean} {words} of the single rows, by {each}"),
            Choice(value=totals, label=f"the {mean} of what each {each} adds up to"),
        )
        raise Stop(Unclear(f"{mean} {words} per {each}", choices))


def names_rows(draft: QueryDraft, ref: Ref, owner: str) -> bool:
    """ "The average order amount": do the words of the fact say whose it is?"""
    words = set(normal_words(ref.words))
    names = (owner, *draft.context.entities[owner].synonyms)
    return any(set(normal_words(name.replace("_", " "))) < words for name in names)


def shows_each(draft: QueryDraft, each: Ref) -> bool:
    """ "Per shop: return the shop's name and the average": is a column of each asked for?"""
    return any(set(each.entities) & {*ref.near, *ref.owners} for ref in draft.said.outputs)


def has_many(draft: QueryDraft, fact: Target) -> bool:
    """Does one of what is averaged over have many rows with the fact, that are added up?"""
    owner, _, short = fact.name.partition(".")
    own = [one.default_aggregation for one in draft.context.entities[owner].facts if one.name == short]
    return own == ["sum"] and not draft.nearness.leads_to_one(draft.said.per[0].entities[0], owner)


def of_whom(words: str) -> Stop:
    message = f"I do not see of each of what `{words}` is asked for"
    return Stop(not_understood(message, "say it with `per`: `per customer`, `per month`", (words,)))


def each_of(draft: QueryDraft) -> Each | None:
    """What each of has a number: what "per" stands before, else the only thing that there is one for each of."""
    said = draft.said
    per = [ref for ref in said.per if ref in said.groups]
    rows = [ref for ref in per if ref.entities]
    if said.each_grain is not None:
        if rows:
            words = rows[0].words
            message = f"I do not see whether `{words}` or `{said.each_grain}` is what is averaged over"
            raise Stop(not_understood(message, f"say `by {words}` for a row of each", (words,)))
        return Each(grain=said.each_grain)
    if per:
        return Each(tuple((rows or per)[:1]))
    each = [ref for ref in said.each if ref in said.groups and ref.entities]
    whole = [ref for ref in said.groups if ref.entities and not ref.of("dimension")]
    alone = each or (whole if len(said.groups) == 1 else [])
    if len(alone) == 1 and others_spoken_of(draft, alone[0]):
        return None
    if len(alone) == 1:
        return Each((alone[0],))
    return None


def others_spoken_of(draft: QueryDraft, each: Ref) -> bool:
    """ "The average number of citations of publications in each journal": of a publication, or of a journal?"""
    known = {*each.entities, *(name for number in draft.said.numbers for name in counted_in(draft, number))}
    return any(set(head.entities) - known for head in draft.said.heads)


def counts(draft: QueryDraft, number: NumberSaid) -> bool:
    """Is it a number of rows?"""
    metrics = [draft.context.metrics[target.name] for target in number.ref.of("metric")]
    return number.agg == "count" or (bool(metrics) and all(metric.agg in _COUNTS for metric in metrics))


def adds_up(draft: QueryDraft, number: NumberSaid) -> bool:
    """Is it a total, or a count, of the rows that each has, and no average by itself?"""
    if number.ref.of("fact"):
        return number.is_total
    if are_rows(number):
        return True
    metrics = [draft.context.metrics[target.name] for target in number.ref.of("metric")]
    return bool(metrics) and all(
        metric.agg in ("sum", *_COUNTS) or (metric.type == "derived" and "percent" not in (metric.unit, metric.format))
        for metric in metrics
    )


def are_rows(number: NumberSaid) -> bool:
    """ "Average orders per customer": rows that are counted, and no amounts."""
    return number.ref.is_plural and bool(number.ref.entities) and normal_words(number.ref.words)[-1] not in AMOUNTS


def summary_of(draft: QueryDraft, agg: str, name: str) -> Summary:
    """The summary of the number *name*, of what was decided to be each."""
    assert draft.each is not None
    per: list[str] = []
    dimensions: list[str] = []
    for ref in draft.each.refs:
        per, dimensions = each_target(draft, ref)
    of = [place.partition("@")[0] for place in per] + [one.partition(".")[2] for one in dimensions]
    of += [draft.each.grain] if draft.each.grain else []
    kind = cast(Kind, agg)
    short = "".join(char if char.isalnum() else "_" for char in name).strip("_").replace("__", "_")
    return Summary(
        name=f"{_WORDS[kind]}_{short}_per_{'_and_'.join(singular(one) for one in of)}",
        agg=kind,
        metric=name,
        per=tuple(per),
        dimensions=tuple(dimensions),
        grain=draft.each.grain,
        with_empty=draft.said.is_empty_too,
    )


def each_target(draft: QueryDraft, ref: Ref) -> tuple[list[str], list[str]]:
    """The rows of an entity, or the values of a column."""
    dimensions = ref.of("dimension")
    if ref.entities and not dimensions:
        return [draft.choose(ref, ref.of("entity")).name], []
    target = draft.choose(ref, dimensions or ref.of("entity"))
    if target.kind == "entity" or target.owner in ref.entities or draft.is_key(target):
        return [target.owner], []
    return [], [target.name]
