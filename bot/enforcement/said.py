"""What an answer says, as values: its sentences, what each claims of actions, and what it says of the case."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from bot.enforcement import polarity
from bot.enforcement.branches import Cases
from bot.enforcement.endings import MARK, ends
from bot.enforcement.facts import Read, Reading
from bot.enforcement.sentences import Sentence
from bylaw.language.words import Word
from bylaw.logic.ir import Value

_DEMANDING = re.compile(r"(?i)\b(?:must|to|first)\b")


@dataclass(frozen=True, slots=True)
class Claim:
    """What is said of an action: `targets` are the actions that would make a promise true, one unless it is vague.

    `gives`: it holds, is done or may be done; otherwise it does not. `condition` is None when it is said without one.
    """

    targets: tuple[str, ...]
    outcome: str | None
    gives: bool
    words: str
    condition: Mapping[str, Value] | None = None
    about: frozenset[str] = frozenset()  # facts that the condition touches, read or not
    is_generic: bool = False
    is_partial: bool = False  # only a part of it: "half of your money"
    denies: frozenset[str] = frozenset()  # what there is not, where it is called so: "no refund"
    is_general: bool = False  # denied for more than this case: "we never refund …"
    is_only: bool = False  # under its condition and no other


@dataclass(frozen=True)
class Said:
    """One sentence, read."""

    sentence: Sentence
    reading: Reading
    is_question: bool
    is_conditional: bool
    claims: tuple[Claim, ...] = ()
    is_unread: bool = False  # longer than anybody reads
    offers: tuple[Claim, ...] = ()  # what it asks about, as if it were said
    silent: tuple[Word, ...] = ()  # what its clauses that name no action say beside the facts
    beside: tuple[Word, ...] = ()  # what the others say beside the actions and the facts
    is_echo: bool = False  # it says yes with the verb of the question: "You may."
    cases: Cases = ()  # those that it speaks of, besides this one

    @cached_property
    def ends(self) -> Sequence[tuple[int, Sequence[Word]]]:
        """The times that it says are over, or are not, each with its verb."""
        return tuple(ends(self.sentence.words)) if MARK.search(self.sentence.text) else ()

    @property
    def asserted(self) -> tuple[Read, ...]:
        """The facts that it says of the case itself, now."""
        if self.is_question or self.is_conditional:
            return ()
        words, is_demanding = self.sentence.words, _DEMANDING.search(self.sentence.text) is not None
        return tuple(
            read
            for read in self.reading.reads
            if not polarity.is_awaited(words, read.start)
            and not (is_demanding and polarity.is_demanded(words, read.start, read.end))
        )


@dataclass(frozen=True)
class Stated:
    """All that an answer says."""

    sentences: tuple[Said, ...]
    policies: tuple[str, ...] = field(default=())  # cited by their ids
    lead: int = 0  # the first sentence that is no greeting

    @cached_property
    def claims(self) -> tuple[Claim, ...]:
        """Every claim, in the order of the text. A vague one gives way to a precise one of its sentence."""
        return tuple(claim for said in self.sentences for claim in said.claims)

    @cached_property
    def asserted(self) -> tuple[Read, ...]:
        """What it says of the case."""
        return tuple(read for said in self.sentences for read in said.asserted)

    @property
    def asks(self) -> bool:
        """Does it ask something back?"""
        return any(said.is_question for said in self.sentences)

    @property
    def hedges(self) -> bool:
        """Does it leave something open: a condition, or "it depends"?"""
        return any(said.is_conditional for said in self.sentences)

    @cached_property
    def mentioned(self) -> frozenset[str]:
        """The facts that its words touch."""
        return frozenset(fact for said in self.sentences for fact in said.reading.mentioned)
