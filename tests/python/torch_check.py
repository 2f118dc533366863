#!/usr/bin/env python3
"""The installed wheel where PyTorch, pandas, pytest and a notebook's kernel are: recordings, tables, callbacks. On the CPU.

    torch_check.py [TEST...]        in the environment in which the wheel is installed; TRACES names bundled recordings
"""
import glob
import gzip
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time
import unittest
import warnings

import torch

import gapscope
import gapscope.lightning
import gapscope.transformers

TRACES = pathlib.Path(os.environ["TRACES"])
NAME = re.compile(r"loop_rank0\.\d+(\.full)?(-\d+)?\.pt\.trace\.json\.gz")

# Debian 13's PyTorch 2.6 crashes with stacks on Python 3.13, with or without Gapscope.
STACKS_CRASH = subprocess.run([sys.executable, "-c", "import torch\nwith torch.profiler.profile(with_stack=True):\n"
                               "    torch.nn.Linear(4, 4)(torch.ones(2, 4)).sum().backward()"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode != 0
FULL = {"with_stack": False} if STACKS_CRASH else {}
if STACKS_CRASH:
    print("SKIPPED: full recordings WITHOUT stacks: this PyTorch's profiler crashes with them", file=sys.stderr)


class Loop:
    """A step of a known length: some operators, and a sleep."""

    def __init__(self, sleep_s=0.02):
        self.model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1))
        self.data, self.sleep_s = torch.randn(32, 64), sleep_s

    def step(self):
        self.model(self.data).sum().backward()
        time.sleep(self.sleep_s)


class Recording(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.folder = self._folder.name
        self.addCleanup(self._folder.cleanup)

    def test_a_loop(self):
        loop, timed = Loop(), []
        with gapscope.profile(folder=self.folder, name="loop", **FULL) as prof:
            for _ in range(40):
                begin = time.perf_counter()
                loop.step()
                timed.append((time.perf_counter() - begin) * 1e3)
                prof.step()
        self.assertAlmostEqual(prof.plain_step_ms / statistics.median(timed[1:12]), 1, delta=0.02)
        self.assertEqual(len(prof.paths), 2, os.listdir(self.folder))
        self.assertEqual(sorted(map(os.path.basename, prof.paths)), sorted(os.listdir(self.folder)))
        for path in prof.paths:
            self.assertRegex(os.path.basename(path), NAME)
            with gzip.open(path) as file:
                text = json.load(file)
            self.assertAlmostEqual(text["gapscope_plain_step_ns"] / 1e6, prof.plain_step_ms, places=3)
            with gapscope.open(path) as trace:
                self.assertEqual(len(trace.steps()), 4)
                self.assertAlmostEqual(trace.measured_step_ms, prof.plain_step_ms, places=3)
        self.assertIn("without the profiler", prof.handler.lines[0])

    def test_a_short_loop_says_so(self):
        with self.assertWarnsRegex(UserWarning, "Nothing was recorded: the loop had 3 steps"):
            with gapscope.profile(folder=self.folder, name="loop", **FULL) as prof:
                for _ in range(3):
                    prof.step()
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_schedule_and_a_handler_of_ones_own(self):
        ready = []
        loop = Loop(0.005)
        with gapscope.profile(folder=self.folder, name="loop", schedule=torch.profiler.schedule(wait=6, warmup=1, active=2, repeat=2),
                              on_trace_ready=ready.append, record_shapes=True) as prof:
            for _ in range(20):
                loop.step()
                prof.step()
        self.assertEqual(len(ready), 2)
        self.assertEqual(len(prof.paths), 2)

    def test_handler(self):
        handler = gapscope.trace_handler(self.folder, name="loop", limit=2, plain_step_ms=7)
        loop = Loop(0.001)
        with torch.profiler.profile(schedule=torch.profiler.schedule(wait=1, warmup=1, active=1, repeat=4), on_trace_ready=handler) as prof:
            for _ in range(14):
                loop.step()
                prof.step()
                handler.wait()
        self.assertEqual(len(handler.paths), 4)
        self.assertEqual(sorted(os.listdir(self.folder)), sorted(os.path.basename(p) for p in handler.paths[-2:]))
        with gapscope.open(handler.paths[-1]) as trace:
            self.assertEqual(trace.measured_step_ms, 7)

    def test_table_is_key_averages(self):
        loop, path = Loop(0.001), os.path.join(self.folder, "t.json")
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as prof:
            for _ in range(3):
                loop.step()
        prof.export_chrome_trace(path)
        with gapscope.open(path) as trace:
            rows = {row["name"]: row for row in trace.table()}
        averages = [a for a in prof.key_averages() if a.key.startswith("aten::")]
        self.assertGreater(len(averages), 10)
        for a in averages:
            self.assertEqual(rows[a.key]["count"], a.count, a.key)
            self.assertAlmostEqual(rows[a.key]["cpu_ns"] / 1e3, a.cpu_time_total, delta=max(1, a.cpu_time_total / 1000), msg=a.key)

    def test_full_disk(self):
        small = os.environ.get("SMALL_DISK")
        if not small:
            self.skipTest("no small disk")
        loop = Loop(0.001)
        for fill in (0, 1):  # full while packing; full from the beginning
            if fill:
                with open(os.path.join(small, "fill"), "wb") as file:
                    try:
                        while file.write(b"x" * 4096):
                            file.flush()
                    except OSError:
                        pass
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                with gapscope.profile(folder=small, name="loop", warmup=1, **FULL) as prof:
                    for _ in range(40):
                        loop.step()
                        prof.step()
            self.assertEqual(prof.step_num, 40)
            for path in glob.glob(os.path.join(small, "loop*")):
                with gzip.open(path) as file:
                    json.load(file)
            if fill:
                self.assertTrue([w for w in caught if "was not written" in str(w.message)], [str(w.message) for w in caught])
                self.assertEqual([n for n in os.listdir(small) if n.startswith(".")], [])

    def test_two_ranks(self):
        script = os.path.join(self.folder, "train.py")
        pathlib.Path(script).write_text("""
import sys, time, torch, gapscope
import torch.distributed as dist
dist.init_process_group("gloo")
with gapscope.profile(folder=sys.argv[1], wait=5, warmup=1, active=2, full=False) as prof:
    for _ in range(12):
        dist.all_reduce(torch.ones(1000)); time.sleep(0.002)
        prof.step()
dist.destroy_process_group()
""")
        out = os.path.join(self.folder, "out")
        # As torchrun starts them; Debian's own cannot: its PyTorch lacks libuv.
        shared = {**os.environ, "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29611", "USE_LIBUV": "0"}
        ranks = [subprocess.Popen([sys.executable, script, out], env={**shared, "RANK": str(i), "LOCAL_RANK": str(i)}, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True) for i in range(2)]
        texts = [rank.communicate(timeout=300)[0] for rank in ranks]
        self.assertEqual([rank.returncode for rank in ranks], [0, 0], texts)
        names = sorted(os.listdir(out))
        self.assertEqual([name.split(".")[0] for name in names], ["train_rank0", "train_rank1"], texts)
        self.assertEqual([text.count("gapscope: ") for text in texts], [1, 0])
        self.assertEqual(gapscope.ranks(out).ranks["rank"], [0, 1])

    def test_ctrl_c_in_the_middle(self):
        script = f"""
import time, gapscope
with gapscope.profile(folder={self.folder!r}, wait=2, warmup=1, active=1000, full=False) as prof:
    for i in range(10000):
        time.sleep(0.01); prof.step()
        if i == 20: print("now", flush=True)
"""
        process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        process.stdout.readline()
        process.send_signal(2)
        _, error = process.communicate(timeout=120)
        self.assertIn("KeyboardInterrupt", error)
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith(".")], [])

    def test_callbacks(self):
        for module, begin, step, end in ((gapscope.lightning, "on_train_start", "on_train_batch_end", "on_train_end"),
                                         (gapscope.transformers, "on_train_begin", "on_step_end", "on_train_end")):
            callback = module.Callback(self.folder, name="loop", wait=5, warmup=1, active=1, full=False)
            getattr(callback, begin)(None, None)
            for _ in range(10):
                getattr(callback, step)(None, None, None)
            getattr(callback, end)(None, None)
            self.assertEqual(len(callback.profile.paths), 1)

    def test_pytest_fixture(self):
        test = pathlib.Path(self.folder, "test_it.py")
        test.write_text("""
import time
def test_good(gapscope_check):
    trace = gapscope_check(lambda: time.sleep(0.005), step_ms=20)
    assert 4.9 < trace.measured_step_ms < 15
def test_bad(gapscope_check):
    gapscope_check(lambda: time.sleep(0.005), step_ms=2)
""")
        done = subprocess.run([sys.executable, "-m", "pytest", "-q", str(test)], stdout=subprocess.PIPE, text=True, cwd=self.folder)
        self.assertIn("1 failed, 1 passed", done.stdout)
        self.assertIn("more than 2 ms", done.stdout)

    def test_attachable(self):
        for text, says in (("import gapscope; print(gapscope.attachable()); import torch, os; print(os.environ['KINETO_USE_DAEMON'])", "True\n1\n"),
                           ("import torch, gapscope; print(gapscope.attachable())", "False\n")):
            environment = {k: v for k, v in os.environ.items() if k not in ("KINETO_USE_DAEMON", "TEARDOWN_CUPTI")}
            self.assertEqual(subprocess.run([sys.executable, "-W", "ignore", "-c", text], stdout=subprocess.PIPE, text=True, env=environment,
                                            timeout=120).stdout, says)


class Tables(unittest.TestCase):
    def test_pandas_and_numpy(self):
        import numpy as np
        import pandas as pd
        with gapscope.open(TRACES / "transformer_baseline.json.gz") as trace:
            table = trace.sql("select id, ts, dur, name, parent_id, dur / 3.0 as third, case when id % 2 then id end as odd from slice")
            frame, arrays = table.to_pandas(), table.to_numpy()
            listed = table.to_dict()
            self.assertEqual(frame.shape, (len(table), 7))
            self.assertEqual(frame["ts"].dtype, np.int64)
            self.assertEqual(frame["third"].dtype, np.float64)
            self.assertEqual(str(frame["odd"].dtype), "Int64")
            for name in table.columns:
                self.assertEqual([None if pd.isna(v) else v for v in frame[name]], listed[name])
            self.assertEqual(int(arrays["dur"].sum()), sum(listed["dur"]))
            self.assertEqual(frame.groupby("name")["dur"].sum().to_dict(),
                             trace.sql("select name, sum(dur) as s from slice group by 1").to_pandas().set_index("name")["s"].to_dict())
            for other in (trace.kernels(), trace.gaps(), trace.modules(), trace.table(), trace.steps()):
                self.assertEqual(other.to_pandas().shape, (len(other), len(other.columns)))

    def test_notebook(self):
        try:
            import nbclient
            import nbformat
        except ImportError:
            self.skipTest("no nbclient")
        book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in (
            f"import gapscope; trace = gapscope.open({str(TRACES / 'transformer_baseline.json.gz')!r}); trace", "trace.kernels()", "trace.show()")])
        with tempfile.TemporaryDirectory() as folder:
            kernel = pathlib.Path(folder, "kernels/here")
            kernel.mkdir(parents=True)
            (kernel / "kernel.json").write_text(json.dumps(
                {"argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"], "display_name": "here", "language": "python"}))
            os.environ["JUPYTER_PATH"] = folder
            nbclient.NotebookClient(book, timeout=300, allow_errors=True, kernel_name="here").execute()
        outputs = [next((o for o in cell["outputs"] if o["output_type"] != "stream"), cell["outputs"]) for cell in book["cells"]]
        self.assertIn("data", outputs[0], str(outputs[0])[-2000:])
        self.assertIn("srcdoc", outputs[0]["data"]["text/html"])
        self.assertIn("<table>", outputs[1]["data"]["text/html"])
        self.assertTrue("Open the window" in str(outputs[2]) or "no window for browsers" in str(outputs[2]), str(outputs[2])[:500])


if __name__ == "__main__":
    unittest.main(verbosity=2)
