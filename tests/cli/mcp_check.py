#!/usr/bin/env python3
"""`gapscope mcp` as an assistant meets it: the protocol, every tool against the command's own --json, what is refused.

    mcp_check.py PROGRAM TRACE.json.gz RANK0.json.gz RANK1.json.gz
"""
import base64
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile


class Client:
    def __init__(self, program, *folders):
        self.process = subprocess.Popen([program, "mcp", *folders], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.last = 0

    def raw(self, line):
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def ask(self, method, **params):
        self.last += 1
        answer = self.raw(json.dumps({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}))
        assert answer["jsonrpc"] == "2.0" and answer["id"] == self.last, answer
        return answer.get("result", answer.get("error"))

    def call(self, name, **arguments):
        return self.ask("tools/call", name=name, arguments=arguments)

    def text(self, name, **arguments):
        answer = self.call(name, **arguments)
        assert not answer.get("isError"), answer
        return answer["content"][0]["text"]

    def end(self):
        self.process.stdin.close()
        return self.process.wait(timeout=30), self.process.stderr.read()


def command(program, *arguments):
    return json.loads(subprocess.run([program, *arguments], capture_output=True, timeout=120).stdout)


def steady(answer):
    """Without how long the load took, which is another each time."""
    return {key: value for key, value in answer.items() if key != "load"} if isinstance(answer, dict) else answer


def protocol(client):
    answer = client.ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "check", "version": "1"})
    if answer["protocolVersion"] != "2025-06-18" or set(answer["capabilities"]) != {"tools", "resources"} or answer["serverInfo"]["name"] != "gapscope":
        yield f"initialize: {answer}"
    if client.ask("initialize", protocolVersion="1999-01-01")["protocolVersion"] != "2025-06-18":
        yield "an unknown version is not answered with ours"
    client.process.stdin.write(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n\n')
    if client.ask("ping") != {}:
        yield "ping after a notification"
    for line, code in (("{", -32700), ("[]", -32600), ("7", -32600), ('{"jsonrpc": "2.0", "id": 1, "method": "nothing"}', -32601), ('{"id": 1, "method": "ping"}', -32600),
                       ('{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "nothing"}}', -32602), ('{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": 3}', -32602),
                       ('{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": 3}}', -32602), ('{"jsonrpc": "2.0", "id": {}, "method": "ping"}', -32600),
                       ('{"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": "gapscope://guide/nothing"}}', -32002), ("\x00\xff", -32700)):
        got = client.raw(line)
        if got.get("error", {}).get("code") != code:
            yield f"{line!r} is answered with {got}"
    tools = {tool["name"]: tool for tool in client.ask("tools/list")["tools"]}
    for name in ("open", "info", "why", "diagnose", "table", "kernels", "steps", "sql", "diff", "ranks", "screenshot"):
        if name not in tools or tools[name]["inputSchema"]["type"] != "object" or len(tools[name]["description"]) < 20:
            yield f"tools/list: {name}"
    uris = [resource["uri"] for resource in client.ask("resources/list")["resources"]]
    if "gapscope://guide/overhead_bound" not in uris or len(uris) < 50:
        yield f"resources/list: {uris[:5]}"
    for uri, wanted in (("gapscope://guide/overhead_bound", "host"), ("gapscope://guide", "overhead_bound"), ("gapscope://sql/schema", "launch_delay")):
        contents = client.ask("resources/read", uri=uri)["contents"]
        if contents[0]["uri"] != uri or wanted not in contents[0]["text"]:
            yield f"{uri} does not speak of {wanted}"


def tools(client, program, trace):
    for name in ("info", "why", "diagnose", "table", "kernels", "steps"):
        expected = command(program, name, trace, "--json")
        rows, cursor = None, 0
        while True:  # all pages together are the command's answer
            answer = client.call(name, trace=trace, cursor=cursor)
            page = json.loads(answer["content"][0]["text"])
            if rows is None:
                rows = page
            elif isinstance(page, list):
                rows += page
            else:
                key = max((k for k in page if isinstance(page[k], list)), key=lambda k: len(json.dumps(expected[k])))
                rows[key] += page[key]
            if len(answer["content"][0]["text"]) > 64 * 1024 and cursor == 0 and name != "why":
                yield f"{name}: a page of {len(answer['content'][0]['text'])} bytes"
            cursor = answer.get("_meta", {}).get("next_cursor")
            if cursor is None:
                break
        if steady(rows) != steady(expected):
            yield f"{name} differs from the command's --json"
    if steady(json.loads(client.text("open", trace=trace))) != steady(command(program, "info", trace, "--json")):
        yield "open differs from info"
    if trace not in json.loads(client.text("open"))["traces"]:
        yield "open does not list the trace"
    if json.loads(client.text("why", trace=os.path.basename(trace), by_step=True)) != command(program, "why", trace, "--json", "--by-step"):
        yield "why by_step"
    if json.loads(client.text("diff", before=trace, after=trace)) != command(program, "diff", trace, trace, "--json"):
        yield "diff"
    if json.loads(client.text("kernels", trace=trace, limit=1, sort="count")) != command(program, "kernels", trace, "--json", "--limit", "1", "--sort", "count"):
        yield "kernels with a limit"
    if json.loads(client.text("sql", trace=trace, query="select 1 as a; select count(*) as n from kernel"))["columns"] != ["n"]:
        yield "sql with two statements"
    if "gpu_gap" not in client.text("sql", trace=trace, query=".tables"):
        yield "sql .tables"
    many = client.call("sql", trace=trace, query="with recursive c(x) as (select 0 union all select x + 1 from c where x < 999) select x from c", cursor=150)
    page = json.loads(many["content"][0]["text"])["rows"]
    if page[0] != [150] or len(page) > 200 or many["_meta"]["next_cursor"] != page[-1][0] + 1 or "of 1000" not in many["content"][1]["text"]:
        yield f"sql in pages: {str(many)[:300]}"
    picture = client.call("screenshot", trace=trace, size="900x560")
    if picture["isError"] or not base64.b64decode(picture["content"][0]["data"]).startswith(b"\x89PNG"):
        yield f"screenshot: {str(picture)[:300]}"


def refusals(client, trace, folder):
    outside = tempfile.NamedTemporaryFile(suffix=".json")
    outside.write(b"[]")
    outside.flush()
    link = pathlib.Path(folder) / "link.json"
    link.symlink_to(outside.name)
    for name, arguments, wanted in (
            ("why", {"trace": outside.name}, "not a file below the server's folders"), ("why", {"trace": str(link)}, "not a file below the server's folders"), ("why", {"trace": "../" * 9 + "etc/passwd"}, "not a file below"),
            ("why", {"trace": folder}, "not a file below"), ("why", {"trace": "-"}, "not a file below"), ("why", {}, "requires"), ("why", {"trace": 5}, "wrong type"), ("why", {"trace": trace, "x": 1}, "no argument"),
            ("why", {"trace": trace, "device": -1}, "wrong type"), ("why", {"trace": trace, "cursor": -1}, "cursor"), ("why", {"trace": trace, "range": "x"}, "range"),
            ("sql", {"trace": trace, "query": "select * from slices"}, "did you mean slice?"), ("sql", {"trace": trace, "query": "attach 'x' as y"}, "refused"),
            ("sql", {"trace": trace, "query": "--file=/etc/passwd"}, ""), ("screenshot", {"trace": trace, "select": "--output=/tmp/x"}, ""), ("diff", {"before": trace, "after": outside.name}, "not a file below"),
            ("table", {"trace": trace, "sort": "--csv"}, "")):
        answer = client.call(name, **arguments)
        harmless = not wanted and not answer["isError"] and name == "sql"  # a comment
        if not harmless and (not answer.get("isError") or wanted not in answer["content"][0]["text"]):
            yield f"{name} {arguments}: {str(answer)[:300]}"


def run_of_ranks(client, program, rank0, rank1, folder):
    """The ranks of a run, by their files and as a folder, with what is no use and what leads out of it."""
    run = pathlib.Path(folder) / "run"
    run.mkdir()
    files = [shutil.copy(path, run) for path in (rank0, rank1)]
    expected = command(program, "ranks", *files, "--json")
    for traces in (files, [str(run)], ["run"]):
        found = {**expected, "collectives": []}
        cursor = 0
        while cursor is not None:
            answer = client.call("ranks", traces=traces, cursor=cursor)
            page = json.loads(answer["content"][0]["text"])
            if {**page, "collectives": []} != {**expected, "collectives": []}:
                yield f"ranks of {traces} from {cursor}: {str(page)[:300]}"
            found["collectives"] += page["collectives"]
            cursor = answer.get("_meta", {}).get("next_cursor")
        if found != expected:
            yield f"ranks of {traces} differs from the command's --json"
    if json.loads(client.text("ranks", traces=files, align="none"))["ranks"][1]["offset_ns"] != 0:
        yield "ranks with align"
    query = "select rank, waiting_ns, cost_ns from rank"
    if json.loads(client.text("sql", trace=files[0], others=files[1:], query=query)) != command(program, "sql", str(run), query, "--json"):
        yield "sql of a run"
    with tempfile.NamedTemporaryFile(suffix=".json") as outside:
        (run / "rank2.json").symlink_to(outside.name)
        (run / "rank3.json").write_text("nonsense")
        answer = client.call("ranks", traces=[str(run)])
        page = json.loads(answer["content"][0]["text"])
        if answer["isError"] or len(page["ranks"]) != 2 or "rank3.json" not in str(page["problems"]) or "rank2" in str(page):
            yield f"ranks with files that are no use: {str(answer)[:300]}"
    for arguments in ({"traces": [os.path.dirname(folder)]}, {"traces": ["/"]}, {"traces": files[0]}, {"traces": []}, {"traces": files, "align": "--csv"}):
        if not client.call("ranks", **arguments).get("isError"):
            yield f"ranks {arguments} is not refused"


def holds(found, wanted):
    """Whether an answer says what the transcript has of it, which leaves out some keys, rows and folders."""
    if isinstance(wanted, dict):
        return isinstance(found, dict) and all(key in found and holds(found[key], value) for key, value in wanted.items())
    if isinstance(wanted, list):
        return isinstance(found, list) and len(found) >= len(wanted) and all(map(holds, found, wanted))
    return found == wanted or (isinstance(wanted, str) and os.path.basename(str(found)) == wanted)


def recorded_transcript(program, rank0, rank1):
    """The same question as an agent asked it through the protocol's own inspector, given these two files and nothing else."""
    told = json.loads(pathlib.Path(__file__).with_name("mcp_transcript.json").read_text())
    answers = {}
    with tempfile.TemporaryDirectory() as folder:
        for path in (rank0, rank1):
            shutil.copy(path, folder)
        client = Client(program, folder)
        for call in told["calls"]:
            answers[call["tool"]] = json.loads(client.text(call["tool"], **call["arguments"]))
            if not holds(answers[call["tool"]], call["answer"]):
                yield f"{call['tool']} answers another thing than in the transcript: {str(answers[call['tool']])[:400]}"
        client.end()
    if len(told["calls"]) > 4 or not told["conclusion"].startswith("Rank 1"):
        yield "the transcript is too long, or concludes something else"
    late, account = answers["ranks"]["late"], {rank["rank"]: rank["account"] for rank in answers["ranks"]["ranks"]}
    if {step["rank"] for step in late} != {1} or len(late) != 5 or not all(step["lost_ns"] > 0 and step["doing"] for step in late):
        yield f"ranks does not name rank 1 as late in every step: {str(late)[:400]}"
    if account[0]["waiting_for"].get("1", 0) < 0.5 * account[0]["window_ns"]:
        yield f"rank 0 does not wait for rank 1: {account[0]}"
    idle = answers["why"]["devices"][0]["idle"]
    if sum(idle[cause] for cause in ("operator", "python", "launching")) < 0.5 * account[1]["window_ns"] or max(idle, key=idle.get) != "python":
        yield f"rank 1's account does not name its host: {idle}"


def transcript(client, program, rank0, rank1):
    """Two ranks of one run, and the question which of them holds the other up: the calls, and what each has to say."""
    calls = 0

    def total(account):
        return account["compute"] + account["exposed_communication"] + account["exposed_copies"] + sum(account["idle"].values())

    says = {}
    for rank, trace in enumerate((rank0, rank1)):
        calls += 1
        says[rank] = json.loads(client.text("why", trace=trace))["devices"][0]
    waits = {rank: account["exposed_communication"] / total(account) for rank, account in says.items()}
    host = {rank: sum(account["idle"].get(cause, 0) for cause in ("operator", "python", "launching", "cuda_call")) / total(account) for rank, account in says.items()}
    if not (waits[0] > 0.5 and waits[1] < 0.1 and host[1] > 0.5 and host[0] < 0.1):
        yield f"the accounts do not show who waits: {waits} {host}"
    calls += 1
    verdict = json.loads(client.text("diagnose", trace=rank1))["verdict"]
    if "Host-bound" not in verdict or "Python" not in verdict:
        yield f"rank 1's verdict does not name its host: {verdict}"
    if calls > 4:
        yield f"{calls} calls"


def complaints(program, trace, rank0, rank1):
    with tempfile.TemporaryDirectory() as folder:
        copies = [shutil.copy(path, folder) for path in (trace, rank0, rank1)]
        client = Client(program, folder)
        try:
            yield from protocol(client)
            yield from tools(client, program, copies[0])
            yield from refusals(client, copies[0], folder)
            yield from transcript(client, program, copies[1], copies[2])
            yield from recorded_transcript(program, copies[1], copies[2])
            yield from run_of_ranks(client, program, copies[1], copies[2], folder)
        finally:
            code, error = client.end()
        if code != 0 or error:
            yield f"it ended with {code}: {error[:300]}"
    if subprocess.run([program, "mcp", "/nowhere"], stdin=subprocess.DEVNULL, capture_output=True).returncode != 2:
        yield "a folder that is none is not refused"


if __name__ == "__main__":
    found = list(complaints(sys.argv[1], *map(os.path.realpath, sys.argv[2:5])))
    print("\n".join(found) or "gapscope mcp answers as it should.")
    sys.exit(1 if found else 0)
