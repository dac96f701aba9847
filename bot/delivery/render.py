"""A Reply for a terminal. Rows, questions and file contents are other people's text: nothing in them reaches the
terminal as a control sequence."""

from __future__ import annotations

import json
import re
import shlex
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from bot.conversation import CORRECTS, PROPOSED, Citation, Reply
from bot.delivery.plots import plot

if TYPE_CHECKING:
    from bot.enforcement.judged.verdict import ComplianceDecision

MAX_ROWS = 50
MAX_CELL = 60
MAX_DECIMALS = 4
_OFFERED = 4  # options of a field that one line shows

_LABELS = {
    "pending": ("waiting", "yellow"),
    "recommended": ("recommended, not run", "yellow"),
    "escalated": ("a person has to look at this", "yellow"),
    "refused": ("not answered", "red"),
}
# C0 and C1 controls, and the marks that turn the direction of text around
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def render(reply: Reply, explain: bool = False) -> str:
    """*reply* as lines of text, styled; click takes the styles out where there is no colour.

    With *explain* the statement that ran is shown too, and why the answer has its level.
    """
    parts = [
        _said(reply),
        _different(reply),
        _choices(reply),
        _form(reply),
        _data(reply),
        safe(plot(reply)),
        _notes(reply),
        _why(reply) if explain else "",
        click.style(safe(reply.sql), dim=True) if reply.sql and (explain or not reply.columns) else "",
        _sources(reply.citations),
    ]
    return "\n\n".join(part for part in parts if part)


def hint(reply: Reply) -> str | None:
    """How to go on: to answer what the reply waits for, or to say that it is wrong. None where there is neither."""
    if (wrong := (reply.meta or {}).get(CORRECTS)) is not None:
        if PROPOSED in (reply.meta or {}):
            return f"confirm it: bylaw correct {reply.request_id} --yes; say something else: bylaw correct {wrong}"
        return f"say what is right: bylaw correct {wrong}"
    is_waiting = reply.status in ("needs_choice", "needs_fact", "pending") or reply.choices or reply.ask
    if not is_waiting:
        return f"wrong? bylaw correct {reply.request_id}" if reply.status == "answered" else None
    if reply.form is not None:
        known = {
            one.name: list(one.chosen) if one.is_many else one.chosen[0] for one in reply.form.fields if one.chosen
        }
        form = shlex.quote(safe(json.dumps(known, ensure_ascii=False)))
        return f"change or run what was understood: bylaw ask --form {form}; the answer with --json has all options"
    return f'answer with: bylaw ask --session {reply.session_id} "…"'


def safe(text: str) -> str:
    """*text* without control characters, so that it cannot steer a terminal. Line breaks stay."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n"))


def place(citation: Citation) -> str:
    """`path:line@commit`, as far as each is known; a dirty tree is shown as one."""
    if citation.path is None:
        return ""
    line = f":{citation.line}" if citation.line is not None else ""
    if citation.commit is None:
        return f"{citation.path}{line}"
    sha, dash, rest = citation.commit.partition("-")
    return f"{citation.path}{line}@{sha[:7]}{dash}{rest}"


def table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Aligned columns: numbers to the right, with equally many decimals down a column."""
    shown = [[_cell(value, _decimals(column)) for value in column] for column in zip(*rows[:MAX_ROWS], strict=True)]
    shown = shown or [[] for _ in columns]
    is_number = [all(_is_number(value) or value is None for value in column) for column in zip(*rows, strict=True)]
    is_number = is_number or [False] * len(columns)
    heads = [_clipped(safe(name)) for name in columns]
    widths = [max(map(_width, [head, *column])) for head, column in zip(heads, shown, strict=True)]
    lines = [
        "  ".join(_padded(*one) for one in zip(line, widths, is_number, strict=True)).rstrip()
        for line in [heads, *zip(*shown, strict=True)]
    ]
    lines[0] = click.style(lines[0], bold=True)
    if len(rows) > MAX_ROWS:
        lines.append(f"… and {len(rows) - MAX_ROWS} more rows; --json shows them all")
    return "\n".join(lines)


def _said(reply: Reply) -> str:
    text = safe(reply.text)
    if reply.ask and reply.ask.question not in reply.text:
        text = f"{text}\n{safe(reply.ask.question)}".lstrip("\n")
    label = _LABELS.get(reply.status)
    return text if label is None else f"{click.style(label[0], fg=label[1], bold=True)}: {text}"


def _different(reply: Reply) -> str:
    return "\n".join(safe(one.text) for one in reply.different)


def _choices(reply: Reply) -> str:
    return "\n".join(f"  {number}. {safe(choice.label)}" for number, choice in enumerate(reply.offered, 1))


def _form(reply: Reply) -> str:
    """The fields of the form, each with what was understood, or the first of what may stand there."""
    lines = []
    for field in reply.form.fields if reply.form else ():
        labels = {one.value: one.label for one in field.options}
        first = ", ".join(safe(one.label) for one in field.options[:_OFFERED])
        more = "" if len(field.options) <= _OFFERED else f" and {len(field.options) - _OFFERED} more"
        chosen = ", ".join(safe(labels.get(one, one)) for one in field.chosen)
        shown = click.style(chosen, bold=True) if chosen else click.style(f"({first}{more})", dim=True)
        lines += [f"  {field.label + ':':16}{shown}"] if field.options else []
    return "\n".join(lines)


def _data(reply: Reply) -> str:
    if not reply.columns:
        return ""
    return table(reply.columns, reply.rows) if reply.rows else "(no rows)"


def _notes(reply: Reply) -> str:
    """How a data question was read, and what to be careful about."""
    return "\n".join(_note_lines(reply))


def _note_lines(reply: Reply) -> Iterator[str]:
    if reply.bindings:
        read = (f"`{safe(one.words)}` as {one.kind} {safe(one.name)}" for one in reply.bindings)
        yield "read " + ", ".join(read)
    if reply.interval:
        yield f"time: {safe(reply.interval.label)}, from {reply.interval.start} until before {reply.interval.end}"
    yield from (f"{click.style('note', fg='yellow')}: {safe(caveat)}" for caveat in reply.caveats)


def _why(reply: Reply) -> str:
    """How likely a data answer is wrong, by which factor, and why it has its level."""
    risk = reply.risk
    if risk is None:
        return ""
    factors = ", ".join(f"{name.replace('_', ' ')} {score:.2f}" for name, score in dict(risk.factors).items())
    lines = [f"level {reply.level} ({risk.decision.lower()}): {risk.rationale}", f"  factors: {factors}"]
    if risk.source_signals:  # what nobody measures is no part of what is shown
        lines.append(f"  source risk by: {', '.join(name.replace('_', ' ') for name in risk.source_signals)}")
    stakes = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in sorted(risk.stakes.items()))
    lines += [f"  stakes: {stakes}"] if stakes else []
    lines += [f"  ask: {', '.join(risk.escalation_path)}"] if risk.escalation_path else []
    lines += [f"  data until: {reply.data_until}"] if reply.data_until else []
    return "\n".join(safe(line) for line in lines)


def _sources(citations: Iterable[Citation]) -> str:
    lines = []
    for one in citations:
        where = click.style(safe(place(one)), fg="cyan") if one.path else ""
        quoted = f"“{_clipped(safe(one.text), 100)}”" if one.text else ""
        lines.append("  " + "  ".join(part for part in (safe(one.id), where, quoted) if part))
    return "\n".join(["sources:", *lines]) if lines else ""


def _value(value: Any) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else safe(str(value))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _decimals(column: Sequence[Any]) -> int:
    """How many decimals a column shows: as many as its longest number has, within reason; none for whole numbers."""
    texts = [repr(value) for value in column if isinstance(value, float)]
    longest = max((len(text.partition(".")[2]) for text in texts if "e" not in text), default=0)
    return min(longest, MAX_DECIMALS)


def _cell(value: Any, decimals: int) -> str:
    if value is None:
        return "–"
    if _is_number(value) and decimals:
        return f"{value:.{decimals}f}"
    return _clipped(_value(value))


def _clipped(text: str, limit: int = MAX_CELL) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"


def _width(text: str) -> int:
    """How many columns of a terminal *text* takes: wide characters two, combining marks none."""
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )


def _padded(text: str, width: int, to_the_right: bool) -> str:
    space = " " * (width - _width(text))
    return space + text if to_the_right else text + space


def verdict_as_text(found: ComplianceDecision) -> str:
    """A verdict for a terminal: what becomes of the answer, what is wrong with it, and by which line."""
    lines = [f"{found.action} (score {found.score:.2f}): {found.reason}"]
    for broken in found.violations:
        lines.append(f"  {broken.kind}: {broken.message}")
        if broken.path is not None and f"{broken.path}:{broken.line}" not in broken.message:
            lines.append(f"    --> {broken.path}:{broken.line}")
    if found.escalation is not None and found.escalation.owners:
        lines.append(f"ask: {', '.join(found.escalation.owners)}")
    if found.action == "auto_correct" and found.delivered is not None:
        lines.append(f"say instead:\n{found.delivered}")
    return "\n".join(safe(line) for line in lines)
