"""Any assistant's answer held against the policies: one verdict on the whole, or sentence by sentence as it is written.

The case is made of the facts in the question and those that are given; what the answer says is a list of claims, by
whom it may be: the caller, a model, the plain reader. All rules count here, those for a narrow audience too.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import islice

from bot.claims.model import ModelReader
from bot.claims.models import Claim
from bot.conversation import MAX_TEXT, Question
from bot.enforcement.assemble import case_of
from bot.enforcement.case import Case
from bot.enforcement.judged.checks.registry import CHECKS
from bot.enforcement.judged.checks.result import Judge
from bot.enforcement.judged.reading import draft_of, found_in
from bot.enforcement.judged.verdict import ComplianceDecision, Correction, verdict
from bot.enforcement.plain_writer import plain
from bot.enforcement.writing import write
from bot.enforcement.writing.sentences import split
from bot.index import BundleIndex
from bylaw.canonical import is_text
from bylaw.errors import UsageError
from bylaw.logic.formula.ir import Value

MAX_RESPONSE = 20_000  # characters of an answer
MAX_PARTS = 500  # figures, and sentences, of an answer
_COUNTED = {"figures": re.compile(r"\d+"), "sentences": re.compile(r"[.!?;:]+(?=\s|$)|\n+")}
_AT_ONCE = 16  # a part of the whole answer: what is smaller waits for more
_AT_THE_END = frozenset({"unanswered", "uncovered"})
_DURING = {name: check for name, check in CHECKS.items() if name in ("pattern", "consistency")}


@dataclass(frozen=True, slots=True)
class Passed:
    """A sentence that may leave."""

    text: str


def check_readable(query: str, response: str | None = None) -> None:
    """Raise UsageError for what is no question, or no answer to one that can be judged."""
    for name, said, most in (("query", query, MAX_TEXT), ("response", response, MAX_RESPONSE)):
        if said is None:
            continue
        if not said.strip():
            raise UsageError(f"the {name} is empty")
        if len(said) > most:
            raise UsageError(f"the {name} is longer than {most} characters")
        if not is_text(said):
            raise UsageError(f"the {name} holds characters that are not text")
        check_countable(name, said)


def check_countable(name: str, said: str) -> None:
    """Raise UsageError for a text of more figures or sentences than any answer has: each is read by itself."""
    for what, mark in _COUNTED.items():
        if sum(1 for _ in islice(mark.finditer(said), MAX_PARTS + 1)) > MAX_PARTS:
            raise UsageError(f"the {name} has more than {MAX_PARTS} {what}", "send it in parts that say less")


def enforce(
    question: Question,
    response: str,
    index: BundleIndex,
    given: Mapping[str, Value] | None = None,
    judge: Judge | None = None,
    claims: Sequence[Claim] | None = None,
    reader: ModelReader | None = None,
) -> ComplianceDecision:
    """The verdict on *response* as an answer to *question*, read as *claims* where they are given, else by *reader*,
    else by the plain reader.

    `auto_correct` comes with the completed text.
    """
    today = index.local(question.asked_at).date()
    told = tuple(sorted((given or {}).items()))
    if judge is None and claims is None and reader is None:
        return index.recently(_read_plainly)(question.text, response, today, told)
    case = index.recently(_case)(question.text, today, told)
    return judged(case, response, judge, claims, reader)


def _read_plainly(
    index: BundleIndex, text: str, response: str, today: date, given: Sequence[tuple[str, Value]]
) -> ComplianceDecision:
    return judged(index.recently(_case)(text, today, given), response)


def _case(index: BundleIndex, text: str, today: date, given: Sequence[tuple[str, Value]]) -> Case:
    return case_of(text, today, {}, index, index.evaluator, dict(given))


def judged(
    case: Case,
    response: str,
    judge: Judge | None = None,
    claims: Sequence[Claim] | None = None,
    reader: ModelReader | None = None,
) -> ComplianceDecision:
    """The verdict on *response* in *case*. What is incomplete gets the missing sentences."""
    found = found_in(case, response, claims, reader)
    told = verdict(draft_of(case, response, judge, found))
    if told.action != "auto_correct":
        return told
    lines = [write.duty(case.words, "required", name) for name in found.missing]
    lines += [
        f"This holds only in some cases: {one.why}." for one in found.reading.claims if one.status == "satisfiable"
    ]
    if not lines:
        lines = [plain(case).reply.text]
    return _corrected(told, "\n".join((response.rstrip(), *dict.fromkeys(lines))))


def _corrected(found: ComplianceDecision, text: str) -> ComplianceDecision:
    """*found* with the text that is delivered instead, and what changed from the one to the other."""
    before, after = split(found.llm_response), split(text)
    diff = tuple(difflib.unified_diff(before, after, "answer", "corrected", lineterm="", n=0))
    reasons = [broken.message for broken in found.violations]
    reasons += [check.detail for check in found.checks if check.score is not None and check.score < 1]
    policies = found.audit_trail.applied_policies
    change = Correction(
        original_fragment=found.llm_response,
        corrected_fragment=text,
        reason="; ".join(dict.fromkeys(reasons)),
        policy_id=policies[0] if policies else None,
    )
    trail = found.audit_trail.model_copy(update={"auto_corrections": (change,), "diff": diff})
    return found.model_copy(update={"delivered": text, "audit_trail": trail})


class Watch:
    """An answer checked while it is written: each sentence with all before it, and at the end the whole.

    The first sentence that breaks a rule, or that nobody could read, stays here, and the verdict on what was said so
    far ends it. In a long answer a few sentences wait for each other: its text is read over and over, but not once a
    sentence. A model reads once: with one, nothing leaves before the end.
    """

    def __init__(
        self,
        question: Question,
        index: BundleIndex,
        given: Mapping[str, Value] | None = None,
        judge: Judge | None = None,
        reader: ModelReader | None = None,
    ) -> None:
        today = index.local(question.asked_at).date()
        self._case = case_of(question.text, today, {}, index, index.evaluator, given)
        self._judge, self._reader = judge, reader
        self._said: list[str] = []
        self._checked = self._waiting = 0  # sentences that may leave, and characters of those that were not checked
        self.is_over = False

    def hear(self, sentence: str) -> Iterator[Passed | ComplianceDecision]:
        """What may leave now that *sentence* was said."""
        self._said.append(sentence)
        self._waiting += len(sentence)
        if self._reader is None and self._waiting * _AT_ONCE >= sum(map(len, self._said)):
            yield from self._checking()

    def end(self) -> Iterator[Passed | ComplianceDecision]:
        """What may still leave, and the verdict on the whole."""
        if self._reader is None:
            yield from self._checking()
        if self.is_over:
            return
        self.is_over = True
        found = judged(self._case, self._text(), self._judge, reader=self._reader)
        if self._reader is not None and found.action == "pass":
            yield from map(Passed, self._said)
        yield found

    def all(self, sentences: Iterable[str]) -> Iterator[Passed | ComplianceDecision]:
        """What leaves of *sentences* as they come, and the verdict; none is asked for behind one that stays."""
        for sentence in sentences:
            yield from self.hear(sentence)
            if self.is_over:
                return
        yield from self.end()

    def cut(self) -> ComplianceDecision:
        """The verdict on an answer that breaks off here: nothing more of it leaves."""
        self.is_over = True
        return judged(self._case, self._text()).model_copy(update={"delivered": None})

    def _checking(self) -> Iterator[Passed | ComplianceDecision]:
        if self._checked == len(self._said):
            return
        text = self._text()
        so_far = verdict(draft_of(self._case, text, None, found_in(self._case, text)), _DURING)
        if any(broken.kind not in _AT_THE_END for broken in so_far.violations):
            yield self.cut()
            return
        yield from map(Passed, self._said[self._checked :])
        self._checked, self._waiting = len(self._said), 0

    def _text(self) -> str:
        return " ".join(self._said)


def stream(
    question: Question,
    sentences: Iterable[str],
    index: BundleIndex,
    given: Mapping[str, Value] | None = None,
    judge: Judge | None = None,
    reader: ModelReader | None = None,
) -> Iterator[Passed | ComplianceDecision]:
    """What leaves of *sentences* as they come, and the verdict that ends it."""
    return Watch(question, index, given, judge, reader).all(sentences)
