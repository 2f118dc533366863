"""What trials of ordinary programs share: they time each program plain, then record it as it was written.

A trial is a file of cases. A case is `def case(how)` and returns a `step`; `how` is "before" (as it was written) or a way it was
mended. The file ends with `trial.main(CASES, hows, sys.argv[1:])`, where `hows` holds the ways to time or is a function of a
case's name that does, and is then run as

    python3 tests/gpu/A_TRIAL.py FOLDER [CASE ...] > times.jsonl

All cases, each in a process of its own, or those named. Every way is timed before any profiler is loaded, "before" last; that is
then recorded into FOLDER, lean (CASE_lean.json.gz) and with stacks and shapes (CASE_full.json.gz). A line of JSON a case goes to
the output. TRIAL_TIMES=1 in the environment only times. Without a GPU it runs on the CPU, at the sizes that `sized` gives it.
"""
import gc
import gzip
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import time

import numpy as np
import torch

device = "cuda" if torch.cuda.is_available() else "cpu"


def sized(gpu, cpu):
    """A size for the GPU, and one to try the program out with on a CPU."""
    return gpu if device == "cuda" else cpu


def wait():
    if device == "cuda":
        torch.cuda.synchronize()


def timed(step, steps):
    wait()
    begin = time.perf_counter()
    for _ in range(steps):
        step()
    wait()
    return round((time.perf_counter() - begin) / steps * 1e3, 3)


def prepared(case, how, warm=4):
    random.seed(0)
    np.random.seed(0)
    torch.manual_seed(0)
    step = case(how)
    for _ in range(warm):
        step()
    return step


def record(step, path, active, largest, **flags):
    """As many steps as stay below `largest` bytes, two at least."""
    from torch.profiler import ProfilerActivity, profile, schedule  # not before the plain timings
    while True:
        activities = [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if device == "cuda" else [])
        with profile(activities=activities, schedule=schedule(wait=1, warmup=1, active=active, repeat=1),
                     on_trace_ready=lambda p: p.export_chrome_trace(path), **flags) as prof:
            for _ in range(2 + active):
                step()
                prof.step()
        wait()
        with open(path, "rb") as file:
            if file.read(2) != b"\x1f\x8b":  # an old PyTorch may leave it unpacked
                file.seek(0)
                plain = file.read()
                pathlib.Path(path).write_bytes(gzip.compress(plain, 6))
        written = os.path.getsize(path)
        if written <= largest or active <= 2:
            return {"bytes": written, "steps": active}
        active = max(2, min(active - 1, int(active * largest / written)))


def run(folder, name, case, hows, active, largest):
    out = {"case": name, "gpu": torch.cuda.get_device_name() if device == "cuda" else "none", "torch": torch.__version__}
    begin = time.perf_counter()
    try:
        for how in [how for how in hows if how != "before"] + ["before"]:  # before any profiler; the last is recorded
            step = prepared(case, how)
            first = timed(step, 1)
            steps = max(3, min(10, int(400 / first)))
            out[how + "_all"] = [timed(step, steps) for _ in range(3)]
            out[how + "_ms"] = statistics.median(out[how + "_all"])
            if how != "before":
                del step
                gc.collect()
        if not os.environ.get("TRIAL_TIMES"):
            lean = out["lean"] = record(step, f"{folder}/{name}_lean.json.gz", active, largest)
            fits = int(largest / (4 * lean["bytes"] / lean["steps"]))  # with stacks it's some four times as much
            out["full"] = record(step, f"{folder}/{name}_full.json.gz", max(2, min(active, fits)), largest,
                                 with_stack=True, record_shapes=True)
    except Exception as error:  # the others are worth having
        out["error"] = f"{type(error).__name__}: {error}"[:400]
    out["took_s"] = round(time.perf_counter() - begin, 1)
    print(json.dumps(out), flush=True)


def main(cases, hows, arguments, active=5, largest=3_000_000, case_limit=60, all_limit=330):
    """`hows`: the ways to time a case, or a function that gives those of the case named; the limits are in seconds."""
    folder, *names = arguments
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    if len(names) == 1:
        return run(folder, names[0], cases[names[0]], hows(names[0]) if callable(hows) else hows, active, largest)
    began = time.monotonic()
    for name in names or cases:  # a process each: clean timings, and one failure leaves the others alone
        left = all_limit - (time.monotonic() - began)
        try:
            if left < 8:
                raise subprocess.TimeoutExpired(name, left)
            done = subprocess.run([sys.executable, os.path.abspath(sys.argv[0]), folder, name], timeout=min(case_limit, left))
            if done.returncode:
                print(json.dumps({"case": name, "error": f"exit {done.returncode}"}), flush=True)
        except subprocess.TimeoutExpired:
            print(json.dumps({"case": name, "error": "no time left"}), flush=True)
