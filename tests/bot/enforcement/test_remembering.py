"""What is found for the very same objects is found once, and nothing is found for another one in its place."""

from __future__ import annotations

import weakref

import pytest

from bot.enforcement.question.remembering import remember


def test_the_same_objects_are_asked_once_and_equal_ones_each_for_itself():
    asked = []

    @remember(8)
    def found(*given):
        asked.append(given)
        return len(asked)

    one, other = [1], [1]
    assert [found(one), found(one), found(other), found(one, other), found(one)] == [1, 1, 2, 3, 1]
    assert asked == [(one,), (other,), (one, other)]


def test_an_object_that_takes_the_place_of_a_forgotten_one_is_not_taken_for_it():
    @remember(4)
    def found(given):
        return given[0]

    assert [found([number]) for number in range(1_000)] == list(range(1_000))


def test_no_more_are_held_than_it_is_told_to():
    class Large:
        pass

    @remember(2)
    def found(given):
        return id(given)

    given = [Large() for _ in range(7)]
    alive = weakref.WeakSet(given)
    while given:
        found(given.pop())
    assert len(alive) <= 2


def test_what_fails_is_asked_again():
    tries = iter((ValueError("not yet"), 5))

    @remember(2)
    def found(_given):
        result = next(tries)
        if isinstance(result, Exception):
            raise result
        return result

    given = object()
    with pytest.raises(ValueError, match="not yet"):
        found(given)
    assert found(given) == 5
