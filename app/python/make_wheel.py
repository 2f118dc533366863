#!/usr/bin/env python3
"""Makes the wheel of the tar that app/package made: the program with its libraries, the recorder, and the package.

    make_wheel.py TAR VERSION FOLDER        prints the wheel's path

The same tar and sources give the same bytes: members are sorted and have the time of SOURCE_DATE_EPOCH. No build tool is needed.
"""
import base64
import hashlib
import os
import pathlib
import re
import sys
import tarfile
import time
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = "gapscope/program"
LEFT_OUT = re.compile(r"share/(man|bash-completion|zsh|fish|applications|icons|mime)(/|$)")


def files_of_tar(path):
    """What the program needs of the tar: name -> (bytes, mode). Of a library's names those that the linker looks for."""
    found, links = {}, {}
    with tarfile.open(path) as tar:
        for member in tar.getmembers():
            name = member.name.split("/", 1)[1] if "/" in member.name else ""
            if not name or LEFT_OUT.match(name):
                continue
            if member.isfile():
                found[name] = (tar.extractfile(member).read(), 0o755 if member.mode & 0o111 else 0o644)
            elif member.issym():
                links[name] = os.path.normpath(os.path.join(os.path.dirname(name), member.linkname))
    for _ in range(len(links)):
        found.update({name: found[target] for name, target in links.items() if target in found})
    elves = [data for data, _ in found.values() if data.startswith(b"\x7fELF")]
    asked = {name for data in elves for name in re.findall(rb"\0([\w.+-]+\.so[\w.]*)(?=\0)", data)}
    aliases = set(links) | set(links.values())
    return {name: entry for name, entry in found.items() if name not in aliases or os.path.basename(name).encode() in asked}


def oldest_libc(files):
    """The newest symbol version of the C library that any of them needs: (2, 36)."""
    versions = {tuple(map(int, v)) for data, _ in files.values() if data.startswith(b"\x7fELF")
                for v in re.findall(rb"GLIBC_(\d+)\.(\d+)", data)}
    return max(versions)


def package_files():
    found = {}
    for path in sorted((HERE / "gapscope").rglob("*")):
        if path.is_file() and path.suffix in (".py", ".typed") and "__pycache__" not in path.parts:
            found[str(path.relative_to(HERE))] = (path.read_bytes(), 0o644)
    return found


def digest(data):
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def main(tar, version, folder):
    program = files_of_tar(tar)
    tag = "py3-none-manylinux_{}_{}_x86_64".format(*oldest_libc(program))
    info = f"gapscope-{version}.dist-info"
    metadata = f"""Metadata-Version: 2.1
Name: gapscope
Version: {version}
Summary: Viewer for PyTorch and CUDA profiler traces: why is my GPU idle?
Requires-Python: >=3.9
Description-Content-Type: text/markdown

""".encode() + (HERE / "README.md").read_bytes()
    files = package_files()
    files.update({f"{PROGRAM}/{name}": entry for name, entry in program.items()})
    files[f"{info}/METADATA"] = (metadata, 0o644)
    files[f"{info}/WHEEL"] = (f"Wheel-Version: 1.0\nGenerator: app/python/make_wheel.py\nRoot-Is-Purelib: false\nTag: {tag}\n".encode(), 0o644)
    files[f"{info}/entry_points.txt"] = (
        b"[console_scripts]\ngapscope = gapscope._program:main\n\n[pytest11]\ngapscope = gapscope.pytest_plugin\n", 0o644)
    record = "".join(f"{name},{digest(data)},{len(data)}\n" for name, (data, _) in sorted(files.items()))
    files[f"{info}/RECORD"] = ((record + f"{info}/RECORD,,\n").encode(), 0o644)
    wheel = os.path.join(folder, f"gapscope-{version}-{tag}.whl")
    moment = time.gmtime(max(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), 315532800))[:6]  # a zip's times begin in 1980
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as out:
        for name in sorted(files, key=lambda n: (n.startswith(info), n)):
            data, mode = files[name]
            member = zipfile.ZipInfo(name, moment)
            member.compress_type, member.external_attr, member.create_system = zipfile.ZIP_DEFLATED, (0o100000 | mode) << 16, 3
            out.writestr(member, data)
    print(wheel)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
