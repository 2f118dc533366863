#!/usr/bin/env python3
"""Runs the built gapscope-workload.

    workload_check.py without-gpu PROGRAM   with every GPU hidden it ends with one sentence and exit code 1
    workload_check.py every-case PROGRAM    on a GPU every case, variant and type gives the CPU's numbers;
                                            ends with 77 without one
"""
import os
import re
import subprocess
import sys

CASES = [
    ["matmul-add"], ["matmul-add", "--batch", "3"], ["addmm"], ["addmm", "--variant", "copy"], ["bmm"], ["linear"],
    ["geglu-mlp"], ["geglu-mlp", "--train"], ["mul-add"], ["mul-add", "--variant", "fused"], ["softmax-matmul"],
    ["streams"], ["syncs"], ["syncs", "--occupancy-query"],
]
GRAPHS = [["mul-add"], ["matmul-add"], ["linear"], ["geglu-mlp", "--train"]]
SUMMARY = (r"[a-z-]+.*, size \d+, \w+, \d+ steps? of [\d.]+ us in the median, "
           r"\d+ results? equal to the CPU's within rounding")


def run(program, arguments, environment=None):
    return subprocess.run([program, *arguments], capture_output=True, text=True, timeout=120,
                          env={**os.environ, **(environment or {})})


def without_gpu(program):
    done = run(program, ["matmul-add"], {"CUDA_VISIBLE_DEVICES": ""})
    sentence = r"gapscope-workload: There is no CUDA device here \(cudaGetDeviceCount: .+\); .+\.\n"
    if done.returncode != 1 or done.stdout or not re.fullmatch(sentence, done.stderr):
        return [f"exit code {done.returncode}, said {done.stdout!r} and {done.stderr!r}"]
    return []


def has_gpu(program):
    return "There is no CUDA device here" not in run(program, ["mul-add", "--steps", "1"]).stderr


def runs():
    for case in CASES:
        for dtype in ("bf16", "fp16", "fp32", "tf32"):
            yield [*case, "--dtype", dtype]
        yield [*case, "--size", "100", "--warmup", "--schedule", "1,1,2"]  # 100: no multiple of a pack of eight
    for case in GRAPHS:
        yield [*case, "--graph"]
    yield ["mul-add", "--size", "33", "--graph"]


def every_case(program):
    wrong = []
    for arguments in runs():
        done = run(program, arguments)
        if done.returncode != 0 or not re.fullmatch(SUMMARY, done.stdout.strip()):
            said = f"exit code {done.returncode}, said {done.stdout!r} and {done.stderr!r}"
            wrong.append(f"{' '.join(arguments)}: {said}")
    return wrong


if __name__ == "__main__":
    what, program = sys.argv[1:]
    if what == "every-case" and not has_gpu(program):
        print("Skipped: there is no GPU here.")
        sys.exit(77)
    trouble = without_gpu(program) if what == "without-gpu" else every_case(program)
    print("\n".join(trouble) or "As expected.")
    sys.exit(1 if trouble else 0)
