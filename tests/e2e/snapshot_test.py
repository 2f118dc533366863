#!/usr/bin/env python3
"""Memory snapshots in the window: the answer first, an allocation named by a click, zoom by keys and wheel, a damaged file, two compared."""
import pathlib
import pickle
import sys
import tempfile

from harness import ROOT, App, visible_ns

MIB = 1 << 20


def frames(line, name="step"):
    return [{"name": name, "filename": "/home/me/train.py", "line": line}]


def snapshot(steps, fails):
    """Each step leaves 2 MiB of line 12 behind; 8 MiB of line 9 come and go. In the end memory runs out."""
    base, trace, time, blocks = 0x7f0000000000, [], 1_700_000_000_000_000, []

    def event(action, line, **more):
        nonlocal time
        time += 100
        trace.append({"action": action, "stream": 0, "time_us": time, "frames": frames(line), **more})

    event("segment_alloc", 1, addr=base, size=200 * MIB)
    for i in range(steps):
        event("alloc", 9, addr=base + 180 * MIB, size=8 * MIB)
        event("alloc", 12, addr=base + 2 * i * MIB, size=2 * MIB)
        for action in ("free_requested", "free_completed"):
            event(action, 9, addr=base + 180 * MIB, size=8 * MIB)
        blocks.append({"address": base + 2 * i * MIB, "size": 2 * MIB, "requested_size": 2 * MIB, "state": "active_allocated", "frames": frames(12)})
    if fails:
        event("oom", 9, size=300 * MIB, device_free=MIB)
    blocks.append({"address": base + 2 * steps * MIB, "size": (200 - 2 * steps) * MIB, "requested_size": 0, "state": "inactive", "frames": []})
    held = 2 * steps * MIB
    segment = {"device": 0, "address": base, "total_size": 200 * MIB, "allocated_size": held, "active_size": held, "requested_size": held, "stream": 0,
               "segment_type": "large", "segment_pool_id": (0, 0), "is_expandable": False, "frames": [], "blocks": blocks}
    return pickle.dumps({"segments": [segment], "device_traces": [trace], "allocator_settings": {}, "external_annotations": []}, 4)


def is_open(name):
    return lambda s: s.get("file", "").endswith(name) and not s["loading"] and "snapshot" in s


def the_answer_comes_first(app):
    state = app.wait_for(is_open("oom.pickle"), "the snapshot is open")
    assert state["snapshot"]["headline"].startswith("Out of memory: train.py:9 (step) asked for 315 MB"), state["snapshot"]["headline"]
    app.wait_for(lambda s: any("when memory ran out" in t for t in s["texts"]), "the moment is that one")
    assert not state["start_open"] and not state["message"], state["message"]


def a_click_names_an_allocation(app):
    app.click_text("Peak")
    state = app.wait_until_still()
    chart = state["snapshot"]["chart"]
    app.click(chart["x0"] + 0.9 * (chart["x1"] - chart["x0"]), chart["y1"] - 0.05 * (chart["y1"] - chart["y0"]))
    app.wait_for(lambda s: s["snapshot"]["block"] is not None, "an allocation is chosen")
    app.wait_for(lambda s: any(t.startswith("2.10 MB at 0x7f") for t in s["texts"]), "its size is shown")


def keys_and_the_wheel_zoom(app):
    before = app.wait_until_still()
    app.hold("w", lambda s: visible_ns(s) < visible_ns(before) / 2, "W zooms in")
    app.key("f")
    app.wait_for(lambda s: visible_ns(s) == visible_ns(before), "F shows all")
    chart = before["snapshot"]["chart"]
    app.point_at((chart["x0"] + chart["x1"]) / 2, (chart["y0"] + chart["y1"]) / 2)
    app.wheel(-2)
    app.wait_for(lambda s: visible_ns(s) < visible_ns(before), "the wheel zooms in")


def tabs_show_the_moment(app):
    for tab, words in (("Segments", "Large pool, stream 0"), ("Lines", "train.py:12 (step)"), ("Grows", "6 of 6")):
        app.click_text(tab)
        app.wait_for(lambda s: any(words in t for t in s["texts"]), f"{tab} is shown")


def a_damaged_one_is_a_sentence(app, folder):
    app.key("ctrl+o")
    app.wait_for(lambda s: s["start_open"], "the page is open")
    app.type(str(folder / "damaged.pickle"))
    app.key("Return")
    state = app.wait_for(lambda s: "damaged.pickle" in s["message"], "a sentence says so")
    assert is_open("oom.pickle")(state), "what was open stays"
    app.key("Escape")
    app.wait_for(lambda s: not s["start_open"], "the page is closed")


def a_trace_takes_its_place(app):
    app.key("ctrl+o")
    app.wait_for(lambda s: s["start_open"], "the page is open")
    app.type(str(ROOT / "assets/traces/matmul_add_64_cold_eager.json.gz"))
    app.key("Return")
    app.wait_for(lambda s: s.get("file", "").endswith("eager.json.gz") and "snapshot" not in s and s.get("verdict"), "the trace is open")


def main(program):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        whole = snapshot(60, True)
        (folder / "oom.pickle").write_bytes(whole)
        (folder / "before.pickle").write_bytes(snapshot(30, False))
        (folder / "damaged.pickle").write_bytes(whole[:len(whole) // 2])
        with App(program, folder / "oom.pickle") as app:
            the_answer_comes_first(app)
            a_click_names_an_allocation(app)
            keys_and_the_wheel_zoom(app)
            tabs_show_the_moment(app)
            a_damaged_one_is_a_sentence(app, folder)
            a_trace_takes_its_place(app)
        with App(program, folder / "before.pickle", folder / "oom.pickle") as app:
            state = app.wait_for(is_open("oom.pickle"), "the second one is shown")
            assert state["snapshot"]["tab"] == "compare", state["snapshot"]
            app.wait_for(lambda s: any("+62.9 MB since before.pickle" in t for t in s["texts"]), "the difference is shown")
            app.key("ctrl+w")
            app.wait_for(lambda s: s["start_open"] and "snapshot" not in s, "it is closed")


if __name__ == "__main__":
    main(sys.argv[1])
