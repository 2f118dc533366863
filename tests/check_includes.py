#!/usr/bin/env python3
"""Walks every #include and fails on one that points against the direction of the folders, on an #if that asks for
the platform, and on facts of a trace that are made outside its session.

    check_includes.py [ROOT]        checks the tree, one line a breach, exit code 1 if there is any
    check_includes.py --self-test   fabricates one breach of every kind and fails unless each is found
"""
import pathlib
import re
import sys
import tempfile

BELOW_VIEW = ["core/base", "core/trace", "core/index", "core/analyze", "core/replay", "core/session", "core/diagnose", "core/compare", "core/sql", "core/ranks", "core/snapshot"]
# Of loading, what is outside sees the way in, a slice's args and the way out, not how files are read.
LOAD_INTERFACE = ["core/load/arg_texts.h", "core/load/args.h", "core/load/cpu_samples.h", "core/load/crop.h", "core/load/load_timeline.h", "core/load/load_trace.h", "core/load/merge_counters.h", "core/load/node_args.h", "core/load/packed_file.h"]

# folder -> what its files may include besides their own folder (folders, or single headers). The longest match counts.
MAY_INCLUDE = {
    "core/base": [],
    "core/trace": ["core/base"],
    "core/build": ["core/base", "core/trace"],
    "core/load": ["core/base", "core/trace", "core/build"],
    "core/index": ["core/base", "core/trace"],
    "core/analyze": ["core/base", "core/trace", "core/index"],
    "core/replay": ["core/base", "core/trace", "core/index", "core/analyze"],
    "core/session": ["core/base", "core/trace", "core/index", "core/analyze", "core/replay", "core/load/arg_texts.h"],
    "core/diagnose": ["core/base", "core/trace", "core/index", "core/analyze", "core/replay", "core/session"],
    "core/compare": ["core/base", "core/trace", "core/index", "core/analyze", "core/session"],
    "core/sql": ["core/base", "core/trace", "core/index", "core/analyze", "core/replay", "core/session", "core/diagnose", "core/ranks", "core/load/args.h", "core/load/args_pass.h", "core/load/nsight_systems.h", "core/load/sqlite_file.h"],
    "core/ranks": ["core/base", "core/trace", "core/index", "core/analyze", "core/replay", "core/session", "core/load/archive.h", "core/load/byte_source.h", "core/load/foreign.h", "core/load/load_trace.h"],
    "core/snapshot": ["core/base", "core/trace", "core/load/byte_source.h"],
    "core/view": BELOW_VIEW + LOAD_INTERFACE,
    "ui": BELOW_VIEW + LOAD_INTERFACE + ["core/view"],
    "app": BELOW_VIEW + LOAD_INTERFACE + ["core/view", "ui"],
    "tests": ["core", "ui", "app"],
}

# third-party header -> the only folders that may include it (tests/ may include anything)
ONLY_IN = {
    r"simdjson": ["core/load", "core/analyze/work/work_call.cpp"],
    r"(zlib|lzma|zstd|isa-l)\.h": ["core/load", "app/record"],
    r"archive(_entry)?\.h": ["core/load"],
    r"libiberty": ["core/base"],
    r"re2": ["core/analyze/named_steps.cpp", "core/replay", "core/sql"],
    r"(.*/)?imgui": ["ui", "app/window"],
    r"GLFW/|glad/|(.*/)?imgui_impl_": ["app/window"],
    r"sqlite3\.h": ["core/sql", "core/load/sqlite_file.cpp"],
    r"editline/": ["app/cli"],
    r"png\.h": ["app/window"],
    r"dbus/": ["app/window/desktop/portal_chooser.cpp"],
    r"httplib": ["app/serve"],
    r"CLI/": ["app/cli", "app/mpi", "app/workload"],
    r"mpi\.h": ["app/mpi"],
    r"cupti": ["app/sampler"],
    r"cuda|cublas|cudnn|nvtx": ["app/sampler", "app/workload"],
}

# The folders that each build has one of: elsewhere nothing asks what it is built for.
OF_A_PLATFORM = ["core/base/platform", "app/session/desktop", "app/session/web", "app/web", "app/window/desktop", "app/window/web"]
PLATFORM = re.compile(r"^\s*#\s*(?:el)?if.*\b(__linux__|__linux|__gnu_linux__|__unix__|__unix|__APPLE__|__MACH__|__EMSCRIPTEN__|__wasm\w*|_WIN32|_WIN64|__FreeBSD__)\b")
# What a session makes once (core/session/trace_session.h), and the files that hold how.
MADE_BY_SESSION = re.compile(r"(?<![\w.>])(?:gapscope::)?(gpu_ops|ReplayModel::make|work_table|LaneIndex \w+|LinkIndex \w+)\(")
MAKERS = ["core/session", "core/analyze", "core/replay", "core/index", "tests"]
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')
SOURCES = {".h", ".hpp", ".c", ".cpp", ".cu", ".inc"}


def within(path, places):
    return any(path == place or path.startswith(place + "/") for place in places)


def folder_of(path):
    folders = [folder for folder in MAY_INCLUDE if within(path, [folder])]
    return max(folders, key=len, default=None)


def breach_of_ours(root, path, included):
    folder = folder_of(path)
    if not (root / included).is_file():
        return f'"{included}" is no file of this repository: write includes from its root, others in <>'
    if folder is None:
        return f"{path} is in no folder that the rules know"
    if not within(included, [folder] + MAY_INCLUDE[folder]):
        return f'{folder} may not include "{included}"'
    return None


def breach_of_theirs(path, included):
    for pattern, places in ONLY_IN.items():
        if re.match(pattern, included) and not within(path, places + ["tests"]):
            return f"<{included}> belongs in {' and '.join(places)} only"
    return None


def breaches(root):
    found = []
    for top in ("app", "core", "ui", "tests"):
        for file in sorted((root / top).rglob("*")):
            if file.suffix in SOURCES and file.is_file():
                found += breaches_in(root, file)
    return found


def breaches_in(root, file):
    path = file.relative_to(root).as_posix()
    for number, line in enumerate(file.read_text(errors="replace").splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            quote, included = match.groups()
            trouble = breach_of_ours(root, path, included) if quote == '"' else breach_of_theirs(path, included)
            if trouble:
                yield f"{path}:{number}: {trouble}"
        elif (match := PLATFORM.match(line)) and not within(path, OF_A_PLATFORM):
            yield f"{path}:{number}: {match.group(1)} belongs in a platform's folders only: {', '.join(OF_A_PLATFORM)}"
        elif (match := MADE_BY_SESSION.search(line.split("//")[0])) and not within(path, MAKERS):
            yield f"{path}:{number}: {match.group(1)} is made by core/session only: ask the trace's TraceSession"


# (file, its one include or line, a part of the message or None where it is allowed)
SELF_TEST = [
    ("core/base/a.h", '"core/trace/a.h"', "core/base may not"),
    ("core/trace/a.h", '"core/load/args.h"', "core/trace may not"),
    ("core/trace/b.h", '"core/base/a.h"', None),
    ("core/trace/c.h", '"core/build/a.h"', "core/trace may not"),
    ("core/build/a.h", '"core/trace/a.h"', None),
    ("core/build/b.h", '"core/load/args.h"', "core/build may not"),
    ("core/load/b.h", '"core/build/a.h"', None),
    ("core/analyze/b.h", '"core/build/a.h"', "core/analyze may not"),
    ("core/load/args.h", "<simdjson.h>", None),
    ("core/index/a.h", '"core/load/args.h"', "core/index may not"),
    ("core/index/b.h", "<simdjson.h>", "core/load and core/analyze/work/work_call.cpp only"),
    ("core/load/reader.h", '"core/index/a.h"', "core/load may not"),
    ("core/analyze/a.h", '"core/diagnose/a.h"', "core/analyze may not"),
    ("core/diagnose/a.h", '"core/analyze/a.h"', None),
    ("core/compare/a.h", '"core/diagnose/a.h"', "core/compare may not"),
    ("core/view/a.h", '"core/load/reader.h"', "core/view may not"),
    ("core/view/b.h", '"core/load/args.h"', None),
    ("core/view/c.h", '"ui/a.h"', "core/view may not"),
    ("core/view/d.h", "<imgui.h>", "ui and app/window only"),
    ("ui/a.h", "<imgui.h>", None),
    ("ui/b.h", "<GLFW/glfw3.h>", "app/window only"),
    ("ui/c.h", '"app/window/a.h"', "ui may not"),
    ("ui/d.h", "<imgui_impl_glfw.h>", "app/window only"),
    ("ui/e.h", '"a.h"', "no file of this repository"),
    ("app/window/a.h", "<glad/gl.h>", None),
    ("app/main.cpp", "<glad/gl.h>", "app/window only"),
    ("app/session/session.cpp", "<cupti.h>", "app/sampler only"),
    ("app/sampler/a.cu", "<cupti.h>", None),
    ("tests/a_test.cpp", '"core/load/reader.h"', None),
    ("core/base/b.cpp", "#if defined(__linux__)", "__linux__ belongs in"),
    ("core/base/c.cpp", "# ifdef _WIN32", "_WIN32 belongs in"),
    ("ui/f.cpp", "#elif 1 && !defined(__EMSCRIPTEN__)", "__EMSCRIPTEN__ belongs in"),
    ("app/session/s.cpp", "#ifndef __APPLE__", "__APPLE__ belongs in"),
    ("core/base/platform/web/a.cpp", "#ifdef __EMSCRIPTEN__", None),
    ("ui/g.cpp", "#if IMGUI_VERSION_NUM < 18700", None),
    ("core/session/a.cpp", "auto ops = gpu_ops(trace, links);", None),
    ("core/view/e.cpp", "auto ops = gpu_ops(trace, links);", "made by core/session only"),
    ("app/cli/a.cpp", "const auto model = ReplayModel::make(trace);", "made by core/session only"),
    ("app/cli/b.cpp", "const LinkIndex links(trace, lanes);", "made by core/session only"),
    ("app/cli/c.cpp", "const auto& ops = session.ops();  // not gpu_ops()", None),
]


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for path, include, _ in SELF_TEST:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(f"#include {include}\n" if include[0] in '<"' else include + "\n")
        found = breaches(root)
    wrong = []
    for path, include, expected in SELF_TEST:
        said = [line for line in found if line.startswith(path + ":1: ")]
        if (expected is None and said) or (expected and not any(expected in line for line in said)):
            wrong.append(f"{path} has {include}: expected {expected or 'no breach'}, found {said or 'none'}")
    return wrong


if __name__ == "__main__":
    testing = sys.argv[1:] == ["--self-test"]
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent
    lines = self_test() if testing else breaches(root)
    print("\n".join(lines) or "Every include points the right way.")
    sys.exit(1 if lines else 0)
