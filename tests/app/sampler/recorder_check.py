#!/usr/bin/env python3
"""The recorder and `gapscope record` together, in programs without a GPU: a stand-in plays CUPTI. Several of them in one folder,
killed ones, and programs that lack threads, memory, disk or folder.

    recorder_check.py GAPSCOPE RECORDER PROGRAM
"""
import gzip
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ENVIRONMENT = {key: value for key, value in os.environ.items()
               if key not in ("DISPLAY", "WAYLAND_DISPLAY", "RANK", "LOCAL_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID")}
SIGKILLED = 128 + signal.SIGKILL


class Run:
    """`gapscope record` of the program, in a folder; or the recorder alone inside the program."""

    def __init__(self, tools, folder, *words, out="recording.json.gz", rank=None, options=(), command=None, alone=False, before=()):
        gapscope, recorder, program = tools
        environment = dict(ENVIRONMENT, GAPSCOPE_RECORDER=recorder)
        if rank is not None:
            environment["RANK"] = str(rank)
        command = command or [program, *map(str, words)]
        if alone:
            environment.update(CUDA_INJECTION64_PATH=recorder, GAPSCOPE_RECORD_OUT=str(folder / out))
        else:
            command = [gapscope, "record", "--no-open", "-o", str(folder / out), *options, "--", *command]
        self.process = subprocess.Popen([*before, *command], env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)

    def until_waiting(self):
        assert self.process.stdout.readline() == "waiting\n"
        return self

    def child(self):
        return int(pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()[-1])  # behind the one that tidies up

    def end(self):
        said, complained = self.process.communicate("x", timeout=60)
        self.code, self.said, self.complained = self.process.returncode, said, complained
        self.traces = [pathlib.Path(line.split("Recorded ")[1].rsplit(" (", 1)[0].removesuffix("."))
                       for line in complained.splitlines() if line.startswith("gapscope record: Recorded ")]
        return self


def kernels(path):
    text = gzip.open(path).read() if path.suffix == ".gz" else path.read_bytes()
    return sum(event.get("cat") == "kernel" for event in json.loads(text)["traceEvents"])


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def pieces(folder):
    return sorted(folder.glob("*.partial"))


def went_on(run, launched):
    """The program did its work and ended as if nothing were inside; without a trace, `gapscope record` says so and ends with 1."""
    code = 1 if "There is no trace." in run.complained else 0
    if (run.code, run.said) != (code, f"launched {launched}\n"):
        return [f"the program did not continue unharmed: {run.code} {run.said!r} {run.complained!r}"]
    return []


def said_once(run, *words):
    lines = [line for line in run.complained.splitlines() if not line.startswith("gapscope record: Recorded ")]
    found = [line for line in lines if all(word in line for word in words)]
    return [] if len(found) == 1 else [f"not said once: {words} in {run.complained!r}"]


def many_at_once(tools, folder):
    for count in (2, 10):
        place = folder / str(count)
        place.mkdir()
        runs = [Run(tools, place, "launches", 100 + i, "pause", 600, "launches", 1) for i in range(count)]
        for i, run in enumerate(runs):
            run.end()
            yield from went_on(run, 101 + i)
            if len(run.traces) != 1 or kernels(run.traces[0]) != 101 + i:
                yield f"{count} at once: number {i} says {run.complained!r}"
        expected = sorted("recording" + (f"-{i + 1}" if i else "") + ".json.gz" for i in range(count))
        if names(place) != expected:
            yield f"{count} at once: {names(place)}"


def one_after_another(tools, folder):
    for i in range(3):
        run = Run(tools, folder, "launches", 10 + i, out="r.json").end()
        if [path.name for path in run.traces] != [f"r-{i + 1}.json" if i else "r.json"]:
            yield f"run {i} says {run.complained!r}"
    if [kernels(folder / name) for name in ("r.json", "r-2.json", "r-3.json")] != [10, 11, 12]:
        yield f"a later run changed an earlier one's trace: {names(folder)}"


def processes_of_one_program(tools, folder):
    script = "for i in 3 1 2; do RANK=$i \"$0\" launches 10$i & done; wait"
    run = Run(tools, folder, command=["bash", "-c", script, tools[2]]).end()
    if [kernels(path) for path in run.traces] != [101, 102, 103] or len(names(folder)) != 3:
        yield f"three ranks of one program: {names(folder)} {run.complained!r}"
    for rank in (1, 2, 3):
        if f"(rank {rank}, " not in run.complained:
            yield f"rank {rank} is not said: {run.complained!r}"


def killed_programs(tools, folder):
    for i, words in enumerate((["kill"], ["fork", "kill"])):  # a child of the program that lives on holds no lock
        run = Run(tools, folder, "launches", 50, "pause", 900, *words, out=f"k{i}.json.gz").end()
        if run.code != SIGKILLED or len(run.traces) != 1 or kernels(run.traces[0]) != 50:
            yield f"a killed program, {words}: {run.code} {run.complained!r} {names(folder)}"
        yield from said_once(run, "the recording was cut off. Everything before that is saved")
    if pieces(folder):
        yield f"left: {pieces(folder)}"


def killed_beside_one_that_lives(tools, folder):
    killed = Run(tools, folder, "launches", 70, "pause", 900, "wait").until_waiting()
    living = Run(tools, folder, "launches", 80, "pause", 900, "wait").until_waiting()
    third = Run(tools, folder, "launches", 5).end()
    if len(pieces(folder)) != 2 or "unfinished" in third.complained:
        yield f"a third run next to two that live: {names(folder)} {third.complained!r}"
    child = killed.child()
    killed.process.send_signal(signal.SIGSTOP)  # it sees nothing of the program's end, and the program nothing of its own
    os.kill(child, signal.SIGKILL)
    killed.process.kill()
    killed.process.wait()
    time.sleep(0.2)
    living.end()
    yield from went_on(living, 80)
    if len(living.traces) != 1 or kernels(living.traces[0]) != 80:
        yield f"the one that lives: {living.complained!r}"
    yield from said_once(living, "left unfinished by another recording")
    left = pieces(folder)
    if len(left) != 1:
        return (yield f"of the killed one is left: {names(folder)}")
    opened = subprocess.run([tools[0], "kernels", "--json", str(left[0])], capture_output=True, text=True)
    if opened.returncode != 0 or "add(float*, float*)" not in opened.stdout:
        yield f"what is left cannot be opened: {opened.stdout!r} {opened.stderr!r}"


def killed_recorder(tools, folder):
    run = Run(tools, folder, "launches", 60, "pause", 900, "wait").until_waiting()
    child = run.child()
    run.process.kill()  # the program itself lives
    run.process.communicate("x")
    for _ in range(100):
        if not os.path.exists(f"/proc/{child}"):
            break
        time.sleep(0.05)
    if names(folder) != ["recording.json.gz"] or kernels(folder / "recording.json.gz") != 60:
        yield f"`gapscope record` killed, the program not: {names(folder)}"


def background_process(tools, folder):
    run = Run(tools, folder, command=["bash", "-c", '"$0" launches 40 pause 1500 launches 1 > /dev/null 2> "$1" & sleep 0.8', tools[2],
                                      str(folder / "stderr")]).end()
    yield from said_once(run, "is still running and recording", ".partial")
    if run.traces or len(pieces(folder)) != 1:
        yield f"a process that outlives the program: {run.complained!r} {names(folder)}"
    for _ in range(100):
        if "Recorded" in (folder / "stderr").read_text():
            break
        time.sleep(0.05)
    if pieces(folder) or kernels(folder / "recording.json.gz") != 41:
        yield f"a process that outlives the program, at its end: {names(folder)}"
    if (folder / "stderr").read_text() != f"gapscope record: Recorded {folder / 'recording.json.gz'}.\n":
        yield f"it says: {(folder / 'stderr').read_text()!r}"


def signals(tools, folder):
    run = Run(tools, folder, "launches", 30, "wait").until_waiting()
    run.process.send_signal(signal.SIGTERM)
    run.process.wait(timeout=30)
    run.end()
    if run.code != 128 + signal.SIGTERM or len(run.traces) != 1 or kernels(run.traces[0]) != 30:
        yield f"SIGTERM: {run.code} {run.complained!r} {names(folder)}"


def lacking(tools, folder):
    run = Run(tools, folder, "no-threads", "launches", 30).end()
    yield from went_on(run, 30)
    yield from said_once(run, "No thread could be started")

    for megabytes in (0, 1, 2, 3, 5, 8, 13, 21, 34):
        run = Run(tools, folder, "open", "pause", 200, "memory", megabytes, "launches", 50_000, "pause", 600, "launches", 10, out="m.json").end()
        yield from went_on(run, 50_010)
        if " memory" not in run.complained and sum(map(kernels, run.traces)) != 50_010:
            yield f"{megabytes} MB to spare: a part is missing, and it is not said: {run.complained!r}"
        if pieces(folder):
            yield f"{megabytes} MB to spare: {names(folder)}"

    run = Run(tools, folder / "nowhere", "launches", 30, "pause", 700, alone=True).end()
    yield from went_on(run, 30)
    yield from said_once(run, "cannot be written (No such file or directory)")

    gone = folder / "gone"
    gone.mkdir()
    run = Run(tools, gone, "launches", 30, "pause", 900, "wait").until_waiting()
    shutil.rmtree(gone)
    run.end()
    yield from went_on(run, 30)
    yield from said_once(run, "cannot be given its name (No such file or directory)")

    run = Run(tools, folder, command=["bash", "-c", 'exec "$0" no-threads launches 30 2>&-', tools[2]], out="c.json", alone=True).end()
    yield from went_on(run, 30)


def full_disk(tools, folder):
    for out, launches in (("d.json.gz", 300_000), ("d.json", 6_000), ("e.json", 60_000)):
        mount = ["unshare", "-rm", "sh", "-c", 'mount -t tmpfs -o size=2m none "$0" && "$@"; code=$?; cp "$0"/* "$0.kept" 2>/dev/null; exit $code',
                 str(folder / "disk")]
        (folder / "disk").mkdir(exist_ok=True)
        (folder / "disk.kept").mkdir(exist_ok=True)
        words = [word for _ in range(6) for word in ("launches", launches // 6, "pause", 600)]
        run = Run(tools, folder / "disk", *words, out=out, before=mount).end()
        if "unshare" in run.complained or "mount:" in run.complained:
            return print("SKIPPED: nothing may be mounted here, so there is no small disk.")
        yield from went_on(run, launches)
        yield from said_once(run, "could not be written to its end (No space left on device)")
        kept = folder / "disk.kept" / out
        if out == "e.json":  # not even the first piece has room
            if "There is no trace." not in run.complained or kept.exists():
                yield f"a full disk from the first: {names(folder / 'disk.kept')} {run.complained!r}"
        elif not kept.exists() or not 0 < kernels(kept) < launches:
            yield f"a full disk, {out}: {names(folder / 'disk.kept')} {run.complained!r}"


def outputs_refused(tools, folder):
    os.mkfifo(folder / "fifo")
    for out in (".", "fifo", "/dev/null", "x" * 300):
        run = Run(tools, folder, "launches", 1, out=out).end()
        if run.code != 1 or run.said or run.complained.count("\n") != 1:
            yield f"-o {out}: {run.code} {run.said!r} {run.complained!r}"
    if names(folder) != ["fifo"]:
        yield f"left: {names(folder)}"


CASES = (many_at_once, one_after_another, processes_of_one_program, killed_programs, killed_beside_one_that_lives, killed_recorder,
         background_process, signals, lacking, full_disk, outputs_refused)


def main(*tools):
    wrong = 0
    for case in CASES:
        with tempfile.TemporaryDirectory(prefix="gapscope recorder ") as folder:
            for sentence in case(tools, pathlib.Path(folder)):
                wrong += 1
                print(f"WRONG: {case.__name__}: {sentence}")
    print("ok" if wrong == 0 else f"{wrong} complaints")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
