#!/usr/bin/env python3
"""One walk through a real recording with real keys and clicks: the view moves as the keys say."""
import json
import sys
import time

from harness import ROOT, App, visible_ns

TRACE = ROOT / "assets/traces/matmul_add_64_cold_eager.json.gz"


def middle(box):
    return (box["x0"] + box["x1"]) / 2, (box["y0"] + box["y1"]) / 2


def open_trace(app):
    return app.wait_for(lambda s: s.get("file") and not s["loading"], "the trace is open")


def escape_closes_the_hints_of_a_first_run(app):
    assert not app.state()["tour_open"]  # the first picture is the answer's
    app.key("f")
    app.wait_for(lambda s: s["tour_open"], "the first key shows hints")
    app.key("Escape")
    app.wait_for(lambda s: not s["tour_open"], "Escape closes them")


def keys_move_the_view(app):
    app.point_at(*middle(app.state()["axis"]))
    start = app.wait_until_still()
    near = app.hold("w", lambda s: visible_ns(s) < 0.6 * visible_ns(start), "W zooms in")
    late = app.hold("d", lambda s: s["begin_ns"] > near["begin_ns"] and s["end_ns"] > near["end_ns"], "D looks later")
    assert abs(visible_ns(late) - visible_ns(near)) <= 1, "panning keeps the zoom"
    back = app.hold("a", lambda s: s["begin_ns"] < late["begin_ns"], "A looks earlier")
    app.hold("s", lambda s: visible_ns(s) > 1.1 * visible_ns(back), "S zooms out")
    app.key("f")
    app.wait_for(lambda s: s["begin_ns"] <= s["trace_begin_ns"] and s["end_ns"] >= s["trace_end_ns"], "F shows all")


def a_quick_press_is_not_lost(app):
    before = app.wait_until_still()
    app.xdotool("key", "--delay", "0", "w")
    app.wait_for(lambda s: visible_ns(s) < visible_ns(before), "the shortest press of W still zooms in")
    app.key("f")
    app.wait_until_still()


def clicks_select(app):
    state = app.wait_until_still()
    widest = max(state["slices"], key=lambda box: box["x1"] - box["x0"])
    app.click(*middle(widest))
    app.wait_for(lambda s: s["selection"] == widest["name"], "a click selects the slice under it")
    app.key("Escape")
    app.wait_for(lambda s: s["selection"] is None, "Escape deselects")


def help_opens_and_closes(app):
    app.key("question")
    app.wait_for(lambda s: s["help_open"], "? opens the help")
    app.key("Escape")
    app.wait_for(lambda s: not s["help_open"], "Escape closes it")


def everything_grows_and_shrinks(app):
    app.key("ctrl+plus", "ctrl+plus")
    app.wait_for(lambda s: s["zoom"] > 1.15, "Ctrl and + makes everything larger")
    app.key("ctrl+minus")
    app.wait_for(lambda s: 1.05 < s["zoom"] < 1.15, "Ctrl and - takes one step back")
    app.key("ctrl+0")
    app.wait_for(lambda s: s["zoom"] == 1, "Ctrl and 0 gives the usual size")


def an_idle_window_sleeps(app):
    app.wait_until_still()
    before = app.processor_seconds()
    time.sleep(2)
    used = (app.processor_seconds() - before) / 2
    assert used < 0.05, f"an idle window used {100 * used:.0f} % of a processor"


def main(program):
    with App(program, TRACE, first_run=True) as app:
        open_trace(app)
        for step in (escape_closes_the_hints_of_a_first_run, keys_move_the_view, a_quick_press_is_not_lost, clicks_select, help_opens_and_closes,
                     everything_grows_and_shrinks, an_idle_window_sleeps):
            step(app)
            print("ok:", step.__name__.replace("_", " "))
        app.key("ctrl+q")
        assert app.wait_for_end() == 0, "Ctrl+Q ends the program in peace"
        kept = json.loads((app.folder / "config/gapscope/settings.json").read_text())
        assert kept["preferences"]["zoom"] == 1, kept
        print("ok: preferences are saved")


if __name__ == "__main__":
    main(sys.argv[1])
