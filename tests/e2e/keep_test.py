#!/usr/bin/env python3
"""What was noted and how a trace was looked at is there again when it is opened again; a changed file is told of."""
import gzip
import json
import os
import pathlib
import shutil
import signal
import sys
import tempfile

from harness import ROOT, App, visible_ns

TRACE = ROOT / "assets/traces/matmul_add_4096_warm_eager.json.gz"


def opened(app):
    app.wait_for(lambda s: s.get("file") and not s["loading"], "the trace is open")
    return app.wait_until_still()


def a_note_is_there_again(program, folder):
    with App(program, TRACE, state_home=folder) as app:
        whole = opened(app)
        app.hold("w", 0.4)
        app.key("ctrl+m")
        app.wait_for(lambda s: len(s["notes"]) == 1, "Ctrl+M drops a flag")
        app.wait_until_still()
        app.type("slow here")
        app.wait_for(lambda s: s["notes"][0]["text"] == "slow here", "the text is written")
        app.key("Return")
        before = app.wait_until_still()
        assert visible_ns(before) < visible_ns(whole)
        app.key("ctrl+q")
        assert app.wait_for_end() == 0
    with App(program, TRACE, state_home=folder) as app:
        state = opened(app)
        assert state["notes"] == before["notes"], state["notes"]
        assert abs(state["begin_ns"] - before["begin_ns"]) <= 1 and abs(state["end_ns"] - before["end_ns"]) <= 1, state
        assert state["notice"] == "The view of last time is back.", state["notice"]


def a_signal_that_ends_it_loses_nothing(program, folder):
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        with App(program, TRACE, state_home=folder) as app:
            before = opened(app)
            app.hold("w", 0.2)
            app.key("ctrl+m")
            app.wait_for(lambda s: len(s["notes"]) == len(before["notes"]) + 1, "Ctrl+M drops a flag")
            app.process.send_signal(number)  # long before what changed has rested
            assert app.wait_for_end() == -number
        with App(program, TRACE, state_home=folder) as app:
            assert len(opened(app)["notes"]) == len(before["notes"]) + 1, number


def a_broken_file_is_moved_aside(program, folder):
    files = list((folder / "gapscope").glob("*.json"))
    assert len(files) == 1, files
    files[0].write_text("{broken")
    with App(program, TRACE, state_home=folder) as app:
        state = opened(app)
        aside = files[0].name + ".broken-1"
        assert state["message"].endswith(aside + "."), state["message"]
        assert (folder / "gapscope" / aside).read_text() == "{broken"
        assert not state["notes"], state["notes"]


def a_changed_file_is_told_of_and_reloaded_with_the_view(program, folder):
    copy = pathlib.Path(shutil.copy(TRACE, folder / "changing.json.gz"))
    with App(program, copy, state_home=folder) as app:
        opened(app)
        app.hold("w", 0.4)
        app.key("ctrl+m")
        app.wait_until_still()  # the note's fields are open: only then is there something to close
        app.key("Escape")
        before = app.wait_until_still()
        trace = json.loads(gzip.decompress(copy.read_bytes()))
        trace["traceEvents"].append({"ph": "X", "name": "added", "cat": "cpu_op", "pid": 99, "tid": 99,
                                     "ts": before["begin_ns"] / 1000, "dur": 1})
        beside = folder / "beside"
        beside.write_bytes(gzip.compress(json.dumps(trace).encode()))
        os.replace(beside, copy)
        app.wait_for(lambda s: s["notice"] == "changing.json.gz changed on disk.", "the change is told")
        app.key("F5")
        state = app.wait_for(lambda s: s.get("lanes", 0) > before["lanes"] and not s["loading"], "it is read again")
        state = app.wait_until_still()
        assert state["notice"] is None, state["notice"]
        assert len(state["notes"]) == 1 and abs(visible_ns(state) - visible_ns(before)) <= 2, state


def the_visible_part_is_saved(program, folder):
    copy = pathlib.Path(shutil.copy(TRACE, folder / "cropped.json.gz"))
    with App(program, copy, state_home=folder) as app:
        opened(app)
        app.hold("w", 0.4)
        app.wait_until_still()
        app.key("ctrl+shift+s")
        app.wait_for(lambda s: s["message"].startswith("Saved "), "the message says where")
        part = json.loads(gzip.decompress((folder / "cropped.part.json.gz").read_bytes()))
        assert part["traceEvents"]


def main(program):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for test in (a_note_is_there_again, a_signal_that_ends_it_loses_nothing, a_broken_file_is_moved_aside,
                     a_changed_file_is_told_of_and_reloaded_with_the_view, the_visible_part_is_saved):
            test(program, folder)
            print("ok:", test.__name__.replace("_", " "))


if __name__ == "__main__":
    main(sys.argv[1])
