#!/usr/bin/env python3
"""Compiles files by themselves, as far as their types: no file may lean on what another one includes.

    compile_alone.py BUILD_FOLDER COMMIT

BUILD_FOLDER: configured with clang and without GAPSCOPE_UNITY. COMMIT: only what has changed since, and what includes that.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys

INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)


def lines_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()


def changed_since(commit):
    """Paths that changed, and all that include them, over any number of headers."""
    included_by = {}
    for path in lines_of("git", "ls-files", "*.h", "*.cpp"):
        for header in INCLUDE.findall(pathlib.Path(path).read_text()):
            included_by.setdefault(header, []).append(path)
    found = set(lines_of("git", "diff", "--name-only", "--diff-filter=d", commit))
    left = list(found)
    while left:
        for path in included_by.get(left.pop(), []):
            if path not in found:
                found.add(path)
                left.append(path)
    return found


def commands(build):
    """One for each file of ours; of a file that is in several targets the first."""
    found = {}
    for entry in json.loads(pathlib.Path(build, "compile_commands.json").read_text()):
        path = os.path.relpath(entry["file"])
        if path.endswith(".cpp"):
            found.setdefault(path, entry)
    return found


def complaints(entry):
    command = re.sub(r" -o \S+", "", entry["command"]) + " -fsyntax-only"
    done = subprocess.run(command, shell=True, cwd=entry["directory"], capture_output=True, text=True)
    return done.stderr or (f"{entry['file']}: clang ended with {done.returncode}\n" if done.returncode else "")


def main(build, commit):
    wanted = changed_since(commit)
    entries = [entry for path, entry in commands(build).items() if path in wanted]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        said = [text for text in pool.map(complaints, entries) if text]
    sys.stderr.writelines(said)
    print(f"{len(entries)} files by themselves, {len(said)} with complaints", file=sys.stderr)
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
