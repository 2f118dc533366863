"""The ncu command that Gapscope gives for a kernel, run: it profiles the launch it was made of, whose grid and block distinguish it from
all others of its function. From a trace of `gapscope record`, which saw every launch, and from one of PyTorch's profiler, which
began later. Needs a GPU, PyTorch, Nsight Compute and a gapscope with the recorder; run it by hand:

    python3 tests/gpu/ncu_command.py build/gapscope [FOLDER]
"""
import gzip
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

MOST = 8  # kernels of a trace that are tried


def work(sizes):
    """Of each function several launches, no two with the same grid; the longest of a name is not its first."""
    import torch

    for n in sizes:
        x = torch.ones(n << 20, device="cuda")
        x.add_(1)
        x.mul_(3)
        torch.softmax(x.view(-1, 1024), -1)
        torch.cumsum(x.view(1024, -1), 1)
        x.half().view(1024, -1) @ x.half().view(-1, 1024)
    torch.cuda.synchronize()


def program(how, path=None):
    import torch

    work((3, 1))  # before the recording begins
    if how == "torch":
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]) as profile:
            work((2, 7, 5))
        profile.export_chrome_trace(path)
    elif how == "ncu":  # as the note under the command says
        torch.cuda.profiler.start()
        work((2, 7, 5))
    else:
        work((2, 7, 5))


def kernels(path):
    """In the order of their launches."""
    with open(path, "rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    with (gzip.open if packed else open)(path, "rt") as file:
        events = json.load(file)["traceEvents"]
    calls = {e["args"]["correlation"]: e["ts"] for e in events if e.get("cat") in ("cuda_runtime", "cuda_driver") and "correlation" in e.get("args", {})}
    return sorted((e for e in events if e.get("cat") == "kernel"), key=lambda e: calls.get(e["args"]["correlation"], e["ts"]))


def is_of(function, name):
    return re.search(r"(^|[ :])" + re.escape(function) + r"($|[<(])", name) is not None


def check(title, gapscope, trace, finish):
    launches = kernels(trace)
    rows = json.loads(subprocess.run([gapscope, "kernels", trace, "--json"], check=True, capture_output=True, text=True).stdout)
    rows = [row for row in rows if row["ncu"]][:MOST]
    wrong = not_first = 0
    for row in rows:
        skip = int(re.search(r"--launch-skip (\d+)", row["ncu"]).group(1))
        function = re.search(r"regex:'\^(.*?)\$'", row["ncu"]).group(1).replace("\\", "")
        mine = [e for e in launches if is_of(function, e["name"])]
        meant = max((e for e in launches if e["name"] == row["name"]), key=lambda e: e["dur"])
        same = sum(e["args"]["grid"] == meant["args"]["grid"] and e["args"]["block"] == meant["args"]["block"] for e in mine)
        done = subprocess.run(finish(row["ncu"]), shell=True, capture_output=True, text=True)
        got = re.findall(r"\((\d+), (\d+), (\d+)\)x\((\d+), (\d+), (\d+)\)", done.stdout)
        want = tuple(str(n) for n in (*meant["args"]["grid"], *meant["args"]["block"]))
        good = got == [want] and mine[skip] is meant
        wrong += not good
        not_first += skip > 0
        print(f"{title}: {'ok' if good else 'WRONG'}: {function}, launch {skip} of {len(mine)}, {same} with its grid {want}; profiled {got}")
        if not good:
            print("  ", row["ncu"], "\n  ", (done.stdout + done.stderr)[-600:])
    print(f"{title}: {len(rows)} kernels, {not_first} not the first of their function, {wrong} wrong")
    return wrong


def main(gapscope, folder=None):
    folder = folder or tempfile.mkdtemp(prefix="gapscope-ncu-")
    ours, torch = os.path.join(folder, "ours.json.gz"), os.path.join(folder, "torch.json.gz")
    me = [sys.executable, os.path.abspath(__file__), "--program"]
    subprocess.run([gapscope, "record", "--no-open", "-o", ours, "--", *me, "plain"], check=True)
    subprocess.run([*me, "torch", torch], check=True)
    wrong = check("gapscope record", gapscope, ours, lambda command: command)
    script = shlex.join([*me, "ncu"])
    wrong += check("torch.profiler", gapscope, torch, lambda command: command.replace("ncu ", "ncu --profile-from-start off ", 1).replace("python your_script.py", script))
    if wrong:
        sys.exit(f"{wrong} wrong")


if __name__ == "__main__":
    program(*sys.argv[2:]) if sys.argv[1:2] == ["--program"] else main(*sys.argv[1:])
