"""Counters compared with what they should say: a copy's bytes over its time, a GEMM's FLOP/s over the peak, kernels' edges, and
nvidia-smi's power. Needs a GPU, PyTorch and a gapscope with the recorder; run it by hand:

    python3 tests/gpu/counters.py build/gapscope [FOLDER]
"""
import bisect
import gzip
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time

FLOPS_PER_CYCLE = {"9.0": 4096, "8.0": 2048, "8.6": 512, "8.9": 1024, "10.0": 8192}  # an SM's, dense bf16 with fp32 sums


def program():
    import torch

    x = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
    y = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
    a = torch.empty(1 << 30, device="cuda", dtype=torch.uint8)
    b = torch.empty(1 << 30, device="cuda", dtype=torch.uint8)
    c = torch.zeros(1 << 28, device="cuda")
    d = torch.randn(1 << 28, device="cuda", dtype=torch.bfloat16)
    out = x @ y
    b.copy_(a)
    c.add_(1)
    torch.softmax(d.view(-1, 4096), -1)
    torch.cuda.synchronize()
    time.sleep(0.6)  # the counters take a while to begin
    for _ in range(30):
        torch.mm(x, y, out=out)
        torch.cuda.synchronize()
        time.sleep(0.002)
    for _ in range(200):
        b.copy_(a)
    for _ in range(200):
        c.add_(1)
    for _ in range(200):
        torch.softmax(d.view(-1, 4096), -1)
    torch.cuda.synchronize()
    time.sleep(0.1)
    end = time.time() + 3
    while time.time() < end:
        for _ in range(100):
            torch.mm(x, y, out=out)
        torch.cuda.synchronize()


def series(events, name, key):
    got = sorted((e["ts"], e["args"][key]) for e in events if e.get("ph") == "C" and e["name"] == name and key in e["args"])
    return [t for t, _ in got], [v for _, v in got]


def mean(track, begin, end):
    """Of a value that holds until the next event."""
    times, values = track
    i = max(bisect.bisect_right(times, begin) - 1, 0)
    total = 0.0
    while i < len(times) and times[i] < end:
        until = times[i + 1] if i + 1 < len(times) else end
        total += values[i] * max(0.0, min(until, end) - max(times[i], begin))
        i += 1
    return total / (end - begin)


def edges(active, interval, kernels):
    """How far the first sample that shows a lone kernel is from its begin, in samples."""
    far = []
    for k in kernels[1:31]:
        i = bisect.bisect_right(active[0], k["ts"] - 500)
        while i < len(active[0]) and active[1][i] < 1:
            i += 1
        if i == len(active[0]):
            continue
        edge = active[0][i] + interval * (1 - min(1, active[1][i] / max(active[1][i + 1], 1)))
        far.append((edge - k["ts"]) / interval)
    return far


def main(gapscope, folder=None):
    folder = folder or tempfile.mkdtemp(prefix="gapscope-counters-")
    path = os.path.join(folder, "counters.json.gz")
    watch = subprocess.Popen(["nvidia-smi", "--query-gpu=power.draw.instant", "--format=csv,noheader,nounits", "-lms", "50"],
                             stdout=subprocess.PIPE, text=True)
    watts = []
    threading.Thread(target=lambda: watts.extend((time.time_ns(), float(line)) for line in watch.stdout if line.strip()), daemon=True).start()
    subprocess.run([gapscope, "record", "--no-open", "--counters", "-o", path, "--", sys.executable, __file__, "--program"], check=True)
    watch.terminate()
    trace = json.load(gzip.open(path))
    events, gpu = trace["traceEvents"], trace["deviceProperties"][0]
    track = {k: series(events, *k) for k in [("SM", "active %"), ("SM", "tensor pipe %"), ("SM", "issue %"), ("DRAM", "read GB/s"), ("DRAM", "write GB/s"),
             ("DRAM", "of peak %"), ("GPU power", "W"), ("GPU clock", "SM MHz"), ("SM clock", "MHz"), ("Counter sampling", "interval us"), ("PCIe", "read GB/s")]}
    interval = statistics.median(v for v in track[("Counter sampling", "interval us")][1] if v > 0)
    print(f"{os.path.getsize(path) / 1e6:.1f} MB, interval {interval} us; events of SM: {len(track[('SM', 'active %')][0])}; holes: "
          f"{sum(v == 0 for v in track[('Counter sampling', 'interval us')][1]) - 1}")
    work = sorted((e for e in events if e.get("ph") == "X" and e.get("cat") in ("kernel", "gpu_memcpy")), key=lambda e: e["ts"])
    gemms = [e for e in work if e["cat"] == "kernel" and e["dur"] > 500 and "elementwise" not in e["name"]]
    copies = [e for e in work if e["cat"] == "gpu_memcpy" and "DtoD" in e["name"]][1:]
    adds = [e for e in work if "elementwise" in e["name"] and e["dur"] > 100][-200:]
    far = edges(track[("SM", "active %")], interval, gemms)
    print(f"edges of {len(far)} kernels: {min(far):+.2f} to {max(far):+.2f} samples, median {statistics.median(far):+.2f}")
    for title, group, size in (("copy", copies, 2 << 30), ("add_", adds, 2 << 30)):
        true = size * len(group) / sum(e["dur"] for e in group) / 1e3
        begin, end = group[0]["ts"], group[-1]["ts"] + group[-1]["dur"]
        lasted = sum(e["dur"] for e in group) / (end - begin)
        got = (mean(track[("DRAM", "read GB/s")], begin, end) + mean(track[("DRAM", "write GB/s")], begin, end)) / lasted
        print(f"{title}: {len(group)} of {group[0]['dur']:.0f} us: bytes/time {true:.0f} GB/s, counted {got:.0f} GB/s ({100 * (got / true - 1):+.1f} %), of peak "
              f"{mean(track[('DRAM', 'of peak %')], begin, end):.1f} %")
    loop = gemms[len(gemms) // 2:]
    begin, end = loop[0]["ts"], loop[-1]["ts"] + loop[-1]["dur"]
    clock, by_driver = mean(track[("SM clock", "MHz")], begin, end), mean(track[("GPU clock", "SM MHz")], begin, end)
    flops = 2 * 8192**3 * len(loop) / (end - begin) * 1e6
    peak = FLOPS_PER_CYCLE[f"{gpu['computeMajor']}.{gpu['computeMinor']}"] * gpu["numSms"] * clock * 1e6
    print(f"GEMM ({loop[0]['name']}): {flops / 1e12:.0f} TFLOP/s at {clock:.0f} MHz (the driver says {by_driver:.0f}), {100 * flops / peak:.1f} % of {peak / 1e12:.0f}; tensor pipe {mean(track[('SM', 'tensor pipe %')], begin, end):.1f} %,"
          f" SM active {mean(track[('SM', 'active %')], begin, end):.1f} %, issue {mean(track[('SM', 'issue %')], begin, end):.1f} %, DRAM {mean(track[('DRAM', 'of peak %')], begin, end):.1f} %")
    ours = mean(track[("GPU power", "W")], begin, end)
    base = trace["baseTimeNanoseconds"]
    theirs = statistics.mean(w for t, w in watts if begin <= (t - base) / 1e3 <= end)
    print(f"power of the GEMM loop: {ours:.0f} W; nvidia-smi in the same time {theirs:.0f} W ({100 * (ours / theirs - 1):+.1f} %)")
    for title, pick in (("GEMM", lambda e: e in loop), ("add_", lambda e: e in adds), ("softmax", lambda e: "softmax" in e["name"].lower())):
        group = [e for e in work if pick(e)][1:]
        begin, end = group[0]["ts"], group[-1]["ts"] + group[-1]["dur"]
        share = sum(e["dur"] for e in group) / (end - begin)
        print(f"{title}: {len(group)} kernels, {group[0]['dur']:.0f} us each: " + ", ".join(
            f"{k[0]} {k[1]} {mean(track[k], begin, end) / share:.1f}" for k in (("SM", "active %"), ("SM", "issue %"), ("SM", "tensor pipe %"), ("DRAM", "of peak %"))))


if __name__ == "__main__":
    program() if sys.argv[1:] == ["--program"] else main(*sys.argv[1:])
