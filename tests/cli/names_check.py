#!/usr/bin/env python3
"""A trace whose every name steers a terminal, turns the direction of writing and breaks lines: no command lets one through.

    names_check.py PROGRAM
"""
import json
import pathlib
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


def complaints(program, folder):
    path = folder / "evil\u202egpj.json"
    path.write_text(json.dumps(trace()))
    for command in commands(str(path), folder):
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
