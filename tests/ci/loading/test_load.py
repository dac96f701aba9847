"""A folder of files → a workspace: what is kept, what is told, and that no file hides another."""

import gc
from collections.abc import Callable
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

from bylaw.collection import no_collection
from bylaw.errors import UsageError
from ci.findings import Place
from ci.loading.file_kinds import kind_of_file
from ci.loading.load import Workspace, load
from tests.rows import each

FILE = yaml.safe_load((Path(__file__).parent / "load.yaml").read_text(encoding="utf-8"))
BASE, ROWS = FILE["base"], FILE["rows"]
ROOT = Path(__file__).parent.parent.parent.parent


def held(workspace: Workspace, what: str) -> list[str]:
    match what:
        case "policies":
            return [file.policy.policy_id for file in workspace.policies]
        case "cases":
            return [entry.case.name for entry in workspace.cases]
        case "facts":
            return sorted(workspace.vocabulary.facts)
        case "decisions" | "events":
            return sorted(getattr(workspace.decisions, what))
        case _:
            return sorted(getattr(workspace.context, what))


@pytest.mark.parametrize("row", ROWS, ids=[row["title"] for row in ROWS])
def test_every_problem_of_every_file_is_told_and_the_rest_is_kept(
    row: dict[str, Any], workspace_of: Callable[..., Workspace], told: Callable[..., list[dict[str, Any]]]
) -> None:
    workspace = workspace_of(BASE, row.get("files", {}))
    found = sorted(told(workspace, workspace.findings), key=lambda finding: str(finding["at"]))
    expected = sorted(row.get("told", []), key=lambda finding: str(finding["at"]))
    assert [(f["id"], f["at"]) for f in found] == [(e["id"], e["at"]) for e in expected], found
    for finding, wanted in zip(found, expected, strict=True):
        if "starts" in wanted:
            assert finding["says"].startswith(wanted["starts"])
        for key in ("says", "help", "related"):
            if key in wanted:
                assert finding[key] == wanted[key]
    for what, names in row.get("kept", {}).items():
        assert held(workspace, what) == names
    assert workspace.lost_words == set(row.get("lost", []))


def test_own_rules_and_packaged_ones_hold_together(workspace_of: Callable[..., Workspace]) -> None:
    workspace = workspace_of(BASE, {"rules/ci.yaml": "severities: {gap: error}\n"})
    assert workspace.rules.ci.severities == {"gap": "error"}
    assert workspace.rules.ci.expiring_within_days == 30
    assert workspace.rules.priorities.order


def test_places_have_lines_whether_the_file_could_be_read_or_not(workspace_of: Callable[..., Workspace]) -> None:
    workspace = workspace_of(BASE, {"policies/a.yaml": "a: [\n"})
    path = "policies/refund/POL-REFUND-001.yaml"
    assert workspace.position(workspace.place(path, "actions", 0, "type")) == (2, 18)
    assert workspace.position(workspace.place(path, "actions", 0, "type", on_key=True)) == (2, 12)
    assert workspace.position(Place("policies/a.yaml", ("a", 0))) == (1, 1)
    assert workspace.position(Place("gone.yaml", line=4)) == (4, 1)
    assert workspace.line(path, ("metadata", "owner")) == 3


def test_a_word_knows_its_file(workspace_of: Callable[..., Workspace]) -> None:
    workspace = workspace_of(BASE, {"policies/refund/vocabulary.yaml": "facts: {is_gift: {type: boolean}}\n"})
    assert workspace.path_of_word("facts", "is_gift") == "policies/refund/vocabulary.yaml"
    assert workspace.path_of_word("facts", "has_receipt") == "policies/vocabulary.yaml"
    assert workspace.path_of_word("facts", "nobody") == "policies/vocabulary.yaml"


def test_ids_of_files_that_do_not_fit_are_known_all_the_same(workspace_of: Callable[..., Workspace]) -> None:
    workspace = workspace_of(
        BASE,
        {
            "policies/refund/POL-REFUND-002.yaml": "policy_id: POL-REFUND-002\n",
            "policies/refund/POL-REFUND-003.yaml": "a: [\n",
            "policies/refund/other.yaml": "policy_id: [1]\n",
        },
    )
    assert workspace.policy_ids >= {"POL-REFUND-001", "POL-REFUND-002", "POL-REFUND-003"}
    assert [file.policy.policy_id for file in workspace.policies] == ["POL-REFUND-001"]


def test_the_order_of_folders_changes_nothing(tmp_path: Path, workspace_of: Callable[..., Workspace]) -> None:
    files = {f"policies/{name}.yaml": f"policy_id: {name}\n" for name in ("POL-B-001", "POL-A-001", "POL-C-001")}
    first = workspace_of(BASE, files)
    second = workspace_of(BASE, dict(reversed(files.items())))
    assert first.findings == second.findings
    assert list(first.sources) == list(second.sources)


def test_without_a_day_the_one_of_the_caller_holds(tmp_path: Path) -> None:
    (tmp_path / "rules").mkdir()
    assert load(tmp_path, today=date(2026, 1, 31)).at == date(2026, 1, 31)
    assert load(tmp_path, at=date(2025, 1, 1), today=date(2026, 1, 31)).at == date(2025, 1, 1)
    assert load(tmp_path).at is None


def test_a_folder_that_is_no_repository_is_wrong_usage(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds none of policies/, context/, rules/"):
        load(tmp_path)
    with pytest.raises(UsageError, match="is no folder"):
        load(tmp_path / "nowhere")
    (tmp_path / "file").write_text("x")
    with pytest.raises(UsageError, match="is no folder"):
        load(tmp_path / "file")


@each(
    ("path", "section"),
    [
        ("policies/vocabulary.yaml", "vocabulary"),
        ("policies/refund/vocabulary.json", "vocabulary"),
        ("policies/refund/eu/cases.yml", "cases"),
        ("policies/refund/my.cases.yaml", "policies"),
        ("policies/POL-A-001.yaml", "policies"),
        ("context/entities/orders.yaml", "entities"),
        ("context/entities/sales/orders.yaml", "entities"),
        ("context/calendar.yaml", "calendar"),
        ("context/calendar/calendar.yaml", None),
        ("context/decisions/events/one.yaml", "decisions"),
        ("context/decisions/bylaw/events/one.yaml", "decisions"),
        ("context/decisions/events/2024/one.yaml", None),
        ("rules/roles.yaml", "rules"),
        ("rules/more/roles.yaml", None),
        ("rules/rules.yaml", None),
    ],
)
def test_every_path_belongs_to_one_room_or_to_none(path: str, section: str | None) -> None:
    room = kind_of_file(path)
    assert (room.section if room else None) == section


@pytest.mark.parametrize("root", [ROOT, ROOT / "ci" / "template"], ids=["our own organisation", "a new repository"])
def test_what_we_ship_loads_clean(root: Path) -> None:
    workspace = load(root)
    assert [finding.message for finding in workspace.findings] == []
    assert workspace.policies
    assert workspace.cases


def test_a_repository_of_hostile_files_is_told_file_by_file(workspace_of: Callable[..., Workspace]) -> None:
    hostile: dict[str, str | bytes] = {
        "policies/a-2-mebibytes.yaml": b"a: " + b"x" * 2 * 1_048_576,
        "policies/b-binary.yaml": bytes(range(256)) * 100,
        "policies/c-empty.yaml": b"",
        "policies/d-nul.yaml": b"a: 1\x00\n",
        "policies/e-bomb.yaml": "a: &a [x]\nb: &b [*a, *a]\n",
        "policies/f-deep.yaml": "[" * 200_000,
        "policies/g-latin.yaml": "a: é\n".encode("latin-1"),
        "policies/h-tag.yaml": "!!python/object/apply:os.system ['id']\n",
        "policies/i-version.yaml": 'schema_version: "99"\n',
    }
    workspace = workspace_of(BASE, hostile)
    ids = {finding.at.path: finding.id for finding in workspace.findings}
    assert set(ids) == set(hostile)
    assert {path[9] for path, id in ids.items() if id == "unreadable-file"} == set("abdefgh")
    assert [file.policy.policy_id for file in workspace.policies] == ["POL-REFUND-001"]


@each("is_enabled", [True, False])
def test_the_collector_is_left_as_it_was_found(is_enabled: bool) -> None:
    was_enabled, before = gc.isenabled(), gc.get_threshold()
    try:
        (gc.enable if is_enabled else gc.disable)()
        with suppress(KeyError), no_collection():
            assert not gc.isenabled()
            raise KeyError
        assert (gc.isenabled(), gc.get_threshold(), gc.get_freeze_count()) == (is_enabled, before, 0)
    finally:
        (gc.enable if was_enabled else gc.disable)()
