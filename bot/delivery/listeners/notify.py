"""What the bot has to tell people, in a direct message: each notice once, however many processes look for some."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from slack_sdk import WebClient

from bot.delivery.blocks import answer, queue
from bot.delivery.listeners import calls
from bot.delivery.listeners.threads import EVENT_TYPE, Threads, put_off
from bot.evidence.store.tables import deliveries

_PAGE = 50  # messages that are looked through for one that was sent already


def tell(threads: Threads) -> int:
    """Hand over every notice that nobody works on; how many there were."""
    services = threads.serving.services()
    with services.store.reading() as connection:
        found = deliveries.notices(connection, services.clock())
    for delivery_id, letter in found:
        threads.start(partial(_told, delivery_id, letter, threads))
    return len(found)


def _told(delivery_id: str, letter: Mapping[str, Any], threads: Threads) -> None:
    services = threads.serving.services()
    with services.store.writing() as connection:
        held = deliveries.claim(connection, delivery_id, services.new_id(), services.clock(), services.lease)
    if held is None:
        return
    try:
        opened = threads.client.conversations_open(users=[letter["to"]])
        channel = str((opened.get("channel") or {}).get("id"))
        place = _sent(delivery_id, channel, threads.client) if held.attempts > 1 else None
        place = place or _send(delivery_id, channel, letter, threads.client)
    except calls.FAILED as error:
        put_off(held, calls.why(error), services)
        return
    with services.store.writing() as connection:
        deliveries.close(connection, held, services.clock(), place)


def _send(delivery_id: str, channel: str, letter: Mapping[str, Any], client: WebClient) -> dict[str, str]:
    message = answer.told(str(letter["text"]))
    blocks = [*message.blocks, *queue.buttons(letter)]
    told = {"event_type": EVENT_TYPE, "event_payload": {"key": delivery_id}}
    sent = client.chat_postMessage(channel=channel, text=message.text, blocks=blocks, metadata=told)
    return {"channel": channel, "ts": str(sent.get("ts"))}


def _sent(delivery_id: str, channel: str, client: WebClient) -> dict[str, str] | None:
    """Where an earlier attempt sent it before it could say so."""
    page = client.conversations_history(channel=channel, include_all_metadata=True, limit=_PAGE)
    for message in page.get("messages") or []:
        told = message.get("metadata") or {}
        if told.get("event_type") == EVENT_TYPE and (told.get("event_payload") or {}).get("key") == delivery_id:
            return {"channel": channel, "ts": str(message.get("ts"))}
    return None
