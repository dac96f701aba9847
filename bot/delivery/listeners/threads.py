"""From an utterance to its answer in the thread: kept, claimed, answered, posted, closed; once, by whoever gets to it.

What was kept is acknowledged, so it is never lost: a process that dies leaves a lease that runs out, and `resume`
takes the utterance up again. What Slack does not take waits until it does, or until a person ends it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

from pydantic import ValidationError
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError

from bot import rights
from bot.conversation import Actor, Question, Reply
from bot.delivery.blocks import answer, kit
from bot.delivery.blocks.files import has_files
from bot.delivery.listeners import calls, outbox
from bot.delivery.listeners.attach import attach
from bot.delivery.listeners.heard import Heard
from bot.delivery.listeners.outbox import Where
from bot.delivery.listeners.rounds import MOST, run_round
from bot.evidence.store.engine import StoreError
from bot.evidence.store.tables import deliveries, watches
from bot.evidence.store.tables.deliveries import Cause, Held
from bot.evidence.store.tables.requests import RequestConflict
from bot.request.orchestrator import BESIDE, handle, is_unfinished
from bot.services import Services, Serving
from bylaw.errors import UsageError

STRANGER = "I answer the people of the workspace I belong to. Ask somebody there to ask me."
LATE = (
    "You said this on {day}, when I could not be reached. That was too long ago for me to answer it now: say it again "
    "if you still need an answer."
)
PRIVATE = "Only you can see this: it is not for everyone here."
ELSEWHERE = f"{PRIVATE} As a file it comes only in a direct message: ask me there."

_log = logging.getLogger("bylaw.slack")
_BUSY = timedelta(seconds=30)  # before somebody else's answer to the same question is asked for again
_NO_BLOCKS = frozenset({"invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long"})


@dataclass(frozen=True)
class Threads:
    """The threads that listeners answer in. `team` and `bot_user` are the bot's own; `work` runs what takes longer.

    `client` never calls twice by itself; `patient` does where Slack asks to wait, for what is not tried again.
    """

    serving: Serving
    client: WebClient
    team: str
    bot_user: str
    work: Executor
    patient: WebClient | None = None

    def take(self, heard: Heard) -> bool:
        """Keep *heard*, so that it may be acknowledged. False: it was kept before, by whomever."""
        services = self.serving.services()
        now, workspace = services.clock(), self.watch_name()
        with services.store.writing() as connection:
            if watches.load(connection, self.watch_name(heard.channel)) is None:
                before = watches.load(connection, workspace)
                watches.begin(connection, self.watch_name(heard.channel), before.seen_until if before else now)
            return deliveries.keep(connection, heard.key, heard.model_dump(mode="json"), now)

    def watch_name(self, channel: str | None = None) -> str:
        """The name under which it is kept how far the workspace, or a conversation of it, was listened to."""
        return f"slack:{self.team}" if channel is None else f"slack:{self.team}:{channel}"

    def hand_over(self, *said: Heard) -> None:
        """Answer one utterance after the other as soon as there is somebody free."""
        self.start(lambda: [deliver(heard, self) for heard in said])

    def start(self, work: Callable[[], object]) -> Future[object]:
        """Run *work* beside the acknowledgement; what it raises is logged."""
        started = self.work.submit(work)
        started.add_done_callback(_told_if_broken)
        return started


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
    """Take up the utterances that nobody works on any more, as many as a round holds; how many were taken up."""
    services = threads.serving.services()
    with services.store.reading() as connection:
        found = deliveries.waiting(connection, services.clock(), services.lease, MOST)
    return run_round([_job(name, letter, threads) for name, letter in found], threads.start)


def _job(delivery_id: str, letter: Mapping[str, Any], threads: Threads) -> Callable[[], Cause | None]:
    """What is to be done with a message that waits; one that cannot be read waits for a person."""
    try:
        heard = Heard.model_validate(letter)
    except ValidationError:
        return partial(outbox.set_aside, delivery_id, threads.serving.services())
    if heard.key != delivery_id:
        return partial(outbox.set_aside, delivery_id, threads.serving.services())
    return partial(deliver, heard, threads)


def deliver(heard: Heard, threads: Threads) -> Cause | None:
    """Answer *heard* in its thread, unless that is done or somebody else is at it; why it waits, where it does."""
    services = threads.serving.services()
    with services.store.writing() as connection:
        held = deliveries.claim(connection, heard.key, services.new_id(), services.clock(), services.lease)
    if held is None:
        return None
    message = _answered(heard, services, threads)
    if message is None:
        with services.store.writing() as connection:
            until = services.clock() + _BUSY
            deliveries.postpone(connection, held, until, "it is being answered", "busy", held.is_doubtful)
        return "busy"
    sent = outbox.send(held, lambda: _post(message, heard, threads), _looking(message, heard, held, threads), services)
    if sent is None or isinstance(sent, str):
        return sent
    # INVARIANT: only who closes sends files, so that no other attempt sends them again
    if message.reply is not None and (heard.is_direct or not message.is_private):
        attach(message.reply, heard, threads.patient or threads.client, services)
    return None


def _answered(heard: Heard, services: Services, threads: Threads) -> _Message | None:
    """The answer, or in words why there is none; None: another process works on it still."""
    if heard.team != threads.team and not rights.is_listed(heard.user, services.index):
        return _Message(answer.told(STRANGER), is_private=True)
    if not heard.text:
        return _Message(answer.told("Ask me about our policies, our data or our decisions, in a sentence."))
    if heard.is_late:
        return _Message(answer.told(LATE.format(day=services.index.local(heard.said_at).date().isoformat())))
    actor = Actor(id=heard.user)
    question = Question(
        text=heard.text,
        actor=actor,
        asked_at=heard.said_at,
        session_id=heard.session_id,
        request_id=heard.key,
        options=_options(heard),
    )
    try:
        reply = handle(question, services)
        return None if is_unfinished(reply) else _shown(reply, actor, services)
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


def _options(heard: Heard) -> dict[str, Any]:
    """What is known of an utterance beside its words; a direct message goes on with those before it."""
    beside = heard.session_id.removesuffix(heard.thread)
    return {
        **({} if heard.form is None else {"form": heard.form}),
        **({BESIDE: beside} if heard.is_direct and heard.is_first else {}),
    }


def _shown(reply: Reply, actor: Actor, services: Services) -> _Message:
    is_private = not rights.is_for_everyone(reply, actor, services.index)
    shown = answer.answer(reply, rights.rows_shown(services.index))
    return _Message(shown, is_private, reply if has_files(reply) else None, is_answer=True)


def _looking(message: _Message, heard: Heard, held: Held, threads: Threads) -> outbox.Look:
    """How an earlier post is found. What only the asker sees cannot be: where it may be there, it is offered."""
    if not message.is_private or heard.is_direct:
        # a long thread need not be read from its beginning
        where = Where(threads.client, heard.channel, threads.bot_user)
        return lambda: outbox.look_in_thread(where, heard.thread, held, heard.said_at)
    if message.is_answer:
        return lambda: _post(_Message(answer.again(heard.key), is_private=True), heard, threads)
    return lambda: None


def _post(message: _Message, heard: Heard, threads: Threads) -> dict[str, str]:
    """Post it in the thread; to the asker alone where others could read what is not for them."""
    where = {"channel": heard.channel, "thread_ts": heard.thread}
    content = message.content
    if message.is_private and not heard.is_direct:
        blocks = [*content.blocks, kit.context(PRIVATE if message.reply is None else ELSEWHERE)]
        sent = _send(threads.client.chat_postEphemeral, content.text, blocks, user=heard.user, **where)
        return {"channel": heard.channel, "ts": str(sent.get("message_ts")), "to": heard.user}
    quiet = {"unfurl_links": False, "unfurl_media": False, "metadata": outbox.mark(heard.key)}
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


def _told_if_broken(done: Future[object]) -> None:
    error = None if done.cancelled() else done.exception()
    if error is not None:
        _log.error("work for Slack broke down", exc_info=error)
