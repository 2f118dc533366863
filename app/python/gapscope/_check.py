"""Expectations of a recording, for tests and CI."""
import os
from typing import Any, List, Optional, Sequence, Union

from ._program import Error, Path, printable
from ._trace import Trace, open_trace


def check(trace: Union[Trace, Path], *, step_ms: Optional[float] = None, gpu_busy: Optional[float] = None,
          no: Sequence[str] = ()) -> None:
    """Checks a trace, or a file, against expectations.

    `step_ms`: a step without the profiler takes at most that long. If that is unknown, the median step of the recording counts.
    `gpu_busy`: the GPU is busy for at least this share of it, 0 to 1. `no`: rules that must find nothing ("item_in_loop"; the guide
    lists them). Raises AssertionError with all failed expectations, and Error if the trace lacks the data or a rule is unknown.
    """
    if not isinstance(trace, Trace):
        with open_trace(os.fsdecode(trace)) as opened:
            return check(opened, step_ms=step_ms, gpu_busy=gpu_busy, no=no)
    wrong: List[str] = []
    if step_ms is not None:
        took = _step_ms(trace)
        if took > step_ms:
            wrong.append(f"a step takes {took:.4g} ms, more than {step_ms:g} ms")
    if gpu_busy is not None:
        share = _gpu_busy(trace)
        if share < gpu_busy:
            wrong.append(f"the GPU is busy for {share:.1%} of a step, less than {gpu_busy:.1%}")
    rules = [no] if isinstance(no, str) else list(no)
    if rules:
        trace.ask("diagnose", "--fail-on", ",".join(rules))  # which knows the rules' names
        wrong += [f"{f.rule}: {f.title}. {f.summary}" for f in trace.findings(all=True) if f.rule in rules]
    if wrong:
        raise AssertionError(printable("; ".join(wrong) + f" ({trace.path}; {trace.verdict})"))
    return None


def _step_ms(trace: Trace) -> float:
    steps: Any = trace.overview.get("steps") or {}
    median = steps.get("median_ns")
    took = trace.plain_step_ms or trace.measured_step_ms or (median / 1e6 if median else None)
    if took is None:
        raise Error(f"{trace.path} has no steps whose length could be checked.")
    return took


def _gpu_busy(trace: Trace) -> float:
    devices: Any = trace.overview.get("devices") or []
    share = trace.plain.gpu_busy if trace.plain else min((d["utilization"] for d in devices), default=None)
    if share is None:
        raise Error(f"{trace.path} has no GPU work, so it does not show how busy a GPU is.")
    return share
