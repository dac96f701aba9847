"""Drawings of who took whose place: every linked decision once, every link once, whatever the records say."""

from __future__ import annotations

import re
import time

from hypothesis import given
from hypothesis import strategies as st

from ci.site.supersessions import MOST_LANES, Link, Row, drawings

NAMES = [f"d-{n}" for n in range(8)]
links = st.builds(Link, st.sampled_from([*NAMES, "gone"]), st.sampled_from(NAMES), st.booleans())
days = st.sampled_from(["", "2020-01-01", "2021-05-05", "2022-09-09"])


@given(st.lists(links, max_size=12), st.lists(days, min_size=8, max_size=8), st.text(max_size=80))
def test_every_linked_decision_is_a_row_and_every_link_a_line(given: list[Link], days: list[str], option: str) -> None:
    rows = {id: Row(id, option, "accepted", day) for id, day in zip(NAMES, days, strict=True)}
    found = "".join(drawings(rows, given))
    known = [link for link in given if link.earlier in rows]
    assert sorted(re.findall(r'href="#([^"]+)"', found)) == sorted(
        {id for one in known for id in (one.earlier, one.later)}
    )
    assert found.count('class="whole"') + found.count('class="part"') == len(known)
    assert all(f"<{name}" not in found for name in ("script", "img"))


def test_a_row_says_all_of_it_in_words_and_what_people_wrote_is_text() -> None:
    rows = {"a": Row("a", '<img src=x> & "x"', "superseded", "2020-01-01"), "b": Row("b", "New", "accepted", "")}
    (found,) = drawings(rows, [Link("a", "b"), Link("a", "b", is_partial=True)])
    assert "a: &lt;img src=x&gt; &amp; &quot;x&quot;. superseded, 2020-01-01. superseded by b. changed by b" in found
    assert "b: New. accepted. takes the place of a. changes a" in found and "<img" not in found


def test_a_thousand_in_one_chain_are_as_narrow_as_two() -> None:
    rows = {f"d-{n:04}": Row(f"d-{n:04}", "One", "superseded", f"{1000 + n}-01-01") for n in range(1_000)}
    chain = [Link(f"d-{n:04}", f"d-{n + 1:04}") for n in range(999)]
    across = [Link(f"d-{n:04}", f"d-{n + 300:04}", is_partial=True) for n in range(0, 600, 10)]
    since = time.monotonic()
    (narrow,), (wide,) = drawings(rows, chain), drawings(rows, [*chain, *across])
    assert time.monotonic() - since < 10
    widths = [int(found[1]) for one in (narrow, wide) if (found := re.search(r' width="(\d+)"', one))]
    assert widths[0] < 300 and widths[1] < 264 + 12 * (MOST_LANES + 2)
