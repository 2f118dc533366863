#!/usr/bin/env python3
"""Where output goes: nothing that was there is lost, nothing half-written stays, nothing false is said.

    output_check.py PROGRAM TRACE.json.gz
"""
import gzip
import json
import os
import pathlib
import resource
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time


def run(program, *arguments, **more):
    more.setdefault("capture_output", True)
    done = subprocess.run([program, *map(str, arguments)], timeout=120, **more)
    return done.returncode, (done.stdout or b"").decode(), (done.stderr or b"").decode()


def holds_trace(text):
    try:
        return len(json.loads(text)["traceEvents"]) > 0
    except (ValueError, KeyError):
        return False


def is_trace(path):
    return path.is_file() and holds_trace(path.read_bytes())


def litter(folder, *expected):
    return sorted(set(os.listdir(folder)) - set(expected))


def refused(what, done, *words):
    code, out, err = done
    if code != 1 or out or err.count("\n") != 1 or any(word not in err for word in words):
        yield f"{what}: ended with {code}: {out!r} {err!r}"


def input_by_other_names(program, text, folder):
    """The trace itself is refused under each of its names, and stays as it is."""
    trace = folder / "t.json"
    trace.write_bytes(text)
    os.link(trace, folder / "hard.json")
    (folder / "soft.json").symlink_to("t.json")
    (folder / "twice.json").symlink_to("soft.json")
    (folder / "here").symlink_to(".")
    names = [trace, folder / "hard.json", folder / "soft.json", folder / "twice.json", folder / "here" / "t.json", "t.json", "./here/./t.json"]
    for name in names:
        for command in ("crop", "screenshot"):
            done = run(program, command, trace, "-o", name, cwd=folder)
            yield from refused(f"{command} -o {name}", done, "is the trace itself")
            if trace.read_bytes() != text:
                yield f"{command} -o {name}: the trace is another one"
                trace.write_bytes(text)
    with open(trace, "rb+") as kept:
        name = f"/proc/self/fd/{kept.fileno()}"
        yield from refused("an open file", run(program, "crop", trace, "-o", name, pass_fds=[kept.fileno()]), "is the trace itself")
    with open(trace, "rb") as kept:
        yield from refused("standard input", run(program, "crop", "-", "-o", trace, stdin=kept), "is the trace itself")
    yield from refused("the second trace", run(program, "screenshot", trace, "--compare", folder / "soft.json", "-o", folder / "hard.json"), "is the trace itself")
    yield from refused("the layout", run(program, "screenshot", trace, "-o", folder / "x.png", "--layout", folder / "soft.json"), "is the trace itself")
    if trace.read_bytes() != text:
        yield "the trace is another one in the end"
    if left := litter(folder, "t.json", "hard.json", "soft.json", "twice.json", "here"):
        yield f"left behind: {left}"


def input_like_a_temporary(program, text, folder):
    """A trace that is called as temporaries were once called."""
    for ending in (".part", ".new", ".partial", ".tmp"):
        trace = folder / f"t.json{ending}"
        trace.write_bytes(text)
        code, out, err = run(program, "crop", trace, "-o", folder / "t.json")
        if code != 0 or not is_trace(folder / "t.json") or trace.read_bytes() != text:
            yield f"crop of {trace.name}: ended with {code}: {err!r}; the trace is {'there' if trace.exists() else 'gone'}"


def written_through(program, text, folder):
    """Devices, FIFOs and open files are written to and stay what they are; symbolic links stay links."""
    trace = folder / "t.json"
    trace.write_bytes(text)
    fifo = folder / "fifo"
    os.mkfifo(fifo)
    got = []
    reader = threading.Thread(target=lambda: got.append(fifo.read_bytes()), daemon=True)
    reader.start()
    code, out, err = run(program, "crop", trace, "-o", fifo)
    reader.join(10)
    if code != 0 or not stat.S_ISFIFO(fifo.stat().st_mode) or not got or not holds_trace(got[0]):
        yield f"FIFO: ended with {code}: {err!r}"
    if reader.is_alive():
        os.close(os.open(fifo, os.O_WRONLY))  # lets the reader go
    (folder / "null").symlink_to("/dev/null")
    code, out, err = run(program, "crop", trace, "-o", folder / "null")
    if code != 0 or not (folder / "null").is_symlink() or not stat.S_ISCHR(os.stat("/dev/null").st_mode):
        yield f"/dev/null: ended with {code}: {err!r}"
    (folder / "stdout").symlink_to("/proc/self/fd/1")  # as /dev/stdout, which a program that replaces it would do for everybody
    for name in ("stdout", "/dev/fd/1", "/proc/self/fd/1", "/proc/thread-self/fd/1", "-"):
        code, out, err = run(program, "crop", trace, "-o", name, cwd=folder)
        if code != 0 or not holds_trace(out) or "slices" not in err or not (folder / "stdout").is_symlink():
            yield f"{name} as a pipe: ended with {code}: {out[:60]!r} {err!r}"
        if (folder / "-").exists():
            (folder / "-").unlink()
    redirected = folder / "redirected"
    redirected.write_bytes(b"before\n")
    with open(redirected, "ab") as out:
        code, _, err = run(program, "crop", trace, "-o", folder / "stdout", capture_output=False, stdout=out, stderr=subprocess.DEVNULL)
    said = redirected.read_bytes()
    if code != 0 or not said.startswith(b"before\n") or not holds_trace(said[7:]):
        yield f"standard output as a file that is appended to: ended with {code}, {said[:30]!r}"
    (folder / "real").mkdir()
    target = folder / "real" / "target.json"
    (folder / "link.json").symlink_to("real/target.json")
    for what in ("nothing", "a file"):
        code, out, err = run(program, "crop", trace, "-o", folder / "link.json")
        if code != 0 or not (folder / "link.json").is_symlink() or target.is_symlink() or not is_trace(target):
            yield f"a link to {what}: ended with {code}: {err!r}"
    if left := litter(folder, "t.json", "fifo", "null", "stdout", "redirected", "real", "link.json") + litter(folder / "real", "target.json"):
        yield f"left behind: {left}"


def permissions(program, text, folder):
    trace, out = folder / "t.json", folder / "out.json"
    trace.write_bytes(text)
    for mode in (0o600, 0o640, 0o664, 0o755):
        out.write_bytes(b"old")
        out.chmod(mode)
        code, _, err = run(program, "crop", trace, "-o", out)
        if code != 0 or stat.S_IMODE(out.stat().st_mode) != mode:
            yield f"mode {mode:o} became {stat.S_IMODE(out.stat().st_mode):o}"
    out.unlink()
    run(program, "crop", trace, "-o", out, umask=0o027)
    if stat.S_IMODE(out.stat().st_mode) != 0o640:
        yield f"a new file has mode {stat.S_IMODE(out.stat().st_mode):o} under the umask 027"
    if os.geteuid() == 0:
        os.chown(out, 12345, 23456)
        run(program, "crop", trace, "-o", out)
        if (out.stat().st_uid, out.stat().st_gid) != (12345, 23456):
            yield f"the owner became {out.stat().st_uid}:{out.stat().st_gid}"
    else:
        out.chmod(0o444)
        yield from refused("a file that may not be written", run(program, "crop", trace, "-o", out), "Permission denied")


def signals(program, large, folder):
    """Killed in the middle: what was there is there, and nothing else."""
    out = folder / "out.json"
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL):
        for turn in range(5):  # a machine may be done before it is killed
            out.write_bytes(b"old")
            code = kill_in_the_middle(number, [program, "crop", large, "-o", out], folder)
            if code != 0:
                break
        if code != -number:
            yield f"signal {number}: ended with {code}"
        elif out.read_bytes() != b"old":
            yield f"signal {number}: what was there is gone"
        if left := litter(folder, "out.json"):
            yield f"signal {number}: left behind: {left}"
            for name in left:
                (folder / name).unlink()


def kill_in_the_middle(number, command, folder):
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while running.poll() is None and time.monotonic() < deadline and not writes(running.pid, folder):
        time.sleep(0.002)
    running.send_signal(number)
    return running.wait(timeout=30)


def writes(pid, folder):
    """Whether the process has a file open in `folder` and has written to it."""
    try:
        for fd in os.listdir(f"/proc/{pid}/fd"):
            name = f"/proc/{pid}/fd/{fd}"
            if os.readlink(name).startswith(str(folder) + "/") and os.stat(name).st_size > 0 and stat.S_ISREG(os.stat(name).st_mode):
                return True
    except OSError:
        pass
    return False


def two_writers(program, text, large, folder):
    """Of two that write one file, one wins whole."""
    out, small = folder / "out.json", folder / "t.json"
    small.write_bytes(text)
    for turn in range(3):
        both = [subprocess.Popen([program, "crop", trace, "-o", out], stdout=subprocess.DEVNULL) for trace in (large, small, large)]
        codes = [one.wait(timeout=120) for one in both]
        if codes != [0, 0, 0] or not is_trace(out):
            yield f"turn {turn}: ended with {codes}, and the file {'is' if is_trace(out) else 'is not'} JSON"
    if left := litter(folder, "out.json", "t.json"):
        yield f"left behind: {left}"


def no_room(program, text, large, folder):
    """A file system of 1 MB: what was there stays, and the sentence says why. None where nothing may be mounted."""
    disk = folder / "disk"
    disk.mkdir()
    script = """
        mount -t tmpfs -o size=1m none "$1" || exit 77
        cp "$2" "$1/out.json"; cp "$2" "$1/out.png"; cp "$2" "$1/out.html"
        head -c 900000 /dev/zero > "$1/full" 2> /dev/null
        "$3" crop "$4" -o "$1/out.json"; echo "crop $?"
        "$3" screenshot "$4" -o "$1/out.png"; echo "screenshot $?"
        "$3" overview "$4" --with-trace --html "$1/out.html"; echo "overview $?"
        cmp "$2" "$1/out.json" && cmp "$2" "$1/out.png" && cmp "$2" "$1/out.html" && echo same
        ls -A "$1" | sort | tr '\\n' ' '
    """
    small = folder / "old"
    small.write_bytes(b"old" * 1000)
    done = subprocess.run(["unshare", "-rm", "sh", "-c", script, "sh", disk, small, program, large], capture_output=True, timeout=120)
    if done.returncode == 77 or b"unshare" in done.stderr:
        print("SKIPPED: nothing may be mounted here, so there is no small disk.")
        return
    said = done.stdout.decode()
    if said.split("\n") != ["crop 1", "screenshot 1", "overview 1", "same", "full out.html out.json out.png "] or done.stderr.count(b"No space left on device") != 3:
        yield f"no room: {said!r} {done.stderr.decode()!r}"


def limits(program, text, large, folder):
    """A limit on the size of files is an error like others, not the end by a signal."""
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
    yield from refused("ulimit -f", run(program, "crop", large, "-o", folder / "out.json", preexec_fn=limit), "File too large")
    if left := litter(folder):
        yield f"left behind: {left}"


def bad_places(program, text, folder):
    trace = folder / "t.json"
    trace.write_bytes(text)
    (folder / "loop").symlink_to("loop")
    (folder / "full").symlink_to("/dev/full")
    for name, words in ((folder, "is a folder"), (f"{folder}/", "folder"), (folder / "loop", "Too many levels"),
                        (folder / "no" / "x.json", "No such file"), (trace / "x.json", "Not a directory"), ("/dev/fd/99", "cannot be written"),
                        (folder / ("x" * 300), "File name too long"), (folder / "full", "No space left"), ("/proc/x.json", "cannot be written")):
        for command in ("crop", "screenshot"):
            yield from refused(f"{command} -o {name}", run(program, command, trace, f"--output={name}", cwd=folder), words)
    code, _, err = run(program, "crop", trace, "-o", folder / ("x" * 255))  # as long as a name may be
    if code != 0 or not is_trace(folder / ("x" * 255)):
        yield f"a name of 255 characters: ended with {code}: {err!r}"
    if left := litter(folder, "t.json", "loop", "full", "x" * 255):
        yield f"left behind: {left}"


def standard_output(program, trace, folder):
    """What cannot be printed is said."""
    commands = [["info"], ["info", "--json"], ["diagnose"], ["why"], ["table"], ["table", "--csv"], ["kernels"], ["gpu"], ["steps"], ["launches"], ["flops"], ["memory"]]
    calls = [[*command, trace] for command in commands]
    calls += [["diff", trace, trace], ["crop", trace, "-o", folder / "out.json"], ["--help"], ["--version"], ["crop", "--help"]]
    for call in calls:
        with open("/dev/full", "wb") as full:
            done = subprocess.run([program, *map(str, call)], stdout=full, stderr=subprocess.PIPE, timeout=60)
        said = done.stderr.decode()
        if done.returncode != 1 or said != "gapscope: standard output cannot be written: No space left on device.\n":
            yield f"{call[0]} > /dev/full: ended with {done.returncode}: {said!r}"
    out = folder / "closed.json"
    done = subprocess.run(["sh", "-c", '"$0" crop "$1" -o "$2" >&-', program, trace, out], capture_output=True, timeout=60)
    if done.returncode != 1 or b"standard output cannot be written" not in done.stderr or not is_trace(out):
        yield f"crop >&-: ended with {done.returncode}: {done.stderr.decode()!r}, and the file {'is' if is_trace(out) else 'is not'} JSON"


def names_in_json(program, folder):
    """Characters that steer terminals are escaped in what is printed as JSON."""
    name = "a\x7fb\x80c\x9bd\x1be"
    trace = folder / "names.json"
    event = {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": 1, "dur": 2, "args": {"device": 0, "stream": 7}}
    trace.write_text(json.dumps([event, {**event, "cat": "cpu_op", "pid": 1, "tid": 1}]))
    for call in (["info", "--json"], ["diagnose", "--json"], ["why", "--json"], ["table", "--json"], ["kernels", "--json"], ["launches", "--json"], ["table"], ["kernels"],
                 ["table", "--csv"], ["info"]):
        code, out, err = run(program, *call, trace)
        if code != 0 or any(c in out for c in "\x7f\x80\x9b\x1b"):
            yield f"{' '.join(call)}: ended with {code}, or steers terminals: {out!r}"
    if json.loads(run(program, "kernels", "--json", trace)[1])[0]["name"] != name:
        yield "kernels --json: the name is another one"


def complaints(program, packed, large):
    text = gzip.decompress(pathlib.Path(packed).read_bytes())
    checks = [lambda f: input_by_other_names(program, text, f), lambda f: input_like_a_temporary(program, text, f),
              lambda f: written_through(program, text, f), lambda f: permissions(program, text, f), lambda f: signals(program, large, f),
              lambda f: two_writers(program, text, large, f), lambda f: no_room(program, text, large, f), lambda f: limits(program, text, large, f),
              lambda f: bad_places(program, text, f), lambda f: standard_output(program, packed, f), lambda f: names_in_json(program, f)]
    for check in checks:
        with tempfile.TemporaryDirectory(prefix="gapscope test ") as name:
            yield from check(pathlib.Path(name))


def make_large(packed, path, events=200_000):
    """A trace that takes a while to write."""
    some = json.loads(gzip.decompress(pathlib.Path(packed).read_bytes()))
    slices = [e for e in some["traceEvents"] if e.get("ph") == "X"]
    some["traceEvents"] += [{**slices[i % len(slices)], "ts": slices[-1]["ts"] + 100 + i} for i in range(events)]
    path.write_text(json.dumps(some))


def main(program, packed):
    with tempfile.TemporaryDirectory() as name:
        large = pathlib.Path(name) / "large.json"
        make_large(packed, large)
        wrong = list(complaints(program, packed, large))
    print("\n".join(wrong or ["output goes where it should"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
