#!/usr/bin/env python3
"""Archives, UTF-16, addresses and folders, at the commands that take a trace and at those that take a run.

    files_check.py PROGRAM TRACE RANK0 RANK1
"""
import gzip
import io
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import zipfile

PROGRAM = sys.argv[1]


def run(*arguments):
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, errors="replace", timeout=120)
    return done.returncode, done.stdout, done.stderr


def zip_file(path, files):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        for name, data in files.items():
            out.writestr(name, data)


def tar_file(path, files, mode):
    with tarfile.open(path, mode) as out:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            out.addfile(entry, io.BytesIO(data))


def one_trace(folder, packed):
    text = gzip.decompress(packed)
    expected = run("kernels", "--json", folder / "plain.json")[1]
    zip_file(folder / "one.zip", {"a/trace.json": text})
    zip_file(folder / "packed.zip", {"trace.json.gz": packed})
    tar_file(folder / "one.tar.gz", {"a/trace.json": text}, "w:gz")
    tar_file(folder / "one.tar.xz", {"a/trace.json": text}, "w:xz")
    (folder / "utf16.json").write_bytes(text.decode().encode("utf-16"))
    (folder / "twice.json.gz").write_bytes(gzip.compress(packed))
    for name in ("one.zip", "packed.zip", "one.tar.gz", "one.tar.xz", "utf16.json", "twice.json.gz", "one.zip/a/trace.json"):
        code, out, err = run("kernels", "--json", folder / name)
        if code != 0 or out != expected:
            yield f"{name}: ended with {code}, or says something else: {err!r}"
    code, out, err = run("info", f"file://{folder}/one.zip")
    if code != 0 or "GPU work" not in out:
        yield f"file://: ended with {code}: {err!r}"
    for arguments in (["crop", folder / "one.zip", "--from", "0ms", "--to", "1ms", "-o", folder / "crop.json"],
                      ["overview", "--html", folder / "report.html", "--with-trace", folder / "one.zip"]):
        code, out, err = run(*arguments)
        if code != 0:
            yield f"{arguments[0]} of one.zip: ended with {code}: {err!r}"


def several_traces(folder, ranks):
    zip_file(folder / "run.zip", {f"run/rank{i}.json.gz": data for i, data in enumerate(ranks)})
    tar_file(folder / "run.tar.gz", {f"run/rank{i}.json.gz": data for i, data in enumerate(ranks)}, "w:gz")
    (folder / "run").mkdir()
    for i, data in enumerate(ranks):
        (folder / f"run/rank{i}.json.gz").write_bytes(data)
    for command in (["ranks"], ["overview"], ["diagnose"], ["whatif", "--rank", "1"]):
        expected = run(*command, folder / "run")
        for name in ("run.zip", "run.tar.gz"):
            code, out, err = run(*command, folder / name)
            if code != expected[0] or out.replace(name + "/", "") != expected[1]:
                yield f"{' '.join(command)} {name}: ended with {code}, or says something else than of the folder: {err!r}"
    code, out, err = run("why", folder / "run.zip")
    if code != 1 or "run/rank0.json.gz" not in err or err.count("\n") != 1:
        yield f"why run.zip: ended with {code} and says {err!r}"
    (folder / "steps/iteration_10").mkdir(parents=True)
    os.rename(folder / "run", folder / "steps/iteration_10/run")
    code, out, err = run("ranks", folder / "steps")
    if code != 1 or "iteration_10" not in err:
        yield f"ranks of a folder of folders: ended with {code} and says {err!r}"


def addresses(folder):
    for address, command in (("https://a.org/t.json", "curl -LO"), ("s3://b/t.json", "aws s3 cp"), ("gs://b/t.json", "gcloud storage cp")):
        for arguments in (["info"], ["ranks"], ["why"]):
            code, out, err = run(*arguments, address)
            if code != 1 or command not in out + err:
                yield f"{arguments[0]} {address}: ended with {code} and says {err!r}"


def answers(folder, traces):
    """What `info` of `gapscope mcp FOLDER` says of each: whether it is an error, and its text."""
    server = subprocess.Popen([PROGRAM, "mcp", folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def call(number, method, params):
        server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n")
        server.stdin.flush()
        return json.loads(server.stdout.readline())["result"]

    call(0, "initialize", {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "files_check", "version": "1"}})
    results = [call(i, "tools/call", {"name": "info", "arguments": {"trace": trace}}) for i, trace in enumerate(traces, 1)]
    server.stdin.close()
    server.wait(timeout=60)
    return [(result["isError"], result["content"][0]["text"]) for result in results]


def servers(folder, packed):
    """Archives below the folder of a server open; by no name does one open what is elsewhere."""
    (folder / "served").mkdir()
    (folder / "outside").mkdir()
    zip_file(folder / "served/x.zip", {"../../outside/t.json.gz": packed})
    zip_file(folder / "outside/secret.zip", {"t.json.gz": packed})
    (folder / "outside/t.json.gz").write_bytes(packed)
    (folder / "served/link.zip").symlink_to(folder / "outside/secret.zip")
    (folder / "served/linked").symlink_to(folder / "outside")
    opens = ["x.zip", "x.zip/outside/t.json.gz", f"file://{folder}/served/x.zip"]
    refused = ["link.zip", "link.zip/t.json.gz", "linked/secret.zip", "linked/secret.zip/t.json.gz", "x.zip/../../outside/t.json.gz",
               f"{folder}/outside/secret.zip/t.json.gz", f"file://{folder}/outside/secret.zip", "s3://bucket/t.json"]
    for trace, (is_error, text) in zip(opens + refused, answers(folder / "served", opens + refused)):
        if is_error != (trace in refused):
            yield f"mcp {trace}: {text[:200]}"


def main():
    trace, *ranks = (pathlib.Path(name).read_bytes() for name in sys.argv[2:])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "plain.json").write_bytes(gzip.decompress(trace))
        wrong = [*one_trace(folder, trace), *several_traces(folder, ranks), *addresses(folder), *servers(folder, trace)]
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
