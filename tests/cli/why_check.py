#!/usr/bin/env python3
"""`gapscope why` as a person and a script meet it: its JSON, its sums, its sentences, its exit codes.

    why_check.py PROGRAM RECORDING...
"""
import json
import subprocess
import sys

PARTS = {"device", "window", "compute", "exposed_communication", "exposed_copies", "idle", "gaps", "longest"}
CUT = b'{"traceEvents": [{"ph":"X","cat":"cpu_op","name":"aten::add","pid":1,"tid":1,"ts":1,"dur":1}, {"ph":"X","cat":"ker'
MULTIMEM = b"""[{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":1,"dur":1,"args":{"correlation":1}},
{"ph":"X","cat":"kernel","name":"void multimem_all_reduce_kernel<float>()","pid":0,"tid":7,"ts":3,"dur":9,"args":{"device":0,"stream":7,
"correlation":1}}]"""
# 30 us of communication, 26 us of Python, 24 us of operators.
HOST_IN_PARTS = b"""[{"ph":"X","cat":"user_annotation","name":"ProfilerStep#1","pid":1,"tid":1,"ts":0,"dur":80},
{"ph":"X","cat":"cpu_op","name":"aten::add","pid":1,"tid":1,"ts":26,"dur":24},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":50,"dur":0,"args":{"correlation":1}},
{"ph":"X","cat":"kernel","name":"ncclDevKernel_AllReduce","pid":0,"tid":7,"ts":50,"dur":30,"args":{"device":0,"stream":7,
"correlation":1}}]"""
NO_GPU = b'[{"ph":"X","cat":"cpu_op","name":"aten::add","pid":1,"tid":1,"ts":1,"dur":1}]'


def run(program, *arguments, text=b""):
    done = subprocess.run([program, "why", *arguments], input=text, capture_output=True, timeout=60)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def total(account):
    return account["compute"] + account["exposed_communication"] + account["exposed_copies"] + sum(account["idle"].values())


def length(account):
    return account["window"][1] - account["window"][0]


def complaints_about(program, recording):
    code, out, _ = run(program, recording, "--json", "--by-step")
    answer = json.loads(out)
    if code != 0 or set(answer) - {"devices", "trust"}:
        yield f"{recording}: ended with {code}, keys {sorted(answer)}"
    for device in answer["devices"]:
        if set(device) != PARTS | {"steps"}:
            yield f"{recording}: a device has the keys {sorted(device)}"
        if total(device) != length(device):
            yield f"{recording}: the parts add up to {total(device)}, the window is {length(device)}"
        if 0 in device["idle"].values():
            yield f"{recording}: a cause of 0 ns is listed"
        if device["steps"] and sum(map(total, device["steps"])) != length(device):
            yield f"{recording}: the steps do not add up to the window"
        if len(device["longest"]) != min(8, device["gaps"]):
            yield f"{recording}: {len(device['longest'])} of {device['gaps']} gaps listed"
        for gap in device["longest"]:
            if sum(gap["causes"].values()) != gap["end_ns"] - gap["begin_ns"] or not gap["host"]:
                yield f"{recording}: gap {gap}"
        begin, end = device["window"]
        middle = (begin + end) // 2
        halves = []
        for part in (f"{begin}:{middle}", f"{middle}:{end}"):
            code, out, _ = run(program, recording, "--json", "--device", str(device["device"]), "--range", part)
            halves.append(json.loads(out)["devices"][0])
        for part in ("compute", "exposed_communication", "exposed_copies"):
            if halves[0][part] + halves[1][part] != device[part]:
                yield f"{recording}: the halves' {part} do not add up"
        if any(total(half) != length(half) for half in halves):
            yield f"{recording}: a half does not add up to its window"
    code, out, _ = run(program, recording)
    if code != 0 or "GPU " not in out or "what to do" not in out:
        yield f"{recording}: ended with {code}: {out[:200]!r}"
    advice = out.split("what to do about the largest parts\n")[-1].splitlines()
    if any(line.startswith("Host-bound") for line in out.splitlines()[:2]):
        if not advice[0].split(" %  ")[-1].startswith(("operators: ", "Python: ", "launch calls: ", "other runtime calls: ", "program code: ")):
            yield f"{recording}: host-bound, but the first thing to do is about {advice[0]!r}"
    device = answer["devices"][0]
    late = sum(device["idle"].values()) - device["idle"].get("starting", 0)
    if "the host keeps up" in out and late * 20 >= length(device):
        yield f"{recording}: the host keeps up although the GPU waits {late} ns for more than a launch to begin"


def complaints(program, *recordings):
    for recording in recordings:
        yield from complaints_about(program, recording)
    code, out, _ = run(program, "-", "--as-recorded", text=HOST_IN_PARTS)
    if not out.startswith("Host-bound") or not 0 < out.rfind("Python: ") < out.rfind("exposed communication: "):
        yield f"of a host in two parts, each smaller than the communication: {out[-500:]!r}"
    for words, wanted in ((["--device", "77"], 2), (["--range", "5"], 2), (["--range", "1s:2s"], 2), (["--range", "2ms:1ms"], 2)):
        code, out, err = run(program, recordings[0], *words)
        if code != wanted or out or err.count("\n") != 1:
            yield f"{' '.join(words)}: ended with {code}, said {err!r}"
    code, out, _ = run(program, "-", text=NO_GPU)
    if code != 0 or not out.startswith("No GPU work: "):
        yield f"without GPU work: ended with {code}: {out!r}"
    code, out, _ = run(program, "-", text=MULTIMEM)
    if code != 0 or not out.startswith("Communication-bound") or "exposed communication" not in out:
        yield f"of a collective that is not NCCL's: {out[:300]!r}"
    _, out, _ = run(program, "-", text=MULTIMEM.replace(b"multimem_all_reduce_kernel", b"vectorized_layer_norm"))
    if "communicat" in out:
        yield f"of no collective: {out[:300]!r}"
    for recording in recordings:
        trusts = [subprocess.run([program, command, recording], capture_output=True, timeout=60).stdout.decode().splitlines()[0]
                  for command in ("why", "info", "diagnose")]
        if "have no launch in the file" in trusts[0] and not (trusts[0] == trusts[1] and trusts[2].startswith(trusts[0])):
            yield f"{recording}: first lines differ: {trusts}"
    if not any("have no launch in the file" in run(program, recording)[1].splitlines()[0] for recording in recordings):
        yield "no recording with many unlinked kernels was tried"
    for command in ("why", "diagnose", "info"):
        done = subprocess.run([program, command, "-"], input=CUT, capture_output=True, timeout=60)
        out = done.stdout.decode()
        if done.returncode != 0 or not out.startswith("The file is cut off: ") or "No GPU" in out.splitlines()[0]:
            yield f"{command} of a file cut in the middle: ended with {done.returncode}: {out[:200]!r}"


def main(*arguments):
    wrong = list(complaints(*arguments))
    print("\n".join(wrong or ["why answers as it should"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
