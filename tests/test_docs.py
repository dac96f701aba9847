"""The handbook: every link leads to a page, every key that an author may write stands in an example that is run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest
from click.testing import CliRunner
from pydantic import BaseModel

from bylaw.authored.conditions import KINDS, TREES, FactCheck
from bylaw.authored.policies import ActionType, Case, Metadata, Policy, PolicyAction, PolicyException
from bylaw.authored.vocabulary import Action, Fact, Outcome, Relations, Vocabulary
from bylaw.cli import bylaw
from bylaw.handbook import topics

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGES = sorted(DOCS.glob("*.md"))
TEXT = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
EXAMPLES = "\n".join(re.findall(r"^```yaml \S+\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL))
# Keys that machines write, or that belong to a page of their own.
ELSEWHERE = {
    "processing_status",
    "layer_scores",
    "origin",
    "history",
    "person",
    "regulatory_linkage",
    "priority",
    "steps",
}
TOLD = {
    "discovery",
    "assertable",
    "audience",
    "regulatory_linkage",
    "priority",
    "history",
    "person",
}  # in a sentence, without an example of their own
MODELS = (
    Policy,
    PolicyAction,
    PolicyException,
    Metadata,
    Case,
    Vocabulary,
    Fact,
    Action,
    Outcome,
    Relations,
    FactCheck,
)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_every_key_that_an_author_may_write_stands_in_an_example(model: type[BaseModel]) -> None:
    keys = {field.alias or name for name, field in model.model_fields.items()}
    missing = {key for key in keys - ELSEWHERE - TOLD if not re.search(rf"\b{re.escape(key)}:", EXAMPLES)}
    assert missing == set()
    assert {key for key in keys & TOLD if f"{key}" not in TEXT} == set()


def test_every_kind_of_condition_and_action_stands_in_an_example() -> None:
    kinds = {get_args(kind.model_fields["type"].annotation)[0] for kind in KINDS} | set(TREES)
    assert {kind for kind in kinds if not re.search(rf"\b{kind}\b", EXAMPLES)} == set()
    assert {kind for kind in get_args(ActionType) if kind not in TEXT} == set()


def test_every_link_leads_to_a_page_and_every_page_is_linked() -> None:
    links = {
        link for page in PAGES for link in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    }
    names = {page.name for page in PAGES}
    assert links - names == set()
    assert names - links == {"index.md"}


def test_the_terminal_shows_the_same_pages() -> None:
    assert set(topics()) == {page.stem for page in PAGES}
    runner = CliRunner()
    for page in PAGES:
        assert runner.invoke(bylaw, ["docs", page.stem]).output == page.read_text(encoding="utf-8")
    assert runner.invoke(bylaw, ["docs"]).output.startswith("# bylaw")
    assert "did you mean `conditions`" in str(
        getattr(runner.invoke(bylaw, ["docs", "condition"]).exception, "help", "")
    )
