"""What the SQL library raises of a text that it cannot read or write."""

from __future__ import annotations

from sqlglot.errors import SqlglotError

# Its own errors, and what its parsers and writers stumble into where a statement lacks a part that they take for given.
FOREIGN = (SqlglotError, AttributeError, LookupError, TypeError, ValueError, NotImplementedError)
