"""The command as a whole: its table, its exit codes, what it says when a call is wrong, and what it never loads."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from bylaw import cli
from bylaw.cli import COMMANDS, SECTIONS, _anywhere, load_verb
from bylaw.errors import BundleError, BylawError, UsageError
from tests.fakes.forked import Forked
from tests.rows import each

Command = Callable[..., Any]


def test_help_lists_every_verb_with_its_line(bylaw: Command) -> None:
    done = bylaw("--help")
    assert (done.code, done.err) == (0, "")
    shown = " ".join(done.out.split())
    for verb, (_, line) in COMMANDS.items():
        assert f"{verb} {line}" in shown
    assert bylaw("-h").out == done.out


def test_help_lists_a_verb_once_and_under_a_heading(bylaw: Command) -> None:
    listed = [verb for verbs in SECTIONS.values() for verb in verbs]
    assert sorted(listed) == sorted(COMMANDS)
    shown = bylaw("--help").out
    assert [shown.index(f"\n{title}:") for title in SECTIONS] == sorted(
        shown.index(f"\n{title}:") for title in SECTIONS
    )


def test_alone_it_shows_its_help(call: Command) -> None:
    done = call()
    assert done.code in (0, 2)
    assert "Usage: bylaw" in done.out + done.err


@pytest.mark.parametrize("verb", COMMANDS)
def test_a_verb_explains_itself(verb: str, call: Command) -> None:
    done = call(verb, "--help")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"Usage: bylaw {verb} ")
    assert len(done.out.splitlines()) > 4


@pytest.mark.parametrize("verb", COMMANDS)
def test_an_option_that_does_not_exist_is_wrong_usage(verb: str, call: Command) -> None:
    done = call(verb, "--no-such-option")
    assert (done.code, done.out) == (2, "")
    assert "--no-such-option" in done.err or "No such command" in done.err


@each("verb", COMMANDS)
def test_names_of_options_are_the_same_everywhere(verb: str) -> None:
    command = load_verb(verb)
    many = command.commands.values() if isinstance(command, click.Group) else [command]
    for one in many:
        options = {name for option in one.params if isinstance(option, click.Option) for name in option.opts}
        # `--root` names a folder everywhere; `--repo` is GitHub's word for the repository there.
        assert not options & {"--output-dir", "--out", "--dir", "--repository", "--as-json", "--user"}
        assert "--repo" not in options or "--root" in options
        for option in one.params:
            if isinstance(option, click.Option):
                assert option.help, f"bylaw {verb} {option.opts[0]} says nothing about itself"


@pytest.mark.parametrize(
    ("typed", "meant"), [("chekc", "check"), ("decied", "decide"), ("complie", "compile"), ("askk", "ask")]
)
def test_a_mistyped_verb_names_the_nearest(typed: str, meant: str, call: Command) -> None:
    done = call(typed)
    assert done.code == 2
    assert f"`{typed}` is not a verb of bylaw; did you mean `{meant}`?" in done.err


def test_a_word_near_to_no_verb_leads_to_the_list(call: Command) -> None:
    done = call("xyzzy")
    assert done.code == 2
    assert "`bylaw --help` lists the verbs" in done.err


@each(
    ("given", "sorted_"),
    [
        (["check", "--no-color"], ["--no-color", "check"]),
        (["check", "--root", "x", "--debug"], ["--debug", "check", "--root", "x"]),
        (["sql", "check", "--", "--no-color"], ["sql", "check", "--", "--no-color"]),
        (["--no-color", "check"], ["--no-color", "check"]),
        ([], []),
    ],
)
def test_options_of_the_whole_command_may_stand_behind_a_verb(given: list[str], sorted_: list[str]) -> None:
    assert _anywhere(given) == sorted_


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> Callable[[BaseException], None]:
    """Makes the verb `check` end with an error."""

    def plant(error: BaseException) -> None:
        @click.command()
        def failing() -> None:
            raise error

        monkeypatch.setattr(cli, "load_verb", lambda verb: failing)

    return plant


@pytest.mark.parametrize(
    ("error", "code", "says"),
    [
        (UsageError("`x` is wrong", "write y"), 2, "error: `x` is wrong\n  help: write y\n"),
        (BundleError("`b` is damaged"), 2, "error: `b` is damaged\n"),
        (BylawError("the disk is full"), 3, "error: the disk is full\n"),
        (click.UsageError("no such thing"), 2, "no such thing"),
        (click.Abort(), 130, "stopped\n"),
        (KeyboardInterrupt(), 130, "stopped\n"),
        (ZeroDivisionError("by zero"), 3, "error: this is our fault: ZeroDivisionError: by zero\n"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else None,
)
def test_an_error_is_said_in_a_line_and_ends_with_its_code(
    error: BaseException, code: int, says: str, broken: Callable[[BaseException], None], call: Command
) -> None:
    broken(error)
    done = call("check")
    assert (done.code, done.out) == (code, "")
    assert says in done.err
    assert "Traceback" not in done.err


def test_debug_shows_where_it_happened(broken: Callable[[BaseException], None], call: Command) -> None:
    broken(ZeroDivisionError("by zero"))
    with pytest.raises(ZeroDivisionError):
        call("check", "--debug")


def test_the_version_is_told(call: Command) -> None:
    done = call("--version")
    assert done.code == 0
    assert "version" in done.out


@pytest.mark.parametrize("environ", [{"NO_COLOR": "1"}, {"NO_COLOR": "0"}, {"TERM": "dumb"}])
def test_a_pipe_never_sees_a_colour(environ: dict[str, str], company: Any, bylaw: Command) -> None:
    done = bylaw("check", "--root", company.root, **{"NO_COLOR": "", **environ})
    assert "\x1b" not in done.out + done.err


def in_a_terminal(*words: object, **environ: str) -> str:
    """What the command shows on a terminal of its own."""
    import pty

    owner, terminal = pty.openpty()
    env = {**os.environ, "TERM": "xterm", **environ}
    if not environ.get("NO_COLOR"):
        env.pop("NO_COLOR", None)
    command = [sys.executable, "-m", "bylaw.cli", *map(str, words)]
    running = subprocess.Popen(command, stdin=terminal, stdout=terminal, stderr=terminal, env=env, close_fds=True)
    os.close(terminal)
    shown = b""
    try:
        while chunk := os.read(owner, 65536):
            shown += chunk
    except OSError:  # the terminal is closed: the command has ended
        pass
    running.wait(60)
    os.close(owner)
    return shown.decode()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals here")
def test_a_terminal_sees_colours_unless_it_was_told_not_to(company: Any) -> None:
    words = ("check", "--root", company.root)
    assert "\x1b[31m" in in_a_terminal(*words)
    assert "\x1b" not in in_a_terminal(*words, NO_COLOR="1")
    assert "\x1b" not in in_a_terminal(*words, "--no-color")


def test_a_reader_that_leaves_early_breaks_nothing(company: Any) -> None:
    command = f"{sys.executable} -m bylaw.cli check --root '{company.root}' | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout.startswith("error[")
    assert done.stderr == ""


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals here")
def test_an_interrupt_is_no_traceback(company: Any, tmp_path: Path) -> None:
    command = ("-m", "bylaw.cli", "serve", "--bundle", company.bundle, "--port", "0")
    running = Forked(*command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert running.stdout is not None
    assert running.stdout.readline().startswith("serving on ")
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=60)
    assert "Traceback" not in err


def test_a_root_is_compiled_into_its_own_folder_and_only_when_it_changed(company_copy: Path, call: Command) -> None:
    words = ("decide", "--root", company_copy, "--facts", "{}", "--json")
    first = call(*words)
    bundle = company_copy / ".bylaw" / "compiled_policy_bundle.json"
    before = bundle.read_bytes()
    assert (first.code, first.err) == (0, "")
    assert call(*words).json == first.json
    assert bundle.read_bytes() == before
    policy = company_copy / "policies/safety/POL-SAFETY-003.yaml"
    policy.write_text(policy.read_text().replace("check_brakes", "offer_helmet"))
    assert call(*words).json["required"] == ["offer_helmet"]
    assert json.loads(bundle.read_bytes())["bundle_metadata"]["etag"] != json.loads(before)["bundle_metadata"]["etag"]


def test_a_root_that_does_not_compile_says_why_and_leaves_no_bundle(company_copy: Path, call: Command) -> None:
    (company_copy / "rules").mkdir(exist_ok=True)
    (company_copy / "rules/roles.yaml").write_text("roles: [\n")
    done = call("decide", "--root", company_copy, "--facts", "{}")
    assert (done.code, done.out) == (2, "")
    assert "does not compile" in done.err
    assert "bylaw check --root" in done.err
    assert not (company_copy / ".bylaw").exists()
