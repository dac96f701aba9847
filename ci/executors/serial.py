"""Work in this process, one item after the other: the reference that every other executor is held to."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ci.executors.port import Hear, R, T, WorkerLost


class Serial:
    """No process is started: a call that brings its process down brings this one down."""

    def run(self, work: Callable[[T], R], items: Sequence[T], heard: Hear | None = None) -> list[R | WorkerLost]:
        """See `Executor.run`."""
        answers: list[R | WorkerLost] = []
        for item in items:
            answers.append(work(item))
            if heard is not None:
                heard(len(answers), len(items))
        return answers

    def close(self) -> None:
        """Nothing was started."""
