"""A question → a semantic query, or what stands in the way. Every content word is bound, or named as not understood.

A refusal is better than a plausible wrong number: a word that the catalogue, the grammar of time and the few words
of asking below do not know may change the meaning, so it is never skipped.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import pairwise

from bot.analytics import asking
from bot.analytics.reading import Bound, NotUnderstood, Reading, Unclear, carried
from bot.analytics.scope import Lexicon, Mention, Target
from bot.conversation import Binding, Choice
from bylaw.authored.context import Calendar, Context, Grain
from bylaw.language import dates
from bylaw.language.typos import closest
from bylaw.language.words import Word, read_words
from bylaw.semantic.compiler import Compiler
from bylaw.semantic.query import Filter, Order, SemanticQuery, Unanswerable, Value, Window

_COUNTS = ("count", "count_distinct")


class Reader:
    """Reads questions about one context; build it once."""

    def __init__(self, context: Context, lexicon: Lexicon, compiler: Compiler) -> None:
        self.context = context
        self.lexicon = lexicon
        self.compiler = compiler
        self.calendar = calendar_rules(context.calendar)

    def read(self, text: str, today: date, previous: SemanticQuery | None = None) -> Reading:
        """What *text* asks for, given what was asked before it."""
        return _Pass(self, text, today, previous).reading()

    def knows(self, text: str, today: date) -> float:
        """How much of *text* speaks of data: the share of its content words that are bound, 0 without any metric.

        Half of it where nothing asks in the way of data (by, how many, a span of time) or somebody speaks of himself.
        """
        spans = dates.find(text, today, self.calendar)
        words = _outside(read_words(text), spans)
        mentions = self.lexicon.mentions(words)
        texts = [word.text for word in words]
        content = [i for i, word in enumerate(texts) if word not in asking.FILLERS | asking.BY]
        bound = {i for mention in mentions for i in range(mention.first, mention.after)}
        if not any(mention.of("metric") or mention.of("entity") for mention in mentions) or not content:
            return 0.0
        asks = bool(spans) or any(pair in asking.COUNTING for pair in pairwise(texts))
        asks = asks or any(word in asking.BY | asking.MOST | asking.LEAST | asking.ADVERBS for word in texts)
        is_sure = any(mention.of("metric") and not mention.of("entity") for mention in mentions)
        share = len([i for i in content if i in bound]) / len(content)
        return share * (1.0 if asks or is_sure else 0.5) * (0.4 if {"i", "my"} & set(texts) and not is_sure else 1.0)


def calendar_rules(calendar: Calendar) -> dates.CalendarRules:
    """The calendar file as the grammar of time takes it."""
    weekdays = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
    return dates.CalendarRules(
        week_start=weekdays.index(calendar.week_start),
        fiscal_start=calendar.fiscal_year_start,
        fiscal_by_default=calendar.year == "fiscal",
        whole_periods=calendar.relative_window == "complete",
    )


def _outside(words: Iterable[Word], spans: tuple[dates.Span, ...]) -> tuple[Word, ...]:
    """The words that no time phrase took. A gap ends a phrase, so words after it count as another sentence."""
    kept: list[Word] = []
    for word in words:
        behind = sum(span.ends <= word.start for span in spans)
        if not any(word.start < span.ends and span.begins < word.end for span in spans):
            kept.append(replace(word, sentence=word.sentence * (len(spans) + 1) + behind))
    return tuple(kept)


@dataclass(slots=True)
class _Found:
    """What one pass has bound so far."""

    metrics: list[str] = field(default_factory=list)
    dimensions: list[str] = field(default_factory=list)
    filters: list[Filter] = field(default_factory=list)
    grain: Grain | None = None
    window: Window | None = None
    all_time: bool = False
    descending: bool | None = None
    limit: int | None = None
    counts: bool = False
    totals: bool = False
    entities: list[tuple[str, str]] = field(default_factory=list)
    stakes: list[str] = field(default_factory=list)
    bindings: list[Binding] = field(default_factory=list)
    rivals: int = 0


class _Stop(Exception):
    """The reading ends here, with something to say."""

    def __init__(self, reading: Unclear | NotUnderstood) -> None:
        super().__init__()
        self.reading = reading


class _Pass:
    """One reading of one question."""

    def __init__(self, reader: Reader, text: str, today: date, previous: SemanticQuery | None) -> None:
        self.reader = reader
        self.text = text
        self.previous = previous
        self.spans = dates.find(text, today, reader.calendar)
        self.words = _outside(read_words(text), self.spans)
        self.mentions = reader.lexicon.mentions(self.words)
        self.taken = {i for mention in self.mentions for i in range(mention.first, mention.after)}
        self.found = _Found()
        self.follows = previous is not None and asking.is_follow_up(text)

    def reading(self) -> Reading:
        try:
            self._time()
            self._asking_words()
            self._stop_at_unknown()
            base = self._metrics()
            for mention in self.mentions:
                if not mention.of("metric") or mention.first in self._not_metrics:
                    self._bind(mention, base)
            return self._query(base)
        except _Stop as stop:
            return stop.reading
        except Unanswerable as problem:
            return NotUnderstood(problem.message, problem.help)

    # ---- words of asking

    def _time(self) -> None:
        if len(self.spans) > 1:
            said = " and ".join(f"`{self.text[span.begins : span.ends]}`" for span in self.spans)
            raise _Stop(NotUnderstood(f"I read two spans of time, {said}", "ask for one of them at a time"))
        for span in self.spans:
            if span.start is None or span.end is None:
                self.found.all_time = True
            else:
                self.found.window = Window(start=span.start, end=span.end, label=span.label)
            self._say(self.text[span.begins : span.ends], "time", span.label)

    def _asking_words(self) -> None:
        """Take every word that asks rather than names: fillers, `by`, grains, top and bottom, counting."""
        texts = [word.text for word in self.words]
        for i, text in enumerate(texts):
            if i in self.taken:
                continue
            following = texts[i + 1] if i + 1 < len(texts) else ""
            if (text, following) in asking.COUNTING and i + 1 not in self.taken:
                self.found.counts = True
                self.taken |= {i, i + 1}
            elif text in asking.ADVERBS or (text in asking.GRAINS and self._is_led(i)):
                self.found.grain = asking.GRAINS[text]
                self._take(i, "grain", asking.GRAINS[text])
            elif text == "over" and following == "time":
                self.found.grain = "month"
                self.taken |= {i, i + 1}
                self._say("over time", "grain", "month")
            elif text in asking.MOST | asking.LEAST:
                self._superlative(i, text in asking.MOST, following)
            elif self._asks(i, text, following):
                self.found.totals |= text == "total"
                self.taken.add(i)

    def _asks(self, i: int, text: str, following: str) -> bool:
        """Is the word at *i* one that asks and names nothing?"""
        if text in asking.NOT:
            return self._narrows(i)
        if text == "or":
            return all(
                any(i in edge and mention.of("value") for mention, edge in self._edges()) for i in (i - 1, i + 1)
            )
        if text == "i":
            return following in asking.WISHES
        if text in asking.BROKEN:
            return "by" in (following, *(word.text for word in self.words[i + 2 : i + 3]))
        return text == "total" or text in asking.FILLERS | asking.BY or (self.follows and text in asking.FOLLOWING)

    def _edges(self) -> list[tuple[Mention, tuple[int, int]]]:
        """Each mention with its first and its last word."""
        return [(mention, (mention.first, mention.after - 1)) for mention in self.mentions]

    def _superlative(self, i: int, descending: bool, following: str) -> None:
        self.found.descending = descending
        self.taken.add(i)
        number = int(following) if following.isdigit() else asking.NUMBERS.get(following)
        if number is not None and 0 < number <= 1_000:
            self.found.limit = number
            self.taken.add(i + 1)
        self._say(self._words(i, i + 1), "order", "descending" if descending else "ascending")

    def _narrows(self, i: int) -> bool:
        """Does the negation at *i* stand right before a value?"""
        after = next((j for j in range(i + 1, len(self.words)) if self.words[j].text not in asking.SMALL), None)
        return any(mention.first == after and mention.of("value") for mention in self.mentions)

    def _stop_at_unknown(self) -> None:
        for mention in self.mentions:
            if all(target.kind == "personal" for target in mention.targets):
                words = self._words(mention.first, mention.after)
                raise _Stop(NotUnderstood(f"`{words}` is personal data, answers never show it", None, (words,)))
        unknown = [self._words(i, i + 1) for i in range(len(self.words)) if i not in self.taken]
        if not unknown:
            return
        near = closest(unknown[0], self.reader.lexicon.spellings, cutoff=75)
        said = ", ".join(f"`{word}`" for word in dict.fromkeys(unknown))
        hint = f"did you mean `{near}`?" if near else "leave it out, or say it in the words of the catalogue"
        raise _Stop(NotUnderstood(f"I do not understand {said} here", hint, tuple(dict.fromkeys(unknown))))

    # ---- metrics

    @property
    def _not_metrics(self) -> set[int]:
        """Mentions that could be a metric and are read as something else."""
        return {mention.first for mention in self.mentions if mention.of("metric") and not self._is_metric(mention)}

    def _is_metric(self, mention: Mention) -> bool:
        others = [target for target in mention.targets if target.kind in ("entity", "dimension")]
        if not others:
            return True
        if self._after_by(mention):
            return False
        rivals = [other for other in self.mentions if other is not mention and other.of("metric")]
        sure = [other for other in rivals if not other.of("entity") and not other.of("dimension")]
        if not sure:
            return mention is next(other for other in self.mentions if other.of("metric"))
        before = self.words[mention.first - 1].text if mention.first else ""
        return before == "and"

    def _metrics(self) -> str:
        """Bind the metrics; the entity they count is what everything else is read against."""
        for mention in self.mentions:
            if mention.of("metric") and self._is_metric(mention):
                self._metric(mention)
        if not self.found.metrics and self.previous is not None:
            self.found.metrics += self.previous.metrics
            self.follows = True
        if not self.found.metrics:
            self._count_of_entity()
        self._stop_at_bare_word()
        found = [self.reader.context.metrics[name] for name in self.found.metrics]
        for metric in found:
            adds_up = metric.agg in ("sum", *_COUNTS)
            if self.found.totals and not adds_up:
                raise _Stop(NotUnderstood(f"`{metric.name}` does not add up, so I cannot give a total of it"))
            if self.found.counts and metric.agg not in _COUNTS:
                message = f"`{metric.name}` is no count, and the question asks how many"
                raise _Stop(NotUnderstood(message, "ask for it without counting words, or for a metric that counts"))
        return self.reader.compiler.base_of(self.found.metrics[0])

    def _stop_at_bare_word(self) -> None:
        """ "A refund for a TV" names rows and asks for no number of them: nothing says how many, by what or when."""
        named = [mention for mention in self.mentions if mention.of("metric") and self._is_metric(mention)]
        found = self.found
        asks = (
            found.counts
            or found.totals
            or found.grain
            or found.all_time
            or found.window
            or found.descending is not None
        )
        groups = any(self._after_by(mention) for mention in self.mentions)
        if self.follows or asks or groups or not named or not all(mention.of("entity") for mention in named):
            return
        words = self._words(named[0].first, named[0].after)
        message = f"I do not see what you want to know about `{words}`"
        raise _Stop(NotUnderstood(message, f"ask `how many {words}`, or for a metric by name", (words,)))

    def _metric(self, mention: Mention) -> None:
        names = list(dict.fromkeys(target.name for target in mention.of("metric")))
        if self.found.counts and len(names) > 1:
            counting = [name for name in names if self.reader.context.metrics[name].agg in _COUNTS]
            names = counting or names
        if len(names) > 1:
            self._ask(mention, names)
        if self._after_by(mention) and self.found.descending is None:
            words = self._words(mention.first, mention.after)
            raise _Stop(NotUnderstood(f"answers cannot be grouped by `{words}`", "group by a dimension", (words,)))
        if names[0] not in self.found.metrics:
            self.found.metrics.append(names[0])
        self._say(self._words(mention.first, mention.after), "metric", names[0])

    def _ask(self, mention: Mention, names: list[str]) -> None:
        choices = []
        for name in names:
            metric = self.reader.context.metrics[name]
            readable = name.replace("_", " ")
            value = f"{self.text[: mention.begins]}{readable}{self.text[mention.ends :]}"
            choices.append(Choice(value=value, label=f"{readable}: {metric.description or metric.type}"))
        raise _Stop(Unclear(self._words(mention.first, mention.after), tuple(choices), tuple(self.found.bindings)))

    def _count_of_entity(self) -> None:
        """ "How many customers": the metric that counts all rows of that entity, where there is exactly one."""
        named = [target.name for mention in self.mentions for target in mention.of("entity")]
        metrics = self.reader.context.metrics
        counting = [
            name
            for name, metric in metrics.items()
            if metric.agg in _COUNTS and metric.entity in named and not metric.filter
        ]
        if self.found.counts and len(counting) == 1:
            self.found.metrics.append(counting[0])
            return
        known = ", ".join(name.replace("_", " ") for name in sorted(metrics))
        raise _Stop(NotUnderstood("I do not see which number you ask for", f"the metrics are: {known}"))

    # ---- everything else

    def _bind(self, mention: Mention, base: str) -> None:
        words = self._words(mention.first, mention.after)
        if stakes := mention.of("stakes"):
            self.found.stakes += [target.name for target in stakes]
            self._say(words, "stakes", ", ".join(target.name for target in stakes))
        elif self._is_grain(mention, base):
            self.found.grain = asking.GRAINS[self.words[mention.first].text]
            self._say(words, "grain", self.found.grain)
        elif (values := mention.of("value")) and not (mention.of("dimension") and self._after_by(mention)):
            self._filter(mention, self._reached(values, base, mention))
        elif self._after_by(mention) or self._is_asked_for(mention):
            dimension = self._reached(mention.of("dimension"), base, mention)
            if dimension.name not in self.found.dimensions:
                self.found.dimensions.append(dimension.name)
            self._say(words, "dimension", dimension.name)
        elif mention.of("entity"):
            self._entity(mention, base)
        elif self._labels_value(mention):
            self._say(words, "label", mention.of("dimension")[0].name)
        else:
            hint = f"say `by {words}` to group by it, or name one of its values"
            raise _Stop(NotUnderstood(f"I do not see what to do with `{words}`", hint, (words,)))

    def _is_grain(self, mention: Mention, base: str) -> bool:
        """ "Monthly" may be the name of a plan; where no plan is near, it says how to group."""
        if mention.after - mention.first > 1 or self.words[mention.first].text not in asking.ADVERBS:
            return False
        ways = self.reader.compiler.joins.reachable(base)
        is_labelled = any(other.of("dimension") for other in self._beside(mention))
        return not is_labelled and not any(_owner(target) in ways for target in mention.targets)

    def _filter(self, mention: Mention, target: Target) -> None:
        i = mention.first - 1
        while i >= 0 and self.words[i].text in asking.SMALL:
            i -= 1
        negated = i >= 0 and self.words[i].text in asking.NOT
        assert target.value is not None
        values: tuple[Value, ...] = (target.value,)
        for known in self.found.filters:
            if known.dimension == target.name and known.negated == negated:
                values = tuple(dict.fromkeys((*known.values, *values)))
                self.found.filters.remove(known)
                break
        self.found.filters.append(Filter(dimension=target.name, values=values, negated=negated))
        words = self._words(mention.first, mention.after)
        self._say(words, "filter", f"{target.name} {'!=' if negated else '='} {target.value}")

    def _reached(self, targets: tuple[Target, ...], base: str, mention: Mention) -> Target:
        """The one reading that the metric's entity leads to: its own before others, the label beside it before all."""
        words = self._words(mention.first, mention.after)
        if not targets:
            raise _Stop(NotUnderstood(f"answers cannot be grouped by `{words}`", "group by a dimension", (words,)))
        labels = {target.name for other in self._beside(mention) for target in other.of("dimension")}
        ways = self.reader.compiler.joins.reachable(base)
        fitting = [target for target in targets if target.name in labels] or list(targets)
        near = [target for target in fitting if _owner(target) in ways]
        if not near:
            self.reader.compiler.joins.way(base, _owner(fitting[0]))  # raises, and says why there is no way
        closest_distance = min(len(ways[_owner(target)]) for target in near)
        best = [target for target in near if len(ways[_owner(target)]) == closest_distance]
        if len(best) > 1:
            raise _Stop(self._which(mention, best))
        self.found.rivals += len(targets) - 1
        return best[0]

    def _which(self, mention: Mention, targets: list[Target]) -> Unclear:
        choices = []
        for target in targets:
            label = target.name.replace("_", " ").replace(".", " ")
            said = label if target.value is None else f"{label} {target.value}"
            choices.append(Choice(value=f"{self.text[: mention.begins]}{said}{self.text[mention.ends :]}", label=said))
        return Unclear(self._words(mention.first, mention.after), tuple(choices), tuple(self.found.bindings))

    def _entity(self, mention: Mention, base: str) -> None:
        """An entity beside its own metric adds nothing; any other would be dropped silently, so it is refused."""
        words = self._words(mention.first, mention.after)
        names = [target.name for target in mention.of("entity")]
        if not any(name in self.reader.compiler.joins.reachable(base) for name in names):
            message = f"`{self.found.metrics[0]}` says nothing about `{words}`"
            raise _Stop(NotUnderstood(message, "ask for a metric of it", (words,)))
        self._say(words, "entity", names[0])

    def _after_by(self, mention: Mention) -> bool:
        """Does a `by` lead to this mention, straight or through "and" from another group that it leads to?"""
        return self._is_led(mention.first)

    def _is_led(self, at: int) -> bool:
        i = at - 1
        while i >= 0 and self.words[i].text in asking.SMALL and i not in self._mentioned():
            i -= 1
        if i < 0 or self.words[i].text in asking.BY:
            return i >= 0
        if self.words[i].text == "and":
            i -= 1
        elif not any(mention.first == at and mention.of("dimension") for mention in self.mentions):
            return False
        if i >= 0 and self.words[i].text in asking.GRAINS and i not in self._mentioned():
            return self._is_led(i)
        earlier = next((mention for mention in self.mentions if mention.first <= i < mention.after), None)
        return earlier is not None and bool(earlier.of("dimension")) and self._is_led(earlier.first)

    def _mentioned(self) -> set[int]:
        return {i for mention in self.mentions for i in range(mention.first, mention.after)}

    def _is_asked_for(self, mention: Mention) -> bool:
        """ "Which region", "top 5 regions": the dimension is what the answer lists."""
        if not mention.of("dimension"):
            return False
        before = [word.text for word in self.words[max(0, mention.first - 2) : mention.first]]
        if before and before[-1] in ("which", "what"):
            if self.found.descending is not None and self.found.limit is None:
                self.found.limit = 1
            return True
        return self.found.descending is not None and any(word in asking.MOST | asking.LEAST for word in before)

    def _labels_value(self, mention: Mention) -> bool:
        names = {target.name for target in mention.of("dimension")}
        return any(names & {target.name for target in other.of("value")} for other in self._beside(mention))

    def _beside(self, mention: Mention) -> list[Mention]:
        return [other for other in self.mentions if other.after == mention.first or other.first == mention.after]

    # ---- the query

    def _query(self, base: str) -> Reading:
        found, old = self.found, self.previous if self.follows else None
        query = SemanticQuery(
            metrics=tuple(found.metrics),
            dimensions=tuple(found.dimensions),
            filters=tuple(found.filters),
            window=found.window,
            grain=found.grain,
            limit=found.limit,
        )
        if old is not None:
            query = carried(query, old, forget_time=found.all_time)
        if found.descending is not None:
            if not query.dimensions and query.grain is None:
                raise _Stop(
                    NotUnderstood("I do not see what should be ranked", "name a dimension: `top 5 regions by …`")
                )
            query = query.model_copy(update={"order": (Order(by=query.metrics[0], descending=found.descending),)})
        for narrowed in found.filters:
            self.reader.compiler.joins.way(base, narrowed.dimension.partition(".")[0])
        return Bound(query, tuple(found.bindings), tuple(found.stakes), found.rivals, old is not None)

    def _take(self, i: int, kind: str, name: str) -> None:
        self.taken.add(i)
        self._say(self._words(i, i + 1), kind, name)

    def _say(self, words: str, kind: str, name: str) -> None:
        self.found.bindings.append(Binding(words=words, kind=kind, name=name))

    def _words(self, first: int, after: int) -> str:
        return self.text[self.words[first].start : self.words[after - 1].end]


def _owner(target: Target) -> str:
    return target.name.partition(".")[0]
