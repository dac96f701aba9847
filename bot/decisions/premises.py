"""What a question takes for granted and the record does not say: remarked before the answer, never passed over."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bot.decisions.asked import Asked, fits
from bylaw.authored.decisions import ConsideredOption, Decision
from bylaw.authored.machines.intents import Intents, Talk
from bylaw.authored.state import ACCEPTED, written_day
from bylaw.hold.item import HeldItem
from bylaw.hold.standing import is_negation
from bylaw.hold.text import see
from bylaw.language.lexicon import content, stem
from bylaw.language.text import words_of


def remarks(asked: Asked, text: str, decision: Decision, rules: Intents) -> Iterator[str]:
    """What *text* takes for granted of *decision* that its record does not say, a sentence each."""
    for kind in dict.fromkeys(one.item.named for one in asked.filters):
        mine = [one for one in asked.filters if one.item.named == kind]
        if not fits(decision, mine):
            yield _contradicts(mine, decision)
    if any(one.item.named == "status" for one in asked.filters):
        return  # it was said how it stands, and held
    chosen_otherwise = meant_option(asked, decision)
    says = _side(text, rules.talk)
    if chosen_otherwise is not None and says == "for":
        yield f"“{chosen_otherwise.option}” was considered and not chosen: what was chosen is “{decision.option}”."
    elif chosen_otherwise is None and says is not None and says != side_of(decision, rules.talk):
        yield (
            f"The record says otherwise: “{decision.option}” "
            f"{'was accepted and stands' if decision.status == ACCEPTED else f'is {decision.status}'}."
        )


def _contradicts(filters: Sequence[HeldItem], decision: Decision) -> str:
    said = " and ".join(str(one.item.quote or one.item.value) for one in filters)
    match filters[0].item.named:
        case "date":
            return f"It was decided on {written_day(decision.decided_on)}, not {said}."
        case "person":
            whom = ", ".join(decision.deciders)
            return f"The record does not name {said} as one who decided this{f': it names {whom}' if whom else ''}."
        case "tag":
            return f"The record is not tagged {said}."
        case _:
            states = " or ".join(str(value) for one in filters for value in one.item.values)
            return f"It is not {states}: it is {decision.status}."


def meant_option(asked: Asked, decision: Decision) -> ConsideredOption | None:
    """The considered option, other than the chosen one, that the words of the question name; None where they name the
    decision itself.
    """
    said, title = content(words_of(asked.words)), content(words_of(decision.option))
    others = [(content(words_of(one.option)), one) for one in decision.options if not one.chosen]
    others = [(words, one) for words, one in others if words - title and said & (words - title)]
    return max(others, key=lambda pair: len(said & pair[0]))[1] if others else None


def side_of(decision: Decision, talk: Talk) -> str:
    """`for` what it speaks of, or `against` it: a decision to leave something is against it, and so is a rejected one
    to begin with it."""
    is_against = (_side(decision.option, talk) == "against") != (decision.status == "rejected")
    return "against" if is_against else "for"


def _side(text: str, talk: Talk) -> str | None:
    """The side that the first verb of deciding in *text* is on, turned by a negation before it; None without one."""
    sides = {stem(word): "for" for word in talk.for_} | {stem(word): "against" for word in talk.against}
    seen, denials = see(text), 0
    for token in seen.words(0, len(seen.text.seen)):
        denials += is_negation(token) or token.word == "against"
        side = sides.get(stem(token.word))
        if side is not None:
            return side if denials % 2 == 0 else ("against" if side == "for" else "for")
    return None
