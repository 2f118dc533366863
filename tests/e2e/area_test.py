#!/usr/bin/env python3
"""An area is dragged over the lanes with the real pointer, resized, counted and cleared."""
import sys

from harness import ROOT, App, visible_ns

TRACE = ROOT / "assets/traces/matmul_add_64_cold_eager.json.gz"


def drag(app, start, end, keys=()):
    app.point_at(*start)
    for key in keys:
        app.xdotool("keydown", key)
    app.xdotool("mousedown", 1)
    app.wait_until_still()  # a frame sees the press before the pointer moves on
    for part in (0.2, 0.5, 0.8, 1):
        app.point_at(*(a + (b - a) * part for a, b in zip(start, end)))
    app.wait_until_still()
    app.xdotool("mouseup", 1)
    for key in keys:
        app.xdotool("keyup", key)
    return app.wait_until_still()


def widest_inner(state):
    """A slice well inside of the axis, so that there is room to drag on both sides of it."""
    axis = state["axis"]
    inner = [s for s in state["slices"] if s["x0"] > axis["x0"] + 60 and s["x1"] < axis["x1"] - 60]
    return max(inner, key=lambda s: s["x1"] - s["x0"])


def a_drag_marks_an_area(app):
    state = app.wait_until_still()
    box = widest_inner(state)
    y = (box["y0"] + box["y1"]) / 2
    drag(app, (box["x0"] - 4, y), (box["x1"] + 4, y))
    state = app.wait_for(lambda s: s["area"] and s["area"]["slices"], "the area is counted")
    area = state["area"]
    assert abs(area["box"]["x0"] - box["x0"]) <= 1 and abs(area["box"]["x1"] - box["x1"]) <= 1, "its edges snap to the slice"
    assert len(area["lanes"]) == 1 and state["tab"] == "selection"
    assert state["range"] == {"begin_ns": area["begin_ns"], "end_ns": area["end_ns"]}, "the tables are restricted to it"


def its_edge_can_be_dragged(app):
    before = app.wait_until_still()["area"]
    box = before["box"]
    y = (box["y0"] + box["y1"]) / 2
    drag(app, (box["x1"], y), (box["x1"] + 45, y))
    state = app.wait_for(lambda s: s["area"]["end_ns"] > before["end_ns"], "the right edge moves")
    assert state["area"]["begin_ns"] == before["begin_ns"], "the left one stays"
    app.wait_for(lambda s: s["area"]["slices"], "what is in it is counted anew")


def escape_clears_it(app):
    app.key("Escape")
    app.wait_for(lambda s: s["area"] is None and s["range"] is None, "Esc clears the area")


def keys_mark_areas(app):
    app.key("ctrl+a")
    state = app.wait_for(lambda s: s["area"] and s["area"]["slices"], "Ctrl+A marks everything")
    assert state["area"]["begin_ns"] == state["trace_begin_ns"] and len(state["area"]["lanes"]) == state["lanes"]
    box = max(state["slices"], key=lambda s: s["x1"] - s["x0"])
    app.click((box["x0"] + box["x1"]) / 2, (box["y0"] + box["y1"]) / 2)
    app.wait_for(lambda s: s["selection"], "a click still selects")
    app.key("r")
    state = app.wait_for(lambda s: len(s["area"]["lanes"]) == 1, "R marks the slice")
    assert abs(state["area"]["box"]["x0"] - box["x0"]) <= 1


def shift_and_drag_pan(app):
    app.key("Escape", "Escape")
    state = app.wait_until_still()
    axis = state["axis"]
    middle = ((axis["x0"] + axis["x1"]) / 2, axis["y0"] + 60)
    app.point_at(*middle)
    before = app.hold("w", lambda s: visible_ns(s) < 0.7 * visible_ns(state), "W zooms in")
    state = drag(app, middle, (middle[0] - 150, middle[1]), keys=["shift"])
    assert state["begin_ns"] > before["begin_ns"] and state["area"] is None


def a_fast_drag_in_the_ruler_begins_where_it_began(app):
    """All of it comes between two frames."""
    app.key("f", "f")
    state = app.wait_until_still()
    axis, y = state["axis"], state["axis"]["y0"] - 12
    x0, x1 = round(axis["x0"] + 100), round(axis["x0"] + 340)
    go = ["mousemove", "--window", app.window]
    app.xdotool(*go, x0, y, "mousedown", 1, *go, x1, y, "mouseup", 1, *go, x0 - 60, y + 400)
    state = app.wait_for(lambda s: s["range"] and not s["area"], "the drag marks a time")
    width = axis["x1"] - axis["x0"]
    pixels = [(state["range"][end] - state["begin_ns"]) / (state["end_ns"] - state["begin_ns"]) * width + axis["x0"]
              for end in ("begin_ns", "end_ns")]
    assert abs(pixels[0] - x0) <= 2 and abs(pixels[1] - x1) <= 2, (pixels, x0, x1)


def the_pointer_is_where_it_went_after_a_fast_drag(app):
    before = app.wait_until_still()
    axis = before["axis"]
    share = (round(axis["x0"] + 40) - axis["x0"]) / (axis["x1"] - axis["x0"])  # where the drag before this left it
    app.key("w")
    app.wait_for(lambda s: visible_ns(s) < visible_ns(before), "W zooms in")
    times = [state["begin_ns"] + share * visible_ns(state) for state in (before, app.wait_until_still())]
    assert abs(times[1] - times[0]) <= 0.01 * visible_ns(before), (times, "about the pointer")


def main(program):
    with App(program, TRACE) as app:
        app.wait_for(lambda s: s.get("file") and not s["loading"] and s["findings"], "the trace is open")
        for step in (a_drag_marks_an_area, its_edge_can_be_dragged, escape_clears_it, keys_mark_areas, shift_and_drag_pan,
                     a_fast_drag_in_the_ruler_begins_where_it_began, the_pointer_is_where_it_went_after_a_fast_drag):
            step(app)
            print("ok:", step.__name__.replace("_", " "))


if __name__ == "__main__":
    main(sys.argv[1])
