#!/usr/bin/env python3
"""`gapscope modules` as a person and a script meet it: its JSON against the truth, its sums, its sentences, its exit codes.

    modules_check.py PROGRAM TRUTH RECORDING...
"""
import json
import pathlib
import subprocess
import sys

KEYS = ("calls", "host_ns", "forward_gpu_ns", "backward_gpu_ns", "self_forward_gpu_ns", "self_backward_gpu_ns")
NO_FRAMES = b'[{"ph":"X","cat":"cpu_op","name":"aten::add","pid":1,"tid":1,"ts":1,"dur":1}]'
HOSTILE = (b'[{"ph":"X","cat":"python_function","name":"nn.Module: \\u001b[31mNet_0","pid":1,"tid":1,"ts":1,"dur":9},'
           b'{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":2,"dur":1,"args":{"correlation":5}},'
           b'{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":4,"dur":3,"args":{"correlation":5,"device":0,"stream":7}}]')


def run(program, *arguments, text=b""):
    done = subprocess.run([program, "modules", *arguments], input=text, capture_output=True, timeout=60)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def self_sum(rows):
    return sum(row["self_forward_gpu_ns"] + row["self_backward_gpu_ns"] for row in rows)


def complaints_about(program, truth, recording):
    code, out, _ = run(program, recording, "--json")
    answer = json.loads(out)
    expected = truth[pathlib.Path(recording).name]
    found = {row["name"]: {key: row[key] for key in KEYS} for row in answer["modules"]}
    if code != 0 or found != expected["modules"] or any(answer[k] != expected[k] for k in ("outside", "linked_gpu_ns")):
        yield f"{recording}: ended with {code}, or is not the truth"
    if any(set(row) != {"name", "class", "parents", "kernels", *KEYS} for row in answer["modules"]):
        yield f"{recording}: keys of a module"
    for way, rows in (("--tree", "tree"), ("--by=class", "classes")):
        answer = json.loads(run(program, recording, "--json", way)[1])
        if self_sum(answer[rows]) + sum(answer["outside"].values()) != answer["linked_gpu_ns"]:
            yield f"{recording}: {rows} do not add up"
        code, out, _ = run(program, recording, way)
        if code != 0 or "LayerNorm" not in out or "of GPU work was launched in this trace" not in out:
            yield f"{recording}: {way} ended with {code}: {out[:200]!r}"


def complaints(program, truth, recordings):
    for recording in recordings:
        yield from complaints_about(program, truth, recording)
    code, out, _ = run(program, "-", text=NO_FRAMES)
    if code != 0 or "with_stack=True, with_modules=True" not in out or out.count("\n") != 1:
        yield f"no frames: {code}, {out!r}"
    code, out, _ = run(program, "-", text=HOSTILE)
    if code != 0 or "\x1b" in out or "Net_0" not in out:
        yield f"a name that steers a terminal: {code}, {out!r}"
    code, _, err = run(program, recordings[0], "--capture", "/no/such/file")
    if code != 1 or err.count("\n") != 1:
        yield f"no capture: {code}, {err!r}"
    if run(program, recordings[0], "--by", "colour")[0] != 2 or run(program, recordings[0], "--by=class", "--tree")[0] != 2:
        yield "bad usage does not end with 2"


def main():
    program, truth, *recordings = sys.argv[1:]
    found = list(complaints(program, json.loads(pathlib.Path(truth).read_text()), recordings))
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
