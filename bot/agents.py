"""Which of the registered models may take a task, in the words of the port."""

from __future__ import annotations

from contextlib import suppress

from bylaw.authored.machines.agents import Agent, Agents, Task
from bylaw.errors import UsageError
from bylaw.llm.fleet import Fleet
from bylaw.llm.guarded import Candidate, Errand, Guard


def open_all(fleet: Guard, agents: Agents) -> None:
    """Open every registered model now, so that no question waits for it; one that cannot be is passed over later."""
    if not isinstance(fleet, Fleet):
        return
    for name, agent in agents.agents.items():
        with suppress(UsageError):
            fleet.guard_of(_candidate(name, agent))


def errand(agents: Agents, task: Task) -> Errand:
    """*task* with the models that `rules/agents.yaml` has for it, the cheapest first."""
    able = agents.able(task)
    limit = agents.tasks[task].latency_ms if able else 0
    return Errand(task, tuple(_candidate(name, agent) for name, agent in able.items()), limit)


def _candidate(name: str, agent: Agent) -> Candidate:
    return Candidate(name, agent.model, agent.latency_ms, agent.seconds, agent.answer_tokens)
