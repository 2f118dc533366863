#!/usr/bin/env python3
"""Clicks a kernel and looks at its details; opens what cannot be opened; loses the file under an open trace."""
import pathlib
import shutil
import sys
import tempfile

from harness import ROOT, App, visible_ns

TRACE = ROOT / "assets/traces/matmul_add_4096_warm_eager.json.gz"
DOUBLE_CLICK_MS = 150


def widest_kernel(state):
    kernels = [box for box in state["slices"] if box["kind"] == "kernel"]
    return max(kernels, key=lambda box: box["x1"] - box["x0"])


def middle(box):
    return (box["x0"] + box["x1"]) / 2, (box["y0"] + box["y1"]) / 2


def opened(app):
    app.wait_for(lambda s: s.get("file") and not s["loading"], "the trace is open")
    return app.wait_until_still()


def a_clicked_kernel_shows_its_args(program):
    with App(program, TRACE) as app:
        kernel = widest_kernel(opened(app))
        app.click(*middle(kernel))
        app.wait_for(lambda s: s["selection"] == kernel["name"], "a click selects the kernel")
        state = app.wait_for(lambda s: s["details"] and s["details"]["args"] == "ready", "its args are read")
        assert state["details"]["name"] == kernel["name"], state["details"]
        assert {"grid", "block", "registers per thread"} <= set(state["details"]["arg_keys"]), state["details"]


def a_double_click_zooms_to_the_kernel(program):
    with App(program, TRACE) as app:
        before = opened(app)
        kernel = widest_kernel(before)
        app.point_at(*middle(kernel))
        app.wait_until_still()
        # Slow enough that software rendering draws a frame between the clicks: Dear ImGui before 1.87 sees one otherwise.
        app.xdotool("click", "--repeat", 2, "--delay", DOUBLE_CLICK_MS, 1)
        app.wait_for(lambda s: visible_ns(s) < visible_ns(before) / 2, "a double click zooms to the kernel")


def a_missing_file_is_a_sentence_on_the_start_screen(program):
    with App(program, "/nonexistent/trace.json") as app:
        state = app.wait_for(lambda s: s["message"], "there is a message")
        assert "/nonexistent/trace.json" in state["message"] and state["start_open"], state
        app.key("ctrl+q")
        assert app.wait_for_end() == 0


def a_file_that_vanishes_leaves_the_trace_open(program):
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(shutil.copy(TRACE, folder))
        with App(program, copy) as app:
            kernel = widest_kernel(opened(app))
            copy.unlink()
            app.click(*middle(kernel))
            state = app.wait_for(lambda s: s["details"] and s["details"]["args"] == "failed", "the args say why not")
            assert copy.name in state["details"]["args_error"], state["details"]


def main(program):
    for test in (a_clicked_kernel_shows_its_args, a_double_click_zooms_to_the_kernel,
                 a_missing_file_is_a_sentence_on_the_start_screen, a_file_that_vanishes_leaves_the_trace_open):
        test(program)
        print("ok:", test.__name__.replace("_", " "))


if __name__ == "__main__":
    main(sys.argv[1])
