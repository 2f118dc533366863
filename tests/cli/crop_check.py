#!/usr/bin/env python3
"""`gapscope crop` as a script meets it: what it writes is JSON for Python's strict reader, and its sentences.

    crop_check.py PROGRAM TRACE.json.gz
"""
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile


def run(program, *arguments, text=b"", **environment):
    done = subprocess.run([program, "crop", *map(str, arguments)], input=text, capture_output=True, timeout=60, env={**os.environ, **environment})
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def refuse(word):
    raise ValueError(f"{word} is no JSON")


def read(path):
    opened = gzip.open(path, "rb") if path.suffix == ".gz" else open(path, "rb")
    with opened as file:
        return json.loads(file.read(), parse_constant=refuse)


def slices(trace):
    return [e for e in trace["traceEvents"] if e.get("ph") == "X"]


def notes_file(states, trace):
    """Named by hash_bytes() of core/base/hash.h."""
    def mixed(x):
        for factor in (0xff51afd7ed558ccd, 0xc4ceb9fe1a85ec53):
            x = (x ^ x >> 33) * factor % 2**64
        return x ^ x >> 33
    text = f"{trace}\0{trace.stat().st_size}".encode()
    h = 0x9E3779B97F4A7C15 ^ len(text) * 0xff51afd7ed558ccd % 2**64
    for at in range(0, len(text) - 7, 8):
        h = (h ^ int.from_bytes(text[at:at + 8], "little")) * 0x9FB21C651E98DF25 % 2**64
        h ^= h >> 32
    return states / "gapscope" / f"{mixed(h ^ int.from_bytes(text[len(text) // 8 * 8:], 'little')):016x}.json"


def notes_go_along(program, trace, folder, begin, end):
    states, out = folder / "states", folder / "noted.json"
    trace = trace.resolve()
    notes_file(states, trace).parent.mkdir(parents=True)
    notes = [{"span_ns": [begin, begin + 1], "text": "first", "colour": 0}, {"span_ns": [end - 10, end], "text": "last", "colour": 2}]
    notes_file(states, trace).write_text(json.dumps({"trace": str(trace), "notes": notes}))
    for window, wanted in ((("--from", (begin + end) // 2), notes[1:]), ((), notes)):
        code, said, err = run(program, os.path.relpath(trace), *window, "-o", out, XDG_STATE_HOME=str(states))
        if code != 0 or f"  with {len(wanted)} note" not in said:
            yield f"a crop of a trace with notes: ended with {code}: {said!r} {err!r}"
        elif json.loads(notes_file(states, out).read_text())["notes"] != wanted:
            yield f"a crop has other notes than {wanted}"
    if "  with" in run(program, trace, "-o", out, XDG_STATE_HOME=str(folder / "none"))[1]:
        yield "a crop says notes that are not there"


def complaints(program, trace, folder):
    whole = read(trace)
    begin = min(round(e["ts"] * 1000) for e in slices(whole))
    end = max(round((e["ts"] + e["dur"]) * 1000) for e in slices(whole))
    middle = (begin + end) // 2
    for name in ("half.json", "half.json.gz"):
        out = folder / name
        code, said, err = run(program, trace, "--from", middle, "--to", end, "-o", out)
        if code != 0 or "slices" not in said or err:
            yield f"{name}: ended with {code}: {said!r} {err!r}"
            continue
        half = read(out)
        mark = half.pop("gapscopeCrop", {})
        if (mark.get("from_ns"), mark.get("to_ns")) != (middle, end):
            yield f"{name}: does not say what it is a part of: {mark}"
        if {k: v for k, v in half.items() if k != "traceEvents"} != {k: v for k, v in whole.items() if k != "traceEvents"}:
            yield f"{name}: another header"
        wanted = [e for e in slices(whole) if (e["ts"] + e["dur"]) * 1000 > middle + 1]
        if missing := [e["name"] for e in wanted if e not in slices(half)]:
            yield f"{name}: lacks {missing[:3]}"
        if len(slices(half)) >= len(slices(whole)) or any(e not in whole["traceEvents"] for e in half["traceEvents"]):
            yield f"{name}: holds more than it should"
        names = lambda t: [e for e in t["traceEvents"] if e["ph"] == "M"]
        if names(half) != names(whole):
            yield f"{name}: other names"
    yield from notes_go_along(program, trace, folder, begin, end)
    relative = folder / "relative.json"
    run(program, trace, "--from", f"{middle - begin}ns", "-o", relative)
    at_begin = read(relative)
    at_begin["gapscopeCrop"]["to_ns"] = end  # else the end of the trace is within
    if at_begin != read(folder / "half.json"):
        yield "times after the begin give another file than times of the trace"
    # Nothing in it has a length, and one slice begins where another ends: all of it is there.
    for events in ([5, 5, 5], [1, 5, 9]):
        text = json.dumps({"traceEvents": [{"ph": "X", "name": f"at {i}", "pid": 1, "tid": 1, "ts": ts, "dur": 0} for i, ts in enumerate(events)]}).encode()
        for more in ([], ["--lanes", "thread"]):
            code, said, err = run(program, "-", "-o", folder / "points.json", *more, text=text)
            if code != 0 or len(slices(read(folder / "points.json"))) != 3:
                yield f"slices without length at {events} {more}: {code} {said!r} {err!r}"
    damaged = b'[{"ph":"X","name":"a "b" c","pid":1,"tid":1,"ts":1,"dur":1,"args":{"x":NaN}},{"ph":"X","name":"z","pid":1,"tid":1,"ts":2,"dur":1}'
    code, said, err = run(program, "-", "-o", folder / "damaged.json", text=damaged)
    if code != 0 or "repaired" not in said or [e["name"] for e in read(folder / "damaged.json")] != ['a "b" c', "z"]:
        yield f"damaged: ended with {code}: {said!r} {err!r}"
    for arguments, wanted, words in (
            ((trace, "--from", end, "--to", begin, "-o", relative), 2, "must be before"),
            ((trace, "--from", "soon", "-o", relative), 2, "is not a time"),
            ((trace, "--from", end + 10, "--to", end + 20, "-o", relative), 1, "No event of"),
            ((relative, "-o", relative), 1, "is the trace itself"),
            ((trace, "-o", folder / "no" / "x.json"), 1, "cannot be written"),
            ((trace,), 2, "output"),
            ((folder / "none.json", "-o", relative), 1, "was not found")):
        code, out, err = run(program, *arguments)
        if code != wanted or words not in err or out or err.count("\n") != 1:
            yield f"{words}: ended with {code}: {out!r} {err!r}"


def main(program, trace):
    with tempfile.TemporaryDirectory() as folder:
        wrong = list(complaints(program, pathlib.Path(trace), pathlib.Path(folder)))
    print("\n".join(wrong or ["crops are as they should be"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
