"""The policies as tools for other assistants: an MCP server on standard input and output, with the rights of one user.

The package `mcp` is an extra (`bylaw[mcp]`) and is imported only here, when the server starts. The tools call what the
HTTP endpoints call: an answer, a verdict, and an explanation of a case.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import TYPE_CHECKING, Any

from bot.cases import as_json, read_facts
from bot.conversation import Actor, Question, moment, sayable, sayable_text, told_json
from bot.enforcement import why
from bot.enforcement.answer import visible
from bot.enforcement.author import opinion_of
from bot.enforcement.enforce import check_readable, enforce
from bot.orchestrator import handle
from bot.recording import record
from bot.services import Services, Serving
from bot.store.columns import ID_LENGTH
from bylaw.errors import BylawError, UsageError

if TYPE_CHECKING:
    from mcp.server import MCPServer

_INSTRUCTIONS = (
    "What this organisation's reviewed policies say. Ask with ask_policy; before you tell somebody what they may have, "
    "hold your text against the policies with check_answer; explain says why a case is decided as it is."
)


def serve(serving: Serving, user: str) -> None:
    """Answer over standard input and output until they are closed, as *user*. Raises UsageError without the extra."""
    build(serving, user).run("stdio")


def build(serving: Serving, user: str) -> MCPServer:
    """The server with its three tools. Raises UsageError where the extra is not installed."""
    try:
        from mcp.server import MCPServer
    except ImportError:
        raise UsageError("the package `mcp` is not installed", "install it with `pip install 'bylaw[mcp]'`") from None
    server = MCPServer("bylaw", instructions=_INSTRUCTIONS, log_level="WARNING")
    tools = Tools(serving, user)
    for tool in (tools.ask_policy, tools.check_answer, tools.explain):
        server.tool(structured_output=False)(tool)
    return server


class Tools:
    """What the server offers. Every tool answers with one JSON document; a wrong argument is said in it."""

    def __init__(self, serving: Serving, user: str) -> None:
        self._serving, self._user = serving, user

    def ask_policy(self, question: str, session_id: str | None = None, at: str | None = None) -> str:
        """Ask in words what the policies say. A `needs_fact` reply is answered with the same session_id.

        The reply cites file and line. `at` is an ISO time to ask as if it were then.
        """

        def answer(services: Services) -> dict[str, Any]:
            reply: dict[str, Any] = sayable(handle(self._question(question, services, session_id, at), services))
            return reply

        return self._told(answer)

    def check_answer(
        self, query: str, response: str, facts: dict[str, Any] | None = None, at: str | None = None
    ) -> str:
        """Hold an answer that you want to give against the policies: action pass, auto_correct, regenerate or escalate.

        `facts` are what you know of the case beyond the words of the query; only deliver what `delivered` says.
        """

        def judged(services: Services) -> dict[str, Any]:
            started = services.clock()
            check_readable(query, response)
            asked = self._question(query, services, None, at)
            opinion = opinion_of(services.index, services.llm)
            known = read_facts(facts or {}, services.index)
            found = enforce(asked, response, services.index, known, opinion.judge)
            record(found, asked, services, started, opinion.papers())
            verdict: dict[str, Any] = sayable(found)
            return verdict

        return self._told(judged)

    def explain(self, facts: dict[str, Any], want: str | None = None, at: str | None = None) -> str:
        """What the policies decide for these facts, who lost and why, and what would have to be different.

        Facts left out are unknown. `want` names an action that the case should get; `at` is an ISO date.
        """

        def explained(services: Services) -> dict[str, Any]:
            index = services.index
            known = read_facts(facts, index)
            day = (_day(at) if at else services.clock().date()).toordinal()
            evaluator = visible(self._user, index)
            decision = evaluator.decide(known, day)
            told = why.why(index, evaluator, known, day, decision, want)
            return {**as_json(decision), "why": why.as_json(told, index)}

        return self._told(explained)

    def _question(self, text: str, services: Services, session_id: str | None, at: str | None) -> Question:
        if session_id is not None and not 0 < len(session_id) <= ID_LENGTH:
            raise UsageError(f"the session_id is empty, or longer than {ID_LENGTH} characters")
        request_id = services.new_id()
        return Question(
            text=text,
            actor=Actor(id=self._user, type="agent"),
            asked_at=moment(at) if at else services.clock(),
            session_id=session_id or request_id,
            request_id=request_id,
        )

    def _told(self, answer: Callable[[Services], dict[str, Any]]) -> str:
        try:
            found = answer(self._serving.services())
        except BylawError as error:
            found = {"error": sayable_text(error.message), "help": error.help and sayable_text(error.help)}
        return told_json(found)


def _day(text: str) -> date:
    return moment(text).date()
