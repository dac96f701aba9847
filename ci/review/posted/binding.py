"""What a document is held to before it is posted: it is the one that the trusted side computed, of this very change.

A pull request may rewrite the workflow that looks at it, and with it the file that this leaves behind. So the trusted
side looks for itself, without rights, and hands over the digest of what it found. A document without one is shown, and
is never green.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import TYPE_CHECKING

from bylaw.errors import UsageError
from bylaw.github.client import Hub, told
from ci.review.computed.document import ReviewDocument

if TYPE_CHECKING:
    from bylaw.github.types import PullRequest

_AGAIN = "compute it anew with `bylaw review --compute FILE`"


def digest_of(data: bytes) -> str:
    """`sha256:` and 64 letters."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def verify_digest(data: bytes, digest: str | None) -> bool:
    """Is it known that *data* is what the trusted side computed? Raises UsageError where it is something else."""
    if not digest:
        return False
    if not hmac.compare_digest(digest_of(data).encode(), digest.strip().encode()):
        raise UsageError("the review is not the one that was computed: its digest is another one", _AGAIN)
    return True


def verify_base(hub: Hub, pull: PullRequest, document: ReviewDocument) -> None:
    """Hold the document to the commit at which GitHub says that the branch left its base. Raises UsageError."""
    with told():
        left_at = hub.repository.compare(pull.base.sha, document.head_sha).merge_base_commit.sha
    if left_at != document.base_sha:
        raise UsageError(f"the review starts from {document.base_sha}, and the pull request from {left_at}", _AGAIN)
