"""The bot at work for a Slack on loopback: real Bolt, store and threads; only the answerers may be plain ones."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn
from slack_sdk.signature import SignatureVerifier

from bot import app
from bot.clock import new_id
from bot.delivery.http import api
from bot.delivery.slack.app import Slack, open_slack
from bot.delivery.slack.door import PATH, Door
from bot.request.capacity import Slots
from bot.router import Answerer
from bot.settings import Settings
from tests.fakes import stored
from tests.fakes.frame import ANSWERERS
from tests.fakes.slack.server import FakeSlack


class Watched(ThreadPoolExecutor):
    """Threads whose work can be waited for without ending them."""

    def __init__(self, workers: int, prefix: str) -> None:
        super().__init__(workers, prefix)
        self.begun: list[Future[Any]] = []

    def submit(self, *args: Any, **kwargs: Any) -> Future[Any]:
        future = super().submit(*args, **kwargs)
        self.begun.append(future)
        return future


@dataclass
class House:
    """One process of the bot, so to speak: several may share a folder, and so a store."""

    bot: app.Bot
    slack: Slack
    pools: list[Watched]
    url: str | None

    def settle(self) -> None:
        """Wait until everything that was acknowledged is done."""
        while left := [future for pool in self.pools for future in pool.begun if not future.done()]:
            wait(left)

    def delivery(self, key: str) -> Any:
        """What the store knows of one message."""
        with self.bot.services().store.reading() as connection:
            return stored.delivery(connection, key)


@contextmanager
def house(
    folder: Path,
    fake: FakeSlack,
    *,
    bundle: Path | None = None,
    mode: str = "http",
    answerers: tuple[Answerer, ...] | None = ANSWERERS,
    **settings: Any,
) -> Iterator[House]:
    """A bot in *folder* that answers what *fake* sends it, over HTTP or a socket; `still` connects to nothing."""
    given = Settings(
        root=folder,
        slack_api_url=fake.api,
        slack_bot_token=fake.bot_token,
        slack_app_token=fake.app_token,
        slack_signing_secret=fake.secret,
        **settings,
    )
    pools: list[Watched] = []

    def pool(workers: int, prefix: str) -> Watched:
        pools.append(Watched(workers, prefix))
        return pools[-1]

    bot = app.open_bot(given, bundle or folder / "bundle.json", answerers, is_compiled_here=True)
    slack = open_slack(bot, given, pool)
    try:
        if mode == "socket":
            expected = fake.opened + 1
            slack.connect()
            fake.connected(expected)
            yield House(bot, slack, pools, None)
        elif mode == "http":
            with running(_door(bot, given, slack)) as base:
                fake.request_url = base + PATH
                yield House(bot, slack, pools, base)
        else:
            yield House(bot, slack, pools, None)
    finally:
        slack.close()
        bot.close()


def _door(bot: Any, given: Settings, slack: Any) -> Door:
    signature = SignatureVerifier(given.slack_signing_secret)
    return Door(api.build(bot, given, new_id), slack.bolt, signature, Slots(given.limits.requests))


@contextmanager
def running(application: Any) -> Iterator[str]:
    """The application under uvicorn, on a port the system chose; its address."""
    server = uvicorn.Server(uvicorn.Config(application, port=0, log_config=None, access_log=False))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        thread.join(0.01)
        assert thread.is_alive()
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join()
