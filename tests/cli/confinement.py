"""What `gapscope mcp` and `gapscope serve` must not let in: files that a trace names, links next to it, folders that are swapped for
links while they are looked at. Both checks use it."""
import contextlib
import json
import os
import pathlib
import subprocess
import sys

SWAPPER = """
import ctypes, os, sys
exchange = ctypes.CDLL(None, use_errno=True).renameat2
a, b = (os.fsencode(path) for path in sys.argv[1:3])
while exchange(-100, a, -100, b, 2) == 0:  # AT_FDCWD, RENAME_EXCHANGE
    pass
sys.exit("exchange: " + os.strerror(ctypes.get_errno()))
"""


def tries():
    """How many calls are made while a folder is swapped: more where that is wanted."""
    return int(os.environ.get("GAPSCOPE_SWAPS", 200))


@contextlib.contextmanager
def swapped(folder, link):
    """`folder` and `link` change places as fast as it goes."""
    process = subprocess.Popen([sys.executable, "-c", SWAPPER, str(folder), str(link)])
    try:
        yield
        assert process.poll() is None, "nothing was swapped, so nothing was tested"
    finally:
        process.kill()
        process.wait()


WORLDS = {"inside": 5555, "stolen": 7777}  # what is said of ranks names no slice


def slices(count, name, rank):
    """A trace of so many slices, of a rank."""
    return json.dumps({"distributedInfo": {"backend": "nccl", "rank": rank, "world_size": WORLDS[name]},
                       "traceEvents": [{"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": 10 * i, "dur": 5} for i in range(count)]})


def frame_trace(file):
    """A kernel, launched by a Python frame of this file."""
    return json.dumps({"schemaVersion": 1, "traceEvents": [
        {"ph": "X", "cat": "python_function", "name": f"{file}(1): <module>", "pid": 1, "tid": 1, "ts": 100, "dur": 900, "args": {"Python id": 1}},
        {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 120, "dur": 10, "args": {"correlation": 7}},
        {"ph": "X", "cat": "kernel", "name": "the_kernel", "pid": 0, "tid": 7, "ts": 140, "dur": 400, "args": {"device": 0, "stream": 7, "correlation": 7}}]})


CAPTURE = json.dumps({"traceEvents": [
    {"ph": "X", "cat": "cuda_runtime", "name": "hipStreamBeginCapture", "pid": 7, "tid": 1, "ts": 10, "dur": 2, "args": {"correlation": 1}},
    {"ph": "X", "cat": "cpu_op", "name": "aten::secret", "pid": 7, "tid": 1, "ts": 20, "dur": 9, "args": {"Input Dims": [[4, 4], [4, 4]]}},
    {"ph": "X", "cat": "cuda_runtime", "name": "hipModuleLaunchKernel", "pid": 7, "tid": 1, "ts": 22, "dur": 2, "args": {"correlation": 2, "kernel": "product"}},
    {"ph": "X", "cat": "cuda_runtime", "name": "hipStreamEndCapture", "pid": 7, "tid": 1, "ts": 40, "dur": 2, "args": {"correlation": 3}}]})
REPLAY = json.dumps({"traceEvents": [
    {"ph": "X", "cat": "cuda_runtime", "name": "hipGraphLaunch", "pid": 7, "tid": 1, "ts": 100, "dur": 5, "args": {"correlation": 9, "External id": 4}},
    {"ph": "X", "cat": "kernel", "name": "product", "pid": 0, "tid": 3, "ts": 110, "dur": 50, "args": {"correlation": 9, "External id": 4, "device": 0, "stream": 3}}]})


def sources(picture, named_picture, folder, outside):
    """`picture(trace)`: the bytes of a PNG of its kernel's details; `named_picture`: of a server that was started with --sources
    `outside`. Whatever a trace names, the first is the same whether there is such a file, and whatever is in it."""
    target = outside / "config.py"
    (folder / "link.py").symlink_to(target)
    for file in (target, folder / "link.py", f"../{outside.name}/config.py", folder / ".." / outside.name / "config.py"):
        (folder / "frames.json").write_text(frame_trace(file))
        pictures = []
        for is_there in (True, False):
            target.unlink(missing_ok=True)
            if is_there:
                target.write_text("password = 1\n")
            pictures.append(picture("frames.json"))
        if pictures[0][:4] != b"\x89PNG":
            yield f"{file}: there is no picture: {pictures[0][:200]}"
        if len(set(pictures)) != 1:
            yield f"{file}: the picture shows what is in the file, or whether it is there"
    named = []
    (folder / "frames.json").write_text(frame_trace(target))
    for text in ("password = 1\n", "password = 2  # and much more\n"):
        target.write_text(text)
        named.append(named_picture("frames.json"))
    if named[0] == named[1] or named[0] in pictures:
        yield "with --sources the source is not in the picture either: this tests nothing"
    other = outside / "id_rsa"
    other.write_text("secret")
    (outside / "key.py").symlink_to(other)
    (folder / "frames.json").write_text(frame_trace(outside / "key.py"))
    before = named_picture("frames.json")
    other.write_text("another secret")
    if named_picture("frames.json") != before:
        yield "a link of a source's name shows what is none"
    for path in (folder / "link.py", folder / "frames.json", outside / "key.py"):
        path.unlink()


def captures(operators, folder, outside):
    """`operators(trace)`: the text of an answer that names the operators of its kernels."""
    (outside / "c.json").write_text(CAPTURE)
    (folder / "own").mkdir()
    (folder / "own/c.json").write_text(CAPTURE)
    (folder / "x_replay.json").write_text(REPLAY)
    for name, outer, inner in (("capture_traces", outside, folder / "own"), ("graph_capture_1.json", outside / "c.json", "own/c.json"), ("x_capture.json", outside / "c.json", "own/c.json")):
        link = folder / name
        link.symlink_to(outer)
        if "secret" in operators("x_replay.json"):
            yield f"{name}, a link that leads out, is read"
        link.unlink()
        link.symlink_to(inner)
        if "secret" not in operators("x_replay.json"):
            yield f"{name}, a link within the folder, is not read: this tests nothing"
        link.unlink()
    (folder / "capture_traces").mkdir()
    (folder / "capture_traces/c.json").symlink_to(outside / "c.json")
    if "secret" in operators("x_replay.json"):
        yield "a link in capture_traces/ that leads out is read"
    (folder / "capture_traces/c.json").unlink()
    (folder / "capture_traces").rmdir()


def races(calls, folder, outside):
    """`calls`: by name, what makes a call and gives the answer's text or bytes. A word of the outside in one is a leak."""
    (folder / "sub").mkdir()
    for rank, name in enumerate(("a.json", "b.json")):
        (folder / "sub" / name).write_text(slices(3 + rank, "inside", rank))
        (outside / name).write_text(slices(7 + rank, "stolen", rank))
    (folder / "away").symlink_to(outside)
    for name, call in calls.items():
        seen = {"inside": 0, "stolen": 0, "refused": 0}
        with swapped(folder / "sub", folder / "away"):
            for _ in range(max(tries() // len(calls), 20)):
                text = call()
                says = [name for name in ("stolen", "inside") if name in text or str(WORLDS[name]) in text]
                seen[says[0] if says else "refused"] += 1
        if seen["stolen"]:
            yield f"{name}: {seen['stolen']} of {sum(seen.values())} calls read what is outside"
        if not seen["inside"]:
            yield f"{name}: no call read what is inside, so nothing was tested: {seen}"
        if not (folder / "sub/a.json").read_text().count("inside"):  # it ended the wrong way round
            os.rename(folder / "sub", folder / "x"), os.rename(folder / "away", folder / "sub"), os.rename(folder / "x", folder / "away")
    (folder / "away").unlink()
