#!/usr/bin/env python3
"""Fails where a private word is used more often than it was: new text has the field's words (Perfetto's, Nsight's, PyTorch's).

    check_words.py [ROOT]        counts in code, comments, tests and pages; a line for each word that has grown, exit code 1
    check_words.py --self-test   fabricates a word too many, and one within its number, and fails unless they are told apart

Lower the number here after replacing some.
"""
import pathlib
import re
import sys
import tempfile

# word or words: how often they may occur; within an identifier they count, too
MOST = {"kept": 435, "beside": 85, "told": 86, "guest": 0, "foes": 0, "doors": 0, "house": 0, "tell": 84,
        "tells": 14, "stands": 67, "stood": 32, "lies": 25, "whoever": 5, "nobody": 22, "somebody": 6, "goes on": 2,
        "go on": 0, "to be had": 0, "is begun": 1, "any work": 3, "held against": 3, "of which": 12}
SUFFIXES = {".cpp", ".h", ".cu", ".py", ".md", ".cmake", ".txt"}
FOLDERS = ("app", "assets", "core", "tests", "third_party", "ui")


def files_of(root):
    yield from sorted(p for p in root.glob("*") if p.is_file() and p.suffix in SUFFIXES)
    for folder in FOLDERS:
        yield from sorted(p for p in (root / folder).rglob("*") if p.suffix in SUFFIXES and p.name != "check_words.py")


def counts(root):
    found = dict.fromkeys(MOST, 0)
    patterns = {word: re.compile(rf"(?<![a-z]){word}(?![a-z])", re.I) for word in MOST}
    for path in files_of(root):
        text = path.read_text(encoding="utf-8", errors="replace")
        for word, pattern in patterns.items():
            found[word] += len(pattern.findall(text))
    return found


def breaches(root, most):
    return [f"\"{word}\" occurs {n} times, at most {most[word]}: use the field's words" for word, n in counts(root).items() if n > most[word]]


def self_test():
    with tempfile.TemporaryDirectory() as name:
        (pathlib.Path(name) / "core").mkdir()
        (pathlib.Path(name) / "core/a.cpp").write_text("int kept_rows;  // Kept beside the rows. Guests and housekeeping are other words.\n")
        found = breaches(pathlib.Path(name), {**dict.fromkeys(MOST, 0), "beside": 1})
    return [line.split('"')[1] for line in found] == ["kept"]


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        sys.exit(0 if self_test() else "self-test failed")
    grown = breaches(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "."), MOST)
    print("\n".join(grown))
    sys.exit(1 if grown else 0)
