"""A bar where somebody looks, after a while, and nowhere else."""

import io

import pytest

from bylaw.progress import heard, progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _a_capable_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")


def test_nobody_hears_where_nobody_looks() -> None:
    stream = io.StringIO()
    with progress(stream, quiet=0) as hear:
        assert hear is None
    assert stream.getvalue() == ""


def test_short_work_shows_nothing() -> None:
    stream = Terminal()
    with progress(stream, quiet=3600) as hear:
        assert hear is not None
        for done in range(11):
            hear("looking for conflicts", done, 10)
    assert stream.getvalue() == ""


def test_long_work_shows_what_is_done_and_cleans_up() -> None:
    stream = Terminal()
    with progress(stream, quiet=0) as hear:
        assert hear is not None
        hear("looking for conflicts", 1, 10)
        hear("looking for gaps", 10, 10)
    shown = stream.getvalue()
    assert "looking for conflicts" in shown
    assert "looking for gaps" in shown
    assert shown.rstrip().endswith(("\x1b[2K", "\x1b[?25h", "\x1b[1A\x1b[2K"))


def test_a_failure_leaves_the_terminal_in_order() -> None:
    stream = Terminal()
    with pytest.raises(ZeroDivisionError), progress(stream, quiet=0) as hear:
        assert hear is not None
        hear("dividing", 1, 2)
        raise ZeroDivisionError
    assert "\x1b[?25h" in stream.getvalue(), "the cursor is shown again"


def test_of_what_follows_each_other_one_bar_stays() -> None:
    stream = Terminal()
    with progress(stream, quiet=0) as hear:
        assert hear is not None
        for what in ("reading", "formalizing", "looking for gaps"):
            hear(what, 10, 10)
        (last,) = hear.__self__._drawn.tasks  # type: ignore[attr-defined]  # the bar behind the listener
    assert last.description == "looking for gaps"


def test_many_small_parts_are_told_now_and_then_and_at_the_end() -> None:
    told: list[tuple[str, int, int]] = []
    parts = range(1_200)
    assert list(heard("counting", parts, 1_200, lambda *one: told.append(one))) == list(parts)
    assert told == [("counting", done, 1_200) for done in (0, 500, 1_000, 1_200)]
    place = iter((0, 70, 90))
    told.clear()
    list(heard("reading", parts, 100, lambda *one: told.append(one), lambda: next(place)))
    assert [done for _, done, _ in told] == [0, 70, 90, 100]
    assert list(heard("unheard", parts, 0, None)) == list(parts)
