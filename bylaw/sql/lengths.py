"""How long a text or a list a statement makes, told by its text alone: lengths multiply where functions are nested.

A column counts as a text of ordinary length; what only the data tells, the limits of time and memory hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from bylaw.sql.catalogue import denied

_COLUMN = 1_000
_NUMBER = 20
_PAIRS = 10_000_000  # letters of one text against those of another: about a tenth of a second
_COMPARING = frozenset(
    {"levenshtein", "damerau_levenshtein", "editdist3", "jaro_similarity", "jaro_winkler_similarity"}
)
_MAKERS = frozenset({"repeat", "pad", "lpad", "rpad", "list_resize", "generateseries"})


def check_lengths(nodes: Sequence[exp.Expr], most: int) -> None:
    """Raise GateDenied for a function that makes more than *most* letters, or compares too many of them in pairs."""
    if not any(isinstance(node, exp.Func) and _called(node) in _MAKERS for node in nodes):
        return
    long: dict[int, int] = {}
    for node in reversed(nodes):  # parts stand behind what they are part of
        long[id(node)] = _length(node, long)
        if not isinstance(node, exp.Func):
            continue
        if _called(node) in _COMPARING:
            pairs = 1
            for part in node.iter_expressions():
                pairs *= max(1, long[id(part)])
            if pairs > _PAIRS:
                raise denied("size", f"`{_called(node)}` would compare more than {_PAIRS} pairs of letters", node)
        elif long[id(node)] > most and not isinstance(node, exp.Connector):
            raise denied("size", f"`{_called(node)}` would make more than {most} at once", node)


def _length(node: exp.Expr, long: Mapping[int, int]) -> int:
    def of(part: exp.Expr | None) -> int:
        return 1 if part is None else max(1, long[id(part)])

    match node:
        case exp.Literal():
            return len(node.name) if node.is_string else _NUMBER
        case exp.Column():
            return _COLUMN
        case exp.Repeat():
            return of(node.this) * _number(node.args.get("times"))
        case exp.Pad():
            return max(of(node.this), _number(node.expression))
        case exp.Replace() | exp.RegexpReplace():
            return of(node.this) * of(node.args.get("replacement"))
        case exp.GenerateSeries():
            ends = [_number(node.args.get(key)) for key in ("start", "end")]
            return max(ends)
        case exp.Anonymous() if _called(node) in _MAKERS and len(node.expressions) > 1:
            return of(node.expressions[0]) * _number(node.expressions[1])
    parts = list(node.iter_expressions())
    if any(isinstance(part, exp.Lambda) for part in parts):
        product = 1
        for part in parts:
            product *= of(part)
        return product
    if isinstance(node, exp.AggFunc | exp.Predicate | exp.Query | exp.Length):
        return _COLUMN if isinstance(node, exp.Query) else _NUMBER
    return sum(of(part) for part in parts) if parts else 1


def _number(part: exp.Expr | None) -> int:
    try:
        return 1 if part is None else max(1, abs(int(part.sql())))
    except ValueError:
        return _COLUMN


def _called(call: exp.Expr) -> str:
    return (call.name if isinstance(call, exp.Anonymous) else call.key).lower()
