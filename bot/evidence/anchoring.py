"""Where the chain stands, said beside the store with each entry: a chain that was cut off or put back is noticed."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

from bot.evidence.store.engine import Store, beside
from bot.evidence.store.tables import audit
from bot.settings import Settings
from bylaw.audit.entry import Checkpoint
from bylaw.audit.head import Head

_log = logging.getLogger("bylaw.bot")


def anchoring(settings: Settings) -> Callable[[Checkpoint], None]:
    """What hears of each entry of the chain: it is said where the chain stands, and every so often for good."""
    path, head = checkpoints_of(settings), head_of(settings)

    def anchor(tail: Checkpoint) -> None:
        try:
            head.write(tail)
            if tail.count % settings.checkpoint_every == 0:
                from bylaw.audit.export import add_checkpoint

                add_checkpoint(path, tail)
        except OSError as error:  # the reply is kept already; the next one covers these entries too
            _log.warning("a checkpoint could not be written", extra={"meta": {"reason": str(error)}})

    return anchor


def checkpoints_of(settings: Settings) -> Path:
    """The file of the chain's checkpoints: beside the store, unless it is named."""
    if settings.checkpoint is not None:
        return settings.root / settings.checkpoint
    return beside(settings.store_url, settings.root, "checkpoints.jsonl")


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
    from bylaw.audit.export import add_checkpoint, read_checkpoints

    path = checkpoints_of(settings)
    try:
        if not path.exists() or last not in read_checkpoints(path):
            add_checkpoint(path, last)
    except OSError as error:
        _log.warning("a checkpoint could not be written", extra={"meta": {"reason": str(error)}})
