"""Runs a real server with fake answerers: `python -m tests.fakes.serve FOLDER`. Settings come from the environment."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from socket import socket
from threading import Event

from bot import app, settings
from bot.clock import new_id
from bot.conversation import Question, Turn
from bot.delivery.http import api, logs
from bot.delivery.http.serving import crew, serve
from bot.router import Answer, Answerer
from bylaw.warehouses.attended import NobodyWaits
from tests.fakes.frame import ANSWERERS, answer_decision


def slow(asked: Question, state: dict, index: object) -> Turn:
    """Takes its time; what is being answered must be answered even while the server stops."""
    time.sleep(1.0)
    return answer_decision(asked, state, index)


def patient(gone: Event) -> Answer:
    """Waits for whoever asked to go, but not for ever."""

    def answer(asked: Question, state: dict, index: object) -> Turn:
        if gone.wait(3.0):
            raise NobodyWaits
        return answer_decision(asked, state, index)

    return answer


ANSWERED: dict[str, tuple[Answerer, ...] | None] = {
    "real": None,  # those of the product
    "slow": (Answerer("decision", lambda *_: 1.0, slow),),
    "patient": (Answerer("decision", lambda *_: 1.0, slow, attended=patient),),
}


def _survive(folder: Path) -> None:
    """With `fragile 2,3` the second and the third process to start are killed before they are ready."""
    if sys.argv[2:3] != ["fragile"]:
        return
    with (folder / "starts").open("ab") as starts:
        starts.write(b".")
    if str((folder / "starts").stat().st_size) in sys.argv[3].split(","):
        os.kill(os.getpid(), signal.SIGKILL)


def main(folder: Path) -> None:
    """Serve until told to stop."""
    if sys.argv[2:3] == ["fragile"]:
        crew._PAUSES = tuple(0.05 for _ in crew._PAUSES)
    logs.to_stderr()
    given = settings.read(folder)
    answerers = ANSWERED.get(sys.argv[2], ANSWERERS) if len(sys.argv) > 2 else ANSWERERS
    with serve.bound(given) as listening:

        def work(place: socket, ready: crew.Ready) -> None:
            _survive(folder)
            bot = app.open_bot(given, given.bundle or folder / "bundle.json", answerers)
            serve.serve(api.build(bot, given, new_id), place, ready, given.limits)
            bot.close()

        crew.run(given.workers or 1, listening, work, lambda: print(serve.address(listening), flush=True))
    print("closed", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
