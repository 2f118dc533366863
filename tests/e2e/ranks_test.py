#!/usr/bin/env python3
"""A folder of ranks opens as a run: who is late is shown, and clicks in the matrix and in the bands lead to other ranks' files."""
import decimal
import gzip
import json
import pathlib
import shutil
import sys
import tempfile

from harness import ROOT, App

NAMES = [f"ddp_delayed_rank{rank}.json.gz" for rank in (0, 1)]
LATE = 5
LATE_STEP = f"ProfilerStep#{LATE}"
# px below the lanes: the line of controls, and rank 1's row of the matrix; from the left: its first column, and the next
CONTROLS, ROW_1, COLUMN_0, COLUMN = 53, 121, 132, 120
BANDS, MATRIX = 30, 230  # px from the left, in the line of controls: "Bands", "Exposed communication"


def step_ns(file, number):
    """From a step's begin to the next one's, in nanoseconds of the file's own clock."""
    events = json.loads(gzip.open(file, "rt").read(), parse_float=decimal.Decimal)["traceEvents"]
    begins = {e["name"]: int(e["ts"] * 1000) for e in events if e.get("cat") == "user_annotation" and e["name"].startswith("ProfilerStep#")}
    return begins[f"ProfilerStep#{number}"], begins[f"ProfilerStep#{number + 1}"]


def a_folder_is_a_run(app, folder):
    state = app.wait_for(lambda s: s.get("ranks"), "the ranks of the folder are read")
    assert state["tab"] == "ranks" and state["ranks"]["ranks"] == 2, state["ranks"]
    assert state["ranks"]["sentence"].startswith("Rank 1 is late: rank 0 waits "), state["ranks"]["sentence"]
    assert LATE_STEP in state["ranks"]["sentence"] and "planted_delay" in state["ranks"]["sentence"], state["ranks"]["sentence"]
    assert state["file"] == str(folder / NAMES[0]) and state["ranks"]["picture"] == "bands", state["file"]


def a_click_in_the_matrix_shows_that_rank_at_that_step(app, folder):
    state = app.wait_until_still()
    bottom = state["axis"]["y1"]
    app.click(MATRIX, bottom + CONTROLS)
    state = app.wait_for(lambda s: s["ranks"]["picture"] == "matrix", "the matrix is shown")
    app.wait_until_still()
    app.click(COLUMN_0 + COLUMN * state["ranks"]["steps"].index(LATE_STEP), bottom + ROW_1)
    app.wait_for(lambda s: s.get("file") == str(folder / NAMES[1]), "a click in the row of rank 1 opens its file")
    state = app.wait_for(lambda s: s.get("range"), "the step is the chosen time")
    begin, end = step_ns(folder / NAMES[1], LATE)
    shown = state["range"]
    assert shown == {"begin_ns": begin, "end_ns": end}, (shown, begin, end)
    assert state["tab"] == "ranks" and state["ranks"]["picture"] == "matrix", state["tab"]
    state = app.wait_until_still()
    assert state["begin_ns"] <= shown["begin_ns"] and state["end_ns"] >= shown["end_ns"], "the step is in sight"
    assert state["end_ns"] - state["begin_ns"] < 2 * (end - begin), "and fills the view"


def a_click_in_a_band_opens_that_rank_where_one_was(app, folder):
    state = app.wait_until_still()
    app.click(BANDS, state["axis"]["y1"] + CONTROLS)
    app.wait_for(lambda s: s["ranks"]["picture"] == "bands", "the bands are shown")
    before = app.wait_until_still()
    app.click_text("rank 0")
    app.wait_for(lambda s: s.get("file") == str(folder / NAMES[0]), "a click on its title opens rank 0")
    after = app.wait_until_still()
    assert abs((after["end_ns"] - after["begin_ns"]) - (before["end_ns"] - before["begin_ns"])) <= 1, "as much time is shown"
    begin, end = step_ns(folder / NAMES[0], LATE)  # the same step, on rank 0's clock
    assert after["begin_ns"] < end and after["end_ns"] > begin, (after["begin_ns"], begin, end)


def main(program):
    with tempfile.TemporaryDirectory(prefix="gapscope ranks ") as name:
        folder = pathlib.Path(name)
        for file in NAMES:
            shutil.copy(ROOT / "tests/recordings/ranks" / file, folder)
        with App(program, folder) as app:
            for step in (a_folder_is_a_run, a_click_in_the_matrix_shows_that_rank_at_that_step,
                         a_click_in_a_band_opens_that_rank_where_one_was):
                step(app, folder)
                print("ok:", step.__name__.replace("_", " "))


if __name__ == "__main__":
    main(sys.argv[1])
