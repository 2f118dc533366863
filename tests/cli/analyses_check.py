#!/usr/bin/env python3
"""Compares `gapscope kernels|steps|launches|memory|gpu|table|flops --json` with naive sums over the same files by Python's own
JSON reader, and sees that each also prints text.

    analyses_check.py PROGRAM FILE_OR_FOLDER...

Ends with 77 (skipped, for ctest) when none of the places exists.
"""
import collections
import json
import pathlib
import subprocess
import sys

from info_check import SKIPPED, GPU_WORK, events_of, ns, traces_in
from sample import some

CALLS = {"cuda_runtime", "cuda_driver", "Runtime"}
COMMANDS = ("kernels", "steps", "launches", "memory", "gpu", "table", "flops")
LARGEST = 30_000_000  # bytes of JSON text that Python reads in reasonable time
SAMPLE = 25  # recordings, of about 75
NO_NUMBERS = ("nan", "inf", "-nan", "-inf")


def run(program, command, path, *options):
    done = subprocess.run([program, command, *options, str(path)], capture_output=True, timeout=170)
    if done.returncode != 0:
        raise AssertionError(f"{path.name}: {command} ended with {done.returncode}: {done.stderr.decode()!r}")
    return done.stdout.decode()


def refuse(constant):
    raise AssertionError(f"{constant} is no JSON")


def stated(program, command, path):
    return json.loads(run(program, command, path, "--json"), parse_constant=refuse)


def gpu_work(events):
    return [e for e in events if e.get("ph") == "X" and e.get("cat") in GPU_WORK]


def correlation_of(event):
    return event.get("args", {}).get("correlation")


def check_kernels(events, rows):
    sums = collections.defaultdict(lambda: [0, 0])
    for event in gpu_work(events):
        sums[event["name"]][0] += 1
        sums[event["name"]][1] += ns(event["dur"])
    have = {row["name"]: [row["count"], row["total_ns"]] for row in rows}
    if have != sums:
        yield f"counts and totals by name differ: {set(map(str, have.items())) ^ set(map(str, sums.items()))}"


def check_launches(events, answer):
    calls = {correlation_of(e) for e in events if e.get("ph") == "X" and e.get("cat") in CALLS and correlation_of(e)}
    linked = sum(correlation_of(e) in calls for e in gpu_work(events))
    if (answer["launched"], answer["unlinked"]) != (linked, len(gpu_work(events)) - linked):
        yield f"launched {answer['launched']}, unlinked {answer['unlinked']}; counted {linked} of {len(gpu_work(events))}"


def check_gpu(events, answer):
    have = sum(device["all"]["count"] for device in answer["devices"])
    if have != len(gpu_work(events)):
        yield f"{have} operations, counted {len(gpu_work(events))}"
    for device in answer["devices"]:
        every = device["all"]
        if every["busy_ns"] + every["idle_ns"] != every["total_ns"]:
            yield f"busy and idle are not the total on GPU {device['id']}"
        # The longest gaps are the device's: nothing runs in them on any stream.
        work = [(ns(e["ts"]), ns(e["dur"])) for e in gpu_work(events) if e.get("args", {}).get("device", device["id"]) == device["id"]]
        for gap in device["gaps"]:
            if any(begin < gap["end_ns"] and begin + long > gap["begin_ns"] for begin, long in work):
                yield f"work runs in the gap {gap['begin_ns']}:{gap['end_ns']} of GPU {device['id']}"


def check_steps(events, answer):
    marks = [e for e in events if e.get("ph") == "X" and e["name"].startswith("ProfilerStep#") and e.get("cat") in
             ("user_annotation", "cpu_op", "Operator")]
    names = {e["name"] for e in marks}
    for step in answer["steps"]:
        if marks and step["name"] not in names:
            yield f"no annotation {step['name']} is in the file"
        if sum(step["breakdown"].values()) != step["duration_ns"]:
            yield f"the parts of {step['name']} are not its length"


def check_memory(events, answer):
    records = [e for e in events if e.get("name") == "[memory]"]
    have = sum(device["allocations"] + device["frees"] for device in answer["devices"])
    if have != len(records):
        yield f"{have} records, counted {len(records)}"
    for device in answer["devices"]:
        rows, peak = device["held_at_peak"], device["peak"]
        if rows is not None and device["totals_stated"] and sum(r["held_bytes"] for r in rows) < 0.99 * peak["allocated_bytes"]:
            yield f"{sum(r['held_bytes'] for r in rows)} bytes are held at the peak of {peak['allocated_bytes']}"
        if rows and (not rows[0]["operator"] or any(a["held_bytes"] < b["held_bytes"] for a, b in zip(rows, rows[1:]))):
            yield f"what holds the peak is no list of operators, the most first: {rows[:2]}"


def check_table(events, rows):
    if not rows and any(e.get("ph") == "X" and e.get("cat") in ("cpu_op", "Operator") for e in events):
        yield "no rows"
    for row in rows:
        if row["count"] <= 0 or row["cpu_ns"] < 0 or row["cuda_ns"] < 0:
            yield f"impossible row {row}"


def check_flops(events, answer):
    shapes = collections.Counter()
    for event in events:
        dims = event.get("args", {}).get("Input Dims") if isinstance(event.get("args"), dict) else None
        if event.get("ph") == "X" and dims:
            shapes[event["name"], json.dumps(dims)] += 1
    for row in answer["rows"]:
        key = row["operator"], row["input_dims"]
        own = not row.get("joined")  # the calls of a joined row are in the capture's file
        if own and row["input_dims"] is not None and row["count"] > shapes[key[0], json.dumps(json.loads(key[1]))]:
            yield f"{row['count']} calls of {key}, counted {shapes[key]}"
        first = {"aten::mm": 0, "aten::addmm": 1}.get(row["operator"])
        if first is None or row["flops_each"] is None:
            continue
        (m, k), (_, n) = json.loads(row["input_dims"])[first:first + 2]
        counted = 2 * m * k * n + (m * n if first == 1 else 0)  # a bias is added to each result
        if row["flops_each"] != counted:
            yield f"{row['flops_each']} operations of {key}, counted {counted}"
        if row["share_of_dense_peak"] is not None and row["share_of_dense_peak"] > 1:
            yield f"{key} reads above its peak"


def looks_wrong(text):
    if not text.strip():
        yield "prints nothing"
    # "NaN" is PyTorch's own word for a share of no CPU time.
    if any(word.lower() in NO_NUMBERS and word != "NaN" for word in text.split()):
        yield "prints what is no number"


def complaints(program, path):
    events = [event for event in events_of(path) if isinstance(event, dict)]
    for command in COMMANDS:
        wrong = list(globals()["check_" + command](events, stated(program, command, path)))
        wrong += looks_wrong(run(program, command, path))
        yield from (f"{path.name}: {command}: {line}" for line in wrong)


def main(program, *places):
    files = [file for place in map(pathlib.Path, places) for file in traces_in(place)]
    files = [file for file in files if file.suffix != ".xz" and file.stat().st_size < LARGEST]
    if not files:
        print("SKIPPED: no traces in " + ", ".join(places))
        return SKIPPED
    files = some(files, SAMPLE)
    wrong = [line for file in files for line in complaints(program, file)]
    print("\n".join(wrong or [f"{len(files)} files: {', '.join(COMMANDS)} agree with naive sums"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
