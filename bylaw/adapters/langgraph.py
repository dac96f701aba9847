"""LangGraph: a node of tools whose every call the guard decides first. Needs the extra `bylaw-policies[langgraph]`.

    graph.add_node("tools", guarded([issue_refund], guard))
    model.bind_tools(shown([issue_refund], guard))

A call that is not allowed is answered with the reason, so that the model can do what comes first, ask for what is
missing, or give up. `Wrap` is the hook itself, for whoever builds the node: `wrap_tool_call` and `awrap_tool_call`.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool
from langgraph.prebuilt import ToolNode
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command

from bylaw.gate.answer import GateAnswer
from bylaw.guard import Denied, Guard

Said = ToolMessage | Command[Any]


def guarded(tools: Sequence[BaseTool | Callable[..., Any]], guard: Guard, **options: Any) -> ToolNode:
    """A node of *tools* behind *guard*; *options* are those of `ToolNode`. Actor, session and its facts are those of
    `guard.session`.
    """
    wrap = Wrap(guard)
    return ToolNode(tools, wrap_tool_call=wrap.wrap_tool_call, awrap_tool_call=wrap.awrap_tool_call, **options)


def shown(tools: Iterable[BaseTool], guard: Guard) -> list[BaseTool]:
    """The tools that the actor could ever call: what may not is best not even shown to a model."""
    return [tool for tool in tools if guard.may_ever(tool.name)]


@dataclass(frozen=True)
class Wrap:
    """The hook that a node of tools calls around each call."""

    guard: Guard

    def wrap_tool_call(self, request: ToolCallRequest, execute: Callable[[ToolCallRequest], Said]) -> Said:
        """Decide the call, make it, record how it ended."""
        call = request.tool_call
        answer = self.guard.decide(tool=call["name"], arguments=call["args"])
        if not answer.is_allowed:
            return _refusal(request, answer)
        is_done = False
        try:
            said = execute(request)
            is_done = _is_done(said)
        finally:
            self.guard.ended(answer.decision_id, is_done)
        return said

    async def awrap_tool_call(
        self, request: ToolCallRequest, execute: Callable[[ToolCallRequest], Awaitable[Said]]
    ) -> Said:
        """The same for coroutines."""
        call = request.tool_call
        try:
            return await self.guard.made(
                lambda: execute(request), tool=call["name"], arguments=call["args"], is_done=_is_done
            )
        except Denied as denied:
            return _refusal(request, denied.answer)


def _is_done(said: Said) -> bool:
    """A node may turn what a tool raised into a message to the model."""
    return not (isinstance(said, ToolMessage) and said.status == "error")


def _refusal(request: ToolCallRequest, answer: GateAnswer) -> ToolMessage:
    call = request.tool_call
    text = json.dumps(answer.as_refusal(call["name"]), ensure_ascii=False)
    return ToolMessage(text, name=call["name"], tool_call_id=call["id"], status="error")
