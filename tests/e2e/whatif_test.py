#!/usr/bin/env python3
"""Asks what a change would give, as a person does: by the tab's toggles, by a line of the plan, by a slice's menu; K shows the path."""
import sys

from harness import ROOT, App

TRACE = ROOT / "assets/traces/transformer_baseline.json.gz"


def result(state):
    """What the tab says of a step: "14.0 ms to 1.97 ms a step: 86 % less" and the like; empty before the replay."""
    return next((text for text in state["texts"] if text.split(": ")[0].endswith(" a step") and " to " in text), "")


def holds(*wanted):
    return lambda s: all(any(text.startswith(w) for text in s["texts"]) for w in wanted)


def lacks(unwanted):
    return lambda s: not any(text.startswith(unwanted) for text in s["texts"])


def the_tab_says_how_the_run_is_now(app):
    app.run("What if")
    app.wait_for(lambda s: s["tab"] == "whatif" and holds("Now", "The plan", "What holds the run back")(s), "the tab is in front and filled")


def a_toggle_is_replayed(app):
    app.click_text("each step were one graph")
    state = app.wait_for(lambda s: result(s) and holds("Then", "GPU 0 with the changes")(s), "the steps as graphs are replayed")
    assert result(state).startswith("14.0 ms to ") and result(state).endswith(" less"), result(state)
    app.click_text("As it was")
    app.wait_for(lambda s: holds("Now")(s) and lacks("GPU 0 with the changes")(s), "As it was takes the change away")


def a_slice_takes_no_time(app):
    slices = app.wait_until_still()["slices"]
    box = next(s for s in slices if s["kind"] == "annotation" and s["name"].startswith("Optimizer.step"))
    app.click((box["x0"] + box["x1"]) / 2, (box["y0"] + box["y1"]) / 2, button=3)
    app.click_text("What if this took no time?")
    state = app.wait_for(lambda s: s["tab"] == "whatif" and result(s), "the run without the optimizer's step is replayed")
    assert result(state).endswith(" less"), result(state)
    app.click_text("As it was")
    app.wait_for(holds("Now"), "As it was takes the change away")


def k_shows_the_critical_path(app):
    app.wait_for(lacks("critical path"), "the path is not shown at first")
    app.key("k")
    app.wait_for(holds("critical path"), "K shows the critical path")
    app.key("k")
    app.wait_for(lacks("critical path"), "and hides it")


def main(program):
    with App(program, TRACE) as app:
        app.wait_for(lambda s: s.get("findings"), "the rules are through")
        app.wait_until_still()
        for step in (the_tab_says_how_the_run_is_now, a_toggle_is_replayed, a_slice_takes_no_time, k_shows_the_critical_path):
            step(app)
            print("ok:", step.__name__.replace("_", " "))


if __name__ == "__main__":
    main(sys.argv[1])
