"""Errors about us or the world. What someone *wrote* is a finding (`ci.findings`), never an exception.

Each error carries the exit code that the command ends with: 2 wrong usage, 3 our fault.
"""

from __future__ import annotations


class BylawError(Exception):
    """Our fault, or the world's: the command says it in one line and exits with 3."""

    exit_code = 3

    def __init__(self, message: str, help: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.help = help


class UsageError(BylawError):
    """The call itself is wrong: an unknown fact, a folder that is not there. Exit 2."""

    exit_code = 2


class BundleError(BylawError):
    """A bundle that may not be served: other schema version, wrong etag, broken reference."""

    exit_code = 2


class WitnessMismatch(BylawError):
    """A solver's witness that the plain evaluator does not confirm: a bug of ours, never the author's."""


class GateDenied(BylawError):
    """A statement the SQL gate does not let through; `code` is stable, the message is for people.

    `offset` is where in the statement the first denied character stands, None where the whole of it is denied.
    """

    exit_code = 1

    def __init__(self, code: str, message: str, offset: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.offset = offset
