"""Versioned prompts: a template beside the code that uses it, its stem is the prompt's id.

A template has two blocks, `system` and `user`. Data enters through the filter `data`, as JSON: what somebody wrote can
then be told from what we say, and cannot pretend to be the end of it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from bylaw.canonical import plain
from bylaw.llm.port import Prompt

if TYPE_CHECKING:
    from jinja2 import Environment


def render(folder: Path, prompt_id: str, values: Mapping[str, Any], answer: type[BaseModel], max_tokens: int) -> Prompt:
    """The prompt of the template *prompt_id* in *folder* with these *values*, asking for an *answer*."""
    template = _environment(folder).get_template(f"{prompt_id}.j2")
    context = template.new_context(dict(values))
    said = {name: _tidy("".join(template.blocks[name](context))) for name in ("system", "user")}
    return Prompt(prompt_id, said["system"], said["user"], _schema(answer), max_tokens)


def data(value: Any) -> str:
    """*value* as one line of JSON: nothing in it can be taken for a new line."""
    from jinja2 import Undefined

    if isinstance(value, Undefined):
        str(value)  # raises, and names the value
    text = json.dumps(plain(value), ensure_ascii=False, sort_keys=True)
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in text)


def line(value: str) -> str:
    """*value* on one line: for what reviewed files say, which is ours."""
    return " ".join(value.split())


@cache
def _schema(answer: type[BaseModel]) -> dict[str, Any]:
    return answer.model_json_schema()


def _tidy(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


@cache
def _environment(folder: Path) -> Environment:
    from jinja2 import Environment as Templates
    from jinja2 import FileSystemLoader, StrictUndefined  # only where a model is asked

    # A prompt is not HTML: nothing is escaped but by the filter `data`.
    environment = Templates(
        loader=FileSystemLoader(folder), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["data"] = data
    environment.filters["line"] = line
    return environment
