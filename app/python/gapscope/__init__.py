"""Gapscope in Python: PyTorch and CUDA profiler traces, and why the GPU is idle.

    import gapscope
    trace = gapscope.open("trace.json.gz")
    trace.verdict, trace.plain_step_ms, trace.plan
    trace.kernels().to_pandas()

    with gapscope.profile(folder="traces") as prof:  # in a training; prof.step() after each step
        ...

Each answer is the one that the program's command of that name gives. Times that end in _ms are milliseconds, _ns nanoseconds.
"""
from ._check import check
from ._profile import attachable, profile, trace_handler
from ._program import Error
from ._table import Table
from ._trace import Diff, Finding, Gain, Plain, Plan, PlanItem, Ranks, Trace, WhatIf, diff, ranks, version
from ._trace import open_trace as open  # noqa: A004

__all__ = ["Diff", "Error", "Finding", "Gain", "Plain", "Plan", "PlanItem", "Ranks", "Table", "Trace", "WhatIf", "attachable", "check",
           "diff", "open", "profile", "ranks", "trace_handler", "version"]


def __getattr__(name: str) -> object:
    if name in ("lightning", "transformers"):  # callbacks, imported when asked for
        import importlib
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
