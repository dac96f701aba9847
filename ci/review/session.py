"""`bylaw review`: what is looked at, and what becomes of it, from the options and the event that started the run.

Two halves that may run apart. The first computes a document from a checkout and needs nothing else. The second is
trusted: it holds a document to what GitHub says of the commit, renders it, and posts. Nothing that the document says of
itself decides where it goes.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Literal

from bylaw.errors import UsageError
from bylaw.github.client import PUBLIC, Hub, connect, told
from bylaw.github.commit import read_file
from bylaw.github.credentials import read_credentials
from bylaw.github.patience import Patience
from bylaw.github.workflow_run import find_run
from ci.loading.commits.revision import folder
from ci.loading.waivers import PATH as WAIVERS
from ci.review.asked.accepted import with_accepted
from ci.review.asked.answers import Head
from ci.review.asked.conversation import computed, delivered, is_asked
from ci.review.asked.reply import read as read_reply
from ci.review.computed import brought
from ci.review.computed.compute import compute
from ci.review.computed.document import ReviewDocument, read, write
from ci.review.event import Event, Spoken, read_event
from ci.review.posted.binding import digest_of, verify_base, verify_digest
from ci.review.posted.post import Posted, check_only, post
from ci.review.words.render import render, setting
from ci.review.words.rendered import Rendered

WEB = "https://github.com"
_MERGED = ("push", "merge_group")


@dataclass(frozen=True, slots=True)
class ReviewOptions:
    """The options of the command. `environ` is what GitHub's runner sets; outside it, empty."""

    root: Path = Path()
    base: str | None = None
    compute: Path | None = None
    post: Path | None = None
    is_dry: bool = False
    repository: str | None = None
    pull: int | None = None
    head: str | None = None
    at: date | None = None
    summary: Path | None = None
    log: str | None = None  # recorded answers to decide anew
    digest: str | None = None  # of the document that is posted, as the trusted side computed it


@dataclass(frozen=True)
class World:
    """What lies around a run: the environment, the clock, how to wait, and who hears of progress."""

    environ: Mapping[str, str]
    clock: Callable[[], datetime]
    sleep: Callable[[float], None]


@dataclass(frozen=True, slots=True)
class Done:
    """How a run ended: what a person reads, and whether the findings fail it."""

    lines: tuple[str, ...] = ()
    failed: bool = False
    posted: tuple[Posted, ...] = field(default=())


def here() -> World:
    """This process, its clock and its environment."""
    return World(os.environ, lambda: datetime.now(UTC), time.sleep)


def review(asked: ReviewOptions, world: World) -> Done:
    """Do what is asked. Raises UsageError for what cannot be done, GitHubError for what GitHub refuses."""
    event = read_event(world.environ)
    if event.spoken is not None:
        return _answered(asked, event, event.spoken, world)
    if asked.post is not None:
        return _posted(asked, event, world)
    document = _computed(asked, event, world)
    # What is merged speaks for itself; a change does not say how bad it is.
    trusted = None if event.kind in _MERGED else document.base_sha
    place = setting(asked.root, *_where(asked, event, world), at=trusted)
    rendered = render(document, place)
    failed, digest = rendered.conclusion == "failure", tuple[str, ...]()
    if asked.compute is not None:
        _write(asked.compute, "w", write(document))
        digest = (f"digest {digest_of(write(document).encode())}",)
    if asked.summary is not None:
        _append(asked.summary, rendered, document, asked, event)
    if asked.is_dry:
        return Done((in_full(rendered),), failed)
    if asked.compute is not None or event.kind == "push":
        return Done((rendered.title, *_spent(rendered), *digest), failed)
    hub, number = _hub(asked, event, world), asked.pull or event.pull
    if number is not None and document.waivers:
        with told():
            pull = hub.repository.get_pull(number)
        document = with_accepted(hub, pull, document, world.clock().date())
        rendered = render(document, place)
        failed = rendered.conclusion == "failure"
    done = _deliver(hub, number, rendered)
    return Done((rendered.title, *_spent(rendered), *done.lines), failed, done.posted)


def _spent(rendered: Rendered) -> tuple[str, ...]:
    return (rendered.footer,) if rendered.footer else ()


def in_full(rendered: Rendered) -> str:
    """Everything that would be posted, to be read in a terminal."""
    parts = [f"{rendered.title} ({rendered.conclusion}) at {rendered.head_sha}"]
    parts += [
        f"--- {comment.path}:{comment.line or 'the file'}\n{comment.body.strip()}" for comment in rendered.comments
    ]
    if rendered.omitted:
        parts.append(f"--- {rendered.omitted} more are told in the summary only")
    parts.append(f"--- the summary\n{rendered.summary.strip() or 'none: there is nothing to say'}")
    parts.append(f"--- the check run: {rendered.conclusion}, {len(rendered.annotations)} annotations")
    return "\n\n".join(parts)


# --- the first half


def _computed(asked: ReviewOptions, event: Event, world: World) -> ReviewDocument:
    if event.run is not None and asked.base is None:
        return _looked(asked, event, event.run, world)
    base = asked.base or event.base_sha
    if base is None:
        raise UsageError("a review needs a commit to compare with", "name it: `bylaw review --base origin/main`")
    today, number = world.clock().date(), asked.pull or event.pull
    # A merge queue lets in only what its own pull request has passed: there the change's own settings hold already.
    is_merged = event.kind in _MERGED
    document = compute(asked.root, base, today, asked.at, number, log=asked.log, is_merged=is_merged)
    expected = asked.head or event.head_sha
    if expected is not None and document.head_sha != expected:
        raise UsageError(
            f"the folder shows the commit {document.head_sha}, not {expected}",
            "check out the head itself, not its merge with the base",
        )
    return document


def _looked(asked: ReviewOptions, event: Event, run: int, world: World) -> ReviewDocument:
    """What the trusted side computes for itself, of the commit and the base that GitHub names for a run."""
    hub = _hub(asked, event, world)
    ran = find_run(hub, run)
    if not ran.pulls:
        raise UsageError(f"no open pull request ends in {ran.head_sha} any more", "nothing is left to look at")
    with told():
        pull = hub.repository.get_pull(ran.pulls[0])
    known = replace(asked, base=pull.base.sha, head=ran.head_sha, pull=pull.number)
    return _computed(known, event, world)


def _append(path: Path, rendered: Rendered, document: ReviewDocument, asked: ReviewOptions, event: Event) -> None:
    """The summary on the job's page. A pull request is not the place to ask on the main branch: who brought it is."""
    text = rendered.summary.strip() or rendered.title
    if event.kind in ("push", "merge_group"):
        errors = [finding for finding in document.new if finding.severity == "error"]
        text += "\n\n" + brought.told(asked.root, errors, event.slug)
    _write(path, "a", text.rstrip() + "\n")


def _write(path: Path, how: Literal["a", "w"], text: str) -> None:
    try:
        with path.open(how, encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise UsageError(f"`{path}` cannot be written: {error.strerror or error}") from None


# --- the second half


def _posted(asked: ReviewOptions, event: Event, world: World) -> Done:
    assert asked.post is not None
    try:
        data = asked.post.read_bytes()
    except OSError as error:
        raise UsageError(f"`{asked.post}` cannot be read: {error.strerror or error}") from None
    is_bound = verify_digest(data, asked.digest)
    place = replace(setting(asked.root, *_where(asked, event, world)), is_bound=is_bound)
    if asked.is_dry:
        rendered = render(read(data, asked.head), place)
        return Done((in_full(rendered),), rendered.conclusion == "failure")
    hub = _hub(asked, event, world)
    if event.run is not None:
        ran = find_run(hub, event.run)
        document = read(data, ran.head_sha)
        if not ran.pulls:
            return Done((f"no open pull request ends in {ran.head_sha} any more: nothing was posted",))
        number: int | None = document.pull_request if document.pull_request in ran.pulls else ran.pulls[0]
    else:
        document = read(data, asked.head or event.head_sha)
        number = asked.pull or event.pull
        if number is None and event.kind != "merge_group":
            raise UsageError("it is not known to which pull request this belongs", "name it: `--pull NUMBER`")
    if number is not None:
        document = _held(hub, number, document, world.clock().date())
    return _deliver(hub, number, render(document, place))


def _held(hub: Hub, number: int, document: ReviewDocument, today: date) -> ReviewDocument:
    """The document, held to the base that GitHub knows, and with what owners have accepted."""
    with told():
        pull = hub.repository.get_pull(number)
    if pull.head.sha == document.head_sha:
        verify_base(hub, pull, document)
    return with_accepted(hub, pull, document, today)


def _deliver(hub: Hub, number: int | None, rendered: Rendered) -> Done:
    posted = post(hub, number, rendered) if number is not None else check_only(hub, rendered)
    where = f"{hub.slug}#{number}" if number is not None else f"{hub.slug}@{rendered.head_sha[:10]}"
    did = ", ".join(posted.did) or "nothing new"
    verdict = {"check": "a check run", "status": "a commit status", None: "nowhere"}[posted.verdict]
    return Done((f"{where}: {did}; the verdict stands as {verdict}", *posted.notes), posted=(posted,))


def _answered(asked: ReviewOptions, event: Event, spoken: Spoken, world: World) -> Done:
    """A comment below a pull request. The folder is any checkout in which git knows the newest commit."""
    if event.pull is None or not is_asked(spoken):
        return Done(("the comment asks for nothing",))
    hub = _hub(asked, event, world)
    with told():
        pull = hub.repository.get_pull(event.pull)
    today, inside = world.clock().date(), folder(asked.root)
    if asked.post is not None:
        try:
            found = read_reply(asked.post.read_bytes(), spoken.id, pull.head.sha)
        except OSError as error:
            raise UsageError(f"`{asked.post}` cannot be read: {error.strerror or error}") from None
    else:
        head = Head(asked.root, pull.head.sha, pull.base.sha, asked.at, today)
        found = computed(spoken, head, inside, read_file(hub, inside + WAIVERS, pull.head.sha))
    if asked.compute is not None:
        _write(asked.compute, "w", found.model_dump_json())
        return Done((f"{hub.slug}#{event.pull}: looked at the comment {spoken.id}",))
    reaction = delivered(hub, pull, spoken, found, inside, today)
    return Done((f"{hub.slug}#{event.pull}: answered the comment {spoken.id} ({reaction})",))


def _hub(asked: ReviewOptions, event: Event, world: World) -> Hub:
    slug, _ = _where(asked, event, world)
    if slug is None:
        raise UsageError("it is not known which repository this is", "name it: `--repo OWNER/NAME`")
    base = world.environ.get("GITHUB_API_URL") or PUBLIC
    return connect(read_credentials(world.environ), slug, Patience(world.clock, world.sleep), base)


def _where(asked: ReviewOptions, event: Event, world: World) -> tuple[str | None, str]:
    """The repository and the server that its links lead to."""
    slug = asked.repository or event.slug or world.environ.get("GITHUB_REPOSITORY") or None
    return slug, world.environ.get("GITHUB_SERVER_URL") or WEB
