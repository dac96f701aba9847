"""Which language models there are and what each is good for: `rules/agents.yaml` (the agent registry of seed 004).

No address and no key stands here: those are of a deployment and come from its environment.
"""

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from bylaw.authored.machines.amounts import Amount, Positive
from bylaw.authored.record import Authored, AuthoredFile, Name, Word, misfit

Task = Literal["write", "judge", "query", "read"]
ModelName = Annotated[
    str, StringConstraints(pattern=r"^(anthropic|azure|bedrock|ollama|openai|vllm):\S+$", max_length=200)
]


class Agent(Authored):
    """One model. `cost` compares it with the others, in whatever unit; `latency_ms` is how long it usually takes.

    `seconds` and `answer_tokens` are what it may take for one answer, where that is more or less than the task has: a
    model that reasons first needs more of both.
    """

    model: ModelName
    capabilities: list[Word] = Field(default_factory=list)
    cost: Amount
    latency_ms: Positive
    seconds: Positive | None = None
    answer_tokens: Positive | None = None


class TaskNeeds(Authored):
    """What a task asks of the model that takes it: all of these capabilities, and an answer within the time."""

    needs: list[Word] = Field(default_factory=list)
    latency_ms: Positive


class Agents(AuthoredFile):
    """`rules/agents.yaml`. A task goes to the cheapest agent that is able and quick enough, then to the next one.

    `write` puts a decided answer into words, `read` says what a case tells, an answer claims or a correction means,
    `judge` marks one, `query` reads a question about data that nobody understood. Which rows and policies a model sees
    is no matter of this file: no more than the person who asks.
    """

    agents: dict[Name, Agent] = Field(default_factory=dict)
    tasks: dict[Task, TaskNeeds] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _tells_models_apart(self) -> Self:
        first: dict[str, str] = {}
        for name, agent in self.agents.items():
            if first.setdefault(agent.model, name) != name:
                message = f"the agents `{first[agent.model]}` and `{name}` are the same model"
                raise misfit(message, "agents", name, "model")
        return self

    def able(self, task: Task) -> Mapping[str, Agent]:
        """The agents that may take *task*, the cheapest first; of two that cost the same the quicker one."""
        wanted = self.tasks.get(task)
        if wanted is None:
            return {}
        fit = [
            (agent.cost, agent.latency_ms, name)
            for name, agent in self.agents.items()
            if set(wanted.needs) <= set(agent.capabilities)
            and agent.latency_ms <= max(wanted.latency_ms, 1000 * (agent.seconds or 0))
        ]
        return {name: self.agents[name] for _, _, name in sorted(fit)}
