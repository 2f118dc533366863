#!/usr/bin/env python3
"""Writes sources that include those which can be compiled as one, BUILD/batches/TARGET_NUMBER.cpp, and prints the target's sources:
those, and the ones that stay as they are.

    unity_groups.py ROOT BUILD TARGET BATCH ALONE SOURCE...

ALONE: sources that stay as they are, with ; between them.

Two files go together unless a name that is one's own (in its anonymous namespace, or a macro) may mean something else in the other,
or in a header of ours that only the other includes: it is declared there outside of classes, or is mentioned and is not a class's own;
a function's name: called. Nor if they are not `using` the same namespaces. So no file has to know of the others' names. A file goes to
the group that it brings the fewest new headers.

What it is for: twelve files of app/ take GCC 12 18.7 s as one and 56.4 s each alone, with the precompiled header in both; app/start
would take more than twice as long. UNITY_BUILD_MODE BATCH, which knows of no names, would make every file know of its neighbours'.
"""
import pathlib
import re
import sys

IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
TEXT = re.compile(r'R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"', re.S)
QUALIFIED = re.compile(r"(?:\.|->|::)\s*\w+")  # found where it says, whatever is around it
CALLED = re.compile(r"([A-Za-z_]\w*)(?:<[^<>;()]*>)?\(")
OPERATOR_WORD = re.compile(r"\b(return|else|throw|case|and|or|not|co_return)$")
CLASS_MEMBER = re.compile(r"^ +(?:(?:struct|class|enum class|enum|using) (\w+)|static constexpr [^=;(]*?(\w+) = )", re.M)
TEMPLATE_ARGUMENTS = re.compile(r"<[^<>]*>")
DECLARED = re.compile(r"^(?:template <.*>\s*)?(?:struct|class|enum class|enum|union|using)\s+(\w+)")
DEFINED = re.compile(r"(\w+)\s*(\(|=|\{|\[|;|$)")
NO_NAMES = {"enum", "int", "static_assert", "template", "void"}
ALIAS = re.compile(r"using \w+ = .*;")
INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)
LIBRARY = re.compile(r"^#include <([^>]+)>", re.M)
# How many of our headers, about, a library's header takes to compile.
WEIGHTS = {"CLI/CLI.hpp": 30, "nlohmann/json.hpp": 30, "simdjson.h": 20, "re2/re2.h": 8, "filesystem": 4}
USING = re.compile(r"^using namespace ([\w:]+);", re.M)
MACRO = re.compile(r"^#define (\w+)", re.M)


def own_names(code):
    """Of what is in column 0 in an anonymous namespace; the code is formatted: each name with "call" for a function, its line for
    another name of a type, else "mention"."""
    names, depth = dict.fromkeys(MACRO.findall(code), "mention"), 0
    for line in code.splitlines():
        if line.startswith("namespace"):
            depth += line.rstrip() == "namespace {"
        elif line.startswith("}") and depth and not line.rstrip().endswith(";"):
            depth -= line.rstrip() == "}" and line.endswith("  ")  # "}  // namespace" without its comment
        elif depth and line[:1] not in ("", " ", "}", "#"):
            if declared := DECLARED.match(line):
                names[declared.group(1)] = line if ALIAS.match(line) else "mention"
                continue
            while (plain := TEMPLATE_ARGUMENTS.sub("", line)) != line:
                line = plain
            found = next((m for m in DEFINED.finditer(line) if m.group(1) not in NO_NAMES), None)
            if found:
                names[found.group(1)] = "call" if found.group(2) == "(" else "mention"
    return names


def called_names(text):
    """Of functions: what is called, and what is declared outside of classes; `Type name(` declares, and is indented in a class."""
    names = set()
    for match in CALLED.finditer(text):
        line = text[text.rfind("\n", 0, match.start()) + 1:match.start()]
        before = line.rstrip(" ")
        is_after_type = line != before and (before[-1:].isalnum() or before[-1:] == "_" or
                                            before[-1:] in ("&", "*", ">") and before[-2:-1] not in ("", " "))
        if not is_after_type or OPERATOR_WORD.search(before) or not line.startswith(" "):
            names.add(match.group(1))
    return names


class File:
    """A source or a header: what its text mentions and calls, the names that are its own, the headers below it."""

    known = {}

    def __init__(self, root, path):
        File.known[path] = self
        raw = pathlib.Path(root, path).read_text(errors="replace")
        text = COMMENT.sub("", TEXT.sub('""', raw))
        unqualified = QUALIFIED.sub(" ", text)
        self.path = path
        self.own = own_names(text)
        self.mentioned = set(IDENTIFIER.findall(unqualified)) - {a or b for a, b in CLASS_MEMBER.findall(text)} | set(self.own)
        self.called = called_names(unqualified)
        self.usings = set(USING.findall(text))
        self.headers = set()
        self.libraries = set(LIBRARY.findall(raw))
        for header in INCLUDE.findall(raw):
            if pathlib.Path(root, header).is_file():
                below = File.at(root, header)
                self.headers |= {header} | below.headers
                self.libraries |= below.libraries

    @staticmethod
    def at(root, path):
        return File.known.get(path) or File(root, path)

    def means(self, name, how):
        return name in (self.called if how == "call" else self.mentioned)

    def disturbs(self, other):
        return any(other.own.get(name, how) != how or how in ("call", "mention") and name in other.own or
                   name not in other.own and other.means(name, how) for name, how in self.own.items())

    def find_disturbed(self):
        """Headers that mention a name of this file's own, which does not include them."""
        self.disturbed = {p for p, f in File.known.items() if p.endswith(".h") and p not in self.headers and self.disturbs(f)}

    def fits(self, other):
        return not (self.usings != other.usings or self.disturbed & other.headers or other.disturbed & self.headers or
                    self.disturbs(other) or other.disturbs(self))

    def cost_beside(self, group):
        """Of the headers that this file brings along."""
        there = set().union(*(f.headers | f.libraries for f in group))
        return sum(WEIGHTS.get(h, 1) for h in (self.headers | self.libraries) - there)


def groups_of(files, batch):
    groups = []
    for file in files:
        fits = [g for g in groups if len(g) < batch and all(file.fits(other) for other in g)]
        best = min(fits, key=file.cost_beside, default=None)
        if best is None:
            best = []
            groups.append(best)
        best.append(file)
    return groups


def main(root, build, target, batch, alone, *sources):
    root, folder = pathlib.Path(root), pathlib.Path(build, "batches")
    alone = {root / path for path in alone.split(";")}
    together = sorted(path for path in (root / source for source in sources) if path.suffix == ".cpp" and path not in alone and
                      path.is_relative_to(root) and not path.is_relative_to(build))
    files = [File.at(root, path.relative_to(root).as_posix()) for path in together]
    for file in files:
        file.find_disturbed()
    folder.mkdir(parents=True, exist_ok=True)
    for number, group in enumerate(groups_of(files, int(batch))):
        path = folder / f"{target}_{number}.cpp"
        text = "".join(f'#include "{file.path}"\n' for file in group)
        if not path.is_file() or path.read_text() != text:
            path.write_text(text)
        print(path)
    for source in sources:
        if root / source not in together:
            print(source)


if __name__ == "__main__":
    main(*sys.argv[1:])
