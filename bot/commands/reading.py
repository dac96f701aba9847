"""The verb that reads without answering: what a text says, in declared words, and what nobody accounts for."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bot.cli import _BUNDLE, _ROOT, open_index, read_document
from bot.clock import now
from bot.commands.verdicts import _object, _piped
from bylaw.roots import root_around

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bylaw.authored.vocabulary import Vocabulary
    from bylaw.hold.item import Item, Reading

KINDS = ("policy", "data", "decision", "answer")
_MOST = 40_000  # characters of a text


@click.command()
@click.argument("text", metavar="TEXT")
@click.option("--kind", type=click.Choice(KINDS), help="What the text is; default: what the router takes it for.")
@click.option("--items", metavar="JSON", help="What is proposed that it says: a JSON list of items, or @FILE.")
@click.option("--query", default="", metavar="TEXT", help="Of an answer: what was asked.")
@click.option("--facts", metavar="JSON", help="Of an answer: what was told of the case, a JSON object or @FILE.")
@_BUNDLE
@_ROOT
@click.option(
    "--as", "user", metavar="USER", default="anonymous", help="Who asks: names that they may not see are none."
)
@click.option("--at", metavar="ISO-TIME", help="Read as if it were this time.")
@click.option("--json", "as_json", is_flag=True, help="The reading as one JSON document.")
@click.pass_context
def read(
    ctx: click.Context,
    text: str,
    kind: str | None,
    items: str | None,
    query: str,
    facts: str | None,
    bundle: Path | None,
    root: Path | None,
    user: str,
    at: str | None,
    as_json: bool,
) -> None:
    """Say what a text says in declared words, and which of its words nobody accounts for. Nothing is answered.

    For authors: what is left over are the words that your vocabulary or catalogue lacks. Exit code 1 where something is
    left over or refused.

    \b
    bylaw read "I bought it 12 days ago. Can I get my money back?"
    bylaw read "net revenue" --items '[{"kind": "asks", "name": "net_revenue", "quote": "net revenue"}]'
    """
    from bot.ask.ground import ground_for
    from bot.ask.reading import kind_of, read_text
    from bot.commands.missing import describe_missing
    from bot.conversation import moment

    _, index = open_index(bundle, root)
    said = _piped(_MOST) if text == "-" else text
    today: date = (moment(at) if at else now()).date()
    chosen: Any = kind or kind_of(said, index, today, user)
    told = _object(facts) if facts else {}
    reading = read_text(
        said, chosen, index, today, user, None if items is None else read_document(items, "items"), query, told
    )
    if as_json:
        document = {"kind": chosen, "text": said, "reading": reading.written()}
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
    else:
        words = ground_for(index, chosen, today, user).index
        beside = None if bundle is not None else root or root_around(Path())
        missing = describe_missing(said, chosen, reading, index, words, beside)
        click.echo("\n".join((_render(chosen, reading, index.vocabulary), *missing)))
    ctx.exit(1 if reading.residue or reading.refused else 0)


def _render(kind: str, reading: Reading, vocabulary: Vocabulary) -> str:
    """The reading for a person: what is understood, by its label, what is not, and what to do about it."""
    lines = [f"read as a {kind} text, by {reading.by}"]
    for one in reading.items:
        shown = " ".join(_shown(one.item, vocabulary))
        quote = f' in "{one.item.quote}"' if one.item.quote else ""
        why = f" ({one.why})" if one.why else ""
        lines.append(f"  {one.status:8} {one.item.kind} {shown}{quote}{why}")
    lines += [
        f'  refused  {one.item.kind} {_called(one.item.named or "", vocabulary)} in "{one.item.quote or ""}": {one.why}'
        for one in reading.refused
    ]
    for title, stretches in (
        ("left over", reading.residue),
        ("not used", reading.not_used),
        ("unknown", reading.unknown),
    ):
        if stretches:
            lines.append(f"{title}: {', '.join(one.text for one in stretches)}")
    if reading.residue and kind == "answer":
        lines.append("help: an answer says only what its claims say; claim it, or leave it out")
    if not (reading.items or reading.refused):
        others = " or ".join(f"`--kind {other}`" for other in KINDS[:3] if other != kind)
        lines.append(f"none of your declared words is in it; {others} reads it as another kind of question")
    return "\n".join(lines)


def _shown(item: Item, vocabulary: Vocabulary) -> Iterator[str]:
    """An item without its quote: what it is of, by its label, and the rest by its keys."""
    for key, value in item.written().items():
        if key in ("name", "action", "fact"):
            yield f"“{_called(str(value), vocabulary)}”"
        elif key not in ("kind", "quote"):
            yield f"{key} {value}"


def _called(name: str, vocabulary: Vocabulary) -> str:
    """What a name is called where it is declared: its label, else its words."""
    found = vocabulary.facts.get(name) or vocabulary.outcomes.get(name) or vocabulary.actions.get(name)
    return (found.label if found is not None else None) or name.replace("_", " ")
