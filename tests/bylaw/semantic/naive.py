"""A second reading of semantic queries over the market: nested loops over rows in Python, no SQL and no joins.

It knows the market by heart (who belongs to whom, which rows never count) and nothing of the compiler.
"""

from __future__ import annotations

import calendar
import re
import statistics
from collections import defaultdict
from datetime import date, datetime, timedelta
from decimal import Decimal

COLUMNS = {
    "towns": ["town_id", "town"],
    "people": ["person_id", "name", "town_id", "joined_on", "is_tester"],
    "orders": ["order_id", "person_id", "channel", "placed_at", "paid_on", "amount", "is_void", "from_town", "to_town"],
    "lines": ["line_id", "order_id", "item_id", "quantity"],
    "items": ["item_id", "item", "kind", "price"],
    "item_tags": ["item_id", "tag_id"],
    "tags": ["tag_id", "word"],
    "tickets": ["ticket_id", "person_id", "topic", "opened_on", "minutes"],
    "balances": ["person_id", "day", "amount"],
}
ONE = {  # a row of the first has at most one of the second, by these columns
    ("people", "towns"): ("town_id", "town_id"),
    ("orders", "people"): ("person_id", "person_id"),
    ("lines", "orders"): ("order_id", "order_id"),
    ("lines", "items"): ("item_id", "item_id"),
    ("item_tags", "items"): ("item_id", "item_id"),
    ("item_tags", "tags"): ("tag_id", "tag_id"),
    ("tickets", "people"): ("person_id", "person_id"),
    ("balances", "people"): ("person_id", "person_id"),
}
WAYS = {  # how to walk from one to many
    ("people", "orders"): ["orders"],
    ("people", "lines"): ["orders", "lines"],
    ("people", "items"): ["orders", "lines", "items"],
    ("people", "tickets"): ["tickets"],
    ("orders", "lines"): ["lines"],
    ("orders", "items"): ["lines", "items"],
    ("orders", "tags"): ["lines", "items", "item_tags", "tags"],
    ("items", "tags"): ["item_tags", "tags"],
    ("tags", "items"): ["item_tags", "items"],
    ("items", "orders"): ["lines", "orders"],
    ("items", "people"): ["lines", "orders", "people"],
}
UP = {  # how to walk to one
    ("people", "towns"): ["towns"],
    ("orders", "people"): ["people"],
    ("lines", "orders"): ["orders"],
    ("lines", "items"): ["items"],
    ("lines", "people"): ["orders", "people"],
    ("tickets", "people"): ["people"],
    ("balances", "people"): ["people"],
    ("item_tags", "items"): ["items"],
    ("item_tags", "tags"): ["tags"],
}
TIMES = {"orders": "placed_at", "tickets": "opened_on", "people": "joined_on", "balances": "day"}
EXPRESSIONS = {"people.nick": "name", "people.alias": "name", "balances.owner": "person_id"}
COUNTED = {  # metric: (entity, aggregate, column, condition)
    "revenue": ("orders", "sum", "amount", None),
    "order_count": ("orders", "count", None, None),
    "web_revenue": ("orders", "sum", "amount", lambda row: row["channel"] == "web"),
    "buyers": ("orders", "count_distinct", "person_id", None),
    "average_order": ("orders", "avg", "amount", None),
    "units": ("lines", "sum", "quantity", None),
    "minutes": ("tickets", "sum", "minutes", None),
    "count(people)": ("people", "count", None, None),
    "count(orders)": ("orders", "count", None, None),
    "count(items)": ("items", "count", None, None),
    "count(tags)": ("tags", "count", None, None),
    "count(lines)": ("lines", "count", None, None),
    "count(tickets)": ("tickets", "count", None, None),
    "max(orders.amount)": ("orders", "max", "amount", None),
    "min(tickets.minutes)": ("tickets", "min", "minutes", None),
    "median(orders.amount)": ("orders", "median", "amount", None),
    "count_distinct(orders.channel)": ("orders", "count_distinct", "channel", None),
}
BETWEEN = re.compile(r"(\w+)\((\w+)\.(days|hours)\(([\w.-]+), ([\w.-]+)\)\)")
RATIOS = {"web_share": ("web_revenue", "revenue"), "revenue_per_minute": ("revenue", "minutes")}


class Naive:
    """The answers over *data*: table → rows, each a list in the order of `COLUMNS`."""

    def __init__(self, data):
        self.rows = {
            name: [dict(zip(columns, row, strict=True)) for row in data.get(name, [])]
            for name, columns in COLUMNS.items()
        }

    # ---- rows and their neighbours

    def counts(self, entity, row):
        """Is it a row that counts at all, and do all rows that it belongs to count?"""
        if row.get("is_tester") is not False and entity == "people":
            return False
        if row.get("is_void") is not False and entity == "orders":
            return False
        return all(
            self.counts(upper, found)
            for (lower, upper), _ in ONE.items()
            if lower == entity
            for found in self.beside(entity, row, upper)
        )

    def beside(self, entity, row, other):
        """The rows of a neighbouring entity."""
        if (entity, other) in ONE:
            mine, theirs = ONE[entity, other]
        else:
            theirs, mine = ONE[other, entity]
        if row[mine] is None:
            return []
        return [found for found in self.rows[other] if found[theirs] == row[mine]]

    def chains(self, entity, row, route):
        """Every way to walk the route, as {entity: row}; only over rows that count."""
        found = [{entity: row}]
        at = entity
        for step in route:
            found = [
                {**chain, step: there}
                for chain in found
                for there in self.beside(at, chain[at], step)
                if self.counts(step, there)
            ]
            at = step
        return found

    def one(self, entity, row, other):
        """The one row of another entity that a row belongs to."""
        if entity == other:
            return row
        found = self.chains(entity, row, UP[entity, other])
        return found[0][other] if found else None

    def leads(self, entity, other):
        return entity == other or (entity, other) in UP

    # ---- conditions

    def value(self, name, row):
        short = name.split(".")[1]
        return None if row is None else row[EXPRESSIONS.get(name, short)]

    def test(self, part, row):
        """What a filter, taken positively, says of a row: True, False, or None where nothing is known."""
        short = part.dimension.split(".")[1]
        if short == "large":
            return None if row is None or row["amount"] is None else row["amount"] >= 50
        if short == "early":
            return None if row is None or row["joined_on"] is None else row["joined_on"] < date(2026, 2, 1)
        value = self.value(part.dimension, row)
        if part.operator == "is_null":
            return value is None
        if value is None:
            return None
        return any(self.compared(part.dimension, part.operator, value, wanted) for wanted in part.values or (None,))

    def compared(self, name, operator, value, wanted):
        if operator == "is_weekend":
            return value.weekday() >= 5
        if isinstance(value, date):
            value = value.date() if isinstance(value, datetime) else value
            wanted = date.fromisoformat(wanted)
        wanted = int(wanted) if isinstance(wanted, Decimal) else wanted
        if operator in ("contains", "starts_with", "ends_with"):
            text, part = value.lower(), wanted.lower()
            return {"contains": part in text, "starts_with": text.startswith(part), "ends_with": text.endswith(part)}[
                operator
            ]
        if operator == "in":
            if name == "people.nick":
                return value.lower() == wanted.lower()
            return wanted.lower() in value.lower() if name == "people.alias" else value == wanted
        return {"<": value < wanted, "<=": value <= wanted, ">": value > wanted, ">=": value >= wanted}[operator]

    def apart(self, part, moment, since):
        """Is one moment as far behind the other as is asked? None where one is missing."""
        if moment is None or since is None:
            return None
        if part.same is not None:
            return period(moment, part.same) == period(since, part.same)
        if {type(moment), type(since)} == {date, datetime} or part.least == part.most:
            moment, since = day_of(moment), day_of(since)
        found = True
        if part.least is not None:
            least = later(since, part.least, part.unit)
            is_open = part.is_open and (part.least != 0 or part.most is None)
            found = found and (moment > least if is_open else moment >= least)
        if part.most is not None:
            most = later(since, part.most, part.unit)
            is_open = part.is_open and (part.most != 0 or part.least is None)
            found = found and (moment < most if is_open else moment <= most)
        return found

    def is_first(self, part, row):
        """Is there no row before it among those of the same owners?"""
        entity = part.by.split(".")[0]

        def place(one):
            at, owners = self.value(part.by, one), [self.one(entity, one, owner) for owner in part.per]
            meets = self.counts(entity, one) and all(self.holds(entity, one, other) for other in part.filters)
            return None if at is None or None in owners or not meets else (at, [id(owner) for owner in owners])

        mine = place(row)
        if mine is None:
            return False
        rivals = [found for found in map(place, self.rows[entity]) if found is not None and found[1] == mine[1]]
        return all(mine[0] >= at if part.is_last else mine[0] <= at for at, _ in rivals)

    def met(self, part, entity, row, chain):
        """What a positive condition says of the rows of a chain that begins with a row of *entity*."""
        if hasattr(part, "since"):
            ends = (name.split(".")[0] for name in (part.moment, part.since))
            one, other = (chain[owner] if owner in chain else self.one(entity, row, owner) for owner in ends)
            return self.apart(part, self.value(part.moment, one), self.value(part.since, other))
        if hasattr(part, "by"):
            owner = part.by.split(".")[0]
            there = chain[owner] if owner in chain else self.one(entity, row, owner)
            return there is not None and self.is_first(part, there)
        return self.test(part, chain[part.dimension.split(".")[0]])

    def holds(self, entity, row, condition):
        """Does one condition, alone, hold for a row?"""
        if hasattr(condition, "since") or hasattr(condition, "by"):
            owner = self.far(entity, condition.model_copy(update={"negated": False}))
            chains = [{entity: row}] if owner is None else self.chains(entity, row, WAYS[entity, owner])
            found = any(self.met(condition, entity, row, chain) is True for chain in chains)
            return not found if getattr(condition, "negated", False) else found
        if hasattr(condition, "any_of"):
            return any(self.holds(entity, row, part) for part in condition.any_of)
        if hasattr(condition, "metric"):
            return self.related(entity, row, condition)
        owner = condition.dimension.split(".")[0]
        if self.leads(entity, owner):
            known = self.test(condition, self.one(entity, row, owner))
            return (known is not True) if condition.negated else known is True
        found = any(
            self.test(condition, chain[owner]) is True for chain in self.chains(entity, row, WAYS[entity, owner])
        )
        return not found if condition.negated else found

    def typical(self, condition):
        """The average, or the median, of what all that have any rows have."""
        owner, _, short = condition.entity.partition(".")
        counted = COUNTED[condition.metric][0]
        groups = defaultdict(list)
        for other in self.rows[counted]:
            there = self.one(counted, other, owner)
            kept = self.counts(counted, other) and all(self.holds(counted, other, part) for part in condition.filters)
            if kept and there is not None and not (short and there[short] is None):
                groups[there[short] if short else id(there)].append(other)
        values = [self.number(condition.metric, rows) for rows in groups.values()]
        values = [value for value in values if value is not None]
        mean = statistics.median if condition.against == "median" else statistics.fmean
        return mean(values) if values else None

    def related(self, entity, row, condition):
        owner, _, short = condition.entity.partition(".")
        if self.leads(entity, owner):
            row = self.one(entity, row, owner)
            if row is None:
                return False
        else:
            return any(
                self.related(owner, chain[owner], condition) for chain in self.chains(entity, row, WAYS[entity, owner])
            )
        those = self.those(row, condition, condition)
        number = self.number(condition.metric, those)
        if condition.than is not None:
            others = self.those(row, condition, condition.than)
            sides = [(number, those), (self.number(condition.than.metric, others), others)]
            (more, there), (less, _) = sides if condition.comparison == ">" else reversed(sides)
            return bool(there) and more is not None and not (short and row[short] is None) and more > (less or 0)
        wanted = condition.value if condition.against is None else self.typical(condition)
        if number is None:
            number = 0 if COUNTED[condition.metric][1] == "sum" and not those else None
        if number is None or wanted is None or (condition.against and not those) or (short and row[short] is None):
            return False
        return {
            "=": number == wanted, "!=": number != wanted, "<": number < wanted, "<=": number <= wanted,
            ">": number > wanted, ">=": number >= wanted,
        }[condition.comparison]  # fmt: skip

    def those(self, row, condition, side):
        """The rows that one side of a condition on related rows counts for *row*."""
        owner, _, short = condition.entity.partition(".")
        counted = COUNTED[side.metric][0]
        return [
            other
            for other in self.rows[counted]
            if self.counts(counted, other)
            and all(self.holds(counted, other, part) for part in side.filters)
            and (self.alike(counted, other, owner, row, short) if short else self.belongs(counted, other, owner, row))
        ]

    def alike(self, entity, row, other, there, short):
        """Has it one and the same value of a column of what it belongs to?"""
        found = self.one(entity, row, other)
        return found is not None and found[short] == there[short]

    def belongs(self, entity, row, other, there):
        if self.leads(entity, other):
            return self.one(entity, row, other) is there
        return any(chain[other] is there for chain in self.chains(entity, row, WAYS[entity, other]))

    def kept(self, entity, query, *, without=()):
        """The rows of an entity that meet every condition of the query.

        Positive conditions behind the same join to many are met by one and the same row.
        """
        found = []
        for row in self.rows[entity]:
            if not self.counts(entity, row):
                continue
            together = defaultdict(list)
            is_kept = True
            for condition in query.filters:
                if condition in without:
                    continue
                owner = self.far(entity, condition)
                if owner is None:
                    is_kept = is_kept and self.holds(entity, row, condition)
                else:
                    together[WAYS[entity, owner][0]].append((owner, condition))
            for parts in together.values():
                is_kept = is_kept and self.met_by_one(entity, row, parts)
            if is_kept:
                found.append(row)
        return found

    def far(self, entity, condition):
        """The entity behind a join to many that a positive filter speaks of."""
        if getattr(condition, "negated", False):
            return None
        if hasattr(condition, "since") or hasattr(condition, "by"):
            names = (condition.moment, condition.since) if hasattr(condition, "since") else (condition.by,)
            places = {name.split(".")[0] for name in names}
            far = [place for place in sorted(places) if not self.leads(entity, place)]
            return next((place for place in far if all(self.leads(place, other) for other in far)), None)
        if not hasattr(condition, "dimension") or condition.negated:
            return None
        owner = condition.dimension.split(".")[0]
        return None if self.leads(entity, owner) else owner

    def met_by_one(self, entity, row, parts):
        longest = max((WAYS[entity, owner] for owner, _ in parts), key=len)
        tests = [part for _, part in parts]
        named = [part.dimension for part in tests if getattr(part, "operator", None) == "in"]
        if len(set(named)) < len(named):  # two values of one thing are two rows
            return all(self.holds(entity, row, part) for part in tests)
        return any(
            all(self.met(part, entity, row, chain) is True for part in tests)
            for chain in self.chains(entity, row, longest)
        )

    # ---- numbers

    def number(self, name, rows):
        if name in RATIOS:
            over, under = (self.number(part, rows[COUNTED[part][0]]) for part in RATIOS[name])
            return None if over is None or not under else float(over) / float(under)
        if between := BETWEEN.fullmatch(name):
            aggregate, values = between[1], [self.between(row, *between.groups()[1:]) for row in rows]
        else:
            _, aggregate, column, condition = COUNTED[name]
            rows = [row for row in rows if condition is None or condition(row)]
            values = [1 if column is None else row[column] for row in rows]
        values = [value for value in values if value is not None]
        match aggregate:
            case "count":
                return len(values)
            case "count_distinct":
                return len(set(values))
            case "sum":
                return sum(values) if values else None
            case "avg":
                return sum(values) / len(values) if values else None
            case "min" | "max":
                return {"min": min, "max": max}[aggregate](values) if values else None
            case "median":
                return float(statistics.median(values)) if values else None

    def between(self, row, entity, unit, *moments):
        """How long it is from one moment of a row, or of what it belongs to, to another."""
        since, until = (
            self.value(name, self.one(entity, row, name.split(".")[0])) if "." in name else date.fromisoformat(name)
            for name in moments
        )
        if since is None or until is None:
            return None
        if unit == "days":
            return (day_of(until) - day_of(since)).days
        return (midnight(until) - midnight(since)).total_seconds() / 3600

    def bases(self, name):
        return [self.base(part) for part in RATIOS.get(name, (name,))]

    def base(self, name):
        between = BETWEEN.fullmatch(name)
        return between[2] if between else COUNTED[name][0]

    def groups(self, entity, row, query):
        """Every group that a row counts for."""
        found = [()]
        if query.grain:
            at = row[TIMES[entity]]
            found = [(None if at is None else period(at, query.grain),)]
        for name in query.dimensions:
            owner = name.split(".")[0]
            if self.leads(entity, owner):
                values = {self.value(name, self.one(entity, row, owner))}
            else:
                own = [part for part in query.filters if self.far(entity, part) == owner]
                own += [part for part in query.filters if self.denies(entity, part, owner)]
                values = {
                    self.value(name, chain[owner])
                    for chain in self.chains(entity, row, WAYS[entity, owner])
                    if all(self.holds(owner, chain[owner], part) for part in own)
                }
            found = [(*group, value) for group in found for value in values]
        return found

    def denies(self, entity, part, owner):
        return hasattr(part, "dimension") and part.negated and part.dimension.split(".")[0] == owner

    def answer(self, query):
        """The rows of the answer, in no order."""
        bases = sorted({base for name in query.metrics for base in self.bases(name)})
        grouped = {base: defaultdict(list) for base in bases}
        grouping = {name.split(".")[0] for name in query.dimensions}
        for base in bases:
            own = [
                part
                for part in query.filters
                if any(self.denies(base, part, owner) and not self.leads(base, owner) for owner in grouping)
            ]
            for row in self.kept(base, query, without=own):
                if query.window and not is_within(row[TIMES[base]], query.window):
                    continue
                for group in self.groups(base, row, query):
                    grouped[base][group].append(row)
        keys = {group for base in bases for group in grouped[base]}
        is_one = len(bases) == 1
        if not query.dimensions and not query.grain:
            keys, is_one = {()}, True
        found = []
        for key in keys:
            numbers = []
            for name in query.metrics:
                if name in RATIOS:
                    numbers.append(self.ratio(name, grouped, key, is_one))
                else:
                    base = self.base(name)
                    value = self.number(name, grouped[base].get(key, []))
                    is_sum = name in COUNTED and COUNTED[name][1] == "sum"
                    numbers.append(0 if value is None and is_sum and not is_one else value)
            found.append((*key, *numbers))
        return found

    def summarized(self, query):
        """The rows of an answer whose numbers are aggregates over what each of something has."""
        part = query.summaries[0]
        base = self.base(part.metric)
        mine = defaultdict(lambda: defaultdict(list))
        for row in self.kept(base, query):
            if query.window and not is_within(row[TIMES[base]], query.window):
                continue
            owners = [self.one(base, row, place) for place in part.per]
            values = [self.value(name, self.one(base, row, name.split(".")[0])) for name in part.dimensions]
            at = row[TIMES[base]] if part.grain else None
            if None in owners or None in values or (part.grain and at is None):
                continue
            each = (*map(id, owners), *values, at and period(at, part.grain))
            for group in self.groups(base, row, query):
                mine[group][each].append(row)
        found = []
        for group, all_of_it in mine.items() if query.dimensions or query.grain else [((), mine[()])]:
            numbers = []
            for one in query.summaries:
                values = [self.number(one.metric, rows) for rows in all_of_it.values()]
                values = [value for value in values if value is not None]
                aggregate = {"avg": statistics.fmean, "median": statistics.median, "min": min, "max": max}[one.agg]
                numbers.append(float(aggregate(values)) if values else None)
            found.append((*group, *numbers))
        return found

    def ratio(self, name, grouped, key, is_one):
        halves = []
        for part in RATIOS[name]:
            value = self.number(part, grouped[COUNTED[part][0]].get(key, []))
            halves.append(0 if value is None and not is_one else value)
        over, under = halves
        return None if over is None or not under else float(over) / float(under)


def period(at, grain):
    at = at.date() if isinstance(at, datetime) else at
    match grain:
        case "day":
            return at
        case "week":
            return at - timedelta(days=at.weekday())
        case "month":
            return at.replace(day=1)
        case "quarter":
            return date(at.year, (at.month - 1) // 3 * 3 + 1, 1)
        case "year":
            return at.year


def day_of(at):
    return at.date() if isinstance(at, datetime) else at


def midnight(at):
    return at if isinstance(at, datetime) else datetime.combine(at, datetime.min.time())


def later(at, count, unit):
    """The moment moved by so many units; the last day of a month where it has no such day."""
    if unit in ("day", "week"):
        return at + timedelta(days=count * (7 if unit == "week" else 1))
    index = at.year * 12 + at.month - 1 + count * {"month": 1, "quarter": 3, "year": 12}[unit]
    year, month = divmod(index, 12)
    return at.replace(year=year, month=month + 1, day=min(at.day, calendar.monthrange(year, month + 1)[1]))


def is_within(at, window):
    at = at.date() if isinstance(at, datetime) else at
    return at is not None and window.start <= at < window.end


def month_end(day):
    return day.replace(day=calendar.monthrange(day.year, day.month)[1])
