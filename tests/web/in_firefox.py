#!/usr/bin/env python3
"""in_firefox.py GAPSCOPE WEB TRACE: the window opens a trace in Firefox, and a click selects a slice. Driven by Marionette, which Firefox has
itself, under an Xvfb: without a display it draws no WebGL."""
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time

from window_in_browser import PATIENCE_S, Server, compare, is_shown, wait_for


class Firefox:
    def __init__(self, folder):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        (folder / "user.js").write_text(f'user_pref("marionette.port", {port});\nuser_pref("webgl.force-enabled", true);\nuser_pref("datareporting.policy.dataSubmissionEnabled", false);\n')
        self.screen = subprocess.Popen(["Xvfb", "-displayfd", "1", "-screen", "0", "1280x800x24"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        where = {**os.environ, "DISPLAY": ":" + self.screen.stdout.readline().strip(), "LIBGL_ALWAYS_SOFTWARE": "1"}
        self.process = subprocess.Popen(["firefox-esr", "--marionette", "--no-remote", "--profile", folder], env=where,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until = time.monotonic() + PATIENCE_S
        while True:
            try:
                self.line = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)
                break
            except OSError:
                assert time.monotonic() < until, "Firefox does not listen"
                time.sleep(0.2)
        self.answers = self.line.makefile("rb")
        self.answer()
        self.call("WebDriver:NewSession", {})

    def answer(self):
        length = b""
        while (digit := self.answers.read(1)) != b":":
            length += digit
        return json.loads(self.answers.read(int(length)))

    def call(self, name, what):
        text = json.dumps([0, 1, name, what]).encode()
        self.line.sendall(b"%d:%s" % (len(text), text))
        _, _, trouble, got = self.answer()
        if trouble:
            raise RuntimeError(trouble["message"])
        return got

    def go(self, address):
        self.call("WebDriver:Navigate", {"url": address})

    def run(self, script, *arguments):
        return self.call("WebDriver:ExecuteScript", {"script": script, "args": list(arguments), "sandbox": None})["value"]

    def click(self, x, y):
        actions = [{"type": "pointerMove", "x": round(x), "y": round(y)}, {"type": "pause", "duration": 60}, {"type": "pointerDown", "button": 0}, {"type": "pause", "duration": 60},
                   {"type": "pointerUp", "button": 0}]
        self.call("WebDriver:PerformActions", {"actions": [{"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": actions}]})

    def log(self):
        return []

    def end(self):
        self.line.close()
        for process in (self.process, self.screen):
            process.terminate()
            process.wait()


def main(gapscope, web, trace):
    trace = pathlib.Path(trace)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = pathlib.Path(name)
        (folder / "firefox").mkdir()
        (folder / "runs").mkdir()
        shutil.copy(trace, folder / "runs")
        server, browser = Server(gapscope, web, folder / "runs"), Firefox(folder / "firefox")
        try:
            browser.go(server.entrance)
            time.sleep(2)  # the entrance continues to the list by itself
            browser.go(server.window(trace.name))
            wait_for(browser, f"{trace.name} is shown", is_shown(trace.name))
            compare(gapscope, browser, trace)
            state = wait_for(browser, "the window is still", lambda s: not s["moving"] and s["slices"])
            slice = max(state["slices"], key=lambda s: s["x1"] - s["x0"])
            browser.click((slice["x0"] + slice["x1"]) / 2, (slice["y0"] + slice["y1"]) / 2)
            wait_for(browser, f"{slice['name']} is selected", lambda s: s["selection"] == slice["name"])
        finally:
            browser.end()
            server.end()
    print(f"Firefox shows {trace.name} and selects {slice['name']}")


if __name__ == "__main__":
    main(*sys.argv[1:])
