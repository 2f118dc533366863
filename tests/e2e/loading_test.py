#!/usr/bin/env python3
"""A large file while it is read: the beginning that is there already is shown, and what is not there yet is never denied."""
import json
import pathlib
import sys
import tempfile
import time

from harness import PATIENCE_S, ROOT, App

SMALL = ROOT / "assets/traces/matmul_add_64_cold_eager.json.gz"
LEAST_BYTES = 200 << 20  # of a file of which parts are shown: LoadOptions::least_bytes_for_parts
PAUSE_US = 10


def event(category, name, pid, tid, begin_us, args):
    return json.dumps({"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": begin_us, "dur": 5, "args": args})


def write_trace(path):
    """Operators first, and kernels in the second half alone: no part of the file has any."""
    block = {"note": "x" * 4000}
    count = LEAST_BYTES // 4000
    with open(path, "w") as file:
        file.write('{"traceEvents": [\n')
        for i in range(count):
            file.write(event("cpu_op", "aten::mm", 1, 1, i * PAUSE_US, block) + ",\n")
            if i >= count // 2:
                file.write(event("kernel", "gemm", 0, 7, i * PAUSE_US, {"device": 0, "stream": 7}) + ",\n")
        file.write(event("cpu_op", "aten::mm", 1, 1, count * PAUSE_US, {}) + "]}\n")


def states_until_open(app, name):
    """All that the window showed of it until it was there whole."""
    seen = []
    deadline = time.monotonic() + 3 * PATIENCE_S
    while time.monotonic() < deadline:
        state = app.state()
        if state and state.get("file", "").endswith(name) and (not seen or state != seen[-1]):
            seen.append(state)
            if not state["loading"] and not state["is_part"]:
                return seen
        time.sleep(0.005)
    raise AssertionError("the trace does not open")


def a_part_says_that_it_is_loading(app, path):
    app.key("ctrl+o")
    app.wait_for(lambda s: s["start_open"] and s["start"]["has_keys"], "the field has the keyboard")
    app.type(str(path))
    app.key("Return")
    seen = states_until_open(app, path.name)
    parts = [state for state in seen if state["is_part"]]
    assert parts, "the beginning of the file is shown while it is read"
    for state in parts:
        texts = " ".join(state["texts"])
        assert "no GPU work" not in texts and "No GPU work" not in texts, texts
        assert "GPU: loading" in texts, texts
        assert "so far" in texts, texts
    ends = [state["trace_end_ns"] for state in seen]
    assert ends == sorted(ends) and ends[0] < ends[-1], f"what is shown grows: {ends}"
    app.wait_for(lambda s: "GPU busy" in s["texts"], "then the overview shows the GPU")


def main(program):
    with tempfile.TemporaryDirectory(prefix="gapscope big ") as folder, App(program, SMALL) as app:
        big = pathlib.Path(folder) / "big.json"
        write_trace(big)
        app.wait_for(lambda s: s.get("file") and not s["loading"], "the small trace is open")
        app.wait_until_still()
        a_part_says_that_it_is_loading(app, big)
        print("ok: a part says that it is loading")


if __name__ == "__main__":
    main(sys.argv[1])
