#!/usr/bin/env python3
"""Files that are no traces: `info` and `screenshot` say one sentence with the path on stderr and end with 1.

    bad_input_check.py PROGRAM SOUND_TRACE
"""
import gzip
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def bad_files(folder, sound):
    """What to call it, and the file."""
    whole = pathlib.Path(sound).read_bytes()
    contents = {
        "empty": b"",
        "binary": bytes(range(256)) * 8,
        "text": b"this is not JSON\n",
        "other_tool": b'{"nodes": [1, 2], "edges": []}',
        "no_events": b'{"schemaVersion": 1}',
        "number": b"42",
        "cut_gzip_header": whole[:5],
        "escape\x1b[31m": b"no",
    }
    yield "missing", folder / "missing.json"
    yield "folder", folder
    for name, data in contents.items():
        path = folder / (name + (".json.gz" if "gzip" in name else ".json"))
        path.write_bytes(data)
        yield name, path


def complaints(program, *arguments):
    """What is wrong with how the program refuses; nothing when it refuses well."""
    run = subprocess.run([program, *map(str, arguments)], capture_output=True, timeout=60)
    said = run.stderr.decode("utf-8", "replace")
    if run.returncode != 1:
        yield f"ended with {run.returncode}"
    if run.stdout:
        yield "printed to stdout"
    if said.count("\n") != 1 or not said.startswith("gapscope: ") or not said.endswith((".\n", "?\n")):
        yield f"is not one sentence: {said!r}"
    if "\x1b" in said:
        yield "sends control characters to the terminal"


def cut_opens(program, folder, sound):
    """A file cut in the middle opens up to the cut and says so."""
    text = gzip.decompress(pathlib.Path(sound).read_bytes())
    path = folder / "cut.json"
    path.write_bytes(text[:len(text) * 2 // 3])
    run = subprocess.run([program, "info", "--json", str(path)], capture_output=True, timeout=60)
    if run.returncode != 0 or b'"kind": "truncated"' not in run.stdout:
        yield f"cut file: ended with {run.returncode}, or does not say that it is cut"


def pipes_open(program, folder, sound):
    """A trace through a pipe, packed or not, is read like a file."""
    packed = pathlib.Path(sound).read_bytes()
    for what, data in (("packed", packed), ("plain", gzip.decompress(packed))):
        for name in ("-", "/dev/stdin"):
            run = subprocess.run([program, "info", name], input=data, capture_output=True, timeout=60)
            if run.returncode != 0 or b"slices" not in run.stdout:
                yield f"{what} through {name}: ended with {run.returncode}: {run.stderr.decode()!r}"
    run = subprocess.run([program, "info", "-"], input=b"", capture_output=True, timeout=60)
    if run.returncode != 1 or run.stderr.count(b"\n") != 1:
        yield f"empty pipe: ended with {run.returncode}: {run.stderr.decode()!r}"


def pipe_as_capture(program, folder):
    """What looks like the capture of a trace's graphs, and is a pipe without a writer, is not waited for."""
    inner = folder / "graphs"
    inner.mkdir()
    (inner / "run.json.gz").write_bytes((ROOT / "assets/traces/mlp_geglu_reduce_overhead.json.gz").read_bytes())
    os.mkfifo(inner / "graph_capture_1.json")
    for arguments in (["info", inner / "run.json.gz"], ["kernels", inner / "run.json.gz", "--capture", inner]):
        try:
            subprocess.run([program, *map(str, arguments)], capture_output=True, timeout=20)
        except subprocess.TimeoutExpired:
            yield f"a pipe as capture: {arguments[0]} waits for it"


def many_devices(program, folder):
    """A file may name more GPUs than a machine has: not all are printed."""
    path = folder / "devices.json"
    event = '{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1, "dur": 5}'
    path.write_text('{"deviceProperties": [' + ", ".join(f'{{"id": {i}, "name": "GPU"}}' for i in range(5000)) + f'], "traceEvents": [{event}]}}')
    run = subprocess.run([program, "info", str(path)], capture_output=True, text=True, timeout=60)
    lines = run.stdout.splitlines()
    if run.returncode != 0 or sum(line.startswith("device ") for line in lines) != 64 or "           and 4,936 more devices" not in lines:
        yield f"5,000 devices: ended with {run.returncode}, {len(lines)} lines, {run.stderr!r}"


def numbers(program, sound, folder):
    """What is no number, or none of the range, is a sentence with that range in plain digits, and 2."""
    options = {"--time-limit": ("sql", sound, "select 1"), "--scale": ("screenshot", sound, "-o", folder / "x.png"), "--delay": ("record", "-o", folder / "r.json"),
               "--duration": ("record", "-o", folder / "r.json"), "--max-mb": ("record", "-o", folder / "r.json"), "--limit": ("table", sound),
               "--max-name-column-width": ("table", sound), "--device": ("why", sound), "--bandwidth": ("roofline", sound), "--pid": ("attach",), "--job": ("attach",), "--seconds": ("attach",),
               "--iterations": ("attach",), "--wait": ("attach",), "--watch": ("attach",)}
    for option, command in options.items():
        for value in ("nan", "-nan", "inf", "-5", "1e99", "99999999999999999999", "0x1p3", "5 ", "", "5x", "1,5"):
            run = subprocess.run([program, *map(str, command), f"{option}={value}", *(["--", "true"] if command[0] == "record" else [])], capture_output=True, timeout=60)
            said = run.stderr.decode()
            if run.returncode != 2 or run.stdout or said.count("\n") != 1 or option not in said:
                yield f"{option} {value!r}: ended with {run.returncode}: {said!r}"
            if "number from" in said and ("e+" in said or "0000." in said):
                yield f"{option} {value!r}: {said!r} is not readable"


def main(program, sound):
    wrong = []
    with tempfile.TemporaryDirectory(prefix="gapscope test ") as name:
        folder = pathlib.Path(name)
        for what, path in bad_files(folder, sound):
            wrong += [f"info, {what}: {line}" for line in complaints(program, "info", path)]
            wrong += [f"screenshot, {what}: {line}" for line in complaints(program, "screenshot", path, "-o", folder / "x.png")]
        wrong += complaints(program, "screenshot", sound, "-o", folder / "x.png", "--select", "no such slice")
        wrong += complaints(program, "screenshot", sound, "-o", folder / "x.png", "--from", "400s", "--to", "500s")
        wrong += complaints(program, "screenshot", sound, "-o", folder / "x.png", "--from", "soon")
        wrong += complaints(program, "screenshot", sound, "-o", folder / "no/folder/x.png")
        wrong += cut_opens(program, folder, sound)
        wrong += pipes_open(program, folder, sound)
        wrong += pipe_as_capture(program, folder)
        wrong += many_devices(program, folder)
        wrong += numbers(program, sound, folder)
    print("\n".join(wrong or ["every bad input is refused with one sentence"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
