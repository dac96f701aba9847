"""The numbers that a table is asked for: how many rows, what their facts add up to, how much is true of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ci.importers.draft import Record
from ci.importers.names import PIECES, one


def drafted(
    entity: str, said: tuple[str, ...], record: Record, facts: Mapping[str, int], whole: Sequence[str]
) -> Iterator[Record]:
    """The metrics of *entity*, whose table is called *said*.

    *facts*: how many tables have a fact of each name. *whole*: what the rows are parts of, in the words for one.
    """
    single, several = "_".join(one(said)), " ".join(said)
    yield {
        "name": f"{single}_count",
        "description": f"how many {several} there are",
        "entity": entity,
        "agg": "count",
        "synonyms": [f"number of {one_}" for one_ in (several, *record.get("synonyms", ()))],
        "format": "integer",
    }
    for fact in record.get("facts", ()):
        title = fact["name"] if facts[fact["name"]] == 1 else f"{single}_{fact['name']}"
        plain = title.replace("_", " ")
        made = {"entity": entity, "expr": fact.get("expr", fact["name"])}
        if fact["default_aggregation"] == "sum":
            sums = [word for word in fact.get("synonyms", ()) if word.startswith("total ")]
            if sums:  # "total amount" asks for the sum, and names no number of one row
                fact["synonyms"] = [word for word in fact["synonyms"] if word not in sums]
            total = {"name": f"total_{title}", "description": f"{plain}, added up over {several}", "agg": "sum"}
            yield total | made | ({"synonyms": sums} if sums else {})
        mean = {"name": f"average_{title}", "description": f"{plain}, on average over {several}", "agg": "avg"}
        yield mean | made
    flags = {
        part["expr"] for part in record.get("dimensions", ()) if part.get("data_type") == "boolean" and "expr" in part
    }
    for narrowed in record.get("filters", ()):
        if narrowed["expr"] in flags:
            yield {
                "name": f"{narrowed['name']}_{single}_rate",
                "description": f"the share of {several} that are {narrowed['name'].replace('_', ' ')}",
                "entity": entity,
                "agg": "avg",
                "expr": f"CASE WHEN {narrowed['expr']} THEN 1.0 WHEN NOT ({narrowed['expr']}) THEN 0.0 END",
                "format": "percent",
            }
    yield from _worth(entity, single, several, record, whole)


def _worth(entity: str, single: str, several: str, record: Record, whole: Sequence[str]) -> Iterator[Record]:
    """Pieces times the price of one, where a row has just one of each."""
    facts = record.get("facts", ())
    pieces = [fact for fact in facts if _words(fact) & PIECES and "price" not in _words(fact)]
    prices = [fact for fact in facts if {"price", "unit"} <= _words(fact)]
    if len(pieces) == len(prices) == 1:
        amount, price = (part[0].get("expr", part[0]["name"]) for part in (pieces, prices))
        yield {
            "name": f"{single}_value",
            "description": f"{_plain(pieces[0])} times {_plain(prices[0])}, added up over {several}",
            "entity": entity,
            "agg": "sum",
            "expr": f"{amount} * {price}",
            "synonyms": [f"{one_} value" for one_ in whole],
        }


def _words(fact: Record) -> set[str]:
    return set(fact["name"].split("_"))


def _plain(fact: Record) -> str:
    return str(fact["name"]).replace("_", " ")
