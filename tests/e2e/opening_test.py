#!/usr/bin/env python3
"""Opens traces as a person would: Ctrl+O and typing at once, Tab, Enter, a copied path, a click next to the page."""
import os
import pathlib
import shutil
import sys
import tempfile

from harness import ROOT, App

TRACE = ROOT / "assets/traces/matmul_add_64_cold_eager.json.gz"
NAMES = ["alpha_one.json.gz", "alpha_two.json.gz", "beta.json.gz"]


def middle(box):
    return (box["x0"] + box["x1"]) / 2, (box["y0"] + box["y1"]) / 2


def opened(app, name):
    app.wait_for(lambda s: s.get("file", "").endswith("/" + name) and not s["loading"] and not s["start_open"], f"{name} is open")
    return app.wait_until_still()


def page(app, condition, what):
    return app.wait_for(lambda s: s["start_open"] and condition(s["start"]), what)


def typing_goes_to_the_page_at_once(app):
    before = app.wait_until_still()
    app.key("ctrl+o")
    app.type("beta")
    page(app, lambda p: p["path"] == "beta" and p["has_keys"] and p["entries"] == ["beta.json.gz"], "what is typed narrows the folder of the trace")
    now = app.state()
    for what in ("begin_ns", "end_ns", "selection", "search", "box", "tab"):
        assert now[what] == before[what], f"typing changed {what} behind the page: {now[what]}"
    assert now["findings"]["open"] == before["findings"]["open"], "B in a name closed the findings behind the page"
    app.key("Return")
    opened(app, "beta.json.gz")


def the_whole_folder_is_listed_until_something_is_typed(app):
    app.key("ctrl+o")
    page(app, lambda p: p["entries"] == NAMES, "the whole folder is listed")
    app.type("al")
    page(app, lambda p: p["path"] == "al", "typing replaces the marked text")
    app.key("Tab")
    page(app, lambda p: p["path"] == "alpha_" and p["entries"] == NAMES[:2], "Tab adds what both agree on")
    app.type("tw")
    app.key("Tab")
    page(app, lambda p: p["path"] == "alpha_two.json.gz", "Tab completes the only one")
    app.key("Return")
    opened(app, "alpha_two.json.gz")


def tab_and_enter_wait_for_the_listing(app):
    app.key("ctrl+o")
    app.xdotool("type", "--delay", "0", f"{app.runs}/be")
    app.key("Tab", "Return")
    opened(app, "beta.json.gz")


def a_wrong_name_is_a_sentence_on_the_page(app):
    app.key("ctrl+o")
    app.type("nothing_like_it")
    app.key("Return")
    state = app.wait_for(lambda s: s["message"], "there is a message")
    assert "nothing_like_it" in state["message"] and state["start_open"], state["message"]
    page(app, lambda p: p["has_keys"] and p["path"] == "nothing_like_it", "the field continues with what was typed")
    app.key("Escape")
    app.wait_for(lambda s: not s["start_open"] and not s["message"], "Escape closes the page at once, and takes the message with it")


def what_lies_behind_is_blocked(app):
    state = app.wait_until_still()
    widest = max(state["slices"], key=lambda box: box["x1"] - box["x0"])
    app.key("ctrl+o")
    page(app, lambda p: p["has_keys"], "the page is open")
    app.click(20, 450)  # left of the page, over the lanes' titles
    app.click(state["axis"]["x1"] - 4, state["axis"]["y0"] + 40)
    app.click(1500, 20)  # the verdict in the top bar
    now = app.wait_until_still()
    assert now["selection"] is None and now["start_open"] and now["findings"]["open"] == state["findings"]["open"], now
    app.key("Escape")
    app.wait_for(lambda s: not s["start_open"], "Escape closes the page")
    app.click(*middle(widest))
    app.wait_for(lambda s: s["selection"] == widest["name"], "and then clicks select again")


def a_copied_path_opens(app):
    app.key("ctrl+o")
    page(app, lambda p: p["has_keys"], "the page is open")
    app.type(f"{app.runs}/alpha_one.json.gz")
    page(app, lambda p: p["path"].endswith("alpha_one.json.gz"), "the path is typed")
    app.key("ctrl+a", "ctrl+c")  # pressed and released between two frames
    app.key("Escape")
    app.wait_for(lambda s: not s["start_open"], "Escape closes the page")
    app.key("ctrl+v")
    opened(app, "alpha_one.json.gz")


def the_file_chooser_of_the_desktop_opens(app):
    app.key("ctrl+o")
    app.wait_for(lambda s: s["start"]["can_browse"] and s["start"]["has_keys"], "the page has a button to browse")
    app.click(630, 193)
    opened(app, "beta.json.gz")
    words = (app.runs / "asked").read_text().split("\n")
    assert words[0] == "--file-selection" and f"--filename={app.runs}/" in words, words


def fake_chooser(folder, chosen):
    """A zenity that notes what it was asked, waits as a person would, and answers `chosen`."""
    program = folder / "zenity"
    program.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$@\" > '{chosen.parent}/asked'\nsleep 0.3\necho '{chosen}'\n")
    program.chmod(0o755)
    os.environ["PATH"] = f"{folder}:{os.environ['PATH']}"


def main(program):
    with tempfile.TemporaryDirectory(prefix="gapscope runs ") as folder:
        runs = pathlib.Path(folder).resolve() / "runs"
        runs.mkdir()
        for name in NAMES:
            shutil.copy(TRACE, runs / name)
        fake_chooser(pathlib.Path(folder), runs / NAMES[2])
        with App(program, runs / NAMES[0]) as app:
            app.runs = runs
            opened(app, NAMES[0])
            app.wait_for(lambda s: s["findings"], "the findings are there")
            for step in (typing_goes_to_the_page_at_once, the_whole_folder_is_listed_until_something_is_typed, tab_and_enter_wait_for_the_listing,
                         a_wrong_name_is_a_sentence_on_the_page, what_lies_behind_is_blocked, a_copied_path_opens,
                         the_file_chooser_of_the_desktop_opens):
                step(app)
                print("ok:", step.__name__.replace("_", " "))


if __name__ == "__main__":
    main(sys.argv[1])
