"""The verbs that look back: the audit chain, one answer rebuilt, one request's story."""

from __future__ import annotations

import json
import sys
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bot import settings
from bot.clock import now
from bot.settings import Settings
from bylaw.errors import BylawError, UsageError
from bylaw.language.counting import count
from bylaw.roots import root_around

if TYPE_CHECKING:
    from bot.evidence.store.engine import Store
    from bot.operate.redaction import Redacted
    from bylaw.audit.entry import Checkpoint
    from bylaw.audit.verify import Redaction, Verdict
    from bylaw.bundle import CompiledPolicyBundle
    from bylaw.progress import Hear

_MOST_REDACTIONS = 20  # that are listed for people

_ROOT = click.option(
    "--root", type=click.Path(path_type=Path), help="Where the bot remembers; default: the repository around."
)
_JSON = click.option("--json", "as_json", is_flag=True, help="One JSON document and nothing else.")
_BUNDLE = click.option("--bundle", type=click.Path(path_type=Path), help="Whose rules count, instead of --root's.")
_LOG = click.argument("log", required=False, type=click.Path(path_type=Path))


def _words(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    """What is kept or looked for by its words must have some, and no bytes that are not text."""
    from bylaw.canonical import is_text

    if value is not None and (not value.strip() or not is_text(value)):
        raise click.BadParameter("this is no text")
    return value


_ID = click.argument("request_id", metavar="ID", callback=_words)


@click.group()
def audit() -> None:
    """The hash chain of everything that was answered: verify it, export it, keep its head elsewhere.

    \b
    bylaw audit verify --checkpoint kept/checkpoints.jsonl
    bylaw audit export -o log.jsonl --since 2026-11-01
    bylaw audit checkpoint -o kept/checkpoints.jsonl
    """


@audit.command(short_help="Is the chain whole, and if not, what was done to it?")
@_LOG
@click.option("--checkpoint", "checkpoints", type=click.Path(path_type=Path), help="What `audit checkpoint` wrote.")
@_ROOT
@_JSON
@click.pass_context
def verify(ctx: click.Context, log: Path | None, checkpoints: Path | None, root: Path | None, as_json: bool) -> None:
    """Say whether the chain holds, and of each damage which kind it is. LOG is an export; default: the store.

    Of the store also every reply, question and paper is held against its fingerprint in the chain, every row that
    decides (recorded calls, sessions, requests, the query log, the bundle that was served) against its mark in the
    chain, and the chain against the checkpoints beside it. Exit code 1 when something does not hold. Who can change the
    store may be able to change what lies beside it too: checkpoints that are kept elsewhere (`--checkpoint`) show that.
    """
    from bot.evidence.store import covered, kept
    from bot.evidence.store.tables import audit as chain
    from bot.evidence.store.tables.papers import everywhere
    from bylaw.audit.export import open_export, verify_export
    from bylaw.progress import progress

    given = settings.read(root or root_around(Path()))
    if log is None:
        anchors = _anchors(given, checkpoints)
        with _store(given) as store, store.reading() as connection, progress() as heard:
            found = chain.verify(connection, anchors, heard)
            shelves = everywhere(given.artifacts, given.root, store)
            found = found.with_breaks(kept.breaks(connection, shelves, heard))
            found = found.with_breaks(covered.breaks(connection, heard)).noted(covered.uncovered(connection))
    else:
        path = checkpoints or _named(given)
        with _stream(log) as stream, progress() as heard:
            found = verify_export(open_export(stream, str(log), heard), () if path is None else _held(path))
    click.echo(_verdict_json(found) if as_json else _verdict_text(found))
    ctx.exit(0 if found.is_intact else 1)


@audit.command(short_help="Write the chain as JSON lines that verify by themselves.")
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Default: standard output.")
@click.option("--since", metavar="TIME|N", help="From the first entry dated then or later, or from entry N.")
@_ROOT
def export(output: Path | None, since: str | None, root: Path | None) -> None:
    """Write the chain as JSON lines that verify by themselves (`bylaw audit verify LOG`)."""
    from bot.evidence.store.tables import audit as chain
    from bylaw.audit.entry import START
    from bylaw.canonical import write_atomically
    from bylaw.progress import progress

    with _store(settings.read(root or root_around(Path()))) as store, store.reading() as connection:
        start = START if since is None else chain.start_of(connection, _since(since))
        place = output or Path("standard output")
        is_apart = output is not None or not sys.stdout.isatty()  # else the lines and the bar would mix
        with (
            progress() as heard,
            closing(_lines(connection, start, heard if is_apart else None)) as told,
            _writing(place),
        ):
            if output is not None:
                write_atomically(output, told)
            else:
                for line in told:
                    click.echo(line, nl=False)
        if output is not None:
            click.echo(f"wrote {output}", err=True)


def export_store(url: str, root: Path, path: Path, hear: Hear | None = None) -> None:
    """Write the chain of the store at *url* to *path*."""
    from bylaw.audit.entry import START
    from bylaw.canonical import write_atomically

    with (
        _store(Settings(root, store_url=url)) as store,
        store.reading() as connection,
        closing(_lines(connection, START, hear)) as told,
    ):
        write_atomically(path, told)


def _lines(connection: Any, start: Checkpoint, hear: Hear | None) -> Generator[str]:
    from bot.evidence.store.tables import audit as chain
    from bylaw.audit.export import lines

    return lines(chain.entries(connection, start, hear), start)


@audit.command(short_help="Add its length and head to a file that is kept elsewhere.")
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="Default: beside the store.")
@click.option("--witness", metavar="URL", help="Post both there too, as JSON: to whoever keeps them where we cannot.")
@_ROOT
def checkpoint(output: Path | None, witness: str | None, root: Path | None) -> None:
    """Add the chain's length and head to a file that is kept elsewhere, best committed by CI.

    Nothing is added when the chain no longer holds what the last checkpoint knew; the exit code is 3 then.

    
    bylaw audit checkpoint -o kept/checkpoints.jsonl && git commit -qm "Where the chain stands" kept     every night
    bylaw audit checkpoint --witness https://witness.example.org/bylaw
    """
    from bot.evidence import anchoring
    from bot.evidence.store.tables import audit as chain
    from bylaw.audit.export import add_checkpoint
    from bylaw.audit.witness import post

    given = settings.read(root or root_around(Path()))
    path = output or anchoring.checkpoints_of(given)
    with _store(given) as store, store.reading() as connection:
        tail = chain.tail(connection)
        last = _last_that_holds(path, connection)
    if tail.count and tail != last:
        with _writing(path):
            add_checkpoint(path, tail)
    if witness is not None and tail.count:
        post(witness, tail)
    click.echo(f"{count(tail.count, 'entry', 'entries')}, head {tail.head}" if tail.count else "the chain is empty")


@audit.command(short_help="Take what was said out of the chain for good.")
@click.option("--request", "request_id", metavar="ID", callback=_words, help="What was recorded of this request.")
@click.option("--before", metavar="TIME", help="Everything dated before.")
@click.option("--expired", is_flag=True, help="Everything older than the `retention_days` of rules/pii.yaml.")
@click.option("--reason", required=True, callback=_words, help="Why; it is recorded.")
@click.option("--by", "by", required=True, metavar="WHO", callback=_words, help="Who decided it; it is recorded.")
@_BUNDLE
@_ROOT
def redact(
    request_id: str | None,
    before: str | None,
    expired: bool,
    reason: str,
    by: str,
    bundle: Path | None,
    root: Path | None,
) -> None:
    """Take what was said away for good: out of the chain, and the rows and papers beside it.

    The chain still verifies, and says how many are redacted. What stays of an entry is when it was written, what
    happened, the request's id and the bundle: it can no longer be replayed. Where this was interrupted, do it again.
    Backups, exports, recordings (BYLAW_LLM_RECORD), a database server's own log, and earlier versions of objects in a
    bucket are yours to delete;
    a server has its last thousand questions in memory until it is started anew.

    \b
    bylaw audit redact --request ID --by dpo --reason "asked to be forgotten"
    bylaw audit redact --expired --by cron --reason retention        every night
    """
    from bot.evidence import anchoring
    from bot.evidence.store.tables.papers import everywhere
    from bot.operate.redaction import Scope
    from bot.operate.redaction import redact as taken_away
    from bylaw.audit.entry import after
    from bylaw.progress import progress

    if [request_id is not None, before is not None, expired].count(True) != 1:
        what = "what is redacted is one request, everything before a time, or what has expired"
        raise UsageError(what, "give one of --request, --before and --expired")
    given = settings.read(root or root_around(Path()))
    rules = _rules(given, bundle, root) if expired or bundle is not None else None
    scope = Scope(request_id, _until(rules, before, expired))
    with _store(given) as store, progress() as heard:
        shelves = everywhere(given.artifacts, given.root, store)
        done = taken_away(scope, store, shelves, by, reason, now, _origin(rules, store), heard)
        if done.entry is not None:
            anchoring.anchoring(given)(after(done.entry))
        unsettled = _unsettled(store)
    click.echo(f"redacted {count(done.entry_count, 'entry', 'entries')}")
    for line in _beside(done):
        click.echo(line, err=True)
    if unsettled is not None:
        raise unsettled


def _unsettled(store: Store) -> BylawError | None:
    """Why the file of the store holds yet what is deleted in it."""
    from bot.evidence.store.engine import StoreError

    what = "what was redacted is in the file of the store yet"
    try:
        return None if store.settle() else BylawError(f"{what}: another process reads it", "do the same again later")
    except StoreError as error:
        return BylawError(f"{what}: {error.message}", f"{error.help}; then do the same again")


def _beside(done: Redacted) -> Iterator[str]:
    """What was deleted beside the chain, and what was not."""
    from bot.delivery.render import safe

    yield f"deleted the rows of {count(done.request_count, 'request')}, and {count(done.paper_count, 'paper')}"
    if done.carried_on:
        named = ", ".join(done.carried_on)
        yield safe(f"the conversation went on: what was said may stand in {named} too; redact them as well")
    if done.fixed_count:
        fixed = count(done.fixed_count, "entry", "entries")
        yield f"{fixed} of an earlier version cannot be redacted: their words are what was hashed"


def _rules(given: Settings, bundle: Path | None, root: Path | None) -> CompiledPolicyBundle:
    from bot.cli import bundle_path
    from bylaw.bundle import read

    return read(bundle_path(given, bundle, root), given.bundle_keys)


def _origin(rules: CompiledPolicyBundle | None, store: Store) -> Mapping[str, str | None]:
    """The bundle in force: the one whose rules were looked up, else the one that is served, null where none is."""
    from bot.evidence.store.tables import served

    if rules is not None:
        return {"bundle_etag": rules.bundle_metadata.etag, "commit": rules.bundle_metadata.source_commit}
    with store.reading() as connection:
        return served.origin(connection)


def _until(rules: CompiledPolicyBundle | None, before: str | None, expired: bool) -> datetime | None:
    """Before when everything goes: as it was told, or as the rules say today; None where that is not the question."""
    from bot.conversation import moment

    if not expired or rules is None:
        return None if before is None else moment(before)
    days = rules.rules.pii.retention_days
    if days is None:
        raise UsageError("no rule says how long what was said is kept", "add `retention_days: 365` to rules/pii.yaml")
    return now() - timedelta(days=days)


@click.command()
@_ID
@_ROOT
@_JSON
@click.pass_context
def replay(ctx: click.Context, request_id: str, root: Path | None, as_json: bool) -> None:
    """Rebuild the answer to request ID from what was kept, and hold it against the one that was given.

    The repository may have moved on: the bundle the answer came from is kept with it. `bylaw ask --json` tells the ID
    of an answer, `bylaw audit export` those of all. Exit code 1 when they differ.
    """
    from bot.delivery.render import safe
    from bot.evidence.store.tables.papers import shelf_of
    from bot.operate.replay import replay as rebuilt

    given = settings.read(root or root_around(Path()))
    with _store(given) as store:
        found = rebuilt(request_id, store, shelf_of(given.artifacts, given.root, store))
    if as_json:
        differences = [asdict(one) for one in found.differences]
        click.echo(_document({**asdict(found), "is_same": found.is_same, "differences": differences}))
    elif found.is_same:
        click.echo(f"the same, byte for byte, from {found.bundle_etag} (commit {found.commit or 'none'})")
        click.echo(safe(json.loads(found.text)["text"]))
    else:
        click.echo(f"rebuilt from {found.bundle_etag} the answer differs in {count(len(found.differences), 'place')}")
        for one in found.differences:
            click.echo(safe(f"  {one.field}\n    given    {one.kept!r}\n    rebuilt  {one.rebuilt!r}"))
    ctx.exit(0 if found.is_same else 1)


@click.command()
@_ID
@_ROOT
@_JSON
def trace(request_id: str, root: Path | None, as_json: bool) -> None:
    """Tell the story of request ID: how it was read, the facts, the path, the checks, the verdict, the record."""
    from bot.evidence.store.tables.papers import shelf_of
    from bot.operate.trace import in_words
    from bot.operate.trace import trace as told

    given = settings.read(root or root_around(Path()))
    with _store(given) as store:
        story = told(request_id, store, shelf_of(given.artifacts, given.root, store))
    click.echo(_document(story.document()) if as_json else in_words(story))


@click.command()
@click.option("--uncovered", is_flag=True, help="The missing policies: questions that no rule covers.")
@click.option("--gate", is_flag=True, help="Calls of agents: what was allowed, denied, asked back, let through.")
@click.option("--refinement", is_flag=True, help="What the bounded loop did, and what people made of it.")
@click.option("--quality", "is_quality", is_flag=True, help="What people made of the answers, against their goals.")
@click.option("--html", type=click.Path(dir_okay=False, path_type=Path), help="With --quality: a page, with plots.")
@click.option(
    "--propose", metavar="OWNER/NAME", help="With --quality: new weights as a pull request on this repository."
)
@click.option("--token", envvar="GITHUB_TOKEN", help="For --propose; best in GITHUB_TOKEN.")
@click.option("--github-url", envvar="GITHUB_API_URL", help="For --propose, where GitHub is your own.")
@click.option("--since", metavar="TIME", help="Only what was asked from then on.")
@_BUNDLE
@_ROOT
@_JSON
def stats(
    uncovered: bool,
    gate: bool,
    refinement: bool,
    is_quality: bool,
    html: Path | None,
    propose: str | None,
    token: str | None,
    github_url: str | None,
    since: str | None,
    bundle: Path | None,
    root: Path | None,
    as_json: bool,
) -> None:
    """Say what was asked and how it ended; `--uncovered` lists the policies that people ask for and nobody wrote.

    `--quality` says what people made of the answers, whether likely errors happen more often, and which weights the
    errors of the last days would give. Weights change only by a pull request that people merge.

    \b
    bylaw stats --uncovered
    bylaw stats --uncovered --since 2026-11-01 --json
    bylaw stats --quality --html quality.html
    bylaw stats --quality --propose example/policies
    bylaw stats --gate
    bylaw stats --refinement             what the bounded loop did, and whether it does good
    """
    from bot.conversation import moment
    from bot.delivery.render import safe
    from bot.operate.statistics import SECTIONS, in_words

    if (html is not None or propose is not None) and not is_quality:
        raise UsageError("`--html` and `--propose` are about quality", "add --quality")
    if is_quality:
        _quality(None if since is None else moment(since), bundle, root, as_json, html, (propose, token, github_url))
        return
    chosen = {"gate": gate, "refinement": refinement, "uncovered": uncovered}
    wanted = [name for name, is_it in chosen.items() if is_it][:1] or ["answered", "uncovered"]
    start = None if since is None else moment(since)
    with _store(settings.read(root or root_around(Path()))) as store, store.reading() as connection:
        found = {name: SECTIONS[name](connection, start) for name in wanted}
    click.echo(_document(found) if as_json else safe(in_words(found)))


def _quality(
    since: datetime | None,
    bundle: Path | None,
    root: Path | None,
    as_json: bool,
    html: Path | None,
    hub: tuple[str | None, str | None, str | None],
) -> None:
    """Tell how good the answers are: in words, as JSON, as a page; and propose what follows from that."""
    from bot.delivery.render import safe
    from bot.operate.quality import calibration, quality
    from bot.operate.statistics import in_words

    given = settings.read(root or Path())
    rules = _rules(given, bundle, root).rules.risk
    with _store(given) as store, store.reading() as connection:
        found = {"quality": quality(connection, since, rules), "calibration": calibration(connection, now(), rules)}
    if html is not None:
        from bot.operate.statistics_page import page

        with _writing(html):
            html.write_text(page(found), encoding="utf-8")
        click.echo(f"wrote {html}", err=True)
    click.echo(_document(found) if as_json else safe(in_words(found)))
    if hub[0] is not None:
        click.echo(_proposed(found["calibration"], given.root, *hub), err=True)


def _proposed(found: Mapping[str, Any], root: Path, slug: str | None, token: str | None, address: str | None) -> str:
    """Open the pull request with the new weights; what became of it."""
    import time

    from bot.operate.weights import FILE, proposal
    from bylaw.github.client import PUBLIC, connect
    from bylaw.github.credentials import Token
    from bylaw.github.patience import Patience
    from bylaw.github.pull_request import open_pull_request

    if not token or slug is None:
        raise UsageError("a pull request needs a token", "set GITHUB_TOKEN")
    try:
        text = (root / FILE).read_text(encoding="utf-8")
    except OSError:
        raise UsageError(f"there is no `{FILE}` to change", "name the repository with --root") from None
    asked = proposal(found, text)
    opened = open_pull_request(connect(Token(token), slug, Patience(now, time.sleep), address or PUBLIC), asked)
    return f"{opened.state}: {opened.url or slug}"


# ---- where it is kept -----------------------------------------------------------------------------------------------


@contextmanager
def _store(given: Settings) -> Iterator[Store]:
    """A store that is there already, for as long as the block lasts."""
    from bot.evidence.store.engine import connect, is_there
    from bot.evidence.store.migrate import upgrade

    if not is_there(given.store_url, given.root):
        raise UsageError("nothing was ever recorded here", "name the folder with --root, or set BYLAW_STORE_URL")
    with closing(connect(given.store_url, given.root)) as store:
        upgrade(store)
        yield store


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise  # whoever read it has seen enough
    except OSError as error:
        reason = f"`{path}` cannot be written: {error.strerror or error}"
        raise UsageError(reason, "name another place with -o") from None


def _stream(path: Path) -> Any:
    try:
        return path.open("rb")
    except OSError as error:
        raise UsageError(f"`{path}` cannot be read: {error.strerror}") from None


def _named(given: Settings) -> Path | None:
    """The file that BYLAW_CHECKPOINT names, once there is one."""
    path = None if given.checkpoint is None else given.root / given.checkpoint
    return path if path is not None and path.exists() else None


def _anchors(given: Settings, named: Path | None) -> tuple[Checkpoint, ...]:
    """What is known of the store's chain: the checkpoints in the file *named*, and those beside the store."""
    from bot.evidence import anchoring

    path, head = anchoring.checkpoints_of(given), anchoring.head_of(given).read()
    found = () if named is None else _held(named)
    if path.exists() and path != named:
        found += _held(path)
    return found if head is None else (*found, head)


def _held(path: Path) -> tuple[Checkpoint, ...]:
    """The checkpoints to hold the chain against. Raises UsageError for a file without any: it would show nothing."""
    from bylaw.audit.export import read_checkpoints

    known = read_checkpoints(path)
    if not known:
        what = f"`{path}` holds no checkpoint"
        raise UsageError(what, "restore it from git; a first one is written with `bylaw audit checkpoint`")
    return known


def _last_that_holds(path: Path, connection: Any) -> Checkpoint | None:
    from bot.evidence.store.tables import audit as chain
    from bylaw.audit.export import read_checkpoints

    known = read_checkpoints(path) if path.exists() else ()
    if not known or not known[-1].count:
        return None
    if chain.hash_at(connection, known[-1].count) != known[-1].head:
        raise BylawError(
            f"entry {known[-1].count} is not the one that the last checkpoint knew", "see `bylaw audit verify`"
        )
    return known[-1]


def _since(text: str) -> datetime | int:
    from bot.conversation import moment

    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else moment(text)


# ---- how it is told -------------------------------------------------------------------------------------------------


def _verdict_text(found: Verdict) -> str:
    if found.is_intact:
        kept = f", {found.redacted_count} of them redacted" if found.redacted_count else ""
        head = f"; it ends at entry {found.standing.count} with {found.standing.head}" if found.standing.count else ""
        lines = [f"the chain holds: {count(found.entry_count, 'entry', 'entries')}{kept}{head}"]
        lines += [_redaction_text(one) for one in found.redactions[:_MOST_REDACTIONS]]
        if more := found.redactions[_MOST_REDACTIONS:]:
            lines.append(f"  and {count(len(more), 'more redaction')}: see --json")
    else:
        lines = [f"the chain does not hold: {_counted(found)}"]
        lines += [f"  {one.kind}: {one.detail}" for one in found.breaks]
    lines += found.notes
    if found.checkpoint_count:
        several = "" if found.checkpoint_count == 1 else "s"
        lines.append(f"held against {found.checkpoint_count} checkpoint{several}")
    else:
        lines.append("without a checkpoint a tail that was cut off cannot be seen: `bylaw audit checkpoint -o FILE`")
    if found.backward_count:
        verb = "is" if found.backward_count == 1 else "are"
        said = f"{count(found.backward_count, 'entry', 'entries')} {verb} dated before the one they follow"
        lines.append(f"{said}: a clock went backwards, or that of another machine is behind")
    return "\n".join(lines)


def _redaction_text(one: Redaction) -> str:
    from bot.delivery.render import safe

    numbers = ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in one.ranges[:5])
    more = f" and {len(one.ranges) - 5} more ranges" if len(one.ranges) > 5 else ""
    return safe(f"  entry {one.seq} redacts {numbers}{more}: by {one.by or 'nobody named'}, {one.at}: {one.reason}")


def _counted(found: Verdict) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in found.break_counts.items())


def _verdict_json(found: Verdict) -> str:
    return _document(
        {
            "is_intact": found.is_intact,
            "entries": found.entry_count,
            "count": found.standing.count,
            "head": found.standing.head,
            "redacted": found.redacted_count,
            "dated_backwards": found.backward_count,
            "checkpoints": found.checkpoint_count,
            "notes": list(found.notes),
            "break_counts": dict(found.break_counts),
            "redactions": [
                {"entry": one.seq, "at": one.at, "redacts": one.ranges, "by": one.by, "reason": one.reason}
                for one in found.redactions
            ],
            "breaks": [{"kind": one.kind, "entry": one.seq, "detail": one.detail} for one in found.breaks],
        }
    )


def _document(value: Any) -> str:
    from bot.conversation import sayable

    return json.dumps(sayable(value), indent=2, ensure_ascii=False, sort_keys=True)
