"""A check that asks again only what a change can affect, and takes the rest from the last one.

Whatever makes that doubtful asks everything: another program, another vocabulary or other rules, a change in a policy
with invariants, a change that touches a large share of the whole.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from typing import Any

from ci import pipeline
from ci.findings import Finding
from ci.loading.load import Beyond
from ci.parts.affected import Neighbourhood
from ci.parts.card_table import Cards
from ci.parts.cards import Card, Kind, is_policy, outcome_key, read_box, written_box
from ci.parts.inventory import Inventory, beyond, is_decisive
from ci.parts.part import (
    Boxes,
    PartAnswer,
    Selection,
    answered,
    ask,
    case_boxes,
    clashing,
    joined,
    settled,
    survey,
    surveyed,
)
from ci.parts.snapshot import Snapshot
from ci.pipeline import Run
from ci.proofs.answers import Concern, Row
from ci.proofs.focus import Focus

FEW = 200  # so many policies are asked again without asking whether that is a large share
GONE = "- "  # before the path of a policy as it was: no path begins so
SHARE = 4  # of so many policies one may be asked again; beyond that, all are


def remembered(inventory: Inventory, run: Run) -> Snapshot:
    """What a whole run leaves behind."""
    return Snapshot(
        at=inventory.at.toordinal(),
        files=inventory.digests,
        signatures=inventory.signatures,
        cards=Cards.of(surveyed(run, inventory.files.values())),
        cases=written_cases(case_boxes(run.workspace)),
        findings=tuple(settled(run.workspace, run.raw)),
        statuses=run.proofs.statuses,
        clashing=clashing(run),
        complete=run.ruleset.complete,
        expiring=run.workspace.rules.ci.expiring_within_days,
    )


def written_cases(boxes: Boxes) -> dict[str, list[Mapping[str, Any] | None]]:
    """Where the cases lie, as JSON."""
    return {path: [None if box is None else written_box(box) for box in found] for path, found in boxes.items()}


def _read_cases(written: Mapping[str, Sequence[Mapping[str, Any] | None]]) -> Boxes:
    return {path: [None if box is None else read_box(box) for box in found] for path, found in written.items()}


def updated(last: Snapshot, now: Inventory) -> Snapshot | None:
    """The snapshot of *now*, as far as possible from the *last* one; None where everything has to be asked again."""
    change = Change.between(last, now)
    return None if change is None else change.snapshot()


@dataclass(frozen=True)
class Change:
    """From one snapshot to the files of now. `gone` and `come` are the policies that differ, as they were and are."""

    last: Snapshot
    now: Inventory
    gone: Mapping[str, Card]
    come: Mapping[str, Card]

    @classmethod
    def between(cls, last: Snapshot, now: Inventory) -> Change | None:
        """What has changed; None when that may change every answer."""
        differing = {path for path, _ in last.files.items() ^ now.digests.items()}
        if any(map(is_decisive, differing)):
            return None
        turning = last.cards.of_kinds({n for n, kind in enumerate(last.cards.kinds) if _turns(kind, last, now)})
        gone = {path: last.cards[path] for path in sorted({*differing, *turning}) if path in last.cards}
        come = _surveyed(now, differing | {*gone})
        ids = {card.id for card in (*gone.values(), *come.values())}
        namesakes = {path: last.cards[path] for path in last.cards.named(ids) if path not in gone}
        if namesakes:  # of two files with one id the first counts: which is first may have changed
            gone |= namesakes
            come = _surveyed(now, differing | {*gone})
        is_bound = any(card.kind.binds for card in (*gone.values(), *come.values()))
        return None if is_bound else cls(last, now, gone, come)

    @cached_property
    def cards(self) -> Cards:
        """A card for every policy of now."""
        return self.last.cards.changed(self.gone, self.come)

    @cached_property
    def map(self) -> Neighbourhood:
        """Who can meet whom, now or before: a policy as it was has a name of its own."""
        return Neighbourhood(self.cards.changed((), self._past))

    @cached_property
    def _past(self) -> dict[str, Card]:
        return {f"{GONE}{path}": card for path, card in self.gone.items()}

    @cached_property
    def beyond(self) -> Beyond:
        """What all policies of now add to a part."""
        return beyond(self.cards)

    @cached_property
    def beyond_differs(self) -> bool:
        """Do the policies together add anything else to a part than they did?"""
        sides = (
            {path: (card.id, card.kind.domain, card.kind.words) for path, card in side.items()}
            for side in (self.gone, self.come)
        )
        return next(sides) != next(sides) and self.beyond != beyond(self.last.cards)

    @cached_property
    def shared_files(self) -> bool:
        """Has a file changed that is no policy?"""
        return any(self.last.files.get(path) != self.now.digests[path] for path in self.now.shared) or any(
            path not in self.now.files and path not in self.last.cards for path in self.last.files
        )

    def snapshot(self) -> Snapshot | None:
        """The snapshot of now; None when too much of it would be asked again."""
        if not self.gone and not self.come and not self.shared_files and self.last.at == self.now.at.toordinal():
            is_as_it_lay = self.last.signatures == self.now.signatures
            return self.last if is_as_it_lay else replace(self.last, signatures=self.now.signatures)
        boxes, shared = self._shared()
        asked = self._wider(self._first(boxes), PartAnswer(()))
        while True:
            if len(asked.paths) > max(FEW, len(self.cards) // SHARE):
                return None
            answer = ask(self.now.part(self._reading(asked, boxes), self.beyond, asked))
            more = self._wider(asked, answer)
            if more == asked:
                break
            asked = more
        everything = replace(asked, outcomes=self._outcomes(), shared=bool(shared))
        return self._joined(everything, boxes, [answer, *shared, *self._about(everything.outcomes)])

    def _about(self, outcomes: frozenset[str]) -> Iterator[PartAnswer]:
        """Whether every case gets one of *outcomes*: everybody who has a say in them is asked together."""
        if outcomes:
            paths = self.map.sharing(map(outcome_key, outcomes))
            yield ask(self.now.part([*paths, *self._always], self.beyond, Selection(outcomes=outcomes)))

    @cached_property
    def _always(self) -> list[str]:
        """What every part reads: the words, and the policies whose invariants hold for everybody."""
        return [*self.now.words, *self.cards.binding]

    # ---- what is asked ----------------------------------------------------------------------------------------------

    def _shared(self) -> tuple[Boxes, list[PartAnswer]]:
        """Where the cases lie, and what is found about everything but policies, where that can have changed."""
        is_same_day = self.last.at == self.now.at.toordinal()
        if is_same_day and not self.shared_files and not self.beyond_differs:
            return _read_cases(self.last.cases), []
        part = self.now.part(self.now.shared, self.beyond, Selection(shared=True))
        run = pipeline.check(part.read(), part.at, None, part.asked.focus)
        return case_boxes(run.workspace), [answered(run, part.asked)]

    def _first(self, boxes: Boxes) -> Selection:
        """What the change affects by who can meet whom, and by what was said of them."""
        changed = [*self.gone.values(), *self.come.values()]
        paths = {path.removeprefix(GONE) for path in self.map.touched(changed)} | {*self.gone, *self.come}
        return self._with_told(Selection(frozenset(paths), cases=self._cases(boxes)))

    def _outcomes(self) -> frozenset[str]:
        """The outcomes that a changed rule can have a say in."""
        changed = (*self.gone.values(), *self.come.values())
        keys = {key for card in changed for key in card.kind.all_keys}
        return self.map.outcomes(keys, self.last.complete)

    def _cases(self, boxes: Boxes) -> frozenset[tuple[str, int]]:
        """The cases in which a changed rule may fire, and those that are new themselves."""
        touched = Neighbourhood({**self.come, **self._past})
        return frozenset(
            (path, n)
            for path, found in boxes.items()
            for n, box in enumerate(found)
            if self.last.files.get(path) != self.now.digests[path] or (box is not None and touched.firing_in(box))
        )

    def _with_told(self, asked: Selection) -> Selection:
        """*asked*, and every policy that a finding names together with one of its own."""
        sides = (self.last.cards, self.cards)
        while True:
            ids = {side[path].id for path in asked.paths for side in sides if path in side}
            named = replace(asked, ids=frozenset(ids))
            told = {
                id
                for finding in self._about_policies
                if not named.ids.issuperset(finding.policies) and named.owns(finding)
                for id in finding.policies
            }
            more = {path for side in sides for path in side.named(told)} if told else set()
            if more <= asked.paths:
                return named
            asked = replace(asked, paths=asked.paths | more)

    @cached_property
    def _about_policies(self) -> list[Finding]:
        return [finding for finding in self.last.findings if finding.policies]

    def _wider(self, asked: Selection, answer: PartAnswer) -> Selection:
        """*asked*, and all who clashed about what its policies clash or clashed about: causes are told together."""
        about = {subject for subject, paths in self.last.clashing.items() if not asked.paths.isdisjoint(paths)}
        more = {path for subject in {*about, *answer.clashing} for path in self.last.clashing.get(subject, ())}
        return asked if more <= asked.paths else self._with_told(replace(asked, paths=asked.paths | more))

    def _reading(self, asked: Selection, boxes: Boxes) -> set[str]:
        """The files of the part: those asked about, everyone who matters to them, and the words."""
        paths = self.map.around(asked.paths)
        for path, n in asked.cases:
            box = boxes[path][n]
            if box is not None:
                paths |= self.map.firing_in(box)
        return {*paths, *self._always, *(path for path, _ in asked.cases)}

    # ---- what is known afterwards -----------------------------------------------------------------------------------

    def _joined(self, asked: Selection, boxes: Boxes, answers: list[PartAnswer]) -> Snapshot:
        redone = replace(asked, cases=asked.cases | self._past_cases(boxes))
        findings = joined([self._dated(finding) for finding in self.last.findings], redone, answers)
        clashing = {s: paths for s, paths in self.last.clashing.items() if asked.paths.isdisjoint(paths)}
        return Snapshot(
            at=self.now.at.toordinal(),
            files=self.now.digests,
            signatures=self.now.signatures,
            cards=self.cards,
            cases=written_cases(boxes),
            findings=tuple(findings),
            statuses=self._statuses(redone.focus, answers),
            clashing={**clashing, **answers[0].clashing},
            complete=self.last.complete,
            expiring=self.last.expiring,
            is_final=self.last.is_final,
        )

    def _statuses(self, redone: Focus, answers: Iterable[PartAnswer]) -> dict[Concern, Row]:
        """What is known of everyone: from the last check, where nothing was asked again."""
        known = dict(self.last.statuses)
        for concern in redone.concerns:
            known.pop(concern, None)
        for answer in answers:
            known |= answer.statuses
        return known

    def _past_cases(self, boxes: Boxes) -> frozenset[tuple[str, int]]:
        """The cases of files that have changed or gone, as they were."""
        return frozenset(
            (path, n)
            for path, found in self.last.cases.items()
            if path not in boxes or self.last.files.get(path) != self.now.digests.get(path)
            for n in range(len(found))
        )

    def _dated(self, finding: Finding) -> Finding:
        """A case that was shown for the last check's day is as true on this one's: no rule begins or ends between."""
        case = finding.counterexample
        if case is None or case.get("at") != date.fromordinal(self.last.at).isoformat():
            return finding
        return replace(finding, counterexample={**case, "at": self.now.at.isoformat()})


def _surveyed(now: Inventory, paths: Collection[str]) -> dict[str, Card]:
    """Cards for those of *paths* that are policies of now."""
    policies = [path for path in sorted(paths) if path in now.files and is_policy(path)]
    return survey(now.part([*now.words, *policies], Beyond(), Selection())) if policies else {}


def _turns(kind: Kind, last: Snapshot, now: Inventory) -> bool:
    """Does something that policies of this *kind* say begin, end, or come near its end between the two days?"""
    one, two = sorted((last.at, now.at.toordinal()))
    if one == two:
        return False
    ends = kind.ends is not None and any(one <= day <= two for day in (kind.ends, kind.ends - last.expiring))
    return ends or any(one < day <= two for day in kind.days)
