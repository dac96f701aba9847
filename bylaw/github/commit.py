"""One file on a branch, as a commit of its own, through GitHub's git data: nothing is checked out."""

from __future__ import annotations

from bylaw.github.client import Hub, told
from bylaw.github.errors import GitHubError


def read_file(hub: Hub, path: str, ref: str) -> str | None:
    """The text of the file at *ref*; None where there is none. Raises GitHubError."""
    try:
        with told():
            found = hub.repository.get_contents(path, ref=ref)
    except GitHubError as problem:
        if problem.status == 404:
            return None
        raise
    return None if isinstance(found, list) else found.decoded_content.decode("utf-8", "replace")


def write_file(hub: Hub, branch: str, parent: str, path: str, text: str, message: str) -> str:
    """Commit *text* as *path* on *parent*, the newest commit of *branch*; the new commit.

    Raises GitHubError; 422 where the branch has moved on meanwhile. No author is named: GitHub signs what an App
    commits as itself.
    """
    from github import InputGitTreeElement

    with told():
        repository = hub.repository
        old = repository.get_git_commit(parent)
        tree = repository.create_git_tree([InputGitTreeElement(path, "100644", "blob", content=text)], old.tree)
        made = repository.create_git_commit(message, tree, [old])
        repository.get_git_ref(f"heads/{branch}").edit(made.sha, force=False)
        return made.sha
