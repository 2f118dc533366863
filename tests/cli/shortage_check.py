#!/usr/bin/env python3
"""What the command line says where memory, threads or a writer is not to be had: one sentence, exit code 1, no hang, no abort.

    shortage_check.py GAPSCOPE TRACE.json.gz [LIMITS]

LIMITS: how many limits of memory to try, 20 without."""
import gzip
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PATIENCE_S = 60
LEAST_MB, MOST_MB = 20, 180
failures = []


def check(is_so, what):
    if not is_so:
        failures.append(what)
        print(what, file=sys.stderr)


def run(command, limits=None, **more):
    """Exit code, stdout, stderr; a run that hangs has the code None."""
    try:
        done = subprocess.run(command, capture_output=True, timeout=PATIENCE_S, preexec_fn=limits, **more)
    except subprocess.TimeoutExpired:
        return None, b"", b""
    return done.returncode, done.stdout, done.stderr


def memory_limits(program, traces, count):
    """Below some limit the system cannot even load the program, and says so in its own words with code 127."""
    succeeded = refused = 0
    for i in range(count):
        limit = (LEAST_MB << 20) + i * ((MOST_MB - LEAST_MB) << 20) // max(1, count - 1)
        command = [["info"], ["diagnose"], ["info", "--json"]][i % 3]
        for trace in traces:
            code, out, said = run([program, *command, trace], lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
            what = f"{command[0]} of {os.path.basename(trace)} with {limit >> 20} MB: code {code}, {said[-200:]!r}"
            check(code in (0, 1, 127), what)
            if code == 0:
                succeeded += 1
            if code == 1:
                refused += 1
                check(b"memory" in said and said.count(b"\n") == 1, what)
            if code == 127:
                check(b"memory" in said or b"shared" in said, what)
    check(succeeded > 0 and refused > 0, f"{succeeded} runs succeeded and {refused} were refused: the limits are no test")


def without_threads(program, trace, out):
    """One thread does the work. Root may have any number: then another user is none."""
    prefix = ["setpriv", "--reuid=65534", "--clear-groups"] if os.geteuid() == 0 else []
    if prefix and not shutil.which("setpriv"):
        print("no setpriv: runs without threads are left out", file=sys.stderr)
        return
    limit = ["prlimit", "--nproc=1"]
    for command in (["info", trace], ["diagnose", trace], ["diff", trace, trace], ["crop", trace, "-o", out + "/part.json"]):
        code, said, trouble = run([*prefix, *limit, program, *command])
        expected = run([program, *command])[0]
        check(code == expected and code is not None, f"without threads {command[0]}: code {code}, {trouble[-200:]!r}")


def pipe_without_writer(program, folder):
    """Waits for its writer, and ends at once when it is told to."""
    fifo = os.path.join(folder, "fifo")
    os.mkfifo(fifo)
    waiting = subprocess.Popen([program, "info", fifo], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(0.5)
    check(waiting.poll() is None, "a pipe without a writer is not waited for")
    waiting.send_signal(signal.SIGINT)
    try:
        waiting.communicate(timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        waiting.kill()
        check(False, "SIGINT does not end a wait for a pipe's writer")
    check(waiting.returncode != 0, f"a wait ended by SIGINT has code {waiting.returncode}")


def no_end(program):
    code, _, said = run([program, "info", "/dev/zero"])
    check(code == 1 and said.count(b"\n") == 1, f"/dev/zero: code {code}, {said[-200:]!r}")


def main():
    program, packed = sys.argv[1], sys.argv[2]
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 20
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        # Eighty megabytes of text, so that the limits lie on both sides of what it takes.
        text = gzip.decompress(pathlib.Path(packed).read_bytes()).decode()
        begin = text.index("[", text.index('"traceEvents"')) + 1
        end = text.rindex("]")
        events = text[begin:end].strip()
        many = ",\n".join([events] * (80_000_000 // len(events) + 1))
        large = os.path.join(folder, "large.json")
        pathlib.Path(large).write_text(text[:begin] + many + text[end:])
        small = os.path.join(folder, "small.json.gz")
        shutil.copy(packed, small)
        os.chmod(small, 0o644)
        memory_limits(program, [small, large], count)
        without_threads(program, small, folder)
        pipe_without_writer(program, folder)
        no_end(program)
    return 1 if failures else 0


sys.exit(main())
