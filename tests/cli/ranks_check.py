#!/usr/bin/env python3
"""`gapscope ranks` as a person and a script meet it, and gapscope-mpi, which must print the same.

    ranks_check.py PROGRAM FOLDER_OF_PAIRS [MPI_PROGRAM]
"""
import gzip
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

KEYS = {"sentence", "ranks", "collectives", "late", "unmatched", "findings", "problems"}
RANK_KEYS = {"rank", "file", "offset_ns", "residual_ns", "total_wait_ns", "times_last", "times_first", "account"}


def run(*command):
    done = subprocess.run(command, capture_output=True, timeout=120)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def mpi(program, processes, *arguments):
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                       OMPI_MCA_btl_vader_single_copy_mechanism="none",
                       HWLOC_COMPONENTS="-gl")  # it asks the X server :0 for GPUs, and ends with the test that had started that one
    with tempfile.NamedTemporaryFile("r") as errors:  # Open MPI 5.0.7 puts pieces of a program's stderr into its stdout
        own = ["sh", "-c", f'exec "$0" "$@" 2>>{errors.name}', program]
        command = [shutil.which("mpirun"), "--oversubscribe", "-n", str(processes), *own, *arguments]
        done = subprocess.run(command, capture_output=True, timeout=120, env=environment)
        return done.returncode, done.stdout.decode(), errors.read() + done.stderr.decode()


def pair(folder, name):
    return [str(folder / f"{name}_rank{rank}.json.gz") for rank in (0, 1)]


def complaints_about_pairs(program, folder):
    code, out, err = run(program, "ranks", *pair(folder, "ddp_delayed"))
    if code != 0 or err or not out.startswith("Rank ") or "the late rank of every step" not in out:
        yield f"ended with {code}: {out[:200]!r} {err!r}"
    code, out, err = run(program, "ranks", *pair(folder, "ddp_delayed"), "--json")
    answer = json.loads(out)
    if code != 0 or set(answer) != KEYS or any(set(rank) != RANK_KEYS for rank in answer["ranks"]):
        yield f"--json: ended with {code}, keys {sorted(answer)}"
    for late in answer["late"]:
        if set(late) != {"rank", "step", "lost_ns", "doing"} or not late["doing"]:
            yield f"late {late}"
    for words in (["--csv", "no"], ["--align", "no"], ["--csv", "sync", "--json"]):
        code, out, err = run(program, "ranks", *pair(folder, "ddp"), *words)
        if code != 2 or out or err.count("\n") != 1:
            yield f"{words}: ended with {code}, said {err!r}"
    code, out, err = run(program, "ranks", "/nowhere")
    if code != 1 or out or "/nowhere" not in err:
        yield f"a folder that is not there: ended with {code}, said {out!r} {err!r}"


def complaints_about_many(program, folder, scratch):
    many = scratch / "many"
    many.mkdir()
    for number in range(300):
        (many / f"rank{number}.json").write_text('{"traceEvents": [')
    for rank in (0, 1):
        shutil.copy(folder / f"ddp_rank{rank}.json.gz", many)
    code, out, _ = run(program, "ranks", str(many), "--json")
    answer = json.loads(out)
    if code != 1 or len(answer["ranks"]) != 2 or len(answer["problems"]) != 300:
        yield f"300 files that are no use: ended with {code}, {len(answer['ranks'])} ranks, {len(answer['problems'])} problems"
    hostile = scratch / "rank1.json"
    text = gzip.open(pair(folder, "ddp")[1], "rt").read()
    hostile.write_text(text.replace('"allreduce"', '"%n{}\\u001b[31m"').replace("ProfilerStep#5", "ProfilerStep#\\u001b[2J"))
    code, out, _ = run(program, "ranks", pair(folder, "ddp")[0], str(hostile))
    if code != 0 or "\x1b" in out:
        yield f"names that steer a terminal: ended with {code}"


def complaints_about_mpi(program, with_mpi, folder, scratch):
    for arguments in ([*pair(folder, "ddp_delayed"), "--json"], [*pair(folder, "ddp_delayed"), "--csv", "sync"], pair(folder, "tp"),
                      [str(folder), "--json"], [str(scratch / "many")], ["/nowhere"]):
        expected = run(program, "ranks", *arguments)
        found = mpi(with_mpi, 4, "ranks", *arguments)
        # mpirun adds lines of its own to stderr where a process ends with an error
        if found[:2] != expected[:2]:
            yield f"mpirun of {arguments}: ended with {found[0]}, not {expected[0]}, or printed something else: {found[1][:300]!r} {found[2][:300]!r}"


def complaints_about_folders(program, folder, scratch):
    """A command of one trace says what `ranks` says first of a folder, then its own of the rank that the others wait for."""
    for name in pair(folder, "ddp_delayed"):
        shutil.copy(name, scratch)
    late = str(scratch / "ddp_delayed_rank1.json.gz")
    for command in ("overview", "diagnose"):
        code, out, err = run(program, command, str(scratch))
        own = run(program, command, late)[1]
        if code != 0 or err or not out.startswith("Rank 1 is late") or not out.endswith(own) or late not in out:
            yield f"{command} of a folder: ended with {code}: {out[:200]!r} {err!r}"
    code, out, err = run(program, "steps", str(scratch))
    if code != 1 or f"gapscope ranks {scratch}" not in err:
        yield f"steps of a folder: ended with {code}: {err!r}"


def complaints(program, folder, with_mpi=None):
    folder = pathlib.Path(folder)
    with tempfile.TemporaryDirectory() as scratch:
        yield from complaints_about_pairs(program, folder)
        yield from complaints_about_many(program, folder, pathlib.Path(scratch))
        with tempfile.TemporaryDirectory() as one_run:
            yield from complaints_about_folders(program, folder, pathlib.Path(one_run))
        if with_mpi and shutil.which("mpirun"):
            yield from complaints_about_mpi(program, with_mpi, folder, pathlib.Path(scratch))


def main(*arguments):
    wrong = list(complaints(*arguments))
    print("\n".join(wrong or ["ranks answers as it should"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
