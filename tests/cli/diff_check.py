#!/usr/bin/env python3
"""`gapscope diff` as a script meets it: its JSON, its exit codes, its sentences.

    diff_check.py PROGRAM TRACE_A TRACE_B
"""
import json
import os
import subprocess
import sys
import tempfile

SIDE = {"file", "steps", "steps_counted", "picked", "cpu_ns", "gpu_busy_ns", "idle_ns", "gpu_time_ns", "kernels_per_step", "launches_per_step",
        "graph_launches_per_step", "copies_per_step", "cold"}
KERNEL = {"class", "name_a", "name_b", "detail", "count_a", "count_b", "ns_a", "ns_b", "operators", "other_grid"}
OPERATOR = {"path", "depth", "state", "replaced", "cpu_ns_a", "cpu_ns_b", "gpu_ns_a", "gpu_ns_b", "kernels_a", "kernels_b", "launches_a", "launches_b"}
FINDING = {"rule", "title", "summary", "tone", "evidence"}
NO_GPU = '[{"ph":"X","cat":"cpu_op","name":"aten::add","pid":1,"tid":1,"ts":1,"dur":1}]'


def run(program, *arguments):
    done = subprocess.run([program, "diff", *arguments], capture_output=True, timeout=60)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def json_complaints(program, a, b):
    code, out, _ = run(program, a, b, "--json")
    answer = json.loads(out)
    if code != 0 or not answer["verdict"]:
        yield f"--json: ended with {code}, or without a verdict"
    for side, file in (("a", a), ("b", b)):
        if SIDE - set(answer[side]) or answer[side]["file"] != file:
            yield f"side {side} has {sorted(answer[side])}"
        for key in ("cpu_ns", "gpu_busy_ns", "idle_ns"):
            spread = answer[side][key]
            if not spread["min"] <= spread["median"] <= spread["max"]:
                yield f"{side}.{key}: {spread}"
    for key, wanted in (("kernels", KERNEL), ("operators", OPERATOR), ("findings", FINDING)):
        if not answer[key] or any(set(row) != wanted for row in answer[key]):
            yield f"{key}: no rows, or rows with other keys than {sorted(wanted)}"
    if sum(row["ns_b"] for row in answer["kernels"]) != answer["b"]["picked_values"]["gpu_time_ns"]:
        yield "the kernels' times do not sum up to the GPU time of the step"
    if answer["operators"][0]["gpu_ns_a"] != answer["a"]["picked_values"]["gpu_time_ns"]:
        yield "the operators' GPU time is not that of the step"
    if {row["state"] for row in answer["operators"]} - {"matched", "only_a", "only_b"}:
        yield "an operator has another state"


def exit_complaints(program, a, b):
    median = {side: json.loads(run(program, a, b, "--json")[1])[side]["cpu_ns"]["median"] for side in "ab"}
    grew = median["b"] > median["a"]
    cases = [(["--fail-if", "cpu>+0ns"], 3 if grew else 0), (["--fail-if", "cpu>+100000%", "--fail-if", "gpu_ops<+1000"], 3),
             (["--fail-if", "speed>+5%"], 2), (["--step", "all"], 0), (["--step", "987654"], 2), (["--annotation", "no such"], 2)]
    for words, wanted in cases:
        code, out, err = run(program, a, b, *words)
        if code != wanted:
            yield f"{' '.join(words)}: ended with {code}, not {wanted}"
        if wanted == 2 and (out or err.count("\n") != 1):
            yield f"{' '.join(words)}: says {err!r}"
    if "kernels, launches" not in run(program, a, b, "--fail-if", "speed>+5%")[2]:
        yield "an unreadable condition does not say what is allowed"


def use_complaints(program, a, b):
    answer = json.loads(run(program, a, b, "--json")[1])
    if answer["like"]["work"] not in ("equal", "other", "unknown") or not answer["use"]:
        yield f"like {answer['like']}, use {answer['use']}"
    use = {row["key"]: row for row in answer["use"]}["utilization"]
    more = use["b"] > use["a"]
    if run(program, a, b, "--fail-if", "utilization>+0pp")[0] != (3 if more else 0):
        yield "--fail-if knows no utilization"
    if "gain" not in {row["key"] for row in answer["use"]} or run(program, a, b, "--fail-if", "gain.no_rule>+1pp")[0] != 2:
        yield f"gains: {answer['use']}"
    if answer["like"]["work"] == "other" and "slower" in run(program, a, b)[1]:
        yield "other work is called slower"


def plain_complaints(program, a, b):
    """The step without the profiler is that of each recording's own overview, and can be a condition."""
    steps = []
    for trace in (a, b):
        done = subprocess.run([program, "overview", "--json", trace], capture_output=True, timeout=60)
        plain = json.loads(done.stdout)["plain"]
        steps.append(plain and plain["step_ns"])
    use = {row["key"]: row for row in json.loads(run(program, a, b, "--json")[1])["use"]}
    said = use.get("plain.step", {"a": None, "b": None})
    if [said["a"], said["b"]] != steps:
        yield f"the steps without the profiler are {steps}, diff says {said}"
    if None not in steps:
        grew = steps[1] > steps[0]
        if run(program, a, b, "--fail-if", "plain.step>+0ns")[0] != (3 if grew else 0):
            yield "--fail-if knows no step without the profiler"
        if not run(program, a, b)[1].startswith("Without the profiler a step takes "):
            yield "the first sentence is not of the step without the profiler"
    if "plain" in run(program, a, b, "--json", "--as-recorded")[1]:
        yield "--as-recorded speaks of the plain program"


def sweep_complaints(program, a, b):
    code, out, _ = run(program, a, b, a, "--baseline", b)
    if code != 0 or out.count("json.gz") < 3 or "the baseline, A" not in out:
        yield f"a sweep: {code}, {out!r}"
    code, out, _ = run(program, a, b, a, "--baseline", b, "--json")
    answer = json.loads(out)
    if code != 0 or answer["baseline"]["file"] != b or [t["side"]["file"] for t in answer["traces"]] != [a, a]:
        yield f"a sweep's JSON: {code}"
    pair = json.loads(run(program, b, a, "--json")[1])
    if answer["traces"][0]["changes"] != pair["changes"]:
        yield "a sweep says something else than the pair"
    if run(program, a, b, "--baseline", "/no/such")[0] != 2 or run(program, a, b, a, "--html", "x")[0] != 2:
        yield "bad usage of a sweep does not end with 2"


def page_complaints(program, a, b):
    with tempfile.TemporaryDirectory() as folder:
        page = folder + "/page.html"
        code, out, _ = run(program, a, b, "--html", page)
        html = open(page).read()
    if code != 0 or out or "<script" in html or html.count("<svg") < 2 or "Use of the GPU" not in html:
        yield f"--html: {code}, {len(html)} characters"
    title = html[html.find("<h1>"):html.find("</h1>")]
    if not title.index("A, " + os.path.basename(a)) < title.index("B, " + os.path.basename(b)) or html.count("A, " + os.path.basename(a)) < 3:
        yield f"--html does not say which file is A: {title}"


def complaints(program, a, b):
    yield from json_complaints(program, a, b)
    yield from use_complaints(program, a, b)
    yield from plain_complaints(program, a, b)
    yield from sweep_complaints(program, a, b)
    yield from page_complaints(program, a, b)
    yield from exit_complaints(program, a, b)
    code, out, _ = run(program, a, a)
    if code != 0 or not out.startswith("No difference:"):
        yield f"a trace against itself: {code}, {out[:200]!r}"
    if run(program, a, "/no/such/file.json")[0] != 1:
        yield "a missing file does not end with 1"
    if run(program, "-", "-")[0] != 2:
        yield "standard input twice does not end with 2"
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        file.write(NO_GPU)
        file.flush()
        code, out, _ = run(program, a, file.name)
        if code != 0 or "Only A has GPU work" not in out or "nan" in out:
            yield f"without GPU work: ended with {code}: {out!r}"


def main(*arguments):
    wrong = list(complaints(*arguments))
    print("\n".join(wrong or ["diff answers as it should"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
