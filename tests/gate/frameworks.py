"""Three frameworks, each run by a model that is a script: the same tools, the same calls, what was shown and told."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

Step = Sequence[tuple[str, dict[str, Any]]]  # calls that the model makes at once


@dataclass
class Run:
    """What one run came to."""

    shown: list[set[str]] = field(default_factory=list)  # the tools that the model saw, step by step
    told: list[str] = field(default_factory=list)  # what the model heard of its calls, in their order


async def pydantic_ai(guard: Any, tools: dict[str, Callable[..., Any]], script: Sequence[Step]) -> Run:
    from pydantic_ai import Agent, Tool
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel
    from pydantic_ai.toolsets import FunctionToolset

    from bylaw.adapters.pydantic_ai import GuardedToolset

    run, made = Run(), iter(script)

    def model(messages: list[Any], info: Any) -> Any:
        run.shown.append({tool.name for tool in info.function_tools})
        run.told += [_text(part.content) for part in messages[-1].parts if part.part_kind != "user-prompt"]
        step = next(made, None)
        return ModelResponse(parts=[ToolCallPart(*call) for call in step] if step else [TextPart("done")])

    inner = FunctionToolset([Tool(function, name=name) for name, function in tools.items()])
    await Agent(FunctionModel(model), toolsets=[GuardedToolset(inner, guard)]).run("go")
    return run


async def openai_agents(guard: Any, tools: dict[str, Callable[..., Any]], script: Sequence[Step]) -> Run:
    from agents import Agent, Model, ModelResponse, RunConfig, Runner, Usage, function_tool
    from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

    from bylaw.adapters.openai_agents import guarded

    run, made = Run(), iter(script)

    class Scripted(Model):
        async def get_response(self, *, input: Any, tools: Any, **rest: Any) -> Any:
            run.shown.append({tool.name for tool in tools})
            told = [one for one in input if isinstance(one, dict) and one.get("type") == "function_call_output"]
            run.told += [_text(one["output"]) for one in told[len(run.told) :]]
            step = next(made, None)
            if step is None:
                said = ResponseOutputText(text="done", type="output_text", annotations=[])
                output: list[Any] = [
                    ResponseOutputMessage(id="m", content=[said], role="assistant", status="completed", type="message")
                ]
            else:
                output = [
                    ResponseFunctionToolCall(
                        call_id=f"{len(run.shown)}-{n}", name=name, arguments=json.dumps(given), type="function_call"
                    )
                    for n, (name, given) in enumerate(step)
                ]
            return ModelResponse(output=output, usage=Usage(), response_id=None)

        def stream_response(self, *given: Any, **rest: Any) -> Any:
            raise NotImplementedError

    inner = [function_tool(function, name_override=name) for name, function in tools.items()]
    agent = Agent(name="agent", tools=guarded(inner, guard), model=Scripted())
    await Runner.run(agent, "go", run_config=RunConfig(tracing_disabled=True))
    return run


def _graph(guard: Any, tools: dict[str, Callable[..., Any]], script: Sequence[Step], run: Run) -> Any:
    from langchain_core.messages import AIMessage, ToolMessage
    from langchain_core.tools import StructuredTool
    from langgraph.graph import END, START, MessagesState, StateGraph

    from bylaw.adapters.langgraph import guarded, shown

    made = iter(script)
    inner = [
        StructuredTool.from_function(
            None if asyncio.iscoroutinefunction(function) else function,
            coroutine=function if asyncio.iscoroutinefunction(function) else None,
            name=name,
            description="does it",
        )
        for name, function in tools.items()
    ]

    def model(state: Any) -> Any:
        run.shown.append({tool.name for tool in shown(inner, guard)})
        heard = [one for one in state["messages"] if isinstance(one, ToolMessage)]
        run.told += [_text(one.content) for one in heard[len(run.told) :]]
        step = next(made, None) or ()
        calls = [
            {"name": name, "args": given, "id": f"{len(run.shown)}-{n}", "type": "tool_call"}
            for n, (name, given) in enumerate(step)
        ]
        return {"messages": [AIMessage("", tool_calls=calls)]}

    graph = StateGraph(MessagesState)
    graph.add_node("model", model)
    graph.add_node("tools", guarded(inner, guard))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", lambda state: "tools" if state["messages"][-1].tool_calls else END)
    graph.add_edge("tools", "model")
    return graph.compile()


async def langgraph(guard: Any, tools: dict[str, Callable[..., Any]], script: Sequence[Step]) -> Run:
    run = Run()
    await _graph(guard, tools, script, run).ainvoke({"messages": [("user", "go")]})
    return run


def _plain_langgraph(guard: Any, tools: dict[str, Callable[..., Any]], script: Sequence[Step]) -> Run:
    """The graph of somebody who writes no coroutine."""
    if any(asyncio.iscoroutinefunction(function) for function in tools.values()):
        return asyncio.run(langgraph(guard, tools, script))
    run = Run()
    _graph(guard, tools, script, run).invoke({"messages": [("user", "go")]})
    return run


def _ended(run: Callable[..., Any]) -> Callable[..., Run]:
    return lambda *given: asyncio.run(run(*given))


ASYNC = {"pydantic-ai": pydantic_ai, "openai-agents": openai_agents, "langgraph": langgraph}
FRAMEWORKS = {**{name: _ended(run) for name, run in ASYNC.items()}, "langgraph": _plain_langgraph}


def _text(content: Any) -> str:
    return content if isinstance(content, str) else json.dumps(content, default=str)
