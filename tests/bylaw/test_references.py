"""A bundle in which one name leads nowhere is refused, whatever section it stands in, even with an etag of its own."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from bylaw.bundle import etag, parse
from bylaw.canonical import canonical_json
from bylaw.errors import BundleError
from ci.pipeline import bundle_text, run
from tests.rows import each

FILE = yaml.safe_load((Path(__file__).parent / "references.yaml").read_text(encoding="utf-8"))
ROOT = Path(__file__).resolve().parent.parent.parent
NOBODY = "X_NOBODY"
DAY = "2026-06-01"

Route = tuple[str | int, ...]


def _alternatives(pattern: str) -> Iterator[str]:
    """`a.{b,c}` as `a.b` and `a.c`."""
    if (found := re.search(r"\{([^{}]*)\}", pattern)) is None:
        yield pattern
        return
    for word in found[1].split(","):
        yield from _alternatives(pattern[: found.start()] + word + pattern[found.end() :])


ELSEWHERE, VALUES, IDLE = (
    tuple(itertools.chain.from_iterable(map(_alternatives, FILE[key]))) for key in ("elsewhere", "values", "idle")
)


def is_among(route: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(route, pattern.replace("**", "*")) for pattern in patterns)


@cache
def texts() -> dict[str, str]:
    """A small company with conflicts, and the repository's own policies, context and decisions."""
    from datetime import date

    day = date.fromisoformat(DAY)
    return {
        name: bundle_text(run(root, day, day)) for name, root in (("company", ROOT / "tests/company"), ("own", ROOT))
    }


def leaves(value: Any, route: Route = (), pattern: str = "") -> Iterator[tuple[str, Route, bool]]:
    """Every key of a map and every value that is no container: its pattern, its route, and whether it is a key."""
    if isinstance(value, dict):
        is_map = pattern in FILE["maps"]
        for key, item in value.items():
            if is_map:
                yield f"{pattern}.<key>", (*route, key), True
            yield from leaves(item, (*route, key), f"{pattern}.{'*' if is_map else key}".removeprefix("."))
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from leaves(item, (*route, i), f"{pattern}.*")
    elif value is not None:
        yield pattern, route, False


def kinds(text: str) -> dict[str, tuple[Route, bool]]:
    """One place for each kind of thing that a bundle says."""
    found: dict[str, tuple[Route, bool]] = {}
    for pattern, route, is_key in leaves(json.loads(text)):
        found.setdefault(pattern, (route, is_key))
    return found


def corrupted(text: str, route: Route, is_key: bool) -> str:
    """The bundle with one thing changed, and the etag of that."""
    document = json.loads(text)
    holder = document
    for key in route[:-1]:
        holder = holder[key]
    last, was = route[-1], holder[route[-1]]
    if is_key:
        holder[NOBODY] = holder.pop(last)
    else:
        holder[last] = not was if isinstance(was, bool) else was + 1 if isinstance(was, int) else NOBODY
    document["bundle_metadata"]["etag"] = etag(document)
    return canonical_json(document) + "\n"


@pytest.mark.parametrize("name", ["company", pytest.param("own", marks=pytest.mark.slow)])
def test_whatever_leads_nowhere_has_the_file_refused_whole(name: str) -> None:
    text = texts()[name]
    parse(text)
    known = kinds(texts()["company"]) if name == "own" else {}
    accepted, nameless, tried = [], [], 0
    for pattern, (route, is_key) in kinds(text).items():
        if pattern in known or is_among(pattern, (*ELSEWHERE, *VALUES, *IDLE)):
            continue
        tried += 1
        try:
            parse(corrupted(text, route, is_key))
            accepted.append(pattern)
        except BundleError as refused:
            if not any(str(word) in refused.message for word in (NOBODY, *route[-2:])) or "\n" in refused.message:
                nameless.append((pattern, refused.message))
    assert accepted == []
    assert nameless == []
    assert tried > 25


def test_a_value_that_its_fact_cannot_have_is_refused() -> None:
    text = texts()["company"]
    for pattern, (route, is_key) in kinds(text).items():
        if is_among(pattern, VALUES) and not is_key:
            document = json.loads(text)
            holder = document
            for key in route[:-1]:
                holder = holder[key]
            holder[route[-1]] = {"no": "value"}
            document["bundle_metadata"]["etag"] = etag(document)
            with pytest.raises(BundleError):
                parse(canonical_json(document) + "\n")


DELETED = [
    "conditional_rules.0",
    "compiled_paths.0",
    "constraints.0",
    "decision_nodes.0",
    "policies.POL-RENTAL-001",
    "graphs.POL-RENTAL-001",
    "graphs.POL-RENTAL-001.nodes.hours_late<=24",
    "graphs.POL-RENTAL-001.terminals.0",
    "variables.hours_late",
    "outcomes.late_fee",
    "vocabulary.actions.no_fee",
    "vocabulary.facts.hours_late",
    "vocabulary.outcomes.late_fee",
    "escalations.0.owners_to_notify.0",
    "conflicts.0.policy_a",
    "conflicts.0.resolution.winner",
    "dominance_rules.0.then.enforce",
    "priority_lattice.company",
]


@pytest.mark.parametrize("what", DELETED)
def test_whatever_is_gone_is_missed(what: str) -> None:
    document = json.loads(texts()["company"])
    holder, keys = document, [int(key) if key.isdigit() else key for key in what.split(".")]
    for key in keys[:-1]:
        holder = holder[key]
    holder.pop(keys[-1])
    document["bundle_metadata"]["etag"] = etag(document)
    with pytest.raises(BundleError):
        parse(canonical_json(document) + "\n")


def test_a_key_that_stands_twice_is_refused_at_any_depth() -> None:
    text = texts()["company"]
    for mark in ('"outcomes":{', '"rule_id":"R-RENTAL-001a"', '"source_commit":', '"etag":'):
        at = text.index(mark)
        key = mark.split(":")[0]
        doubled = f"{text[:at]}{key}:null,{text[at:]}"
        with pytest.raises(BundleError, match=f"the key `{json.loads(key)}` twice"):
            parse(doubled)


@each("value", ["NaN", "1e999", '"\\ud800"', "9" * 5_000, "[" * 5_000 + "]" * 5_000], ids=len)
def test_what_no_json_of_ours_holds_is_refused_and_no_crash(value: str) -> None:
    text = texts()["company"]
    with pytest.raises(BundleError):
        parse(text.replace('"source_commit":', f'"a":{value},"source_commit":', 1))


BROKEN = {  # file → what is written into a copy of the small company, and what must not be in its bundle
    "context/metrics/lost.yaml": ("name: lost\ntype: ratio\nnumerator: nothing\ndenominator: nothing\n", "lost"),
    "context/guides/rental.yaml": ("domain: rental\nentities: [nowhere]\n", "nowhere"),
    "context/glossary/gone.yaml": ("term: gone\nmeans: what is no more\nrefers_to: nowhere.column\n", "gone"),
}


def test_what_people_name_and_nobody_declares_stays_out_of_the_bundle(tmp_path: Path) -> None:
    from datetime import date

    from tests.conftest import copy_company

    root = copy_company(tmp_path / "root")
    for path, (content, _) in BROKEN.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(content)
    words = root / "policies/vocabulary.yaml"
    words.write_text(words.read_text().replace("scope: {", "scope: {regions: region_of_nobody, "))
    policy = root / "policies/rental/POL-RENTAL-002.yaml"
    policy.write_text(policy.read_text().replace("POL-RENTAL-001]", "POL-RENTAL-001, POL-RENTAL-999]"))
    day = date.fromisoformat(DAY)
    done = run(root, day, day)
    assert {"dangling-reference", "unknown-fact"} <= {finding.id for finding in done.findings}
    bundle = parse(bundle_text(done))
    assert "lost" not in bundle.context.metrics
    assert bundle.context.guides["rental"].entities == []
    assert "gone" not in bundle.context.glossary
    assert bundle.vocabulary.scope == {"product_categories": "bike_type"}
    assert bundle.overrides == {"POL-RENTAL-002": ["POL-RENTAL-001"]}
