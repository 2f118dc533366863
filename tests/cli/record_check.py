#!/usr/bin/env python3
"""`gapscope record` as a script meets it, without a GPU: programs that use no CUDA run on undisturbed, and a program that plays
the recorder's part (it writes what libgapscope_sampler.so would) shows what becomes of recordings.

    record_check.py PROGRAM
"""
import contextlib
import gzip
import json
import os
import pathlib
import pty
import re
import signal
import subprocess
import sys
import tempfile
import time

# Writes the begin of a trace as the recorder does, piece by piece, and then ends as requested.
HOST = re.sub("[^0-9A-Za-z_-]", "_", os.uname().nodename[:32])
RECORDED = f"HOST = {HOST!r}" + """
import gzip, os, signal, sys, time
out = os.environ["GAPSCOPE_RECORD_OUT"]
piece = ".".join([out, os.environ["GAPSCOPE_RECORD_RUN"], HOST, str(os.getpid()), "1", "partial"])
assert os.environ["CUDA_INJECTION64_PATH"] == os.environ["NVTX_INJECTION64_PATH"]
with open(piece, "wb") as file:
    for i in range(4):
        text = '{"traceEvents": [\\n' if i == 0 else "\\n,"
        text += '{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": %d.000, "dur": 5.000}' % (10 * i)
        file.write(gzip.compress(text.encode()) if out.endswith(".gz") else text.encode() + b'\\n')
    if sys.argv[1] == "cut": file.write(gzip.compress(b"lost")[:9] if out.endswith(".gz") else b',{"ph": "X", "na')
with open(os.environ["GAPSCOPE_RECORD_STATUS"], "a") as status: status.write("SA word from the recorder.\\0")
if sys.argv[1] == "whole and named":
    os.rename(piece, out)
    with open(os.environ["GAPSCOPE_RECORD_STATUS"], "a") as status: status.write("T3 " + out + "\\0")
if sys.argv[1] == "wait":
    print("waiting", flush=True)
    time.sleep(60)
os.kill(os.getpid(), signal.SIGKILL)
"""

# How often it was interrupted within the second after the first time.
COUNTS_SIGNALS = """
import signal, sys, time
count = 0
def heard(*_):
    global count
    count += 1
signal.signal(signal.SIGINT, heard)
signal.signal(signal.SIGQUIT, heard)
print("waiting", flush=True)
end = time.monotonic() + 10
while time.monotonic() < end and not count:
    time.sleep(0.05)
time.sleep(1)
print(count, flush=True)
sys.exit(7)
"""


class Check:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.environment = dict(os.environ, GAPSCOPE_RECORDER="/nonexistent/libgapscope_sampler.so")
        self.environment.pop("DISPLAY", None)

    def start(self, *arguments, out="r.json.gz", options=()):
        return subprocess.Popen([self.program, "record", "-o", self.folder / out, *options, "--", *arguments], env=self.environment, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)

    def run(self, *arguments, out="r.json.gz", options=()):
        process = self.start(*arguments, out=out, options=options)
        said, complained = process.communicate(timeout=60)
        return process.returncode, said, complained

    def at_a_terminal(self, script, keys):
        child, terminal = pty.fork()
        if child == 0:
            os.execve(self.program, [self.program, "record", "-o", str(self.folder / "k.json.gz"), "--", sys.executable, "-c", script], self.environment)
        said = b""
        with contextlib.suppress(OSError):  # as a terminal says that no reader is left
            while piece := os.read(terminal, 4096):
                said += piece
                if b"waiting" in said and keys:
                    os.write(terminal, keys)
                    keys = b""
        os.close(terminal)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), said.decode()

    def recorded(self, how, out="r.json.gz"):
        return self.run(sys.executable, "-c", RECORDED, how, out=out)

    def kernels(self, out="r.json.gz"):
        path = self.folder / out
        text = gzip.open(path).read() if out.endswith(".gz") else path.read_bytes()
        return len(json.loads(text)["traceEvents"])


def is_alive(process):
    try:
        return pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def complaints(check):
    code, said, complained = check.run(sys.executable, "-c", "import sys; print('out'); print('err', file=sys.stderr); sys.exit(7)")
    if (code, said) != (7, "out\n") or not complained.startswith("err\n"):
        yield f"a program's code and output do not pass through: {code} {said!r} {complained!r}"
    if "gapscope record: There is no trace: the program used no CUDA" not in complained or list(check.folder.iterdir()):
        yield f"a program without CUDA: {complained!r}, {list(check.folder.iterdir())}"

    code, said, complained = check.run("no-such-program")
    if code != 127 or complained != "gapscope record: no-such-program: there is no such program. Is it spelled right, and on the PATH?\n":
        yield f"a program that is not there: {code} {complained!r}"
    code, said, complained = check.run("/etc/passwd")
    if code != 126 or "/etc/passwd: cannot be started: " not in complained:
        yield f"a file that is no program: {code} {complained!r}"
    script = check.folder / "script"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    code, said, complained = check.run(str(script))
    if code != 127 or "the interpreter that its first line names is missing" not in complained:
        yield f"a script whose interpreter is missing: {code} {complained!r}"
    script.unlink()
    unnamed = subprocess.run([check.program, "record", "-o", "", "--", "echo", "hello"], env=check.environment, capture_output=True, text=True, timeout=60)
    if unnamed.returncode != 1 or unnamed.stdout or unnamed.stderr != "gapscope record: A recording needs a name. Name a file with -o.\n":
        yield f"a recording without a name: {unnamed}"
    code, said, complained = check.run("true")
    if code != 1 or "There is no trace: " not in complained:
        yield f"a program that is well and leaves no trace: {code} {complained!r}"
    code, said, complained = check.run("echo", "hello", out="missing/r.json")
    if code != 1 or said or "nothing can be written there" not in complained:
        yield f"an output that cannot be written: {code} {said!r} {complained!r}"

    # Of counters alone nothing is loaded into the program.
    alone = "import os, sys; sys.exit(9 if {'CUDA_INJECTION64_PATH', 'NVTX_INJECTION64_PATH'} & set(os.environ) else 7)"
    code, said, complained = check.run(sys.executable, "-c", alone, options=["--counters-only"])
    if code != 7 or "The recorder cannot be loaded: " not in complained or "There is no trace." not in complained:
        yield f"counters alone, without a recorder: {code} {complained!r}"
    code, said, complained = check.run("echo", "hello", options=["--counters-only", "--range", "a"])
    if code != 2 or said or "leave out --range" not in complained:
        yield f"counters alone, of a range: {code} {said!r} {complained!r}"

    for kind in (".json.gz", ".json"):
        for how in ("whole", "cut"):
            out = how + kind
            code, said, complained = check.recorded(how, out)
            if code != 128 + signal.SIGKILL or check.kernels(out) != 4:
                yield f"a killed program, {how} {out}: {code} {complained!r}, {check.kernels(out)} events"
            if "gapscope record: A word from the recorder.\n" not in complained or "Everything before that is saved" not in complained:
                yield f"a killed program, {how} {out}: {complained!r}"
            if list(check.folder.glob("*.partial")):
                yield f"left of {out}: {list(check.folder.glob('*.partial'))}"

    code, said, complained = check.recorded("whole and named", "s.json.gz")
    if f"Recorded {check.folder}/s.json.gz (rank 3, " not in complained or "cut off" in complained:
        yield f"a recorder that names its trace: {complained!r}"

    foreign = check.folder / f"f.json.gz.0123456789abcdef.{HOST}.1.1.partial"
    text = gzip.compress(b"of another run")
    foreign.write_bytes(text)
    code, said, complained = check.recorded("whole", "f.json.gz")
    if foreign.read_bytes() != text or f"{foreign}: left unfinished by another recording" not in complained:
        yield f"another run's file: {complained!r}"
    foreign.unlink()

    process = check.start(sys.executable, "-c", RECORDED, "wait", out="t.json.gz")
    process.stdout.readline()
    os.kill(process.pid, signal.SIGTERM)
    process.communicate(timeout=60)
    if process.returncode != 128 + signal.SIGTERM or check.kernels("t.json.gz") != 4:
        yield f"SIGTERM is not passed on: {process.returncode}"

    for one in (signal.SIGINT, signal.SIGQUIT):
        process = check.start(sys.executable, "-c", COUNTS_SIGNALS, out="i.json.gz")
        process.stdout.readline()
        os.kill(process.pid, one)  # ours alone: the terminal would have sent it to the program as well
        said = process.communicate(timeout=60)[0]
        if (process.returncode, said) != (7, "1\n"):
            yield f"{one.name} is not passed on: {process.returncode} {said!r}"
    code, said = check.at_a_terminal(COUNTS_SIGNALS, b"\x03")
    if code != 7 or not re.search(r"(\^C|\n)1\r\n", said):
        yield f"Ctrl+C does not reach the program once: {code} {said!r}"

    process = check.start(sys.executable, "-c", "import os, time; os.write(1, b'%d\\n' % os.getpid()); time.sleep(60)", out="u.json.gz")
    program = process.stdout.readline().strip()
    others = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    others.remove(program)
    for one in others:
        os.kill(int(one), signal.SIGKILL)
    os.kill(int(program), signal.SIGTERM)
    process.communicate(timeout=60)
    if not others or process.returncode != 128 + signal.SIGTERM:
        yield f"without what cleans up after it: {others}, {process.returncode}"

    with tempfile.TemporaryDirectory() as temporary:
        check.environment["TMPDIR"] = temporary
        # A shell and its child, which the shell leaves behind when it is asked to end, and a daemon, which is meant to stay.
        child = "import os, time; os.write(1, b'%d\\n' % os.getpid()); time.sleep(60)"
        daemon = child.replace("time;", "time; os.setsid();")
        process = check.start("sh", "-c", f'echo $$; "$0" -c "{child}" & "$0" -c "{daemon}" & wait', sys.executable)
        started = {int(process.stdout.readline()) for _ in range(3)}
        if not list(pathlib.Path(temporary).iterdir()):
            yield "there is no temporary folder: this tests nothing"
        staying = {one for one in started if os.getsid(one) == one}
        process.kill()
        process.wait()
        until = time.monotonic() + 30
        while (any(map(is_alive, started - staying)) or list(pathlib.Path(temporary).iterdir())) and time.monotonic() < until:
            time.sleep(0.01)
        if any(map(is_alive, started - staying)) or list(pathlib.Path(temporary).iterdir()):
            yield f"killed, it leaves {list(pathlib.Path(temporary).iterdir())} and {sum(map(is_alive, started - staying))} processes"
        if len(staying) != 1 or not all(map(is_alive, staying)):
            yield "killed, it ends what had begun a session of its own"
        for one in staying:
            os.kill(one, signal.SIGKILL)


def main(program):
    with tempfile.TemporaryDirectory(prefix="gapscope record ") as folder:
        wrong = list(complaints(Check(program, pathlib.Path(folder))))
    for sentence in wrong:
        print("WRONG:", sentence)
    print("ok" if not wrong else f"{len(wrong)} complaints")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
