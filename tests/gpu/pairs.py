"""Gains against what was measured: training loops recorded as they are and with one thing mended, and what `gapscope whatif`
says of the first. gain/record_pairs.py of the definition (core/replay/GAIN.md) records them. Needs a folder of such recordings, CASE_before.json, CASE_after.json, with stacks CASE_before_stack.json, each also
as .json.gz, and plain.jsonl, a line of {"case", "side", "plain_ms"} a case and side: step times without a profiler.

    python3 tests/gpu/pairs.py build/gapscope FOLDER          predictions
    python3 tests/gpu/pairs.py build/gapscope FOLDER records  what the profiler's own records cost

tests/gpu/PAIRS.md has what they gave.
"""
import gzip
import json
import pathlib
import statistics
import subprocess
import sys

# The change that mends a case: with stacks, without them, and how many steps repeat themselves.
FP32 = ["--full-queues", "--kernel", "(.*f32f32_f32f32.*|.*simt_sgemm.*)=0.127"]
PAGEABLE = ["--remove", "cudaMemcpyAsync", "--kernel", ".*Pageable.*=0.12"]
ALLOCATING = ["--remove", "cudaMalloc", "--remove", "cudaFree"]
ATTENTION, PAUSE = "unfused_attention", "host_pause"  # a finding's own gain: no option fuses launches in a row, or finds pauses
CASES = {
    "sync_item": (["--no-wait"], ["--no-wait"], 1),
    "sync_every_layer": (["--no-wait"], ["--no-wait"], 1),
    "slow_loader": (["--remove", "*load_batch_slowly"], PAUSE, 1),
    "slow_loader_async": (["--remove", "*load_batch_slowly"], PAUSE, 1),
    "busy_python": (["--remove", "*busy_host"], PAUSE, 1),
    "pageable_copy": (PAGEABLE, PAGEABLE, 1),
    "overlap_copy": (["--overlap-copies"], ["--overlap-copies"], 1),
    "empty_cache": (ALLOCATING + ["--remove", "*empty_cache"], ALLOCATING, 1),
    "gc_pause": (["--remove", "*busy_host", "--remove", "<built-in function collect>"], PAUSE, 3),
    "cuda_graph": (["--graph"], ["--graph"], 0),
    "fp32_gemm": (FP32, FP32, 1),
    "math_attention": (ATTENTION, ATTENTION, 1),
    "foreach_off": (["--remove", "Optimizer.step#*"], ["--remove", "Optimizer.step#*"], 1),
}


def found(folder, name):
    return next((p for p in (folder / f"{name}.json", folder / f"{name}.json.gz") if p.exists()), None)


def asked(program, *args):
    done = subprocess.run([program, *map(str, args)], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, args))}: {done.stderr}")
    return json.loads(done.stdout)


def typical(lengths, every):
    """The median of `every` steps' mean, in ms; the first step is the profiler's warm-up."""
    groups = [lengths[i:i + every] for i in range(0 if every > 1 else 1, len(lengths) - every + 1, every)]
    return statistics.median(sum(g) / len(g) for g in groups) / 1e6


def step_then(program, trace, changes, *stated):
    """What a step of the program without its profiler takes before and after, in ms, as predicted."""
    if isinstance(changes, str):
        answer = asked(program, "whatif", trace, "--json", *stated)
        gain = sum(f["gain"]["per_step_ns"] for f in answer["findings"] if f["rule"] == changes)
        return [t / 1e6 for t in (answer["plain"]["step_ns"], answer["plain"]["step_ns"] - gain)]
    answer = asked(program, "whatif", trace, "--json", *changes, *stated)
    before = answer["plain"]["step_ns"] / 1e6
    return [before, before * answer["after_ns"] / answer["before_ns"]]


def plain_times(folder):
    lines = [json.loads(line) for line in (folder / "plain.jsonl").read_text().splitlines() if line.strip()]
    return {(p["case"], p["side"]): statistics.median(p["plain_ms"]) for p in lines}


def predictions(program, folder):
    plain = plain_times(folder)
    print("| case | before: estimated | measured | after: predicted | with the step stated | measured | off | stated: off |")
    print("|---|---|---|---|---|---|---|---|")
    for case, (with_stacks, without, _) in CASES.items():
        was, real = plain[case, "before"], plain[case, "after"]
        for name, change in ((f"{case}_before", without), (f"{case}_before_stack", with_stacks)):
            before, then = step_then(program, found(folder, name), change)
            _, stated = step_then(program, found(folder, name), change, "--step-time", f"{was}ms")
            print(f"| {case}{', stacks' if name.endswith('stack') else ''} | {before:.1f} | {was:.1f} | {then:.1f} | {stated:.1f} | {real:.1f} | "
                  f"{(then / real - 1) * 100:+.0f} % | {(stated / real - 1) * 100:+.0f} % |")


def records(program, folder):
    """Host time a record: what steps take longer than without the profiler, by the records that the host makes."""
    plain = plain_times(folder)
    print("| recording | records a step | of them frames | longer | a record |\n|---|---|---|---|---|")
    for trace in sorted(folder.glob("*_*.json*")):
        case, side = trace.name.split(".")[0].removesuffix("_stack").rsplit("_", 1)
        if (case, side) not in plain or side not in ("before", "after"):
            continue
        with (gzip.open(trace, "rt") if trace.suffix == ".gz" else open(trace)) as file:
            events = [e for e in json.load(file)["traceEvents"] if e.get("ph") == "X"]
        spans = sorted((e["ts"], e["dur"]) for e in events if e.get("cat") == "user_annotation" and e["name"].startswith("ProfilerStep#"))
        inside = [e.get("cat") for e in events if spans[0][0] <= e["ts"] < spans[-1][0] + spans[-1][1]]
        frames = inside.count("python_function") / len(spans)
        made = frames + sum(inside.count(c) for c in ("cpu_op", "user_annotation", "cuda_runtime", "cuda_driver")) / len(spans)
        every = CASES[case][2] or 1
        longer = typical([d * 1000 for _, d in spans], every) - plain[case, side]
        print(f"| {trace.name.split('.')[0]} | {made:.0f} | {frames:.0f} | {longer:.1f} ms | {longer / made * 1e3:.1f} us |")


if __name__ == "__main__":
    {"records": records}.get(sys.argv[3] if len(sys.argv) > 3 else "", predictions)(sys.argv[1], pathlib.Path(sys.argv[2]))
