"""What a value, a named condition or a flag of the catalogue does where it stands: it narrows, or it is a verb."""

from __future__ import annotations

from bot.analytics.reader import wording
from bot.analytics.reader.grammar.clauses import begin_kind, own_clause, rows_behind
from bot.analytics.reader.grammar.conditions import narrow, narrow_value
from bot.analytics.reader.grammar.places import is_other_at, is_predicate, shares_adjective, tells_kind
from bot.analytics.reader.grammar.scan import Scan
from bot.analytics.reader.said import Ref
from bot.analytics.reader.verbs import is_done

_BEFORE_NOUNS = frozenset(("for", "except", "excluding", "without"))  # no verb follows them in this form


def takes_flag(scan: Scan, ref: Ref, first: int, after: int) -> bool:
    """ "Courses with an exam": a column of yes and no, held to be yes."""
    before = scan.words[first - 1] if first else ""
    known = scan.narrowed[-1].ref if scan.narrowed and scan.last is scan.narrowed[-1].ref else None
    continues = before in ("and", "or", ",") and known is not None and bool(known.of("flag", "condition"))
    ref = shares_adjective(scan, known, ref) if continues and known is not None else ref
    flags = ref.of("flag")
    is_had = before in ("have", "with", "without") or scan.normal(ref.words)[:1] == ["have"]
    is_held = scan.normal(ref.words)[:1] == ["be"] and before not in ("whether", "if")  # "how many of them are active"
    if not flags or not (scan.relative or scan.negated or continues or is_had or is_held):
        return False
    narrow(scan, Ref(ref.words, ref.of("dimension", "flag"), ref.near), "in", True, first, after)
    return True


def takes_value(scan: Scan, ref: Ref, first: int, after: int) -> bool:
    is_labelled = any(target.name in scan.labels for target in ref.of("value"))
    if not ref.of("value", "condition") or (ref.of("metric") and not is_labelled):
        return False
    if scan.each and is_no_group(scan, ref, first, after):
        scan.said.unknown.append(ref.words)
        scan.each = False
        return True
    is_told = any(target.name in scan.labels for target in ref.of("value")) or tells_kind(scan, ref)
    is_verb = ref.words.lower() in wording.NEUTRAL_VERBS and scan.at_word(first - 1) not in _BEFORE_NOUNS
    if is_verb and (not is_told or is_predicate(scan, ref, first)):
        return take_predicate(scan, ref, first)  # "orders placed last year", though a status has the same name
    if ref.entities and (scan.relative or scan.asks) and not ref.of("condition") and not tells_kind(scan, ref):
        return False
    if kinds := of_kind(scan, ref, first):
        ref = Ref(ref.words, ref.targets, kinds, ref.is_plural)
    if tells_kind(scan, ref):
        begin_kind(scan, ref)
        narrow_value(scan, ref, first, after)
        return True
    done = scan.lexicon.moment_at(scan.words, first)
    narrow_value(scan, ref, first, after)
    if done is not None and not is_told and not scan.narrowed[-1].negated:
        owners = {target.owner for target in scan.narrowed[-1].ref.targets}
        dates = tuple(target for target in done[1] if target.owner in owners)
        scan.narrowed[-1].done = Ref(ref.words, dates) if dates else None
    return True


def is_no_group(scan: Scan, ref: Ref, first: int, after: int) -> bool:
    """ "Open rate by newsletter": one of the kinds is no kind. "Sent by newsletter" and "by VIP customers" narrow."""
    if scan.at_word(first - 1) != "by" or is_done(scan.raw(first - 2, first - 1).lower()):
        return False
    behind = scan.mention(after)
    is_of_rows = behind is not None and bool(behind[1].entities)
    return not (is_of_rows or ref.of("dimension", "entity", "time", "fact"))


def take_predicate(scan: Scan, ref: Ref, first: int) -> bool:
    """Pass over a verb that is also the name of a value: the date that is declared to be told so, else a doubt."""
    if is_other_at(scan, scan.at):
        if first and scan.words[first - 1] == "have" and tells_kind(scan, ref):
            scan.said.doubts.append(ref.words)
        own_clause(scan)
        scan.relative = True
    return True


def of_kind(scan: Scan, ref: Ref, first: int) -> tuple[str, ...]:
    """ "Merchants with 3 active coupons": the rows behind the values are those that are active, where they can be."""
    rows = rows_behind(scan, first)
    named = rows[1].entities if rows is not None and rows[1].words != ref.words else ()
    return tuple(name for name in named if any(target.owner == name for target in ref.of("value", "condition")))
