"""A loaded trace, and what the program says of it."""
import html as html_text
import json
import os
import subprocess
import tempfile
from dataclasses import dataclass, field
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

from ._browser import BrowserWindow
from ._child import Child
from ._program import Error, Path, printable, program, run, run_json
from ._table import Table

_WITH_STEPS = {"info", "overview", "diagnose", "why", "whatif", "diff", "ranks", "table", "kernels", "modules", "compile", "gpu",
               "steps", "launches", "flops", "roofline", "counters", "memory", "sql"}
_WITH_PLAIN = {"overview", "diagnose", "why", "whatif", "sql"}


def _ms(ns: Optional[float]) -> Optional[float]:
    return None if ns is None else ns / 1e6


@dataclass(frozen=True)
class Plain:
    """The program without its profiler (core/replay/PLAIN.md)."""

    step_ms: float  #: a step's length, milliseconds
    low_ms: float  #: nine of ten lie between these two
    high_ms: float
    source: str  #: "stated", "measured" or "estimated"
    gpu_busy: float  #: share of the step in which the GPU is busy, 0 to 1
    verdict: str


@dataclass(frozen=True)
class Gain:
    """What a remedy saves, by a replay of the recording with it."""

    ms_per_step: float
    share: float  #: of the step, 0 to 1
    kind: str  #: "about": an estimate; "up to": an upper limit
    words: str


@dataclass(frozen=True)
class Finding:
    """What costs time, the evidence, and what to do."""

    rule: str
    severity: str
    title: str
    summary: str
    remedy: str
    cost_ms: float  #: over the whole recording
    gain: Optional[Gain]
    where: Any  #: the code that it is about; None where that is not known
    evidence: Mapping[str, Any]
    json: Mapping[str, Any] = field(repr=False, compare=False)  #: all that `gapscope diagnose --json` prints of it


@dataclass(frozen=True)
class PlanItem:
    """A remedy of the plan, after those before it."""

    rule: str
    title: str
    saved_ms: float  #: of the whole recording
    step_ms: Optional[float]  #: a step with it and with those before it
    kind: str  #: "about" or "up to"


@dataclass(frozen=True)
class Plan:
    """Remedies one after the other. Iterable: its items."""

    items: Tuple[PlanItem, ...]
    step_before_ms: Optional[float]
    step_after_ms: Optional[float]
    gpu_busy_before: Optional[float]  #: 0 to 1
    gpu_busy_after: Optional[float]
    next: Optional[str]  #: what bounds the run then

    def __iter__(self) -> Any:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)


@dataclass(frozen=True)
class WhatIf:
    """The recording replayed with a change."""

    step_ms: Optional[float]  #: a step with the change; None where the recording has no steps
    step_before_ms: Optional[float]
    run_ms: float  #: the whole recording with the change
    run_before_ms: float
    gpu_busy: Optional[float]  #: with the change, 0 to 1
    next: Optional[str]  #: what bounds the run then
    json: Mapping[str, Any] = field(repr=False, compare=False)


class Diff:
    """Two traces compared: what `gapscope diff --json` says. Made by ``diff()``."""

    def __init__(self, json: Mapping[str, Any], text: str = "") -> None:
        self.json = json
        self._text = text

    @property
    def verdict(self) -> str:
        """Did the change help, and why: one paragraph."""
        return self.json["verdict"]

    @property
    def changes(self) -> Table:
        """A row for each figure: its name, the ratio A / B of medians (above 1: B is shorter), its range, whether they differ."""
        return Table.of_rows(self.json.get("changes", []))

    def markdown(self) -> str:
        """The same in GitHub's Markdown: the verdict and a table of medians per step."""
        a, b = self.json["a"], self.json["b"]
        lines = [f"**{_markdown(self.verdict)}**", "", f"| per step | A: {_markdown(_name(a))} | B: {_markdown(_name(b))} | B / A |",
                 "|---|---:|---:|---:|"]
        for key, title in (("cpu_ns", "CPU time"), ("gpu_time_ns", "GPU time"), ("gpu_busy_ns", "GPU busy"), ("idle_ns", "GPU idle")):
            x, y = (a.get(key) or {}).get("median"), (b.get(key) or {}).get("median")
            if x is not None and y is not None:
                lines.append(f"| {title} | {x / 1e6:,.3f} ms | {y / 1e6:,.3f} ms | {f'{y / x:.2f}' if x else '-'} |")
        for key, title in (("kernels_per_step", "Kernels"), ("launches_per_step", "Launches"), ("copies_per_step", "Copies")):
            x, y = a.get(key), b.get(key)
            if x is not None and y is not None:
                lines.append(f"| {title} | {x:,g} | {y:,g} | {f'{y / x:.2f}' if x else '-'} |")
        return "\n".join(lines) + "\n"

    def write_summary(self, path: Optional[Path] = None) -> None:
        """Appends ``markdown()`` to `path`, without one to the summary of the GitHub job that runs. OSError where it cannot."""
        target = path if path is not None else os.environ.get("GITHUB_STEP_SUMMARY")
        if not target:
            raise Error("No summary to write to: GITHUB_STEP_SUMMARY is not set, and no path is given.")
        with open(target, "a", encoding="utf-8") as out:
            out.write(self.markdown())

    def __repr__(self) -> str:
        return printable(f"<gapscope.Diff: {self.verdict}>")

    def _repr_markdown_(self) -> str:
        return self.markdown()


def _name(side: Mapping[str, Any]) -> str:
    return os.path.basename(str(side.get("file", "")))


def _markdown(text: str) -> str:
    text = "".join(c if c.isprintable() else " " for c in text)
    return "".join("\\" + c if c in "\\`*_{}[]<>|#~" else c for c in text)


class Ranks:
    """The ranks of one run together: what `gapscope ranks --json` says. Made by ``ranks()``."""

    def __init__(self, json: Mapping[str, Any]) -> None:
        self.json = json

    @property
    def ranks(self) -> Table:
        """A row a rank: file, clock offset, waits (ns), its time account."""
        return Table.of_rows(self.json["ranks"])

    @property
    def collectives(self) -> Table:
        """A row a collective: who came last, skew and latency (ns), GB/s."""
        return Table.of_rows(self.json["collectives"])

    @property
    def late(self) -> Table:
        """Which rank was late in which step, and what the others lost (ns)."""
        return Table.of_rows(self.json["late"])

    @property
    def findings(self) -> List[Mapping[str, Any]]:
        """What costs time across ranks: kind, text, cost_ns, rank, gain."""
        return list(self.json["findings"])

    @property
    def problems(self) -> List[str]:
        """Files that were not used, and ranks that are missing."""
        return list(self.json.get("problems", []))

    def __repr__(self) -> str:
        found = "; ".join(str(f.get("text")) for f in self.findings) or "nothing found"
        return printable(f"<gapscope.Ranks: {len(self.json['ranks'])} ranks; {found}>")


class Trace:
    """A trace, loaded once in a process of its own. Made by ``gapscope.open()``; a context manager.

    That process answers as the command of the same name does. Threads may share a Trace. A process
    forked from this one, or one that it is pickled for, loads the trace again when it first asks.

    Raises Error with the program's sentence where something cannot be answered.
    """

    def __init__(self, paths: Sequence[str], *, steps: Optional[str] = None, step_time_ms: Optional[float] = None,
                 as_recorded: bool = False, capture: Optional[str] = None, times: Optional[str] = None, _load: bool = True) -> None:
        self._made_of = (tuple(paths), steps, step_time_ms, as_recorded, capture, times)
        self._files = [os.path.abspath(path) for path in paths]
        self._capture = os.path.abspath(capture) if capture else None
        self._steps = ["--steps", steps] if steps else []
        self._plain = ["--as-recorded"] if as_recorded else [] if step_time_ms is None else ["--step-time", f"{step_time_ms!r}ms"]
        if as_recorded + (step_time_ms is not None) + (times is not None) > 1:
            raise Error("as_recorded, step_time_ms and times exclude each other.", 2)
        if times is not None:
            self._plain = ["--times", os.path.abspath(times)]
        self._child: Optional[Child] = None
        self._is_closed = False
        self._overview: Optional[Dict[str, Any]] = None
        if _load:
            self._loaded()

    def _loaded(self) -> Child:
        if self._is_closed:
            raise Error("The trace is closed.")
        if self._child is None or self._child.pid is None:
            captured = ["--capture", self._capture] if self._capture else []
            self._child = Child(self._files[:1 if len(self._files) > 2 else 2] + captured)  # of many files the first is looked into
        return self._child

    def __reduce__(self) -> Any:
        return _again, self._made_of

    def __enter__(self) -> "Trace":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        """Ends the process. Earlier answers stay valid. Asking again raises Error."""
        self._is_closed = True
        if self._child is not None:
            self._child.close()

    @property
    def path(self) -> str:
        """The file that answers are about: the first of several, or that of the lowest rank of a folder."""
        return self._loaded().paths[0]

    def ask(self, command: str, *words: Path) -> bytes:
        """What ``gapscope COMMAND TRACE WORDS...`` prints, with the settings of this trace."""
        return bytes(self._ask(command, [self.path], words))

    def _ask(self, command: str, traces: Sequence[str], words: Iterable[Path]) -> memoryview:
        settings = self._steps if command in _WITH_STEPS else []
        settings = settings + (self._plain if command in _WITH_PLAIN else [])
        if self._capture and command not in ("ranks", "crop", "merge-counters"):
            settings = settings + ["--capture", self._capture]
        return self._loaded().ask([command, *traces, *settings, *words])

    def ask_json(self, command: str, *words: Path) -> Any:
        """The same with ``--json``, parsed."""
        return json.loads(self.ask(command, *words, "--json"))

    @property
    def overview(self) -> Dict[str, Any]:
        """All that ``gapscope overview --json`` prints. Worked out once."""
        if self._overview is None:
            self._overview = self.ask_json("overview")
        return self._overview

    @property
    def verdict(self) -> str:
        """How the run is, in a sentence or two."""
        return self.overview["verdict"]

    @property
    def plain(self) -> Optional[Plain]:
        """The program without its profiler; None if that is unknown."""
        p = self.overview.get("plain")
        if not p or p.get("step_ns") is None:
            return None
        return Plain(p["step_ns"] / 1e6, p["low_ns"] / 1e6, p["high_ns"] / 1e6, p["source"], p["gpu_share"], p["verdict"])

    @property
    def plain_step_ms(self) -> Optional[float]:
        """A step without the profiler, milliseconds; None where that is not known."""
        return self.plain.step_ms if self.plain else None

    @property
    def measured_step_ms(self) -> Optional[float]:
        """The step without the profiler that the recorded program measured; None if it did not."""
        rows = self.sql("select coalesce(int_value, str_value) as ns from metadata where name glob 'gapscope_plain_step_ns*'")
        values = [float(ns) for ns in rows.to_dict().get("ns", [])]
        return sum(values) / len(values) / 1e6 if values else None

    @property
    def plan(self) -> Plan:
        """Remedies one after the other, with what each saves."""
        p = self.overview.get("plan") or {}
        items = tuple(PlanItem(i["rule"], i["title"], i["saved_ns"] / 1e6, _ms(i.get("step_after_ns")), i["kind"])
                      for i in p.get("items", []))
        before, busy = _ms(p.get("step_before_ns")), p.get("gpu_busy") or {}
        return Plan(items, before, items[-1].step_ms if items else before, busy.get("before"), busy.get("after"), p.get("next"))

    def findings(self, all: bool = False) -> List[Finding]:
        """What costs time, the costliest first. `all`: also notes that explain the trace."""
        return [_finding(f) for f in self.ask_json("diagnose", *(["--all"] if all else []))["findings"]]

    def kernels(self) -> Table:
        """GPU work by name, the longest total first: count, ``total_ns``, ``mean_ns``, ..., resources, what the name means."""
        return Table.of_rows(self.ask_json("kernels"))

    def gaps(self) -> Table:
        """Every idle time of a GPU: ``ts`` and ``dur`` in ns, and the ns of each cause."""
        return self.sql("select * from gpu_gap")

    def modules(self, by: str = "instance") -> Table:
        """GPU and host time by nn.Module, ns. `by`: "instance" or "class"."""
        return Table.of_rows(self.ask_json("modules", "--by", by)["modules"])

    def steps(self) -> Table:
        """Each step: begin, end and where its time went, ns."""
        return Table.of_rows(self.ask_json("steps")["steps"])

    def table(self, shapes: bool = False) -> Table:
        """The profiler's table, equal to ``prof.key_averages()``; times in ns. `shapes`: a row for each input shape, too."""
        return Table.of_rows(self.ask_json("table", *(["--shapes"] if shapes else [])))

    def sql(self, query: str, time_limit_s: float = 300) -> Table:
        """The rows of a query (core/sql/README.md has the tables); of several statements, those of the last that gives any. What a query creates is gone in the next.

        A statement without rows gives an empty Table. After `time_limit_s` seconds (0: never) it ends with an Error.
        """
        traces = [self.path] if len(self._files) == 2 else self._files
        answer = self._ask("sql", traces, ["--raw", "--time-limit", repr(time_limit_s), "--query=" + query])
        tables = Table.of_bytes(answer)
        return tables[-1] if tables else Table({})

    def whatif(self, *, gpu: Optional[float] = None, host: Optional[float] = None, kernels: Optional[Mapping[str, float]] = None,
               remove: Union[str, Sequence[str]] = (), no_wait: bool = False, graph: bool = False, overlap_copies: bool = False,
               roofline: Union[bool, float] = False) -> WhatIf:
        """The recording replayed with a change.

        `gpu`, `host`: their work takes that many times as long. `kernels`: likewise GPU work whose whole name matches a regular
        expression. `remove`: slices of these names take no host time. `no_wait`: the host never waits for the GPU. `graph`: a
        step's launches are one graph. `roofline`: kernels reach their floor, or that share of it.
        """
        words: List[str] = []
        for name, factor in (("--gpu", gpu), ("--host", host)):
            if factor is not None:
                words += [name, repr(factor)]
        for expression, factor in (kernels or {}).items():
            words.append(f"--kernel={expression}={factor!r}")
        words += [f"--remove={name}" for name in ([remove] if isinstance(remove, str) else remove)]
        for name, is_on in (("--no-wait", no_wait), ("--graph", graph), ("--overlap-copies", overlap_copies)):
            words += [name] if is_on else []
        if roofline is not False:
            words.append("--roofline" if roofline is True else f"--roofline={roofline!r}")
        return _what_if(self.ask_json("whatif", *words))

    def diff(self, other: Union[Path, "Trace", None] = None) -> Diff:
        """This trace (A) compared with another one (B); without one, with the second that was opened."""
        if other is None:
            if len(self._files) != 2:
                raise Error("Only one trace is open: name the one to compare it with.", 2)
            other = self._loaded().paths[1]
        path = other.path if isinstance(other, Trace) else os.path.abspath(os.fspath(other))
        return Diff(json.loads(bytes(self._ask("diff", [self.path, path], ["--json"]))))

    def ranks(self) -> Ranks:
        """The ranks of the run together, of the folder or the files that were opened."""
        return Ranks(json.loads(bytes(self._ask("ranks", self._files, ["--json"]))))

    def html(self) -> str:
        """The report as one HTML page: answer card, time account, timeline, findings."""
        with tempfile.TemporaryDirectory(prefix="gapscope-") as folder:
            path = os.path.join(folder, "report.html")
            self.ask("overview", "--html", path)
            with open(path, encoding="utf-8", errors="replace") as page:
                return page.read()

    def picture(self, size: str = "1600x900") -> bytes:
        """The window as a PNG of `size` pixels. Needs a display, or Xvfb."""
        with tempfile.TemporaryDirectory(prefix="gapscope-") as folder:
            path = os.path.join(folder, "picture.png")
            self.ask("screenshot", "-o", path, "--size", size)
            with open(path, "rb") as picture:
                return picture.read()

    def show(self) -> Optional[BrowserWindow]:
        """Opens the window on the display. Without a display: the window in a browser, and its picture in a notebook.

        That needs the window for browsers (the package gapscope-web, or a wheel with it): Error where there is neither. A
        server on this machine alone, below the trace's folder, gives it; it ends with what this returns, and with this process.
        """
        if os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
            nothing = subprocess.DEVNULL
            subprocess.Popen([program(), *self._files], stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True)
            return None
        return BrowserWindow(self.path, self.picture)

    def __repr__(self) -> str:
        return printable(f"<gapscope.Trace {', '.join(self._files)}>")

    def _repr_html_(self) -> str:
        page = html_text.escape(self.html(), quote=True)
        return f'<iframe srcdoc="{page}" sandbox="allow-scripts allow-popups" style="width:100%;height:640px;border:0"></iframe>'


def _again(paths: Tuple[str, ...], steps: Optional[str], step_time_ms: Optional[float], as_recorded: bool,
           capture: Optional[str], times: Optional[str]) -> Trace:
    return Trace(paths, steps=steps, step_time_ms=step_time_ms, as_recorded=as_recorded, capture=capture, times=times, _load=False)


def _finding(f: Mapping[str, Any]) -> Finding:
    g = f.get("gain")
    gain = Gain(g["per_step_ns"] / 1e6, g["share"], g["kind"], g["words"]) if g else None
    return Finding(f["rule"], f["severity"], f["title"], f["summary"], f["remedy"], (f.get("cost_ns") or 0) / 1e6, gain,
                   f.get("where"), f.get("evidence") or {}, f)


def _what_if(w: Mapping[str, Any]) -> WhatIf:
    before, after = w["before_ns"], w["after_ns"]
    step = (w.get("plain") or {}).get("step_ns")
    if step is None and w.get("steps"):
        step = sum(s["before_ns"] for s in w["steps"]) / len(w["steps"])
    changed = step * after / before if step is not None and before else step
    return WhatIf(_ms(changed), _ms(step), after / 1e6, before / 1e6, (w.get("gpu_busy") or {}).get("after"), w.get("next"), w)


def open_trace(path: Union[Path, Sequence[Path]], *, steps: Optional[str] = None, step_time_ms: Optional[float] = None,
               as_recorded: bool = False, capture: Optional[Path] = None, times: Optional[Path] = None) -> Trace:
    """Loads a trace, a folder of ranks, or several files: two to compare, or the ranks of one run.

    `steps`: the annotations that are the steps, a name or a regular expression. `step_time_ms`: a step that was timed without
    the profiler. `times`: a recording without stacks and shapes, whose steps' length counts. `as_recorded`: speak of the recording, with
    its profiler's cost. `capture`: where the graphs of the trace were
    captured. Raises Error with the program's sentence where it does not open.
    """
    paths = [path] if isinstance(path, (str, bytes, os.PathLike)) else list(path)
    if not paths:
        raise Error("No trace is named.", 2)
    return Trace([os.fsdecode(p) for p in paths], steps=steps, step_time_ms=step_time_ms, as_recorded=as_recorded,
                 capture=os.fsdecode(capture) if capture is not None else None, times=os.fsdecode(times) if times is not None else None)


def diff(a: Path, b: Path) -> Diff:
    """Two traces compared: did the change from `a` to `b` help, and why. Raises Error."""
    return Diff(run_json("diff", os.path.abspath(os.fsdecode(a)), os.path.abspath(os.fsdecode(b)), "--json"))


def ranks(*paths: Path) -> Ranks:
    """The ranks of one run, a folder or files. Raises Error."""
    return Ranks(run_json("ranks", *(os.path.abspath(os.fsdecode(p)) for p in paths), "--json"))


def version() -> str:
    """The program's version."""
    return run("--version").decode().strip()
