#!/usr/bin/env python3
"""Compares what Gapscope says of rocprofv3's JSON with a naive reading of the same files by Python's own JSON reader, and with
what it says of the same recordings as databases (rocpd, made here by the published schema).

    rocprof_check.py PROGRAM [FILE...]

An invented recording is always read: HIP and HSA calls, copies, roctx ranges, allocations. Files that are not there are left
out, and named.
"""
import collections
import copy
import gzip
import json
import os
import random
import sqlite3
import subprocess
import sys
import tempfile

failures = 0


def agent(handle, kind, number, **more):
    gpu = {"simd_per_cu": 4, "max_waves_per_simd": 8, "wave_front_size": 64, "cu_count": 304, "lds_size_in_kb": 64,
           "gfx_target_version": 90402, "workgroup_max_size": 1024, "name": "gfx942", "product_name": "AMD Instinct MI300X"}
    cpu = {"cu_count": 64, "name": "EPYC", "product_name": "EPYC", "wave_front_size": 0}
    return {"id": {"handle": handle}, "type": kind, "logical_node_type_id": number, **(gpu if kind == 2 else cpu), **more}


KINDS = [("NONE", []), ("HIP_RUNTIME_API", ["hipNone", "hipLaunchKernel", "hipMemcpyAsync", "hipStreamSynchronize"]),
         ("HSA_CORE_API", ["hsa_signal_wait"]), ("MARKER_CORE_RANGE_API", ["roctxThreadRangeA", "roctxMarkA"]),
         ("MEMORY_ALLOCATION", ["MEMORY_ALLOCATION_NONE", "MEMORY_ALLOCATION_ALLOCATE", "x", "MEMORY_ALLOCATION_FREE"]),
         ("KERNEL_DISPATCH", []), ("MEMORY_COPY", [])]
SYMBOLS = [  # id, name, VGPRs, for accumulation, SGPRs
    (7, "gemm<\"f32\">(float*)", 96, 32, 80), (8, "void elementwise", 20, 0, 32), (9, "ncclDevKernel_Generic_1", 92, 0, 112)]


def small():
    records = {name: [] for name in ("kernel_dispatch", "hip_api", "hsa_api", "marker_api", "rccl_api", "memory_copy",
                                     "memory_allocation", "scratch_memory")}
    texts = []

    def put(table, kind, operation, begin, took, own, thread=500, **more):
        records[table].append({"size": 1, "kind": kind, "operation": operation, "thread_id": thread,
                               "correlation_id": {"internal": own, "external": 0}, "start_timestamp": begin,
                               "end_timestamp": begin + took, **more})

    put("memory_allocation", 4, 1, 1000, 5, 900, agent_id={"handle": 31}, address=4096, allocation_size=1 << 20)
    put("memory_allocation", 4, 3, 9_900_000, 5, 901, agent_id={"handle": 0}, address=4096, allocation_size=0)
    for step in range(4):
        at, own = 1_000_000 + 1_000_000 * step, 10 * step + 1
        texts.append({"key": own, "value": f"iteration {step}"})
        put("marker_api", 3, 0, at, 900_000, own)
        put("hip_api", 1, 2, at + 1000, 3000, own + 1)
        put("memory_copy", 6, 2, at + 5000, 40_001, own + 1, src_agent_id={"handle": 30}, dst_agent_id={"handle": 31}, bytes=4096)
        for k, (symbol, *_) in enumerate(SYMBOLS):
            put("hip_api", 1, 1, at + 10_000 * (k + 1), 2345, own + 2 + k)
            put("kernel_dispatch", 5, 2, at + 60_000 + 100_000 * k, 90_000 + step, own + 2 + k, dispatch_info={
                "agent_id": {"handle": 31 + (k == 1)}, "queue_id": {"handle": 3 + k}, "kernel_id": symbol, "dispatch_id": own,
                "private_segment_size": 16 * k, "group_segment_size": 20_000 * (k == 0),
                "workgroup_size": {"x": 256, "y": 1, "z": 1}, "grid_size": {"x": 256 * 700 + 1, "y": 2, "z": 1}},
                stream_id={"handle": 40 + k})
        put("hip_api", 1, 3, at + 100_000, 500_000, own + 6)
        put("hsa_api", 2, 0, at + 100_100, 400_000, own + 7)
    return {"rocprofiler-sdk-tool": [{
        "metadata": {"pid": 4000, "command": ["python3"]},
        "agents": [agent(30, 1, 0), agent(31, 2, 0), agent(32, 2, 1)],
        "strings": {"buffer_records": [{"kind": k, "operations": o} for k, o in KINDS], "marker_api": texts},
        "kernel_symbols": [{"kernel_id": i, "formatted_kernel_name": n, "arch_vgpr_count": v, "accum_vgpr_count": a,
                            "sgpr_count": s} for i, n, v, a, s in SYMBOLS],
        "callback_records": {"counter_collection": []}, "buffer_records": records}]}


def check(what, said, right):
    global failures
    if said != right:
        failures += 1
        print(f"{what}: said {str(said)[:300]}, is {str(right)[:300]}")


def run(program, *arguments):
    out = subprocess.run([program, *arguments], capture_output=True, text=True)
    if out.returncode != 0:
        sys.exit(f"{' '.join(arguments)} ended with {out.returncode}: {out.stderr}")
    return json.loads(out.stdout)


def union(spans):
    length, until = 0, None
    for begin, end in sorted(spans):
        if until is None or begin > until:
            length, until = length + end - begin, end
        elif end > until:
            length, until = length + end - until, end
    return length


def theoretical(gpu, vgprs, lds, threads):
    """Percent of wave slots of a CDNA CU, and what limits."""
    waves, slots = -(-threads // 64), gpu["simd_per_cu"] * gpu["max_waves_per_simd"]
    granule = 1280 if gpu["lds_size_in_kb"] > 128 else 512
    by = {"waves": slots // waves, "VGPRs": 4 * (512 // (-(-vgprs // 8) * 8)) // waves,
          "workgroups": 16 if waves > 1 else slots}
    if lds:
        by["LDS"] = gpu["lds_size_in_kb"] * 1024 // (-(-lds // granule) * granule)
    least = min(by.values())
    return 100 * least * waves / slots, sorted(k for k, v in by.items() if v == least)


def look(program, path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
        tool = json.load(file)["rocprofiler-sdk-tool"][0]
    records = tool["buffer_records"]
    dispatches, copies = records["kernel_dispatch"], records["memory_copy"]
    agents = {a["id"]["handle"]: a for a in tool["agents"]}
    gpus = [a for a in tool["agents"] if a["type"] == 2]
    symbols = {s["kernel_id"]: s for s in tool["kernel_symbols"]}
    info = run(program, "info", "--json", path)
    check("producer", info["producer"], "rocprof")
    check("devices", [(d["id"], d["name"]) for d in info["devices"]],
          [(a["logical_node_type_id"], a["product_name"]) for a in gpus])
    check("GPU work", info["launches"]["gpu_slices"], len(dispatches) + len(copies))
    calls = {r["correlation_id"]["internal"] for r in records["hip_api"] + records["hsa_api"]}
    check("work with its call", info["launches"]["joined_to_call"],
          sum(r["correlation_id"]["internal"] in calls for r in dispatches + copies))

    took = lambda r: r["end_timestamp"] - r["start_timestamp"]
    on = lambda r: agents[r["dispatch_info"]["agent_id"]["handle"]]
    by_name = collections.defaultdict(list)
    for r in dispatches:
        by_name[symbols[r["dispatch_info"]["kernel_id"]]["formatted_kernel_name"]].append(r)
    table = {row["name"]: row for row in run(program, "kernels", "--json", path)}
    check("names", sorted(n for n in table if not n.startswith("Memcpy ")), sorted(by_name))
    for name, rows in by_name.items():
        row = table.get(name)
        if row is None:
            continue
        own = [symbols[r["dispatch_info"]["kernel_id"]] for r in rows]
        check(f"count of {name}", row["count"], len(rows))
        check(f"time of {name}", row["total_ns"], sum(map(took, rows)))
        vgprs = [s["arch_vgpr_count"] + s["accum_vgpr_count"] for s in own]
        check(f"VGPRs of {name}", row["registers"], {"min": min(vgprs), "max": max(vgprs)})
        lds = [r["dispatch_info"]["group_segment_size"] for r in rows]
        check(f"LDS of {name}", row["shared_memory"] or {"min": 0, "max": 0}, {"min": min(lds), "max": max(lds)})
        size = lambda r, which: tuple(r["dispatch_info"][which][axis] for axis in "xyz")
        grid = lambda r: tuple(-(-items // group) for items, group in zip(size(r, "grid_size"), size(r, "workgroup_size")))
        for which, naive in (("grids", collections.Counter(map(grid, rows))),
                             ("blocks", collections.Counter(size(r, "workgroup_size") for r in rows))):
            for shape in row[which]:
                check(f"{which} of {name}", shape["count"], naive[tuple(shape["size"])])
        threads = [x * y * z for x, y, z in (size(r, "workgroup_size") for r in rows)]
        fits = {theoretical(on(r), v, l, t)[0]: theoretical(on(r), v, l, t) for r, v, l, t in zip(rows, vgprs, lds, threads)}
        if len(fits) == 1:
            (percent, limits), = fits.values()
            check(f"occupancy of {name}", row["occupancy"]["theoretical_percent"], percent)
            if len({(v, l, t) for v, l, t in zip(vgprs, lds, threads)}) == 1:
                check(f"limits of {name}", sorted(row["occupancy"]["limiters"]), limits)

    ask = lambda query: [tuple(row) for row in run(program, "sql", "--json", path, query)["rows"]]
    streams = collections.Counter((on(r)["logical_node_type_id"], r["stream_id"]["handle"]) for r in dispatches)
    check("streams", ask("select device, stream, count(*) from kernel group by 1, 2 order by 1, 2"),
          sorted((*k, n) for k, n in streams.items()))
    check("first and last", ask("select min(ts), max(ts + dur) from kernel"),
          [(min(r["start_timestamp"] for r in dispatches), max(r["end_timestamp"] for r in dispatches))])
    queues = collections.Counter(f"GPU {on(r)['logical_node_type_id']} queue {r['dispatch_info']['queue_id']['handle']}"
                                 for r in dispatches)
    check("queues", {lane["title"]: lane["slices"] for lane in info["lanes"] if " queue " in lane["title"]}, dict(queues))
    for device in run(program, "gpu", "--json", path)["devices"]:
        spans = lambda rows: [(r["start_timestamp"], r["end_timestamp"]) for r in rows]
        own = [r for r in dispatches if on(r)["logical_node_type_id"] == device["id"]]
        moved = [r for r in copies if agents[r["dst_agent_id"]["handle"]]["logical_node_type_id"] == device["id"]]
        check(f"busy of {device['id']}", device["all"]["busy_ns"], union(spans(own + moved)))
        name = lambda r: symbols[r["dispatch_info"]["kernel_id"]]["formatted_kernel_name"]
        check(f"RCCL of {device['id']}", device["all"]["communication_ns"],
              union(spans(r for r in own if name(r).startswith("ncclDevKernel"))))



def look_at_small(program, path):
    look(program, path)
    steps = run(program, "steps", "--json", path)["steps"]
    check("steps", [s["cpu_begin_ns"] for s in steps][:4], [1_000_000 + 1_000_000 * step for step in range(4)])
    ask = lambda query: [tuple(row) for row in run(program, "sql", "--json", path, query)["rows"]]
    check("calls", ask("select name, count(*), sum(dur) from slice where name like 'hip%' or name like 'hsa%' group by 1"),
          [("hipLaunchKernel", 12, 12 * 2345), ("hipMemcpyAsync", 4, 12_000), ("hipStreamSynchronize", 4, 2_000_000),
           ("hsa_signal_wait", 4, 1_600_000)])
    check("copies", ask("select name, count(*), sum(dur) from slice where category = 'gpu_memcpy' group by 1"),
          [("Memcpy HtoD (Host -> Device)", 4, 160_004)])
    check("memory", ask("select device, bytes, total_allocated from memory_event order by ts"),
          [("GPU 0", 1 << 20, 1 << 20), ("GPU 0", -(1 << 20), 0)])
    words = subprocess.run([program, "overview", path], capture_output=True, text=True).stdout
    check("AMD's words", "304 CUs" in words and " SMs" not in words, True)


def hostile(program, folder, whole):
    """Damaged text and wrong types: a sentence or a trace, and no crash."""
    def outcome(name, text):
        path = os.path.join(folder, name)
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        result = subprocess.run([program, "info", "--json", path], capture_output=True, text=True, timeout=60)
        check(f"{name} does not crash", result.returncode in (0, 1), True)
        return result

    text = json.dumps(whole)
    check("cut short", "damaged or cut short" in outcome("cut.json", text[:len(text) // 2]).stderr, True)
    empty = {"rocprofiler-sdk-tool": [{"metadata": {}, "buffer_records": {}}]}
    check("without events", "without events" in outcome("empty.json", json.dumps(empty)).stderr, True)
    outcome("none.json", '{"rocprofiler-sdk-tool": 3}')
    outcome("list.json", '{"rocprofiler-sdk-tool": [3, null, [], {"buffer_records": {"kernel_dispatch": [1, {}, []]}}]}')
    chance = random.Random(60)
    values = [None, -1, 2**63 - 1, -2**63, 2**64 - 1, 1e300, "x", [], {}, [[]], True]

    def places(value, out):
        for key in value if isinstance(value, dict) else range(len(value)):
            out.append((value, key))
            if isinstance(value[key], (dict, list)):
                places(value[key], out)
        return out

    for round_ in range(40):
        damaged = copy.deepcopy(whole)
        found = places(damaged["rocprofiler-sdk-tool"], [])
        for inside, key in chance.sample(found, 1 + round_):
            inside[key] = copy.deepcopy(chance.choice(values))
        outcome("wrong.json", json.dumps(damaged))


DATABASE = """
CREATE TABLE rocpd_string{0} (id INTEGER PRIMARY KEY, guid TEXT, string TEXT);
CREATE TABLE rocpd_info_process{0} (id INTEGER PRIMARY KEY, guid TEXT, nid INT, ppid INT, pid INT, command TEXT);
CREATE TABLE rocpd_info_thread{0} (id INTEGER PRIMARY KEY, guid TEXT, nid INT, ppid INT, pid INT, tid INT, name TEXT);
CREATE TABLE rocpd_info_agent{0} (id INTEGER PRIMARY KEY, guid TEXT, nid INT, pid INT, type TEXT, absolute_index INT,
  logical_index INT, type_index INT, name TEXT, product_name TEXT, extdata TEXT);
CREATE TABLE rocpd_info_kernel_symbol{0} (id INTEGER PRIMARY KEY, guid TEXT, kernel_name TEXT, display_name TEXT, sgpr_count INT,
  arch_vgpr_count INT, accum_vgpr_count INT);
CREATE TABLE rocpd_event{0} (id INTEGER PRIMARY KEY, guid TEXT, category_id INT, stack_id INT, extdata TEXT);
CREATE TABLE rocpd_kernel_dispatch{0} (id INTEGER PRIMARY KEY, pid INT, tid INT, agent_id INT, kernel_id INT, queue_id INT,
  stream_id INT, start BIGINT, end BIGINT, private_segment_size INT, group_segment_size INT, workgroup_size_x INT,
  workgroup_size_y INT, workgroup_size_z INT, grid_size_x INT, grid_size_y INT, grid_size_z INT, event_id INT);
CREATE TABLE rocpd_memory_copy{0} (id INTEGER PRIMARY KEY, pid INT, tid INT, start BIGINT, end BIGINT, name_id INT,
  dst_agent_id INT, src_agent_id INT, size INT, stream_id INT, event_id INT);
CREATE TABLE rocpd_memory_allocate{0} (id INTEGER PRIMARY KEY, pid INT, tid INT, agent_id INT, type TEXT, level TEXT,
  start BIGINT, end BIGINT, address INT, size INT, event_id INT);
CREATE TABLE rocpd_region{0} (id INTEGER PRIMARY KEY, pid INT, tid INT, start BIGINT, end BIGINT, name_id INT, event_id INT);
CREATE VIEW rocpd_region AS SELECT * FROM rocpd_region{0};
"""


def database(recording, path):
    """The same recording as rocprofv3 writes it by --output-format rocpd."""
    base = sqlite3.connect(path)
    for n, tool in enumerate(recording["rocprofiler-sdk-tool"]):
        suffix = f"_0197{n}_uuid"
        base.executescript(DATABASE.format(suffix))
        texts, threads = {}, set()

        def put(table, **row):
            base.execute(f"INSERT INTO rocpd_{table}{suffix} ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})",
                         list(row.values()))

        def text(value):
            if value not in texts:
                texts[value] = len(texts) + 1
                put("string", id=texts[value], string=value)
            return texts[value]

        pid, strings = tool["metadata"].get("pid", 0), tool.get("strings", {})
        put("info_process", id=pid, pid=pid, command=" ".join(tool["metadata"].get("command", [])))
        for a in tool["agents"]:
            put("info_agent", id=a["id"]["handle"], type=("", "CPU", "GPU")[a["type"]], type_index=a["logical_node_type_id"],
                name=a["name"], product_name=a["product_name"], extdata=json.dumps(a, indent=1))
        for s in tool["kernel_symbols"]:
            put("info_kernel_symbol", id=s["kernel_id"], display_name=s["formatted_kernel_name"], sgpr_count=s["sgpr_count"],
                arch_vgpr_count=s["arch_vgpr_count"], accum_vgpr_count=s["accum_vgpr_count"])
        kinds = strings.get("buffer_records", [])
        marks = {mark["key"]: mark["value"] for mark in strings.get("marker_api", [])}
        events = 0
        for table, records in tool["buffer_records"].items():
            for r in records:
                events += 1
                own = r["correlation_id"]["internal"]
                put("event", id=events, category_id=text(kinds[r["kind"]]["kind"] if kinds else "KERNEL_DISPATCH"), stack_id=own,
                    extdata=json.dumps({"message": marks[own]} if table == "marker_api" else {}))
                if r["thread_id"] not in threads:
                    threads.add(r["thread_id"])
                    put("info_thread", id=r["thread_id"], pid=pid, tid=r["thread_id"])
                row = {"pid": pid, "tid": r["thread_id"], "start": r["start_timestamp"], "end": r["end_timestamp"],
                       "event_id": events}
                if table == "kernel_dispatch":
                    info = r["dispatch_info"]
                    sizes = {f"{what}_{axis}": info[what][axis] for what in ("workgroup_size", "grid_size") for axis in "xyz"}
                    put(table, **row, **sizes, agent_id=info["agent_id"]["handle"], kernel_id=info["kernel_id"],
                        queue_id=info["queue_id"]["handle"], stream_id=r["stream_id"]["handle"],
                        private_segment_size=info["private_segment_size"], group_segment_size=info["group_segment_size"])
                elif table == "memory_copy":
                    put(table, **row, name_id=text("MEMORY_COPY"), src_agent_id=r["src_agent_id"]["handle"],
                        dst_agent_id=r["dst_agent_id"]["handle"], size=r["bytes"])
                elif table == "memory_allocation":
                    freed = kinds[r["kind"]]["operations"][r["operation"]].endswith("FREE")
                    put("memory_allocate", **row, agent_id=r["agent_id"]["handle"], type="FREE" if freed else "ALLOC",
                        level="REAL", address=r["address"], size=r["allocation_size"])
                elif table.endswith("_api"):
                    put("region", **row, name_id=text(kinds[r["kind"]]["operations"][r["operation"]]))
    base.commit()
    base.close()


def look_at_database(program, path, folder):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
        recording = json.load(file)
    made = os.path.join(folder, "1_results.db")
    database(recording, made)
    query = "select category, name, count(*), sum(dur), min(ts) from slice group by 1, 2"
    memory = "select device, bytes, total_allocated from memory_event"
    for arguments in (["kernels"], ["gpu"], ["steps"]):
        check(f"{arguments[0]} of the database", run(program, *arguments, "--json", made), run(program, *arguments, "--json", path))
    for of in (query, memory):
        check(f"of the database: {of}", sorted(run(program, "sql", "--json", made, of)["rows"]),
              sorted(run(program, "sql", "--json", path, of)["rows"]))
    check("devices of the database", run(program, "info", "--json", made)["devices"], run(program, "info", "--json", path)["devices"])
    os.remove(made)


program, files = sys.argv[1], sys.argv[2:]
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "small_results.json")
    with open(path, "w", encoding="utf-8") as out:
        json.dump(small(), out, indent=2)
    look_at_small(program, path)
    look_at_database(program, path, folder)
    hostile(program, folder, small())
    missing = [path for path in files if not os.path.exists(path)]
    for path in files:
        if path not in missing:
            look(program, path)
            look_at_database(program, path, folder)
if missing:
    print(f"SKIPPED, after what was invented: {', '.join(missing)} not here, so no real recording was read")
sys.exit(1 if failures else 77 if missing else 0)
