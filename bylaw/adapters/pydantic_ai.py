"""pydantic-ai: a toolset whose every call the guard decides first. Needs the extra `bylaw-policies[llm]`.

    agent = Agent(model, toolsets=[GuardedToolset(FunctionToolset([issue_refund]), guard)])

Tools that the actor may never call are not shown to the model. A call that is not allowed is answered with the reason,
so that the model can do what comes first, ask for what is missing, or give up.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

from pydantic_ai import RunContext
from pydantic_ai.toolsets import ToolsetTool, WrapperToolset

from bylaw.guard import Denied, Guard


@dataclass
class GuardedToolset(WrapperToolset[Any]):
    """The tools of another toolset, behind *guard*. Actor, session and its facts are those of `guard.session`."""

    guard: Guard

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        found = await super().get_tools(ctx)
        return {name: tool for name, tool in found.items() if await self.guard.amay_ever(name)}

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> Any:
        try:
            made = functools.partial(super().call_tool, name, tool_args, ctx, tool)
            return await self.guard.made(made, tool=name, arguments=tool_args)
        except Denied as denied:
            return denied.answer.as_refusal(name)
