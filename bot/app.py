"""The composition root: builds the Services out of the settings, and watches the bundle they come from.

A bundle that is refused leaves the one before it in service.
"""

from __future__ import annotations

import gc
import importlib
import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from bot.agents import open_all
from bot.analytics import prepared
from bot.analytics.plan.plans import Settle, always
from bot.analytics.reader.asking import begins_with_write, is_write_request
from bot.clock import new_id, now
from bot.conversation import Question, Turn
from bot.decisions import answer as decisions
from bot.enforcement.question.intent import asks_for_permission, is_regulated, is_request
from bot.enforcement.question.topic import recognise
from bot.evidence.artifacts import Shelf
from bot.evidence.store.engine import Store, StoreError, beside, connect
from bot.evidence.store.migrate import HEAD, revision, upgrade
from bot.evidence.store.pulse import is_writable
from bot.evidence.store.tables import audit
from bot.evidence.store.tables import served as served_bundle
from bot.evidence.store.tables.papers import shelf_of
from bot.index import BundleIndex
from bot.request.confirmation import settling
from bot.router import Answer, Answerer, Thresholds, thresholds
from bot.services import Readiness, Services
from bot.settings import Settings
from bylaw.audit.entry import Checkpoint
from bylaw.audit.export import add_checkpoint, read_checkpoints
from bylaw.audit.head import Head
from bylaw.bundle import read
from bylaw.errors import BundleError
from bylaw.language.reports import asks_a_price, asks_for_a_rule, counts, is_report
from bylaw.llm.guarded import Guard
from bylaw.llm.registry import Off, open_llm
from bylaw.signature import Keys
from bylaw.warehouses.attended import Attended
from bylaw.warehouses.port import Warehouse
from bylaw.warehouses.registry import open_warehouse

BEAT_SECONDS = 1.0  # how long it is believed that the store can, or cannot, be written

_log = logging.getLogger("bylaw.bot")

# a file's time, size and identity: what changes when another bundle is put in its place
_Signature = tuple[int, int, int]


@dataclass
class Bot:
    """What answers questions from the newest good bundle at `path`. Safe to use from several threads."""

    path: Path
    _services: Services
    _signature: _Signature | None
    _close: Callable[[], None]
    _admit: Callable[[BundleIndex], None]
    _keys: Keys = ()
    _refused: str | None = None
    _reloading: threading.Lock = field(default_factory=threading.Lock)
    _pulse: threading.Lock = field(default_factory=threading.Lock)
    _is_beating: bool = False
    _beat_until: float = 0.0

    def services(self) -> Services:
        """The services of the newest bundle that holds; what is being answered goes on with the one it began with."""
        if _signature(self.path) != self._signature and self._reloading.acquire(blocking=False):
            try:
                self._reload()
            finally:
                self._reloading.release()
        return self._services

    def readiness(self) -> Readiness:
        """Is there a bundle, and does the store keep what it is given, in the tables of this version?"""
        services = self.services()
        is_reachable = _is_current(services.store)
        is_writable = is_reachable and self._beats(services.store)
        return Readiness(is_writable, services.bundle_etag, services.commit, is_reachable, self._refused, is_writable)

    def settle(self) -> None:
        """For whoever serves long: build what the first question would wait for, look ahead at what will be decided,
        and spare what stays from every search for garbage, which would hold all requests up.
        """
        for answerer in self._services.answerers:
            answerer.prepare(self._services.index)
        self._services.index.evaluator.prepare()
        gc.unfreeze()
        gc.collect()
        gc.freeze()

    def close(self) -> None:
        """Let go of the store and the warehouse, and of what `settle` kept from the search for garbage."""
        self._close()
        gc.unfreeze()

    def _beats(self, store: Store) -> bool:
        """Is the store writable, as found out a moment ago at most? Anybody may ask, and it costs a sync."""
        with self._pulse:
            if time.monotonic() >= self._beat_until:
                self._is_beating = is_writable(store, now())
                self._beat_until = time.monotonic() + BEAT_SECONDS
            return self._is_beating

    def _learn(self) -> None:
        """What the new bundle says itself need not be anybody's private correction any more."""
        from bot.memory import candidates  # only whoever serves long hears of a newer bundle

        try:
            candidates.retire(self._services, now())
        except StoreError as error:  # the next tick looks again
            _log.warning("what was merged is not known yet", extra={"meta": {"reason": error.message}})

    def _reload(self) -> None:
        seen = _signature(self.path)
        try:
            index = _load(self.path, self._services.answerers, self._keys)
            self._admit(index)
        except BundleError as error:
            self._refused = error.message
            _log.warning("the bundle was refused, the one before it stays", extra={"meta": {"reason": error.message}})
        except StoreError as error:
            _log.warning("whether the bundle is newer is not known yet", extra={"meta": {"reason": error.message}})
            return  # tried again with the next question
        else:
            kept = _kept(self.path, index, self._services.artifacts)
            self._services = replace(
                self._services,
                index=index,
                bundle_etag=index.etag,
                commit=index.commit,
                bundle_artifact=kept,
                thresholds=_thresholds(index),
            ).under(index.rules.autonomy)
            self._refused = None
            self.settle()
            self._learn()
            _log.info("a bundle was loaded", extra={"snapshot_etag": index.etag})
        self._signature = seen


def open_bot(
    settings: Settings,
    bundle: Path,
    given: tuple[Answerer, ...] | None = None,
    is_compiled_here: bool = False,
    promoting: Callable[[str, Any, Services], str] | None = None,
) -> Bot:
    """A bot on the bundle in the file *bundle*, with the three answerers unless others are *given*.

    Raises BundleError when the bundle is refused: there is no earlier one. One that is compiled here may be older than
    the last: whoever checks out an older commit has said so.
    """
    seen = _signature(bundle)
    index = BundleIndex(read(bundle, settings.bundle_keys))
    limits = index.rules.autonomy.execution
    warehouse = None
    if settings.warehouse is not None:
        warehouse = open_warehouse(settings.warehouse, statement_seconds=limits.statement_seconds)
    llm = open_llm(settings.llm, time.monotonic)
    model = None if isinstance(llm.llm, Off) else llm
    store = connect(settings.store_url, settings.root)
    served = answerers(warehouse, model, settling(store, now, anchoring(settings))) if given is None else given
    open_all(llm, index.rules.agents)
    upgrade(store)

    def admit(newer: BundleIndex) -> None:
        if not is_compiled_here:
            with store.writing() as connection:
                served_bundle.admit(connection, newer.bundle.bundle_metadata, settings.rollback_to, now())

    def close() -> None:
        store.close()
        llm.close()
        if warehouse is not None:
            warehouse.close()

    try:
        notice_loss(settings, store)
        admit(index)
    except BundleError:
        close()
        raise
    artifacts = shelf_of(settings.artifacts, settings.root, store)
    services = Services(
        index=index,
        bundle_etag=index.etag,
        commit=index.commit,
        store=store,
        artifacts=artifacts,
        answerers=served,
        llm=model,
        warehouse=warehouse,
        clock=now,
        new_id=new_id,
        thresholds=_thresholds(index),
        lease=timedelta(seconds=settings.lease_seconds),
        bundle_artifact=_kept(bundle, index, artifacts),
        anchor=anchoring(settings),
        promoting=promoting,
    ).under(index.rules.autonomy)
    return Bot(bundle, services, seen, close, admit, settings.bundle_keys)


def anchoring(settings: Settings) -> Callable[[Checkpoint], None]:
    """What hears of each entry of the chain: it is said where the chain stands, and every so often for good."""
    path, head = checkpoints_of(settings), head_of(settings)

    def anchor(tail: Checkpoint) -> None:
        try:
            head.write(tail)
            if tail.count % settings.checkpoint_every == 0:
                add_checkpoint(path, tail)
        except OSError as error:  # the reply is kept already; the next one covers these entries too
            _log.warning("a checkpoint could not be written", extra={"meta": {"reason": str(error)}})

    return anchor


def checkpoints_of(settings: Settings) -> Path:
    """The file of the chain's checkpoints: beside the store, unless it is named."""
    if settings.checkpoint is not None:
        return settings.root / settings.checkpoint
    return beside(settings.store_url, settings.root, "checkpoints.jsonl")


def _known(path: Path) -> tuple[Checkpoint, ...]:
    return read_checkpoints(path) if path.exists() else ()


def head_of(settings: Settings) -> Head:
    """The file that says where the chain stands."""
    return Head(beside(settings.store_url, settings.root, "head"))


def notice_loss(settings: Settings, store: Store) -> None:
    """Say so where the chain is not as long as it was, or another one. What was known of it stays on record."""
    last = head_of(settings).read()
    if last is None:
        return
    with store.reading() as connection:
        if audit.hash_at(connection, last.count) == last.head:
            return
    _log.error("the audit log is not the one that was written here: see `bylaw audit verify`")
    try:
        if last not in _known(checkpoints_of(settings)):
            add_checkpoint(checkpoints_of(settings), last)
    except OSError as error:
        _log.warning("a checkpoint could not be written", extra={"meta": {"reason": str(error)}})


def answerers(warehouse: Warehouse | None, llm: Guard | None = None, settle: Settle = always) -> tuple[Answerer, ...]:
    """The three kinds of answer. Where two are equally sure, the earlier one speaks. *settle* closes shown plans."""

    def decision(question: Question, state: dict[str, Any], index: BundleIndex) -> Turn:
        return decisions.answer(question, state, index, time.monotonic)

    def data_from(rows: Warehouse | None) -> Answer:
        def data(question: Question, state: dict[str, Any], index: BundleIndex) -> Turn:
            known = {entity.base_table.schema_name for entity in index.bundle.context.entities.values()}
            rights = index.rules.roles.rights_of(question.actor.id, known)
            from bot.analytics import answer as analytics  # heavy, and no question of another kind needs it

            return analytics.answer(question, state, index, rows, rights, settle, llm)

        return data

    def attended(gone: threading.Event) -> Answer:
        return data_from(None if warehouse is None else Attended(warehouse, gone))

    def policy(question: Question, state: dict[str, Any], index: BundleIndex) -> Turn:
        from bot.enforcement import answer as enforcement  # heavy, and no question of another kind needs it

        return enforcement.answer(question, state, index, llm)

    return (
        Answerer(
            "decision",
            _decision_score,
            decision,
            decisions.topics,
            decisions.prepare,
            only_computes=True,
        ),
        Answerer(
            "data",
            _data_score,
            data_from(warehouse),
            prepared.topics,
            _data_prepared,
            attended,
            personal=_personal,
            continues=prepared.continues,
        ),
        Answerer("policy", recognise.score, policy, recognise.topics, only_computes=llm is None),
    )


def _decision_score(text: str, index: BundleIndex) -> float:
    """How much *text* is a question about a decision. Who may do something is a rule, not what was once decided."""
    score = decisions.is_decision_question(text, index)
    return min(score, float(index.rules.routing.answer_from) / 2) if asks_for_permission(text) else score


def _personal(answerer: Answerer, recalled: Any, index: BundleIndex) -> Answerer:
    """*answerer*, for a person of whom something is remembered."""
    from bot.memory import personal  # most people have nothing to be remembered

    return personal.answering(answerer, recalled, index)


def _data_prepared(index: BundleIndex) -> None:
    """All that the first data question would otherwise wait for."""
    importlib.import_module("bot.analytics.answer")
    prepared.prepare(index)


def _data_score(text: str, index: BundleIndex) -> float:
    """How much *text* is a data question."""
    return index.recently(_scored)(text)


def _scored(index: BundleIndex, text: str) -> float:
    """How much *text* is a data question. A word like "remove" makes it a request to write, but no more than likely:
    "can I remove a review?" asks about the policy, and answering that writes nothing."""
    if not index.bundle.context.entities:
        return 0.0  # there is no data to ask about, or to write to
    weights = index.rules.routing.data
    if is_write_request(text):
        if asks_for_permission(text) and not is_request(text):
            return 0.0  # "can I remove a review?" wants to know whether it may be done
        return float(weights.write_command if begins_with_write(text) else weights.write_request)
    score = prepared.score(text, index)
    edge = float(index.rules.routing.answer_from)
    # "how much does shipping cost to Germany?": of no time and no group, it asks for what holds
    if asks_a_price(text) and not counts(text) and recognise.score(text, index) >= edge:
        return min(score, edge)
    if score < index.rules.routing.interrupt_from and asks_for_permission(text):
        return min(score, edge / 2)  # what somebody may is a rule, where data hardly know it
    # "how long does a VIP have to return it?" is about data where no policy is about it
    if asks_for_a_rule(text) or is_regulated(text) or recognise.is_of_a_case(text, index):
        return min(score, edge)
    return max(score, float(weights.report)) if is_report(text) else score


def _thresholds(index: Any) -> Thresholds:
    """The edges of the bundle's own rules."""
    return thresholds(index.rules.routing)


def _load(path: Path, answerers: tuple[Answerer, ...], keys: Keys) -> BundleIndex:
    """The index of the bundle at *path*, warmed up before anybody waits for it."""
    index = BundleIndex(read(path, keys))
    for answerer in answerers:
        answerer.prepare(index)
    return index


def _kept(path: Path, index: BundleIndex, artifacts: Shelf) -> str | None:
    """The bundle's fingerprint on the shelf; None when another bundle has taken its place in the file meanwhile."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError:
        return None
    return artifacts.put_text(text) if index.etag in text else None


def _signature(path: Path) -> _Signature | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_size, found.st_ino)


def _is_current(store: Store) -> bool:
    try:
        with store.reading() as connection:
            return store.is_reachable() and revision(connection) == HEAD
    except StoreError:
        return False
