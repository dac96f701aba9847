"""What `bylaw formalize` was asked for, run: one policy, one program, or every program of a file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any, cast

from pydantic import ValidationError

from bylaw.authored.machines.rules import Rules
from bylaw.authoring import read as read_yaml
from bylaw.errors import UsageError
from bylaw.refine.evidence import Evidence
from bylaw.refine.ledger import Judged, add_to_ledger, is_off, read_ledger
from bylaw.refine.loop import Run, run
from bylaw.refine.machine import Limits, Policy
from bylaw.refine.outcome import alarm, answer, final
from bylaw.refine.program import MAX_BYTES, Ontology, Program, Unreadable, load_json, read_program
from bylaw.refine.proposers import AxiomProposer, Proposer
from bylaw.refine.subjects import ProgramSubject
from ci.loading.load import load, rules_of
from ci.refining.draft import refuse_other_draft, write_draft, write_papers
from ci.refining.policy import PolicySubject

_POLICY_ID = re.compile(r"POL-[A-Z0-9_-]+")
_MOST_PROGRAMS = 500  # of one file


@dataclass(frozen=True)
class Wish:
    """What somebody wants refined, and how far."""

    name: str
    root: Path
    today: date
    max_iterations: int | None = None
    policy: str | None = None
    ontology: Path | None = None
    text: Path | None = None
    clock: Callable[[], float] = lambda: 0.0

    def limits(self, rules: Rules) -> Limits:
        """How far the loop goes: as was said, else as the rules say."""
        given = rules.refinement
        count = given.max_iterations if self.max_iterations is None else self.max_iterations
        return Limits(count, cast("Policy", self.policy or given.refusal_policy), float(given.seconds))


@dataclass(frozen=True)
class Formalized:
    """The runs by name; `draft` is the file that was written beside a policy, `off` why no model was asked."""

    runs: Mapping[str, Run]
    unread: Mapping[str, str] = field(default_factory=dict)
    is_batch: bool = False
    draft: str | None = None
    off: str | None = None

    @property
    def is_settled(self) -> bool:
        """Is every one of them right?"""
        return not self.unread and all(one.has_converged for one in self.runs.values())

    @property
    def alarm(self) -> str | None:
        """What is wrong with the batch as a whole."""
        return alarm([[mark.status for mark in one.marks] for one in self.runs.values()]) if self.is_batch else None

    def document(self) -> dict[str, Any]:
        """The final format of seed 003, 12; of a batch a list of them, by name."""
        if self.is_batch:
            unread = {name: {"error": message} for name, message in self.unread.items()}
            return {"runs": {**{name: final(one) for name, one in self.runs.items()}, **unread}, "alarm": self.alarm}
        (only,) = self.runs.values()
        more = {"draft": self.draft, "note": self.off}
        return {**final(only), **{key: value for key, value in more.items() if value is not None}}

    def in_words(self) -> str:
        """For people."""
        lines = [line for name, one in self.runs.items() for line in _told(name, one)]
        lines += [f"{name}: {message}" for name, message in self.unread.items()]
        lines += [f"wrote {self.draft}: read it, copy its `formal:` into the policy, and run `bylaw check`"] * bool(
            self.draft
        )
        lines += [line for line in (self.off, self.alarm) if line]
        return "\n".join(lines)


def _told(name: str, found: Run) -> Iterator[str]:
    metrics = found.metrics
    yield f"{name}: {answer(found)}"
    count, stop = metrics["num_iters"], found.stop.replace("_", " ")
    yield f"  {count} {'rewrite' if count == 1 else 'rewrites'} by {found.speaker}; stopped: {stop}"
    said = found.best.feedback
    yield from (f"  note: {note}" for note in (() if said.get("status") == "unknown" else said.get("notes", ())))
    for k, one in enumerate(found.history):
        for problem in one.problems:
            yield f"  rewrite {k} was refused: {problem}"
        if one.candidate is not None and one.candidate.assumptions:
            yield from (f"  rewrite {k} only assumes: {assumed}" for assumed in one.candidate.assumptions)


def formalized(wish: Wish) -> Formalized:
    """Run what was wished for. Raises UsageError for what is neither a policy nor a program."""
    path, _, part = wish.name.partition("#")
    if _POLICY_ID.fullmatch(wish.name) and not Path(wish.name).exists():
        return _policy(wish)
    return _programs(wish, Path(path), part)


def _policy(wish: Wish) -> Formalized:
    workspace = load(wish.root, None, wish.today)
    refuse_other_draft(workspace, wish.name)
    subject = PolicySubject.of(workspace, wish.name, workspace.at or workspace.commit_date or wish.today)
    proposer, off = _proposer(wish.root, workspace.rules, Ontology())
    found = run(subject, proposer, wish.limits(workspace.rules), wish.clock)
    write_papers(found, wish.root, wish.name)
    if (judged := _judged(found)) is not None:
        add_to_ledger(wish.root, judged)
    draft = write_draft(found, wish.root, subject.file.path)
    where = None if draft is None else draft.relative_to(wish.root).as_posix()
    return Formalized({wish.name: found}, draft=where, off=off)


def _judged(found: Run) -> Judged | None:
    """The last rewrite, judged by the cases; None where there was none."""
    scored = [mark for mark in found.marks if mark.has_score]
    if len(scored) < 2:
        return None
    gained = scored[-1].cases_held - scored[0].cases_held
    return Judged(found.speaker, found.version, max(0, gained), max(0, -gained))


def _programs(wish: Wish, path: Path, part: str) -> Formalized:
    given = load_json(_text_of(path))
    rules = rules_of(wish.root)
    ontology = Ontology() if wish.ontology is None else _ontology(wish.ontology)
    text = "" if wish.text is None else _text_of(wish.text)
    named = dict(_named(given, path.stem))
    if not named:
        raise UsageError(f"`{path}` holds no logic program", "write `rules` and a `query`, or a list of such programs")
    if part:
        if part not in named:
            raise UsageError(
                f"`{path}` holds no program `{part}`", f"it holds {', '.join(sorted(named)[:20]) or 'none'}"
            )
        named = {part: named[part]}
    proposer, off = _proposer(wish.root, rules, ontology)
    is_batch = isinstance(given, list) and not part
    runs: dict[str, Run] = {}
    unread: dict[str, str] = {}
    for name, document in named.items():
        program = document.get("logic_program", document)
        quoted = text or str(document.get("text", "") if program is not document else "")
        try:
            reading = read_program(program, ontology if wish.ontology else None)
            subject = ProgramSubject(reading, Evidence(quoted, ontology), str(document.get("question", "")))
            runs[name] = run(subject, proposer, wish.limits(rules), wish.clock)
        except Unreadable as error:
            if not is_batch:
                raise
            unread[name] = error.message  # the others go on
            continue
        if _is_root(wish.root):
            write_papers(runs[name], wish.root, re.sub(r"[^\w.-]", "_", name))
    return Formalized(runs, unread, is_batch, off=off)


def _named(given: Any, stem: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The programs of a file by name: one, or those of a list that have one."""
    if isinstance(given, Mapping):
        yield str(given.get("name") or given.get("id") or stem), given
        return
    if not isinstance(given, list) or not all(isinstance(one, Mapping) for one in given):
        raise Unreadable(["it is neither a program nor a list of programs"])
    if len(given) > _MOST_PROGRAMS:
        raise Unreadable([f"it lists {len(given)} programs, at most {_MOST_PROGRAMS} are read"])
    for i, one in enumerate(given):
        if "logic_program" in one or "rules" in one:
            yield str(one.get("name") or one.get("id") or f"{stem}:{i}"), one


def _proposer(root: Path, rules: Rules, ontology: Ontology) -> tuple[Proposer, str | None]:
    """Who proposes: the model where there is one that does good, else the axioms."""
    from bylaw.cli import proposer_for_root  # only the command composes the wings

    model: Proposer | None = proposer_for_root(root, rules)
    own = AxiomProposer(ontology.axioms)
    if model is None:
        return own, None
    if is_off(read_ledger(root), model.name, model.version, rules.refinement.judged_runs):
        return own, f"{model.name} has made more errors than it mended here and is not asked any more"
    return model, None


def _is_root(root: Path) -> bool:
    return any((root / folder).exists() for folder in ("policies", "rules", "context"))


def _text_of(path: Path) -> str:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise Unreadable([f"`{path}` has {path.stat().st_size:,} bytes, at most {MAX_BYTES:,} are read"])
        return path.read_text(encoding="utf-8")
    except OSError as error:
        help = "name a file with a logic program, or the id of a policy"
        raise UsageError(f"`{path}` cannot be read: {(error.strerror or 'no reason').lower()}", help) from None
    except UnicodeDecodeError:
        raise Unreadable([f"`{path}` is no UTF-8 text"]) from None


def _ontology(path: Path) -> Ontology:
    text = _text_of(path)
    try:
        found = Ontology.model_validate(load_json(text) if path.suffix == ".json" else read_yaml(text))
        read_program(Program(sorts=found.sorts, predicates=found.predicates, axioms=found.axioms))
    except ValidationError as error:
        problem = error.errors(include_input=False)[0]
        place = ".".join(map(str, problem["loc"]))
        raise UsageError(f"the ontology `{path}` cannot be read: `{place}`: {problem['msg']}") from None
    except Unreadable as error:  # an axiom that is left out would be one nobody misses
        raise UsageError(f"the ontology `{path}` cannot be read: {'; '.join(error.problems[:3])}") from None
    return found
