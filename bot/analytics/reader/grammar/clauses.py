"""Relations: "with at least 2 cancelled orders". Whose they are, and which rows they are told of.

What narrows related rows is said of one relation alone, so each has a number: "with cancelled orders and no refunds
in May" speaks of two.
"""

from __future__ import annotations

from collections.abc import Mapping

from bot.analytics.reader import wording
from bot.analytics.reader.grammar.scan import Scan
from bot.analytics.reader.said import Ref, RelatedSaid
from bot.analytics.reader.scope import Target
from bylaw.language.units import Unit
from bylaw.semantic.query import Comparison, Operator, Value

_JOINING = ("and", "but", ",")
_ADDING_NOTHING = frozenset({"total", "different", "distinct"})
_KINDS = 12  # words that say of which kind the rows behind them are
COMPARED: Mapping[Operator, Comparison] = {"in": "=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}


def read_relation(scan: Scan) -> bool:
    word = scan.word()
    take_head(scan)
    is_clause = word in ("where", "whose", "who", "that", "which", "with", "having", "without")
    is_side = scan.quotient is not None and scan.quotient.side.number is not None
    if is_clause and (scan.head is not None or scan.said.numbers or is_side):
        if scan.head is not None and not scan.said.heads and not scan.said.numbers:
            scan.said.heads.append(scan.head)
        own_clause(scan)
        scan.relative, scan.asks = True, False
        scan.at += 1
        return True
    is_free = not scan.said.numbers or scan.number_ends == scan.at  # "how many customers have a refund"
    is_free = is_free or (scan.word(-1) in _JOINING and scan.owner is not None)  # "were treated and had an event"
    if word == "have" and scan.head is not None and is_free and not scan.counting:
        own_clause(scan)
        scan.relative = True
        scan.at += 1
        return True
    return False


def read_negation(scan: Scan) -> bool:
    is_told = scan.clause or scan.narrowed or scan.said.done or scan.said.times
    if scan.word() == "but" and is_told and scan.word(1) in wording.NOT | {"have", "with", "do"}:
        scan.at += scan.word(1) == "do"
        scan.is_none = True
        scan.at += 1  # "with orders but no refunds"
        return read_negation(scan) or read_relation(scan)
    if scan.word() not in wording.NOT:
        return False
    behind = scan.at + 1
    while scan.at_word(behind) in wording.ARTICLES:
        behind += 1
    kinds = scan.mention(behind)
    rows = rows_behind(scan, behind)
    is_of_kind = rows is not None and kinds is not None and rows[1] != kinds[1] and bool(rows[1].entities)
    if scan.word() in ("no", "without", "not"):
        goes_on = return_to_owner(scan, scan.at)
        if is_of_kind and rows is not None and is_other(scan, rows[1]):
            count_related(scan, "=", 0, scan.at)  # "no cancelled orders": none of that kind
            scan.at = behind
            return True
        is_did = scan.word(-1) == "do" or goes_on  # "did not order", "but not refunds"
        scan.relative |= scan.word() == "not" and is_did and kinds is not None and is_other(scan, kinds[1])
    scan.negated = True
    scan.denied = rows_named(scan)
    scan.relative |= scan.word() in ("no", "without")
    scan.at += 1
    while scan.word() in ("any", "a", "an", "the", "be", "have", "have", "in", "from", "our", "of"):
        scan.relative |= scan.word() in ("any", "have")
        scan.at += 1
    return True


def rows_named(scan: Scan) -> frozenset[str] | None:
    """What was named before the negation here; None of "non-", which is said of the word behind it alone."""
    if scan.word().startswith("non"):
        return None
    halves = [side.number.ref for side in scan.quotient.sides if side.number] if scan.quotient is not None else []
    refs = (*scan.said.heads, *(number.ref for number in scan.said.numbers), *halves)
    return frozenset(name for ref in refs for name in ref.entities)


def own_clause(scan: Scan) -> None:
    """Whose clause begins: of what was named last, after "and" of what the clause before it is about."""
    if scan.word(-1) in _JOINING and scan.owner is not None:
        scan.head = scan.owner
    scan.owner, scan.numbers_before = scan.head, len(scan.said.numbers)


def return_to_owner(scan: Scan, place: int) -> bool:
    """Does what begins at *place* go on with the clause before it? "With 3 orders and no refunds" is of a customer."""
    goes_on = scan.at_word(place - 1) in _JOINING and scan.owner is not None and scan.clause > 0
    if goes_on:
        scan.head = scan.owner
    return goes_on


def is_other(scan: Scan, ref: Ref) -> bool:
    """Does it name other rows than those that are spoken of?"""
    return scan.head is not None and not set(scan.head.entities or scan.head.owners) & set(ref.entities)


def open_clause(scan: Scan) -> None:
    """Related rows begin to be spoken of: what narrows them from here on is said of them alone."""
    scan.clauses += 1
    scan.clause, scan.is_opened = scan.clauses, True


def begin_kind(scan: Scan, ref: Ref) -> None:
    """A value right before related rows, "cancelled orders", is said of these and not of those before them."""
    rows = scan.mention(scan.at)
    if rows is None or scan.is_opened:
        return
    first = scan.at - len(scan.normal(ref.words))
    scan.relative |= return_to_owner(scan, first) and is_other(scan, rows[1])
    if scan.relative and is_other(scan, rows[1]):
        open_clause(scan)
        if scan.negated and scan.at_word(first - 1) not in wording.NOT:
            scan.negated, scan.quantity = False, ("=", 0, None)  # "who never made a sell transaction"


def count_related(scan: Scan, comparison: Comparison, value: Value, first: int, unit: Unit | None = None) -> None:
    """Take in how many rows of what comes are asked for. *first* is the place of the first word that says so."""
    return_to_owner(scan, first)
    scan.quantity = (comparison, value, unit)
    open_clause(scan)


def compare_number(scan: Scan, operator: Operator, value: Value, unit: Unit | None = None) -> bool:
    """ "Customers whose average order value is above 1000": the number named right before belongs to each of them."""
    numbers, owner = scan.said.numbers, scan.owner
    if isinstance(value, str) or operator not in COMPARED or owner is None or len(numbers) <= scan.numbers_before:
        return False
    between = scan.tokens[scan.number_ends : scan.begins] if scan.number_ends >= 0 else scan.tokens
    if not all(token.kind == "time" or token.text in ("be", "of", "that") for token in between):
        return False
    found = scan.lexicon.longest_at(scan.normal(owner.words), 0)
    number = numbers[-1]
    is_named = found is not None and any(target.kind in ("entity", "dimension") for target in found[1])
    is_half = scan.quotient is not None or scan.narrowing is not None
    if not is_named or is_half or number.over != "value" or number.is_extreme or number.ref.entities:
        return False
    numbers.pop()
    scan.number_ends = -1
    open_clause(scan)
    relate(scan, RelatedSaid(owner, number.ref, COMPARED[operator], value, unit, number=number))
    for time in scan.said.times:
        if any(token.span is time.span for token in between):
            time.clause = scan.clause  # "whose revenue in May is above 1000"
    scan.relative = False
    return True


def relate(scan: Scan, related: RelatedSaid) -> None:
    """Take in a condition on related rows: of the half of a ratio that is being read, of "these", or of everything."""
    if not scan.is_opened:
        open_clause(scan)
    if scan.narrowing is not None:
        scan.narrowing.related.append(related)
    elif scan.quotient is not None:
        scan.quotient.add(related)
    else:
        scan.said.related.append(related)
    related.clause = scan.clause
    scan.is_opened = False


def rows_behind(scan: Scan, place: int) -> tuple[int, Ref] | None:
    """What a number of rows is told of, past the values that say of which kind: "2 cancelled or returned orders"."""
    first, owners = place, set[str]()
    while (found := scan.mention(place, skip=_ADDING_NOTHING)) is not None and place - first < _KINDS:
        length, ref = found
        told = {target.owner for target in ref.of("value", "condition")}
        behind = place + length
        if not told or (ref.of("entity", "metric") and not told & _kinds_at(scan, behind)):
            break
        owners |= told
        place = behind + (scan.at_word(behind) in ("and", "or", ","))
    if found is None or (owners and not owners & set(found[1].entities)):
        return scan.mention(first)
    return place + found[0] - first, found[1]


def _kinds_at(scan: Scan, place: int) -> set[str]:
    """The entities that are named at *place*."""
    found = scan.mention(place)
    return set(found[1].entities) if found is not None else set()


def take_head(scan: Scan) -> None:
    """ "Customer ids that have …": the customers are spoken of."""
    if scan.head is None and scan.said.outputs and not scan.said.numbers:
        first = scan.said.outputs[0]
        scan.head = Ref(first.words, tuple(Target("entity", name) for name in first.near or first.owners))
