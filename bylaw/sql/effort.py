"""How much work a statement asks for, as far as its text tells: cross joins, made-up rows, made-up letters, recursion.

What only the data tells is the plan's to say, and the limits of time and memory hold in any case.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from bylaw.sql.catalogue import common_table, denied, is_derived
from bylaw.sql.lengths import check_lengths

_FEW = 100  # rows up to which a LIMIT makes a source small
_GROWING = {"list_resize": 1}  # functions that are named only, and which argument is the length
_WIDTH = re.compile(r"\d{5,}")  # in a pattern of printf or format


@dataclass(frozen=True, slots=True)
class Limits:
    """How large a statement may be before nobody should have to read it.

    The parser in pure Python reads 40 levels of nesting, the compiled one more: below that both judge alike.
    """

    characters: int = 20_000
    nesting: int = 32
    nodes: int = 5_000
    joins: int = 25
    loose_joins: int = 1
    generated_rows: int = 1_000_000
    generated_letters: int = 1_000_000


LIMITS = Limits()


def check_effort(nodes: list[exp.Expr], limits: Limits) -> None:
    """Raise GateDenied for what is large by its text alone."""
    joins = [node for node in nodes if isinstance(node, exp.Join)]
    if len(joins) > limits.joins:
        many = f"the statement joins {len(joins)} times, {limits.joins} is the limit"
        raise denied("size", many, joins[limits.joins])
    rows = 1
    for node in nodes:
        if isinstance(node, exp.GenerateSeries):
            rows *= max(1, _series_length(node))
            if rows > limits.generated_rows:
                raise denied("size", f"the statement generates {rows} rows, {limits.generated_rows} is the limit", node)
        elif isinstance(node, exp.Select):
            _check_joins(node, limits)
        elif isinstance(node, exp.With) and node.args.get("recursive"):
            _check_recursion(node)
        elif isinstance(node, exp.Func):
            _check_growth(node, limits)
    check_lengths(nodes, limits.generated_letters)


def _check_joins(select: exp.Select, limits: Limits) -> None:
    loose = [join for join in select.args.get("joins") or () if not _links(join) and _reads_rows(join.this)]
    where = select.args.get("where")
    ties = sum(1 for part in _conjuncts(where.this) if _ties(part)) if where and loose else 0
    if len(loose) - ties > limits.loose_joins:
        raise denied("cross-join", "tables are joined without a condition between them", loose[-1])


def _check_recursion(with_: exp.With) -> None:
    """A recursive part must be narrowed by a condition over columns; the time limit is only the second line."""
    for cte in with_.expressions:
        name = cte.alias.lower()
        for table in cte.this.find_all(exp.Table):
            if table.name.lower() != name or table.db:
                continue
            step = table.find_ancestor(exp.Select)
            where = step.args.get("where") if step else None
            joins = [join for join in (step.args.get("joins") or ()) if _links(join)] if step else []
            if not isinstance(cte.this, exp.SetOperation) or not (joins or (where and where.find(exp.Column))):
                raise denied("recursion", f"the recursion of `{cte.alias}` has no condition that ends it", table)


def _check_growth(call: exp.Func, limits: Limits) -> None:
    """Functions that make a text or a list as long as they are told are told so by a number, and not by a large one."""
    letters, node = 1, call  # type: int, exp.Expr | None
    if _length_of(call) is None:
        if _is_pattern(call) and not _is_small_pattern(call):
            raise denied("size", f"the pattern of `{_called(call)}` is not one of small widths", call)
        return
    while node is not None:
        if isinstance(node, exp.Func) and (length := _length_of(node)) is not None:
            try:
                letters *= max(1, int(length.sql()))
            except ValueError:
                raise denied("size", f"how much `{_called(node)}` makes is not written as a number", node) from None
        node = node.parent
    if letters > limits.generated_letters:
        raise denied("size", f"`{_called(call)}` would make more than {limits.generated_letters} at once", call)


def _length_of(call: exp.Func) -> exp.Expr | None:
    """The argument that says how much a function makes, None for functions that make no more than they get."""
    found: exp.Expr | None = None
    if isinstance(call, exp.Repeat):
        found = call.args.get("times")
    elif isinstance(call, exp.Pad):
        found = call.expression
    elif isinstance(call, exp.Anonymous) and (at := _GROWING.get(call.name.lower())) is not None:
        found = call.expressions[at] if len(call.expressions) > at else call
    return found


def _is_pattern(call: exp.Func) -> bool:
    return isinstance(call, exp.Format) or _called(call) == "printf"


def _is_small_pattern(call: exp.Func) -> bool:
    pattern = call.this if isinstance(call, exp.Format) else next(iter(call.expressions), None)
    if not isinstance(pattern, exp.Literal) or not pattern.is_string:
        return False
    return not _WIDTH.search(pattern.name) and "*" not in pattern.name


def _called(call: exp.Func) -> str:
    if isinstance(call, exp.Pad):
        return "lpad" if call.args.get("is_left") else "rpad"
    return (call.name if isinstance(call, exp.Anonymous) else call.key).lower()


def _series_length(series: exp.GenerateSeries) -> int:
    start, end = series.args.get("start"), series.args.get("end")
    try:
        low, high = (float(part.sql()) if part is not None else 0.0 for part in (start, end))
        return int(abs(high - low))
    except (ValueError, OverflowError):
        return 1  # dates and computed bounds: the time and memory limits decide


def _links(join: exp.Join) -> bool:
    if join.args.get("using") or str(join.args.get("method") or "") in ("NATURAL", "POSITIONAL"):
        return True
    on = join.args.get("on")
    return on is not None and any(_ties(part) for part in _conjuncts(on))


def _conjuncts(condition: exp.Expr) -> Iterator[exp.Expr]:
    """What must all hold for *condition* to hold."""
    condition = condition.unnest()
    if isinstance(condition, exp.And):
        yield from _conjuncts(condition.left)
        yield from _conjuncts(condition.right)
    else:
        yield condition


def _ties(condition: exp.Expr) -> bool:
    """Does *condition* compare columns of two sources? An alternative does where each of its sides does."""
    condition = condition.unnest()
    if isinstance(condition, exp.Or):
        sides = (condition.left, condition.right)
        return all(any(_ties(part) for part in _conjuncts(side)) for side in sides)
    owners = {(column.table or column.name).lower() for column in condition.find_all(exp.Column)}
    return len(owners) > 1


def _reads_rows(source: exp.Expr) -> bool:
    """May this side of a join have many rows?"""
    if isinstance(source, exp.Subquery):
        return _has_many(source.this)
    if not isinstance(source, exp.Table):
        return False
    if isinstance(source.this, exp.Identifier) and (cte := common_table(source)) is not None:
        return _has_many(cte.this)
    return not is_derived(source)


def _has_many(query: exp.Expr) -> bool:
    """May *query* give more than a few rows? A total gives one, a short LIMIT few, written values few."""
    query = query.unnest()
    if not isinstance(query, exp.Select):
        return isinstance(query, exp.SetOperation | exp.Table)
    limit = query.args.get("limit")
    if limit is not None and limit.expression.is_int and int(limit.expression.name) <= _FEW:
        return False
    is_total = not query.args.get("group") and all(_is_total(part) for part in query.expressions)
    return bool(query.args.get("from_")) and not is_total


def _is_total(part: exp.Expr) -> bool:
    return any(not isinstance(call.parent, exp.Window) for call in part.find_all(exp.AggFunc))
