"""Who may take a task, and in which order."""

from __future__ import annotations

import re

from bylaw.authored.machines.agents import Agent, Agents
from bylaw.llm.models import SERVICES
from tests.rows import each

REGISTRY = Agents.model_validate(
    {
        "agents": {
            "large": {"model": "openai:l", "capabilities": ["text", "query"], "cost": "12.5", "latency_ms": 3000},
            "small": {"model": "ollama:s", "capabilities": ["text"], "cost": 0, "latency_ms": 900},
            "slow": {"model": "vllm:z", "capabilities": ["text", "query"], "cost": "0.1", "latency_ms": 9000},
            "quick": {"model": "vllm:q", "capabilities": ["text"], "cost": 0, "latency_ms": 300},
            "plain": {"model": "vllm:p", "cost": 0, "latency_ms": 1},
        },
        "tasks": {
            "write": {"needs": ["text"], "latency_ms": 3000},
            "query": {"needs": ["text", "query"], "latency_ms": 10000},
            "judge": {"needs": ["poetry"], "latency_ms": 10000},
        },
    }
)


@each(
    ("task", "agents"),
    [("write", ["quick", "small", "large"]), ("query", ["slow", "large"]), ("judge", [])],
)
def test_the_cheapest_that_is_able_and_quick_enough_comes_first(task, agents):
    assert list(REGISTRY.able(task)) == agents


def test_a_task_that_is_not_listed_is_nobodys():
    assert list(Agents.model_validate({"agents": REGISTRY.model_dump()["agents"]}).able("write")) == []


def test_a_registry_names_the_services_that_there_are():
    (pattern,) = (one.pattern for one in Agent.model_fields["model"].metadata if getattr(one, "pattern", None))
    assert set(re.findall(r"\w+", pattern.partition("(")[2].partition(")")[0])) == set(SERVICES)
