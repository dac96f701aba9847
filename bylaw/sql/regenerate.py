"""The text that runs: written from the tree that was judged, never the one that came.

What a parser overlooked in a text (a comment that some databases run, a name in escaped letters, a sign that is no
space everywhere) is not in its tree, and so not in what is written from it.
"""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import ErrorLevel

from bylaw.errors import GateDenied
from bylaw.sql.foreign import FOREIGN


def regenerated(tree: exp.Expr, dialect: str) -> str:
    """*tree* as a statement of *dialect*. Raises GateDenied where it cannot be written in it."""
    try:
        return str(tree.sql(dialect=dialect, pretty=True, comments=False, unsupported_level=ErrorLevel.RAISE))
    except RecursionError as error:
        raise GateDenied("size", "the statement nests too deeply to be written") from error
    except FOREIGN as error:
        raise GateDenied("syntax", "the statement cannot be written in the database's own words") from error
