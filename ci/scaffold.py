"""`bylaw init`: a new policy repository that checks clean, from the plain files under `ci/template/`.

A name that starts with `dot_` there starts with a dot here. No existing file is ever overwritten.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from bylaw.canonical import write_atomically
from bylaw.errors import UsageError

TEMPLATE = Path(__file__).parent / "template"
SCHEMAS = Path(__file__).parent.parent / "bylaw" / "schemas"

BARE = TEMPLATE / "__bare"  # what stands in place of the example's files where none is wanted
EXAMPLE = ("policies/refund/", "context/")  # the rest of the example: policies, a table, a metric, a decision
PLACE = "your-org"  # in the template: the organisation on GitHub
_HARMLESS = frozenset({".git"})  # a repository that was only `git init`-ed counts as empty


def init(directory: Path, force: bool = False, organisation: str | None = None, is_bare: bool = False) -> list[Path]:
    """Write a new policy repository into *directory*; the paths written, relative to it and sorted.

    *organisation*, that of GitHub, stands in every place that waits for it. Raises UsageError when the directory holds
    something, unless *force*: then only files that are missing are added. *is_bare*: without the example.
    """
    _refuse_unsuitable(directory, force)
    files = {path: filled(text, organisation) for path, text in (bare_files() if is_bare else template_files())}
    missing = [path for path in sorted(files) if not (directory / path).exists()]
    for path in missing:
        target = directory / path
        try:
            write_atomically(target, files[path])
        except OSError as error:
            raise UsageError(f"cannot write `{target}`: {error.strerror or error}") from None
    return [Path(path) for path in missing]


def filled(text: str, organisation: str | None) -> str:
    """*text* with the name of the organisation in its places; as it is where none is given."""
    return text if organisation is None else text.replace(PLACE, organisation)


def template_files() -> Iterator[tuple[PurePosixPath, str]]:
    """Every file of a new repository: where it goes and what it says. The editor's schemas go to `schemas/`."""
    for source in sorted(TEMPLATE.rglob("*")):
        inside = PurePosixPath(source.relative_to(TEMPLATE).as_posix())
        if source.is_file() and not any(part.startswith((".", "__")) for part in inside.parts):
            yield _renamed(inside), source.read_text(encoding="utf-8")
    for schema in sorted(SCHEMAS.glob("*.schema.json")):
        yield PurePosixPath("schemas") / schema.name, schema.read_text(encoding="utf-8")


def bare_files() -> Iterator[tuple[PurePosixPath, str]]:
    """The files of a new repository without the example: the words are still to be declared."""
    for path, text in template_files():
        if not path.as_posix().startswith(EXAMPLE):
            own = BARE / path
            is_owners = path.name == "CODEOWNERS"  # the last of its lines is about the example
            yield path, own.read_text(encoding="utf-8") if own.is_file() else _head(text) if is_owners else text


def _head(text: str) -> str:
    lines = text.splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith(tuple(f"/{folder}" for folder in EXAMPLE[:1])))


def summary(directory: Path, written: list[Path], has_places: bool = False, is_bare: bool = False) -> str:
    """What was written, and what to try next, for a terminal."""
    schema_count = sum(1 for path in written if path.parts[0] == "schemas")
    lines = [f"  {path.as_posix()}" for path in written if path.parts[0] != "schemas"]
    if schema_count:
        lines.append(f"  schemas/ ({schema_count} JSON Schemas for your editor)")
    if not lines:
        return f"nothing to add: every file of a new repository is already in `{directory}`"
    where = "" if directory == Path() else f" --root {directory}"
    note = f"`{PLACE}` stands where your organisation on GitHub belongs: `--org NAME` fills it in"
    places = [note, ""] if has_places else []
    if is_bare:
        begin = f"declare your words in policies/vocabulary.yaml, then: bylaw new policy{where} POL-DOMAIN-001"
        return "\n".join([f"wrote to {directory}:", *lines, "", *places, begin])
    told = [
        "the example: policies/refund/, context/, and the words in policies/vocabulary.yaml and rules/roles.yaml;",
        "write your own beside it and delete it, or begin without it: `bylaw init --bare`",
        "",
        "try next:",
        f"  bylaw check{where}",
        f"""  bylaw decide{where} --facts '{{"days_since_purchase": 12, "has_receipt": true}}'""",
        f'  bylaw ask{where} "Can I return a lamp I bought 12 days ago? I have the receipt."',
    ]
    return "\n".join([f"wrote to {directory}:", *lines, "", *places, *told])


def _refuse_unsuitable(directory: Path, force: bool) -> None:
    if directory.exists() and not directory.is_dir():
        raise UsageError(f"`{directory}` is a file", "name a folder that does not exist yet, or an empty one")
    if force or not directory.exists():
        return
    present = sorted(entry.name for entry in directory.iterdir() if entry.name not in _HARMLESS)
    if present:
        raise UsageError(
            f"`{directory}` is not empty: it holds `{present[0]}`",
            "name another folder, or add --force to write only the files that are missing",
        )


def _renamed(path: PurePosixPath) -> PurePosixPath:
    parts = (f".{part.removeprefix('dot_')}" if part.startswith("dot_") else part for part in path.parts)
    return PurePosixPath(*parts)
