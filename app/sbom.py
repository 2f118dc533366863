#!/usr/bin/env python3
"""What a program is made of, as SPDX 2.3 in JSON: the packages whose libraries it loads, those that these bring along (the tar holds
them, too), and those that were compiled into it.

    sbom.py OUT.spdx.json VERSION PROGRAM...

Versions are those of the machine that builds, as dpkg knows them; where there is no dpkg only the names stand there. The same
packages give the same bytes: the time is SOURCE_DATE_EPOCH's, or that of the program."""
import datetime
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

# Headers and archives, which leave no name in the program: Debian's package, licence.
COMPILED_IN = {"libimgui-dev": "MIT", "nlohmann-json3-dev": "MIT", "libcli11-dev": "BSD-3-Clause", "libiberty-dev": "LGPL-2.1-or-later", "libarchive-dev": "BSD-2-Clause",
               "python3-glad": "CC0-1.0 AND Apache-2.0"}
# What the programs link by themselves; under which licence those libraries bring others along is theirs to say.
LOADED = {"libjemalloc": "BSD-2-Clause", "libre2": "BSD-3-Clause", "libfmt": "MIT", "libsimdjson": "Apache-2.0", "liblzma": "LicenseRef-public-domain", "libzstd": "BSD-3-Clause", "libbz2": "bzip2-1.0.6", "libnettle": "LGPL-3.0-or-later OR GPL-2.0-or-later",
          "libisal": "BSD-3-Clause", "libsqlite3": "blessing", "libstb": "MIT", "libglfw": "Zlib", "libpng16": "libpng-2.0", "libz": "Zlib",
          "libdbus-1": "AFL-2.1 OR GPL-2.0-or-later", "libedit": "BSD-3-Clause", "libcpp-httplib": "MIT", "libmpi": "BSD-3-Clause", "libstdc++": "GPL-3.0-or-later WITH GCC-exception-3.1",
          "libgcc_s": "GPL-3.0-or-later WITH GCC-exception-3.1", "libc": "LGPL-2.1-or-later", "libm": "LGPL-2.1-or-later"}


def said(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True).stdout
    except OSError:
        return ""


def loaded_libraries(program):
    """Name and file of each library, those first that the program names itself, and whether it does."""
    needed = [name for name in re.findall(r"NEEDED\s+(\S+)", said("objdump", "-p", program)) if not name.startswith("ld-linux")]
    files = dict(re.findall(r"^\s*(\S+) => (/\S+)", said("ldd", program), re.MULTILINE))
    return [(name, files.get(name, ""), True) for name in needed] + [(name, file, False) for name, file in files.items() if name not in needed]


def packages_of(files):
    """By file, as dpkg has it, whatever links lead to the file."""
    whose = {path: file for file in files for path in (os.path.realpath(file), file, re.sub("^/usr", "", os.path.realpath(file)))}
    lines = [line.rsplit(": ", 1) for line in said("dpkg-query", "--search", *whose).splitlines()]
    return {whose[path]: owner.split(":")[0] for owner, path in lines if path in whose}


def entry(name, version, licence):
    found = {"SPDXID": "SPDXRef-" + re.sub("[^A-Za-z0-9.-]", "-", name), "name": name, "versionInfo": version or "NOASSERTION",
             "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "licenseConcluded": "NOASSERTION", "licenseDeclared": licence,
             "copyrightText": "NOASSERTION"}
    if version:
        found["externalRefs"] = [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": f"pkg:deb/debian/{name}@{version}"}]
    return found


def versions_of(packages):
    return dict(line.split() for line in said("dpkg-query", "--show", "--showformat", "${Package} ${Version}\n", *packages).splitlines())


def document(version, programs):
    relations = {package: ("STATIC_LINK", licence) for package, licence in COMPILED_IN.items()}
    for program in programs:
        libraries = loaded_libraries(program)
        packages = packages_of({file for _, file, _ in libraries if file})
        for name, file, by_itself in libraries:
            library = name.split(".so")[0]
            how = ("DYNAMIC_LINK", LOADED.get(library, "NOASSERTION")) if by_itself else ("DEPENDS_ON", "NOASSERTION")
            relations.setdefault(packages.get(file, library), how)
    own = {**entry("gapscope", "", "NOASSERTION"), "versionInfo": version}
    versions = versions_of(relations)
    packages = [own] + [entry(name, versions.get(name, ""), licence) for name, (_, licence) in sorted(relations.items())]
    links = [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": own["SPDXID"]}]
    links += [{"spdxElementId": own["SPDXID"], "relationshipType": relations[p["name"]][0], "relatedSpdxElement": p["SPDXID"]} for p in packages[1:]]
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH") or pathlib.Path(programs[0]).stat().st_mtime)
    created = datetime.datetime.fromtimestamp(epoch, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    content = json.dumps([packages, links, created])
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"gapscope-{version}",
            "documentNamespace": f"https://spdx.org/spdxdocs/gapscope-{version}-{hashlib.sha256(content.encode()).hexdigest()[:32]}",
            "creationInfo": {"created": created, "creators": ["Tool: app/sbom.py"]}, "packages": packages, "relationships": links,
            "hasExtractedLicensingInfos": [{"licenseId": "LicenseRef-public-domain", "extractedText": "liblzma is in the public domain."}]}


if __name__ == "__main__":
    pathlib.Path(sys.argv[1]).write_text(json.dumps(document(sys.argv[2], sys.argv[3:]), indent=1) + "\n")
