#!/usr/bin/env python3
"""`gapscope diagnose` as a script meets it: its JSON, its exit codes, its sentences.

    diagnose_check.py PROGRAM TRACE_WITH_COSTLY_FINDINGS
"""
import json
import re
import subprocess
import sys

FINDING = {"rule", "class", "severity", "title", "summary", "cost_ns", "led_by", "evidence", "spans", "meaning",
           "remedy", "part_of", "overlap_ns", "gain", "where", "code"}


NO_GPU = b'[{"ph":"X","cat":"cpu_op","name":"aten::add","pid":1,"tid":1,"ts":1,"dur":1}]'


def run(program, *arguments, text=b""):
    done = subprocess.run([program, "diagnose", *arguments], input=text, capture_output=True, timeout=60)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def complaints(program, costly):
    code, out, _ = run(program, "--json", costly)
    answer = json.loads(out)
    if code != 0 or not answer["verdict"] or not answer["findings"]:
        yield f"ended with {code}, or without a verdict or findings"
    severities = ["costly", "notable", "informational"]
    order = [severities.index(finding["severity"]) for finding in answer["findings"]]
    if order != sorted(order):
        yield "findings are not ranked by severity"
    for finding in answer["findings"]:
        if set(finding) != FINDING or not finding["summary"]:
            yield f"{finding['rule']}: has the keys {sorted(finding)}"
        for span in finding["spans"]:
            if set(span) != {"lane", "begin_ns", "end_ns", "name"} or span["end_ns"] < span["begin_ns"]:
                yield f"{finding['rule']}: span {span}"
    _, text, _ = run(program, costly)
    for finding in answer["findings"]:
        told = finding["severity"] != "informational" and not finding["part_of"] and not finding["led_by"]
        if told and not (finding["meaning"] in text and finding["remedy"] in text):
            yield f"{finding['rule']}: the text does not say what this trace asks for: {finding['remedy']}"
    planned = [item["rule"] for item in answer["plan"]["items"]]
    leader = {finding["rule"]: finding["part_of"] or finding["led_by"] or finding["rule"] for finding in answer["findings"]}
    wanted = list(dict.fromkeys(leader[rule] for rule in planned))
    listed = re.findall(r"^  ([a-z0-9_]+) ", text.split("what to do, in this order")[-1], re.MULTILINE)[:len(wanted)]
    if not wanted or listed != wanted:
        yield f"the text does not begin with what is to be done first: {listed}, not {wanted}"
    worst = answer["findings"][0]["rule"]
    for words, wanted in ((["--fail-on", worst], 3), (["--fail-on", "costly"], 3), (["--fail-on", "no_gpu_activity"], 0),
                          (["--fail-on", f"no_gpu_activity,{worst}"], 3), (["--fail-on", "no_such_rule"], 2),
                          (["--fail-on", "gain>1%"], 3), (["--fail-on", "gain>99.9%"], 0), (["--fail-on", "gain>x%"], 2)):
        code, out, err = run(program, costly, *words)
        if code != wanted:
            yield f"{' '.join(words)}: ended with {code}, not {wanted}"
        if wanted == 2 and (out or err.count("\n") != 1):
            yield f"{' '.join(words)}: says {err!r}"
    code, out, _ = run(program, "-", text=NO_GPU)
    if code != 0 or "No GPU work" not in out or out.count("not judged") != 1 or "has its launch" in out:
        yield f"without GPU work: ended with {code}: {out!r}"


def main(*arguments):
    wrong = list(complaints(*arguments))
    print("\n".join(wrong or ["diagnose answers as it should"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
