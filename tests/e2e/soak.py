#!/usr/bin/env python3
"""The window for an hour: random keys, clicks, drags and turns of the wheel from a seed, over many recordings. Once a minute it comes
back to the first one, and memory, file descriptors and threads are written down: memory and descriptors may not grow once all of them have
been open, threads not in the last third, since some begin with what is first asked for (a job's thread, a watched folder). No ctest, since
it takes so long.

    soak.py PROGRAM MINUTES SEED RECORDING RECORDING...
"""
import os
import pathlib
import random
import statistics
import sys
import tempfile
import time

import harness
import x11
import xdnd
from harness import HEIGHT, WIDTH, App

SETTLED_MINUTES = 10  # at least; shorter runs are settled after a third
MOST_GROWTH = 0.05
AT_ONCE = 12  # actions handed to one xdotool
MENU_BAR_PX = 30  # no clicks there: Quit is one of its words
KEYS = """w a s d f q y c l t b i k x n p r m g question slash comma period bracketleft bracketright Up Down Left Right Home Prior Next
Return Tab Escape Delete F1 F3 F5 0 shift+q shift+f shift+l shift+m shift+Return shift+F3 ctrl+f ctrl+p ctrl+r ctrl+z ctrl+y ctrl+a ctrl+m
ctrl+c ctrl+shift+c ctrl+shift+z ctrl+w ctrl+shift+w ctrl+shift+p ctrl+plus ctrl+minus ctrl+0 ctrl+Tab ctrl+shift+Tab ctrl+bracketleft
ctrl+bracketright alt+1 alt+2 alt+3 alt+4 alt+5 alt+6 alt+7 alt+8 alt+9 alt+Left alt+Right""".split()
WORDS = ["gemm", "aten", "a*b", "[", "nccl", "select 1", "0.5"]


class Soak:
    def __init__(self, app, seed, recordings):
        self.app, self.random, self.recordings = app, random.Random(seed), recordings
        self.actions, self.samples = 0, []

    def place(self):
        return ["mousemove", "--window", self.app.window, self.random.randrange(WIDTH), self.random.randrange(MENU_BAR_PX, HEIGHT)]

    def action(self):
        kind = self.random.randrange(12)
        if kind < 5:
            return ["key", self.random.choice(KEYS)]
        if kind < 8:
            return [*self.place(), "sleep", "0.02", "click", self.random.choice("11113")]
        if kind == 8:
            return [*self.place(), "mousedown", "1", "sleep", "0.02", *self.place(), "sleep", "0.02", "mouseup", "1"]
        if kind == 9:
            return ["type", "--delay", "5", self.random.choice(WORDS)]
        turn = ["click", "--repeat", str(self.random.randint(1, 9)), "--delay", "5", self.random.choice("45")]
        return [*self.place(), *(turn if kind == 10 else ["keydown", "ctrl", *turn, "keyup", "ctrl"])]

    def act(self):
        words = []
        for _ in range(AT_ONCE):
            words += [*self.action(), "sleep", "0.02"]
        self.app.xdotool(*words)
        self.actions += AT_ONCE

    def open(self, recording):
        self.app.key("Escape", "Escape")
        xdnd.drop(self.app.screen.display, self.app.window, [recording])
        self.app.wait_for(lambda s: s.get("file", "").endswith("/" + recording.name) and not s["loading"], f"{recording.name} is open")

    # In the same state each time: what a recording takes differs, and what is left of the others must not.
    def sample(self, began):
        self.app.key("Escape", "Escape", "ctrl+shift+w")
        self.open(self.recordings[0])
        time.sleep(3)  # what was open is given back in the background
        process = pathlib.Path("/proc") / str(self.app.process.pid)
        status = dict(line.split(":", 1) for line in (process / "status").read_text().splitlines())
        row = (time.monotonic() - began) / 60, int(status["VmRSS"].split()[0]) / 1024, len(os.listdir(process / "fd")), int(status["Threads"])
        self.samples.append(row)
        print("minute %5.1f  %6d actions  %7.1f MB  %3d descriptors  %3d threads" % (row[0], self.actions, *row[1:]), flush=True)

    def run(self, minutes):
        began = time.monotonic()
        self.sample(began)
        while time.monotonic() - began < 60 * minutes:
            until = time.monotonic() + 60
            while time.monotonic() < until:
                self.open(self.random.choice(self.recordings))
                for _ in range(self.random.randint(1, 8)):
                    self.act()
            self.sample(began)

    def complaints(self):
        last_minute = self.samples[-1][0]
        settled = [row for row in self.samples if row[0] >= min(SETTLED_MINUTES, last_minute / 3)]
        if len(settled) < 3:
            yield f"{len(self.samples)} samples in {last_minute:.0f} minutes say nothing: run it longer, or where nothing else runs"
            return
        third = len(settled) // 3
        thirds = settled[:third], settled[third:-third], settled[-third:]
        # Each kind of question has a thread from the first one on, and a rare one may come late: threads may grow in the first two thirds.
        for what, at, most, before in (("memory in MB", 1, MOST_GROWTH, 0), ("file descriptors", 2, 0, 0), ("threads", 3, 0, 1)):
            earlier, last = [row[at] for row in thirds[before]], [row[at] for row in thirds[2]]
            # A job that is under way in a sample has a thread in that one alone.
            if statistics.median(last) > max(earlier) * (1 + most):
                yield f"{what}: at most {max(earlier):.1f} in the {('first', 'second')[before]} third, {statistics.median(last):.1f} in the last"


def main(program, minutes, seed, *recordings):
    os.environ["GAPSCOPE_EDITOR"] = "/bin/true"
    harness.PATIENCE_S = x11.PATIENCE_S = 1800  # on a busy machine
    with tempfile.TemporaryDirectory(prefix="gapscope soak ") as folder:
        os.chdir(folder)  # pictures and texts that are saved lie there
        with App(program, recordings[0]) as app:
            soak = Soak(app, int(seed), [pathlib.Path(r) for r in recordings])
            soak.run(float(minutes))
    wrong = list(soak.complaints())
    print("\n".join(wrong or [f"{soak.actions} actions, and nothing grew."]))
    return 1 if wrong else 0


if __name__ == "__main__":
    here = pathlib.Path.cwd()
    program, minutes, seed, *recordings = sys.argv[1:]
    sys.exit(main(str(here / program), minutes, seed, *(str((here / r).resolve()) for r in recordings)))
