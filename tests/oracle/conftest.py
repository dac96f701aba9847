"""Tiny repositories on the disk from rows, and the command in this process."""

import json
import sys
from datetime import date
from pathlib import Path

import pytest
import yaml

from bylaw.cli import main

_DATA = yaml.safe_load(Path(__file__).with_name("fine_print.yaml").read_text(encoding="utf-8"))
VOCABULARY, SECTIONS = _DATA["vocabulary"], _DATA["sections"]
AT = "2026-06-15"


def plain(value):
    """YAML's own dates back as people write them in JSON."""
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value


def vocabulary(words):
    """The common vocabulary with the row's own words; null takes one away."""
    merged = {**VOCABULARY}
    for section, entries in words.items():
        if isinstance(entries, dict) and isinstance(merged.get(section), dict):
            entries = {k: v for k, v in {**merged[section], **entries}.items() if v is not None}
        merged[section] = entries
    return merged


def policy(id_, written):
    """A whole policy from its short form."""
    domain = id_.removeprefix("POL-").removeprefix("IMP-").rpartition("-")[0].lower()
    metadata = {"source": "handbook", "owner": "Support", "domain": domain, **written.get("metadata", {})}
    return {"policy_id": id_, **written, "metadata": metadata}


def written_out(row, root):
    """The row's files under *root*."""
    files = {"policies/vocabulary.yaml": vocabulary(row.get("words", {}))} if row.get("words") != "none" else {}
    for id_, body in row.get("policies", {}).items():
        whole = policy(id_, body)
        files[f"policies/{whole['metadata']['domain']}/{id_}.yaml"] = whole
    files.update(row.get("files", {}))
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, str) and content.startswith("bytes:"):
            path.write_bytes(bytes.fromhex(content.removeprefix("bytes:")))
        elif isinstance(content, str):
            path.write_text(content, encoding="utf-8")
        else:
            path.write_text(json.dumps(plain(content), indent=1), encoding="utf-8")
    return root


@pytest.fixture
def command(monkeypatch, capsys):
    """The command in this process: exit code, standard output, standard error."""

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["bylaw", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        return ended.value.code or 0, out, err

    return run
