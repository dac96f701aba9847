"""Completions played back by the fingerprint of their prompt: for tests, for replay, and for trying without a model.

A folder holds one file a prompt, to be read and reviewed like any other file.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from bylaw.canonical import fingerprint, write_atomically
from bylaw.llm.port import LLM, Completion, Deadline, NoAnswer, Prompt, Reason


@dataclass(frozen=True)
class Recorded:
    """The recordings in *folder*; what is not there is asked of *source*, where there is one, and written down."""

    folder: Path
    source: LLM | None = None

    @property
    def name(self) -> str:
        """The name of what is recorded from, else `recorded`."""
        return self.source.name if self.source else "recorded"

    def complete(self, prompt: Prompt, deadline: Deadline) -> Completion:
        """What was recorded for *prompt*. Raises NoAnswer."""
        path = self.folder / f"{prompt.id}-{prompt.fingerprint}.json"
        found = _read(path, prompt)
        if found is not None:
            return found
        if self.source is None:
            raise NoAnswer("unrecorded", path.name)
        completion = self.source.complete(prompt, deadline)
        document = {"prompt": prompt.document(), "completion": completion.document()}
        write_atomically(path, json.dumps(document, indent=2, ensure_ascii=False, sort_keys=True) + "\n")
        return completion

    def close(self) -> None:
        """Close the source."""
        if self.source is not None:
            self.source.close()


def _read(path: Path, prompt: Prompt) -> Completion | None:
    """The completion in *path*, None where there is no file. A file that is not of this prompt is no answer."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        if fingerprint(document["prompt"]) != prompt.fingerprint:
            raise NoAnswer("unreadable", path.name)
        said = document["completion"]
        text, model = said["text"], said["model"]
    except FileNotFoundError:
        return None
    except (OSError, ValueError, LookupError, TypeError):
        raise NoAnswer("unreadable", path.name) from None
    if not isinstance(text, str) or not isinstance(model, str):
        raise NoAnswer("unreadable", path.name)
    return Completion(text, model)


@dataclass(frozen=True)
class Replayed:
    """The exchanges of one answer as they were kept: the same prompt ends as it ended then, whether well or not."""

    exchanges: Mapping[str, Mapping[str, Any]]
    name: str = "replayed"

    @classmethod
    def of(cls, papers: Iterable[Mapping[str, Any]]) -> Replayed:
        """Those of *papers*, each as `Exchange.paper` made it, under the name of the model that spoke then."""
        exchanges = {str(paper["fingerprint"]): paper for paper in papers}
        spoke = [paper["completion"]["model"] for paper in exchanges.values() if paper.get("completion")]
        return cls(exchanges, *spoke[:1])

    def complete(self, prompt: Prompt, deadline: Deadline) -> Completion:
        """What was said then. Raises NoAnswer, for the reason of then."""
        paper = self.exchanges.get(prompt.fingerprint)
        if paper is None:
            raise NoAnswer("unrecorded", prompt.fingerprint)
        said = paper.get("completion")
        if said is not None:
            return Completion(said["text"], said["model"])
        reason: Reason = paper["error"] if paper.get("error") in get_args(Reason) else "unrecorded"
        raise NoAnswer(reason)

    def close(self) -> None:
        """Nothing is held."""
