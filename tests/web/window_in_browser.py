#!/usr/bin/env python3
"""window_in_browser.py GAPSCOPE WEB TRACES RANKS PICTURES: the window on a page, driven in headless Chromium by WebDriver."""
import base64
import functools
import gzip
import http.server
import json
import lzma
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request
import zlib

SIZES = [(900, 560), (1600, 900)]
PATIENCE_S = 120  # on a busy machine with OpenGL in software


class Browser:
    def __init__(self, folder):
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, text=True)
        for line in self.driver.stdout:
            if port := re.search(r"on port (\d+)\.", line):
                break
        self.root = f"http://127.0.0.1:{port.group(1)}/session"
        arguments = ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--enable-unsafe-swiftshader", "--use-angle=swiftshader",
                     "--ignore-gpu-blocklist", "--hide-scrollbars", f"--user-data-dir={folder}"]
        wanted = {"browserName": "chrome", "goog:chromeOptions": {"args": arguments}, "goog:loggingPrefs": {"browser": "ALL"}}
        answer = self.call("POST", "", {"capabilities": {"alwaysMatch": wanted}})
        self.root += "/" + answer["sessionId"]

    def call(self, method, path, what=None):
        data = None if what is None else json.dumps(what).encode()
        request = urllib.request.Request(self.root + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"]) from None

    def go(self, address):
        self.call("POST", "/url", {"url": address})

    def run(self, script, *arguments):
        return self.call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def resize(self, width, height):
        """Of the page's inside."""
        self.call("POST", "/window/rect", {"width": width, "height": height})
        inside = self.run("return [innerWidth, innerHeight]")
        self.call("POST", "/window/rect", {"width": 2 * width - inside[0], "height": 2 * height - inside[1]})

    def picture(self):
        return base64.b64decode(self.call("GET", "/screenshot"))

    def press(self, *keys):
        """All at once."""
        down = [{"type": "keyDown", "value": key} for key in keys]
        up = [{"type": "keyUp", "value": key} for key in reversed(keys)]
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": [*down, {"type": "pause", "duration": 60}, *up]}]})

    def click(self, x, y):
        actions = [{"type": "pointerMove", "x": round(x), "y": round(y)}, {"type": "pause", "duration": 60}, {"type": "pointerDown", "button": 0}, {"type": "pause", "duration": 60},
                   {"type": "pointerUp", "button": 0}]
        self.call("POST", "/actions", {"actions": [{"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": actions}]})

    def wheel(self, x, y, **how):
        """As trackpads have it, at what the pointer is moved to."""
        self.call("POST", "/actions", {"actions": [{"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": [{"type": "pointerMove", "x": x, "y": y}, {"type": "pause", "duration": 100}]}]})
        self.run("document.getElementById('canvas').dispatchEvent(new WheelEvent('wheel', {bubbles: true, cancelable: true, ...arguments[0]}))", how)

    def renderer_seconds(self):
        """Of processor time that each process which runs its pages has taken."""
        processes = {}  # parent, ticks and arguments
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                fields = pathlib.Path("/proc", name, "stat").read_text().rpartition(")")[2].split()
                processes[int(name)] = int(fields[1]), int(fields[11]) + int(fields[12]), pathlib.Path("/proc", name, "cmdline").read_text()
            except OSError:
                continue  # it has ended
        def is_ours(process):
            return process == self.driver.pid or process in processes and is_ours(processes[process][0])
        return {process: ticks / os.sysconf("SC_CLK_TCK") for process, (_, ticks, arguments) in processes.items() if "--type=renderer" in arguments and is_ours(process)}

    def tabs(self):
        return self.call("GET", "/window/handles")

    def go_to(self, tab):
        self.call("POST", "/window", {"handle": tab})

    def close_tab(self):
        self.call("DELETE", "/window")

    def log(self):
        return [entry["message"] for entry in self.call("POST", "/se/log", {"type": "browser"})]

    def end(self):
        self.call("DELETE", "")
        self.driver.terminate()
        self.driver.wait()


class Server:
    def __init__(self, gapscope, web, folder):
        self.process = subprocess.Popen([gapscope, "serve", folder, "--port", "0", "--web", web], stdout=subprocess.PIPE, text=True)
        for line in self.process.stdout:
            if found := re.search(r"http://localhost:\d+/\?token=\w+", line):
                self.entrance = found.group()
                self.address = self.entrance.split("?")[0]
                return
        sys.exit("gapscope serve printed no address")

    def window(self, *files):
        return self.address + "window/#file=" + "&file=".join(urllib.parse.quote("/file/" + urllib.parse.quote(file)) for file in files)

    def end(self):
        self.process.terminate()
        assert self.process.wait() == 0


class StaticHost(http.server.ThreadingHTTPServer):
    """Any host of static files: with ranges, without COOP and COEP, and with a line that can break."""
    daemon_threads = True
    left = None  # bytes of recordings until it breaks

    def __init__(self, web, recordings):
        for file in web.iterdir():
            shutil.copy(file, recordings)
        super().__init__(("127.0.0.1", 0), functools.partial(StaticAnswer, directory=recordings))
        threading.Thread(target=self.serve_forever, daemon=True).start()
        self.page = f"http://localhost:{self.server_port}/"

    def handle_error(self, request, client_address):
        pass  # a browser hangs up

    def window(self, name):
        return self.page + "#file=" + urllib.parse.quote("/" + urllib.parse.quote(name))

    def end(self):
        self.shutdown()
        self.server_close()


class StaticAnswer(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        if not asked:
            return super().do_GET()
        path = pathlib.Path(self.translate_path(self.path))
        begin, end = int(asked[1]), min(int(asked[2]) + 1, path.stat().st_size)
        if self.server.left == 0:
            self.close_connection = True
            return
        self.send_response(206)
        self.send_header("Content-Length", str(end - begin))
        self.send_header("Content-Range", f"bytes {begin}-{end - 1}/{path.stat().st_size}")
        self.end_headers()
        with path.open("rb") as file:
            file.seek(begin)
            while begin < end:
                piece = file.read(min(1 << 18, end - begin))
                if self.server.left is not None:
                    piece = piece[:self.server.left]
                    self.server.left -= len(piece)
                self.wfile.write(piece)
                begin += len(piece)
                if self.server.left == 0 and begin < end:
                    self.close_connection = True
                    return


def pixels(png):
    """Rows of bytes, 3 or 4 a pixel, of an 8-bit PNG."""
    at, packed = 8, b""
    while at < len(png):
        size, kind = struct.unpack(">I4s", png[at:at + 8])
        if kind == b"IHDR":
            width, height, depth, colours = struct.unpack(">IIBB", png[at + 8:at + 18])
        if kind == b"IDAT":
            packed += png[at + 8:at + 8 + size]
        at += size + 12
    assert depth == 8 and colours in (2, 6)
    step = 3 if colours == 2 else 4
    raw, rows, before = zlib.decompress(packed), [], bytearray(width * step)
    for y in range(height):
        row = bytearray(raw[y * (width * step + 1) + 1:(y + 1) * (width * step + 1)])
        how = raw[y * (width * step + 1)]
        for i in range(len(row)):
            left = row[i - step] if i >= step else 0
            corner = before[i - step] if i >= step else 0
            up = before[i]
            if how == 1:
                row[i] = (row[i] + left) & 255
            elif how == 2:
                row[i] = (row[i] + up) & 255
            elif how == 3:
                row[i] = (row[i] + (left + up) // 2) & 255
            elif how == 4:
                guess = left + up - corner
                near = min((abs(guess - left), 0, left), (abs(guess - up), 1, up), (abs(guess - corner), 2, corner))[2]
                row[i] = (row[i] + near) & 255
        rows.append(row)
        before = row
    return width, height, step, rows


def colours_in(png):
    width, height, step, rows = pixels(png)
    return width, height, {bytes(row[i:i + 3]) for row in rows for i in range(0, len(row), step)}


STATE = "return window.gapscopeIsOn ? JSON.parse(Module.ccall('gapscope_state', 'string', [], [])) : null"
ANSWER = "return Module.ccall('gapscope_answer', 'string', ['string'], [arguments[0]])"


def wait_for(browser, what, is_there):
    until = time.monotonic() + PATIENCE_S
    state = None
    while time.monotonic() < until:
        state = browser.run(STATE)
        if state and is_there(state):
            return state
        time.sleep(0.1)
    said = {key: state[key] for key in ("message", "loading", "file") if key in state} if state else browser.run("return document.body.innerText")
    sys.exit(f"not within {PATIENCE_S} s: {what}; the page says {said}; its console: {browser.log()}")


def is_shown(name):
    return lambda state: not state["loading"] and state.get("file", "").endswith("/" + name) and state["findings"] is not None


def compare(gapscope, browser, file):
    for tool in ("info", "overview"):
        native = json.loads(subprocess.run([gapscope, tool, file, "--json"], stdout=subprocess.PIPE, check=True).stdout)
        page = json.loads(browser.run(ANSWER, tool))
        for answer in (native, page):
            for key in ("load", "file", "path", "trace"):  # times, and where the file is
                answer.pop(key, None)
        for key in native:
            if native[key] != page.get(key):
                sys.exit(f"{file.name}: {tool}'s {key} is {page.get(key)} in the browser, {native[key]} natively")
        if native.keys() != page.keys():
            sys.exit(f"{file.name}: {tool} has other keys in the browser: {native.keys() ^ page.keys()}")


def drop(browser, name, content):
    """As a file dropped onto the page."""
    browser.run("""
        const bytes = Uint8Array.from(atob(arguments[1]), c => c.charCodeAt(0));
        const carried = new DataTransfer();
        carried.items.add(new File([bytes], arguments[0], {lastModified: 1e12}));
        document.getElementById("canvas").dispatchEvent(new DragEvent("drop", {dataTransfer: carried, bubbles: true, cancelable: true}));""",
                name, base64.b64encode(content).decode())


def drop_file(browser, file):
    drop(browser, file.name, file.read_bytes())


def open_link(browser, address, name):
    browser.go("about:blank")
    browser.go(address)
    return wait_for(browser, f"{name} is shown", is_shown(name))


def click_text(browser, text):
    state = wait_for(browser, f"{text} is in sight", lambda s: text in s["texts"])
    browser.click(*state["texts_at"][max(i for i, drawn in enumerate(state["texts"]) if drawn == text)])


def check_places(server, browser, file):
    """A link with a time and a slice shows them, and "Copy link" gives one that does the same."""
    state = open_link(browser, server.window(file.name), file.name)
    assert not state["selection"]
    length = state["trace_end_ns"] - state["trace_begin_ns"]
    begin, end = length // 10, length // 2  # the slice is in it
    name = "TorchDynamo Cache Lookup"

    def is_there(state):
        return (state["begin_ns"], state["end_ns"]) == (state["trace_begin_ns"] + begin, state["trace_begin_ns"] + end) and state["selection"] == name

    place = f"&from={begin}&to={end}&slice=7"
    browser.run("location.hash += arguments[0]", place)  # of the file that is open
    wait_for(browser, "a link to another place of what is open shows it", lambda s: s["file"] == state["file"] and is_there(s))
    click_text(browser, "File")
    click_text(browser, "Copy link")
    wait_for(browser, "it is copied", lambda s: "Copy link" not in s["texts"])
    copied = browser.run("return gapscopePasted")
    assert copied.startswith(server.address + "window/#file="), copied
    open_link(browser, copied, file.name)
    wait_for(browser, f"{copied} shows {name} in its stretch", is_there)


def check_settings(server, browser, file):
    """What one page learned, the next one knows; the files of the first are not there any more."""
    open_link(browser, server.window(file.name), file.name)
    browser.press("f")  # the hints wait for the first key
    click_text(browser, "Skip")
    wait_for(browser, "the tour goes", lambda s: not s["tour_open"])
    until = time.monotonic() + PATIENCE_S
    while not browser.run("return localStorage['gapscope:/stored/settings.json'] && JSON.parse(localStorage['gapscope:/stored/settings.json']).preferences.tour_seen"):
        assert time.monotonic() < until, browser.run("return JSON.stringify({...localStorage})")
        time.sleep(0.1)
    browser.go("about:blank")
    browser.go(server.address + "window/")
    state = wait_for(browser, "the window is there", lambda s: True)
    assert not state["tour_open"] and not state["recent"] and not state["message"], state
    state = open_link(browser, server.window(file.name), file.name)
    assert not state["tour_open"]


def check_views(server, browser, file):
    """Where one page was looking, the next one is, be the file linked to or dropped."""
    def is_seen(state, span):
        return all(abs(now - then) <= 2 for now, then in zip((state["begin_ns"], state["end_ns"]), span))

    def by_link():
        open_link(browser, server.window(file.name), file.name)

    def by_drop():
        browser.go("about:blank")
        browser.go(server.address + "window/")
        wait_for(browser, "the window is there", lambda s: True)
        drop_file(browser, file)
        wait_for(browser, "it was dropped", is_shown(file.name))

    for opened in (by_link, by_drop):
        opened()
        fresh = browser.run(STATE)
        browser.press("w")
        wait_for(browser, "W zooms in", lambda s: s["begin_ns"] != fresh["begin_ns"])
        time.sleep(1)  # and nothing moves
        state = browser.run(STATE)
        until = time.monotonic() + PATIENCE_S
        while not any(is_seen(state, view["visible_ns"]) for view in browser.run("return Object.keys(localStorage).filter(key => key.startsWith('gapscope:/stored/views/')).map(key => JSON.parse(localStorage[key]))")):
            assert time.monotonic() < until, (state["begin_ns"], state["end_ns"], browser.run("return JSON.stringify({...localStorage})"))
            time.sleep(0.1)
        opened()
        wait_for(browser, "what was seen is seen again", lambda s: is_seen(s, (state["begin_ns"], state["end_ns"])))


def check_crop(gapscope, server, browser, file, folder):
    """What is downloaded as the visible part is what the command line writes."""
    state = open_link(browser, server.window(file.name), file.name)
    length = state["trace_end_ns"] - state["trace_begin_ns"]
    begin, end = length // 3, length // 2
    browser.run("location.hash += arguments[0]", f"&from={begin}&to={end}")
    wait_for(browser, "its middle is shown", lambda s: s["begin_ns"] - s["trace_begin_ns"] == begin and not s["moving"])
    browser.run("window.saved = []; window.gapscopeSave = what => { if (!what.name.startsWith('/')) saved.push([what.name, btoa(Array.from(what.bytes, c => String.fromCharCode(c)).join(''))]); }")
    browser.press("\ue009", "\ue008", "s")  # Ctrl+Shift+S
    wait_for(browser, "it is saved", lambda s: s["message"].startswith("Saved "))
    (name, content), = browser.run("return saved")
    native = folder / "native.part.json.gz"
    subprocess.run([gapscope, "crop", file, "--from", f"{begin}ns", "--to", f"{end}ns", "-o", native], stdout=subprocess.DEVNULL, check=True)
    assert name == file.name.replace(".json.gz", ".part.json.gz"), name
    assert base64.b64decode(content) == native.read_bytes(), f"the page's {name} is another one than gapscope crop's"


def large_trace(file, into, megabytes):
    """A trace, some times after itself."""
    trace = json.loads(gzip.decompress(file.read_bytes()))
    events = [event for event in trace["traceEvents"] if event.get("ph") == "X"]
    begin = min(float(event["ts"]) for event in events)
    length = max(float(event["ts"]) + float(event["dur"]) for event in events) - begin
    with into.open("w") as out:
        out.write('{"traceEvents": [')
        for k in range(1000):
            out.write((",\n" if k else "") + ",\n".join(json.dumps({**event, "ts": round(float(event["ts"]) + k * length, 3)}) for event in events))
            if out.tell() > megabytes << 20:
                break
        out.write("]}")


def check_static_host(gapscope, web, browser, file, folder):
    """Files that come in one stream; a line that breaks; one too large; a report with the window on the same site."""
    recordings = folder / "static"
    recordings.mkdir()
    large = recordings / "large.json"
    large_trace(file, large, 24)
    with (recordings / "huge.json").open("wb") as huge:
        huge.truncate(5 << 30)
    host = StaticHost(pathlib.Path(web), recordings)
    try:
        open_link(browser, host.window("large.json"), "large.json")  # the service worker gives it threads
        compare(gapscope, browser, large)
        for left in (0, large.stat().st_size // 2):
            browser.go("about:blank")
            host.left = left
            browser.go(host.window("large.json"))
            if left == 0:
                state = wait_for(browser, "that nothing can be read is said", lambda s: not s["loading"] and s["message"])
                assert "large.json failed after 0 bytes" in state["message"], state["message"]
            else:
                wait_for(browser, "what came before the line broke is shown", is_shown("large.json"))
                wait_for(browser, "it is said to be a part", lambda s: "the file is cut off" in " ".join(s["texts"]))
                report = {issue["kind"]: issue["first"] for issue in json.loads(browser.run(ANSWER, "info"))["report"]}
                assert "Reading" in report["truncated"][0]["text"] and "missing_close" not in report, report
            host.left = None
            drop_file(browser, file)
            wait_for(browser, "the window continues", is_shown(file.name))
        browser.go("about:blank")
        browser.go(host.window("huge.json"))
        state = wait_for(browser, "what is too large is said to be", lambda s: s["message"])
        assert "5.4 GB" in state["message"] and "file" not in state, state["message"]
        check_report(gapscope, browser, file, host, recordings)
    finally:
        host.end()


def check_damaged(gapscope, browser, file, folder):
    """Half a file is shown as far as it goes, as the command line has it; what is none is said to be none."""
    half = folder / "half.json.gz"
    half.write_bytes(file.read_bytes()[:file.stat().st_size // 2])
    drop_file(browser, half)
    wait_for(browser, "half a file is shown", is_shown(half.name))
    compare(gapscope, browser, half)
    drop(browser, "noise.json.gz", b"\x1f\x8b" + bytes(range(256)) * 40)
    state = wait_for(browser, "noise is said to be none", lambda s: not s["loading"] and s["message"])
    assert "noise.json.gz" in state["message"] and state["file"].endswith(half.name), state["message"]
    packed = folder / "packed.json.xz"
    packed.write_bytes(lzma.compress(gzip.decompress(file.read_bytes())))
    drop_file(browser, packed)
    wait_for(browser, ".xz is shown", is_shown(packed.name))
    compare(gapscope, browser, packed)


def check_names(browser, file):
    """Names that would be markup, formats, escapes or paths are names."""
    for name in ('<img src=x onerror="document.title=1">%s%n\x1b[31m.json.gz', "../../stored/settings.json", "\u202egz.nosj.json.gz", "."):
        drop(browser, name, file.read_bytes())
        shown = name.replace("/", "_") if name != "." else "recording"
        state = wait_for(browser, f"{name!r} is shown", is_shown(shown))
        assert state["file"].startswith("/opened/") and state["file"].count("/") == 3, state["file"]
        assert browser.run("return document.title != '1' && document.images.length == 0")


def check_closed_tab(server, browser, folder):
    """A page that goes while it reads leaves the server as it was."""
    for _ in range(4):
        browser.go(server.window("large.json"))
        time.sleep(0.3)
        browser.go("about:blank")
    assert server.process.poll() is None
    open_link(browser, server.window("large.json"), "large.json")


def check_report(gapscope, browser, file, host, static):
    """A report that holds its recording opens it in the window on the same site, which continues when the report is closed;
    elsewhere it says that there is none, and saves it."""
    name = '<img src=x onerror="document.title=1">%20#\u00e9&.json.gz'  # a name
    recording = static / name
    shutil.copy(file, recording)
    (static / "below").mkdir()
    for into, more in ((static / "report.html", ["--viewer", "."]), (static / "below" / "report.html", [])):
        subprocess.run([gapscope, "overview", recording, "--html", into, "--with-trace", *more], check=True)

    def wait(condition):
        until = time.monotonic() + PATIENCE_S
        while not browser.run(f"return {condition}"):
            assert time.monotonic() < until, f"{condition}: {browser.run('return document.body.innerText')[:400]}"
            time.sleep(0.1)

    says, opens = "document.getElementById('held-says').textContent", "document.getElementById('held-open')"
    for address, site in ((host.page + "below/report.html", host.page + "below/web/"), ((static / "report.html").as_uri(), static.as_uri())):
        browser.go(address)
        wait(f"{says}.startsWith('There is no web viewer')")
        assert browser.run(f"return {opens}.hidden") and site in browser.run(f"return {says}"), browser.run(f"return {says}")
        browser.run("HTMLAnchorElement.prototype.click = function() { window.saved = [this.download, this.href]; }; document.getElementById('held-save').click()")
        saved_name, bytes_held = browser.run("return fetch(saved[1]).then(answer => answer.arrayBuffer()).then(bytes => [saved[0], btoa(Array.from(new Uint8Array(bytes), c => String.fromCharCode(c)).join(''))])")
        assert (saved_name, base64.b64decode(bytes_held)) == (name, file.read_bytes()), saved_name
    browser.go(host.page + "report.html")
    wait(f"!{opens}.hidden")
    assert browser.run("return document.title == arguments[0] && document.images.length == 0", name)
    report, = browser.tabs()
    browser.click(*browser.run(f"const at = {opens}.getBoundingClientRect(); return [at.x + at.width / 2, at.y + at.height / 2]"))
    while len(browser.tabs()) == 1:
        time.sleep(0.1)
    window, = set(browser.tabs()) - {report}
    browser.go_to(window)
    state = wait_for(browser, "the window has the recording of the report", is_shown(name))
    assert state["file"].startswith("/opened/"), state["file"]
    compare(gapscope, browser, recording)
    browser.close_tab()
    browser.go_to(report)
    place = browser.run("const at = document.querySelector('.held-at'); at.scrollIntoView(); return at.dataset.place")
    browser.click(*browser.run("const at = document.querySelector('.held-at').getBoundingClientRect(); return [at.x + at.width / 2, at.y + at.height / 2]"))
    while len(browser.tabs()) == 1:
        time.sleep(0.1)
    window, = set(browser.tabs()) - {report}
    browser.go_to(window)
    key, value = place.split("&")[0].split("=")
    wait_for(browser, "the window shows the place of a finding",
             lambda s: is_shown(name)(s) and (bool(s["selection"]) if key == "slice" else s["begin_ns"] - s["trace_begin_ns"] == int(value)))
    browser.go_to(report)
    browser.close_tab()
    browser.go_to(window)
    browser.run("window.gapscopeSave = () => {}")
    browser.press("\ue009", "\ue008", "s")  # Ctrl+Shift+S: it is read once more
    wait_for(browser, "a part of it is saved", lambda s: s["message"].startswith("Saved "))
    browser.run("location.reload()")
    state = wait_for(browser, "that the report is closed is said", lambda s: s["message"])
    assert "no longer there" in state["message"] and name in state["message"], state["message"]


def check_trackpad(browser):
    """Two fingers that spread zoom by a step, not by one for each pixel; sideways they pan by a part of what is seen."""
    def seen(state):
        return state["end_ns"] - state["begin_ns"]

    axis = (before := browser.run(STATE))["axis"]
    at = round((axis["x0"] + axis["x1"]) / 2), round((axis["y0"] + axis["y1"]) / 2)
    browser.wheel(*at, ctrlKey=True, deltaY=-20)
    wait_for(browser, "a pinch zooms", lambda s: seen(s) < seen(before))
    time.sleep(1)  # Ctrl is let go of, and nothing moves
    zoomed = browser.run(STATE)
    assert 0.6 < seen(zoomed) / seen(before) < 0.95, (before["begin_ns"], before["end_ns"], zoomed["begin_ns"], zoomed["end_ns"])
    browser.wheel(*at, deltaX=60)
    wait_for(browser, "sideways pans", lambda s: s["begin_ns"] != zoomed["begin_ns"])
    time.sleep(1)
    panned = browser.run(STATE)
    assert 0 < panned["begin_ns"] - zoomed["begin_ns"] < seen(zoomed) / 4 and abs(seen(panned) - seen(zoomed)) < 10, (zoomed["begin_ns"], panned["begin_ns"])


def check_sleep(browser, seconds=3):
    wait_for(browser, "the window is still", lambda state: not state["moving"])
    time.sleep(2)  # its first frames
    browser.run("window.frames_drawn = 0; const draw = Module._gapscope_frame; Module._gapscope_frame = () => { ++frames_drawn; draw(); }")
    before = browser.renderer_seconds()
    assert sum(before.values()) > 0
    time.sleep(seconds)
    taken = sum(now - before.get(process, 0) for process, now in browser.renderer_seconds().items())
    frames = browser.run("return frames_drawn")
    assert frames == 0 and taken < 0.015 * seconds, f"with nothing to show: {frames} frames, {taken:.2f} s of a processor in {seconds} s"
    print(f"asleep: {100 * taken / seconds:.1f} % of a processor")
    browser.press("w")
    assert browser.run("return frames_drawn") > 0


def check_list(server, browser, runs, file, ranks):
    """A recording and a run that are written while the list is looked at come to be in it; the ranks open together."""
    browser.go(server.address)
    browser.run("document.querySelector('input').click(); window.is_the_same = true")
    ticked = browser.run("return document.querySelector('input:checked').value")
    shutil.copy(file, runs / "later.json.gz")
    (runs / "run").mkdir()
    for rank in ranks:
        shutil.copy(rank, runs / "run")
    run = server.window(*(f"run/{rank.name}" for rank in ranks))
    until = time.monotonic() + PATIENCE_S
    links = []
    while not {server.window("later.json.gz"), run} <= set(links):
        assert time.monotonic() < until, links
        time.sleep(0.2)
        links = browser.run("return [...document.querySelectorAll('.window a')].map(link => link.href)")
    assert browser.run("return window.is_the_same && document.querySelector('input:checked').value") == ticked
    open_link(browser, run, ranks[0].name)
    wait_for(browser, "the window has both ranks", lambda s: s["ranks"] and s["ranks"]["ranks"] == 2)


def main(gapscope, web, traces, ranks, pictures):
    traces, pictures = pathlib.Path(traces), pathlib.Path(pictures)
    pictures.mkdir(parents=True, exist_ok=True)
    files = sorted(traces.glob("*.json.gz"))
    assert len(files) > 10
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        runs = folder / "runs"
        runs.mkdir()
        for file in files:
            shutil.copy(file, runs)
        strange = runs / "a b%20#é.json.gz"  # its address is written twice over
        shutil.copy(files[0], strange)
        server, browser = Server(gapscope, web, runs), Browser(folder / "browser")
        try:
            browser.resize(*SIZES[0])
            browser.go(server.entrance)
            time.sleep(2)  # the entrance continues to the list by itself
            links = browser.run("return [...document.querySelectorAll('.window a')].map(link => link.href)")
            assert sorted(links) == sorted(server.window(file.name) for file in [*files, strange]), links
            for file in [*files, strange]:
                begin = time.monotonic()
                open_link(browser, server.window(file.name), file.name)
                print(f"{file.name}: shown after {time.monotonic() - begin:.1f} s")
                compare(gapscope, browser, file if file != strange else strange)
            open_link(browser, server.window(files[0].name), files[0].name)
            for width, height in SIZES:
                browser.resize(width, height)
                wait_for(browser, "the window is still", lambda state: not state["moving"])
                time.sleep(0.5)
                png = browser.picture()
                (pictures / f"{width}x{height}.png").write_bytes(png)
                seen_width, seen_height, colours = colours_in(png)
                assert (seen_width, seen_height) == (width, height), (seen_width, seen_height)
                assert len(colours) > 50, f"{len(colours)} colours at {width}x{height}: nothing is drawn"
            # Real keys.
            before = browser.run(STATE)
            browser.press("w")
            wait_for(browser, "W zooms in", lambda s: s["end_ns"] - s["begin_ns"] < before["end_ns"] - before["begin_ns"])
            # A file of this machine.
            drop_file(browser, files[1])
            state = wait_for(browser, f"{files[1].name} was dropped and is shown", is_shown(files[1].name))
            assert state["file"].startswith("/opened/"), state["file"]  # elsewhere is what GLFW copied into memory
            compare(gapscope, browser, files[1])
            drop_file(browser, pathlib.Path(__file__))
            wait_for(browser, "what is no trace is said to be none", lambda s: not s["loading"] and s["message"])
            state = browser.run(STATE)
            assert state["file"].endswith(files[1].name), state["file"]
            check_damaged(gapscope, browser, files[1], folder)
            check_names(browser, files[0])
            check_settings(server, browser, files[0])
            check_views(server, browser, files[0])
            check_crop(gapscope, server, browser, files[0], folder)
            check_places(server, browser, files[0])
            check_trackpad(browser)
            check_sleep(browser)
            check_list(server, browser, runs, files[0], [pathlib.Path(ranks, f"ddp_delayed_rank{rank}.json.gz") for rank in range(2)])
            check_static_host(gapscope, web, browser, max(files, key=lambda file: file.stat().st_size), folder)
            shutil.copy(folder / "static" / "large.json", runs)
            check_closed_tab(server, browser, folder)
            # A link to what is not there.
            browser.go("about:blank")
            browser.go(server.window("nothing.json"))
            state = wait_for(browser, "a file that is not there is said to be missing", lambda s: s["message"])
            assert "404" in state["message"], state["message"]
            wrong = [line for line in browser.log() if "404" not in line and "ERR_FILE_NOT_FOUND" not in line]
            assert not wrong, wrong
        finally:
            browser.end()
            server.end()
    print(f"the pictures are in {pictures}")


if __name__ == "__main__":
    main(*sys.argv[1:])
