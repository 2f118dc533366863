"""The pytest fixture ``gapscope_check``: records a function and holds it to what is expected.

    def test_step(gapscope_check):
        gapscope_check(train_step, step_ms=20, gpu_busy=0.5, no=["item_in_loop"])
"""
from typing import Any, Callable

import pytest


@pytest.fixture
def gapscope_check(tmp_path: Any) -> Callable[..., Any]:
    """A function (function, *, steps=4, wait=8, warmup=2, step_ms=, gpu_busy=, no=) that calls the function 14 times, the last four
    recorded, each as a step. It gives the Trace that was checked. AssertionError as gapscope.check(); skipped without torch."""
    pytest.importorskip("torch")
    import gapscope
    traces = []

    def record_and_check(function: Callable[[], Any], *, steps: int = 4, wait: int = 8, warmup: int = 2, **expected: Any) -> Any:
        with gapscope.profile(folder=tmp_path, name="test", wait=wait, warmup=warmup, active=steps, full=False, verdict=False) as prof:
            for _ in range(wait + warmup + steps):
                function()
                prof.step()
        trace = gapscope.open(prof.paths[-1])
        traces.append(trace)
        gapscope.check(trace, **expected)
        return trace

    yield record_and_check
    for trace in traces:
        trace.close()
