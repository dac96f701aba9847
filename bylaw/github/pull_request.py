"""Opening a pull request so that it exists once, whatever happens on the way and however often it is asked for.

The branch belongs to the proposal. What it should hold is known by a fingerprint, which stands in the message of each
commit made here and, hidden, in the body. From what is there each run works out what is missing; a branch that a person
has pushed to, or a pull request that someone closed, is left as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from bylaw.canonical import fingerprint
from bylaw.errors import UsageError
from bylaw.github.client import Hub, told
from bylaw.github.errors import GitHubError
from bylaw.github.text import LONGEST_BODY, code, quiet, shortened

if TYPE_CHECKING:
    from github.PullRequest import PullRequest

State = Literal["open", "closed", "merged", "nothing to change"]

TRAILER = "Bylaw-Proposal"
_TRAILER = re.compile(rf"^{TRAILER}: (\S+)$", re.MULTILINE)
_MARKER = re.compile(r"<!-- bylaw:proposal (\S+) -->")
_BRANCH = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,150}")
_ADDRESS = re.compile(r"/([^/]+/[^/]+)/pull/([0-9]{1,9})$")
_TEMPLATE = Path(__file__).with_name("templates") / "pull_request_v1.md.j2"
_LONGEST_TITLE = 256


@dataclass(frozen=True)
class Proposal:
    """What a pull request should do. `files`: path -> whole text, None to delete. All texts may come from strangers."""

    branch: str
    title: str
    why: str
    files: Mapping[str, str | None]
    base: str = "main"
    basis: tuple[str, ...] = ()
    asked_by: str = ""
    labels: tuple[str, ...] = ()
    reviewers: tuple[str, ...] = ()  # logins; `org/team` for a team
    is_draft: bool = False

    def __post_init__(self) -> None:
        if not _BRANCH.fullmatch(self.branch) or ".." in self.branch or self.branch.endswith((".", "/", ".lock")):
            raise UsageError(f"`{self.branch}` is not a name for a branch")
        if not self.files:
            raise UsageError("a pull request without files changes nothing")
        for path in self.files:
            if path.startswith("/") or any(part in ("", ".", "..", ".git") for part in path.split("/")):
                raise UsageError(f"`{path}` is not a path inside a repository")

    @cached_property
    def fingerprint(self) -> str:
        """Of what the branch is to hold: the same files on the same branch are the same proposal."""
        return fingerprint({"branch": self.branch, "base": self.base, "files": dict(self.files)})


@dataclass(frozen=True)
class Opened:
    """Where a proposal stands, and what this run did about it: `did` is empty when everything was there."""

    state: State
    number: int | None = None
    url: str | None = None
    commit: str | None = None
    did: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=())


@dataclass(frozen=True)
class Standing:
    """What people made of a pull request, and when they merged it."""

    state: Literal["open", "closed", "merged"]
    merged_at: datetime | None = None


def look_up(hub: Hub, url: str) -> Standing | None:
    """How the pull request at *url* stands; None where it is none of this repository's. Raises GitHubError."""
    named = _ADDRESS.search(url)
    if named is None or named[1].lower() != hub.slug.lower():
        return None
    with told():
        pull = hub.repository.get_pull(int(named[2]))
        if pull.merged_at is not None:
            return Standing("merged", pull.merged_at.astimezone(UTC))
        return Standing("open" if pull.state == "open" else "closed")


def open_pull_request(hub: Hub, proposal: Proposal) -> Opened:
    """See to it that *proposal* is an open pull request. Asking again changes nothing. Raises GitHubError."""
    with told():
        known = _known(hub, proposal)
        if known is not None and known.state == "closed" and _is_same(known, proposal):
            return Opened("merged" if known.merged_at else "closed", known.number, known.html_url)
        commit, did, notes = _see_to_branch(hub, proposal)
        if commit is None:
            return Opened("nothing to change", known.number if known else None, known.html_url if known else None)
        pull, is_new = _see_to_pull(hub, proposal, known if known and known.state == "open" else None)
        did += ["pull request"] if is_new else _see_to_text(pull, proposal)
        did += _see_to_labels(pull, proposal)
        asked, refused = _see_to_reviewers(hub, pull, proposal)
        if is_new and not hub.abilities.starts_workflows:
            notes += list(hub.abilities.lost)
        return Opened("open", pull.number, pull.html_url, commit, tuple(did + asked), tuple(notes + refused))


def render_body(proposal: Proposal) -> str:
    """The body of the pull request, within GitHub's limit."""
    from jinja2 import Environment

    # Nothing is escaped for HTML: every value is made quiet for Markdown below.
    environment = Environment(autoescape=False, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(_TEMPLATE.read_text(encoding="utf-8"))
    basis, paths = [quiet(line) for line in proposal.basis], [code(path) for path in sorted(proposal.files)]
    rendered = template.render(
        marker=f"<!-- bylaw:proposal {proposal.fingerprint} -->",
        why=quiet(proposal.why)[: LONGEST_BODY // 4],
        paths=_listed(paths),
        basis=_listed(basis),
        asked_by=quiet(proposal.asked_by)[:200],
    )
    return rendered.strip() + "\n"


def _listed(lines: list[str]) -> list[str]:
    """*lines* within a third of a body, the rest counted."""
    return shortened(lines, "and {count} more", LONGEST_BODY // 3).split("\n\n")


# --- what is there already


def _known(hub: Hub, proposal: Proposal) -> PullRequest | None:
    """The open pull request of the branch, else the newest closed one."""
    owner = hub.slug.split("/")[0]
    pulls = list(hub.repository.get_pulls(state="all", head=f"{owner}:{proposal.branch}", base=proposal.base))
    mine = [pull for pull in pulls if pull.head.ref == proposal.branch]
    return next((pull for pull in mine if pull.state == "open"), max(mine, key=lambda pull: pull.number, default=None))


def _is_same(pull: PullRequest, proposal: Proposal) -> bool:
    found = _MARKER.search(pull.body or "")
    return found is not None and found[1] == proposal.fingerprint


def _tip(hub: Hub, branch: str) -> str | None:
    try:
        with told():
            return hub.repository.get_git_ref(f"heads/{branch}").object.sha
    except GitHubError as problem:
        if problem.status == 404:
            return None
        raise


# --- the branch


def _see_to_branch(hub: Hub, proposal: Proposal) -> tuple[str | None, list[str], list[str]]:
    """The commit that the branch ends in (None: it would change nothing), what was done, what is to be told."""
    tip = _tip(hub, proposal.branch)
    if tip is None:
        base = hub.repository.get_git_ref(f"heads/{proposal.base}").object.sha
        commit = _commit(hub, proposal, base, base)
        if commit is None:
            return None, [], []
        _see_to_ref(hub, proposal.branch, commit)
        return commit, ["commit", "branch"], []
    between = hub.repository.compare(proposal.base, proposal.branch)
    said = [_TRAILER.search(commit.commit.message) for commit in between.commits]
    if not all(said):
        return tip, [], [f"`{proposal.branch}` holds commits of people: its files are left as they are"]
    if said and said[-1] is not None and said[-1][1] == proposal.fingerprint:
        return tip, [], []
    root = between.merge_base_commit.sha
    commit = _commit(hub, proposal, root, tip)
    if commit is None:
        return None, [], []
    hub.repository.get_git_ref(f"heads/{proposal.branch}").edit(commit, force=False)
    return commit, ["commit"], []


def _commit(hub: Hub, proposal: Proposal, root: str, parent: str) -> str | None:
    """A commit on *parent* whose files are those of *root* with the proposal's; None when that changes nothing."""
    from github import InputGitTreeElement

    repository = hub.repository
    base_tree = repository.get_git_commit(root).tree
    elements = [
        InputGitTreeElement(path, "100644", "blob", sha=None)
        if text is None
        else InputGitTreeElement(path, "100644", "blob", content=text)
        for path, text in sorted(proposal.files.items())
    ]
    tree = repository.create_git_tree(elements, base_tree=base_tree)
    if tree.sha == base_tree.sha:
        return None
    # No author is named: GitHub signs what an App commits as itself.
    message = f"{_title(proposal)}\n\n{TRAILER}: {proposal.fingerprint}\n"
    return repository.create_git_commit(message, tree, [repository.get_git_commit(parent)]).sha


def _see_to_ref(hub: Hub, branch: str, commit: str) -> None:
    """The branch at *commit*. A run that was cut off may have made it at a commit of the same content: that counts."""
    hub.once(
        lambda: _tip(hub, branch), lambda: hub.repository.create_git_ref(f"refs/heads/{branch}", commit).object.sha
    )


# --- the pull request


def _see_to_pull(hub: Hub, proposal: Proposal, known: PullRequest | None) -> tuple[PullRequest, bool]:
    def look() -> PullRequest | None:
        return found if (found := known or _known(hub, proposal)) and found.state == "open" else None

    def make() -> PullRequest:
        return hub.repository.create_pull(
            base=proposal.base,
            head=proposal.branch,
            title=_title(proposal),
            body=render_body(proposal),
            draft=proposal.is_draft,
        )

    return hub.once(look, make)


def _title(proposal: Proposal) -> str:
    """On one line. GitHub shows a title as it is, but a mention in a commit message pings."""
    return " ".join(proposal.title.split()).replace("@", "@\u2060")[:_LONGEST_TITLE]


def _see_to_text(pull: PullRequest, proposal: Proposal) -> list[str]:
    """A body that bylaw wrote follows the proposal; one that a person wrote anew stays."""
    if _MARKER.search(pull.body or "") is None or _is_same(pull, proposal):
        return []
    pull.edit(title=_title(proposal), body=render_body(proposal))
    return ["text"]


def _see_to_labels(pull: PullRequest, proposal: Proposal) -> list[str]:
    missing = _without(proposal.labels, (label.name for label in pull.labels))
    if missing:
        pull.add_to_labels(*missing)
    return ["labels"] if missing else []


def _see_to_reviewers(hub: Hub, pull: PullRequest, proposal: Proposal) -> tuple[list[str], list[str]]:
    """Ask who was not asked and has not answered yet; who cannot be asked is told. Nobody is asked twice."""
    if not proposal.reviewers:
        return [], []
    users, teams = pull.get_review_requests()
    there = {user.login for user in users} | {f"{hub.slug.split('/')[0]}/{team.slug}" for team in teams}
    there |= {review.user.login for review in pull.get_reviews() if review.user} | {pull.user.login}
    refused, asked = [], []
    for name in _without(proposal.reviewers, there):
        owner, _, team = name.partition("/")
        try:
            with told():
                pull.create_review_request([] if team else [owner], [team] if team else [])
            asked = ["reviewers"]
        except GitHubError as problem:
            # One who left must not keep the pull request from the others.
            if problem.status != 422:
                raise
            refused.append(
                f"`{name}` cannot be asked for a review: {problem.details[0] if problem.details else problem}"
            )
    return asked, refused


def _without(wanted: Iterable[str], there: Iterable[str]) -> list[str]:
    """What of *wanted* is not there, in order, without regard to case as GitHub compares."""
    held = {name.lower() for name in there}
    return [name for name in dict.fromkeys(wanted) if name.lower() not in held]
