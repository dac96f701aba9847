"""Whoever listens hears of every part and of the end; nobody else pays for it."""

import pytest

from ci.progress import each


@pytest.mark.parametrize(
    ("parts", "told"), [("", []), ("a", [(0, 1), (1, 1)]), ("abc", [(0, 3), (1, 3), (2, 3), (3, 3)])]
)
def test_every_part_and_the_end_are_heard_of(parts, told):
    heard = []
    assert "".join(each("reading", parts, lambda what, done, of: heard.append((what, done, of)))) == parts
    assert heard == [("reading", done, of) for done, of in told]
    assert "".join(each("reading", parts, None)) == parts


def test_work_that_is_left_is_not_told_as_done():
    heard = []
    next(each("reading", "abc", lambda *told: heard.append(told)))
    assert heard == [("reading", 0, 3)]
