"""What GitHub refuses, in one line for people and with what to do next."""

from __future__ import annotations

from bylaw.errors import BylawError

_HELP = {
    0: "GitHub could not be reached; run it again: what is done already is not done twice",
    401: "check that the token is not expired and was copied whole",
    403: "give the token, or the App's installation, the permission that is missing",
    404: "check the repository's name, and that the token may see it",
    410: "it was there and is deleted",
    422: "GitHub understood the request and refuses its content",
    429: "wait for the limit to pass and run it again: what is done already is not done twice",
}


class GitHubError(BylawError):
    """GitHub says no, or nothing. `status` is 0 when no answer came; `details` is what it lists."""

    def __init__(self, status: int, message: str, details: tuple[str, ...] = (), is_limit: bool = False) -> None:
        told = "; ".join((message.strip().split("\n")[0], *details))[:600]
        next_step = _HELP[429] if is_limit else _HELP.get(status, _HELP[0] if status >= 500 else None)
        super().__init__(f"GitHub answers {status}: {told}" if status else f"GitHub does not answer: {told}", next_step)
        self.status = status
        self.details = details
        self.is_limit = is_limit


def described(errors: object) -> tuple[str, ...]:
    """GitHub's list of errors, which is sometimes of texts and sometimes of mappings, as texts."""
    if not isinstance(errors, list):
        return ()
    return tuple(error if isinstance(error, str) else _described(error) for error in errors)


def _described(error: object) -> str:
    if not isinstance(error, dict):
        return str(error)
    if error.get("message"):
        return str(error["message"])
    return " ".join(str(error[key]) for key in ("resource", "field", "code") if error.get(key))
