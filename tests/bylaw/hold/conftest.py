"""The words of a pottery studio, and a day to ask on."""

from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

from bylaw.authored.context import Context
from bylaw.authored.vocabulary import Vocabulary
from bylaw.hold.declared import index_vocabulary
from bylaw.hold.hold import Ground
from bylaw.hold.item import TextKind
from bylaw.hold.values import Clock
from bylaw.hold.words import Index
from bylaw.semantic.words import index_context

HERE = Path(__file__).parent
TODAY = date(2026, 11, 20)


def read_yaml(name: str) -> Any:
    return yaml.safe_load((HERE / name).read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def vocabulary() -> Vocabulary:
    return Vocabulary.model_validate(read_yaml("vocabulary.yaml"))


@pytest.fixture(scope="session")
def indexes(vocabulary: Vocabulary) -> Mapping[TextKind, Index]:
    words = index_vocabulary(vocabulary, {"POL-STUDIO-001": ["House rules, page 3"]})
    data = index_context(Context.model_validate(read_yaml("context.yaml")), {"studio"})
    return {"policy": words, "answer": words, "data": data}


@pytest.fixture(scope="session")
def ground(indexes: Mapping[TextKind, Index]) -> Any:
    def make(kind: TextKind, query: str = "") -> Ground:
        return Ground(kind, indexes[kind], Clock(TODAY), query)

    return make
