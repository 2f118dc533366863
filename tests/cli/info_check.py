#!/usr/bin/env python3
"""Compares `gapscope info --json` with a naive count of the same files by Python's own JSON reader.

    info_check.py PROGRAM FILE_OR_FOLDER...

Ends with 77 (skipped, for ctest) when none of the places exists.
"""
import decimal
import gzip
import json
import lzma
import pathlib
import subprocess
import sys

SKIPPED = 77
ENDS = (".json", ".json.gz", ".json.xz")
GPU_WORK = {"kernel", "gpu_memcpy", "gpu_memset", "Kernel", "Memcpy", "Memset"}


def events_of(path):
    opener = {".gz": gzip.open, ".xz": lzma.open}.get(path.suffix, open)
    with opener(path, "rt", encoding="utf-8", errors="replace") as file:
        data = json.load(file, strict=False, parse_float=decimal.Decimal)
    return data["traceEvents"] if isinstance(data, dict) else data


def ns(us):
    return int((decimal.Decimal(us) * 1000).quantize(decimal.Decimal(1), decimal.ROUND_HALF_UP))


def spans_of(events):
    """[begin, end] of every X, and of every B with its E: the innermost open one of the same thread."""
    spans, still_open = [], {}
    for event in events:
        kind, thread = event.get("ph"), (str(event.get("pid")), str(event.get("tid")))
        if kind == "X":
            begin = ns(event["ts"])
            spans.append((begin, begin + ns(event.get("dur", 0))))
        elif kind == "B":
            still_open.setdefault(thread, []).append(ns(event["ts"]))
        elif kind == "E" and still_open.get(thread):
            spans.append((still_open[thread].pop(), ns(event["ts"])))
    return spans


def expected(path):
    events = [event for event in events_of(path) if isinstance(event, dict)]
    spans = spans_of(events)
    return {
        "events": len(events),
        "slices": len(spans),
        "begin_ns": min(begin for begin, _ in spans),
        "end_ns": max(end for _, end in spans),
        "total_dur_ns": sum(end - begin for begin, end in spans),
        "gpu_slices": sum(e.get("ph") == "X" and e.get("cat") in GPU_WORK for e in events),
        "flow_starts": sum(e.get("ph") == "s" for e in events),
    }


def stated(program, path):
    run = subprocess.run([program, "info", "--json", str(path)], capture_output=True, check=True)
    info = json.loads(run.stdout)
    return {
        "events": info["events"],
        "slices": info["slices"],
        "begin_ns": info["begin_ns"],
        "end_ns": info["end_ns"],
        "total_dur_ns": sum(lane["total_dur_ns"] for lane in info["lanes"]),
        "gpu_slices": info["launches"]["gpu_slices"],
        "flow_starts": info["flows"]["starts"],
    }


def differences(program, path):
    want, have = expected(path), stated(program, path)
    return [f"{path.name}: {key} is {have[key]}, counted {want[key]}" for key in want if have[key] != want[key]]


def traces_in(place):
    if place.is_file():
        return [place]
    oracles = (".hta.", ".tensorboard.", "truth")
    return sorted(p for p in place.glob("*") if p.name.endswith(ENDS) and not any(part in p.name for part in oracles))


def main(program, *places):
    files = [file for place in map(pathlib.Path, places) for file in traces_in(place)]
    if not files:
        print("SKIPPED: no traces in " + ", ".join(places))
        return SKIPPED
    wrong = [line for file in files for line in differences(program, file)]
    print("\n".join(wrong or [f"{len(files)} files: info agrees with a naive count"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
