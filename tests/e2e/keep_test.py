#!/usr/bin/env python3
"""What was noted and how a trace was looked at is there again when it is opened again; a changed file is reported."""
import gzip
import json
import os
import pathlib
import shutil
import signal
import sys
import tempfile

import xdnd
from harness import ROOT, App, visible_ns

TRACE = ROOT / "assets/traces/matmul_add_4096_warm_eager.json.gz"


def opened(app):
    app.wait_for(lambda s: s.get("file") and not s["loading"], "the trace is open")
    return app.wait_until_still()


def zoomed_in(app):
    whole = opened(app)
    return app.hold("w", lambda s: visible_ns(s) < 0.7 * visible_ns(whole), "W zooms in")


def drop_a_flag(app):
    many = len(app.state()["notes"])
    app.key("ctrl+m")
    app.wait_for(lambda s: len(s["notes"]) == many + 1, "Ctrl+M drops a flag")
    return app.wait_until_still()


def is_as_it_was(app, before):
    state = opened(app)
    assert state["notes"] == before["notes"], state["notes"]
    assert abs(state["begin_ns"] - before["begin_ns"]) <= 1 and abs(state["end_ns"] - before["end_ns"]) <= 1, state
    assert state["notice"] == "The view of last time is back.", state["notice"]


def a_note_is_there_again(program, folder):
    with App(program, TRACE, state_home=folder) as app:
        zoomed_in(app)
        drop_a_flag(app)
        app.type("slow here")
        app.wait_for(lambda s: s["notes"][0]["text"] == "slow here", "the text is written")
        app.key("Return")
        before = app.wait_until_still()
        app.key("ctrl+q")
        assert app.wait_for_end() == 0
        return before


def a_signal_that_ends_it_loses_nothing(program, folder, before):
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        with App(program, TRACE, state_home=folder) as app:
            is_as_it_was(app, before)
            zoomed_in(app)
            before = drop_a_flag(app)
            app.process.send_signal(number)  # long before what changed has rested
            assert app.wait_for_end() == -number
    return before


def a_changed_file_is_told_of_and_reloaded_with_the_view(app, copy):
    xdnd.drop(app.screen.display, app.window, [copy])
    app.wait_for(lambda s: s["file"] == str(copy) and not s["loading"], "the copy is open")
    zoomed_in(app)
    drop_a_flag(app)  # the note's fields are open: only then is there something to close
    app.key("Escape")
    before = app.wait_until_still()
    trace = json.loads(gzip.decompress(copy.read_bytes()))
    trace["traceEvents"].append({"ph": "X", "name": "added", "cat": "cpu_op", "pid": 99, "tid": 99,
                                 "ts": before["begin_ns"] / 1000, "dur": 1})
    beside = copy.with_name("beside")
    beside.write_bytes(gzip.compress(json.dumps(trace).encode()))
    os.replace(beside, copy)
    app.wait_for(lambda s: s["notice"] == "changing.json.gz changed on disk.", "the change is reported")
    app.key("F5")
    app.wait_for(lambda s: s.get("lanes", 0) > before["lanes"] and not s["loading"], "it is read again")
    state = app.wait_until_still()
    assert state["notice"] is None, state["notice"]
    assert len(state["notes"]) == 1 and abs(visible_ns(state) - visible_ns(before)) <= 2, state


def the_visible_part_is_saved(app, copy):
    app.key("ctrl+shift+s")
    app.wait_for(lambda s: s["message"].startswith("Saved "), "the message says where")
    part = json.loads(gzip.decompress(copy.with_name("changing.part.json.gz").read_bytes()))
    assert part["traceEvents"]


def a_broken_file_is_moved_aside(program, folder):
    file, = (file for file in (folder / "gapscope").glob("*.json") if TRACE.name in file.read_text())
    file.write_text("{broken")
    with App(program, TRACE, state_home=folder) as app:
        state = opened(app)
        aside = file.name + ".broken-1"
        assert state["message"].endswith(aside + "."), state["message"]
        assert (folder / "gapscope" / aside).read_text() == "{broken"
        assert not state["notes"], state["notes"]


def main(program):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name).resolve()
        before = a_signal_that_ends_it_loses_nothing(program, folder, a_note_is_there_again(program, folder))
        print("ok: a note is there again, and a signal that ends the program loses nothing")
        with App(program, TRACE, state_home=folder) as app:
            is_as_it_was(app, before)
            copy = pathlib.Path(shutil.copy(TRACE, folder / "changing.json.gz"))
            a_changed_file_is_told_of_and_reloaded_with_the_view(app, copy)
            the_visible_part_is_saved(app, copy)
        print("ok: a changed file is reported and reloaded with the view, and the visible part of it is saved")
        a_broken_file_is_moved_aside(program, folder)
        print("ok: a broken file is moved aside")


if __name__ == "__main__":
    main(sys.argv[1])
