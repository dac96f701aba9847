"""Sends what is kept, once: looked for where it may be there already, and settled by how Slack took it.

Slack has no key by which it would know a message that it was given twice. So each carries the name of its delivery in
its metadata, and where it is open whether one was posted, the place is read before another one is.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError
from slack_sdk.web import SlackResponse

from bot.delivery.listeners import calls
from bot.delivery.listeners.calls import Failure
from bot.evidence.store.tables import deliveries
from bot.evidence.store.tables.deliveries import Cause, Held
from bot.request.backoff import wait_after
from bot.request.refusals import UNREADABLE, UNSEEN
from bot.services import Services

EVENT_TYPE = "bylaw_reply"  # of a message's metadata: whose answer it is
Place = Mapping[str, str]
Post = Callable[[], Place]
Look = Callable[[], Place | None]

_log = logging.getLogger("bylaw.slack")
_PAGE = 200  # messages at a time; to some apps Slack gives fewer, and says how to go on
_PAGES = 50  # that are looked through
_POSTING = timedelta(minutes=2)  # longer than a client waits for Slack
_APART = timedelta(minutes=5)  # how much Slack's clock and ours may differ


class Unseen(Exception):
    """There is more to look through than is looked through."""


class _Lost(Exception):
    """The lease ran out, and somebody else has it now."""


def mark(delivery_id: str) -> dict[str, Any]:
    """The metadata that a message of this delivery carries."""
    return {"event_type": EVENT_TYPE, "event_payload": {"key": delivery_id}}


def send(held: Held, post: Post, look: Look, services: Services) -> Place | Cause | None:
    """Post it, unless an earlier attempt did: the place where it is, or why it waits; None: it is another's now."""

    def post_as_owner() -> Place:
        if not _is_ours(held, services):
            raise _Lost
        return post()

    try:
        found = _place(held, post_as_owner, look)
    except _Lost:
        return None
    except Unseen:
        return _wait_for_a_person(held, UNSEEN, services)
    if isinstance(found, Failure):
        return settle_failure(held, found, services)
    with services.store.writing() as connection:
        now = services.clock()
        is_ours = deliveries.close(connection, held, now, found)
        if is_ours and held.cause is not None:
            deliveries.hasten(connection, now)
    return found if is_ours else None


def settle_failure(held: Held, failure: Failure, services: Services) -> Cause:
    """Slack did not take it, or did not say so: it waits for its time, or for a person where time does not help."""
    if failure.cause == "refused":
        return _wait_for_a_person(held, failure.word, services)
    _log.error("Slack did not take a message", extra=_describe(held, failure.word))
    wait = wait_after(held.attempts, services.chance(), failure.rest)
    with services.store.writing() as connection:
        until = services.clock() + wait
        deliveries.postpone(connection, held, until, failure.word, failure.cause, not failure.is_certain)
    return failure.cause


def set_aside(delivery_id: str, services: Services) -> Cause | None:
    """Let what cannot be read wait for a person; the others go on."""
    with services.store.writing() as connection:
        held = deliveries.claim(connection, delivery_id, services.new_id(), services.clock(), services.lease)
    return None if held is None else _wait_for_a_person(held, UNREADABLE, services)


@dataclass(frozen=True)
class Where:
    """A conversation, as the bot reads it. What others post there is none of ours, whatever it carries."""

    client: WebClient
    channel: str
    bot_user: str


def find_posted(pages: Iterable[Mapping[str, Any]], where: Where, delivery_id: str) -> Place | None:
    """Where in *pages* of messages the one of this delivery stands. Raises Unseen where there are too many."""
    for number, page in enumerate(pages):
        if number == _PAGES:
            raise Unseen
        for message in page.get("messages") or []:
            if message.get("user") == where.bot_user and _key(message) == delivery_id:
                return {"channel": where.channel, "ts": str(message.get("ts"))}
    return None


def look_in_thread(where: Where, thread: str, held: Held, since: datetime) -> Place | None:
    """Where in a thread a message of this delivery stands, of those sent *since* then."""
    try:
        pages = where.client.conversations_replies(
            channel=where.channel, ts=thread, include_all_metadata=True, limit=_PAGE, oldest=_stamp(since)
        )
        return find_posted(_read(pages), where, held.delivery_id)
    except SlackApiError as error:
        if calls.code(error) == "thread_not_found":  # its first message was deleted before anybody answered
            return None
        raise


def look_in_channel(where: Where, held: Held) -> Place | None:
    """Where in a conversation a message of this delivery stands, of those sent since it is kept."""
    since = _stamp(held.created_at - _APART)
    pages = where.client.conversations_history(
        channel=where.channel, include_all_metadata=True, limit=_PAGE, oldest=since
    )
    return find_posted(_read(pages), where, held.delivery_id)


def _place(held: Held, post: Post, look: Look) -> Place | Failure:
    """Where it is now, or how that failed. After a doubtful outcome it is tried once more at once: somebody waits.

    INVARIANT: nothing is posted while it is open whether an earlier post is there, or by whom the lease is not.
    """
    is_doubtful = held.is_doubtful
    for is_last in (False, True):
        is_posting = False
        try:
            if is_doubtful and (found := look()) is not None:
                return found
            is_posting = True
            return post()
        except calls.FAILED as error:
            failure = calls.read_failure(error)
        is_doubtful = not (is_posting and failure.is_certain)
        if is_last or failure.is_certain or not is_posting:
            break
    return replace(failure, is_certain=not is_doubtful)


def _is_ours(held: Held, services: Services) -> bool:
    """Is it still ours to post? From now on it may be there, and for as long as a post takes nobody takes it over."""
    with services.store.writing() as connection:
        return deliveries.renew(connection, held, services.clock(), max(services.lease, _POSTING))


def _wait_for_a_person(held: Held, word: str, services: Services) -> Cause:
    _log.error("Slack does not take a message: it waits for a person", extra=_describe(held, word))
    with services.store.writing() as connection:
        deliveries.block(connection, held, services.clock(), word)
    return "refused"


def _read(pages: SlackResponse) -> Iterator[Mapping[str, Any]]:
    for page in pages:
        if isinstance(page.data, Mapping):
            yield page.data


def _key(message: Mapping[str, Any]) -> object:
    told = message.get("metadata") or {}
    return (told.get("event_payload") or {}).get("key") if told.get("event_type") == EVENT_TYPE else None


def _stamp(moment: datetime) -> str:
    return f"{int(moment.timestamp())}.000000"


def _describe(held: Held, word: str) -> dict[str, Any]:
    return {"request_id": held.delivery_id, "meta": {"reason": word, "attempts": held.attempts}}
