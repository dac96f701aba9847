"""`bylaw lsp`: the repository over the Language Server Protocol, on standard input and output.

Typing is answered at once from what is known; the check runs when typing pauses, never twice at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import unquote, urlsplit

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer

from bylaw.errors import BylawError
from bylaw.roots import root_around
from ci.editor.open_repository import OpenRepository
from ci.findings import Finding, Place

PAUSE = 0.15  # seconds without typing before a check

_SEVERITY = {
    "error": lsp.DiagnosticSeverity.Error,
    "warning": lsp.DiagnosticSeverity.Warning,
    "notice": lsp.DiagnosticSeverity.Information,
}


class Server(LanguageServer):
    """The protocol's side of one repository."""

    def __init__(self, version: str, today: Callable[[], date]) -> None:
        super().__init__("bylaw", version, text_document_sync_kind=lsp.TextDocumentSyncKind.Full)
        self._today = today
        self._desk: OpenRepository | None = None
        self._told: dict[str, list[lsp.Diagnostic]] = {}
        self._found: dict[str, tuple[Finding, ...]] = {}
        self._waiting: Any = None

    # ---- paths ------------------------------------------------------------------------------------------------------

    def repository(self, uri: str) -> OpenRepository:
        """The repository of the repository around a document."""
        if self._desk is None:
            self._desk = OpenRepository(root_around(_path(uri).parent).resolve(), self._today())
        return self._desk

    def inside(self, uri: str) -> str | None:
        """The path of a document from the root; None outside of it."""
        path, root = _path(uri), self.repository(uri).root
        return path.relative_to(root).as_posix() if path.is_relative_to(root) else None

    # ---- checking ---------------------------------------------------------------------------------------------------

    def typed(self, uri: str, text: str | None) -> None:
        """A document has this text now; None: it is as on the disk again. A check follows when typing pauses."""
        import asyncio

        path = self.inside(uri)
        if path is None:
            return
        texts = self.repository(uri).texts
        if text is None:
            texts.pop(path, None)
        else:
            texts[path] = text
        if self._waiting is not None:
            self._waiting.cancel()
        self._waiting = asyncio.get_running_loop().call_later(PAUSE, self.check)

    def check(self) -> None:
        """Check the repository, and tell the editor what is new and what is gone."""
        assert self._desk is not None
        try:
            self._found = dict(self._desk.findings())
        except BylawError as error:
            self.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Error, error.message))
            return
        said = {path: [self._diagnostic(one) for one in found] for path, found in self._found.items()}
        for path in sorted({*self._told, *said}):
            if self._told.get(path) != said.get(path):
                self.text_document_publish_diagnostics(
                    lsp.PublishDiagnosticsParams(self._uri(path), said.get(path, []))
                )
        self._told = said

    def _diagnostic(self, finding: Finding) -> lsp.Diagnostic:
        message = f"{finding.message}\nhelp: {finding.help}" if finding.help else finding.message
        related = [
            lsp.DiagnosticRelatedInformation(lsp.Location(self._uri(place.path), self._range(place)), note)
            for place, note in finding.related
        ]
        return lsp.Diagnostic(
            range=self._range(finding.at),
            message=message,
            severity=_SEVERITY.get(finding.severity, lsp.DiagnosticSeverity.Hint),
            code=finding.id,
            source="bylaw",
            related_information=related,
            data=finding.fingerprint,
        )

    def _range(self, place: Place) -> lsp.Range:
        """The word at the place, as the protocol counts it: from 0."""
        line, column = (place.line or 1) - 1, (place.column or 1) - 1
        assert self._desk is not None
        rows = self._desk.rows(place.path)
        word = self._desk.word_at(rows[line], column) if line < len(rows) else None
        return lsp.Range(lsp.Position(line, column), lsp.Position(line, column + len(word or " ")))

    def _uri(self, path: str) -> str:
        assert self._desk is not None
        return (self._desk.root / path).as_uri()

    def location(self, place: Place) -> lsp.Location:
        """A place as the protocol says it."""
        return lsp.Location(self._uri(place.path), self._range(place))

    def found(self, uri: str) -> tuple[Finding, ...]:
        """The findings of the last check in a document."""
        return self._found.get(self.inside(uri) or "", ())


def _path(uri: str) -> Path:
    return Path(unquote(urlsplit(uri).path)).resolve()


def server(version: str, today: Callable[[], date] = date.today) -> Server:
    """The server with everything that it answers; `start_io` runs it."""
    made = Server(version, today)

    @made.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def opened(ls: Server, params: lsp.DidOpenTextDocumentParams) -> None:
        ls.typed(params.text_document.uri, params.text_document.text)

    @made.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def changed(ls: Server, params: lsp.DidChangeTextDocumentParams) -> None:
        ls.typed(params.text_document.uri, ls.workspace.get_text_document(params.text_document.uri).source)

    @made.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def closed(ls: Server, params: lsp.DidCloseTextDocumentParams) -> None:
        ls.typed(params.text_document.uri, None)

    @made.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    def saved(ls: Server, params: lsp.DidSaveTextDocumentParams) -> None:
        ls.typed(params.text_document.uri, ls.workspace.get_text_document(params.text_document.uri).source)

    triggers = lsp.CompletionOptions(trigger_characters=[" ", "[", ","])

    @made.feature(lsp.TEXT_DOCUMENT_COMPLETION, triggers)
    def complete(ls: Server, params: lsp.CompletionParams) -> list[lsp.CompletionItem]:
        rows, line = _rows(ls, params)
        above = rows[max(0, params.position.line - 40) : params.position.line][::-1]
        offers = ls.repository(params.text_document.uri).offers(line, params.position.character, above)
        return [lsp.CompletionItem(label=one.word, detail=one.about) for one in offers]

    @made.feature(lsp.TEXT_DOCUMENT_HOVER)
    def hover(ls: Server, params: lsp.HoverParams) -> lsp.Hover | None:
        word = _word(ls, params)
        told = ls.repository(params.text_document.uri).meaning(word) if word else None
        return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, told)) if told else None

    @made.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    def define(ls: Server, params: lsp.DefinitionParams) -> lsp.Location | None:
        word = _word(ls, params)
        place = ls.repository(params.text_document.uri).definition(word) if word else None
        return None if place is None else ls.location(place)

    @made.feature(lsp.TEXT_DOCUMENT_REFERENCES)
    def refer(ls: Server, params: lsp.ReferenceParams) -> list[lsp.Location]:
        word = _word(ls, params)
        return (
            [ls.location(place) for place in ls.repository(params.text_document.uri).references(word)] if word else []
        )

    @made.feature(lsp.TEXT_DOCUMENT_CODE_ACTION)
    def act(ls: Server, params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        uri, first, last = params.text_document.uri, params.range.start.line + 1, params.range.end.line + 1
        here = [one for one in ls.found(uri) if first <= (one.at.line or 0) <= last]
        return [action for one in here if (action := _action(ls, uri, one)) is not None]

    @made.feature(lsp.TEXT_DOCUMENT_CODE_LENS)
    def lens(ls: Server, params: lsp.CodeLensParams) -> list[lsp.CodeLens]:
        uri = params.text_document.uri
        told = ls.repository(uri).cases_of(ls.inside(uri) or "")
        return [
            lsp.CodeLens(range=_line(line, 0), command=lsp.Command(title=words, command="")) for line, words in told
        ]

    return made


Positioned: TypeAlias = lsp.CompletionParams | lsp.HoverParams | lsp.DefinitionParams | lsp.ReferenceParams


def _rows(ls: Server, params: Positioned) -> tuple[list[str], str]:
    rows = ls.workspace.get_text_document(params.text_document.uri).source.split("\n")
    return rows, rows[params.position.line] if params.position.line < len(rows) else ""


def _word(ls: Server, params: Positioned) -> str | None:
    return ls.repository(params.text_document.uri).word_at(_rows(ls, params)[1], params.position.character)


def _action(ls: Server, uri: str, finding: Finding) -> lsp.CodeAction | None:
    fix = ls.repository(uri).fix(finding)
    if fix is None:
        return None
    rows = ls.workspace.get_text_document(uri).source.split("\n")
    edit = lsp.TextEdit(_line(fix.line, len(rows[fix.line - 1]) if fix.line <= len(rows) else 0), fix.text)
    return lsp.CodeAction(
        title=fix.title,
        kind=lsp.CodeActionKind.QuickFix,
        edit=lsp.WorkspaceEdit(changes={uri: [edit]}),
        is_preferred=True,
    )


def _line(line: int, length: int) -> lsp.Range:
    return lsp.Range(lsp.Position(line - 1, 0), lsp.Position(line - 1, length))
