#!/usr/bin/env python3
"""`gapscope merge-counters`: a recording is taken apart into a trace and its counters, and both are joined again.

    merge_counters_check.py PROGRAM RECORDING.json.gz
"""
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile


def run(program, *arguments):
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


def write(path, trace, events, **header):
    path.write_text(json.dumps({**{k: v for k, v in trace.items() if k != "traceEvents"}, **header, "traceEvents": events}))
    return path


def without(trace, key):
    return {k: v for k, v in trace.items() if k != key}


def means(program, path):
    report = json.loads(run(program, "counters", path, "--json")[1])
    return report["devices"][0]["while_busy"], {k["name"]: (k["place"], k["pooled_launches"]) for k in report["kernels"]}


def complaints(program, recording, folder):
    whole = json.load(gzip.open(recording))
    work = [e for e in whole["traceEvents"] if e["ph"] != "C"]
    names = [e for e in work if e["ph"] == "M"]
    trace = write(folder / "torch.json", whole, work)
    # The same moments by another time 0.
    second = 1_000_000
    moved = [{**e, "ts": e["ts"] - second} for e in whole["traceEvents"] if e["ph"] == "C"]
    counters = write(folder / "counters.json", whole, names + moved, baseTimeNanoseconds=whole["baseTimeNanoseconds"] + second * 1000)
    both = folder / "both.json.gz"
    code, said, err = run(program, "merge-counters", trace, counters, "-o", both)
    if code != 0 or err or f"{len(work):,} events" not in said:
        return (yield f"ended with {code}: {said!r} {err!r}")
    joined = json.load(gzip.open(both))
    if [e for e in joined["traceEvents"] if e["ph"] != "C"] != work:
        yield "the trace's own events are not as they were"
    if without(joined, "traceEvents") != without(whole, "traceEvents"):
        yield "another header"
    (mine, kernels), (theirs, their_kernels) = means(program, both), means(program, recording)
    if kernels != their_kernels:
        yield f"kernels: {kernels} for {their_kernels}"
    for key in ("sm_active_percent", "tensor_pipe_percent", "dram_of_peak_percent"):
        if abs(mine[key] - theirs[key]) > 0.01:
            yield f"{key}: {mine[key]} for {theirs[key]}"
    nowhere = write(folder / "nowhere.json", without(whole, "baseTimeNanoseconds"), work)
    code, said, err = run(program, "merge-counters", nowhere, counters, "-o", folder / "x.json")
    if code != 1 or "baseTimeNanoseconds" not in err or (folder / "x.json").exists():
        yield f"without a time 0: {code} {said!r} {err!r}"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as where:
        found = list(complaints(sys.argv[1], sys.argv[2], pathlib.Path(where)))
    print("\n".join(found) or "joined as they were")
    sys.exit(bool(found))
