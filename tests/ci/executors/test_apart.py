"""Who is next, what is tried again, which exception is raised: for any order in which calls end and workers die."""

import pickle
from concurrent.futures import Future

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ci.executors import apart
from ci.executors.apart import Apart
from ci.executors.calls import answer
from ci.executors.port import WorkerLost


class Refused(Exception):
    pass


class Died(Exception):
    pass


def work(item):
    number, refuses = item
    if refuses:
        raise Refused(number)
    return -number


class Lanes:
    """Answers in this process, one call whenever nobody has anything else to do; which one, and who dies, is drawn."""

    def __init__(self, room, deaths, draw):
        self._room, self._deaths, self._draw = room, dict(deaths), draw
        self.under_way = []
        self.starts = []
        self.beside = {}
        self.closed = False

    def room(self):
        return self._room

    def start(self, function, item):
        future = Future()
        self.starts.append(item[0])
        self.beside[item[0]] = len(self.under_way)
        self.under_way.append((future, function, item))
        assert len(self.under_way) <= self._room
        return future

    def ended(self, future):
        return isinstance(future.exception(), Died)

    def look(self):
        future, function, item = self.under_way.pop(self._draw(len(self.under_way)))
        if self._deaths.get(item[0], 0) > 0:
            self._deaths[item[0]] -= 1
            future.set_exception(Died())
        else:
            future.set_result(answer(pickle.dumps((function, item))))

    def close(self):
        self.closed = True


@pytest.fixture(autouse=True, scope="module")
def impatient():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(apart, "LOOK_SECONDS", 0)
        yield


@given(
    st.lists(st.tuples(st.sampled_from([0, 0, 0, 1, 2, 3]), st.sampled_from([False, False, False, True])), max_size=9),
    st.integers(1, 4),
    st.data(),
)
def test_answers_do_not_depend_on_who_ends_first(plan, room, data):
    deaths = {number: times for number, (times, _) in enumerate(plan)}
    items = [(number, refuses) for number, (_, refuses) in enumerate(plan)]
    lanes = Lanes(room, deaths, lambda count: data.draw(st.integers(0, count - 1)))
    refused = [number for number, (times, refuses) in enumerate(plan) if refuses and times < 2]
    if refused:
        with pytest.raises(Refused) as caught:
            Apart(lanes).run(work, items)
        assert caught.value.args == (refused[0],)
        assert lanes.closed
        return
    found = Apart(lanes).run(work, items)
    assert found == [WorkerLost(n) if times > 1 else -n for n, (times, _) in enumerate(plan)]
    for number, (times, _) in enumerate(plan):
        assert lanes.starts.count(number) == min(times, 1) + 1
        assert times == 0 or lanes.beside[number] == 0, "tried again, but not alone"
    first = list(dict.fromkeys(lanes.starts))
    assert first == sorted(first)
    assert lanes.under_way == []


def test_an_interrupt_while_waiting_lets_go_of_the_workers():
    def interrupted(count):
        raise KeyboardInterrupt

    lanes = Lanes(2, {}, interrupted)
    with pytest.raises(KeyboardInterrupt):
        Apart(lanes).run(work, [(0, False), (1, False), (2, False)])
    assert lanes.closed
    assert lanes.starts == [0, 1]
