#!/usr/bin/env python3
"""`gapscope serve` as a browser meets it, and as an attacker meets it.

    serve_check.py PROGRAM TRACE.json.gz RANK0.json.gz RANK1.json.gz
"""
import concurrent.futures
import contextlib
import html
import html.parser
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse

import confinement
import names_check


class Server:
    def __init__(self, program, folder, *options, stdin=None):
        self.process = subprocess.Popen([program, "serve", str(folder), "--port", "0", *options], stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.greeting = ""
        while "Ctrl+C" not in self.greeting:
            line = self.process.stdout.readline()
            assert line, f"it ended: {self.process.communicate()}"
            self.greeting += line
        self.port, self.token = re.search(r"http://\S+:(\d+)/\?token=([0-9a-f]{32})\n", self.greeting).groups()
        self.port = int(self.port)
        self.cookie = self.get("/?token=" + self.token, cookie=None)[1]["Set-Cookie"].split(";")[0]

    def get(self, target, method="GET", cookie="", **headers):
        """Status, headers, body. The cookie is sent where none is given; None: no cookie."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=100)
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        if cookie is not None:
            headers["Cookie"] = cookie or self.cookie
        connection.request(method, target, headers=headers)
        answer = connection.getresponse()
        try:
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def raw(self, data, timeout=60):
        """What comes back for these bytes, until the server closes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=timeout) as client:
            out = b""
            with contextlib.suppress(ConnectionError):
                client.sendall(data)
                with contextlib.suppress(OSError):  # it has closed by now
                    client.shutdown(socket.SHUT_WR)
                while piece := client.recv(65536):
                    out += piece
            return out

    def head(self, target, *lines):
        return "\r\n".join([f"GET {target} HTTP/1.1", f"Host: localhost:{self.port}", f"Cookie: {self.cookie}", *lines, "", ""]).encode()

    def end(self, how=signal.SIGTERM):
        begin = time.monotonic()
        self.process.send_signal(how)
        out, error = self.process.communicate(timeout=30)
        return self.process.returncode, error, time.monotonic() - begin


def quoted(path):
    return urllib.parse.quote(path if isinstance(path, bytes) else str(path))


def printed(program, *arguments):
    return subprocess.run([program, *arguments], capture_output=True, timeout=120).stdout


def rows(server):
    """The listing, when everything in it has been read."""
    for _ in range(600):
        listing = json.loads(server.get("/api/list")[2])
        if all(item["state"] != "being read" for item in listing["items"]):
            return {item["address"]: item for item in listing["items"]}
        time.sleep(0.1)
    raise AssertionError(f"it never was read: {listing}")


def greeting(server, program, folder):
    if f"ssh -L {server.port}:localhost:{server.port} " not in server.greeting:
        yield f"no ssh line: {server.greeting}"
    taken = subprocess.run([program, "serve", str(folder), "--port", str(server.port)], capture_output=True, text=True, timeout=30)
    if taken.returncode != 1 or "in use" not in taken.stderr or taken.stderr.count("\n") != 1:
        yield f"a port that is taken: {taken}"
    for arguments, code in ((["/no/such/folder"], 2), ([str(folder), "--port", "70000"], 2), ([str(folder), "--bind", "not an address", "--port", "0"], 1)):
        wrong = subprocess.run([program, "serve", *arguments], capture_output=True, text=True, timeout=30)
        if wrong.returncode != code or not wrong.stderr.startswith("gapscope: ") or wrong.stderr.count("\n") != 1:
            yield f"{arguments}: {wrong}"


def access(server):
    status, headers, body = server.get("/?token=" + server.token, cookie=None)
    if status != 200 or headers["Refresh"] != "0; url=/" or "HttpOnly" not in headers["Set-Cookie"] or "SameSite=Strict" not in headers["Set-Cookie"] or server.token.encode() in body:
        yield f"the address that was printed: {status} {headers} {body[:200]}"
    own = f"localhost:{server.port}"
    for what, target, arguments, wanted in (
            ("no token", "/", {"cookie": None}, 403), ("a wrong token", "/?token=" + "0" * 32, {"cookie": None}, 403), ("an empty token", "/?token=", {"cookie": None}, 403),
            ("a wrong cookie", "/", {"cookie": server.cookie[:-1] + "x"}, 403), ("a cookie of another name", "/", {"cookie": "x" + server.cookie}, 403),
            ("another host", "/", {"Host": "evil.example"}, 403), ("another host with our port", "/", {"Host": f"evil.example:{server.port}"}, 403),
            ("a host that begins as ours", "/", {"Host": "localhost.evil.example"}, 403), ("an empty host", "/", {"Host": ""}, 403), ("localhost", "/", {"Host": own}, 200),
            ("a tunnel's port", "/", {"Host": "localhost:9"}, 200), ("another host, with the token", "/?token=" + server.token, {"Host": "evil.example", "cookie": None}, 403),
            ("our host and a zero", "/", {"Host": "localhost%00.evil.example"}, 403), ("a letter of our host in other words", "/", {"Host": "localhos%74"}, 403),
            ("another origin", "/", {"Host": own, "Origin": "http://evil.example"}, 403), ("no origin", "/", {"Host": own, "Origin": "null"}, 403),
            ("another port's origin", "/api/list", {"Host": own, "Origin": "http://localhost:1"}, 403), ("our origin", "/", {"Host": own, "Origin": "http://" + own}, 200)):
        if (got := server.get(target, **arguments)[0]) != wanted:
            yield f"{what} is answered with {got}, not {wanted}"
    for target in ("/api/list", "/view/trace.json.gz", "/file/trace.json.gz", "/diff", "/nothing"):
        if (got := server.get(target, cookie=None)[0]) != 403:
            yield f"{target} without a cookie: {got}"
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH"):
        if (got := server.get("/", method=method)[0]) != 405:
            yield f"{method}: {got}"
    for target in ("/", "/nothing", "/api/list", "/file/trace.json.gz", "/file/nothing.json", "/api/why?trace=nothing"):
        headers = server.get(target)[1]
        for name, value in (("X-Content-Type-Options", "nosniff"), ("Cross-Origin-Opener-Policy", "same-origin"), ("Cross-Origin-Embedder-Policy", "require-corp"), ("Referrer-Policy", "no-referrer")):
            if headers[name] != value:
                yield f"{target}: {name} is {headers[name]}"
        if "default-src 'none'" not in headers["Content-Security-Policy"] or ("script" in headers["Content-Security-Policy"]) != (target == "/") or "unsafe-eval" in headers["Content-Security-Policy"]:
            yield f"{target}: {headers['Content-Security-Policy']}"
        if (headers["Cache-Control"] == "no-store") == target.startswith("/file/trace"):
            yield f"{target}: Cache-Control is {headers['Cache-Control']}"


def requests(server):
    """What is no request, or a strange one."""
    for what, data, wanted in (("nonsense", b"\x00\xff\r\n\r\n", b" 400 "), ("no host", f"GET / HTTP/1.1\r\nCookie: {server.cookie}\r\nConnection: close\r\n\r\n".encode(), b" 400 "),
                               ("two hosts", server.head("/", "Host: localhost", "Connection: close"), b" 400 "), ("a host behind a space", server.head("/", "Host : evil.example", "Connection: close"), b" 400 "),
                               ("a line that continues", server.head("/", " Host: evil.example", "Connection: close"), b" 400 "), ("an unknown method", b"FOO / HTTP/1.1\r\nHost: localhost\r\n\r\n", b" 400 "),
                               ("a head that is too long", server.head("/", *(f"X-{i}: {'x' * 1000}" for i in range(20))), b" 431 "), ("a head without an end", b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 4000, b" 431 "),
                               ("a body", server.head("/", "Content-Length: 5")[:-2] + b"\r\nhello", b" 200 "), ("a long address", server.head("/" + "a" * 9000, "Connection: close"), b" 414 "),
                               ("a range behind a bare line feed", server.head("/file/trace.json.gz", "X: a\nRange: bytes=99999999-", "Connection: close"), b" 400 "),
                               ("a body behind one", server.head("/api/list", "X: a\nTransfer-Encoding: chunked") + b"0\r\n\r\n", b" 400 "),
                               ("http://", server.head("http://evil.example/", "Connection: close"), b" 400 ")):
        got = server.raw(data).split(b"\r\n")[0]
        if wanted not in got + b" ":
            yield f"{what} is answered with {got}"
    two = server.raw(server.head("/api/list") + server.head("/nothing", "Connection: close"))
    if two.count(b"HTTP/1.1 ") != 2 or b" 404 " not in two:
        yield f"two requests on one connection: {two[:300]}"


def traversal(server, folder):
    (folder / "link.json").symlink_to("/etc/passwd")
    (folder / "up").symlink_to("/")
    (folder / "secret.txt").write_text("secret")
    (folder / ".hidden.json").write_text("secret")
    (folder / "fifo.json").unlink(missing_ok=True)
    os.mkfifo(folder / "fifo.json")
    outside = pathlib.Path(tempfile.mkdtemp(prefix="gapscope-outside-"))
    (outside / "o.json").write_text("secret")
    try:
        names = ["../" + outside.name + "/o.json", "%2e%2e/" + outside.name + "/o.json", "..%2f" + outside.name + "%2fo.json", "%252e%252e%252f" + outside.name + "/o.json", "..%5c" + outside.name + "/o.json",
                 str(outside / "o.json"), "/" + str(outside / "o.json"), "%2f" + str(outside / "o.json")[1:], "link.json", "up" + str(outside / "o.json"), "secret.txt", "secret.txt%00.json", "trace.json.gz%00", ".hidden.json",
                 "./trace.json.gz", "runs/../trace.json.gz", "-", "fifo.json", "runs", "", "trace.json.gz/", "trace.json.gz/.", "a" * 5000 + ".json", "/dev/stdin", "/proc/self/environ"]
        for name in names:
            for target in (f"/file/{name}", f"/view/{name}", f"/ranks/{name}" if name not in ("", "runs") else "/file/", f"/api/info?trace={name}", f"/diff?pick={name}&pick=trace.json.gz", f"/api/ranks?traces={name}" if name not in ("", "runs") else "/file/"):
                status, _, body = server.get(target)
                single = target.startswith(("/ranks", "/api/ranks")) and status == 200 and name in ("./trace.json.gz",)
                if status not in (400, 404, 422) and not single or b"secret" in body.replace(b"secret.txt", b""):
                    yield f"{target} is answered with {status}: {body[:100]}"
    finally:
        shutil.rmtree(outside)
        for name in ("link.json", "up", "secret.txt", ".hidden.json", "fifo.json"):
            (folder / name).unlink()


def ranges(server, folder):
    data = (folder / "trace.json.gz").read_bytes()
    size = len(data)
    status, headers, body = server.get("/file/trace.json.gz")
    tag = headers["ETag"]
    if (status, body, headers["Accept-Ranges"]) != (200, data, "bytes"):
        yield f"the whole file: {status} {len(body)} {headers}"
    status, headers, body = server.get("/file/trace.json.gz", method="HEAD")
    if (status, body, headers["Content-Length"], headers["ETag"]) != (200, b"", str(size), tag):
        yield f"HEAD: {status} {headers} {body[:20]}"
    for header, expected in (("bytes=0-0", data[:1]), ("bytes=5-9", data[5:10]), (f"bytes={size - 1}-", data[-1:]), ("bytes=-7", data[-7:]), (f"bytes=-{size + 9}", data), (f"bytes=3-{size + 9}", data[3:]),
                             ("bytes=0-" + "9" * 40, data), ("Bytes=1-1", data[1:2])):
        status, headers, body = server.get("/file/trace.json.gz", Range=header)
        begin = size - len(expected) if header.startswith("bytes=-") else int(re.search(r"\d+", header)[0])
        if (status, body) != (206, expected) or headers["Content-Range"] != f"bytes {begin}-{begin + len(expected) - 1}/{size}" or headers["Content-Length"] != str(len(expected)):
            yield f"{header}: {status} {len(body)} {headers}"
    for header in (f"bytes={size}-", f"bytes={size + 5}-{size + 9}", "bytes=-0", "bytes=" + "9" * 40 + "-"):
        status, headers, body = server.get("/file/trace.json.gz", Range=header)
        if status != 416 or headers["Content-Range"] != f"bytes */{size}":
            yield f"{header}: {status} {headers}"
    for header in ("bytes=5-2", "bytes=a-b", "bytes=-", "bytes", "lines=1-2", "bytes=0-1,4-5", "bytes=" + ",".join(["0-1"] * 900), "bytes=" + "-" * 4000):
        status, headers, body = server.get("/file/trace.json.gz", Range=header)
        if (status, body) != (200, data):
            yield f"{header[:40]}: {status} {len(body)}"
    for name, value, wanted in (("If-Range", tag, 206), ("If-Range", '"x"', 200), ("If-None-Match", tag, 304), ("If-None-Match", "*", 304), ("If-None-Match", '"x"', 206)):
        if (got := server.get("/file/trace.json.gz", Range="bytes=0-1", **{name.replace("-", "_"): value})[0]) != wanted:
            yield f"{name}: {value} is answered with {got}, not {wanted}"
    (folder / "empty.json").write_bytes(b"")
    if (got := server.get("/file/empty.json")[::2]) != (200, b"") or server.get("/file/empty.json", Range="bytes=0-")[0] != 416:
        yield f"an empty file: {got}"
    (folder / "empty.json").unlink()


def changes(server, folder):
    """A file that grows, or goes, while it is on the way: what comes is the old file's, or less."""
    path = folder / "big.json"
    old = bytes(range(256)) * (1 << 17)
    for what, change in (("grows", lambda: path.open("ab").write(b"more")), ("is written anew", lambda: path.write_bytes(b"n" * len(old))), ("is another file now", lambda: (folder / "new.json").write_bytes(b"n" * len(old)) and os.replace(folder / "new.json", path)),
                         ("goes", path.unlink), ("is cut", lambda: os.truncate(path, 100))):
        path.write_bytes(old)
        with socket.create_connection(("127.0.0.1", server.port), timeout=60) as client:
            client.sendall(server.head("/file/big.json", "Connection: close"))
            got = client.recv(4096)
            time.sleep(0.2)  # its buffers are full
            change()
            try:
                while piece := client.recv(1 << 20):
                    got += piece
            except ConnectionResetError:
                pass
        body = got[got.find(b"\r\n\r\n") + 4:]
        whole = what in ("is another file now", "goes")
        if not old.startswith(body) or (len(body) == len(old)) != whole:
            yield f"a file that {what}: {len(body)} of {len(old)} bytes, {'of the old one' if old.startswith(body) else 'mixed'}"
    path.unlink(missing_ok=True)
    if server.get("/file/big.json")[0] != 404:
        yield "a file that is gone"


def slow_clients(server):
    begin = time.monotonic()
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as slow, socket.create_connection(("127.0.0.1", server.port), timeout=60) as silent:
        slow.sendall(b"GET / HTTP/1.1\r\n")
        try:
            while time.monotonic() - begin < 40:
                slow.sendall(b"X: y\r\n")
                slow.settimeout(0.5)
                try:
                    answer = slow.recv(100)
                    break
                except TimeoutError:
                    answer = None
        except (BrokenPipeError, ConnectionResetError):
            answer = b""
        if answer is None or (answer and b" 408 " not in answer):
            yield f"a client that sends a line now and then has {answer} after {time.monotonic() - begin:.0f} s"
        silent.settimeout(30)
        if silent.recv(100) != b"":
            yield "a client that says nothing is answered"


def many_connections(server):
    held = [socket.create_connection(("127.0.0.1", server.port), timeout=60) for _ in range(200)]
    try:
        with concurrent.futures.ThreadPoolExecutor(20) as pool:
            got = list(pool.map(lambda _: server.get("/api/list")[0], range(40)))
        if got != [200] * 40:
            yield f"with 200 connections: {got}"
    finally:
        for one in held:
            one.close()
    held = []
    try:
        for _ in range(400):
            held.append(socket.create_connection(("127.0.0.1", server.port), timeout=60))
            held[-1].sendall(b"GET / HTTP/1.1\r\n")
        got = [server.raw(server.head("/api/list", "Connection: close"))[:13] for _ in range(20)]
        if got != [b"HTTP/1.1 200 "] * 20:
            yield f"with 400 connections that ask for nothing: {sorted(set(got))}"
    finally:
        for one in held:
            one.close()
    for _ in range(100):
        try:
            if server.get("/api/list")[0] == 200:
                break
        except (ConnectionError, http.client.HTTPException):
            pass
        time.sleep(0.1)
    else:
        yield "after 400 connections it does not recover"

    def status(_):
        try:
            return server.get("/")[0]
        except (ConnectionError, http.client.HTTPException):
            return 503  # some of the 400 still have their threads

    for _ in range(5):
        with concurrent.futures.ThreadPoolExecutor(200) as pool:
            got = list(pool.map(status, range(200)))
        if got == [200] * 200:
            break
    else:
        yield f"200 at once: {sorted(set(got))}"


def same_as_command(server, program, folder):
    trace = str(folder / "trace.json.gz")
    for name in ("overview", "why", "diagnose", "table", "kernels", "modules", "roofline", "compile", "steps", "whatif"):
        status, headers, body = server.get(f"/api/{name}?trace=trace.json.gz", Accept_Encoding="gzip, br")
        expected = printed(program, name, trace, "--json")
        if (status, body, headers["Content-Type"]) != (200, expected, "application/json"):
            yield f"/api/{name}: {status} {body[:200]}"
    info = [json.loads(text) for text in (server.get("/api/info?trace=trace.json.gz")[2], printed(program, "info", trace, "--json"))]
    for one in info:
        one.pop("load")  # another time each time
    if info[0] != info[1]:
        yield "/api/info"
    for target, arguments in (("why?trace=trace.json.gz&by_step=true", ["why", trace, "--json", "--by-step"]), ("kernels?limit=2&trace=trace.json.gz&sort=count", ["kernels", trace, "--json", "--limit=2", "--sort=count"]),
                              ("sql?trace=trace.json.gz&query=select+count(*)+as+n+from+kernel", ["sql", trace, "--json", "select count(*) as n from kernel"]),
                              ("diff?before=trace.json.gz&after=runs/rank0.json.gz", ["diff", trace, str(folder / "runs/rank0.json.gz"), "--json"]), ("ranks?traces=runs", ["ranks", str(folder / "runs"), "--json"])):
        if (got := server.get("/api/" + target)[2]) != printed(program, *arguments):
            yield f"/api/{target}: {got[:200]}"
    for target in ("sql?trace=trace.json.gz&query=attach+'x'+as+y", "why?trace=trace.json.gz&device=-1", "why?trace=trace.json.gz&device=x", "why", "why?trace=trace.json.gz&x=1", "why?trace=damaged.json", "table?trace=trace.json.gz&sort=--csv"):
        status, _, body = server.get("/api/" + target)
        if status != 422 or len(json.loads(body)["error"]) < 10:
            yield f"/api/{target}: {status} {body[:200]}"


def pages(server, program, folder):
    found = rows(server)
    with tempfile.TemporaryDirectory() as other:
        for target, arguments, lead in (("/view/trace.json.gz", ["overview", str(folder / "trace.json.gz")], "overview"), ("/diff?pick=trace.json.gz&pick=older.json.gz", ["diff", str(folder / "older.json.gz"), str(folder / "trace.json.gz")], "diff")):
            page = pathlib.Path(other) / "page.html"
            printed(program, *arguments, "--html", str(page))
            status, _, body = server.get(target)
            parts = page.read_text().split("</head>\n<body>\n")
            if status != 200 or not all(part in body.decode() for part in parts) or "<nav>" not in body.decode():
                yield f"{target} is not what {lead} --html writes: {status} {body[:200]}"
    overview = json.loads(printed(program, "overview", str(folder / "trace.json.gz"), "--json"))
    row = found["trace.json.gz"]
    plain = overview["plain"]
    if (row["verdict"], row["steps"], row["gpu"], row["bytes"], row["step_ns"], row["gpu_share"]) != (overview["verdict"], overview["steps"]["count"], overview["devices"][0]["name"], (folder / "trace.json.gz").stat().st_size, plain["step_ns"], plain["gpu_share"]):
        yield f"the row of a recording: {row}"
    ranks = printed(program, "ranks", str(folder / "runs")).decode()
    if found["runs"]["kind"] != "ranks" or found["runs"]["files"] != 2 or found["runs"]["verdict"] != ranks.split("\n")[0]:
        yield f"the row of ranks: {found['runs']}"
    status, headers, body = server.get("/ranks/runs")
    body = body.decode()
    if html.unescape(re.search(r'<p class="lead">(.*?)</p>', body).group(1)) != ranks.split("\n")[0] or "script-src 'self';" not in headers["Content-Security-Policy"]:
        yield f"/ranks/runs does not say what ranks prints: {body[:300]}"
    asked = json.loads(printed(program, "ranks", str(folder / "runs"), "--json"))
    for title, rows_of in (("Ranks", asked["ranks"]), ("Late rank of every step", asked["late"]), ("Collectives", asked["collectives"])):
        if rows_of and body.split(f"<h2>{title}</h2>")[1].split("</table>")[0].count("<tr><td") != len(rows_of):
            yield f"/ranks/runs: {title} has other rows than ranks --json"
    yield from tables(server, program, folder / "trace.json.gz")
    if found["damaged.json"]["state"] != "failed" or "damaged" not in server.get("/view/damaged.json")[2].decode() or server.get("/view/damaged.json")[0] != 422:
        yield f"a damaged recording: {found['damaged.json']}"
    if server.get("/diff?pick=trace.json.gz")[0] != 422:
        yield "one ticked recording is compared"
    page = server.get("/")
    if b"being read" in page[2] or html.escape(overview["verdict"], quote=False).encode() not in page[2].replace(b"&#39;", b"'"):
        yield f"the list: {page[1]} {page[2][:300]}"
    shutil.copy(folder / "trace.json.gz", folder / "later.json.gz")
    status, headers, body = server.get("/")
    if b"later.json.gz" not in body or b"being read" not in body or b'src="/list.js"' not in body or "script-src 'self';" not in headers["Content-Security-Policy"]:
        yield "a recording that comes later is not there, or not read"
    rows(server)
    (folder / "later.json.gz").unlink()
    if "later.json.gz" in rows(server):
        yield "a recording that is gone is there"


def tables(server, program, trace):
    """Each page of a table has the rows and the numbers of its command."""
    def column(target, at):
        status, headers, body = server.get(target)
        if status != 200 or "script-src 'self';" not in headers["Content-Security-Policy"]:
            return f"{status} {headers['Content-Security-Policy']}"
        return [html.unescape(re.sub("<[^>]*>", "", row.split("<td")[at + 1].split(">", 1)[1])) for row in re.findall(r"<tr>(<td.*?)</tr>", body.decode(), re.S)]

    def asked(*arguments):
        return json.loads(printed(program, *arguments, "--json"))

    gaps = asked("sql", trace, "select dur, main_cause from gpu_gap order by dur desc limit 1000")["rows"]
    titles = {"python": "Python", "operator": "operators", "launching": "launch calls", "synchronizing": "synchronization", "starting": "launch latency", "unlinked": "launch not in the file",
              "unrecorded": "nothing recorded", "profiler": "the profiler's own work"}
    for target, at, wanted in (("kernels", 0, [k["name"] for k in asked("kernels", trace)]), ("modules", 0, [m["name"] for m in asked("modules", trace)["modules"]]),
                               ("steps", 0, [s["name"] for s in asked("steps", trace)["steps"]]), ("findings", 0, [f["title"] for f in asked("diagnose", trace)["findings"]]),
                               ("table", 0, [r["name"] for r in asked("table", trace)]), ("roofline", 0, [r["operator"] for r in asked("roofline", trace)["rows"]]),
                               ("whatif", 0, [of["title"] for part in (asked("whatif", trace)["plan"]["items"], asked("whatif", trace)["findings"]) for of in part]),
                               ("gaps", 3, [titles.get(cause, cause.replace("_", " ")) for _, cause in gaps])):
        got = column(f"/table/{target}/{trace.name}", at)
        ends = [cell.split("\u2026") for cell in got]  # a long name has its middle cut
        if len(got) != len(wanted) or not all(name.startswith(of[0]) and name.endswith(of[-1]) and (len(of) > 1 or name == of[0]) for of, name in zip(ends, wanted)):
            yield f"/table/{target}: {got} in place of {wanted}"
    total, share = asked("kernels", trace)[0]["total_ns"], asked("kernels", trace)[0]["share"]
    first = server.get(f"/table/kernels/{trace.name}")[2].decode().split("<tr><td")[1]
    if f'data-v="{total}">' not in first or f"{share * 100:.1f} %" not in first:
        yield f"/table/kernels has other numbers: {first}"
    if server.get("/table/nothing/trace.json.gz")[0] != 404 or server.get("/table/kernels/damaged.json")[0] != 422:
        yield "a table that is none, or of a damaged recording, is answered"


def hostile_names(server, program, folder):
    names = [b"<script>alert(1).json", b"\"onmouseover=x.json", b"a\nb\r\nSet-Cookie: x=y.json", b"\xff\xfe.json", "\u202egnp.json".encode(), b"--html=x.json", b"-.json", b"a?b#c&d=e%41.json", b"\x1b[31m.json", b"'; drop table.json", " .json".encode()]
    for name in names:
        shutil.copy(folder / "trace.json.gz", os.path.join(os.fsencode(folder), name + b".gz"))
    try:
        found = rows(server)
        body = server.get("/")[2]
        for bad in (b"<script>", b"\"onmouseover", b"\x1b", "\u202e".encode(), b"\r"):
            if bad in body:
                yield f"the list holds {bad}"
        verdict = found["trace.json.gz"]["verdict"]
        for name in names:
            address = urllib.parse.quote(name + b".gz")
            item = next((item for key, item in found.items() if urllib.parse.unquote_to_bytes(key) == name + b".gz"), None)
            if item is None or item["verdict"] != verdict:
                yield f"{name} is not listed: {item}"
                continue
            status, headers, body = server.get("/file/" + address)
            if status != 200 or body != (folder / "trace.json.gz").read_bytes() or "\n" in headers["Content-Disposition"] or headers["Set-Cookie"]:
                yield f"/file/ of {name}: {status} {headers}"
            status, headers, body = server.get("/view/" + item["address"])
            if status != 200 or b"<script" in body or headers["Set-Cookie"] or ("/file/" + item["address"]).encode() not in body:
                yield f"/view/ of {name}: {status} {body[:200]}"
            if server.get(f"/api/steps?trace={item['address']}")[0] != 200:
                yield f"/api/steps of {name}"
    finally:
        for name in names:
            os.unlink(os.path.join(os.fsencode(folder), name + b".gz"))


class Tags(html.parser.HTMLParser):
    """What a browser would take for an element, and what of it would run."""
    def __init__(self, page):
        super().__init__()
        self.names, self.running = set(), []
        self.feed(page.decode())

    def handle_starttag(self, tag, attributes):
        if tag == "script" and attributes == [("src", "/list.js"), ("defer", None)]:
            return  # the list's own
        self.names.add(tag)
        self.running += [(tag, name, value) for name, value in attributes if name.startswith("on") or (value or "").lower().startswith("javascript")]


def hostile_traces(server, folder):
    """Every name in a trace tries to be an element, to end one, or to be taken for a placeholder."""
    names_check.EVIL = "\"'><script>alert(1)</script><img src=x onerror=alert(1)></style></title></pre></svg><a href=\"javascript:alert(1)\">{}%s&lt;--></head>\n<body>\n"
    for name in ("hostile.json", "hostile2.json"):
        (folder / name).write_text(json.dumps(names_check.trace()))
    try:
        rows(server)
        for target in ("/", "/view/hostile.json", "/ranks/hostile.json", *(f"/table/{name}/hostile.json" for name in ("findings", "why", "kernels", "modules", "gaps", "steps", "whatif", "table", "roofline")), "/diff?pick=hostile.json&pick=hostile2.json", "/%3Cscript%3E", "/view/%3Cimg%20src=x%20onerror=alert(1)%3E.json"):
            status, _, body = server.get(target)
            tags = Tags(body)
            if status not in (200, 404) or "title" not in tags.names or tags.names & {"script", "img", "iframe", "object", "embed", "base"} or tags.running:
                yield f"{target}: {status}, {sorted(tags.names)}, {tags.running}"
            if target.startswith(("/view/h", "/diff")) and b"&lt;script" not in body:
                yield f"{target} shows no name, so nothing was looked at"
    finally:
        for name in ("hostile.json", "hostile2.json"):
            (folder / name).unlink()


def left_alone(server, program, folder):
    """A client that left gets no work: many abandoned questions do not delay others."""
    query = "with recursive c(x) as (select 0 union all select x + 1 from c) select count(*) from c"
    for _ in range(8):
        with socket.create_connection(("127.0.0.1", server.port), timeout=60) as client:
            client.sendall(server.head("/api/sql?trace=trace.json.gz&query=" + urllib.parse.quote(query)))
            time.sleep(0.05)
    begin = time.monotonic()
    if server.get("/api/steps?trace=trace.json.gz")[0] != 200 or time.monotonic() - begin > 20:
        yield f"a question after eight abandoned ones took {time.monotonic() - begin:.1f} s"


def ends(program, folder):
    for how in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        server = Server(program, folder)
        with socket.create_connection(("127.0.0.1", server.port), timeout=60) as idle, socket.create_connection(("127.0.0.1", server.port), timeout=60) as asking:
            idle.sendall(b"GET")
            query = "with recursive c(x) as (select 0 union all select x + 1 from c) select count(*) from c"
            asking.sendall(server.head("/api/sql?trace=trace.json.gz&query=" + urllib.parse.quote(query)))
            time.sleep(0.3)
            code, error, seconds = server.end(how)
        if code != 0 or error or seconds > 10:
            yield f"{how.name}: ended with {code} after {seconds:.1f} s, saying {error!r}"
    with Server(program, folder, "--until-input-ends", stdin=subprocess.PIPE).process as process:
        process.stdin.write("nothing\n")
        process.stdin.flush()
        try:
            process.wait(0.3)
            yield "--until-input-ends: it ends before its input does"
        except subprocess.TimeoutExpired:
            process.stdin.close()
        if process.wait(60) != 0:
            yield f"--until-input-ends: ended with {process.returncode}"


def confined(program):
    """Nothing outside is read, whatever a trace names and whatever leads there."""
    with tempfile.TemporaryDirectory() as top:
        folder, outside = pathlib.Path(top).resolve() / "in", pathlib.Path(top).resolve() / "out"
        folder.mkdir()
        outside.mkdir()
        server, named = Server(program, folder), Server(program, folder, "--sources", str(outside))

        def picture(of):
            return lambda trace: of.get(f"/api/screenshot?trace={trace}&select=the_kernel&tab=details")[2]

        def text(target):
            return lambda: server.get(target)[2].decode(errors="replace")

        def listed():
            """The list shows of a file how long it is, and which rank it says to be of."""
            sizes = {item["bytes"] for item in json.loads(server.get("/api/list")[2])["items"] if item["path"].startswith("sub")}
            return "stolen" if sizes - inner_sizes else "inside" if sizes else ""

        yield from confinement.sources(picture(server), picture(named), folder, outside)
        yield from confinement.captures(lambda trace: server.get(f"/api/kernels?trace={trace}")[2].decode(), folder, outside)
        inner = [len(confinement.slices(count, "inside", rank)) for rank, count in enumerate((3, 4))]
        inner_sizes = {*inner, sum(inner)}
        names = urllib.parse.quote("select group_concat(distinct name) as names from slice")
        yield from confinement.races({"/api/sql": text("/api/sql?trace=sub/a.json&query=" + names), "/api/table": text("/api/table?trace=sub/a.json"), "/file/": text("/file/sub/a.json"),
                                "/api/diff": text("/api/diff?before=sub/a.json&after=sub/b.json"), "/view/": text("/view/sub/a.json"), "/ranks/": text("/ranks/sub"), "/api/list": listed}, folder, outside)
        for one in (server, named):
            code, error, _ = one.end()
            if code != 0 or error:
                yield f"it ended with {code}, saying {error}"


def complaints(program, trace, rank0, rank1):
    yield from confined(program)
    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(1) as pool:
        folder = pathlib.Path(name).resolve()
        (folder / "runs").mkdir()
        shutil.copy(trace, folder / "trace.json.gz")
        shutil.copy(trace, folder / "older.json.gz")
        os.utime(folder / "older.json.gz", (10**9, 10**9))
        shutil.copy(rank0, folder / "runs/rank0.json.gz")
        shutil.copy(rank1, folder / "runs/rank1.json.gz")
        (folder / "damaged.json").write_text("nonsense")
        server = Server(program, folder)
        try:
            slow = pool.submit(lambda: list(slow_clients(server)))  # which waits, most of all
            yield from greeting(server, program, folder)
            yield from access(server)
            yield from requests(server)
            yield from traversal(server, folder)
            yield from ranges(server, folder)
            yield from changes(server, folder)
            yield from same_as_command(server, program, folder)
            yield from pages(server, program, folder)
            yield from hostile_names(server, program, folder)
            yield from hostile_traces(server, folder)
            yield from left_alone(server, program, folder)
            yield from slow.result()
            yield from many_connections(server)
        finally:
            code, error, _ = server.end()
        if code != 0 or error:
            yield f"it ended with {code}, saying {error}"
        yield from ends(program, folder)


if __name__ == "__main__":
    found = 0
    for line in complaints(*sys.argv[1:5]):
        print(line, flush=True)
        found += 1
    print(f"{found} complaints" if found else "Everything is answered, and nothing more.")
    sys.exit(1 if found else 0)
