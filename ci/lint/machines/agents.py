"""The tasks of `rules/agents.yaml` find a model that is able and quick enough, where any model is registered."""

from __future__ import annotations

from collections.abc import Iterator

from bylaw.authored.machines.agents import Agents, TaskNeeds
from ci.findings import Finding, Place
from ci.loading.load import Workspace
from ci.loading.schema.nearest import did_you_mean

PATH = "rules/agents.yaml"


def unserved_tasks(workspace: Workspace) -> Iterator[Finding]:
    """Every task has an agent that may take it."""
    registry = workspace.rules.agents
    if not registry.agents:
        return
    known = sorted({word for agent in registry.agents.values() for word in agent.capabilities})
    for task, wanted in registry.tasks.items():
        for i, need in enumerate(wanted.needs):
            if need not in known:
                message = f"the task `{task}` needs `{need}`, which no agent is capable of"
                at = Place(PATH, ("tasks", task, "needs", i))
                yield Finding("unserved-task", message, at, help=did_you_mean(need, known))
        if set(wanted.needs) <= set(known) and not registry.able(task):
            yield Finding("unserved-task", _why(registry, task, wanted), Place(PATH, ("tasks", task)))


def _why(registry: Agents, task: str, wanted: TaskNeeds) -> str:
    able = [agent.latency_ms for agent in registry.agents.values() if set(wanted.needs) <= set(agent.capabilities)]
    if able:
        return f"the task `{task}` has {wanted.latency_ms} ms, and the quickest agent that is able takes {min(able)}"
    return f"the task `{task}` needs {' and '.join(f'`{need}`' for need in wanted.needs)}, and no agent has all of them"
