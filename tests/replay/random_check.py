#!/usr/bin/env python3
"""Random changes of random small traces: `gapscope whatif` against the naive program.

    random_check.py PROGRAM [SEED]
"""
import gzip
import json
import pathlib
import random
import sys
import tempfile

from naive import Model, asked

TRACES, CHANGES = 12, 6


def event(name, cat, begin, length, tid, pid=1, **args):
    return {"ph": "X", "name": name, "cat": cat, "ts": begin, "dur": length, "pid": pid, "tid": tid, "args": args}


# Threads that take turns, streams that are kept in order (now and then overlapping), waits that end after what they wait for.
def random_trace(chance):
    events, free, at, correlation, launched = [], {}, chance.randrange(100), 0, []
    begin = at
    for _ in range(chance.randrange(5, 40)):
        tid = chance.choice((1, 1, 2))
        start, length = at, chance.randrange(1, 12)
        kind = chance.random()
        if kind < 0.15 and launched:
            length = max(length, max(launched) - start + chance.randrange(1, 5))
            events.append(event(chance.choice(("cudaDeviceSynchronize", "hipStreamSynchronize")), "cuda_runtime", start, length, tid))
        elif kind < 0.9:
            stream = chance.choice((7, 7, 20))
            copy = chance.random() < 0.2
            correlation += 1
            for _ in range(chance.choice((1, 1, 1, 4))):
                first = max(start + chance.randrange(2, 15), free.get(stream, 0) - chance.choice((0, 0, 0, 1)))
                took = chance.randrange(1, 30)
                linked = {} if chance.random() < 0.05 else {"correlation": correlation}
                name = "Memcpy HtoD" if copy else chance.choice(("gemm", "add", "ncclAllReduce"))
                events.append(event(name, "gpu_memcpy" if copy else "kernel", first, took, stream, 0, device=0, stream=stream, **linked))
                free[stream] = max(first + took, free.get(stream, 0))
                launched.append(first + took)
            if copy and chance.random() < 0.5:
                length = max(length, launched[-1] - start + 2)
            events.append(event("cudaLaunchKernel", "cuda_runtime", start, length, tid, correlation=correlation))
        events.append(event(chance.choice(("aten::mm", "pause")), "cpu_op", start, length, tid))
        at = start + length + chance.randrange(0, 20)
        if chance.random() < 0.15:
            events.append(event(f"ProfilerStep#{len(events)}", "user_annotation", begin, at - begin, 1))
            begin = at
    chance.shuffle(events)
    return {"traceEvents": events}


def random_change(chance, model):
    options, change = [], {}
    if chance.random() < 0.5:
        change["gpu"] = chance.choice((0.0, 0.25, 0.5, 2.0))
        options += ["--gpu", str(change["gpu"])]
    if chance.random() < 0.3:
        change["host"] = chance.choice((0.0, 0.5, 2.0))
        options += ["--host", str(change["host"])]
    if chance.random() < 0.3:
        change["no_wait"] = True
        options.append("--no-wait")
    if chance.random() < 0.3:
        change["overlap_copies"] = True
        options.append("--overlap-copies")
    if "host" not in change and chance.random() < 0.5 and model.named("pause"):
        change["removed"] = model.named("pause")
        options += ["--remove", "pause"]
    return options, change


def main(program, seed="1"):
    chance, wrong = random.Random(int(seed)), []
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "random.json.gz"
        for number in range(TRACES):
            path.write_bytes(gzip.compress(json.dumps(random_trace(chance)).encode()))
            model = Model(path)
            if not model.ops or not model.calls:
                continue
            for _ in range(CHANGES):
                options, change = random_change(chance, model)
                length, steps = model.replay(**change)
                answer = asked(program, path, *options, "--path")
                got = [s["after_ns"] for s in answer["steps"]]
                if abs(answer["after_ns"] - length) > 20 or any(abs(a - b) > 20 for a, b in zip(got, steps)):
                    wrong.append(f"trace {number} {options}: {answer['after_ns']} {got}, a naive program says {length} {steps}")
                if sum(s["end_ns"] - s["begin_ns"] for s in answer["path"]["stretches"]) != answer["after_ns"]:
                    wrong.append(f"trace {number} {options}: the path is not as long as the run")
                if sum(s["ns"] for s in answer["path"]["sums"]) != answer["after_ns"]:
                    wrong.append(f"trace {number} {options}: the sums of the path are not as long as the run")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
