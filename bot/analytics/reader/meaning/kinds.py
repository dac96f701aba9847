"""What holds of a kind, a column whose value many rows share: both of two rows of it, or none of all its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from bot.analytics.reader.meaning.draft import QueryDraft
from bot.analytics.reader.meaning.quantifiers import stop_at_contradiction, told_plainly
from bot.analytics.reader.reading import Stop, not_understood
from bot.analytics.reader.said import Narrowing
from bylaw.semantic.expressions import expression
from bylaw.semantic.query import Condition, Filter, Related


def of_one_kind(draft: QueryDraft, found: list[Condition]) -> list[Condition]:
    """ "Cities with both Italian and Mexican restaurants", where a city is a column of theirs: it has one of each.

    Raises Stop where no one thing has these.
    """
    said, kind = draft.said, kind_asked(draft)
    apart = at_odds(draft, found)
    if not apart:
        return found
    if kind in (None, *(one.dimension for one in apart)) or said.times or said.done:
        stop_at_contradiction(draft, found)
        words = str(apart[0].values[0]) if apart[0].values else apart[0].dimension.partition(".")[2].replace("_", " ")
        message = f"no row of `{draft.base}` is both `{words}` and something else of its kind"
        raise Stop(not_understood(message, "say `or`, or name the rows that have several of them", (words,)))
    assert kind is not None
    others = [one for one in found if one not in apart]
    metric = f"count({draft.base})"
    return [*others, *(Related(entity=kind, metric=metric, filters=(one, *others)) for one in apart)]


def none_of_kind(draft: QueryDraft, narrowing: Narrowing, condition: Filter) -> Related | None:
    """ "Food types that are not served in Miami", "cities with no Mexican restaurant": no row of theirs is so.

    None where rows are asked for, or where the condition is said of the column itself. Raises Stop where more is said.
    """
    said, kind, owner = draft.said, kind_asked(draft), condition.dimension.partition(".")[0].partition("@")[0]
    assert draft.base is not None
    if kind is None and not draft.nearness.leads_to_one(draft.base, owner):
        kind = draft.base
    if kind is None or condition.dimension == kind:
        return None
    if said.times or said.done or any(one.begins > narrowing.ends for one in said.conditions):
        words = narrowing.ref.words
        message = f"I do not see what holds for no row where `{words}` is denied"
        raise Stop(not_understood(message, "ask for one condition at a time", (words,)))
    leads = draft.nearness.leads_to_one(draft.base, owner) and draft.base != kind
    metric = f"count({draft.base if leads else owner})"
    positive = condition.model_copy(update={"negated": False})
    return Related(entity=kind, metric=metric, comparison="=", value=0, filters=(positive,))


def prefer_rows(draft: QueryDraft) -> None:
    """ "Which states have no lake above 300": of all states, not of those alone that lakes are in."""
    asked = draft.said.outputs
    if len(asked) == 1 and any(one.is_of_kind for one in draft.said.conditions):
        rows = tuple(one for one in asked[0].of("dimension") if [one.name] == draft.labels(one.owner))
        asked[0] = replace(asked[0], targets=rows) if len(rows) == 1 else asked[0]


def prefer_counted(draft: QueryDraft) -> None:
    """ "Which countries have more than one river", where all kinds of rows have a country: that of the rivers."""
    asked = draft.said.outputs
    counted = {name for part in draft.said.related for name in part.entity.entities}
    if len(asked) != 1 or len(counted) != 1 or asked[0].entities:
        return
    own = tuple(one for one in asked[0].of("dimension") if one.owner in counted)
    rows = [one for one in asked[0].of("dimension") if one.name in draft.labels(one.owner)]
    if len(own) == 1 and not rows:
        asked[0] = replace(asked[0], targets=own)


def at_odds(draft: QueryDraft, found: Sequence[Condition]) -> list[Filter]:
    """ "Both wide-body and narrow-body", "both with and without labs": two values of one column, said as conditions."""
    if "both" not in draft.text.lower().split():
        return []
    told = [(one, equality(draft, one)) for one in found if isinstance(one, Filter)]
    values = {column: {value for _, (other, value) in told if other == column} for _, (column, _) in told}
    return [one for one, (column, _) in told if len(values[column]) > 1]


def equality(draft: QueryDraft, condition: Filter) -> tuple[str, str]:
    """The column, and the value it has where a named condition holds; of any other one itself, and whether it is so."""
    owner, _, short = condition.dimension.partition(".")
    entity = draft.context.entities.get(owner)
    texts = [part.sql for part in entity.filters if part.name == short] if entity is not None else []
    tree = expression(texts[0], owner) if texts and not condition.negated else None
    if isinstance(tree, exp.EQ) and isinstance(tree.this, exp.Column):
        return tree.this.sql(), tree.expression.sql()
    plain, is_negated = told_plainly(draft, condition)
    return plain.model_dump_json(), str(is_negated)


def kind_asked(draft: QueryDraft) -> str | None:
    """The column that a list shows alone, or whose values are counted, where many rows share one; of rows these."""
    said = draft.said
    asked = [*said.outputs, *(number.ref for number in said.numbers if number.agg == "count")]
    if said.ratio is not None or len(asked) != 1 or len(said.numbers) > 1 or not asked[0].of("dimension"):
        return None
    name = draft.choose(asked[0], asked[0].of("dimension")).name
    owner = name.partition(".")[0]
    is_row = draft.tells_apart(name, owner)
    return (None if owner == draft.base else owner) if is_row else name
