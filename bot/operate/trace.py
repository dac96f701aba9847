"""The story of one request: what was asked, how it was read, from what it was answered, and where that is recorded.

Told from the store and the shelf alone. A paper that is gone or was altered is named as such; the rest is still told.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from bot.delivery.render import safe
from bot.evidence.artifacts import ArtifactError, Shelf
from bot.evidence.store import kept
from bot.evidence.store.engine import Store
from bot.evidence.store.tables import audit, requests
from bylaw.audit.verify import verify
from bylaw.canonical import canonical_json
from bylaw.errors import UsageError

_SIGNS_A_TOKEN = 4  # of English, about


@dataclass(frozen=True)
class Story:
    """One request. `papers` are its artifacts by name; `unreadable` says which are not what was recorded."""

    request_id: str
    asked: Mapping[str, Any]
    steps: tuple[Mapping[str, Any], ...]
    papers: Mapping[str, Any] = field(default_factory=dict)
    unreadable: Mapping[str, str] = field(default_factory=dict)
    entries: tuple[Mapping[str, Any], ...] = ()

    def document(self) -> dict[str, Any]:
        """All of it as JSON."""
        return {
            "request_id": self.request_id,
            "question": dict(self.asked),
            "steps": [dict(step) for step in self.steps],
            "artifacts": dict(self.papers),
            "model": usage(self.papers),
            "unreadable_artifacts": dict(self.unreadable),
            "audit": [dict(entry) for entry in self.entries],
        }


def trace(request_id: str, store: Store, artifacts: Shelf) -> Story:
    """What is known of the request. Raises UsageError when nothing is."""
    with store.reading() as connection:
        standing = requests.load(connection, request_id)
        steps = requests.steps(connection, request_id)
        recorded = audit.about(connection, request_id)
        doubt = kept.doubt(connection, request_id)
        redacted = next((audit.redaction_of(connection, one.seq) for one in recorded if one.is_redacted), None)
    if standing is None and redacted is not None:
        raise UsageError(f"the request `{request_id}` {audit.told(redacted)}", "nothing is left of it but its entries")
    if standing is None:
        raise UsageError(f"the request `{request_id}` is not known here", "`bylaw audit export` lists the requests")
    papers, unreadable = {}, {}
    for name, mark in sorted(standing.artifacts.items()):
        try:
            papers[name] = artifacts.get(mark) if name != "bundle" else {"fingerprint": mark}
        except ArtifactError as error:
            unreadable[name] = error.message
    if doubt is not None:
        papers.pop("reply", None)
        unreadable["reply"] = f"the reply {doubt}"
    faulty = {one.seq for one in verify(recorded).breaks if one.kind == "edited" and "own hash" in one.detail}
    entries = [
        {
            "entry": entry.seq,
            "hash": entry.entry_hash,
            "holds": entry.seq not in faulty,
            "recorded": {} if entry.seq in faulty else entry.body,
        }
        for entry in recorded
    ]
    told = [{"state": state.value, "at": at.isoformat(), "note": note} for state, at, note in steps]
    asked = standing.question.model_dump(mode="json")
    return Story(request_id, asked, tuple(told), papers, unreadable, tuple(entries))


def usage(papers: Mapping[str, Any]) -> dict[str, int]:
    """The calls of language models among *papers*, and about how many tokens they took and gave."""
    calls = [one for name, one in papers.items() if name.startswith("model_") and "prompt" in one]
    said = [len(canonical_json(one["prompt"])) for one in calls]
    got = [len(one["completion"]["text"]) for one in calls if one.get("completion")]
    return {"calls": len(calls), "tokens_in": sum(said) // _SIGNS_A_TOKEN, "tokens_out": sum(got) // _SIGNS_A_TOKEN}


def in_words(story: Story) -> str:
    """The story for a person."""
    return safe("\n".join(_lines(story)))


def _lines(story: Story) -> Iterator[str]:
    yield f"request {story.request_id}, asked by {story.asked['actor']['id']} at {story.asked['asked_at']}"
    yield f"  question   {story.asked['text']}"
    route = story.papers.get("request", {}).get("route")
    if route:
        kind = route["kind"] or "no kind of answer"
        yield f"  read as    {kind}, confidence {route['confidence']:.2f}: {route['reason']}"
    reply = story.papers.get("reply", {})
    yield from _reading(reply.get("reading") or {})
    yield from _policy(story.papers.get("policy", {}))
    yield from _reply(reply)
    yield from _refinement(story.papers.get("refinement", {}))
    yield from _verdict(story.papers.get("verdict", {}))
    for name in sorted(story.papers):
        if name.startswith("model_"):
            yield from _model(story.papers[name])
    used = usage(story.papers)
    if used["calls"]:
        yield f"  model      {used['calls']} call(s), about {used['tokens_in']} tokens in and {used['tokens_out']} out"
    if reply:
        yield f"  answer     {reply['status']}: {reply['text']}".replace("\n", "\n             ")
    yield "  way        " + " → ".join(step["state"] for step in story.steps)
    yield from (f"  note       {step['note']}" for step in story.steps if step["note"])
    for name, why in story.unreadable.items():
        yield f"  missing    {name}: {why}"
    for entry in story.entries:
        holds = "" if entry["holds"] else ", which was edited after it was written"
        etag = entry["recorded"].get("bundle_etag", "")
        yield f"  recorded   entry {entry['entry']} {entry['hash'][:12]}{holds}" + (f", from {etag}" if etag else "")


def _model(paper: Mapping[str, Any]) -> Iterator[str]:
    """Which of several models took a task, and why others did not."""
    choice = paper.get("choice")
    if choice:
        took = "nobody" if choice["agent"] is None else f"{choice['agent']} ({choice['model']})"
        passed = ", ".join(f"{one['agent']} {one['reason']}" for one in choice["passed_over"])
        yield f"  model      {took} for {choice['task']}" + (f"; passed over: {passed}" if passed else "")


def _reading(paper: Mapping[str, Any]) -> Iterator[str]:
    """Who proposed what the words say, what is asked, and what of them nobody accounts for."""
    asked = [
        f"{one.get('name') or 'the text'} ({one['status']})" for one in paper.get("items", ()) if one["kind"] == "asks"
    ]
    if paper:
        yield f"  held by    {paper['by']}" + (f": {', '.join(map(str, asked))}" if asked else "")
    for title, key in (("left over", "residue"), ("not used", "not_used"), ("unknown", "unknown")):
        if paper.get(key):
            yield f"  {title:10} {', '.join(one['text'] for one in paper[key])}"


def _policy(paper: Mapping[str, Any]) -> Iterator[str]:
    topic = paper.get("topic", {})
    about = [*topic.get("outcomes", ()), *topic.get("actions", ()), *topic.get("domains", ())]
    if about:
        yield f"  about      {', '.join(about)}"
    for read in paper.get("reads", ()):
        yield f"  heard      {read['fact']}, in “{read['words']}”"
    for one in paper.get("unclear", ()):
        yield f"  not heard  {one['fact']}, in “{one['words']}”: {one['reason']}"
    if paper.get("missing"):
        yield f"  unknown    {', '.join(paper['missing'])}"
    if paper.get("fired"):
        yield f"  fired      {', '.join(paper['fired'])}"


def _refinement(paper: Mapping[str, Any]) -> Iterator[str]:
    """Each iteration of the loop, in a line, and why it stopped."""
    told = paper.get("final.json")
    if not told:
        return
    for one in told["iterations"]:
        assumed = one["metrics"]["assumptions"]
        note = f", only if {'; '.join(assumed)}" if assumed else ""
        note += f": {'; '.join(one['feedback']['problems'])}" if one["feedback"].get("problems") else ""
        yield f"  iteration  {one['k']}: {one['feedback']['status'].replace('_', ' ')}{note}"
    yield f"  loop       stopped: {told['metrics']['stop'].replace('_', ' ')}; {told['final_answer']}"


def _reply(reply: Mapping[str, Any]) -> Iterator[str]:
    if reply.get("facts"):
        yield "  facts      " + ", ".join(f"{name}={value}" for name, value in sorted(reply["facts"].items()))
    if reply.get("path"):
        yield f"  path       {' → '.join(reply['path'])}"
    if reply.get("sql"):
        yield f"  statement  {reply['sql']}"
    for cited in reply.get("citations", ()):
        place = f"{cited['path']}:{cited['line']}" if cited.get("line") else cited.get("path") or ""
        yield f"  source     {cited['id']} {place}".rstrip()


def _verdict(verdict: Mapping[str, Any]) -> Iterator[str]:
    if "score" not in verdict:
        return
    held = f"{verdict['verdict']}, " if verdict.get("verdict") else ""
    yield f"  verdict    {held}{verdict.get('action', '')} with score {verdict['score']}"
    for check in verdict.get("checks", ()):
        yield f"  check      {check['name']}: {'nothing to go by' if check['score'] is None else check['score']}"
    for broken in verdict.get("violations", ()):
        yield f"  violation  {broken['kind']}: {broken['message']}"
