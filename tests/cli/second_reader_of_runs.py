#!/usr/bin/env python3
"""Recomputes the numbers in what `diff` and `ranks` say from the raw JSON of recordings, as second_reader.py does for one recording.

    second_reader_of_runs.py GAPSCOPE FOLDER...   pairs of recordings in the folders; NAME_rank0 and NAME_rank1 are ranks of a run

Written from the definitions (core/compare/comparison.h, core/analyze/account/CAUSES.md). Ends with 1 and one line a number that
differs.
"""
import collections
import pathlib
import re
import statistics
import subprocess
import sys

from second_reader import COPY, COUNT, KERNEL, MOST_EVENTS, PERCENT, TIME, Reader, clip, length, raw_of, subtract, union

PAIRS = [("transformer_baseline", "transformer_optimized"), ("mlp_geglu_eager", "mlp_geglu_compile"), ("softmax_eager", "softmax_cudagraphs"),
         ("matmul_add_64_active20", "matmul_add_4096_active20"), ("linear_eager", "linear_compile"), ("needless_sync", "launch_blocking"),
         ("graph_breaks", "recompiled_region"), ("addmm_4096_eager", "matmul_add_4096_cold_eager"), ("ddp_rank0", "ddp_delayed_rank0"),
         ("fsdp_rank0", "fsdp_rank1"), ("tp_rank0", "tp_rank1"), ("hta_ddp_ns_resolution", "kineto_2021_resnet50"),
         ("tracelens_h100_bert_small", "tracelens_mi300_bert_small")]
WAIT_FOR_ALL = ("allreduce", "_allgather", "allgather", "_reduce_scatter", "reduce_scatter", "all_to_all", "barrier")
PARTS = ("compute", "exposed communication", "exposed copies", "idle")


def middle(values):
    """The median; of two the mean, rounded down."""
    values = sorted(values)
    low, high = values[(len(values) - 1) // 2], values[len(values) // 2]
    return low + (high - low) // 2


class Side:
    """What a comparison counts of one recording: the steps but the first."""

    def __init__(self, raw):
        self.raw = raw
        self.steps = {}
        for step in raw.steps:
            self.steps[step.name] = (step, [s for s in raw.linked if step.begin <= raw.launch(s).begin < step.end])
        counted = list(self.steps.values())
        self.counted = counted[1:] if len(counted) > 1 else counted

    def values(self, figure):
        return [FIGURES[figure](self.raw, step, work) for step, work in self.counted]


FIGURES = {
    "CPU time": lambda raw, step, work: step.dur,
    "GPU time": lambda raw, step, work: sum(s.dur for s in work),
    "GPU busy": lambda raw, step, work: length(union([s.begin, s.end] for s in work)),
    "GPU operations": lambda raw, step, work: len(work),
    "kernels": lambda raw, step, work: sum(s.cat in KERNEL for s in work),
    "launches": lambda raw, step, work: len({id(raw.launch(s)) for s in work}),
    "copies": lambda raw, step, work: sum(s.cat in COPY for s in work),
}


def read_row(reader, line, sides):
    """`CPU time  32.1 ms  30.2 ms .. 33.9 ms  23.6 ms  22.3 ms .. 36.0 ms  1.36x faster`: medians, and where steps differ the range."""
    title = next((f for f in FIGURES if line.startswith(f + "  ")), None)
    if title is None:
        return
    cell = (TIME if title.startswith(("CPU", "GPU t", "GPU b")) else COUNT) + r"(?: +" + TIME + r" \.\. " + TIME + ")?"
    match = re.match(re.escape(title) + " +" + cell + " +" + cell, line)
    if match is None:
        return
    groups = list(match.groups())
    for side, name in zip(sides, "AB"):
        values = side.values(title)
        if cell.startswith(TIME):
            reader.time(groups.pop(0), groups.pop(0), middle(values), f"{title} of {name}")
        else:
            reader.check((groups.pop(0), 1), middle(values), f"{title} of {name}")
        spread = [groups.pop(0) for _ in range(4)]
        if spread[0]:
            reader.time(spread[0], spread[1], min(values), f"least {title} of {name}")
            reader.time(spread[2], spread[3], max(values), f"most {title} of {name}")


def read_part(reader, line, sides):
    match = re.match(r"(?:window: )?([A-Za-z', ]+?)  +" + PERCENT + " +" + PERCENT + "$", line)
    if match is None or any(len(side.raw.devices) != 1 for side in sides):
        return
    for side, number, name in zip(sides, match.groups()[1:], "AB"):
        account = side.raw.account()
        known = {**{part: account[part] for part in PARTS}, **account["causes"]}
        if line.startswith("window: ") or match[1] in known:
            reader.percent(number, known.get(match[1], 0), side.raw.width, f"{match[1]} of {name}")


def shown(side, name):
    return side.steps[name][1] if name in side.steps else []


def read_diff(program, paths, raws):
    reader, sides = Reader(raws[0]), [Side(raw) for raw in raws]
    out = subprocess.run([program, "diff", *map(str, paths)], capture_output=True, text=True, check=False)
    if out.returncode != 0:
        reader.wrong.append(f"diff ends with {out.returncode}: {out.stderr[:200]}")
    steps = re.findall(r"shown: (.*?)\)", out.stdout)
    work = [shown(side, name) for side, name in zip(sides, steps)]
    for line in map(str.strip, out.stdout.splitlines()):
        if all(side.counted for side in sides):
            read_row(reader, line, sides)
        read_part(reader, line, sides)
        for what in ("CPU time", "GPU time"):
            for match in re.finditer(what + r"(?: per step)? (?:went|shows no difference [a-z ]*\() ?" + TIME + " -> " + TIME, line):
                for side, at in zip(sides, (1, 3)):
                    reader.time(match[at], match[at + 1], middle(side.values(what)), what)
        for match in re.finditer("The mean step differs: " + TIME + " -> " + TIME, line):
            for side, at in zip(sides, (1, 3)):
                reader.time(match[at], match[at + 1], statistics.mean(side.values("CPU time")), "mean step")
        for match in re.finditer(r"Every GPU operation(?: of a step)? \(" + COUNT, line):
            reader.check((match[1], 1), middle(sides[1].values("GPU operations")), "operations of a step")
            kinds = [collections.Counter((s.cat, s.name if s.cat in KERNEL else "", str(s.args.get("grid"))) for s in side) for side in work]
            reader.check(("1", 1), int(kinds[0] == kinds[1]), "same names and grids")
        for match in re.finditer(COUNT + " launch(?:es)?(?: per step)? instead of " + COUNT, line):
            for side, at in zip(reversed(sides), (1, 2)):
                reader.check((match[at], 1), middle(side.values("launches")), "launches")
        for match in re.finditer(COUNT + " casts? -> " + COUNT + " casts?: " + TIME + " -> " + TIME, line):
            for i, side in enumerate(work):
                casts = [s for s in side if "float16_copy" in s.name]
                reader.check((match[1 + i], 1), len(casts), "casts")
                reader.time(match[3 + 2 * i], match[4 + 2 * i], sum(s.dur for s in casts), "cast time")
    return reader


# --- Ranks.
def collectives(raw):
    """By group: the collectives that state their name, in order."""
    out = collections.defaultdict(list)
    for s in raw.work:
        if s.args.get("Collective name", "broadcast").startswith(WAIT_FOR_ALL):
            out[s.args.get("Process Group Name")].append(s)
    return out


def what(s):
    return (s.args["Collective name"], s.args.get("dtype"), s.args.get("In msg nelems"), s.args.get("Out msg nelems"))


def fit(a, b):
    """Two sequences that may begin apart, as pairs: the shift with most that agree in what they are, and then in their ends."""
    best = None
    for shift in range(-len(b) + 1, len(a)):
        pairs = [(a[i], b[i - shift]) for i in range(max(0, shift), min(len(a), len(b) + shift))]
        agree = [p for p in pairs if what(p[0]) == what(p[1])]
        if len(agree) < len(pairs) or len(agree) < 2:
            continue
        apart = [y.end - x.end for x, y in agree]
        off = statistics.median(apart)
        rank = (len(agree), -statistics.median(abs(d - off) for d in apart))
        # Fewer pairs that end together are more telling than many that do not.
        rank = (rank[1] > -100_000, *rank)
        if best is None or rank > best[0]:
            best = (rank, agree, off)
    return best


def read_ranks(program, paths, raws):
    reader = Reader(raws[0])
    out = subprocess.run([program, "ranks", *map(str, paths)], capture_output=True, text=True, check=False)
    groups = [collectives(raw) for raw in raws]
    fits = [fit(groups[0][g], groups[1][g]) for g in groups[0] if g in groups[1]]
    pairs = [p for f in fits if f for p in f[1]]
    offset = statistics.median(y.end - x.end for x, y in pairs) if pairs else 0
    last = [0, 0]
    waits = [0, 0]
    for x, y in pairs:
        begins = (x.begin, y.begin - offset)
        late = 0 if begins[0] > begins[1] else 1
        last[late] += what(x)[0] != "all_to_allv"  # TraceLens counts the uneven ones apart
        early, until = (y, begins[0] + offset) if late == 0 else (x, begins[1])
        raw = raws[1 - late]
        compute = union([s.begin, s.end] for s in raw.work if s.cat in KERNEL and not ("Collective name" in s.args or "nccl" in s.name))
        waiting = clip([[early.begin, int(min(until, early.end))]], raw.window)
        waits[1 - late] += length(subtract(waiting, compute))
    for match in re.finditer(r"clocks compared by " + COUNT + r" collectives?, which then end within " + TIME, out.stdout):
        reader.check((match[1], 1), len(pairs), "collectives compared")
        apart = statistics.median(abs(y.end - x.end - offset) for x, y in pairs)
        reader.read += 1
        if apart > 10_000:
            reader.wrong.append(f"ends are {apart} ns apart")
    row = re.compile(r"^ +(\d) +" + TIME + " +" + " +".join([PERCENT] * 5) + r" +([\d,]+) +.*$", re.M)
    for match in row.finditer(out.stdout):
        rank = int(match[1])
        raw, account = raws[rank], raws[rank].account()
        reader.time(match[2], match[3], raw.width, f"window of rank {rank}")
        for number, part in ((match[4], "compute"), (match[7], "exposed copies"), (match[8], "idle")):
            reader.percent(number, account[part], raw.width, f"{part} of rank {rank}")
        if pairs:
            reader.check((match[9], 1), last[rank], f"rank {rank} last")
            reader.read += 1
            if abs(float(match[6]) / 100 * raw.width - waits[rank]) > 0.002 * raw.width:
                reader.wrong.append(f"rank {rank} waits {match[6]} %, is {waits[rank] / raw.width:.2%}")
    for match in re.finditer(r"^Rank (\d) is late: rank (\d) waits " + TIME + " for it, " + PERCENT, out.stdout, re.M):
        rank = int(match[2])
        reader.read += 1
        if abs(float(match[5]) / 100 * raws[rank].width - waits[rank]) > 0.002 * raws[rank].width or last[int(match[1])] <= last[rank]:
            reader.wrong.append(f"sentence: {match[0]}; is {waits[rank]} ns")
    return reader


def main():
    program, folders = sys.argv[1], [pathlib.Path(a) for a in sys.argv[2:]]
    files = {f.name.split(".json")[0]: f for folder in folders if folder.is_dir() for f in sorted(folder.glob("*.json*"))}
    runs = [(n, n[:-1] + "1") for n in files if n.endswith("_rank0")]
    known = {}
    numbers = wrong = done = 0
    for names, read in [(p, read_diff) for p in PAIRS] + [(r, read_ranks) for r in runs]:
        if not all(n in files for n in names):
            continue
        for name in names:
            if name not in known:
                known[name] = raw_of(program, files[name])
        raws = [known[n] for n in names]
        if any(raw.events > MOST_EVENTS or raw.window is None for raw in raws):
            continue
        reader = read(program, [files[n] for n in names], raws)
        done, numbers, wrong = done + 1, numbers + reader.read, wrong + len(reader.wrong)
        for text in reader.wrong:
            print(f"{read.__name__} {names[0]} {names[1]}: {text}")
    print(f"{numbers} numbers of {done} comparisons recomputed, {wrong} differ")
    if done == 0:
        sys.exit(77)
    sys.exit(1 if wrong or numbers < 10 * done else 0)


if __name__ == "__main__":
    main()
