"""DistributedDataParallel on two GPUs with one costly option each, and without it: step times without a profiler and recordings of rank 0.
What Gapscope says of find_unused_parameters and of gradient_as_bucket_view is compared with it. Needs two GPUs and PyTorch:

    python3 tests/gpu/ddp_say.py FOLDER

writes FOLDER/ddp_CASE.json.gz and prints one JSON line a case: plain_ms and mended_ms (three timings of twelve steps).
"""
import json
import os
import sys
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.profiler import ProfilerActivity, profile, schedule

CASES = {"unused": ({"find_unused_parameters": True}, {}),
         "copies": ({}, {"gradient_as_bucket_view": True})}


def trained(rank, layers, width, options):
    net = nn.Sequential(*(m for _ in range(layers) for m in (nn.Linear(width, width), nn.GELU()))).to(rank)
    model = DistributedDataParallel(net, device_ids=[rank], **options)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-4, fused=True)
    x = torch.randn(64, width, device=rank)

    def step():
        optimizer.zero_grad()
        model(x).pow(2).mean().backward()
        optimizer.step()
    return step


def timed(step):
    torch.cuda.synchronize()
    dist.barrier()
    begin = time.perf_counter()
    for _ in range(12):
        step()
    torch.cuda.synchronize()
    return round((time.perf_counter() - begin) / 12 * 1e3, 3)


def work(rank, folder):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29511")
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", rank=rank, world_size=2)
    for case, (plain, mended) in CASES.items():
        layers, width = (200, 256) if case == "unused" else (24, 4096)
        out = {"case": case, "gpu": torch.cuda.get_device_name()}
        for key, options in (("mended_ms", mended), ("plain_ms", plain)):
            step = trained(rank, layers, width, options)
            for _ in range(6):
                step()
            out[key] = [timed(step) for _ in range(3)]
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], schedule=schedule(wait=1, warmup=2, active=4)) as prof:
            for _ in range(7):
                step()
                prof.step()
        if rank == 0:
            prof.export_chrome_trace(f"{folder}/ddp_{case}.json.gz")
            print(json.dumps(out), flush=True)
        del step
        torch.cuda.empty_cache()
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(work, (sys.argv[1],), 2)
