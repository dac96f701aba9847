"""What only the whole question decides: ranks or maxima, counts nobody named, periods or plans."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bot.analytics.reader.headline import readable
from bot.analytics.reader.meaning.draft import QueryDraft
from bot.analytics.reader.meaning.links import links
from bot.analytics.reader.meaning.roles import rivals
from bot.analytics.reader.reading import Stop, Unclear, not_understood
from bot.analytics.reader.said import (
    DoneSaid,
    Narrowing,
    NumberSaid,
    OrderSaid,
    Ref,
    RelatedSaid,
    Said,
    TimeSaid,
)
from bot.analytics.reader.scope import Kind, Target
from bot.analytics.reader.wording import GRAINS, SOLD
from bot.conversation import Choice
from bylaw.language.words import singular


def decide_extremes(draft: QueryDraft) -> None:
    """ "The car with the highest price" ranks rows; "the highest price per make" is a maximum."""
    said = draft.said
    decide_ranked_facts(draft)
    plain = [number for number in said.numbers if not number.is_extreme]
    extremes = [number for number in said.numbers if number.is_extreme]
    if not extremes or plain or said.groups or said.ratio:
        for number in extremes:
            if (plain or said.groups) and number.ref.of("metric") and (said.subject or said.ranked or said.outputs):
                rank_by(draft, number)
        if len(extremes) == 1 and said.groups and not plain and not said.ratio:
            decide_best(draft, extremes[0])
        return
    subject = rows_asked_for(draft)
    for number in extremes:
        owners = {target.owner for target in number.ref.of("fact", "time")}
        if number.ref.of("metric") and (not owners or is_of_others(subject, owners)):
            rank_by(draft, number)
        elif subject is not None and owners & set(subject.entities):
            said.numbers.remove(number)
            said.orders.append(OrderSaid(number.ref, number.agg == "max"))
            said.is_ranking = True
        elif len(extremes) == 1 and (said.subject or said.outputs) and not asks_for_many(draft):
            number.is_rank = True  # "which country has the highest mountain altitude"


def decide_sorted(draft: QueryDraft) -> None:
    """ "The three largest lakes by area", "list the states by population": what sorts the rows does not group them."""
    said = draft.said
    ranked = {target.name for number in said.numbers if number.is_extreme for target in number.ref.of("fact")}
    for ref in [one for one in said.groups if one.of("fact") and not one.of("dimension", "entity", "time")]:
        if ranked & {target.name for target in ref.of("fact")}:
            said.groups.remove(ref)
        elif not said.numbers and said.ratio is None and (said.subject or said.outputs):
            said.groups.remove(ref)
            said.orders.append(OrderSaid(ref, said.descending is not False))
            said.outputs += [ref] if said.outputs else []


def rows_asked_for(draft: QueryDraft) -> Ref | None:
    """The entity whose rows a question wants, or of which it wants a column."""
    said = draft.said
    head = said.heads[0] if said.heads and (said.outputs or said.is_headed) else None
    return said.subject or said.ranked or head


def decide_ranked_facts(draft: QueryDraft) -> None:
    """ "The paper with the most pages", "the highest number of pages in each journal": of a row, which has one number.

    Of others ("the author with the most pages") it is what all their rows add up to.
    """
    said, subject = draft.said, rows_asked_for(draft)
    for number in said.numbers:
        owners = {target.owner for target in number.ref.of("fact")}
        ranks = [order for order in said.orders if order.by is number]
        is_fact = number.is_rank and number.agg == "count" and owners and not number.ref.of("metric", "entity")
        is_own = bool(owners & set(subject.entities)) if subject is not None else not said.outputs
        if is_fact and is_own and ranks and number.summary is None:
            number.is_rank, number.is_extreme = False, True
            number.agg = "max" if ranks[0].descending else "min"
            said.orders.remove(ranks[0])
            said.is_ranking = any(one.is_rank for one in said.numbers)


def decide_best(draft: QueryDraft, number: NumberSaid) -> None:
    """ "Which product has the highest price in each category" asks for products, the first of each category."""
    said = draft.said
    subject = rows_asked_for(draft)
    facts = {target.owner for target in number.ref.of("fact")}
    owners = facts & set(subject.entities if subject is not None else ())
    grouped = {target for ref in said.groups for target in ref.targets}
    shown = [ref for ref in said.outputs if not ref.of("fact") and not grouped & set(ref.targets)]
    if subject is None and shown:
        columns = [target for target in shown[0].of("dimension") if target.owner in facts]
        owners = {target.owner for target in [one for one in columns if draft.names_row(one)] or columns}
    base = owners.pop() if len(owners) == 1 else ""
    leads = draft.nearness.leads_to_one
    if not base or number.ref.of("metric"):
        return
    if all(any(leads(base, name) for name in (*ref.entities, *ref.owners)) for ref in said.groups):
        said.numbers.remove(number)
        said.orders.append(OrderSaid(number.ref, number.agg == "max"))
        said.is_ranking, said.subject = True, subject
        said.best_of, said.groups = said.groups, []


def is_of_others(subject: Ref | None, owners: set[str]) -> bool:
    """ "Which product line had the highest revenue": what is ranked has many of the rows that the fact is of."""
    return subject is not None and bool(subject.owners) and not owners & set(subject.owners)


def decide_facts(draft: QueryDraft) -> None:
    """ "The payment and the reserve by claim": facts that are grouped are numbers."""
    said = draft.said
    facts = [ref for ref in said.outputs if ref.of("fact") and not ref.of("dimension", "time")]
    others = [ref for ref in said.outputs if ref not in facts]
    if said.numbers or not said.groups or not all(is_of_group(draft, ref, facts) for ref in others):
        return
    for ref in facts:
        said.outputs.remove(ref)
        if all(set(ref.targets) != set(number.ref.targets) for number in said.numbers):
            said.numbers.append(NumberSaid(ref))


def is_of_group(draft: QueryDraft, shown: Ref, facts: Sequence[Ref]) -> bool:
    """ "The weight for each order: return the order id and the weight": a column of each, that has many of the fact."""
    each = {name for ref in draft.said.each for name in ref.entities}
    owners = {name for ref in facts for name in ref.owners}
    is_many = all(draft.nearness.leads_to_one(owner, name) for owner in owners for name in each)
    plural = any(ref.is_plural for ref in facts)
    return bool(each & set(shown.near or shown.owners)) and bool(owners - each) and is_many and not plural


def decide_frequent(draft: QueryDraft) -> None:
    """ "The most used device types for sessions" counts sessions: the rows spoken of, or those that have the type."""
    said = draft.said
    if not said.is_frequent or any(number.agg == "count" for number in said.numbers):
        return
    ranked = column_ranked(draft) or said.ranked or said.subject or (said.outputs[0] if said.outputs else None)
    heads = [head for head in said.heads if ranked is None or not set(head.entities) & set(ranked.entities)]
    if heads:
        stop_at_frequent(draft, ranked, heads[-1])
        said.numbers.append(NumberSaid(heads[-1], "count", is_rank=not said.counts))
    elif ranked is not None and said.numbers and said.frequent:
        return  # "best selling products by revenue"
    elif ranked is not None and said.frequent and (unsaid := ranked_unsaid(draft, ranked, said.frequent)):
        said.numbers.append(unsaid)
    elif ranked is not None and not ranked.entities:
        targets = tuple(Target("entity", owner) for owner in dict.fromkeys(ranked.near or ranked.owners))
        said.numbers.append(NumberSaid(Ref(ranked.words, targets), "count", is_rank=not said.counts))


def stop_at_frequent(draft: QueryDraft, ranked: Ref | None, head: Ref) -> None:
    """ "The most common product among gold customers": with the most of them, or the most often? Raises Stop."""
    owners, heads = (set(ref.entities or ref.owners) if ref is not None else set() for ref in (ranked, head))
    words = f"{draft.said.frequent} {ranked.words}" if ranked is not None else ""
    if len(owners) != 1 or len(heads) != 1 or owners == heads or not draft.said.frequent:
        return
    (owner,), (rows,) = owners, heads
    between = links(draft, rows, owner)
    if draft.nearness.leads_to_one(rows, owner) or not between or between == [rows]:
        return
    kinds = (between[0].replace("_", " "), rows.replace("_", " "))
    if ranked is None or words not in draft.text or len(between) > 1:
        said = draft.said.frequent
        message = f"I do not see by what number `{said}` ranks"
        raise Stop(not_understood(message, f"say `with the most {kinds[0]}`, or `{kinds[1]}`", (said,)))
    choices = tuple(
        Choice(
            value=draft.text.replace(words, f"{ranked.words} with the most {kind}", 1),
            label=f"the {ranked.words} with the most {kind}",
        )
        for kind in kinds
    )
    raise Stop(Unclear(words, choices))


def column_ranked(draft: QueryDraft) -> Ref | None:
    """ "The most common medication: return the name and count": by the names of rows that are no others each."""
    said = draft.said
    ranked = said.ranked
    if ranked is None or not ranked.entities or not said.counts or not said.frequent:
        return None
    shown = [ref for ref in said.outputs if any(one.owner in ranked.entities for one in ref.of("dimension"))]
    if len(shown) != 1 or len(said.outputs) != 1:
        return None
    own = tuple(one for one in shown[0].of("dimension") if one.owner in ranked.entities)
    if len(own) != 1 or draft.is_key(own[0]) or draft.tells_apart(own[0].name, own[0].owner):
        return None
    said.outputs.remove(shown[0])
    said.ranked = Ref(shown[0].words, own)
    said.heads = [head for head in said.heads if not set(head.entities) <= set(ranked.entities)]
    return said.ranked


def ranked_unsaid(draft: QueryDraft, ranked: Ref, words: str) -> NumberSaid | None:
    """What the "best selling" are ranked by: what was sold. The "most popular" of what others belong to: who knows?

    None where the rows themselves are counted: "the most common reason".
    """
    entities, owners = draft.context.entities, sorted({*ranked.entities, *ranked.owners})
    leads = draft.nearness.leads_to_one
    if "selling" in words.lower():
        sold: list[tuple[Kind, str]] = [
            ("metric", name)
            for name, metric in sorted(draft.context.metrics.items())
            if SOLD & {readable(name), *metric.synonyms}
            and all(leads(base, one) for base in draft.compiler.bases_of(name) for one in owners)
        ]
        sold = sold or [
            ("entity", name)
            for name, entity in sorted(entities.items())
            if SOLD & {name, *entity.synonyms} and all(leads(name, one) for one in owners)
        ]
        if len(sold) == 1:
            return NumberSaid(Ref(words, (Target(*sold[0]),)), "count", is_rank=not draft.said.counts)
    said = {singular(word) for one in owners for word in (one, *entities[one].synonyms)}
    is_row = bool(ranked.entities) or singular(ranked.words.lower()) in said
    is_owner = any(leads(other, one) for other in sorted(entities) for one in owners if other not in owners)
    if is_row or "selling" in words.lower() or ("popular" in words.lower() and is_owner):
        message = f"I do not see by what number `{words}` ranks"
        raise Stop(not_understood(message, f"name it: `top 5 {ranked.words} by …`", (words,)))
    return None


def decide_beside(draft: QueryDraft) -> None:
    """ "Number of orders and number of online orders": what stands right before one of several numbers is its own."""
    said = draft.said
    if len(said.numbers) < 2 or said.ratio is not None or said.compares:
        return
    for number in said.numbers:
        begins = number.begins
        while begins >= 0:
            own = [one for one in said.conditions if one.ends == begins and not one.alternative and not one.clause]
            if not own:
                break
            said.conditions.remove(own[0])
            number.conditions.append(own[0])
            number.kind = f"{own[0].ref.words} {number.kind}"
            begins = own[0].begins


def decide_grains(draft: QueryDraft) -> None:
    """ "Monthly" may be the name of a plan, "day" a column; where the rows lead to none, it says how to group."""
    assert draft.base is not None
    for narrowing in list(draft.said.conditions):
        grain = GRAINS.get(narrowing.ref.words.lower())
        owners = {target.owner for target in narrowing.ref.of("value")}
        if (
            grain
            and narrowing.values
            and not narrowing.is_labelled
            and not any(draft.nearness.leads_to_one(draft.base, name) for name in owners)
        ):
            draft.said.conditions.remove(narrowing)
            draft.names[narrowing.ref.words] = grain
            draft.said.grain = grain
    for ref in list(draft.said.groups):
        grain = GRAINS.get(ref.words.lower())
        spoken = {name for head in draft.said.heads for name in head.entities}
        is_of_others = draft.default_time(draft.base) is not None and not {draft.base, *spoken} & set(ref.owners)
        if grain and (is_of_others or not any(draft.nearness.leads_to_one(draft.base, one) for one in ref.owners)):
            draft.said.groups.remove(ref)
            draft.said.outputs = [one for one in draft.said.outputs if GRAINS.get(one.words.lower()) != grain]
            for time in draft.said.times:
                time.ref = None if time.ref is not None and time.ref.words == ref.words else time.ref
            draft.names[ref.words] = draft.said.grain = grain


def decide_per(draft: QueryDraft, bases: Sequence[str]) -> None:
    """ "Average price per product in each category" is the average of the products: each of them has one price."""
    said = draft.said
    is_mean = bool(said.numbers) and all(number.agg in ("avg", "median") for number in said.numbers)
    for ref in said.per if is_mean and len(said.groups) > 1 else ():
        if ref in said.groups and set(bases) <= set(ref.entities):
            said.groups.remove(ref)


def rank_by(draft: QueryDraft, number: NumberSaid) -> None:
    number.is_extreme, descending = False, number.agg == "max"
    number.agg, number.is_rank = None, not number.is_again
    draft.said.orders.append(OrderSaid(number, descending))
    draft.said.is_ranking = True


def asks_for_many(draft: QueryDraft) -> bool:
    """Is what is ranked in the plural, or is there nothing to take one of?"""
    asked = draft.said.ranked or draft.said.subject
    if asked is None:
        outputs = draft.said.outputs
        return outputs[0].is_plural if outputs else bool(draft.said.groups)
    return asked.is_plural


def counted_in(draft: QueryDraft, number: NumberSaid) -> set[str]:
    """The entities whose rows a number may count."""
    metrics = [draft.context.metrics[target.name] for target in number.ref.of("metric")]
    owners = {target.owner for target in number.ref.of("entity", "fact", "time", "dimension")}
    return owners | {metric.entity for metric in metrics if metric.entity is not None}


def decide_done(draft: QueryDraft) -> None:
    """ "Cars that were sold": those that a sale belongs to; with a span of time, one in it."""
    for narrowing in list(draft.said.conditions):
        behind = [one for one in draft.said.times if one.ref is None and one.clause == narrowing.clause]
        if narrowing.done is not None and len(draft.said.times) == len(behind) == 1:
            behind[0].ref = narrowing.done  # "solved last month": not opened then, and whatever became of it
            draft.said.conditions.remove(narrowing)
    ratio = draft.said.ratio
    halves = (ratio.numerator, ratio.denominator) if ratio is not None else ()
    for said in (draft.said, *draft.said.numbers, *halves):
        for verb in said.done:
            if not is_decided(draft, verb, said) and verb.is_counted:
                words = verb.date.words
                often = " so many times" if verb.count > 1 else ""
                message = f"I do not see what is {'not ' if verb.negated else ''}`{words}`{often}"
                raise Stop(not_understood(message, "name the rows that are counted, or missing", (words,)))


def is_decided(draft: QueryDraft, verb: DoneSaid, said: Said | NumberSaid) -> bool:
    """Take what was done as a date of *said*, or as rows that are there. False where it is neither."""
    heads = set(verb.head.entities)
    behind = [time for time in said.times if time.ref is None or verb.date.targets == time.ref.targets]
    own = [target for target in verb.date.targets if target.owner in heads]

    def is_of(number: NumberSaid) -> bool:
        """ "Net revenue of customers who ordered twice": do the rows of the number belong to those spoken of?"""
        bases = counted_in(draft, number)
        return verb.is_counted and not behind and bool(bases) and all(_leads_to(draft, base, heads) for base in bases)

    if own and verb.is_counted and not verb.negated:
        return False
    if own:
        is_lasting = len(own) == 1 and own[0].name != draft.default_time(own[0].owner)
        if is_lasting and not behind:  # "orders that were shipped": they have that date
            said.conditions.append(Narrowing(verb.date, "is_null", negated=not verb.negated, near=tuple(heads)))
        return is_lasting and not behind
    owners = list(dict.fromkeys(target.owner for target in verb.date.targets))
    owners = [name for name in owners if any(links(draft, head, name) for head in heads)]
    if len(owners) != 1 or not any(is_done_to(draft, owners[0], head, verb) for head in heads):
        return False
    if not all({owners[0], *heads} & counted_in(draft, number) or is_of(number) for number in draft.said.numbers):
        return False
    if behind and not verb.is_counted:
        behind[0].ref = behind[0].ref or verb.date
        return True
    related = Ref(verb.date.words, (Target("entity", owners[0]),))
    date_done(draft, verb, owners[0], said.times)
    comparison, count = ("=", 0) if verb.negated else (verb.comparison, verb.count)
    said.related.append(RelatedSaid(verb.head, related, comparison, count, clause=verb.clause))  # type: ignore[arg-type]
    return True


def _leads_to(draft: QueryDraft, base: str, heads: Iterable[str]) -> bool:
    return any(draft.nearness.leads_to_one(base, head) for head in heads)


def date_done(draft: QueryDraft, verb: DoneSaid, rows: str, times: Sequence[TimeSaid]) -> None:
    """ "Who never ordered in 2026": the span is one of the date that the verb tells, else of the rows' own."""
    dates = [target.name for target in verb.date.of("time") if target.owner == rows]
    date = dates[0] if len(dates) == 1 else draft.default_time(rows)
    for time in times:
        if time.clause == verb.clause > 0 and time.ref is None:
            time.near = (rows,)
            time.ref = Ref(verb.date.words, (Target("time", date),)) if date is not None else None


def is_done_to(draft: QueryDraft, rows: str, head: str, verb: DoneSaid) -> bool:
    """Does what was done belong to a row of *head*, and in one way only?"""
    if verb.is_told and len(rivals(draft, rows, head)) > 1:
        return False
    leads = draft.nearness.leads_to_one
    return not leads(head, rows) and (leads(rows, head) or (verb.is_told and len(links(draft, head, rows)) == 1))


def decide_rows(draft: QueryDraft) -> None:
    """ "What about gold customers?" after a question about revenue: whose it is, not how many of them."""
    said = draft.said
    bare = [number for number in said.numbers if number.agg is None and number.ref.entities]
    is_whose = bool(bare) and len(bare) == len(said.numbers) and bool(said.conditions) and not said.counts
    is_compared = bool(said.compares) and 0 < len(bare) < len(said.numbers)  # "compare gold and VIP customers by …"
    if (draft.follows and draft.previous is not None and is_whose) or is_compared:
        said.numbers = [number for number in said.numbers if number not in bare]
        said.heads += [Ref(number.ref.words, number.ref.of("entity")) for number in bare]
