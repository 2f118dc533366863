#!/usr/bin/env python3
"""Fails on a file of core, ui or app that is over 400 lines and gives no reason on its first line.

    check_sizes.py [ROOT]        checks the tree, one line a breach, exit code 1 if there is any
    check_sizes.py --self-test   fabricates a breach and a reason, and fails unless they are distinguished
"""
import pathlib
import sys
import tempfile

MOST = 400  # lines
REASON = f"// Over {MOST} lines: "


def breaches(root):
    for folder in ("core", "ui", "app"):
        for path in sorted(p for p in (root / folder).rglob("*") if p.suffix in (".cpp", ".h")):
            lines = path.read_text().split("\n")
            if len(lines) - 1 > MOST and not lines[0].startswith(REASON):
                yield f"{path.relative_to(root)}: {len(lines) - 1} lines; split it, or begin it with \"{REASON}why.\""
            if len(lines) - 1 <= MOST and lines[0].startswith(REASON):
                yield f"{path.relative_to(root)}: no longer over {MOST} lines; drop its first line"


def self_test():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name) / "core"
        folder.mkdir()
        (folder / "long.cpp").write_text("int a;\n" * (MOST + 1))
        (folder / "reasoned.cpp").write_text(REASON + "a table.\n" + "int a;\n" * MOST)
        (folder / "short.cpp").write_text("int a;\n" * MOST)
        (folder / "shrunk.cpp").write_text(REASON + "a table.\n")
        found = [line.split(":")[0] for line in breaches(pathlib.Path(name))]
    return found == ["core/long.cpp", "core/shrunk.cpp"]


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        sys.exit(0 if self_test() else "self-test failed")
    found = list(breaches(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")))
    print("\n".join(found))
    sys.exit(1 if found else 0)
