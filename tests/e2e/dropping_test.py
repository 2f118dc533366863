#!/usr/bin/env python3
"""Files that another program drops on the window: a trace, one to compare with, several at once, a folder of ranks."""
import pathlib
import shutil
import sys
import tempfile

import xdnd
from harness import ROOT, App

RANKS = [ROOT / f"tests/recordings/ranks/ddp_delayed_rank{rank}.json.gz" for rank in range(2)]


def drop(app, *paths):
    xdnd.drop(app.screen.display, app.window, paths)


def is_open(app, name):
    app.wait_for(lambda s: s.get("file", "").endswith("/" + name) and not s["loading"], f"{name} is open")
    return app.wait_until_still()


def one_file_opens(app, folder):
    drop(app, folder / "50 % of #1.json.gz")
    is_open(app, "50 % of #1.json.gz")


def with_shift_held_it_is_compared(app):
    app.xdotool("keydown", "shift")
    try:
        drop(app, ROOT / "assets/traces/mlp_geglu_compile.json.gz")
        app.wait_for(lambda s: s.get("compare") and not s["loading_second"], "what is dropped with Shift held is compared")
    finally:
        app.xdotool("keyup", "shift")
    assert app.state()["file"].endswith("#1.json.gz"), "the first trace stays open"


def several_at_once_are_ranks(app):
    drop(app, *RANKS)
    is_open(app, RANKS[0].name)
    app.wait_for(lambda s: s["tab"] == "ranks", "several files open as a run")


def a_folder_of_ranks_opens_as_a_run(app, folder):
    drop(app, ROOT / "assets/traces/mlp_geglu_eager.json.gz")
    is_open(app, "mlp_geglu_eager.json.gz")
    drop(app, folder)
    is_open(app, RANKS[0].name)
    app.wait_for(lambda s: s["tab"] == "ranks", "the folder opens as a run")


def what_is_no_trace_says_so(app, folder):
    before = app.wait_until_still()
    (folder / "notes.txt").write_text("milk, bread\n")
    drop(app, folder / "notes.txt")
    app.wait_for(lambda s: s["message"] or s["notice"], "what is no trace is reported")
    assert app.state()["file"] == before["file"], "the open trace stays"


def main():
    with tempfile.TemporaryDirectory(prefix="gapscope dropped ") as name:
        folder = pathlib.Path(name)
        odd, ranks = folder / "odd names", folder / "a run"
        odd.mkdir()
        ranks.mkdir()
        shutil.copy(ROOT / "assets/traces/mlp_geglu_eager.json.gz", odd / "50 % of #1.json.gz")
        for rank in RANKS:
            shutil.copy(rank, ranks)
        with App(sys.argv[1]) as app:
            one_file_opens(app, odd)
            with_shift_held_it_is_compared(app)
            several_at_once_are_ranks(app)
            a_folder_of_ranks_opens_as_a_run(app, ranks)
            what_is_no_trace_says_so(app, folder)
    print("Dropped files open: one, one to compare with, several, a folder; what is no trace is reported.")


main()
