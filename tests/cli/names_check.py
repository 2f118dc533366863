#!/usr/bin/env python3
"""A trace whose every name steers a terminal, turns the direction of writing and breaks lines: no command lets one through.

    names_check.py PROGRAM
"""
import json
import pathlib
import pickle
import sqlite3
import subprocess
import sys
import tempfile

EVIL = "\u202egnp.x\u2066\u2028\x1b]0;owned\x07\x9b31m\u200f\ufeff\u2060\xad\U000e0041"
SEEN = [bytes([c]) for c in range(32) if chr(c) not in "\n"] + [b"\x7f"] + [c.encode() for c in "\u202e\u2066\u2028\x9b\u200f\ufeff\u2060\xad\U000e0041"]


def trace():
    """Two steps of an operator, its launch and its kernel, a module, a copy, memory: names of theirs and in their args."""
    events = [{"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "ts": 0, "args": {"name": "python" + EVIL}},
              {"ph": "M", "name": "process_labels", "pid": 1, "tid": 0, "ts": 0, "args": {"labels": "CPU" + EVIL}},
              {"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "ts": 0, "args": {"name": "main" + EVIL}},
              {"ph": "i", "s": "t", "name": "[memory]", "pid": 1, "tid": 1, "ts": 5, "args": {"Total Allocated": 1 << 30, "Bytes": 1 << 30, "Device Id": 0, "Device Type": 1, "Addr": 77}},
              {"ph": "C", "name": "level" + EVIL, "pid": 1, "ts": 2, "args": {"a" + EVIL: 1.5}}]
    slice_of = lambda cat, name, ts, dur, **more: {"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": 1, "ts": ts, "dur": dur, "args": more}
    for i in range(4):
        at = 10_000 * i
        events += [slice_of("user_annotation", f"ProfilerStep#{i}", at, 9_000), slice_of("user_annotation", "part" + EVIL, at, 8_000),
                   slice_of("python_function", f"nn.Module: Linear{EVIL}_0", at + 1, 7_000, **{"Python id": i + 1, "Python module id": 0}),
                   slice_of("cpu_op", "aten::mm" + EVIL, at + 10, 400, **{"External id": i + 10, "Input Dims": [[64, 64], [64, 64]], "Input type": ["float" + EVIL]}),
                   slice_of("cuda_runtime", "cudaLaunchKernel", at + 20, 10, **{"External id": i + 10, "correlation": i + 10}),
                   slice_of("cuda_runtime", "cudaDeviceSynchronize" + EVIL, at + 500, 4_000)]
        for n, (cat, name) in enumerate((("kernel", "gemm" + EVIL), ("gpu_memcpy", "Memcpy HtoD" + EVIL), ("kernel", "ncclDevKernel_AllReduce" + EVIL))):
            events.append({**slice_of(cat, name, at + 100 + 700 * n, 600, **{"External id": i + 10, "device": 0, "stream": 7, "correlation": i + 10, "bytes": 1 << 20,
                                                                             "Collective name": "allreduce" + EVIL, "Process Group Name": EVIL, "grid": [8, 8, 1], "block": [256, 1, 1]}), "pid": 0, "tid": 7})
    return {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "H200" + EVIL, "numSms": 132}], "distributedInfo": {"backend": EVIL, "rank": 0, "world_size": 2},
            "note" + EVIL: EVIL, "traceEvents": events}


def commands(path, folder):
    for command in ("info", "overview", "diagnose", "why", "table", "kernels", "modules", "compile", "gpu", "steps", "launches", "flops", "roofline", "counters", "memory", "ranks"):
        yield [command, path]
        yield [command, path, "--json"]
    yield ["diagnose", path, "--all"]
    yield ["why", path, "--by-step"]
    yield ["modules", path, "--tree"]
    yield ["modules", path, "--by", "class"]
    yield ["diff", path, path]
    yield ["diff", path, path, "--json"]
    for table in ("slice", "thread", "process", "args", "kernel", "op", "step", "finding", "device", "metadata", "counter", "rank", "collective"):
        yield ["sql", path, f"select * from {table}"]
        yield ["sql", path, f"select * from {table}", "--json"]
    yield ["sql", path, f"select 1 as '{EVIL}'"]
    yield ["sql", path, f"select nothing from {EVIL}"]
    yield ["whatif", path, "--no-wait", "--kernel", "gemm.*=0.5"]
    yield ["whatif", path, "--kernel", f"{EVIL}=0.5"]
    yield ["whatif", path, "--remove", "aten::mm*"]
    yield ["whatif", path, "--remove", EVIL, "--json"]
    yield ["crop", path, "-o", str(folder / "part.json"), "--lanes", "main"]
    yield ["crop", path, "-o", str(folder / "part.json"), "--lanes", "nobody" + EVIL]
    yield ["screenshot", path, "-o", str(folder / "x.png"), "--select", "nobody" + EVIL]
    yield ["info", str(folder / ("missing" + EVIL))]
    yield ["info" + EVIL]
    yield ["table", path, "--limit", EVIL]


def snapshot():
    """One GPU whose memory is held, and was not enough once."""
    frames = [{"name": "step" + EVIL, "filename": f"/x/train{EVIL}.py", "line": 3}]
    event = lambda action, **more: {"action": action, "addr": 4096, "size": 1024, "stream": 0, "time_us": 5, "frames": frames, **more}
    blocks = [{"address": 4096, "size": 1024, "requested_size": 1000, "state": "active_allocated", "frames": frames}]
    return {"segments": [{"device": 0, "address": 4096, "total_size": 2 << 20, "stream": 0, "segment_type": "large" + EVIL, "blocks": blocks}],
            "device_traces": [[event("alloc"), event("oom", device_free=100), event("free" + EVIL)]],
            "external_annotations": [{"name": "Optimizer.step" + EVIL, "device": 0, "time_us": 5, "stage": "END"}],
            "allocator_settings": {"a" + EVIL: "b" + EVIL, "PYTORCH" + EVIL: True}}


def nsight(path):
    base = sqlite3.connect(path)
    for table, columns, *rows in (
            ("StringIds", "id INTEGER PRIMARY KEY, value TEXT", (1, "gemm" + EVIL), (2, "cudaLaunchKernel" + EVIL), (3, "thread" + EVIL)),
            ("PROCESSES", "globalPid INT, name TEXT", (1000 << 24, "python" + EVIL)), ("ThreadNames", "nameId INT, globalTid INT", (3, 1000 << 24 | 1000)),
            ("TARGET_INFO_GPU", "id INT, name TEXT, smCount INT", (0, "H100" + EVIL, 132)),
            ("META_DATA_CAPTURE", "name TEXT, value TEXT", ("PROCESS_0:COMMAND", "python" + EVIL)), ("META_DATA_EXPORT", "name TEXT, value TEXT", ("EXPORT_PRODUCT_VERSION", EVIL)),
            ("DIAGNOSTIC_EVENT", "severity INT, text TEXT", (3, "lost" + EVIL)),
            ("CUPTI_ACTIVITY_KIND_KERNEL", "start INT, end INT, deviceId INT, contextId INT, streamId INT, correlationId INT, globalPid INT, demangledName INT", (900, 5000, 0, 1, 7, 5, 1000 << 24, 1)),
            ("CUPTI_ACTIVITY_KIND_RUNTIME", "start INT, end INT, globalTid INT, correlationId INT, nameId INT", (100, 500, 1000 << 24 | 1000, 5, 2)),
            ("NVTX_EVENTS", "start INT, end INT, eventType INT, globalTid INT, text TEXT, jsonText TEXT", (50, 9000, 59, 1000 << 24 | 1000, "step" + EVIL, json.dumps({EVIL: EVIL})))):
        base.execute(f"CREATE TABLE {table} ({columns})")
        for row in rows:
            base.execute(f"INSERT INTO {table} VALUES ({','.join('?' * len(row))})", row)
    base.commit()
    base.close()


def rocprof():
    return {"rocprofiler-sdk-tool": [{
        "metadata": {"pid": 4000, "command": ["app" + EVIL]}, "agents": [{"id": {"handle": 3}, "type": 2, "logical_node_type_id": 0, "product_name": "MI300X" + EVIL, "name": "gfx" + EVIL}],
        "strings": {"buffer_records": [{"kind": "HIP" + EVIL, "operations": ["hipLaunchKernel" + EVIL]}], "marker_api": [{"key": 7, "value": "step" + EVIL}]},
        "kernel_symbols": [{"kernel_id": 2, "formatted_kernel_name": "gemm" + EVIL}],
        "buffer_records": {"hip_api": [{"kind": 0, "operation": 0, "thread_id": 4000, "correlation_id": {"internal": 1}, "start_timestamp": 10, "end_timestamp": 20}],
                           "marker_api": [{"kind": 0, "operation": 0, "thread_id": 4000, "correlation_id": {"internal": 7}, "start_timestamp": 1, "end_timestamp": 99}],
                           "kernel_dispatch": [{"correlation_id": {"internal": 1}, "start_timestamp": 30, "end_timestamp": 90, "dispatch_info": {"agent_id": {"handle": 3}, "kernel_id": 2}}]}}]}


def other_files(folder):
    """The same of files that are no JSON of a profiler of PyTorch."""
    held, sqlite, rocm = (str(folder / f"evil\u202e.{end}") for end in ("pickle", "sqlite", "json"))
    pathlib.Path(held).write_bytes(pickle.dumps(snapshot(), protocol=2))
    pathlib.Path(rocm).write_text(json.dumps(rocprof(), ensure_ascii=False))
    nsight(sqlite)
    for more in ([], ["--json"], ["--at", "peak"], ["--at", "oom"], ["--at", EVIL], ["--before", held], ["--before", held, "--json"]):
        yield ["snapshot", held, *more]
    yield ["info", held]
    yield ["overview", held]
    for path in (sqlite, rocm):
        for command in ("info", "overview", "diagnose", "why", "table", "kernels", "gpu", "launches", "whatif"):
            yield [command, path]
            yield [command, path, "--json"]
        yield ["sql", path, "select * from slice"]
        yield ["sql", path, "select * from metadata"]
        yield ["sql", path, "select * from args"]


def complaints(program, folder):
    path = folder / "evil\u202egpj.json"
    path.write_text(json.dumps(trace()))
    for command in [*commands(str(path), folder), *other_files(folder)]:
        done = subprocess.run([program, *command], capture_output=True, timeout=60)
        for stream, text in (("stdout", done.stdout), ("stderr", done.stderr)):
            let_through = sorted({one for one in SEEN if one in text})
            if let_through:
                at = min(text.index(one) for one in let_through)
                yield f"{' '.join(command)!a} to {stream}: {let_through} in {text[max(0, at - 60):at + 40]!r}"
        if done.returncode not in (0, 1, 2, 3):
            yield f"{command!a} ended with {done.returncode}"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        found = list(complaints(sys.argv[1], pathlib.Path(name)))
    print("\n".join(found) or "No name steers a terminal.")
    sys.exit(1 if found else 0)
