"""The wheel, installed into an empty environment, is the whole product: no file of the clone is missed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def _ran(*words: str | Path, cwd: Path, code: int = 0) -> str:
    env = {name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "PYTHONPATH")}
    done = subprocess.run([str(word) for word in words], cwd=cwd, capture_output=True, text=True, env=env, timeout=300)
    assert done.returncode == code, done.stderr[-2_000:]
    return done.stdout


@pytest.mark.slow
def test_the_wheel_alone_begins_checks_asks_and_teaches(tmp_path: Path) -> None:
    uv = shutil.which("uv") or shutil.which("uv", path=str(Path(sys.executable).parent))
    assert uv is not None, "the tests of this project run under uv"
    _ran(uv, "build", "--wheel", "-q", "-o", tmp_path / "dist", ROOT, cwd=tmp_path)
    (wheel,) = (tmp_path / "dist").glob("bylaw_policies-*.whl")
    _ran(uv, "venv", "-q", "--python", sys.executable, tmp_path / "env", cwd=tmp_path)
    python, command = tmp_path / "env" / "bin" / "python", tmp_path / "env" / "bin" / "bylaw"
    _ran(uv, "pip", "install", "-q", "--python", python, wheel, cwd=tmp_path)
    _ran(command, "init", "shop", cwd=tmp_path)
    shop = tmp_path / "shop"
    assert json.loads(_ran(command, "check", "--format", "json", cwd=shop))["findings"] == []
    reply = json.loads(_ran(command, "ask", "What does POL-REFUND-001 say?", "--json", cwd=shop))
    assert reply["kind"] == "policy" and reply["status"] == "answered"
    assert _ran(command, "docs", "start", cwd=shop) == (ROOT / "docs" / "start.md").read_text(encoding="utf-8")
    _ran(command, "report", "-o", tmp_path / "site", cwd=shop)
    assert (tmp_path / "site" / "index.html").is_file()
