#!/usr/bin/env python3
"""The list of what a package is made of: whole by SPDX's rules, every library that the program loads in it, the same bytes twice.

    sbom_check.py APP/SBOM.PY PROGRAM MODULE...
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile


def complaints(tool, program, modules, folder):
    texts = []
    for name in ("a", "b"):
        subprocess.run([sys.executable, tool, folder / name, "0.2.0", program, *modules], check=True, env=dict(os.environ, SOURCE_DATE_EPOCH="1700000000"))
        texts.append((folder / name).read_text())
    if texts[0] != texts[1]:
        yield "two runs give two lists"
    sbom = json.loads(texts[0])
    for key in ("spdxVersion", "dataLicense", "SPDXID", "name", "documentNamespace", "creationInfo"):
        if not sbom.get(key):
            yield f"it lacks {key}"
    if sbom["creationInfo"]["created"] != "2023-11-14T22:13:20Z":
        yield f"its time is {sbom['creationInfo']['created']}"
    ids = [package["SPDXID"] for package in sbom["packages"]]
    if len(set(ids)) != len(ids) or not all(re.fullmatch("SPDXRef-[A-Za-z0-9.-]+", one) for one in ids):
        yield f"its ids: {ids}"
    for package in sbom["packages"]:
        if not package["name"] or not package["licenseDeclared"] or package["downloadLocation"] != "NOASSERTION":
            yield f"{package}"
        if package["versionInfo"] == "NOASSERTION":
            yield f"{package['name']} has no version"
    related = {link["relatedSpdxElement"] for link in sbom["relationships"]}
    if related != set(ids):
        yield f"without a relation, or related and missing: {related ^ set(ids)}"
    names = " ".join(package["name"] for package in sbom["packages"])
    # libssl comes with another one, and is in the tar as well; so does libX11, which GLFW from 3.4 on looks for while it runs.
    linked = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout
    for library in (*(["libx11-6"] if "libX11" in linked else []), "libcpp-httplib", "libssl", "re2", "fmt", "simdjson", "sqlite3", "glfw3", "imgui", "nlohmann", "cli11", "libc6", "zlib1g"):
        if library not in names:
            yield f"{library} is missing: {names}"


if __name__ == "__main__":
    if not shutil.which("dpkg-query") or not shutil.which("objdump"):
        print("SKIPPED: the list of components was NOT tested: there is no dpkg here.")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as name:
        found = list(complaints(sys.argv[1], sys.argv[2], sys.argv[3:], pathlib.Path(name)))
    print("\n".join(found) or "The list is whole.")
    sys.exit(1 if found else 0)
