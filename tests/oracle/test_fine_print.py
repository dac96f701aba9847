"""The conformance suite: a row for every sentence of the fine print, a tiny repository and what the command says.

A row's title quotes the sentence. Its repository is a common vocabulary (`words` says what the row changes in it),
`policies` in a short form (id → what stands beside `policy_id` and `metadata`), and raw `files`. `decide`, `check`,
`diff` and `run` are calls with what must come back; lists and mappings of `check` name what must be among it.
"""

import json
from collections.abc import Mapping

import pytest

from tests.oracle.conftest import AT, SECTIONS, plain, written_out
from tests.rows import one_of

ROWS = [row for section in SECTIONS for row in section["rows"]]


def said_by(decision, key):
    """What a decision says under a row's short name."""
    if key in decision["outcomes"]:
        return decision["outcomes"][key]["action"]
    if key in ("fired", "lost"):
        return sorted({item["policy_id"] for item in decision[key]})
    if key == "conflicts":
        return [item["policies"] for item in decision[key]]
    if key == "missing":
        return sorted(decision["missing_facts"])
    return decision[key]


def fits(found, wanted):
    """Is everything that *wanted* names in *found*?"""
    if isinstance(wanted, Mapping):
        return isinstance(found, Mapping) and all(k in found and fits(found[k], v) for k, v in wanted.items())
    if isinstance(wanted, str) and wanted.startswith("…") and isinstance(found, str):
        return wanted[1:] in found
    return found == wanted


@pytest.mark.parametrize("row", one_of(3, ROWS), ids=[row["title"] for row in ROWS])
def test_the_command_does_what_the_sentence_says(row, tmp_path, command):
    root = written_out(row, tmp_path / "repository")
    for case in row.get("decide", ()):
        facts = json.dumps(plain(case["facts"]))
        code, out, err = command("decide", "--root", root, "--facts", facts, "--at", case.get("at", AT), "--json")
        assert code == case.get("exit", 0), err
        if code == 0:
            decision = json.loads(out)
            wanted = {key: value for key, value in case.items() if key not in ("facts", "at", "exit")}
            assert {key: said_by(decision, key) for key in wanted} == wanted, case
        assert code == 0 or case.get("says", "") in err
    for check in row["check"] if isinstance(row.get("check"), list) else [row["check"]] if "check" in row else []:
        code, out, err = command("check", "--root", root, "--at", check.get("at", AT), "--format", "json", "--all")
        found = json.loads(out)["findings"]
        errors = sorted(finding["id"] for finding in found if finding["severity"] == "error")
        assert errors == sorted(check.get("errors", [])), [(f["id"], f["path"], f["line"], f["message"]) for f in found]
        assert code == (1 if errors else 0), err
        for wanted in check.get("finds", []):
            assert any(fits(finding, wanted) for finding in found), (wanted, found)
        assert not {finding["id"] for finding in found} & set(check.get("without", [])), found
    if "diff" in row:
        before = written_out({**row, "policies": row["before"]}, tmp_path / "before")
        code, out, err = command("diff", before, root, "--at", AT, "--json")
        assert code == 0, err
        found = json.loads(out)
        assert fits(found, {key: value for key, value in row["diff"].items() if key != "changes"}), found
        assert len(found["changes"]) == len(row["diff"]["changes"]), found
        assert all(any(fits(change, wanted) for change in found["changes"]) for wanted in row["diff"]["changes"]), found
    for call in row.get("run", ()):
        words = [str(root / word[1:]) if word.startswith("@") else word for word in call["words"]]
        code, out, err = command(*words, *(() if call.get("bare") else ("--root", root)))
        assert code == call.get("exit", 0), (out, err)
        assert call.get("says", "") in err and call.get("prints", "") in out, (out, err)


def test_every_title_quotes_the_fine_print_once():
    assert len({row["title"] for row in ROWS}) == len(ROWS)
