"""A real client of the Language Server Protocol against the real command, over standard input and output."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ci.scaffold import init

if TYPE_CHECKING:  # they take a second to import, which every run would wait for
    from lsprotocol import types as lsp
    from pygls.lsp.client import LanguageClient

SECOND = "policies/refund/POL-REFUND-002.yaml"


def spoken(
    root: Path, talk: Callable[[LanguageClient, Callable[[], Awaitable[list[lsp.Diagnostic]]]], Awaitable[None]]
) -> None:
    """Start the server, open the second policy, and let *talk* speak; `told` waits for the next diagnostics of it."""
    from lsprotocol import types as lsp
    from pygls.lsp.client import LanguageClient

    async def run() -> None:
        client = LanguageClient("test", "1")
        heard: asyncio.Queue[list[lsp.Diagnostic]] = asyncio.Queue()

        @client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def diagnosed(params) -> None:  # read by pygls, which looks for a name in this module
            if params.uri.endswith(SECOND):
                heard.put_nowait(list(params.diagnostics))

        async def told() -> list[lsp.Diagnostic]:
            return await asyncio.wait_for(heard.get(), 60)

        await client.start_io(sys.executable, "-m", "bylaw.cli", "lsp")
        await client.initialize_async(
            lsp.InitializeParams(capabilities=lsp.ClientCapabilities(), root_uri=root.as_uri())
        )
        client.initialized(lsp.InitializedParams())
        await talk(client, told)
        await client.shutdown_async(None)
        client.exit(None)
        await client.stop()

    asyncio.run(asyncio.wait_for(run(), 120))


@pytest.mark.slow
def test_an_editor_hears_findings_while_typing_and_is_helped(tmp_path: Path) -> None:
    from lsprotocol import types as lsp

    init(tmp_path / "p")
    uri = (tmp_path / "p" / SECOND).as_uri()
    right = (tmp_path / "p" / SECOND).read_text(encoding="utf-8")
    document = lsp.VersionedTextDocumentIdentifier(2, uri)
    rows = right.split("\n")
    at = next(n for n, row in enumerate(rows) if "ask_manager" in row)

    async def talk(client: LanguageClient, told: Callable[[], Awaitable[list[lsp.Diagnostic]]]) -> None:
        wrong = right.replace("ask_manager", "ask_maneger")
        client.text_document_did_open(lsp.DidOpenTextDocumentParams(lsp.TextDocumentItem(uri, "yaml", 1, wrong)))
        (finding,) = await told()
        assert (finding.code, finding.range.start.line) == ("unknown-action", at)
        assert "did you mean `ask_manager`" in finding.message
        (action,) = await client.text_document_code_action_async(
            lsp.CodeActionParams(lsp.TextDocumentIdentifier(uri), finding.range, lsp.CodeActionContext([finding]))
        )
        assert isinstance(action, lsp.CodeAction) and action.edit is not None and action.edit.changes is not None
        (edit,) = action.edit.changes[uri]
        fixed = "\n".join([*rows[:at], edit.new_text, *rows[at + 1 :]])
        assert fixed == right
        whole = lsp.TextDocumentContentChangeWholeDocument(text=right)
        client.text_document_did_change(lsp.DidChangeTextDocumentParams(document, [whole]))
        assert await told() == []
        here = lsp.TextDocumentIdentifier(uri)
        word = lsp.Position(at, rows[at].index("ask_manager") + 2)
        hover = await client.text_document_hover_async(lsp.HoverParams(here, word))
        assert hover is not None and "ask a manager" in getattr(hover.contents, "value", "")
        place = await client.text_document_definition_async(lsp.DefinitionParams(here, word))
        assert isinstance(place, lsp.Location) and place.uri.endswith("policies/vocabulary.yaml")
        uses = await client.text_document_references_async(lsp.ReferenceParams(lsp.ReferenceContext(True), here, word))
        assert uses and {use.uri.rpartition("/")[2] for use in uses} >= {"vocabulary.yaml", "POL-REFUND-002.yaml"}
        offers = await client.text_document_completion_async(
            lsp.CompletionParams(here, lsp.Position(at, rows[at].index("ask_manager")))
        )
        assert isinstance(offers, list) and "refund_in_cash" in {offer.label for offer in offers}
        lenses = await client.text_document_code_lens_async(lsp.CodeLensParams(here))
        assert lenses and lenses[0].command is not None and "cases of `refund`" in lenses[0].command.title

    spoken(tmp_path / "p", talk)
