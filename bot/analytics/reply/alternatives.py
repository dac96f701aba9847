"""A word with several readings, each computed as far as it may go alone, and what came out side by side.

Where all give the same, that is the answer and says so; where they differ, the person who asked sees each with its
figures and chooses. Where one of them may not run alone, nothing is shown of any.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from bot.analytics.reading import Meant, Unclear
from bot.analytics.reply.present import figure_of
from bot.conversation import Choice, Turn


def computed(meant: Sequence[Meant], ask: Callable[[Meant], Turn]) -> tuple[Turn, ...]:
    """The answer of each reading; empty where one of them is not answered."""
    found: list[Turn] = []
    for one in meant:
        turn = ask(one)
        if turn.reply.status != "answered":
            return ()
        found.append(turn)
    return tuple(found)


def agreed(reading: Unclear, turns: Sequence[Turn]) -> Turn | None:
    """The one answer that all readings give; None where they differ."""
    first, *others = (turn.reply for turn in turns)
    if any(other.rows != first.rows or len(other.columns) != len(first.columns) for other in others):
        return None
    names = " or ".join(f"`{one.name}`" for one in reading.meant)
    note = f"`{reading.words}` can mean {names}: all give the same."
    reply = first.model_copy(update={"caveats": (note, *first.caveats)})
    return replace(turns[0], reply=reply, artifacts={**turns[0].artifacts, **papers(turns)})


def choices(reading: Unclear, turns: Sequence[Turn] = ()) -> tuple[Choice, ...]:
    """The readings to choose from, each with the figures that it gives where these are computed."""
    figures = [f": {figure_of(turn.reply.text)}" for turn in turns] or [""] * len(reading.meant)
    pairs = zip(reading.meant, figures, strict=True)
    return tuple(Choice(value=one.name, label=f"{one.label}{figure}") for one, figure in pairs)


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
