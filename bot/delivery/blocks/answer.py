"""A Reply as a message: the same parts as in the terminal, and the buttons that carry on from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from bot.conversation import Reply
from bot.delivery.blocks import clarify, kit, wrong
from bot.delivery.blocks.form import form
from bot.delivery.render import place
from bylaw.language.counting import count

ACCEPT = "accept"
SHOW = "show"

_LABELS = {
    "pending": ":hourglass: *Waiting*",
    "recommended": ":memo: *Recommended, not run*",
    "escalated": ":raising_hand: *A person has to look at this*",
    "refused": ":no_entry_sign: *Not answered*",
}
_ACCEPTABLE = frozenset({"answered", "recommended"})
_QUOTE = 100


def answer(reply: Reply, rows_shown: int) -> kit.Message:
    """*reply*, with buttons for what it offers and, where its level waits for it, for accepting it."""
    filled = form(reply.form, reply.request_id) if reply.form else ()
    return _message(
        reply, [*_parts(reply, rows_shown), *clarify.choices(reply), *filled, *_acceptance(reply), *wrong.line(reply)]
    )


def closed(reply: Reply, rows_shown: int, mrkdwn: str) -> kit.Message:
    """*reply* once it was carried on: no buttons any more, but how it ended."""
    return _message(reply, [*_parts(reply, rows_shown), kit.marked(mrkdwn), *wrong.line(reply)])


def again(request_id: str) -> kit.Message:
    """The answer to *request_id*, offered where it may have been shown already."""
    message = told("I may have shown you my answer here already. Where you do not see it, I show it again.")
    return replace(message, blocks=(*message.blocks, kit.actions([kit.button("Show it", SHOW, request_id)])))


def told(text: str) -> kit.Message:
    """A few words that are no Reply."""
    return kit.Message(kit.escape(kit.clipped(text, kit.FALLBACK)), (kit.section(text),))


def _message(reply: Reply, blocks: list[kit.Block]) -> kit.Message:
    return kit.Message(kit.escape(kit.clipped(reply.text, kit.FALLBACK)) or "…", kit.fitted(blocks))


def _parts(reply: Reply, rows_shown: int) -> Iterator[kit.Block]:
    if reply.status in _LABELS:
        yield kit.marked(_LABELS[reply.status])
    text = reply.text
    if reply.ask and reply.ask.question not in text:
        text = f"{text}\n{reply.ask.question}"
    yield from kit.paragraphs(text)
    if reply.different:
        yield kit.context("\n".join(one.text for one in reply.different))
    if reply.columns:
        yield from _rows(reply, rows_shown)
    if notes := "\n".join(_notes(reply)):
        yield kit.context(notes)
    if reply.sql:
        yield kit.preformatted(reply.sql)
    if reply.citations:
        yield kit.context("\n".join(_sources(reply)))


def _rows(reply: Reply, rows_shown: int) -> Iterator[kit.Block]:
    if not reply.rows:
        yield kit.context("(no rows)")
        return
    made = kit.table(reply.columns, [[_cell(value) for value in row] for row in reply.rows[:rows_shown]])
    yield made
    if left := len(reply.rows) - (len(made["rows"]) - 1):
        yield kit.context(f"… and {count(left, 'more row')}; `bylaw ask --json` shows them all")


def _notes(reply: Reply) -> Iterator[str]:
    """How a data question was read, and what to be careful about."""
    if reply.bindings:
        yield "read " + ", ".join(f"`{one.words}` as {one.kind} {one.name}" for one in reply.bindings)
    if reply.interval:
        yield f"time: {reply.interval.label}, from {reply.interval.start} until before {reply.interval.end}"
    yield from (f"note: {caveat}" for caveat in reply.caveats)


def _sources(reply: Reply) -> Iterator[str]:
    for one in reply.citations:
        quoted = f"“{kit.clipped(one.text, _QUOTE)}”" if one.text else ""
        yield "  ".join(part for part in (one.id, place(one), quoted) if part)


def _acceptance(reply: Reply) -> list[kit.Block]:
    if reply.level is None or reply.status not in _ACCEPTABLE or reply.choices:
        return []
    return [kit.actions([kit.button("Accept", ACCEPT, reply.request_id, "primary")])]


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
