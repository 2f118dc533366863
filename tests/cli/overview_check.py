#!/usr/bin/env python3
"""`gapscope overview` as a person and a script meet it: its JSON, its sums, its page, what it says is missing, its exit codes.

    overview_check.py PROGRAM RECORDING...
"""
import base64
import gzip
import html
import json
import lzma
import pathlib
import re
import subprocess
import sys
import tempfile

PARTS = {"verdict", "trust", "steps", "devices", "kinds", "gpu_ns", "kernel_ns", "tensor_core_ns", "matrix_ns", "matrix_unknown_ns",
         "rates", "findings", "plan", "hottest_kernels", "recording", "plain", "producer", "doubts", "answer"}
TITLES = ("Where the GPU's time went", "What to do first", "Steps", "How well the GPU is used", "The recording")
NO_GPU = b'[{"ph":"X","cat":"cpu_op","name":"aten::add","pid":1,"tid":1,"ts":1,"dur":1}]'
CUT = b'{"traceEvents": [{"ph":"X","cat":"cpu_op","name":"aten::add","pid":1,"tid":1,"ts":1,"dur":1}, {"ph":"X","cat":"ker'
AMD = (b'[{"ph":"X","cat":"cuda_runtime","name":"hipLaunchKernel","pid":1,"tid":1,"ts":2,"dur":1,"args":{"correlation":5}},'
       b'{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":4,"dur":3,"args":{"correlation":5,"device":0,"stream":7}}]')


def run(program, *arguments, text=b"", command="overview"):
    done = subprocess.run([program, command, *arguments], input=text, capture_output=True, timeout=60)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def replays_of_plain(program, recording, step_ns, folder):
    """The command, SQL and the window's tab replay the same program."""
    half = json.loads(run(program, recording, "--json", "--host", "0.5", command="whatif")[1])
    query = "select whatif('') run, whatif('host 0.5') half"
    _, out, _ = run(program, recording, query, "--json", command="sql")
    if [half["before_ns"], half["after_ns"]] != json.loads(out)["rows"][0]:
        yield f"{recording}: replayed {half['before_ns']} to {half['after_ns']} ns, in SQL {out}"
    layout = folder / "layout.json"
    run(program, recording, "--tab", "whatif", "--size", "1600x900", "-o", str(folder / "whatif.png"), "--layout", str(layout),
        command="screenshot")
    texts = " ".join(text["text"] for text in json.loads(layout.read_text())["texts"])
    said = re.search(r"Now, without the profiler ([\d.]+) (.?s) a step", texts)
    shown = said and float(said[1]) * {"s": 1e9, "ms": 1e6, "µs": 1e3}[said[2]]
    if not said or abs(shown - step_ns) > 0.006 * step_ns:
        yield f"{recording}: a plain step of {step_ns} ns, the window says {said and said[0]}"


def complaints_about(program, recording, folder):
    code, out, _ = run(program, recording, "--json")
    answer = json.loads(out)
    if code != 0 or set(answer) != PARTS:
        yield f"{recording}: ended with {code}, keys {sorted(answer)}"
    if sum(kind["ns"] for kind in answer["kinds"]) != answer["gpu_ns"]:
        yield f"{recording}: the kinds do not add up"
    accounts = {device["device"]: device for device in json.loads(run(program, recording, "--json", command="why")[1])["devices"]}
    for device in answer["devices"]:
        if device["account"] and any(device["account"][key] != accounts[device["id"]][key] for key in device["account"]):
            yield f"{recording}: another account than that of why"
    plain = answer["plain"]
    if plain and plain["step_ns"] is not None and not 0 < plain["low_ns"] <= plain["step_ns"] <= plain["high_ns"]:
        yield f"{recording}: the plain step is {plain}"
    if plain and (not 0 <= plain["gpu_share"] <= 1 or not answer["verdict"].startswith(plain["verdict"])):
        yield f"{recording}: the plain program is {plain}, the verdict {answer['verdict']}"
    if plain and "Without the profiler" not in run(program, recording)[1]:
        yield f"{recording}: the text does not say how long a step is without the profiler"
    if "plain" in json.loads(run(program, recording, "--json", "--as-recorded")[1]):
        yield f"{recording}: the plain program is spoken of as recorded"
    if plain and plain["step_ns"]:
        stated = json.loads(run(program, recording, "--json", "--step-time", f"{plain['step_ns']}ns")[1])["plain"]
        if run(program, recording, "--times", "/no/such/file")[0] != 2:
            yield "--times of a file that is not there does not end with 2"
        if stated["source"] != "stated" or stated["step_ns"] != plain["step_ns"] or stated["low_ns"] != stated["high_ns"]:
            yield f"{recording}: a stated step gives {stated}"
        account = plain["account"]
        parts = account["compute"] + account["exposed_communication"] + account["exposed_copies"] + sum(account["idle"].values())
        if abs(parts - plain["step_ns"]) > 50:
            yield f"{recording}: the account of a plain step of {plain['step_ns']} ns sums up to {parts}"
        times = json.loads(run(program, recording, "--json", "--times", recording)[1])["plain"]
        if times["source"] != "other_recording" or any(times[k] != plain[k] for k in ("step_ns", "low_ns", "high_ns")):
            yield f"{recording}: by its own times {times}, not {plain}"
        yield from replays_of_plain(program, recording, plain["step_ns"], folder)
    costs = [finding["cost_ns"] for finding in answer["findings"]]
    if len(costs) > 3 or min(costs, default=1) < 0:
        yield f"{recording}: findings {costs}"
    planned = [item["rule"] for item in answer["plan"]["items"]] if answer["plan"] else []
    first = [finding["rule"] for finding in answer["findings"]]
    if planned and first != planned[:3]:
        yield f"{recording}: what to do first is {first}, the plan {planned}"
    lengths = [answer["plan"]["before_ns"], *(item["after_ns"] for item in answer["plan"]["items"])]
    saved = [a - b for a, b in zip(lengths, lengths[1:])]
    if saved != [item["saved_ns"] for item in answer["plan"]["items"]] or min(saved, default=0) < 0:
        yield f"{recording}: the plan saves {saved} of {lengths[0]}"
    code, out, _ = run(program, recording)
    if code != 0 or any(f"\n{title}\n" not in out for title in TITLES):
        yield f"{recording}: ended with {code}: {out[:200]!r}"
    page = folder / "page.html"
    code, out, _ = run(program, recording, "--html", str(page))
    text = page.read_text()
    if code != 0 or out or not text.startswith("<!DOCTYPE html>") or "<script" in text or "src=" in text or text.count("<svg") < 3:
        yield f"{recording}: its page: {code}, {len(text)} characters"
    if any(title.replace("'", "&#39;") not in text for title in TITLES):
        yield f"{recording}: its page lacks a section"


def held(page):
    """The name and the bytes of the recording that a page holds."""
    name, letters = re.search(r'<script id="held-recording"[^>]* data-name="([^"]*)"[^>]*>([^<]*)</script>', page.read_text()).groups()
    return html.unescape(name), base64.b64decode(letters, validate=True)


def held_complaints(program, recording, folder):
    """Pages that hold their recording, or a part of it: the very bytes, packed; what cannot be held is said, and the old page stays."""
    text = gzip.decompress(recording.read_bytes())
    page, plain, evil = folder / "held.html", folder / "plain.json", folder / '"><script>alert(1)<.json'
    plain.write_bytes(text)
    evil.write_bytes(text[:-1] + b', "</script><script>alert(1)</script>": 0}' if text.endswith(b"}") else text)
    packed = folder / "packed.json.xz"
    packed.write_bytes(lzma.compress(text))
    for trace in (recording, packed, plain, evil):
        code, out, err = run(program, trace, "--html", page, "--with-trace")
        name, content = held(page)
        is_plain = trace in (plain, evil)
        if code != 0 or out or err or name != trace.name + (".gz" if is_plain else ""):
            yield f"{trace.name} is held as {name!r}: {code}, {out!r}, {err!r}"
        if (gzip.decompress(content) if is_plain else content) != trace.read_bytes():
            yield f"{trace.name}: what is held is another one"
        places = re.findall(r'class="held-at" data-place="((?:from=-?\d+&amp;to=-?\d+|slice=\d+))"', page.read_text())
        if not places or len(places) != page.read_text().count("held-at\" "):
            yield f"{trace.name}: the places of its findings are {places}"
        if page.read_text().count("<script") != 2 or page.read_text().count("</script>") != 2:
            yield f"{trace.name}: other scripts than its own"
    run(program, recording, "--html", page, "--with-trace", "--from", "1ms", "--to", "2ms", "--viewer", "../gapscope")
    run(program, recording, "--from", "1ms", "--to", "2ms", "-o", folder / "part.json", command="crop")
    name, content = held(page)
    if name != recording.name.replace(".json", ".part.json") or gzip.decompress(content) != (folder / "part.json").read_bytes():
        yield f"the part that is held as {name!r} is not what crop writes"
    if 'data-viewer="../gapscope/"' not in page.read_text() or "from 1.00 ms to 2.00 ms is" not in page.read_text():
        yield "the page does not say which part it holds, or where the window is"
    if "data-place" in page.read_text():
        yield "a part is opened at places of the whole"
    before = page.read_bytes()
    large = folder / "large.json.gz"
    with large.open("wb") as out:  # spaces after the recording, packed by nothing
        out.write(recording.read_bytes() + gzip.compress(b" " * 64_500_000, compresslevel=0))
    for arguments, wanted, words in (
            ((large, "--html", page, "--with-trace"), 1, "more than 64.0 MB packed"),
            ((large, "--html", page, "--with-trace", "--from", "1ms", "--to", "1ms"), 2, "must be before"),
            ((recording, "--html", page, "--with-trace", "--to", "soon"), 2, "is not a time"),
            ((recording, "--html", recording, "--with-trace"), 1, "is the trace itself"),
            (("-", "--html", page, "--with-trace"), 1, "cannot be read a second time"),
            ((recording, "--html", page, "--from", "1ms"), 2, "--with-trace"),
            ((recording, "--with-trace"), 2, "--html")):
        code, out, err = run(program, *arguments, text=text)
        if code != wanted or words not in err or out or err.count("\n") != 1 or page.read_bytes() != before:
            yield f"{words}: ended with {code}: {out!r} {err!r}"
    if run(program, large, "--html", page, "--with-trace", "--from", "1ms", "--to", "2ms")[0] != 0:
        yield "a part of what is too large is not held"


def complaints(program, recordings, folder):
    yield from held_complaints(program, pathlib.Path(recordings[0]), folder)
    for recording in recordings:
        yield from complaints_about(program, recording, folder)
    for text in (NO_GPU, CUT):
        code, out, _ = run(program, "-", text=text)
        if code != 0 or "record_shapes=True" not in out or "ProfilerActivity.CUDA" not in out or "with_stack=True" not in out:
            yield f"what is missing is not said: {code}, {out!r}"
    if "cut off" not in run(program, "-", text=CUT)[1]:
        yield "a cut file is not said to be cut"
    code, out, _ = run(program, "-", text=AMD)
    if code != 0 or "ncu " in out or "utilization" not in out:
        yield f"AMD: {code}, {out!r}"
    code, _, err = run(program, recordings[0], "--html", str(folder / "no" / "such" / "folder.html"))
    if code != 1 or err.count("\n") != 1:
        yield f"no folder: {code}, {err!r}"
    for words in (["--step-time", "soon"], ["--step-time", "0ms"], ["--step-time", "5ms", "--as-recorded"]):
        code, out, err = run(program, recordings[0], *words)
        if code != 2 or out or err.count("\n") != 1:
            yield f"{words}: ended with {code}: {err!r}"
    if run(program, recordings[0], "--html", "x", "--json")[0] != 2:
        yield "bad usage does not end with 2"


def main():
    program, *recordings = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        found = list(complaints(program, recordings, pathlib.Path(folder)))
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
