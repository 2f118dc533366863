"""Programs as a careless person writes them, and mended as the first thing to do says: recorded with PyTorch's profiler (stacks and
shapes, five steps) and timed without it. What Gapscope says of the first is compared with the second. Needs a GPU and PyTorch:

    python3 tests/gpu/careless.py FOLDER [CASE...]

writes FOLDER/CASE_before.json.gz and CASE_after.json.gz and prints ms a step; tests/gpu/PAIRS.md has what it gave.
"""
import gzip
import json
import os
import pathlib
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn
from torch.profiler import ProfilerActivity, profile, schedule

GPU = "cuda"


def lstm(mended):
    """An LSTM cell for each element of a sequence; after: nn.LSTM."""
    words, head = nn.Embedding(1000, 256).to(GPU), nn.Linear(256, 1000).to(GPU)
    layer = (nn.LSTM(256, 256, batch_first=True) if mended else nn.LSTMCell(256, 256)).to(GPU)
    optimizer = torch.optim.Adam([*words.parameters(), *head.parameters(), *layer.parameters()], 1e-3)
    text = torch.randint(0, 1000, (32, 97), device=GPU)

    def cell_by_cell(x):
        h = c = torch.zeros(32, 256, device=GPU)
        out = []
        for i in range(x.shape[1]):
            h, c = layer(x[:, i], (h, c))
            out.append(h)
        return torch.stack(out, 1)

    def step():
        x = words(text[:, :-1])
        x = layer(x)[0] if mended else cell_by_cell(x)
        loss = F.cross_entropy(head(x).flatten(0, 1), text[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return step


def masks(mended):
    """x[mask]; after: x times the mask."""
    net = nn.Sequential(nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 512)).to(GPU)
    optimizer = torch.optim.SGD(net.parameters(), 1e-3)
    x = torch.randn(8192, 512, device=GPU)

    def step():
        h, loss = x, 0
        for i in range(24):
            h = net(h) * 0.1 + h
            mask = h[:, i] > 0
            picked = (h.pow(2) * mask[:, None]).sum() / (mask.sum() * 512) if mended else h[mask].pow(2).mean()
            loss = loss + picked
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return step


class Pictures(torch.utils.data.Dataset):
    def __len__(self):
        return 100_000

    def __getitem__(self, i):
        x = torch.rand(3, 96, 96)
        x = (x - x.mean((1, 2), keepdim=True)) / (x.std((1, 2), keepdim=True) + 1e-3)
        return x.flip(-1), i % 1000


def loader(mended):
    """A DataLoader in the main process; after: six workers."""
    widths = [3, 64, 64, 128, 128, 256, 256, 512, 512]
    layers = [nn.Sequential(nn.Conv2d(a, b, 3, 2 if a != b else 1, 1, bias=False), nn.BatchNorm2d(b), nn.ReLU())
              for a, b in zip(widths, widths[1:])]
    net = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000)).to(GPU)
    optimizer = torch.optim.AdamW(net.parameters(), 1e-3)
    workers = dict(num_workers=6, persistent_workers=True, prefetch_factor=4) if mended else {}
    batches = iter(torch.utils.data.DataLoader(Pictures(), 64, **workers))

    def step():
        x, y = next(batches)
        loss = F.cross_entropy(net(x.to(GPU)), y.to(GPU))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return step


class Layer(nn.Module):
    def __init__(self, size=1024, heads=16):
        super().__init__()
        self.heads = heads
        self.before, self.between = nn.LayerNorm(size), nn.LayerNorm(size)
        self.qkv, self.out = nn.Linear(size, 3 * size), nn.Linear(size, size)
        self.up, self.down = nn.Linear(size, 4 * size), nn.Linear(4 * size, size)

    def forward(self, x, cache, at):
        b, n, size = x.shape
        q, k, v = self.qkv(self.before(x)).view(b, n, 3, self.heads, size // self.heads).permute(2, 0, 3, 1, 4)
        cache[0].index_copy_(2, at, k)
        cache[1].index_copy_(2, at, v)
        seen = (torch.arange(cache[0].shape[2], device=x.device) <= at)[None, None, None]
        x = x + self.out(F.scaled_dot_product_attention(q, *cache, attn_mask=seen).transpose(1, 2).reshape(b, n, size))
        return x + self.down(F.gelu(self.up(self.between(x))))


def decode(mended):
    """16 tokens of a language model, one after the other; after: the launches of a token as one CUDA graph."""
    kwargs = dict(device=GPU, dtype=torch.bfloat16)
    words = nn.Embedding(32000, 1024).to(**kwargs)
    layers = nn.ModuleList(Layer() for _ in range(16)).to(**kwargs).eval()
    head = nn.Linear(1024, 32000, bias=False).to(**kwargs)
    caches = [(torch.zeros(1, 16, 64, 64, **kwargs), torch.zeros(1, 16, 64, 64, **kwargs)) for _ in layers]
    token, at = torch.zeros(1, 1, dtype=torch.long, device=GPU), torch.zeros(1, dtype=torch.long, device=GPU)

    @torch.no_grad()
    def one():
        x = words(token)
        for layer, cache in zip(layers, caches):
            x = layer(x, cache, at)
        token.copy_(head(x[:, -1]).argmax(-1, keepdim=True))
        at.add_(1)

    if mended:
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            one()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            one()

    def step():
        at.zero_()
        for _ in range(16):
            graph.replay() if mended else one()
            token.item()
    return step


def attention(mended):
    """Attention by hand, in full float32; after: TF32 for its products. With GAPSCOPE_FUSED one kernel for it, too."""
    torch.backends.cuda.matmul.allow_tf32 = mended
    qkv, out = nn.Linear(1024, 3072).to(GPU), nn.Linear(1024, 1024).to(GPU)
    optimizer = torch.optim.AdamW([*qkv.parameters(), *out.parameters()], 1e-3)
    x = torch.randn(8, 1024, 1024, device=GPU)
    later = torch.ones(1024, 1024, device=GPU, dtype=torch.bool).triu(1)

    def step():
        h, loss = x, 0
        for _ in range(4):
            q, k, v = qkv(F.layer_norm(h, (1024,))).view(8, 1024, 3, 16, 64).permute(2, 0, 3, 1, 4)
            if mended and "GAPSCOPE_FUSED" in os.environ:
                seen = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            else:
                seen = (q @ k.transpose(-1, -2) / 8).masked_fill(later, float("-inf")).softmax(-1) @ v
            h = h + out(seen.transpose(1, 2).reshape(8, 1024, 1024))
            loss = loss + h.pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return step


def table(mended):
    """An embedding of two million rows, which Adam updates in full in each step; after: fused=True."""
    rows, head = nn.Embedding(2_000_000, 64).to(GPU), nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 1)).to(GPU)
    optimizer = torch.optim.Adam([*rows.parameters(), *head.parameters()], 1e-3, **(dict(fused=True) if mended else dict(foreach=False)))
    who, liked = torch.randint(0, 2_000_000, (4096, 20), device=GPU), torch.rand(4096, 1, device=GPU)

    def step():
        loss = F.mse_loss(head(rows(who).mean(1)), liked)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return step


def pictures(mended):
    """Convolutions in float32 with a batch norm, a wait for the loss in each step; after: channels last."""
    widths = [3, 64, 64, 128, 128, 256, 256, 512, 512]
    layers = [nn.Sequential(nn.Conv2d(a, b, 3, 2 if a != b else 1, 1, bias=False), nn.BatchNorm2d(b), nn.ReLU())
              for a, b in zip(widths, widths[1:])]
    net = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000)).to(GPU)
    x, y = torch.randn(128, 3, 224, 224, device=GPU), torch.randint(0, 1000, (128,), device=GPU)
    if mended:
        net, x = net.to(memory_format=torch.channels_last), x.to(memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(net.parameters(), 1e-3, momentum=0.9)

    def step():
        loss = F.cross_entropy(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        loss.item()
    return step


def experts(mended):
    """A mixture of 32 experts, one after the other, each with the tokens it is chosen for; after: all at once, of equal capacity."""
    kwargs = dict(device=GPU, dtype=torch.bfloat16)
    up, down = (nn.Parameter(torch.randn(32, *shape, **kwargs) * 0.02) for shape in ((512, 1024), (1024, 512)))
    gate = nn.Linear(512, 32).to(**kwargs)
    optimizer = torch.optim.SGD([up, down, *gate.parameters()], 1e-3)
    x = torch.randn(8192, 512, **kwargs)

    def step():
        weight, chosen = gate(x).softmax(-1).max(-1)
        if mended:
            order = chosen.argsort()
            h = F.gelu(torch.bmm(x[order].view(32, 256, 512), up))
            y = torch.zeros_like(x).index_copy(0, order, torch.bmm(h, down).view(8192, 512))
        else:
            y = torch.zeros_like(x)
            for e in range(32):
                mine = torch.where(chosen == e)[0]
                if len(mine):
                    y = y.index_add(0, mine, F.gelu(x[mine] @ up[e]) @ down[e])
        loss = (y * weight[:, None]).float().pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return step


def by_hand(mended):
    """Norms, an activation and a loss written out; after: torch.compile."""
    kwargs = dict(device=GPU, dtype=torch.bfloat16)
    layers = nn.ModuleList(nn.Sequential(nn.Linear(1024, 4096), nn.Linear(4096, 1024)) for _ in range(6)).to(**kwargs)
    head, scale = nn.Linear(1024, 8192, bias=False).to(**kwargs), nn.Parameter(torch.ones(1024, **kwargs))
    optimizer = torch.optim.AdamW([*layers.parameters(), *head.parameters(), scale], 1e-3, fused=True)
    x, y = torch.randn(8192, 1024, **kwargs), torch.randint(0, 8192, (8192,), device=GPU)

    def norm(h):
        h32 = h.float()
        return (h32 / (h32.pow(2).mean(-1, keepdim=True) + 1e-6).sqrt()).to(h.dtype) * scale

    def forward(h):
        for layer in layers:
            u = layer[0](norm(h))
            u = 0.5 * u * (1 + torch.tanh(0.7978845608 * (u + 0.044715 * u.pow(3))))
            h = h + layer[1](u)
        p = head(norm(h)).float().softmax(-1)
        return -(p.gather(1, y[:, None]) + 1e-9).log().mean()

    forward = torch.compile(forward) if mended else forward

    def step():
        loss = forward(x)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return step


def one_by_one(mended):
    """Sixteen examples one after the other, their gradients added up, each loss printed; after: one batch of sixteen."""
    block = [nn.TransformerEncoderLayer(512, 8, 2048, dropout=0, batch_first=True) for _ in range(6)]
    net, head = nn.Sequential(*block).to(GPU), nn.Linear(512, 1000).to(GPU)
    optimizer = torch.optim.AdamW([*net.parameters(), *head.parameters()], 1e-3)
    x, y = torch.randn(16, 128, 512, device=GPU), torch.randint(0, 1000, (16, 128), device=GPU)

    def step():
        optimizer.zero_grad()
        with torch.autocast(GPU, torch.bfloat16):
            for part in (range(1) if mended else range(16)):
                mine = slice(None) if mended else slice(part, part + 1)
                loss = F.cross_entropy(head(net(x[mine])).flatten(0, 1), y[mine].flatten()) * (1 if mended else 1 / 16)
                loss.backward()
                loss.item()
        optimizer.step()
    return step


CASES = {case.__name__: case for case in (lstm, masks, loader, decode, attention, table, pictures, experts, by_hand, one_by_one)}


def timed(step, steps):
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(steps):
        step()
    torch.cuda.synchronize()
    return (time.perf_counter() - begin) / steps * 1e3


def record(step, path):
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True, with_stack=True,
                 schedule=schedule(wait=0, warmup=2, active=5),
                 on_trace_ready=lambda made: made.export_chrome_trace(str(path))) as profiler:
        for _ in range(7):
            step()
            profiler.step()
    torch.cuda.synchronize()
    with gzip.open(path) as file:
        events = json.load(file)["traceEvents"]
    steps = [e["dur"] for e in events if e.get("cat") == "user_annotation" and e["name"].startswith("ProfilerStep")]
    return sum(steps) / len(steps) / 1e3


def main(folder, *cases):
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    for case in cases or CASES:
        for side in ("before", "after"):
            torch.manual_seed(0)
            step = CASES[case](side == "after")
            timed(step, 8)
            plain = [timed(step, 10) for _ in range(3)]
            recorded = [record(step, pathlib.Path(folder) / f"{case}_{side}.json.gz") for _ in range(3)]
            print(f"{case}_{side}", "plain", *(f"{ms:.2f}" for ms in plain), "recorded", *(f"{ms:.2f}" for ms in recorded), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
