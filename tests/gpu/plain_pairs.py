"""Recordings of programs next to the time that their steps take without a profiler. Needs a GPU and PyTorch:

    python3 tests/gpu/plain_pairs.py FOLDER MODULE.py [CASE...]

MODULE.CASES has functions CASE(mended) that return step() (tests/gpu/plain_programs.py, careless.py). Each case has a process of its own:
timed before any profiler is loaded (three times twelve steps), recorded in four ways (four marked steps each), timed again, since CUPTI
stays and costs, and recorded once more: one step alone, without marks, or with memory and modules. FOLDER/log.jsonl has a line a case.
"""
import importlib.util
import json
import multiprocessing
import os
import signal
import sys
import time
import traceback

import torch
from torch.profiler import ProfilerActivity, profile, schedule
WAYS = {"lean": {}, "shapes": {"record_shapes": True}, "stacks": {"with_stack": True}, "full": {"record_shapes": True, "with_stack": True}}
ACT = [ProfilerActivity.CPU, ProfilerActivity.CUDA]


class Slow(Exception):
    pass


def alarm(*_):
    raise Slow("too slow")




def plain(step, n=12):
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(n):
        step()
    torch.cuda.synchronize()
    return (time.perf_counter() - begin) / n * 1e3


def record(step, path, flags, sched, n):
    with profile(activities=ACT, schedule=sched, on_trace_ready=(lambda p: p.export_chrome_trace(path)) if sched else None, **flags) as prof:
        for _ in range(n):
            step()
            if sched:
                prof.step()
        if not sched:
            torch.cuda.synchronize()
    if not sched:
        prof.export_chrome_trace(path)


def one(step, out, case, at, row):
    for _ in range(6):
        step()
    row["plain_ms"] = [round(plain(step), 3) for _ in range(3)]
    four = schedule(wait=1, warmup=2, active=4)
    for how, flags in WAYS.items():
        record(step, f"{out}/{case}_{how}.json", flags, four, 7)
    row["after_ms"] = [round(plain(step), 3) for _ in range(2)]
    if at % 4 == 0:
        record(step, f"{out}/{case}_single.json", {}, schedule(wait=1, warmup=2, active=1), 4)
    elif at % 4 == 1:
        record(step, f"{out}/{case}_nomarks.json", WAYS["full"], None, 4)
    elif at % 4 == 2:
        record(step, f"{out}/{case}_memory.json", {**WAYS["full"], "profile_memory": True, "with_modules": True}, four, 7)
    else:
        record(step, f"{out}/{case}_nomarkslean.json", {}, None, 4)


def load(module):
    spec = importlib.util.spec_from_file_location("programs", module)
    programs = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(programs)
    return programs


def run(out, module, case, at):
    signal.signal(signal.SIGALRM, alarm)
    row = {"case": case, "gpu": torch.cuda.get_device_name(), "torch": torch.__version__}
    signal.alarm(60)
    try:
        torch.manual_seed(0)
        one(load(module).CASES[case](False), out, case, at, row)
    except BaseException as trouble:
        row["error"] = repr(trouble)[:200]
        traceback.print_exc(limit=4)
    signal.alarm(0)
    with open(f"{out}/log.jsonl", "a") as log:
        log.write(json.dumps(row) + "\n")
    print(json.dumps(row), flush=True)


def main(out, module, *cases):
    os.makedirs(out, exist_ok=True)
    for at, case in enumerate(cases or load(module).CASES):
        child = multiprocessing.get_context("spawn").Process(target=run, args=(out, module, case, at))
        child.start()
        child.join()


if __name__ == "__main__":
    main(*sys.argv[1:])
