#!/usr/bin/env python3
"""A program that already runs is recorded twice from the window, and the two recordings are compared."""
import gzip
import os
import pathlib
import subprocess
import sys
import tempfile

from harness import ROOT, App, die_with_parent

sys.path.insert(0, str(ROOT / "tests/cli"))
from attach_check import CLIENT  # noqa: E402

OTHER = "Open the copied path"  # a command near the top of the list


def run_command(app, words, title):
    app.key("ctrl+shift+p")
    app.wait_for(lambda s: OTHER in s["texts"], "the list of commands is open")
    app.type(words)
    app.wait_for(lambda s: title in s["texts"] and OTHER not in s["texts"], "the command alone is listed")
    app.key("Return")


def recordings(folder):
    """In the order in which they were made. Paths, not texts, are sorted: two of one second lie in attach-T and attach-T-2."""
    return [str(path) for path in sorted(pathlib.Path(folder).glob("attach-*/pid_*.json"))]


def main(program):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        trace = folder / "trace.json"
        trace.write_bytes(gzip.decompress((ROOT / "assets/traces/mlp_geglu_eager.json.gz").read_bytes()))
        os.environ["KINETO_IPC_SOCKET_DIR"] = name
        os.chdir(name)  # where recordings go
        with App(program) as app:
            run_command(app, "record a running", "Record a running program...")
            app.wait_for(lambda s: "No program has polled yet." in s["texts"], "the page waits for programs")
            client = subprocess.Popen([sys.executable, "-c", CLIENT, folder / "client", folder / "asked", "writes", trace],
                                      preexec_fn=die_with_parent)
            app.wait_for(lambda s: str(client.pid) in s["texts"] and "Record 1 program" in s["texts"], "the program is listed")
            app.key("Return")
            first = app.wait_for(lambda s: s.get("file"), "its trace is open")["file"]
            assert recordings(name) == [first], (recordings(name), first)
            app.wait_for(lambda s: not (folder / "dynolog").exists(), "no one listens any more")
            run_command(app, "record again", "Record again and compare")
            both = app.wait_for(lambda s: s["compare"] and not s["loading_second"], "the second trace is open below the first")
            assert recordings(name) == [both["compare"]["a"]["file"], both["compare"]["b"]["file"]], (recordings(name), both["compare"])
            assert both["compare"]["a"]["file"] == first
            client.kill()
            client.wait()


if __name__ == "__main__":
    main(str(pathlib.Path(sys.argv[1]).resolve()))
