"""A question → a semantic query, or what stands in the way. Every content word is bound, or named as not understood.

A refusal is better than a plausible wrong number: a word that the catalogue, the grammar of time and the words of
asking do not know may change the meaning, so it is never skipped.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from datetime import date
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

from bot.analytics.reader import wording
from bot.analytics.reader.asking import is_follow_up
from bot.analytics.reader.grammar.parse import parse
from bot.analytics.reader.grammar.scan import Scan
from bot.analytics.reader.grammar.tokens import MAX_TOKENS, Token, read_tokens, with_literals
from bot.analytics.reader.nearness import Nearness
from bot.analytics.reader.reading import Bound, NotUnderstood, Reading, Stop, Unclear
from bot.analytics.reader.said import Said
from bot.analytics.reader.scope import Lexicon
from bot.analytics.reader.understood import Understood, understood
from bot.conversation import Binding
from bylaw.authored.calendar import Calendar
from bylaw.authored.context import Context
from bylaw.language.periods import CalendarRules
from bylaw.language.typos import closest
from bylaw.language.words import read_words
from bylaw.semantic.query import SemanticQuery, Unanswerable

if TYPE_CHECKING:
    from bylaw.semantic.compiler import Compiler

MAX_CHARACTERS = 4_000  # a longer text is no question


class Reader:
    """Reads questions about one context; build it once."""

    def __init__(self, context: Context, lexicon: Lexicon) -> None:
        self.context = context
        self.lexicon = lexicon
        self.nearness = Nearness(context)
        self.calendar = calendar_rules(context.calendar)
        self._last: Scan | None = None  # what was parsed last: who routes a question and who answers it parse it once

    @cached_property
    def compiler(self) -> Compiler:
        """Who knows what the numbers of the context are made of: built for the first question that is read."""
        from bylaw.semantic.compiler import Compiler  # heavy, and whether a text speaks of data is known without it

        return Compiler(self.context)

    def read(self, text: str, today: date, previous: SemanticQuery | None = None) -> Reading:
        """What *text* asks for, given what was asked before it."""
        from bot.analytics.reader.meaning.draft import QueryDraft  # as heavy as the compiler
        from bot.analytics.reader.meaning.query import query_of

        if len(text) > MAX_CHARACTERS:
            message = f"a question has at most {MAX_CHARACTERS} characters"
            return NotUnderstood(message, "ask for one thing", is_final=True)
        follows = previous is not None and is_follow_up(text)
        tokens = self._tokens(text, today)
        if len(tokens) > MAX_TOKENS:
            return NotUnderstood(f"a question has at most {MAX_TOKENS} words", "ask for one thing", is_final=True)
        said, bindings = self._said(tokens, follows)
        heard = understood(said, text)  # before what is decided changes it
        try:
            self._stop_at_unknown(said)
            draft = QueryDraft(self.context, self.compiler, self.nearness, said, text, today, previous, follows)
            query = query_of(draft)
        except Stop as stop:
            return self._stopped(stop.reading, heard, bindings)
        except Unanswerable as problem:
            return self._stopped(NotUnderstood(problem.message, problem.help), heard, bindings)
        bindings = tuple(
            binding.model_copy(update={"name": draft.names.get(binding.words, binding.name)}) for binding in bindings
        )
        return Bound(query, bindings, tuple(said.stakes), draft.rivals, draft.follows)

    def overheard(self, text: str, today: date) -> tuple[tuple[Token, ...], tuple[Binding, ...], tuple[str, ...]]:
        """The words of a question that another reads; those that say how much depends on it, and what they say."""
        tokens = self._tokens(text, today)
        said, bindings = self._said(tokens)
        return tokens, tuple(one for one in bindings if one.kind == "stakes"), tuple(said.stakes)

    def knows(self, text: str, today: date) -> float:
        """How much of *text* speaks of data: the share of its content words that are bound, 0 without any metric.

        Half of it where nothing asks in the way of data (by, how many, a span of time), less where somebody speaks of
        himself or asks what may be done.
        """
        heard = text[:MAX_CHARACTERS]
        if not self.lexicon.names_any([word.text for word in read_words(heard)]):
            return 0.0  # whatever else it says: its days and its literals need not be read
        tokens = self._tokens(heard, today)
        said, _ = self._said(tokens)
        words = [token.text for token in tokens if token.kind == "word"]
        content = [word for word in words if word not in wording.FILLERS | wording.BY]
        names = bool(said.numbers or said.heads or said.subject or said.ratio or said.outputs)
        names |= bool(said.ranked or said.groups or (said.counts and said.conditions))
        if not names or not content:
            return 0.0
        asks = bool(said.times or said.counts or said.groups or said.grain or said.is_ranking or said.orders)
        asks = asks or said.ratio is not None
        asks = asks or bool(said.subject or said.related or (said.outputs and said.conditions))
        asks = asks or any(number.agg is not None for number in said.numbers)
        opens = words[:1] == ["what"] or words[:2] in (["how", "much"], ["how", "long"])
        if opens and {"be", "do"} & set(words[:4]) and not (said.numbers or said.ratio or said.groups or said.times):
            asks = False  # "what is the warranty on a phone" asks what holds, not for a list of rows
        is_sure = any(number.ref.of("metric") and not number.ref.of("entity") for number in said.numbers)
        unknown = sum(1 for word in said.unknown if word.lower() in words or word in words)
        share = max(0.0, 1.0 - unknown / len(content))
        wishes = any(first == "i" and second in wording.WISHES for first, second in pairwise(words))
        speaks_of_self = {"i", "my"} & set(words) and not is_sure and not (wishes and said.subject)
        speaks_of_self = speaks_of_self or ("your" in words and not asks and not is_sure)  # "what's your name"
        asks_leave = words[:2] == ["what", "happen"] or any(pair in wording.LEAVE for pair in pairwise(words))
        return share * (1.0 if asks or is_sure else 0.5) * (0.4 if speaks_of_self or asks_leave else 1.0)

    def _said(self, tokens: tuple[Token, ...], follows: bool = False) -> tuple[Said, tuple[Binding, ...]]:
        """What *tokens* say, to be changed by who asks for it. A question parsed for another day only gets its days."""
        scan = self._last
        if scan is None or scan.follows != follows or [*map(_plain, scan.tokens)] != [*map(_plain, tokens)]:
            scan = Scan(tokens, self.lexicon, follows)
            parse(scan)
            self._last = scan
        spans = [(old.span, new.span) for old, new in zip(scan.tokens, tokens, strict=True) if old.span and new.span]
        said = deepcopy(scan.said, {id(old): new for old, new in spans})
        labels = {old.label: new.label for old, new in spans}
        dated = [(one, labels.get(one.name, one.name) if one.kind == "time" else one.name) for one in scan.bindings]
        return said, tuple(one.model_copy(update={"name": name}) for one, name in dated)

    @staticmethod
    def _stopped(reading: Unclear | NotUnderstood, heard: Understood, bindings: tuple[Binding, ...]) -> Reading:
        """*reading* with what was understood, as far as anybody may go on from it."""
        if isinstance(reading, NotUnderstood) and not reading.is_final:
            return replace(reading, understood=heard, bindings=bindings)
        return replace(reading, bindings=bindings) if isinstance(reading, Unclear) else reading

    def _tokens(self, text: str, today: date) -> tuple[Token, ...]:
        return with_literals(text, read_tokens(text, today, self.calendar), self.lexicon)

    def _stop_at_unknown(self, said: Said) -> None:
        if said.personal is not None:
            raise Stop(
                NotUnderstood(
                    f"`{said.personal}` is personal data, answers never show it", None, (said.personal,), is_final=True
                )
            )
        unknown = tuple(dict.fromkeys(said.unknown))
        if said.doubts and not unknown:
            word = said.doubts[0]
            message = f"I do not see whether `{word}` says which rows are meant, or only that there are some"
            raise Stop(NotUnderstood(message, f"name the column that is `{word}`, or leave the word out", (word,)))
        if not unknown:
            return
        near = closest(unknown[0], self.lexicon.spellings, cutoff=75)
        named = ", ".join(f"`{word}`" for word in unknown)
        is_other = near is not None and near.lower() != unknown[0].lower()
        hint = f"did you mean `{near}`?" if is_other else "leave it out, or say it in the words of the catalogue"
        raise Stop(NotUnderstood(f"I do not understand {named} here", hint, unknown))


def _plain(token: Token) -> tuple[object, ...]:
    """A token without the days that it means."""
    return token.kind, token.raw, token.start, token.number, token.sentence


def calendar_rules(calendar: Calendar) -> CalendarRules:
    """The calendar file as the grammar of time takes it."""
    weekdays = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
    return CalendarRules(
        week_start=weekdays.index(calendar.week_start),
        fiscal_start=calendar.fiscal_year_start,
        fiscal_by_default=calendar.year == "fiscal",
        whole_periods=calendar.relative_window == "complete",
    )
