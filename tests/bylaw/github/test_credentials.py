"""As whom bylaw speaks to GitHub, and what that leaves out."""

from __future__ import annotations

import pytest

from bylaw.errors import UsageError
from bylaw.github.credentials import Installation, Token, abilities, read_credentials
from tests.rows import each


@each(
    ("environ", "expected"),
    [
        ({"GITHUB_TOKEN": "ghp_1\n"}, Token("ghp_1")),
        ({"BYLAW_APP_ID": "7", "BYLAW_APP_PRIVATE_KEY": "a\\nb"}, Installation(7, "a\nb")),
        ({"BYLAW_APP_ID": "7", "BYLAW_APP_PRIVATE_KEY": "k", "BYLAW_APP_INSTALLATION": "9"}, Installation(7, "k", 9)),
        ({"BYLAW_APP_ID": "7", "BYLAW_APP_PRIVATE_KEY": "k", "GITHUB_TOKEN": "t"}, Installation(7, "k")),
    ],
    ids=["a token", "a key in one line", "an installation", "an App before a token"],
)
def test_credentials_come_from_the_environment(environ, expected):
    assert read_credentials(environ) == expected


@each(
    ("environ", "says"),
    [
        ({}, "no credentials for GitHub"),
        ({"GITHUB_TOKEN": "  "}, "no credentials for GitHub"),
        ({"BYLAW_APP_ID": "7"}, "`BYLAW_APP_PRIVATE_KEY` is not set"),
        ({"BYLAW_APP_PRIVATE_KEY": "k"}, "`BYLAW_APP_ID` is not set"),
        ({"BYLAW_APP_ID": "seven", "BYLAW_APP_PRIVATE_KEY": "k"}, "`BYLAW_APP_ID` is not a number"),
        ({"BYLAW_APP_ID": "7", "BYLAW_APP_PRIVATE_KEY": "k", "BYLAW_APP_INSTALLATION": "x"}, "INSTALLATION` is not"),
    ],
)
def test_half_of_them_is_an_error(environ, says):
    with pytest.raises(UsageError, match=says):
        read_credentials(environ)


@each(
    ("credentials", "kind", "lost"),
    [
        (Installation(1, "k"), "app", []),
        (Token("ghs_1"), "workflow", ["starts no workflow"]),
        (Token("ghp_1"), "personal", ["only a GitHub App may create check runs"]),
        (Token("github_pat_1"), "personal", ["only a GitHub App may create check runs"]),
    ],
)
def test_what_is_lost_is_said(credentials, kind, lost):
    found = abilities(credentials)
    assert found.kind == kind
    assert len(found.lost) == len(lost)
    assert all(words in sentence for words, sentence in zip(lost, found.lost, strict=True))
    assert (found.creates_checks, found.starts_workflows) == (kind != "personal", kind != "workflow")
