#!/usr/bin/env python3
"""Traces of shapes that no recording has, and how the commands' time grows with them.

  hostile_shapes.py write SHAPE N FILE     writes one
  hostile_shapes.py grow GAPSCOPE [--shapes A,B] [--commands C,D] [--limit SECONDS]
      runs the commands on every shape, on twice as many events as long as that takes little, then on n and on 4n; what takes
      more than 5 times as long on 4n is printed with a star, since that is no n log n.
"""
import argparse
import json
import math
import os
import resource
import signal
import subprocess
import sys
import tempfile

COMMANDS = ["info", "why", "diagnose", "kernels", "gpu", "steps", "launches", "memory", "table", "flops", "diff", "screenshot"]


def slice_(ts, dur, name="aten::mm", cat="cpu_op", pid=1, tid=1, **args):
    e = {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur}
    if args:
        e["args"] = {k.replace("_", " ") if k in ("External_id",) else k: v for k, v in args.items()}
    return e


def call(ts, dur, corr, tid=1, ext=0, name="cudaLaunchKernel"):
    return slice_(ts, dur, name, "cuda_runtime", 1, tid, correlation=corr, **{"External id": ext})


def kernel(ts, dur, corr, name="k", dev=0, stream=7, ext=0, **more):
    return slice_(ts, dur, name, "kernel", dev, stream, device=dev, stream=stream, correlation=corr, **{"External id": ext},
                  **{"grid": [8, 1, 1], "block": [64, 1, 1], "blocks per SM": 0.5, "est. achieved occupancy %": 10, "registers per thread": 16,
                     "shared memory": 0, **more})


def launched(n, **change):
    """n operators with a call and a kernel each."""
    out = []
    for i in range(n):
        c = {k: (v(i) if callable(v) else v) for k, v in change.items()}
        t = 10 * i
        out.append(slice_(t, 9, c.get("op", "aten::mm"), **{"External id": c.get("ext", i + 1)}))
        out.append(call(t + 1, 3, c.get("corr", i + 1), ext=c.get("ext", i + 1), name=c.get("call", "cudaLaunchKernel")))
        out.append(kernel(c.get("begin", t + 5), c.get("dur", 4), c.get("corr", i + 1), c.get("name", "k"), c.get("dev", 0), c.get("stream", 7),
                          c.get("ext", i + 1)))
    return out


def memory(n, op_every=1):
    out = []
    for i in range(n):
        out.append({"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "ts": 2 * i,
                    "args": {"Total Reserved": 1 << 30, "Total Allocated": 512 * (i % 1000), "Bytes": 512 if i % 2 == 0 else -512, "Addr": 4096 + i // 2,
                             "Device Id": 0, "Device Type": 1}})
    return out


def flow(ph, ts, id_, tid=1, cat="ac2g", pid=1):
    e = {"ph": ph, "id": id_, "cat": cat, "name": cat, "pid": pid, "tid": tid, "ts": ts}
    if ph == "f":
        e["bp"] = "e"
    return e


def shapes():
    s = {}
    s["plain"] = lambda n: launched(n)
    s["overlapping"] = lambda n: [slice_(i, n) for i in range(n)]
    s["overlapping_calls"] = lambda n: [call(i, n, i + 1) for i in range(n)] + [kernel(n + 2 * i, 1, i + 1) for i in range(n)]
    s["overlapping_ops_and_launches"] = lambda n: [slice_(i, 2 * n) for i in range(n)] + [call(i + 0.5, 0.2, i + 1) for i in range(n)] + \
        [kernel(n + 2 * i, 1, i + 1) for i in range(n)]
    s["overlapping_kernels"] = lambda n: [kernel(i, n, i + 1) for i in range(n)]
    s["overlapping_python"] = lambda n: [slice_(i, n, "f.py(1): g", "python_function") for i in range(n)]
    s["async"] = lambda n: [{"ph": p, "cat": "a", "id": i, "name": "span", "pid": 1, "tid": 1, "ts": i + (n if p == "e" else 0)} for i in range(n) for p in "be"]
    s["async_one_id"] = lambda n: [{"ph": p, "cat": "a", "id": 1, "name": "span", "pid": 1, "tid": 1, "ts": i + (n if p == "e" else 0)} for i in range(n) for p in "be"]
    s["begin_end"] = lambda n: [{"ph": p, "cat": "cpu_op", "name": "span", "pid": 1, "tid": 1, "ts": i if p == "B" else 2 * n - i} for i in range(n) for p in "BE"]
    s["begin_only"] = lambda n: [{"ph": "B", "cat": "cpu_op", "name": "span", "pid": 1, "tid": 1, "ts": i} for i in range(n)]
    s["nested"] = lambda n: [slice_(i, 2 * n - 2 * i) for i in range(n)]
    s["nested_names"] = lambda n: [slice_(i, 2 * n - 2 * i, f"op{i}") for i in range(n)]
    s["nested_python"] = lambda n: [slice_(i, 2 * n - 2 * i, f"f.py({i}): g", "python_function") for i in range(n)]
    s["nested_launches"] = lambda n: [slice_(i, 3 * n - 2 * i, f"op{i % 7}") for i in range(n)] + [call(n + i / n, 0.5 / n, i + 1) for i in range(n)] + \
        [kernel(2 * n + 2 * i, 1, i + 1) for i in range(n)]
    s["nested_launch_each"] = lambda n: [slice_(i, 6 * n - 2 * i, f"op{i}") for i in range(n)] + [call(i + 0.25, 0.5, i + 1) for i in range(n)] + \
        [kernel(6 * n + 2 * i, 1, i + 1) for i in range(n)]
    s["nested_compile"] = lambda n: [slice_(i, 2 * n - 2 * i, "_compile.compile_inner (dynamo_timed)" if i % 2 else "Torch-Compiled Region: 0/0",
                                            "user_annotation" if i % 2 else "cpu_op") for i in range(n)]
    s["nested_regions_launches"] = lambda n: [slice_(i, 6 * n - 2 * i, "Torch-Compiled Region: 0/0", "cpu_op") for i in range(n)] + \
        [call(i + 0.25, 0.5, i + 1) for i in range(n)] + [kernel(6 * n + 2 * i, 1, i + 1) for i in range(n)]
    s["unfinished"] = lambda n: [slice_(i, 2 * n - i, f"op{i % 5}", finished=False) for i in range(n)]
    s["nested_memory"] = lambda n: [slice_(i / n, 4 * n - 2 * i / n, "aten::x") for i in range(n)] + \
        [slice_(2 * i + 1.5, 1, f"op{i % 3}") for i in range(n)] + memory(n)
    s["overlapping_memory"] = lambda n: [slice_(i, n, f"op{i % 3}") for i in range(n)] + memory(n)
    s["one_instant"] = lambda n: [slice_(5, 0) for i in range(n)]
    s["one_span"] = lambda n: [slice_(5, 5) for i in range(n)]
    s["one_instant_launched"] = lambda n: [slice_(5, 0, **{"External id": i + 1}) for i in range(n)] + [call(5, 0, i + 1, ext=i + 1) for i in range(n)] + \
        [kernel(5, 0, i + 1, ext=i + 1) for i in range(n)]
    s["lanes"] = lambda n: [slice_(i, 1, tid=i) for i in range(n)]
    s["lanes_two"] = lambda n: [slice_(t, 1, tid=i) for i in range(n) for t in (i, 3 * n - i)]
    s["lanes_far"] = lambda n: [slice_(5e6 * ((i * 7919) % n + k * n), 1, tid=i) for i in range(n) for k in (0, 1)]
    s["lanes_named"] = lambda n: [{"ph": "M", "name": "thread_name", "pid": 1, "tid": i, "args": {"name": f"thread {i} (x)"}} for i in range(n)] + \
        [slice_(i, 1, tid=i) for i in range(n)]
    s["lanes_launching"] = lambda n: [slice_(10 * i, 8, tid=i, **{"External id": i + 1}) for i in range(n)] + [call(10 * i + 1, 2, i + 1, i, i + 1) for i in range(n)] + \
        [kernel(10 * i + 4, 3, i + 1, ext=i + 1) for i in range(n)]
    s["processes"] = lambda n: [slice_(i, 1, pid=i) for i in range(n)]
    s["processes_counters"] = lambda n: [{"ph": "C", "name": "c", "pid": i, "tid": 1, "ts": i, "args": {"v": i}} for i in range(n)]
    s["counters"] = lambda n: [{"ph": "C", "name": f"c{i}", "pid": 1, "tid": 1, "ts": i, "args": {"v": i}} for i in range(n)]
    s["counter_series"] = lambda n: [{"ph": "C", "name": "c", "pid": 1, "tid": 1, "ts": i, "args": {f"v{i}": i}} for i in range(n)]
    s["counter"] = lambda n: [{"ph": "C", "name": "c", "pid": 1, "tid": 1, "ts": n - i, "args": {"v": i}} for i in range(n)]
    s["devices"] = lambda n: launched(n, dev=lambda i: i)
    s["devices_in_steps"] = lambda n: [slice_(100 * i, 100, f"ProfilerStep#{i}", "user_annotation") for i in range(n // 10)] + launched(n, dev=lambda i: i % 1000)
    s["devices_with_graphs"] = lambda n: [kernel(10 * i, 4, i + 1, dev=i // 2, stream=i, **{"graph id": 3, "graph node id": i}) for i in range(n)]
    s["overlapping_on_devices"] = lambda n: [slice_(i, n) for i in range(n)] + \
        [call(2 * i + d / 40, 0.01, 40 * i + d + 1) for i in range(n // 40) for d in range(40)] + \
        [kernel(2 * i + 1 + d / 40, 0.5, 40 * i + d + 1, dev=d) for i in range(n // 40) for d in range(40)]
    s["overlapping_in_steps"] = lambda n: [slice_(i, n) for i in range(n)] + \
        [slice_(20 * i, 20, f"ProfilerStep#{i}", "user_annotation", tid=2) for i in range(n // 10)] + \
        [call(2 * i, 0.5, i + 1, tid=2) for i in range(n)] + [kernel(2 * i + 1, 0.5, i + 1, dev=i % 8) for i in range(n)]
    s["stairs_apart"] = lambda n: [slice_(3 * i, 1) for i in range(n)] + [slice_(3 * n + i, n, "aten::x") for i in range(n)] + \
        [call(3 * i + 0.5, 0.2, i + 1) for i in range(n)] + [kernel(3 * i + 1, 0.5, i + 1) for i in range(n)]
    s["streams"] = lambda n: launched(n, stream=lambda i: i)
    s["streams_with_gaps"] = lambda n: [slice_(10 * i, 8) for i in range(n)] + [call(10 * i + 1, 5, i + 1) for i in range(n)] + \
        [kernel(1 if i < n // 2 else 10 * n + i, 1, (i + n // 2) % n + 1, stream=i % (n // 2)) for i in range(n)]
    s["streams_graph"] = lambda n: [kernel(i, n, i + 1, stream=i, **{"graph id": 3, "graph node id": i}) for i in range(n)]
    s["one_correlation"] = lambda n: launched(n, corr=5)
    s["one_external_id"] = lambda n: launched(n, ext=5)
    s["far_ids"] = lambda n: launched(n, ext=lambda i: (i + 1) << 40, corr=lambda i: (i + 1) << 40)
    s["deep_queue"] = lambda n: [call(i, 0.5, i + 1) for i in range(n)] + [kernel(n + 2 * i, 1, i + 1) for i in range(n)]
    s["deep_queue_on_devices"] = lambda n: [call(i, 0.5, i + 1) for i in range(n)] + [kernel(n + 2 * i, 1, i + 1, dev=i % 40) for i in range(n)]
    s["deep_queue_in_waits"] = lambda n: [call(i, 0.5, i + 1) for i in range(n)] + [kernel(n + 2 * i, 1, i + 1) for i in range(n)] + \
        [call(n + 2 * i, 1.5, 0, name="cudaStreamSynchronize") for i in range(n)]
    s["deep_queue_steps"] = lambda n: [slice_(100 * i, 100, f"ProfilerStep#{i}", "user_annotation") for i in range(n // 100)] + \
        [call(i, 0.5, i + 1) for i in range(n)] + [kernel(n + 2 * i, 1, i + 1) for i in range(n)]
    s["steps"] = lambda n: [slice_(10 * i, 10, f"ProfilerStep#{i}", "user_annotation") for i in range(n)] + launched(n)
    s["steps_at_once"] = lambda n: [slice_(i / n, 10 * n, f"ProfilerStep#{i}", "user_annotation") for i in range(n)] + launched(n)
    s["steps_far"] = lambda n: [slice_(10 * i, 10, f"ProfilerStep#{i}", "user_annotation") for i in range(n)] + \
        [call(10 * i + 1, 2, i + 1) for i in range(n)] + [kernel(10 * n + 10 * i, 5, i + 1) for i in range(n)]
    s["annotations"] = lambda n: [slice_(10 * i, 10, f"span {i}", "user_annotation") for i in range(n)] + launched(n)
    s["gpu_annotations"] = lambda n: [slice_(10 * i, 100, f"span {i}", "gpu_user_annotation", 0, 7) for i in range(n)] + launched(n)
    s["names"] = lambda n: launched(n, op=lambda i: f"op {i}", name=lambda i: f"kernel_{i}", call=lambda i: f"cudaLaunchKernel_v{i}")
    s["kernel_names"] = lambda n: launched(n, name=lambda i: f"void at::native::vectorized_elementwise_kernel<4, at::native::F{i}<float> >(int)")
    s["kernel_of_many_operators"] = lambda n: launched(n, op=lambda i: f"op {i}")
    s["gemm_names"] = lambda n: launched(n, name=lambda i: f"ampere_sgemm_128x64_tn_{i}", op="aten::mm")
    s["shapes"] = lambda n: [slice_(10 * i, 9, "aten::mm", **{"Input Dims": [[i, 8], [8, i]], "Input type": ["float", "float"], "External id": i + 1}) for i in range(n)]
    s["sequence"] = lambda n: [slice_(10 * i, 9, "aten::mm", **{"Sequence number": 5, "External id": i + 1}) for i in range(n)]
    s["categories"] = lambda n: [slice_(i, 1, cat=f"c{i % 60000}") for i in range(n)]
    s["flows_one_id"] = lambda n: [slice_(i, 1) for i in range(n)] + [flow("s" if i % 2 == 0 else "f", i, 1) for i in range(n)]
    s["flows_steps"] = lambda n: [slice_(i, 1) for i in range(n)] + [flow("t", i, 1) for i in range(n)]
    s["flows_one_start"] = lambda n: [slice_(i, 1) for i in range(n)] + [flow("s", 0, 1)] + [flow("f", i, 1) for i in range(n)]
    s["flows_at_one_instant"] = lambda n: [slice_(5, 5) for i in range(n)] + [flow("sf"[i % 2], 5, i // 2) for i in range(n)]
    s["flows_at_two_instants"] = lambda n: [slice_(5 + i % 2, 0) for i in range(n)] + [flow("sf"[i % 2], 5 + i % 2, i // 2) for i in range(n)]
    s["flows_enclosed"] = lambda n: [slice_(0, 4 * n)] + [slice_(2 * i + 1, 0.5) for i in range(n)] + [flow("sf"[i % 2], 2 * n + 0.25 + i / n, i // 2) for i in range(n)]
    s["flows_in_staggered"] = lambda n: [slice_(i, n) for i in range(n)] + [flow("sf"[i % 2], i + 0.5, i // 2) for i in range(n)]
    s["flows_unbound"] = lambda n: [slice_(0, 1)] + [flow("sf"[i % 2], 5 + i, i) for i in range(n)]
    s["flow_kinds"] = lambda n: [slice_(i, 1) for i in range(n)] + [flow("sf"[i % 2], i, i // 2, cat=f"c{i // 2}") for i in range(n)]
    s["memory"] = lambda n: memory(n) + [slice_(4 * i, 3) for i in range(n // 2)]
    s["memory_devices"] = lambda n: [{**m, "args": {**m["args"], "Device Id": i % 30000}} for i, m in enumerate(memory(n))]
    s["memory_operators"] = lambda n: memory(n) + [slice_(4 * i, 3, f"op {i}") for i in range(n // 2)]
    s["instants"] = lambda n: [{"ph": "i", "s": "gpt"[i % 3], "name": f"mark {i}", "pid": 1, "tid": i % 7, "ts": n - i} for i in range(n)]
    s["overheads"] = lambda n: [slice_(i, 1, "Activity Buffer Request", "overhead", -1, 0) for i in range(n)] + launched(n)
    s["overheads_long"] = lambda n: [slice_(i, 2 * n, "Activity Buffer Request", "overhead", -1, 0) for i in range(n)] + launched(n)
    s["syncs"] = lambda n: [call(10 * i + 4, 6, 0, name="cudaDeviceSynchronize") for i in range(n)] + launched(n)
    s["syncs_long"] = lambda n: [call(i, n, 0, tid=2, name="cudaStreamSynchronize") for i in range(n)] + launched(n)
    s["copies"] = lambda n: [call(10 * i, 3, i + 1, name="cudaMemcpyAsync") for i in range(n)] + \
        [slice_(10 * i + 4, 5, "Memcpy DtoH (Device -> Pageable)", "gpu_memcpy", 0, 7, device=0, stream=7, correlation=i + 1, bytes=1 << 20) for i in range(n)]
    s["graph_launches"] = lambda n: [call(0, 3, 1, name="cudaGraphLaunch")] + [kernel(4 + i, 1, 1, **{"graph id": 1, "graph node id": i}) for i in range(n)]
    s["collectives"] = lambda n: launched(n, op="nccl:all_reduce", name="ncclDevKernel_AllReduce_Sum_f32", stream=lambda i: i % 2)
    s["compiled_graphs"] = lambda n: [slice_(10 * i, 9, f"## Call CompiledFxGraph {i} ##") for i in range(n)] + launched(n, op="triton_poi_fused_add_0")
    s["children"] = lambda n: [slice_(0, 20 * n, "Torch-Compiled Region: 0/0", "cpu_op")] + launched(n)
    s["regions"] = lambda n: [slice_(0, 20 * n, "outer", "cpu_op")] + [slice_(10 * i, 8, "Torch-Compiled Region: %d/0" % i, "cpu_op") for i in range(n)] + \
        [call(10 * i + 1, 2, i + 1) for i in range(n)] + [kernel(10 * i + 4, 3, i + 1) for i in range(n)]
    s["long_names"] = lambda n: [slice_(5, 5, "a" * (n * 50)), kernel(20, 5, 1, "void at::native::" + "f<" * (n * 12) + ">" * (n * 12)), kernel(30, 5, 2, "_Z" + "N3foo" * (n * 10)),
                                 kernel(40, 5, 3, "(" * (n * 50)), kernel(50, 5, 4, "gemm_" + "128x" * (n * 10)), kernel(60, 5, 5, "triton_poi_fused_" + "add_" * (n * 12))]
    s["name_of_many_mb"] = lambda n: [slice_(5, 5, "a" * (n * 500)), call(6, 1, 1, name="c" * (n * 500)), kernel(20, 5, 1, "k" * (n * 500))]
    s["long_category"] = lambda n: [{"ph": p, "cat": "a" * (n * 20), "id": i, "name": "x", "pid": 1, "tid": 1, "ts": i} for i in range(8) for p in "be"] + \
        [{"ph": p, "cat": "b", "id": i, "name": "x", "pid": "p" * (n * 20), "tid": "t" * (n * 20), "ts": i} for i in range(8) for p in "be"]
    s["long_thread_name"] = lambda n: [{"ph": "M", "name": "thread_name", "pid": 1, "tid": "a" * (n * 25) + "b", "args": {"name": "a" * (n * 50)}}, slice_(0, 1, tid="a" * (n * 25) + "b"),
                                       {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "ab" * (n * 25)}}]
    s["long_dims"] = lambda n: [slice_(10 * i, 9, "aten::mm", **{"Input Dims": [[8] * (n * 5), [[8]] * (n * 2)], "Input type": ["float"] * n, "External id": i + 1}) for i in range(3)]
    s["staggered_far"] = lambda n: [slice_(i * i, n * i + 1, f"op{i % 11}") for i in range(n)]
    s["stairs"] = lambda n: [slice_(i - (i % 300), 301 + i % 300, f"op{i % 11}") for i in range(n)]
    return s


def write(shape, n, path):
    with open(path, "w") as f:
        f.write('{"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H200", "totalGlobalMem": 150000000000, "computeMajor": 9, "computeMinor": 0,'
                ' "maxThreadsPerBlock": 1024, "maxThreadsPerMultiprocessor": 2048, "regsPerBlock": 65536, "warpSize": 32, "sharedMemPerBlock": 49152,'
                ' "numSms": 132, "regsPerMultiprocessor": 65536, "sharedMemPerBlockOptin": 232448, "sharedMemPerMultiprocessor": 233472}],\n"traceEvents": [\n')
        f.write(",\n".join(json.dumps(e) for e in shapes()[shape](n)))
        f.write("\n]}\n")


def seconds(command, limit):
    """User and system time, or None when that is more than `limit`, however busy the machine is. Raises where the command fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=100 * limit,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(limit), math.ceil(limit))))
    except subprocess.TimeoutExpired:
        return None
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode in (-signal.SIGKILL, -signal.SIGXCPU):
        return None
    if done.returncode not in (0, 1, 2):
        raise RuntimeError(f"{' '.join(command)}: {done.returncode} {done.stderr[-300:]}")
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def arguments(gapscope, command, path, folder):
    if command == "diff":
        return [gapscope, "diff", path, path]
    if command == "screenshot":
        return [gapscope, "screenshot", path, "-o", os.path.join(folder, "x.png")]
    return [gapscope, command, path]


def grow(options):
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        small, large = os.path.join(folder, "small.json"), os.path.join(folder, "large.json")
        for shape in options.shapes.split(",") if options.shapes else shapes():
            write(shape, options.n, small)
            write(shape, 4 * options.n, large)
            for command in options.commands.split(","):
                try:
                    a = seconds(arguments(options.gapscope, command, small, folder), options.limit)
                    b = seconds(arguments(options.gapscope, command, large, folder), options.limit) if a is not None else None
                except RuntimeError as e:
                    wrong += 1
                    print(f"* {shape} {command}: {e}", flush=True)
                    continue
                # The fixed cost of a process and a screen is in both.
                base = 0.35 if command == "screenshot" else 0.02
                bad = a is None or b is None or (b > 0.25 and b - base > 5 * max(a - base, 0.01))
                wrong += bad
                if bad or options.all:
                    show = lambda t: "too long" if t is None else f"{t:.2f} s"
                    print(f"{'*' if bad else ' '} {shape} {command}: {show(a)} -> {show(b)}", flush=True)
    print(f"{wrong} grew too much")
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_subparsers(dest="what", required=True)
    w = what.add_parser("write")
    w.add_argument("shape", choices=shapes())
    w.add_argument("n", type=int)
    w.add_argument("file")
    g = what.add_parser("grow")
    g.add_argument("gapscope")
    g.add_argument("--n", type=int, default=20000)
    g.add_argument("--shapes", default="")
    g.add_argument("--commands", default=",".join(COMMANDS))
    g.add_argument("--limit", type=float, default=20)
    g.add_argument("--all", action="store_true", help="print what grows well too")
    options = parser.parse_args()
    if options.what == "write":
        write(options.shape, options.n, options.file)
        return 0
    return grow(options)


if __name__ == "__main__":
    sys.exit(main())
