#!/usr/bin/env python3
"""What becomes of a recording after the profiler wrote it, and what is expected of one. Standard library only; recordings of a real
training: torch_check.py.

    finish_check.py GAPSCOPE ROOT
"""
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

GAPSCOPE, ROOT = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
sys.path.insert(0, str(ROOT / "app/python"))
os.environ["GAPSCOPE_PROGRAM"] = GAPSCOPE

import gapscope  # noqa: E402
import gapscope.lightning  # noqa: E402
import gapscope.transformers  # noqa: E402
from gapscope import _finish  # noqa: E402

BASELINE = ROOT / "assets/traces/transformer_baseline.json.gz"
TEXT = gzip.open(BASELINE).read()


class Finishing(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def raw(self, text=TEXT):
        path = os.path.join(self.folder, ".a_rank0.json")
        pathlib.Path(path).write_bytes(text)
        pathlib.Path(path + ".tmp").write_bytes(b"")
        return path

    def finish(self, text=TEXT, step="7", plain_ns=5_000_000, limit=0, verdict=False):
        return _finish.finish(self.raw(text), self.folder, "a_rank0", step, plain_ns, limit, verdict)

    def test_the_plain_step_is_in_it_and_the_rest_as_it_was(self):
        said = self.finish(verdict=True)
        self.assertEqual(os.listdir(self.folder), ["a_rank0.7.pt.trace.json.gz"])
        got, was = json.loads(gzip.open(said["path"]).read()), json.loads(TEXT)
        self.assertEqual(got.pop("gapscope_plain_step_ns"), 5_000_000)
        self.assertEqual(got, was)
        self.assertTrue(said["line"].startswith("step 5 ms without the profiler, GPU "), said)
        with gapscope.open(said["path"]) as trace:
            self.assertEqual((trace.plain.source, trace.plain_step_ms, trace.measured_step_ms), ("measured", 5.0, 5.0))

    def test_without_a_plain_step(self):
        self.assertEqual(gzip.open(self.finish(plain_ns=0)["path"]).read(), TEXT)

    def test_no_file_is_replaced_and_old_ones_go(self):
        other = os.path.join(self.folder, "b_rank0.1.pt.trace.json.gz")
        pathlib.Path(other).write_bytes(b"")
        self.assertEqual([os.path.basename(self.finish()["path"]) for _ in range(2)],
                         ["a_rank0.7.pt.trace.json.gz", "a_rank0.7-2.pt.trace.json.gz"])
        for i in range(5):
            path = self.finish(step=f"{i}.full", limit=3)["path"]
            os.utime(path, (2e9 + i, 2e9 + i))
        self.assertEqual(sorted(os.listdir(self.folder)), [f"a_rank0.{i}.full.pt.trace.json.gz" for i in (2, 3, 4)] + [os.path.basename(other)])

    def test_what_is_not_whole_is_nothing(self):
        for text in (TEXT[:len(TEXT) // 2], b"", b"no trace", b"[1"):
            self.assertIn("was not written", self.finish(text)["trouble"])
            self.assertEqual(os.listdir(self.folder), [])

    def test_full_disk(self):
        raw = self.raw()
        words = [raw, self.folder, "a_rank0", "7", "0", "3", "1"]
        done = subprocess.run([sys.executable, "-c", f"import sys, signal; sys.path.insert(0, {str(ROOT / 'app/python')!r}); "
                               "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); import resource; from gapscope import _finish; "
                               f"resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536)); _finish.main({words!r})"],
                              stdout=subprocess.PIPE, timeout=120)
        self.assertIn("File too large", json.loads(done.stdout)["trouble"])
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_program_that_does_not_answer(self):
        os.environ["GAPSCOPE_PROGRAM"] = "/bin/false"
        self.addCleanup(os.environ.__setitem__, "GAPSCOPE_PROGRAM", GAPSCOPE)
        said = self.finish(verdict=True)
        self.assertTrue(os.path.exists(said["path"]))
        self.assertIn("ended", said["trouble"])


class Expectations(unittest.TestCase):
    def test_they_hold_or_say_what_does_not(self):
        with gapscope.open(BASELINE) as trace:
            gapscope.check(trace, step_ms=trace.plain_step_ms, gpu_busy=trace.plain.gpu_busy, no=["item_in_loop", "graph_breaks"])
            for expected, says in (({"step_ms": 6.5}, r"a step takes 6\.7\d\d ms, more than 6\.5 ms"),
                                   ({"gpu_busy": 0.2}, r"busy for 17\.9% of a step, less than 20\.0%"),
                                   ({"no": ["many_small_kernels"]}, "many_small_kernels: "),
                                   ({"no": "many_small_kernels"}, "many_small_kernels: "),
                                   ({"step_ms": 1, "gpu_busy": 1}, "more than 1 ms; the GPU")):
                with self.subTest(expected), self.assertRaisesRegex(AssertionError, says):
                    gapscope.check(trace, **expected)
            with self.assertRaisesRegex(gapscope.Error, "nope"):
                gapscope.check(trace, no=["nope"])
        gapscope.check(BASELINE, step_ms=100)

    def test_summary(self):
        with tempfile.TemporaryDirectory() as folder:
            summary = os.path.join(folder, "summary.md")
            os.environ["GITHUB_STEP_SUMMARY"] = summary
            self.addCleanup(os.environ.pop, "GITHUB_STEP_SUMMARY")
            compared = gapscope.diff(BASELINE, ROOT / "assets/traces/transformer_optimized.json.gz")
            compared.write_summary()
            compared.write_summary()
            self.assertEqual(pathlib.Path(summary).read_text(), compared.markdown() * 2)

    def test_a_name_is_no_markup(self):
        side = {"file": "a|<b>`*.json", "cpu_ns": {"median": 2e6}}
        text = gapscope.Diff({"verdict": "a [b](c)", "a": side, "b": side}).markdown()
        self.assertIn(r"\[b\](c)", text)
        self.assertIn(r"a\|\<b\>\`\*.json", text)
        self.assertIn("<td>&lt;b&gt;</td>", gapscope.Table.of_rows([{"x": "<b>"}])._repr_html_())
        self.assertNotIn("\x1b", repr(gapscope.Table.of_rows([{"x": "\x1b[31m"}])))

    def test_attachable(self):
        for before, says in (("", "True 1 1"), ("sys.modules['torch'] = None; ", "False None None")):
            text = (f"import sys, os; sys.path.insert(0, {str(ROOT / 'app/python')!r}); {before}import gapscope; "
                    "print(gapscope.attachable(), os.environ.get('KINETO_USE_DAEMON'), os.environ.get('TEARDOWN_CUPTI'))")
            environment = {k: v for k, v in os.environ.items() if k not in ("KINETO_USE_DAEMON", "TEARDOWN_CUPTI")}
            self.assertEqual(subprocess.run([sys.executable, "-W", "ignore", "-c", text], stdout=subprocess.PIPE, text=True,
                                            env=environment).stdout.strip(), says)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
