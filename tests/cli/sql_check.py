#!/usr/bin/env python3
"""`gapscope sql` as a person and a script meet it: its formats, its exit codes, its prompt.

    sql_check.py PROGRAM TRACE.json.gz [RANK0.json.gz RANK1.json.gz]
"""
import csv
import gzip
import io
import json
import os
import pathlib
import pty
import signal
import subprocess
import sys
import tempfile
import time

SLICES = "select name, count(*) as n, sum(dur) as total from slice where category = 'kernel' group by name order by total desc"


def run(program, *arguments, text=b"", limit=60):
    done = subprocess.run([program, "sql", *arguments], input=text, capture_output=True, timeout=limit)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def kernels_by_hand(trace):
    sums = {}
    for event in json.loads(gzip.decompress(pathlib.Path(trace).read_bytes()))["traceEvents"]:
        if event.get("ph") == "X" and event.get("cat") == "kernel":
            n, total = sums.get(event["name"], (0, 0))
            sums[event["name"]] = (n + 1, total + round(event["dur"] * 1000))
    return sorted(([name, n, total] for name, (n, total) in sums.items()), key=lambda row: -row[2])


def at_the_prompt(program, trace, lines):
    """What a terminal shows after these lines, and how the program ends."""
    child, terminal = pty.fork()
    if child == 0:
        os.environ["TERM"] = "dumb"
        os.execv(program, [program, "sql", trace])
    for line in lines:
        time.sleep(0.3)
        os.write(terminal, line.encode())
    shown = b""
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), shown.decode()


def complaints_about_ranks(program, *ranks):
    """A folder, several files, and a word that may be either a file or a query."""
    query = "select rank, dur, waiting_ns > 0 as waits from rank order by rank"
    with tempfile.TemporaryDirectory() as folder:
        for path in ranks:
            (pathlib.Path(folder) / os.path.basename(path)).write_bytes(pathlib.Path(path).read_bytes())
        expected = run(program, *ranks, query, "--csv")
        if expected[0] != 0 or expected[2] or len(expected[1].splitlines()) != 3:
            yield f"two ranks: {expected}"
        for words in ([folder, query], [*reversed(ranks), query], [*ranks, "--query", query], [folder, "-"]):
            found = run(program, *words, "--csv", text=query.encode())
            if found != expected:
                yield f"{words}: {found}"
        (pathlib.Path(folder) / "rank7.json").write_text("nonsense")
        code, out, err = run(program, folder, query, "--csv")
        if (code, out) != expected[:2] or "rank7.json" not in err or err.count("\n") != 1:
            yield f"a folder with a file that is no use: {code} {out} {err}"
        if run(program, folder, "select count(*) > 0 as n from slice", "--csv") != (0, "n\n1\n", ""):
            yield "a question about one trace reads the others"
        empty = pathlib.Path(folder) / "empty"
        empty.mkdir()
        code, out, err = run(program, str(empty), query)
        if code != 1 or out or "holds no trace" not in err:
            yield f"a folder without a trace: {code} {out} {err}"


def complaints(program, trace, *ranks):
    yield from complaints_about_ranks(program, *ranks)
    expected = kernels_by_hand(trace)
    code, out, err = run(program, trace, SLICES, "--json")
    answer = json.loads(out) if code == 0 else {}
    if answer != {"columns": ["name", "n", "total"], "rows": expected}:
        yield f"--json: ended with {code}: {out[:200]} {err}"
    code, out, _ = run(program, trace, SLICES, "--csv")
    rows = list(csv.reader(io.StringIO(out)))
    if rows[0] != ["name", "n", "total"] or [[r[0], int(r[1]), int(r[2])] for r in rows[1:]] != expected:
        yield f"--csv: ended with {code}: {out[:200]}"
    code, out, _ = run(program, trace, SLICES)
    if code != 0 or f"{len(expected)} row" not in out or out.split()[:3] != ["name", "n", "total"]:
        yield f"as text: ended with {code}: {out[:200]}"
    with tempfile.NamedTemporaryFile(suffix=".sql") as file:
        file.write(b"select 1 as a; select 2 as b, null as c;\n")
        file.flush()
        if run(program, trace, "--file", file.name, "--csv")[:2] != (0, "a\n1\nb,c\n2,\n"):
            yield "--file does not run both statements"
    if run(program, trace, "-", "--csv", text=b"select 3 as a")[:2] != (0, "a\n3\n"):
        yield "- does not read standard input"
    plain = gzip.decompress(pathlib.Path(trace).read_bytes())
    code, out, err = run(program, "-", "select count(*) as n from args", "--csv", text=plain)
    if code != 0 or int(out.split()[1]) < 10:
        yield f"a trace through a pipe: ended with {code}: {out} {err}"
    for query, wanted in (("select * form slice", "near \"form\": syntax error"), ("select * from slices", "did you mean slice?"), ("delete from slice", "only read"),
                          ("attach 'x' as y", "refused")):
        code, out, err = run(program, trace, query)
        if code != 1 or wanted not in err or err.count("\n") != 1:
            yield f"{query}: ended with {code}: {err}"
    begin = time.monotonic()
    code, _, err = run(program, trace, "with recursive c(x) as (select 1 union all select x + 1 from c) select count(*) from c", "--time-limit", "0.5")
    if code != 1 or "time limit" not in err or time.monotonic() - begin > 20:
        yield f"a query without an end: {code} {err}"
    endless = subprocess.Popen([program, "sql", trace, "with recursive c(x) as (select 1 union all select x + 1 from c) select count(*) from c"], stderr=subprocess.PIPE)
    time.sleep(1.5)
    endless.send_signal(signal.SIGINT)
    if b"Cancelled." not in endless.communicate(timeout=20)[1] or endless.returncode != 1:
        yield f"Ctrl+C: ended with {endless.returncode}"
    # One step that SQLite cannot interrupt: a row of values that take RE2 the better part of a second each.
    stuck = "select " + ", ".join(["regexp('[0-9].{20}x', hex(randomblob(1000000)))"] * 60)
    begin = time.monotonic()
    code, out, err = run(program, trace, stuck, "--time-limit", "0.5")
    if (code, out) != (1, "") or err != "gapscope: The query was ended after its time limit of 0.5 s.\n" or time.monotonic() - begin > 20:
        yield f"a function without an end: {code} {err}"
    endless = subprocess.Popen([program, "sql", trace, stuck], stderr=subprocess.PIPE)
    time.sleep(1.5)
    endless.send_signal(signal.SIGINT)
    time.sleep(0.5)
    endless.send_signal(signal.SIGINT)
    try:
        endless.communicate(timeout=20)
    except subprocess.TimeoutExpired:
        endless.kill()
        endless.communicate()
    if endless.returncode != -signal.SIGINT:
        yield f"a second Ctrl+C: ended with {endless.returncode}"
    begin = time.monotonic()
    code, out, err = run(program, trace, "select instr(printf('%.*c', 16000000, 'a'), printf('%.*cb', 8000000, 'a')) as at", "--csv", limit=100)
    if (code, out) != (0, "at\n0\n") or time.monotonic() - begin > 20:
        yield f"a long text in a longer one: {code} {out} {err}"
    if run(program, "-", "-")[0] != 2 or run(program, trace, "select 1", "--csv", "--json")[0] != 2:
        yield "what cannot be meant is not refused"
    if os.path.exists("/dev/full"):
        with open("/dev/full", "w") as full:
            done = subprocess.run([program, "sql", trace, SLICES], stdout=full, stderr=subprocess.PIPE)
            if done.returncode != 1 or b"cannot be written" not in done.stderr:
                yield "a full disk is not reported"
    for wrong, wanted in ((".bogus", "There is no command .bogus. .help lists them."), (".schema nobody", "There is no table nobody. .tables lists them.")):
        if run(program, trace, wrong) != (1, "", f"gapscope: {wanted}\n"):
            yield f"{wrong}: {run(program, trace, wrong)}"
    code, out, error = run(program, trace, "-", text=b" " * 17_000_000)
    if code != 1 or out or "is not a query" not in error:
        yield f"a query of 17 MB: {code} {error!r}"
    tables = run(program, trace, ".tables")[1]
    for table in ("slice", "kernel", "gpu_gap", "account", "step", "op", "finding", "device", "memory_event", "args", "flow"):
        if f"\n{table} " not in "\n" + tables:
            yield f".tables does not list {table}"
    schema = run(program, trace, ".schema kernel")[1]
    if "launch_delay" not in schema or " ns " not in schema:
        yield f".schema kernel: {schema}"
    code, shown = at_the_prompt(program, trace, [".tables\n", "select 6 *\n", "7 as answer;\n", "select nobody;\n", ".quit\n"])
    for wanted in ("gpu_gap", "answer", "42", "no such column: nobody"):
        if wanted not in shown:
            yield f"the prompt does not show {wanted!r}: {shown[-600:]!r}"
    if code != 0:
        yield f"the prompt ended with {code}"


if __name__ == "__main__":
    found = list(complaints(*sys.argv[1:]))
    print("\n".join(found) or "gapscope sql answers as it should.")
    sys.exit(1 if found else 0)
