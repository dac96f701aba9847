"""A word with several readings, each computed as far as it may go alone, and what came out side by side.

Where all give the same, that is the answer and says so; where they differ, the person who asked sees each with its
figures and chooses. Where one of them may not run alone, nothing is shown of any.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from bot.analytics.reader.reading import Unclear
from bot.analytics.reply.present import figure_of
from bot.conversation import Choice, Turn


def computed(choices: Sequence[Choice], ask: Callable[[str], Turn | None]) -> tuple[Turn, ...]:
    """The answer of each reading; empty where one of them is not answered."""
    found: list[Turn] = []
    for choice in choices:
        turn = ask(choice.value)
        if turn is None or turn.reply.status != "answered":
            return ()
        found.append(turn)
    return tuple(found)


def agreed(reading: Unclear, turns: Sequence[Turn]) -> Turn | None:
    """The one answer that all readings give; None where they differ."""
    first, *others = (turn.reply for turn in turns)
    if any(other.rows != first.rows or len(other.columns) != len(first.columns) for other in others):
        return None
    names = " or ".join(f"`{_name(choice)}`" for choice in reading.choices)
    note = f"`{reading.words}` can mean {names}: all give the same."
    reply = first.model_copy(update={"caveats": (note, *first.caveats)})
    return replace(turns[0], reply=reply, artifacts={**turns[0].artifacts, **papers(turns)})


def told(reading: Unclear, turns: Sequence[Turn]) -> Unclear:
    """The choices, each with the figures that it gives."""
    choices = []
    for choice, turn in zip(reading.choices, turns, strict=True):
        figures = figure_of(turn.reply.text)
        choices.append(Choice(value=choice.value, label=f"{choice.label}: {figures}"))
    return replace(reading, choices=tuple(choices))


def shared_caveats(turns: Sequence[Turn]) -> tuple[str, ...]:
    """What is said of every reading."""
    first, *others = (turn.reply.caveats for turn in turns)
    return tuple(caveat for caveat in first if all(caveat in other for other in others))


def papers(turns: Sequence[Turn]) -> dict[str, Any]:
    """What is kept of the readings, so that what was shown can be rebuilt: each plan, and the rows it gave."""
    kept = []
    for turn in turns:
        reply = turn.reply
        result = {"columns": list(reply.columns), "rows": [list(row) for row in reply.rows], "caveats": reply.caveats}
        kept.append({**turn.artifacts["plan"], "result": result})
    return {"readings": kept}


def _name(choice: Choice) -> str:
    return choice.label.partition(":")[0]
