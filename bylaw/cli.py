"""The command: a table of verbs, each loaded when it is used. `bylaw --help` imports nothing heavy.

This module and `bylaw.demos.story` are the only places that know both wings.
"""

from __future__ import annotations

import atexit
import errno
import gc
import importlib
import io
import itertools
import os
import sys
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

import click

from bylaw import no_plugins
from bylaw.collection import RARELY
from bylaw.errors import BylawError

COMMANDS: Mapping[str, tuple[str, str]] = {
    "docs": ("bylaw.handbook:docs", "The handbook: where to begin, or one topic."),
    "demo": ("bylaw.demos.story:demo", "The whole story on an embedded example: no key, no server."),
    "init": ("ci.cli:init", "Write a new policy repository that checks clean."),
    "check": ("ci.cli:check", "Find what contradicts, what is missing and what is misspelt, each on its line."),
    "diff": ("ci.cli:diff", "Which cases end differently in two versions, and the proof that no other does."),
    "changelog": ("ci.commands.cli:changelog", "What changed, in words for people who were not there."),
    "compile": ("ci.cli:compile_", "Write the one file that the bot reads (the bundle)."),
    "explain": ("ci.cli:explain", "Say in words what a policy, a rule, a fact or a finding id means."),
    "new": ("ci.commands.cli:new", "Write a commented file to fill in: a policy, a case, a metric and others."),
    "list": ("ci.commands.cli:list_", "What is declared: facts, actions, policies, owners, metrics and others."),
    "report": ("ci.commands.cli:report", "Write the rule book as pages to look at: in words, drawn, with its cases."),
    "lsp": ("ci.commands.cli:lsp", "Serve an editor: findings while you type, words to choose from, quick fixes."),
    "watch": ("ci.commands.cli:watch", "Check again whenever a file changes."),
    "cases": ("ci.cli:cases", "How much of the policies their cases show, and which cases are missing."),
    "formalize": (
        "ci.commands.formalizing:formalize",
        "Rewrite the rules of a policy or a logic program until its cases hold, a few times at most.",
    ),
    "import": (
        "ci.commands.imports:import_",
        "Draft files from a database, dbt, LookML, decision tables, a list of tools, …",
    ),
    "review": ("ci.cli:review", "Comment on a pull request: what it does, on its lines. Answers /bylaw comments."),
    "schema": ("ci.cli:schema", "Write the JSON Schemas that editors check the YAML with."),
    "decide": ("bot.commands.verdicts:decide", "What the policies say about a case, given as facts."),
    "guard": ("bot.commands.verdicts:guard", "Stand between an agent and its MCP server: each call is decided first."),
    "ask": ("bot.cli:ask", "Ask in words: policies, data, or why we decided something."),
    "read": (
        "bot.commands.reading:read",
        "How a text is read in your declared words, and which words nobody declared.",
    ),
    "correct": (
        "bot.commands.learning:correct",
        "Say what is wrong about an answer: yours change at once, nobody else's.",
    ),
    "memory": ("bot.commands.learning:memory", "What the bot remembers of you, and how to make it forget."),
    "promote": (
        "bot.commands.learning:promote",
        "Corrections that several people made alike: look, open a pull request, reject.",
    ),
    "enforce": ("bot.commands.verdicts:enforce", "May an assistant give this answer? Judged against the policies."),
    "guide": (
        "bot.commands.verdicts:guide",
        "Before an assistant answers: the rules that count, what it must say and never.",
    ),
    "sql": ("bot.commands.verdicts:sql", "May this SQL statement run? Judged by the gate that every query passes."),
    "audit": (
        "bot.commands.records:audit",
        "Has anybody changed the record of what was answered? Also export and redact.",
    ),
    "replay": ("bot.commands.records:replay", "Rebuild one answer from what was kept, byte for byte."),
    "trace": ("bot.commands.records:trace", "How one answer came about: words, facts, rules, checks, verdict."),
    "accept": ("bot.commands.closing:accept", "Take an answer as it is."),
    "revise": ("bot.commands.closing:revise", "Put a question in other words: the new answer replaces the one before."),
    "feedback": ("bot.commands.closing:feedback", "Say what you think of an answer; it is kept with it."),
    "requests": (
        "bot.commands.closing:requests",
        "Questions that only a person may answer: list, take, hand on, answer.",
    ),
    "tick": (
        "bot.commands.closing:tick",
        "Settle answers that nobody accepted in time (a server does it by itself).",
    ),
    "stats": ("bot.commands.records:stats", "What was asked and how it ended; which policies are missing."),
    "eval": ("bot.evaluation.command:evaluate", "How often the bot is right about the questions of evaluation/."),
    "rights": (
        "bot.operate.walls:rights",
        "What each role may read, and the grants that make the database hold to it.",
    ),
    "doctor": ("bot.operate.doctor:doctor", "What protects this installation, what does not yet, and what to do."),
    "serve": ("bot.cli:serve", "Answer over HTTP on this machine."),
}

# How `bylaw --help` lists them: what a newcomer needs first stands first.
SECTIONS: Mapping[str, tuple[str, ...]] = {
    "Begin": ("demo", "docs", "init"),
    "Write rules": (
        "new",
        "check",
        "watch",
        "explain",
        "list",
        "cases",
        "report",
        "import",
        "formalize",
        "lsp",
        "schema",
    ),
    "Change them": ("diff", "review", "changelog", "compile"),
    "Ask": ("ask", "decide", "read", "accept", "revise", "feedback", "correct", "memory", "requests"),
    "Assistants and agents": ("enforce", "guide", "guard", "sql"),
    "Run it": ("serve", "doctor", "rights", "tick", "eval", "stats", "promote"),
    "What was answered": ("trace", "replay", "audit"),
}

_REPORTING = frozenset({"_duckdb"})
_MOST_NAME = 100  # characters of a file's name, in an error


class Verbs(click.Group):
    """Lists every verb from the table; imports a verb's module only when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The verbs in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The verb's own click command."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = load_verb(cmd_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Like click's, with the nearest verb for a mistyped one."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            import difflib

            near = difflib.get_close_matches(args[0], COMMANDS, n=1)
            hint = f" did you mean `{near[0]}`?" if near else " `bylaw --help` lists the verbs"
            raise click.UsageError(f"`{args[0]}` is not a verb of bylaw;{hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The table itself: no verb is imported to describe it."""
        for title, verbs in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(verb, COMMANDS[verb][1]) for verb in verbs], col_max=12)


def load_verb(verb: str) -> Any:
    """The object that a verb's row names."""
    module, name = COMMANDS[verb][0].split(":")
    return getattr(importlib.import_module(module), name)


def bundle_for_root(root: Path) -> Path:
    """Compile the repository at *root* into its `.bylaw/` folder, for a bot verb that was given `--root`."""
    found: Path = importlib.import_module("ci.commands.fresh").bundle(root, root / ".bylaw", date.today())
    return found


def edit_for_root(root: Path, directory: Path, **edit: Any) -> Any:
    """One field of one file edited in a copy of the repository at *root*, for a verb of the bot that proposes it."""
    module = importlib.import_module("ci.commands.promotion")
    return module.edited(root, module.Edit(**edit), directory, date.today())


def suites_for_root(root: Path) -> Any:
    """The suites of questions of the repository at *root* and their floors, for a verb of the bot."""
    return importlib.import_module("ci.loading.suites").load(root)


def suite_at(path: Path) -> Any:
    """The suite of questions in one file, kept outside a repository."""
    return importlib.import_module("ci.loading.suites").elsewhere(path)


def readback_for_root(root: Path, today: date, format_: str) -> tuple[str, bool]:
    """What the context of the repository at *root* can answer, for a verb of ci: its text, and whether it holds."""
    found: tuple[str, bool] = importlib.import_module("bot.evaluation.readback").told(
        bundle_for_root(root), today, format_
    )
    return found


def proposer_for_root(root: Path, rules: Any) -> Any:
    """The language model that may propose rules for the repository at *root*, for a verb of ci; None without one."""
    return importlib.import_module("bot.operate.proposing").open_proposer(root, rules)


def audit_export(url: str, root: Path, path: Path, hear: Any = None) -> None:
    """Write the chain of the store at *url* to *path*, for a verb of ci that was given a store."""
    importlib.import_module("bot.commands.records").export_store(url, root, path, hear)


@click.command(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.option("--no-color", is_flag=True, help="Plain text; NO_COLOR in the environment does the same.")
@click.option("--debug", is_flag=True, help="Show the stack trace of an internal error.")
@click.version_option(package_name="bylaw-policies")
@click.pass_context
def bylaw(ctx: click.Context, no_color: bool, debug: bool) -> None:
    """Policies, data context and decisions as reviewed YAML.

    CI proves what a change does; a bot answers by the rules, only as far as it may.
    Start with `bylaw demo`, or `bylaw check` in a policy repository.
    """
    ctx.color = False if no_color or os.environ.get("NO_COLOR") else None


def _anywhere(args: list[str]) -> list[str]:
    """The arguments with `--no-color` and `--debug` moved to the front: they may stand behind a verb as well."""
    end = args.index("--") if "--" in args else len(args)
    ours = [arg for arg in args[:end] if arg in ("--no-color", "--debug")]
    return [*ours, *(arg for arg in args[:end] if arg not in ours), *args[end:]]


def _spell_out_what_cannot_be_shown() -> None:
    """A terminal whose encoding lacks a letter is shown its code point: a policy's word must not end the command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _wants_json(args: list[str]) -> bool:
    """Does this call print one JSON document? Then an error is one, too."""
    ours = args[: args.index("--")] if "--" in args else args
    return "--json" in ours or "--format=json" in ours or ("--format", "json") in itertools.pairwise(ours)


def _json_error(message: str, help: str | None, exit_code: int) -> None:
    import json

    click.echo(json.dumps({"error": {"message": message, "help": help, "exit_code": exit_code}}, indent=2))
    _text_error(message, help, exit_code)  # on stderr, where the document is piped away


def _text_error(message: str, help: str | None, exit_code: int) -> None:
    click.echo(f"error: {message}", err=True)
    if help:
        click.echo(f"  help: {help}", err=True)


# What a person named is no file or folder that can be used; a full disk and the like are another matter.
_OF_THE_NAME = frozenset(
    {errno.ENAMETOOLONG, errno.ELOOP, errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EACCES, errno.EPERM, errno.EROFS}
)


def _fault(error: Exception) -> tuple[str, str, int]:
    """What to say of an *error* that nobody caught, the next step, and the exit code."""
    if isinstance(error, OSError) and error.errno in _OF_THE_NAME and error.filename is not None:
        name = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else str(error.filename)
        name = name if len(name) <= _MOST_NAME else f"{name[:_MOST_NAME]}…"
        return f"`{name}` cannot be used: {os.strerror(error.errno).lower()}", "name another file or folder", 2
    fault = f"this is our fault: {type(error).__name__}: {error}"
    return fault, "run again with `bylaw --debug …` and report what it shows", 3


def _spare_the_last_search() -> None:
    """The process ends: nothing is searched for what to free, unless a library reports what is left of its own."""
    if _REPORTING.isdisjoint(sys.modules):
        gc.freeze()


def main() -> None:
    """Run the command. Exit codes: 0 clean, 1 findings that fail, 2 wrong usage, 3 our fault."""
    gc.set_threshold(*RARELY)
    atexit.register(_spare_the_last_search)
    sys.modules.setdefault(no_plugins.NAME, no_plugins)
    debug, told = "--debug" in sys.argv[1:], _json_error if _wants_json(sys.argv[1:]) else _text_error
    _spell_out_what_cannot_be_shown()
    try:
        code = bylaw.main(args=_anywhere(sys.argv[1:]), prog_name="bylaw", standalone_mode=False)
        sys.exit(code if isinstance(code, int) else 0)
    except click.exceptions.Exit as exit_:
        sys.exit(exit_.exit_code)
    except click.ClickException as error:
        if told is _text_error:
            error.show()
        else:
            told(error.format_message(), None, 2)
        sys.exit(2)
    except (click.Abort, KeyboardInterrupt):
        click.echo("stopped", err=True)
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except BylawError as error:
        if debug:
            raise
        told(error.message, error.help, error.exit_code)
        sys.exit(error.exit_code)
    except Exception as error:
        if debug:
            raise
        fault = _fault(error)
        told(*fault)
        sys.exit(fault[2])


if __name__ == "__main__":
    main()
