#!/usr/bin/env python3
"""Two traces side by side, with the real pointer and keys: aligned, moved together, clicked, swapped, closed, mistyped."""
import pathlib
import subprocess
import sys
import tempfile

from harness import ROOT, App, visible_ns

A = ROOT / "assets/traces/mlp_geglu_eager.json.gz"
B = ROOT / "assets/traces/mlp_geglu_compile.json.gz"
SWAP_PX = 105  # from the right end of the strip above both


def middle(box):
    return (box["x0"] + box["x1"]) / 2, (box["y0"] + box["y1"]) / 2


def begin_of(side):
    return side["begin_ns"] - side["zero_ns"]


def aligned_step(side):
    """The step that begins at the zero of the axis."""
    axis, share = side["axis"], -begin_of(side) / visible_ns(side)
    zero = axis["x0"] + share * (axis["x1"] - axis["x0"])
    return next(s for s in side["slices"] if s["name"].startswith("ProfilerStep#") and abs(s["x0"] - zero) <= 1)


def linked(state):
    a, b = state["compare"]["a"], state["compare"]["b"]
    return begin_of(a) == begin_of(b) and visible_ns(a) == visible_ns(b)


def compared(app):
    app.wait_for(lambda s: s["compare"] and s["compare"]["verdict"], "the two are compared")
    return app.wait_until_still()


def it_opens_on_the_tab_compare_with_the_gpus_under_each_other(app):
    state = compared(app)
    both = state["compare"]
    assert state["tab"] == "compare", state["tab"]
    a, b = both["a"], both["b"]
    kernels = [[s for s in side["slices"] if inside(side["top"], s)] for side in (a, b)]
    assert kernels[0] and kernels[1], "kernels of both are in sight"
    assert both["ruler"]["y1"] <= a["top"]["y0"] < a["top"]["y1"] <= b["top"]["y0"] < b["top"]["y1"] <= a["rest"]["y0"] <= b["rest"]["y0"]
    assert not any(s["name"].startswith("aten::") for s in a["slices"] + b["slices"]), "the threads are folded"
    for side in (a, b):
        bound, busy = side["headline"]
        assert bound.startswith("Host-bound for ") and busy.startswith("GPU busy "), side["headline"]
    assert both["changes"][0].startswith("GPU busy ") and " -> " in both["changes"][0], both["changes"]
    assert any(words.endswith("x slower") for words in both["changes"]), both["changes"]


def inside(box, s):
    return box["x0"] <= s["x0"] and box["y0"] <= s["y0"] and s["y1"] <= box["y1"]


def opening_the_threads_of_one_opens_the_others(app):
    state = app.wait_until_still()
    for title in reversed([t for t in state["compare"]["a"]["titles"] if t["is_process"] and not t["is_gpu"]]):
        app.click(title["x0"] + 20, (title["y0"] + title["y1"]) / 2)
        app.wait_until_still()  # a frame must see the click before the pointer goes on
    state = app.wait_for(lambda s: all(any(t["title"].startswith("thread") for t in s["compare"][side]["titles"]) for side in "ab"),
                         "the threads of both are open")
    app.wait_until_still()


def a_lane_pinned_in_one_is_pinned_in_both(app):
    state = app.wait_until_still()
    slices = [s for s in state["compare"]["b"]["slices"] if s["name"].startswith("ProfilerStep#")]
    app.click(*middle(slices[0]))
    for pinned in (1, 0):
        app.key("ctrl+shift+p")
        app.wait_for(lambda s: s["box"] is not None, "the box of commands opens")
        app.type("pin lane")
        app.key("Return")
        app.wait_for(lambda s: s["compare"]["a"]["pinned"] == s["compare"]["b"]["pinned"] == pinned, "the lane is pinned in both, and unpinned")
    app.key("Escape")
    app.point_at(700, 12)
    app.key("x")
    app.wait_for(lambda s: s["compare"]["side"] == "a", "X turns to A")


def a_search_finds_in_both(app):
    app.key("slash")
    app.wait_for(lambda s: s["search"]["has_keys"], "the field has the keyboard")
    app.type("nvjet")
    app.wait_for(lambda s: s["search"]["hits"] and s["compare"]["a"]["hits"] == s["search"]["hits"] and s["compare"]["b"]["hits"], "both are searched")
    app.key("Escape")
    app.wait_for(lambda s: not s["search"]["has_keys"], "Escape leaves the field")
    app.key("Escape")
    app.wait_for(lambda s: s["search"]["text"] == "" and s["compare"]["a"]["hits"] is None and s["compare"]["b"]["hits"] is None, "and cleared in both")


def a_range_of_the_ruler_is_marked_in_both(app):
    ruler = app.state()["compare"]["ruler"]
    x, y = app.state()["compare"]["a"]["axis"]["x0"], (ruler["y0"] + ruler["y1"]) / 2
    app.point_at(x + 200, y)
    app.xdotool("mousedown", 1)
    app.wait_until_still()  # a frame sees the press before the pointer goes on
    app.point_at(x + 260, y)
    app.point_at(x + 400, y)
    app.wait_until_still()
    app.xdotool("mouseup", 1)
    state = app.wait_for(lambda s: s["compare"]["a"]["range"] and s["compare"]["b"]["range"], "the time is marked in both")
    assert state["compare"]["a"]["range"] == state["compare"]["b"]["range"] and state["compare"]["side"] == "a"
    app.key("Escape")
    app.wait_for(lambda s: s["compare"]["a"]["range"] is None and s["compare"]["b"]["range"] is None, "and given up in both")


def the_steps_lie_under_each_other(app):
    both = compared(app)["compare"]
    a, b = aligned_step(both["a"]), aligned_step(both["b"])
    assert a["x0"] == b["x0"] and a["y1"] < b["y0"], (a, b)
    assert both["side"] == "a" and both["step"] == "median step"


def both_move_together(app):
    for side in ("b", "a"):
        before = app.wait_until_still()
        axis = before["compare"][side]["top"]
        app.point_at(axis["x0"] + 300, axis["y1"] - 5)
        app.hold("w", 0.2)
        state = app.wait_until_still()
        assert visible_ns(state["compare"][side]) < visible_ns(before["compare"][side])
        assert linked(state), state["compare"]
    app.key("Home")
    assert linked(app.wait_until_still())
    app.click(*middle(app.state()["compare"]["a"]["slices"][0]))
    app.key("Escape")


def a_click_in_b_acts_on_b(app):
    app.key("ctrl+shift+p")
    app.wait_for(lambda s: s["box"] is not None, "the box of commands opens")
    app.type("whole trace")
    app.key("Return")
    state = app.wait_until_still()
    graph = max((s for s in state["compare"]["b"]["slices"] if s["name"].startswith("Torch-Compiled")), key=lambda s: s["x1"] - s["x0"])
    app.click(*middle(graph))
    state = app.wait_for(lambda s: s["compare"]["b"]["selection"] == graph["name"], "the click selects in B")
    assert state["compare"]["side"] == "b" and state["file"] == str(B) and state["compare"]["a"]["selection"] is None
    app.wait_for(lambda s: s["details"] and s["details"]["args"] == "ready" and s["details"]["name"] == graph["name"], "details are B's")


def the_match_is_known(app):
    state = app.wait_until_still()
    step = aligned_step(state["compare"]["b"])
    app.click(*middle(step))
    app.wait_for(lambda s: (s["compare"]["a"]["match"] or "").startswith("ProfilerStep#"), "the compared step of A is outlined")


def x_acts_on_the_other(app):
    app.point_at(700, 12)
    app.key("x")
    app.wait_for(lambda s: s["compare"]["side"] == "a" and s.get("file") == str(A), "X turns to A")


def swapped_traces_are_compared_the_other_way(app):
    verdict = app.state()["compare"]["verdict"]
    strip = app.state()["compare"]["strip"]
    app.click(strip["x1"] - SWAP_PX, (strip["y0"] + strip["y1"]) / 2)
    state = app.wait_for(lambda s: s["compare"] and s["compare"]["a"]["file"] == str(B) and s["compare"]["verdict"], "B is A now")
    assert state["compare"]["b"]["file"] == str(A) and state["compare"]["verdict"] != verdict
    assert state["compare"]["side"] == "b", "what was acted on still is"
    state = app.wait_until_still()
    assert aligned_step(state["compare"]["a"])["x0"] == aligned_step(state["compare"]["b"])["x0"]


def the_comparison_closes(app):
    app.key("ctrl+shift+w")
    app.wait_for(lambda s: s["compare"] is None and s.get("file") == str(B), "the lower trace closes")
    state = app.wait_until_still()
    assert state["begin_ns"] >= state["trace_begin_ns"] - (state["trace_end_ns"] - state["trace_begin_ns"])


def choose_by_name(app, name):
    app.key("ctrl+shift+o")
    app.wait_for(lambda s: s["start_open"], "the choice of a file opens")
    app.wait_until_still()
    app.click(580, 193)  # the end of the path field, which has the folder of the open trace
    app.wait_until_still()
    app.type(name)
    app.wait_until_still()
    app.click(640, 193)  # Open


def a_second_trace_is_chosen_beside_the_first(app):
    choose_by_name(app, "no_such.json")
    state = app.wait_for(lambda s: "no_such.json" in s["message"], "a wrong name is a sentence")
    assert state["file"] == str(B) and state["compare"] is None and not state["start_open"]
    choose_by_name(app, A.name)
    state = compared(app)
    assert state["file"] == str(B) and state["compare"]["b"]["file"] == str(A) and not state["message"]


def ctrl_w_closes_what_is_acted_on(app):
    state = app.state()
    app.point_at(700, 12)
    app.key("x")
    app.wait_for(lambda s: s["compare"]["side"] == "b", "X turns to B")
    app.key("ctrl+w")
    app.wait_for(lambda s: s["compare"] is None and s.get("file") == state["compare"]["a"]["file"], "the other one stays")


def a_picture_shows_both(program):
    with tempfile.TemporaryDirectory() as folder:
        pictures = [pathlib.Path(folder) / name for name in ("one.png", "two.png")]
        subprocess.run([program, "screenshot", A, "-o", pictures[0]], check=True)
        subprocess.run([program, "screenshot", A, "--compare", B, "--tab", "compare", "-o", pictures[1]], check=True)
        assert pictures[0].read_bytes() != pictures[1].read_bytes()
        missing = subprocess.run([program, "screenshot", A, "--compare", "no_such.json", "-o", pictures[0]], capture_output=True, text=True)
        assert missing.returncode == 1 and "no_such.json" in missing.stderr, missing


def main(program):
    a_picture_shows_both(program)
    with App(program, A, "--compare", B) as app:
        for step in (it_opens_on_the_tab_compare_with_the_gpus_under_each_other, opening_the_threads_of_one_opens_the_others,
                     a_lane_pinned_in_one_is_pinned_in_both, a_search_finds_in_both, a_range_of_the_ruler_is_marked_in_both,
                     the_steps_lie_under_each_other, both_move_together, a_click_in_b_acts_on_b, the_match_is_known, x_acts_on_the_other,
                     swapped_traces_are_compared_the_other_way, the_comparison_closes, a_second_trace_is_chosen_beside_the_first,
                     ctrl_w_closes_what_is_acted_on):
            step(app)
            print("ok:", step.__name__.replace("_", " "), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
