"""Gapscope in Python: PyTorch and CUDA profiler traces, and why the GPU is idle.

    import gapscope
    trace = gapscope.open("trace.json.gz")
    trace.verdict, trace.plain_step_ms, trace.plan
    trace.kernels().to_pandas()

Each answer is the one that the program's command of that name gives. Times that end in _ms are milliseconds, _ns nanoseconds.
"""
from ._program import Error
from ._table import Table
from ._trace import Diff, Finding, Gain, Plain, Plan, PlanItem, Ranks, Trace, WhatIf, diff, ranks, version
from ._trace import open_trace as open  # noqa: A004

__all__ = ["Diff", "Error", "Finding", "Gain", "Plain", "Plan", "PlanItem", "Ranks", "Table", "Trace", "WhatIf", "diff", "open", "ranks",
           "version"]
