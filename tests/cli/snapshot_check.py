#!/usr/bin/env python3
"""Compares `gapscope snapshot` with a naive reading of the same memory snapshots by Python's pickle.

    snapshot_check.py PROGRAM [FOLDER...]

A tiny snapshot made here is always read. Of a folder: its *.pickle, with PyTorch's own statistics in *.stats.json where they are.
"""
import collections
import gzip
import json
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile

failures = 0


def check(what, said, right):
    global failures
    if said != right:
        failures += 1
        print(f"{what}: said {said}, is {right}")


def run(program, *arguments, **more):
    done = subprocess.run([program, "snapshot", *map(str, arguments)], capture_output=True, timeout=120, **more)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def asked(program, *arguments):
    code, out, err = run(program, *arguments, "--json")
    if code != 0:
        check(f"end of {arguments}", (code, err), 0)
        sys.exit(1)
    return json.loads(out)


def frame(line, name="step", file="/home/me/train.py"):
    return {"name": name, "filename": file, "line": line}


def tiny():
    """Two GPUs. On the first a fragmented large pool runs out of memory; then everything but two blocks is freed."""
    mib = 1 << 20
    base = 0x7f0000000000
    forward = [frame(134, "forward", "/env/lib/python3.12/site-packages/torch/nn/modules/linear.py"), frame(12)]
    adam = [frame(178, "_init_group", "/env/lib/python3.12/site-packages/torch/optim/adam.py"), frame(13)]
    other = [frame(20, "keep\x1b[31m%s")]
    trace, time = [], 1_700_000_000_000_000

    def event(action, **more):
        nonlocal time
        time += 10
        trace.append({"action": action, "stream": 0, "time_us": time, "user_metadata": "", **more})

    event("segment_alloc", addr=base, size=80 * mib, frames=forward)
    for i in range(8):
        event("alloc", addr=base + 10 * i * mib, size=10 * mib - 100, frames=forward if i % 2 else adam)
    for i in (1, 3, 5):
        for action in ("free_requested", "free_completed"):
            event(action, addr=base + 10 * i * mib, size=10 * mib - 100, frames=other)
    event("oom", size=20 * mib, device_free=3 * mib, frames=other)
    event("free_requested", addr=base + 70 * mib, size=10 * mib - 100, frames=other)  # another stream still uses it
    for i in (4, 6):
        for action in ("free_requested", "free_completed"):
            event(action, addr=base + 10 * i * mib, size=10 * mib - 100, frames=[])

    def block(i, count, state, frames):
        size = 10 * count * mib
        return {"address": base + 10 * i * mib, "size": size, "requested_size": size - 100 if state != "inactive" else size, "state": state, "frames": frames}

    large = {"device": 0, "address": base, "total_size": 80 * mib, "allocated_size": 20 * mib, "active_size": 30 * mib, "requested_size": 20 * mib - 200, "stream": 0,
             "segment_type": "large", "segment_pool_id": (0, 0), "is_expandable": False, "frames": forward,
             "blocks": [block(0, 1, "active_allocated", adam), block(1, 1, "inactive", []), block(2, 1, "active_allocated", adam), block(3, 4, "inactive", []),
                        block(7, 1, "active_pending_free", forward)]}
    small = {"device": 1, "address": base * 2, "total_size": 2 * mib, "allocated_size": 512, "active_size": 512, "requested_size": 4, "stream": 7, "segment_type": "small",
             "segment_pool_id": (0, 3), "is_expandable": False, "frames": [],
             "blocks": [{"address": base * 2, "size": 512, "requested_size": 4, "state": "active_allocated", "frames": []},
                        {"address": base * 2 + 512, "size": 2 * mib - 512, "requested_size": 0, "state": "inactive", "frames": []}]}
    return {"segments": [large, small], "device_traces": [trace, []], "allocator_settings": {"expandable_segments": False, "garbage_collection_threshold": 0.5},
            "external_annotations": [{"stage": "START", "name": "Optimizer.step#AdamW.step", "device": 0, "time_us": time}]}


def is_active(block):
    return block["state"].startswith("active")


def peak(events, held):
    """From the end: what was held before each event. The first event after which most was held."""
    most, at = held, None
    for i in range(len(events) - 1, -1, -1):
        if events[i]["action"] == "alloc":
            if held == most:
                at = i
            held -= events[i]["size"]
        elif events[i]["action"] == "free_completed":
            held += events[i]["size"]
            if held > most:
                most, at = held, None
    return most, None if held == most else at


def held_at(events, blocks, n):
    """Bytes by frames of what is held after event n: what was allocated until then, and what is freed later without being seen to be allocated."""
    at_end = {b["address"]: b for b in blocks if is_active(b)}
    live = {}
    last = {}
    for i, e in enumerate(events):
        if e["action"] == "alloc":
            last[e["addr"]] = i
    met = set()
    for i, e in enumerate(events):  # before the history: freed first
        if e["action"] == "alloc":
            met.add(e["addr"])
        elif e["action"] == "free_completed" and e["addr"] not in met:
            live[e["addr"]] = (e["size"], ())
            met.add(e["addr"])
    for address, b in at_end.items():
        if address not in met:
            live[address] = (b["size"], tuple(tuple(sorted(f.items())) for f in b["frames"]))
    for i, e in enumerate(events[:n + 1]):
        if e["action"] == "alloc":
            survives = last[e["addr"]] == i and e["addr"] in at_end
            live[e["addr"]] = (at_end[e["addr"]]["size"] if survives else e["size"], tuple(tuple(sorted(f.items())) for f in e["frames"]))
        elif e["action"] == "free_completed":
            live.pop(e["addr"], None)
    sums = collections.Counter()
    for size, frames in live.values():
        sums[frames] += size
    return sums


def said_holders(answer):
    sums = {tuple(tuple(sorted(f.items())) for f in h["frames"]): h["bytes"] for h in answer["holders"]}
    check("holders of the same stack", len(sums), len(answer["holders"]))
    check("order of holders", [h["bytes"] for h in answer["holders"]], sorted((h["bytes"] for h in answer["holders"]), reverse=True))
    return sums


def at_the_end(what, answer, data):
    ids = sorted({s["device"] for s in data["segments"]} | {i for i, t in enumerate(data["device_traces"]) if t})
    check(f"{what}: devices", [d["id"] for d in answer["devices"]], ids)
    for device in answer["devices"]:
        segments = [s for s in data["segments"] if s["device"] == device["id"]]
        blocks = [b for s in segments for b in s["blocks"]]
        events = data["device_traces"][device["id"]] if device["id"] < len(data["device_traces"]) else []
        most, at = peak(events, sum(s["active_size"] for s in segments))
        check(f"{what}: GPU {device['id']}", device, {
            "id": device["id"], "reserved_bytes": sum(s["total_size"] for s in segments), "allocated_bytes": sum(s["allocated_size"] for s in segments),
            "active_bytes": sum(s["active_size"] for s in segments), "requested_bytes": sum(s["requested_size"] for s in segments), "segments": len(segments),
            "blocks": len(blocks), "largest_free_bytes": max((b["size"] for b in blocks if not is_active(b)), default=0), "peak_bytes": most, "peak_event": at,
            "ooms": sum(e["action"] == "oom" for e in events)})
        free = next(f for f in answer["free"] if f["device"] == device["id"])
        check(f"{what}: free", (free["free_bytes"], free["split_free_bytes"]), (
            sum(b["size"] for b in blocks if not is_active(b)), sum(b["size"] for s in segments for b in s["blocks"] if not is_active(b) and len(s["blocks"]) > 1)))
        pools = [p for p in answer["pools"] if p["device"] == device["id"]]
        check(f"{what}: pools", sum(p["reserved_bytes"] for p in pools), device["reserved_bytes"])
        check(f"{what}: held in pools", sum(p["active_bytes"] for p in pools), device["active_bytes"])
    sums = collections.Counter()
    counts = collections.Counter()
    for s in data["segments"]:
        for b in filter(is_active, s["blocks"]):
            frames = tuple(tuple(sorted(f.items())) for f in b["frames"])
            sums[frames] += b["size"]
            counts[frames] += 1
    check(f"{what}: holders", said_holders(answer), dict(sums))
    check(f"{what}: blocks of holders", sorted(h["blocks"] for h in answer["holders"]), sorted(counts.values()))
    for key in ("lines", "categories"):
        check(f"{what}: {key}", sum(r["bytes"] for r in answer[key]), sum(sums.values()))
    check(f"{what}: settings", answer["settings"].get("expandable_segments"), str(data["allocator_settings"]["expandable_segments"]))


def at_events(program, what, path, data):
    for id, events in enumerate(data["device_traces"]):
        if not events:
            continue
        segments = [s for s in data["segments"] if s["device"] == id]
        blocks = [b for s in segments for b in s["blocks"]]
        for n in sorted({0, 1, len(events) // 3, len(events) // 2, len(events) - 1}):
            answer = asked(program, path, "--device", id, "--at", n)
            check(f"{what}: held at {n}", said_holders(answer), dict(held_at(events, blocks, n)))
            later = events[n + 1:]
            active = sum(s["active_size"] for s in segments) + sum(e["size"] for e in later if e["action"] == "free_completed") - sum(e["size"] for e in later if e["action"] == "alloc")
            reserved = sum(s["total_size"] for s in segments) - sum(e["size"] for e in later if e["action"] == "segment_alloc") + sum(e["size"] for e in later if e["action"] == "segment_free")
            check(f"{what}: sums at {n}", (answer["devices"][0]["active_bytes"], answer["devices"][0]["reserved_bytes"]), (active, reserved))
        answer = asked(program, path, "--device", id, "--at", "peak")
        check(f"{what}: at the peak", answer["devices"][0]["active_bytes"], answer["devices"][0]["peak_bytes"])


def growing(events, data, id, blocks):
    """Bytes by frames of what grows: what is still held, left behind in three of four steps and more, without the first and the last one."""
    names = [a["name"] for a in data["external_annotations"] if a["name"].startswith("Optimizer.step") and a["stage"] == "END" and a["device"] == id]
    times = [a["time_us"] for a in data["external_annotations"] if a["stage"] == "END" and names and a["name"] == names[0] and a["device"] == id]
    step_of = [sum(t < e["time_us"] for t in times) for e in events]
    steps = sorted(set(step_of))
    if len(steps) < 4:
        if len(events) < 160:
            return {}
        ends = [len(events) * part // 8 for part in range(1, 9)]
        step_of = [sum(end <= i for end in ends) for i in range(len(events))]
        steps = sorted(set(step_of))
    last = {e["addr"]: i for i, e in enumerate(events) if e["action"] == "alloc"}
    left = collections.defaultdict(collections.Counter)
    for b in filter(is_active, blocks):
        if b["address"] in last:
            step = step_of[last[b["address"]]]
            if step not in (steps[0], steps[-1]):
                left[tuple(tuple(sorted(f.items())) for f in b["frames"])][step] += b["size"]
    return {frames: sum(sizes.values()) for frames, sizes in left.items() if len(sizes) >= max(2, 0.75 * (len(steps) - 2))}


def statistics(what, answer, stats):
    """PyTorch's own."""
    device = answer["devices"][0]
    for key, theirs in (("reserved_bytes", "reserved_bytes"), ("allocated_bytes", "allocated_bytes"), ("active_bytes", "active_bytes"), ("requested_bytes", "requested_bytes")):
        check(f"{what}: {key} of PyTorch", device[key], stats[f"{theirs}.all.current"])
    check(f"{what}: segments of PyTorch", device["segments"], stats["segment.all.current"])
    check(f"{what}: out of memory of PyTorch", device["ooms"], stats["num_ooms"])
    check(f"{what}: split of PyTorch", answer["free"][0]["split_free_bytes"], stats["inactive_split_bytes.all.current"])
    check(f"{what}: peak of PyTorch", device["peak_bytes"], stats["requested_bytes.all.peak"])


def whole_file(program, path):
    data = pickle.loads(path.read_bytes())
    answer = asked(program, path)
    at_the_end(path.name, answer, data)
    at_events(program, path.name, path, data)
    for id, events in enumerate(data["device_traces"]):
        blocks = [b for s in data["segments"] if s["device"] == id for b in s["blocks"]]
        said = {tuple(tuple(sorted(f.items())) for f in leak["frames"]): leak["bytes"] for leak in answer["leaks"] if leak["device"] == id}
        check(f"{path.name}: what grows on GPU {id}", said, growing(events, data, id, blocks))
    stats = path.with_suffix(".stats.json")
    if stats.is_file():
        statistics(path.name, answer, json.loads(stats.read_text()))
    code, text, err = run(program, path)
    check(f"{path.name}: text", (code, err, "\x1b" in text), (0, "", False))


class Runs:
    def __reduce__(self):
        return os.system, ("touch RAN",)


def tiny_file(program, folder):
    data = tiny()
    for protocol in (2, 3, 4, 5):
        path = folder / f"tiny{protocol}.pickle"
        path.write_bytes(pickle.dumps(data, protocol))
        whole_file(program, path)
    packed = folder / "tiny.pickle.gz"
    packed.write_bytes(gzip.compress(pickle.dumps(data)))
    check("packed", asked(program, packed), asked(program, path))
    code, out, _ = run(program, "-", "--json", input=path.read_bytes())
    check("standard input", json.loads(out), asked(program, path))

    oom = asked(program, path)["out_of_memory"]
    mib = 1 << 20
    check("out of memory", [(o["event"], o["asked_bytes"], o["device_free_bytes"], o["pool"], o["why"], o["largest_free_large_bytes"], o["free_bytes"] // mib) for o in oom],
          [(15, 20 * mib, 3 * mib, "large", "fragmented", 10 * mib, 30)])
    check("its remedy", "expandable_segments:True" in oom[0]["remedies"][0], True)
    code, text, _ = run(program, path)
    check("first sentence", text.split(",")[0], "Out of memory: train.py:20 (keep\ufffd[31m%s) asked for 21.0 MB")
    check("categories at the out-of-memory", {c["category"]: c["bytes"] for c in asked(program, path, "--at", "oom", "--device", 0)["categories"]},
          {"activations": 10 * mib, "optimizer": 4 * (10 * mib) - 2 * 100})

    for what, arguments, words in (("no such event", [path, "--at", "99"], "has 21 events"), ("no event", [path, "--at", "soon"], "is not an event"), ("no such GPU", [path, "--device", "5"], "GPU 5"),
                                   ("no oom", [path, "--at", "oom", "--device", "1"], "no out-of-memory event"), ("no file", [folder / "none"], "none")):
        code, out, err = run(program, *arguments)
        check(what, (code, out, err.count("\n"), words in err), (1, "", 1, True))


def leak_file(program, folder):
    """A list grows by a tensor a step; a cache is filled in the first step; a buffer is made anew in each."""
    leaking, cache, buffer = ([frame(n)] for n in (1, 2, 3))
    for has_steps in (True, False):
        trace, blocks, annotations, at, before = [], [], [], 1 << 40, None
        for step in range(6):
            for frames, survives in [(cache, step == 0), (leaking, True), (buffer, step == 5)] + [(buffer, False)] * 20:
                event = {"addr": at, "size": 512 * (step + 1), "stream": 0, "time_us": len(trace), "frames": frames}
                trace.append({"action": "alloc", **event})
                if survives:
                    blocks.append({"address": at, "size": event["size"], "requested_size": event["size"], "state": "active_allocated", "frames": frames})
                else:
                    trace += [{"action": action, **event} for action in ("free_requested", "free_completed")]
                at += 4096
            if has_steps:
                annotations += [{"stage": stage, "name": "Optimizer.step#SGD.step", "device": 0, "time_us": len(trace) - 1} for stage in ("START", "END")]
        held = sum(b["size"] for b in blocks)
        data = {"segments": [{"device": 0, "address": 1 << 40, "total_size": at - (1 << 40), "allocated_size": held, "active_size": held, "requested_size": held, "stream": 0,
                              "segment_type": "large", "is_expandable": True, "blocks": blocks}],
                "device_traces": [trace], "allocator_settings": {"expandable_segments": True}, "external_annotations": annotations}
        path = folder / "leak.pickle"
        path.write_bytes(pickle.dumps(data))
        answer = asked(program, path)
        check("what grows", [(leak["frames"], leak["steps_of"]) for leak in answer["leaks"]], [(leaking, "optimizer" if has_steps else "equal parts")])
        check("what grows, against a naive reading", {1: answer["leaks"][0]["bytes"]}, {1: sum(growing(trace, data, 0, blocks).values())})
        if has_steps:
            check("a step's growth", [(leak["bytes_per_step"], leak["steps"], leak["of_steps"], leak["blocks"]) for leak in answer["leaks"]], [(512 * 4, 4, 4, 4)])
            check("its sentence", "grows" in run(program, path)[1].split("\n")[1], True)


def hostile(program, folder):
    for what, content, words in (
            ("os.system", pickle.dumps({"segments": [Runs()]}), "would run code: STACK_GLOBAL (\"posix.system\")"),
            ("os.system, protocol 2", pickle.dumps({"segments": [Runs()]}, 2), "would run code: GLOBAL (\"posix.system\")"),
            ("protocol 0", b"(dp0\n.", "protocol 2 to 5"), ("another pickle", pickle.dumps([1, 2]), "not a memory snapshot"), ("a trace", b"{\"traceEvents\": []}", "is not a pickle"),
            ("nothing", b"", "is empty"), ("half", pickle.dumps(tiny())[:1000], "ends in the middle")):
        path = folder / "bad.pickle"
        path.write_bytes(content)
        code, out, err = run(program, path, cwd=folder)
        check(what, (code, out, err.count("\n")), (1, "", 1))
        check(what, words if words in err else err, words)
        check(f"{what}: litter", (folder / "RAN").exists(), False)
    # Sizes and times at the ends of what fits: sums stop there, and every moment has an answer.
    data = tiny()
    for i, event in enumerate(data["device_traces"][0]):
        event["size"] = event["time_us"] = (1 << 63) - 1 if i % 3 else -(1 << 63)
    (folder / "huge.pickle").write_bytes(pickle.dumps(data))
    for arguments in ([], ["--json"], ["--at", "peak"], ["--at", "0"], ["--at", "oom"], ["--at", "0", "--before", folder / "tiny4.pickle"]):
        code, out, err = run(program, folder / "huge.pickle", *arguments)
        check(f"huge numbers {arguments}", (code, err), (0, ""))
    # As a trace it is named for what it is, with the command that reads it.
    (folder / "tiny.pickle").write_bytes(pickle.dumps(tiny()))
    done = subprocess.run([program, "why", folder / "tiny.pickle"], capture_output=True, timeout=60)
    check("why", (done.returncode, b"gapscope snapshot" in done.stderr), (1, True))
    done = subprocess.run([program, "info", "--json", folder / "tiny.pickle"], capture_output=True, timeout=60)
    info = json.loads(done.stdout)
    check("info", (info["producer"], [(d["id"], d["events"]) for d in info["devices"]]), ("torch_snapshot", [(0, 21), (1, 0)]))
    done = subprocess.run([program, "info", folder / "tiny.pickle"], capture_output=True, timeout=60)
    check("info, text", (done.returncode, b"GPU 1" in done.stdout), (0, True))
    (folder / "other.pickle").write_bytes(pickle.dumps({"entries": [], "pg_config": {}}))
    done = subprocess.run([program, "info", folder / "other.pickle"], capture_output=True, timeout=60)
    check("info of another pickle", (done.returncode, b"flight recorder" in done.stderr), (1, True))


def two_files(program, folder):
    after, before = tiny(), tiny()
    before["segments"][0]["blocks"][2]["state"] = "inactive"
    paths = []
    for name, data in (("after", after), ("before", before)):
        data["segments"][0]["active_size"] = sum(b["size"] for b in data["segments"][0]["blocks"] if is_active(b))
        paths.append(folder / f"{name}.pickle")
        paths[-1].write_bytes(pickle.dumps(data))
    mib = 1 << 20
    answer = asked(program, paths[0], "--before", paths[1])
    line = {"line": "train.py:13", "difference_bytes": 10 * mib, "before_bytes": 10 * mib, "after_bytes": 20 * mib, "before_blocks": 1, "after_blocks": 2}
    said = [{**row, "line": row["line"].split(" ")[0]} for row in answer["lines"]]
    check("what two hold", (answer["before_bytes"], answer["after_bytes"], said), (20 * mib + 512, 30 * mib + 512, [line]))
    check("their categories", [(c["category"], c["difference_bytes"]) for c in answer["categories"]], [("optimizer", 10 * mib)])
    code, text, err = run(program, paths[0], "--before", paths[1])
    check("the sentence of two", (code, err, text.split("\n")[0]), (0, "", "10.5 MB more is held than before (21.0 MB to 31.5 MB), most of the difference by train.py:13 (step): +10.5 MB."))
    check("two that are the same", run(program, paths[0], "--before", paths[0])[1], "0 B more is held than before (31.5 MB to 31.5 MB); every line holds the same.\n")


if __name__ == "__main__":
    program = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as name:
        tiny_file(program, pathlib.Path(name))
        leak_file(program, pathlib.Path(name))
        two_files(program, pathlib.Path(name))
        hostile(program, pathlib.Path(name))
    there = [p for folder in sys.argv[2:] for p in sorted(pathlib.Path(folder).glob("*.pickle"))]
    for path in there:
        whole_file(program, path)
    if len(sys.argv) > 2 and not there:
        print("No snapshots of PyTorch are at hand: only the tiny one was read.")
    sys.exit(1 if failures else 0 if there or len(sys.argv) == 2 else 77)
