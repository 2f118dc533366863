#!/usr/bin/env python3
"""Lists what was found, and what a row's menu offers, with real keys and clicks; saves a list as CSV; finds are places to go to."""
import pathlib
import shutil
import struct
import sys
import tempfile
import zlib

from harness import ROOT, App, visible_ns

TRACE = ROOT / "assets/traces/transformer_baseline.json.gz"
FIRST_ROW = 104  # px below the lanes: splitter, tabs, the line of controls, the header


def list_of(state):
    return state["list"] or {}


def what_was_found_is_listed(app):
    app.key("slash")
    app.type("gemm")
    hits = app.wait_for(lambda s: s["search"]["hits"], "there are hits")["search"]["hits"]
    app.key("Return")
    app.wait_for(lambda s: s["search"]["position"] and s["search"]["has_keys"], "Enter goes to a hit, and the field has the keys again")
    app.key("Escape")
    app.wait_for(lambda s: not s["search"]["has_keys"], "Escape leaves the field")
    app.key("shift+l")
    app.wait_for(lambda s: s["tab"] == "list" and list_of(s)["title"] == "gemm" and list_of(s)["rows"] == hits, "Shift+L lists all hits")


def a_row_leads_to_its_slice_and_the_list_stays(app):
    app.key("Escape", "Escape")  # the search, the selection
    state = app.wait_for(lambda s: s["selection"] is None, "nothing is selected")
    app.wait_until_still()
    app.click(200, state["axis"]["y1"] + FIRST_ROW)
    app.wait_for(lambda s: s["selection"] and s["tab"] == "list", "a click on a row selects its slice, and the list stays")


def the_menu_of_a_row_zooms_marks_and_finds(app):
    state = app.wait_until_still()
    y = state["axis"]["y1"] + FIRST_ROW
    app.key("Home")
    before = app.wait_until_still()
    app.click(200, y, button=3)
    app.click_text("Zoom to it")
    app.wait_for(lambda s: visible_ns(s) < visible_ns(before) / 2, "the menu zooms to the row")


def a_list_is_saved_as_csv(app):
    state = app.wait_until_still()
    right = state["axis"]["x1"] if not state["findings"]["open"] else 1600
    app.click(right - 40, state["axis"]["y1"] + 53)  # "Save CSV", at the right end of the line of controls
    message = app.wait_for(lambda s: s["message"].startswith("Saved "), "the list is saved")["message"]
    lines = pathlib.Path(message.removeprefix("Saved ")).read_text().splitlines()
    assert lines[0] == "name,lane,begin_ns,duration_ns", lines[0]
    assert len(lines) == 1 + list_of(state)["rows"], len(lines)


def dismiss(app):
    for x in range(900, 240, -40):  # from the right: left of it is "Open", which would start a program of the desktop
        if app.wait_until_still()["message"]:
            app.click(x, 900 - 13)
    app.wait_for(lambda s: not s["message"], "the message is gone")


def show(app, tab, title):
    app.run(title)
    app.wait_for(lambda s: s["tab"] == tab, f"the tab {tab} is in front")


def f12_saves_what_is_shown(app, folder):
    app.key("F12")
    app.wait_for(lambda s: s["message"].startswith("Saved "), "F12 saves a picture")
    png = next(folder.glob("*.png")).read_bytes()
    data, at = b"", 8
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at : at + 8])
        data += png[at + 8 : at + 8 + length] if kind == b"IDAT" else b""
        at += 12 + length
    assert len(set(zlib.decompress(data))) > 100, "the picture is of one colour"


def a_row_of_a_table_lists_its_slices(app):
    dismiss(app)
    show(app, "kernels", "Kernels")
    y = app.wait_until_still()["axis"]["y1"] + FIRST_ROW
    app.click(200, y, button=3)
    app.click_text("List its 21 slices")
    app.wait_for(lambda s: s["tab"] == "list" and list_of(s)["rows"] == 21, "the slices of the row are listed")


def a_module_lists_its_gpu_work(app):
    show(app, "modules", "Modules")
    app.click(200, app.wait_until_still()["axis"]["y1"] + FIRST_ROW + 22, button=3)  # below a line of words
    app.click_text("List its GPU work")
    app.wait_for(lambda s: s["tab"] == "list" and list_of(s)["title"].startswith("GPU work of ") and list_of(s)["rows"] > 0, "its work is listed")


def main(program):
    with tempfile.TemporaryDirectory(prefix="gapscope lists ") as folder:
        trace = pathlib.Path(shutil.copy(TRACE, folder))
        with App(program, trace) as app:
            app.wait_for(lambda s: s.get("findings"), "the rules are through")
            app.wait_until_still()
            for step in (what_was_found_is_listed, a_row_leads_to_its_slice_and_the_list_stays, the_menu_of_a_row_zooms_marks_and_finds,
                         a_list_is_saved_as_csv, a_row_of_a_table_lists_its_slices, a_module_lists_its_gpu_work):
                step(app)
                print("ok:", step.__name__.replace("_", " "))
            dismiss(app)
            f12_saves_what_is_shown(app, trace.parent)


if __name__ == "__main__":
    main(sys.argv[1])
