#!/usr/bin/env python3
"""Two traces side by side, with the real pointer and keys: clicked, swapped, closed, mistyped."""
import pathlib
import sys

from harness import ROOT, App, visible_ns

A = ROOT / "assets/traces/mlp_geglu_eager.json.gz"
B = ROOT / "assets/traces/mlp_geglu_compile.json.gz"
SWAP_PX = 105  # from the right end of the strip above both


def middle(box):
    return (box["x0"] + box["x1"]) / 2, (box["y0"] + box["y1"]) / 2


def aligned_step(side):
    """The step that begins at the zero of the axis."""
    axis, share = side["axis"], (side["zero_ns"] - side["begin_ns"]) / visible_ns(side)
    zero = axis["x0"] + share * (axis["x1"] - axis["x0"])
    return next(s for s in side["slices"] if s["name"].startswith("ProfilerStep#") and abs(s["x0"] - zero) <= 1)


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
        bound, step, busy, _ = side["headline"]
        assert bound == "Host-bound" and step.endswith(" a step") and busy.startswith("GPU busy "), side["headline"]
    assert both["changes"][0].startswith("step ") and " -> " in both["changes"][0], both["changes"]
    assert both["changes"][1].startswith("GPU busy ") and " -> " in both["changes"][1], both["changes"]
    assert any(words.endswith("x slower") for words in both["changes"]), both["changes"]


def inside(box, s):
    return box["x0"] <= s["x0"] and box["y0"] <= s["y0"] and s["y1"] <= box["y1"]


def a_click_in_b_acts_on_b(app):
    for title in reversed([t for t in app.state()["compare"]["a"]["titles"] if t["is_process"] and not t["is_gpu"]]):
        app.click(title["x0"] + 20, (title["y0"] + title["y1"]) / 2)
        app.wait_until_still()
    app.wait_for(lambda s: any(t["title"].startswith("thread") for t in s["compare"]["b"]["titles"]), "the threads of both are open")
    app.key("Home")
    state = app.wait_until_still()
    graph = max((s for s in state["compare"]["b"]["slices"] if s["name"].startswith("Torch-Compiled")), key=lambda s: s["x1"] - s["x0"])
    app.click(*middle(graph))
    state = app.wait_for(lambda s: s["compare"]["b"]["selection"] == graph["name"] and s["compare"]["side"] == "b", "the click selects in B and acts on it")
    assert state["file"] == str(B) and state["compare"]["a"]["selection"] is None
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


def main(program):
    with App(program, A, "--compare", B) as app:
        for step in (it_opens_on_the_tab_compare_with_the_gpus_under_each_other, a_click_in_b_acts_on_b, the_match_is_known, x_acts_on_the_other,
                     swapped_traces_are_compared_the_other_way, the_comparison_closes, a_second_trace_is_chosen_beside_the_first,
                     ctrl_w_closes_what_is_acted_on):
            step(app)
            print("ok:", step.__name__.replace("_", " "), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
