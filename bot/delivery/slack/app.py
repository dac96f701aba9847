"""Builds the Bolt app on what serves answers and keeps it going: takes leftovers up, ends what runs before it ends."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field

from slack_bolt import App
from slack_bolt.adapter.socket_mode import SocketModeHandler
from slack_bolt.error import BoltError
from slack_sdk import WebClient
from slack_sdk.errors import SlackClientError
from slack_sdk.http_retry import RetryHandler
from slack_sdk.http_retry.builtin_handlers import RateLimitErrorRetryHandler
from slack_sdk.signature import SignatureVerifier
from starlette.types import ASGIApp

from bot.delivery import pictures
from bot.delivery.listeners import registry
from bot.delivery.listeners.notify import tell
from bot.delivery.listeners.rounds import MOST
from bot.delivery.listeners.threads import Threads, resume
from bot.delivery.slack.catch_up import catch_up
from bot.delivery.slack.door import Door
from bot.evidence.store.engine import StoreError
from bot.request.capacity import Slots
from bot.services import Serving
from bot.settings import Settings
from bylaw.errors import BylawError, UsageError

_log = logging.getLogger("bylaw.slack")
_WORKERS = 4  # questions answered at once: more would take the turn of acknowledging; the rest wait in line
_SHARE = 2  # of them in each process where there are several
_RESUME_SECONDS = 15.0  # how often leftovers are looked for
_RETRIES = 3
_PING_SECONDS = 5  # how soon a socket that the network cut is noticed

Pool = Callable[[int, str], ThreadPoolExecutor]


@dataclass
class Slack:
    """The running app. `bolt` takes what arrives over HTTP; `connect` opens the socket instead."""

    bolt: App
    threads: Threads
    _work: ThreadPoolExecutor
    _listening: ThreadPoolExecutor
    _app_token: str | None
    _socket: SocketModeHandler | None = None
    _ending: threading.Event = field(default_factory=threading.Event)
    _beside: list[threading.Thread] = field(default_factory=list)

    def start(self) -> None:
        """Take up what an earlier process left, and what nobody heard, now and every while."""
        for work, name in ((self._send, "slack-leftovers"), (self._listen_back, "slack-histories")):
            self._beside.append(threading.Thread(target=self._repeat, args=(work,), name=name, daemon=True))
            self._beside[-1].start()

    def connect(self) -> None:
        """Open the socket: Slack sends through it, and nothing of ours need be reachable. Raises BylawError."""
        web = WebClient(token=self._app_token, base_url=self.threads.client.base_url)
        self._socket = SocketModeHandler(self.bolt, self._app_token, web_client=web, ping_interval=_PING_SECONDS)
        try:
            self._socket.connect()  # type: ignore[no-untyped-call]  # Bolt leaves it so
        except (SlackClientError, OSError) as error:
            self._socket.close()  # type: ignore[no-untyped-call]
            self._socket = None
            raise BylawError(f"Slack opens no socket: {error}", "is BYLAW_SLACK_APP_TOKEN right?") from error

    def close(self) -> None:
        """Take nothing more, finish what is being answered; what waits is kept for the next process."""
        self._ending.set()
        if self._socket is not None:
            self._socket.close()  # type: ignore[no-untyped-call]
        self._listening.shutdown(wait=True)
        self._work.shutdown(wait=True, cancel_futures=True)
        for one in self._beside:
            one.join()

    def _listen_back(self) -> None:
        catch_up(self.threads, self._ending.wait)

    def _send(self) -> None:
        for deliver in (resume, tell):
            while deliver(self.threads) == MOST and not self._ending.is_set():
                pass  # the next round at once

    def _repeat(self, work: Callable[[], None]) -> None:
        while not self._ending.is_set():
            try:
                work()
            except StoreError as error:  # tried again in a while
                _log.warning("leftovers could not be looked for", extra={"meta": {"reason": error.message}})
            except (LookupError, TypeError, ValueError, AttributeError) as error:  # Slack may say what nobody foresaw
                _log.error("leftovers could not be read", exc_info=error)
            except RuntimeError:
                return  # the work is being shut down
            self._ending.wait(_RESUME_SECONDS)


@contextmanager
def answering(
    serving: Serving, settings: Settings, way: str, application: ASGIApp, room: Slots | None = None
) -> Iterator[ASGIApp]:
    """Answer in Slack as long as the context lasts; gives *application*, with a door for Slack when it comes by HTTP.

    *way* is `http` or `socket`, *room* what both share. Raises UsageError for what the settings lack.
    """
    wanted = {"http": settings.slack_signing_secret, "socket": settings.slack_app_token}
    if wanted[way] is None:
        name = {"http": "BYLAW_SLACK_SIGNING_SECRET", "socket": "BYLAW_SLACK_APP_TOKEN"}[way]
        raise UsageError(f"`--slack {way}` needs {name}", "it stands on the page of the app at api.slack.com/apps")
    slack = open_slack(serving, settings)
    try:
        if way == "socket":
            slack.connect()
        slack.start()
        if way == "http" and settings.slack_signing_secret is not None:
            limits = settings.limits
            signature = SignatureVerifier(settings.slack_signing_secret)
            yield Door(application, slack.bolt, signature, room or Slots(limits.requests), limits.body_seconds)
        else:
            yield application
    finally:
        slack.close()


def open_slack(serving: Serving, settings: Settings, pool: Pool = ThreadPoolExecutor) -> Slack:
    """The app for *settings*, working in threads out of *pool*.

    Raises UsageError when the bot's token is missing or Slack does not take it.
    """
    if settings.slack_bot_token is None:
        raise UsageError("the bot's token for Slack is missing", "set BYLAW_SLACK_BOT_TOKEN to the xoxb- token")
    # what is kept has its own patience; a call that slept longer than its lease could be made by two
    client = _client(settings, [])
    try:
        known = client.auth_test()
    except (SlackClientError, OSError) as error:
        raise UsageError(f"Slack does not take the bot's token: {error}", "see BYLAW_SLACK_BOT_TOKEN") from error
    if not pictures.is_installed():
        _log.warning("answers go without their charts: install `bylaw-policies[charts]` to have them drawn")
    count = _WORKERS if settings.workers in (None, 1) else _SHARE
    listening, work = pool(count, "slack-listener"), pool(count, "slack-work")
    # over a socket nothing is signed; Bolt wants a secret all the same, and without one no HTTP request would pass
    secret = settings.slack_signing_secret or settings.slack_bot_token
    try:
        bolt = App(name="bylaw", client=client, signing_secret=secret, listener_executor=listening, logger=_log)
    except BoltError as error:
        raise UsageError(f"Slack does not take the bot's token: {error}", "see BYLAW_SLACK_BOT_TOKEN") from error
    patient = _client(settings, [RateLimitErrorRetryHandler(max_retry_count=_RETRIES)])
    threads = Threads(serving, client, str(known["team_id"]), str(known["user_id"]), work, patient)
    registry.install(bolt, threads)
    return Slack(bolt, threads, work, listening, settings.slack_app_token)


def _client(settings: Settings, retries: list[RetryHandler]) -> WebClient:
    return WebClient(token=settings.slack_bot_token, base_url=settings.slack_api_url, retry_handlers=retries)
