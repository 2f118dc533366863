#!/usr/bin/env python3
"""`gapscope attach` against training loops of real PyTorch.

    attach_to_torch.py GAPSCOPE ROOT      ROOT: a system with python3-torch; needs root, for chroot
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

LOOP = """
import sys, time, torch
model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 64))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x = torch.randn(32, 64)
end, steps = time.time() + float(sys.argv[1]), 0
while time.time() < end:
    optimizer.zero_grad()
    model(x).sum().backward()
    optimizer.step()
    steps += 1
    time.sleep(0.002)
print("ended by itself", steps)
"""


class Check:
    def __init__(self, gapscope, root):
        # In the root: what a program there writes to /tmp/... lies below it here, so it is mounted at the same path.
        self.gapscope, self.root = os.path.abspath(gapscope), os.path.abspath(root)
        self.folder = pathlib.Path(self.root, "tmp/attach")
        self.folder.mkdir(parents=True, exist_ok=True)
        pathlib.Path(self.root, "tmp/loop.py").write_text(LOOP)
        self.loops = []

    def loop(self, seconds, **environment):
        process = subprocess.Popen(["chroot", self.root, "env", "KINETO_USE_DAEMON=1", *[f"{k}={v}" for k, v in environment.items()],
                                    "python3", "/tmp/loop.py", str(seconds)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.loops.append(process)
        return process

    def ended(self, process):
        said, _ = process.communicate(timeout=180)
        assert process.returncode == 0 and "ended by itself" in said, (process.returncode, said[-2000:])

    # In a mount namespace of its own, where /tmp/attach is the root's: both see one path.
    def attach(self, *arguments):
        command = "mkdir -p /tmp/attach && mount --bind \"$0\" /tmp/attach && exec \"$@\""
        run = subprocess.run(["unshare", "-m", "bash", "-c", command, self.folder, self.gapscope, "attach", "--no-open", *arguments],
                             text=True, capture_output=True, timeout=240)
        sys.stderr.write(run.stderr)
        return run

    def operators(self, path):
        info = json.loads(subprocess.run([self.gapscope, "table", path, "--json"], capture_output=True, text=True, check=True).stdout)
        return json.dumps(info)


def settle():
    time.sleep(15)  # a loop is running and has asked once: see the guide on why one does not listen while a program starts


def main(gapscope, root):
    check = Check(gapscope, root)
    for old in check.folder.rglob("*.json"):
        old.unlink()
    one = check.loop(90)
    settle()
    for name in ("first", "second"):
        run = check.attach("-o", f"/tmp/attach/{name}-{os.getpid()}", "--shapes")
        assert run.returncode == 0, run
    traces = sorted(check.folder.rglob("*.json"))
    assert len(traces) == 2, traces
    for trace in traces:
        assert "aten::addmm" in check.operators(trace), trace
    subprocess.run([gapscope, "diff", *map(str, traces)], check=True, stdout=subprocess.DEVNULL)
    check.ended(one)

    three = [check.loop(90, RANK=rank) for rank in range(3)]
    settle()
    run = check.attach("--all", "-o", f"/tmp/attach/ranks-{os.getpid()}")
    assert run.returncode == 0, run
    ranks = sorted(path.name.split("_")[0] for path in check.folder.rglob("rank*.json"))
    assert ranks == ["rank0", "rank1", "rank2"], ranks
    run = check.attach("--pid", str(three[0].pid), "--iterations", "3", "-o", f"/tmp/attach/steps-{os.getpid()}")
    assert run.returncode == 0, run
    three[1].send_signal(signal.SIGKILL)
    for process in (three[0], three[2]):
        check.ended(process)
    print("recorded 6 traces of PyTorch programs that were running, and they went on")


if __name__ == "__main__":
    main(*sys.argv[1:])
