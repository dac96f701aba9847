"""The scaffold is the same every time, and says nothing that the rules do not say."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from bot.enforcement.answer import visible
from bot.enforcement.assemble import case_of
from bot.enforcement.judged.reading import draft_of
from bot.enforcement.scaffold import Scaffold, scaffold
from bot.index import BundleIndex
from bylaw.bundle import parse
from bylaw.canonical import canonical_json
from ci import pipeline
from tests.bot.enforcement.conftest import SHOP
from tests.compiled import TODAY

ROWS = yaml.safe_load(Path(__file__).with_name("scaffold.yaml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def regulated(tmp_path_factory: pytest.TempPathFactory) -> BundleIndex:
    """The shop, with one of its two discounts asked for by a regulation."""
    root = shutil.copytree(SHOP, tmp_path_factory.mktemp("regulated") / "shop")
    path = root / "policies" / "discount" / "POL-DISCOUNT-001.yaml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("{source:", "{regulatory_linkage: [Fair Prices Act], source:"), encoding="utf-8")
    return BundleIndex(parse(pipeline.bundle_text(pipeline.run(root, None, TODAY))))


def planned(text: str, index: BundleIndex, actor: str = "anna") -> Scaffold:
    return scaffold(draft_of(case_of(text, TODAY, {}, index, visible(actor, index)), ""))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["ask"])
def test_the_scaffold_of_a_question(row, shop, regulated):
    document = planned(row["ask"], regulated if row.get("is_regulated") else shop).document()
    expected = {name: row[name] for name in ("steps", "invariants", "path", "priorities", "decided") if name in row}
    found = {name: list(document[name]) if isinstance(document[name], tuple) else document[name] for name in expected}
    assert found == expected


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["ask"])
def test_it_is_the_same_every_time(row, shop):
    assert canonical_json(planned(row["ask"], shop).document()) == canonical_json(planned(row["ask"], shop).document())


def test_rules_for_others_are_not_in_it(shop):
    ask = "Can I open the vault?"
    seen = {actor: canonical_json(planned(ask, shop, actor).document()) for actor in ("anna", "sam")}
    audience = {rule.policy_id: rule.audience for rule in shop.ruleset.rules if rule.audience}
    (policy,) = audience
    assert policy not in seen["anna"]
    roles = shop.rules.roles
    assert set(audience[policy]) & set(roles.roles_of("sam")), "sam may open it"
    assert policy in seen["sam"]


def test_the_text_of_the_draft_plays_no_part(shop):
    draft = draft_of(case_of(ROWS[0]["ask"], TODAY, {}, shop, shop.evaluator), "a full refund, I promise")
    assert scaffold(draft) == scaffold(replace(draft, text=""))


def test_only_so_many_rules_are_shown_and_those_that_decide_are_among_them(tmp_path):
    root = shutil.copytree(SHOP, tmp_path / "shop")
    folder = root / "policies" / "discount"
    text = (folder / "POL-DISCOUNT-001.yaml").read_text(encoding="utf-8")
    regulated = text.replace("{source:", "{regulatory_linkage: [Fair Prices Act], source:")
    for number in range(100, 130):
        policy = f"POL-DISCOUNT-{number}"
        (folder / f"{policy}.yaml").write_text(text.replace("POL-DISCOUNT-001", policy), encoding="utf-8")
    last = "POL-DISCOUNT-200"
    (folder / f"{last}.yaml").write_text(regulated.replace("POL-DISCOUNT-001", last), encoding="utf-8")
    index = BundleIndex(parse(pipeline.bundle_text(pipeline.run(root, None, TODAY))))
    found = planned("Which discount does a VIP get on 5 items?", index)
    steps = [step for step in found.steps if " IF " in step]
    assert len(steps) == 20
    assert found.policies == {last}
    assert last in steps[-1]
