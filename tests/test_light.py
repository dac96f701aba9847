"""What a verb loads on a repository that nothing has changed in: what it does not need makes it slow to answer."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from shutil import copytree, ignore_patterns

import pytest

PROVERS = {"z3", "ci.pipeline", "alembic", "yaml", "pydantic_ai"}
SERVERS = {"fastapi", "uvicorn", "slack_sdk", "sqlalchemy"}
READERS = {"duckdb", "jinja2", "bot.analytics.answer", "importlib.metadata", "rapidfuzz"}
UNASKED = {
    *("bylaw.llm.registry", "bylaw.warehouses.registry", "bylaw.audit.export", "bylaw.refine.ledger"),
    *("bot.enforcement.author", "bylaw.references"),
}
OTHERS = {"bot.analytics.prepared", "bot.decisions.answer", "bylaw.semantic.query", "bylaw.authored.context"}
QUESTION = "What does POL-REFUND-001 say?"
CODE = """
import json, sys
from bylaw.cli import main
sys.argv[:1] = ["bylaw"]
try:
    main()
finally:
    print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""
ROWS = {
    "list": (("list", "facts"), PROVERS | SERVERS | READERS | {"sqlglot", "bot"}),
    "explain": (("explain", "POL-REFUND-001"), PROVERS | SERVERS | READERS | {"sqlglot", "bot"}),
    "decide": (
        ("decide", "--facts", "{}"),
        PROVERS | SERVERS | READERS | {"sqlglot", "bylaw.language.words", "bylaw.compiled"},
    ),
    "trace": (("trace", "ID"), PROVERS | SERVERS | READERS | {"sqlglot"}),
    "ask": (("ask", QUESTION), PROVERS | SERVERS | READERS | UNASKED | {"sqlglot", "fsspec"}),
    "ask where there are policies alone": (("ask", QUESTION), PROVERS | SERVERS | READERS | UNASKED | OTHERS),
}


def said(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", CODE, *words, "--root", root], capture_output=True, text=True, check=True
    )


@pytest.fixture(scope="module")
def asked(tmp_path_factory, call):
    """A repository in which every verb has been called once, and the request that `ask` left."""
    root = tmp_path_factory.mktemp("light") / "set"
    for words in (("init", root), ("list", "facts", "--root", root), ("explain", "POL-REFUND-001", "--root", root)):
        assert call(*words).code == 0
    return root, call("ask", QUESTION, "--json", "--root", root).json["request_id"]


@pytest.fixture(scope="module")
def policies(asked, call):
    """The same repository with its policies alone."""
    root = asked[0].with_name("policies")
    copytree(asked[0], root, ignore=ignore_patterns("context", ".bylaw"))
    assert call("ask", QUESTION, "--root", root).code == 0
    return root


@pytest.mark.parametrize("verb", ROWS)
def test_a_verb_loads_only_what_it_needs(asked, policies, verb):
    (root, request), (words, heavy) = asked, ROWS[verb]
    root = policies if verb.endswith("alone") else root
    done = said(root, *(request if word == "ID" else word for word in words))
    loaded = json.loads(done.stderr.splitlines()[-1])
    assert "bylaw.cli" in loaded  # the list is one
    assert sorted(heavy & set(loaded)) == []
