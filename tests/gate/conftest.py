"""Small policy repositories from rows, compiled as people would, and gates on them."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from bylaw.bundle import CompiledPolicyBundle, read
from bylaw.cli import bundle_for_root
from tests.fakes.forked import Forked
from tests.gate.shop import SHOP

HOME = Path(__file__).parents[2]
NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


def policy(id_: str, written: Mapping[str, Any]) -> dict[str, Any]:
    """A whole policy from its short form: `when` are its conditions, `required: x` and the like its action."""
    domain = id_.split("-")[1].lower()
    actions = [
        {"type": kind, "action": name}
        for kind in ("required", "permitted", "prohibited")
        for name in ([written[kind]] if isinstance(written.get(kind), str) else written.get(kind, []))
    ]
    conditions = [one if "any_of" in one else {"type": "fact", **one} for one in written.get("when", [])]
    metadata = {"source": "handbook", "owner": "Support", "domain": domain, **written.get("metadata", {})}
    rest = {name: written[name] for name in ("exceptions", "formal", "overrides", "reason") if name in written}
    return {"policy_id": id_, "conditions": conditions, "actions": actions, "metadata": metadata, **rest}


def write(root: Path, repository: Mapping[str, Any]) -> Path:
    """The repository's files under *root*: `vocabulary`, `policies` (short), `keys` and `tools`, `files`."""
    files: dict[str, Any] = {"policies/vocabulary.yaml": repository["vocabulary"]}
    for id_, written in repository["policies"].items():
        files[f"policies/{id_.split('-')[1].lower()}/{id_}.yaml"] = policy(id_, written)
    if "tools" in repository:
        files["rules/tools.yaml"] = {name: repository[name] for name in ("keys", "tools") if name in repository}
    files.update(repository.get("files", {}))
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content, indent=1), encoding="utf-8")
    return root


def compiled(root: Path, repository: Mapping[str, Any]) -> Path:
    """The bundle of the repository, written below *root*."""
    return bundle_for_root(write(root, repository))


Compile = Callable[[Mapping[str, Any]], Path]


@pytest.fixture(scope="session")
def bundle_file(tmp_path_factory: pytest.TempPathFactory) -> Compile:
    """The file of a repository's bundle, compiled once for all tests."""
    known: dict[str, Path] = {}

    def find(repository: Mapping[str, Any]) -> Path:
        key = json.dumps(repository, sort_keys=True, default=str)
        if key not in known:
            known[key] = compiled(tmp_path_factory.mktemp("gate"), repository)
        return known[key]

    return find


@pytest.fixture(scope="session")
def bundle(bundle_file: Compile) -> Callable[[Mapping[str, Any]], CompiledPolicyBundle]:
    """A repository's bundle."""
    return lambda repository: read(bundle_file(repository))


# ---- a real server --------------------------------------------------------------------------------------------------


@dataclass
class Server:
    """One running server, asked over HTTP."""

    address: str
    root: Path

    def post(self, path: str, body: Any, **options: Any) -> httpx.Response:
        return httpx.post(f"{self.address}{path}", json=body, timeout=30, **options)

    def decide(self, **body: Any) -> dict[str, Any]:
        """A decision."""
        answered = self.post("/v2/decide", body)
        assert answered.status_code == 200, answered.text
        found: dict[str, Any] = answered.json()
        return found

    def ended(self, decision_id: str, ok: bool = True) -> int:
        """The status of a report."""
        return self.post("/v2/events", {"decision_id": decision_id, "ok": ok}).status_code


@contextmanager
def serving(root: Path, bundle: Path, *words: str, **environ: str) -> Iterator[Server]:
    """`bylaw serve` on *bundle*, with what it remembers under *root*."""
    root.mkdir(parents=True, exist_ok=True)
    command = ["-m", "bylaw.cli", "serve", "--port", "0", "--bundle", bundle, *words]
    clean = {name: value for name, value in os.environ.items() if not name.startswith("BYLAW_")}
    with (root / "log").open("w") as log:
        process = Forked(*command, cwd=root, env={**clean, **environ}, stdout=subprocess.PIPE, stderr=log)
    try:
        assert process.stdout is not None
        told = process.stdout.readline().strip()
        if not told:
            pytest.fail((root / "log").read_text()[-3_000:])
        yield Server(f"http://127.0.0.1:{told.rpartition(':')[2]}", root)
    finally:
        process.terminate()
        process.communicate(30)


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory, bundle_file: Compile) -> Iterator[Server]:
    """One server on the shop, in two processes, for all tests that keep to sessions and keys of their own."""
    with serving(tmp_path_factory.mktemp("shop"), bundle_file(SHOP), "--workers", "2") as server:
        yield server
