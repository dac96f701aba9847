"""Bad input from outside: every fault is told with its place in one run, nothing crashes, nothing half-written stays.

`bad_input.yaml` holds the files and what is told about them. What needs more than files stands below.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.fakes.forked import Forked
from tests.rows import each

FILE = yaml.safe_load((Path(__file__).parent / "bad_input.yaml").read_text(encoding="utf-8"))
BASE, ROWS = FILE["base"], FILE["rows"]
SHARED = [row for row in ROWS if not row.get("alone")]
ALONE = [row for row in ROWS if row.get("alone")]
DAY = "2026-06-01"
SILENT: dict[str, int] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
Files = Mapping[str, Any]
Command = Callable[..., Any]


def write_files(root: Path, *layers: Files) -> Path:
    """Write the files of all *layers* under *root*, a later one over an earlier."""
    for path, content in {path: content for layer in layers for path, content in layer.items()}.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, str):
            target.write_bytes(content.encode())
        elif "hex" in content:
            target.write_bytes(bytes.fromhex(content["hex"]))
        elif "link" in content:
            target.symlink_to(content["link"])
        else:
            target.write_bytes(_repeated(content).encode())
    return root


def _repeated(content: Mapping[str, Any]) -> str:
    many = range(content["times"])
    body = "".join(content["numbered"].replace("{}", str(i)) for i in many) if "numbered" in content else ""
    return content.get("before", "") + (body or content["repeat"] * content["times"]) + content.get("after", "")


def told(findings: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return sorted((f["id"], f"{f['path']}:{f['line']}:{f['column']}") for f in findings if f["severity"] == "error")


def expected(rows: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return sorted((wanted["id"], wanted["at"]) for row in rows for wanted in row.get("told", []))


def hold(row: Mapping[str, Any], findings: list[dict[str, Any]]) -> None:
    """Every finding of the row is there once, in the words of the row."""
    for wanted in row.get("told", []):
        (found,) = [
            f for f in findings if (f["id"], f"{f['path']}:{f['line']}:{f['column']}") == (wanted["id"], wanted["at"])
        ]
        assert wanted.get("says", "") in found["message"]
        assert wanted.get("help", "") in (found["help"] or "")
        assert found["fingerprint"]
        assert found["message"][0] != found["message"][0].upper() or not found["message"][0].isalpha()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One repository with the faults of all rows at once."""
    return write_files(tmp_path_factory.mktemp("bad"), BASE, *(row["files"] for row in SHARED))


@pytest.fixture(scope="module")
def findings(shared: Path, call: Command) -> list[dict[str, Any]]:
    done = call("check", "--root", shared, "--format", "json", "--at", DAY)
    assert (done.code, done.err) == (1, "")
    listed: list[dict[str, Any]] = done.json["findings"]
    return listed


@each("row", SHARED, ids=[row["title"] for row in SHARED])
def test_the_fault_is_told_at_its_place(row: dict[str, Any], findings: list[dict[str, Any]]) -> None:
    mine = [f for f in findings if f["path"] in row["files"]]
    assert told(mine) == expected([row])
    hold(row, mine)


def test_every_fault_says_what_to_do_next(findings: list[dict[str, Any]]) -> None:
    assert [f["message"] for f in findings if f["severity"] != "notice" and not f["help"]] == []


def test_no_fault_makes_another(findings: list[dict[str, Any]]) -> None:
    assert told(findings) == expected(SHARED)


def test_people_are_told_the_same(shared: Path, call: Command, findings: list[dict[str, Any]]) -> None:
    done = call("check", "--root", shared, "--all", "--at", DAY)
    assert (done.code, done.err) == (1, "")
    for id, at in expected(SHARED):
        assert f"error[{id}]: " in done.out
        assert f"  --> {at}\n" in done.out
    assert "Traceback" not in done.out
    assert not {char for char in done.out if char != "\n" and not char.isprintable()}


@pytest.mark.parametrize("row", ALONE, ids=[row["title"] for row in ALONE])
def test_the_fault_is_told_alone(row: dict[str, Any], tmp_path: Path, call: Command) -> None:
    done = call("check", "--root", write_files(tmp_path, BASE, row["files"]), "--format", "json", "--at", DAY)
    assert (done.code, done.err) == (1, "")
    assert told(done.json["findings"]) == expected([row])
    hold(row, done.json["findings"])
    test_every_fault_says_what_to_do_next(done.json["findings"])


def test_nothing_is_compiled_from_files_that_do_not_fit(shared: Path, tmp_path: Path, bylaw: Command) -> None:
    done = bylaw("compile", "--root", shared, "-o", tmp_path / "out", "--at", DAY)
    assert done.code == 1
    assert done.err.endswith("nothing was written: correct what cannot be read first\n")
    assert not (tmp_path / "out").exists()


# ---- calls that are wrong -------------------------------------------------------------------------------------------


CALLS: list[tuple[list[str], str]] = [
    (["check", "--root", "nowhere"], "`nowhere` is no folder"),
    (["check", "--root", "file"], "is a file"),
    (["check", "--root", "empty"], "holds none of policies/, context/, rules/"),
    (["check", "--root", "shop", "--base", "main"], "git does not know `main`"),
    (["check", "--root", "shop", "--base", "--output=x"], "git does not know"),
    (["check", "--root", "shop", "--format", "xml"], "xml"),
    (["check", "--root", "shop", "--at", "2026-02-30"], "2026-02-30"),
    (["check", "--rot", "shop"], "--rot"),
    (["chekc"], "did you mean `check`?"),
    (["compile", "--root", "shop"], "--output"),
    (["compile", "--root", "shop", "-o", "shop"], "into the repository it is compiled from"),
    (["compile", "--root", "shop", "-o", "shop/policies"], "into the repository it is compiled from"),
    (["compile", "--root", "shop", "-o", "file"], "is a file"),
    (["compile", "--root", "shop", "-o", "file/deeper"], "file"),
    (["decide", "--root", "shop"], "--facts"),
    (["decide", "--root", "shop", "--bundle", "b.json", "--facts", "{}"], "two sources"),
    (["decide", "--bundle", "b.json", "--facts", "{}"], "there is no bundle at `b.json`"),
    (["decide", "--bundle", "empty", "--facts", "{}"], "empty"),
    (["explain", "POL-NOBODY-001", "--root", "shop"], "nothing here is called"),
    (["sql", "check", "--root", "nowhere", "select 1"], "nowhere"),
    (["init", "shop"], "shop"),
    (["init", "file"], "file"),
]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with a repository, a file, and an empty folder."""
    write_files(tmp_path / "shop", BASE)
    (tmp_path / "file").write_text("a file\n")
    (tmp_path / "empty").mkdir()
    return tmp_path


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(("words", "says"), CALLS, ids=[" ".join(words) for words, _ in CALLS])
def test_a_wrong_call_says_what_is_wrong_and_writes_nothing(
    words: list[str], says: str, place: Path, call: Command
) -> None:
    before = snapshot(place)
    done = call(*words, cwd=place)
    assert (done.code, done.out) == (2, ""), done.err
    assert says in done.err
    assert "Traceback" not in done.err
    assert snapshot(place) == before


FACTS = [
    ("not JSON", "has_receipt: true", "not a JSON object"),
    ("a list", "[1, 2]", "not a JSON object"),
    ("nothing", "", "not a JSON object"),
    ("not a number", '{"amount": NaN}', "`amount`"),
    ("no end", '{"amount": Infinity}', "`amount`"),
    ("no end below", '{"amount": -Infinity}', "`amount`"),
    ("a huge exponent", '{"amount": 1e999999999}', "`amount`"),
    ("a million digits", '{"amount": ' + "9" * 100_000 + "}", "`amount`"),
    ("a fact twice", '{"amount": 1, "amount": 2}', "twice"),
    ("a fact nobody declared", '{"amont": 1}', "did you mean `amount`?"),
    ("a word for a number", '{"amount": "much"}', "`much` is not a number"),
    ("true for a number", '{"amount": true}', "`true` is not a number"),
    ("a mapping for a flag", '{"has_receipt": {}}', "`has_receipt`"),
    ("a list for a word", '{"region": ["EU"]}', "`region`"),
    ("a value that does not exist", '{"region": "Moon"}', "its values are US, EU"),
    ("below the minimum", '{"days_since_purchase": -1}', "the minimum of `days_since_purchase`"),
    ("a day that does not exist", '{"delivered_on": "2026-02-30"}', "not a date"),
    ("brackets without end", "[" * 100_000, "not a JSON object"),
    ("a file that is not there", "@nowhere.json", "`nowhere.json` cannot be read"),
    ("a file that is no text", "@binary", "`binary` cannot be read"),
]


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory, call: Command) -> Path:
    root = write_files(tmp_path_factory.mktemp("plain") / "root", BASE)
    done = call("compile", "--root", root, "-o", root.parent / "out", "--at", DAY)
    assert done.code == 0, done.err
    return root.parent / "out" / "compiled_policy_bundle.json"


@pytest.mark.parametrize(("text", "says"), [row[1:] for row in FACTS], ids=[row[0] for row in FACTS])
def test_facts_that_are_none_are_wrong_usage(text: str, says: str, bundle: Path, tmp_path: Path, call: Command) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    done = call("decide", "--bundle", bundle, "--facts", text, "--json", cwd=tmp_path)
    assert (done.code, list(json.loads(done.out))) == (2, ["error"]), done.err
    assert says in done.err
    assert len(done.err) < 500
    assert "Traceback" not in done.err


def test_null_says_that_a_fact_is_unknown(bundle: Path, call: Command) -> None:
    nothing = call("decide", "--bundle", bundle, "--facts", "{}", "--json")
    null = call("decide", "--bundle", bundle, "--facts", '{"has_receipt": null}', "--json")
    assert (null.code, null.json) == (0, nothing.json)
    assert null.json["missing_facts"] == ["has_receipt"]


# ---- bundles that may not be served ---------------------------------------------------------------------------------


def test_a_bundle_with_one_byte_changed_is_refused(bundle: Path, tmp_path: Path, call: Command) -> None:
    text = bundle.read_bytes()
    for at in (1, len(text) // 3, len(text) // 2, len(text) - 3):
        changed = tmp_path / "changed.json"
        changed.write_bytes(text[:at] + bytes([text[at] ^ 1]) + text[at + 1 :])
        done = call("decide", "--bundle", changed, "--facts", "{}", "--json")
        assert (done.code, list(json.loads(done.out))) == (2, ["error"]), at
        assert done.err.startswith("error: ")
        assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "not a JSON document"),
        (b"[]", "not a compiled policy bundle"),
        (b'{"schema_version": "1.0"}', "not a compiled policy bundle"),
        (b'{"schema_version": "9.9", "bundle_metadata": {}}', "schema version `9.9`"),
        (b'{"schema_version": "1.0", "bundle_metadata": {"etag": "sha256:0"}}', "etag"),
        (b"\xff\xfe{}", "cannot be read"),
        (b"[" * 100_000, "not a JSON document"),
        (b'{"bundle_metadata": {}, "schema_version": NaN}', "not a JSON document"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_bundle_that_is_none_is_refused(content: bytes, says: str, tmp_path: Path, call: Command) -> None:
    (tmp_path / "b.json").write_bytes(content)
    done = call("decide", "--bundle", tmp_path / "b.json", "--facts", "{}")
    assert (done.code, done.out) == (2, "")
    assert says in done.err
    assert "Traceback" not in done.err


# ---- writing --------------------------------------------------------------------------------------------------------


def test_a_compile_that_is_killed_leaves_the_old_bundle_whole(company_copy: Path, tmp_path: Path) -> None:
    """Killed at any moment, the folder holds the old bundle or the new one, readable."""
    from bylaw.bundle import read

    out = tmp_path / "out"
    command = ("-m", "bylaw.cli", "compile", "--root", company_copy, "-o", out, "--at", DAY)
    assert Forked(*command, **SILENT).wait() == 1
    etags = {read(out / "compiled_policy_bundle.json").bundle_metadata.etag}
    policy = company_copy / "policies/rental/POL-RENTAL-002.yaml"
    policy.write_text(policy.read_text().replace("up to 3 hours", "up to three hours"))
    for seconds in (0.05, 0.15, 0.25, 0.35, 0.45, 0.6):
        running = Forked(*command, **SILENT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            running.wait(seconds)
        running.kill()
        running.wait()
        etags.add(read(out / "compiled_policy_bundle.json").bundle_metadata.etag)
    assert Forked(*command, **SILENT).wait() == 1
    etags.add(read(out / "compiled_policy_bundle.json").bundle_metadata.etag)
    assert len(etags) == 2


def test_two_compiles_at_once_into_one_folder_leave_one_whole_bundle(company_copy: Path, tmp_path: Path) -> None:
    from bylaw.bundle import read

    out = tmp_path / "out"
    command = ("-m", "bylaw.cli", "compile", "--root", company_copy, "-o", out, "--at", DAY)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    running = [Forked(*command, **pipes) for _ in range(3)]
    said = [process.communicate()[1] for process in running]
    ended = [(process.wait(), err) for process, err in zip(running, said, strict=True)]
    assert [code for code, _ in ended] == [1, 1, 1], ended
    assert len(read(out / "compiled_policy_bundle.json").policies) == 10
    assert sorted(path.name for path in out.iterdir()) == ["compiled_policy_bundle.json", "policies"]
    assert len(list((out / "policies").iterdir())) == 10


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read and write everything")
def test_a_root_that_may_not_be_read_and_a_folder_that_may_not_be_written(place: Path, bylaw: Command) -> None:
    (place / "shop/policies").chmod(0)
    (place / "empty").chmod(0o500)
    try:
        unread = bylaw("check", "--root", "shop", "--format", "json", cwd=place)
        assert (unread.code, unread.json["findings"][0]["id"]) == (1, "unreadable-file")
        (place / "shop/policies").chmod(0o700)
        unwritten = bylaw("compile", "--root", "shop", "-o", "empty/out", cwd=place)
        assert unwritten.code == 2
        assert "Traceback" not in unwritten.err
    finally:
        (place / "shop/policies").chmod(0o700)
        (place / "empty").chmod(0o700)


# ---- names and kinds of files that no row can hold ------------------------------------------------------------------


def test_a_name_that_is_no_text_and_a_pipe_are_told(place: Path, bylaw: Command) -> None:
    folder = os.fsencode(place / "shop/policies/refund")
    Path(os.fsdecode(folder + b"/POL-\xff-002.yaml")).write_bytes(b"a: [\n")
    os.mkfifo(folder + b"/POL-REFUND-003.yaml")
    Path(os.fsdecode(folder + b"/POL-\x1b[2J.yaml")).write_bytes(b"")
    done = bylaw("check", "--root", "shop", "--format", "json", cwd=place)
    assert told(done.json["findings"]) == [
        ("schema", "policies/refund/POL-\x1b[2J.yaml:1:1"),
        ("unreadable-file", "policies/refund/POL-REFUND-003.yaml:1:1"),
        ("unreadable-file", "policies/refund/POL-\\xff-002.yaml:1:5"),
    ]
    shown = bylaw("check", "--root", "shop", cwd=place)
    assert (shown.code, shown.err) == (1, "")
    assert "\x1b" not in shown.out
    assert "POL-\\xff-002.yaml" in shown.out


@pytest.mark.parametrize("verb", ["explain POL-RENTAL-004", "list policies", "list owners"])
def test_no_verb_lets_a_policy_steer_the_terminal(verb: str, company_copy: Path, call: Command) -> None:
    policy = company_copy / "policies/rental/POL-RENTAL-004.yaml"
    policy.write_text(re.sub("owner: .*", r'owner: "Desk \\e[31m\\u202E"', policy.read_text(), count=1))
    done = call(*verb.split(), "--root", company_copy)
    assert r"\u001b[31m\u202e" in done.out, done.err
    assert not {"\x1b", "\u202e"} & {*done.out}


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_a_terminal_of_any_encoding_shows_the_findings(encoding: str, place: Path, bylaw: Command) -> None:
    policy = place / "shop/policies/refund/POL-REFUND-001.yaml"
    policy.write_text(policy.read_text().replace("has_receipt", "hat_Quittung_日本"))
    done = bylaw("check", "--root", "shop", cwd=place, PYTHONIOENCODING=encoding, PYTHONUTF8="0")
    assert done.code == 1, done.err
    assert "error[unknown-fact]" in done.out
    assert "Traceback" not in done.err
