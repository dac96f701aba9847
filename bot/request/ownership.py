"""Who owns something that is declared: a metric, an entity, a part of one, a policy, an outcome, a decision.

The question is a phrase of `rules/autonomy.yaml` and a declared name behind it, and nothing more: anything else is
answered by whoever answers it. What the asker may not read has no owner for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from bot.ask.ground import ground_for
from bot.conversation import Actor, Citation
from bot.index import BundleIndex
from bylaw.hold.item import TextKind
from bylaw.hold.words import Index, Name
from bylaw.language.lexicon import Phrases, lexicon
from bylaw.language.text import Token, clean, tokens, words_of
from bylaw.logic.formula.ir import ConditionalRule

_LONGEST = 300  # letters: who asks for an owner says no more
_KIND_WORDS = ("column", "dimension", "entity", "field", "metric", "table")
_KINDS: tuple[TextKind, ...] = ("policy", "data", "decision")


@dataclass(frozen=True)
class Owned:
    """Something declared, its owner where one is named, and where it is declared."""

    called: str
    kind: str
    owner: str | None
    source: Citation

    def line(self, stewards: Sequence[str]) -> str:
        """`Net revenue (metric, context/metrics/net_revenue.yaml) is owned by finance.`"""
        place = f", {self.source.path}" if self.source.path else ""
        what = f"{self.called[:1].upper()}{self.called[1:]} ({self.kind}{place})"
        if self.owner:
            return f"{what} is owned by {self.owner.rstrip('.')}."
        who = f"; {' and '.join(stewards)} can tell" if stewards else ""
        return f"{what} has no owner that is written down{who}."


def owned_by_name(
    text: str, phrases: Sequence[str], actor: Actor, index: BundleIndex, today: date
) -> tuple[Owned, ...]:
    """What *text* asks the owner of, each thing of that name; nothing where it asks something else."""
    if not phrases or not text.strip() or len(text) > _LONGEST:
        return ()
    found = [one for one in tokens(clean(text.replace("_", " "))) if one.word[0].isalnum()]
    size = (
        Phrases.of(" ".join(words_of(phrase)) for phrase in phrases).at([one.word for one in found], 0) if found else 0
    )
    rest = found[size:]
    if not size or not rest or rest[0].word in ("a", "an"):  # "who owns a car?" asks for people
        return ()
    owned = [*_policies(text, actor, index), *_named(rest, actor, index, today)]
    return tuple(one for _, one in sorted({(one.kind, one.source.id): one for one in owned}.items()))


def _policies(text: str, actor: Actor, index: BundleIndex) -> Iterator[Owned]:
    said = text.rstrip(" ?.!\"'`").split()[-1].lstrip("\"'`").casefold()
    for id in sorted({rule.policy_id for rule in _readable(actor, index)}):
        if id.casefold() == said:
            yield _policy(id, id, "policy", index)


def _readable(actor: Actor, index: BundleIndex) -> Sequence[ConditionalRule]:
    return index.evaluator_of(index.readers(actor.id)).ruleset.rules


def _policy(id: str, called: str, kind: str, index: BundleIndex) -> Owned:
    path = index.bundle.policies.get(id, {}).get("path")
    return Owned(called, kind, index.owner(id) or None, Citation(id=id, path=path, commit=index.commit))


def _named(rest: Sequence[Token], actor: Actor, index: BundleIndex, today: date) -> Iterator[Owned]:
    for kind in _KINDS:
        for name in _whole(rest, kind, ground_for(index, kind, today, actor.id).index):
            yield from _owned(name, actor, index)


def _whole(rest: Sequence[Token], kind: TextKind, words: Index) -> Iterator[Name]:
    """The declared names that *rest* is, with at most the word for their kind beside it, or the table of a column
    behind it ("the revenue metric", "the column currency", "the currency of ad spend").
    """
    rest = [token for token in rest if token.word not in lexicon()["determiner"]]
    rest = rest[1:] if len(rest) > 1 and rest[0].word in _KIND_WORDS else rest
    said = tuple(token.word for token in rest)
    sizes = {
        owner.name: mention.size
        for mention in words.find(rest)
        for owner in mention.owners
        if owner.value is None and said and rest[mention.first].word == said[0]
    }
    for name in words.names.values():
        own = words_of(name.name)
        size = len(own) if own == said[: len(own)] else sizes.get(name.name, 0)
        behind = said[size:]
        is_of_table = name.owner is not None and behind == ("of", *words_of(name.owner))
        if size and (not behind or is_of_table or (len(behind) == 1 and behind[0] in {*_KIND_WORDS, name.kind, kind})):
            yield name


def _owned(name: Name, actor: Actor, index: BundleIndex) -> Iterator[Owned]:
    match name.kind:
        case "metric" | "entity" | "dimension" | "date" | "number" | "filter":
            yield from _in_context(name, index)
        case "outcome" | "action":
            deciding = {
                rule.policy_id
                for rule in _readable(actor, index)
                if name.name in (rule.effect.outcome, rule.effect.action)
            }
            label = name.texts[0] if name.texts else name.name.replace("_", " ")
            yield from (_policy(id, label, f"{name.kind} of {id}", index) for id in sorted(deciding))
        case "record":
            decision = index.bundle.decisions.decisions.get(name.name)
            if decision is not None:
                path = index.bundle.decisions.sources.get(name.name)
                source = Citation(id=name.name, path=path, commit=index.commit)
                yield Owned(decision.option, "decision", decision.decision_maker, source)


def _in_context(name: Name, index: BundleIndex) -> Iterator[Owned]:
    """A metric and an entity have owners; a part of an entity has that of its entity."""
    context = index.bundle.context
    metric = context.metrics.get(name.name) if name.kind == "metric" else None
    entity = context.entities.get((metric.entity or "") if metric else name.name.partition(".")[0])
    owner = (metric.owner if metric else None) or (entity.owner if entity else None)
    key = f"metrics/{name.name}" if metric else f"entities/{entity.name}" if entity else name.name
    called = name.name.rpartition(".")[2].replace("_", " ")
    yield Owned(called, name.kind, owner, Citation(id=key, path=context.paths.get(key), commit=index.commit))
