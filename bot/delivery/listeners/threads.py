"""From an utterance to its answer in the thread: kept, claimed, answered, posted, closed; once, by whoever gets to it.

What was kept is acknowledged, so it is never lost: a process that dies leaves a lease that runs out, and `resume`
takes the utterance up again. A second attempt first looks whether the first one got as far as posting.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

from bot import rights
from bot.conversation import Actor, Question, Reply
from bot.delivery.blocks import answer, kit
from bot.delivery.blocks.files import has_files
from bot.delivery.listeners import calls
from bot.delivery.listeners.attach import attach
from bot.delivery.listeners.heard import Heard
from bot.evidence.store.engine import StoreError
from bot.evidence.store.tables import deliveries
from bot.evidence.store.tables.deliveries import Held
from bot.evidence.store.tables.requests import RequestConflict
from bot.request.orchestrator import handle
from bot.services import Services, Serving
from bylaw.errors import UsageError

EVENT_TYPE = "bylaw_reply"  # of a message's metadata: whose answer it is
STRANGER = "I answer the people of the workspace I belong to. Ask somebody there to ask me."
PRIVATE = "Only you can see this: it is not for everyone here."
ELSEWHERE = f"{PRIVATE} As a file it comes only in a direct message: ask me there."

_log = logging.getLogger("bylaw.slack")
_PAUSE = timedelta(seconds=30)  # before a post that Slack did not take is tried again
_PAGE = 200  # messages of a thread; to some apps Slack gives fewer, and says how to go on
_NO_BLOCKS = frozenset({"invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long"})


@dataclass(frozen=True)
class Threads:
    """The threads that listeners answer in. `team` and `bot_user` are the bot's own; `work` runs what takes longer."""

    serving: Serving
    client: WebClient
    team: str
    bot_user: str
    work: Executor

    def take(self, heard: Heard) -> bool:
        """Keep *heard*, so that it may be acknowledged. False: it was kept before, by whomever."""
        services = self.serving.services()
        with services.store.writing() as connection:
            return deliveries.keep(connection, heard.key, heard.model_dump(mode="json"), services.clock())

    def hand_over(self, heard: Heard) -> None:
        """Answer *heard* as soon as there is somebody free."""
        self.start(lambda: deliver(heard, self))

    def start(self, work: Callable[[], None]) -> None:
        """Run *work* beside the acknowledgement; what it raises is logged."""
        self.work.submit(work).add_done_callback(_told_if_broken)


@dataclass(frozen=True)
class _Message:
    """What is to be posted. `is_private`: nobody but the asker may see it. `reply`: what has files to go with it.

    `is_answer`: the store holds it, so that it can be shown again.
    """

    content: kit.Message
    is_private: bool = False
    reply: Reply | None = None
    is_answer: bool = False


def resume(threads: Threads) -> int:
    """Take up every utterance that nobody works on any more; how many there were."""
    services = threads.serving.services()
    with services.store.reading() as connection:
        found = deliveries.waiting(connection, services.clock(), services.lease)
    for letter in found:
        threads.hand_over(Heard.model_validate(letter))
    return len(found)


def deliver(heard: Heard, threads: Threads) -> None:
    """Answer *heard* in its thread, unless that is done or somebody else is at it."""
    services = threads.serving.services()
    with services.store.writing() as connection:
        held = deliveries.claim(connection, heard.key, services.new_id(), services.clock(), services.lease)
    if held is None:
        return
    message = _answered(heard, services, threads)
    try:
        place = _placed(message, heard, held, threads)
    except calls.FAILED as error:
        put_off(held, calls.why(error), services)
        return
    with services.store.writing() as connection:
        is_ours = deliveries.close(connection, held, services.clock(), place)
    # INVARIANT: only who closes sends files, so that no other attempt sends them again
    if is_ours and message.reply is not None and (heard.is_direct or not message.is_private):
        attach(message.reply, heard, threads.client)


def _answered(heard: Heard, services: Services, threads: Threads) -> _Message:
    """The answer, or in words why there is none."""
    if heard.team != threads.team and not rights.is_listed(heard.user, services.index):
        return _Message(answer.told(STRANGER), is_private=True)
    if not heard.text:
        return _Message(answer.told("Ask me about our policies, our data or our decisions, in a sentence."))
    actor = Actor(id=heard.user)
    question = Question(
        text=heard.text,
        actor=actor,
        asked_at=heard.said_at,
        session_id=heard.session_id,
        request_id=heard.key,
        options={} if heard.form is None else {"form": heard.form},
    )
    try:
        return _shown(handle(question, services), actor, services)
    except RequestConflict:
        return _Message(answer.told("I answered this message as it was first. Ask again in a new message."), True)
    except UsageError as error:
        said = error.message if error.help is None else f"{error.message}: {error.help}"
        return _Message(answer.told(f"I could not read this: {said}"), True)
    except StoreError:
        raise  # nothing can be kept now: the utterance waits until the store answers again
    except Exception as error:  # the Slack error handler: logged, told to the asker
        _log.error("a question broke down", exc_info=error, extra={"request_id": heard.key})
        said = f"Something went wrong on our side, and it was recorded as `{heard.key}`. Please ask again later."
        return _Message(answer.told(said), True)


def _shown(reply: Reply, actor: Actor, services: Services) -> _Message:
    is_private = not rights.is_for_everyone(reply, actor, services.index)
    shown = answer.answer(reply, rights.rows_shown(services.index))
    return _Message(shown, is_private, reply if has_files(reply) else None, is_answer=True)


def _placed(message: _Message, heard: Heard, held: Held, threads: Threads) -> dict[str, str]:
    """Post it, unless an earlier attempt did. What fails on the way is tried once more at once, after a look."""
    if message.is_private and not heard.is_direct:
        return _whispered(message, heard, held, threads)
    try:
        return (_posted(heard, threads) if held.attempts > 1 else None) or _post(message, heard, threads)
    except calls.FAILED as error:
        if calls.is_refused(error):
            raise  # Slack knows what it refuses
        return _posted(heard, threads) or _post(message, heard, threads)


def _whispered(message: _Message, heard: Heard, held: Held, threads: Threads) -> dict[str, str]:
    """Post it to the asker alone. Slack has no way to look for that: where it may be there already, it is offered.

    INVARIANT: it is written down before that it is being sent, and that it was not where Slack refused.
    """
    if not message.is_answer:
        return _post(message, heard, threads)
    store = threads.serving.services().store
    if not held.is_begun:
        with store.writing() as connection:
            deliveries.begin(connection, held, {"channel": heard.channel, "to": heard.user})
        try:
            return _post(message, heard, threads)
        except calls.FAILED as error:
            if calls.is_refused(error):
                with store.writing() as connection:
                    deliveries.begin(connection, held, None)
                raise
    return _post(_Message(answer.again(heard.key), is_private=True), heard, threads)


def _post(message: _Message, heard: Heard, threads: Threads) -> dict[str, str]:
    """Post it in the thread; to the asker alone where others could read what is not for them."""
    where = {"channel": heard.channel, "thread_ts": heard.thread}
    content = message.content
    if message.is_private and not heard.is_direct:
        blocks = [*content.blocks, kit.context(PRIVATE if message.reply is None else ELSEWHERE)]
        sent = _send(threads.client.chat_postEphemeral, content.text, blocks, user=heard.user, **where)
        return {"channel": heard.channel, "ts": str(sent.get("message_ts")), "to": heard.user}
    told = {"event_type": EVENT_TYPE, "event_payload": {"key": heard.key}}
    quiet = {"unfurl_links": False, "unfurl_media": False, "metadata": told}
    sent = _send(threads.client.chat_postMessage, content.text, content.blocks, **where, **quiet)
    return {"channel": heard.channel, "ts": str(sent.get("ts"))}


def _send(method: Callable[..., Any], text: str, blocks: Any, **others: Any) -> Any:
    """Call *method*; a text that Slack takes is better than blocks that it does not."""
    try:
        return method(text=text, blocks=list(blocks)[: kit.BLOCKS], **others)
    except SlackApiError as error:
        if calls.code(error) not in _NO_BLOCKS:
            raise
        _log.error("Slack did not take the blocks of a message", extra={"meta": {"reason": calls.why(error)}})
        return method(text=text, **others)


def _posted(heard: Heard, threads: Threads) -> dict[str, str] | None:
    """Where an earlier attempt posted the answer before it could say so."""
    since = f"{int(heard.said_at.timestamp())}.000000"  # a long thread need not be read from its beginning
    pages = threads.client.conversations_replies(
        channel=heard.channel, ts=heard.thread, include_all_metadata=True, oldest=since, limit=_PAGE
    )
    for page in pages:
        for message in page.get("messages") or []:
            told = message.get("metadata") or {}
            if told.get("event_type") == EVENT_TYPE and (told.get("event_payload") or {}).get("key") == heard.key:
                return {"channel": heard.channel, "ts": str(message.get("ts"))}
    return None


def put_off(held: Held, failure: str, services: Services) -> None:
    """Slack did not take what was to be sent: later once more, a few times."""
    _log.error("Slack did not take an answer", extra={"request_id": held.delivery_id, "meta": {"reason": failure}})
    with services.store.writing() as connection:
        now = services.clock()
        if held.attempts >= services.max_attempts:
            deliveries.close(connection, held, now, None, failure)
        else:
            deliveries.postpone(connection, held, now + _PAUSE, failure)


def _told_if_broken(done: Future[None]) -> None:
    error = None if done.cancelled() else done.exception()
    if error is not None:
        _log.error("work for Slack broke down", exc_info=error)
