#!/usr/bin/env python3
"""Gapscope with limits on its memory: it does what it is asked, or says in one sentence that memory is short; no hang, no abort.

    memory_limits.py GAPSCOPE TRACE.json.gz [LIMITS [COMMAND...]]

LIMITS: how many to try, 20 without; up to 20 each is tried with one command, beyond with all. COMMAND: those to try, out of the
names below; without, those that open no window: graphics drivers ask for memory too, and what they do when there is none is theirs
to decide. "small" and "large" try only that trace."""
import gzip
import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

PATIENCE_S = 120
LEAST_MB = 20
PLAIN = {  # what follows the program's name; {t} the trace, {o} a folder to write to
    "info": ["info", "{t}"],
    "info_json": ["info", "--json", "{t}"],
    "diagnose": ["diagnose", "{t}"],
    "why": ["why", "{t}"],
    "table": ["table", "{t}"],
    "crop": ["crop", "{t}", "-o", "{o}/part.json"],
    "crop_packed": ["crop", "{t}", "-o", "{o}/part.json.gz"],
    "diff": ["diff", "{t}", "{t}"],
    "overview": ["overview", "{t}"],
    "whatif": ["whatif", "{t}", "--kernel", ".*=0.5"],
    "pattern": ["sql", "{t}", "select count(*) from slice where name regexp 'a.*m+'"],
}
WITH_A_WINDOW = {"screenshot": ["screenshot", "{t}", "-o", "{o}/picture.png"], "window": ["{t}"]}
MOST_MB = {"diff": 420, "table": 300, "screenshot": 1200, "window": 1300}  # what the large trace takes, and some more
failures = []


def check(is_so, what):
    if not is_so:
        failures.append(what)
        print(what, file=sys.stderr, flush=True)


def limits(count, most_mb):
    return [(LEAST_MB << 20) + i * ((most_mb - LEAST_MB) << 20) // max(1, count - 1) for i in range(count)]


def is_a_sentence(said):
    """Or two, of two traces. A driver may have said something of its own before."""
    said = b"".join(line for line in said.splitlines(keepends=True) if not line.startswith((b"libGL", b"LLVM", b"MESA")))
    return all(line.startswith(b"gapscope: ") for line in said.splitlines()) and 1 <= said.count(b"\n") <= 2


class Tally:
    def __init__(self):
        self.done = self.said = self.not_started = 0
        self.longest_s = 0.0

    def take(self, what, code, said, seconds):
        """Below some limit the system cannot even load the program, and says so in its own words with code 127."""
        self.longest_s = max(self.longest_s, seconds)
        what = f"{what}: code {code}, {said[-300:]!r}"
        check(code in (0, 1, 127), what)
        if code == 0:
            self.done += 1
        if code == 1:
            self.said += 1
            check(is_a_sentence(said) and b"memory" in said, what)
        if code == 127:
            self.not_started += 1
            check(b"memory" in said or b"shared" in said, what)


def limited(limit):
    return lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def run_plain(program, name, trace, limit, tally):
    with tempfile.TemporaryDirectory() as out:
        words = [word.format(t=trace, o=out) for word in {**PLAIN, **WITH_A_WINDOW}[name]]
        begin = time.monotonic()
        try:
            done = subprocess.run([program, *words], capture_output=True, timeout=PATIENCE_S, preexec_fn=limited(limit))
            code, said = done.returncode, done.stderr
        except subprocess.TimeoutExpired as hung:
            code, said = "none: it hangs", hung.stderr or b""
        what = f"{name} of {os.path.basename(trace)} with {limit >> 20} MB"
        tally.take(what, code, said, time.monotonic() - begin)
        left = os.listdir(out)
        check(code == 0 or not left, f"{what}: code {code} and {left} left behind")


def run_window(program, screen, trace, limit, tally):
    """Opens, says how it went, and ends when asked: by the signal that it asks for."""
    with tempfile.TemporaryDirectory() as home:
        state = pathlib.Path(home, "state.json")
        environment = dict(os.environ, DISPLAY=screen.display, GAPSCOPE_STATE_FILE=str(state), HOME=home, XDG_CONFIG_HOME=home + "/config",
                           XDG_STATE_HOME=home + "/states", LIBGL_ALWAYS_SOFTWARE="1", DBUS_SESSION_BUS_ADDRESS="")
        environment.pop("WAYLAND_DISPLAY", None)
        begin = time.monotonic()
        with open(home + "/said", "w+b") as said:
            window = subprocess.Popen([program, trace], env=environment, stderr=said, preexec_fn=limited(limit))
            shown = None
            while window.poll() is None and time.monotonic() - begin < PATIENCE_S:
                shown = json.loads(state.read_text()) if state.exists() else None
                if shown and not shown["loading"] and (shown.get("file") or shown["message"]):  # a frame later than the load's end
                    break
                time.sleep(0.02)
            what = f"window on {os.path.basename(trace)} with {limit >> 20} MB"
            if window.poll() is None:
                check(shown and not shown["loading"], f"{what}: it hangs, {shown}")
                window.send_signal(signal.SIGTERM)
                try:
                    window.wait(timeout=10)
                except subprocess.TimeoutExpired:
                    window.kill()
                    window.wait()
                    check(False, f"{what}: it does not end")
                check(window.returncode in (-signal.SIGTERM, 1), f"{what}: it ends with {window.returncode}")
                text = shown["message"] if shown else ""
                check(shown and (shown.get("file") or "emory" in text), f"{what}: nothing is open, and it says {text!r}")
                opened = bool(shown and shown.get("file"))
                tally.take(what, 0 if opened else 1, b"" if opened else b"gapscope: " + text.encode() + b"\n", time.monotonic() - begin)
            else:
                said.seek(0)
                tally.take(what, window.returncode, said.read(), time.monotonic() - begin)


def start_at_every_limit(program, tally):
    """Where libraries are loaded and the program is not yet: each megabyte of it."""
    for megabytes in range(LEAST_MB, LEAST_MB + 40):
        begin = time.monotonic()
        done = subprocess.run([program, "--version"], capture_output=True, timeout=PATIENCE_S, preexec_fn=limited(megabytes << 20))
        tally.take(f"the start with {megabytes} MB", done.returncode, done.stderr, time.monotonic() - begin)


def make_traces(packed, folder):
    """The trace, and eighty megabytes of it, so that the limits lie on both sides of what it takes."""
    text = gzip.decompress(pathlib.Path(packed).read_bytes()).decode()
    begin, end = text.index("[", text.index('"traceEvents"')) + 1, text.rindex("]")
    events = text[begin:end].strip()
    large = os.path.join(folder, "large.json")
    pathlib.Path(large).write_text(text[:begin] + ",\n".join([events] * (80_000_000 // len(events) + 1)) + text[end:])
    small = os.path.join(folder, "small.json.gz")
    shutil.copy(packed, small)
    return {"small": small, "large": large}


def main():
    program, packed = sys.argv[1], sys.argv[2]
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 20
    words = sys.argv[4:]
    names = [w for w in words if w not in ("small", "large")] or list(PLAIN)
    screen = None
    if "window" in names:
        import harness
        screen_folder = tempfile.TemporaryDirectory()
        screen = harness.Screen(pathlib.Path(screen_folder.name))
    with tempfile.TemporaryDirectory() as folder:
        traces = [trace for size, trace in make_traces(packed, folder).items() if size in words or not {"small", "large"} & set(words)]
        total = Tally()
        start_at_every_limit(program, total)
        for nth, name in enumerate(names):
            tally = Tally()
            for i, limit in enumerate(limits(count, MOST_MB.get(name, 200))):
                if count <= 20 and i % len(names) != nth:
                    continue
                for trace in traces:
                    if name == "window":
                        run_window(program, screen, trace, limit, tally)
                    else:
                        run_plain(program, name, trace, limit, tally)
            print(f"{name}: {tally.done} done, {tally.said} said so, {tally.not_started} not started; the longest took {tally.longest_s:.1f} s",
                  flush=True)
            total.done, total.said = total.done + tally.done, total.said + tally.said
        check(total.done > 0 and total.said > 0, f"{total.done} runs succeeded and {total.said} were refused: the limits are no test")
    if screen:
        screen.stop()
    return 1 if failures else 0


sys.exit(main())
