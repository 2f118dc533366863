"""Records program.py with PyTorch's profiler and with `gapscope record`, in two runs, and compares what both saw: the same GPU
work in the same order with equal names and resources, durations close, the same launches, equal copies, no kernel before its
launch. Needs a GPU, PyTorch and a gapscope that was built with the recorder; run it by hand:

    python3 tests/gpu/same_as_kineto.py build/gapscope
"""
import gzip
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

PROGRAM = pathlib.Path(__file__).with_name("program.py")
GPU_WORK = ("kernel", "gpu_memcpy", "gpu_memset")
RESOURCES = ("grid", "block", "registers per thread", "shared memory", "bytes")
CLOSE = 0.03  # of the median duration of a name


def events_of(path):
    opened = gzip.open(path, "rt") if str(path).endswith(".gz") else open(path)
    with opened as file:
        return json.load(file)["traceEvents"]


def gpu_work(events):
    found = [e for e in events if e.get("cat") in GPU_WORK]
    return sorted(found, key=lambda e: e["ts"])


def measured_part(events):
    """GPU work launched inside the range "measured", by the range's own GPU side."""
    sides = [e for e in events if e.get("cat") == "gpu_user_annotation" and e["name"] == "measured"]
    assert sides, "the range \"measured\" has no GPU side"
    begin, end = min(e["ts"] for e in sides), max(e["ts"] + e["dur"] for e in sides)
    return [e for e in gpu_work(events) if begin <= e["ts"] < end]


def by_stream(work):
    streams = {}
    for e in work:
        streams.setdefault((e["pid"], e["args"]["stream"]), []).append(e)
    return sorted(streams.values(), key=lambda s: (-len(s), s[0]["name"]))


def compare(theirs, ours):
    wrong = []
    for number, (a, b) in enumerate(zip(by_stream(theirs), by_stream(ours), strict=True)):
        names = [e["name"] for e in a], [e["name"] for e in b]
        if names[0] != names[1]:
            wrong.append(f"stream {number}: {len(names[0])} and {len(names[1])} pieces of work, or other names: {set(names[0]) ^ set(names[1])}")
            continue
        for x, y in zip(a, b):
            for key in RESOURCES:
                if x["args"].get(key) != y["args"].get(key):
                    wrong.append(f"{x['name']}: {key} is {x['args'].get(key)} and {y['args'].get(key)}")
    return wrong


def compare_durations(theirs, ours):
    wrong = []
    for name in sorted({e["name"] for e in theirs if e["cat"] == "kernel"}):
        a = statistics.median(e["dur"] for e in theirs if e["name"] == name)
        b = statistics.median([e["dur"] for e in ours if e["name"] == name] or [0])
        print(f"  median {a:9.3f} us and {b:9.3f} us ({(b / a - 1) * 100:+.1f} %)  {name[:90]}")
        if abs(b - a) > max(CLOSE * a, 0.3):  # 0.3 us: a tick or two of the GPU's clock on kernels of 2 us
            wrong.append(f"{name}: median {a} us and {b} us")
    return wrong


def launches_of(events, work):
    wanted = {e["args"]["correlation"] for e in work}
    calls = {e["args"]["correlation"]: e for e in events if e.get("cat") in ("cuda_runtime", "cuda_driver") and e["args"].get("correlation") in wanted}
    missing = [e["name"] for e in work if e["args"]["correlation"] not in calls]
    early = [e["name"] for e in work if e["args"]["correlation"] in calls and e["ts"] < calls[e["args"]["correlation"]]["ts"]]
    counts = {}
    for call in calls.values():
        counts[call["name"]] = counts.get(call["name"], 0) + 1
    return counts, missing, early


def main(gapscope):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="gapscope-gpu-"))
    kineto, own = folder / "kineto.json", folder / "own.json.gz"
    subprocess.run([sys.executable, PROGRAM, "kineto", kineto], check=True)
    subprocess.run([gapscope, "record", "--no-open", "-o", own, "--", sys.executable, PROGRAM, "plain"], check=True)
    their_events, our_events = events_of(kineto), events_of(own)
    theirs, ours = gpu_work(their_events), measured_part(our_events)
    print(f"{len(theirs)} and {len(ours)} pieces of GPU work")
    wrong = compare(theirs, ours) + compare_durations(theirs, ours)
    their_launches, _, _ = launches_of(their_events, theirs)
    our_launches, missing, early = launches_of(our_events, ours)
    if their_launches != our_launches:
        wrong.append(f"launches: {their_launches} and {our_launches}")
    wrong += [f"no launch of {name} in our recording" for name in missing] + [f"{name} starts before its launch" for name in early]
    for sentence in wrong[:40]:
        print("DIFFERENT:", sentence)
    print(f"traces: {kineto} {own}")
    if wrong:
        sys.exit(f"{len(wrong)} differences")
    print("the same")


if __name__ == "__main__":
    main(*sys.argv[1:])
