#!/usr/bin/env python3
"""`gapscope attach` against training loops of real PyTorch.

    attach_to_torch.py GAPSCOPE ROOT      ROOT: a system with python3-torch; needs root, for chroot
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

LOOP = """
import sys, time, torch
model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 64))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x = torch.randn(32, 64)
print("steps begin", flush=True)
end, steps = time.time() + float(sys.argv[1]), 0
while time.time() < end:
    optimizer.zero_grad()
    model(x).sum().backward()
    optimizer.step()
    steps += 1
    time.sleep(0.002)
print("ended by itself", steps)
"""

# Two ranks that wait for each other in every step (gloo), the second one late. The same number of steps each, so that none waits for
# a rank that has ended.
# Debian builds PyTorch without libuv, which torchrun asks for whatever USE_LIBUV says; a file serves the ranks.
TORCHRUN = """
import functools, runpy, torch.distributed
torch.distributed.TCPStore = functools.partial(torch.distributed.TCPStore, use_libuv=False)
runpy.run_module("torch.distributed.run", run_name="__main__")
"""
RANKS = """
import os, sys, time, torch, torch.distributed as dist
store = "file:///tmp/store_" + os.environ["TORCHELASTIC_RUN_ID"]
dist.init_process_group("gloo", store, rank=int(os.environ["RANK"]), world_size=int(os.environ["WORLD_SIZE"]))
x = torch.ones(64, 64)
print("steps begin", flush=True)
for step in range(int(sys.argv[1])):
    if dist.get_rank() == 1: time.sleep(0.02)
    dist.all_reduce(x.mm(x))
dist.destroy_process_group()
print("ended by itself", flush=True)
"""


class Check:
    def __init__(self, gapscope, root):
        # In the root: what a program there writes to /tmp/... is below it here, so it is mounted at the same path.
        self.gapscope, self.root = os.path.abspath(gapscope), os.path.abspath(root)
        self.folder = pathlib.Path(self.root, "tmp/attach")
        self.folder.mkdir(parents=True, exist_ok=True)
        pathlib.Path(self.root, "tmp/loop.py").write_text(LOOP)
        pathlib.Path(self.root, "tmp/ranks.py").write_text(RANKS)
        pathlib.Path(self.root, "tmp/torchrun").write_text(TORCHRUN)
        self.loops = []

    def loop(self, seconds, asks=True, **environment):
        return self.start(["python3", "/tmp/loop.py", str(seconds)], asks, environment)

    # torchrun, which asks, too, and two ranks; about as many seconds as 50 steps each.
    def two_ranks(self, seconds):
        return self.start(["python3", "/tmp/torchrun", "--standalone", "--local-addr=127.0.0.1", "--nproc-per-node=2", "/tmp/ranks.py",
                           str(50 * seconds)], True, {"GLOO_SOCKET_IFNAME": "lo"})

    def start(self, command, asks, environment):
        said = open(pathlib.Path(self.root, "tmp", f"said{len(self.loops)}"), "w+")
        process = subprocess.Popen(["chroot", self.root, "env", *["KINETO_USE_DAEMON=1"] * asks, *[f"{k}={v}" for k, v in environment.items()],
                                    *command], stdout=said, stderr=subprocess.STDOUT)
        self.loops.append((process, said.name))
        return process

    def said(self, process):
        return pathlib.Path(dict(self.loops)[process]).read_text(errors="replace")

    # All are running and have asked once: see the guide on why one does not listen while a program starts.
    def settle(self):
        for process, _ in self.loops:
            while process.poll() is None and "steps begin" not in self.said(process):
                time.sleep(0.2)
        time.sleep(12)

    def ended(self, process):
        process.wait(timeout=180)
        assert process.returncode == 0 and "ended by itself" in self.said(process), (process.returncode, self.said(process)[-2000:])

    # What became of the loops, where the test fails.
    def tell(self):
        for process, _ in self.loops:
            print(f"loop {process.pid}: {process.poll()}: {self.said(process)[-1500:]}", file=sys.stderr)
            process.kill()

    # In a mount namespace of its own, where /tmp/attach is the root's: both see one path.
    def attach(self, *arguments):
        command = "mkdir -p /tmp/attach && mount --rbind \"$0\" /tmp/attach && exec \"$@\""
        run = subprocess.run(["unshare", "-m", "bash", "-c", command, self.folder, self.gapscope, "attach", "--no-open", *arguments],
                             text=True, capture_output=True, timeout=240)
        sys.stderr.write(run.stderr)
        return run

    def operators(self, path):
        info = json.loads(subprocess.run([self.gapscope, "table", path, "--json"], capture_output=True, text=True, check=True).stdout)
        return json.dumps(info)


def one_loop_twice(check):
    one = check.loop(75)
    silent = check.loop(75, asks=False)
    check.settle()
    for name in ("first", "second"):
        run = check.attach("-o", f"/tmp/attach/{name}-{os.getpid()}", "--shapes")
        assert run.returncode == 0 and f"process {silent.pid}" not in run.stderr, run
    traces = sorted(check.folder.rglob("*.json"))
    assert len(traces) == 2, traces
    for trace in traces:
        assert "aten::addmm" in check.operators(trace), trace
    subprocess.run([check.gapscope, "diff", *map(str, traces)], check=True, stdout=subprocess.DEVNULL)
    check.ended(one)
    check.ended(silent)


def three_ranks(check):
    three = [check.loop(100, RANK=rank) for rank in range(3)]
    check.settle()
    run = check.attach("--all", "-o", f"/tmp/attach/ranks-{os.getpid()}")
    assert run.returncode == 0, run
    ranks = sorted(path.name.split("_")[0] for path in check.folder.rglob("rank*.json"))
    assert ranks == ["rank0", "rank1", "rank2"], ranks
    run = check.attach("--pid", str(three[0].pid), "--iterations", "3", "-o", f"/tmp/attach/steps-{os.getpid()}")
    assert run.returncode == 0, run
    # One that ends while it records leaves an empty file.
    killer = subprocess.Popen(["sh", "-c", f"while ! ls {check.folder}/gone-*/*.tmp; do sleep 0.1; done >/dev/null 2>&1; kill -9 {three[1].pid}"])
    run = check.attach("--pid", str(three[1].pid), "--seconds", "3", "-o", f"/tmp/attach/gone-{os.getpid()}")
    assert run.returncode == 1 and "ended before its trace was written; the empty file that it left is removed." in run.stderr, run
    assert not list(check.folder.glob("gone-*")), "its folder is there"
    killer.wait()
    for process in (three[0], three[2]):
        check.ended(process)


def two_ranks_of_torchrun(check):
    launcher = check.two_ranks(150)
    check.settle()
    folder = f"torchrun-{os.getpid()}"
    run = check.attach("--all", "-o", f"/tmp/attach/{folder}")
    assert run.returncode == 0 and f"Process {launcher.pid} only started the ranks: it is left out." in run.stderr, run
    ranks = sorted(path.name.split("_")[0] for path in (check.folder / folder).iterdir())
    assert ranks == ["rank0", "rank1"], ranks  # no launcher, nothing missing
    report = subprocess.run([check.gapscope, "ranks", check.folder / folder], capture_output=True, text=True, check=False)
    assert report.returncode == 0, report
    sys.stderr.write(report.stdout)
    check.ended(launcher)


def a_full_disk(check):
    disk = check.folder / "disk"
    disk.mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "none", disk], check=True)
    try:
        loop = check.loop(60)
        check.settle()
        run = check.attach("-o", "/tmp/attach/disk/run")
        assert run.returncode == 1 and "The disk is full" in run.stderr, (run, list(disk.rglob("*")))
        check.ended(loop)
    finally:
        subprocess.run(["umount", "-l", disk], check=True)


def main(gapscope, root):
    check = Check(gapscope, root)
    for old in check.folder.iterdir():
        shutil.rmtree(old, ignore_errors=True)
    for case in (one_loop_twice, three_ranks, two_ranks_of_torchrun, a_full_disk):
        try:
            case(check)
        except BaseException:
            check.tell()
            raise
        check.loops.clear()
    print("4 cases of attach with PyTorch hold: the programs were recorded and went on")


if __name__ == "__main__":
    main(*sys.argv[1:])
