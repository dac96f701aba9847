"""`bylaw demo`: the story of both wings on this repository's own organisation, with no key and no server.

With `bylaw.cli` the only module that composes the wings. It works in a temporary folder and changes nothing.
"""

from __future__ import annotations

import importlib
import shutil
import tempfile
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from time import monotonic
from typing import Any

import click

from bylaw.errors import UsageError

HOME = Path(__file__).resolve().parents[2]
CHANGE = Path(__file__).with_name("example") / "POL-REFUND-041.yaml"
FOLDERS = ("policies", "context", "rules")
USER = "ben"  # a finance analyst of rules/roles.yaml
QUESTIONS = (
    ("policy", "I bought a TV 20 days ago for $600 and lost the receipt. Can I get a refund?"),
    ("data", "net revenue by region last quarter"),
    ("decision", "Why did we start Voltmark Plus?"),
)


@click.command()
@click.argument("chapter", type=click.Choice(["all", "gate"]), default="all")
@click.option("--keep", is_flag=True, help="Leave the example repository in place, to play with.")
@click.pass_context
def demo(ctx: click.Context, chapter: str, keep: bool) -> None:
    """The whole story on an embedded example: no key, no server, nothing of yours is touched.

    `bylaw demo gate` shows what stops an agent that acts.
    """
    started = monotonic()
    folder = Path(tempfile.mkdtemp(prefix="bylaw-demo-"))
    try:
        if chapter == "gate":
            from bylaw.demos.gate import EXAMPLE
            from bylaw.demos.gate import story as of_the_gate

            shutil.copytree(EXAMPLE, folder, dirs_exist_ok=True)
            of_the_gate(folder, lambda line: click.echo(line, color=ctx.color))
            return
        for line in story(folder, datetime.now(UTC)):
            click.echo(line, color=ctx.color)
        click.echo(_said(f"That took {monotonic() - started:.0f} seconds. Next, after `source .venv/bin/activate`:"))
        click.echo(_next(folder if keep else None))
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


def story(folder: Path, now: datetime) -> Iterator[str]:
    """The demo, line by line, played in the empty *folder*."""
    if not all((HOME / name).is_dir() for name in FOLDERS):
        raise UsageError(
            "the example's files are not beside this program", "run the demo from a clone of the repository"
        )
    for name in FOLDERS:
        shutil.copytree(HOME / name, folder / name)
    yield from _compile(folder, now.date())
    yield from _review(folder, now.date())
    yield from _ask(folder, now)


def _compile(folder: Path, today: date) -> Iterator[str]:
    yield _title(1, "A repository of policies, checked and compiled")
    yield "Voltmark sells consumer electronics. Its policies, data knowledge and decisions are YAML that people review."
    pipeline = importlib.import_module("ci.pipeline")
    run, path = pipeline.build(folder, folder / ".bylaw", today)
    cases, rules = len(run.workspace.cases), len(run.ruleset.rules)
    yield f"\n  $ bylaw check && bylaw compile -o {path.parent.name}"
    yield f"  {len(run.workspace.policies)} policies, {rules} rules, {cases} cases that hold; {_counted(run.findings)}"
    yield f"  {path.name}: {path.stat().st_size // 1024} kB"


def _review(folder: Path, today: date) -> Iterator[str]:
    yield _title(2, "A pull request that contradicts another policy")
    yield "Marketing adds a policy: three weeks for electronics. The returns handbook gives them fifteen days."
    pipeline = importlib.import_module("ci.pipeline")
    text = importlib.import_module("ci.report.text")
    before = pipeline.run(folder, None, today)
    target = folder / "policies" / "refund" / CHANGE.name
    shutil.copyfile(CHANGE, target)
    checking = importlib.import_module("ci.check")
    checked = checking.against(before, pipeline.run(folder, None, today), checking.Gating())
    target.unlink()
    yield "\n  $ bylaw check --base main\n"
    yield _indented(text.render(checked.new, checked.workspace.sources))


def _ask(folder: Path, now: datetime) -> Iterator[str]:
    yield _title(3, "Three questions, answered by the reviewed files")
    warehouse = importlib.import_module("bylaw.demos.warehouse")
    warehouse.build(folder / "demo.duckdb", now.date())
    for kind, question in QUESTIONS:
        reply = answer(folder, question, now)
        yield f"\n  {click.style(kind, bold=True)}: {question}\n"
        yield _indented(importlib.import_module("bot.delivery.render").render(reply), by=4)


def answer(folder: Path, question: str, now: datetime, session: str = "demo") -> Any:
    """One question on the demo's repository and warehouse, through the same trip as everywhere."""
    app = importlib.import_module("bot.app")
    conversation = importlib.import_module("bot.conversation")
    settings = importlib.import_module("bot.settings")
    given = settings.read(folder, {"BYLAW_WAREHOUSE": f"duckdb:///{folder / 'demo.duckdb'}"})
    bot = app.open_bot(given, folder / ".bylaw" / "compiled_policy_bundle.json")
    try:
        services = bot.services()
        asked = conversation.Question(
            text=question,
            actor=conversation.Actor(id=USER),
            asked_at=now,
            session_id=session,
            request_id=services.new_id(),
        )
        return importlib.import_module("bot.request.orchestrator").handle(asked, services)
    finally:
        bot.close()


def _counted(findings: Any) -> str:
    counts = {name: sum(f.severity == name for f in findings) for name in ("error", "warning", "notice")}
    return ", ".join(f"{n} {name}{'' if n == 1 else 's'}" for name, n in counts.items())


def _title(number: int, text: str) -> str:
    return click.style(f"\n{number}. {text}", bold=True, fg="cyan")


def _said(text: str) -> str:
    return click.style(f"\n{text}", bold=True)


def _indented(text: str, by: int = 2) -> str:
    return "\n".join(f"{' ' * by}{line}" if line else "" for line in text.splitlines())


def _next(kept: Path | None) -> str:
    lines = [
        "  bylaw check                    this repository's own policies, proved",
        "  bylaw explain POL-REFUND-001   a policy in words",
        '  bylaw ask "I bought a laptop 12 days ago, can I return it?"',
        '  bylaw ask --warehouse demo "how many orders last month?"',
        "  bylaw init ../my-policies      a repository of your own",
    ]
    if kept is not None:
        lines.append(f"  the example stays in {kept}")
    return "\n".join(lines)
