"""A connection to one repository on GitHub: PyGithub behind patience, errors in plain words, creation at most once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from bylaw.errors import UsageError
from bylaw.github.credentials import Abilities, Credentials, Installation, abilities
from bylaw.github.errors import GitHubError, described
from bylaw.github.patience import Patience

if TYPE_CHECKING:
    from github import Auth, Github
    from github.Repository import Repository

Found = TypeVar("Found")

PUBLIC = "https://api.github.com"
TIMEOUT_SECONDS = 30
_SLUG = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,38}/[A-Za-z0-9._-]{1,100}")


@dataclass(frozen=True)
class Hub:
    """One repository. `repository` is PyGithub's: use it within `told`."""

    slug: str
    client: Github = field(repr=False)
    credentials: Credentials
    patience: Patience = field(repr=False)

    @property
    def abilities(self) -> Abilities:
        """What may be done with these credentials."""
        return abilities(self.credentials)

    @cached_property
    def repository(self) -> Repository:
        """The repository, asked for once."""
        with told():
            return self.client.get_repo(self.slug)

    @cached_property
    def login(self) -> str:
        """Under which name comments appear: that of a person, or of an App with `[bot]` behind it."""
        with told():
            match self.abilities.kind:
                case "app":
                    return f"{_app(self.credentials, self.client).slug}[bot]"
                case "workflow":
                    return "github-actions[bot]"
                case "personal":
                    return self.client.get_user().login

    def graphql(self, query: str, variables: Mapping[str, Any]) -> dict[str, Any]:
        """The `data` of a GraphQL answer. Raises GitHubError: 403 when the token may not, 404 for what is gone."""
        with told():
            return dict(self.client.requester.graphql_query(query, dict(variables))[1]["data"])

    def once(self, look: Callable[[], Found | None], make: Callable[[], Found]) -> tuple[Found, bool]:
        """What *look* finds, else what *make* makes, and whether it was made now.

        An answer that does not come, or comes as 5xx, says nothing about whether the thing was made: wait, look again.
        Raises GitHubError.
        """
        attempt = 0
        while True:
            with told():
                found = look()
            if found is not None:
                return found, False
            try:
                with told():
                    return make(), True
            except GitHubError as problem:
                is_open = problem.status == 0 or problem.status >= 500
                if not is_open or attempt + 1 >= self.patience.attempts:
                    raise
            self.patience.sleep(self.patience.backoff(attempt))
            attempt += 1


@contextmanager
def told() -> Iterator[None]:
    """Within, everything that goes wrong with GitHub is a GitHubError."""
    from github import GithubException
    from requests.exceptions import RequestException

    try:
        yield
    except GithubException as problem:
        raise _translated(problem) from problem
    except RequestException as problem:
        raise GitHubError(0, _reason(problem)) from problem


def connect(credentials: Credentials, slug: str, patience: Patience, base_url: str = PUBLIC) -> Hub:
    """A connection to the repository *slug*, `owner/name`. Raises UsageError for a name, address or key of no use."""
    if not _SLUG.fullmatch(slug):
        raise UsageError(f"`{slug}` is not the name of a repository", "write it as `owner/name`")
    _check_address(base_url)
    from github import Github

    from bylaw.github.retry import PatientRetry

    def client(auth: Auth.Auth) -> Github:
        return Github(
            auth=auth,
            base_url=base_url.rstrip("/"),
            timeout=TIMEOUT_SECONDS,
            user_agent="bylaw",
            per_page=100,
            retry=PatientRetry(patience),
            # Its own pauses would come before every request; ours come when GitHub asks for them.
            seconds_between_requests=0,
            seconds_between_writes=0,
        )

    return Hub(slug, client(_auth(credentials, slug, client)), credentials, patience)


def _auth(credentials: Credentials, slug: str, client: Callable[[Auth.Auth], Github]) -> Auth.Auth:
    from github import Auth, GithubIntegration

    if not isinstance(credentials, Installation):
        return Auth.Token(credentials.secret)
    app = _app_auth(credentials)
    if credentials.number is not None:
        return app.get_installation_auth(credentials.number)
    owner, name = slug.split("/")
    with told():
        found = GithubIntegration(**client(app).requester.kwargs).get_repo_installation(owner, name)
    return app.get_installation_auth(found.id)


def _app_auth(credentials: Installation) -> Auth.AppAuth:
    from github import Auth
    from jwt.exceptions import PyJWTError

    app = Auth.AppAuth(credentials.app, credentials.private_key)
    try:
        app.create_jwt()
    except (PyJWTError, ValueError, TypeError):
        # The problem's own text may quote the key.
        raise UsageError("the App's private key is not a PEM key", "copy the .pem file whole") from None
    return app


def _app(credentials: Credentials, client: Github) -> Any:
    from github import GithubIntegration

    assert isinstance(credentials, Installation)
    return GithubIntegration(**{**client.requester.kwargs, "auth": _app_auth(credentials)}).get_app()


def _check_address(base_url: str) -> None:
    """A token goes over TLS, or to this very machine."""
    parts = urlsplit(base_url)
    is_here = parts.hostname in ("127.0.0.1", "localhost", "::1")
    if parts.scheme != "https" and not (parts.scheme == "http" and is_here):
        raise UsageError(f"`{base_url}` is not an address of GitHub's API", "it starts with https://")


def _translated(problem: Any) -> GitHubError:
    """PyGithub's error as ours. GraphQL's refusals come as 400 with a type inside."""
    data = problem.data if isinstance(problem.data, dict) else {}
    errors = data.get("errors")
    kinds = {error.get("type") for error in errors if isinstance(error, dict)} if isinstance(errors, list) else set()
    status = 403 if "FORBIDDEN" in kinds else 404 if "NOT_FOUND" in kinds else problem.status
    message = str(data.get("message") or problem.message or "no reason given")
    details = described(errors)
    if message == "no reason given" and details:
        message, details = details[0], details[1:]
    return GitHubError(status, message, details, is_limit="rate limit" in message.lower())


def _reason(problem: Exception) -> str:
    """Why no answer came; the library's own text holds addresses and object names."""
    return "the request timed out" if "timeout" in type(problem).__name__.lower() else "the connection broke"
