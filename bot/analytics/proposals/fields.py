"""Every field of a semantic query: who binds it, where a person sees it, and how a proposal of it is checked.

The one table of what a language model may say. A field without a row fails a test; what no row binds is refused.
`words`: words of the question stand for it. `default`: left out, the declared meaning holds and is shown. `made`: we
write it ourselves, whatever was proposed. `whole`: its parts are checked each by their own rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from bot.analytics.proposals.held import parts, unchecked, with_its_part
from bot.analytics.proposals.held_conditions import (
    any_of,
    compared_rows,
    filter_dimension,
    first_rows,
    negated,
    operator,
    related_entity,
    related_metric,
    two_moments,
    values,
)
from bot.analytics.proposals.held_numbers import (
    aggregate,
    denominator,
    descending,
    difference,
    dimensions,
    each_of,
    grain,
    hidden,
    in_percent,
    is_growth,
    limit,
    limit_by,
    measure_metric,
    measure_window,
    metrics,
    nth,
    numerator,
    only_members,
    order_by,
    periods,
    scale,
    summary_metric,
    time_dimension,
    turn,
    unit,
    with_empty,
    with_ties,
)
from bot.analytics.proposals.holding import Holding
from bylaw.semantic.query import (
    Part,
    Window,
)

Binds = Literal["words", "default", "made", "whole"]
Check = Callable[[Holding, Any, Sequence[Part]], None]


@dataclass(frozen=True, slots=True)
class Row:
    """What holds for one field. `shown` names what of the confirmation tells it."""

    binds: Binds
    shown: str
    check: Check


def hold(holding: Holding) -> None:
    """Check every field of every part. Raises Untenable."""
    for part, above in parts(holding.query):
        for name in type(part).model_fields:
            FIELDS[type(part).__name__, name].check(holding, part, above)


def _window(h: Holding, _window: Window, _above: Sequence[Part]) -> None:
    """Days come from the words: of a measure held there, of the query put in by us."""


FIELDS: Mapping[tuple[str, str], Row] = {
    # the query
    ("SemanticQuery", "metrics"): Row("words", "headline", metrics),
    ("SemanticQuery", "measures"): Row("whole", "name", unchecked),
    ("SemanticQuery", "ratios"): Row("whole", "name", unchecked),
    ("SemanticQuery", "differences"): Row("whole", "name", unchecked),
    ("SemanticQuery", "summaries"): Row("whole", "name", unchecked),
    ("SemanticQuery", "dimensions"): Row("words", "headline", dimensions),
    ("SemanticQuery", "per"): Row("words", "each", each_of),
    ("SemanticQuery", "only_members"): Row("words", "each", only_members),
    ("SemanticQuery", "filters"): Row("whole", "headline", unchecked),
    ("SemanticQuery", "window"): Row("made", "days", unchecked),
    ("SemanticQuery", "time_dimension"): Row("default", "date", time_dimension),
    ("SemanticQuery", "grain"): Row("words", "headline", grain),
    ("SemanticQuery", "with_empty"): Row("words", "empty", with_empty),
    ("SemanticQuery", "order"): Row("whole", "order", unchecked),
    ("SemanticQuery", "limit"): Row("words", "limit", limit),
    ("SemanticQuery", "limit_by"): Row("words", "limit", limit_by),
    ("SemanticQuery", "place"): Row("words", "limit", nth),
    ("SemanticQuery", "with_ties"): Row("words", "ties", with_ties),
    ("SemanticQuery", "hidden"): Row("words", "headline", hidden),
    ("Order", "by"): Row("words", "order", order_by),
    ("Order", "descending"): Row("default", "order", descending),
    # numbers
    ("Measure", "name"): Row("made", "name", unchecked),
    ("Measure", "metric"): Row("words", "name", measure_metric),
    ("Measure", "filters"): Row("whole", "name", unchecked),
    ("Measure", "window"): Row("words", "name", measure_window),
    ("Measure", "over"): Row("words", "name", turn),
    ("Measure", "periods"): Row("words", "name", periods),
    ("Measure", "scale"): Row("words", "name", scale),
    ("Measure", "unit"): Row("words", "name", unit),
    ("Ratio", "name"): Row("made", "name", unchecked),
    ("Ratio", "numerator"): Row("words", "name", numerator),
    ("Ratio", "denominator"): Row("words", "name", denominator),
    ("Ratio", "in_percent"): Row("words", "name", in_percent),
    ("Difference", "name"): Row("made", "name", unchecked),
    ("Difference", "before"): Row("words", "name", difference),
    ("Difference", "after"): Row("words", "name", with_its_part),
    ("Difference", "is_growth"): Row("words", "name", is_growth),
    ("Summary", "name"): Row("made", "name", unchecked),
    ("Summary", "agg"): Row("words", "name", aggregate),
    ("Summary", "metric"): Row("words", "name", summary_metric),
    ("Summary", "per"): Row("words", "name", each_of),
    ("Summary", "dimensions"): Row("words", "name", dimensions),
    ("Summary", "grain"): Row("words", "name", grain),
    ("Summary", "with_empty"): Row("words", "name", with_empty),
    # conditions
    ("Filter", "dimension"): Row("words", "headline", filter_dimension),
    ("Filter", "values"): Row("words", "headline", values),
    ("Filter", "operator"): Row("words", "headline", operator),
    ("Filter", "negated"): Row("words", "headline", negated),
    ("AnyOf", "any_of"): Row("words", "headline", any_of),
    ("Apart", "moment"): Row("words", "headline", two_moments),
    ("Apart", "since"): Row("words", "headline", with_its_part),
    ("Apart", "least"): Row("words", "headline", with_its_part),
    ("Apart", "most"): Row("words", "headline", with_its_part),
    ("Apart", "unit"): Row("words", "headline", with_its_part),
    ("Apart", "is_open"): Row("words", "headline", with_its_part),
    ("Apart", "same"): Row("words", "headline", with_its_part),
    ("Apart", "negated"): Row("words", "headline", negated),
    ("First", "by"): Row("words", "headline", first_rows),
    ("First", "per"): Row("words", "headline", each_of),
    ("First", "is_last"): Row("words", "headline", with_its_part),
    ("First", "filters"): Row("whole", "headline", unchecked),
    ("Related", "entity"): Row("words", "headline", related_entity),
    ("Related", "metric"): Row("words", "headline", related_metric),
    ("Related", "comparison"): Row("words", "headline", compared_rows),
    ("Related", "value"): Row("words", "headline", with_its_part),
    ("Related", "against"): Row("words", "headline", with_its_part),
    ("Related", "than"): Row("whole", "headline", unchecked),
    ("Related", "filters"): Row("whole", "headline", unchecked),
    ("Than", "metric"): Row("words", "headline", related_metric),
    ("Than", "filters"): Row("whole", "headline", unchecked),
    # days
    ("Window", "start"): Row("made", "days", _window),
    ("Window", "end"): Row("made", "days", unchecked),
    ("Window", "label"): Row("made", "days", unchecked),
}
