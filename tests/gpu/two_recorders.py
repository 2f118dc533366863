"""Several recordings in one folder at once: two `gapscope record` of one workload, ten in a row, the ranks of one program, and one
that is killed in the middle next to one that lives. Each trace is whole and has a name of its own. Needs a GPU, a gapscope with the
recorder, and gapscope-workload; run it by hand:

    python3 tests/gpu/two_recorders.py build/gapscope build/gapscope-workload
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

SHORT = ["mul-add", "--size", "256", "--steps", "50", "--no-check"]
LONG = ["geglu-mlp", "--size", "4096", "--steps", "10000", "--no-check"]  # some seconds: long enough to be killed in the middle
SOME_KERNELS = 50_000  # bytes of a trace that must hold some: its first bytes are written while CUDA still starts
LAUNCHERS = ("RANK", "LOCAL_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID")


class Recording:
    def __init__(self, gapscope, folder, command, **variables):
        environment = {key: value for key, value in os.environ.items() if key not in (*LAUNCHERS, "DISPLAY", "WAYLAND_DISPLAY")}
        self.process = subprocess.Popen([gapscope, "record", "--no-open", "--", *command], cwd=folder, env={**environment, **variables},
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)

    def end(self):
        _, self.said = self.process.communicate(timeout=300)
        self.traces = [line.split("Recorded ")[1].rsplit(" (", 1)[0] for line in self.said.splitlines() if "Recorded " in line]
        return self

    def child(self):  # the program: begun last, after the process that cleans up
        return int(pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()[-1])


def kernels(path):
    with gzip.open(path, "rt") as file:
        return sum(event.get("cat") == "kernel" for event in json.load(file)["traceEvents"])


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def pieces(folder):
    return sorted(folder.glob("*.partial"))


def numbered(count):
    return sorted("recording" + (f"-{i}" if i > 1 else "") + ".json.gz" for i in range(1, count + 1))


def wait_for(what, seconds=120):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if what():
            return True
        time.sleep(0.1)
    return False


def whole(recordings, expected):
    """Each ended well, named one trace, and that one has every kernel."""
    for number, recording in enumerate(recordings):
        recording.end()
        if recording.process.returncode != 0 or len(recording.traces) != 1 or kernels(recording.traces[0]) != expected:
            counts = [kernels(path) for path in recording.traces]
            yield f"number {number}: code {recording.process.returncode}, {counts} kernels of {expected}, said {recording.said!r}"
    taken = [path for recording in recordings for path in recording.traces]
    if len(set(taken)) != len(recordings):
        yield f"names: {taken}"


def two_at_once(gapscope, workload, folder, expected):
    yield from whole([Recording(gapscope, folder, [workload, *SHORT]) for _ in range(2)], expected)
    if names(folder) != numbered(2):
        yield f"left: {names(folder)}"


def ten_in_a_row(gapscope, workload, folder, expected):
    for _ in range(10):
        yield from whole([Recording(gapscope, folder, [workload, *SHORT])], expected)
    if names(folder) != numbered(10):
        yield f"left: {names(folder)}"


def ranks_of_one_program(gapscope, workload, folder, expected):
    script = 'for i in 2 0 1; do RANK=$i "$0" "$@" & done; wait'
    recording = Recording(gapscope, folder, ["bash", "-c", script, workload, *SHORT]).end()
    if [kernels(path) for path in recording.traces] != [expected] * 3 or names(folder) != [f"recording_rank{i}.json.gz" for i in range(3)]:
        yield f"{names(folder)}, said {recording.said!r}"
    for rank in range(3):
        if f"(rank {rank}, " not in recording.said:
            yield f"rank {rank} is not said: {recording.said!r}"


def killed_beside_one_that_lives(gapscope, workload, folder, expected):
    killed, living = (Recording(gapscope, folder, [workload, *LONG]) for _ in range(2))
    if not wait_for(lambda: len(pieces(folder)) == 2 and all(path.stat().st_size > 0 for path in pieces(folder))):
        return (yield f"the two never wrote at the same time (are {LONG} too short?): {names(folder)}")
    child = killed.child()
    killed.process.kill()
    os.kill(child, signal.SIGKILL)
    killed.process.wait()
    living.end()
    if living.process.returncode != 0 or len(living.traces) != 1 or not kernels(living.traces[0]):
        yield f"the one that lives: code {living.process.returncode}, said {living.said!r}"
    left = pieces(folder)
    if len(left) != 1 or living.said.count("left unfinished by another recording") != 1:
        return (yield f"of the killed one: {names(folder)}, said {living.said!r}")
    before = left[0].read_bytes()
    later = Recording(gapscope, folder, [workload, *SHORT])
    yield from whole([later], expected)
    if not left[0].exists() or left[0].read_bytes() != before:
        yield "a later recording changed what the killed one left"
    opened = subprocess.run([gapscope, "kernels", str(left[0])], capture_output=True, text=True)
    if opened.returncode != 0:
        yield f"what the killed one left cannot be opened: {opened.stderr!r}"


def killed_program(gapscope, workload, folder, _):
    recording = Recording(gapscope, folder, [workload, *LONG])
    if not wait_for(lambda: pieces(folder) and pieces(folder)[0].stat().st_size > SOME_KERNELS):
        return (yield f"it never wrote (is {LONG} too short?): {names(folder)}")
    os.kill(recording.child(), signal.SIGKILL)
    recording.end()
    if recording.process.returncode != 128 + signal.SIGKILL or names(folder) != numbered(1) or not kernels(folder / "recording.json.gz"):
        yield f"code {recording.process.returncode}, {names(folder)}, said {recording.said!r}"
    if "the recording was cut off. Everything before that is saved" not in recording.said:
        yield f"said {recording.said!r}"


CASES = (two_at_once, ten_in_a_row, ranks_of_one_program, killed_beside_one_that_lives, killed_program)


def main(gapscope, workload):
    gapscope, workload = (str(pathlib.Path(tool).resolve()) for tool in (gapscope, workload))
    with tempfile.TemporaryDirectory(prefix="gapscope-alone-") as folder:
        alone = Recording(gapscope, folder, [workload, *SHORT]).end()
        if alone.process.returncode != 0 or len(alone.traces) != 1:
            sys.exit(f"one recording alone: code {alone.process.returncode}, said {alone.said!r}")
        expected = kernels(alone.traces[0])
    print(f"{expected} kernels in each")
    wrong = 0
    for case in CASES:
        with tempfile.TemporaryDirectory(prefix="gapscope-recorders-") as folder:
            sentences = list(case(gapscope, workload, pathlib.Path(folder), expected))
        wrong += len(sentences)
        print(f"{case.__name__}: {'ok' if not sentences else ''}")
        for sentence in sentences:
            print("  WRONG:", sentence)
    if wrong:
        sys.exit(f"{wrong} complaints")
    print("each whole, with a name of its own")


if __name__ == "__main__":
    main(*sys.argv[1:])
