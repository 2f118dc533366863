#!/usr/bin/env python3
"""Each changed file by itself, with clang: it compiles without a warning (none leans on what another one includes), and clang-tidy
(.clang-tidy) finds nothing in it.

    check_changed.py BUILD_FOLDER COMMIT [--no-tidy]

BUILD_FOLDER: configured with clang and without GAPSCOPE_UNITY. Looked at are the sources that changed since COMMIT and, of each
changed header, the source of its name or else one that includes it. What held before and is the same text, headers included, is not
looked at again: its hash is in the user's cache folder.
"""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

NOT_TIDIED = re.compile(r"tests/(fuzz|bench)/|app/(sampler|workload)/|.*/web/")
HELD = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache", "gapscope-checks")


def lines_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()


def wanted_since(commit):
    changed = lines_of("git", "diff", "--name-only", "--diff-filter=d", commit)
    sources = lines_of("git", "ls-files", "*.cpp")
    wanted = {path for path in changed if path.endswith(".cpp")}
    for header in (path for path in changed if path.endswith(".h")):
        own = header[:-2] + ".cpp"
        includer = own if own in sources else next((s for s in sources if f'#include "{header}"' in pathlib.Path(s).read_text()), None)
        wanted |= {includer} if includer else set()
    return wanted


def commands(build):
    """One for each file of ours; of a file that is in several targets the first."""
    found = {}
    for entry in json.loads(pathlib.Path(build, "compile_commands.json").read_text()):
        path = os.path.relpath(entry["file"])
        if path.endswith(".cpp"):
            found.setdefault(path, entry)
    return found


def complaints(build, path, entry, tidied):
    command = re.sub(r"^(.*ccache )", "", re.sub(r" -o \S+", "", entry["command"]))
    text = subprocess.run(command + " -E -CC", shell=True, cwd=entry["directory"], capture_output=True).stdout
    rules = pathlib.Path(".clang-tidy").read_bytes() if tidied else b""
    held = HELD / hashlib.sha256(text.replace(os.getcwd().encode(), b"") + rules + command.replace(os.getcwd(), "").encode()).hexdigest()
    if held.exists():
        return ""
    done = subprocess.run(command + " -fsyntax-only", shell=True, cwd=entry["directory"], capture_output=True, text=True)
    said = done.stderr or (f"{path}: clang ended with {done.returncode}\n" if done.returncode else "")
    if tidied and not said:
        done = subprocess.run(["clang-tidy", "-p", build, "--quiet", path], capture_output=True, text=True)
        said = done.stdout + done.stderr if done.returncode or done.stdout else ""
    if not said:
        HELD.mkdir(parents=True, exist_ok=True)
        held.touch()
    return said


def main(build, commit, *options):
    wanted = wanted_since(commit)
    entries = [(path, entry) for path, entry in commands(build).items() if path in wanted]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        said = [text for text in pool.map(lambda e: complaints(build, *e, "--no-tidy" not in options and not NOT_TIDIED.match(e[0])), entries) if text]
    sys.stderr.writelines(said)
    print(f"{len(entries)} changed files by themselves, {len(said)} with complaints", file=sys.stderr)
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
