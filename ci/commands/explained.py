"""`bylaw explain` at once: what was worked out for an unchanged repository is told again."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

from ci.findings import SEVERITIES
from ci.loading.kept import FOLDER, keep, recalled, stamp

FILE_NAME = "explained.json"


def explain(root: Path, id: str, at: date | None, today: date) -> str:
    """What *id* means in the repository at *root*, on the day *at*. Raises UsageError for what nobody knows."""
    path = root / FOLDER / FILE_NAME
    now = f"{stamp(root, today)} {at}"
    known = recalled(path, now)
    kept: dict[str, str] = json.loads(known) if known else {}
    if id not in kept:
        from ci.help.explain import explanations

        kept |= explanations(root, id, at, today)
        keep(path, now, json.dumps(kept, sort_keys=True))
    return kept[id]


def finding_in_words(id: str) -> str | None:
    """What a finding id means; None when *id* is none."""
    if id not in SEVERITIES:
        return None
    from ci.help.page import page
    from ci.report.pages import terminal

    told = page(id)
    return None if told is None else terminal(told)
