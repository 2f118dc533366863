#!/usr/bin/env python3
"""`gapscope attach` as a script meets it, with processes that play PyTorch's part: they poll as Kineto does and write a trace when asked.

    attach_check.py PROGRAM TRACE.json.gz [CASE]
"""
import concurrent.futures
import gzip
import json
import os
import pathlib
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time

# Polls ten times a second instead of every five, or every POLL seconds, for the first time DELAY seconds after a listener is there. Writes
# the trace to PATH_PID.json behind the delay, under another name first. How: "writes" when it is asked; "dies" when it is asked; "kineto"
# does so at the start that it is given, and refuses one for which no time is left to warm up; "launches" starts a rank for each of
# DELAYS, and polls like these.
CLIENT = """
import os, socket, struct, subprocess, sys, time
name, out, how, trace = sys.argv[1:5]
daemon = os.environ["KINETO_IPC_SOCKET_DIR"] + "/dynolog"
if how == "launches":
    delays = os.environ["DELAYS"].split()
    for rank, delay in enumerate(delays):
        subprocess.Popen([sys.executable, sys.argv[0], f"{name}_{rank}", f"{out}_{rank}", "kineto", trace],
                         env=dict(os.environ, RANK=str(rank), LOCAL_WORLD_SIZE=str(len(delays)), DELAY=delay))
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(name)
s.settimeout(2)
def ask(kind, body):
    s.sendto(struct.pack("<Q32s", len(body), kind) + body, daemon)
    reply = s.recv(65536)
    size, type_ = struct.unpack_from("<Q32s", reply)
    assert size == len(reply) - 40 and type_.rstrip(b"\\0") == kind, reply
    return reply[40:].decode()
end = time.time() + 120
first = True
while not os.path.exists(daemon) and time.time() < end: time.sleep(0.05)
time.sleep(float(os.environ.get("DELAY", 0)))
while time.time() < end:
    if not first or "POLL" not in os.environ: time.sleep(float(os.environ.get("POLL", 0.1)))
    try:
        if first: ask(b"ctxt", struct.pack("<iiq", 1, os.getpid(), 0))
        text = ask(b"req", struct.pack("<iiqii", 3, 2, 77, os.getpid(), os.getppid()))
    except (FileNotFoundError, ConnectionRefusedError, TimeoutError):
        continue
    first = False
    if not text: continue
    open(out, "a").write(text + "--\\n")
    wanted = dict(line.split("=", 1) for line in text.splitlines())
    if how == "kineto":
        left = int(wanted["PROFILE_START_TIME"]) / 1000 - time.time()
        if left - 1 < float(wanted["ACTIVITIES_WARMUP_PERIOD_SECS"]):  # its profiler looks once a second
            open(out, "a").write(f"Not starting tracing - insufficient time for warmup: {left}\\n")
            continue
        time.sleep(left + float(wanted["ACTIVITIES_DURATION_MSECS"]) / 1000)
    path = wanted["ACTIVITIES_LOG_FILE"].replace(".json", "_%d.json" % os.getpid())
    begun = open(path + ".tmp", "wb", buffering=0)
    if how == "dies": sys.exit()
    try:
        rest = open(trace, "rb").read()
        while rest: rest = rest[begun.write(rest):]
    except OSError:
        continue
    time.sleep(0.3)
    os.rename(path + ".tmp", path)
"""


class Check:
    def __init__(self, program, trace, folder):
        self.program, self.folder = program, folder
        self.trace = folder / "trace.json"
        self.trace.write_bytes(gzip.decompress(pathlib.Path(trace).read_bytes()))
        self.environment = dict(os.environ, KINETO_IPC_SOCKET_DIR=str(folder))
        for display in ("DISPLAY", "WAYLAND_DISPLAY"):
            self.environment.pop(display, None)
        self.clients = []
        (folder / "client.py").write_text(CLIENT)

    def client(self, how="writes", **environment):
        number = len(self.clients)
        process = subprocess.Popen([sys.executable, self.folder / "client.py", self.folder / f"c{number}", self.folder / f"asked{number}", how, self.trace],
                                   env=dict(self.environment, **environment), start_new_session=True)
        self.clients.append(process)
        return process

    def asked(self, number):
        path = self.folder / f"asked{number}"  # or "NUMBER_RANK" of a launcher's
        return path.read_text() if path.exists() else ""

    def start(self, *arguments):
        return subprocess.Popen([self.program, "attach", *arguments], env=self.environment, cwd=self.folder, text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)

    def run(self, *arguments):
        process = self.start(*arguments)
        said, complained = process.communicate(timeout=100)
        return process.returncode, said, complained

    def end_clients(self):
        for process in self.clients:
            try:
                os.killpg(process.pid, signal.SIGKILL)  # and what it has started
            except ProcessLookupError:
                pass
            process.wait()


def expect(condition, *what):
    assert condition, what


def one(check):
    process = check.client()
    code, _, said = check.run("--pid", str(process.pid), "-o", "one", "--shapes", "--seconds", "0.25")
    expect(code == 0, code, said)
    traces = list((check.folder / "one").iterdir())
    expect([t.name for t in traces] == [f"pid_{process.pid}.json"], traces)
    expect(traces[0].read_bytes() == check.trace.read_bytes())
    expect("ACTIVITIES_DURATION_MSECS=250\n" in check.asked(0) and "INPUT_SHAPES=true\n" in check.asked(0), check.asked(0))
    expect("PROFILE_WITH_STACK=false\n" in check.asked(0), check.asked(0))
    # What was there stays: the next one goes into a folder of its own.
    expect(check.run("--pid", str(process.pid), "-o", "one")[0] == 0)
    expect(len(list((check.folder / "one-2").iterdir())) == 1)


def ranks(check):
    for rank in range(3):
        check.client(RANK=str(rank), LOCAL_WORLD_SIZE="3")
    code, _, said = check.run("-o", "none")
    expect(code == 2 and "Choose one with --pid" in said and not (check.folder / "none").exists(), code, said)
    expect("rank 2, job 77" in said, said)
    code, _, said = check.run("--all", "-o", "run")
    expect(code == 0 and not (check.folder / "run/missing.txt").exists(), code, said)
    expect(sorted(t.name.split("_")[0] for t in (check.folder / "run").iterdir()) == ["rank0", "rank1", "rank2"])
    starts = {line for n in range(3) for line in check.asked(n).splitlines() if line.startswith("PROFILE_START_TIME=")}
    expect(len(starts) == 1 and starts != {"PROFILE_START_TIME=0"}, starts)  # together
    expect(check.run("--job", "78", "--wait", "1", "-o", "none")[0] == 1)
    expect(check.run("--job", "77", "--iterations", "2", "-o", "steps")[0] == 0)
    expect("ACTIVITIES_ITERATIONS=2\n" in check.asked(0))


def ranks_of_a_launcher(check):
    """They poll ten seconds apart, each in its own turn, and so does what has started them."""
    launcher = check.client("launches", POLL="10", DELAYS="0 5")
    code, _, said = check.run("--pid", str(launcher.pid), "-o", "run")
    asked = [check.asked(f"0_{rank}") for rank in range(2)]
    expect(code == 0, code, said, asked)
    expect(sorted(t.name.split("_")[0] for t in (check.folder / "run").iterdir()) == ["rank0", "rank1"], said)
    expect(f"Process {launcher.pid} only started the ranks: it is left out." in said and not check.asked(0), said)
    expect(all(text.count("PROFILE_START_TIME=") == 1 for text in asked), asked)
    expect(len({line for text in asked for line in text.splitlines() if line.startswith("PROFILE_START_TIME=")}) == 1, asked)


def two_ranks_of_four(check):
    for rank in (0, 2):
        check.client(RANK=str(rank), LOCAL_WORLD_SIZE="4")
    code, _, said = check.run("--job", "77", "-o", "run")
    missing = "Of the 4 ranks of a job on this machine, 2 polled: rank 0, 2."
    expect(code == 1 and missing in said, code, said)
    expect(sorted(t.name.split("_")[0] for t in (check.folder / "run").iterdir()) == ["missing.txt", "rank0", "rank2"])
    expect(missing in (check.folder / "run/missing.txt").read_text())


def a_late_rank(check):
    """Polls every 15 s, which is unknown before: it is asked again, and that it is alone is said."""
    check.client("kineto", RANK="0", LOCAL_WORLD_SIZE="2", POLL="5")
    late = check.client("kineto", RANK="1", LOCAL_WORLD_SIZE="2", POLL="15")
    code, _, said = check.run("--job", "77", "-o", "run")
    expect(code == 1 and f"Process {late.pid} (rank 1) asked " in said and "Trying again with more time (try 2 of 3)." in said, code, said)
    alone = f"Process {late.pid} (rank 1) was recorded "
    expect(alone in said and alone in (check.folder / "run/missing.txt").read_text(), said)
    expect(sorted(t.name.split("_")[0] for t in (check.folder / "run").iterdir()) == ["missing.txt", "rank0", "rank1"], said)
    expect("Not starting tracing" not in check.asked(0) + check.asked(1), check.asked(0), check.asked(1))


def a_program_that_ends(check):
    process = check.client("dies")
    code, _, said = check.run("--pid", str(process.pid), "-o", "gone")
    expect(code == 1 and f"Process {process.pid} ended before its trace was written; the empty file that it left is removed." in said, code, said)
    expect(not (check.folder / "gone").exists())


def a_full_disk(check):
    disk = check.folder / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "none", disk], check=False).returncode != 0:
        return print("SKIPPED a_full_disk: nothing may be mounted here")
    try:
        fill_disk(check, disk)
    finally:
        check.end_clients()
        subprocess.run(["umount", disk], check=True)


def fill_disk(check, disk):
    process = check.client()
    code, _, said = check.run("--pid", str(process.pid), "-o", "disk/run")
    begun = disk / "run" / f"pid_{process.pid}.json.tmp"
    expect(code == 1 and f"The disk is full: process {process.pid} could write only the beginning of its trace, {begun}. Make room" in said, code, said)
    expect(begun.stat().st_size > 0)
    code, _, said = check.run("--pid", str(process.pid), "-o", "one")  # elsewhere
    expect(code == 0, code, said)


def nobody(check):
    code, _, said = check.run("--wait", "0.5", "-o", "none")
    expect(code == 1 and "No such process" in said, code, said)
    process = check.start("-o", "none")
    time.sleep(1)
    code, _, said = check.run("-o", "none")
    expect(code == 1 and "Another daemon listens" in said, code, said)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=10)
    expect(process.returncode == 130, process.returncode)
    expect(not (check.folder / "dynolog").exists() and not (check.folder / "none").exists())
    expect(check.run("--when", "step>fast", "--watch", "1")[0] != 0)


def hostile(check):
    process = check.start("--all", "-o", "none")
    sender = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    sender.bind(str(check.folder / "hostile"))
    sender.setblocking(False)
    chance, sent = random.Random(1), 0
    for _ in range(200):
        if (check.folder / "dynolog").exists():
            break
        time.sleep(0.05)
    end = time.time() + 30
    while sent < 10_000 and time.time() < end:
        body = chance.randbytes(chance.choice([0, 1, 16, 20, 100, 9000]))
        head = chance.choice([b"req", b"ctxt", chance.randbytes(8)])
        try:
            sender.sendto(chance.choice([len(body), 1 << 63]).to_bytes(8, "little") + head.ljust(32, bytes(1)) + body, str(check.folder / "dynolog"))
            sent += 1
        except BlockingIOError:
            time.sleep(0.001)
        try:
            while True:
                sender.recv(65536)
        except BlockingIOError:
            pass
    expect(sent == 10_000, sent)
    expect(process.poll() is None, process.returncode)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=10)


def watch(check):
    process = check.client()
    watching = check.start("--pid", str(process.pid), "--watch", "1", "-o", "w", "--seconds", "0.1")
    time.sleep(6)
    watching.send_signal(signal.SIGINT)
    said, complained = watching.communicate(timeout=20)
    lines = said.splitlines()
    expect(len(lines) >= 2 and all("a step" in line and "GPU busy" in line for line in lines), said, complained)
    expect(len(list((check.folder / "w").iterdir())) >= len(lines))
    trend = json.loads(subprocess.run([check.program, "trend", check.folder / "w", "--json"], text=True, stdout=subprocess.PIPE, check=True).stdout)
    names = [row["recording"] for row in trend["recordings"]]
    expect(len(names) >= len(lines) and names == sorted(names), trend)
    expect(all(row["traces"] == 1 and row["slower"] == 1 and row["gpu_busy"] > 0 for row in trend["recordings"]), trend)
    watching = check.start("--pid", str(process.pid), "--watch", "1", "-o", "slow", "--when", "step>1.3x")
    time.sleep(6)
    watching.send_signal(signal.SIGINT)
    said, _ = watching.communicate(timeout=20)
    left = [f for f in (check.folder / "slow").iterdir() if list(f.iterdir())]
    expect(len(said.splitlines()) >= 2 and len(left) <= 2, said, left)  # the first, and one that was under way


def in_name_spaces(case, program, trace):
    """What may mount, without being root."""
    if subprocess.run(["unshare", "-rm", "true"], stderr=subprocess.DEVNULL, check=False).returncode != 0:
        return print(f"SKIPPED {case.__name__}: no name space can be made here")
    subprocess.run(["unshare", "-rm", sys.executable, __file__, program, trace, case.__name__], check=True)


def run_cases(cases, program, trace):
    for case in cases:
        with tempfile.TemporaryDirectory() as name:
            check = Check(program, trace, pathlib.Path(name))
            try:
                case(check)
            finally:
                check.end_clients()


def main(program, trace, only=None):
    if only:
        return run_cases([globals()[only]], program, trace)
    cases = (one, ranks, ranks_of_a_launcher, two_ranks_of_four, a_late_rank, a_program_that_ends, nobody, hostile, watch)
    # At the same time, as they mostly wait: each has a folder and programs of its own.
    with concurrent.futures.ThreadPoolExecutor(len(cases)) as pool:
        list(pool.map(lambda case: run_cases([case], program, trace), cases))
    in_name_spaces(a_full_disk, program, trace)
    print(f"{len(cases) + 1} cases of attach hold")


if __name__ == "__main__":
    main(*sys.argv[1:])
