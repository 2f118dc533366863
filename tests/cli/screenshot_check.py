#!/usr/bin/env python3
"""`gapscope screenshot` as a job in CI uses it: the picture shows a rule's finding, and the layout says what it shows.

    screenshot_check.py PROGRAM TRACE TRACE_TO_COMPARE
"""
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

RULES = ["tf32_gemm", "implicit_sync", "unfused_attention", "addmm_dispatch_fusion"]  # the last two are listed only on demand


class Pictures:
    def __init__(self, program, folder):
        self.program, self.folder = program, pathlib.Path(folder)
        self.environment = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}

    def take(self, *arguments):
        """The exit code, what was said, and the layout."""
        picture, layout = self.folder / "picture.png", self.folder / "layout.json"
        for path in (picture, layout):
            path.unlink(missing_ok=True)
        done = subprocess.run([self.program, "screenshot", *map(str, arguments), "-o", str(picture), "--layout", str(layout)],
                              capture_output=True, text=True, timeout=120, env=self.environment)
        shown = json.loads(layout.read_text()) if layout.exists() else None
        if shown and list(struct.unpack(">2I", picture.read_bytes()[16:24])) != shown["size"]:
            return done.returncode, "the picture is not as large as its layout says", shown
        return done.returncode, done.stderr, shown


def words_in(layout, panel):
    """All that a panel says, in the order in which it is drawn."""
    x, y, w, h = next(p["box"] for p in layout["panels"] if p["name"] == panel)
    inside = [t["text"] for t in layout["texts"] if x <= t["box"][0] and t["box"][0] < x + w and y <= t["box"][1] < y + h]
    return " ".join(inside)


def findings_of(program, trace):
    done = subprocess.run([program, "diagnose", "--json", "--all", trace], capture_output=True, text=True, timeout=60)
    return {f["rule"]: f for f in json.loads(done.stdout)["findings"]}


def complaints_about_findings(pictures, trace):
    known = findings_of(pictures.program, trace)
    for rule in RULES:
        code, said, layout = pictures.take(trace, "--finding", rule)
        if code != 0 or not layout:
            yield f"--finding {rule} ends with {code}: {said}"
            continue
        words = words_in(layout, "findings")
        title = known[rule]["title"] if rule in known else None
        if title and title not in words:
            yield f"--finding {rule}: the panel does not show \"{title}\": {words}"
        if "What it usually means" not in words:
            yield f"--finding {rule}: it is not unfolded: {words}"
        if not any(row["kind"] == "kernels" for row in layout["rows"]):
            yield f"--finding {rule}: no kernels are in the picture"
    code, said, layout = pictures.take(trace, "--finding", "no_such_rule")
    if code == 0 or "no_such_rule" not in said or "tf32_gemm" not in said:
        yield f"an unknown rule ends with {code} and does not name those that are there: {said}"


def complaints_about_comparison(pictures, trace, other):
    for size in ("900x560", "1600x900"):
        code, said, layout = pictures.take(trace, "--compare", other, "--size", size)
        if code != 0 or not layout:
            yield f"--compare at {size} ends with {code}: {said}"
            continue
        rows = {side: [r["box"] for r in layout["rows"] if r["kind"] == "kernels" and r["trace"] == side] for side in "AB"}
        if not rows["A"] or not rows["B"]:
            yield f"--compare at {size}: kernels of {[side for side in rows if not rows[side]]} are missing"
        elif max(y + h for _, y, _, h in rows["A"]) > min(y for _, y, _, _ in rows["B"]):
            yield f"--compare at {size}: B's GPU does not stand below A's"
        if sum(p["name"] == "ruler" for p in layout["panels"]) != 1:
            yield f"--compare at {size}: there is not one ruler"
        if not any(re.match(r"step [\d.]+ ms -> [\d.]+ ms", t["text"]) for t in layout["texts"]):
            yield f"--compare at {size}: the header does not say how long a step of both is"


def complaints_about_tabs(pictures, trace):
    for tab in ("MEMORY", "memory", "Memory"):
        code, said, layout = pictures.take(trace, "--tab", tab)
        if code != 0 or "Copy CSV" not in words_in(layout, "drawer"):
            yield f"--tab {tab} ends with {code} and does not show the tab: {said}"


def complaints_about_several(pictures, trace, other):
    """As the window opens them: two traces are compared, a folder of ranks and their files are a run."""
    code, said, layout = pictures.take(trace, other)
    if code != 0 or {r["trace"] for r in layout["rows"] if r["kind"] == "kernels"} != {"A", "B"}:
        yield f"two traces end with {code} and are not compared: {said}"
    ranks = pathlib.Path(__file__).parent.parent / "recordings/ranks"
    files = sorted(ranks.glob("ddp_rank?.json.gz"))
    for what in ([ranks], files):
        code, said, layout = pictures.take(*what)
        if code != 0 or "rank" not in words_in(layout, "drawer"):
            yield f"{what} end with {code} and show no ranks: {said}"
    if pictures.take(trace, other, "--compare", other)[0] == 0:
        yield "two traces and --compare are taken"


def complaints_about_changes(pictures, trace):
    code, said, layout = pictures.take(trace, "--tab", "whatif", "--what-if", "gpu 0.5; no-wait", "--path")
    words = " ".join(t["text"] for t in layout["texts"]) if layout else ""
    for wanted in ("critical path", "with the changes", "critical path then", "Then", "The plan", "A replay does not know which data a call needs"):
        if code != 0 or wanted not in words:
            yield f"--what-if ends with {code} and does not show \"{wanted}\": {said}"
    code, said, layout = pictures.take(trace, "--tab", "whatif")
    words = " ".join(t["text"] for t in layout["texts"]) if layout else ""
    if code != 0 or "with the changes" in words or "critical path then" in words:
        yield f"without --what-if replayed GPUs are shown: {said}"
    for wrong in ("gpu twice", "remove no such name", "gpu 5"):
        code, said, layout = pictures.take(trace, "--what-if", wrong)
        if code != 1 or wrong not in said or layout:
            yield f"--what-if \"{wrong}\" ends with {code}: {said}"


def peak_bytes(pictures, kernels):
    """What a picture of one stream takes at its most, with so many kernels at the same time."""
    trace = pictures.folder / f"overlapping_{kernels}.json"
    events = [{"ph": "X", "cat": "kernel", "name": f"k{i % 7}", "pid": 0, "tid": 7, "ts": i, "dur": 10_000_000,
               "args": {"device": 0, "stream": 7, "correlation": i}} for i in range(kernels)]
    trace.write_text(json.dumps({"traceEvents": events}))
    with open(os.devnull, "w") as nowhere:
        child = subprocess.Popen([pictures.program, "screenshot", str(trace), "-o", str(pictures.folder / "deep.png")],
                                 stdout=nowhere, stderr=nowhere, env=pictures.environment)
        _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_maxrss * 1024 if child.returncode == 0 else None


def complaints_about_depth(pictures):
    few, many = (peak_bytes(pictures, kernels) for kernels in (50, 10_000))
    if few is None or many is None or many - few > 150_000_000:
        yield f"10,000 kernels at the same time take {many} bytes, 50 {few}: what is out of sight is laid out"


def main():
    program, trace, other = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        pictures = Pictures(program, folder)
        if pictures.take(trace)[0] != 0:
            print("Skipped: no picture can be drawn here:", pictures.take(trace)[1])
            sys.exit(77)
        complaints = [*complaints_about_findings(pictures, trace), *complaints_about_comparison(pictures, trace, other),
                      *complaints_about_tabs(pictures, trace), *complaints_about_several(pictures, trace, other),
                      *complaints_about_changes(pictures, trace), *complaints_about_depth(pictures)]
    for complaint in complaints:
        print(complaint)
    if complaints:
        sys.exit(1)
    print("Pictures show what was asked for, and say what they show.")


main()
