#!/usr/bin/env python3
"""Selects in every way there is: the details come up for each, unless the tab in front is pinned. Escape closes a menu."""
import sys

from harness import ROOT, App, visible_ns

TRACE = ROOT / "assets/traces/matmul_add_4096_warm_eager.json.gz"


def middle(box):
    return (box["x0"] + box["x1"]) / 2, (box["y0"] + box["y1"]) / 2


def show(app, tab, title):
    app.run(title)
    app.wait_for(lambda s: s["tab"] == tab, f"the tab {tab} is in front")


def widest(state, kind):
    return max((box for box in state["slices"] if box["kind"] == kind), key=lambda box: box["x1"] - box["x0"])


def shows_details(state):
    return state["tab"] == "details" and state["selection"]


def a_click_shows_the_details_whatever_tab_is_open(app):
    show(app, "kernels", "Kernels")
    box = widest(app.wait_until_still(), "kernel")
    app.click(*middle(box))
    app.wait_for(lambda s: shows_details(s) and s["selection"] == box["name"], "a click on a kernel shows its details")
    show(app, "report", "Report")
    app.click(*middle(box))
    app.wait_for(shows_details, "and so does one on what is selected already")


def keys_show_the_details(app):
    show(app, "kernels", "Kernels")
    app.key("n")
    app.wait_for(lambda s: s["findings"]["chosen"], "N chooses a finding")
    for _ in range(30):
        if app.wait_until_still()["selection"]:
            break
        app.key("n")
    assert shows_details(app.state()), app.state()["tab"]
    show(app, "report", "Report")
    app.key("slash")
    app.type("nvjet")
    app.wait_for(lambda s: s["search"]["hits"], "there are hits")
    app.key("Return")
    app.wait_for(lambda s: shows_details(s) and s["search"]["has_keys"], "a hit shows its details, and the field has the keys again")
    app.key("Escape")
    app.wait_for(lambda s: not s["search"]["has_keys"], "Escape leaves the field")
    app.wait_until_still()
    app.key("Escape")
    app.wait_for(lambda s: not s["search"]["text"], "and again clears it")


def a_pin_keeps_the_tab(app):
    app.run("Pin the tab")
    show(app, "kernels", "Kernels")
    app.key("f")
    app.wait_until_still()
    app.key("f")
    box = widest(app.wait_until_still(), "kernel")
    app.click(*middle(box))
    app.wait_for(lambda s: s["selection"] == box["name"], "a click selects")
    assert app.wait_until_still()["tab"] == "kernels"
    app.run("Pin the tab")


def the_verdict_opens_the_findings_and_never_closes_them(app):
    for _ in range(2):
        app.click(1540, 20)
        app.wait_for(lambda s: s["findings"]["open"] and s["findings"]["chosen"] is not None, "the findings are open at the first one")
    first = app.wait_until_still()["findings"]["chosen"]
    app.key("n")
    app.wait_for(lambda s: s["findings"]["chosen"] != first, "N continues")
    app.key("b")
    app.wait_for(lambda s: not s["findings"]["open"], "B closes them")
    app.click(1540, 20)
    app.wait_for(lambda s: s["findings"]["open"] and s["findings"]["chosen"] == first, "the verdict opens them at the first again")


def both_ends_of_an_arrow_stay_in_sight(app):
    app.key("Escape")
    app.key("f")
    box = widest(app.wait_until_still(), "kernel")
    app.click(*middle(box))
    kernel = app.wait_for(lambda s: s["selection"] == box["name"], "a click selects")["selection"]
    app.key("f")
    app.wait_until_still()
    for _ in range(12):
        app.key("ctrl+bracketleft")
        launch = app.wait_for(lambda s: s["selection"] != kernel, "the arrow leads to the launch")["selection"]
        names = {box["name"] for box in app.wait_until_still()["slices"]}
        if kernel in names:
            break
        app.key("ctrl+bracketright")
        before = app.wait_for(lambda s: s["selection"] == kernel, "and back")
        app.hold("s", lambda s: visible_ns(s) > 1.5 * visible_ns(before), "S zooms out")
    assert {kernel, launch} <= names, "both ends are in sight"


def escape_closes_a_menu_and_nothing_under_it(app):
    selected = app.state()["selection"]
    assert selected
    for times in range(2):
        app.click_text("View")
        app.wait_for(lambda s: "Critical path" in s["texts"], "the menu is open")
        app.key("Escape")
        app.wait_for(lambda s: "Critical path" not in s["texts"], "it is closed")
        assert app.wait_until_still()["selection"] == selected
        app.point_at(*middle(app.state()["axis"]))


def a_click_takes_the_hint_of_a_key_away(app):
    app.key("u")
    app.wait_for(lambda s: s["key_hint"].startswith("U: no command"), "a key without a command says so")
    app.click(*middle(app.state()["axis"]))
    app.wait_for(lambda s: not s["key_hint"], "a click takes it away")


def main(program):
    with App(program, TRACE) as app:
        app.wait_for(lambda s: s.get("findings"), "the rules are through")
        app.wait_until_still()
        for step in (a_click_shows_the_details_whatever_tab_is_open, keys_show_the_details, a_pin_keeps_the_tab,
                     the_verdict_opens_the_findings_and_never_closes_them, both_ends_of_an_arrow_stay_in_sight,
                     escape_closes_a_menu_and_nothing_under_it, a_click_takes_the_hint_of_a_key_away):
            step(app)
            print("ok:", step.__name__.replace("_", " "))


if __name__ == "__main__":
    main(sys.argv[1])
