"""What a data question says in declared words: numbers, groups, conditions, spans of time, orders and limits.

Every rule takes marks of a sentence that no rule before it took. What none takes is left over: it is shown, and nobody
guesses. A phrase that several names are called by gives a reading for each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, product

from bot.ask.matcher import arranged, conditions, moments, numbers, ratios, units
from bot.ask.matcher.listed import read_columns
from bot.ask.matcher.marks import Mark, Sentence, read_sentence
from bot.ask.matcher.parts import Draft, Part, Rule
from bylaw.hold.item import MOST_ITEMS, Item
from bylaw.hold.text import Seen
from bylaw.hold.values import Values
from bylaw.hold.words import Index, Name
from bylaw.language.lexicon import closed, stem

MOST_READINGS = 8
_MOST_SENTENCES = 12
Choice = tuple[tuple[tuple[Name, str | None], ...], ...]


def match_query(seen: Seen, values: Values, index: Index) -> Iterator[tuple[Item, ...]]:
    """The readings of a question, the likeliest first: one for each choice of the names that a phrase may be of."""
    sentences = [read_sentence(seen, one, values, index) for one in seen.text.passages[:_MOST_SENTENCES]]
    spoken = tuple(_spoken([mark for one in sentences for mark in one.marks]))
    choices = islice(product(*(_choices(one, spoken) for one in sentences)), MOST_READINGS)
    for choice in choices:
        drafts: list[Draft] = []
        for sentence, chosen in zip(sentences, choice, strict=True):
            parts = [part for one in drafts for part in one.parts]
            draft = Draft(sentence, index, chosen, any(one.kind == "asks" for one in parts), _thing_of(parts))
            for rule in RULES:
                rule(draft)
            drafts.append(draft)
        _show([part for draft in drafts for part in draft.parts])
        items = [part.item(draft.sentence) for draft in drafts for part in draft.parts]
        yield tuple(items[:MOST_ITEMS])


def _thing_of(parts: Sequence[Part]) -> str | None:
    """The thing that every row of the answer is of: what it is by, else what is listed."""
    groups = [one for one in parts if one.kind == "group"]
    things = [one.owner for one in groups if one.owner and one.name == one.owner]
    listed = [one.owner for one in parts if one.kind == "asks" and (one.name or "").startswith(("values(", "list("))]
    found = things or ([] if groups else listed)
    return found[0].partition("@")[0] if found and found[0] else None


def _spoken(marks: Sequence[Mark]) -> Iterator[frozenset[str]]:
    """The entities that are spoken of: those called by name, then those of columns that nothing else is called as."""
    names = [[name for name, _ in mark.names] for mark in marks]
    yield frozenset(name.name for these in names for name in these if name.kind == "entity")
    yield frozenset(these[0].owner or "" for these in names if len(these) == 1)


def _choices(sentence: Sentence, spoken: Sequence[frozenset[str]]) -> Iterator[Choice]:
    """Each choice of one column, or one value, for every phrase that is called so in several places."""
    return islice(product(*(_names(mark, spoken) for mark in sentence.marks)), MOST_READINGS)


def _names(mark: Mark, spoken: Sequence[frozenset[str]]) -> Sequence[tuple[tuple[Name, str | None], ...]]:
    """A phrase keeps its one name of each kind; of several columns each is another reading, spoken things first."""
    kinds: dict[str, list[tuple[Name, str | None]]] = {}
    roles: list[tuple[Name, str | None]] = []
    for name, value in mark.names:
        if "@" in name.name:  # which way leads there, the thing behind it says
            roles.append((name, value))
            continue
        kinds.setdefault("value" if value is not None else _KIND.get(name.kind, name.kind), []).append((name, value))
    near = {kind: _nearest(those, spoken) for kind, those in kinds.items()}
    return tuple((*chosen, *roles) for chosen in islice(product(*near.values()), MOST_READINGS))


def _nearest(those: list[tuple[Name, str | None]], spoken: Sequence[frozenset[str]]) -> list[tuple[Name, str | None]]:
    for owners in spoken:
        those = [one for one in those if one[0].owner in owners] or those
    return those


_KIND = {"dimension": "column", "number": "column", "date": "column"}

# ---- what is asked for where no number is


def read_rows(draft: Draft) -> None:
    """The rows that are asked for where no number and no column is; by something, their number."""
    _group_heads(draft)
    if draft.has("asks") or draft.is_asked or (draft.has("group") and draft.word(0) == "list"):
        return
    for k in draft.free("name"):
        name = draft.name(k, "entity")
        if name is not None:
            is_told = any(draft.says(one, "list") for one in range(k))
            is_bare = draft.marks[k].counted is not None and not draft.parts
            is_own = any(one.kind == "group" and one.owner == name.name for one in draft.parts)
            is_counted = (draft.has("group") and not (is_told and is_own)) or (
                (draft.has("time") or is_bare) and not is_told
            )
            asked = numbers.number_of(draft, k, name) if is_counted else f"list({name.name})"
            draft.add(Part("asks", k, k, asked, owner=name.name))
            return


def _show(parts: Sequence[Part]) -> None:
    """Rows beside which a number is asked for are what it is grouped by; where columns of the rows are asked for, these
    are shown of each, and not what rows are told apart by.
    """
    asked = [one for one in parts if one.kind == "asks"]
    shown = {one.owner for one in asked if (one.name or "").startswith("values(")}
    has_number = any(not (one.name or "").startswith(("values(", "list(")) for one in asked)
    for part in parts:
        is_list = part.kind == "asks" and part.name == f"list({part.owner})"
        if is_list and (has_number or part.owner in shown):
            part.kind, part.name = "group", part.owner
        if part.kind == "group" and part.name == part.owner and part.owner in shown:
            part.value = "each"


def _group_heads(draft: Draft) -> None:
    """What a number is of each of is what the answer is by, where it is a column and nothing else says so."""
    for having in [one for one in draft.parts if one.kind == "having"]:
        for group in [one for one in having.of if one.kind == "group"]:
            numbers_ = [one.first for one in draft.parts if one.kind == "asks"]
            if numbers_ and group.first not in draft.used and group.first < min(numbers_):
                draft.add(Part("group", group.first, group.last, group.name, owner=group.name))


def read_narrowed(draft: Draft) -> None:
    """Of several numbers each has the conditions before it, or within it, to itself: "orders and online orders"."""
    numbers_ = [
        one for one in draft.parts if one.kind == "asks" and not (one.name or "").startswith(("list(", "values("))
    ]
    for number in numbers_ if len(numbers_) > 1 else ():
        for part in [one for one in draft.parts if one.kind == "filter"]:
            if part.last + 1 == number.first or number.first <= part.first <= part.last <= number.last:
                draft.parts.remove(part)
                number.of, number.first = [*number.of, part], min(number.first, part.first)


def read_far(draft: Draft) -> None:
    """A figure of something else than what is listed or counted, and that nobody speaks of, is left over; so is a
    column of it that the rows are sorted by.
    """
    owners = {one.owner for one in draft.parts if one.kind in ("asks", "group") and one.owner}
    for part in [one for one in draft.parts if one.kind == "order" and one.owner not in (None, "time")]:
        if part.owner not in {*owners, draft.thing} and not draft.is_asked:
            draft.parts.remove(part)
            draft.used.difference_update(range(part.first, part.last + 1))
    owners |= {one.name for k in range(len(draft.marks)) if (one := draft.name(k, "entity")) is not None}
    for part in [one for one in draft.parts if one.kind == "filter" and one.operator in ("<", "<=", ">", ">=")]:
        if owners and part.owner not in owners:
            draft.parts.remove(part)
            draft.used.difference_update(range(part.first, part.last + 1))


def read_sides(draft: Draft) -> None:
    """Where columns are called by "from" and "to", a value behind one of these that is of another is left over."""
    filters = [one for one in draft.parts if one.kind == "filter" and one.owner]
    named = {one.name: draft.index.get("part", one.name or "") for one in filters}
    sided = {name for name, one in named.items() if one is not None and any(_sides(text) for text in one.texts)}
    for part in filters if sided else ():
        first = draft.marks[part.first].first
        before = draft.sentence.tokens[first - 1].word if first else ""
        if part.name not in sided and _sides(before):
            draft.parts.remove(part)
            draft.used.difference_update(range(part.first, part.last + 1))


def _sides(text: str) -> bool:
    return not {"from", "to"}.isdisjoint(text.split())


def read_roles(draft: Draft) -> None:
    """The words for the part that something plays, before what is said of it: "curated by the lab team"."""
    for i in list(draft.free("name")):
        for part in draft.parts if i not in draft.used else ():
            role = draft.role(i, part.owner) if part.owner else None
            is_next = draft.after(i) in (part.first, part.first - 1)
            if role is None or not is_next or part.kind not in ("group", "filter", "time"):
                continue
            if part.name is not None and part.name.startswith(part.owner or ""):
                part.name, part.first = part.name.replace(part.owner or "", role, 1), i
                draft.used.update((i, i + 1))
                break


def read_ways(draft: Draft) -> None:
    """The little word before a thing that several ways lead to: "to" and "from" tell which is meant."""
    for part in draft.parts:
        ways = [one for one in draft.index.of("") if one.name.startswith(f"{part.owner}@")]
        first = draft.marks[part.first].first
        if len(ways) < 2 or not first or part.name is None or not part.name.startswith(part.owner or "-"):
            continue
        word = draft.sentence.tokens[first - 1].word
        mine = [one for one in ways if word in one.texts]
        if len(mine) == 1 and part.kind in ("group", "filter"):
            part.name = part.name.replace(part.owner or "", mine[0].name, 1)


def read_beside(draft: Draft) -> None:
    """The word for the rows beside what is said of them: "gold customers", "average rating of restaurants"."""
    for part in draft.parts:
        k = part.first - 2
        column = draft.name(k, "dimension") if draft.says(k + 1, "of") and k not in draft.used else None
        if part.kind == "filter" and column is not None and part.name == column.name:  # "the city of San Francisco"
            part.first = k
            draft.used.update((k, k + 1))
        _take_label(draft, part)
    for k in list(draft.free("name")):
        entity = draft.name(k, "entity")
        if entity is None or k in draft.used:
            continue
        for part in draft.parts:
            is_own = (part.owner == entity.name or part.name in entity.kin) and not _is_of_each(draft, k, entity)
            if is_own and (draft.after(part.last) == k or draft.after(k) == part.first):
                part.first, part.last = min(part.first, k), max(part.last, k)
                draft.used.add(k)
                break


def _is_of_each(draft: Draft, k: int, entity: Name) -> bool:
    """May an average right before it be of what each thing has, or of all its rows: "average rating of shops"?"""
    tokens, i = draft.sentence.tokens, draft.before(k)
    metric = draft.name(i, "metric") if tokens[draft.marks[k].first - 1].word == "of" else None
    is_average = metric is not None and not closed("aggregating_avg").isdisjoint(draft.word(i).split())
    if metric is None or not is_average or metric.rows in (None, entity.name):
        return False
    said = {stem(word) for word in draft.word(i).split()}  # "average order value" is of orders
    return said.isdisjoint(map(stem, str(metric.rows).split("_")))


def _take_label(draft: Draft, part: Part) -> None:
    """The word behind a name that only says that it is one: "the country name", "the revenue amount"."""
    k, tokens = part.last + 1, draft.sentence.tokens
    if (
        part.kind not in ("asks", "group")
        or k >= len(draft.marks)
        or k in draft.used
        or not draft.is_one_clause(k - 1, k)
    ):
        return
    is_next = draft.marks[k - 1].last + 1 == draft.marks[k].first == draft.marks[k].last
    word = tokens[draft.marks[k].first].word
    if is_next and (word in closed("labelling") or word in closed("amounting")):
        part.last = k
        draft.used.add(k)


def read_others(draft: Draft) -> None:
    """What stands right behind a number of something else is said of those rows: "with more than 3 orders in 2025"."""
    for having in [one for one in draft.parts if one.kind == "having"]:
        heads = {(one.name or "").partition(".")[0] for one in having.of if one.kind == "group"}
        while (part := _behind(draft, having)) is not None:
            draft.parts.remove(part)
            if part.kind == "filter" and (part.owner in heads or part.any_of):  # of these, or of those: it is not told
                draft.used.difference_update(range(part.first, part.last + 1))
                break
            having.of, having.last = [*having.of, part], part.last
        for part in [one for one in draft.parts if one.kind == "filter" and one.owner not in heads]:
            if part.owner == having.owner:  # "and cancelled orders": also of each, and not of all
                draft.parts.remove(part)
                draft.used.difference_update(range(part.first, part.last + 1))


def _behind(draft: Draft, having: Part) -> Part | None:
    """The time or the condition that begins right behind."""
    k = draft.after(having.last)
    k = draft.after(k) if draft.is_role(k) or draft.says(k, "by") else k  # "a booking by phone"
    found = (one for one in draft.parts if one.kind in ("time", "filter") and one.first == k)
    return next((one for one in found if one.kind == "filter" or one.name is None), None)


def read_limits(draft: Draft) -> None:
    """ "The highest of each": so many of each, and not of all."""
    for limit in [one for one in draft.parts if one.kind == "limit"]:
        for part in [one for one in draft.parts if one.kind == "group" and one.name is not None]:
            is_asked = any((part.name or "") in (one.name or "") for one in draft.parts if one.kind == "asks")
            if draft.says(part.first, "by") and "each" in draft.word(part.first):
                if is_asked:  # the highest of each of what is asked for says nothing
                    draft.parts.remove(limit)
                    break
                limit.name = part.name
                limit.first, limit.last = min(limit.first, part.first), max(limit.last, part.last)


def read_verbs(draft: Draft) -> None:
    """Words that only ask for something to be shown before what is asked for, or say that it is there behind it."""
    for part in draft.parts:
        behind = part.last + 1
        if part.kind in ("asks", "group") and draft.says(behind, "done") and behind not in draft.used:
            part.last = behind
            draft.used.add(behind)
        k = part.first - 1
        if part.kind in ("asks", "group") and draft.says(k, "list") and k not in draft.used:
            part.first = k
            draft.used.add(k)


RULES: Sequence[Rule] = (
    arranged.read_times,
    moments.read_apart,
    arranged.read_course,
    ratios.read_ratios,
    ratios.read_shares,
    arranged.read_orders,
    arranged.read_tops,
    conditions.read_comparisons,
    numbers.read_summaries,
    conditions.read_texts,
    arranged.read_groups,
    numbers.read_numbers,
    moments.read_apart,
    moments.read_cycles,
    moments.read_days,
    conditions.read_emptiness,
    conditions.read_values,
    moments.read_growth,
    read_others,
    read_limits,
    read_narrowed,
    read_columns,
    read_rows,
    read_far,
    read_sides,
    read_beside,
    read_roles,
    read_ways,
    read_verbs,
    units.read_units,
)
