"""What the bot has to tell people, in a direct message: each notice once, however many processes look for some."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from bot.delivery.blocks import answer, queue
from bot.delivery.listeners import calls, outbox
from bot.delivery.listeners.outbox import Where
from bot.delivery.listeners.rounds import MOST, run_round
from bot.delivery.listeners.threads import Threads
from bot.evidence.store.tables import deliveries
from bot.evidence.store.tables.deliveries import Cause
from bot.request.substitutes import hand_on


def tell(threads: Threads) -> int:
    """Tell the notices that nobody works on, as many as a round holds; how many were taken up."""
    services = threads.serving.services()
    with services.store.reading() as connection:
        found = deliveries.notices(connection, services.clock(), MOST)
    return run_round([partial(_job(letter), name, letter, threads) for name, letter in found], threads.start)


def _job(letter: Mapping[str, Any]) -> Callable[[str, Mapping[str, Any], Threads], Cause | None]:
    """How a notice is told; one that cannot be read waits for a person."""
    is_whole = all(isinstance(letter.get(name), str) for name in ("to", "about", "event", "text"))
    return tell_one if is_whole else lambda name, _, threads: outbox.set_aside(name, threads.serving.services())


def tell_one(delivery_id: str, letter: Mapping[str, Any], threads: Threads) -> Cause | None:
    """Tell one person one notice, unless that is done or somebody else is at it; why it waits, where it does."""
    services = threads.serving.services()
    with services.store.writing() as connection:
        held = deliveries.claim(connection, delivery_id, services.new_id(), services.clock(), services.lease)
    if held is None:
        return None
    try:
        channel = _channel(letter, threads)
    except calls.FAILED as error:
        failure = replace(calls.read_failure(error), is_certain=not held.is_doubtful)  # to open one posts nothing
        cause = outbox.settle_failure(held, failure, services)
    else:
        sent = outbox.send(
            held,
            lambda: _post(delivery_id, channel, letter, threads),
            lambda: outbox.look_in_channel(Where(threads.client, channel, threads.bot_user), held),
            services,
        )
        if sent is None or not isinstance(sent, str):
            return None
        cause = sent
    if cause == "refused":
        hand_on(delivery_id, services)
    return cause


def _channel(letter: Mapping[str, Any], threads: Threads) -> str:
    """Where it is told: in the conversation with the person, or in the channel that it is for."""
    if letter.get("is_channel"):
        return str(letter["to"])
    opened = threads.client.conversations_open(users=[letter["to"]])
    return str((opened.get("channel") or {}).get("id"))


def _post(delivery_id: str, channel: str, letter: Mapping[str, Any], threads: Threads) -> dict[str, str]:
    message = answer.told(str(letter["text"]))
    blocks = [*message.blocks, *queue.buttons(letter)]
    sent = threads.client.chat_postMessage(
        channel=channel, text=message.text, blocks=blocks, metadata=outbox.mark(delivery_id)
    )
    return {"channel": channel, "ts": str(sent.get("ts"))}
