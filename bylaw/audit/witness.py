"""Tells somebody else where the chain stands, who keeps it where nobody of ours can change it."""

from __future__ import annotations

from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from bylaw.audit.entry import Checkpoint
from bylaw.canonical import canonical_json
from bylaw.errors import BylawError, UsageError

SECONDS = 10.0


class _Staying(HTTPRedirectHandler):
    """Who is told is who was named."""

    def redirect_request(self, *_: object) -> None:
        """Go nowhere else."""


def post(url: str, tail: Checkpoint) -> None:
    """Post *tail* to *url*, as a line of a checkpoint file. Raises UsageError, and BylawError when it was not taken."""
    if urlsplit(url).scheme not in ("https", "http"):
        raise UsageError(f"`{url}` is no address of a witness", "it begins with https://")
    line = canonical_json({"closing": {"count": tail.count, "head": tail.head}})
    asked = Request(url, f"{line}\n".encode(), {"Content-Type": "application/json"}, method="POST")
    try:
        with build_opener(_Staying).open(asked, timeout=SECONDS):
            return
    except (URLError, OSError, ValueError) as error:
        raise BylawError(f"the witness did not take where the chain stands: {error}", "post it again later") from None
