"""A repository checked from the first file to the last by many workers: read by all, then asked about by all.

First every policy is read, for its card. Cards tell which policies matter to each other; those stay together, and each
worker is asked about a share of the groups. A set in which everything argues with everything is one group, so one
worker has all of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bylaw.errors import BylawError
from ci.executors.port import Executor, Hear, WorkerLost
from ci.findings import Finding, Place
from ci.loading.load import Beyond
from ci.parts.affected import Neighbourhood
from ci.parts.card_table import Cards
from ci.parts.cards import Card, outcome_key
from ci.parts.incremental import written_cases
from ci.parts.inventory import Inventory, beyond
from ci.parts.part import Boxes, Part, PartAnswer, Selection, ask, case_boxes, survey
from ci.parts.snapshot import Snapshot
from ci.progress import Progress
from ci.proofs.answers import Concern, Row
from ci.proofs.registry import ASKED, OF_OTHERS

SHARE = 500  # policies a worker is given at a time, at least: every share reads the vocabulary again
SHARES = 16  # for a large set, so many shares: enough that no worker waits long for the last


def whole(now: Inventory, executor: Executor, progress: Progress | None = None) -> Snapshot:
    """The snapshot of *now*, by the workers of *executor*."""
    cards = _cards(now, executor, _heard(progress, "reading policies"))
    work = _Work(now, cards)
    parts = list(work.parts())
    answers = executor.run(ask, parts, _heard(progress, "asking the questions"))
    found = [
        answer if isinstance(answer, PartAnswer) else _lost(part, answer)
        for part, answer in zip(parts, answers, strict=True)
    ]
    clashing = {about: paths for answer in found for about, paths in answer.clashing.items()}
    return Snapshot(
        at=now.at.toordinal(),
        files=now.digests,
        signatures=now.signatures,
        cards=cards,
        cases=written_cases(work.boxes),
        findings=tuple(finding for answer in found for finding in answer.findings),
        statuses={concern: row for answer in found for concern, row in answer.statuses.items()},
        clashing=dict(sorted(clashing.items())),
        complete=work.complete,
        expiring=work.words.rules.ci.expiring_within_days,
        is_final=all(isinstance(answer, PartAnswer) for answer in answers),
    )


def _heard(progress: Progress | None, what: str) -> Hear | None:
    return None if progress is None else lambda done, of: progress(what, done, of)


def _share(count: int) -> int:
    return max(SHARE, -(-count // SHARES))


def _cards(now: Inventory, executor: Executor, heard: Hear | None) -> Cards:
    size = _share(len(now.policies))
    policies = list(now.policies)
    shares = [policies[n : n + size] for n in range(0, len(policies), size)]
    parts = [now.part([*now.words, *share], Beyond(), Selection()) for share in shares]
    cards: dict[str, Card] = {}
    for found in executor.run(survey, parts, heard):
        if isinstance(found, WorkerLost):
            raise BylawError(f"not every policy could be read: {found.message}", "try again with `--executor serial`")
        cards |= found
    return Cards.of(cards)


class _Work:
    """The parts of a whole."""

    def __init__(self, now: Inventory, cards: Cards) -> None:
        self.now, self.cards = now, cards
        self.beyond = beyond(cards)
        self.words = now.part(now.words, self.beyond, Selection()).read()
        outcomes = self.words.vocabulary.outcomes
        self.complete = tuple(sorted(name for name, outcome in outcomes.items() if outcome.complete))
        self.boxes: Boxes = case_boxes(now.part(now.shared, self.beyond, Selection()).read())
        self.map = Neighbourhood(cards)

    def parts(self) -> Iterator[Part]:
        """What all policies share; every group of policies; the cases."""
        answered = {key for kind in self.cards.kinds for key in kind.all_keys}
        open_ = frozenset(name for name in self.complete if outcome_key(name) not in answered)
        yield self.now.part(self.now.shared, self.beyond, Selection(outcomes=open_, shared=True))
        for paths in self._shares():
            cards = [self.cards[path] for path in paths]
            keys = {key for kind in {card.kind for card in cards} for key in kind.all_keys}
            outcomes = frozenset(name for name in self.complete if outcome_key(name) in keys)
            ids = frozenset(card.id for card in cards)
            yield self._part(paths, Selection(frozenset(paths), ids, outcomes))
        cases = [(path, n) for path, boxes in self.boxes.items() for n in range(len(boxes))]
        for n in range(0, len(cases), SHARE):
            yield self._cases(cases[n : n + SHARE])

    def _part(self, paths: Sequence[str], asked: Selection) -> Part:
        return self.now.part([*self.now.words, *paths, *self.cards.binding], self.beyond, asked)

    def _shares(self) -> Iterator[list[str]]:
        size, share = _share(len(self.cards)), list[str]()
        for group in self.map.groups():
            share += group
            if len(share) >= size:
                yield share
                share = []
        if share:
            yield share

    def _cases(self, cases: Sequence[tuple[str, int]]) -> Part:
        """Some cases, and everyone who may fire in one of them."""
        paths = {path for path, _ in cases}
        for path, n in cases:
            box = self.boxes[path][n]
            paths |= self.map.firing_in(box) if box is not None else set()
        return self._part(sorted(paths), Selection(cases=frozenset(cases)))


def _lost(part: Part, lost: WorkerLost) -> PartAnswer:
    """What is told instead of an answer: a question that was not answered has not passed."""
    asked = part.asked
    about = (
        f"{len(asked.paths)} policies" if asked.paths else f"{len(asked.cases)} cases" if asked.cases else "the words"
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
