"""What only the whole question decides: ranks or maxima, counts nobody named, periods or plans."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bot.analytics.reader.meaning.draft import QueryDraft
from bot.analytics.reader.meaning.links import links
from bot.analytics.reader.reading import Stop, not_understood
from bot.analytics.reader.said import DoneSaid, Narrowing, NumberSaid, OrderSaid, Ref, RelatedSaid
from bot.analytics.reader.scope import Target
from bot.analytics.reader.wording import GRAINS


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
            stop_at_best(draft, extremes[0])
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
        if is_fact and is_own and ranks:
            number.is_rank, number.is_extreme = False, True
            number.agg = "max" if ranks[0].descending else "min"
            said.orders.remove(ranks[0])
            said.is_ranking = any(one.is_rank for one in said.numbers)


def stop_at_best(draft: QueryDraft, number: NumberSaid) -> None:
    """ "Which product has the highest price in each category" asks for the first product of each. Raises Stop."""
    subject, facts = rows_asked_for(draft), {target.owner for target in number.ref.of("fact")}
    shown = [target.owner for ref in draft.said.outputs for target in ref.of("dimension")]
    if facts & {*(subject.entities if subject is not None else shown)} and not number.ref.of("metric"):
        words = number.ref.words
        raise Stop(not_understood(f"I do not see of which rows `{words}` is asked for", "name one group", (words,)))


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


def decide_beside(draft: QueryDraft) -> None:
    """ "Number of orders and number of online orders": what stands right before one of several numbers is its own."""
    said = draft.said
    if len(said.numbers) < 2 or said.ratio is not None:
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


def rank_by(draft: QueryDraft, number: NumberSaid) -> None:
    number.is_extreme, descending = False, number.agg == "max"
    number.agg, number.is_rank = None, True
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
    for verb in draft.said.done:
        if not is_decided(draft, verb) and verb.negated:
            words = verb.date.words
            message = f"I do not see what is not `{words}`"
            raise Stop(not_understood(message, "name the rows that are missing", (words,)))


def is_decided(draft: QueryDraft, verb: DoneSaid) -> bool:
    """Take what was done as a date, or as rows that are there. False where it is neither."""
    said = draft.said
    heads = set(verb.head.entities)
    behind = [time for time in said.times if time.ref is None or verb.date.targets == time.ref.targets]
    own = [target for target in verb.date.targets if target.owner in heads]
    leads = draft.nearness.leads_to_one

    def is_of(number: NumberSaid) -> bool:
        """ "Net revenue of customers who ordered twice": do the rows of the number belong to those spoken of?"""
        is_theirs = [any(leads(base, head) for head in heads) for base in counted_in(draft, number)]
        return verb.negated and not behind and bool(is_theirs) and all(is_theirs)

    if own:
        is_lasting = len(own) == 1 and own[0].name != draft.default_time(own[0].owner)
        if is_lasting and not behind:  # "orders that were shipped": they have that date
            said.conditions.append(Narrowing(verb.date, "is_null", negated=not verb.negated, near=tuple(heads)))
        return is_lasting and not behind
    owners = list(dict.fromkeys(target.owner for target in verb.date.targets))
    owners = [name for name in owners if any(links(draft, head, name) for head in heads)]
    if len(owners) != 1 or not any(leads(owners[0], head) and not leads(head, owners[0]) for head in heads):
        return False
    if not all({owners[0], *heads} & counted_in(draft, number) or is_of(number) for number in draft.said.numbers):
        return False
    if behind and not verb.negated:
        behind[0].ref = behind[0].ref or verb.date
        return True
    related = Ref(verb.date.words, (Target("entity", owners[0]),))
    known = RelatedSaid(verb.head, related, clause=verb.clause)
    said.related.append(replace(known, comparison="=", value=0) if verb.negated else known)
    return True


def decide_rows(draft: QueryDraft) -> None:
    """ "What about gold customers?" after a question about revenue: whose it is, not how many of them."""
    said = draft.said
    bare = [number for number in said.numbers if number.agg is None and number.ref.entities]
    is_whose = bool(bare) and len(bare) == len(said.numbers) and bool(said.conditions) and not said.counts
    if draft.follows and draft.previous is not None and is_whose:
        said.numbers = [number for number in said.numbers if number not in bare]
        said.heads += [Ref(number.ref.words, number.ref.of("entity")) for number in bare]


_MEANS = ("avg", "median")


def decide_means(draft: QueryDraft) -> None:
    """ "Average list price per product", where each has one: the average of all. Raises Stop for sums of each."""
    said = draft.said
    own = said.per[0].entities if len(said.per) == 1 else ()
    means = [number for number in said.numbers if is_mean(draft, number)]
    owners = {name for number in means for name in counted_in(draft, number)}
    if len(own) == 1 and owners == {*own} and len(means) == len(said.numbers) and said.limit is None:
        said.groups = [one for one in said.groups if one is not said.per[0]]
        said.per.clear()
    for number in said.numbers:
        is_sum = number.agg in _MEANS and number.is_total
        if is_sum or is_mean_of_others(draft, number):
            words = number.ref.words
            message = f"I do not see whether `{words}` is that of the single rows, or what each of something adds up to"
            raise Stop(not_understood(message, f"ask for `{words}` by what you want it of", (words,)))


def is_mean(draft: QueryDraft, number: NumberSaid) -> bool:
    """Is it the average, or the median, of a column?"""
    metrics = {draft.context.metrics[target.name].agg for target in number.ref.of("metric")}
    if metrics:
        return number.agg in (None, *_MEANS) and metrics <= {*_MEANS}
    return number.agg in _MEANS and bool(number.ref.of("fact"))


def is_mean_of_others(draft: QueryDraft, number: NumberSaid) -> bool:
    """ "The average rating of businesses", which each have many: of all ratings, or of what each business has?"""
    said, own = draft.said, counted_in(draft, number)
    head = said.heads[0] if said.heads and not (said.groups or said.grain or said.ratio or said.outputs) else None
    if head is None or not head.is_plural or not own or not is_mean(draft, number) or own & {*head.entities}:
        return False
    return any(all(draft.nearness.leads_to_one(one, name) for one in own) for name in head.entities)
