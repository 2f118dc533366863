#!/usr/bin/env python3
"""Compares what Gapscope says of JAX's recordings with a naive reading of the same files by Python's own JSON reader.

    jax_check.py PROGRAM [FILE...]

A small invented recording is always read; files that are not there are left out.
"""
import collections
import decimal
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile

# Two steps of a module with three kernels, a copy before each, launched as one graph; and what XLA derives from them.
SMALL = [
    {"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "/device:GPU:0"}},
    {"ph": "M", "pid": 1, "tid": 14, "name": "thread_name", "args": {"name": "Stream #14(Compute)"}},
    {"ph": "M", "pid": 1, "tid": 15, "name": "thread_name", "args": {"name": "Stream #15(MemcpyH2D)"}},
    {"ph": "M", "pid": 1, "tid": 2, "name": "thread_name", "args": {"name": "XLA Ops"}},
    {"ph": "M", "pid": 701, "name": "process_name", "args": {"name": "/host:CPU"}},
]
for step in (0, 1):
    at = 1000 * step
    SMALL += [
        {"ph": "X", "pid": 701, "tid": 9, "ts": at + 10, "dur": 900, "name": "train", "args": {"step_num": str(step)}},
        {"ph": "X", "pid": 701, "tid": 9, "ts": at + 20, "dur": 800, "name": "$train.py:3 step"},
        {"ph": "X", "pid": 701, "tid": 9, "ts": at + 30, "dur": 30.5, "name": "MemcpyH2D",
         "args": {"correlation_id": str(20 + step), "memcpy_details": "kind_src:unknown kind_dst:unknown size:4096"}},
        {"ph": "X", "pid": 701, "tid": 9, "ts": at + 100, "dur": 50.25, "name": "cuGraphLaunch (CudaGraph:5)",
         "args": {"correlation_id": str(10 + step)}},
        {"ph": "X", "pid": 1, "tid": 15, "ts": at + 70, "dur": 3.5, "name": "MemcpyH2D",
         "args": {"correlation_id": str(20 + step), "memcpy_details": "kind_src:pinned kind_dst:device size:4096 dest:0"}},
    ]
    for k in (0, 1, 2):
        SMALL += [
            {"ph": "X", "pid": 1, "tid": 14, "ts": at + 200 + 100 * k, "dur": 60.125 + k, "name": f"fusion_{k % 2}",
             "args": {"correlation_id": str(10 + step), "hlo_module": "jit_step", "hlo_op": f"fusion.{k}",
                      "kernel_details": f"regs:{32 + k} static_shared:{64 * k} dynamic_shared:0 grid:{8 + k},1,1 block:256,1,1 "
                                        "occ_pct:50.0"}},
            {"ph": "X", "pid": 1, "tid": 2, "ts": at + 200 + 100 * k, "dur": 60.125 + k, "name": f"fusion.{k}"},
        ]

failures = 0


def check(what, said, right):
    global failures
    if said != right:
        failures += 1
        print(f"{what}: said {said}, is {right}")


def ns(us):
    return int((decimal.Decimal(us) * 1000).quantize(decimal.Decimal(1), decimal.ROUND_HALF_UP))


def union(spans):
    length, until = 0, None
    for begin, end in sorted(spans):
        if until is None or begin > until:
            length, until = length + end - begin, end
        elif end > until:
            length, until = length + end - until, end
    return length


def said(program, *arguments):
    run = subprocess.run([program, *arguments], capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"{' '.join(arguments)} ended with {run.returncode}: {run.stderr}")
    return json.loads(run.stdout, parse_float=decimal.Decimal)


def look(program, path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8") as file:
        events = [e for e in json.load(file, parse_float=decimal.Decimal)["traceEvents"] if e]
    names = {}
    for e in events:
        if e["ph"] == "M" and e["name"] in ("process_name", "thread_name"):
            names[(e["pid"], e.get("tid") if e["name"] == "thread_name" else None)] = e["args"]["name"]
    slices = [e for e in events if e["ph"] == "X"]
    work = [e for e in slices if names[(e["pid"], None)].startswith("/device:GPU") and
            names.get((e["pid"], e["tid"]), "").startswith("Stream")]
    span = lambda e: (ns(e["ts"]), ns(e["ts"]) + ns(e["dur"]))
    is_copy = lambda e: e["name"].startswith("Memcpy")
    is_set = lambda e: e["name"].startswith("Memset")

    info = said(program, "info", "--json", path)
    check("producer", info["producer"], "jax")
    check("GPU work", info["launches"]["gpu_slices"], len(work))
    calls = {e["args"]["correlation_id"] for e in slices
             if e not in work and "correlation_id" in e.get("args", {})} if len(slices) < 1000 else {
        e["args"]["correlation_id"] for e in slices
        if names[(e["pid"], None)].startswith("/host") and "correlation_id" in e.get("args", {})}
    check("work with its call", info["launches"]["joined_to_call"],
          sum(e["args"].get("correlation_id") in calls for e in work))

    by_name = collections.defaultdict(list)
    for e in work:
        by_name[e["name"]].append(e)
    table = {row["name"]: row for row in said(program, "kernels", "--json", path)}
    check("names of work", sorted(table), sorted(by_name))
    for name, runs in by_name.items():
        row = table.get(name)
        if row is None:
            continue
        check(f"count of {name}", row["count"], len(runs))
        check(f"time of {name}", row["total_ns"], sum(end - begin for begin, end in map(span, runs)))
        details = [e["args"]["kernel_details"] for e in runs if "kernel_details" in e.get("args", {})]
        if not details:
            continue
        number = lambda text, key: int(re.search(rf"\b{key}:(\d+)", text)[1])
        registers = [number(d, "regs") for d in details]
        shared = [number(d, "static_shared") + number(d, "dynamic_shared") for d in details]
        check(f"registers of {name}", row["registers"], {"min": min(registers), "max": max(registers)})
        check(f"shared memory of {name}", row["shared_memory"], {"min": min(shared), "max": max(shared)})
        for key, title in (("grid", "grids"), ("block", "blocks")):
            shapes = collections.Counter(tuple(map(int, re.search(rf"\b{key}:([\d,]+)", d)[1].split(","))) for d in details)
            listed = {tuple(s["size"]): s["count"] for s in row[title]}
            for shape, times in listed.items():
                check(f"{key} {shape} of {name}", times, shapes[shape])

    gpu = said(program, "gpu", "--json", path)["devices"]
    check("GPUs", len(gpu), len({e["pid"] for e in work}))
    for key, wanted in (("busy_ns", lambda e: True), ("compute_ns", lambda e: not is_copy(e))):
        check(key, gpu[0]["all"][key], union([span(e) for e in work if wanted(e)]))

    marks = sorted(span(e) for e in slices if "step_num" in e.get("args", {}))
    steps = said(program, "steps", "--json", path)["steps"]
    begins = [step["cpu_begin_ns"] for step in steps]
    check("steps", begins, [begin for begin, _ in marks][:len(begins)])
    if len(marks) - len(begins) > 1:  # the last may be cut off by the end of the recording
        check("number of steps", len(begins), len(marks))
    if marks:
        why = said(program, "why", "--json", path)["devices"]
        linked = [span(e) for e in work if e["args"].get("correlation_id") in calls]
        window = (marks[0][0], max([marks[-1][1]] + [end for _, end in linked]))
        check("window", tuple(why[0]["window"]), window)
        inside = lambda some: [(max(b, window[0]), min(e, window[1])) for b, e in some if b < window[1] and e > window[0]]
        computes = union(inside([span(e) for e in work if not is_copy(e) and not is_set(e)]))
        check("computing in the window", why[0]["compute"], computes)
        busy = union(inside([span(e) for e in work]))
        check("idle in the window", sum(why[0]["idle"].values()), window[1] - window[0] - busy)


program, files = sys.argv[1], sys.argv[2:]
with tempfile.TemporaryDirectory() as folder:
    small = os.path.join(folder, "small.json")
    with open(small, "w", encoding="utf-8") as out:
        json.dump({"displayTimeUnit": "ns", "traceEvents": SMALL + [{}]}, out)
    for path in [small, *(f for f in files if os.path.exists(f))]:
        look(program, path)
sys.exit(1 if failures else 0)
