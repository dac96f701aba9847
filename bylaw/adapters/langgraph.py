"""LangGraph: a node of tools whose every call the guard decides first. Needs the extra `bylaw-policies[langgraph]`.

    graph.add_node("tools", guarded([issue_refund], guard))
    model.bind_tools(shown([issue_refund], guard))

A call that is not allowed is answered with the reason: the model does what comes first, asks for what is missing, or
gives up. `Wrap` is the hook itself, for whoever builds the node.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from langchain_core.messages import ToolCall, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from langgraph.prebuilt import ToolNode
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command

from bylaw.gate.answer import GateAnswer
from bylaw.guard import Denied, Guard

Said = ToolMessage | Command[Any]
Awaited = Callable[[ToolCallRequest], Awaitable[Said]]


def guarded(tools: Sequence[BaseTool | Callable[..., Any]], guard: Guard, **options: Any) -> ToolNode:
    """A node of *tools* behind *guard*; *options* are those of `ToolNode`. Who acts is said by `guard.session`."""
    hook = Wrap(guard)
    return ToolNode(tools, wrap_tool_call=hook.wrap_tool_call, awrap_tool_call=hook.awrap_tool_call, **options)


def shown(tools: Iterable[BaseTool], guard: Guard) -> list[BaseTool]:
    """The tools that the actor could ever call: what may not is best not even shown to a model."""
    return [tool for tool in tools if guard.may_ever(tool.name)]


@dataclass(frozen=True)
class Wrap:
    """The hook that a node of tools calls around each call."""

    guard: Guard

    def wrap_tool_call(self, request: ToolCallRequest, execute: Callable[[ToolCallRequest], Said]) -> Said:
        """Make the call as far as it is allowed."""
        return execute(_behind(request, self.guard))

    async def awrap_tool_call(self, request: ToolCallRequest, execute: Awaited) -> Said:
        """The same for coroutines."""
        return await execute(_behind(request, self.guard))


@dataclass(frozen=True)
class _Guarded:
    """A tool that a node calls, once it has put in what is not for the model to say (`InjectedState` and the like)."""

    tool: BaseTool
    guard: Guard

    def __getattr__(self, name: str) -> Any:
        return getattr(self.tool, name)

    def invoke(self, call: ToolCall, config: RunnableConfig | None = None) -> Said:
        answer, is_done = self.guard.decide(tool=call["name"], arguments=call["args"]), False
        if not answer.is_allowed:
            return _refusal(call, answer)
        try:
            said: Said = self.tool.invoke(call, config)
            is_done = _is_done(said)
        finally:
            self.guard.ended(answer.decision_id, is_done)
        return said

    async def ainvoke(self, call: ToolCall, config: RunnableConfig | None = None) -> Said:
        made = functools.partial(self.tool.ainvoke, call, config)
        try:
            return await self.guard.made(made, tool=call["name"], arguments=call["args"], is_done=_is_done)
        except Denied as denied:
            return _refusal(call, denied.answer)


def _behind(request: ToolCallRequest, guard: Guard) -> ToolCallRequest:
    if request.tool is None:  # the node has none of that name, and says so
        return request
    return request.override(tool=cast("BaseTool", _Guarded(request.tool, guard)))


def _is_done(said: Said) -> bool:
    return not (isinstance(said, ToolMessage) and said.status == "error")


def _refusal(call: ToolCall, answer: GateAnswer) -> ToolMessage:
    text = json.dumps(answer.as_refusal(call["name"]), ensure_ascii=False)
    return ToolMessage(text, name=call["name"], tool_call_id=call["id"], status="error")
