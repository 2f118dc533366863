#!/usr/bin/env python3
"""What the command line says where threads or a writer is not available: one sentence, exit code 1, no hang, no abort. Where
memory is not: tests/failure/memory_limits.py.

    shortage_check.py GAPSCOPE TRACE.json.gz"""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PATIENCE_S = 60
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
    """Waits for its writer, and ends at once when asked."""
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
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        small = os.path.join(folder, "small.json.gz")
        shutil.copy(packed, small)
        os.chmod(small, 0o644)
        without_threads(program, small, folder)
        pipe_without_writer(program, folder)
        no_end(program)
    return 1 if failures else 0


sys.exit(main())
