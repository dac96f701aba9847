"""The policies as tools for other assistants: an MCP server, on pipes or on this machine, with the rights of one user.

The package `mcp` is an extra (`bylaw-policies[mcp]`) and is imported only here, when the server starts. The tools call
what the HTTP endpoints call: an answer, a verdict, and an explanation of a case.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from functools import wraps
from importlib.metadata import version
from inspect import getdoc
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, create_model

from bot.ask.recorded import records_for
from bot.claims.models import read_claims
from bot.conversation import Actor, Question, moment, sayable, sayable_text, told_json
from bot.enforcement.answer import visible
from bot.enforcement.author import opinion_of
from bot.enforcement.enforce import check_readable, enforce
from bot.enforcement.guidance import guide
from bot.enforcement.writing import why
from bot.evidence.recording import record
from bot.evidence.store.columns import ID_LENGTH
from bot.gate.gates import decision_point_of
from bot.request.cases import as_json, read_facts
from bot.request.orchestrator import handle
from bot.services import Services, Serving
from bylaw.authored.causes import governing
from bylaw.authored.state import state_of
from bylaw.errors import BylawError, UsageError
from bylaw.gate.decision_point import call_of

if TYPE_CHECKING:
    from mcp.server import MCPServer
    from mcp.server.mcpserver.tools import Tool

_HERE = "127.0.0.1"
_INSTRUCTIONS = (
    "What this organisation's reviewed policies say, and what was decided. Ask with ask_policy; before you tell "
    "somebody what they may have, hold your text against the policies with check_answer; before you act, ask decide "
    "whether you may; explain says why a case is decided as it is; guidance says what an answer may rest on before you "
    "write it; ask_decision says why something was decided and whether it stands, decisions_for what governs a file."
)


def serve(serving: Serving, user: str, port: int | None = None, host: str | None = None) -> None:
    """Answer as *user* on standard input and output until they are closed; with a *port* over HTTP at /mcp.

    Raises UsageError without the extra, and for a *host* that others reach: who connects is never asked who it is.
    """
    if port is None and host is None:
        build(serving, user).run("stdio")
        return
    if (host or _HERE) not in (_HERE, "localhost", "::1"):
        raise UsageError(
            f"over MCP only this machine is served, and `{host}` is reached by others",
            f"leave --host out; who connects to it answers as `{user}`",
        )
    build(serving, user).run("streamable-http", host=host or _HERE, port=8080 if port is None else port)


def build(serving: Serving, user: str) -> MCPServer:
    """The server with its tools. Raises UsageError where the extra is not installed."""
    try:
        from mcp.server import MCPServer
    except ImportError:
        raise UsageError(
            "the package `mcp` is not installed", "install it with `pip install 'bylaw-policies[mcp]'`"
        ) from None
    tools = Tools(serving, user)
    names = (
        tools.ask_policy,
        tools.ask_decision,
        tools.decisions_for,
        tools.check_answer,
        tools.explain,
        tools.guidance,
        tools.decide,
    )
    offered = [_offered(answer) for answer in names]
    return MCPServer(
        "bylaw", version=version("bylaw-policies"), instructions=_INSTRUCTIONS, tools=offered, log_level="WARNING"
    )


def _offered(answer: Callable[..., dict[str, Any]]) -> Tool:
    """*answer* as a tool that takes the arguments it names and no others; what it refuses is an error to the client."""
    from mcp.server.mcpserver.tools import Tool
    from mcp_types import CallToolResult, TextContent

    @wraps(answer)
    def told(**arguments: Any) -> CallToolResult:
        try:
            found, is_error = answer(**arguments), False
        except BylawError as error:
            found = {"error": sayable_text(error.message), "help": error.help and sayable_text(error.help)}
            is_error = True
        return CallToolResult(content=[TextContent(type="text", text=told_json(found))], is_error=is_error)

    made = Tool.from_function(told, description=getdoc(answer), structured_output=False)
    loose = made.fn_metadata.arg_model
    strict = create_model(loose.__name__, __base__=(loose, _Strict))
    known = made.fn_metadata.model_copy(update={"arg_model": strict})
    return made.model_copy(update={"fn_metadata": known, "parameters": strict.model_json_schema(by_alias=True)})


class _Strict(BaseModel):
    """Arguments that no tool has are refused: a misspelt `facts` would be judged without them."""

    model_config = ConfigDict(extra="forbid")


class Tools:
    """What the server offers. Every tool answers with one JSON document, and raises a BylawError for what is wrong."""

    def __init__(self, serving: Serving, user: str) -> None:
        self._serving, self._user = serving, user
        self._point, self._session = decision_point_of(serving), serving.services().new_id()

    def ask_policy(
        self,
        question: str,
        session_id: str | None = None,
        at: str | None = None,
        items: list[dict[str, Any]] | None = None,
    ) -> dict[str, Any]:
        """Ask in words what the policies say. A `needs_fact` reply is answered with the same session_id.

        The reply cites file and line. `at` is an ISO time to ask as if it were then. `items` say in declared names what
        the words mean, each held against its verbatim quote: {kind: asks|fact, name, quote, operator?, value?, unit?}.
        `reading` of the reply has them, what was refused, and each word that nobody accounts for.
        """
        return self._ask(question, session_id, at, {"items": items})

    def ask_decision(
        self,
        question: str,
        decision: str | None = None,
        intent: str | None = None,
        session_id: str | None = None,
        at: str | None = None,
        items: list[dict[str, Any]] | None = None,
    ) -> dict[str, Any]:
        """Ask why something was decided, by whom, when, what replaced it, whether it still stands.

        How the decision stands comes first in the answer. `decision` names one outright, by id, alias or number;
        `intent` says what is asked (why_decision, who_decided, when_decided, still_valid, …). `items` say what the
        words mean, each held against its verbatim quote: {kind: asks|anchor|filter, name, quote, value?}. What is not
        on record is said to be so, never guessed.
        """
        named = {"kind": "decision", "decision_ref": decision, "intent": intent, "items": items}
        return self._ask(question, session_id, at, named)

    def _ask(self, question: str, session_id: str | None, at: str | None, options: Mapping[str, Any]) -> dict[str, Any]:
        services = self._serving.services()
        given = {name: value for name, value in options.items() if value is not None}
        asked = self._question(question, services, session_id, at).model_copy(update={"options": given})
        reply: dict[str, Any] = sayable(handle(asked, services))
        return reply

    def decisions_for(self, path: str) -> dict[str, Any]:
        """The decisions that govern the file at `path`, relative to the repository: look before you change it.

        Those that stand come first; a rejected or superseded one says so in `state`.
        """
        index = self._serving.services().index
        decisions = records_for(index, self._user)
        found = [
            {
                "id": one.id,
                "option": one.option,
                "state": state_of(one, decisions),
                "stands": one.stands,
                "pattern": pattern,
                "path": decisions.sources.get(one.id),
            }
            for one, pattern in governing(decisions, path)
        ]
        return {"path": path, "decisions": found}

    def check_answer(
        self,
        query: str,
        response: str,
        facts: dict[str, Any] | None = None,
        at: str | None = None,
        claims: list[dict[str, Any]] | None = None,
    ) -> dict[str, Any]:
        """Hold an answer that you want to give against the policies: action pass, auto_correct, regenerate or escalate.

        `facts` are what you know of the case beyond the words of the query, `claims` say in declared words what your
        text says: {kind, quote, action?, fact?, operator?, value?, unit?, policy_id?, when?}, quotes verbatim. Only
        deliver what `delivered` says.
        """
        services = self._serving.services()
        started = services.clock()
        check_readable(query, response)
        asked = self._question(query, services, None, at)
        opinion = opinion_of(services.index, services.llm)
        known = read_facts(facts or {}, services.index)
        said = None if claims is None else read_claims(claims)
        found = enforce(asked, response, services.index, known, opinion.judge, said, opinion.reader)
        record(found, asked, services, started, opinion.papers())
        verdict: dict[str, Any] = sayable(found)
        return verdict

    def explain(self, facts: dict[str, Any], want: str | None = None, at: str | None = None) -> dict[str, Any]:
        """What the policies decide for these facts, who lost and why, and what would have to be different.

        Facts left out are unknown. `want` names an action that the case should get; `at` is an ISO date.
        """
        services = self._serving.services()
        index = services.index
        known = read_facts(facts, index)
        day = (_day(at) if at else services.clock().date()).toordinal()
        evaluator = visible(self._user, index)
        decision = evaluator.decide(known, day)
        told = why.why(index, evaluator, known, day, decision, want)
        return {
            **as_json(decision, index.readers(self._user)),
            "why": why.as_json(told, index, index.rules.roles.roles_of(self._user)),
        }

    def decide(
        self,
        tool: str | None = None,
        action: str | None = None,
        arguments: dict[str, Any] | None = None,
        facts: dict[str, Any] | None = None,
        keys: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        """May this tool be called, or this action be taken, now? allow, deny, ask or escalate, with the rules for it.

        Call it before you act, and act only on `allow`. `first` is what to do before, `missing` what decides it,
        `counterfactual` what would allow it. Who acts, when and in which session is not for you to say.
        """
        call = call_of(action, tool, arguments, facts, keys, self._session, self._user)
        told: dict[str, Any] = sayable(self._point.decide(call).as_json())
        return told

    def guidance(self, question: str, facts: dict[str, Any] | None = None, at: str | None = None) -> dict[str, Any]:
        """What an answer may rest on, before you write it: rules with lines, what must be told, what never.

        `layers` are texts for your system prompt and beside the question. `facts` are what you know of the case beyond
        its words. A policy that is not `checked` is quoted, not decided from.
        """
        services = self._serving.services()
        check_readable(question)
        asked = self._question(question, services, None, at)
        found: dict[str, Any] = sayable(guide(asked, services.index, read_facts(facts or {}, services.index)))
        return found

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


def _day(text: str) -> date:
    return moment(text).date()
