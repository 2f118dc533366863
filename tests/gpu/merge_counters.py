"""PyTorch's profiler next to a recording of counters alone: its trace is as whole as without us, and the counters that are put into
it lie where its kernels do. Needs a GPU, PyTorch and a gapscope with the recorder; run it by hand:

    python3 tests/gpu/merge_counters.py build/gapscope [FOLDER]
"""
import bisect
import gzip
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

APART = 60  # us between two kernels, so that the samples show an edge
STEPS = 5


def program(path):
    import torch

    torch.manual_seed(0)
    up, down = torch.nn.Linear(1024, 4096).cuda().bfloat16(), torch.nn.Linear(4096, 1024).cuda().bfloat16()
    x = torch.randn(8192, 1024, device="cuda", dtype=torch.bfloat16)

    def step():
        down(torch.nn.functional.gelu(up(x))).float().square().mean().backward()
        torch.cuda.synchronize()

    for _ in range(5):
        step()
    time.sleep(1)  # the counters take a while to begin
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA], record_shapes=True) as profile:
        for _ in range(STEPS):
            step()
            time.sleep(0.002)
    profile.export_chrome_trace(path)


def events(path):
    with open(path, "rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    with (gzip.open if packed else open)(path, "rt") as file:
        return json.load(file)["traceEvents"]


def kernels(path):
    return sorted((e["ts"], e["dur"], e["name"]) for e in events(path) if e.get("cat") == "kernel")


def edges(path):
    """How far the counters' begin of a kernel is from PyTorch's, in us, of kernels with no kernel before them."""
    work = sorted((e["ts"], e["ts"] + e["dur"]) for e in events(path) if e.get("cat") == "kernel")
    active = sorted((e["ts"], e["args"]["active %"]) for e in events(path) if e["name"] == "SM" and "active %" in e.get("args", {}))
    times, far = [t for t, _ in active], []
    for (_, before), (begin, end) in zip(work, work[1:]):
        i = bisect.bisect_left(times, begin - 21)
        while i < len(active) and active[i][1] < 1:
            i += 1
        if begin - before > APART and end - begin > 45 and i + 1 < len(active) and active[i + 1][1] > 50:
            far.append(active[i][0] + 20 * (1 - min(1, active[i][1] / active[i + 1][1])) - begin)
    return far


def main(gapscope, folder=None):
    folder = folder or tempfile.mkdtemp(prefix="gapscope-merge-")
    alone, torch, counters, both = (os.path.join(folder, name) for name in ("alone.json.gz", "torch.json.gz", "counters.json.gz", "both.json.gz"))
    subprocess.run([sys.executable, __file__, "--program", alone], check=True)
    subprocess.run([gapscope, "record", "--no-open", "--counters-only", "-o", counters, "--", sys.executable, __file__, "--program", torch], check=True)
    subprocess.run([gapscope, "merge-counters", torch, counters, "-o", both], check=True)
    names = [[name for _, _, name in kernels(path)] for path in (alone, torch)]
    print(f"kernels in PyTorch's trace: {len(names[0])} alone, {len(names[1])} with the counters")
    far = edges(both)
    print(f"edges of {len(far)} kernels: {min(far):+.2f} to {max(far):+.2f} us, median {statistics.median(far):+.2f}" if far else "no edges to compare")
    if names[0] != names[1]:
        sys.exit("PyTorch's trace is not what it is without us")
    if not far or abs(statistics.median(far)) > 1:
        sys.exit("the counters are not where the kernels are")


if __name__ == "__main__":
    program(sys.argv[2]) if sys.argv[1:2] == ["--program"] else main(*sys.argv[1:])
