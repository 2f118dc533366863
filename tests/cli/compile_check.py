#!/usr/bin/env python3
"""`gapscope compile` as a person and a script meet it: its sums, its sentences, what it says of a trace without compiled code.

    compile_check.py PROGRAM FOLDER_OF_RECORDINGS PLAIN_RECORDING
"""
import json
import pathlib
import subprocess
import sys

HOSTILE = (b'[{"ph":"X","cat":"cpu_op","name":"Torch-Compiled Region: \\u001b[31m0/0","pid":1,"tid":1,"ts":1,"dur":9},'
           b'{"ph":"X","cat":"cpu_op","name":"Torch-Compiled Region","pid":1,"tid":1,"ts":20,"dur":9},'
           b'{"ph":"X","cat":"cpu_op","name":"## Call CompiledFxGraph ##","pid":1,"tid":1,"ts":21,"dur":3}]')


def run(program, *arguments, text=b""):
    done = subprocess.run([program, "compile", *arguments], input=text, capture_output=True, timeout=60)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def complaints_about(program, recording, sentences):
    code, out, _ = run(program, recording, "--json")
    answer = json.loads(out)
    for rows, whole in (("regions", "in_regions"), ("graphs", "in_graphs")):
        if any(sum(row[key] for row in answer[rows]) != answer[whole][key] for key in ("gpu_ns", "kernels", "gpu_pieces")):
            yield f"{recording}: {rows} do not add up"
    guards = answer["guard_checks"]
    if code != 0 or guards["hits"] + guards["compiled_next"] + guards["neither"] != guards["count"]:
        yield f"{recording}: ended with {code}, guards {guards}"
    code, out, _ = run(program, recording)
    for sentence in sentences:
        if code != 0 or sentence not in out:
            yield f"{recording}: ended with {code}, no {sentence!r} in {out!r}"


def complaints(program, folder, plain):
    for name, sentences in (("graph_breaks", ("9 calls of 3 compiled functions", "6 graph breaks", "aten::is_nonzero", "with_stack=True")),
                            ("recompiled_region", ("Compiled more than once, by their numbers: 0/0, 0/1, 0/2, 0/3.",)),
                            ("muladd_compile_cold", ("Dynamo compiled after 1", "Dynamo and Inductor worked for")),
                            ("graph_breaks_stack", ("9 calls of 3 compiled functions in 4 versions", "forward, line 13 of compiled.py", "forward, line 15 of compiled.py")),
                            ("graph_breaks_recompile", ("Dynamo compiled after 1", "2/1")),
                            ("softmax_inductor", ("triton_per_fused", "softmax"))):
        yield from complaints_about(program, str(folder / f"{name}.json.gz"), sentences)
    code, out, _ = run(program, plain)
    if code != 0 or "This trace has nothing of torch.compile" not in out or out.count("\n") != 1:
        yield f"a trace without compiled code: {code}, {out!r}"
    code, out, _ = run(program, "-", text=HOSTILE)
    if code != 0 or "\x1b" in out or "2 calls of 2 compiled functions" not in out:
        yield f"names that steer a terminal: {code}, {out!r}"


def main():
    program, folder, plain = sys.argv[1:]
    found = list(complaints(program, pathlib.Path(folder), plain))
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
