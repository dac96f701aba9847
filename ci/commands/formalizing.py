"""`bylaw formalize`: a policy or a logic program through the bounded loop."""

from __future__ import annotations

import json
import time
from datetime import date
from pathlib import Path

import click

from ci.commands.options import ROOT

POLICIES = ("fail_fast", "auto_retry", "fallback_to_v1")


@click.command()
@click.argument("name", metavar="POLICY|PROGRAM")
@ROOT
@click.option("--max-iters", type=click.IntRange(0, 10), metavar="N", help="Rewrites at most.  [default: 3]")
@click.option("--policy", type=click.Choice(POLICIES), help="What happens to a rewrite that is refused.")
@click.option(
    "--ontology",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Of a program: the words and axioms of its domain (YAML or JSON).",
)
@click.option(
    "--text",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Of a program: the text that its rules may quote.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON document: the final format of the loop.")
@click.pass_context
def formalize(
    ctx: click.Context,
    name: str,
    root: Path,
    max_iters: int | None,
    policy: str | None,
    ontology: Path | None,
    text: Path | None,
    as_json: bool,
) -> None:
    """Check rules against their cases or their query, and let a model mend them a few times at most.

    POLICY is the id of a policy: its rules are held by the cases beside it, and what is better is written as a draft,
    `<ID>.formal.yaml`, for you to take over. PROGRAM is a file with a logic program (`FILE#NAME` names one of a list).
    Without a model (BYLAW_LLM) rules come from the ontology's axioms alone. Every iteration is kept under
    `.bylaw/refine/`. Exit code 1: it stays open.

    \b
    bylaw formalize POL-REFUND-001
    bylaw formalize liability.json --ontology law.yaml --text articles.txt
    bylaw formalize programs.json#late_delivery --json
    """
    from ci.refining.runs import Wish, formalized

    wish = Wish(name, root, date.today(), max_iters, policy, ontology, text, time.monotonic)
    found = formalized(wish)
    click.echo(json.dumps(found.document(), indent=2, ensure_ascii=False) if as_json else found.in_words())
    ctx.exit(0 if found.is_settled else 1)
