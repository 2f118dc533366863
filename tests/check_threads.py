#!/usr/bin/env python3
"""Fails on a thread that is made past core/base/parallel.h, where an exception would end the program (core/base/failure.h).

    check_threads.py [ROOT]        checks the tree, one line a breach, exit code 1 if there is any
    check_threads.py --self-test   fabricates breaches and fails unless each is found
"""
import pathlib
import re
import sys
import tempfile

MAKES_A_THREAD = re.compile(r"\bstd::(thread|jthread|async)\b(?!::)|\bpthread_create\b")
MAY = ["core/base/parallel.h", "core/base/parallel.cpp"]
# Inside a user's program the recorder has its own ways; its threads catch what they throw themselves.
MAY_FOLDERS = ["app/sampler/"]


def breaches(root):
    found = []
    for top in ("app", "core", "ui"):
        for file in sorted((root / top).rglob("*")):
            name = file.relative_to(root).as_posix()
            if file.suffix not in (".h", ".cpp") or name in MAY or any(name.startswith(f) for f in MAY_FOLDERS):
                continue
            for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
                if MAKES_A_THREAD.search(line.split("//")[0]):
                    found.append(f"{name}:{number}: threads are made by core/base/parallel.h")
    return found


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for top in ("app", "core/base", "ui"):
            (root / top).mkdir(parents=True)
        (root / "app/a.cpp").write_text("std::thread t([] {});\n")
        (root / "core/b.cpp").write_text("auto f = std::async(work);\n")
        (root / "ui/c.h").write_text("std::jthread t_;\n")
        (root / "core/base/parallel.h").write_text("std::jthread thread_;\n")
        (root / "core/d.cpp").write_text("std::thread::id id;  // std::thread\n")
        found = breaches(root)
        return 0 if len(found) == 3 else f"{len(found)} of 3 breaches were found: {found}"


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        sys.exit(self_test())
    lines = breaches(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "."))
    print("\n".join(lines), end="\n" if lines else "")
    sys.exit(1 if lines else 0)
