"""Work in other processes, whoever runs them: who is next, what is tried again, which exception is raised."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Protocol

from ci.executors.calls import read
from ci.executors.port import Hear, R, T, WorkerLost

LOOK_SECONDS = 1.0  # how often somebody asks whether anybody is still at work


class Lanes(Protocol):
    """Other processes, each call of which is a future."""

    def room(self) -> int:
        """How many calls may be under way."""
        ...

    def start(self, work: Callable[[T], R], item: T) -> Future[bytes]:
        """Have the call answered by `calls.answer`."""
        ...

    def ended(self, future: Future[bytes]) -> bool:
        """Take note that a call has ended; did its worker die?"""
        ...

    def look(self) -> None:
        """Nothing has ended for a while. Raise when nothing ever will."""
        ...

    def close(self) -> None:
        """Let go of everything, of what is under way too."""
        ...


class Apart:
    """What all work in other processes has in common: who is next, what is tried again, which exception is raised."""

    def __init__(self, lanes: Lanes) -> None:
        self._lanes = lanes

    def run(self, work: Callable[[T], R], items: Sequence[T], heard: Hear | None = None) -> list[R | WorkerLost]:
        """See `Executor.run`."""
        try:
            return self._run(work, items, heard)
        except BaseException:
            self._lanes.close()  # an interrupt too must not leave anybody at work
            raise

    def close(self) -> None:
        """Let go of the workers."""
        self._lanes.close()

    def _run(self, work: Callable[[T], R], items: Sequence[T], heard: Hear | None) -> list[R | WorkerLost]:
        waiting = deque(range(len(items)))
        again: deque[int] = deque()
        tried: set[int] = set()
        answers: dict[int, R | WorkerLost] = {}
        errors: dict[int, BaseException] = {}
        flying: dict[Future[bytes], int] = {}

        def start(index: int) -> None:
            flying[self._lanes.start(work, items[index])] = index

        while len(answers) < len(items):
            while waiting and len(flying) < max(1, self._lanes.room()):
                start(waiting.popleft())
            if not flying:
                start(again.popleft())
            done, _ = wait(flying, timeout=LOOK_SECONDS, return_when=FIRST_COMPLETED)
            if not done:
                self._lanes.look()
            for future in done:
                index = flying.pop(future)
                if not self._lanes.ended(future):
                    error, answer = read(future.result())
                    if error is not None:
                        errors[index] = error
                    else:
                        answers[index] = answer
                elif index in tried:
                    answers[index] = WorkerLost(index)
                else:
                    tried.add(index)
                    again.append(index)
            if errors:
                # INVARIANT: items start in their order, so whatever may still raise before `first` has started.
                first = min(errors)
                waiting.clear()
                again = deque(sorted(index for index in again if index < first))
                if not again and all(index > first for index in flying.values()):
                    raise errors[first]
            if done and heard is not None:
                heard(len(answers), len(items))
        return [answers[index] for index in range(len(items))]
