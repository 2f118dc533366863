"""Recording a training: torch.profiler with a good schedule, the plain step's length, and the verdict. Imports torch when used."""
import atexit
import inspect
import json
import os
import re
import statistics
import subprocess
import sys
import time
import warnings
from typing import Any, List, Optional

from ._finish import delete_raw
from ._program import Path, printable

_FINISH_PATIENCE_S = 300.0
_LEAST_PACES = 3


class _Pace:
    """How long steps take while the profiler only waits: by the clock and, with CUDA, by events on the stream, never waiting for it."""

    def __init__(self, torch: Any) -> None:
        self._cuda = torch.cuda if torch.cuda.is_available() else None
        self._begin: Any = None  # (ns, event or None)
        self._steps: List[Any] = []  # (begin, end)

    def begin(self) -> None:
        """A step begins."""
        self._begin = self._now()

    def end(self) -> None:
        """It has ended, and no profiler ran in it."""
        if self._begin is not None:
            self._steps.append((self._begin, self._now()))
        self._begin = None

    def _now(self) -> Any:
        event = None
        if self._cuda and self._cuda.is_initialized():
            try:
                if not self._cuda.is_current_stream_capturing():
                    event = self._cuda.Event(enable_timing=True)
                    event.record()
            except Exception:  # an old PyTorch, a lost context: the clock remains
                self._cuda, event = None, None
        return time.perf_counter_ns(), event

    def step_ns(self) -> int:
        """The median; 0 where fewer than three steps were timed. The first step is left out: it compiles, allocates, loads."""
        steps = self._steps[1:]
        if len(steps) < _LEAST_PACES:
            return 0
        # A host that runs ahead of the GPU returns from a step before it is done: events are not fooled by that.
        events = []
        for (_, begin), (_, end) in steps:
            try:
                if begin is not None and end is not None and begin.query() and end.query():
                    events.append(begin.elapsed_time(end) * 1e6)
            except Exception:
                break
        return round(statistics.median(events if len(events) >= _LEAST_PACES else [end[0] - begin[0] for begin, end in steps]))


def _rank() -> int:
    distributed = sys.modules.get("torch.distributed")
    try:
        if distributed is not None and distributed.is_available() and distributed.is_initialized():
            return int(distributed.get_rank())
        return int(os.environ.get("RANK", "0"))
    except (ValueError, RuntimeError):
        return 0


def _default_name() -> str:
    stem = os.path.splitext(os.path.basename(sys.argv[0] if sys.argv else ""))[0]
    return "trace" if stem in ("", "-c", "-m", "__main__", "ipykernel_launcher") else stem


def _file_name(name: str) -> str:
    return re.sub(r"[^\w.+-]+", "_", name).strip("._") or "trace"


class trace_handler:  # noqa: N801
    """For ``torch.profiler.profile(on_trace_ready=gapscope.trace_handler("traces"))``: files FOLDER/NAME_rankN.STEP.pt.trace.json.gz.

    Each is written whole or not at all, packed, in a process of its own, which then works out the verdict; rank 0 prints it. Of each
    rank the newest `limit` recordings stay (0: all). Call ``step()`` where each step ends and the profiler does not run yet, and the
    length of a step without the profiler is written, too; or state it as `plain_step_ms`. A recording that cannot be written is a
    warning and does not stop the training.
    """

    def __init__(self, folder: Path = "traces", *, name: Optional[str] = None, limit: int = 20,
                 plain_step_ms: Optional[float] = None, verdict: bool = True) -> None:
        self.folder = os.path.abspath(os.fsdecode(folder))
        self.paths: List[str] = []  #: recordings that are written
        self.lines: List[str] = []  #: what each says
        self._name = _file_name(name if name is not None else _default_name())
        self._limit, self._verdict = limit, verdict
        self._stated_ns = 0 if plain_step_ms is None else round(plain_step_ms * 1e6)
        self._pace: Optional[_Pace] = None
        self._pace_ns = 0
        self._running: List[Any] = []
        self._mark = ""  # behind the step in the next file's name
        atexit.register(self.wait)

    def step(self) -> None:
        """A step has ended in which no profiler ran, and the next begins. Costs a few microseconds; does not wait for the GPU."""
        self._end_step()
        self._begin_step()

    def _begin_step(self) -> None:
        if self._pace is None:
            import torch
            self._pace = _Pace(torch)
        if not self._pace_ns:  # after a recording the profiler's hooks stay in the process
            self._pace.begin()

    def _end_step(self) -> None:
        if self._pace is not None and not self._pace_ns:
            self._pace.end()

    @property
    def plain_step_ms(self) -> Optional[float]:
        """A step without the profiler, as stated or timed so far; None where it is not known."""
        ns = self._stated_ns or self._pace_ns or (self._pace.step_ns() if self._pace else 0)
        return ns / 1e6 if ns else None

    def __call__(self, prof: Any) -> None:
        self.poll()
        if self._pace and not self._pace_ns:
            self._pace_ns = self._pace.step_ns()
        rank, step = _rank(), f"{prof.step_num}{self._mark}"
        stem = f"{self._name}_rank{rank}"
        raw = os.path.join(self.folder, f".{stem}.{step}.{os.getpid()}.json")
        try:
            os.makedirs(self.folder, exist_ok=True)
            prof.export_chrome_trace(raw)
            words = [raw, self.folder, stem, step, str(self._stated_ns or self._pace_ns), str(self._limit), str(int(self._verdict))]
            environment = dict(os.environ)
            package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
            environment["PYTHONPATH"] = os.pathsep.join(p for p in (package, environment.get("PYTHONPATH")) if p)
            command = [sys.executable, "-c", "import sys; from gapscope._finish import main; main(sys.argv[1:])", *words]
            self._running.append(subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                                  start_new_session=True))
        except Exception as trouble:  # never the training's trouble
            delete_raw(raw)
            warnings.warn(f"The recording of step {step} was not written to {self.folder}: {trouble}", stacklevel=2)

    def poll(self) -> None:
        """Prints the verdicts that are ready."""
        for process in list(self._running):
            if process.poll() is not None:
                self._take(process)

    def wait(self, seconds: float = _FINISH_PATIENCE_S) -> None:
        """Waits until each recording is written and its verdict is known, and prints it."""
        end = time.monotonic() + seconds
        for process in list(self._running):
            try:
                process.wait(max(0.0, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                warnings.warn(f"A recording in {self.folder} is not finished after {seconds:g} s.", stacklevel=2)
                process.stdout.close()
                self._running.remove(process)
                continue
            self._take(process)

    def _take(self, process: Any) -> None:
        self._running.remove(process)
        text = process.stdout.read()  # a line: it fits into the pipe
        process.stdout.close()
        try:
            said = json.loads(text)
        except ValueError:
            said = {"trouble": f"A recording in {self.folder} was not finished: its process ended with {process.returncode}."}
        if said.get("path"):
            self.paths.append(said["path"])
        if said.get("line"):
            self.lines.append(said["line"])
            if _rank() == 0:
                print(printable(f"gapscope: {said['line']} ({os.path.relpath(said['path'])})"), flush=True)
        if said.get("trouble"):
            warnings.warn(said["trouble"], stacklevel=3)


class profile:  # noqa: N801
    """Records some steps of a training, and prints the verdict.

        with gapscope.profile(folder="traces") as prof:
            for batch in loader:
                train(batch)
                prof.step()

    For `wait` steps the profiler only waits and the steps are timed; then `warmup` and `active` steps are recorded lean, for times,
    and with `full` as many once more with shapes, stacks, modules and memory, for causes. Any argument of torch.profiler.profile may
    be given; with your own `schedule` it makes one recording by that, and ignores `full`. `name`, `limit`, `verdict`: see
    trace_handler. Nothing here waits for the GPU. ImportError without torch.
    """

    def __init__(self, folder: Path = "traces", *, name: Optional[str] = None, wait: int = 12, warmup: int = 3, active: int = 4,
                 full: bool = True, limit: int = 20, verdict: bool = True, **arguments: Any) -> None:
        if min(wait, warmup, active - 1) < 0:
            raise ValueError("wait and warmup are 0 or more steps, active is 1 or more")
        self.handler = trace_handler(folder, name=name, limit=limit, verdict=verdict)
        self.step_num = 0  #: steps that have ended
        self._lengths = (wait, warmup, active)
        self._arguments = arguments
        self._full = full and "schedule" not in arguments
        self._torch_profiler: Any = None
        self._is_second = False  # the full recording
        self._recorded = 0

    def _made(self, begin: int, is_full: bool) -> Any:
        from torch.profiler import ProfilerAction
        from torch.profiler import profile as torch_profile
        wait, warmup, active = self._lengths

        def schedule(step: int) -> Any:
            at = step - begin - (1 if is_full else wait)
            if at < 0 or at >= warmup + active:
                return ProfilerAction.NONE
            if at < warmup:
                return ProfilerAction.WARMUP
            return ProfilerAction.RECORD if at < warmup + active - 1 else ProfilerAction.RECORD_AND_SAVE

        more = {"record_shapes": True, "profile_memory": True, "with_stack": True, "with_modules": True} if is_full else {}
        known = inspect.signature(torch_profile.__init__).parameters
        arguments = {**{key: value for key, value in more.items() if key in known}, **self._arguments}
        arguments.setdefault("schedule", schedule)
        own = self._arguments.get("on_trace_ready")

        def ready(prof: Any) -> None:
            self._recorded += 1
            self.handler._mark = ".full" if is_full else ""
            self.handler(prof)
            if own is not None:
                own(prof)

        arguments["on_trace_ready"] = ready
        made = torch_profile(**arguments)
        if begin:
            made.step_num = begin
            made.current_action = made.schedule(begin)
        return made

    def _is_waiting(self) -> bool:
        return self._recorded == 0 and getattr(self._torch_profiler.current_action, "name", "") == "NONE"

    def __enter__(self) -> "profile":
        self._torch_profiler = self._made(0, False)
        self._torch_profiler.start()
        if self._is_waiting():
            self.handler._begin_step()
        return self

    def step(self) -> None:
        """A step has ended."""
        self.step_num += 1
        if self._torch_profiler is None:
            return
        if self._is_waiting():
            self.handler._end_step()
        self._torch_profiler.step()
        if self._is_waiting():  # what step() itself takes is no part of a step
            self.handler._begin_step()
        if "schedule" in self._arguments or self._recorded == 0:
            return
        if self._full and not self._is_second:
            self._is_second = True
            self._torch_profiler.stop()
            self._torch_profiler = self._made(self.step_num, True)
            self._torch_profiler.start()
        elif self._recorded == 1 + self._full:
            self._torch_profiler.stop()
            self._torch_profiler = None

    def __exit__(self, kind: Any, *_: Any) -> None:
        if self._torch_profiler is not None:
            self._torch_profiler.stop()
            self._torch_profiler = None
        if self._recorded == 0 and kind is None:
            warnings.warn(f"Nothing was recorded: the loop had {self.step_num} steps, and recording begins after "
                          f"{sum(self._lengths[:2])}. Call step() after each, or give a smaller wait=.", stacklevel=2)
        self.handler.wait(_FINISH_PATIENCE_S if kind is None else 10)

    @property
    def plain_step_ms(self) -> Optional[float]:
        """A step without the profiler, as timed; None where too few were."""
        return self.handler.plain_step_ms

    @property
    def paths(self) -> List[str]:
        """The recordings that are written."""
        return self.handler.paths


def attachable() -> bool:
    """Lets `gapscope attach` record this process: sets KINETO_USE_DAEMON=1, and TEARDOWN_CUPTI=1, which takes the profiler's hooks out
    afterwards. PyTorch reads them when it is imported: call this before. False, with a warning, where it is too late."""
    wanted = {"KINETO_USE_DAEMON": "1", "TEARDOWN_CUPTI": "1"}
    missing = [f"{key}={value}" for key, value in wanted.items() if os.environ.get(key) != value]
    if not missing:
        return True
    if "torch" in sys.modules:
        warnings.warn(f"torch is imported already. Set {' and '.join(missing)} in the environment before, or call gapscope.attachable() "
                      "above `import torch`.", stacklevel=2)
        return False
    os.environ.update(wanted)
    return True
