"""Counters alone of programs that end in every way: the recording is whole, and the program's code is its own. Needs a GPU, PyTorch,
a gapscope with the recorder and gapscope-workload; run it by hand:

    python3 tests/gpu/counters_only.py build/gapscope build/gapscope-workload
"""
import gzip
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

BUSY = """
import os, sys, time, torch
x = torch.randn(4096, 4096, device="cuda")
end = time.time() + 2
while time.time() < end:
    x @ x
    torch.cuda.synchronize()
"""


def killed(what):
    def later(process):
        time.sleep(5)
        what(process)
    return later


def child(process):
    """The program: what cleans up after the two was begun before it."""
    return int(pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()[-1])


def record(gapscope, path, command, options, meanwhile):
    process = subprocess.Popen([gapscope, "record", "--no-open", "--counters-only", *options, "-o", path, "--", *command], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    if meanwhile:
        meanwhile(process)
    said = process.communicate(timeout=120)[1]
    if not os.path.exists(path):
        return process.returncode, said, []
    events = json.load(gzip.open(path))["traceEvents"]
    return process.returncode, said, sorted((e["ts"], e["args"]) for e in events if e["name"] == "Counter sampling")


def main(gapscope, workload):
    python = [sys.executable, "-c"]
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for title, command, code, least, options, meanwhile in (
                ("CUDA without Python", [workload, "geglu-mlp", "--size", "4096", "--steps", "2000", "--no-check"], 0, 1, (), None),
                ("Python", [*python, BUSY], 0, 2, (), None),
                ("sys.exit", [*python, BUSY + "sys.exit(3)"], 3, 2, (), None),
                ("os._exit", [*python, BUSY + "os._exit(4)"], 4, 2, (), None),
                ("SIGTERM to gapscope", [*python, BUSY], 128 + signal.SIGTERM, 3, (), killed(lambda p: p.send_signal(signal.SIGTERM))),
                ("SIGKILL", [*python, BUSY], 128 + signal.SIGKILL, 3, (), killed(lambda p: os.kill(child(p), signal.SIGKILL))),
                ("no CUDA", ["sleep", "0.5"], 0, 0.4, (), None),
                ("a second of it", [*python, BUSY], 0, 0.9, ("--duration", "1"), None)):
            got, said, sampling = record(gapscope, os.path.join(folder, title.replace(" ", "_") + ".json.gz"), command, options, meanwhile)
            lasted = (sampling[-1][0] - sampling[0][0]) / 1e6 if sampling else 0
            good = got == code and lasted >= least and sampling[-1][1] == {"interval us": 0} and "cut off" not in said
            wrong += not good
            print(f"{title}: {'ok' if good else 'WRONG'}: code {got}, {lasted:.1f} s", "" if good else repr(said))
    if wrong:
        sys.exit(f"{wrong} wrong")


if __name__ == "__main__":
    main(*sys.argv[1:])
