"""Which language model somebody wants, as the environment names it: a command that asks no model loads no more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Given:
    """Where a model is. `model` is `SERVICE:NAME`, as in `openai:gpt-5` or `ollama:qwen3`."""

    model: str
    url: str | None = field(default=None, repr=False)  # may hold a password
    key: str | None = field(default=None, repr=False)
    region: str | None = None  # Bedrock
    api_version: str | None = None  # Azure


@dataclass(frozen=True)
class Wanted:
    """Which model is to be asked. `folder` holds recordings; `is_recording` adds to them what a model says."""

    provider: str = "none"
    given: Given = field(default_factory=lambda: Given(""))
    folder: Path | None = None
    is_recording: bool = False
    keys: Mapping[str, str] = field(default_factory=dict, repr=False)  # by agent, where one is not for all
    urls: Mapping[str, str] = field(default_factory=dict, repr=False)  # may hold a password

    @property
    def is_any(self) -> bool:
        """Is there a model to ask?"""
        return self.provider != "none"
