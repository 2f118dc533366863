"""Finishes a recording in a process of its own, next to the training: the plain step's length is written into it, it is packed, old
ones are deleted, and the verdict is worked out. Prints one line of JSON: path and line, or trouble.

    main([RAW, FOLDER, STEM, STEP, PLAIN_NS, LIMIT, VERDICT])
"""
import gzip
import json
import os
import re
import sys
from typing import BinaryIO, Dict, List, Optional

ENDING = ".pt.trace.json.gz"
KEY = "gapscope_plain_step_ns"
_PIECE = 1 << 20
_LEVEL = 4


def write_packed(raw: str, to: BinaryIO, plain_ns: int) -> None:
    """Packs `raw` into `to`, with the plain step's length where it is above 0. Raises ValueError if it is not a complete trace."""
    with open(raw, "rb") as source, gzip.GzipFile(filename="", mode="wb", fileobj=to, compresslevel=_LEVEL, mtime=0) as out:
        first = source.read(_PIECE)
        start = first.find(b"{")
        if start < 0 or first[:start].strip():
            raise ValueError("the profiler wrote no trace")
        last = first
        out.write(first[:start + 1])
        if plain_ns > 0:
            out.write(b'\n  "%s": %d,' % (KEY.encode(), plain_ns))
        out.write(first[start + 1:])
        while True:
            piece = source.read(_PIECE)
            if not piece:
                break
            out.write(piece)
            last = last[-64:] + piece
        if not last.rstrip().endswith(b"}"):
            raise ValueError("the profiler's trace is cut off")


def place(packed: str, folder: str, stem: str, step: str) -> str:
    """Gives a file its name, or the next free one of that step. The path."""
    n = 1
    while True:
        path = os.path.join(folder, f"{stem}.{step}{'' if n == 1 else f'-{n}'}{ENDING}")
        try:
            os.link(packed, path)  # never over another one
            os.unlink(packed)
            return path
        except FileExistsError:
            n += 1
        except OSError:  # no links on this file system
            if not os.path.exists(path):
                os.rename(packed, path)
                return path
            n += 1


def delete_old(folder: str, stem: str, limit: int, newest: str) -> None:
    """Deletes old recordings of this name. `newest` and the `limit` - 1 before it stay (0: all), and what cannot be deleted."""
    of_stem = re.compile(re.escape(stem) + r"\.\d+(\.full)?(-\d+)?" + re.escape(ENDING))
    if limit <= 0:
        return
    try:
        found = [os.path.join(folder, name) for name in os.listdir(folder) if of_stem.fullmatch(name)]
        found = sorted((path for path in found if path != newest), key=os.path.getmtime, reverse=True)
        for path in found[limit - 1:]:
            os.unlink(path)
    except OSError:
        pass


def delete_raw(raw: str) -> None:
    """Deletes what the profiler wrote, whole or partial (.tmp), and its packed copy."""
    for rest in (raw, raw + ".tmp", raw + ".gz"):
        try:
            os.unlink(rest)
        except OSError:
            pass


def line_of(path: str) -> str:
    """The verdict of a recording, in one line."""
    import gapscope
    with gapscope.open(path) as trace:
        plain, items = trace.plain, trace.plan.items
        words: Dict[str, str] = {f.rule: f.gain.words for f in trace.findings() if f.gain}
        measured = trace.measured_step_ms
        verdict = trace.verdict
    parts: List[str] = []
    if plain:
        parts.append(f"step {_time(plain.step_ms)} without the profiler, GPU {plain.gpu_busy:.0%} of it".replace("%", " %"))
    elif measured:
        parts.append(f"step {_time(measured)} without the profiler")
    parts.append(f"{items[0].title}: {words.get(items[0].rule, 'first in the plan')}" if items else verdict)
    return "; ".join(parts)


def _time(ms: float) -> str:
    return f"{ms:.3g} ms" if ms < 1000 else f"{ms / 1000:.3g} s"


def finish(raw: str, folder: str, stem: str, step: str, plain_ns: int, limit: int, verdict: bool) -> Dict[str, Optional[str]]:
    """Packs, places and judges a recording. Afterwards either the whole recording exists or nothing."""
    packed = raw + ".gz"
    try:
        with open(packed, "xb") as out:
            write_packed(raw, out, plain_ns)
            out.flush()
            os.fsync(out.fileno())
        path = place(packed, folder, stem, step)
        delete_old(folder, stem, limit, path)
    except (OSError, ValueError) as trouble:
        why = trouble.strerror if isinstance(trouble, OSError) and trouble.strerror else str(trouble)
        return {"trouble": f"The recording of step {step} was not written to {folder}: {why}."}
    finally:
        delete_raw(raw)
    if not verdict:
        return {"path": path}
    try:
        return {"path": path, "line": line_of(path)}
    except Exception as trouble:  # the recording is there whatever the program says of it
        return {"path": path, "trouble": str(trouble)}


def main(words: List[str]) -> None:
    """Of that process."""
    raw, folder, stem, step, plain_ns, limit, verdict = words
    try:
        os.nice(10)
    except OSError:
        pass
    print(json.dumps(finish(raw, folder, stem, step, int(plain_ns), int(limit), verdict == "1")), flush=True)

