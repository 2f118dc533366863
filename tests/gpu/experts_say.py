"""Programs in each of which one thing costs more than all others, and mended as an expert says: recorded with PyTorch's
profiler and timed without it. What Gapscope says first of a program is compared with what mending it gives. Needs a GPU and PyTorch:

    python3 tests/gpu/experts_say.py FOLDER [CASE...]

writes FOLDER/CASE_lean.json.gz and CASE_full.json.gz (stacks and shapes) of the program before, with four marked steps each, and prints
one JSON line a case: plain_ms (three timings of twelve steps) and mended_ms.
"""
import gzip
import json
import pathlib
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn
from torch.profiler import ProfilerActivity, profile, schedule
from torch.utils.checkpoint import checkpoint

GPU = "cuda"


class Block(nn.Module):
    def __init__(self, width, heads, mask=None, causal=False):
        super().__init__()
        self.heads, self.mask, self.causal = heads, mask, causal
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        rows, length, width = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(rows, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=self.mask, is_causal=self.causal)
        x = x + self.out(y.transpose(1, 2).reshape(rows, length, width))
        return x + self.mlp(self.norm2(x))


def trained(model, loss_of, optimizer=None, half=True):
    optimizer = optimizer or torch.optim.AdamW(model.parameters(), 1e-4, fused=True)

    def step():
        optimizer.zero_grad()
        with torch.autocast("cuda", torch.bfloat16, enabled=half):
            loss = loss_of()
        loss.backward()
        optimizer.step()
    return step


def recompute(mended):
    """Every block is checkpointed though memory is free; after: none."""
    blocks = nn.ModuleList(Block(1024, 16, causal=True) for _ in range(8)).to(GPU)
    x = torch.randn(8, 1024, 1024, device=GPU)

    def loss_of():
        h = x
        for block in blocks:
            h = block(h) if mended else checkpoint(block, h, use_reentrant=False)
        return h.float().pow(2).mean()
    return trained(blocks, loss_of)


def cpu_optimizer(mended):
    """Adam's state and arithmetic on the CPU, gradients and weights copied each step; after: on the GPU."""
    net = nn.Sequential(*(layer for _ in range(6) for layer in (nn.Linear(1024, 1024), nn.ReLU()))).to(GPU)
    x = torch.randn(2048, 1024, device=GPU)
    if mended:
        return trained(net, lambda: net(x).float().pow(2).mean())
    masters = [p.detach().cpu().clone().requires_grad_() for p in net.parameters()]
    optimizer = torch.optim.Adam(masters, 1e-4, foreach=False)

    def step():
        net.zero_grad()
        with torch.autocast("cuda", torch.bfloat16):
            loss = net(x).float().pow(2).mean()
        loss.backward()
        for master, p in zip(masters, net.parameters()):
            master.grad = p.grad.cpu()
        optimizer.step()
        for master, p in zip(masters, net.parameters()):
            p.data.copy_(master.data)
    return step


def checks(mended):
    """A hook in every layer looks whether its output is finite; after: without."""
    net = nn.Sequential(*(layer for _ in range(24) for layer in (nn.Linear(512, 512), nn.LayerNorm(512), nn.ReLU()))).to(GPU)
    x = torch.randn(1024, 512, device=GPU)

    def is_finite(module, args, out):
        if torch.isnan(out).any():
            raise RuntimeError(f"not a number behind {module}")
    if not mended:
        for layer in net:
            layer.register_forward_hook(is_finite)
    return trained(net, lambda: net(x).float().pow(2).mean())


class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, i):
        return torch.randn(256), i % 10


def short_epochs(mended):
    """Each step is an epoch of two batches whose workers are started anew; after: persistent_workers."""
    net = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 10)).to(GPU)
    optimizer = torch.optim.SGD(net.parameters(), 1e-2)
    loader = torch.utils.data.DataLoader(Rows(), 32, num_workers=4, pin_memory=True, persistent_workers=mended)

    def step():
        for x, y in loader:
            loss = F.cross_entropy(net(x.to(GPU, non_blocking=True)), y.to(GPU, non_blocking=True))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return step


class Recommender(nn.Module):
    def __init__(self, sparse):
        super().__init__()
        self.tables = nn.ModuleList(nn.EmbeddingBag(400_000, 32, mode="sum", sparse=sparse) for _ in range(8))
        self.top = nn.Sequential(nn.Linear(8 * 32, 256), nn.ReLU(), nn.Linear(256, 1))

    def forward(self, ids):
        return self.top(torch.cat([table(ids[:, i]) for i, table in enumerate(self.tables)], 1)).squeeze(1)


def recommender(mended):
    """Tables of 400,000 rows, 1,024 of them read, get dense gradients; after: sparse ones."""
    net = Recommender(mended).to(GPU)
    ids = torch.randint(0, 400_000, (1024, 8, 2), device=GPU)
    clicked = torch.rand(1024, device=GPU)
    dense = torch.optim.Adam(net.top.parameters() if mended else net.parameters(), 1e-3)
    sparse = torch.optim.SparseAdam(list(net.tables.parameters()), 1e-3) if mended else None

    def step():
        dense.zero_grad()
        if sparse:
            sparse.zero_grad()
        F.binary_cross_entropy_with_logits(net(ids), clicked).backward()
        dense.step()
        if sparse:
            sparse.step()
    return step


def causal_mask(mended):
    """Attention gets a causal mask as a tensor; after: is_causal=True."""
    length = 2048
    mask = torch.full((length, length), float("-inf"), device=GPU, dtype=torch.bfloat16).triu(1)
    net = nn.Sequential(*(Block(768, 12, None if mended else mask, mended) for _ in range(4))).to(GPU)
    x = torch.randn(4, length, 768, device=GPU)
    return trained(net, lambda: net(x).float().pow(2).mean())


def player(mended):
    """A small policy chooses each of 64 actions on the GPU, one row at a time; after: on the CPU."""
    where = "cpu" if mended else GPU
    policy = nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 4)).to(where)
    optimizer = torch.optim.Adam(policy.parameters(), 1e-3)

    def step():
        state, chosen = torch.zeros(8), []
        for _ in range(64):
            with torch.no_grad():
                action = int(policy(state.to(where).unsqueeze(0)).argmax().item())
            chosen.append((state, action))
            state = state * 0.9 + torch.randn(8) * 0.1 * (action + 1)
        states = torch.stack([s for s, _ in chosen]).to(where)
        actions = torch.tensor([a for _, a in chosen]).to(where)
        optimizer.zero_grad()
        F.cross_entropy(policy(states), actions).backward()
        optimizer.step()
    return step


def distributions(mended):
    """torch.distributions check their arguments, which reads the GPU; after: validate_args=False."""
    net = nn.Sequential(nn.Linear(64, 256), nn.Tanh(), nn.Linear(256, 256), nn.Tanh(), nn.Linear(256, 16)).to(GPU)
    x = torch.randn(512, 64, device=GPU)
    check = False if mended else None

    def loss_of():
        loss = 0
        for _ in range(16):
            mean, spread = net(x).chunk(2, 1)
            one = torch.distributions.Normal(mean, F.softplus(spread) + 0.1, validate_args=check)
            action = one.rsample()
            loss = loss - one.log_prob(action).mean() - one.entropy().mean()
        return loss
    return trained(net, loss_of, half=False)


def averages(mended):
    """An average of the weights in a loop over the parameters; after: foreach."""
    net = nn.Sequential(*(Block(256, 4, causal=True) for _ in range(12))).to(GPU)
    x = torch.randn(8, 128, 256, device=GPU)
    averaged = [p.detach().clone() for p in net.parameters()]
    train = trained(net, lambda: net(x).float().pow(2).mean())

    def step():
        train()
        with torch.no_grad():
            if mended:
                torch._foreach_lerp_(averaged, list(net.parameters()), 0.001)
            else:
                for old, new in zip(averaged, net.parameters()):
                    old.mul_(0.999).add_(new, alpha=0.001)
    return step


def floats(mended):
    """Everything in FP32; after: TF32."""
    torch.set_float32_matmul_precision("high" if mended else "highest")
    net = nn.Sequential(*(Block(768, 12, causal=True) for _ in range(6))).to(GPU)
    x = torch.randn(8, 256, 768, device=GPU)
    return trained(net, lambda: net(x).pow(2).mean(), half=False)


def saved_often(mended):
    """Every second step writes a checkpoint; after: every hundredth."""
    net = nn.Sequential(*(Block(512, 8, causal=True) for _ in range(6))).to(GPU)
    x = torch.randn(8, 256, 512, device=GPU)
    train = trained(net, lambda: net(x).float().pow(2).mean())
    count = 0

    def step():
        nonlocal count
        train()
        count += 1
        if count % (100 if mended else 2) == 0:
            torch.save(net.state_dict(), "/tmp/checkpoint.pt")
    return step


def lengths(mended):
    """A compiled model gets another length each step, and is compiled for each; after: padded to one length."""
    torch._dynamo.reset()
    torch._dynamo.config.recompile_limit = 64
    net = nn.Sequential(*(Block(256, 4, causal=True) for _ in range(2))).to(GPU)
    compiled = torch.compile(net, dynamic=False)
    count = 0

    def loss_of():
        nonlocal count
        count += 1
        length = 512 if mended else 128 + 8 * (count % 5)
        return compiled(torch.randn(8, length, 256, device=GPU)).float().pow(2).mean()
    return trained(net, loss_of)


def cache_by_cat(mended):
    """Generation that makes the cache longer by torch.cat each token; after: one buffer."""
    net = nn.ModuleList(Block(512, 8) for _ in range(8)).to(GPU).bfloat16()
    rows, width, heads, past, new = 16, 512, 8, 1024, 16

    def step():
        size = past + new
        caches = [[torch.randn(rows, heads, size if mended else past, width // heads, device=GPU, dtype=torch.bfloat16)
                   for _ in range(2)] for _ in net]
        x = torch.randn(rows, 1, width, device=GPU, dtype=torch.bfloat16)
        with torch.no_grad():
            for token in range(new):
                h = x
                for block, cache in zip(net, caches):
                    q, k, v = block.qkv(block.norm1(h)).view(rows, 1, 3, heads, -1).permute(2, 0, 3, 1, 4)
                    for i, part in enumerate((k, v)):
                        if mended:
                            cache[i][:, :, past + token:past + token + 1] = part
                        else:
                            cache[i] = torch.cat([cache[i], part], 2)
                    end = past + token + 1
                    y = F.scaled_dot_product_attention(q, cache[0][:, :, :end], cache[1][:, :, :end])
                    h = h + block.out(y.transpose(1, 2).reshape(rows, 1, width))
                    h = h + block.mlp(block.norm2(h))
    return step


def scaler(mended):
    """float16 with a GradScaler, which reads whether gradients are finite each step; after: bfloat16 without."""
    net = nn.Sequential(*(Block(256, 4, causal=True) for _ in range(6))).to(GPU)
    x = torch.randn(8, 128, 256, device=GPU)
    optimizer = torch.optim.AdamW(net.parameters(), 1e-4, foreach=True)
    scaling = torch.amp.GradScaler("cuda", enabled=not mended)

    def step():
        optimizer.zero_grad()
        with torch.autocast("cuda", torch.bfloat16 if mended else torch.float16):
            loss = net(x).float().pow(2).mean()
        scaling.scale(loss).backward()
        scaling.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        scaling.step(optimizer)
        scaling.update()
    return step


def vocabulary(mended):
    """A vocabulary of 50,257 words and its logits in float32; after: 50,304, and a loss in bfloat16."""
    words = 50_304 if mended else 50_257
    head = nn.Linear(768, words).to(GPU)
    x, y = torch.randn(4096, 768, device=GPU), torch.randint(0, 50_257, (4096,), device=GPU)
    return trained(head, lambda: F.cross_entropy(head(x) if mended else head(x).float(), y))


def unfused_loss(mended):
    """Logits of 32,768 words as float32 into F.cross_entropy; after: the same loss compiled, of logits in bfloat16."""
    head = nn.Linear(1024, 32_768).to(GPU)
    x, y = torch.randn(8192, 1024, device=GPU), torch.randint(0, 32_768, (8192,), device=GPU)
    loss_of = torch.compile(F.cross_entropy) if mended else F.cross_entropy
    return trained(head, lambda: loss_of(head(x) if mended else head(x).float(), y))


def decoded(mended):
    """Eight pictures are decoded and resized by PIL in each step; after: once, before the loop."""
    import io
    from PIL import Image
    import numpy as np
    noise = np.random.default_rng(0).integers(0, 255, (64, 64, 3), dtype=np.uint8)
    file = io.BytesIO()
    Image.fromarray(noise).resize((800, 600)).save(file, "JPEG")

    def read():
        pictures = [Image.open(io.BytesIO(file.getvalue())).convert("RGB").resize((224, 224)) for _ in range(8)]
        return torch.from_numpy(np.stack([np.asarray(p) for p in pictures])).permute(0, 3, 1, 2)
    before = read() if mended else None
    net = nn.Sequential(nn.Conv2d(3, 64, 7, 4), nn.ReLU(), nn.Conv2d(64, 128, 3, 2), nn.ReLU(), nn.AdaptiveAvgPool2d(1),
                        nn.Flatten(), nn.Linear(128, 10)).to(GPU)
    y = torch.randint(0, 10, (8,), device=GPU)
    return trained(net, lambda: F.cross_entropy(net((before if mended else read()).to(GPU).float() / 255), y))


def shared_heads(mended):
    """Eight heads of keys and values for 32 of queries, copied for each; after: enable_gqa=True."""
    q = torch.randn(4, 32, 1024, 128, device=GPU, dtype=torch.bfloat16)
    kv = torch.randn(2, 4, 8, 1024, 128, device=GPU, dtype=torch.bfloat16)

    def repeat(x):
        rows, heads, length, width = x.shape
        return x[:, :, None].expand(rows, heads, 4, length, width).reshape(rows, 4 * heads, length, width)

    @torch.no_grad()
    def step():
        out = q
        for _ in range(24):
            k, v = kv[0], kv[1]
            if mended:
                out = F.scaled_dot_product_attention(out, k, v, is_causal=True, enable_gqa=True)
            else:
                out = F.scaled_dot_product_attention(out, repeat(k), repeat(v), is_causal=True)
    return step


def scaler_fused(mended):
    """float16 with a GradScaler and an optimizer that waits for it; after: fused=True, which reads the flag on the GPU."""
    net = nn.Sequential(*(Block(256, 4, causal=True) for _ in range(6))).to(GPU)
    x = torch.randn(8, 128, 256, device=GPU)
    optimizer = torch.optim.AdamW(net.parameters(), 1e-4, fused=mended, foreach=None if mended else True)
    scaling = torch.amp.GradScaler("cuda")

    def step():
        optimizer.zero_grad()
        with torch.autocast("cuda", torch.float16):
            loss = net(x).float().pow(2).mean()
        scaling.scale(loss).backward()
        scaling.step(optimizer)
        scaling.update()
    return step


def benchmark_off(mended):
    """Convolutions of one size, cuDNN's algorithms chosen by its heuristics; after: cudnn.benchmark."""
    torch.backends.cudnn.benchmark = mended
    net = nn.Sequential(*(layer for wide, out in ((3, 96), (96, 96), (96, 192), (192, 192), (192, 192)) for layer in
                          (nn.Conv2d(wide, out, 5 if wide < 192 else 3, padding=2), nn.ReLU())), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                        nn.Linear(192, 10)).to(GPU)
    x, y = torch.randn(16, 3, 112, 112, device=GPU), torch.randint(0, 10, (16,), device=GPU)
    return trained(net, lambda: F.cross_entropy(net(x), y), half=False)


def cast_each_time(mended):
    """Blocks that are called eight times under autocast(cache_enabled=False) cast their weights each time; after: the cache."""
    net = nn.Sequential(*(layer for _ in range(4) for layer in (nn.Linear(2048, 2048), nn.ReLU()))).to(GPU)
    optimizer = torch.optim.AdamW(net.parameters(), 1e-4, fused=True)
    x = torch.randn(64, 2048, device=GPU)

    def step():
        optimizer.zero_grad()
        with torch.autocast("cuda", torch.bfloat16, cache_enabled=mended):
            h = x
            for _ in range(8):
                h = net(h)
            loss = h.float().pow(2).mean()
        loss.backward()
        optimizer.step()
    return step


class Adapted(nn.Module):
    def __init__(self, layer, rank):
        super().__init__()
        self.layer = layer
        if rank:
            self.lora_a, self.lora_b = nn.Linear(layer.in_features, rank, bias=False), nn.Linear(rank, layer.out_features, bias=False)
        self.rank = rank

    def forward(self, x):
        return self.layer(x) + 2.0 * self.lora_b(self.lora_a(x)) if self.rank else self.layer(x)


def adapters(mended):
    """Inference with low-rank adapters next to every layer; after: merged into its weights."""
    blocks = nn.ModuleList(Block(1024, 16, causal=True) for _ in range(8))
    for block in blocks:
        for owner, name in ((block, "qkv"), (block, "out"), (block.mlp, "0"), (block.mlp, "2")):
            setattr(owner, name, Adapted(getattr(owner, name), 0 if mended else 16))
    blocks.to(GPU).bfloat16().eval()
    x = torch.randn(8, 512, 1024, device=GPU, dtype=torch.bfloat16)

    @torch.no_grad()
    def step():
        h = x
        for block in blocks:
            h = block(h)
        return h.float().mean().item()
    return step


def breaks(mended):
    """A compiled model whose blocks call what Dynamo cannot trace; after: without that."""
    torch._dynamo.reset()
    seen = {}

    @torch._dynamo.disable
    def count(name):
        seen[name] = seen.get(name, 0) + 1

    class Counted(Block):
        def forward(self, x):
            x = super().forward(x)
            if not mended:
                count("block")
            return x
    net = nn.Sequential(*(Counted(256, 4, causal=True) for _ in range(16))).to(GPU)
    x = torch.randn(8, 128, 256, device=GPU)
    compiled = torch.compile(net)
    return trained(net, lambda: compiled(x).float().pow(2).mean())


def sampled(mended):
    """Each token that is sampled is read at once, to look for the end; after: all of them, at the end."""
    net = nn.ModuleList(Block(768, 12) for _ in range(6)).to(GPU).bfloat16().eval()
    head, words = nn.Linear(768, 32_000).to(GPU).bfloat16(), nn.Embedding(32_000, 768).to(GPU).bfloat16()
    run = nn.Sequential(*net)

    @torch.no_grad()
    def step():
        token = torch.zeros(64, 1, dtype=torch.long, device=GPU)
        out = []
        for _ in range(24):
            probs = head(run(words(token)))[:, -1].float().softmax(-1)
            token = torch.multinomial(probs, 1)
            out.append(token)
            if not mended and (token == 2).all().item():
                break
        return torch.cat(out, 1).tolist()
    return step


def mixture(mended):
    """Sixteen experts in a loop, a small product each; after: all in one batched product."""
    count, width, rows = 16, 512, 2048
    up = nn.Parameter(torch.randn(count, width, 4 * width, device=GPU) * 0.02)
    down = nn.Parameter(torch.randn(count, 4 * width, width, device=GPU) * 0.02)
    gate = nn.Linear(width, count).to(GPU)
    optimizer = torch.optim.AdamW([up, down, *gate.parameters()], 1e-4, fused=True)
    x = torch.randn(rows, width, device=GPU)

    def step():
        optimizer.zero_grad()
        with torch.autocast("cuda", torch.bfloat16):
            loss = 0
            for _ in range(4):
                scores = gate(x).softmax(-1)
                order = scores.argsort(0, descending=True)[:rows // count]  # each expert chooses its rows
                picked = x[order.t()]                                       # experts, rows, width
                if mended:
                    h = torch.bmm(F.gelu(torch.bmm(picked, up)), down)
                else:
                    h = torch.stack([F.gelu(picked[i] @ up[i]) @ down[i] for i in range(count)])
                loss = loss + (h.float().pow(2).mean(-1) * scores.t().gather(1, order.t())).mean()
        loss.backward()
        optimizer.step()
    return step


def lengths_eager(mended):
    """An eager model of few rows gets another length each step: no graph can be captured; after: compiled with dynamic=True."""
    torch._dynamo.reset()
    net = nn.Sequential(*(Block(256, 4, causal=True) for _ in range(6))).to(GPU)
    run = torch.compile(net, dynamic=True) if mended else net
    count = 0

    def loss_of():
        nonlocal count
        count += 1
        return run(torch.randn(4, 96 + 24 * (count * 7 % 11), 256, device=GPU)).float().pow(2).mean()
    return trained(net, loss_of)


CASES = {case.__name__: case for case in (recompute, cpu_optimizer, checks, short_epochs, recommender, causal_mask, player,
                                          distributions, averages, floats, saved_often, lengths, cache_by_cat, scaler, vocabulary, unfused_loss,
                                          decoded, shared_heads, scaler_fused, benchmark_off, cast_each_time, adapters, breaks, sampled,
                                          mixture, lengths_eager)}


def timed(step, steps=12):
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(steps):
        step()
    torch.cuda.synchronize()
    return round((time.perf_counter() - begin) / steps * 1e3, 3)


def record(step, path, **flags):
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], schedule=schedule(wait=1, warmup=2, active=4),
                 on_trace_ready=lambda p: p.export_chrome_trace(path), **flags) as prof:
        for _ in range(7):
            step()
            prof.step()
    with gzip.open(path) as file:
        events = json.load(file)["traceEvents"]
    return [round(e["dur"] / 1e3, 3) for e in events if e.get("cat") == "user_annotation" and e["name"].startswith("ProfilerStep#")]


def main(folder, *cases):
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    for case in cases or CASES:
        out = {"case": case, "gpu": torch.cuda.get_device_name(), "torch": torch.__version__}
        try:
            for key, mended in (("mended_ms", True), ("plain_ms", False)):
                torch.manual_seed(0)
                torch.set_float32_matmul_precision("highest")
                step = CASES[case](mended)
                for _ in range(6):
                    step()
                out[key] = [timed(step) for _ in range(3)]
            out["lean_ms"] = record(step, f"{folder}/{case}_lean.json.gz")
            out["full_ms"] = record(step, f"{folder}/{case}_full.json.gz", with_stack=True, record_shapes=True)
        except Exception as error:  # the others are worth having
            out["failed"] = str(error)[:300]
        print(json.dumps(out), flush=True)
        del step
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main(*sys.argv[1:])
