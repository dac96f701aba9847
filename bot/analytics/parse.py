"""A question, token by token → what it says. One rule a kind of phrase; the first that fits takes its words.

No word is skipped because it is not understood: what no rule takes is named as unknown. Nothing is looked up beyond
the lexicon here; which of several readings is meant is decided later, from the whole question.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from bot.analytics import wording
from bot.analytics.said import Narrowing, NumberSaid, OrderSaid, Ref, RelatedSaid, Said, TimeSaid
from bot.analytics.scope import Lexicon, Target
from bot.analytics.tokens import Token
from bot.conversation import Binding
from bylaw.authored.context import Aggregation
from bylaw.language.words import FUNCTION_WORDS, singular
from bylaw.semantic.query import Comparison, Operator, Value

V = TypeVar("V")
_NAMED = ("metric", "dimension", "time", "fact", "value", "entity", "condition", "relation")


class Parser:
    """One reading of one question; `said` and `bindings` are its result."""

    def __init__(self, tokens: tuple[Token, ...], lexicon: Lexicon, follows: bool = False) -> None:
        self.tokens = tokens
        self.lexicon = lexicon
        self.follows = follows
        self.words = [token.text if token.kind in ("word", "number", "mark") else "\0" for token in tokens]
        self.at = 0
        self.said = Said()
        self.bindings: list[Binding] = []
        self.counting: str | None = None  # the words that count, until what they count is named
        self.distinct = False
        self.agg: tuple[Aggregation, bool] | None = None
        self.over: str | None = None
        self.each = False
        self.agent = False  # "made by": who did it, no group
        self.asks = False
        self.relative = False
        self.negated = False
        self.alternative = False
        self.ranking = False  # after "top 5"
        self.quantity: tuple[Comparison, Value] | None = None
        self.comparing: tuple[Operator, Ref | None] | None = None
        self.ordering = False
        self.last: Ref | None = None  # what was named right before
        self.head: Ref | None = None  # the rows that are spoken of
        self.halves: list[NumberSaid] | None = None  # of a ratio
        self.side = 0  # which of the two is being read
        self.labels: frozenset[str] = frozenset()  # the dimension named right before its value
        self._narrowed: list[Narrowing] = []
        self.local: list[Narrowing] = []  # conditions of the number that is being read
        self.global_place = False
        self.inside: tuple[str, ...] = ()  # the related rows that are spoken of
        self.number_ends = -1  # the place behind the number named last
        self.repeated: NumberSaid | None = None
        self.part = False  # after "out of these", until something is counted
        self.narrowing: NumberSaid | None = None  # the number that this sentence is about

    def parse(self) -> Said:
        """Read everything."""
        while self.at < len(self.tokens):
            if self.at and self._here().sentence != self.tokens[self.at - 1].sentence:
                self._ends_sentence()
            if not any(rule(self) for rule in _RULES):
                self._unknown()
        self._ends_sentence()
        if self.halves and len(self.halves) == 2:
            self.said.ratio = (self.halves[0], self.halves[1])
        return self.said

    # ---- where we are

    def _here(self) -> Token:
        return self.tokens[self.at]

    def _word(self, ahead: int = 0) -> str:
        place = self.at + ahead
        return self.words[place] if 0 <= place < len(self.words) else ""

    def _raw(self, first: int, after: int) -> str:
        if first >= after:
            return ""
        raw = [token.raw for token in self.tokens[first:after]]
        return " ".join(raw)

    def _phrase(self, table: Mapping[tuple[str, ...], V], at: int | None = None) -> tuple[int, V] | None:
        """The longest phrase of *table* that begins here: its length and its row."""
        start = self.at if at is None else at
        for length in range(min(6, len(self.words) - start), 0, -1):
            key = tuple(self.words[start : start + length])
            if key in table:
                return length, table[key]
        return None

    def _starts(self, phrases: frozenset[tuple[str, ...]]) -> int:
        """How many words of one of *phrases* begin here, the longest; 0 for none."""
        return max(
            (len(phrase) for phrase in phrases if tuple(self.words[self.at : self.at + len(phrase)]) == phrase),
            default=0,
        )

    def _say(self, first: int, after: int, kind: str, name: str) -> None:
        self.bindings.append(Binding(words=self._raw(first, after), kind=kind, name=name))

    def _unknown(self) -> None:
        token = self._here()
        if token.kind != "mark":
            self.said.unknown.append(token.raw)
        self.at += 1

    def _ends_sentence(self) -> None:
        """What waits for its object and never gets one was not understood."""
        if self.negated:
            self.said.unknown.append("not")
        if self.comparing is not None or self.quantity is not None:
            self.said.unknown.append("than")
        if self.counting is not None and not self.said.numbers:
            self.said.unknown.append(self.counting)
        if self.agg is not None:
            self.said.unknown.append(self._agg_words)
        if self.halves is not None and len(self.halves) < 2:
            self.said.unknown.append("ratio")
        self.counting = self.agg = self.comparing = self.quantity = None
        self.each = self.agent = self.asks = self.relative = self.negated = self.ranking = self.ordering = False
        self.alternative = self.global_place = False
        self.narrowing, self.inside = None, ()

    # ---- rules: time, marks, literals

    def _time(self) -> bool:
        token = self._here()
        if token.kind != "time" or token.span is None:
            return False
        before = [self._word(-i) for i in (1, 2, 3)]
        if "each" in before[:2] or "every" in before[:2] or (before[0] == "the" and "each" in before):
            unit = next((grain for word, grain in wording.GRAINS.items() if word in token.text), None)
            if unit:
                self.said.grain = unit
                self._say(self.at, self.at + 1, "grain", unit)
        is_date = self.last is not None and bool(self.last.of("time"))
        ref = self.last if is_date else None
        if ref is not None and ref in self.said.outputs:
            self.said.outputs.remove(ref)
        near = (self.head.entities or self.head.owners) if self.head else ()
        self.said.times.append(TimeSaid(token.span, ref, near))
        self._say(self.at, self.at + 1, "time", token.span.label)
        self.at += 1
        self.each = False
        return True

    def _mark(self) -> bool:
        if self._here().kind != "mark" or self._word() in (">", "<", ">=", "<=", "=", "!="):
            return False
        self.at += 1
        return True

    def _literal(self) -> bool:
        """A quoted text or a number: the value of what was named before it, or of what is named behind it."""
        token = self._here()
        if token.kind not in ("quoted", "number"):
            return False
        value: Value | None = token.text if token.kind == "quoted" else token.number
        if value is None:
            return False
        if self.comparing is not None:
            return self._compared(value)
        if token.kind == "quoted" and self._word(1) == "in" and self._word(-1) in ("have", "with", "contain"):
            inside = self._mention(self.at + 2)
            if inside is not None and inside[1].of("dimension"):
                self._narrow(inside[1], "contains", value, self.at, self.at + 2 + inside[0])
                return True
        behind = self._mention(self.at + 1) if token.kind == "quoted" else None
        if behind is not None and behind[1].of("dimension", "entity"):
            length, ref = behind
            self._narrow(ref, "in", value, self.at, self.at + 1 + length)
            self.head = ref if ref.entities else self.head
            return True
        named = self.last
        if named is None or not named.of("dimension", "fact", "entity"):
            return False
        if token.kind == "quoted" or not named.entities:
            self._narrow(named, "in", value, self.at, self.at + 1)
            return True
        return False

    def _compared(self, value: Value) -> bool:
        """The other side of a comparison: a value for what was named, or a quantity of what comes."""
        assert self.comparing is not None
        operator, ref = self.comparing
        first = self.at
        after = self._phrase(wording.AFTERWARDS, self.at + 1)
        if operator == "in" and after is not None:
            operator, first = after[1], self.at + after[0]
        if isinstance(value, str) and operator in ("<", "<=", ">", ">="):
            return False
        follows = self._mention(first + 1, skip=frozenset({"total", "different", "distinct"}))
        is_quantity = not isinstance(value, str) and follows is not None and bool(follows[1].of("entity", "metric"))
        if (
            is_quantity
            and operator in ("<", "<=", ">", ">=", "in")
            and (ref is None or not ref.of("fact", "dimension"))
        ):
            self.quantity = ("=" if operator == "in" else operator, value)
            self.comparing = None
            self.at = first + 1
            return True
        if ref is None:
            return False
        self.comparing = None
        self.at = first
        self._narrow(ref, operator, value, first, first + 1)
        return True

    def _quantity_first(self) -> bool:
        """ "3 or more papers": a bare number before what is counted."""
        token = self._here()
        value = token.number if token.kind == "number" else wording.NUMBERS.get(token.text)
        if value is None or self.comparing is not None:
            return False
        after = self._phrase(wording.AFTERWARDS, self.at + 1)
        if after is None and not self.relative:
            return False
        length, operator = after if after is not None else (0, "in")
        if self.last is not None and self.last.of("fact") and not self.last.entities:
            self._narrow(self.last, operator, value, self.at, self.at + 1 + length)
            return True
        follows = self._mention(self.at + 1 + length)
        if follows is None or not follows[1].entities:
            return False
        self.quantity = ("=" if operator == "in" else operator, value)  # type: ignore[assignment]
        self.at += 1 + length
        return True

    def _comparison(self) -> bool:
        found = self._phrase(wording.COMPARISONS)
        if found is None:
            if self._word() == "!=" and self.last is not None:
                self.negated, self.comparing = True, ("in", self.last)
                self.at += 1
                return True
            return False
        length, operator = found
        place = self.at + length
        while place < len(self.words) and self.words[place] in (
            "the",
            "a",
            "an",
            "of",
            "letter",
            "be",
            "or",
            "value",
            "with",
        ):
            place += 1
        if place >= len(self.tokens) or self.tokens[place].sentence != self._here().sentence:
            return False
        token = self.tokens[place]
        number = token.number if token.kind == "number" else wording.NUMBERS.get(token.text)
        if token.kind == "quoted" or (number is not None and operator not in ("starts_with", "ends_with")):
            value: Value | None = token.text if token.kind == "quoted" else number
        elif (operator in ("starts_with", "ends_with", "contains", "in") and token.is_proper) or (
            operator in ("starts_with", "ends_with") and token.kind == "word" and len(token.text) == 1
        ):
            value = token.raw
        else:
            return False
        ref = self.last if self.last is not None and self.last.of("dimension", "fact", "time", "entity") else None
        if ref is None and operator in ("in", "starts_with", "ends_with", "contains"):
            ref = self.head
        self.comparing = (operator, ref)
        self.at = place
        if value is not None and self._compared(value):
            return True
        self.comparing = None
        return False

    def _narrow(self, ref: Ref, operator: Operator, value: Value | None, first: int, after: int) -> None:
        """Take in a condition; what it is said of is no output."""
        if ref in self.said.outputs and not self._is_returned(ref):
            self.said.outputs.remove(ref)
        near = ref.near or ((self.head.entities or self.head.owners) if self.head is not None else ())
        values = () if value is None else (value,)
        narrowing = Narrowing(ref, operator, values, self.negated, self.alternative, near)
        narrowing.inside = self.inside
        before = self.words[first - 1] if first else ""
        narrowing.towards = before if before in ("from", "to") else ""
        self._narrowed.append(narrowing)
        known = self._same(narrowing)
        if known is not None:
            known.values = tuple(dict.fromkeys((*known.values, *values)))
        elif self.narrowing is not None:
            self.narrowing.conditions.append(narrowing)
        elif self.halves is not None and not self.global_place:
            self.local.append(narrowing)
            if self.halves and not self.counting and self.agg is None:
                self.halves[-1].conditions.append(self.local.pop())
        else:
            self.said.conditions.append(narrowing)
        said = f"{ref.words} {'not ' if self.negated else ''}{operator} {value}" if value is not None else ref.words
        self._say(first, after, "filter", said)
        self.negated = self.alternative = False
        self.last = ref
        self.at = max(self.at, after)

    def _is_returned(self, _: Ref) -> bool:
        return False

    def _same(self, new: Narrowing) -> Narrowing | None:
        """The condition before, where the new one only adds a value to it: "US and Canada", "grade A or C"."""
        known = self.said.conditions[-1] if self.said.conditions else None
        if known is None or known.operator != "in" or new.operator != "in" or known.negated != new.negated:
            return None
        names = {target.name for target in known.ref.of("value", "dimension")}
        same = names & {target.name for target in new.ref.of("value", "dimension")}
        return known if same and known.values and new.values else None

    # ---- rules: what asks

    def _noise(self) -> bool:
        """How somebody would write the SQL, and that case does not matter: it changes nothing here."""
        if length := self._starts(wording.MATCHING):
            self.at += length
            return True
        if length := self._starts(wording.HINTS):
            sentence = self._here().sentence
            while self.at < len(self.tokens) and self._here().sentence == sentence and self._word() != ",":
                self.at += 1
            return True
        if length := self._starts(wording.EMPTY_TOO):
            self.said.with_empty = True
            sentence = self._here().sentence
            while self.at < len(self.tokens) and self._here().sentence == sentence:
                self.at += 1
            return True
        return False

    def _definition(self) -> bool:
        """ "Where total loss is the sum of payments and reserves": what the catalogue says of the metric anyway."""
        word = self._word()
        if word not in ("where", "which", "and") or (word == "and" and not self.said.definitions):
            return False
        place = self.at + 1
        defined = self._mention(place) if word != "which" else None
        if defined is not None and defined[1].of("metric"):
            place += defined[0]
            names = defined[1].of("metric")
        elif word == "which" and self.said.numbers and self.number_ends >= self.at - 1:
            names = self.said.numbers[-1].ref.of("metric")
        else:
            return False
        if not names or place >= len(self.words) or self.words[place] != "be":
            return False
        place += 1
        said: list[Target] = []
        sentence = self._here().sentence
        while place < len(self.tokens) and self.tokens[place].sentence == sentence:
            found = self._mention(place)
            if found is not None and found[1].of("metric", "fact", "entity"):
                said.append(found[1].targets[0])
                self.said.definitions.append((names, found[1]))
                place += found[0]
            elif self.words[place] in wording.DEFINING:
                place += 1
            else:
                break
        if not said:
            return False
        self.at = place
        return True

    def _order(self) -> bool:
        if self._here().raw.casefold() in wording.ORDERING and (
            self._word(1) == "by" or self._direction_at(1) or self._word(1) == "in"
        ):
            self.ordering = True
            self.at += 2 if self._word(1) in ("by", "in") and not self._direction_at(1) else 1
            return True
        return False

    def _direction_at(self, ahead: int) -> tuple[int, bool] | None:
        return self._phrase(wording.DIRECTIONS, self.at + ahead)

    def _direction(self) -> bool:
        found = self._direction_at(0)
        if found is None:
            return False
        length, descending = found
        if self.said.orders and self.ordering:
            self.said.orders[-1].descending = descending
        else:
            self.said.descending = descending
        self._say(self.at, self.at + length, "order", "descending" if descending else "ascending")
        self.at += length
        self.ordering = False
        return True

    def _of_these(self) -> bool:
        """ "How many of these were on weekends", "out of these, how many …": the number before, for some of its rows."""
        length = self._starts(wording.PRONOUNS_OF_ALL)
        if not length or not self.said.numbers:
            return False
        self.at += length
        if self.counting is not None:
            self._repeat()
        else:
            self.part = True
        return True

    def _repeat(self) -> None:
        known = self.said.numbers[-1]
        again = NumberSaid(known.ref, known.agg, known.distinct)
        self.said.numbers.append(again)
        self.narrowing = self.repeated = again
        self.counting, self.part = None, False

    def _frequent(self) -> bool:
        """ "The most common reason": ranked by how many rows have it."""
        length = self._starts(wording.FREQUENT)
        if not length:
            return False
        self.said.is_frequent = self.said.is_ranking = self.ranking = True
        self.said.descending = True
        self._say(self.at, self.at + length, "order", "descending")
        self.at += length
        return True

    def _unit(self) -> bool:
        """ "In kg": the unit that the number must have anyway; whether it has is checked when it is known."""
        if (
            self._word() != "in"
            or self._word(1) not in wording.UNITS
            or (self._word(1) in wording.GRAINS and not self.said.numbers)
        ):
            return False
        self.said.units.append(self._word(1))
        self.at += 2
        return True

    def _rows(self) -> bool:
        """ "Price records", "in the database": rows are what everything is about."""
        if self._word() not in wording.ROWS and not (self._word() in wording.DISTINCT and not self.counting):
            return False
        if self._word() == "count" or self.lexicon.longest_at(self.words[self.at : self.at + 2], 0):
            return False
        self.at += 1
        return True

    def _bare_count(self) -> bool:
        """ "… and their counts": how many rows, where nothing else says it."""
        if self._word() not in ("count", "counts") or self._word(1) == "of":
            return False
        self.said.is_frequent |= not self.said.numbers
        self.at += 1
        return True

    def _ratio(self) -> bool:
        if self._word() in ("ratio", "proportion") and self._word(1) in ("of", "between"):
            self.halves, self.local, self.side = [], [], 0
            self.at += 2
            return True
        if (
            self.halves
            and len(self.halves) == 1
            and self._word() in ("to", "and", "/")
            and self._word(1) not in ("be",)
        ):
            self.local, self.side = [], 1
            self.at += 1
            return True
        return False

    def _counts(self) -> bool:
        length = self._starts(wording.COUNTING)
        if not length or (self._word() == "count" and length == 1 and self.at and self._word(-1) not in ("", ",")):
            return False
        self.counting = self._raw(self.at, self.at + length)
        self.said.counts = True
        self.agg = None if self.agg is None or not self.agg[1] else self.agg
        self.at += length
        if self.part:
            self._repeat()
            return True
        while self._word() in wording.DISTINCT | wording.ARTICLES | {"total"} and not self._starts(
            wording.PRONOUNS_OF_ALL
        ):
            self.distinct |= self._word() in wording.DISTINCT
            self.at += 1
        return True

    def _weekend(self) -> bool:
        for phrases, negated in ((wording.WEEKENDS, False), (wording.WEEKDAYS, True)):
            if length := self._starts(phrases):
                ref = self.last if self.last is not None and self.last.of("time") else Ref("weekend", ())
                self.negated ^= negated
                self._narrow(ref, "is_weekend", None, self.at, self.at + length)
                return True
        return False

    def _extent(self) -> bool:
        """Changes against the period before, and running totals."""
        for phrases, over in ((wording.RUNNING, "running"), (wording.CHANGES, "change")):
            if length := self._starts(phrases):
                self.over = over
                self._say(self.at, self.at + length, "calculation", over)
                self.at += length
                if self._word() in ("change", "growth", "difference"):
                    self.over = "growth" if self._word() == "growth" else over
                    self.at += 1
                if over == "change" and self.said.numbers:
                    base = self.said.numbers[-1]
                    self.said.numbers.append(NumberSaid(base.ref, base.agg, base.distinct, self.over))  # type: ignore[arg-type]
                    self.over = None
                return True
        return False

    def _top(self) -> bool:
        """ "Top 5", "first 3", "the 3 most": how many, and from which end."""
        word, following = self._word(), self._word(1)
        number = self.tokens[self.at + 1].number if self.at + 1 < len(self.tokens) else None
        number = number if number is not None else wording.NUMBERS.get(following)
        if (
            word in ("top", "bottom", "first", "last", "best", "worst")
            and isinstance(number, int)
            and 0 < number <= 1_000
        ):
            self.said.limit = number
            self.at += 2
            descending = wording.EXTREMES[word] == "max"
        elif word in ("top", "bottom"):
            self.at += 1
            descending = word == "top"
        else:
            return False
        self.said.descending = descending
        self.said.is_ranking = self.ranking = True
        self._say(self.at - 2, self.at, "order", "descending" if descending else "ascending")
        if length := self._starts(wording.FREQUENT):
            self.said.is_frequent = True
            self.at += length
        elif self._word() in wording.RANKING | {"selling", "frequently", "frequent", "used", "common", "popular"}:
            while self._word() in wording.RANKING | {"selling", "frequently", "frequent", "used", "common", "popular"}:
                self.at += 1
        return True

    def _aggregate(self) -> bool:
        """ "Total", "average", "highest": the next thing named is added up, averaged, or ranked by."""
        word = self._word()
        agg = wording.AGGREGATES.get(word) or wording.EXTREMES.get(word)
        if agg is None or (word in wording.AMBIGUOUS_EXTREMES and not self._leads_to(("time", "fact"))):
            return False
        if word in ("overall", "total", "combined") and not self._leads_to(_NAMED):
            if word == "overall" or self._word(1) in ("number", "count"):
                self.at += 1
                return True
        if word in ("most", "fewest", "least"):
            self.counting = self._here().raw
        self._agg_words = self._here().raw
        self.agg = (agg, word in wording.EXTREMES)
        self.at += 1
        while self._word() in wording.ARTICLES | {"of", "total", "number"} and self._word() != "number":
            self.at += 1
        return True

    _agg_words = ""

    def _leads_to(self, kinds: tuple[str, ...]) -> bool:
        found = self._mention(self.at + 1)
        return found is not None and any(target.kind in kinds for target in found[1].targets)

    def _each(self) -> bool:
        word = self._word()
        if (word, self._word(1), self._word(2)) == ("in", "term", "of"):
            self.at += 3
            self.each = True
            return True
        if word in ("split", "broken", "grouped", "group", "break", "breakdown") and "by" in (
            self._word(1),
            self._word(2),
        ):
            self.at += 2 if self._word(1) == "by" else 3
            self.each = True
            return True
        if word == "within" and self._word(1) == "each":
            self.at += 2
            self.each = True
            return True
        if word not in wording.BY:
            return False
        before = self._word(-1)
        if (
            word == "by"
            and (before in wording.NEUTRAL_VERBS or (self.last and self.last.of("relation")))
            and self._word(1) != "each"
            and self._names_rows()
        ):
            self.agent = True
            self.at += 1
            return True
        if word == "across" and self._word(1) == "all":
            self.agent = True  # over everything, so no group
            self.at += 2
            return True
        if word == "by" and self._word(1) != "each" and self._is_told_apart():
            self.agent = True
            self.at += 1
            return True
        self.each = True
        if word in ("each", "every") and self._word(-1) == "do":
            self.said.with_empty = True  # "how many did each sell": none is an answer too
        self.at += 1
        return True

    def _names_rows(self) -> bool:
        """Does an entity follow, and no column of one?"""
        found = self._mention(self.at + 1)
        return found is not None and bool(found[1].entities)

    def _is_told_apart(self) -> bool:
        """ "By users who joined last year": whose rows they are, no group."""
        found = self._mention(self.at + 1)
        if found is None or not found[1].entities:
            return False
        return self._word(1 + found[0]) in wording.RELATIVE | {"from", "in", "living", "located", "named"}

    def _all_of(self) -> bool:
        """ "For all customers": those without any row too."""
        if self._word() == "all" and self._word(-1) in ("for", "of") and self.said.numbers:
            found = self._mention(self.at + 1)
            if found is not None and found[1].entities and found[1].is_plural:
                self.said.with_empty = True
                self.each = True
                self.at += 1
                return True
        return False

    def _grain(self) -> bool:
        word = self._word()
        if word not in wording.GRAINS:
            return False
        behind = self.at + (2 if self._word(1) == "of" else 1)
        is_led = self.each or self._word(-1) == "each"
        if behind < len(self.tokens) and self.tokens[behind].kind == "time" and not is_led:
            self.at = behind  # "the year 2021", "in the month of April"
            return True
        is_named = self.lexicon.longest_at([word], 0) is not None
        if self.ordering:
            self.said.orders.append(OrderSaid(wording.GRAINS[word]))
            self.at += 1
            return True
        if (word in wording.ADVERBS and not is_named) or self.each:
            if self.each and is_named:
                return False
            grain = wording.GRAINS[word]
            self.said.grain = grain
            self._say(self.at, self.at + 1, "grain", grain)
            if self._word(-1) != "and":
                self.each = self._word(1) in ("and", ",") and self.each
            self.at += 1
            return True
        if self.said.grain == wording.GRAINS[word] and not is_named:
            self.at += 1
            return True
        is_asked = self._word(-1) in wording.WHICH or self._word(1) in ("", ",", "and", "\0")
        if self.asks and not is_named and is_asked:
            self.said.grain = wording.GRAINS[word]
            self._say(self.at, self.at + 1, "grain", wording.GRAINS[word])
            self.at += 1
            return True
        return False

    def _over_time(self) -> bool:
        if self._word() == "over" and self._word(1) == "time":
            self.said.grain = self.said.grain or "month"
            self._say(self.at, self.at + 2, "grain", "month")
            self.at += 2
            return True
        return False

    def _negation(self) -> bool:
        if self._word() not in wording.NOT:
            return False
        self.negated = True
        self.relative |= self._word() in ("no", "without")
        self.at += 1
        while self._word() in ("any", "a", "an", "the", "be", "have", "have", "in", "from", "our"):
            self.relative |= self._word() in ("any", "have")
            self.at += 1
        return True

    def _relation(self) -> bool:
        word = self._word()
        if self.head is None and self.said.outputs and not self.said.numbers:
            first = self.said.outputs[0]  # "customer ids that have …": the customers
            self.head = Ref(first.words, tuple(Target("entity", name) for name in first.near or first.owners))
        if word in ("where", "whose", "who", "that", "which", "with", "having", "without") and self.head is not None:
            if word in ("who", "which") and self._starts_clause():
                return False
            self.relative, self.asks = True, False
            self.at += 1
            return True
        if word == "have" and self.head is not None and not self.said.numbers[-1:] and not self.counting:
            self.relative = True
            self.at += 1
            return True
        return False

    def _starts_clause(self) -> bool:
        return self.at == 0 or self.tokens[self.at - 1].sentence != self._here().sentence

    def _asking(self) -> bool:
        word = self._word()
        if word not in wording.ASKING | wording.WHICH:
            return False
        if word in wording.WHICH and not (
            self._starts_clause() or self._word(-1) in ("and", ",", "of", "in", "for", "tell")
        ):
            return False
        self.asks = word not in wording.WISHES or self._word(1) not in ("a", "an")
        self.at += 1
        return True

    def _or(self) -> bool:
        word = self._word()
        if word not in ("or", "and"):
            return False
        if word == "or" and not (
            self.said.conditions or self.local or self.comparing or self._leads_to(("condition",))
        ):
            return False
        self.alternative = word == "or"
        self.at += 1
        return True

    def _filler(self) -> bool:
        word = self._word()
        if word in ("in", "for", "within", "during", "at") and self.halves is not None and len(self.halves) == 2:
            self.global_place = True
        if word in wording.FILLERS or word in wording.NEUTRAL_VERBS or (self.follows and word in wording.FOLLOWING):
            if word in ("i", "my") and self._word(1) not in wording.WISHES:
                return False
            if word == "total" and self._word(-1) not in wording.FILLERS:
                return False
            if word in wording.PLACES:
                self.asks = False  # what is asked for has been said
            self.at += 1
            return True
        return False

    # ---- rules: what is named

    def _mention(self, at: int, skip: frozenset[str] = frozenset()) -> tuple[int, Ref] | None:
        """The longest phrase of the catalogue from place *at* on: how many tokens with what is skipped, and it."""
        start = at
        while at < len(self.words) and (
            (self.words[at] in wording.DETERMINERS and not self._is_letter(at)) or self.words[at] in skip
        ):
            if self.lexicon.longest_at(self.words[at : at + 4], 0) and self.words[at] not in FUNCTION_WORDS:
                break
            at += 1
        if at >= len(self.tokens) or self.tokens[at].kind not in ("word", "number"):
            return None
        if self.words[at] in wording.GRAINS and self._is_time(at + 1):
            return None  # "the year 2021"
        end = at
        sentence = self.tokens[at].sentence
        while (
            end < len(self.tokens)
            and self.tokens[end].kind in ("word", "number")
            and self.tokens[end].sentence == sentence
        ):
            end += 1
        found = self.lexicon.longest_at(self.words[at:end], 0)
        if found is None:
            return self._shared_word(at, end, start)
        length, targets = found
        targets = tuple(target for target in targets if not self._is_small_word(target, at, length))
        if not targets:
            return None
        raw = self.tokens[at + length - 1].raw
        is_plural = singular(raw.casefold()) != raw.casefold()
        return at + length - start, Ref(self._raw(at, at + length), targets, (), is_plural)

    def _is_time(self, at: int) -> bool:
        at += 1 if at < len(self.words) and self.words[at] == "of" else 0
        return at < len(self.tokens) and self.tokens[at].kind == "time"

    def _shared_word(self, at: int, end: int, start: int) -> tuple[int, Ref] | None:
        """ "First and last name": the word that two phrases share stands once."""
        if end - at < 4 or self.words[at + 1] != "and":
            return None
        second = self.lexicon.longest_at(self.words[at + 2 : end], 0)
        if second is None or second[0] < 2:
            return None
        shared = self.words[at + 1 + second[0]]
        first = self.lexicon.longest_at([self.words[at], shared], 0)
        if first is None or first[0] != 2:
            return None
        return at + 1 - start, Ref(f"{self.tokens[at].raw} {shared}", first[1])

    def _is_letter(self, at: int) -> bool:
        """ "A" in capitals inside a sentence is a grade, no article."""
        is_first = at == 0 or self.tokens[at - 1].sentence != self.tokens[at].sentence
        return self.tokens[at].raw == "A" and not is_first

    def _is_small_word(self, target: Target, at: int, length: int) -> bool:
        """A value that looks like an article ("A") is one only where it is written exactly so."""
        if any(word not in FUNCTION_WORDS for word in self.words[at : at + length]):
            return False
        return target.kind != "value" or self._raw(at, at + length) != str(target.value) or self._starts_clause()

    def _named(self) -> bool:
        found = self._mention(self.at)
        if found is None:
            return False
        length, ref = found
        if self.counting is not None and not ref.of("entity", "metric"):
            length, ref = self._counted_rows(length, ref)
        first, after = self.at, self.at + length
        if self.number_ends == self.at and length == 1 and self._word() in wording.SUFFIXES:
            self.at += 1  # "total revenue amount"
            return True
        if self._here().kind == "number" and length == 1 and not any(t.name in self.labels for t in ref.of("value")):
            return False
        if self._is_doing(ref, length):
            self.at += length
            return True
        if all(target.kind == "personal" for target in ref.targets):
            self.said.personal = self.said.personal or ref.words
        if self.quantity is not None and ref.of("metric", "entity") and self.head is not None:
            self._relate(RelatedSaid(self.head, ref, *self.quantity))
            self.quantity, self.relative, self.at, self.agg = None, False, after, None
            self._say(first, after, "metric", ref.words)
            return True
        if stakes := ref.of("stakes"):
            self.said.stakes += [target.name for target in stakes]
            self._say(first, after, "stakes", ", ".join(target.name for target in stakes))
            self.at = after
            return True
        self.at = after
        ref = self._of_whom(ref)
        before, self.last = self.last, ref
        for take in _TAKERS:
            self.last = before
            if take(self, ref, first, after):
                self.last = ref if self.last is before else self.last
                return True
        self.at = first
        return False

    def _of_whom(self, ref: Ref) -> Ref:
        """ "Name of the instructor": the entity behind `of` says whose attribute it is."""
        if (
            not ref.of("dimension", "fact", "time")
            or ref.entities
            or self._word() not in ("of", "for")
            or self._word(1) in ("each", "all")
        ):
            return ref
        found = self._mention(self.at + 1)
        if found is None or not found[1].entities:
            return ref
        return Ref(ref.words, ref.targets, found[1].entities, ref.is_plural)

    def _relate(self, related: RelatedSaid) -> None:
        """Take in a condition on related rows: of the half of a ratio that is being read, of "these", or of everything."""
        if self.narrowing is not None:
            self.narrowing.related.append(related)
        elif self.halves and not self.global_place:
            self.halves[-1].related.append(related)
        else:
            self.said.related.append(related)
        self.inside = related.entity.entities

    def _takes_counted(self, ref: Ref, first: int, after: int) -> bool:
        if self.counting is None:
            return False
        if self.agg is not None and ref.of("metric") and not ref.entities:
            self.counting = None  # "the most revenue"
            return False
        if (ref.of("value") or ref.of("condition")) and not ref.entities and not ref.of("metric"):
            self._narrow_value(ref, first, after)
            return True
        wanted = ref.of("entity", "metric") or ref.of("fact") or ref.of("dimension")
        if not wanted:
            return False
        number = NumberSaid(Ref(ref.words, wanted, ref.near, ref.is_plural), "count", self.distinct)
        self.counting, self.distinct = None, False
        self._add(number, first, after)
        if ref.entities:
            self.head = ref
        return True

    def _add(self, number: NumberSaid, first: int, after: int) -> None:
        """Take in a number: of a ratio, to sort by, or of the answer."""
        if self.over is not None:
            number.over, self.over = self.over, None  # type: ignore[assignment]
        if self.agg is not None and self.agg[1] and number.agg == "count":
            self.said.descending, self.agg = self.agg[0] == "max", None
            self.said.is_ranking = True
            self.said.orders.append(OrderSaid(number, self.said.descending))
        if self.halves is not None and len(self.halves) == self.side and not self.ordering:
            number.conditions += self.local
            self.local = []
            self.halves.append(number)
        elif self.ordering:
            self.said.orders.append(OrderSaid(number))
        else:
            self.said.numbers.append(number)
        if self.each and self.ranking:
            self.said.orders.append(OrderSaid(number, self.said.descending))
        self.each = self.ranking = False
        self.number_ends = after
        self._say(first, after, "metric", number.ref.words)

    def _counted_rows(self, length: int, ref: Ref) -> tuple[int, Ref]:
        """ "How many restaurants serve …": the rows are counted, though both words together name a column."""
        for shorter in range(length - 1, 0, -1):
            found = self.lexicon.longest_at(self.words[self.at : self.at + shorter], 0)
            if found is not None and found[0] == shorter and any(target.kind == "entity" for target in found[1]):
                raw = self._raw(self.at, self.at + shorter)
                return shorter, Ref(raw, found[1], (), singular(raw.casefold()) != raw.casefold())
        return length, ref

    def _is_doing(self, ref: Ref, length: int) -> bool:
        """ "How many sales did each person make": a verb, though a column has the same name."""
        if length > 1 or self._word() not in wording.NEUTRAL_VERBS or self.last is None or not self.last.entities:
            return False
        sentence = self._here().sentence
        before = [token.text for token in self.tokens[: self.at] if token.sentence == sentence]
        return "do" in before and not ref.entities and self._raw(self.at - 1, self.at) in self.last.words

    def _takes_aggregate(self, ref: Ref, first: int, after: int) -> bool:
        if self.agg is None:
            return False
        agg, is_extreme = self.agg
        if (ref.of("value") or ref.of("condition")) and not ref.of("metric", "fact", "time", "entity"):
            self._narrow_value(ref, first, after)
            return True
        wanted = ref.of("metric") or ref.of("fact", "time")
        if not wanted and ref.entities and self._leads_on():
            self.head = ref
            return True
        if not wanted and ref.entities and (agg == "sum" or is_extreme):
            counted = Ref(ref.words, ref.of("entity"), ref.near, ref.is_plural)
            number = NumberSaid(counted, "count", is_total=not is_extreme)
            self.agg = self.agg if is_extreme else None
            self._add(number, first, after)
            self.head = ref
            return True
        if not wanted and not (ref.of("dimension") and is_extreme):
            return False
        number = NumberSaid(
            Ref(ref.words, wanted or ref.of("dimension"), ref.near, ref.is_plural), agg, is_extreme=is_extreme
        )
        self.agg = None
        if is_extreme:
            self.said.descending = agg == "max" if self.said.descending is None else self.said.descending
        self._add(number, first, after)
        return True

    def _leads_on(self) -> bool:
        """Does a fact or a metric follow, of which the entity is only the owner: "transaction total amount"?"""
        found = self._mention(self.at)
        return found is not None and bool(found[1].of("fact", "metric"))

    def _takes_order(self, ref: Ref, first: int, after: int) -> bool:
        if not self.ordering:
            return False
        if ref.of("metric"):
            self.said.orders.append(OrderSaid(NumberSaid(Ref(ref.words, ref.of("metric")))))
        elif ref.of("dimension", "time", "fact", "entity"):
            self.said.orders.append(OrderSaid(ref))
        else:
            return False
        self._say(first, after, "order", ref.words)
        return True

    def _takes_group(self, ref: Ref, first: int, after: int) -> bool:
        if not self.each:
            return False
        if self.ranking and ref.of("metric", "fact") and not ref.of("dimension"):
            number = NumberSaid(Ref(ref.words, ref.of("metric", "fact"), ref.near))
            self._add(number, first, after)
            return True
        wanted = ref.of("dimension", "entity", "time", "fact")
        if not wanted:
            return False
        if self.halves is not None and self.side == 0:
            self.said.unknown.append(f"each {ref.words}")  # of one half only
        self.said.groups.append(Ref(ref.words, wanted, ref.near, ref.is_plural))
        self._say(first, after, "dimension", ref.words)
        if ref.entities and not ref.of("dimension"):
            self.head = ref
        self.each = self._word() in ("and", ",") and self._group_follows()
        return True

    def _group_follows(self) -> bool:
        place = self.at + 1
        while place < len(self.words) and self.words[place] in ("and", "corresponding", "respective", "the"):
            place += 1
        if place < len(self.words) and self.words[place] in wording.GRAINS:
            return True
        found = self._mention(place)
        return found is not None and bool(found[1].of("dimension", "entity", "time")) and not found[1].of("metric")

    def _narrow_value(self, ref: Ref, first: int, after: int) -> None:
        values = ref.of("value")
        labelled = tuple(target for target in values if target.name in self.labels)
        if labelled:
            self._narrow(Ref(ref.words, labelled, ref.near), "in", labelled[0].value, first, after)
            self._narrowed[-1].is_labelled = True
        elif values:
            self._narrow(ref, "in", values[0].value, first, after)
        else:
            self._narrow(Ref(ref.words, ref.of("condition"), ref.near), "in", None, first, after)

    def _takes_value(self, ref: Ref, first: int, after: int) -> bool:
        if not ref.of("value", "condition"):
            return False
        if ref.entities and (self.relative or self.asks) and not ref.of("condition") and not self._tells_kind(ref):
            return False
        self._narrow_value(ref, first, after)
        return True

    def _tells_kind(self, ref: Ref) -> bool:
        """ "Transaction notifications": a value right before the rows that have it, whatever else the word names."""
        behind = self._mention(self.at)
        owners = {target.owner for target in ref.of("value")}
        return behind is not None and bool(owners & set(behind[1].entities))

    def _takes_repeated(self, ref: Ref, first: int, after: int) -> bool:
        """ "How many of these orders": the word for the rows stands again."""
        known = self.repeated
        if known is None or not set(ref.targets) & set(known.ref.targets):
            return False
        self.repeated = None
        self._say(first, after, "metric", ref.words)
        return True

    def _takes_number(self, ref: Ref, first: int, after: int) -> bool:
        if self._continues_count(ref, first):
            self._add(NumberSaid(ref, "count"), first, after)
            return True
        if not ref.of("metric"):
            return False
        if self.each and not self.ranking:
            self.said.unknown.append(ref.words)
            return True
        is_thing = self.asks and (ref.is_plural or ref.words.lower() not in self._metric_names(ref))
        if ref.entities and (
            is_thing or self.relative or self.agent or self.quantity or self.ranking or self.said.numbers
        ):
            return False
        if ref.of("dimension") and (self.asks or self.ranking):
            return False
        self._add(NumberSaid(ref), first, after)
        return True

    def _metric_names(self, ref: Ref) -> set[str]:
        """The metrics that *ref* may mean, as one writes them: "cash balance" is the metric, not a row."""
        return {target.name.replace("_", " ") for target in ref.of("metric")}

    def _continues_count(self, ref: Ref, first: int) -> bool:
        """ "How many orders and refunds": the second thing is counted like the first."""
        numbers = self.said.numbers
        return (
            bool(ref.entities)
            and bool(numbers)
            and numbers[-1].agg == "count"
            and self.last is not None
            and self.last.words == numbers[-1].ref.words
            and self.words[first - 1] in ("and", ",")
        )

    def _takes_entity(self, ref: Ref, first: int, after: int) -> bool:
        """An entity: the other side of a relation, the rows asked for, or whom the words around speak of."""
        if not ref.entities:
            return False
        entity = Ref(ref.words, ref.of("entity"), ref.near, ref.is_plural)
        is_half = self.halves is not None and len(self.halves) == self.side
        if is_half and not self.relative and not ref.of("dimension"):
            self._add(NumberSaid(entity, "count"), first, after)
            self.head = entity
            return True
        if ref.of("dimension") and not self.relative and (self.asks or self.ranking):
            return False
        is_other = self.head is not None and not set(self.head.entities or self.head.owners) & set(entity.entities)
        if self.relative and self.head is not None and is_other:
            comparison, value = self.quantity or ((("=", 0)) if self.negated else (">=", 1))
            self._relate(RelatedSaid(self.head, entity, comparison, value))
            self.quantity, self.negated, self.relative = None, False, False
        elif self.quantity is not None:
            return False
        elif self.ranking and self.said.ranked is None:
            self.said.ranked = entity
        elif self.asks and self.said.subject is None and not self.agent:
            self.said.subject, self.asks = entity, False
        self.agent = False
        self.said.heads.append(entity)
        self.head = entity
        self._say(first, after, "entity", ref.words)
        return True

    def _takes_attribute(self, ref: Ref, first: int, after: int) -> bool:
        """An attribute: shown, unless a value for it follows."""
        wanted = ref.of("dimension", "time", "fact")
        if not wanted:
            return False
        if self._is_verb(ref):
            self._say(first, after, "time", ref.words)
            return True
        near = ref.near
        if not near and self.last is not None and self.words[first - 1] in ("and", ","):
            near = self.last.near or self.last.owners  # "the drug's id and name"
        named = Ref(ref.words, wanted, near, ref.is_plural)
        if self.ranking and self.said.ranked is None:
            self.said.ranked = named
        elif labelled := self._labels_value(named):
            self.labels = labelled
        else:
            self.said.outputs.append(named)
            if not (self.asks or self.ordering or self._continues(first)):
                self.said.strays.append(named)
        self._say(first, after, "dimension", ref.words)
        self.last = named
        return True

    def _continues(self, first: int) -> bool:
        """Does it go on with a row of what is asked for: "… and the name", "(id and name)"?"""
        before = self.words[first - 1] if first else ""
        if before in ("(", "along", "with"):
            return bool(self.said.outputs) or self.said.subject is not None
        if before not in ("and", ",", "&") or self.last is None:
            return False
        is_number = self.number_ends >= first - 2
        return is_number or (self.last in self.said.outputs and self.last not in self.said.strays)

    def _is_verb(self, ref: Ref) -> bool:
        """ "Users who joined", "sent by": a date told by its verb; without a span of time it asks for nothing."""
        words = ref.words.lower().split()
        return (
            words[0].endswith("ed")
            or words[0] in ("sent", "made", "held", "sold", "born")
            or words[-1] in ("in", "on", "at", "by")
        )

    def _labels_value(self, ref: Ref) -> frozenset[str]:
        """Does a value of it stand right before or behind: "state of California", "the EU region"?"""
        names = {target.name for target in ref.of("dimension")}
        known = self._narrowed[-1] if self._narrowed and self.last is self._narrowed[-1].ref else None
        before = known.ref if known is not None else None
        if known is not None and before is not None and (shared := names & {t.name for t in before.of("value")}):
            kept = tuple(target for target in before.of("value") if target.name in shared)
            known.ref, known.is_labelled = Ref(before.words, kept, before.near), True
            return frozenset(shared)
        place = self.at
        while self._word(place - self.at) in ("of", "be", "in", "=", ":", "as", "the", "and"):
            place += 1
        behind = self._mention(place)
        return frozenset(names & {target.name for target in behind[1].of("value")}) if behind else frozenset()

    def _takes_relation(self, ref: Ref, first: int, after: int) -> bool:
        if not ref.of("relation"):
            return False
        self._say(first, after, "relation", ref.words)
        found = self._mention(self.at)
        if ref.words.lower().endswith(" by") and found is not None and not found[1].entities:
            self.each = True  # "sold by agent id"
        else:
            self.agent = True
        return True

    def _proper(self) -> bool:
        """A name that the catalogue does not list, beside what it names: "the instructor Knuth"."""
        token = self._here()
        if not token.is_proper or self._starts_clause() or self.last is None or not self.last.of("dimension", "entity"):
            return False
        end = self.at
        while end < len(self.tokens) and self.tokens[end].is_proper and self.tokens[end].sentence == token.sentence:
            end += 1
        if (
            self._word(-1) not in ("name", "named", "be", "of", "=", "call", "called")
            and self._raw(self.at - 1, self.at) != self.last.words
        ):
            return False
        self._narrow(self.last, "in", self._raw(self.at, end), self.at, end)
        return True


Rule = Callable[[Parser], bool]
Taker = Callable[[Parser, Ref, int, int], bool]

_TAKERS: tuple[Taker, ...] = (
    Parser._takes_repeated,
    Parser._takes_counted,
    Parser._takes_aggregate,
    Parser._takes_order,
    Parser._takes_group,
    Parser._takes_value,
    Parser._takes_number,
    Parser._takes_entity,
    Parser._takes_attribute,
    Parser._takes_relation,
)
_RULES: tuple[Rule, ...] = (
    Parser._time,
    Parser._noise,
    Parser._definition,
    Parser._order,
    Parser._direction,
    Parser._of_these,
    Parser._ratio,
    Parser._frequent,
    Parser._unit,
    Parser._extent,
    Parser._over_time,
    Parser._counts,
    Parser._weekend,
    Parser._top,
    Parser._comparison,
    Parser._quantity_first,
    Parser._grain,
    Parser._all_of,
    Parser._named,
    Parser._rows,
    Parser._bare_count,
    Parser._aggregate,
    Parser._literal,
    Parser._each,
    Parser._negation,
    Parser._relation,
    Parser._asking,
    Parser._or,
    Parser._filler,
    Parser._proper,
    Parser._mark,
)
