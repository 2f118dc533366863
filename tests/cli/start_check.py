#!/usr/bin/env python3
"""`app/start` without a display, the build aside: a trace becomes a picture, and what asks for no window is answered without one.

    start_check.py APP/START PROGRAM TRACE.json.gz
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile


def complaints(start, program, trace, folder):
    app = folder / "checkout/app"
    app.mkdir(parents=True)
    shutil.copy(start, app / "start")
    build = folder / "built"
    build.mkdir()
    (build / "gapscope").symlink_to(program)
    (app / "build").write_text(f"#!/bin/sh\necho {build}\n")
    (app / "build").chmod(0o755)
    here = folder / "here"
    here.mkdir()
    environment = {key: value for key, value in os.environ.items() if key not in ("DISPLAY", "WAYLAND_DISPLAY")}

    def run(*arguments):
        return subprocess.run([app / "start", *arguments], cwd=here, env=environment, capture_output=True, text=True, timeout=120)

    for asked, wanted in (("--help", "Without a command it opens the window."), ("--version", "gapscope 0.")):
        done = run(asked)
        if done.returncode != 0 or wanted not in done.stdout or "Wrote" in done.stdout or os.listdir(here):
            yield f"{asked}: {done.returncode} {done.stdout[-200:]!r} {done.stderr[-300:]!r} {os.listdir(here)}"
    done = run("no such file.json")
    if done.returncode != 1 or "Wrote" in done.stdout or os.listdir(here):
        yield f"a file that is not there: {done}"
    done = run(trace)
    picture = build / "gapscope.png"
    if done.returncode != 0 or f"Wrote {picture}" not in done.stdout or not picture.read_bytes().startswith(b"\x89PNG") or os.listdir(here):
        yield f"a trace: {done} {os.listdir(here)}"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        found = list(complaints(*map(os.path.realpath, sys.argv[1:4]), pathlib.Path(name)))
    print("\n".join(found) or "app/start does what it should.")
    sys.exit(1 if found else 0)
