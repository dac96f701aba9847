"""The files of an answer, in the thread where its text stands already; what does not get there is said in words."""

from __future__ import annotations

import logging

from slack_sdk import WebClient

from bot.conversation import Reply
from bot.delivery.blocks import answer
from bot.delivery.blocks.files import File, files, fits
from bot.delivery.listeners import calls
from bot.delivery.listeners.heard import Heard
from bot.evidence.store.tables import deliveries
from bot.services import Services

_log = logging.getLogger("bylaw.slack")
_SCOPE = "files:write"


def attach(reply: Reply, heard: Heard, client: WebClient, services: Services) -> None:
    """Send the files of *reply*, all in one message. Nothing is tried twice: what Slack took would be shown twice.

    That they are missing is told, now or as soon as Slack takes it.
    """
    made = files(reply)
    large = [file for file in made if not fits(file)]
    said = [_missing(large, "more than can be sent here")] if large else []
    if sent := [file for file in made if fits(file)]:
        try:
            _upload(sent, heard, client)
        except calls.FAILED as error:
            reason = {"request_id": heard.key, "meta": {"reason": calls.why(error)}}
            _log.error("Slack did not take the files of an answer", extra=reason)
            said.append(_failed(sent, error))
    if said:
        _tell(" ".join(said), heard, client, services)


def _upload(sent: list[File], heard: Heard, client: WebClient) -> None:
    described = [{"filename": one.name, "title": one.title, "file": one.content, "alt_txt": one.alt} for one in sent]
    client.files_upload_v2(file_uploads=described, channel=heard.channel, thread_ts=heard.thread)


def _failed(sent: list[File], error: Exception) -> str:
    if calls.code(error) == "missing_scope":
        lacks = f"this app lacks the scope {_SCOPE}; whoever runs it can add that and install it again"
        return _missing(sent, lacks)
    if calls.is_refused(error):
        return _missing(sent, f"Slack says {calls.code(error) or 'that it does not take them'}")
    return f"Slack did not say whether it took {_names(sent)}: if nothing appears here, ask again."


def _missing(lost: list[File], because: str) -> str:
    return f"Without {_names(lost)}: {because}."


def _names(named: list[File]) -> str:
    return " and ".join(file.name for file in named)


def _tell(text: str, heard: Heard, client: WebClient, services: Services) -> None:
    message = answer.told(text)
    try:
        client.chat_postMessage(
            channel=heard.channel, thread_ts=heard.thread, text=message.text, blocks=list(message.blocks)
        )
    except calls.FAILED as error:
        _log.warning("missing files are told later", extra={"meta": {"reason": calls.why(error)}})
        with services.store.writing() as connection:
            deliveries.notify(connection, heard.user, heard.key, "files", text, services.clock())
