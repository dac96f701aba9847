"""A GitHub on loopback as strict as the real one: HTTP in front of `World`, faults on demand, a record of requests.

A test asks for the fixture `github` (tests/conftest.py), an empty repository `acme/policies` behind a running server:

    def test_something(github, tmp_path):
        github.commit("main", {"policies/a.yaml": "a: 1\\n"})     # real commits in a real bare repository: github.git
        github.commit("feature", {"policies/a.yaml": "a: 2\\n"})  # a new branch starts at main
        number = github.open_pull("feature", author="ana")       # its diff is computed by git
        token = github.token(kind="workflow")                    # "personal", "fine-grained"; an App: github.app(key)
        github.fail("unavailable", times=2, on="POST .*/reviews$")
        ...                                                      # a client at github.base
        assert github.writes() == ["POST /pulls/1/reviews 200"]  # the exact sequence of what was to be written
        assert [one.body for one in github.line_comments_of(number)] == [...]

`github.state` holds everything by id; `github.clone(folder)` gives a checkout that can push; `fork="eve/policies"` in
`commit` and `open_pull` makes a fork's pull request; `add_run` and `add_artifact` make what its workflow left. When the
test ends, the fixture insists that every answer was as GitHub's own description says and that nobody asked for what the
fake does not have (`github.defects`, `github.unknown`).
"""

from __future__ import annotations

import json
import re
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from tests.fakes.github import checks, comments, gitdata, graphql, places, pulls
from tests.fakes.github.access import Token, authorize, read_jwt
from tests.fakes.github.call import Answer, Call, Table
from tests.fakes.github.description import Operation, match, request_problems, response_problem
from tests.fakes.github.repository import GitError
from tests.fakes.github.state import Refused
from tests.fakes.github.world import World

TABLE: Table = {**places.TABLE, **pulls.TABLE, **comments.TABLE, **checks.TABLE, **gitdata.TABLE}
DOCS = "https://docs.github.com/rest"

Fault = Literal["unavailable", "gateway", "secondary_limit", "primary_limit", "cut_before", "cut_after", "refused"]
_SECONDARY = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
_PRIMARY = "API rate limit exceeded for installation ID 1."


@dataclass
class Failing:
    """A fault that hits the next requests that *on* (method and path) matches."""

    kind: Fault
    left: int
    on: re.Pattern[str]
    seconds: int


@dataclass(frozen=True)
class Request:
    """One request and how it ended. Status 0: the connection was cut; `had_effect` says whether it was carried out."""

    method: str
    path: str
    query: Mapping[str, str]
    body: Any
    status: int
    login: str | None
    had_effect: bool
    headers: Mapping[str, str] = field(repr=False, default_factory=dict)

    def __str__(self) -> str:
        return f"{self.method} {self.path} {self.status}"


class FakeGitHub(World):
    """The server. Use it in a `with`, or `start` and `stop`."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.requests: list[Request] = []
        self.defects: list[str] = []
        self.unknown: list[str] = []
        self._failing: list[Failing] = []
        self._lock = threading.Lock()

    def __enter__(self) -> FakeGitHub:
        handler = type("Handler", (_Handler,), {"fake": self})
        self._server = _Server(("127.0.0.1", 0), handler)
        self.base = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def fail(self, kind: Fault, times: int = 1, on: str = ".*", seconds: int = 1) -> None:
        """Let the next *times* requests that *on* matches go wrong.

        `unavailable` 503 and `gateway` 502, nothing done; `secondary_limit` 403 with Retry-After; `primary_limit` 403
        with a reset that many *seconds* ahead; `refused` 422, as when the head moves meanwhile; `cut_before` and
        `cut_after` cut the connection before or after the request is carried out.
        """
        self._failing.append(Failing(kind, times, re.compile(on), seconds))

    def mend(self) -> None:
        """No more faults."""
        self._failing.clear()

    def writes(self) -> list[str]:
        """Every request that wanted to change something, as `POST /pulls/1/reviews 200`, in order."""
        return [_short(request, self.slug) for request in self.requests if request.method != "GET"]

    def forget(self) -> None:
        """Start a new record of requests; what was written stays."""
        self.requests.clear()

    # --- one request

    def serve(self, method: str, target: str, headers: Mapping[str, str], raw: bytes) -> Answer | None:
        """The answer to one request; None when the connection is to be cut. One at a time: there is one state."""
        with self._lock:
            parts = urlsplit(target)
            path, query = unquote(parts.path), dict(parse_qsl(parts.query, keep_blank_values=True))
            fault = self._fault(f"{method} {path}")
            body, token, effect = None, None, False
            if fault in (None, "cut_after"):
                body, token, answer = self._answer(method, path, query, headers, raw)
                effect = answer.status < 400 and method != "GET"
            else:
                answer = self._broken(fault)
            cut = fault in ("cut_before", "cut_after")
            login = token.login if token else None
            status = 0 if cut else answer.status
            seen = Request(method, path, query, body or _read_json(raw), status, login, effect, dict(headers))
            self.requests.append(seen)
            return None if cut else answer

    def _fault(self, line: str) -> Failing | Fault | None:
        for failing in self._failing:
            if failing.left and failing.on.search(line):
                failing.left -= 1
                self._seconds = failing.seconds
                return failing.kind
        return None

    def _broken(self, fault: Any) -> Answer:
        later = int(time.time()) + self._seconds
        full = {"X-RateLimit-Limit": "5000", "X-RateLimit-Remaining": "4000", "X-RateLimit-Reset": str(later)}
        match fault:
            case "unavailable":
                return Answer(503, {"message": "Service unavailable"})
            case "gateway":
                return Answer(502, {"message": "Server Error"})
            case "secondary_limit":
                return Answer(403, _message(_SECONDARY), headers=full | {"Retry-After": str(self._seconds)})
            case "refused":
                told = {"errors": ["Line could not be resolved"], "status": "422"}
                return Answer(422, _message("Unprocessable Entity") | told)
            case "primary_limit":
                return Answer(403, _message(_PRIMARY), headers=full | {"X-RateLimit-Remaining": "0"})
        return Answer(500)

    def _answer(
        self, method: str, path: str, query: Mapping[str, str], headers: Mapping[str, str], raw: bytes
    ) -> tuple[Any, Token | None, Answer]:
        token, body = None, None
        try:
            if path.startswith("/_storage/"):
                return None, None, self._storage(path, headers)
            body = _parsed(raw)
            if not headers.get("user-agent"):
                raise Refused(403, "Request forbidden by administrative rules. Please give a User-Agent header")
            scheme, _, secret = headers.get("authorization", "").partition(" ")
            if scheme.lower() == "bearer" and secret.count(".") == 2:
                return body, None, self._as_app(method, path, secret, body)
            token = self._token(secret)
            if path == "/graphql":
                return body, token, Answer(200, graphql.answer(self, token, body))
            return body, token, self._rest(method, path, query, body, token)
        except Refused as refused:
            told = _message(refused.message) | ({"errors": refused.errors} if refused.errors else {})
            return body, token, Answer(refused.status, told | {"status": str(refused.status)})
        except Exception as problem:
            # A mistake of the fake must not look like an outage.
            self.defects.append(f"{method} {path}: {problem!r}")
            return body, token, Answer(500, _message("the fake broke"))

    def _token(self, secret: str) -> Token:
        if not secret:
            raise Refused(401, "Requires authentication")
        if secret not in self.tokens:
            raise Refused(401, "Bad credentials")
        return self.tokens[secret]

    def _rest(self, method: str, path: str, query: Mapping[str, str], body: Any, token: Token) -> Answer:
        operation = self._operation(method, path)
        if problems := request_problems(operation, query, body):
            raise Refused(422, "Invalid request.\n\n" + str(problems[0]["message"]), problems)
        authorize(token, method, operation.template)
        try:
            answer = TABLE[operation.key](Call(self, operation.params, query, body, token))
        except GitError as problem:
            raise Refused(422, f"GitRPC: {problem}") from None
        self._judge(operation, answer)
        return _page(answer, query, f"{self.base}{path}")

    def _operation(self, method: str, path: str) -> Operation:
        operation = match(method, path)
        params = operation.params if operation else {}
        slug = f"{params.get('owner', '')}/{params.get('repo', '')}"
        if operation and "owner" in params and slug.lower() != self.slug.lower():
            raise Refused.missing()
        if operation is None or operation.key not in TABLE:
            self.unknown.append(f"{method} {path}")
            raise Refused.missing()
        return operation

    def _as_app(self, method: str, path: str, secret: str, body: Any) -> Answer:
        """What only the App itself may ask, with the token that it signed."""
        app = read_jwt(secret, self.apps)
        installation = re.fullmatch(r"/app/installations/(\d+)(/access_tokens)?", path)
        if installation and int(installation[1]) != app.installation:
            raise Refused.missing()
        if installation and installation[2] and method == "POST":
            answer = places.issue_token(self, app)
        elif installation or path == f"/repos/{self.slug}/installation":
            answer = Answer(200, places.show_installation(self, app))
        elif path == "/app":
            answer = Answer(200, places.show_app(self, app))
        else:
            raise Refused(401, "This endpoint is not for the App's own token")
        operation = match(method, path)
        assert operation is not None
        self._judge(operation, answer)
        return answer

    def _judge(self, operation: Operation, answer: Answer) -> None:
        if problem := response_problem(operation, answer.status, answer.body):
            self.defects.append(problem)

    def _storage(self, path: str, headers: Mapping[str, str]) -> Answer:
        if headers.get("authorization"):
            return Answer(401, b"the address is the credential; send no other")
        artifact = self.state.artifacts.get(int(path.removeprefix("/_storage/").removesuffix(".zip")))
        return Answer(200, artifact.content) if artifact else Answer(404, b"")


def _message(text: str) -> dict[str, Any]:
    return {"message": text, "documentation_url": DOCS}


def _parsed(raw: bytes) -> Any:
    try:
        return json.loads(raw) if raw else None
    except ValueError:
        raise Refused(400, "Problems parsing JSON") from None


def _read_json(raw: bytes) -> Any:
    try:
        return json.loads(raw) if raw else None
    except ValueError:
        return raw.decode(errors="replace")


def _short(request: Request, slug: str) -> str:
    name = f" {_mutation(request.body)}" if request.path == "/graphql" else ""
    return f"{request.method} {request.path.removeprefix(f'/repos/{slug}')}{name} {request.status}"


def _mutation(body: Any) -> str:
    """The first field of a GraphQL document, which says what is asked."""
    found = re.search(r"\{\s*(\w+)", body.get("query", "")) if isinstance(body, dict) else None
    return found[1] if found else "?"


def _page(answer: Answer, query: Mapping[str, str], url: str) -> Answer:
    """One page of a list, with a Link header as long as there are others. At most 100 a page, 30 unless asked."""
    items = answer.body if isinstance(answer.body, list) else answer.body[answer.paged] if answer.paged else None
    if items is None:
        return answer
    size = min(100, max(1, int(query.get("per_page", 30))))
    page, last = max(1, int(query.get("page", 1))), max(1, -(-len(items) // size))
    shown = items[(page - 1) * size : page * size]
    links = ", ".join(
        f'<{url}?{urlencode({**query, "page": number})}>; rel="{name}"' for name, number in _links(page, last)
    )
    body = shown if isinstance(answer.body, list) else {**answer.body, str(answer.paged): shown}
    return Answer(answer.status, body, headers={**answer.headers, **({"Link": links} if links else {})})


def _links(page: int, last: int) -> Iterator[tuple[str, int]]:
    if page > 1:
        yield from (("prev", page - 1), ("first", 1))
    if page < last:
        yield from (("next", page + 1), ("last", last))


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False


class _Handler(BaseHTTPRequestHandler):
    """HTTP/1.1 with connections that are kept, and cut on demand."""

    fake: FakeGitHub
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def _serve(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        answer = self.fake.serve(self.command, self.path, headers, raw)
        if answer is None:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        body = b"" if answer.body is None else answer.body
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        later = str(int(time.time()) + 3_600)
        limits = {"X-RateLimit-Limit": "5000", "X-RateLimit-Remaining": "4999", "X-RateLimit-Reset": later}
        self.send_response(answer.status)
        for name, value in {**limits, **answer.headers}.items():
            self.send_header(name, value)
        if answer.status != 204:
            self.send_header("Content-Type", "application/json; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body if answer.status != 204 else b"")

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _serve  # noqa: N815 - the names that http.server calls

    def log_message(self, format: str, *args: Any) -> None:
        """Silence: the record is in `requests`."""
