"""A server whose calls run on as tasks, on pipes or over HTTP. `python tasks_server.py stdio|http PORT FOLDER`.

A task ends when FOLDER holds a file of its name, as that says: `completed`, `error` (completed, with `isError`),
`failed`, `cancelled`, `gone` (the server knows it no more). A call for the customer `slow` is answered once FOLDER
holds a file `go`: it fails then. What was really done, and asked, stands in FOLDER/done.
"""

import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock, Thread

transport, port, folder = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
tasks: dict[str, str] = {}
saying = Lock()


def done(what):
    with (folder / "done").open("a") as file:
        file.write(what + "\n")


def status(task_id):
    path = folder / task_id
    return path.read_text().strip() if path.exists() else "working"


def described(task_id):
    said = {"completed": "completed", "error": "completed", "failed": "failed", "cancelled": "cancelled"}
    told = said.get(status(task_id), "working")
    when = {"createdAt": "2026-11-20T12:00:00Z", "lastUpdatedAt": "2026-11-20T12:00:00Z"}
    return {"taskId": task_id, "status": told, **when, "ttl": 600_000, "pollInterval": 50}


def answer(message):
    """What the server says to one request."""
    method, params = message["method"], message.get("params", {})
    match method:
        case "initialize":
            able = {"tools": {}, "tasks": {"requests": {"tools": {"call": {}}}, "cancel": {}}}
            info = {"name": "tasks", "version": "1"}
            return {"protocolVersion": "2025-11-25", "capabilities": able, "serverInfo": info}
        case "tools/call" if "task" in params:
            task_id = f"t{len(tasks)}"
            tasks[task_id] = params["name"]
            done(f"{params['name']} {params['task'].get('ttl')}")
            return {"task": described(task_id)}
        case "tools/call" if params["arguments"].get("customer_id") == "slow":
            done(f"{params['name']} slow")
            while not (folder / "go").exists():
                time.sleep(0.02)
            return {"content": [{"type": "text", "text": "no"}], "isError": True}
        case "tools/list":
            return {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in ("verify", "tell")]}
        case "tools/call":
            done(f"{params['name']} {params['arguments'].get('customer_id')}")
            return {"content": [{"type": "text", "text": "done"}]}
        case "tasks/get" | "tasks/result" if params.get("taskId") in tasks and status(params["taskId"]) != "gone":
            task_id = params["taskId"]
            if method == "tasks/get":
                return described(task_id)
            if status(task_id) == "working":
                return None  # a real one would wait; nobody here asks before
            related = {"io.modelcontextprotocol/related-task": {"taskId": task_id}}
            return {"content": [], "isError": status(task_id) != "completed", "_meta": related}
        case "tasks/cancel":
            done("cancelled")
            (folder / params["taskId"]).write_text("cancelled")
            return described(params["taskId"])
        case "ping":
            return {}
    return None


def spoken(message):
    result = answer(message)
    said = (
        {"result": result} if result is not None else {"error": {"code": -32602, "message": "there is no such thing"}}
    )
    return {"jsonrpc": "2.0", "id": message["id"], **said}


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body = json.dumps(spoken(message)).encode() if "id" in message else b""
        self.send_response(200 if body else 202)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if message.get("method") == "initialize":
            self.send_header("Mcp-Session-Id", "s1")
        self.end_headers()
        self.wfile.write(body)

    def do_DELETE(self):
        done("left")
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *words):
        pass


if transport == "http":
    ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()


def say(message):
    told = json.dumps(spoken(message))
    with saying:
        print(told, flush=True)


for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked and "method" in asked:
        Thread(target=say, args=(asked,), daemon=True).start()
