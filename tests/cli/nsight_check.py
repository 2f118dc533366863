#!/usr/bin/env python3
"""Compares what Gapscope says of Nsight Systems' exports with a naive reading of the same tables by Python's own sqlite3.

    nsight_check.py PROGRAM [FILE...]

An invented export is always read: two processes that count their ids alike, each with a GPU that it calls 0, steps, operators
of emit_nvtx(), a graph, NCCL, allocations, counters, an OS call. Files that are not there are left out, and named.
"""
import collections
import glob
import gzip
import json
import os
import resource
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import zipfile

failures = 0
K, US = 1000, 1000
WORK = "start INT, end INT, deviceId INT, contextId INT, streamId INT, correlationId INT, globalPid INT"
TABLES = {
    "StringIds": "id INTEGER PRIMARY KEY, value TEXT",
    "PROCESSES": "globalPid INT, pid INT, name TEXT",
    "ThreadNames": "nameId INT, priority INT, globalTid INT",
    "META_DATA_EXPORT": "name TEXT, value TEXT",
    "META_DATA_CAPTURE": "name TEXT, value TEXT",
    "ANALYSIS_DETAILS": "globalVid INT, duration INT, startTime INT, stopTime INT",
    "TARGET_INFO_SESSION_START_TIME": "utcEpochNs INT, utcTime TEXT",
    "TARGET_INFO_GPU": "id INT, name TEXT, totalMemory INT, smCount INT, threadsPerWarp INT, maxWarpsPerSm INT, "
                       "maxRegistersPerSm INT, maxRegistersPerBlock INT, maxShmemPerBlock INT, maxShmemPerSm INT, "
                       "computeMajor INT, computeMinor INT",
    "TARGET_INFO_CUDA_DEVICE": "gpuId INT, cudaId INT, pid INT",
    "CUPTI_ACTIVITY_KIND_KERNEL": WORK + ", demangledName INT, shortName INT, registersPerThread INT, gridX INT, gridY INT, "
                                         "gridZ INT, blockX INT, blockY INT, blockZ INT, staticSharedMemory INT, "
                                         "dynamicSharedMemory INT, graphNodeId INT",
    "CUPTI_ACTIVITY_KIND_MEMCPY": WORK + ", bytes INT, copyKind INT, srcKind INT, dstKind INT",
    "CUPTI_ACTIVITY_KIND_MEMSET": WORK + ", bytes INT, memKind INT, value INT",
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": WORK + ", syncType INT, eventId INT",
    "CUPTI_ACTIVITY_KIND_RUNTIME": "start INT, end INT, globalTid INT, correlationId INT, nameId INT, returnValue INT",
    "NVTX_EVENTS": "start INT, end INT, eventType INT, globalTid INT, text TEXT, textId INT, domainId INT, int64Value INT",
    "OSRT_API": "start INT, end INT, globalTid INT, nameId INT",
    "CUDA_GPU_MEMORY_USAGE_EVENTS": "start INT, globalPid INT, deviceId INT, address INT, bytes INT, memKind INT, "
                                    "memoryOperationType INT",
    "GPU_METRICS": "timestamp INT, typeId INT, metricId INT, value INT",
    "TARGET_INFO_GPU_METRICS": "typeId INT, metricId INT, metricName TEXT",
    "DIAGNOSTIC_EVENT": "timestamp INT, severity INT, text TEXT",
    "COMPOSITE_EVENTS": "id INTEGER PRIMARY KEY, start INT, globalTid INT",
    "SAMPLING_CALLCHAINS": "id INT, symbol INT, module INT, unresolved INT, stackDepth INT",
}
NAMES = ["cudaLaunchKernel_v7000", "cudaGraphLaunch_v10000", "cudaMemcpyAsync_v3020", "cudaStreamSynchronize_v3020",
         "cuLaunchKernel", "void gemm<(int)4>(float *, \"x\")", "gemm", "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
         "elementwise", "poll", "NCCL", "registered"]


def small(path):
    """Four steps on each of two processes; ids of both are alike."""
    base = sqlite3.connect(path)
    for table, columns in TABLES.items():
        base.execute(f"CREATE TABLE {table} ({columns})")
    put = lambda table, *values: base.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(values))})", values)
    text = {name: i + 1 for i, name in enumerate(NAMES)}
    for name, i in text.items():
        put("StringIds", i, name)
    put("META_DATA_EXPORT", "EXPORT_PRODUCT_VERSION", "2026.2")
    put("META_DATA_CAPTURE", "PROCESS_0:COMMAND", "python3")
    put("META_DATA_CAPTURE", "PROCESS_0:ENVIRONMENT_VARIABLE", "SECRET=no one's business")
    put("ANALYSIS_DETAILS", 0, 10**9, 5, 10**9 + 5)
    put("TARGET_INFO_SESSION_START_TIME", 1_700_000_000_000_000_123, "")
    for severity, said in ((1, "Started."), (2, "Not all events were collected."), (3, "No\x1bsymbols"), (4, "Verbose."),
                           (2, "Not all CUDA events might have been collected.")):
        put("DIAGNOSTIC_EVENT", 0, severity, said)
    for n in range(1234):  # of two threads by turns; the innermost function is another one after five samples
        pid = 4000 + n % 2
        put("COMPOSITE_EVENTS", n, 1_000_001 + 3 * US * n, 1 << 48 | pid << 24 | pid)
        for depth, symbol in enumerate((text[NAMES[n // 10 % 3]], text["NCCL"])):
            put("SAMPLING_CALLCHAINS", n, symbol, 0, 0, depth)
    for rank, pid in ((0, 4000), (1, 4001)):
        gpid, gtid = 1 << 48 | pid << 24, 1 << 48 | pid << 24 | pid
        put("PROCESSES", gpid, pid, "python3")
        put("ThreadNames", text["poll"], 20, gtid)
        put("TARGET_INFO_GPU", rank, "NVIDIA H100", 80 << 30, 132, 32, 64, 65536, 65536, 49152, 233472, 9, 0)
        put("TARGET_INFO_CUDA_DEVICE", rank, 0, pid)
        put("NVTX_EVENTS", 0, None, 75, gtid, "NCCL", None, 7, None)
        put("CUDA_GPU_MEMORY_USAGE_EVENTS", 50, gpid, 0, 0x7000, 1 << 20, 2, 0)
        put("CUDA_GPU_MEMORY_USAGE_EVENTS", 9_000_000, gpid, 0, 0x7000, 1 << 20, 2, 1)
        for step in range(4):
            at, id_ = 1_000_001 + step * 1_000_000 + rank, 100 * step
            call = lambda name, begin, took, of: put("CUPTI_ACTIVITY_KIND_RUNTIME", at + begin, at + begin + took, gtid,
                                                     id_ + of, text[name], 0)
            work = lambda begin, took, of, stream=7: (at + begin, at + begin + took, 0, 1, stream, id_ + of, gpid)
            put("NVTX_EVENTS", at, at + 900 * US, 59, gtid, f"step {step}", None, 0, step)
            put("NVTX_EVENTS", at + 5 * US, at + 40 * US, 59, gtid,
                f"aten::mm, seq = {step}, op_id = {10 * step + 1}, sizes = [[2, 3], [3, 4]]", None, 0, None)
            put("NVTX_EVENTS", at + 50 * US, at + 950 * US, 60, gtid, None, text["registered"], 7, None)
            put("NVTX_EVENTS", at + 60 * US, None, 34, gtid, "mark", None, 0, None)
            put("OSRT_API", at + 905 * US, at + 940 * US, gtid, text["poll"])
            call("cudaMemcpyAsync_v3020", 1 * US, 3 * US, 1)
            call("cudaLaunchKernel_v7000", 10 * US, 4321, 2)
            call("cudaGraphLaunch_v10000", 60 * US, 9 * US, 3)
            call("cuLaunchKernel", 75 * US, 3 * US, 4)
            call("cudaStreamSynchronize_v3020", 100 * US, 700 * US, 5)
            put("CUPTI_ACTIVITY_KIND_MEMCPY", *work(20 * US, 30 * US + 1, 1), 4096, 1, 1, 2)
            put("CUPTI_ACTIVITY_KIND_KERNEL", *work(60 * US, 200 * US + step, 2), text["void gemm<(int)4>(float *, \"x\")"],
                text["gemm"], 128 + step % 2, 132, 2, 1, 256, 1, 1, 1024, 40_000, None)
            for node in (1, 2):
                put("CUPTI_ACTIVITY_KIND_KERNEL", *work(260 * US + node * 50 * US, 40 * US, 3), text["elementwise"],
                    text["elementwise"], 20, 64, 1, 1, 128, 1, 1, 0, 0, node)
            put("CUPTI_ACTIVITY_KIND_KERNEL", *work(300 * US, 333 * US, 4, 20), text[NAMES[7]], text[NAMES[7]], 96, 16, 1, 1,
                512, 1, 1, 0, 0, None)
            put("CUPTI_ACTIVITY_KIND_MEMSET", *work(700 * US, 2 * US, 4), 4, 2, 0)
            # Waits name device 0 of whatever context they are of.
            put("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", *work(100 * US, 700 * US, 5), 3, 0)
            put("GPU_METRICS", at, 0x100 + rank, 1, 40 + step)
    for rank in (0, 1):
        put("TARGET_INFO_GPU_METRICS", 0x100 + rank, 1, "SMs Active [Throughput %]")
    base.commit()
    base.close()


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


COPIES = dict(enumerate("Unknown HtoD DtoH HtoA AtoH AtoA AtoD DtoA DtoD HtoH PtoP".split()))
MEMORY = dict(enumerate(["Pageable", "Pinned", "Device", "Array", "Managed", "Device Static", "Managed Static", "Unknown"]))


class Naive:
    def __init__(self, path):
        self.base = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
        self.base.row_factory = sqlite3.Row
        self.text = dict(self.base.execute("SELECT id, value FROM StringIds").fetchall())
        self.gpu_of = {(r["pid"], r["cudaId"]): r["gpuId"] for r in self.rows("TARGET_INFO_CUDA_DEVICE")}
        self.kernels = self.rows("CUPTI_ACTIVITY_KIND_KERNEL")
        self.copies = self.rows("CUPTI_ACTIVITY_KIND_MEMCPY")
        self.sets = self.rows("CUPTI_ACTIVITY_KIND_MEMSET")
        self.calls = self.rows("CUPTI_ACTIVITY_KIND_RUNTIME")
        self.ranges = [r for r in self.rows("NVTX_EVENTS") if r["eventType"] in (34, 59, 60)]

    def rows(self, table):
        known = self.base.execute("SELECT count(*) FROM sqlite_master WHERE name = ?", (table,)).fetchone()[0]
        return self.base.execute(f"SELECT * FROM {table}").fetchall() if known else []

    def device(self, row):
        return self.gpu_of.get((row["globalPid"] >> 24 & 0xFFFFFF, row["deviceId"]), row["deviceId"])

    def work(self):
        for r in self.kernels:
            yield self.text[r["demangledName"]], r
        for r in self.copies:
            yield f"Memcpy {COPIES[r['copyKind']]} ({MEMORY[r['srcKind']]} -> {MEMORY[r['dstKind']]})", r
        for r in self.sets:
            yield f"Memset ({MEMORY[r['memKind']]})", r


def theoretical(gpu, r):
    """Percent of warp slots, as cudaOccMaxActiveBlocksPerMultiprocessor counts, and what limits."""
    warps = -(-r["blockX"] * r["blockY"] * r["blockZ"] // 32)
    shared = r["staticSharedMemory"] + r["dynamicSharedMemory"]
    by = {"warps": gpu["maxWarpsPerSm"] // warps,
          "registers": 4 * (gpu["maxRegistersPerSm"] // 4 // (-(-r["registersPerThread"] * 32 // 256) * 256)) // warps,
          "shared memory": gpu["maxShmemPerSm"] // (-(-(shared + 1024) // 128) * 128),
          "blocks": {(8, 0): 32, (8, 6): 16, (8, 9): 24, (9, 0): 32, (10, 0): 32}[gpu["computeMajor"], gpu["computeMinor"]]}
    least = min(by.values())
    return 100 * least * warps / gpu["maxWarpsPerSm"], sorted(k for k, v in by.items() if v == least)


def look(program, path, copy=None):
    naive = Naive(copy or path)
    info = run(program, "info", "--json", path)
    check("producer", info["producer"], "nsight_systems")
    gpus = {r["id"]: r for r in naive.rows("TARGET_INFO_GPU")}
    check("devices", [(d["id"], d["name"]) for d in info["devices"]][:len(gpus)],
          sorted((r["id"], r["name"]) for r in gpus.values()))
    work = list(naive.work())
    key = lambda r: (r["globalPid"] >> 24, r["correlationId"])
    calls = {(r["globalTid"] >> 24, r["correlationId"]) for r in naive.calls}
    check("GPU work", info["launches"]["gpu_slices"], len(work))
    check("work with its call", info["launches"]["joined_to_call"], sum(key(r) in calls for _, r in work))

    by_name = collections.defaultdict(list)
    for name, r in work:
        by_name[name].append(r)
    table = {row["name"]: row for row in run(program, "kernels", "--json", path)}
    check("names of work", sorted(table), sorted(by_name))
    for name, rows in by_name.items():
        row = table.get(name)
        if row is None:
            continue
        check(f"count of {name}", row["count"], len(rows))
        check(f"time of {name}", row["total_ns"], sum(r["end"] - r["start"] for r in rows))
        if "registersPerThread" not in rows[0].keys():
            continue
        registers = [r["registersPerThread"] for r in rows]
        check(f"registers of {name}", row["registers"], {"min": min(registers), "max": max(registers)})
        shared = [r["staticSharedMemory"] + r["dynamicSharedMemory"] for r in rows]
        said = row["shared_memory"]
        check(f"shared memory of {name}", said or {"min": 0, "max": 0}, {"min": min(shared), "max": max(shared)})
        for which in ("grid", "block"):
            shapes = collections.Counter(tuple(r[which + axis] for axis in "XYZ") for r in rows)
            for shape in row[which + "s"]:
                check(f"{which} of {name}", shape["count"], shapes[tuple(shape["size"])])
        fits = {theoretical(gpus[naive.device(r)], r)[0] for r in rows if naive.device(r) in gpus}
        if len(fits) == 1:
            percent, limits = theoretical(gpus[naive.device(rows[0])], rows[0])
            check(f"occupancy of {name}", round(row["occupancy"]["theoretical_percent"], 6), round(percent, 6))
            check(f"limits of {name}", sorted(row["occupancy"]["limiters"]), limits)

    ask = lambda query: [tuple(row) for row in run(program, "sql", "--json", path, query)["rows"]]
    check("streams", sorted(ask("select device, stream, count(*), sum(dur) from kernel group by 1, 2")),
          sorted((*k, len(rows), sum(r["end"] - r["start"] for r in rows)) for k, rows in
                 group(naive.kernels, lambda r: (naive.device(r), r["streamId"]))))
    check("first and last kernel", ask("select min(ts), max(ts + dur) from kernel"),
          [(min(r["start"] for r in naive.kernels), max(r["end"] for r in naive.kernels))])
    by_call = {(r["globalTid"] >> 24, r["correlationId"]): r for r in naive.calls}
    check("launch calls", ask("select count(*), sum(launch_dur), sum(ts - launch_ts) from kernel where launch_id not null"),
          [(len(own), sum(by_call[key(r)]["end"] - by_call[key(r)]["start"] for r in own) if own else None,
            sum(r["start"] - by_call[key(r)]["start"] for r in own) if own else None)
           for own in [[r for r in naive.kernels if key(r) in by_call]]])
    plain = lambda name: re.sub(r"_v\d+$", "", name)
    check("calls", sorted(ask("select name, count(*), sum(dur) from slice where category like 'cuda_runtime' or "
                              "category = 'cuda_driver' group by 1")),
          sorted((name, len(rows), sum(r["end"] - r["start"] for r in rows)) for name, rows in
                 group(naive.calls, lambda r: plain(naive.text[r["nameId"]]))))
    begins = lambda text: re.split(", seq = |, op_id = ", text)[0]
    check("NVTX", sorted(ask("select name, count(*), sum(dur) from slice where category in ('cpu_op', 'user_annotation') "
                             "group by 1")),
          sorted((name, len(rows), sum((r["end"] or r["start"]) - r["start"] for r in rows)) for name, rows in
                 group(naive.ranges, lambda r: begins(r["text"] or naive.text[r["textId"]]))))

    for device in run(program, "gpu", "--json", path)["devices"]:
        spans = lambda rows: [(r["start"], r["end"]) for r in rows if naive.device(r) == device["id"]]
        check("busy", device["all"]["busy_ns"], union(spans(r for _, r in work)))
        is_nccl = lambda r: "nccl" in naive.text[r["demangledName"]]
        check("NCCL", device["all"]["communication_ns"], union(spans(r for r in naive.kernels if is_nccl(r))))
        check("computing", device["all"]["compute_ns"],
              union(spans(r for r in naive.kernels + naive.sets if "value" in r.keys() or not is_nccl(r))))
    check("GPUs", len(run(program, "gpu", "--json", path)["devices"]), len({naive.device(r) for _, r in work}))
    overview = run(program, "overview", "--json", path)
    check("a verdict", bool(overview["verdict"]), True)
    return naive


def group(rows, key):
    out = collections.defaultdict(list)
    for r in rows:
        out[key(r)].append(r)
    return out.items()


def look_at_tables(program, path, copy=None):
    """nsys.TABLE of every table against sqlite3's rows, and what lists them."""
    base = sqlite3.connect(f"file:{copy or path}?mode=ro&immutable=1", uri=True)
    tables = [name for name, in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    said = subprocess.run([program, "sql", path, ".tables"], capture_output=True, text=True).stdout
    check("tables listed", [line.split()[0][5:] for line in said.splitlines() if line.startswith("nsys.")], tables)
    script = "".join(f"select * from nsys.{name};" for name in tables)
    out = subprocess.run([program, "sql", "--json", path, script], capture_output=True, text=True)
    check("tables read", (out.returncode, out.stderr), (0, ""))
    decoder, at, text = json.JSONDecoder(), 0, out.stdout
    for name in tables:
        got, at = decoder.raw_decode(text, at)
        at += 1
        right = base.execute(f"SELECT * FROM {name}")
        check(f"columns of {name}", got["columns"], [column[0] for column in right.description])
        check(f"rows of {name}", [tuple(row) for row in got["rows"]], right.fetchall())
    join = ("select s.value, count(*), sum(k.end - k.start) from {0}CUPTI_ACTIVITY_KIND_KERNEL k join {0}StringIds s "
            "on s.id = k.demangledName join {0}CUPTI_ACTIVITY_KIND_RUNTIME r on r.correlationId = k.correlationId "
            "and r.globalTid >> 24 = k.globalPid >> 24 group by 1 order by 1")
    check("a join of three", [tuple(row) for row in run(program, "sql", "--json", path, join.format("nsys."))["rows"]],
          base.execute(join.format("")).fetchall())
    base.close()


def look_at_mcp_and_ranks(program, folder, path):
    """nsys.TABLE through mcp, which reads below the folder alone, and of several ranks: the lowest rank's."""
    query = "select count(*) from nsys.StringIds"
    server = subprocess.Popen([program, "mcp", folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    hidden = text = ""
    asked = ("select * from nsys.META_DATA_CAPTURE", query)
    calls = [("tools/call", {"name": "sql", "arguments": {"trace": path, "query": what}}) for what in asked]
    for i, (method, params) in enumerate((("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}}), *calls)):
        hidden = text
        server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": i, "method": method, "params": params}) + "\n")
        server.stdin.flush()
        text = json.loads(server.stdout.readline())["result"].get("content", [{}])[0].get("text", "")
    server.stdin.close()
    server.wait(timeout=30)
    check("mcp", json.loads(text)["rows"] if text.startswith("{") else text, [[len(NAMES)]])
    check("the environment in mcp", "Answers of mcp and serve leave it out" in hidden, True)
    run_of_two = os.path.join(folder, "run")
    os.makedirs(run_of_two)
    for rank in (0, 1):
        copy = os.path.join(run_of_two, f"rank{rank}.sqlite")
        shutil.copy(path, copy)
        base = sqlite3.connect(copy)
        base.execute(f"INSERT INTO StringIds VALUES ({1000 + rank}, 'rank')")
        base.commit()
        base.close()
    got = run(program, "sql", "--json", run_of_two, "select id from nsys.StringIds where id >= 1000")
    check("nsys of several ranks", got["rows"], [[1000]])
    piped = subprocess.run([program, "sql", "--json", "-", query], stdin=open(path, "rb"), capture_output=True, text=True)
    check("a pipe", "came through a pipe" in piped.stderr, True)


def look_at_export(program, folder, path):
    """--export with an nsys that copies a file: only when asked to, nothing is written over, and what fails is said."""
    place = os.path.join(folder, "reports")
    tools, temporary = os.path.join(place, "bin"), os.path.join(place, "tmp")
    os.makedirs(tools)
    os.makedirs(temporary)
    report, neighbour = os.path.join(place, "a b.nsys-rep"), os.path.join(place, "a b.sqlite")
    with open(report, "wb") as out:
        out.write(b"\1\2\3 binary")
    fake = os.path.join(tools, "nsys")
    called = os.path.join(place, "called")

    def nsys(script):
        with open(fake, "w") as out:
            out.write("#!/bin/sh\n" + script)
        os.chmod(fake, 0o755)

    def outcome(*arguments, cwd=None, limits=None):
        out = subprocess.run([os.path.abspath(program), *arguments], capture_output=True, text=True, cwd=cwd, preexec_fn=limits,
                             env={**os.environ, "PATH": tools + ":/usr/bin:/bin", "TMPDIR": temporary})
        check(f"nothing stays of {arguments}", os.listdir(temporary), [])
        return out

    def copies(extra=""):
        nsys(f"echo exporting; echo \"$@\" > '{called}'; {extra} cp '{path}' \"$5\"")

    def content(name):
        with open(name, "rb") as file:
            return file.read()

    copies()
    said = outcome("info", report).stderr
    check("a report", "Export it: nsys export --type sqlite" in said, True)
    check("nothing runs unasked", os.path.exists(called), False)
    plain = subprocess.run([program, "kernels", "--json", path], capture_output=True, text=True).stdout
    got = outcome("kernels", "--json", "--export", report)
    check("an export", (got.returncode, got.stdout, got.stderr), (0, plain, "exporting\n"))
    words = content(called).decode()
    check("its words", (words.split(" --output ")[0], words.strip().endswith(report)), ("export --type sqlite", True))
    check("no export next to it", os.path.exists(neighbour), False)
    # Two reports of one name; and a name that an option could have, given behind "--" and as it is.
    other = os.path.join(place, "other")
    os.makedirs(other)
    for name in (os.path.join(other, "a b.nsys-rep"), os.path.join(other, "-x.nsys-rep")):
        shutil.copy(report, name)
    got = outcome("diff", "--export", report, os.path.join(other, "a b.nsys-rep"))
    check("two of one name", got.returncode, 0)
    for arguments in (["--export", "--", "-x.nsys-rep"], ["--export", "./-x.nsys-rep"]):
        got = outcome("kernels", "--json", *arguments, cwd=other)
        check(f"{arguments}", (got.returncode, got.stdout), (0, plain))
        check("a whole path", f" {other}/" in content(called).decode(), True)
    got = outcome("kernels", "--json", report, "--export=keep")
    check("an export next to it", (got.returncode, got.stdout, content(neighbour)), (0, plain, content(path)))
    # Where nothing would remove it once the program is killed, there is no export.
    os.remove(called)
    got = outcome("info", "--export", report, limits=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (4, 4)))
    check("nothing would remove it", (got.returncode, "cannot be prepared" in got.stderr, os.path.exists(called)), (1, True, False))
    # What is there stays: before nsys runs, and where it comes while nsys runs.
    with open(neighbour, "w") as out:
        out.write("mine")
    said = outcome("info", "--export=keep", report).stderr
    check("not written over", ("exists already" in said, os.path.exists(called), content(neighbour)), (True, False, b"mine"))
    os.remove(neighbour)
    copies(f"echo mine > '{neighbour}';")
    said = outcome("info", "--export=keep", report).stderr
    check("not written over later", ("exists already" in said, content(neighbour)), (True, b"mine\n"))
    os.remove(neighbour)
    os.symlink("nowhere", neighbour)
    said = outcome("info", "--export=keep", report).stderr
    check("a link stays", ("exists already" in said, os.readlink(neighbour)), (True, "nowhere"))
    os.remove(neighbour)
    for mode in ("--export", "--export=keep"):
        nsys("echo no licence >&2; echo half > \"$5\"; exit 3")
        got = outcome("info", mode, report)
        check("a failure", (got.returncode, "no licence" in got.stderr, "failed with code 3" in got.stderr), (1, True, True))
        nsys("kill -INT $$")
        check("a signal", "was ended by signal 2" in outcome("info", mode, report).stderr, True)
        nsys("exit 0")
        check("no file", "wrote no file" in outcome("info", mode, report).stderr, True)
    os.remove(fake)
    check("no nsys", "nsys was not found on the PATH" in outcome("info", "--export", report).stderr, True)
    check("no report", "none was given" in outcome("info", "--export", path).stderr, True)
    check("another value", "takes no value but keep" in outcome("info", "--export=x", report).stderr, True)
    check("nothing new next to the report", sorted(os.listdir(place)), ["a b.nsys-rep", "bin", "called", "other", "tmp"])

    def ended_by(how, is_begun):
        """A program that was ended when something had begun, and has left nothing behind."""
        prompt = subprocess.Popen([program, "sql", "--export", report], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, env={**os.environ, "PATH": tools + ":/usr/bin:/bin", "TMPDIR": temporary})
        deadline = time.monotonic() + 20
        while not is_begun() and time.monotonic() < deadline:
            time.sleep(0.01)
        check("an export while it runs", len(os.listdir(temporary)), 1)
        prompt.send_signal(how)
        check(f"ended by {how}", prompt.wait(timeout=20), -how)
        while os.listdir(temporary) and time.monotonic() < deadline:
            time.sleep(0.01)
        check(f"nothing after {how}", os.listdir(temporary), [])

    copies()
    ended_by(signal.SIGKILL, lambda: glob.glob(os.path.join(temporary, ".gapscope-export-*", "*", "a b.sqlite")))
    # Nor an nsys, though what it began does not want to end.
    for how in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGKILL):
        open(called, "w").close()
        stubborn = "trap '' TERM;" if how == signal.SIGKILL else ""
        nsys(f"{stubborn} sleep 61 & echo $! > '{called}.part'; mv '{called}.part' '{called}'; wait")
        ended_by(how, lambda: content(called))
        check(f"no nsys after {how}", os.path.exists(f"/proc/{content(called).decode().strip()}/exe"), False)


def look_at_small(program, path):
    look(program, path)
    info = run(program, "info", "--json", path)
    check("what Nsight says", [text[:31] for text in info["profiler_reports"]],
          ["Nsight Systems reports: Not all", "Nsight Systems reports: No\ufffdsymb", "Nsight Systems reports: Not all"])
    check("what it may have missed", [(d["count"], d["mended"]) for d in info["doubts"] if d["kind"] == "lost_kernels"],
          [(1, False)])
    check("CPU samples", info["cpu_samples"], 1234)
    text = subprocess.run([program, "info", path], capture_output=True, text=True).stdout
    check("in words", ("Nothing odd" in text, "reports: Not all events were collected." in text, "1,234 of the CPU" in text),
          (False, True, True))
    look_at_tables(program, path)
    steps = run(program, "steps", "--json", path)["steps"]
    check("steps", [s["cpu_begin_ns"] for s in steps][:4], [1_000_001 + 1_000_000 * step for step in range(4)])
    ask = lambda query: [tuple(row) for row in run(program, "sql", "--json", path, query)["rows"]]
    check("ranks", ask("select count(*) from doubts where kind = 'several_ranks'"), [(1,)])
    check("operators of emit_nvtx()", ask("select distinct input_dims from kernel where operator = 'aten::mm'"),
          [("[[2, 3], [3, 4]]",)])
    lanes = {lane["title"]: lane["slices"] for lane in run(program, "info", "--json", path)["lanes"]}
    check("waits", [lanes.get(f"GPU {gpu} stream 7 (sync)") for gpu in (0, 1)], [4, 4])
    inner = collections.Counter(NAMES[n // 10 % 3] for n in range(1234))
    runs = collections.Counter(NAMES[n % 3] for n in range(124))
    check("samples", sorted(ask("select name, count(*), sum(dur) from slice where category = 'cpu_sample' group by 1")),
          sorted([("NCCL", 2, 1234 * 6 * US)] + [(name, 2 * runs[name], inner[name] * 6 * US) for name in runs]))
    gaps = [gap for device in run(program, "why", "--json", path)["devices"] for gap in device["longest"] or []]
    check("sampled in gaps", all(0 < gap["sampled"]["ns"] <= gap["sampled"]["of_ns"] for gap in gaps if "sampled" in gap)
          and any("sampled" in gap for gap in gaps), True)
    check("OS calls", ask("select category, count(*) from slice where name = 'poll' group by 1"), [("osrt_api", 8)])
    check("marks", ask("select count(*) from instant where name = 'mark'"), [(8,)])
    check("counters", ask("select count(*), sum(value) from counter"), [(8, 2 * (40 + 41 + 42 + 43))])
    check("memory", sorted(ask("select device, bytes, total_allocated from memory_event")),
          [(f"GPU {gpu}", *values) for gpu in (0, 1) for values in ((-(1 << 20), 0), (1 << 20, 1 << 20))])
    whole = subprocess.run([program, "info", "--json", path], capture_output=True, text=True).stdout
    check("no environment", "SECRET" in whole, False)


def hostile(program, folder, path):
    """What may not run does not, nothing is written, and what is odd ends in a sentence."""
    def variant(name, *statements, source=path):
        copy = os.path.join(folder, name)
        shutil.copy(source, copy)
        base = sqlite3.connect(copy)
        for statement in statements:
            base.execute(statement)
        base.commit()
        base.close()
        return copy

    def outcome(copy):
        before = sorted((n, os.stat(os.path.join(folder, n)).st_mtime_ns) for n in os.listdir(folder))
        out = subprocess.run([program, "info", "--json", copy], capture_output=True, text=True, timeout=60)
        check(f"nothing is written next to {os.path.basename(copy)}",
              sorted((n, os.stat(os.path.join(folder, n)).st_mtime_ns) for n in os.listdir(folder)), before)
        check(f"{os.path.basename(copy)} does not crash", out.returncode in (0, 1), True)
        return out

    kernels = lambda out: json.loads(out.stdout)["launches"]["gpu_slices"] if out.returncode == 0 else None
    table = "CUPTI_ACTIVITY_KIND_KERNEL"
    view = variant("view.sqlite", f"ALTER TABLE {table} RENAME TO k", f"CREATE VIEW {table} AS WITH RECURSIVE r(x) AS (SELECT 1 "
                   "UNION ALL SELECT x + 1 FROM r) SELECT x AS start, x + 1 AS end, 0 AS deviceId FROM r")
    check("a view in place of a table", kernels(outcome(view)), 16)  # copies and sets of memory are left
    trigger = variant("trigger.sqlite", f"CREATE TRIGGER t AFTER INSERT ON {table} BEGIN DELETE FROM {table}; END")
    check("a trigger", kernels(outcome(trigger)), 48)
    wrong = variant("wrong.sqlite", f"UPDATE {table} SET gridX = 'many', registersPerThread = x'00', demangledName = 1e300, "
                    "streamId = 9223372036854775807, deviceId = -9223372036854775808, start = 'then'")
    check("wrong types", outcome(wrong).returncode, 0)
    far = variant("far.sqlite", f"UPDATE {table} SET start = -9223372036854775808, end = 9223372036854775807")
    outcome(far)
    generated = variant("generated.sqlite", f"ALTER TABLE {table} ADD COLUMN graphId INT AS (length(printf('%.*c', 1000000000, 'x')))")
    check("a generated column", kernels(outcome(generated)), 48)
    virtual = variant("virtual.sqlite", "ALTER TABLE NVTX_EVENTS RENAME TO n", "CREATE VIRTUAL TABLE NVTX_EVENTS USING fts5(text)")
    outcome(virtual)
    empty = variant("empty.sqlite", *(f"DELETE FROM {name}" for name in TABLES))
    check("no events", "without events" in outcome(empty).stderr, True)
    missing = variant("missing.sqlite", *(f"DROP TABLE {name}" for name in TABLES if not name.startswith(("StringIds", table))))
    check("kernels alone", kernels(outcome(missing)), 32)
    # Without the table of GPUs, by what only some can run.
    kernel_fits = lambda of: {row["name"]: row["occupancy"]["theoretical_percent"] for row in run(program, "kernels", "--json", of)}
    bare = variant("bare.sqlite", "DROP TABLE TARGET_INFO_GPU")
    check("an unknown GPU", set(kernel_fits(bare).values()), {None})
    guessed = variant("guessed.sqlite", f"ALTER TABLE {table} ADD COLUMN clusterSchedulingPolicy INT DEFAULT 1",
                      f"ALTER TABLE {table} ADD COLUMN sharedMemoryExecuted INT DEFAULT 135168", source=bare)
    check("a GPU known by its kernels", kernel_fits(guessed), kernel_fits(path))
    log = os.path.join(folder, "log.sqlite")
    shutil.copy(path, log)
    base = sqlite3.connect(log)
    base.execute("PRAGMA journal_mode=WAL")
    base.execute("PRAGMA wal_autocheckpoint=0")
    base.execute(f"DELETE FROM {table}")
    base.commit()
    check("a log next to the file", kernels(outcome(log)), 48)  # as the file is
    base.close()
    other = os.path.join(folder, "other.sqlite")
    base = sqlite3.connect(other)
    base.execute("CREATE TABLE t (x)")
    base.commit()
    base.close()
    check("another database", "is an SQLite database, not a trace" in outcome(other).stderr, True)
    cut = os.path.join(folder, "cut.sqlite")
    with open(path, "rb") as whole, open(cut, "wb") as out:
        out.write(whole.read()[:20_000])
    outcome(cut)


program, files = sys.argv[1], sys.argv[2:]
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "small.sqlite")
    small(path)
    look_at_small(program, path)
    packed = os.path.join(folder, "small.sqlite.gz")
    with open(path, "rb") as plain, gzip.open(packed, "wb") as out:
        out.write(plain.read())
    look(program, packed, path)
    look_at_tables(program, packed, path)
    archive = os.path.join(folder, "small.zip")
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as out:
        out.write(path, "run/small.sqlite")
        out.writestr("README.txt", "an export")
    look(program, archive, path)
    look_at_tables(program, archive + "/run/small.sqlite", path)
    look_at_mcp_and_ranks(program, folder, path)
    look_at_export(program, folder, path)
    hostile(program, folder, path)
    missing = [path for path in files if not os.path.exists(path)]
    for path in files:
        if path not in missing:
            look(program, path)
            look_at_tables(program, path)
if missing:
    print(f"SKIPPED, after what was invented: {', '.join(missing)} not here, so no real recording was read")
sys.exit(1 if failures else 77 if missing else 0)
