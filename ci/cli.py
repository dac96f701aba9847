"""The verbs of the first trip: each parses, calls one function, renders, and ends with an exit code."""

from __future__ import annotations

from datetime import date, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ci.commands.days import Day
from ci.commands.options import ROOT

if TYPE_CHECKING:
    from ci.check import Checked, Rows

FORMATS = (
    "text",
    "json",
    "github",
    "sarif",
    "junit",
)  # the names of `ci.report.formats.FORMATS`, which is loaded later


def _day(_: click.Context, __: click.Parameter, value: datetime | None) -> date | None:
    return value.date() if value is not None else None


_at = click.option(
    "--at",
    metavar="DATE",
    type=Day(),
    callback=_day,
    help="Ask for this day; by default the day of the commit, outside git today.",
)


@click.command()
@click.argument("files", nargs=-1, type=click.Path(path_type=Path), metavar="[FILE]...")
@ROOT
@click.option("--base", metavar="REF", help="Only what is new since this git ref fails the check.")
@click.option("--merged", "is_merged", is_flag=True, help="With --base: the change is in, so its own settings hold.")
@click.option(
    "--format",
    "format_",
    type=click.Choice(FORMATS),
    default="text",
    show_default=True,
    help="For people, one document for machines (JSON, SARIF, JUnit), or annotations of a step of GitHub Actions.",
)
@click.option(
    "--summary",
    type=click.Path(dir_okay=False, path_type=Path),
    envvar="GITHUB_STEP_SUMMARY",
    help="With --format github: the file to which every finding is added as Markdown.",
)
@click.option(
    "--all", "all_", is_flag=True, help="Show every finding: beyond the cap, and what may only follow from others."
)
@click.option(
    "--warehouse",
    metavar="URL",
    help="Also hold context/ against the rows there: duckdb:///FILE, postgresql://HOST/DB.",
)
@click.option("--record", is_flag=True, help="With --warehouse: write down its columns, so that drift is told later.")
@click.option(
    "--executor", metavar="WHERE", help="Where the work runs: serial, processes (default) or dask://host:port."
)
@click.option(
    "--cache",
    type=click.Path(file_okay=False, path_type=Path),
    envvar="BYLAW_CACHE",
    show_envvar=True,
    default=lambda: Path.home() / ".cache" / "bylaw",
    show_default="~/.cache/bylaw",
    help="Where the check of a large set leaves what the next one need not ask.",
)
@click.option("--no-cache", is_flag=True, help="Ask everything, and leave nothing.")
@click.option(
    "--fix", "is_fixing", is_flag=True, help="Correct what has one right correction, show it, and check then."
)
@click.option("--dry-run", is_flag=True, help="With --fix: only show what it would change.")
@click.option(
    "--context", "is_context", is_flag=True, help="Only: which questions about data can be answered without a model."
)
@_at
@click.pass_context
def check(
    ctx: click.Context,
    files: tuple[Path, ...],
    root: Path,
    base: str | None,
    is_merged: bool,
    format_: str,
    summary: Path | None,
    all_: bool,
    warehouse: str | None,
    record: bool,
    executor: str | None,
    cache: Path,
    no_cache: bool,
    is_fixing: bool,
    dry_run: bool,
    is_context: bool,
    at: date | None,
) -> None:
    """Find what contradicts, what is missing and what is misspelt in a policy repository, each on its line.

    Exit code 1 when a finding of severity error stands (with --base: a new one). With FILE… the whole repository is
    still read and asked, and what is about these files is told. --fix corrects misspelt words, ids and formats in
    place, where there is one right correction: the rest of each line stays as it is.

    \b
    bylaw check                          this folder, or the repository around it
    bylaw check policies/refund/*.yaml   what is about these files
    bylaw check --fix                    correct what is plainly a slip; --dry-run only shows it
    bylaw check --root examples/shop     another one
    bylaw check --base origin/main       only what this change brings
    bylaw check --format json            for machines
    bylaw check --format github          annotations on the lines of a pull request
    bylaw check --executor serial        of a large set: everything in this one process

    With --warehouse the context is measured: tables, columns and types, keys, how many rows a join finds and what that
    makes of each metric, enums, filters, freshness (for the day of --at, or today), personal columns that nothing
    hides. It reads only, within the limits of `warehouse` in rules/ci.yaml. With --record the columns that are there
    are written to context/.measured.json (for git), also beside errors: they stay errors, with their exit code.

    \b
    bylaw check --warehouse duckdb:///shop.duckdb
    bylaw check --warehouse postgresql://reader@db/shop --record

    With --context only: questions made of the names in context/ are read back; exit code 1 where a verified one is not.
    """
    from ci.check import Rows
    from ci.commands.fix import fix, in_colour
    from ci.commands.named import about, within
    from ci.loading.commits.revision import folder
    from ci.report.formats import FORMATS, append
    from ci.report.report import Report

    if is_context:
        ctx.exit(_read_back(root, at, format_, is_alone=not (files or base or warehouse or is_fixing)))
    _go_together(record, warehouse, dry_run, is_fixing)
    named = within(root, files)
    if is_fixing:
        changes = in_colour(fix(root, at, date.today(), named, dry_run).difference) or "nothing to fix"
        click.echo(changes, err=format_ != "text", color=ctx.color)
        if dry_run:
            return
    rows = None if warehouse is None else Rows(warehouse, record)
    checked = _checked(root, at, base, executor, None if no_cache else cache, rows, is_merged)
    caps = None if all_ else (checked.rules or checked.workspace.rules).ci.report
    where = folder(root) if format_ in ("github", "sarif") else ""
    told = about(checked.findings, named)
    found = Report(told, checked.workspace.sources, caps, checked.existing, base is not None, where, checked.answers)
    click.echo(FORMATS[format_](found), nl=False, color=ctx.color)
    if format_ == "github" and summary is not None:
        append(summary, found)
    if checked.recorded is not None:
        click.echo(checked.recorded, err=True)
    ctx.exit(1 if any(one.severity == "error" and one.fingerprint not in checked.existing for one in told) else 0)


def _checked(
    root: Path,
    at: date | None,
    base: str | None,
    executor: str | None,
    cache: Path | None,
    rows: Rows | None,
    is_merged: bool = False,
) -> Checked:
    """The run itself, with its progress on a terminal."""
    from bylaw.progress import progress
    from ci.check import check as run_check
    from ci.executors.registry import executor as executors
    from ci.executors.registry import place

    is_alone = executor is not None and place(executor)[0] == "serial"
    with progress() as heard:
        workers = None if is_alone else partial(executors, executor)
        return run_check(root, at, date.today(), base, heard, workers, cache, rows, is_merged)


def _go_together(record: bool, warehouse: str | None, dry_run: bool, is_fixing: bool) -> None:
    """Refuse options of `check` that mean nothing without another one."""
    if record and warehouse is None:
        raise click.UsageError("`--record` writes down the columns of a warehouse: name it with `--warehouse`")
    if dry_run and not is_fixing:
        raise click.UsageError("`--dry-run` shows what `--fix` would change: name both")


def _read_back(root: Path, at: date | None, format_: str, is_alone: bool) -> int:
    """Tell which questions the context can answer; the exit code."""
    from bylaw.cli import readback_for_root  # only the command composes the wings

    if not is_alone or format_ not in ("text", "json"):
        raise click.UsageError("`--context` is asked alone, with `--root`, `--at` and `--format text|json`")
    said, holds = readback_for_root(root, at or date.today(), format_)
    click.echo(said, nl=False)
    return 0 if holds else 1


@click.command("compile")
@ROOT
@click.option(
    "-o",
    "--output",
    "directory",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    help="The folder for the bundle and the enriched records.",
)
@click.option(
    "--sign-key",
    metavar="FILE",
    envvar="BYLAW_SIGNING_KEY",
    show_envvar=True,
    help="Sign the bundle with the Ed25519 key in this file (PEM). The environment may hold the key itself.",
)
@click.option(
    "--allow-errors",
    "allows_errors",
    is_flag=True,
    help="Write it although rules cannot be read: what they speak of is then denied, with their line.",
)
@_at
@click.pass_context
def compile_(
    ctx: click.Context, root: Path, directory: Path, sign_key: str | None, allows_errors: bool, at: date | None
) -> None:
    """Write compiled_policy_bundle.json and the enriched records.

    The same commit gives the same bytes. Nothing is written while a rule in force, or a file, cannot be read, whatever
    rules/ci.yaml and rules/waivers.yaml say; decision records, glossary, guides and verified queries are left out. With
    --allow-errors the bundle says which rules are unproven, and every answer that they may change is refused; a file of
    rules/ has to be readable all the same.
    """
    from bylaw.progress import progress
    from bylaw.signature import key_text
    from ci import pipeline
    from ci.report.text import render as render_text

    key = None if sign_key is None else key_text(sign_key)  # before the policies are read, which takes its time
    with progress() as heard:
        done = pipeline.run(root, at, date.today(), heard)
    errors = [finding for finding in done.findings if finding.severity == "error"]
    if errors:
        click.echo(render_text(errors, done.workspace.sources, frozenset()), err=True, color=ctx.color)
    for one in done.unread:
        click.echo(one.notice, err=True)
    if reasons := done.stopping(allows_errors):
        for reason in reasons:
            if not any(reason.endswith(finding.message) for finding in errors):  # else it was just shown
                click.echo(f"cannot be read: {reason}", err=True)
        way = "" if done.stopping(allows_errors=True) else ", or write it all the same with `--allow-errors`"
        click.echo(f"nothing was written: correct what cannot be read first{way}", err=True)
        ctx.exit(1)
    path = pipeline.write(done, directory, key)
    for rule in done.unproven:
        click.echo(f"unproven, and what it speaks of is denied: {rule.path}:{rule.line}: {rule.reason}", err=True)
    count = len(done.proofs.records)
    signed = " (signed)" if key else ""
    click.echo(f"wrote {path}{signed} and {count} {'record' if count == 1 else 'records'} beside it", err=True)
    ctx.exit(1 if errors and not allows_errors else 0)


@click.command()
@click.argument("base")
@click.argument("head")
@ROOT
@_at
@click.option("--json", "as_json", is_flag=True, help="The comparison as one JSON document.")
@click.option(
    "--audit",
    "log",
    metavar="LOG",
    help="Also hold recorded answers against both: what `bylaw audit export` wrote, or the address of a store.",
)
@click.pass_context
def diff(ctx: click.Context, base: str, head: str, root: Path, at: date | None, as_json: bool, log: str | None) -> None:
    """Which cases change outcome from BASE to HEAD, each region with one case, and whether any other does.

    Each side is a git ref of --root, a folder, or a bundle. Exit code 0 whether or not something changed.

    \b
    bylaw diff origin/main HEAD
    bylaw diff HEAD .                    what is not committed yet
    bylaw diff old.json new.json --json  two bundles
    bylaw diff origin/main . --audit log.jsonl
    """
    from bylaw.progress import progress
    from ci import recorded
    from ci.diff import compared, sides
    from ci.report.changes import render, render_json

    one, two, day = sides(base, head, root, at, date.today())
    found = compared(one, two, day)
    held = None
    if log is not None:
        with progress() as heard:
            held = recorded.compare(*recorded.read_log(log, root, heard), one, two, day, heard)
    if as_json:
        click.echo(render_json(found, None if held is None else recorded.document(held)), nl=False)
        return
    click.echo(render(found), color=ctx.color)
    if held is not None:
        click.echo(recorded.in_words(held, (one.name, two.name)), nl=False)


@click.command()
@click.argument("directory", type=click.Path(file_okay=False, path_type=Path), default=".")
@click.option("--bare", "is_bare", is_flag=True, help="Without the example: the words are yours to declare.")
@click.option("--force", is_flag=True, help="Write into a folder that is not empty; no existing file is touched.")
@click.option("--org", "own", metavar="ORG", help="Your organisation on GitHub: fills every place that waits for it.")
@click.option(
    "--codeowners",
    "organisation",
    metavar="ORG",
    help="Only write .github/CODEOWNERS anew: each policy's owner as a team of this GitHub organisation.",
)
def init(directory: Path, is_bare: bool, force: bool, own: str | None, organisation: str | None) -> None:
    """Write a new policy repository into DIRECTORY, by default this folder: it checks clean, and shows everything."""
    if organisation is not None:
        from ci.help.codeowners import rewrite

        click.echo(f"wrote {rewrite(directory, organisation)}")
        return
    from ci.help.codeowners import checked
    from ci.scaffold import init as write
    from ci.scaffold import summary

    written = write(directory, force, None if own is None else checked(own), is_bare)
    click.echo(summary(directory, written, own is None, is_bare))


@click.command()
@click.option(
    "-o",
    "--output",
    "directory",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where to write them; by default where this program's own are.",
)
@click.option("--check", "only_check", is_flag=True, help="Write nothing; exit with 1 when a schema is out of date.")
@click.pass_context
def schema(ctx: click.Context, directory: Path | None, only_check: bool) -> None:
    """Write the JSON Schemas of every file format; the first line of a YAML file points its editor at one."""
    from ci.help.schemas import stale_schemas, write_schemas
    from ci.scaffold import SCHEMAS

    target = directory or SCHEMAS
    if only_check:
        stale = stale_schemas(target)
        for path in stale:
            click.echo(f"out of date: {path}")
        ctx.exit(1 if stale else 0)
    written = write_schemas(target)
    click.echo(f"wrote {len(written)} schemas to {target}")


@click.command()
@click.argument("id_", metavar="ID")
@ROOT
@_at
@click.pass_context
def explain(ctx: click.Context, id_: str, root: Path, at: date | None) -> None:
    """Say in words what ID means: a policy, a rule, a word, a metric, an entity, a decision or a finding id.

    It says what it is, how it is defined, who owns it and where it is declared.

    \b
    bylaw explain net_revenue
    bylaw explain POL-REFUND-001
    bylaw explain dead-rule
    """
    from ci.commands.explained import explain as in_words
    from ci.commands.explained import finding_in_words
    from ci.report.visible import visible_lines

    known = finding_in_words(id_)
    click.echo(known if known is not None else visible_lines(in_words(root, id_, at, date.today())), color=ctx.color)


@click.command()
@ROOT
@click.option("--missing", is_flag=True, help="Print the cases that are missing, as YAML to paste.")
@click.option(
    "--mutants", "is_mutating", is_flag=True, help="Make every small wrong edit, and say which no case notices."
)
@click.option(
    "--write",
    "is_writing",
    is_flag=True,
    help="With --missing or --mutants: add the cases to the files they belong in. With --accept: write what is shown.",
)
@click.option(
    "--accept",
    "is_accepting",
    is_flag=True,
    help="After a change that was meant: let failing cases expect what is decided now. Shows it; --write writes it.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON document and nothing else.")
@_at
@click.pass_context
def cases(
    ctx: click.Context,
    root: Path,
    missing: bool,
    is_mutating: bool,
    is_writing: bool,
    is_accepting: bool,
    as_json: bool,
    at: date | None,
) -> None:
    """Say how much of the policies their cases show, and print or write the cases that are missing.

    Counted are rules that win in some case, bounds with a case on each side, regions of guards with a case inside, and
    exceptions with a case in which they hold and one in which they do not. Exit code 1 when less is covered than
    `case_coverage_threshold` in rules/ci.yaml asks for; with --missing always 0.

    Once all of that is covered, --missing names what could still be taken out or moved unnoticed: rules, exceptions and
    bounds.

    --mutants is the harder test: each part of each policy is taken away once and each bound moved, and the cases are
    replayed. It takes seconds to minutes; exit code 1 when an edit stays unnoticed.

    \b
    bylaw cases                          a line for each policy
    bylaw cases --missing                what to paste into policies/<domain>/cases.yaml
    bylaw cases --missing --write        put there; read them: they expect what is decided today
    bylaw cases --mutants                which wrong edits no case would notice
    bylaw cases --accept --write         after a change that was meant: what failing cases expect, as it is now
    """
    from ci.commands.mutating import accepting, added, mutating, unnoticed
    from ci.coverage.cases import report

    if is_writing and not (missing or is_mutating or is_accepting):
        raise click.UsageError("`--write` writes what `--missing`, `--mutants` or `--accept` finds: name one of them")
    if is_accepting:
        if missing or is_mutating:
            raise click.UsageError("`--accept` goes alone: it is about cases that fail")
        ctx.exit(accepting(root, at, is_writing, as_json))
    if is_mutating:
        ctx.exit(mutating(root, at, is_writing, as_json))
    told = report(root, at, date.today())
    if is_writing:
        added(root, told.entries(), as_json)
    if told.has_unproven and missing:
        click.echo("a rule cannot be read (`bylaw check`): no case is written of what it may change", err=True)
    is_whole = missing and not told.has_unproven
    left = unnoticed(root, at) if is_whole and (is_writing or not told.survey.missing) else None
    if left is not None and is_writing:
        added(root, left.entries(), as_json)
    if as_json:
        click.echo(told.json())
    elif missing:
        if not is_writing:
            click.echo(told.yaml() + (left.yaml() if left else ""), nl=False)
        if not told.survey.missing and not told.has_unproven and not (left and left.survivors):
            click.echo("no case is missing", err=True)
    else:
        click.echo(told.table(), color=ctx.color)
    ctx.exit(1 if told.is_below and not missing else 0)


_file = click.Path(dir_okay=False, path_type=Path)


@click.command()
@ROOT
@click.option("--base", metavar="REF", help="What the change started from; by default what GitHub's event names.")
@click.option("--compute", type=_file, metavar="OUT", help="Only look, and write what was found into this file.")
@click.option("--post", type=_file, metavar="IN", help="Only post what such a file says, after holding it to GitHub.")
@click.option(
    "--digest",
    metavar="SHA256",
    help="With --post: the digest that --compute told on the trusted side. Without it nothing posted is green.",
)
@click.option("--dry-run", is_flag=True, help="Show what would be posted; nothing goes over the network.")
@click.option("--repo", metavar="OWNER/NAME", help="The repository on GitHub; by default that of the event.")
@click.option("--pull", type=click.IntRange(min=1), metavar="N", help="The pull request; by default that of the event.")
@click.option("--head", metavar="SHA", help="Refuse to speak of any other commit.")
@click.option(
    "--audit",
    "log",
    metavar="LOG",
    help="Also say how many recorded answers would be different: a `bylaw audit export`, or the address of a store.",
)
@click.option("--summary", type=_file, envvar="GITHUB_STEP_SUMMARY", help="Add the summary to this file as Markdown.")
@_at
@click.pass_context
def review(
    ctx: click.Context,
    root: Path,
    base: str | None,
    compute: Path | None,
    post: Path | None,
    digest: str | None,
    dry_run: bool,
    repo: str | None,
    pull: int | None,
    head: str | None,
    log: str | None,
    summary: Path | None,
    at: date | None,
) -> None:
    """Say on a pull request what it does to the policies: one review on its lines, one summary, one verdict.

    Run again, it updates what it said and takes back what is fixed. Who it is, it learns from GITHUB_TOKEN, or from
    BYLAW_APP_ID and BYLAW_APP_PRIVATE_KEY; what happened, from the event of GitHub Actions. A comment that begins with
    /bylaw is answered. Exit code 1 when the findings fail the change; posting alone ends with 0.

    \b
    bylaw review --base origin/main --dry-run            read it first
    bylaw review --base origin/main --repo acme/policies --pull 12
    bylaw review --compute review.json                   where nobody is trusted: only look
    bylaw review --post review.json                      where the token is: only post
    bylaw review --dry-run --base main --audit log.jsonl
    """
    from ci.review.session import ReviewOptions, here
    from ci.review.session import review as run_review

    if compute is not None and post is not None:
        raise click.UsageError("`--compute` looks and `--post` speaks: name one of them, or neither for both")
    if post is not None and log is not None:
        raise click.UsageError("`--audit` belongs to the half that looks: name it with `--compute`")
    asked = ReviewOptions(root, base, compute, post, dry_run, repo, pull, head, at, summary, log, digest)
    done = run_review(asked, here())
    for line in done.lines:
        click.echo(line, color=ctx.color)
    ctx.exit(1 if done.failed else 0)
