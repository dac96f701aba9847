"""What goes with an answer as files: its rows as a table, its chart as a picture. Both show what the answer holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bot.conversation import Reply
from bot.delivery import pictures
from bot.delivery.blocks import kit
from bot.delivery.export import as_csv

MOST_BYTES = 8 * 1024 * 1024  # of a file: what a phone still opens; Slack takes more
ALT = 1_000  # letters that Slack takes for who does not see a picture
_TITLE = 150


@dataclass(frozen=True)
class File:
    """One file. `alt` says what a picture shows to who does not see it."""

    name: str
    title: str
    content: bytes
    alt: str | None = None


def has_files(reply: Reply) -> bool:
    """Are there rows that are worth a file? A single one is read in the message."""
    return bool(reply.columns) and len(reply.rows) > 1


def files(reply: Reply) -> tuple[File, ...]:
    """The chart and the table of *reply*, each where there is one; no chart where drawing is not installed."""
    return tuple(_made(reply)) if has_files(reply) else ()


def fits(file: File) -> bool:
    """Is *file* small enough to be sent?"""
    return len(file.content) <= MOST_BYTES


def _made(reply: Reply) -> Iterator[File]:
    title = kit.clipped(reply.chart.title, _TITLE) if reply.chart else "The rows of the answer"
    drawn = pictures.picture(reply, "png") if pictures.is_installed() else None
    if drawn is not None:
        yield File("chart.png", title, drawn, kit.clipped(pictures.description(reply), ALT))
    yield File("result.csv", title, as_csv(reply))
