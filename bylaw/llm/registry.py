"""The providers of language models, by the name they are configured with. `none` is the default.

`agents` is every model of `rules/agents.yaml`, each opened when a task is first its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from bylaw.errors import UsageError
from bylaw.llm.fleet import Fleet
from bylaw.llm.guarded import Candidate, Guard
from bylaw.llm.models import Model
from bylaw.llm.port import LLM, Completion, Deadline, NoAnswer, Prompt
from bylaw.llm.recorded import Recorded
from bylaw.llm.wanted import Wanted


@dataclass(frozen=True)
class Off:
    """No model: every path has a deterministic default, and that is taken."""

    name: str = "none"

    def complete(self, prompt: Prompt, deadline: Deadline) -> Completion:
        """Nothing is ever said. Raises NoAnswer."""
        raise NoAnswer("off")

    def close(self) -> None:
        """Nothing is held."""


def _recorded(wanted: Wanted) -> LLM:
    if wanted.folder is None:
        raise UsageError("recorded answers of a language model need a folder", "set BYLAW_LLM_FOLDER")
    return Recorded(wanted.folder, Model(wanted.given) if wanted.is_recording else None)


AGENTS = "agents"
PROVIDERS: Mapping[str, Callable[[Wanted], LLM]] = {
    "none": lambda _: Off(),
    "recorded": _recorded,
    "model": lambda wanted: Model(wanted.given),
}


def _agent(wanted: Wanted, candidate: Candidate) -> LLM:
    """One of the models that `rules/agents.yaml` names. Raises UsageError for what this deployment lacks."""
    name, given = candidate.agent, wanted.given
    own = replace(
        given, model=candidate.model, key=wanted.keys.get(name, given.key), url=wanted.urls.get(name, given.url)
    )
    if wanted.folder is None:
        return Model(own)
    return Recorded(wanted.folder / name, Model(own) if wanted.is_recording else None)


def open_llm(wanted: Wanted, clock: Callable[[], float]) -> Guard:
    """The provider that is *wanted*, guarded. Raises UsageError for one that there is not, or that lacks something."""
    if wanted.provider == AGENTS:
        return Fleet(partial(_agent, wanted), clock)
    provider = PROVIDERS.get(wanted.provider)
    if provider is None:
        known = ", ".join((*PROVIDERS, AGENTS))
        raise UsageError(f"`{wanted.provider}` is no provider of language models", f"BYLAW_LLM is one of {known}")
    return Guard(provider(wanted), clock)
