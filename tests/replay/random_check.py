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

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from naive import Model, asked  # noqa: E402
from sample import NIGHTLY  # noqa: E402

TRACES, CHANGES = (12, 6) if NIGHTLY else (6, 3)


def event(name, cat, begin, length, tid, pid=1, **args):
    return {"ph": "X", "name": name, "cat": cat, "ts": begin, "dur": length, "pid": pid, "tid": tid, "args": args}


# Threads that take turns, streams that stay in order (now and then overlapping) and wait for each other's events, waits that
# end after what they wait for.
class Timeline:
    def __init__(self, chance, threads, streams, marks):
        self.chance, self.threads, self.streams, self.marks = chance, threads, streams, marks
        self.events, self.free, self.launched, self.correlation = [], {}, [], 10_000 * threads[0]

    def tell_to_wait(self, tid, at):
        self.correlation += 1
        stream = self.chance.choice(self.streams)
        self.events.append(event("cudaEventRecord", "cuda_runtime", at, 1, tid, correlation=self.correlation + 5000))
        self.events.append(event("cudaStreamWaitEvent", "cuda_runtime", at + 1, 1, tid, correlation=self.correlation))
        self.events.append(event("Stream Wait Event", "cuda_sync", at + 3, 1, stream, 0, device=0, stream=stream, correlation=self.correlation))
        self.free[stream] = max(self.free.values(), default=0)
        return at + 2

    def launch(self, tid, start, length):
        stream, copy = self.chance.choice(self.streams), self.chance.random() < 0.2
        self.correlation += 1
        for _ in range(self.chance.choice((1, 1, 1, 4))):
            first = max(start + self.chance.randrange(2, 15), self.free.get(stream, 0) - self.chance.choice((0, 0, 0, 1)))
            took = self.chance.randrange(1, 30)
            linked = {} if self.chance.random() < 0.05 else {"correlation": self.correlation}
            name = "Memcpy HtoD" if copy else self.chance.choice(("gemm", "add", "ncclAllReduce"))
            self.events.append(event(name, "gpu_memcpy" if copy else "kernel", first, took, stream, 0, device=0, stream=stream, **linked))
            self.free[stream] = max(first + took, self.free.get(stream, 0))
            self.launched.append(first + took)
        if copy and self.chance.random() < 0.5:
            length = max(length, self.launched[-1] - start + 2)
        self.events.append(event("cudaLaunchKernel", "cuda_runtime", start, length, tid, correlation=self.correlation))
        return length

    def run(self):
        chance, begin = self.chance, self.chance.randrange(100)
        at = begin
        for _ in range(chance.randrange(5, 40)):
            tid = chance.choice(self.threads)
            if chance.random() < 0.15:
                at = self.tell_to_wait(tid, at)
            start, length, kind = at, chance.randrange(1, 12), chance.random()
            if kind < 0.15 and self.launched:
                length = max(length, max(self.launched) - start + chance.randrange(1, 5))
                self.events.append(event(chance.choice(("cudaDeviceSynchronize", "hipStreamSynchronize")), "cuda_runtime", start, length, tid))
            elif kind < 0.9:
                length = self.launch(tid, start, length)
            self.events.append(event(chance.choice(("aten::mm", "pause")), "cpu_op", start, length, tid))
            at = start + length + chance.choice((chance.randrange(0, 20), chance.randrange(0, 20), chance.randrange(100, 200)))
            if self.marks and chance.random() < 0.15:
                self.events.append(event(f"ProfilerStep#{len(self.events)}", "user_annotation", begin, at - begin, 1))
                begin = at
        return self.events


# Half of them with threads that run at the same time.
def random_trace(chance):
    events = Timeline(chance, (1, 1, 2), (7, 7, 20), True).run()
    if chance.random() < 0.5:
        events += Timeline(chance, (3,), (30, 31), False).run()
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
    chance, wrong, at_once, events = random.Random(int(seed)), [], 0, 0
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "random.json.gz"
        for number in range(TRACES):
            path.write_bytes(gzip.compress(json.dumps(random_trace(chance)).encode()))
            model = Model(path)
            if not model.ops or not model.calls:
                continue
            at_once += len(set(model.clock.values())) > 1
            events += any(o.events for o in model.ops)
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
    print(f"{at_once} of {TRACES} traces have threads that run at the same time, {events} have waits for events")
    return 1 if wrong or not at_once or not events else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
