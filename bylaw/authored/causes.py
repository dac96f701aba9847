"""Why something is so, and what a decision caused: the links between decisions and what they govern, from both sides.

A decision says what it `affects`; a policy or a metric may name the `decision` that it comes from. Either is enough.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from re import Pattern, compile, escape

from bylaw.authored.decisions import Decision, Decisions

Governed = tuple[str, str, str]  # policy or metric, its id, the decision that it names


def behind(decisions: Decisions, kind: str, id: str, named: str | None = None) -> list[Decision]:
    """The decisions that a policy or metric comes from: the one that it names, and those that say they affect it."""
    found = {one.id: one for one in [decisions.named(named)] if named and one is not None} if named else {}
    for one in decisions.decisions.values():
        if id.casefold() in (other.casefold() for other in getattr(one.affects, kind, ())):
            found[one.id] = one
    return sorted(found.values(), key=lambda one: (not one.stands, one.id))


def governing(decisions: Decisions, path: str) -> list[tuple[Decision, str]]:
    """The decisions that govern a file, with the pattern that says so; those that stand come first."""
    wanted = "/".join(part for part in path.replace("\\", "/").split("/") if part not in ("", "."))
    found = [(one, hit) for one in decisions.decisions.values() if (hit := _covering(one, wanted)) is not None]
    return sorted(found, key=lambda pair: (not pair[0].stands, pair[0].id))


def caused(decisions: Decisions, id: str, named: Iterable[Governed] = ()) -> dict[str, list[str]]:
    """What a decision caused, by kind: what it says that it affects, and what names it."""
    decision = decisions.decisions[id]
    found = {kind: list(getattr(decision.affects, kind)) for kind in ("path", "policy", "metric", "package")}
    for kind, name, reference in named:
        one = decisions.named(reference)
        if one is not None and one.id == id and name not in found[kind]:
            found[kind].append(name)
    return {kind: names for kind, names in found.items() if names}


def _covering(decision: Decision, path: str) -> str | None:
    return next((one for one in decision.affects.path if _pattern(one).fullmatch(path)), None)


@lru_cache(maxsize=10_000)
def _pattern(glob: str) -> Pattern[str]:
    """`jobs/**` holds all below `jobs`, `*.sql` the files of one folder; a plain name holds itself and all below it."""
    return compile("".join(_parts(glob.strip("/"))) + "(?:/.*)?")


def _parts(glob: str) -> Iterator[str]:
    at = 0
    while at < len(glob):
        if glob.startswith("**/", at):
            yield "(?:[^/]+/)*"
            at += 3
        elif glob.startswith("**", at):
            yield ".*"
            at += 2
        else:
            yield {"*": "[^/]*", "?": "[^/]"}.get(glob[at], escape(glob[at]))
            at += 1
