"""PyGithub's names for whoever only says what type a thing has; there is nothing to import when the program runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from github.CheckRun import CheckRun as CheckRun
    from github.Commit import Commit as Commit
    from github.File import File as File
    from github.IssueComment import IssueComment as IssueComment
    from github.PullRequest import PullRequest as PullRequest
    from github.PullRequestComment import PullRequestComment as PullRequestComment
    from github.PullRequestReview import PullRequestReview as PullRequestReview
    from github.Repository import Repository as Repository
