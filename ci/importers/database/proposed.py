"""Descriptions and synonyms that a language model proposed for a draft: what it may be asked, and what of it is taken.

No model is asked from here. One is shown names, types, comments and closed lists, and nothing of a personal column.
What it answers is data: a name that is not there, a word that already means something, a word of time or of counting,
and whatever looks personal is left behind with its reason. What is taken is marked as a draft, for review.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bylaw.authored.machines.enforcement import Pii
from bylaw.errors import UsageError
from ci.importers.draft import ContextDraft, Record
from ci.importers.phrases import PARTS, Meanings, key_of

_TASK = (
    "Describe these tables, columns and numbers for people who ask questions about them, in one short sentence each. "
    "Say which other words people use for them. Leave out what you do not know. Answer with one JSON object that meets "
    "`answer_schema`; names are those given here, a column is `table.column`."
)
Line = Annotated[str, Field(min_length=1, max_length=200)]
Phrase = Annotated[str, Field(min_length=2, max_length=60)]


class Words(BaseModel):
    """What is said of one thing."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    description: Line | None = None
    synonyms: Annotated[tuple[Phrase, ...], Field(max_length=5)] = ()


class ProposedWords(BaseModel):
    """A model's answer. A key of `of` is an entity, `entity.part` or a metric; of `values` `entity.dimension=value`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    of: Annotated[dict[str, Words], Field(max_length=5_000)] = {}
    values: Annotated[dict[str, Annotated[tuple[Phrase, ...], Field(max_length=5)]], Field(max_length=5_000)] = {}


def request(draft: ContextDraft) -> dict[str, Any]:
    """What a model is asked: the names of the draft with what is known of them."""
    shown = ("name", "data_type", "description", "synonyms", "sample_values", "unit", "right_entity")
    tables = [
        {
            "name": name,
            "description": entity.get("description"),
            "synonyms": entity.get("synonyms", []),
            **{part: [_only(one, shown) for one in entity.get(part, ())] for part in PARTS},
        }
        for name, entity in sorted(draft.records["entities"].items())
    ]
    metrics = [_only(one, ("name", "description", "synonyms")) for _, one in sorted(draft.records["metrics"].items())]
    return {"task": _TASK, "answer_schema": ProposedWords.model_json_schema(), "tables": tables, "metrics": metrics}


def read(text: str) -> ProposedWords:
    """The answer in *text*. Raises UsageError for what is none."""
    try:
        return ProposedWords.model_validate_json(text)
    except (ValidationError, RecursionError) as problem:
        where = ".".join(map(str, problem.errors()[0]["loc"])) if isinstance(problem, ValidationError) else "-"
        raise UsageError(
            f"the proposed words cannot be read at `{where[:100]}`",
            "`--ask-model FILE` says in what form they are asked for",
        ) from None


def take(draft: ContextDraft, words: ProposedWords, pii: Pii, is_measured: bool = True) -> None:
    """Take into *draft* what holds of *words*; the rest is said to be left behind.

    *is_measured*: the draft is one of a database, so what describes its metrics is ours and gives way.
    """
    holder = _Holder(draft, pii, Meanings(draft.records), is_measured)
    holder.proposed = Counter(
        key
        for one in (*(said.synonyms for said in words.of.values()), *words.values.values())
        for key in {*map(key_of, one)}
    )
    for name, said in sorted(words.of.items()):
        holder.take(name, said)
    for name, phrases in sorted(words.values.items()):
        holder.take_values(name, phrases)
    draft.checked()


@dataclass(slots=True)
class _Holder:
    """Holds proposals to one draft, and to every phrase that means something there."""

    draft: ContextDraft
    pii: Pii
    meanings: Meanings
    is_measured: bool
    proposed: Counter[tuple[str, ...]] = field(default_factory=Counter)

    def take(self, name: str, said: Words) -> None:
        found = self._named(name)
        if found is None:
            self.draft.drop(f"proposed: {name[:100]}", "the draft has nothing of this name, or it is personal")
            return
        section, owner, route, record = found
        told: list[str] = []
        if said.description is not None:
            why = self._not_shown(said.description) or self._described(section, route, record)
            if why:
                self.draft.drop(f"proposed: {name} (description)", why)
            else:
                record["description"] = " ".join(said.description.split())
                told.append("description")
        kept = [phrase for phrase in said.synonyms if self._is_free(name, phrase)]
        if kept:
            record["synonyms"] = [*record.get("synonyms", ()), *kept]
            told.append(f"synonyms {', '.join(kept)}")
        if told:
            self.draft.note(section, owner, route, f"proposed by a model, for review: {'; '.join(told)}")

    def _described(self, section: str, route: tuple[str, ...], record: Record) -> str:
        """Why a description is not taken: people wrote one beside the table, or there is no place for one."""
        if route[:1] == ("relationships",):
            return "a join has no description"
        is_ours = self.is_measured and section == "metrics"
        is_free = is_ours or str(record.get("description") or "one row per").startswith("one row per")
        return "" if is_free else "the source has a description of its own there"

    def take_values(self, name: str, phrases: tuple[str, ...]) -> None:
        column, _, value = name.partition("=")
        found = self._named(column)
        if found is None or value not in map(str, found[3].get("sample_values", ())):
            self.draft.drop(f"proposed: {name[:100]}", "it is no value of a closed list of the draft")
            return
        section, owner, route, record = found
        kept = [phrase for phrase in phrases if self._is_free(name, phrase)]
        if kept:
            record.setdefault("value_synonyms", {}).setdefault(value, []).extend(kept)
            self.draft.note(section, owner, route, f"proposed by a model, for review: {value} is {', '.join(kept)}")

    def _named(self, name: str) -> tuple[str, str, tuple[str, ...], Record] | None:
        """The record of a name: its section, its file, the place in it."""
        owner, _, part = name.partition(".")
        entity = self.draft.records["entities"].get(owner)
        if not part:
            metric = self.draft.records["metrics"].get(name)
            found = entity or metric
            return None if found is None else ("entities" if entity else "metrics", name, (), found)
        for section in PARTS if entity is not None else ():
            for one in (entity or {}).get(section, ()):
                if one["name"] == part:
                    return "entities", owner, (section, part), one
        return None

    def _is_free(self, name: str, phrase: str) -> bool:
        why = self._not_shown(phrase) or self.meanings.taken(phrase)
        if not why and self.proposed[key_of(phrase)] > 1:
            why = "it is proposed for several things"
        if why:
            self.draft.drop(f"proposed: {name} ({phrase})", why)
            return False
        self.meanings.add(phrase)
        return True

    def _not_shown(self, text: str) -> str:
        """Why a text is not written; empty where it may be."""
        if not text.isprintable() or not text.strip():
            return "it holds what people do not see"
        if any(re.search(pattern.regex, text) for pattern in self.pii.patterns.values()):
            return "it looks personal"
        return ""


def _only(record: Mapping[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    return {key: record[key] for key in keys if record.get(key) not in (None, [], "")}
