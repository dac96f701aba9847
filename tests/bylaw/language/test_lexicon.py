"""The lexicon as it is written, and as it is kept to be read fast."""

from __future__ import annotations

import json

import pytest

from bylaw.language import lexicon


@pytest.fixture
def afresh():
    lexicon.lexicon.cache_clear()
    yield
    lexicon.lexicon.cache_clear()


def test_what_is_kept_as_json_is_what_is_written(request):
    read = lexicon.as_read(lexicon._FILE.read_bytes())
    assert json.loads(json.dumps(read)) == read
    text = json.dumps(read, ensure_ascii=False, separators=(",", ":")) + "\n"
    if request.config.getoption("--update-golden"):
        lexicon.READ.write_text(text, encoding="utf-8")
    assert lexicon.READ.read_text(encoding="utf-8") == text


def test_what_was_written_since_counts(tmp_path, monkeypatch, afresh):
    path = tmp_path / "lexicon.yaml"
    path.write_text(lexicon._FILE.read_text(encoding="utf-8") + "written_since: [now]\n", encoding="utf-8")
    monkeypatch.setattr(lexicon, "_FILE", path)
    assert "now" in lexicon.lexicon()["written_since"]
