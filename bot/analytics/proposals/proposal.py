"""What a language model makes of a question, held against the question: nothing dropped, nothing added, nothing turned.

Every word that carries meaning is bound to a part of the query, every part of the query to words, as the table of
`fields` says; what the words say and no part answers for is found by `unanswered`. Days come from the grammar of time,
names of numbers are ours: neither from a model.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from bot.analytics.plan.restatement import renamed
from bot.analytics.proposals.evidence import Evidence, evidence_of
from bot.analytics.proposals.fields import hold
from bot.analytics.proposals.held import parts
from bot.analytics.proposals.holding import Holding, Untenable, listed
from bot.analytics.proposals.unanswered import hold_rest
from bot.analytics.reader import wording
from bot.analytics.reader.grammar.tokens import Token
from bot.analytics.reader.scope import Lexicon
from bylaw.authored.context import Context
from bylaw.semantic.compiler import Compiler
from bylaw.semantic.query import Measure, SemanticQuery, Window
from bylaw.semantic.rights import VisibleRows

MOST_BYTES = 8_000  # of a proposed query; what people ask for has some hundred
_FILLERS = wording.FILLERS | wording.ASKING | wording.BY | wording.ARTICLES
_JOINING = frozenset(("either", "or", "but", "both", "and"))  # what they join is held on its own
_NOISE = _FILLERS | _JOINING | wording.NEUTRAL_VERBS | wording.ROWS | wording.REMARKS

Kind = Literal["metric", "dimension", "filter", "time", "grain", "order", "limit", "entity", "noise"]
Words = Annotated[str, Field(min_length=1, max_length=200)]


class Bind(BaseModel):
    """Words of the question, and the part of the query that they stand for; `noise` stands for nothing."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    words: Words
    kind: Kind
    name: Annotated[str, Field(max_length=200)] = ""


class Proposal(BaseModel):
    """A query, which words were bound to what of it, and the words that the catalogue has no meaning for."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    query: SemanticQuery
    bindings: Annotated[tuple[Bind, ...], Field(max_length=60)]
    unknown: Annotated[tuple[Words, ...], Field(max_length=60)] = ()


@dataclass(frozen=True)
class HeldQuestion:
    """The question that a proposal is held against. `heard` are words that say how much depends on the answer.

    `previous` is the query that the question goes on from, None where it stands alone.
    """

    text: str
    tokens: Sequence[Token]
    context: Context
    heard: Sequence[str]
    previous: SemanticQuery | None
    compiler: Compiler
    lexicon: Lexicon
    rows: VisibleRows | None = None


def checked(proposal: Proposal, asked: HeldQuestion) -> SemanticQuery:
    """The query of *proposal* with the days of the question. Raises Untenable, or what the compiler has against it."""
    query = proposal.query
    if len(query.model_dump_json()) > MOST_BYTES:
        raise Untenable("the query is too large")
    if proposal.unknown:
        raise Untenable(f"the catalogue has no meaning for {listed(proposal.unknown)}")
    evidence = evidence_of(asked.text, asked.tokens, asked.lexicon)
    spans, covered = _spans(proposal, asked)
    _hold_words(covered, evidence, asked)
    compiled = asked.compiler.compile(query, asked.rows)
    bound = {key: evidence.within(found) for key, found in spans.items()}
    holding = Holding(evidence, asked.context, asked.compiler, query, compiled, bound, asked.previous)
    _hold_bindings(proposal, holding)
    hold(holding)
    query = _dated(query, proposal, holding, asked)
    holding.compiled = asked.compiler.compile(query, asked.rows)
    hold_rest(holding)
    return renamed(query)


def names_of(proposed: SemanticQuery, query: SemanticQuery) -> dict[str, str]:
    """What the numbers that only the query knows were called by the model, with what we call them."""
    places = zip(proposed.metrics, query.metrics, strict=False)
    made = {one.name for one in proposed.measures} | {one.name for one in proposed.ratios}
    made |= {one.name for one in proposed.differences} | {one.name for one in proposed.summaries}
    return dict.fromkeys(made, "") | {theirs: ours for theirs, ours in places if theirs in made}


def _spans(proposal: Proposal, asked: HeldQuestion) -> tuple[dict[tuple[str, str], list[tuple[int, int]]], list[bool]]:
    """Where the words of each name stand in the question, and which characters are bound at all. Raises Untenable."""
    text = asked.text.lower()
    covered = [False] * len(text)
    found: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for bind in (*proposal.bindings, *(Bind(words=words, kind="noise", name="heard") for words in asked.heard)):
        spans = list(_found(bind.words.lower().strip(), text))
        if not spans:
            raise Untenable(f"`{bind.words}` does not stand in the question")
        free = next((span for span in spans if not all(covered[span[0] : span[1]])), spans[0])
        covered[free[0] : free[1]] = [True] * (free[1] - free[0])
        if bind.kind != "noise":
            found.setdefault((bind.kind, bind.name), []).extend(spans)
    return found, covered


def _found(words: str, text: str) -> Iterator[tuple[int, int]]:
    """Where *words* stand in *text* as whole words."""
    at = text.find(words) if words else -1
    while at >= 0:
        end = at + len(words)
        before, after = text[at - 1 : at], text[end : end + 1]
        if not (before.isalnum() and words[0].isalnum()) and not (after.isalnum() and words[-1].isalnum()):
            yield at, end
        at = text.find(words, at + 1)


def _hold_words(covered: Sequence[bool], evidence: Evidence, asked: HeldQuestion) -> None:
    """Every word that carries meaning is bound; a noise that carries one is not noise."""
    loose = []
    for i, token in enumerate(evidence.tokens):
        bound = covered[token.start : token.end]
        is_bound = any(bound) if token.kind == "time" else all(bound)
        is_filler = token.kind == "word" and token.text in _NOISE
        is_said = i in evidence.remarks or i in evidence.counting
        if token.kind != "mark" and not is_bound and not is_filler and not is_said:
            loose.append(token.raw)
    if loose:
        raise Untenable(f"nothing is bound to {listed(loose)}")


def _hold_bindings(proposal: Proposal, holding: Holding) -> None:
    """Every binding names a part of the query, or rows that it reads."""
    query = holding.query
    known = {"", "time", str(query.limit or ""), str(query.place or ""), query.grain or "", *holding.compiled.entities}
    for part, _ in parts(query):
        for name in type(part).model_fields:
            value = getattr(part, name)
            known |= {str(one) for one in (value if isinstance(value, tuple) else (value,)) if isinstance(one, str)}
    known |= {name.partition("@")[0].partition(".")[0] for name in known if "." in name}
    known |= {name.partition("(")[2].rstrip(")").partition(".")[0] for name in known if "(" in name}
    strange = [bind.name for bind in proposal.bindings if bind.name not in known and bind.kind != "noise"]
    if strange:
        raise Untenable(f"{listed(strange)} is bound and not in the query")
    evidence = holding.evidence
    for bind in proposal.bindings:
        if bind.kind != "noise":
            continue
        at = evidence.within(list(_found(bind.words.lower().strip(), evidence.text.lower())))
        for i in at:
            if i in evidence.loose or not (evidence.tokens[i].kind == "mark" or evidence.words[i] in _NOISE):
                raise Untenable(f"`{evidence.tokens[i].raw}` is no noise")


# ---- days


def _dated(query: SemanticQuery, proposal: Proposal, holding: Holding, asked: HeldQuestion) -> SemanticQuery:
    """*query* with the days of the question's words of time, and with our names for them."""
    evidence = holding.evidence
    text = asked.text.lower()
    for bind in proposal.bindings:
        if bind.kind == "time" and not bind.name:
            spans = list(_found(bind.words.lower().strip(), text))
            is_read = any(start < one.end and one.start < end for one in evidence.days for start, end in spans)
            words = [evidence.words[i] for i in evidence.within(spans)]
            is_again = bool(evidence.days) and all(word in _FILLERS or word in wording.GRAINS for word in words)
            if not is_read and not is_again:
                raise Untenable(f"`{bind.words}` is no span of time that can be read")
    left = [one for one in evidence.days if not holding.is_spent(one)]
    if any(holding.taker(one) is not None for one in left) or len(left) > 1:
        raise Untenable("there is more than one span of time")
    measures = tuple(_labelled(one, holding) for one in query.measures)
    query = query.model_copy(update={"measures": measures}) if measures != query.measures else query
    if not left:
        window = asked.previous.window if asked.previous is not None and not evidence.days else None
        return query.model_copy(update={"window": window})
    span = left[0].span
    holding.take(left[0], query)
    if span.start is None or span.end is None:
        return query.model_copy(update={"window": None})
    return query.model_copy(update={"window": Window(start=span.start, end=span.end, label=span.label)})


def _labelled(measure: Measure, holding: Holding) -> Measure:
    """A measure whose span of time is called as the calendar calls it."""
    window = measure.window
    if window is None:
        return measure
    days = [one.span for one in holding.evidence.days if (one.span.start, one.span.end) == (window.start, window.end)]
    return (
        measure.model_copy(update={"window": window.model_copy(update={"label": days[0].label})}) if days else measure
    )
