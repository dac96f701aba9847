"""What is said of a balance: "users with a balance below 100" is said of the last one that each of them has."""

from __future__ import annotations

from bot.analytics.reader.meaning.draft import QueryDraft
from bot.analytics.reader.reading import Stop, not_understood
from bylaw.authored.context import Metric
from bylaw.semantic.query import Condition, Filter, First, Related

_COMPARED = ("<", "<=", ">", ">=")


def of_last_row(draft: QueryDraft, condition: Condition) -> Condition:
    """*condition* of the last row of each owner, where it compares a balance and the owners are spoken of."""
    if not isinstance(condition, Filter) or condition.operator not in _COMPARED:
        return condition
    base, _, short = condition.dimension.partition(".")
    entity = draft.context.entities.get(base)
    facts = [fact.sql for fact in entity.facts if fact.name == short] if entity is not None else []
    for _, metric in sorted(draft.context.metrics.items()):
        if metric.entity == base and metric.expr in facts and (owner := owner_of_balance(draft, metric)) is not None:
            return last_row(draft, metric, owner, condition)
    return condition


def of_balance(draft: QueryDraft, part: Related) -> Related:
    """ "Users whose latest balance is below 100": *part*, where it compares a balance, by the last row of each."""
    metric = draft.context.metrics.get(part.metric)
    is_plain = part.against is None and part.comparison != "!=" and not part.filters
    if metric is None or metric.non_additive_dimension is None or not is_plain:
        return part
    entity = draft.context.entities[metric.entity or ""]
    facts = [fact.name for fact in entity.facts if fact.sql == metric.expr]
    if owner_of_balance(draft, metric) != part.entity or not facts:
        return part
    name = f"{entity.name}.{facts[0]}"
    operator = "in" if part.comparison == "=" else part.comparison
    condition = Filter(dimension=name, values=(part.value,), operator=operator)
    return last_row(draft, metric, part.entity, condition)


def last_row(draft: QueryDraft, metric: Metric, owner: str, condition: Filter) -> Related:
    """Those of *owner* whose last row meets *condition*. Raises Stop where a span of time is said too."""
    given = metric.non_additive_dimension
    assert given is not None and metric.entity is not None
    if draft.said.times:
        words = draft.said.times[0].span.label
        message = f"I do not see whether the balance of `{words}` is meant, or the last one"
        raise Stop(not_understood(message, "leave the span out, or ask for the balance by itself", (words,)))
    last = First(by=f"{metric.entity}.{given.name}", per=(owner,), is_last=given.window_choice == "max")
    return Related(entity=owner, metric=f"count({metric.entity})", filters=(last, condition))


def owner_of_balance(draft: QueryDraft, metric: Metric) -> str | None:
    """Whose balance it is, where those are spoken of."""
    given = metric.non_additive_dimension
    if given is None or metric.entity is None:
        return None
    said = draft.said
    counted = [number.ref for number in said.numbers if number.agg == "count"]
    refs = (said.subject, said.ranked, *said.heads, *said.groups, *counted, *(part.head for part in said.related))
    spoken = {name for ref in refs if ref is not None for name in ref.entities}
    columns = [target for ref in said.outputs for target in ref.of("dimension")]
    spoken |= {target.owner for target in columns if draft.tells_apart(target.name, target.owner)}
    for one in draft.context.entities[metric.entity].relationships:
        keys = [pair.left_column for pair in one.relationship_columns]
        if keys == list(given.window_groupings) and one.right_entity in spoken:
            return one.right_entity
    return None
