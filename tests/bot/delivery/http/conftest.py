"""A real server in a process of its own, on a port the system chose."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from tests.fakes.bundle import write_bundle
from tests.fakes.forked import Forked


@dataclass
class Server:
    """One running server: where it is, what it serves, its process."""

    address: str
    folder: Path
    process: Forked
    etag: str

    @property
    def port(self) -> int:
        return int(self.address.rpartition(":")[2])

    def ask(self, text: str, **others) -> dict:
        """A question that is answered."""
        answered = httpx.post(f"{self.address}/v2/query", json={"text": text, **others}, timeout=30)
        assert answered.status_code == 200, answered.text
        return answered.json()


@contextmanager
def servers(folder: Path) -> Iterator[Callable[..., Server]]:
    """Starts servers on *folder*, with words and an environment each; ends them all."""
    running: list[Forked] = []
    etag = write_bundle(folder / "bundle.json")

    def started(*words: str, **environ: str) -> Server:
        process = Forked(
            *("-m", "tests.fakes.serve", folder, *words),
            env={**{k: v for k, v in os.environ.items() if not k.startswith("BYLAW_")}, "BYLAW_PORT": "0", **environ},
            stdout=subprocess.PIPE,
            stderr=(folder / "log").open("a"),
        )
        running.append(process)
        address = process.stdout.readline().strip()
        if not address:
            pytest.fail((folder / "log").read_text())
        return Server(address, folder, process, etag)

    yield started
    for process in running:
        with suppress(ProcessLookupError):  # it has ended by itself
            process.kill()
        process.communicate()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Starts servers for one test."""
    with servers(tmp_path) as started:
        yield started


@pytest.fixture
def server(start: Callable[..., Server]) -> Server:
    """A server of one's own, as it runs by default."""
    return start()


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for all tests that leave nothing behind but answered questions."""
    with servers(tmp_path_factory.mktemp("shared")) as started:
        yield started()


@pytest.fixture(scope="session")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server with a token."""
    with servers(tmp_path_factory.mktemp("guarded")) as started:
        yield started(BYLAW_TOKEN="s3cret-ü", BYLAW_TOKEN_USER="desk")
