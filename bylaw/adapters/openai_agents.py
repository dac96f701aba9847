"""OpenAI Agents SDK: function tools whose every call the guard decides first. Needs `bylaw-policies[openai-agents]`.

    agent = Agent(name="support", tools=guarded([issue_refund], guard))

Tools that the actor may never call are not shown to the model. A call that is not allowed is answered with the reason,
so that the model can do what comes first, ask for what is missing, or give up. What a tool raises counts as a failed
call and is then told as that tool tells its failures.
"""

from __future__ import annotations

import copy
import inspect
import json
from collections.abc import Iterable
from typing import Any

from agents import FunctionTool, ModelBehaviorError
from agents.agent import AgentBase
from agents.run_context import RunContextWrapper
from agents.tool import set_function_tool_failure_error_function, with_function_tool_failure_error_handler
from agents.tool_context import ToolContext

from bylaw.guard import Denied, Guard


def guarded(tools: Iterable[FunctionTool], guard: Guard) -> list[FunctionTool]:
    """The same tools behind *guard*. Actor, session and its facts are those of `guard.session`."""
    return [_guarded(tool, guard) for tool in tools]


def _guarded(tool: FunctionTool, guard: Guard) -> FunctionTool:
    name = tool.name  # as the host has it: whatever the copy is called later, this is what it does
    raising = set_function_tool_failure_error_function(copy.copy(tool), None)

    async def invoke(context: ToolContext[Any], written: str) -> Any:
        arguments = _arguments(written)
        try:
            decided = json.dumps(arguments)  # and no more
            return await guard.made(lambda: raising.on_invoke_tool(context, decided), tool=name, arguments=arguments)
        except Denied as denied:
            return json.dumps(denied.answer.as_refusal(name), ensure_ascii=False)

    async def is_enabled(context: RunContextWrapper[Any], agent: AgentBase) -> bool:
        own = tool.is_enabled
        if callable(own):
            said = own(context, agent)
            own = await said if inspect.isawaitable(said) else said
        return own and await guard.amay_ever(name)

    found = copy.copy(tool)
    found.on_invoke_tool = with_function_tool_failure_error_handler(invoke, lambda *_: None)
    found.is_enabled = is_enabled
    return copy.copy(found)  # a copy is what the SDK binds a tool's way to tell failures to


def _arguments(written: str) -> dict[str, Any]:
    try:
        found = json.loads(written or "{}")
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise ModelBehaviorError("the arguments of a call are a JSON object")
    return found
