#!/usr/bin/env python3
"""`gapscope mcp` with a client that is impatient, hostile or gone: the server always answers, a call can be cancelled, too many
are refused, and with the server every process goes that it started.

    mcp_robust_check.py PROGRAM TRACE.json.gz
"""
import base64
import json
import os
import pathlib
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import confinement

ENDLESS = "with recursive c(x) as (select 0 union all select x + 1 from c) select count(*) from c"
PATIENCE_S = 60


class Server:
    def __init__(self, program, folder, *options):
        self.process = subprocess.Popen([program, "mcp", folder, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.answers = queue.Queue()
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        for line in self.process.stdout:
            self.answers.put(json.loads(line))
        self.answers.put(None)

    def send(self, message):
        text = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.process.stdin.write(text + b"\n")
        self.process.stdin.flush()

    def request(self, number, method, **params):
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})

    def endless(self, number, trace):
        self.request(number, "tools/call", name="sql", arguments={"trace": trace, "query": ENDLESS})

    def cancel(self, number):
        self.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number, "reason": "impatient"}})

    def next(self):
        return self.answers.get(timeout=PATIENCE_S)

    def ask(self, number, method, **params):
        self.request(number, method, **params)
        return self.next()

    def children(self):
        path = f"/proc/{self.process.pid}/task"
        try:
            return [int(child) for thread in os.listdir(path) for child in pathlib.Path(path, thread, "children").read_text().split()]
        except FileNotFoundError:
            return []

    def end(self):
        self.process.stdin.close()
        return self.process.wait(timeout=PATIENCE_S)


def comes_true(test):
    until = time.monotonic() + PATIENCE_S
    while not test():
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True


def is_alive(process):
    try:
        return pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def protocol(server):
    said = server.ask(0, "initialize", protocolVersion="2025-06-18")["result"]["serverInfo"]
    version = subprocess.run([server.process.args[0], "--version"], capture_output=True, text=True).stdout.split()[1]
    if said["version"] != version:
        yield f"serverInfo says {said}, the program is {version}"
    for asked, agreed in (("2025-06-18", "2025-06-18"), ("2024-11-05", "2024-11-05"), ("2025-03-26", "2025-03-26"), ("2031-01-01", "2025-06-18")):
        if server.ask(1, "initialize", protocolVersion=asked)["result"]["protocolVersion"] != agreed:
            yield f"version {asked} is not answered with {agreed}"
    for asked in (20250618, None, []):
        error = server.ask(2, "initialize", protocolVersion=asked).get("error", {})
        if error.get("code") != -32602 or error.get("data") != {"supported": ["2025-06-18", "2025-03-26", "2024-11-05"], "requested": asked}:
            yield f"version {asked} is answered with {error}"


def batches(server, trace):
    batch = [{"jsonrpc": "2.0", "id": "a", "method": "ping"}, {"jsonrpc": "2.0", "method": "notifications/initialized"}, 7,
             {"jsonrpc": "2.0", "id": "b", "method": "tools/call", "params": {"name": "sql", "arguments": {"trace": trace, "query": "select 1 as x"}}},
             {"jsonrpc": "2.0", "id": "c", "method": "initialize", "params": {"protocolVersion": "2025-06-18"}}]
    for version, has_them in (("2025-03-26", True), ("2025-06-18", False)):
        server.ask(1, "initialize", protocolVersion=version)
        server.send(batch)
        got = server.next()
        if not has_them:
            if got.get("error", {}).get("code") != -32600:
                yield f"a batch under {version} is answered with {got}"
            continue
        by_id = {answer["id"]: answer for answer in got}
        if len(got) != 4 or by_id["a"]["result"] != {} or by_id[None]["error"]["code"] != -32600 or by_id["c"]["error"]["code"] != -32600:
            yield f"a batch is answered with {got}"
        if json.loads(by_id["b"]["result"]["content"][0]["text"])["rows"] != [[1]]:
            yield f"the call of a batch is answered with {by_id['b']}"
        guide = {"jsonrpc": "2.0", "id": "d", "method": "resources/read", "params": {"uri": "gapscope://guide"}}
        server.send([guide] * 200)  # its answers would take 50 MB
        got = server.next()
        if not isinstance(got, dict) or "A batch has at most" not in got["error"]["message"]:
            yield f"a batch of 200 is answered with {len(json.dumps(got))} characters"


def hostile_lines(server):
    for line in (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}}",
                 b"[" * 1_000_000, b'{"a":' * 500_000, b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {' + b",".join(b'"%d": 1' % i for i in range(200_000)) + b"}}"):
        server.send(line)
        if server.next().get("error", {}).get("code") != -32700:
            yield f"{line[:30]} is not refused"
    for _ in range(100):
        server.process.stdin.write(b"x" * 1_000_000)
    server.send(b"")
    if "longer than" not in server.next().get("error", {}).get("message", ""):
        yield "a line of 100 MB is not refused"
    peak = int(next(line for line in open(f"/proc/{server.process.pid}/status") if line.startswith("VmHWM")).split()[1])
    if peak > 200_000:
        yield f"a line of 100 MB took the server {peak} kB"
    if server.ask(2, "ping")["result"] != {}:
        yield "ping after hostile lines"


def calls(server, trace):
    server.endless(10, trace)
    if not comes_true(server.children):
        yield "a call begins no process: this tests nothing"
    if server.ask(11, "ping") != {"jsonrpc": "2.0", "id": 11, "result": {}}:
        yield "ping waits for a call"
    server.cancel(10)
    if not comes_true(lambda: not server.children()):
        yield "a cancelled call runs on"
    server.cancel(10)
    server.cancel([])
    if server.ask(12, "ping")["id"] != 12:
        yield "a cancelled call is answered"
    for number in range(20, 100):
        server.endless(number, trace)
    refused = server.next()
    if refused.get("error", {}).get("code") != -32000:
        yield f"of 80 calls none is refused: {refused}"
    most = max(len(server.children()) for _ in range(100))
    if not 0 < most <= 4:
        yield f"{most} calls at once"
    for number in range(20, 100):
        server.cancel(number)
    if not comes_true(lambda: not server.children()):
        yield "cancelled calls run on"
    server.request(100, "tools/call", name="sql", arguments={"trace": trace, "query": "select 1 as x"})
    until = time.monotonic() + PATIENCE_S
    while (answer := server.next())["id"] != 100 and time.monotonic() < until:
        if "error" not in answer:
            yield f"a cancelled call is answered: {str(answer)[:200]}"
    server.request(101, "tools/call", name="sql", arguments={"trace": trace, "query": ".bogus"})
    answer = server.next()
    if not answer["result"]["isError"] or "There is no command .bogus" not in answer["result"]["content"][0]["text"]:
        yield f".bogus: {answer}"


def ends(program, folder, trace):
    """However the server ends, what it started ends with it."""
    for how in ("input ends", "no reader", "killed", "terminated"):
        server = Server(program, folder) if how != "no reader" else None
        if server is None:
            process = subprocess.Popen([program, "mcp", folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            server = Server.__new__(Server)
            server.process = process
        for number in range(8):
            server.endless(number, trace)
        if not comes_true(lambda: len(server.children()) == 4):
            yield f"{how}: there are {len(server.children())} processes: this tests nothing"
        started = server.children()
        if how == "input ends":
            server.process.stdin.close()
        elif how == "no reader":
            server.process.stdout.close()
        else:
            server.process.send_signal(signal.SIGKILL if how == "killed" else signal.SIGTERM)
        try:
            server.process.wait(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            yield f"{how}: the server continues"
            server.process.kill()
        if how == "input ends" and server.process.returncode != 0:
            yield f"{how}: it ended with {server.process.returncode}"
        if not comes_true(lambda: not any(map(is_alive, started))):
            yield f"{how}: what the server started continues: {started}"
            for process in started:
                os.kill(process, signal.SIGKILL)


def confined(program):
    """Nothing outside is read, whatever a trace names and whatever leads there."""
    with tempfile.TemporaryDirectory() as top:
        folder, outside = pathlib.Path(top).resolve() / "in", pathlib.Path(top).resolve() / "out"
        folder.mkdir()
        outside.mkdir()
        server, named = Server(program, str(folder)), Server(program, str(folder), "--sources", str(outside))

        def call(of, name, **arguments):
            content = of.ask(1, "tools/call", name=name, arguments=arguments)["result"]["content"][0]
            return base64.b64decode(content["data"]) if "data" in content else content["text"]

        def picture(of):
            return lambda trace: call(of, "screenshot", trace=trace, select="the_kernel", tab="details")

        yield from confinement.sources(picture(server), picture(named), folder, outside)
        yield from confinement.captures(lambda trace: call(server, "kernels", trace=trace), folder, outside)
        names = "select group_concat(distinct name) as names from slice"
        yield from confinement.races({"sql": lambda: call(server, "sql", trace="sub/a.json", query=names),
                                "sql of a folder": lambda: call(server, "sql", trace="sub/a.json", others=["sub"], query=names),
                                "table": lambda: call(server, "table", trace="sub/a.json"),
                                "diff": lambda: call(server, "diff", before="sub/a.json", after="sub/b.json"),
                                "ranks": lambda: call(server, "ranks", traces=["sub"])}, folder, outside)
        for one in (server, named):
            if one.end() != 0:
                yield f"it ended with {one.process.returncode}"


def complaints(program, trace):
    yield from confined(program)
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copy(trace, folder)
        server = Server(program, folder)
        yield from protocol(server)
        yield from batches(server, copy)
        yield from hostile_lines(server)
        yield from calls(server, copy)
        if server.end() != 0:
            yield f"it ended with {server.process.returncode}"
        yield from ends(program, folder, copy)


if __name__ == "__main__":
    found = list(complaints(*sys.argv[1:3]))
    print("\n".join(found) or "gapscope mcp holds.")
    sys.exit(1 if found else 0)
