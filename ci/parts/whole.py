"""A repository checked from the first file to the last by many workers, each of which reads and asks about a share.

Policies that matter to each other stay together. Who that is, is known only when all are read; so it is guessed by a
glance at their texts. An answer counts where what was read bears the guess out, and the rest is asked again. A set in
which everything argues with everything is one group, so one worker has all of it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence, Set
from dataclasses import replace
from functools import cached_property

from bylaw.authored.vocabulary import Vocabulary
from bylaw.errors import BylawError
from bylaw.language.counting import count
from ci.executors.port import Executor, Hear, WorkerLost
from ci.findings import Finding, Place
from ci.loading.load import Beyond
from ci.parts.affected import Neighbourhood
from ci.parts.card_table import Cards
from ci.parts.cards import Card, outcome_key
from ci.parts.glance import Glance
from ci.parts.incremental import written_cases
from ci.parts.inventory import Inventory, beyond
from ci.parts.part import Boxes, Part, PartAnswer, Selection, ask, case_boxes, survey, survey_and_ask
from ci.parts.snapshot import Snapshot
from ci.progress import Progress
from ci.proofs.answers import Concern, Row
from ci.proofs.registry import ASKED, OF_OTHERS

SHARE = 500  # policies a worker is given at a time, at least: every share reads the vocabulary again
SHARES = 16  # for a large set, so many shares: enough that no worker waits long for the last


def whole(now: Inventory, executor: Executor, progress: Progress | None = None) -> Snapshot:
    """The snapshot of *now*, by the workers of *executor*."""
    words = now.part(now.words, Beyond(), Selection()).read()
    outcomes = words.vocabulary.outcomes
    complete = tuple(sorted(name for name, outcome in outcomes.items() if outcome.complete))
    guess = _Grouped(now, _at_a_glance(now, words.vocabulary), complete)
    first = _First(guess, executor, _heard(progress, "checking policies"))
    truth = _Grouped(now, first.cards(executor), complete)
    stands = first.borne_out(truth)
    work = _Rest(truth, frozenset().union(*(part.asked.paths for part, _ in stands)))
    parts = list(work.parts())
    answers = executor.run(ask, parts, _heard(progress, "asking the rest"))
    rest = [
        answer if isinstance(answer, PartAnswer) else _lost(part, answer)
        for part, answer in zip(parts, answers, strict=True)
    ]
    found = [*(answer for _, answer in stands), *rest]
    clashing = {about: paths for answer in found for about, paths in answer.clashing.items()}
    return Snapshot(
        at=now.at.toordinal(),
        files=now.digests,
        signatures=now.signatures,
        cards=truth.cards,
        cases=written_cases(work.boxes),
        findings=tuple(finding for answer in found for finding in answer.findings),
        statuses={concern: row for answer in found for concern, row in answer.statuses.items()},
        clashing=dict(sorted(clashing.items())),
        complete=complete,
        expiring=words.rules.ci.expiring_within_days,
        is_final=all(isinstance(answer, PartAnswer) for answer in answers),
    )


def _heard(progress: Progress | None, what: str) -> Hear | None:
    return None if progress is None else lambda done, of: progress(what, done, of)


def _at_a_glance(now: Inventory, vocabulary: Vocabulary) -> Cards:
    glance = Glance(vocabulary)
    return Cards.of({path: glance.card(file) for path, file in now.policies.items()})


class _Grouped:
    """The policies of *now* in groups that do not matter to each other, by what their *cards* say or seem to say."""

    def __init__(self, now: Inventory, cards: Cards, complete: Sequence[str]) -> None:
        self.now, self.cards, self.complete = now, cards, complete
        self.beyond = beyond(cards)
        self.map = Neighbourhood(cards)

    @cached_property
    def groups(self) -> list[list[str]]:
        """Paths, the smallest group first."""
        return self.map.groups()

    def shares(self, answered: Set[str] = frozenset()) -> Iterator[Part]:
        """Parts of whole groups, each enough work for a worker, without the policies that are *answered*."""
        size, share = _share(len(self.cards)), list[str]()
        for group in self.groups:
            if group[0] not in answered:
                share += group
            if len(share) >= size:
                yield self.part(share, self.about(share))
                share = []
        if share:
            yield self.part(share, self.about(share))

    def about(self, paths: Collection[str]) -> Selection:
        """Everything that is asked about the policies at *paths*."""
        cards = [self.cards[path] for path in paths]
        keys = {key for kind in {card.kind for card in cards} for key in kind.all_keys}
        outcomes = frozenset(name for name in self.complete if outcome_key(name) in keys)
        return Selection(frozenset(paths), frozenset(card.id for card in cards), outcomes)

    def part(self, paths: Iterable[str], asked: Selection) -> Part:
        """The part of the policies and cases at *paths*."""
        return self.now.part([*self.now.words, *paths, *self.cards.binding], self.beyond, asked)


def _share(count: int) -> int:
    return max(SHARE, -(-count // SHARES))


class _First:
    """What every worker said of the groups that were guessed."""

    def __init__(self, guess: _Grouped, executor: Executor, heard: Hear | None) -> None:
        self._guess = guess
        self._parts = list(guess.shares())
        self._answers = executor.run(survey_and_ask, self._parts, heard)

    def cards(self, executor: Executor) -> Cards:
        """The card of every policy. What was lost with a worker is read once more, and not asked about."""
        answers = list(zip(self._parts, self._answers, strict=True))
        again = [replace(part, asked=Selection()) for part, answer in answers if isinstance(answer, WorkerLost)]
        cards: dict[str, Card] = {}
        for _, answer in answers:
            cards |= {} if isinstance(answer, WorkerLost) else answer[0]
        for found in executor.run(survey, again):
            if isinstance(found, WorkerLost):
                message = f"not every policy could be read: {found.message}"
                raise BylawError(message, "try again with `--executor serial`")
            cards |= found
        return Cards.of(cards)

    def borne_out(self, truth: _Grouped) -> list[tuple[Part, PartAnswer]]:
        """The answers that would be the same by the *truth*: whoever matters was there, and everything was asked."""
        if not self._is_same_beyond(truth):
            return []
        share_of = {path: n for n, part in enumerate(self._parts) for path in part.asked.paths}
        split = {n for group in truth.groups if len(found := {share_of[path] for path in group}) > 1 for n in found}
        return [
            (part, answer[1])
            for n, (part, answer) in enumerate(zip(self._parts, self._answers, strict=True))
            if not isinstance(answer, WorkerLost) and n not in split and truth.about(part.asked.paths) == part.asked
        ]

    def _is_same_beyond(self, truth: _Grouped) -> bool:
        """Was known, where a part was asked about, what all policies together add to it?"""
        guessed, known = self._guess.beyond, truth.beyond
        is_bound = {*truth.cards.binding} <= {*self._guess.cards.binding}
        return is_bound and (guessed.policy_ids, guessed.domains) == (known.policy_ids, known.domains)


class _Rest:
    """What is left to ask when all policies are known and some are *answered*."""

    def __init__(self, truth: _Grouped, answered: Set[str]) -> None:
        self._truth, self._answered = truth, answered
        now = truth.now
        self.boxes: Boxes = case_boxes(now.part(now.shared, truth.beyond, Selection()).read())

    def parts(self) -> Iterator[Part]:
        """What all policies share; the groups that were not answered; the cases."""
        truth = self._truth
        keys = {key for kind in truth.cards.kinds for key in kind.all_keys}
        open_ = frozenset(name for name in truth.complete if outcome_key(name) not in keys)
        yield truth.now.part(truth.now.shared, truth.beyond, Selection(outcomes=open_, shared=True))
        yield from truth.shares(self._answered)
        cases = [(path, n) for path, boxes in self.boxes.items() for n in range(len(boxes))]
        for n in range(0, len(cases), SHARE):
            yield self._cases(cases[n : n + SHARE])

    def _cases(self, cases: Sequence[tuple[str, int]]) -> Part:
        """Some cases, and everyone who may fire in one of them."""
        paths = {path for path, _ in cases}
        for path, n in cases:
            box = self.boxes[path][n]
            paths |= self._truth.map.firing_in(box) if box is not None else set()
        return self._truth.part(sorted(paths), Selection(cases=frozenset(cases)))


def _lost(part: Part, lost: WorkerLost) -> PartAnswer:
    """What is told instead of an answer: a question that was not answered has not passed."""
    asked = part.asked
    about = (
        count(len(asked.paths), "policy", "policies")
        if asked.paths
        else count(len(asked.cases), "case")
        if asked.cases
        else "the words"
    )
    place = Place(
        min(asked.paths or [path for path, _ in asked.cases] or ["policies/vocabulary.yaml"]), line=1, column=1
    )
    finding = Finding(
        "unknown-answer",
        f"nothing is known about {about}, of which this is the first: {lost.message}",
        place,
        policies=tuple(sorted(asked.ids)),
        help="run the check with `--executor serial`, or with fewer workers",
        status="UNKNOWN",
    )
    return PartAnswer((finding,), _unknown(asked, lost.message))


def _unknown(asked: Selection, reason: str) -> dict[Concern, Row]:
    """Every question is open of everyone who was *asked* about."""

    def row(kind: str) -> Row:
        return tuple((name, "UNKNOWN", (reason,)) for name in ASKED if OF_OTHERS.get(name, "policy") == kind)

    return {
        **dict.fromkeys([("policy", id) for id in sorted(asked.ids)], row("policy")),
        **dict.fromkeys([("outcome", name) for name in sorted(asked.outcomes)], row("outcome")),
        **dict.fromkeys([("case", path, n) for path, n in sorted(asked.cases)], row("case")),
    }
