"""`/bylaw accept`: a waiver is written into the pull request, by whom the trusted branch names as owner.

What is accepted is looked up in the head; who may accept it is asked of the `CODEOWNERS` that the base holds, because a
pull request could name its author there.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING

from pydantic import ValidationError

from bylaw import authoring
from bylaw.authored.machines.waivers import Waivers
from bylaw.errors import UsageError
from bylaw.github.client import Hub
from bylaw.github.commit import read_file, write_file
from bylaw.github.errors import GitHubError
from bylaw.github.text import code, fenced, quiet
from ci.findings import Finding
from ci.loading.rules import effective, load_defaults
from ci.loading.source import Unreadable, parse
from ci.loading.unread import UNREPRESENTABLE
from ci.loading.waivers import PATH
from ci.review.asked.answers import Head
from ci.review.asked.commands import Accept
from ci.review.asked.reply import Proposed
from ci.review.computed.owners import PLACES, Owners, read

if TYPE_CHECKING:
    from bylaw.github.types import PullRequest

_HEADER = "# Findings that people accept for a while: they stand as notices, and after their day are what they were.\n"
_MOST_LISTED = 20
_MEMBERS = """
query($org: String!, $team: String!, $login: String!) {
  organization(login: $org) { team(slug: $team) { members(query: $login, first: 100) { nodes { login } } } }
}
"""


@dataclass(frozen=True, slots=True)
class CommandAnswer:
    """What is said, and whether what was asked for holds now."""

    text: str
    is_done: bool = True


def proposed(asked: Accept, head: Head, folder: str, waivers: str | None) -> Proposed:
    """What is asked to be accepted, as the head shows it. Raises UsageError.

    *folder* leads from the top of the git repository to the policy repository, *waivers* is its file of them.
    """
    if not head.sha.startswith(asked.head):
        raise UsageError(
            f"the newest commit is {code(head.sha[:10])}, not {code(asked.head)}",
            "look at what came since, then accept it at that commit",
        )
    finding = _found(head, asked.finding)
    if asked.until < head.run.at:
        raise UsageError(f"{asked.until} is over already", "name a day that is still to come")
    paths = [folder + path for path in _paths(finding, head)]
    return Proposed(finding=finding.fingerprint, id=finding.id, paths=paths, at=head.run.at, waivers=waivers)


def accept(
    hub: Hub, pull: PullRequest, asked: Accept, by: str, finding: Proposed, folder: str, today: date
) -> CommandAnswer:
    """See to it that the head holds the waiver. Raises UsageError, GitHubError.

    What is asked for, and at which commit, is the comment's to say; *finding* is only what that is called.
    """
    if not pull.head.sha.startswith(asked.head) or not (
        finding.finding.startswith(asked.finding) or finding.id == asked.finding
    ):
        raise UsageError("what was looked at is not what the comment asks for", "ask again")
    longest = longest_days(hub, pull, folder)
    if asked.until > min(finding.at, today) + timedelta(days=longest):
        raise UsageError(
            f"{asked.until} is more than {longest} days away",
            f"name an earlier day: {code('longest_days')} of {code(PATH)} on the base branch is the limit",
        )
    refused = without_owner(hub, pull, by, finding.paths)
    if refused:
        listed = "; ".join(f"{code(path)}: {_named(handles)}" for path, handles in refused[:_MOST_LISTED])
        return CommandAnswer(f"Only the owners of a policy accept what is found in it.\n\n{listed}", is_done=False)
    entry = {
        "finding": finding.finding,
        "id": finding.id,
        "until": asked.until.isoformat(),
        "because": asked.because,
        "by": by,
    }
    if pull.head.repo is None or pull.head.repo.full_name.lower() != hub.slug.lower():
        text = fenced(authoring.dump({"waivers": [entry]}), "yaml")
        return CommandAnswer(
            f"bylaw cannot push to a fork. Add this to {code(folder + PATH)} yourself:\n\n{text}", False
        )
    return _written(hub, pull, finding.waivers, folder + PATH, entry)


def longest_days(hub: Hub, pull: PullRequest, folder: str) -> int:
    """For how many days the base lets a finding be accepted: a pull request could give itself more."""
    text = read_file(hub, folder + PATH, pull.base.sha)
    try:
        own = None if text is None else parse(PATH, text).data or {}
        return Waivers.model_validate(effective("waivers", load_defaults()["waivers"], own)).longest_days
    except (Unreadable, ValidationError):
        raise UsageError(f"{code(PATH)} of the base branch cannot be read", "correct it first") from None


# --- which finding


def _found(head: Head, ref: str) -> Finding:
    """The one error or warning that *ref* names."""
    loud = [one for one in head.run.raw if one.severity != "notice" and one.id not in UNREPRESENTABLE]
    named = [one for one in loud if one.fingerprint.startswith(ref)] or [one for one in loud if one.id == ref]
    if len(named) == 1:
        return named[0]
    if not named:
        raise UsageError(
            f"no error or warning that can be accepted is called {code(ref)}",
            "each comment of bylaw ends with its name",
        )
    listed = ", ".join(code(one.fingerprint) for one in named[:_MOST_LISTED])
    raise UsageError(f"{len(named)} findings are called {code(ref)}: {listed}", "name the one that is meant")


def _paths(finding: Finding, head: Head) -> list[str]:
    """The files whose owners are asked: of every policy that the finding is about, else the file that it is in."""
    files = {file.policy.policy_id: file.path for file in head.run.workspace.policies}
    return sorted({files[policy] for policy in finding.policies if policy in files} or {finding.at.path})


# --- who may


def without_owner(hub: Hub, pull: PullRequest, by: str, paths: list[str]) -> list[tuple[str, tuple[str, ...]]]:
    """The *paths* that *by* does not own, each with who does."""
    owners = _owners(hub, pull.base.sha)
    teams: dict[str, bool] = {}
    return [(path, owners.of(path)) for path in paths if not _is_owner(hub, by, owners.of(path), teams)]


def _owners(hub: Hub, sha: str) -> Owners:
    found = (read_file(hub, place.as_posix(), sha) for place in PLACES)
    text = next((text for text in found if text is not None), None)
    return Owners() if text is None else read(text)


def _is_owner(hub: Hub, login: str, handles: tuple[str, ...], teams: dict[str, bool]) -> bool:
    for handle in handles:
        name = handle.removeprefix("@").lower()
        if "/" not in name and name == login.lower():
            return True
        if "/" in name and teams.setdefault(name, _is_member(hub, name, login)):
            return True
    return False


def _is_member(hub: Hub, team: str, login: str) -> bool:
    """Is *login* in the team, as far as the token may know? Who cannot be looked up is no owner."""
    org, _, slug = team.partition("/")
    try:
        data = hub.graphql(_MEMBERS, {"org": org, "team": slug, "login": login})
    except GitHubError as problem:
        if problem.status in (400, 403, 404) and not problem.is_limit:
            return False
        raise
    held = ((data.get("organization") or {}).get("team") or {}).get("members") or {}
    return any(one and one["login"].lower() == login.lower() for one in held.get("nodes") or [])


def _named(handles: tuple[str, ...]) -> str:
    return " or ".join(code(handle) for handle in handles) or "nobody is named in CODEOWNERS"


# --- the waiver


def with_waiver(text: str | None, entry: dict[str, str]) -> str:
    """The file with *entry*, in the place of one about the same finding. Raises UsageError where that fails."""
    if text is None:
        return _HEADER + authoring.dump({"waivers": [entry]})
    if all(line.startswith("#") or not line.strip() for line in text.splitlines()):
        return "\n".join([*text.splitlines(), ""]) + authoring.dump({"waivers": [entry]})
    try:
        held = parse(PATH, text).data
    except Unreadable as problem:
        raise UsageError(f"{code(PATH)} cannot be read: {problem}", "correct it first") from None
    if not isinstance(held, dict):
        raise UsageError(f"{code(PATH)} is no mapping", "correct it first")
    waivers = held.get("waivers")
    if "waivers" not in held:
        return authoring.add_key(text, (), "waivers", [entry])
    for i, one in enumerate(waivers or []):
        if isinstance(one, dict) and one.get("finding") == entry["finding"]:
            for key in ("until", "because", "by"):
                if one.get(key) != entry[key]:
                    text = authoring.set_value(text, ("waivers", i, key), entry[key])
            return text
    return authoring.add_item(text, ("waivers",), entry)


def _written(hub: Hub, pull: PullRequest, before: str | None, path: str, entry: dict[str, str]) -> CommandAnswer:
    after = with_waiver(before, entry)
    what = f"{code(entry['finding'])} ({quiet(entry['id'])}) until {entry['until']}"
    if after == before:
        return CommandAnswer(f"{what} is accepted already, in {code(path)}.")
    write_file(hub, pull.head.ref, pull.head.sha, path, after, "Accept a finding for a while")
    notes = [] if hub.abilities.starts_workflows else list(hub.abilities.lost[-1:])
    return CommandAnswer("\n\n".join([f"Accepted {what}: written into {code(path)} of this branch.", *notes]))
