#!/usr/bin/env python3
"""Finding with real keys: the timeline stays where it is while one types, Enter goes to the hits, Escape leaves and clears."""
import sys

from harness import ROOT, App, visible_ns

TRACE = ROOT / "assets/traces/transformer_baseline.json.gz"


def typing_finds_and_moves_nothing(app):
    before = app.wait_until_still()
    app.key("slash")
    app.wait_for(lambda s: s["search"]["has_keys"], "/ puts the caret into the search field")
    app.type("gemm")
    found = app.wait_for(lambda s: s["search"]["text"] == "gemm" and (s["search"]["hits"] or 0) > 1, "gemm is found")
    for key in ("begin_ns", "end_ns", "scroll_px", "selection"):
        assert found[key] == before[key], f"typing changed {key}"


def enter_walks_the_hits(app):
    app.key("Return")
    first = app.wait_for(lambda s: s["search"]["position"] > 0, "Enter selects a hit")
    assert "gemm" in first["selection"].lower(), first["selection"]
    app.wait_for(lambda s: s["search"]["has_keys"], "the caret stays in the field")
    app.key("Return")
    app.wait_for(lambda s: s["search"]["position"] == first["search"]["position"] + 1, "Enter continues")
    app.wait_for(lambda s: s["search"]["has_keys"], "the caret stays in the field again")
    app.key("shift+Return")
    app.wait_for(lambda s: s["search"]["position"] == first["search"]["position"], "Shift+Enter goes back")


def escape_leaves_then_clears(app):
    app.wait_for(lambda s: s["search"]["has_keys"], "the caret is in the field")
    app.key("Escape")
    left = app.wait_for(lambda s: not s["search"]["has_keys"], "Escape leaves the field")
    assert left["search"]["text"] == "gemm", "what was typed stays"
    app.key("Escape")
    app.wait_for(lambda s: s["search"]["text"] == "", "Escape clears the search")


def the_palette_runs_a_command(app):
    app.wait_until_still()
    app.key("ctrl+shift+p")
    app.wait_for(lambda s: s["box"] == "", "Ctrl+Shift+P opens the box")
    app.type("light")
    app.wait_for(lambda s: s["box"] == "light", "the box takes what is typed")
    app.key("Return")
    app.wait_for(lambda s: s["theme"] == "light" and s["box"] is None, "Enter runs the command")


def g_goes_to_a_time(app):
    app.wait_until_still()
    app.key("w", "w", "w", "w")
    before = app.wait_until_still()
    app.key("g")
    app.wait_for(lambda s: s["box"] == "", "G opens the box")
    app.type("20ms")
    app.wait_for(lambda s: s["box"] == "20ms", "the box takes a time")
    app.key("Return")
    wanted = before["trace_begin_ns"] + 20_000_000
    app.wait_for(lambda s: s["box"] is None and abs((s["begin_ns"] + s["end_ns"]) / 2 - wanted) <= 1, "the time is in the middle")


def keys_typed_at_once_come_in_order(app):
    """The query is run, Escape leaves its field, and W is a command: however slow the frames are."""
    app.wait_until_still()
    app.click_text("SQL")
    app.wait_for(lambda s: s["tab"] == "sql", "the tab is open")
    before = app.wait_until_still()
    hint = next(at for t, at in zip(before["texts"], before["texts_at"]) if t.startswith("Ctrl+Enter"))
    app.click(hint[0], hint[1] - 60)  # into the field
    app.type("select 1")
    app.key("ctrl+Return", "Escape", "w")
    app.wait_for(lambda s: visible_ns(s) < visible_ns(before), "W zooms in")
    app.wait_for(lambda s: any(t.startswith("1 row in") for t in s["texts"]), "the query has run")


def main(program):
    with App(program, TRACE) as app:
        app.wait_for(lambda s: s.get("file") and not s["loading"], "the trace is open")
        for step in (typing_finds_and_moves_nothing, enter_walks_the_hits, escape_leaves_then_clears,
                     the_palette_runs_a_command, g_goes_to_a_time,
                     keys_typed_at_once_come_in_order):
            step(app)
            print("ok:", step.__name__.replace("_", " "))


if __name__ == "__main__":
    main(sys.argv[1])
