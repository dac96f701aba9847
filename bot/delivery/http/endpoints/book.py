"""`GET /`: the rule book that `bylaw report` wrote, or how to write it.

It shows every policy to everybody who may ask here. Where some policies are for certain roles alone it is not shown:
whoever publishes it decides then who may read it.
"""

from __future__ import annotations

import base64
import hashlib
import re
from html import escape
from pathlib import Path

from fastapi import FastAPI, HTTPException, Response

from bot.services import Serving

FOLDER = Path(".bylaw") / "report"
_MOST = 16 * 1024 * 1024  # bytes of one page
_PAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}\.html")
_SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)


def install(app: FastAPI, serving: Serving, root: Path) -> None:
    """Add the overview and the page of each domain to *app*; they lie in the folder *root*."""
    folder = root / FOLDER

    @app.get("/")
    def overview() -> Response:
        """The rule book, or how to write it."""
        bundle = serving.services().index.bundle
        if any(shown.get("audience") for shown in bundle.policies.values()):
            return _said("Some policies are for certain roles alone, so the rule book is not shown here", "Write it")
        text = _read(folder, "index.html")
        return _shown(text) if text is not None else _said("No rule book was written yet", "Write it")

    @app.get("/domains/{name}")
    def domain(name: str) -> Response:
        """The policies of one domain."""
        bundle = serving.services().index.bundle
        is_for_all = not any(shown.get("audience") for shown in bundle.policies.values())
        text = _read(folder / "domains", name) if is_for_all and _PAGE.fullmatch(name) else None
        if text is None:
            raise HTTPException(404, "there is no such page")
        return _shown(text)


def _read(folder: Path, name: str) -> str | None:
    """The page, where it is an ordinary file of the folder itself."""
    path = folder / name
    try:
        if path.is_symlink() or folder.is_symlink() or not path.is_file() or path.stat().st_size > _MOST:
            return None
        return path.read_text(encoding="utf-8")
    except OSError:  # it cannot be read: to who asks it is not there
        return None


def _shown(text: str) -> Response:
    """The page; only the scripts that stand in it run, and they reach nothing."""
    scripts = " ".join(f"'sha256-{_hashed(script)}'" for script in _SCRIPT.findall(text)) or "'none'"
    policy = f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src {scripts}"
    closed = "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    headers = {"Content-Security-Policy": f"{policy}; {closed}", "X-Content-Type-Options": "nosniff"}
    return Response(text, media_type="text/html; charset=utf-8", headers=headers)


def _hashed(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _said(what: str, next_step: str) -> Response:
    body = f"<p>{escape(what)}. {escape(next_step)} with <code>bylaw report</code>, in the folder of the policies.</p>"
    return _shown(f"<!doctype html><html lang=en><meta charset=utf-8><title>bylaw</title>{body}</html>\n")
