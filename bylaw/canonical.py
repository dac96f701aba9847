"""One spelling for every value: canonical JSON, and the hashes taken over it.

Sorted keys, UTF-8, no insignificant space, decimals as strings, dates as ISO text. Two equal values have the same
bytes on every machine, so fingerprints and etags can be compared across processes and commits.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Set
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from pathlib import Path
from typing import Any

from pydantic import BaseModel

_PLAIN = frozenset((str, int, bool, type(None)))  # nearly all that there is
_DEEPEST = 40  # lists and objects inside one another, in what comes from outside
_MOST_BITS = 13_000  # of a whole number: one of more than 4,300 digits is not written


def plain(value: Any) -> Any:
    """Reduce *value* to what JSON knows. Raises TypeError for a float that is not finite and for unknown types."""
    kind = type(value)
    if kind in _PLAIN:
        return value
    if kind is dict:
        return {str(key): item if type(item) in _PLAIN else plain(item) for key, item in value.items()}
    if kind is list or kind is tuple:
        return [item if type(item) in _PLAIN else plain(item) for item in value]
    if isinstance(value, BaseModel):
        return plain(value.model_dump(mode="python"))
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, str | int):
        return value
    if isinstance(value, Decimal | Fraction):
        return number_text(value)
    if isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            raise TypeError("a number that is not finite has no canonical form")
        return value
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, Set):
        return sorted((plain(item) for item in value), key=lambda item: json.dumps(item, sort_keys=True))
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    raise TypeError(f"{type(value).__name__} has no canonical form")


def number_text(value: Decimal | Fraction) -> str:
    """A number exactly: `0.1`, `1500`, or `5/72` where no finite decimal says it."""
    exact = Fraction(value)
    rest, twos, fives = exact.denominator, 0, 0
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    if rest != 1:
        return f"{exact.numerator}/{exact.denominator}"
    digits = max(twos, fives)
    if digits == 0:
        return str(exact.numerator)
    scaled = abs(exact.numerator) * 10**digits // exact.denominator
    text = str(scaled).rjust(digits + 1, "0")
    return f"{'-' if exact < 0 else ''}{text[:-digits]}.{text[-digits:]}"


# the canonical JSON of a value that is JSON already; what is plain holds no circle
spelled = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False, check_circular=False
).encode


def canonical_json(value: Any) -> str:
    """The one JSON text of *value*."""
    return spelled(plain(value))


def fingerprint(value: Any) -> str:
    """sha256 over the canonical JSON of *value*, in hex (64 characters)."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()


def texts_in(value: Any) -> Iterator[str]:
    """Every text in a value of JSON: the keys of its objects, too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from texts_in(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield str(key)
            yield from texts_in(item)


def write_atomically(path: Path, text: str | Iterable[str], durable: bool = True) -> None:
    """Write *text* to a temporary neighbour, then rename: a stopped process leaves the old file or the new one.

    Long text may come in pieces. *durable* waits until the disk has it; leave it out for many files that can be made
    again. What is no file, such as a pipe, cannot be replaced and is written to.
    """
    pieces = (text,) if isinstance(text, str) else text
    if path.exists() and not (path.is_file() or path.is_dir()):
        with path.open("w", encoding="utf-8", newline="\n") as stream:
            stream.writelines(pieces)
        return
    handle, name = _neighbour(path)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
            stream.writelines(pieces)
            if durable:
                stream.flush()
                os.fsync(stream.fileno())
        temporary.chmod(0o644)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _neighbour(path: Path) -> tuple[int, str]:
    """A new file beside *path*, open for writing; its folder is made where there is none."""
    folder, prefix = path.parent, f".{path.name}."
    try:
        return tempfile.mkstemp(dir=folder, prefix=prefix)
    except FileNotFoundError:
        folder.mkdir(parents=True, exist_ok=True)
        return tempfile.mkstemp(dir=folder, prefix=prefix)


def settle_folder(folder: Path) -> None:
    """Wait until the disk knows what is in *folder*, and what no longer is."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def is_text(text: str) -> bool:
    """Can *text* be kept and sent? Neither a null nor half a pair of surrogates can."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text


def is_sound(value: Any, depth: int = 0) -> bool:
    """Can JSON from outside be kept and sent: is all its text text, and is it nested no deeper than a form?"""
    match value:
        case str():
            return is_text(value)
        case int():
            return value.bit_length() <= _MOST_BITS
        case Mapping():
            return depth < _DEEPEST and all(
                is_text(str(key)) and is_sound(one, depth + 1) for key, one in value.items()
            )
        case list() | tuple():
            return depth < _DEEPEST and all(is_sound(one, depth + 1) for one in value)
    return True
