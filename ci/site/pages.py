"""The rule book as HTML: an overview with search, a page a domain, one of decisions; each alone, without a network."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from bylaw.canonical import write_atomically
from bylaw.errors import UsageError
from ci.loading.files import FOLDERS
from ci.site.book import Book

_TEMPLATES = Path(__file__).parent / "templates"


def pages(book: Book) -> Iterator[tuple[str, str]]:
    """Each page: its path in the folder, and its text. The same book gives the same bytes."""
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["svg"] = lambda text: Markup(text)
    environment.filters["code"] = _code
    shared = {"book": book, "index": _search(book)}
    yield "index.html", environment.get_template("index.html.j2").render(**shared, up="")
    for domain in book.domains:
        page = environment.get_template("domain.html.j2")
        yield f"domains/{domain}.html", page.render(**shared, domain=domain, up="../")
    page = environment.get_template("decisions.html.j2")
    yield "decisions.html", page.render(**shared, line=book.timeline, up="")


def _code(text: str) -> Markup:
    """*text* with what stands in backticks as code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def _search(book: Book) -> Markup:
    """What the search of the overview looks through, as JSON that is safe inside a page."""
    rows = [
        {
            "id": policy.id,
            "page": f"domains/{policy.domain}.html#{policy.id}",
            "text": " ".join(
                [policy.source, policy.owner, *(f"{r.words} {r.source_text}" for r in policy.rules), *policy.texts]
            ),
        }
        for policy in book.policies
    ]
    rows += [
        {"id": one.id, "page": f"decisions.html#{one.id}", "text": " ".join([one.option, one.who, one.why, *one.names])}
        for one in book.timeline.decisions
    ]
    text = json.dumps(rows, ensure_ascii=True, sort_keys=True)
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


def write(root: Path, folder: Path, book: Book) -> Path:
    """Write the pages into *folder*; the path of the overview. Raises UsageError where they cannot be written.

    A page of a domain that is gone is deleted; nothing else in the folder is touched.
    """
    target = folder.resolve()
    if target == root.resolve() or any(target.is_relative_to(root.resolve() / name) for name in FOLDERS):
        raise UsageError("the rule book cannot be written among the policies", "name another folder, like `site`")
    made = dict(pages(book))
    try:
        for path, text in made.items():
            write_atomically(folder / path, text, durable=False)
        for stale in sorted((folder / "domains").glob("*.html")):
            if f"domains/{stale.name}" not in made:
                stale.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(f"cannot write into `{folder}`: {error.strerror or error}") from None
    return folder / "index.html"
