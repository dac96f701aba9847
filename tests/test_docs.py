"""The handbook: every link leads to a page, every key that an author may write stands in an example that is run."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest
from click.testing import CliRunner

from bylaw.authored.conditions import KINDS, TREES
from bylaw.authored.policies import ActionType
from bylaw.cli import bylaw
from bylaw.handbook import topics
from tests.docs_keys import missing
from tests.docs_keys import page as page_of_keys

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGES = sorted(DOCS.glob("*.md"))
TEXT = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
EXAMPLES = "\n".join(re.findall(r"^```yaml title=\S+\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL))


def test_every_key_that_an_author_may_write_has_an_example_and_its_page(
    request: pytest.FixtureRequest,
) -> None:
    assert missing() == []
    path = DOCS / "keys.md"
    if request.config.getoption("--update-golden"):
        path.write_text(page_of_keys(), encoding="utf-8")
    assert path.read_text(encoding="utf-8") == page_of_keys(), "write it anew with --update-golden"


def test_every_kind_of_condition_and_action_stands_in_an_example() -> None:
    kinds = {get_args(kind.model_fields["type"].annotation)[0] for kind in KINDS} | set(TREES)
    assert {kind for kind in kinds if not re.search(rf"\b{kind}\b", EXAMPLES)} == set()
    assert {kind for kind in get_args(ActionType) if kind not in TEXT} == set()


@pytest.mark.slow
def test_the_site_is_built_without_a_warning_and_leads_to_every_page(tmp_path: Path) -> None:
    """Strict: a link to a page or a heading that is not there stops it. Nothing in it is fetched from elsewhere."""
    shutil.copytree(DOCS, tmp_path / "docs")
    shutil.copy(DOCS.parent / "zensical.toml", tmp_path)
    tool = Path(sys.executable).with_name("zensical")
    done = subprocess.run([tool, "build", "--strict"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "No issues found" in done.stdout + done.stderr, done.stdout + done.stderr
    front = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    for page in PAGES:
        built = tmp_path / "site" / ("" if page.stem == "index" else page.stem) / "index.html"
        html = built.read_text(encoding="utf-8")
        assert "```" not in re.sub(r"<code>.*?</code>", "", html, flags=re.DOTALL), (
            f"{page.name}: a block is not closed"
        )
        assert not re.search(r"""<(?:script|link|img)\b[^>]*(?:src|href)=["']?(?:https?:)?//""", html)
        assert page.stem == "index" or f'href="{page.stem}/"' in front


def test_the_terminal_shows_the_same_pages() -> None:
    assert set(topics()) == {page.stem for page in PAGES}
    runner = CliRunner()
    for page in PAGES:
        assert runner.invoke(bylaw, ["docs", page.stem]).output == page.read_text(encoding="utf-8")
    assert runner.invoke(bylaw, ["docs"]).output.startswith("# bylaw")
    assert "did you mean `conditions`" in str(
        getattr(runner.invoke(bylaw, ["docs", "conditons"]).exception, "help", "")
    )


def test_a_word_leads_to_what_the_pages_say_of_it() -> None:
    def told(word: str) -> str:
        return CliRunner().invoke(bylaw, ["docs", word]).output

    assert "## `requires` (guards)" in told("requires") and "## PolicyAction (keys)" in told("requires")
    assert "- means: Whether an agent may say it" in told("assertable")
    assert told("conflict").startswith("# conflict\n\n## conflict (every-finding)")
    assert "## In Slack (asking)" in told("slack")
    assert "```yaml" in told("scope")  # a comment in a block is no heading


def test_the_page_on_decisions_shows_what_this_repository_is_answered(call: Callable[..., Any], tmp_path: Path) -> None:
    for folder in ("policies", "context", "rules"):
        shutil.copytree(DOCS.parent / folder, tmp_path / folder)
    block = re.search(r"^```\n(.*?)^```$", (DOCS / "why-decided.md").read_text(encoding="utf-8"), re.M | re.S)
    assert block is not None
    shown = re.findall(r"^\$ bylaw ask \"(.*?)\"\n(.*?)(?=^\$ |\Z)", block[1], re.M | re.S)
    assert len(shown) > 2
    for question, answer in shown:
        assert " ".join(answer.split()) in " ".join(call("ask", question, cwd=tmp_path).out.split()), question
