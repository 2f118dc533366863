#!/usr/bin/env python3
"""The wheel that app/python/make_wheel.py makes of a tar: what is in it, by which names, and the same bytes each time.

    wheel_check.py ROOT
"""
import base64
import csv
import hashlib
import io
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest
import zipfile

ROOT = pathlib.Path(sys.argv[1]).resolve()
NAME = "gapscope-1.2-py3-none-manylinux_2_36_x86_64.whl"


def elf(*needs):
    return b"\x7fELF" + b"\0GLIBC_2.4\0GLIBC_2.36\0" + b"\0".join(needs) + b"\0"


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        tar_path = os.path.join(cls.folder.name, "a.tar.gz")
        with tarfile.open(tar_path, "w:gz") as tar:
            def put(name, data=b"", mode=0o644, link=""):
                member = tarfile.TarInfo("gapscope-1.2/" + name)
                member.size, member.mode = len(data), mode
                if link:
                    member.type, member.linkname = tarfile.SYMTYPE, link
                tar.addfile(member, io.BytesIO(data))
            put("bin/gapscope", elf(b"libz.so.1", b"libown.so"), 0o755)
            put("lib/gapscope/libz.so.1.2.13", elf())
            put("lib/gapscope/libz.so.1", link="libz.so.1.2.13")
            put("lib/gapscope/libz.so", link="libz.so.1")
            put("lib/gapscope/libown.so", elf())
            put("share/man/man1/gapscope.1.gz", b"man")
            put("share/gapscope/assets/icon.png", b"icon")
        cls.wheels = []
        for i in range(2):
            out = os.path.join(cls.folder.name, str(i))
            os.mkdir(out)
            subprocess.run([sys.executable, str(ROOT / "app/python/make_wheel.py"), tar_path, "1.2", out], check=True, stdout=subprocess.DEVNULL,
                           env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"})
            cls.wheels.append(os.path.join(out, NAME))
            time.sleep(1.1 if i == 0 else 0)  # times are whole seconds

    def test_the_same_bytes(self):
        a, b = (pathlib.Path(wheel).read_bytes() for wheel in self.wheels)
        self.assertEqual(a, b)

    def test_what_is_in_it(self):
        with zipfile.ZipFile(self.wheels[0]) as wheel:
            names = wheel.namelist()
            program = [name[len("gapscope/program/"):] for name in names if name.startswith("gapscope/program/")]
            self.assertEqual(sorted(program), ["bin/gapscope", "lib/gapscope/libown.so", "lib/gapscope/libz.so.1", "share/gapscope/assets/icon.png"])
            self.assertTrue(wheel.getinfo("gapscope/program/bin/gapscope").external_attr >> 16 & 0o111)
            package = {path.name for path in (ROOT / "app/python/gapscope").iterdir() if path.suffix in (".py", ".typed")}
            self.assertEqual({name[len("gapscope/"):] for name in names if name.count("/") == 1 and name.startswith("gapscope/")}, package)
            self.assertIn("gapscope/py.typed", names)
            rows = list(csv.reader(io.StringIO(wheel.read("gapscope-1.2.dist-info/RECORD").decode())))
            self.assertEqual(sorted(row[0] for row in rows), sorted(names))
            for name, digest, size in rows:
                data = wheel.read(name)
                if digest:
                    self.assertEqual(digest, "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode())
                    self.assertEqual(int(size), len(data))
            self.assertIn("Tag: py3-none-manylinux_2_36_x86_64", wheel.read("gapscope-1.2.dist-info/WHEEL").decode())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
