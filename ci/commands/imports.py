"""`bylaw import`: semantic layers, live databases, decision tables and lines of policies, as files of a repository."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bylaw.language.counting import count

if TYPE_CHECKING:
    from ci.importers.draft import ContextDraft, Dropped
    from ci.importers.write import Plan

LAYERS = ("dbt", "metricflow", "cortex", "ossie", "lookml", "wren")
FORMATS = ("auto", *LAYERS, "pep", "kep", "rfc")  # as in `ci.importers.registry`
RULES = ("dmn", "csv", "xlsx", "policies")  # as in `ci.commands.tables`
HIT_POLICIES = ("UNIQUE", "ANY", "FIRST", "PRIORITY")
SHOWN = 5  # places of one reason, and lines of one file, before the rest is counted


@click.command("import")
@click.argument("source", metavar="FILE_FOLDER_OR_URL")
@click.argument("manifest", metavar="[MANIFEST]", type=click.Path(path_type=Path), required=False)
@click.option(
    "--format",
    "format_",
    type=click.Choice((*FORMATS, *RULES)),
    default="auto",
    show_default=True,
    help="What the source is; `auto` looks into it.",
)
@click.option(
    "--output",
    "--root",
    "-o",
    "root",
    type=click.Path(path_type=Path),
    default=Path(),
    show_default=".",
    help="The policy repository that is written.",
)
@click.option(
    "--schema", help="The schema of tables whose source names none (main); of a database, the one meant (all)."
)
@click.option(
    "--tables", metavar="NAMES", help="Of a database: only these tables, with commas between; `*` is any text."
)
@click.option(
    "--ask-model",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Of data: write to FILE what a model may be asked for descriptions and synonyms; import nothing.",
)
@click.option(
    "--proposed",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Of data: take from FILE what a language model answered, as far as it holds, marked for review.",
)
@click.option("--domain", help="Of a table: the domain of its policies (the name of the file).")
@click.option("--owner", help="Of a table: who owns its policies (TBD, which a check tells).")
@click.option(
    "--hit-policy",
    type=click.Choice(HIT_POLICIES),
    help="Of a sheet: what holds where several rows do (UNIQUE). DMN says it itself.",
)
@click.option(
    "--outcome", "outcomes", metavar="HEADER", multiple=True, help="Of a sheet: a column that says what follows."
)
@click.option(
    "--map",
    "maps",
    metavar="HEADER=NAME",
    multiple=True,
    help="Of a sheet: the fact or outcome that a column is; or a YAML file that says it of all columns.",
)
@click.option("--sheet", metavar="NAME", help="Of a workbook: the sheet, where it has several.")
@click.option(
    "--empty",
    type=click.Choice(("refuse", "any")),
    default="refuse",
    help="Of a table: what an empty cell means (refuse).",
)
@click.option("--dialect", help="The dialect of SQL in the source, by its sqlglot name, where it is not the usual one.")
@click.option(
    "--dry-run", is_flag=True, help="Say what would be written, with the changes of each file; write nothing."
)
@click.option("--force", is_flag=True, help="Where the source and a person's edit differ, take what the source says.")
@click.option("--all", "all_", is_flag=True, help="Show every place that was not carried over.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document and nothing else.")
@click.pass_context
def import_(
    ctx: click.Context,
    /,
    source: str,
    manifest: Path | None,
    format_: str,
    root: Path,
    schema: str | None,
    tables: str | None,
    ask_model: Path | None,
    proposed: Path | None,
    dialect: str | None,
    dry_run: bool,
    force: bool,
    all_: bool,
    as_json: bool,
    **_of_a_table: object,
) -> None:
    """Write the entities, metrics, joins and verified queries of another source as context files.

    One record a file. Imported again, a file follows its source and keeps what people edited since; where both changed,
    the edit stays and is named. What could not be carried over is listed with its place and the reason. What is written
    checks clean; `bylaw check --warehouse URL` then holds it against the data. Exit code 1 when an edit was kept
    against the source.

    Of a live database they are drafted from what it declares and what its rows show: keys, joins with how many rows
    they find, closed lists of values, dates, columns that look personal. It is only read, each statement within
    `warehouse.seconds` of rules/ci.yaml, of large tables the first `warehouse.rows`. Each part says in a comment what
    it rests on. No value of a column that looks personal is written anywhere.

    Of a decision table (DMN, CSV, XLSX) and of policies.jsonl it drafts policies, words and cases, and reports gaps,
    overlaps and rows that never win; what no policy says is refused by cell (see `bylaw docs tables`).

    \b
    bylaw import approval.dmn -o ../policies     every decision table of the model
    bylaw import fees.xlsx --sheet 2026 --outcome Fee --hit-policy FIRST
    bylaw import duckdb:///shop.duckdb           drafts for review; --tables 'ord*,customers', --schema sales
    bylaw import postgresql://reader@db/shop --dry-run
    bylaw import duckdb:///shop.duckdb --ask-model ask.json     then, with its answer, --proposed words.json
    bylaw import target/manifest.json            dbt: models, tests, sources, exposures, semantic models, metrics
    bylaw import models --format metricflow --schema analytics
    bylaw import revenue.yaml --dry-run          Cortex, Ossie: what would be written, and what not
    bylaw import peps --format pep               decisions: PEPs, kep.yaml with its README, Rust's RFCs
    bylaw import mcp tools.json                  a draft of rules/tools.yaml from a server's tools/list
    """
    from bylaw.errors import UsageError

    if manifest is not None:
        _tools(source, manifest, root, dry_run, as_json)
        return
    from ci.commands.tables import is_of_rules

    if "://" not in source and is_of_rules(Path(source), format_):
        _rules(ctx, Path(source), root, dry_run, all_, as_json)
        return
    from ci.importers.draft import is_name

    if schema is not None and not is_name(schema):
        raise UsageError(f"`{schema[:60]}` is no name of a schema")
    if "://" in source:
        name, origin, draft = _database(source, root, schema, tables)
    elif tables is not None:
        raise UsageError("`--tables` is meant for a database", "name one: duckdb:///FILE, postgresql://HOST/DB")
    else:
        name, origin, draft = _layer(Path(source), format_, schema or "main", dialect, root)
    if ask_model is not None:
        _asked_of_a_model(draft, ask_model)
        return
    if proposed is not None:
        _taken(draft, proposed, root, is_measured="://" in source)
    _context(ctx, name, origin, draft)


def _context(ctx: click.Context, name: str, origin: str, draft: ContextDraft) -> None:
    """Write the records of a draft, and say what became of each."""
    from ci.importers.write import plan

    said = ctx.params
    root, dry_run, as_json = said["root"], said["dry_run"], said["as_json"]
    found = plan(root, draft, origin, said["force"])
    if not dry_run:
        found.write()
    closed, line = _closed(root, draft)
    if as_json:
        told = {**_document(name, found, draft.dropped, dry_run), "to_review": draft.guesses}
        click.echo(json.dumps({**told, "granted_to_nobody": list(closed)}, indent=2, ensure_ascii=False))
    else:
        lines = [*_lines(name, found, draft.dropped, dry_run, said["all_"]), *_guessed(draft.guesses, said["all_"])]
        click.echo("\n".join([*lines, *([line] if closed else [])]), color=ctx.color)
    ctx.exit(1 if any(entry.state == "kept" for entry in found.entries) else 0)


def _closed(root: Path, draft: ContextDraft) -> tuple[tuple[str, ...], str]:
    """The schemas that no role may read yet, and what to write where."""
    from ci.importers.granted import PATH, line_for, ungranted
    from ci.loading.load import rules_of

    roles = rules_of(root).roles
    closed = ungranted(roles, (one["base_table"]["schema"] for one in draft.records["entities"].values()))
    if not closed:
        return (), ""
    named = ", ".join(f"`{schema}`" for schema in closed)
    return closed, f"\nno role may read {named} yet; in {PATH} write, for one: {line_for(roles, closed)}"


def _rules(ctx: click.Context, source: Path, root: Path, dry_run: bool, all_: bool, as_json: bool) -> None:
    """Take a decision table, or lines of policies."""
    from ci.commands.tables import import_rules
    from ci.importers.tables.imported import Options
    from ci.importers.tables.mapping import mapped

    said = ctx.params
    options = Options(
        said["format_"],
        said["domain"],
        said["owner"] or "TBD",
        said["empty"] == "any",
        said["force"],
        mapped(said["maps"], said["outcomes"], said["hit_policy"], said["sheet"]),
    )
    text, code = import_rules(source, root, options, dry_run, all_, as_json)
    click.echo(text, color=ctx.color)
    ctx.exit(code)


def _layer(source: Path, format_: str, schema: str, dialect: str | None, root: Path) -> tuple[str, str, ContextDraft]:
    """The format of a semantic layer, what it is remembered as, and what it says."""
    from bylaw.errors import UsageError
    from ci.importers.registry import drafted
    from ci.importers.sql import is_dialect
    from ci.loading.load import rules_of

    if dialect is not None and not is_dialect(dialect):
        raise UsageError(f"`{dialect[:60]}` is no dialect that sqlglot knows")
    name, draft = drafted(source, format_, schema, dialect, rules_of(root).pii)
    return name, f"{name} {source.name}", draft


def _database(url: str, root: Path, schema: str | None, tables: str | None) -> tuple[str, str, ContextDraft]:
    """The same of a live database. What is remembered of its address names neither host nor user."""
    from bylaw.progress import progress
    from ci.importers.database.read import Wanted, drafted
    from ci.loading.load import rules_of

    patterns = tuple(part.strip() for part in (tables or "").split(",") if part.strip())
    with progress() as hear:
        draft = drafted(url, Wanted(schema, patterns), rules_of(root), date.today(), hear)
    kind = url.partition("://")[0]
    return kind, f"{kind} {Path(url.partition('?')[0]).name}", draft


def _asked_of_a_model(draft: ContextDraft, path: Path) -> None:
    """Write what a model may be asked."""
    from bylaw.canonical import write_atomically
    from ci.importers.database.proposed import request

    write_atomically(path, json.dumps(request(draft), indent=2, ensure_ascii=False) + "\n")
    click.echo(f"wrote {path}: no value of a personal column is in it. Nothing was imported.")
    click.echo("Give it to a language model, and its answer to `bylaw import … --proposed FILE`.")


def _taken(draft: ContextDraft, path: Path, root: Path, is_measured: bool) -> None:
    """Take what a model proposed into the draft."""
    from bylaw.errors import UsageError
    from ci.importers.database.proposed import read, take
    from ci.loading.load import rules_of

    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise UsageError(f"`{path}` cannot be read", type(problem).__name__) from None
    take(draft, read(text), rules_of(root).pii, is_measured)


def _tools(source: str, manifest: Path, root: Path, dry_run: bool, as_json: bool) -> None:
    """Draft the bindings of an agent's tools."""
    from bylaw.errors import UsageError

    if source != "mcp":
        raise UsageError(f"`{source}` is no source of tools", "write `bylaw import mcp MANIFEST`")
    from ci.importers.mcp import PATH, draft
    from ci.importers.tool_words import WORDS

    found = draft(manifest, root)
    if not dry_run and found.added:
        found.write(root)
    if as_json:
        told = {"format": "mcp", "dry_run": dry_run, "path": PATH, "added": found.added, "notes": found.notes}
        words = {WORDS: found.words} if found.words is not None else {}
        click.echo(json.dumps({**told, "text": found.text, "words": words}, indent=2, ensure_ascii=False))
        return
    state = "would be written to" if dry_run else "written to"
    click.echo(f"{count(len(found.added), 'tool')} {state} {root / PATH}: {', '.join(found.added) or 'nothing is new'}")
    if found.words is not None:
        click.echo(f"the words they need {state} {root / WORDS}")
    for note in found.notes:
        click.echo(f"  {note}")
    if dry_run:
        click.echo("\n".join(filter(None, (found.text, found.words))))


def _lines(name: str, plan: Plan, dropped: Sequence[Dropped], dry_run: bool, all_: bool) -> Iterator[str]:
    yield f"read as {name}; {'would be written to' if dry_run else 'written to'} {plan.root}:"
    for state in ("new", "updated", "kept"):
        for entry in plan.entries:
            if entry.state == state:
                yield f"  {state:<8} {entry.path}"
                for note in entry.notes:
                    yield f"           {note}"
                if entry.diff and (dry_run or state == "kept"):
                    yield from (f"           {line}" for line in entry.diff.splitlines())
    same = sum(entry.state == "unchanged" for entry in plan.entries)
    if same:
        yield f"  {same} {'file is' if same == 1 else 'files are'} as the source says"
    if not plan.entries:
        yield "  nothing"
    for path in plan.gone:
        yield f"  left     {path}: the source no longer speaks of it; delete it if that is meant"
    if dropped:
        yield ""
        yield f"not carried over ({len(dropped)}):"
        yield from _reasons(dropped, all_)


def _guessed(guesses: Sequence[str], all_: bool) -> Iterator[str]:
    """What the source does not say itself."""
    if not guesses:
        return
    yield from ("", f"to review ({len(guesses)}):")
    shown = guesses if all_ else guesses[:SHOWN]
    yield from (f"  {guess}" for guess in shown)
    if len(guesses) > len(shown):
        yield f"  and {len(guesses) - len(shown)} more (--all)"


def _reasons(dropped: Sequence[Dropped], all_: bool) -> Iterator[str]:
    places: dict[str, list[str]] = defaultdict(list)
    for one in dropped:
        places[one.why].append(one.where)
    for why, where in places.items():
        yield f"  {why}"
        shown = where if all_ else where[:SHOWN]
        yield from (f"    {place}" for place in shown)
        if len(where) > len(shown):
            yield f"    and {len(where) - len(shown)} more (--all)"


def _document(name: str, plan: Plan, dropped: Sequence[Dropped], dry_run: bool) -> dict[str, object]:
    files = [{"path": e.path, "state": e.state, "notes": list(e.notes), "diff": e.diff} for e in plan.entries]
    lost = [{"where": one.where, "why": one.why} for one in dropped]
    return {"format": name, "dry_run": dry_run, "files": files, "left": list(plan.gone), "not_carried_over": lost}
