"""Our counters of three kernels next to what Nsight Compute says of the same kernels: SM throughput, SM activity, issue, tensor pipe
and DRAM, in percent of peak. ncu runs each launch alone and many times over, with caches flushed; ours are means of many launches
as they come. Needs a GPU, PyTorch, Nsight Compute and a gapscope with the recorder; run it by hand:

    python3 tests/gpu/beside_ncu.py build/gapscope [FOLDER]
"""
import collections
import csv
import io
import os
import statistics
import subprocess
import sys
import tempfile
import time

from counters import mean, series

METRICS = {"SM throughput": "sm__throughput.avg.pct_of_peak_sustained_elapsed", "DRAM throughput": "dram__throughput.avg.pct_of_peak_sustained_elapsed",
           "SM issue": "sm__inst_issued.avg.pct_of_peak_sustained_elapsed", "tensor pipe": "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
           "SM active cycles": "sm__cycles_active.avg", "cycles": "sm__cycles_elapsed.max", "time": "gpu__time_duration.sum"}
KERNELS = {"GEMM": ("nvjet", "gemm"), "add_": ("elementwise",), "softmax": ("softmax", "SoftMax")}


def program(launches):
    import torch

    x, y = (torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    out, c, d = x @ y, torch.zeros(1 << 28, device="cuda"), torch.randn(1 << 28, device="cuda", dtype=torch.bfloat16)
    torch.cuda.synchronize()
    time.sleep(0 if launches < 10 else 1)  # the counters take a while to begin
    for work in (lambda: torch.mm(x, y, out=out), lambda: c.add_(1), lambda: torch.softmax(d.view(-1, 4096), -1)):
        for _ in range(launches):
            work()
            torch.cuda.synchronize()
            time.sleep(0.003)  # the chip stays cool, as it does under ncu


def kind_of(name):
    return next((kind for kind, words in KERNELS.items() if any(word in name for word in words)), None)


def by_ncu(script):
    command = ["ncu", "--clock-control", "none", "--csv", "--metrics", ",".join(METRICS.values()), "--kernel-name", "regex:nvjet|gemm|elementwise|oft[mM]ax", *script, "4"]
    done = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    rows = csv.DictReader(io.StringIO(done[done.index('"ID"'):]))
    launches = collections.defaultdict(dict)
    for row in rows:
        launches[row["ID"]]["kind"] = kind_of(row["Kernel Name"])
        launches[row["ID"]][row["Metric Name"]] = float(row["Metric Value"].replace(",", ""))
    found = collections.defaultdict(list)
    for launch in launches.values():
        found[launch["kind"]].append(launch)
    return {kind: {title: statistics.median(launch[metric] for launch in found[kind][-4:]) for title, metric in METRICS.items()} for kind in KERNELS}


def by_us(gapscope, script, path):
    import gzip
    import json

    subprocess.run([gapscope, "record", "--no-open", "--counters", "-o", path, "--", *script, "100"], check=True)
    events = json.load(gzip.open(path))["traceEvents"]
    tracks = {title: series(events, *key) for title, key in {"SM active": ("SM", "active %"), "SM issue": ("SM", "issue %"), "tensor pipe": ("SM", "tensor pipe %"),
              "DRAM throughput": ("DRAM", "of peak %"), "clock": ("SM clock", "MHz")}.items()}
    found = {}
    for kind in KERNELS:
        work = [e for e in events if e.get("cat") == "kernel" and kind_of(e["name"]) == kind and e["dur"] > 100][-100:]
        found[kind] = {title: statistics.mean(mean(track, e["ts"], e["ts"] + e["dur"]) for e in work) for title, track in tracks.items()}
        found[kind].update(launches=len(work), time=statistics.median(e["dur"] for e in work))
    return found


def main(gapscope, folder=None):
    folder = folder or tempfile.mkdtemp(prefix="gapscope-ncu-")
    script = [sys.executable, os.path.abspath(__file__), "--program"]
    theirs, ours = by_ncu(script), by_us(gapscope, script, os.path.join(folder, "counters.json.gz"))
    for kind in KERNELS:
        n, o = theirs[kind], ours[kind]
        print(f"{kind}: ncu: SM throughput {n['SM throughput']:.1f}, DRAM {n['DRAM throughput']:.1f}, issue {n['SM issue']:.1f}, tensor {n['tensor pipe']:.1f}, "
              f"active {100 * n['SM active cycles'] / n['cycles']:.1f} (time {n['time']:.1f}, {n['cycles']:.0f} cycles)")
        print(f"{kind}: ours, {o['launches']} launches of {o['time']:.0f} us: the busier of issue and tensor {max(o['SM issue'], o['tensor pipe']):.1f}, "
              f"DRAM {o['DRAM throughput']:.1f}, issue {o['SM issue']:.1f}, tensor {o['tensor pipe']:.1f}, active {o['SM active']:.1f}, {o['clock']:.0f} MHz")


if __name__ == "__main__":
    program(int(sys.argv[2])) if sys.argv[1:2] == ["--program"] else main(*sys.argv[1:])
