"""Where a word of the catalogue stands: what goes before it and behind it says what it is for."""

from __future__ import annotations

from bot.analytics.reader import wording
from bot.analytics.reader.grammar.mentions import rows_at
from bot.analytics.reader.grammar.scan import Scan
from bot.analytics.reader.said import Ref
from bot.analytics.reader.scope import Target
from bot.analytics.reader.verbs import is_done
from bylaw.authored.context import Aggregation


def is_each(scan: Scan, first: int) -> bool:
    """ "The total that a customer has paid": of each, where it adds up and nothing says which one is meant."""
    number = scan.said.numbers[-1]
    words = set(scan.normal(number.ref.words)) | ({"total"} if number.agg in ("sum", "count") else set())
    return scan.words[first] in ("a", "an") and bool(words & {"total", "sum"}) and not words & wording.AVERAGES


def is_each_one(scan: Scan, place: int) -> bool:
    """ "Sold by agent": each of them, where nothing says which one, or that any is meant."""
    found = rows_at(scan, place)
    if found is None or not found[1].entities or found[1].is_plural or scan.at_word(place) in wording.ARTICLES:
        return False
    after = scan.tokens[place + found[0] : place + found[0] + 1]
    return not any(token.is_proper or token.kind in ("number", "quoted") for token in after)


def stands_beside(scan: Scan, first: int) -> bool:
    """ "Claims with their dates", "policies and the agent of each": shown beside the rows that are asked for."""
    if scan.said.subject is None or scan.said.numbers:
        return False
    begin = first - 1
    while begin > 0 and scan.words[begin] in wording.DETERMINERS | {"corresponding", "respective"}:
        begin -= 1
    is_theirs = {"their", "its"} & set(scan.words[begin : scan.at])
    return scan.words[begin] in ("and", "along", "with") and bool(is_theirs or scan.words[begin] == "and")


def is_any(scan: Scan, ref: Ref, first: int) -> bool:
    """Are any rows meant, and not one that is named: "conferences", "a conference"?"""
    article = {scan.words[i] for i in range(max(0, first - 1), scan.at)} & {"a", "an", "any"}
    is_named = scan.at < len(scan.tokens) and (scan.here().kind == "quoted" or scan.word() in ("name", "named", "call"))
    return (ref.is_plural or bool(article)) and not is_named


def shares_adjective(scan: Scan, known: Ref, ref: Ref) -> Ref:
    """ "A final project or exam": the final exam, where there is one."""
    *before, _ = scan.normal(known.words)
    said = [*before[-1:], *scan.normal(ref.words)]
    found = scan.lexicon.longest_at(said, 0)
    if not before or found is None or found[0] != len(said) or not any(one.kind == "flag" for one in found[1]):
        return ref
    return Ref(ref.words, found[1], ref.near, ref.is_plural)


def tells_kind(scan: Scan, ref: Ref) -> bool:
    """ "Transaction notifications": a value right before the rows that have it, whatever else the word names."""
    if scan.word() in ("a", "an"):
        return False  # "placed an order": done, no kind of orders
    behind = scan.mention(scan.at)
    owners = {target.owner for target in ref.of("value", "flag")}
    return behind is not None and bool(owners & set(behind[1].entities))


def is_predicate(scan: Scan, ref: Ref, first: int) -> bool:
    """ "Customers placed orders", "who placed orders": what they did, and no kind of orders."""
    before = scan.words[first - 1] if first else ""
    is_behind = scan.number_ends == first or (scan.last is not None and scan.last is scan.head)
    return (before in ("who", "that", "which", "have") or is_behind) and is_other_at(scan, scan.at)


def is_other_at(scan: Scan, place: int) -> bool:
    """Are other rows named at *place* than those that are spoken of?"""
    behind = scan.mention(place)
    known = set(scan.head.entities or scan.head.owners) if scan.head is not None else set[str]()
    return behind is not None and bool(known) and bool(behind[1].entities) and not known & set(behind[1].entities)


def continues(scan: Scan, first: int) -> bool:
    """Does it go on with a row of what is asked for: "… and the name", "(id and name)"?"""
    before = scan.words[first - 1] if first else ""
    if before in ("(", "along", "with"):
        return bool(scan.said.outputs) or scan.said.subject is not None
    if before not in ("and", ",", "&") or scan.last is None:
        return False
    is_number = scan.number_ends >= first - 2
    return is_number or (scan.last in scan.said.outputs and scan.last not in scan.said.strays)


def is_of_column(scan: Scan, first: int) -> bool:
    """Does it stand behind a column and "of"? "The population of the capital", "the name of the capital"."""
    while scan.at_word(first - 1) in wording.DETERMINERS:
        first -= 1
    before = scan.last
    is_behind = before is not None and before in scan.said.outputs and not before.entities
    return (
        is_behind
        and before is not None
        and scan.at_word(first - 1) == "of"
        and scan.raw(first - 2, first - 1) == before.words.split()[-1]
    )


def own_extreme(scan: Scan, ref: Ref, first: int) -> Aggregation | None:
    """ "The state with the highest elevation": from which end rows are ranked, as the column is named."""
    while scan.at_word(first - 1) in wording.ARTICLES:
        first -= 1
    is_plain = bool(ref.of("fact")) and not ref.of("dimension", "time", "metric", "entity") and not ref.near
    is_had = scan.at_word(first - 1) in ("with", "have") and not (scan.said.numbers or scan.agg or scan.said.groups)
    is_one = not (scan.said.subject or scan.head or Ref("", ())).is_plural and "any" not in scan.words[first : scan.at]
    return wording.EXTREMES.get(scan.normal(ref.words)[0]) if is_plain and is_had and is_one else None


def is_verb(scan: Scan, ref: Ref) -> bool:
    """ "Users who joined", "sent by": a date told by its verb; without a span of time it asks for nothing."""
    words = ref.words.lower().split()
    return is_done(words[0]) or words[-1] in ("in", "on", "at", "by")


def labels_value(scan: Scan, ref: Ref) -> frozenset[str]:
    """Does a value of it stand right before or behind: "state of California", "the EU region"?"""
    names = {target.name for target in ref.of("dimension")}
    known = scan.narrowed[-1] if scan.narrowed and scan.last is scan.narrowed[-1].ref else None
    before = known.ref if known is not None else None
    if known is not None and before is not None and (shared := names & {t.name for t in before.of("value")}):
        kept = tuple(target for target in before.of("value") if target.name in shared)
        known.ref, known.is_labelled = Ref(before.words, kept, before.near), True
        return frozenset(shared)
    place = scan.at
    while scan.at_word(place) in ("of", "be", "in", "=", ":", "as", "the", "and") or (
        scan.at_word(place) in ("not",) and scan.at_word(place - 1) == "be"
    ):
        place += 1
    behind = scan.mention(place)
    return frozenset(names & {target.name for target in behind[1].of("value")}) if behind else frozenset()


def group_follows(scan: Scan) -> bool:
    place = scan.at + 1
    while place < len(scan.words) and scan.words[place] in ("and", "corresponding", "respective", "the"):
        place += 1
    if scan.at_word(place) in wording.GRAINS or scan.phrase(wording.CYCLES, place) is not None:
        return True
    found = scan.mention(place)
    return found is not None and bool(found[1].of("dimension", "entity", "time")) and not found[1].of("metric")


def roles_of(scan: Scan, ref: Ref) -> tuple[Target, ...]:
    """The relationships it may name that are one of several between the same rows: where a flight starts and ends."""
    return tuple(target for target in ref.of("relation") if target.name in scan.lexicon.roles)


def leave_role(scan: Scan) -> None:
    """A role that nothing took: of the rows asked for ("which airports do flights go to"), or of nothing here."""
    scan.said.roles += [scan.role] if scan.role is not None else []
    scan.role = None


def is_of_either(scan: Scan, counted: tuple[Target, ...]) -> bool:
    """ "Airlines with flights … how many stops do they have": those of each flight, or all of an airline together?"""
    asked = [ref for ref in (scan.said.subject, *scan.said.outputs) if ref is not None]
    if (scan.word(), scan.word(1)) != ("do", "they") or not asked or scan.head is None:
        return False
    owners = {target.owner for target in counted if target.kind == "fact"}
    return bool(owners & set(scan.head.entities)) and not owners & set(asked[0].owners)


def is_asked_for(scan: Scan, entity: Ref, first: int) -> bool:
    """Are these the rows that are asked for: before any number, or ranked by it ("the lowest rated restaurant")?"""
    numbers = scan.said.numbers
    if not numbers:
        return scan.asks and not scan.agent
    facts = numbers[-1].ref.of("fact")
    is_ranked = len(numbers) == 1 and numbers[-1].is_extreme and scan.number_ends == first
    return is_ranked and bool(facts) and {target.owner for target in facts} <= set(entity.entities)


def rows_of_condition(scan: Scan, ref: Ref, first: int, after: int) -> Ref | None:
    """ "Open shops": the rows that a value or a named condition speaks of, where its words name them too."""
    owners = {target.owner for target in ref.of("condition", "value")}
    for place in range(first + 1, after):
        found = scan.lexicon.longest_at(scan.words[place:after], 0)
        if found is not None and place + found[0] == after:
            named = Ref(scan.raw(place, after), found[1], (), True)
            return named if owners & set(named.entities) else None
    return None


def is_mean_of_rows(scan: Scan, length: int, ref: Ref) -> bool:
    """ "Average orders per day" counts orders, whatever metric "average order" names."""
    is_led = scan.word() in wording.ARTICLES  # "the average orders"
    if length != 2 + is_led or not ref.is_plural or scan.word(is_led) not in wording.AVERAGES:
        return False
    found = scan.mention(scan.at + 1 + is_led)
    return found is not None and found[0] == 1 and bool(found[1].entities)


def is_flag_of_others(scan: Scan, ref: Ref) -> bool:
    """ "How many customers are active": what these are, though "is active" is a column of other rows."""
    if scan.word() != "be" or not ref.of("flag") or scan.head is None:
        return False
    rows, behind = set(scan.head.entities), scan.mention(scan.at + 1)
    told = {target.owner for target in behind[1].of("value", "condition", "flag")} if behind is not None else set[str]()
    return rows.isdisjoint(ref.owners) and not rows.isdisjoint(told)


def has_clause(scan: Scan, ref: Ref) -> bool:
    """ "States that have airports": the rows of states, not the column of the airports."""
    is_own = set(ref.entities) & {target.owner for target in ref.of("dimension")}
    return ref.is_plural and not is_own and scan.word() in wording.RELATIVE - {"where"}


def leads_to_role(scan: Scan, ref: Ref) -> bool:
    """ "Departing from Chicago", "arrive at each airport": what stands behind has the role, and no column is named."""
    if not roles_of(scan, ref):
        return False
    place = scan.at
    while scan.at_word(place) in wording.ARTICLES:
        place += 1
    behind = scan.mention(place) if place < len(scan.tokens) else None
    if behind is None:
        return place == len(scan.tokens)
    return bool(behind[1].of("entity", "value")) and not labels_value(scan, ref)


def is_whose(scan: Scan, ref: Ref) -> bool:
    """ "The capital of the state": whose column was named right before, none of its own."""
    before = scan.last
    is_behind = before is not None and "of" in (scan.word(-1), scan.word(-2)) and before in scan.said.outputs
    return is_behind and before is not None and bool(before.near) and set(ref.entities) <= set(before.near)
