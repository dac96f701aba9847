"""What a word of the catalogue does where it stands: a number, grouped by, compared, related or shown."""

from __future__ import annotations

from collections.abc import Callable

from bot.analytics.reader import wording
from bot.analytics.reader.grammar.clauses import is_other, relate
from bot.analytics.reader.grammar.conditions import narrow
from bot.analytics.reader.grammar.mentions import (
    counted_rows,
    is_personal,
    names_rows,
    of_whom,
    opens_clause,
    point,
    tells_value,
    without_verb,
)
from bot.analytics.reader.grammar.numbers import (
    add_number,
    suffixes,
    takes_aggregate,
    takes_counted,
    takes_half,
    takes_number,
)
from bot.analytics.reader.grammar.places import (
    continues,
    group_follows,
    has_clause,
    is_any,
    is_asked_for,
    is_each,
    is_each_one,
    is_flag_of_others,
    is_mean_of_rows,
    is_of_column,
    is_verb,
    is_whose,
    labels_value,
    leads_to_role,
    leave_role,
    own_extreme,
    roles_of,
    stands_beside,
)
from bot.analytics.reader.grammar.scan import Scan
from bot.analytics.reader.grammar.values import takes_flag, takes_value
from bot.analytics.reader.grammar.verbs import add_done
from bot.analytics.reader.said import DoneSaid, NumberSaid, OrderSaid, Ref, RelatedSaid


def read_named(scan: Scan) -> bool:
    found = scan.mention(scan.at)
    if found is None or is_flag_of_others(scan, found[1]):
        return False
    length, ref = found
    is_counted = length == 2 and scan.word() in wording.ARTICLES and scan.counts_at(scan.at + 1) and not scan.ordering
    if is_counted and scan.word(3) not in wording.ARTICLES:
        return False  # "the number of fares", though flights have a number
    is_owner = scan.word(-1) == "of" and scan.number_ends == scan.at - 1  # "the weight of patients treated"
    is_half = scan.quotient is not None and scan.quotient.side.number is None
    is_counted = scan.counting is not None and not ref.of("entity", "metric")
    if (
        is_counted
        or (is_half and not ref.of("entity", "metric", "fact", "value", "condition"))
        or (is_owner and not ref.entities)
        or (scan.asks and length > 2 and bool(ref.of("flag")))
        or (scan.asks and length > 1 and tells_value(scan, length, ref))
    ):
        length, ref = counted_rows(scan, length, ref)
    if is_mean_of_rows(scan, length, ref):
        return False
    length, ref = without_verb(scan, length, ref)
    if ref.entities and ((is_owner and ref.is_plural) or is_whose(scan, ref)):
        ref = Ref(ref.words, tuple(t for t in ref.targets if t.kind != "dimension"), ref.near, ref.is_plural)
    first, after = scan.at, scan.at + length
    if scan.number_ends == scan.at and length == 1 and scan.word() in suffixes(scan):
        scan.at += 1  # "total revenue amount"
        return True
    if scan.here().kind == "number" and length == 1 and not any(t.name in scan.labels for t in ref.of("value")):
        return False
    if is_personal(scan, ref, first):
        scan.said.personal = scan.said.personal or ref.words
    if scan.quantity is not None and ref.of("metric", "entity") and scan.head is not None:
        again = [part.head for part in scan.said.related if set(part.entity.targets) & set(ref.targets)]
        relate(scan, RelatedSaid(again[-1] if again else scan.head, ref, *scan.quantity, scan.verb))
        scan.head = ref if ref.entities else scan.head
        scan.quantity, scan.relative, scan.at, scan.agg, scan.verb = None, False, after, None, None
        scan.say(first, after, "metric", ref.words)
        return True
    if (stakes := ref.of("stakes")) and not ref.of("value"):
        scan.said.stakes += [target.name for target in stakes]
        scan.say(first, after, "stakes", ", ".join(target.name for target in stakes))
        scan.at = after
        return True
    scan.at = after
    ref = of_whom(scan, ref)
    point(scan, ref, first, after)
    before, scan.last = scan.last, ref
    for take in TAKERS:
        scan.last = before
        if take(scan, ref, first, after):
            scan.last = ref if scan.last is before else scan.last
            return True
    scan.at = first
    return False


def takes_order(scan: Scan, ref: Ref, first: int, after: int) -> bool:
    if not scan.ordering:
        return False
    if ref.of("metric"):
        scan.said.orders.append(OrderSaid(NumberSaid(Ref(ref.words, ref.of("metric")))))
    elif ref.of("dimension", "time", "fact", "entity"):
        scan.said.orders.append(OrderSaid(ref))
    else:
        return False
    scan.say(first, after, "order", ref.words)
    return True


def takes_group(scan: Scan, ref: Ref, first: int, after: int) -> bool:
    if not scan.each:
        return False
    if scan.ranking and ref.of("metric", "fact") and not ref.of("dimension"):
        number = NumberSaid(Ref(ref.words, ref.of("metric", "fact"), ref.near))
        add_number(scan, number, first, after)
        return True
    wanted = ref.of("dimension", "entity", "time", "fact")
    behind = scan.mention(scan.at) if scan.word() not in wording.DETERMINERS else None
    is_led = not wanted and bool(ref.of("relation")) and behind is None  # "by haulier"
    is_owner = bool(ref.entities) and not ref.of("dimension") and behind is not None and bool(behind[1].entities)
    if is_led or is_owner:  # "by member country"
        scan.said.unknown.append(ref.words)  # what a relationship leads to, the form asks
        scan.each = False
        return True
    if not wanted or (scan.at_word(first - 1) == "per" and len(ref.of("fact")) == len(wanted)):
        return False  # "per click" divides by them
    if scan.normal(ref.words) == ["id"] and scan.last is not None and scan.last.entities:
        ref = Ref(ref.words, ref.targets, scan.last.entities, ref.is_plural)  # "their customer by id"
    groups = scan.said.groups if scan.quotient is None else scan.quotient.side.groups
    groups.append(Ref(ref.words, wanted, ref.near, ref.is_plural, ref.is_owned, scan.take_role(first)))
    if scan.at_word(scan.before_kinds(first) - 1) == "per":
        scan.said.per.append(groups[-1])
    elif scan.words[first - 1] in ("each", "every"):
        scan.said.each.append(groups[-1])
    scan.say(first, after, "dimension", ref.words)
    if ref.entities and not ref.of("dimension"):
        scan.head = groups[-1]
    scan.each = scan.word() in ("and", ",") and group_follows(scan)
    return True


def takes_entity(scan: Scan, ref: Ref, first: int, after: int) -> bool:
    """An entity: the other side of a relation, the rows asked for, or whom the words around speak of."""
    if not ref.entities:
        return False
    is_ranked = {scan.word(1), scan.word(2)} & wording.EXTREMES.keys()
    scan.asks |= (not ref.is_plural or bool(is_ranked)) and opens_clause(scan, first)  # "the product with the most …"
    if ref.of("dimension") and not scan.relative and (scan.asks or scan.ranking) and not has_clause(scan, ref):
        return False
    entity = Ref(ref.words, ref.of("entity"), ref.near, ref.is_plural, role=scan.take_role(first))
    if scan.relative and scan.head is not None and is_other(scan, entity):
        comparison, value, unit = scan.quantity or (("=", 0, None) if scan.negated else (">=", 1, None))
        related = RelatedSaid(scan.head, entity, comparison, value, unit, scan.verb, scan.alternative)
        relate(scan, related)
        scan.verb, scan.alternative = None, False
        scan.quantity, scan.negated, scan.relative = None, False, False
    elif scan.quantity is not None:
        return False
    elif scan.quotient is not None:
        if (
            scan.head is not None
            and is_other(scan, entity)
            and is_any(scan, ref, first)
            and not scan.quotient.speaks_of(entity)
        ):
            relate(scan, RelatedSaid(scan.head, entity))  # "papers presented at conferences"
        else:
            scan.quotient.add_entity(entity)
    elif scan.relative and scan.head is None and scan.said.numbers and not scan.agent and is_each(scan, first):
        scan.said.groups.append(entity)  # "the total amount that a customer has paid"
        scan.relative = False
    elif scan.relative and scan.head is None and scan.said.numbers and not scan.agent:
        scan.said.idle.append(entity)  # "the total that a customer paid": of one, of each?
    elif scan.ranking and scan.said.ranked is None:
        scan.said.ranked = entity
    elif scan.said.subject is None and is_asked_for(scan, entity, first):
        scan.said.subject, scan.asks = entity, False
    elif stands_beside(scan, first):
        scan.said.beside.append(entity)
    scan.agent = False
    scan.said.is_headed |= not scan.said.heads and scan.opens(first) and scan.word() in ("with", "have", "that")
    scan.said.heads.append(entity)
    scan.head = entity
    scan.say(first, after, "entity", ref.words)
    return True


def takes_attribute(scan: Scan, ref: Ref, first: int, after: int) -> bool:
    """An attribute: shown, unless a value for it follows."""
    wanted = ref.of("dimension", "time", "fact")
    if not wanted or leads_to_role(scan, ref):
        return False
    own = tuple(one for one in ref.of("dimension") if scan.head is not None and one.owner in scan.head.entities)
    if scan.negated and own and {"no", "without"} & set(scan.words[max(0, first - 2) : first]):
        scan.negated, scan.relative = False, False  # "authors with no homepage"
        narrow(scan, Ref(ref.words, own, (), ref.is_plural), "is_null", None, first, after)
        return True
    agg = wording.AGGREGATES.get(ref.words.split()[0].lower())
    is_number = (scan.at_word(first - 2), scan.at_word(first - 1)) == ("what", "be")  # "what is the total amount of …"
    if agg is not None and ref.of("fact") and (is_number or not (scan.asks or scan.relative)):
        add_number(scan, NumberSaid(ref, agg), first, after)  # "total amount": the column, and what is asked of it
        return True
    if (end := own_extreme(scan, ref, first)) is not None:
        rank = NumberSaid(Ref(ref.words, ref.of("fact"), ref.near), end, is_extreme=True)
        scan.said.descending = end == "max" if scan.said.descending is None else scan.said.descending
        add_number(scan, rank, first, after)  # "the state with the highest elevation", a column of that name
        return True
    if ref.of("time") and is_verb(scan, ref):
        scan.say(first, after, "time", ref.words)
        if scan.head is not None and scan.head.entities:
            date, verb = (Ref(ref.words, ref.of(kind)) for kind in ("time", "relation"))
            done = DoneSaid(scan.head, date, scan.negated, verb=verb)
            if scan.quotient is None:
                scan.said.done.append(done)
            else:
                scan.said.unknown.append(ref.words)
            scan.negated = False
        return True
    near = ref.near
    if not near and scan.last is not None and scan.words[first - 1] in ("and", ","):
        near = scan.last.near or scan.last.owners  # "the drug's id and name"
    elif not near and scan.last is not None and scan.words[first - 1] == "(":
        near = scan.last.entities  # "the drug (id and name)"
    named = Ref(ref.words, wanted, near, ref.is_plural)
    if scan.ranking and scan.said.ranked is None:
        scan.said.ranked = named
    elif labelled := labels_value(scan, named):
        scan.labels = labelled
    else:
        if is_of_column(scan, first) and scan.last is not None and not ref.entities:
            if scan.normal(scan.last.words) != ["name"]:
                scan.said.strays.append(named)  # "the population of the capital": a column has no columns
            elif scan.last in scan.said.outputs:
                scan.said.outputs.remove(scan.last)
        scan.said.outputs.append(named)
        if stands_beside(scan, first):
            scan.said.beside.append(named)
        opens = scan.opens(first) and scan.word() in wording.RELATIVE  # "the region with the lowest …"
        if not (scan.asks or scan.ordering or opens or continues(scan, first)):
            scan.said.strays.append(named)
    scan.say(first, after, "dimension", ref.words)
    scan.last = named
    return True


def takes_relation(scan: Scan, ref: Ref, first: int, after: int) -> bool:
    if not ref.of("relation"):
        return False
    scan.say(first, after, "relation", ref.words)
    if roles := roles_of(scan, ref):
        leave_role(scan)
        scan.role, scan.role_ends = Ref(ref.words, roles), scan.at
    if ref.words.lower().endswith(" by") and (is_each_one(scan, scan.at) or not names_rows(scan, scan.at)):
        scan.each = True  # "sold by agent id"
        add_done(scan, ref)
    else:
        scan.agent = True
    return True


Taker = Callable[[Scan, Ref, int, int], bool]

TAKERS: tuple[Taker, ...] = (
    takes_counted,
    takes_aggregate,
    takes_order,
    takes_group,
    takes_half,
    takes_flag,
    takes_value,
    takes_number,
    takes_entity,
    takes_attribute,
    takes_relation,
)
