"""A PyTorch program with a bit of everything, to be recorded: GEMMs, elementwise work, a reduction, copies, a second stream,
a CUDA graph. Deterministic; `kineto PATH` lets PyTorch's own profiler record the measured part.

    python3 program.py plain
    python3 program.py kineto out.json
"""
import sys

import torch


def work(steps, graph, x, w, host, side):
    for _ in range(steps):
        y = torch.nn.functional.gelu(x @ w)
        y = torch.softmax(y, dim=-1) + x
        s = y.float().sum()
        device = host.to("cuda", non_blocking=True)
        with torch.cuda.stream(side):
            side.wait_stream(torch.cuda.current_stream())
            z = device * 2
        torch.cuda.current_stream().wait_stream(side)
        host.copy_(z)
        graph.replay()
        s.item()
    torch.cuda.synchronize()


def main(how, path=None):
    torch.manual_seed(0)
    x = torch.randn(1024, 1024, device="cuda", dtype=torch.bfloat16)
    w = torch.randn(1024, 1024, device="cuda", dtype=torch.bfloat16)
    host = torch.randn(1 << 20).pin_memory()
    side = torch.cuda.Stream()
    graph = torch.cuda.CUDAGraph()
    static = torch.randn(512, 512, device="cuda")
    static @ static
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        out = (static @ static).relu_()
    del out
    work(3, graph, x, w, host, side)
    torch.cuda.nvtx.range_push("measured")
    if how == "kineto":
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]) as profile:
            work(10, graph, x, w, host, side)
        profile.export_chrome_trace(path)
    else:
        work(10, graph, x, w, host, side)
    torch.cuda.nvtx.range_pop()


if __name__ == "__main__":
    main(*sys.argv[1:])
