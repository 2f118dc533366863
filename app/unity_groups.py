#!/usr/bin/env python3
"""Which sources can be compiled as one: prints SOURCE;GROUP a line.

    unity_groups.py ROOT TARGET BATCH SOURCE...

Two files go together unless one, or a header of ours that only one includes, mentions a name that is the other's own (in its
anonymous namespace, or a macro), or they are not `using` the same namespaces: no file has to know of the others' names. Files of a
folder stay together where that is possible, as they share most headers.
"""
import pathlib
import re
import sys

IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
TEXT = re.compile(r'R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"', re.S)
DECLARED = re.compile(r"^(?:template <.*>\s*)?(?:struct|class|enum class|enum|union|using)\s+(\w+)")
DEFINED = re.compile(r"(\w+)\s*(?:\(|=|\{|\[|;|$)")
INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)
USING = re.compile(r"^using namespace ([\w:]+);", re.M)
MACRO = re.compile(r"^#define (\w+)", re.M)


def own_names(code):
    """Of what stands in column 0 in an anonymous namespace; the code is formatted."""
    names, depth = set(MACRO.findall(code)), 0
    for line in code.splitlines():
        if line.startswith("namespace"):
            depth += line.rstrip() == "namespace {"
        elif line.startswith("}") and depth and not line.rstrip().endswith(";"):
            depth -= line.rstrip() == "}" and line.endswith("  ")  # "}  // namespace" without its comment
        elif depth and line[:1] not in ("", " ", "}", "#"):
            match = DECLARED.match(line) or DEFINED.search(line)
            if match:
                names.add(match.group(1))
    return names


class File:
    """A source or a header: its text's identifiers, the names that are its own, the headers of ours below it."""

    known = {}

    def __init__(self, root, path):
        File.known[path] = self
        raw = pathlib.Path(root, path).read_text(errors="replace")
        text = COMMENT.sub("", TEXT.sub('""', raw))
        self.path = path
        self.own = own_names(text)
        self.identifiers = set(IDENTIFIER.findall(text))
        self.usings = set(USING.findall(text))
        self.headers = set()
        for header in INCLUDE.findall(raw):
            if pathlib.Path(root, header).is_file():
                below = File.at(root, header)
                self.headers |= {header} | below.headers

    @staticmethod
    def at(root, path):
        return File.known.get(path) or File(root, path)

    def find_foes(self):
        """Headers that mention a name of this file's own, which does not include them."""
        self.foes = {p for p, f in File.known.items() if p.endswith(".h") and self.own & f.identifiers} - self.headers

    def fits(self, other):
        clash = self.own & other.identifiers or other.own & self.identifiers
        return not (clash or self.usings != other.usings or self.foes & other.headers or other.foes & self.headers)


def groups_of(files, batch):
    groups = []
    for file in files:
        fits = [g for g in groups if len(g) < batch and all(file.fits(other) for other in g)]
        folder = pathlib.PurePath(file.path).parent
        best = max(fits, key=lambda g: sum(pathlib.PurePath(f.path).parent == folder for f in g), default=None)
        if best is None:
            best = []
            groups.append(best)
        best.append(file)
    return groups


def main(root, target, batch, *sources):
    files = [File.at(root, pathlib.PurePath(source).relative_to(root).as_posix()) for source in sorted(sources)]
    for file in files:
        file.find_foes()
    for number, group in enumerate(groups_of(files, int(batch))):
        for file in group:
            print(f"{root}/{file.path};{target}_{number}")


if __name__ == "__main__":
    main(*sys.argv[1:])
