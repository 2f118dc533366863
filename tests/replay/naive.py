#!/usr/bin/env python3
"""GAIN.md's replay by a second, naive program, and what `gapscope whatif` says of the same recordings.

    naive.py PROGRAM TRUTH FOLDER...    recordings of TRUTH (truth_gain.json) that lie in one of the folders
"""
import bisect
import gzip
import json
import pathlib
import re
import subprocess
import sys
from decimal import Decimal

GPU = {"kernel", "gpu_memcpy", "gpu_memset", "Kernel", "Memcpy", "Memset"}
CALLS = {"cuda_runtime", "cuda_driver", "Runtime"}
HOST = CALLS | {"cpu_op", "Operator", "user_annotation", "python_function"}
WAITS = ("DeviceSynchronize", "StreamSynchronize", "EventSynchronize", "CtxSynchronize", "hipMemcpyWithStream")
NEAR = 0.01  # of the run: what a prediction may differ from the truth


def ns(us):
    return int(Decimal(us) * 1000)


class Thing:
    def __init__(self, event, place):
        self.begin = ns(event["ts"])
        self.end = self.begin + ns(event["dur"])
        self.name, self.cat, self.place = str(event["name"]), event.get("cat"), place
        self.args = event.get("args") or {}
        self.thread = (str(event.get("pid")), str(event.get("tid")))
        self.ops, self.target, self.call = [], None, None


def united(spans):
    out = []
    for b, e in sorted(s for s in spans if s[1] > s[0]):
        if out and b <= out[-1][1]:
            out[-1] = (out[-1][0], max(out[-1][1], e))
        else:
            out.append((b, e))
    return out


# Whether it worked for most of the stand and stopped before the end of it.
def took(work, stop, on):
    before = [s for s in work if s[0] < on]
    end = before[-1][1] if before else stop
    if not stop < end <= on:
        return False
    in_it = sum(max(0, min(e, end) - max(b, stop)) for b, e in before)
    return in_it >= (end - stop) - (end - stop) // 10


class Model:
    """Calls, operations and what each waits for, as the page says it."""

    def __init__(self, path):
        with gzip.open(path, "rt", encoding="utf-8", errors="replace") as file:
            events = json.load(file, parse_float=Decimal)
        events = events["traceEvents"] if isinstance(events, dict) else events
        self.things = [Thing(e, i) for i, e in enumerate(events) if e.get("ph") == "X" and "dur" in e]
        calls = [t for t in self.things if t.cat in CALLS]
        self.ops = sorted((t for t in self.things if t.cat in GPU), key=lambda t: (t.begin, t.args.get("stream") or 0, t.place))
        self.steps = sorted((t.begin, t.end, t.name, t.thread) for t in self.things if t.name.startswith("ProfilerStep#")
                            and t.cat in ("user_annotation", "cpu_op", "Operator"))
        self.join(calls)
        self.calls = sorted((c for c in calls if c.ops or c.name.endswith(WAITS)), key=lambda c: (c.begin, c.place))
        self.find_latency()
        self.find_gaps()
        self.find_waits()
        self.find_clocks()
        self.find_joins()
        self.find_event_waits(calls)
        self.begin = self.steps[0][0] if self.steps else min(t.begin for t in self.calls + self.ops)

    def join(self, calls):
        by_correlation = {}
        for c in calls:
            by_correlation.setdefault(c.args.get("correlation"), c)
        for o in self.ops:
            o.call = by_correlation.get(o.args.get("correlation")) if o.args.get("correlation") else None
            if o.call:
                o.call.ops.append(o)

    def find_latency(self):
        all_of_them = sorted(c.ops[0].begin - c.begin for c in self.calls if c.ops and c.ops[0].begin >= c.begin)
        self.latency = min(all_of_them[len(all_of_them) // 50], 10000) if all_of_them else 10000

    def find_gaps(self):
        self.queues = {}
        for o in self.ops:
            queue = self.queues.setdefault((o.args.get("device"), o.args.get("stream")), [])
            free = max((p.end for p in queue[-1:]), default=None)
            if queue:
                free = max(free, queue[-1].free)
            o.overlap = max(0, free - o.begin) if queue else 0
            ready = free - o.overlap if queue else None
            if o.call:
                o.wait = min(self.latency, o.begin - o.call.begin)
                ready = o.call.begin + o.wait if ready is None else max(ready, o.call.begin + o.wait)
            o.gap = None if ready is None else o.begin - ready
            o.free = o.end if free is None else max(free, o.end)
            o.queue, o.number = queue, len(queue)
            queue.append(o)
        self.queues = dict(sorted(self.queues.items(), key=lambda q: (q[0][0] or 0, q[0][1] or 0)))

    def find_waits(self):
        by_end = sorted(self.ops, key=lambda o: o.end)
        ends = [o.end for o in by_end]
        for c in self.calls:
            copies = any(o.cat in ("gpu_memcpy", "Memcpy") and c.end >= o.end - 500 for o in c.ops)
            if not copies and not c.name.endswith(WAITS):
                continue
            at = bisect.bisect_right(ends, c.end + 1000) - 1
            while at >= 0 and by_end[at].end > c.begin and (not c.target or by_end[at].end == c.target.end):
                o = by_end[at]
                # Of those that end together the last that it did not launch, else the first that it did.
                others = not o.call or o.call.begin < c.begin
                if (others or o.call is c) and (not c.target or c.target.call is c):
                    c.target = o
                at -= 1

    # The clock of each thread that makes calls, and of each process the one with most calls.
    def find_clocks(self):
        self.clock, self.main = {}, {}
        for process in dict.fromkeys(c.thread[0] for c in self.calls):
            calls = [c for c in self.calls if c.thread[0] == process]
            threads = list(dict.fromkeys(c.thread for c in calls))
            count = {t: sum(c.thread == t for c in calls) for t in threads}
            together, ends = {}, {}
            for c in calls:
                for other in threads:
                    if other != c.thread and ends.get(other, -1 << 62) > c.begin:
                        pair = frozenset((other, c.thread))
                        together[pair] = together.get(pair, 0) + 1
                ends[c.thread] = max(ends.get(c.thread, -1 << 62), c.end)
            clocks = []
            for t in sorted(threads, key=lambda t: -count[t]):
                for clock in clocks:
                    if all(together.get(frozenset((t, o)), 0) * 20 < min(count[t], count[o]) for o in clock):
                        clock.append(t)
                        break
                else:
                    clocks.append([t])
            for number, clock in enumerate(clocks):
                self.clock.update({t: (process, number) for t in clock})
            self.main[process] = (process, 0)

    def clock_of(self, thread):
        return self.clock.get(thread) or self.main.get(thread[0], (thread[0], 0))

    # (when it continues, the clock, when it stopped, those that it waited for), in the order in which they continue.
    def find_joins(self):
        self.joins = []
        for process in self.main:
            clocks = sorted({c for c in self.clock.values() if c[0] == process})
            busy = {}
            for clock in clocks if len(clocks) > 1 else []:
                spans = []
                for t in self.things:
                    if self.clock.get(t.thread) != clock:
                        continue
                    if t.cat in CALLS | {"cpu_op", "Operator"}:
                        spans.append((t.begin, t.end))
                    else:
                        spans += [(t.begin, t.begin + 1), (t.end, t.end + 1)]
                busy[clock] = united(spans)
            for clock in busy:
                for (_, stop), (on, _) in zip(busy[clock], busy[clock][1:]):
                    others = [o for o in busy if o != clock and (o == self.main[process] or took(busy[o], stop, on))]
                    if on - stop >= 100_000 and others:
                        self.joins.append((on, clock, stop, others))
        self.joins.sort()

    def find_event_waits(self, calls):
        for o in self.ops:
            o.events = []
        order, done = {}, {}

        def bring(o):
            for p in o.queue[done.get(id(o.queue), 0):o.number + 1]:
                order[p] = len(order)
            done[id(o.queue)] = max(done.get(id(o.queue), 0), o.number + 1)

        for c in self.calls:
            for o in c.ops + ([c.target] if c.target else []):
                bring(o)
        for queue in self.queues.values():
            bring(queue[-1])
            latest = -1 << 62
            for o in queue:
                latest = o.launched = max(latest, o.call.begin if o.call else latest)
        by_correlation = {}
        for c in calls:
            by_correlation.setdefault(c.args.get("correlation"), c)
        for w in self.things:
            named = by_correlation.get(w.args.get("correlation")) if w.name == "Stream Wait Event" else None
            if not named or not w.args.get("correlation"):
                continue
            queue = self.queues.get((w.args.get("device"), w.args.get("stream")), [])
            first = next((o for o in queue if o.launched > named.begin), None)
            records = [c.begin for c in calls if c.thread == named.thread and "EventRecord" in c.name and c.begin < named.begin]
            recorded, best = max(records, default=named.begin), None
            for (device, _), other in self.queues.items():
                before = [o for o in other if o.launched < recorded]
                if first is None or device != w.args.get("device") or other is queue or not before:
                    continue
                if before[-1].end <= first.begin and order[before[-1]] < order[first] and (not best or before[-1].end > best.end):
                    best = before[-1]
            if best and best not in first.events:
                first.events.append(best)
                first.gap = min(first.gap if first.gap is not None else 0, first.begin - best.end)

    def replay(self, gpu=1.0, host=1.0, no_wait=False, kernel=None, factor=1.0, removed=(), overlap_copies=False):
        begins, before = [r[0] for r in removed], [0]
        for r in removed:
            before.append(before[-1] + r[1] - r[0])

        def bare(t):
            at = bisect.bisect_right(begins, t)
            short = before[at] - (removed[at - 1][1] - t if at and removed[at - 1][1] > t else 0)
            t -= short
            return t if host == 1 else self.begin + int((t - self.begin) * host)

        offset, jumps, done, joins = {}, {}, {}, list(self.joins)
        for clock in set(self.clock.values()) | {self.clock_of(t) for _, _, _, t in self.steps}:
            offset[clock], jumps[clock] = 0, [(-1 << 62, 0)]

        def jump(clock, old, new):
            offset[clock] = new - bare(old)
            jumps[clock].append((max(old, jumps[clock][-1][0]), offset[clock]))

        def after(clock, t):
            return bare(t) + jumps[clock][bisect.bisect_right([j[0] for j in jumps[clock]], t) - 1][1]

        def join(until):
            while joins and joins[0][0] <= until:
                on, clock, stop, others = joins.pop(0)
                new = max([bare(stop) + offset[clock]] + [after(o, on) for o in others])
                if new != bare(on) + offset[clock]:
                    jump(clock, on, new)

        for queue in self.queues.values():
            done[id(queue)] = 0

        def bring(o):
            queue = o.queue
            while done[id(queue)] <= o.number:
                p = queue[done[id(queue)]]
                q = queue[done[id(queue)] - 1] if done[id(queue)] else None
                done[id(queue)] += 1
                beside = overlap_copies and p.cat in ("gpu_memcpy", "Memcpy")
                ready = None
                if q:
                    free = max(q.compute_free, q.copies_free) if beside else q.compute_free
                    ready = max(q.last, free - p.overlap)
                if p.call:
                    launched = bare(p.call.begin) + offset[self.clock_of(p.call.thread)] + p.wait
                    ready = launched if ready is None else max(ready, launched)
                ready = p.begin if ready is None else ready
                ready = max([ready] + [e.new_end for e in p.events])
                p.new = ready + (p.gap or 0)
                length = p.end - p.begin
                length = int(length * factor) if kernel is not None and p.name == kernel else length
                p.new_end = p.new + (int(length * gpu) if gpu != 1 else length)
                if beside:
                    p.last = q.last if q else p.new
                    p.compute_free = q.compute_free if q else p.new
                    p.copies_free = max(p.new_end, q.copies_free) if q else p.new_end
                else:
                    p.last = p.new
                    p.compute_free = max(p.new_end, q.compute_free) if q else p.new_end
                    p.copies_free = q.copies_free if q else -1 << 62

        for c in self.calls:
            join(c.begin)
            clock = self.clock_of(c.thread)
            host_at = bare(c.begin) + offset[clock]
            for o in c.ops:
                bring(o)
            if c.target:
                bring(c.target)
                on = host_at + min(c.end - c.begin, 2000)
                if not no_wait:
                    on = max(on, c.target.new_end + c.end - c.target.end)
                jump(clock, c.end, on)
        for queue in self.queues.values():
            bring(queue[-1])
        join(1 << 62)
        steps = [(after(self.clock_of(t), b), after(self.clock_of(t), e)) for b, e, _, t in self.steps]
        if self.steps:
            begin, end = steps[0][0], max(e for _, e in steps)
        else:
            first = self.calls[0] if self.calls and self.calls[0].begin == self.begin else None
            begin = after(self.clock_of(first.thread), self.begin) if first else self.begin
            end = max((after(self.clock_of(c.thread), c.end) for c in self.calls), default=-1 << 62)
        end = max([end] + [o.new_end for o in self.ops])
        return end - begin, [e - b for b, e in steps]

    def named(self, name):
        return united([(t.begin, t.end) for t in self.things if t.name == name and t.cat in HOST])

    def busiest_name(self):
        times = {}
        for t in self.things:
            if t.cat in ("cpu_op", "Operator", "user_annotation") and not t.name.startswith("ProfilerStep#"):
                times[t.name] = times.get(t.name, 0) + t.end - t.begin
        return max(times, key=lambda name: (times[name], name)) if times else None


def asked(program, recording, *options):
    done = subprocess.run([program, "whatif", str(recording), "--json", "--as-recorded", *options], capture_output=True, timeout=120)
    if done.returncode != 0:
        raise SystemExit(f"{recording} {options}: ended with {done.returncode}: {done.stderr.decode()}")
    return json.loads(done.stdout)


def complaints(program, recording, truth):
    model = Model(recording)
    base = asked(program, recording)
    if base["before_ns"] != base["after_ns"] or any(s["before_ns"] != s["after_ns"] for s in base["steps"]):
        yield f"without a change the run takes {base['after_ns']}, {base['before_ns']} before"
    kernel = truth["kernel"]
    cases = [("gpu 0.5", ["--gpu", "0.5"], {"gpu": 0.5}), ("gpu 0", ["--gpu", "0"], {"gpu": 0.0}),
             ("host 0.5", ["--host", "0.5"], {"host": 0.5}), ("no-wait", ["--no-wait"], {"no_wait": True}),
             ("kernel 0.25", ["--kernel", re.escape(kernel) + "=0.25"], {"kernel": kernel, "factor": 0.25}),
             ("overlap-copies", ["--overlap-copies"], {"overlap_copies": True})]
    if name := model.busiest_name():
        cases.append(("remove", ["--remove", name], {"removed": model.named(name)}))
        cases.append(("several", ["--remove", name, "--gpu", "0.5", "--no-wait"],
                      {"removed": model.named(name), "gpu": 0.5, "no_wait": True}))
    for what, options, change in cases:
        answer = asked(program, recording, *options)
        length, steps = model.replay(**change)
        if abs(answer["after_ns"] - length) > 10 + base["before_ns"] // 100_000:
            yield f"{what}: {answer['after_ns']}, a naive program says {length}"
        if any(abs(s["after_ns"] - n) > 10 + base["before_ns"] // 100_000 for s, n in zip(answer["steps"], steps)):
            yield f"{what}: steps {[s['after_ns'] for s in answer['steps']]}, a naive program says {steps}"
        if what in truth and abs(answer["after_ns"] - truth[what]) > NEAR * truth["before_ns"]:
            yield f"{what}: {answer['after_ns']}, the truth is {truth[what]}"
    if base["waits"] != truth["waits"] or abs(base["latency_ns"] - truth["latency_ns"]) > 256:
        yield f"{base['waits']} waits, {base['latency_ns']} ns: the truth is {truth['waits']}, {truth['latency_ns']}"


# Pauses that one step has and the others have not, and a DataLoader whose real cure was recorded.
def experiments(program, found):
    if recording := found.get("ranks/ddp_delayed_rank1"):
        steps = [s["after_ns"] for s in asked(program, recording, "--remove", "planted_delay")["steps"]]
        if not 7_400_000 < steps[2] < 9_700_000:
            yield f"without planted_delay the step takes {steps[2]}, its neighbours 7.5 to 9.6 ms"
    if recording := found.get("public/kineto_2021_resnet50"):
        steps = sorted(s["after_ns"] for s in asked(program, recording, "--remove", "enumerate(DataLoader)*")["steps"])
        if not (107_000_000 < steps[0] and steps[-1] < 126_000_000 and 115_000_000 < sum(steps[2:4]) / 2 < 117_000_000):
            yield f"without its DataLoader the steps take {steps}, 107 to 125 ms, median 116, by the definition"


def main(program, truth_file, *folders):
    truth = json.loads(pathlib.Path(truth_file).read_text())
    found = {}
    for name in truth:
        for folder in map(pathlib.Path, folders):
            for path in (folder / f"{name}.json.gz", folder / f"{pathlib.Path(name).name}.json.gz"):
                if path.exists():
                    found.setdefault(name, path)
    print(f"{len(found)} of {len(truth)} recordings of the truth are here")
    if len(found) < len(truth):
        print("SKIPPED: " + ", ".join(sorted(set(truth) - set(found))))
    wrong = [f"{name}: {c}" for name, path in found.items() for c in complaints(program, path, truth[name])]
    wrong += experiments(program, found)
    print("\n".join(wrong))
    return 1 if wrong or len(found) < 20 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
