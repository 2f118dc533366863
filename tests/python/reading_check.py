#!/usr/bin/env python3
"""The Python package against the program that it speaks to: equal numbers, errors, nothing left behind. Standard library only.

    reading_check.py GAPSCOPE ROOT
"""
import base64
import functools
import gc
import json
import multiprocessing
import os
import pathlib
import pickle
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock
import urllib.parse
import urllib.request

GAPSCOPE, ROOT = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
PACKAGE = ROOT / "app/python"
sys.path.insert(0, str(PACKAGE))
os.environ["GAPSCOPE_PROGRAM"] = GAPSCOPE

import gapscope  # noqa: E402
from gapscope._browser import BrowserWindow  # noqa: E402

TRACES = ROOT / "assets/traces"
BASELINE, OPTIMIZED = TRACES / "transformer_baseline.json.gz", TRACES / "transformer_optimized.json.gz"
RANKS = [ROOT / "tests/recordings/ranks" / f"fsdp_rank{i}.json.gz" for i in (0, 1)]
ENDLESS = "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n"


def cli(*words):
    return subprocess.run([GAPSCOPE, *map(str, words)], stdout=subprocess.PIPE, check=True).stdout


def cli_json(*words):
    return json.loads(cli(*words, "--json"))


def children():
    """Processes of this one that run the program."""
    found = set()
    for task in pathlib.Path("/proc/self/task").iterdir():
        found |= set((task / "children").read_text().split())
    return {pid for pid in found if b"--answer" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()}


def is_there(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def popen_with(more, command, *arguments, real=subprocess.Popen, **named):
    return real(command[:2] + more + command[2:], *arguments, **named)


def until(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


class Numbers(unittest.TestCase):
    def test_they_are_those_of_the_commands(self):
        for path in (BASELINE, TRACES / "mlp_geglu_compile.json.gz", RANKS[0]):
            with self.subTest(path.name), gapscope.open(path) as trace:
                overview = cli_json("overview", path)
                self.assertEqual(trace.overview, overview)
                self.assertEqual(trace.verdict, overview["verdict"])
                self.assertEqual(trace.plain_step_ms, overview["plain"]["step_ns"] / 1e6 if overview["plain"] else None)
                self.assertEqual([i.rule for i in trace.plan], [i["rule"] for i in overview["plan"]["items"]])
                self.assertEqual([f.json for f in trace.findings()], cli_json("diagnose", path)["findings"])
                self.assertEqual(list(trace.kernels()), cli_json("kernels", path))
                self.assertEqual([{k: v for k, v in row.items() if v is not None} for row in trace.table()],
                                 [{k: v for k, v in row.items() if v is not None} for row in cli_json("table", path)])
                self.assertEqual(list(trace.modules()), cli_json("modules", path)["modules"])
                self.assertEqual(trace.steps()["duration_ns"], [s["duration_ns"] for s in cli_json("steps", path)["steps"]])
                gap = cli_json("sql", path, "select sum(dur), count(*) from gpu_gap")["rows"][0]
                self.assertEqual([sum(trace.gaps()["dur"]), len(trace.gaps())], gap)

    def test_changes(self):
        with gapscope.open(BASELINE) as trace:
            printed = trace.whatif(graph=True, kernels={".*gemm.*": 0.5}, remove="aten::*")
            asked = cli_json("whatif", BASELINE, "--graph", "--kernel=.*gemm.*=0.5", "--remove=aten::*")
            self.assertEqual(printed.json, asked)
            # The plan's first item is that graph alone, at best: what the profiler hides is taken for the shorter.
            first, step = trace.plan.items[0], trace.whatif(graph=True).step_ms
            self.assertEqual(first.kind, "up to")
            self.assertTrue(0 < first.step_ms <= step < trace.plain_step_ms, (first.step_ms, step, trace.plain_step_ms))
            self.assertEqual(trace.diff(OPTIMIZED).json, cli_json("diff", BASELINE, OPTIMIZED))
            self.assertIn("| GPU busy |", trace.diff(OPTIMIZED).markdown())
        self.assertEqual(gapscope.diff(BASELINE, OPTIMIZED).json, cli_json("diff", BASELINE, OPTIMIZED))
        with gapscope.open([BASELINE, OPTIMIZED]) as two:
            self.assertEqual(two.diff().json, cli_json("diff", BASELINE, OPTIMIZED))
        with gapscope.open(BASELINE, step_time_ms=5) as stated:
            self.assertEqual((stated.plain.source, stated.plain_step_ms), ("stated", 5))
            self.assertEqual(stated.overview, cli_json("overview", BASELINE, "--step-time", "5ms"))
        with gapscope.open(BASELINE, times=BASELINE) as timed:
            self.assertEqual(timed.overview, cli_json("overview", BASELINE, "--times", BASELINE))
        with gapscope.open(BASELINE, as_recorded=True) as recorded:
            self.assertEqual(recorded.overview, cli_json("overview", BASELINE, "--as-recorded"))

    def test_ranks(self):
        with tempfile.TemporaryDirectory() as folder:
            for path in RANKS:
                shutil.copy(path, folder)
            with gapscope.open(folder) as run:
                self.assertEqual(os.path.basename(run.path), "fsdp_rank0.json.gz")
                self.assertEqual(run.ranks().json, cli_json("ranks", folder))
                self.assertEqual(run.sql("select rank, waiting_ns from rank")["rank"], [0, 1])
            self.assertEqual(gapscope.ranks(folder).json, cli_json("ranks", folder))

    def test_report_and_words_of_a_notebook(self):
        with gapscope.open(BASELINE) as trace:
            self.assertIn("<html", trace.html())
            self.assertIn("srcdoc=", trace._repr_html_())
            kernels = trace.kernels()
            self.assertIn("<table>", kernels._repr_html_())
            self.assertIn("39 rows", repr(kernels))

    @unittest.mock.patch.dict(os.environ)
    def test_window_in_a_browser(self):
        for name in ("DISPLAY", "WAYLAND_DISPLAY", "http_proxy"):
            os.environ.pop(name, None)
        with tempfile.TemporaryDirectory() as folder:
            path = shutil.copy(BASELINE, pathlib.Path(folder, "a %20&b.json.gz"))
            with gapscope.open(path) as trace:
                with self.assertRaisesRegex(gapscope.Error, "no window for browsers"):
                    BrowserWindow(path, trace.picture)
                web = pathlib.Path(folder, "web")
                web.mkdir()
                for file in ("index.html", "page.js", "service_worker.js", "gapscope.js", "gapscope.wasm", "gapscope.data"):
                    (web / file).write_text(file)
                with unittest.mock.patch.object(subprocess, "Popen", functools.partial(popen_with, ["--web", str(web)])):
                    window = BrowserWindow(path, lambda: b"<picture>")
                server, token = window.url.split("/window/?token=")
                token, file = token.split("#file=")
                with urllib.request.urlopen(f"{server}{urllib.parse.unquote(file)}?token={token}") as got:
                    self.assertEqual(got.read(), BASELINE.read_bytes())
                self.assertIn(base64.b64encode(b"<picture>").decode(), window._repr_html_())
                self.assertIn(f"localhost:{window.port}", window._repr_html_())
                process = window._process
                del window
                gc.collect()
                self.assertEqual(process.returncode, 0)


class Raw(unittest.TestCase):
    QUERIES = [
        "select 1", "select null", "select 1.5 as x, 'a' as y, null as z", "select 9223372036854775807, -9223372036854775807 - 1",
        "select name, ts, dur, parent_id from slice", "select * from gpu_gap", "select * from finding", "select * from kernel",
        "select 1 as x union all select 'b' union all select 2.5 union all select null union all select 'b'",
        "select 'ü\u2028x' as \"ä\"", "select name from slice where 0", "select '' as empty", "select 1 as a, 2 as a",
        "select null as x union all select 3", "select 'x' as x union all select null", "select dur / 3.0 from slice",
    ]

    def test_it_is_what_json_says(self):
        for path in (BASELINE, TRACES / "mlp_geglu_eager.json.gz"):
            with gapscope.open(path) as trace:
                for query in self.QUERIES:
                    with self.subTest(query):
                        printed = json.loads(cli("sql", path, "--json", "--query=" + query))
                        table = trace.sql(query)
                        self.assertEqual([list(row) for row in zip(*table.to_dict().values())], printed["rows"])
                        self.assertEqual(len(table), len(printed["rows"]))
                        self.assertEqual([name.split(":")[0] for name in table.columns], printed["columns"])
                self.assertEqual(len(trace.sql("create perfetto table t as select 1 as x")), 0)
                self.assertEqual(trace.sql("select 1; select 2 as b")["b"], [2])

    def test_bytes_that_are_none(self):
        with gapscope.open(BASELINE) as trace:
            whole = trace.ask("sql", "--raw", "--query=select name, dur, parent_id from slice limit 20")
        rng = random.Random(7)
        for _ in range(500):
            damaged = bytearray(whole)
            for _ in range(rng.randint(1, 4)):
                damaged[rng.randrange(len(damaged))] = rng.randrange(256)
            try:
                for table in gapscope.Table.of_bytes(memoryview(bytes(damaged[:rng.randint(0, len(damaged))]))):
                    table.to_dict()
            except (ValueError, IndexError):
                pass


class Ends(unittest.TestCase):
    def test_errors_are_the_programs_sentences(self):
        for path in ("/nowhere.json", __file__, "/etc"):
            with self.subTest(path), self.assertRaises(gapscope.Error) as raised:
                gapscope.open(path)
            self.assertRegex(str(raised.exception), r"^[^:]+.*\.$")
            self.assertEqual(raised.exception.exit_code, 1)
        with gapscope.open(BASELINE) as trace:
            with self.assertRaisesRegex(gapscope.Error, "syntax error"):
                trace.sql("selec")
            with self.assertRaisesRegex(gapscope.Error, "NUL"):
                trace.sql("select '\0'")
            with self.assertRaisesRegex(gapscope.Error, "regular|missing|expression|Run"):
                trace.whatif(kernels={"(": 1})
            with self.assertRaisesRegex(gapscope.Error, "took longer|time limit|ended after|limit"):
                trace.sql(ENDLESS, time_limit_s=0.2)
            self.assertEqual(trace.sql("select 1 as x")["x"], [1])
        with self.assertRaisesRegex(gapscope.Error, "closed"):
            trace.sql("select 1")
        self.assertEqual(str(pickle.loads(pickle.dumps(raised.exception))), str(raised.exception))

    def test_no_name_steers_a_terminal(self):
        with tempfile.TemporaryDirectory() as folder:
            path = shutil.copy(BASELINE, pathlib.Path(folder) / "it's \x1b]0;x\x07\u202e %s.json.gz")
            with gapscope.open(path) as trace:
                with self.assertRaises(AssertionError) as failed:
                    gapscope.check(trace, gpu_busy=2)
                for text in (repr(trace), repr(trace.diff(path)), repr(trace.ranks()), str(failed.exception), str(gapscope.Error("\x1b"))):
                    self.assertTrue(text.isprintable(), repr(text))

    def test_a_hundred_opens_leave_nothing(self):
        gapscope.open(BASELINE).close()
        gc.collect()
        before = len(os.listdir("/proc/self/fd"))
        for i in range(100):
            trace = gapscope.open(TRACES / "mlp_geglu_eager.json.gz")
            if i % 2:
                trace.close()
            del trace
        gc.collect()
        self.assertEqual(len(os.listdir("/proc/self/fd")), before)
        self.assertEqual(children(), set())

    def test_a_child_that_is_killed(self):
        trace = gapscope.open(BASELINE)
        os.kill(trace._child.pid, signal.SIGKILL)
        with self.assertRaisesRegex(gapscope.Error, "SIGKILL.*Open the trace again"):
            trace.sql("select 1")
        with self.assertRaisesRegex(gapscope.Error, "closed"):
            trace._child.ask(["info"])

    def test_a_command_ends_with_the_child_that_is_killed(self):
        trace = gapscope.open(BASELINE)
        asking = threading.Thread(target=lambda: self.assertRaises(gapscope.Error, trace.sql, ENDLESS))
        task = pathlib.Path(f"/proc/{trace._child.pid}/task/{trace._child.pid}/children")
        asking.start()
        until(lambda: task.read_text().split())
        command = int(task.read_text().split()[0])
        os.kill(trace._child.pid, signal.SIGKILL)
        asking.join()
        try:
            self.assertTrue(until(lambda: not is_there(command)))
        finally:
            if is_there(command):
                os.kill(command, signal.SIGKILL)

    def test_a_command_that_is_killed(self):
        with gapscope.open(BASELINE) as trace:
            task = pathlib.Path(f"/proc/{trace._child.pid}/task/{trace._child.pid}/children")

            def kill():
                until(lambda: task.read_text().split())
                os.kill(int(task.read_text().split()[0]), signal.SIGKILL)
            killer = threading.Thread(target=kill)
            killer.start()
            with self.assertRaisesRegex(gapscope.Error, "signal 9"):
                trace.sql(ENDLESS)
            killer.join()
            self.assertEqual(trace.sql("select 1 as x")["x"], [1])

    def test_ctrl_c_ends_the_question_alone(self):
        script = f"""
import sys; sys.path.insert(0, {str(PACKAGE)!r})
import gapscope
trace = gapscope.open({str(BASELINE)!r})
print(trace._child.pid, flush=True)
try:
    trace.sql({ENDLESS!r})
except KeyboardInterrupt:
    print("interrupted", trace.sql("select 7 as x")["x"], flush=True)
trace.sql({ENDLESS!r})
"""
        process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   start_new_session=True)
        child = int(process.stdout.readline())
        tasks = pathlib.Path(f"/proc/{child}/task/{child}/children")
        self.assertTrue(until(lambda: tasks.read_text().split()))
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        self.assertEqual(process.stdout.readline(), "interrupted [7]\n")
        self.assertTrue(until(lambda: tasks.read_text().split()))
        question = int(tasks.read_text().split()[0])
        process.kill()  # no chance to tidy up
        process.communicate(timeout=60)
        self.assertTrue(until(lambda: not is_there(child) and not is_there(question)))

    def test_threads(self):
        with gapscope.open(BASELINE) as trace:
            got = []
            threads = [threading.Thread(target=lambda i=i: got.append((i, trace.sql(f"select {i} as x")["x"]))) for i in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(sorted(got), [(i, [i]) for i in range(8)])

    def test_fork_and_spawn(self):
        with gapscope.open(BASELINE) as trace:
            pid = trace._child.pid
            for way in ("fork", "spawn"):
                with self.subTest(way), multiprocessing.get_context(way).Pool(2) as pool:
                    self.assertEqual(pool.map(count_slices, [trace, trace]), [len(trace.sql("select id from slice"))] * 2)
            forked = os.fork()
            if forked == 0:
                os._exit(0 if trace._child.pid is None else 1)
            self.assertEqual(os.waitpid(forked, 0)[1], 0)
            self.assertEqual(trace._child.pid, pid)
            self.assertEqual(trace.sql("select 1 as x")["x"], [1])
        self.assertTrue(until(lambda: not is_there(pid)))

    def test_requests_that_are_none(self):
        rng = random.Random(11)
        for _ in range(30):
            process = subprocess.Popen([GAPSCOPE, "--answer", str(TRACES / "mlp_geglu_eager.json.gz")], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            text = bytes(rng.choice(b"\0\1sqlinfo-") for _ in range(rng.randint(0, 40)))
            request = struct.pack("<I", rng.choice([len(text), len(text), 0, 5, 0xFFFFFFFF])) + text
            process.communicate(request, timeout=60)
            self.assertEqual(process.returncode, 0, request)


def count_slices(trace):
    return len(trace.sql("select id from slice"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
