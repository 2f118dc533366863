#!/usr/bin/env python3
"""Walks the findings of a real trace with keys and clicks."""
import sys

from harness import ROOT, App

TRACE = ROOT / "assets/traces/matmul_add_64_cold_eager.json.gz"


def diagnosed(app):
    app.wait_for(lambda s: s.get("findings"), "the rules are through")
    return app.wait_until_still()


def chosen(state):
    return state["findings"]["chosen"]


def a_badge_chooses_its_finding_and_selects_its_slice(app):
    state = diagnosed(app)
    assert chosen(state) is None
    badge = state["findings"]["badges"][0]
    app.click((badge["x0"] + badge["x1"]) / 2, (badge["y0"] + badge["y1"]) / 2)
    state = app.wait_for(lambda s: chosen(s) == badge["rule"], "a click on a badge chooses its finding")
    assert state["findings"]["open"], state["findings"]
    app.wait_for(lambda s: s["selection"], "and selects the slice that it is about")


def n_and_p_walk_the_findings(app):
    first = chosen(app.state())
    app.key("n")
    app.wait_for(lambda s: chosen(s) != first, "n continues to the next")
    app.key("p")
    app.wait_for(lambda s: chosen(s) == first, "p goes back")


def b_and_i_hide_the_panel_and_the_informational_ones(app):
    wide = app.wait_until_still()["axis"]["x1"]
    app.key("b")
    app.wait_for(lambda s: not s["findings"]["open"] and s["axis"]["x1"] > wide, "b gives the lanes the room of the panel")
    app.key("b")
    app.wait_for(lambda s: s["findings"]["open"] and s["axis"]["x1"] == wide, "and takes it back")
    app.key("i")
    app.wait_for(lambda s: s["findings"]["quiet"], "i hides the informational ones")


def main(program):
    with App(program, TRACE) as app:
        for step in (a_badge_chooses_its_finding_and_selects_its_slice, n_and_p_walk_the_findings,
                     b_and_i_hide_the_panel_and_the_informational_ones):
            step(app)
            print("ok: " + step.__name__.replace("_", " "))


if __name__ == "__main__":
    main(sys.argv[1])
