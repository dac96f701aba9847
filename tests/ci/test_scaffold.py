"""A new policy repository: complete, written once, never over somebody's files."""

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from bylaw.errors import UsageError
from ci import pipeline, scaffold


def contents(directory: Path) -> dict[str, str]:
    return {
        path.relative_to(directory).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }


def test_a_new_repository_has_every_part(tmp_path: Path) -> None:
    written = scaffold.init(tmp_path / "new")
    names = {path.as_posix() for path in written}
    assert {
        "README.md",
        ".gitignore",
        ".github/CODEOWNERS",
        ".github/workflows/bundle.yml",
        ".github/workflows/policies-command.yml",
        ".github/workflows/policies-comment.yml",
        ".github/workflows/policies.yml",
        ".pre-commit-config.yaml",
        "policies/vocabulary.yaml",
        "policies/refund/POL-REFUND-001.yaml",
        "policies/refund/POL-REFUND-002.yaml",
        "policies/refund/cases.yaml",
        "context/entities/orders.yaml",
        "context/metrics/revenue.yaml",
        "rules/roles.yaml",
        "rules/ci.yaml",
    } <= names
    assert any(name.startswith("context/decisions/decisions/") for name in names)
    assert set(contents(tmp_path / "new")) == names


def test_the_result_is_sorted_and_the_same_every_time(tmp_path: Path) -> None:
    first, second = scaffold.init(tmp_path / "a"), scaffold.init(tmp_path / "b")
    assert first == second == sorted(first)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")


def test_without_the_example_nothing_of_it_is_left_and_it_checks_clean(tmp_path: Path) -> None:
    written = scaffold.init(tmp_path / "bare", is_bare=True)
    whole = {path.as_posix() for path in scaffold.init(tmp_path / "whole")}
    left_out = whole - {path.as_posix() for path in written}
    assert left_out == {name for name in whole if name.startswith(scaffold.EXAMPLE)} and left_out
    said = "".join(text for name, text in contents(tmp_path / "bare").items() if not name.startswith("schemas/"))
    assert not any(word in said for word in ("refund", "shop", "receipt", "lamp"))
    done = pipeline.run(tmp_path / "bare", None, date(2026, 11, 20))
    assert [finding.id for finding in done.findings] == []


def test_no_temporary_file_stays_behind(tmp_path: Path) -> None:
    written = scaffold.init(tmp_path / "new")
    assert len(contents(tmp_path / "new")) == len(written)


def test_an_existing_empty_folder_is_fine(tmp_path: Path) -> None:
    assert scaffold.init(tmp_path)


def test_a_folder_that_was_only_git_inited_counts_as_empty(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    assert scaffold.init(tmp_path)


def test_a_folder_that_holds_something_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(UsageError, match=r"is not empty: it holds `notes.txt`") as caught:
        scaffold.init(tmp_path)
    assert caught.value.exit_code == 2
    assert caught.value.help is not None
    assert "--force" in caught.value.help
    assert contents(tmp_path) == {"notes.txt": "mine"}


def test_a_file_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("mine", encoding="utf-8")
    for force in (False, True):
        with pytest.raises(UsageError, match="is a file"):
            scaffold.init(tmp_path / "taken", force=force)


def test_force_adds_what_is_missing_and_overwrites_nothing(tmp_path: Path) -> None:
    (tmp_path / "policies").mkdir()
    (tmp_path / "policies" / "vocabulary.yaml").write_text("facts: {}\n", encoding="utf-8")
    (tmp_path / "README.md").write_text("ours\n", encoding="utf-8")
    written = {path.as_posix() for path in scaffold.init(tmp_path, force=True)}
    assert "policies/vocabulary.yaml" not in written
    assert "README.md" not in written
    assert "rules/ci.yaml" in written
    assert (tmp_path / "policies" / "vocabulary.yaml").read_text(encoding="utf-8") == "facts: {}\n"
    assert (tmp_path / "README.md").read_text(encoding="utf-8") == "ours\n"


def test_force_a_second_time_writes_nothing_and_says_so(tmp_path: Path) -> None:
    scaffold.init(tmp_path)
    assert scaffold.init(tmp_path, force=True) == []
    assert scaffold.summary(tmp_path, []).startswith("nothing to add")


def test_a_file_where_a_folder_must_go_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "policies").write_text("not a folder", encoding="utf-8")
    with pytest.raises(UsageError, match="cannot write"):
        scaffold.init(tmp_path, force=True)


def test_the_summary_names_files_and_commands_that_work_from_here(tmp_path: Path) -> None:
    written = scaffold.init(tmp_path / "new")
    text = scaffold.summary(tmp_path / "new", written)
    assert "  policies/refund/cases.yaml" in text
    assert f"bylaw check --root {tmp_path / 'new'}" in text
    assert "schemas/vocabulary" not in text
    assert "bylaw check\n" in scaffold.summary(Path(), written)


def test_the_template_names_no_machine_and_no_secret() -> None:
    for path, text in scaffold.template_files():
        assert not path.is_absolute()
        assert "/home/" not in text
        assert "/tmp/" not in text


def test_every_yaml_file_points_the_editor_at_a_schema_beside_it() -> None:
    files = dict(scaffold.template_files())
    for path, text in sorted(files.items()):
        if path.suffix != ".yaml" or path.name.startswith("."):
            continue
        first = text.splitlines()[0]
        up = "../" * (len(path.parts) - 1)
        assert first.startswith(f"# yaml-language-server: $schema={up}schemas/"), path
        assert first.endswith(".schema.json"), path


TODAY = date(2026, 11, 20)


def test_a_new_repository_checks_clean(tmp_path: Path) -> None:
    scaffold.init(tmp_path / "new")
    done = pipeline.run(tmp_path / "new", None, TODAY)
    assert [(finding.id, finding.message) for finding in done.findings] == []
    assert len(done.workspace.policies) == 2
    assert len(done.workspace.cases) == 9
    assert set(done.workspace.context.entities) == {"orders"}
    assert set(done.workspace.context.metrics) == {"revenue"}
    assert len(done.workspace.decisions.decisions) == 1
    assert done.workspace.rules.roles.schemas_of("anybody", ["shop", "hr"]) == {"shop"}
    assert done.workspace.rules.ci.severities == {"gap": "error"}


def test_a_new_repository_compiles_to_the_same_bytes_each_time(tmp_path: Path) -> None:
    texts = []
    for name in ("a", "b"):
        scaffold.init(tmp_path / name)
        _, path = pipeline.build(tmp_path / name, tmp_path / f"{name}-out", TODAY)
        texts.append(path.read_bytes())
    assert texts[0] == texts[1]


def test_the_contradiction_that_the_readme_suggests_is_found(tmp_path: Path) -> None:
    scaffold.init(tmp_path)
    path = tmp_path / "policies" / "refund" / "POL-REFUND-002.yaml"
    path.write_text(path.read_text("utf-8").replace("action: ask_manager", "action: store_credit"), encoding="utf-8")
    done = pipeline.run(tmp_path, None, TODAY)
    conflicts = [finding for finding in done.findings if finding.id == "conflict"]
    assert conflicts
    assert all(set(finding.policies) == {"POL-REFUND-001", "POL-REFUND-002"} for finding in conflicts)
    assert conflicts[0].severity == "error"
    assert conflicts[0].counterexample is not None
    assert conflicts[0].counterexample["facts"]["purchase_amount"] > 500


def test_taking_the_last_word_out_leaves_a_gap_that_fails(tmp_path: Path) -> None:
    scaffold.init(tmp_path)
    path = tmp_path / "policies" / "refund" / "POL-REFUND-001.yaml"
    text = path.read_text("utf-8")
    start, end = text.index("  - type: fallback\n    action: reject"), text.index("metadata:")
    path.write_text(text[:start] + text[end:], encoding="utf-8")
    found = {finding.id: finding.severity for finding in pipeline.run(tmp_path, None, TODAY).findings}
    assert found.get("gap") == "error"
    assert found.get("failing-case") == "error"


def test_without_its_rules_a_repository_runs_on_the_packaged_numbers(tmp_path: Path) -> None:
    scaffold.init(tmp_path)
    for path in (tmp_path / "rules").iterdir():
        path.unlink()
    (tmp_path / "rules").rmdir()
    done = pipeline.run(tmp_path, None, TODAY)
    assert done.findings == ()
    assert done.workspace.rules.roles.schemas_of("anybody", ["shop"]) == {"shop"}


def test_with_the_name_of_an_organisation_no_place_waits_for_one(tmp_path: Path) -> None:
    place = scaffold.PLACE.encode()
    assert [path for path in scaffold.init(tmp_path / "bare") if place in (tmp_path / "bare" / path).read_bytes()]
    written = scaffold.init(tmp_path / "filled", organisation="acme")
    assert not [path for path in written if place in (tmp_path / "filled" / path).read_bytes().lower()]


def test_the_command_takes_an_organisation_and_says_where_one_is_missing(tmp_path: Path, call: Any) -> None:
    assert "`--org NAME` fills it in" in call("init", tmp_path / "bare").out
    assert "--org NAME" not in call("init", tmp_path / "filled", "--org", "acme").out
    assert call("init", tmp_path / "none", "--org", "a b").code == 2
    assert call("check", "--root", tmp_path / "filled").code == 0
