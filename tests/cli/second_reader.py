#!/usr/bin/env python3
"""Recomputes the numbers in the sentences of `why`, `diagnose` and `overview` from the raw JSON of recordings.

    second_reader.py GAPSCOPE FOLDER...   every recording in the folders; `--unread` also lists the sentences that are not recomputed

Written from the definitions (core/analyze/account/CAUSES.md, core/diagnose/RULES.md), not from the program: whole files in memory,
one pass a question. Ends with 1 and one line a number that differs.
"""
import bisect
import collections
import decimal
import gzip
import json
import lzma
import pathlib
import re
import subprocess
import sys

from sample import some

WORK = {"kernel", "gpu_memcpy", "gpu_memset", "Kernel", "Memcpy", "Memset"}
KERNEL = {"kernel", "Kernel"}
COPY = {"gpu_memcpy", "Memcpy"}
CALLS = {"cuda_runtime", "cuda_driver", "Runtime"}
HOST = CALLS | {"cpu_op", "user_annotation", "python_function", "Operator"}
MOST_EVENTS = 140_000  # larger files take too long in Python
SAMPLE = 25  # recordings, of about 75
UNITS = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9, "min": 6e10}
NUMBER = r"([\d,]+(?:\.\d+)?)"
TIME = NUMBER + r" (ns|µs|ms|s|min)\b"
PERCENT = r"(>?[\d.]+) %"
COUNT = r"(\d[\d,]*)"


def ns(value):
    return int(decimal.Decimal(value) * 1000)


def union(spans):
    out = []
    for begin, end in sorted(spans):
        if end <= begin:
            continue
        if out and begin <= out[-1][1]:
            out[-1][1] = max(out[-1][1], end)
        else:
            out.append([begin, end])
    return out


def length(spans):
    return sum(end - begin for begin, end in spans)


def subtract(a, b):
    out, j = [], 0
    for begin, end in a:
        while j < len(b) and b[j][1] <= begin:
            j += 1
        k = j
        while k < len(b) and b[k][0] < end:
            if b[k][0] > begin:
                out.append([begin, b[k][0]])
            begin = max(begin, b[k][1])
            k += 1
        if begin < end:
            out.append([begin, end])
    return out


def clip(spans, window):
    return [[max(a, window[0]), min(b, window[1])] for a, b in spans if max(a, window[0]) < min(b, window[1])]


class Slice:
    __slots__ = ("name", "cat", "begin", "end", "args", "thread", "at", "parent")

    def __init__(self, event, at):
        self.name, self.cat, self.at = str(event.get("name", "")), event["cat"], at
        self.begin = ns(event["ts"])
        self.end = self.begin + ns(event.get("dur", 0))
        self.args = event.get("args") or {}
        self.thread = (str(event.get("pid")), str(event.get("tid")))
        self.parent = None

    @property
    def dur(self):
        return self.end - self.begin


def is_compile_frame(name):
    if name.endswith("): run"):  # of compile_fx.py, around each run with CUDA graphs
        return False
    return (name == "dynamo" or name.startswith("_compile.") or re.search(r"compile_attempt_\d", name) is not None or
            any(part in name for part in ("(dynamo_timed)", "entire_frame_compile", "backend_compile", "compile_fx", "create_aot_dispatcher")))


ALLOCATES = re.compile(r"cudaMalloc|cudaFree|cudaHostAlloc|cudaHostRegister|hipMalloc|hipFree|hipHost(Malloc|Alloc|Free|Register)|hipExtMalloc"
                       r"|(cu|hip)Mem(Alloc|Free|Create|Map|Unmap|Release|SetAccess|AddressReserve)")


def cause_of_slice(s):
    if s.cat in CALLS:
        if s.name.endswith("Synchronize") or s.name in ("cudaMemcpy", "hipMemcpy") or (s.name.startswith("cuMemcpy") and "Async" not in s.name):
            return "synchronization"
        return "allocating memory" if ALLOCATES.match(s.name) else "other runtime calls"
    if s.cat in ("cpu_op", "Operator") and not s.name.startswith("ProfilerStep#"):
        return "operators"
    return "Python"


class Thread:
    """A thread's slices, as stretches of one cause each."""

    def __init__(self, slices):
        self.slices = sorted(slices, key=lambda s: (s.begin, -s.end, s.at))
        self.stretches = []
        self.nest()

    def nest(self):
        points = sorted({p for s in self.slices for p in (s.begin, s.end)})
        opened, at, stack = collections.deque(self.slices), 0, []
        for a, b in zip(points, points[1:]):
            stack = [s for s in stack if s.end > a]
            while opened and opened[0].begin <= a:
                s = opened.popleft()
                if s.end > a:
                    stack.append(s)
            if not stack:
                continue
            if any(is_compile_frame(s.name) for s in stack):
                cause = "compiling"
            elif any(s.name.startswith("enumerate(DataLoader)") for s in stack):
                cause = "data loading"
            else:  # the innermost: began last, then ends first, then later in the file
                cause = cause_of_slice(max(stack, key=lambda s: (s.begin, -s.end, s.at)))
            if self.stretches and self.stretches[-1][1] == a and self.stretches[-1][2] == cause:
                self.stretches[-1][1] = b
            else:
                self.stretches.append([a, b, cause])
        self.begins = [s[0] for s in self.stretches]

    def add(self, span, times):
        """Adds up by cause; returns what is not covered."""
        begin, end = span
        at = max(0, bisect.bisect_right(self.begins, begin) - 1)
        left = []
        while at < len(self.stretches) and self.stretches[at][0] < end:
            a, b, cause = self.stretches[at]
            a, b = max(a, begin), min(b, end)
            if a < b:
                if begin < a:
                    left.append([begin, a])
                times[cause] += b - a
                begin = b
            at += 1
        if begin < end:
            left.append([begin, end])
        return left


class Raw:
    def __init__(self, path, marks):
        opener = gzip.open if path.suffix == ".gz" else lzma.open if path.suffix == ".xz" else open
        with opener(path, "rt", encoding="utf-8", errors="replace") as file:
            document = json.load(file, parse_float=str, strict=False)
        events = document["traceEvents"] if isinstance(document, dict) else document
        self.events = len(events)
        if self.events > MOST_EVENTS:
            return
        slices = [Slice(e, i) for i, e in enumerate(events) if e.get("ph") == "X" and "cat" in e and "ts" in e]
        self.work = sorted((s for s in slices if s.cat in WORK), key=lambda s: (s.begin, s.at))
        self.host = [s for s in slices if s.cat in HOST]
        self.overhead = [s for s in slices if s.cat == "overhead"]
        self.calls = {}
        for s in slices:
            if s.cat in CALLS and "correlation" in s.args:
                self.calls.setdefault(s.args["correlation"], s)
        self.linked = [s for s in self.work if self.launch(s)]
        named = [s for s in self.host if s.name in marks and s.cat == "user_annotation"]  # steps under another name
        self.steps = sorted([s for s in self.host if s.name.startswith("ProfilerStep#")] or named, key=lambda s: s.begin)
        self.find_window()
        self.busy = clip(union([s.begin, s.end] for s in self.work), self.window) if self.window else []
        by_device = collections.Counter(s.args.get("device") for s in self.linked)
        self.devices = sorted(by_device)

    def launch(self, work):
        return self.calls.get(work.args.get("correlation"))

    def find_window(self):
        self.window = None
        host = self.host
        if not host:
            return
        last_work = max((s.end for s in self.linked), default=None)
        if self.steps:
            begin, end = self.steps[0].begin, max(s.end for s in self.steps)
        else:
            last = max(host, key=lambda s: (s.end, s.at))
            rest = [s for s in host if s is not last] if last.cat in CALLS and last.name.endswith("DeviceSynchronize") else host
            if not rest:
                return
            begin, end = min(s.begin for s in rest), max(s.end for s in rest)
        self.window = (begin, max(end, last_work) if last_work is not None else end)

    def stepped(self):
        """How long the marked steps take: to the end of the work that they launch, from that of what was launched before them."""
        begin, end = self.steps[0].begin, max(s.end for s in self.steps)
        mine, others = [], []
        for s in self.work:
            call = self.launch(s)
            (mine if call and begin <= call.begin < end else others).append(s)
        first = min((s.begin for s in mine), default=begin)
        before = [s.end for s in others if s.end < first]
        return max([end] + [s.end for s in mine]) - max([begin] + before)

    def account(self):
        """Of the only device: the parts of the window, by the words of `why`."""
        if hasattr(self, "_account"):
            return self._account
        window = self.window
        is_comm = lambda s: re.search("nccl|rccl", s.name, re.I) or "Collective name" in s.args
        compute = clip(union([s.begin, s.end] for s in self.work if s.cat in KERNEL and not is_comm(s)), window)
        comm = subtract(clip(union([s.begin, s.end] for s in self.work if s.cat in KERNEL and is_comm(s)), window), compute)
        copies = subtract(clip(union([s.begin, s.end] for s in self.work if s.cat not in KERNEL), window), union(compute + comm))
        busy = union(compute + comm + copies)
        gaps = subtract([list(window)], busy)
        times = collections.Counter()
        starters = collections.defaultdict(list)
        for i, s in enumerate(self.work):
            starters[s.begin].append(s)
        threads = collections.defaultdict(list)
        for s in self.host:
            threads[s.thread].append(s)
        order = sorted(threads, key=lambda t: (-len(threads[t]), t))
        made = {t: Thread(threads[t]) for t in order}
        loading = union([s.begin, s.end] for s in self.overhead if "Loading" in s.name)
        profiler = subtract(union([s.begin, s.end] for s in self.overhead), loading)
        for begin, end in gaps:
            ended = [s for s in starters.get(end, []) if s.end > s.begin] if end < window[1] or starters.get(end) else []
            host, thread = [], None
            if not ended or end >= window[1]:
                host = [[begin, end]]
            else:
                launches = [(self.launch(s).begin, s.at, self.launch(s)) for s in ended if self.launch(s)]
                if not launches:
                    times["launch not in the file"] += end - begin
                    continue
                call = min(launches, key=lambda l: l[:2])[2]
                cuts = [begin, min(max(call.begin, begin), end), min(max(call.end, begin), end), end]
                host, thread = [cuts[0:2]], call.thread
                times["launch calls"] += cuts[2] - cuts[1]
                times["launch latency"] += cuts[3] - cuts[2]
            host = [h for h in host if h[0] < h[1]]
            for name, spans in (("loading kernels", loading), ("the profiler's own work", profiler)):
                rest = subtract(host, spans)
                times[name] += length(host) - length(rest)
                host = rest
            for t in ([thread] if thread in made else []) + [t for t in order if t != thread]:
                if not host:
                    break
                host = [piece for span in host for piece in made[t].add(span, times)]
            times["nothing recorded"] += length(host)
        self._account = {"compute": length(compute), "exposed communication": length(comm), "exposed copies": length(copies),
                         "idle": length(gaps), "gaps": len(gaps), "causes": {k: v for k, v in times.items() if v}}
        return self._account

    @property
    def width(self):
        return self.window[1] - self.window[0]

    @property
    def gpu_sum(self):
        return sum(s.dur for s in self.linked)


# --- The numbers of a sentence against what they should be.
class Reader:
    def __init__(self, raw):
        self.raw, self.wrong, self.read = raw, [], 0

    def check(self, said, expected, what):
        self.read += 1
        if not is_said(said, expected):
            self.wrong.append(f"{what}: said {said}, is {expected}")

    def time(self, number, unit, expected, what):
        self.check((number, UNITS[unit]), expected, what)

    def percent(self, number, part, whole, what):
        self.check((number.lstrip(">"), 0.01), part / whole if whole else 0, what)


def is_said(said, expected):
    """Within half a unit of the last digit that is shown (a whole one where a share stops short of 100 %)."""
    text, unit = said
    text = text.replace(",", "")
    step = 10.0 ** -(len(text.split(".")[1]) if "." in text else 0)
    if "." not in text and unit != 1:
        digits = len(text)
        step = 10.0 ** max(0, digits - 3)
    return abs(float(text) * unit - expected) <= step * unit * 1.01


CAUSE_WORDS = {"in operators": "operators", "in Python outside operators": "Python", "inside launch calls": "launch calls",
               "inside other runtime calls": "other runtime calls", "in launch latency": "launch latency",
               "waiting for the GPU": "synchronization", "in the data loader": "data loading", "compiling": "compiling",
               "allocating memory": "allocating memory", "loading kernels": "loading kernels",
               "in the profiler's own work": "the profiler's own work", "with no CPU activity recorded": "nothing recorded",
               "before work whose launch is not in the file": "launch not in the file"}
HOST_PARTS = ("operators", "Python", "launch calls", "other runtime calls")


def cause_list(reader, text):
    account = reader.raw.account()
    for number, unit, words in re.findall(TIME + r" ((?:in|inside|between|waiting|with|before|compiling|allocating|loading)[a-zA-Z' ]*)", text):
        if words.strip() in CAUSE_WORDS:
            reader.time(number, unit, account["causes"].get(CAUSE_WORDS[words.strip()], 0), words)


def busy(reader, m):
    raw = reader.raw
    reader.time(m[1], m[2], length(raw.busy), "busy")
    reader.time(m[3], m[4], raw.width, "window")
    reader.percent(m[5], length(raw.busy), raw.width, "busy share")


def waited_for_host(reader, m):
    causes = reader.raw.account()["causes"]
    reader.time(m[1], m[2], sum(causes.get(c, 0) for c in HOST_PARTS), "waited for the host")
    cause_list(reader, m[3])


def idle_by_cause(reader, m):
    cause_list(reader, m[1])


def hotspot(reader, m):
    raw = reader.raw
    by_name = collections.Counter()
    for s in raw.linked:
        by_name[s.name] += s.dur
    name, most = by_name.most_common(1)[0]
    mine = [s for s in raw.linked if s.name == name]
    reader.percent(m[1], most, raw.gpu_sum, "hotspot share")
    reader.time(m[2], m[3], most, "hotspot time")
    reader.check((m[4], 1), len(mine), "hotspot calls")
    reader.time(m[5], m[6], max(s.dur for s in mine), "hotspot longest")


def copies(reader, m):
    raw = reader.raw
    mine = [s for s in raw.linked if s.cat in COPY]
    reader.percent(m[1], sum(s.dur for s in mine), raw.gpu_sum, "copies share")
    reader.time(m[2], m[3], sum(s.dur for s in mine), "copies time")


def allocator(reader, m):
    window = [s for s in reader.raw.host if s.cat in CALLS and ALLOCATES.match(s.name)]
    reader.check((m[1], 1), len(window), "allocator calls")
    reader.time(m[2], m[3], sum(s.dur for s in window), "allocator time")


def buffers(reader, m):
    mine = [s for s in reader.raw.overhead if s.name == "Activity Buffer Request"]
    reader.check((m[1], 1), len(mine), "buffers")
    reader.time(m[2], m[3], sum(s.dur for s in mine), "buffer time")


def loader(reader, m):
    mine = [s for s in reader.raw.host if s.name.startswith("enumerate(DataLoader)")]
    reader.check((m[3], 1), len(mine), "fetches")
    reader.time(m[5], m[6], max(s.dur for s in mine), "longest fetch")


def middle(lengths):
    lengths = sorted(lengths)
    return (lengths[(len(lengths) - 1) // 2] + lengths[len(lengths) // 2]) / 2


def first_call(reader, m):
    first = reader.raw.steps[0]
    of_name = [s for s in reader.raw.host if s.name == m[1] and s.cat in CALLS | {"cpu_op", "Operator"}]
    mine = [s.dur for s in of_name if first.begin <= s.begin < first.end]
    later = [s.dur for s in of_name if s.begin >= first.end]
    if not of_name:  # its name is shortened
        return
    reader.time(m[2], m[3], max(mine, default=0), "first call")
    reader.check(("1" if m[4] else "0", 1), 1 if later else 0, "later calls")
    if later and m[4]:
        reader.time(m[4], m[5], middle(later), "later calls at the median")


def waited_for_compiler(reader, m):
    reader.time(m[1], m[2], reader.raw.account()["causes"].get("compiling", 0), "waited for the compiler")


def plan_now(reader, m):
    raw = reader.raw
    if not raw.steps:
        return
    length = raw.stepped()
    reader.time(m[1], m[2], length / len(raw.steps), "a step")
    reader.time(m[3], m[4], length, "the steps")
    reader.check((m[5], 1), len(raw.steps), "steps of the plan")


def first_step(reader, m):
    steps = reader.raw.steps
    median = middle([s.dur for s in steps[1:]])
    reader.time(m[1], m[2], steps[0].dur, "first step")
    reader.time(m[3], m[4], median, "median step")
    reader.time(m[5], m[6], steps[0].dur - median, "extra")


def compute_bound(reader, m):
    raw = reader.raw
    begin, end = min(s.begin for s in raw.linked), max(s.end for s in raw.linked)
    reader.percent(m[1], length(union([s.begin, s.end] for s in raw.linked)), end - begin, "busy between first and last work")
    reader.percent(m[2], length(raw.busy), raw.width, "busy of the window")


def exposed(reader, m):
    part = reader.raw.account()["exposed communication"]
    reader.time(m[1], m[2], part, "exposed communication")
    reader.percent(m[3], part, reader.raw.width, "its share")


def sm_fill(reader, m):
    covered = time = 0
    for s in reader.raw.linked:
        if s.cat in KERNEL and "blocks per SM" in s.args and not re.search("nccl|rccl|all_?reduce|multimem", s.name, re.I):
            blocks = float(s.args["blocks per SM"])
            if blocks >= 0 and blocks != float("inf"):
                covered, time = covered + min(1, blocks) * s.dur, time + s.dur
    reader.time(m[1], m[2], time, "kernel time")
    reader.percent(m[3], covered, time, "SMs reached")


def pageable(reader, m):
    mine = [s for s in reader.raw.linked if "Pageable" in s.name]
    reader.check((m[1], 1), len(mine), "pageable transfers")


def optimizer(reader, m):
    raw = reader.raw
    spans = [s for s in raw.host if s.name.startswith("Optimizer.step#")]
    inside = [s for s in raw.linked if s.cat in KERNEL and any(
        o.thread == raw.launch(s).thread and o.begin <= raw.launch(s).begin < o.end for o in spans)]
    reader.check((m[1], 1), len(inside), "optimizer kernels")
    reader.percent(m[2], sum(s.dur for s in inside), raw.gpu_sum, "optimizer share")


def ddp_buffers(reader, m):
    raw = reader.raw
    forwards = [s for s in raw.host if s.name == "DistributedDataParallel.forward"]
    sent = [s for s in raw.host if s.name == "c10d::broadcast_" and any(
        f.thread == s.thread and f.begin <= s.begin < f.end for f in forwards)]
    reader.check((m[1], 1), len(sent), "broadcasts")
    reader.check((m[2], 1), len(forwards), "forward passes")


def verdict(reader, m):
    raw, account = reader.raw, reader.raw.account()
    text = m[0]
    for number in re.findall(r"computes for " + PERCENT, text):
        reader.percent(number, account["compute"], raw.width, "computes")
    for number in re.findall(r"is busy " + PERCENT, text):
        reader.percent(number, raw.width - account["idle"], raw.width, "busy")
    for number, unit in re.findall(r"of the window of " + TIME, text):
        reader.time(number, unit, raw.width, "window")
    for number in re.findall(r"waits " + PERCENT + " (?:of the window of .*? )?for the host", text):
        reader.percent(number, sum(account["causes"].get(c, 0) for c in HOST_PARTS), raw.width, "host")
    for words, number in re.findall(r"mostly for ([A-Za-z ]+) \(" + PERCENT, text):
        if words in account["causes"]:
            reader.percent(number, account["causes"][words], raw.width, words)
    for steps in re.findall(r"\((\d+) steps?\)", text):
        reader.check((steps, 1), len(raw.steps), "steps")


def account_line(reader, m):
    raw, account = reader.raw, reader.raw.account()
    title = m[1].strip()
    if title.startswith("idle, in"):
        reader.check((re.search(COUNT, title)[1], 1), account["gaps"], "gaps")
        title = "idle"
    parts = {**account, **account["causes"]}
    if title in parts:
        reader.time(m[2], m[3], parts[title], title)
        reader.percent(m[4], parts[title], raw.width, title)


SENTENCES = [
    (r"The GPU was busy " + TIME + " of " + TIME + ", " + PERCENT, busy),
    (r"For " + TIME + r" it waited for the host: (.*?)\.(?: |$)", waited_for_host),
    (r"The idle time by cause: (.*?) elsewhere", idle_by_cause),
    (r"took " + PERCENT + " of the GPU time: " + TIME + " in " + COUNT + " calls?, the longest " + TIME, hotspot),
    (r"Copies take " + PERCENT + r" of the GPU time \(" + TIME, copies),
    (COUNT + r" calls? of the driver's allocator took " + TIME, allocator),
    (r"allocated " + COUNT + " buffers? for its records in " + TIME, buffers),
    (r"Fetching the next batch took " + TIME + " in " + COUNT + " calls?, " + PERCENT + r" of .*?\. The longest took " + TIME, loader),
    (r"ProfilerStep#\d+ took " + TIME + ", the others " + TIME + r" \(median\): " + TIME + " more", first_step),
    (r"Its longest first call is (.+?) with " + TIME + "(?:, and " + TIME + r" \(median\) in later steps|\. No later step has it)\.", first_call),
    (r"The GPU waited for it for " + TIME, waited_for_compiler),
    (r"^now +" + TIME + r" a step \(" + TIME + " in " + COUNT + r" steps(?: and the time between them)?\)", plan_now),
    (r"From its first to its last operation the GPU was busy " + PERCENT + " of the time, and " + PERCENT, compute_bound),
    (r"The GPU communicated for " + TIME + ", " + PERCENT + " of the window", exposed),
    (r"While kernels (?:ran|computed) \(" + TIME + r", .*?\), " + PERCENT + " of the SMs had blocks", sm_fill),
    (COUNT + " pageable transfers? ", pageable),
    (r"launched " + COUNT + r" kernels?, " + PERCENT + r" of the GPU time \(.*?\), in \d+ steps?", optimizer),
    (COUNT + " broadcasts? of the model's buffers in " + COUNT, ddp_buffers),
    (r"^(?:[A-Z][a-zA-Z]+-bound|Mixed|Compiling): .*", verdict),
]
LINE = re.compile(r"^ {2,4}(\S[^\d#]*?(?:in [\d,]+ gaps?)?) {2,}" + TIME + r" +" + PERCENT)


def raw_of(program, path):
    """The recording, whose steps may have another name; which one is the program's word."""
    marked = json.loads(subprocess.run([program, "steps", "--json", str(path)], capture_output=True, check=True).stdout)
    return Raw(path, {step["name"] for step in marked["steps"]} if marked["annotated"] else set())


def read(program, path, unread):
    raw = raw_of(program, path)
    if raw.events > MOST_EVENTS or raw.window is None or len(raw.devices) != 1:
        return None
    reader = Reader(raw)
    for command in (["why"], ["diagnose", "--all"], ["overview"]):
        out = subprocess.run([program, command[0], str(path), "--as-recorded", *command[1:]], capture_output=True, text=True, check=False)
        if out.returncode not in (0, 3):
            reader.wrong.append(f"{command[0]} ends with {out.returncode}: {out.stderr[:200]}")
        for line in out.stdout.splitlines():
            before = reader.read
            for pattern, recompute in SENTENCES:
                for match in re.finditer(pattern, line.strip()):
                    recompute(reader, match)
            if command == ["why"] and (match := LINE.match(line)):
                account_line(reader, match)
            if unread and reader.read == before and re.search(r"\d", line) and re.search(r"[a-z]\.( |$)", line):
                print("unread:", line.strip()[:200])
    return reader


def main():
    args = [a for a in sys.argv[1:] if a != "--unread"]
    program, folders = args[0], [pathlib.Path(a) for a in args[1:]]
    files = sorted(f for folder in folders if folder.is_dir() for pattern in ("*.json.gz", "*.json.xz") for f in folder.glob(pattern))
    numbers = wrong = recordings = 0
    for file in some(files, SAMPLE):
        reader = read(program, file, "--unread" in sys.argv)
        if reader is None:
            continue
        recordings, numbers, wrong = recordings + 1, numbers + reader.read, wrong + len(reader.wrong)
        for what in reader.wrong:
            print(f"{file.name}: {what}")
    missing = [str(f) for f in folders if not f.is_dir()]
    print(f"{numbers} numbers of {recordings} recordings recomputed, {wrong} differ" + (f"; not here: {', '.join(missing)}" if missing else ""))
    if recordings == 0:
        sys.exit(77)
    sys.exit(1 if wrong or numbers < 20 * recordings else 0)


if __name__ == "__main__":
    main()
