#!/usr/bin/env python3
"""Recomputes operations and bytes of the main families from the raw JSON, and holds `gapscope roofline --json` against it.

    roofline_check.py GAPSCOPE FILE_OR_FOLDER...

Each row that a formula below covers must state the same work of one call, within 0.1 %; bytes that counters measured must be what
DRAM's series say of the row's kernels, within 5 %; calls must be in the file, those of replayed graphs in the file next to it that
captured them; no row may read above 100 %; of recordings with shapes 95 % must be counted; what rows sum to must be what is stated.
What --csv, --module and --step print must sum alike.
"""
import bisect
import csv
import functools
import gzip
import io
import json
import lzma
import math
import pathlib
import subprocess
import sys

from sample import some

BYTES = {"double": 8, "long int": 8, "float": 4, "int": 4, "c10::Half": 2, "c10::BFloat16": 2, "short int": 2, "bool": 1,
         "unsigned char": 1, "signed char": 1, "c10::Float8_e4m3fn": 1, "c10::Float8_e5m2": 1}
ONE = {"neg", "sqrt", "rsqrt", "silu", "gelu", "relu", "clamp_min", "pow", "cos", "sin", "exp", "sigmoid", "tanh"}
TWO = {"add", "sub", "mul", "div", "gelu_backward", "silu_backward", "threshold_backward"}
LARGEST = 64 << 20  # of a packed file
SAMPLE = 25  # recordings, of about 75
LEAST_COVERAGE = 0.95  # of recordings with shapes


@functools.lru_cache(maxsize=1)
def events_of(path):
    opener = {".gz": gzip.open, ".xz": lzma.open}.get(path.suffix, open)
    with opener(path, "rt", encoding="utf-8", errors="replace") as file:
        data = json.load(file)
    return data["traceEvents"] if isinstance(data, dict) else data


def is_tensor(kind):
    return kind in BYTES


def result_of(shapes):
    """Sizes as NumPy broadcasts them."""
    out = []
    for shape in shapes:
        shape = list(shape)
        rank = max(len(out), len(shape))
        out = [1] * (rank - len(out)) + out
        shape = [1] * (rank - len(shape)) + shape
        out = [b if a == 1 else a for a, b in zip(out, shape)]
    return out


def product(dims, types, a, b, bias):
    lead, k, n = dims[a][:-1], dims[a][-1], dims[b][-1]
    results = math.prod(lead) * n
    has_bias = bias is not None and bool(dims[bias])
    moved = (math.prod(dims[a]) + math.prod(dims[b]) + results) * BYTES[types[a]]
    return 2 * results * k + (results if has_bias else 0), moved + (math.prod(dims[bias]) * BYTES[types[bias]] if has_bias else 0)


def elementwise(name, dims, types, inputs):
    used = [(d, t) for d, t in list(zip(dims, types))[:inputs] if is_tensor(t)]
    result = math.prod(result_of([d for d, _ in used]))
    floats = [(bool(d), t in ("float", "double", "c10::Half", "c10::BFloat16"), BYTES[t]) for d, t in used]
    rank = max((sized, floating) for sized, floating, _ in floats)
    width = BYTES[types[0]] if name.endswith("_") else max(b for sized, floating, b in floats if (sized, floating) == rank)
    return result, sum(math.prod(d) * BYTES[t] for d, t in used) + result * width


def norm(dims, types, values):
    count, channels, width = math.prod(dims[0]), math.prod(json.loads(values[1])), BYTES[types[0]]
    rows = 4 + bool(dims[2]) + (bool(dims[2]) and bool(dims[3]))
    return 6 * channels + 5 * count, (2 * count + rows * channels) * width


def convolution_backward(dims, types, values):
    gradient, data, weight = dims[:3]
    mask = [word == "True" for word in values[10].strip("[]").replace(" ", "").split(",")]
    each = 2 * gradient[0] * math.prod(gradient[2:]) * math.prod(weight)
    moved = sum(math.prod(d) for d in (gradient, data, weight)) * BYTES[types[0]]
    return each * (mask[0] + mask[1]) + mask[2] * math.prod(gradient), \
        moved * (mask[0] + mask[1]) + mask[2] * (math.prod(gradient) + gradient[1]) * BYTES[types[0]]


def expected(name, dims, types, values):
    """(operations, bytes), or None of what this program has no formula for."""
    plain = name.removeprefix("aten::").removesuffix("_")
    if name in ("aten::mm", "aten::bmm"):
        return product(dims, types, 0, 1, None)
    if name in ("aten::addmm", "aten::baddbmm"):
        return product(dims, types, 1, 2, 0)
    if name == "aten::copy_":
        return 0, math.prod(dims[0]) * BYTES[types[0]] + math.prod(dims[1]) * BYTES[types[1]]
    if name == "aten::fill_":
        return math.prod(dims[0]), math.prod(dims[0]) * BYTES[types[0]]
    if name.startswith("aten::") and plain in ONE:
        return elementwise(name, dims, types, 1)
    if name.startswith("aten::") and plain in TWO:
        return elementwise(name, dims, types, 2)
    if name == "aten::layer_norm" and values:
        return norm(dims, types, values)
    if name == "aten::convolution_backward" and values:
        return convolution_backward(dims, types, values)
    if name == "aten::_scaled_dot_product_flash_attention" and values:
        (b, h, n, d), (_, kv, m, _), (_, _, _, e) = dims[:3]
        pairs = n * m * (0.5 if values[4] == "True" and n == m else 1)
        return 2 * b * h * pairs * (d + e), BYTES[types[0]] * b * (h * n * (d + e) + kv * m * (d + e))
    return None


def asked(program, path, *more):
    return subprocess.run([program, "roofline", str(path), *more], capture_output=True, text=True, check=True).stdout


def calls_of(path):
    """Concrete Inputs of each operator with its shapes and types."""
    calls = {}
    for event in events_of(path):
        args = event.get("args") if isinstance(event, dict) else None
        if isinstance(args, dict) and event.get("ph") == "X" and "Input Dims" in args:
            calls.setdefault((event["name"], json.dumps(args["Input Dims"]), json.dumps(args.get("Input type"))), []).append(
                args.get("Concrete Inputs"))
    return calls


def moved_by_kernels(path):
    """What DRAM moved a call, by operator and shapes: the mean rate while their kernels ran, times their time. Only of operators
    whose kernels all run alone for four samples or more."""
    ops, launches, kernels, rates, interval = [], {}, [], [], None
    for event in events_of(path):
        args = event.get("args") if isinstance(event, dict) else None
        if not isinstance(args, dict):
            continue
        if event.get("name") == "DRAM" and "read GB/s" in args:
            rates.append((event["ts"], args["read GB/s"] + args["write GB/s"]))
        elif event.get("name") == "Counter sampling" and args.get("interval us"):
            interval = args["interval us"]
        elif event.get("cat") == "cpu_op" and "Input Dims" in args:
            ops.append((event["ts"], event["ts"] + event["dur"], event["name"], json.dumps(args["Input Dims"])))
        elif event.get("cat") in ("cuda_runtime", "cuda_driver"):
            launches[args.get("correlation")] = event["ts"]
        elif event.get("cat") == "kernel":
            kernels.append((event["ts"], event["ts"] + event["dur"], args.get("correlation")))
    if not rates or interval is None:
        return {}
    rates.sort()
    times = [at for at, _ in rates]
    found = {}
    for begin, end, correlation in kernels:
        owner = [op for op in ops if op[0] <= launches.get(correlation, -1) < op[1]]
        if not owner:
            continue
        name, dims = owner[-1][2:]
        moved, at = 0.0, max(0, bisect.bisect_right(times, begin) - 1)
        for here in range(at, len(rates)):
            stop = min(end, times[here + 1]) if here + 1 < len(rates) else end
            moved += max(0.0, stop - max(begin, times[here])) * rates[here][1] * 1e3
            if stop >= end:
                break
        alone = all(other[1] <= begin or other[0] >= end for other in kernels if other[2] != correlation)
        entry = found.setdefault((name, dims), [0.0, 0, True])
        entry[0], entry[1] = entry[0] + moved, entry[1] + 1
        entry[2] = entry[2] and alone and end - begin >= 4 * interval
    return {key: moved / count for key, (moved, count, fit) in found.items() if fit}


def complaints(program, path):
    calls = calls_of(path)
    moved = moved_by_kernels(path)
    capture = path.with_name(path.name.replace("execution", "capture"))
    captured = calls_of(capture) if capture != path and capture.is_file() else calls
    answer = json.loads(asked(program, path, "--json"))
    checked = measured = 0
    for row in answer["rows"]:
        key = (row["operator"], json.dumps(row["input_dims"]), json.dumps(row["input_types"]))
        if row["reached"] is not None and not 0 <= row["reached"] <= 1:
            yield f"{key} reads {row['reached']}"
        if row["input_dims"] is None:
            continue
        bytes_moved = moved.get(key[:2])
        if bytes_moved and not math.isclose(row["bytes_measured"] or 0, bytes_moved, rel_tol=0.05):
            yield f"{key} moved {bytes_moved:.0f} bytes a call, stated {row['bytes_measured']}"
        measured += bool(bytes_moved)
        joined = row.get("joined")  # replayed: its calls are in the capture, once for any number of replays
        have = (captured if joined else calls).get(key, [])
        if not have or (not joined and row["count"] > len(have)):
            yield f"{row['count']} calls of {key}, counted {len(have)}"
        works = [expected(row["operator"], row["input_dims"], row["input_types"], values) for values in have[:500]]
        works = [work for work in works if work]
        if not works:
            continue
        checked += 1
        if not any(math.isclose(row["flops"] or 0, f, rel_tol=1e-3) and math.isclose(row["bytes"] or 0, b, rel_tol=1e-3)
                   for f, b in works):
            yield f"{row['flops']} operations and {row['bytes']} bytes of {key}, counted {works[0]}"
    if sum(row["kernel_ns"] for row in answer["rows"]) < answer["kernel_ns"] - answer["without_operator_ns"]:
        yield "rows have less time than kernels"
    if answer["coverage"] is not None and answer["kernel_ns"] > answer["without_operator_ns"]:
        owned = answer["kernel_ns"] - answer["without_operator_ns"]
        if not math.isclose(answer["coverage"], answer["counted_ns"] / owned, rel_tol=1e-9):
            yield "coverage is not counted over owned"
        if "missing" not in answer and answer["coverage"] < LEAST_COVERAGE:
            yield f"only {answer['coverage']:.1%} of the time of kernels with an operator is counted"
    rows = list(csv.DictReader(io.StringIO(asked(program, path, "--csv"))))
    if sum(int(row["kernel_ns"]) for row in rows) != sum(row["kernel_ns"] for row in answer["rows"]):
        yield "--csv sums to something else"
    for way, key in (("--module", "modules"), ("--step", "steps")):
        sums = json.loads(asked(program, path, "--json", way))[key]
        if sum(one["kernel_ns"] for one in sums) != sum(row["kernel_ns"] for row in answer["rows"]):
            yield f"{way} sums to something else"
    print(f"{path.name}: {checked} of {len(answer['rows'])} rows recomputed, {measured} measured, coverage {answer['coverage']}")


def files_of(place):
    if place.is_file():
        return [place]
    return sorted(p for p in place.glob("*.json*") if p.name.endswith((".json.gz", ".json.xz"))) if place.is_dir() else []


def main(program, *places):
    files = [file for place in map(pathlib.Path, places) for file in files_of(place) if file.stat().st_size < LARGEST]
    files = some(files, SAMPLE)
    if not files:
        print("no recording is at hand")
        return 77
    wrong = [f"{path.name}: {line}" for path in files for line in complaints(program, path)]
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
