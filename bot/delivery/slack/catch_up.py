"""Hears what was said while nobody listened: each conversation the bot is in is read from where it last listened.

Slack sends what somebody says three more times within five minutes; what is lost after that stands in the histories.
Who reads one holds a lease; what was heard before has its key in the store and is not answered again.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from itertools import groupby
from operator import attrgetter
from typing import Any

from bot.conversation import Actor
from bot.delivery.listeners import ask, calls
from bot.delivery.listeners.heard import Heard, is_direct, is_stamp, moment_of
from bot.delivery.listeners.threads import Threads
from bot.evidence.store.connection import Connection
from bot.evidence.store.tables import audit, deliveries, sessions, watches
from bot.evidence.store.tables.watches import Watch
from bot.request.backoff import wait_after
from bot.services import Services

EVERY = timedelta(minutes=10)  # how often each conversation is read
_PLACES = 5  # conversations in one round: Slack allows some fifty calls a minute, and rounds come every 15 seconds
_APART = timedelta(seconds=3)  # of one conversation to the next, on the average
_SKEW = timedelta(minutes=1)  # how much Slack's clock and ours may differ: so much is read twice
_PAGES = 60  # of one conversation: what was said before is told as unread
_PAGE = 200  # messages; to some apps Slack gives fewer
_WAITS = 40  # for Slack's limits, in one conversation
_KINDS: Mapping[str, tuple[str, str]] = {
    "public_channel": ("channels:read", "public channels"),
    "private_channel": ("groups:read", "private channels"),
    "im": ("im:read", "direct messages"),
}
_GONE = frozenset({"not_in_channel", "channel_not_found", "is_archived"})
_LACKS = "{what}: the app lacks the scope {scope}; install it again from bot/manifest.json"
_UNREAD = (
    "More was said in the conversation {channel} while I could not be reached than I read through: of what was said "
    "between {since} and {until} I know nothing. Who asked me something there has to ask again."
)

Pause = Callable[[float], object]  # true where there is no more time
Call = Callable[..., Any]
_log = logging.getLogger("bylaw.slack")


class _Ending(Exception):
    """There is no more time, or somebody else took it over."""


def catch_up(threads: Threads, pause: Pause) -> int:
    """Take up what was said to the bot and nobody heard, as far as that is due; how much it was."""
    services = threads.serving.services()
    with services.store.reading() as connection:
        is_known = watches.load(connection, threads.watch_name()) is not None
    if not is_known:
        with services.store.writing() as connection:
            watches.begin(connection, threads.watch_name(), services.clock())  # nobody was there before
        return 0
    try:
        _list_conversations(threads, pause)
        with services.store.reading() as connection:
            due = watches.due(connection, f"{threads.watch_name()}:", services.clock(), EVERY, _PLACES)
            usual = 2 * EVERY + _APART * watches.count(connection, f"{threads.watch_name()}:")
        return sum(_read(name, usual, threads, pause) for name in due)
    except _Ending:
        return 0


def _list_conversations(threads: Threads, pause: Pause) -> None:
    """Find the conversations that the bot is in, and what it may not know of."""
    services = threads.serving.services()
    watch = _claim(threads.watch_name(), services)
    if watch is None:
        return
    now, found, unseen = services.clock(), set(), []
    for kind, (scope, what) in _KINDS.items():
        asked = {"types": kind, "exclude_archived": True}
        try:
            for page in _pages(threads.client.users_conversations, asked, watch, services, pause):
                found |= {str(one.get("id")) for one in page.get("channels") or []}
        except calls.FAILED as error:
            if calls.code(error) != "missing_scope":
                _postpone(watch, error, services)
                return
            unseen.append(_LACKS.format(what=what, scope=scope))
    with services.store.writing() as connection:
        for channel in sorted(found):
            watches.begin(connection, threads.watch_name(channel), watch.seen_until)
        watches.settle(connection, watch, now, "\n".join(unseen) or None)
    if unseen and "\n".join(unseen) != watch.unseen:
        _log.warning("not everything that was said can be looked up", extra={"meta": {"unseen": unseen}})


def _read(name: str, usual: timedelta, threads: Threads, pause: Pause) -> int:
    """Read one conversation from where it was last read, which is *usual* so long ago; how much nobody had heard."""
    services = threads.serving.services()
    watch = _claim(name, services)
    if watch is None:
        return 0
    channel, until = name.rpartition(":")[2], services.clock()
    try:
        oldest = watch.seen_until if until - watch.seen_until <= usual else watch.seen_until - services.session_life
        said, unread_until = _listen(channel, watch, (oldest, until), threads, pause)
    except calls.FAILED as error:
        _give_up(channel, watch, error, services)
        return 0
    heard = _take_up(said, channel, until, threads)
    with services.store.writing() as connection:
        if unread_until is not None:
            _tell_unread(connection, channel, watch.seen_until, unread_until, services)
        watches.settle(connection, watch, max(watch.seen_until, until - _SKEW), None)
    if heard:
        _log.info("what nobody had heard is taken up", extra={"meta": {"channel": channel, "count": len(heard)}})
    return len(heard)


def _listen(
    channel: str, watch: Watch, span: tuple[datetime, datetime], threads: Threads, pause: Pause
) -> tuple[list[Mapping[str, Any]], datetime | None]:
    """What was said there since, in the conversation and in its threads; before when there is more that is not read.

    *span* is of the messages that are looked at: after a long silence of ours also threads that began before it.
    """
    services, since, (oldest, until) = threads.serving.services(), watch.seen_until, span
    asked = {"channel": channel, "oldest": _stamp(oldest), "latest": _stamp(until)}
    said: list[Mapping[str, Any]] = []
    unread_until, count = until, 0
    for page in _pages(threads.client.conversations_history, asked, watch, services, pause):
        for message in _messages(page):
            said += [message] if moment_of(message["ts"]) > since else []
            if _has_replies(message, since):
                replied = {"channel": channel, "ts": message["ts"], "oldest": _stamp(since), "latest": _stamp(until)}
                for replies in _pages(threads.client.conversations_replies, replied, watch, services, pause):
                    said += [one for one in _messages(replies) if one["ts"] != message["ts"]]
                    count += 1
                    if count >= _PAGES:
                        return said, unread_until
            unread_until = moment_of(message["ts"])
        count += 1
        if count >= _PAGES and page.get("has_more"):
            return said, unread_until
    return said, None


def _has_replies(message: Mapping[str, Any], since: datetime) -> bool:
    latest = message.get("latest_reply")
    return isinstance(latest, str) and is_stamp(latest) and moment_of(latest) > since


def _take_up(said: list[Mapping[str, Any]], channel: str, now: datetime, threads: Threads) -> list[Heard]:
    """Keep what was said to the bot and is not kept yet, and have it answered, in each thread in its order."""
    services = threads.serving.services()
    late = timedelta(hours=services.index.rules.autonomy.late_hours)
    taken = []
    for message in sorted(said, key=lambda one: moment_of(one["ts"])):
        heard = _hear({**message, "channel": channel}, threads)
        if heard is None or _is_recorded(heard.key, services):
            continue
        heard = heard.model_copy(update={"is_late": now - heard.said_at > late})
        if threads.take(heard):
            taken.append(heard)
    for _, thread in groupby(sorted(taken, key=attrgetter("session_id")), key=attrgetter("session_id")):
        threads.hand_over(*sorted(thread, key=attrgetter("said_at", "key")))
    return taken


def _hear(message: Mapping[str, Any], threads: Threads) -> Heard | None:
    """What Slack would have sent: a mention, a direct message, or a word that the bot waited for when it was said."""
    text = str(message.get("text") or "")
    if f"<@{threads.bot_user}>" in text or f"<@{threads.bot_user}|" in text:
        return ask.mention(message, threads)
    heard = ask.message(message, threads)
    if heard is None or is_direct(heard.channel):
        return heard
    services = threads.serving.services()
    with services.store.reading() as connection:
        moved_at = sessions.moved_at(connection, heard.session_id, Actor(id=heard.user))
    return heard if moved_at is None or moved_at < moment_of(str(message["ts"])) else None


def _is_recorded(key: str, services: Services) -> bool:
    """Was it answered, and what was said taken away since?"""
    with services.store.reading() as connection:
        return bool(audit.about(connection, key))


def _pages(
    method: Call, asked: Mapping[str, Any], watch: Watch, services: Services, pause: Pause
) -> Iterator[Mapping[str, Any]]:
    """The pages of an answer; where Slack wants to be left alone, after so long. Raises what the call raises."""
    cursor: str | None = None
    waits = 0
    while True:
        try:
            page = method(**asked, limit=_PAGE, **({"cursor": cursor} if cursor else {}))
        except calls.FAILED as error:
            failure = calls.read_failure(error)
            waits += 1
            if failure.cause != "limit" or failure.rest is None or waits > _WAITS:
                raise
            _wait(failure.rest, watch, services, pause)
            continue
        yield page.data
        cursor = (page.data.get("response_metadata") or {}).get("next_cursor")
        if not cursor:
            return


def _wait(rest: timedelta, watch: Watch, services: Services, pause: Pause) -> None:
    """Leave Slack alone for so long, and keep the lease. Raises _Ending."""
    with services.store.writing() as connection:
        is_ours = watches.renew(connection, watch, services.clock() + rest + services.lease)
    if not is_ours or pause(rest.total_seconds()):
        raise _Ending


def _claim(name: str, services: Services) -> Watch | None:
    now = services.clock()
    with services.store.writing() as connection:
        return watches.claim(connection, name, services.new_id(), now, EVERY, services.lease)


def _give_up(channel: str, watch: Watch, error: Exception, services: Services) -> None:
    """It cannot be read: it is no more, the app may not, or not now."""
    word = calls.code(error)
    if word in _GONE:
        with services.store.writing() as connection:
            watches.end(connection, watch)
        return
    unseen = None
    if word == "missing_scope":
        unseen = _LACKS.format(what=f"what is said in {channel}", scope=calls.missing_scope(error))
    _postpone(watch, error, services, unseen)


def _postpone(watch: Watch, error: Exception, services: Services, unseen: str | None = None) -> None:
    _log.warning("what was said could not be read", extra={"meta": {"reason": calls.why(error), "of": watch.name}})
    wait = wait_after(watch.attempts, services.chance(), calls.read_failure(error).rest)
    with services.store.writing() as connection:
        watches.postpone(connection, watch, services.clock() + wait, unseen or watch.unseen)


def _tell_unread(connection: Connection, channel: str, since: datetime, until: datetime, services: Services) -> None:
    """Who looks after the bot hears of what it did not read."""
    span = {"since": f"{since:%Y-%m-%d %H:%M}", "until": f"{until:%Y-%m-%d %H:%M} UTC"}
    text = _UNREAD.format(channel=channel, **span)
    for steward in services.index.rules.roles.stewards():
        deliveries.notify(connection, steward, channel, f"unread since {span['since']}", text, services.clock())


def _messages(page: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for message in page.get("messages") or []:
        if isinstance(message, Mapping) and is_stamp(str(message.get("ts") or "")):
            yield message


def _stamp(moment: datetime) -> str:
    return f"{moment.timestamp():.6f}"
