"""The few pieces of Block Kit in use, each within Slack's limits.

What people or files wrote goes into elements that Slack shows letter by letter (plain text, raw cells, preformatted
text), so that no mention, link or format can be smuggled in. Only `escape` is for the places that read mrkdwn.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from bot.delivery.render import safe

Block = dict[str, Any]

TEXT = 3_000  # of a section, a context element, a preformatted text
FALLBACK = 3_000  # of a message's own text, which notifications show; Slack allows 40,000
BLOCKS = 50
BUTTON = 75
OPTIONS = 100
ELEMENTS = 25
CONTEXT = 10
ROWS = 100  # of a table, its head included
COLUMNS = 20
CELLS = 10_000  # characters of all cells of a message together
CELL = 60
INPUT = 1_000  # characters that are typed into a field


LABEL = 2_000  # of a field
MESSAGE = 10_000  # letters of all blocks of a message but its table; Slack refuses somewhere above 11,000


@dataclass(frozen=True)
class Message:
    """What is posted: blocks, and the text that notifications and screen readers get."""

    text: str
    blocks: tuple[Block, ...]


def escape(text: str) -> str:
    """*text* for mrkdwn: nothing in it can mention, link or name a channel."""
    return safe(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def clipped(text: str, limit: int) -> str:
    """*text* without control characters and no longer than *limit*."""
    shown = safe(text).strip()
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def plain(text: str, limit: int = TEXT) -> Block:
    """A text object that is shown as it is written; Slack takes no empty one."""
    return {"type": "plain_text", "text": clipped(text, limit) or "–", "emoji": False}


def section(text: str) -> Block:
    """A paragraph."""
    return {"type": "section", "text": plain(text)}


def paragraphs(text: str, most: int = 4) -> list[Block]:
    """As many paragraphs as *text* needs, broken at its lines where that is possible; the last one is clipped."""
    found: list[Block] = []
    rest = safe(text).strip()
    while len(rest) > TEXT and len(found) < most - 1:
        cut = rest.rfind("\n", 1, TEXT)
        cut = cut if cut > 0 else TEXT
        found.append(section(rest[:cut]))
        rest = rest[cut:].lstrip("\n")
    return [*found, section(rest)]


def letters(value: Any) -> int:
    """How much text stands in blocks, those of a table left out."""
    if isinstance(value, dict):
        if value.get("type") == "table":
            return 0
        return sum(len(one) if name == "text" and isinstance(one, str) else letters(one) for name, one in value.items())
    return sum(map(letters, value)) if isinstance(value, list | tuple) else 0


def fitted(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """*blocks* as a message carries them: where they say more than it takes, the longest texts end earlier."""
    made = tuple(blocks)
    for limit in (2_000, 1_000, 500, 200):
        if letters(made) <= MESSAGE:
            break
        made = tuple(_shortened(one, limit) for one in made)
    return made[:BLOCKS]


def _shortened(value: Any, limit: int) -> Any:
    """The same with shorter texts, but for those whose marks must not be cut."""
    if isinstance(value, list):
        return [_shortened(one, limit) for one in value]
    if not isinstance(value, dict) or value.get("type") in ("mrkdwn", "table"):
        return value
    return {
        name: clipped(one, limit) if name == "text" and isinstance(one, str) else _shortened(one, limit)
        for name, one in value.items()
    }


def context(*texts: str) -> Block:
    """Small print."""
    return {"type": "context", "elements": [plain(text) for text in texts[:CONTEXT]]}


def marked(mrkdwn: str) -> Block:
    """Small print in mrkdwn: for words of our own, with `escape` around everything else."""
    return {"type": "context", "elements": [{"type": "mrkdwn", "text": mrkdwn}]}


def preformatted(text: str) -> Block:
    """A statement or the like, letter by letter."""
    quoted = {"type": "rich_text_preformatted", "elements": [{"type": "text", "text": clipped(text, TEXT) or "–"}]}
    return {"type": "rich_text", "elements": [quoted]}


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Block:
    """A table as large as a message may carry; how many rows fit is seen in its `rows`."""
    shown: list[list[Block]] = []
    left = CELLS
    for row in [head, *rows]:
        cells = [clipped(cell, CELL) or "–" for cell in row[:COLUMNS]]
        left -= sum(map(len, cells))
        if left < 0 or len(shown) == ROWS:
            break
        shown.append([{"type": "raw_text", "text": cell} for cell in cells])
    return {"type": "table", "rows": shown}


def button(label: str, action: str, value: str, style: Literal["primary", "danger"] | None = None) -> Block:
    """A button. `value` comes back with the click."""
    made = {"type": "button", "text": plain(label, BUTTON), "action_id": action, "value": value}
    return made if style is None else {**made, "style": style}


def actions(elements: Sequence[Block]) -> Block:
    """A row of buttons."""
    return {"type": "actions", "elements": list(elements)[:ELEMENTS]}


def menu(label: str, action: str, options: Sequence[tuple[str, str]]) -> Block:
    """A menu of labels and values, for more than fit in a row of buttons."""
    made = [{"text": plain(text, BUTTON), "value": value} for text, value in options[:OPTIONS]]
    return {"type": "static_select", "placeholder": plain(label, BUTTON), "action_id": action, "options": made}


def asked(label: str, block_id: str, element: Block, is_optional: bool = False, is_dispatched: bool = False) -> Block:
    """A field of a form; *is_dispatched*: what is chosen in it is told at once."""
    made = {"type": "input", "block_id": block_id, "label": plain(label, LABEL), "element": element}
    return {**made, "optional": is_optional, "dispatch_action": is_dispatched}


def typed(action: str, text: str | None = None, is_long: bool = False) -> Block:
    """A field to type into."""
    made = {"type": "plain_text_input", "action_id": action, "multiline": is_long, "max_length": INPUT}
    return made if not text else {**made, "initial_value": clipped(text, INPUT)}
