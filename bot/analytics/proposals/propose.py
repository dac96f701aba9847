"""A language model as a reader: it proposes a query, which is believed only as far as it can be held.

What does not hold goes back to it with the objection, once or twice. What it proposes passes the same compiler, gate
and rules as everything else, and a person confirms it before anything runs where nobody else reads the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

from bot.agents import errand
from bot.analytics.proposals import shown
from bot.analytics.proposals.holding import Untenable
from bot.analytics.proposals.proposal import HeldQuestion, Proposal, checked, names_of
from bot.analytics.reader.asking import is_follow_up
from bot.analytics.reader.read import Reader
from bot.analytics.reader.reading import Bound
from bot.conversation import Binding
from bot.pii import Mask
from bylaw.authored.context import Context
from bylaw.authored.machines.access import Rights
from bylaw.authored.machines.agents import Agents
from bylaw.authored.machines.autonomy import Proposals
from bylaw.errors import BylawError
from bylaw.llm.guarded import Guard, Limits
from bylaw.llm.port import LLM, Deadline, Exchange, ask
from bylaw.llm.prompts import render
from bylaw.semantic.compiler import Compiler
from bylaw.semantic.query import SemanticQuery

PROMPTS = Path(__file__).parent / "prompts"


@dataclass(frozen=True)
class Proposed:
    """How it ended: what the question means, or None with the reason; and everything that was said.

    `is_silent`: nothing came from the model, or nothing that can be read; it did not say that it cannot.
    """

    bound: Bound | None
    reason: str
    model: str
    exchanges: tuple[Exchange[Proposal], ...]
    is_silent: bool = False

    def papers(self) -> dict[str, Any]:
        """What is kept beside the request."""
        last = self.exchanges[-1]
        said = None if last.value is None else last.value.model_dump(mode="json")
        proposal = {"model": self.model, "prompt": last.prompt.fingerprint, "proposal": said}
        models = {f"model_{number}": one.paper() for number, one in enumerate(self.exchanges, 1)}
        return {**models, "proposal": {**proposal, "refused": self.reason or None}}

    def meta(self, author: str | None = None) -> dict[str, Any]:
        """What the reply tells about who read the question."""
        told = author or (self.model if self.bound is not None else "reader")
        reason = {"fallback_reason": self.reason} if self.reason else {}
        return {"author": told, "fallback_used": self.bound is None, **reason}


@dataclass(frozen=True)
class Modelled:
    """The reader that is a model, under the rules and within the rights of who asks."""

    guard: Guard
    rules: Proposals
    agents: Agents
    context: Context
    reader: Reader
    compiler: Compiler
    mask: Mask
    rights: Rights | None
    unclear: tuple[str, ...] = field(default=())

    def read(self, text: str, today: date, previous: SemanticQuery | None) -> Proposed:
        """What the model makes of *text*; what does not hold goes back to it with the objection."""
        limits = Limits(self.rules.failures, float(self.rules.rest_seconds), self.rules.at_once)
        job = errand(self.agents, "query")
        llm = self.guard.under(limits, job)
        seconds = max([float(self.rules.seconds), *(one.seconds for one in job.candidates if one.seconds is not None)])
        deadline = Deadline.after(seconds, self.guard.clock)
        earlier = previous if previous is not None and is_follow_up(text) else None
        values = self._values(text, today, earlier)
        exchanges: list[Exchange[Proposal]] = []
        while True:
            exchange = self._asked(llm, values, deadline)
            exchanges.append(exchange)
            author = exchange.completion.model if exchange.completion else llm.name
            if exchange.value is None:
                return Proposed(None, str(exchange.error), author, tuple(exchanges), is_silent=True)
            try:
                bound = self._bound(exchange.value, text, today, earlier, author)
            except (Untenable, BylawError) as problem:
                said = problem.message if isinstance(problem, BylawError) else str(problem)
                is_given_up = bool(exchange.value.unknown)  # it said itself that it cannot: nothing to mend
                if len(exchanges) > self.rules.repairs or is_given_up or deadline.left <= 0:
                    reason = f"what the language model proposed does not hold: {said}"
                    return Proposed(None, reason, author, tuple(exchanges))
                proposed = exchange.value.model_dump(mode="json", exclude_defaults=True)
                values = {**values, "proposed": proposed, "objection": said}
                continue
            return Proposed(bound, "", author, tuple(exchanges))

    def _asked(self, llm: LLM, values: dict[str, Any], deadline: Deadline) -> Exchange[Proposal]:
        prompt = render(PROMPTS, "query_v2", values, Proposal, self.rules.answer_tokens)
        return ask(llm, prompt, Proposal, deadline)

    def _values(self, text: str, today: date, earlier: SemanticQuery | None) -> dict[str, Any]:
        """What the prompt is made of, within the bytes that the rules allow."""
        most = self.rules.catalogue_bytes
        known = (self.context, self.compiler, self.rights, text)
        return {
            "today": today.isoformat(),
            "catalogue": shown.described(*known, most),
            **shown.besides(*known, most),
            "previous": None if earlier is None else earlier.model_dump(mode="json", exclude_defaults=True),
            "unclear": [self.mask.text(word) for word in self.unclear],
            "question": self.mask.text(text),
            "proposed": None,
            "objection": None,
        }

    def _bound(self, proposal: Proposal, text: str, today: date, earlier: SemanticQuery | None, model: str) -> Bound:
        """The proposal as a reading. Raises Untenable, or what the compiler has against it."""
        tokens, stakes, heard = self.reader.overheard(text, today)
        words = [said.words for said in stakes]
        rows = self.compiler.visible(self.rights)
        asked = HeldQuestion(text, tokens, self.context, words, earlier, self.compiler, self.reader.lexicon, rows)
        query = checked(proposal, asked)
        compiled = self.compiler.compile(query, rows)
        entities = self.context.entities
        if not all(shown.is_shown(entities[name], self.rights) for name in compiled.entities):
            raise Untenable("it reads what the person who asks may not read")
        label = "" if query.window is None else query.window.label
        names = names_of(proposal.query, query)
        bindings = tuple(
            Binding(
                words=bind.words,
                kind=bind.kind,
                name=names.get(bind.name, bind.name) or (label if bind.kind == "time" else ""),
            )
            for bind in proposal.bindings
            if bind.kind != "noise"
        )
        return Bound(query, (*bindings, *stakes), heard, is_follow_up=earlier is not None, author=model)
