"""What is well formed and still deserves a look: policies of nobody, sleeping ones, exceptions without force."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, timedelta

from bylaw.authored.policies import PolicyException
from ci.findings import Finding, Place, Route
from ci.loading.load import PolicyFile, Workspace


def missing_owners(workspace: Workspace) -> Iterator[Finding]:
    """Somebody answers for every policy."""
    for file in workspace.policies:
        if not file.policy.has_owner:
            written = file.policy.metadata.owner.strip()
            said = f"has the owner `{written}`" if written else "has no owner"
            yield _of(file, "missing-owner", said, ("metadata", "owner"), "name who decides when it is disputed")


def inactive_policies(workspace: Workspace) -> Iterator[Finding]:
    """A policy that takes part in nothing says so: nobody has confirmed it, or its time is over."""
    for file in workspace.policies:
        policy, end = file.policy, file.policy.metadata.expiry_date
        if not policy.is_active:
            said = "was mined from decisions and holds only once a person has confirmed it"
            route: Route = ("discovery", "human_validated") if policy.discovery else ("policy_id",)
            yield _of(file, "inactive-policy", said, route, "after a review write `human_validated: true`")
        elif end is not None and workspace.at is not None and end < workspace.at:
            said = f"ended on {end.isoformat()} and no longer holds"
            yield _of(file, "inactive-policy", said, ("metadata", "expiry_date"), "delete it, or give it a later end")


def drafts(workspace: Workspace) -> Iterator[Finding]:
    """Drafts say so, once a folder: they are checked, and nobody is answered by them."""
    folders: dict[str, list[PolicyFile]] = {}
    for file in workspace.policies:
        if file.policy.draft:
            folders.setdefault(file.path.rpartition("/")[0], []).append(file)
    for files in folders.values():
        more = f", like {len(files) - 1} more in its folder" if len(files) > 1 else ""
        said = f"is a draft{more}: it is checked, and not compiled"
        yield _of(files[0], "inactive-policy", said, ("draft",), "after a review take `draft: true` out")


def misplaced_policies(workspace: Workspace) -> Iterator[Finding]:
    """A policy lies in the folder of its domain: that is where its owner's reviewers and its cases are."""
    for file in workspace.policies:
        folders, domain = file.path.split("/")[1:-1], file.policy.metadata.domain
        if folders and domain not in folders:
            said = f"is about the domain `{domain}` and lies in `{'/'.join(('policies', *folders))}/`"
            help = f"move it to `policies/{domain}/`, or correct `domain` and the id"
            yield _of(file, "misplaced-policy", said, ("metadata", "domain"), help)


def policies_not_yet_in_force(workspace: Workspace) -> Iterator[Finding]:
    """A policy of a later day says so, once: what misses it today is no fault of its own."""
    for file in workspace.policies:
        start = file.policy.metadata.effective_date
        if start is not None and workspace.at is not None and start > workspace.at and not _is_tried(file, workspace):
            said = f"takes effect on {start.isoformat()} and decides nothing before"
            help = (
                f'a case of `{file.path.rpartition("/")[0]}/cases.yaml` that needs it says `at: "{start.isoformat()}"`'
            )
            yield _of(file, "not-yet-in-force", said, ("metadata", "effective_date"), help)


def _is_tried(file: PolicyFile, workspace: Workspace) -> bool:
    """Does a case of its folder, or one that names it, look at a day on which the policy holds?"""
    metadata, name = file.policy.metadata, file.policy.policy_id
    folder = file.path.rpartition("/")[0]
    days = (
        entry.case.at for entry in workspace.cases if entry.path.startswith(f"{folder}/") or name in entry.case.policies
    )
    first, last = metadata.effective_date or date.min, metadata.expiry_date or date.max
    return any(day is not None and first <= day <= last for day in days)


def expiring_policies(workspace: Workspace) -> Iterator[Finding]:
    """A policy that ends soon is told while there is time to renew it."""
    if workspace.at is None:
        return
    days = workspace.rules.ci.expiring_within_days
    last = workspace.at + timedelta(days=days)
    for file in workspace.policies:
        end = file.policy.metadata.expiry_date
        if end is not None and workspace.at <= end <= last:
            said = f"ends on {end.isoformat()}, within {days} days"
            yield _of(file, "expiring-policy", said, ("metadata", "expiry_date"), "renew it, or let it end")


def empty_policies(workspace: Workspace) -> Iterator[Finding]:
    """A policy decides something, or says that it is text for people only."""
    for file in workspace.policies:
        if not (file.policy.has_logic or file.policy.text_only):
            said = "decides no case and says nothing to people"
            help = "write its `actions`; a rule that no logic shall check says its sentences under `text_only`"
            route: Route = ("actions",) if "actions" in file.policy.model_fields_set else ("policy_id",)
            yield _of(file, "empty-policy", said, route, help)


def explicit_patterns(workspace: Workspace) -> Iterator[Finding]:
    """A pattern was found in decisions; what a document says is required, prohibited or permitted."""
    for file in workspace.policies:
        for i, action in enumerate(file.policy.actions):
            if action.type == "discovered_pattern" and file.policy.stems_from == "explicit":
                said = f"says that `{action.action}` is a `discovered_pattern`, and stems from a document"
                help = "write `type: required`, or give a policy that was found in decisions an id `POL-IMP-…`"
                yield _of(file, "explicit-pattern", said, ("actions", i, "type"), help)


def unformalized_exceptions(workspace: Workspace) -> Iterator[Finding]:
    """An exception has force, or says that it is text for people only."""
    for file in workspace.policies:
        for route, exception in exceptions_of(file.policy.exceptions, ()):
            if not (exception.has_force or exception.text_only):
                lacks = [key for key in ("conditions", "action") if not getattr(exception, key)]
                lacking = " and no ".join(f"`{key}`" for key in lacks)
                said = f"has an exception that changes no case: it has no {lacking}"
                help = (
                    "say when it holds (`conditions`) and what then holds (`action`, or `none`); "
                    "words that are meant for people alone stand under `text_only`"
                )
                yield _of(file, "unformalized-exception", said, route, help)


def exceptions_of(listed: Sequence[PolicyException], route: Route) -> Iterator[tuple[Route, PolicyException]]:
    """Each exception with its route, those inside others too."""
    for i, exception in enumerate(listed):
        here = (*route, "exceptions", i)
        yield here, exception
        yield from exceptions_of(exception.exceptions, here)


def _of(file: PolicyFile, id: str, said: str, route: Route, help: str | None) -> Finding:
    name = file.policy.policy_id
    return Finding(id, f"policy `{name}` {said}", Place(file.path, route), policies=(name,), help=help)
