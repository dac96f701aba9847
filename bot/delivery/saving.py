"""A reply for other programs: in one document, or as a file whose ending says what it holds."""

from __future__ import annotations

from pathlib import Path

from bot.conversation import Reply
from bot.delivery.export import exported
from bylaw.errors import UsageError

_ENDINGS = {".csv": "csv", ".parquet": "parquet", ".json": "json", ".yaml": "yaml", ".yml": "yaml"}


def said(reply: Reply, shape: str) -> str:
    """*reply* as one document of `json` or `yaml`, without a line break at its end."""
    return exported(reply, shape).decode().rstrip("\n")


def save(reply: Reply, path: Path) -> None:
    """Write the rows, the reply or its chart to *path*. Raises UsageError for an unknown ending and for no rows."""
    ending = path.suffix.lower()
    if ending in (".png", ".svg"):
        from bot.delivery.pictures import picture  # only whoever wants one needs it

        made = picture(reply, "png" if ending == ".png" else "svg")
        if made is None:
            raise UsageError("this answer has no chart to draw")
    elif ending in _ENDINGS:
        made = exported(reply, _ENDINGS[ending])
    else:
        raise UsageError(
            f"`{path}` ends in nothing that can be written", "end it in .csv, .parquet, .json, .yaml, .png or .svg"
        )
    try:
        path.write_bytes(made)
    except OSError as error:
        raise UsageError(f"`{path}` cannot be written: {error.strerror}") from None
