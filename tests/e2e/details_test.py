#!/usr/bin/env python3
"""Opens what cannot be opened; clicks a kernel, twice, and looks at its details; loses the file under an open trace."""
import pathlib
import shutil
import sys
import tempfile

import xdnd
from harness import ROOT, App, visible_ns

TRACE = ROOT / "assets/traces/matmul_add_4096_warm_eager.json.gz"


def widest_kernel(state, but=None):
    kernels = [box for box in state["slices"] if box["kind"] == "kernel" and box["name"] != but]
    return max(kernels, key=lambda box: box["x1"] - box["x0"])


def middle(box):
    return (box["x0"] + box["x1"]) / 2, (box["y0"] + box["y1"]) / 2


def a_missing_file_is_a_sentence_on_the_start_screen(app, copy):
    state = app.wait_for(lambda s: s["message"], "there is a message")
    assert "/nonexistent/trace.json" in state["message"] and state["start_open"], state
    xdnd.drop(app.screen.display, app.window, [copy])
    state = app.wait_for(lambda s: s.get("file") and not s["loading"], "another file opens there")
    assert not state["message"], state["message"]


def a_double_click_zooms_to_the_kernel(app, copy):
    before = app.wait_until_still()
    app.click(*middle(widest_kernel(before)), times=2)
    app.wait_for(lambda s: visible_ns(s) < visible_ns(before) / 2, "a double click zooms to the kernel")
    app.key("Escape")
    app.key("Home")
    app.wait_for(lambda s: visible_ns(s) == visible_ns(before), "Home shows all")


def a_clicked_kernel_shows_its_args(app, copy):
    kernel = widest_kernel(app.wait_until_still())
    app.click(*middle(kernel))
    app.wait_for(lambda s: s["selection"] == kernel["name"], "a click selects the kernel")
    state = app.wait_for(lambda s: s["details"] and s["details"]["args"] == "ready", "its args are read")
    assert state["details"]["name"] == kernel["name"], state["details"]
    assert {"grid", "block", "registers per thread"} <= set(state["details"]["arg_keys"]), state["details"]


def a_file_that_vanishes_leaves_the_trace_open(app, copy):
    state = app.wait_until_still()
    copy.unlink()
    app.click(*middle(widest_kernel(state, but=state["selection"])))
    state = app.wait_for(lambda s: s["details"] and s["details"]["args"] == "failed", "the args say why not")
    assert copy.name in state["details"]["args_error"], state["details"]


def main(program):
    with tempfile.TemporaryDirectory() as folder, App(program, "/nonexistent/trace.json") as app:
        copy = pathlib.Path(shutil.copy(TRACE, folder))
        for step in (a_missing_file_is_a_sentence_on_the_start_screen, a_double_click_zooms_to_the_kernel,
                     a_clicked_kernel_shows_its_args, a_file_that_vanishes_leaves_the_trace_open):
            step(app, copy)
            print("ok:", step.__name__.replace("_", " "))


if __name__ == "__main__":
    main(sys.argv[1])
