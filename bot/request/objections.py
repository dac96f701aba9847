"""Somebody says that a policy or decision answer is wrong: it goes to who owns what it rests on, who answers it.

Policies change by their own review, so an objection changes nothing by itself. It names the source, the case and what
was answered, waits until an owner or a steward settles it, and whoever objected is told.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from bot.conversation import Actor, Citation, Reply, sayable
from bot.evidence.store import marks
from bot.evidence.store.connection import Connection
from bot.evidence.store.tables import audit, deliveries, remarks
from bot.index import BundleIndex
from bot.memory.corrections import LONGEST_REASON, answered
from bot.memory.structure import owners_behind
from bot.pii import Mask
from bot.services import Services
from bylaw.audit.entry import AuditEntry, after
from bylaw.authored.vocabulary import Fact
from bylaw.canonical import is_text
from bylaw.errors import UsageError

EVENT = "objection"  # what the event of a notice about one begins with
KINDS = ("policy", "decision")
_LONGEST = 2_000  # letters of an answer that are kept with it
_MOST = 10_000  # objections that are looked through
_MOST_OPEN = 20  # of one person at a time: a queue is read by people
_WHOLE = Citation(id="the answer as a whole")
OBJECTED = "I have told {people}: they see the rule, the case and your words, and answer you. Nothing has changed yet."
AGAIN = "You have said so before: it waits for an answer."


@dataclass(frozen=True)
class Objection:
    """One objection: what it is about, who said so, and what the answer was. `for_whom` may settle it."""

    objection_id: str
    request_id: str
    by: str
    reason: str
    at: datetime
    source: Citation | None
    question: str
    answer: str
    case: Mapping[str, str]
    for_whom: tuple[str, ...]

    def document(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "objection": self.objection_id,
            "request_id": self.request_id,
            "by": self.by,
            "at": self.at.isoformat(),
            "reason": self.reason,
            "source": None if self.source is None else self.source.model_dump(mode="json"),
            "question": self.question,
            "answer": self.answer,
            "case": dict(self.case),
            "for": list(self.for_whom),
        }

    def lines(self) -> list[str]:
        """In words: the rule with its line and quote, the case, what was asked and answered, what is said of it."""
        source = self.source
        place = "" if source is None or source.path is None else f" ({source.path}:{source.line or 1})"
        quote = f" “{source.text}”" if source is not None and source.text else ""
        found = [f"{self.by} says that an answer is wrong: “{self.reason}”"]
        found += [f"rule: {source.id}{place}{quote}"] if source is not None else []
        found += ["case: " + "; ".join(f"{name}: {value}" for name, value in self.case.items())] if self.case else []
        found += [f"asked: “{self.question}”"] if self.question else []
        found += [f"answered: {self.answer}"] if self.answer else []
        return found


def sources(reply: Reply) -> tuple[Citation, ...]:
    """What may be objected to about *reply*: each rule or record that it cites, once; else the answer as a whole."""
    if reply.kind not in KINDS:
        return ()
    return tuple({(one.id, one.line): one for one in reply.citations}.values()) or (_WHOLE,)


def sources_of(request_id: str, actor: Actor, services: Services) -> tuple[Citation, ...]:
    """What *actor* may object to about the answer. Raises UsageError for one they have not seen."""
    with services.store.reading() as connection:
        standing = answered(connection, request_id, actor, services)
    return () if standing.reply is None else sources(standing.reply)


def in_words(cited: Sequence[Citation], request_id: str) -> Iterator[str]:
    """The sources as lines, with the command that goes on from them."""
    for n, one in enumerate(cited, 1):
        place = "" if one.path is None else f"  {one.path}:{one.line or 1}"
        yield f"{n}. {one.id}{place}" + (f"  “{one.text}”" if one.text else "")
    yield "A policy or a record changes by its own review. Tell who owns it what is wrong:"
    yield f'bylaw correct {request_id} --source 1 --reason "…"'


def object_to(request_id: str, reason: str, actor: Actor, services: Services, source: int | None = None) -> str:
    """Keep what *actor* says is wrong, tell who owns it, and return what to tell *actor*. Raises UsageError.

    *source* is a place in `sources`; without it the first is meant.
    """
    reason = _reason(reason)
    with services.store.reading() as connection:
        standing = answered(connection, request_id, actor, services)
    reply = standing.reply
    if reply is None or reply.kind not in KINDS:
        raise UsageError("only an answer about a policy or a decision is objected to", "correct what it rests on")
    cited = sources(reply)
    if source is not None and not 0 <= source < len(cited):
        raise UsageError(f"the answer has no source {source + 1}", f"it has {len(cited)}")
    chosen = cited[source or 0] if cited else None
    body = {
        "source": None if chosen is None else chosen.model_dump(mode="json"),
        "question": standing.question.text,
        "answer": reply.text[:_LONGEST],
        "case": {name: str(value) for name, value in sorted(reply.facts.items())},
        "owners": list(_owners(reply, services.index)),
    }
    now = services.clock()
    with services.store.writing() as connection:
        if not remarks.keep(connection, request_id, actor.id, "objected", now, text=reason, correction=sayable(body)):
            return AGAIN
        if sum(one.by == actor.id for one in _all(connection, services)) > _MOST_OPEN:
            raise UsageError(f"{_MOST_OPEN} objections of yours wait already", "they are answered first")
        mine = (actor.id, "objected", reason)
        (row,) = [r for r in remarks.of(connection, request_id) if (r["actor_id"], r["kind"], r["text"]) == mine]
        made = _read(row, services)
        people = [one for one in made.for_whom if one != actor.id]
        for person in people:
            text = "\n".join([*_shown(made, Actor(id=person), services).lines(), _command(made)])
            deliveries.notify(connection, person, request_id, f"{EVENT}:{made.objection_id}", text, now)
        entry = _recorded(connection, made, actor, services, {"event": "objected", "reason": reason})
    services.anchor(after(entry))
    return OBJECTED.format(people=" and ".join(people) or "whoever looks after it")


def waiting(actor: Actor, services: Services) -> list[Objection]:
    """What waits for *actor*, the longest first: what they own, everything for a steward."""
    with services.store.reading() as connection:
        found = _all(connection, services)
    return [_shown(one, actor, services) for one in found if _may_settle(one, actor, services)]


def settle(objection_id: str, text: str, actor: Actor, services: Services) -> Objection:
    """Answer the objection; whoever made it is told, and it waits no more. Raises UsageError."""
    text = _reason(text, "the answer")
    now = services.clock()
    with services.store.writing() as connection:
        audit.lock(connection)  # who comes second finds it settled
        found = next((one for one in _all(connection, services) if one.objection_id == objection_id), None)
        if found is None or not _may_settle(found, actor, services):
            help = "`bylaw requests objections` names those that do"
            raise UsageError(f"no objection `{objection_id}` waits for `{actor.id}`", help)
        about = {"objection": found.objection_id}
        remarks.keep(connection, found.request_id, actor.id, "settled", now, text=text, correction=about)
        deliveries.supersede(connection, found.request_id, f"{EVENT}:{found.objection_id}", now)
        told = f"{actor.id} answers what you said is wrong (“{found.reason}”): {text}"
        deliveries.notify(connection, found.by, found.request_id, f"settled:{found.objection_id}", told, now)
        entry = _recorded(connection, found, actor, services, {"event": "objection settled", "text": text})
    services.anchor(after(entry))
    return found


def _all(connection: Connection, services: Services) -> list[Objection]:
    """The objections that nobody has settled, the longest waiting first."""
    done = {str((one["correction"] or {}).get("objection")) for one in remarks.of_kind(connection, "settled", _MOST)}
    made = [_read(one, services) for one in remarks.of_kind(connection, "objected", _MOST)]
    return [one for one in made if one.objection_id not in done]


def _read(row: Mapping[str, Any], services: Services) -> Objection:
    kept = row["correction"] if isinstance(row["correction"], Mapping) else {}
    roles, mask = services.index.rules.roles, Mask(services.index.rules.pii)
    owners = {user for name in kept.get("owners", ()) for user in roles.people(str(name))} - {row["actor_id"]}
    case = kept.get("case", {})
    source = kept.get("source")
    facts = services.index.vocabulary.facts
    return Objection(
        objection_id=f"O-{row['remark_id'][:12]}",
        request_id=row["request_id"],
        by=row["actor_id"],
        reason=mask.text(str(row["text"] or "")),
        at=row["at"],
        source=None if source is None else Citation.model_validate(source),
        question=mask.text(str(kept.get("question", ""))),
        answer=mask.text(str(kept.get("answer", ""))),
        case={_label(name, facts): mask.text(str(value)) for name, value in sorted(case.items())},
        for_whom=tuple(sorted(owners)) or tuple(one for one in roles.stewards() if one != row["actor_id"]),
    )


def _label(name: str, facts: Mapping[str, Fact]) -> str:
    label = facts[name].label if name in facts else None
    return str(label) if label else name.replace("_", " ")


def _shown(one: Objection, actor: Actor, services: Services) -> Objection:
    """What *actor* may read of it: of a rule that is not for them, neither its words nor what follows from them."""
    index, id = services.index, None if one.source is None else one.source.id
    rules = [rule for rule in index.ruleset.rules if rule.policy_id == id]
    mine = index.readers(actor.id)
    if all(not rule.audience or mine & set(rule.audience) for rule in rules):
        return one
    source = None if one.source is None else one.source.model_copy(update={"text": None})
    return Objection(one.objection_id, one.request_id, one.by, one.reason, one.at, source, "", "", {}, one.for_whom)


def _owners(reply: Reply, index: BundleIndex) -> Iterable[str]:
    decisions = index.bundle.decisions.decisions
    cited = [decisions[one.id] for one in reply.citations if one.id in decisions]
    named = [person for one in cited for person in (*one.deciders, one.x_extra.get("source_owner")) if person]
    return sorted({*owners_behind(reply, index), *map(str, named)})


def _may_settle(one: Objection, actor: Actor, services: Services) -> bool:
    return actor.id != one.by and (actor.id in one.for_whom or services.index.rules.roles.is_steward(actor.id))


def _command(one: Objection) -> str:
    return f'Answer it: `bylaw requests settle {one.objection_id} "…"`'


def _reason(text: str, what: str = "the reason") -> str:
    text = " ".join(text.split())
    if not text or not is_text(text) or len(text) > LONGEST_REASON:
        raise UsageError(f"{what} takes 1 to {LONGEST_REASON} characters", "say what is wrong, or what is right")
    return text


def _recorded(
    connection: Connection, one: Objection, actor: Actor, services: Services, said: Mapping[str, Any]
) -> AuditEntry:
    body = {
        **said,
        "objection": one.objection_id,
        "request_id": one.request_id,
        "source": None if one.source is None else one.source.id,
        "actor": actor.model_dump(),
        "bundle_etag": services.bundle_etag,
        "commit": services.commit,
        "artifacts": {},
    }
    rows = marks.of_request(connection, one.request_id, "requests")
    return audit.append(connection, body, services.clock, one.request_id, rows)
