"""Coverage for people and machines: the table, its JSON, and the missing cases as text to paste."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby
from typing import Any

import click

from bylaw.logic.formula.ir import Facts
from bylaw.logic.words.prose import Labels, case_in_words, sentence, value_in_words
from bylaw.logic.words.readable import as_formula
from ci.coverage.goals import KINDS, Goal
from ci.coverage.measure import share
from ci.coverage.missing import MissingCase, Survey
from ci.proofs.entry import entry
from ci.proofs.theory import Theory

PLURAL: Mapping[str, str] = {
    "rule": "rules",
    "boundary": "boundaries",
    "region": "regions",
    "exception": "exceptions",
}
TOLD = 3  # of what a missing case shows, before the rest is counted
LONGEST_NAME = 200  # the model of a case allows no longer one


@dataclass(frozen=True, slots=True)
class Report:
    """A survey with what it takes to tell it. `own_day` is the day of cases that name none. `has_unproven`: a rule
    cannot be read, and no case is written of what it may change.
    """

    survey: Survey
    theory: Theory
    labels: Labels
    threshold: float
    own_day: int
    has_unproven: bool = False

    @property
    def share(self) -> float:
        """The share of everything counted that the cases cover."""
        return share(self.survey.coverage.tally())

    @property
    def is_below(self) -> bool:
        """Does it lie below what rules/ci.yaml asks for?"""
        return self.share < self.threshold

    # ---- the table --------------------------------------------------------------------------------------------------

    def table(self) -> str:
        """A line a policy, the sum, and what to do next."""
        rows = [(name, *self._cells(rules)) for name, rules in self._policies()]
        total = ("total", *self._cells(None))
        head = ("policy", *(PLURAL[kind] for kind in KINDS), "covered")
        widths = [max(len(row[n]) for row in (head, total, *rows)) for n in range(len(head))]
        lines = [click.style(_line(head, widths), bold=True)]
        lines += [_coloured(_line(row, widths), row[-1]) for row in rows]
        lines.append(click.style(_line(total, widths), bold=True))
        return "\n".join([*lines, "", *self._remarks()])

    def _policies(self) -> list[tuple[str, list[int]]]:
        rules = self.theory.ruleset.rules
        counted = sorted({item.rule for item in self.survey.coverage.items}, key=lambda i: (rules[i].policy_id, i))
        return [(name, list(group)) for name, group in groupby(counted, key=lambda i: rules[i].policy_id)]

    def _cells(self, rules: Sequence[int] | None) -> tuple[str, ...]:
        coverage = self.survey.coverage
        parts = [coverage.tally(kind, rules) for kind in KINDS]
        return (*(f"{done}/{count}" if count else "-" for done, count in parts), percent(coverage.tally(None, rules)))

    def _remarks(self) -> Iterator[str]:
        survey = self.survey
        if survey.missing:
            noun = "case" if len(survey.missing) == 1 else "cases"
            yield f"{len(survey.missing)} more {noun} would show the rest: `bylaw cases --missing` writes them"
        left_out = [item for item in survey.coverage.items if not survey.coverage.counts(item)]
        if left_out:
            parts = [(kind, sum(item.kind == kind for item in left_out)) for kind in KINDS]
            told = ", ".join(f"{count} {PLURAL[kind] if count > 1 else kind}" for kind, count in parts if count)
            yield f"not counted, because no case can show them: {told}; `--json` names them"
        if survey.unknown:
            yield f"for {len(survey.unknown)} of these no case was found; `--json` names them"
        if self.is_below:
            yield (
                f"the coverage of {percent(survey.coverage.tally())} lies below the {_percent(self.threshold)} that "
                "`case_coverage_threshold` in rules/ci.yaml asks for"
            )

    def json(self) -> str:
        """The same as one JSON document."""
        survey, coverage = self.survey, self.survey.coverage
        document = {
            "policies": [{"policy_id": name, **self._tallies(rules)} for name, rules in self._policies()],
            "total": self._tallies(None),
            "share": round(self.share, 4),
            "threshold": self.threshold,
            "is_below_threshold": self.is_below,
            "open": [self._open(goal) for goal in coverage.open],
            "impossible": [
                self._open(goal) for item in coverage.items for goal in item.goals if goal in coverage.impossible
            ],
            "unknown": [self._open(goal) for goal in survey.unknown],
            "missing": [self._missing(name, case) for name, case in self._named()],
        }
        return json.dumps(document, indent=2, ensure_ascii=False)

    def _tallies(self, rules: Sequence[int] | None) -> dict[str, dict[str, int]]:
        parts = {PLURAL[kind]: self.survey.coverage.tally(kind, rules) for kind in KINDS}
        return {name: {"covered": done, "count": count} for name, (done, count) in parts.items()}

    def _open(self, goal: Goal) -> dict[str, Any]:
        rule = self.theory.ruleset.rules[goal.rule]
        return {"policy_id": rule.policy_id, "rule_id": rule.rule_id, "aim": goal.aim, "words": self.in_words(goal)}

    # ---- missing cases ----------------------------------------------------------------------------------------------

    def yaml(self, most: int | None = None) -> str:
        """The missing cases as entries to paste, at most *most*: a block a domain, each with what it shows."""
        blocks = groupby(self.entries(most), key=lambda pair: pair[0])
        return "".join(f"# {path}\n{''.join(text for _, text in entries)}" for path, entries in blocks)

    def entries(self, most: int | None = None) -> list[tuple[str, str]]:
        """Each missing case as the file it belongs into and its text."""
        return [(f"policies/{case.domain}/cases.yaml", self._entry(name, case)) for name, case in self._named()[:most]]

    def _named(self) -> list[tuple[str, MissingCase]]:
        named: dict[str, MissingCase] = {}
        for case in self.survey.missing:
            words = case_in_words(case.facts, self.labels)
            if case.day != self.own_day:
                words += f", on {date.fromordinal(case.day).isoformat()}"
            words, n = words[: LONGEST_NAME - 10], 1
            name = words
            while name in named:
                n += 1
                name = f"{words} ({n})"
            named[name] = case
        return list(named.items())

    def _entry(self, name: str, case: MissingCase) -> str:
        shows = list(dict.fromkeys(map(self.in_words, case.goals)))
        more = f"; and {len(shows) - TOLD} more" if len(shows) > TOLD else ""
        text = entry(name, self._shown(case.facts), case.expect)
        if case.day != self.own_day:
            text = text.replace("\n", f'\n  at: "{date.fromordinal(case.day).isoformat()}"\n', 1)
        return f"# {'; '.join(shows[:TOLD])}{more}\n{text}"

    def _missing(self, name: str, case: MissingCase) -> dict[str, Any]:
        return {
            "path": f"policies/{case.domain}/cases.yaml",
            "name": name,
            "at": date.fromordinal(case.day).isoformat(),
            "facts": self._shown(case.facts),
            "expect": dict(case.expect),
            "shows": list(dict.fromkeys(map(self.in_words, case.goals))),
        }

    def _shown(self, facts: Facts) -> dict[str, Any]:
        variables = self.theory.ruleset.variables
        return {name: variables[name].show(value) for name, value in sorted(facts.items())}

    def in_words(self, goal: Goal) -> str:
        """What a case that shows it would show."""
        id = self.theory.ruleset.rules[goal.rule].rule_id
        match goal.aim:
            case "fires":
                return f"{id} fires"
            case "wins":
                return f"{id} wins"
            case "region":
                assert goal.box is not None
                return f"{id} where {sentence(as_formula(goal.box, self.theory.ruleset.variables), self.labels)}"
            case "otherwise":
                return f"the exception {id} does not hold"
        assert goal.edge is not None
        side, verb = (goal.edge.inside, "holds") if goal.aim == "inside" else (goal.edge.outside, "does not hold")
        label = self.labels.get(goal.edge.var)
        said = value_in_words(side.value, label) if label else value_in_words(side.value)
        return f"{id} {verb} at {(label and label.label) or goal.edge.var} {said}"


def percent(tally: tuple[int, int]) -> str:
    """A share in whole percent, rounded down: 100 % is everything."""
    return _percent(share(tally)) if tally[1] else "-"


def _percent(part: float) -> str:
    return f"{int(part * 100 + 1e-9)} %"


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *rest = [cell.rjust(width) for cell, width in zip(cells, widths, strict=True)]
    return "  ".join([first.strip().ljust(widths[0]), *rest])


def _coloured(line: str, covered: str) -> str:
    colour = "green" if covered in ("100 %", "-") else "yellow"
    return click.style(line, fg=colour)
