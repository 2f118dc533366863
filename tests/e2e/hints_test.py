#!/usr/bin/env python3
"""What is said beside things covers none of them: tooltips not what they explain, the hints of a first run not the GPU's rows."""
import sys

from harness import ROOT, App

TRACE = ROOT / "assets/traces/matmul_add_4096_warm_eager.json.gz"
LIGHTER = 60  # of 255: what is hovered over gets lighter by less


def widest_kernel(state):
    return max((box for box in state["slices"] if box["kind"] == "kernel"), key=lambda box: box["x1"] - box["x0"])


def changed(before, after, least=0):
    """The share of pixels that look another way."""
    different = sum(any(abs(a - b) > least for a, b in zip(one, other)) for one, other in zip(before, after))
    return different / max(len(before), 1)


def opened(app):
    app.wait_for(lambda s: s.get("findings"), "the rules are through")
    app.point_at(900, 890)  # the status bar: nothing is hovered over
    return app.wait_until_still()


def settled(app, box):
    """The pixels of the box once they stay the same: the state file does not tell of tooltips."""
    last = app.screen.pixels(box)
    for _ in range(40):
        app.wait_until_still()
        now = app.screen.pixels(box)
        if now == last:
            return now
        last = now
    return last


def a_tooltip_covers_nothing_of_its_kernel(program):
    with App(program, TRACE) as app:
        box = widest_kernel(opened(app))
        below = {"x0": box["x0"], "x1": box["x1"], "y0": box["y1"], "y1": box["y1"] + 120}
        before, before_below = settled(app, box), settled(app, below)
        app.point_at((box["x0"] + box["x1"]) / 2, (box["y0"] + box["y1"]) / 2)
        after, after_below = settled(app, box), settled(app, below)
        assert changed(before_below, after_below) > 0.2, "there is a tooltip"
        assert changed(before, after, least=LIGHTER) < 0.05, "and all of the kernel shows"


def the_hints_of_a_first_run_cover_no_row_of_the_gpu(program):
    rows = []
    for first_run in (False, True):
        with App(program, TRACE, first_run=first_run) as app:
            state = opened(app)
            box = widest_kernel(state)
            card = {"x0": 1240, "x1": 1580, "y0": 740, "y1": 860}  # where the hints stand
            rows.append((box, settled(app, {"x0": state["axis"]["x0"], "x1": state["axis"]["x1"], "y0": box["y0"], "y1": box["y1"]}),
                         settled(app, card)))
    assert rows[0][0] == rows[1][0], "the window is laid out the same way"
    assert rows[0][2] != rows[1][2], "the hints are there"
    assert rows[0][1] == rows[1][1], "and the kernels show as ever"


def escape_closes_the_hints_and_only_them(program):
    with App(program, TRACE, first_run=True) as app:
        state = opened(app)
        assert state["tour_open"], "the first run shows hints"
        box = widest_kernel(state)
        app.click((box["x0"] + box["x1"]) / 2, (box["y0"] + box["y1"]) / 2)
        selected = app.wait_for(lambda s: s["selection"] == box["name"], "a click selects the kernel")
        app.key("Escape")
        closed = app.wait_for(lambda s: not s["tour_open"], "Escape closes the hints")
        assert closed["selection"] == selected["selection"], "and nothing else"
        app.key("Escape")
        app.wait_for(lambda s: s["selection"] is None, "once more deselects")


def main(program):
    for test in (a_tooltip_covers_nothing_of_its_kernel, the_hints_of_a_first_run_cover_no_row_of_the_gpu,
                 escape_closes_the_hints_and_only_them):
        test(program)
        print("ok:", test.__name__.replace("_", " "))


if __name__ == "__main__":
    main(sys.argv[1])
