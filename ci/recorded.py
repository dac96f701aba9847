"""Which recorded policy answers would be different now: an export of the audit log held against two versions.

Each answer is decided anew from the facts it was given with, for its asker, on the day of the comparison.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import IO, Any

from bylaw.audit.entry import AuditEntry
from bylaw.audit.export import open_export, verify_export
from bylaw.errors import UsageError
from bylaw.logic.decide.authorize import Authorizer, Ruling
from bylaw.logic.decide.evaluate import Evaluator
from bylaw.logic.formula.ir import ValueMisfit
from bylaw.progress import Hear, heard
from ci.diff import Version

_Case = tuple[tuple[str, str], ...]  # facts and their values, spelled
Subject = tuple[str, str]  # ("outcome", its name) or ("action", its name)
UNREADABLE = "facts that are no longer declared"
CALL = "call"  # of an action that an agent asked the gate for
NOW: Mapping[Ruling, str] = {"deny": "denied", "allow": "allowed", "ask": "asked about", "escalate": "left to a person"}
_ALL: Subject = ("", "")  # whatever was said
MOST_EXAMPLES = 5  # request ids that are named


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    """A policy answer as it was recorded: who asked, the case, and what was said.

    Of an outcome that is its action, of another action `required`, `prohibited` or `permitted`; None where nothing was.
    """

    seq: int
    request_id: str
    actor: str
    facts: Mapping[str, Any]
    said: Mapping[Subject, str | None]


@dataclass(frozen=True, slots=True)
class Kind:
    """Answers that change alike. `new_count` of them do not change under the base already; `example` is the first."""

    subject: Subject
    before: str | None
    after: str | None
    count: int
    new_count: int
    example: RecordedAnswer


@dataclass(frozen=True, slots=True)
class Recorded:
    """What a log says about two versions. `left_out_count` are policy answers whose case was redacted or not kept.

    `examples` are the first requests whose answers would be different, those not different under the base before all.
    """

    answer_count: int
    different_count: int
    new_count: int
    left_out_count: int
    kinds: tuple[Kind, ...]
    examples: tuple[str, ...] = ()

    @property
    def calls(self) -> dict[Ruling, int]:
        """Of the calls that agents asked the gate for: how many would now be decided so, and were not before."""
        mine = [kind for kind in self.kinds if kind.subject[0] == CALL]
        found = {ruling: sum(kind.new_count for kind in mine if kind.after == ruling) for ruling in NOW}
        return {ruling: count for ruling, count in found.items() if count}


def calls_in_words(calls: Mapping[Ruling, int]) -> str:
    """`14 calls of agents would now be denied, 2 allowed`; empty where there are none."""
    told = [f"{calls[ruling]:,} {now}" for ruling, now in NOW.items() if calls.get(ruling)]
    if not told:
        return ""
    first, _, now = told[0].partition(" ")
    noun = "call of an agent" if first == "1" else "calls of agents"
    return ", ".join([f"{first} {noun} would now be {now}", *told[1:]])


def read(stream: IO[bytes], name: str, hear: Hear | None = None) -> tuple[list[RecordedAnswer], int]:
    """The policy answers of an export that said something, and how many could not be read. Raises UsageError."""
    answers: list[RecordedAnswer] = []
    left_out = 0
    export = open_export(stream, name, hear)

    def answering(entries: Iterator[AuditEntry]) -> Iterator[AuditEntry]:
        nonlocal left_out
        for entry in entries:
            body = _body(entry)
            if body.get("event") == "gate" and body.get("pending") is False:
                call = _call(entry, body)
                answers.extend([] if call is None else [call])
            if body.get("event") == "reply" and body.get("kind", "policy") == "policy":
                found = _answer(entry, body)
                answers.extend([] if found is None else [found])
                left_out += found is None and "outcomes" not in body
            yield entry

    export.entries = answering(export.entries)
    verdict = verify_export(export)
    if not verdict.is_intact:
        counts = ", ".join(f"{count} {kind}" for kind, count in verdict.break_counts.items())
        raise UsageError(f"the log `{name}` does not hold: {counts}", f"see `bylaw audit verify {name}`")
    return answers, left_out


def read_log(log: str, root: Path, hear: Hear | None = None) -> tuple[list[RecordedAnswer], int]:
    """The same of a file, or of the store at an address; *hear* is told how far it is."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(log)
        if "://" in log:
            from bylaw.cli import audit_export  # only the command composes the wings

            path = Path(folder) / "log.jsonl"
            audit_export(log, root, path, hear)
        try:
            with path.open("rb") as stream:
                return read(stream, log, hear)
        except OSError as error:
            raise UsageError(f"the log `{log}` cannot be read: {error.strerror}", "see `bylaw audit export`") from None


def compare(
    answers: Sequence[RecordedAnswer], left_out: int, base: Version, head: Version, day: date, hear: Hear | None = None
) -> Recorded:
    """Decide every one of *answers* under both versions."""
    sides = _Decider(base, day), _Decider(head, day)
    found: dict[tuple[Subject, str | None, str | None], list[tuple[RecordedAnswer, bool]]] = {}
    different: dict[int, str] = {}
    new: set[int] = set()
    for answer in heard("deciding recorded answers", answers, len(answers), hear):
        case = tuple(sorted((name, repr(value)) for name, value in answer.facts.items()))
        before, after = (side.says(answer, case) for side in sides)
        for subject, said in sorted(answer.said.items()):
            now = after[subject]
            if now == said:
                continue
            is_new = before[subject] != now
            different[answer.seq] = answer.request_id
            if is_new:
                new.add(answer.seq)
            found.setdefault((subject, said, now), []).append((answer, is_new))
    ordered = sorted(found.items(), key=lambda item: (-len(item[1]), item[0][0], item[0][1] or "", item[0][2] or ""))
    kinds = tuple(
        Kind(*key, len(alike), sum(is_new for _, is_new in alike), min((a for a, _ in alike), key=lambda a: a.seq))
        for key, alike in ordered
    )
    first = sorted(different, key=lambda seq: (seq not in new, seq))[:MOST_EXAMPLES]
    return Recorded(len(answers), len(different), len(new), left_out, kinds, tuple(different[seq] for seq in first))


def document(found: Recorded) -> dict[str, Any]:
    """As JSON."""
    return {
        "answers": found.answer_count,
        "different": found.different_count,
        "not_under_base": found.new_count,
        "left_out": found.left_out_count,
        "examples": list(found.examples),
        "kinds": [
            {
                kind.subject[0]: kind.subject[1],
                "before": kind.before,
                "after": kind.after,
                "answers": kind.count,
                "not_under_base": kind.new_count,
                "example": {
                    "entry": kind.example.seq,
                    "request_id": kind.example.request_id,
                    "facts": dict(sorted(kind.example.facts.items())),
                },
            }
            for kind in found.kinds
        ],
    }


def in_words(found: Recorded, names: tuple[str, str]) -> str:
    """For a person: the count, then a line for each kind of change."""
    base, head = names
    through = f"{found.new_count} of them" if found.new_count else "none"
    what = "" if any(kind.subject[0] == CALL for kind in found.kinds) else "policy "
    lines = [
        f"{_answers(found.answer_count, what)} recorded: {found.different_count} would be different under `{head}`"
        + (f", {through} by the change since `{base}`" if found.different_count else "")
    ]
    if calls := calls_in_words(found.calls):
        lines.append(f"  {calls}, by this change")
    if found.left_out_count:
        lines.append(f"  {_answers(found.left_out_count, '')} left out: the case was redacted, or not recorded")
    for kind in found.kinds:
        facts = ", ".join(f"{name}={value}" for name, value in sorted(kind.example.facts.items()))
        nothing = {"outcome": "undecided", "action": "not spoken of", CALL: "not decided"}[kind.subject[0]]
        change = f"{kind.subject[1]}: {kind.before or nothing} → {kind.after or nothing}"
        counted = _answers(kind.count) if kind.subject[0] != CALL else f"{kind.count} call{'s' * (kind.count != 1)}"
        lines.append(f"  {change}: {counted}, such as {kind.example.request_id} ({facts})")
    return "\n".join(lines) + "\n"


class _Decider:
    """One version, asked for many cases: the same case of the same asker is decided once."""

    def __init__(self, version: Version, day: date) -> None:
        self._ruleset, self._roles, self._day = version.ruleset, version.roles, day.toordinal()
        self._vocabulary = version.vocabulary
        self._actors: dict[str, frozenset[str]] = {}
        self._evaluators: dict[frozenset[str], Evaluator] = {}
        self._known: dict[tuple[frozenset[str], _Case], Mapping[Subject, str | None]] = {}

    def says(self, answer: RecordedAnswer, case: _Case) -> Mapping[Subject, str | None]:
        """What is said of each subject of *answer*, None where the rules leave it open; *case* names its facts."""
        roles = self._roles_of(answer.actor)
        key = roles, case
        if key not in self._known:
            self._known[key] = self._decided(roles, answer)
        known = self._known[key]
        return {
            subject: known[_ALL]
            if _ALL in known
            else self._ruling(subject[1], answer)
            if subject[0] == CALL
            else known.get(subject)
            for subject in answer.said
        }

    def _ruling(self, action: str, answer: RecordedAnswer) -> str:
        """What the gate says of a call with the facts that it had, history among them."""
        if action not in self._vocabulary.actions:
            return "deny"
        variables = self._ruleset.variables
        facts = {name: variables[name].recall(shown) for name, shown in sorted(answer.facts.items())}
        found = self._authorizer.authorize(self._vocabulary.canonical(action), facts, self._day)
        return found.ruling

    @cached_property
    def _authorizer(self) -> Authorizer:
        actions = self._vocabulary.actions
        persons = {self._vocabulary.canonical(name) for name, action in actions.items() if action.person}
        return Authorizer(Evaluator(self._ruleset, is_indexed=True), persons)

    def _decided(self, roles: frozenset[str], answer: RecordedAnswer) -> Mapping[Subject, str | None]:
        try:
            facts = {name: self._ruleset.variables[name].recall(shown) for name, shown in sorted(answer.facts.items())}
        except (KeyError, ValueMisfit):
            return {_ALL: UNREADABLE}
        decision = self._evaluator(roles).decide(facts, self._day)
        kinds = (
            ("permitted", decision.permitted),
            ("prohibited", decision.prohibited),
            ("required", decision.required),
        )
        duties = {("action", action): kind for kind, actions in kinds for action in actions}
        return {**duties, **{("outcome", name): result.action for name, result in decision.outcomes.items()}}

    def _roles_of(self, actor: str) -> frozenset[str]:
        if actor not in self._actors:
            self._actors[actor] = frozenset(self._roles.roles_of(actor))
        return self._actors[actor]

    def _evaluator(self, roles: frozenset[str]) -> Evaluator:
        if roles not in self._evaluators:
            rules = tuple(rule for rule in self._ruleset.rules if not rule.audience or roles & set(rule.audience))
            self._evaluators[roles] = Evaluator(replace(self._ruleset, rules=rules))
        return self._evaluators[roles]


def _body(entry: AuditEntry) -> Mapping[str, Any]:
    """What was recorded; nothing for an entry that verifying will report."""
    try:
        return entry.body
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def _answer(entry: AuditEntry, body: Mapping[str, Any]) -> RecordedAnswer | None:
    match body:
        case {"facts": dict(facts), "outcomes": dict(outcomes), "actor": {"id": str(actor)}, "request_id": str(id_)}:
            said = {**_subjects("outcome", outcomes), **_subjects("action", body.get("duties"))}
            return RecordedAnswer(entry.seq, id_, actor, facts, said) if said else None
    return None


def _call(entry: AuditEntry, body: Mapping[str, Any]) -> RecordedAnswer | None:
    """A call that the gate decided. One that was refused before any rule was asked is not decided anew either."""
    match body:
        case {"refused": True}:
            return None
        case {"facts": dict(facts), "action": str(action), "ruling": str(ruling), "request_id": str(id_)}:
            return RecordedAnswer(entry.seq, id_, str(body.get("actor") or ""), facts, {(CALL, action): ruling})
    return None


def _subjects(kind: str, told: Any) -> dict[Subject, str | None]:
    known = told if isinstance(told, dict) else {}  # entries of earlier versions have outcomes alone
    return {(kind, name): None if said is None else str(said) for name, said in known.items()}


def _answers(count: int, kind: str = "policy ") -> str:
    return f"{count} {kind}{'answer' if count == 1 else 'answers'}"
