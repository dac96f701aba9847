"""The figures of `bylaw stats --quality` as one page that needs nothing else: each share is a bar."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Any

from bot.operate.quality import calibration_lines, lines, plots

_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:48rem;margin:2rem auto;padding:0 1rem;color:#222}"
    "pre{background:#f4f4f4;padding:1rem;overflow:auto}svg{width:100%;height:auto}h2{margin-top:2rem}"
)
_ROW, _LABEL, _BAR = 28, 260, 380  # of the picture, in its own units


def page(found: Mapping[str, Mapping[str, Any]], title: str = "How good the answers are") -> str:
    """The whole page."""
    return "\n".join(
        (
            "<!doctype html>",
            f'<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title><style>{_STYLE}</style></head>',
            f"<body><h1>{escape(title)}</h1>",
            *_pictures(plots(found)),
            "<h2>The figures</h2>",
            _text(lines(found["quality"])),
            "<h2>The weights of the risk factors</h2>",
            _text(calibration_lines(found["calibration"])),
            "</body></html>",
        )
    )


def _pictures(drawn: Sequence[tuple[str, Sequence[tuple[str, float]]]]) -> Iterator[str]:
    for title, bars in drawn:
        if bars:
            yield f"<h2>{escape(title)}</h2>"
            yield _picture(title, bars)


def _picture(title: str, bars: Sequence[tuple[str, float]]) -> str:
    height = _ROW * len(bars)
    rows = "".join(_row(n, label, share) for n, (label, share) in enumerate(bars))
    view = f'viewBox="0 0 {_LABEL + _BAR + 60} {height}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {view} role="img" aria-label="{escape(title)}">{rows}</svg>'


def _row(n: int, label: str, share: float) -> str:
    top, width = n * _ROW, max(1, round(_BAR * share))
    return (
        f'<text x="{_LABEL - 10}" y="{top + 19}" text-anchor="end" font-size="14">{escape(label)}</text>'
        f'<rect x="{_LABEL}" y="{top + 5}" width="{width}" height="18" fill="#3b6ea5"/>'
        f'<text x="{_LABEL + width + 6}" y="{top + 19}" font-size="14">{share:.0%}</text>'
    )


def _text(told: Iterable[str]) -> str:
    return f"<pre>{escape(chr(10).join(told))}</pre>"
