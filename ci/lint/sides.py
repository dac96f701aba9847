"""The side and the modality of a quote against the structure beside it: "within 30 days" and `>=`, "must" and a ban.

A sentence that denies, excepts or refuses something may state a limit from either side, and is not held to one.
"""

from __future__ import annotations

from collections.abc import Sequence

from bylaw.authored.conditions import FactCheck
from bylaw.authored.policies import PolicyAction
from bylaw.authored.vocabulary import Vocabulary
from bylaw.hold.standing import is_negation
from bylaw.hold.text import see
from bylaw.hold.values import comparisons_at, is_said
from bylaw.language.figures import Figure, figures_in
from bylaw.language.lexicon import content, lexicon, stem
from bylaw.language.text import Token, words_of
from bylaw.language.units import unit_named

_UPPER, _LOWER = frozenset(("<", "<=")), frozenset((">", ">="))
_DEFAULTS = {"time_window": "<=", "amount_threshold": ">"}  # what a kind means without an operator (seed 000)
_NEAR = 3  # words between a figure and what bounds it


def other_side(node: FactCheck, unit: str | None) -> str | None:
    """The words of the quote that put its figure on the other side of the limit; None where it stands on the same."""
    operator = node.operator or _DEFAULTS.get(getattr(node, "type", ""))
    mine = _UPPER if operator in _UPPER else _LOWER if operator in _LOWER else None
    seen = see(node.source_text or "")
    tokens = seen.words(0, len(seen.text.seen))
    if mine is None or node.value is None or _is_of_either_side(tokens):
        return None
    for figure in figures_in(seen.text):
        if is_said(figure, node.value, unit_named(node.unit) or unit_named(unit)):
            bounding = [one for one in comparisons_at([t.word for t in tokens]) if _bounds(tokens, *one[:2], figure)]
            sides = [said for *_, said in bounding if said in _UPPER | _LOWER]
            if sides and mine.isdisjoint(sides):  # "withdraw from Plus within 14 days": the nearest one says it
                first, behind, _ = bounding[-1]
                start, end = min(tokens[first].start, figure.start), max(tokens[behind - 1].end, figure.end)
                return seen.text.seen[start:end]
    return None


def limit_of(node: FactCheck) -> str:
    """The limit of a condition as it is written: `>= 30 days`."""
    operator = node.operator or _DEFAULTS.get(getattr(node, "type", ""), "==")
    return f"{operator} {node.value} {node.unit or ''}".rstrip()


def _bounds(tokens: Sequence[Token], first: int, behind: int, figure: Figure) -> bool:
    """Does the comparison stand right before the figure, or right behind it, in one clause?"""
    before = [k for k, token in enumerate(tokens) if token.start < figure.start]
    after = [k for k, token in enumerate(tokens) if token.start >= figure.end]
    is_before = bool(before) and before[-1] - _NEAR < behind - 1 <= before[-1]
    is_behind = bool(after) and first == after[0]
    inside = next((token for token in tokens if figure.start <= token.start < figure.end), None)
    return (is_before or is_behind) and inside is not None and inside.clause == tokens[first].clause


def _is_of_either_side(tokens: Sequence[Token]) -> bool:
    """Does the sentence deny, except or refuse something?"""
    words = [token.word for token in tokens]
    classes = ("restriction", "refusal", "forbidding")
    return any(map(is_negation, tokens)) or any(lexicon()[name].any_in(words) for name in classes)


_DEED = 4  # words behind a modal in which the deed stands
_OBLIGING = frozenset(("must", "shall"))


def other_modality(action: PolicyAction, vocabulary: Vocabulary) -> str | None:
    """The word that says another modality than the action's type: a duty on a ban, a permission on a ban, a duty on
    what is only permitted. None where the quote says no modality, or says it of another deed than the action.
    """
    if action.type not in ("prohibited", "permitted") or not action.source_text:
        return None
    seen = see(action.source_text)
    tokens = seen.words(0, len(seen.text.seen))
    if _is_of_either_side(tokens):
        return None
    wrong = _OBLIGING | {"may"} if action.type == "prohibited" else _OBLIGING
    declared = vocabulary.actions.get(action.action)
    texts = (action.action.replace("_", " "), *([declared.label or "", *declared.phrases] if declared else ()))
    called = content(word for text in texts for word in words_of(text))
    for k, token in enumerate(tokens):
        deed = [t.word for t in tokens[k + 1 : k + 1 + _DEED] if t.clause == token.clause]
        is_said = token.word in wrong and not called.isdisjoint(map(stem, deed))
        if is_said and not _is_subordinate(tokens, k) and not seen.text.seen[token.start].isupper():
            return token.word
    return None


def _is_subordinate(tokens: Sequence[Token], k: int) -> bool:
    """Does the verb belong to a "who …" or an "if …" before it?"""
    before = [token.word for token in tokens[:k] if token.clause == tokens[k].clause]
    return any(word in lexicon()["relative"] or word in lexicon()["subordinating"] for word in before)
