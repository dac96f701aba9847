"""Every command block of the handbook and the README is run as it stands, in a copy of this repository's own policies.

`docs_commands.yaml` says of a page what is made before, which placeholders stand for what, which commands end with
another exit code than 0, which go on running (servers), and, with the reason, which are not run.
Blocks that a page shows with their output (`console`) are those of `test_transcripts.py`.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from bylaw.demos.warehouse import build
from tests.waiting import wait_until

ROOT = Path(__file__).resolve().parents[1]
TABLE: Mapping[str, Any] = yaml.safe_load(Path(__file__).with_name("docs_commands.yaml").read_text(encoding="utf-8"))
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w*)(?: \S+)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"(?:[A-Z_]+=\S+ )*(?:bylaw|curl|gh|git|openssl|pip|python|sha256sum|source|uv)\b|/bylaw ")
SHELLS = ("", "bash", "sh")
pytestmark = pytest.mark.slow


def commands(page: Path) -> list[str]:
    """The commands of the page's shell blocks, each whole: a quote that is open goes on in the next line."""
    found: list[str] = []
    for language, block in BLOCK.findall(page.read_text(encoding="utf-8")):
        if language in SHELLS and COMMAND.match(block):
            found += _whole(block)
    return found


def _whole(block: str) -> Iterator[str]:
    waiting = ""
    for line in block.splitlines():
        waiting = f"{waiting}\n{line}" if waiting else line
        with suppress(ValueError):  # a quote is open
            shlex.split(waiting, comments=True)
            if not waiting.endswith("\\"):
                yield waiting
                waiting = ""
    assert not waiting, waiting


def of_page(page: Path) -> Mapping[str, Any]:
    return TABLE.get(page.name, {})


def row_of(command: str, rows: Mapping[str, Any]) -> Any:
    """What the table says of the command: the row whose key it begins with."""
    return next((said for start, said in rows.items() if command.startswith(start)), None)


@pytest.fixture(scope="module")
def policies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with policies, data and history, compiled once."""
    root = tmp_path_factory.mktemp("docs") / "root"
    for folder in ("policies", "context", "rules", "evaluation"):
        shutil.copytree(ROOT / folder, root / folder)
    build(root / "shop.duckdb", date.today())
    run("bylaw compile -o .bylaw", root, environment(root))
    return root


@pytest.fixture
def shell(policies: Path, tmp_path: Path) -> Path:
    root = tmp_path / "root"
    shutil.copytree(policies, root)
    return root


def environment(root: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("BYLAW_", "GIT_"))}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**kept, "PATH": path, "HOME": str(root.parent), "NO_COLOR": "1", "BYLAW_PORT": str(_free_port())}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def run(command: str, root: Path, env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=root,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert "Traceback" not in done.stdout + done.stderr, done.stdout + done.stderr
    return done


class Servers:
    """What goes on running in the background; ended with the page."""

    def __init__(self, root: Path, env: Mapping[str, str]) -> None:
        self.root, self.env = root, env
        self.running: list[subprocess.Popen[bytes]] = []

    def start(self, command: str) -> None:
        """Start it, and wait until it answers."""
        log = tempfile.TemporaryFile()  # noqa: SIM115  # the process has it
        process = subprocess.Popen(
            ["bash", "-c", f"exec {command}"],
            cwd=self.root,
            env=self.env,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        self.running.append(process)
        address = f"http://127.0.0.1:{self.env['BYLAW_PORT']}/readyz"
        wait_until(lambda: _answers(address), lambda: process.poll() is None)

    def stop(self) -> None:
        for process in self.running:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            process.wait(30)


def _answers(address: str) -> bool:
    try:
        return httpx.get(address, timeout=5).status_code == 200
    except httpx.HTTPError:
        return False


@pytest.mark.parametrize("page", [page for page in PAGES if commands(page)], ids=lambda page: page.stem)
def test_every_command_of_the_page_does_what_it_says(page: Path, shell: Path) -> None:
    said = of_page(page)
    env = environment(shell)
    for line in said.get("before", ()):
        assert run(line, shell, env).returncode == 0, line
    names: dict[str, str] = {"localhost:8080": f"localhost:{env['BYLAW_PORT']}", **said.get("names", {})}
    servers = Servers(shell, env)
    try:
        for command in commands(page):
            if row_of(command, said.get("not_run", {})) is not None:
                continue
            real = command
            if (asked := row_of(command, said.get("asked", {}))) is not None:
                printed = run(asked, shell, env)
                assert printed.stdout.strip(), printed.stderr
                real = re.sub(r"\b(ID|OBJECTION|REQUEST)\b", printed.stdout.strip().splitlines()[-1], real, count=1)
            for name, value in names.items():
                real = re.sub(rf"(?<![\w-]){re.escape(name)}(?![\w-])", lambda _, value=value: value, real)
            if row_of(command, said.get("serves", {})) is not None:
                servers.start(real)
                continue
            done = run(real, shell / (row_of(command, said.get("folder", {})) or ""), env)
            wanted = row_of(command, said.get("codes", {})) or 0
            assert done.returncode == wanted, f"{real}\n{done.stdout}\n{done.stderr}"
            if (says := row_of(command, said.get("says", {}))) is not None:
                assert says in done.stdout + done.stderr, f"{real}\n{done.stdout}\n{done.stderr}"
    finally:
        servers.stop()


def test_the_table_speaks_of_commands_that_stand_there() -> None:
    stale = [
        f"{name}: {start}"
        for name, said in TABLE.items()
        for rows in ("asked", "folder", "not_run", "codes", "serves", "says")
        for start in said.get(rows, {})
        if not any(command.startswith(start) for page in PAGES if page.name == name for command in commands(page))
    ]
    assert stale == []


def test_what_is_not_run_has_a_reason() -> None:
    reasons = [reason for said in TABLE.values() for reason in said.get("not_run", {}).values()]
    assert all(len(reason.split()) > 3 for reason in reasons)
