"""Forty programs as people write them: host-bound, GPU-bound, compiled, with graphs, loaders, waits. tests/gpu/plain_pairs.py times
and records them; tests/gpu/PLAIN.md has what came of that. Each returns step()."""
import os, time, random
import torch, torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint
import numpy as np

GPU = "cuda"
bf = torch.bfloat16


def train(net, opt, loss_of):
    def step():
        opt.zero_grad()
        loss = loss_of()
        loss.backward()
        opt.step()
    return step


def mlp_tiny(_):
    net = nn.Sequential(*[m for _ in range(10) for m in (nn.Linear(256, 256), nn.ReLU())], nn.Linear(256, 10)).to(GPU)
    opt = torch.optim.Adam(net.parameters(), 1e-3)
    x, y = torch.randn(64, 256, device=GPU), torch.randint(0, 10, (64,), device=GPU)
    return train(net, opt, lambda: F.cross_entropy(net(x), y))


def resnet18(_):
    import torchvision
    net = torchvision.models.resnet18().to(GPU)
    opt = torch.optim.SGD(net.parameters(), 1e-3, momentum=0.9)
    x, y = torch.randn(8, 3, 128, 128, device=GPU), torch.randint(0, 1000, (8,), device=GPU)
    return train(net, opt, lambda: F.cross_entropy(net(x), y))


def resnet50_amp(_):
    import torchvision
    net = torchvision.models.resnet50().to(GPU, memory_format=torch.channels_last)
    opt = torch.optim.SGD(net.parameters(), 1e-3, momentum=0.9)
    x = torch.randn(64, 3, 224, 224, device=GPU).to(memory_format=torch.channels_last)
    y = torch.randint(0, 1000, (64,), device=GPU)
    scaler = torch.amp.GradScaler("cuda")

    def step():
        opt.zero_grad(set_to_none=True)
        with torch.autocast("cuda", torch.float16):
            loss = F.cross_entropy(net(x), y)
        scaler.scale(loss).backward()
        scaler.step(opt)
        scaler.update()
    return step


def _gpt2(layers=8, size=512):
    from transformers import GPT2Config, GPT2LMHeadModel
    return GPT2LMHeadModel(GPT2Config(n_layer=layers, n_embd=size, n_head=8, vocab_size=8000, use_cache=False)).to(GPU)


def gpt2_train(_):
    net = _gpt2()
    opt = torch.optim.AdamW(net.parameters(), 1e-4)
    x = torch.randint(0, 8000, (8, 256), device=GPU)

    def step():
        opt.zero_grad()
        with torch.autocast("cuda", bf):
            loss = net(input_ids=x, labels=x).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
        return loss.item()
    return step


def gpt2_big(_):
    net = _gpt2(12, 1024)
    opt = torch.optim.AdamW(net.parameters(), 1e-4, fused=True)
    x = torch.randint(0, 8000, (16, 512), device=GPU)

    def step():
        with torch.autocast("cuda", bf):
            loss = net(input_ids=x, labels=x).loss
        loss.backward()
        opt.step()
        opt.zero_grad()
    return step


def bert_infer(_):
    from transformers import BertConfig, BertModel
    net = BertModel(BertConfig(num_hidden_layers=12)).to(GPU, torch.float16).eval()
    x = torch.randint(0, 30000, (1, 128), device=GPU)

    def step():
        with torch.no_grad():
            return net(x).last_hidden_state[:, 0].float().cpu()
    return step


def hf_generate(_):
    from transformers import GPT2Config, GPT2LMHeadModel
    net = GPT2LMHeadModel(GPT2Config(n_layer=6, n_embd=512, n_head=8, vocab_size=8000, eos_token_id=None, bos_token_id=0, pad_token_id=0)).to(GPU, torch.float16).eval()
    x = torch.randint(1, 8000, (4, 32), device=GPU)

    def step():
        with torch.no_grad():
            return net.generate(x, attention_mask=torch.ones_like(x), max_new_tokens=8, do_sample=False)
    return step


def dlrm_like(_):
    tables = nn.ModuleList(nn.EmbeddingBag(20000, 64, mode="sum") for _ in range(20)).to(GPU)
    bottom = nn.Sequential(nn.Linear(13, 256), nn.ReLU(), nn.Linear(256, 64), nn.ReLU()).to(GPU)
    top = nn.Sequential(nn.Linear(64 + 210, 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, 1)).to(GPU)
    opt = torch.optim.Adagrad([*tables.parameters(), *bottom.parameters(), *top.parameters()], 1e-2)
    dense = torch.randn(2048, 13).pin_memory()
    sparse = [torch.randint(0, 20000, (2048, 8)).pin_memory() for _ in range(20)]
    y = torch.rand(2048, 1, device=GPU)
    rows, cols = torch.tril_indices(21, 21, -1)

    def loss():
        d = bottom(dense.to(GPU, non_blocking=True))
        e = [t(s.to(GPU, non_blocking=True)) for t, s in zip(tables, sparse)]
        z = torch.stack([d, *e], 1)
        inter = torch.bmm(z, z.transpose(1, 2))[:, rows.to(GPU), cols.to(GPU)]
        return F.binary_cross_entropy_with_logits(top(torch.cat([d, inter], 1)), y)
    return train(None, opt, loss)


class Res(nn.Module):
    def __init__(self, a, b):
        super().__init__()
        self.n1, self.c1, self.n2, self.c2 = nn.GroupNorm(8, a), nn.Conv2d(a, b, 3, 1, 1), nn.GroupNorm(8, b), nn.Conv2d(b, b, 3, 1, 1)
        self.t, self.skip = nn.Linear(64, b), nn.Conv2d(a, b, 1) if a != b else nn.Identity()

    def forward(self, x, t):
        h = self.c1(F.silu(self.n1(x))) + self.t(t)[:, :, None, None]
        return self.skip(x) + self.c2(F.silu(self.n2(h)))


class UNet(nn.Module):
    def __init__(self, w=(32, 64, 128)):
        super().__init__()
        self.first, self.last = nn.Conv2d(3, w[0], 3, 1, 1), nn.Conv2d(w[0], 3, 3, 1, 1)
        self.down = nn.ModuleList(Res(a, b) for a, b in zip((w[0],) + w, w))
        self.up = nn.ModuleList(Res(b + b, a) for a, b in zip((w[0],) + w, w))

    def forward(self, x, t):
        f = torch.exp(torch.arange(32, device=x.device) * -0.2)
        t = torch.cat([torch.sin(t[:, None] * f), torch.cos(t[:, None] * f)], 1)
        h, skips = self.first(x), []
        for r in self.down:
            h = r(h, t)
            skips.append(h)
            h = F.avg_pool2d(h, 2)
        for r in reversed(self.up):
            h = F.interpolate(h, scale_factor=2)
            h = r(torch.cat([h, skips.pop()], 1), t)
        return self.last(h)


def diffusion_train(_):
    net = UNet((64, 128, 256)).to(GPU)
    ema = [p.detach().clone() for p in net.parameters()]
    opt = torch.optim.AdamW(net.parameters(), 1e-4)
    x = torch.randn(32, 3, 64, 64, device=GPU)

    def step():
        t = torch.rand(32, device=GPU)
        noise = torch.randn_like(x)
        a = t[:, None, None, None]
        loss = F.mse_loss(net((1 - a).sqrt() * x + a.sqrt() * noise, t), noise)
        opt.zero_grad()
        loss.backward()
        opt.step()
        with torch.no_grad():
            for e, p in zip(ema, net.parameters()):
                e.lerp_(p, 0.01)
    return step


def diffusion_sample(_):
    net = UNet().to(GPU).eval()

    def step():
        with torch.no_grad():
            x = torch.randn(4, 3, 32, 32, device=GPU)
            for i in range(10, 0, -1):
                t = torch.full((4,), i / 10, device=GPU)
                x = x - 0.1 * net(x, t) + (0.01 * torch.randn_like(x) if i > 1 else 0)
            return x.clamp(-1, 1).cpu().numpy()
    return step


def rl_actor(_):
    net = nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 4)).to(GPU)
    value = nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, 1)).to(GPU)
    opt = torch.optim.Adam([*net.parameters(), *value.parameters()], 1e-3)
    world = np.random.randn(4, 8, 8) * 0.3

    def step():
        s, logs, values, rewards = np.random.randn(8), [], [], []
        for _ in range(24):
            obs = torch.as_tensor(s, dtype=torch.float32).to(GPU)
            d = torch.distributions.Categorical(logits=net(obs))
            a = d.sample()
            logs.append(d.log_prob(a))
            values.append(value(obs))
            s = np.tanh(world[a.item()] @ s + np.random.randn(8) * 0.1)
            rewards.append(float(-np.abs(s).sum()))
        ret, out = 0.0, []
        for r in reversed(rewards):
            ret = r + 0.99 * ret
            out.append(ret)
        ret = torch.tensor(out[::-1], device=GPU)
        v = torch.cat(values)
        loss = -(torch.stack(logs) * (ret - v.detach())).mean() + F.mse_loss(v, ret)
        opt.zero_grad()
        loss.backward()
        opt.step()
    return step


class Block(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.n1, self.n2, self.qkv, self.o = nn.LayerNorm(d), nn.LayerNorm(d), nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.up, self.down, self.heads = nn.Linear(d, 4 * d), nn.Linear(4 * d, d), heads

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(self.n1(x)).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        x = x + self.o(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, d))
        return x + self.down(F.gelu(self.up(self.n2(x))))


def recomputed(_):
    net = nn.ModuleList(Block(1024, 16) for _ in range(8)).to(GPU, bf)
    opt = torch.optim.AdamW(net.parameters(), 1e-4)
    x = torch.randn(8, 512, 1024, device=GPU, dtype=bf)

    def loss():
        h = x
        for b in net:
            h = checkpoint(b, h, use_reentrant=False)
        return h.float().pow(2).mean()
    return train(net, opt, loss)


def block_small(_):
    net = nn.Sequential(*[Block(384, 6) for _ in range(10)]).to(GPU, bf)
    opt = torch.optim.AdamW(net.parameters(), 1e-4, foreach=False)
    x = torch.randn(4, 128, 384, device=GPU, dtype=bf)
    return train(net, opt, lambda: net(x).float().pow(2).mean())


def compiled_train(_):
    net = nn.Sequential(*[Block(512, 8) for _ in range(8)]).to(GPU, bf)
    opt = torch.optim.AdamW(net.parameters(), 1e-4, fused=True)
    x = torch.randn(4, 256, 512, device=GPU, dtype=bf)
    fast = torch.compile(net)
    return train(net, opt, lambda: fast(x).float().pow(2).mean())


def compiled_graphs(_):
    net = nn.Sequential(*[Block(384, 6) for _ in range(6)]).to(GPU, bf).eval()
    fast = torch.compile(net, mode="reduce-overhead")
    x = torch.randn(2, 64, 384, device=GPU, dtype=bf)

    def step():
        with torch.no_grad():
            for _ in range(6):
                y = fast(x)
                y[0, 0, 0].item()
    return step


def graph_train(_):
    net = nn.Sequential(*[Block(384, 6) for _ in range(8)]).to(GPU, bf)
    opt = torch.optim.AdamW(net.parameters(), 1e-4, fused=True, capturable=True)
    x = torch.randn(4, 128, 384, device=GPU, dtype=bf)
    host = [torch.randn(4, 128, 384).to(bf).pin_memory() for _ in range(4)]
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())

    def once():
        opt.zero_grad(set_to_none=True)
        loss = net(x).float().pow(2).mean()
        loss.backward()
        opt.step()
        return loss
    with torch.cuda.stream(side):
        for _ in range(4):
            once()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    opt.zero_grad(set_to_none=True)
    with torch.cuda.graph(graph):
        loss = once()

    def step():
        for h in host:
            x.copy_(h, non_blocking=True)
            graph.replay()
        return loss.item()
    return step


class Noise(torch.utils.data.Dataset):
    def __len__(self):
        return 200000

    def __getitem__(self, i):
        x = np.random.rand(3, 64, 64).astype(np.float32)
        x = (x - x.mean()) / (x.std() + 1e-3)
        if i % 2:
            x = x[:, :, ::-1].copy()
        return torch.from_numpy(x), i % 100


def _small_conv():
    return nn.Sequential(nn.Conv2d(3, 64, 3, 2, 1), nn.BatchNorm2d(64), nn.ReLU(), nn.Conv2d(64, 128, 3, 2, 1), nn.BatchNorm2d(128), nn.ReLU(),
                         nn.Conv2d(128, 256, 3, 2, 1), nn.BatchNorm2d(256), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(256, 100)).to(GPU)


def loader_numpy(_):
    net = _small_conv()
    opt = torch.optim.SGD(net.parameters(), 1e-2)
    batches = iter(torch.utils.data.DataLoader(Noise(), 64))

    def loss():
        x, y = next(batches)
        return F.cross_entropy(net(x.to(GPU)), y.to(GPU))
    return train(net, opt, loss)


def loader_workers(_):
    net = _small_conv()
    opt = torch.optim.SGD(net.parameters(), 1e-2)
    batches = iter(torch.utils.data.DataLoader(Noise(), 256, num_workers=4, pin_memory=True, persistent_workers=True))

    def loss():
        x, y = next(batches)
        return F.cross_entropy(net(x.to(GPU, non_blocking=True)), y.to(GPU, non_blocking=True))
    return train(net, opt, loss)


def host_arith(_):
    net = nn.Sequential(nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 10)).to(GPU)
    opt = torch.optim.SGD(net.parameters(), 1e-2)
    base = torch.randn(256, 512)

    def loss():
        x = base
        for _ in range(40):
            x = (x * 1.01 + torch.rand_like(x) * 0.1).clamp(-3, 3)
        x = x - x.mean(0)
        y = (x.sum(1) > 0).long()
        return F.cross_entropy(net(x.to(GPU)), y.to(GPU))
    return train(net, opt, loss)


def offload(_):
    layers = [[(torch.randn(2048, 2048) * 0.02).to(bf).pin_memory() for _ in range(2)] for _ in range(10)]
    x = torch.randn(2048, 2048, device=GPU, dtype=bf)

    def step():
        with torch.no_grad():
            h = x
            for a, b in layers:
                wa, wb = a.to(GPU, non_blocking=True), b.to(GPU, non_blocking=True)
                h = h + F.gelu(h @ wa) @ wb * 0.01
            return h.mean().item()
    return step


def offload_pageable(_):
    layers = [nn.Linear(1024, 1024) for _ in range(12)]
    x = torch.randn(512, 1024, device=GPU)

    def step():
        h = x
        with torch.no_grad():
            for m in layers:
                m.to(GPU)
                h = F.relu(m(h))
                m.to("cpu")
        return h.sum().item()
    return step


def gan(_):
    g = nn.Sequential(nn.Linear(64, 256), nn.BatchNorm1d(256), nn.ReLU(), nn.Linear(256, 512), nn.BatchNorm1d(512), nn.ReLU(), nn.Linear(512, 784), nn.Tanh()).to(GPU)
    d = nn.Sequential(nn.Linear(784, 512), nn.LeakyReLU(0.2), nn.Linear(512, 256), nn.LeakyReLU(0.2), nn.Linear(256, 1)).to(GPU)
    og, od = torch.optim.Adam(g.parameters(), 2e-4), torch.optim.Adam(d.parameters(), 2e-4)
    real, one, zero = torch.randn(128, 784, device=GPU), torch.ones(128, 1, device=GPU), torch.zeros(128, 1, device=GPU)
    bce = nn.BCEWithLogitsLoss()

    def step():
        fake = g(torch.randn(128, 64, device=GPU))
        od.zero_grad()
        ld = bce(d(real), one) + bce(d(fake.detach()), zero)
        ld.backward()
        od.step()
        og.zero_grad()
        lg = bce(d(fake), one)
        lg.backward()
        og.step()
        return ld.item() + lg.item()
    return step


def graph_net(_):
    n, e = 20000, 200000
    src, dst = torch.randint(0, n, (e,), device=GPU), torch.randint(0, n, (e,), device=GPU)
    x, y = torch.randn(n, 128, device=GPU), torch.randint(0, 16, (n,), device=GPU)
    layers = nn.ModuleList([nn.Linear(128, 128), nn.Linear(128, 128), nn.Linear(128, 16)]).to(GPU)
    opt = torch.optim.Adam(layers.parameters(), 1e-2)

    def loss():
        h = x
        deg = torch.zeros(n, device=GPU).index_add_(0, dst, torch.ones(e, device=GPU)).clamp(min=1)
        for i, m in enumerate(layers):
            h = m(h)
            h = torch.zeros_like(h).index_add(0, dst, h[src]) / deg[:, None]
            if i < 2:
                h = F.dropout(F.relu(h), 0.5)
        return F.cross_entropy(h, y)
    return train(layers, opt, loss)


def gru_attention(_):
    enc, dec = nn.GRU(256, 256, 2, batch_first=True).to(GPU), nn.GRUCell(512, 256).to(GPU)
    words, head = nn.Embedding(5000, 256).to(GPU), nn.Linear(256, 5000).to(GPU)
    params = [*enc.parameters(), *dec.parameters(), *words.parameters(), *head.parameters()]
    opt = torch.optim.Adam(params, 1e-3)
    x, y = torch.randint(0, 5000, (64, 40), device=GPU), torch.randint(0, 5000, (64, 20), device=GPU)

    def step():
        out, h = enc(words(x))
        h, loss = h[-1], 0
        for i in range(19):
            w = torch.softmax((out @ h[:, :, None]).squeeze(-1), -1)
            h = dec(torch.cat([words(y[:, i]), (w[:, None] @ out).squeeze(1)], -1), h)
            loss = loss + F.cross_entropy(head(h), y[:, i + 1])
        opt.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(params, 1.0)
        opt.step()
    return step


def sync_layers(_):
    net = nn.ModuleList(nn.Linear(1024, 1024) for _ in range(24)).to(GPU)
    x = torch.randn(4096, 1024, device=GPU)

    def step():
        h, log = x, []
        with torch.no_grad():
            for m in net:
                h = F.relu(m(h))
                log.append(h.abs().max().item())
        return log
    return step


def sync_cuda(_):
    net = nn.Sequential(*[Block(512, 8) for _ in range(6)]).to(GPU, bf)
    opt = torch.optim.SGD(net.parameters(), 1e-3)
    x = torch.randn(8, 256, 512, device=GPU, dtype=bf)

    def step():
        h = x
        for b in net:
            h = b(h)
            torch.cuda.synchronize()
        opt.zero_grad()
        h.float().pow(2).mean().backward()
        torch.cuda.synchronize()
        opt.step()
        torch.cuda.synchronize()
    return step


def sleeps(_):
    net = nn.Sequential(*[m for _ in range(6) for m in (nn.Linear(512, 512), nn.ReLU())]).to(GPU)
    opt = torch.optim.Adam(net.parameters(), 1e-3)
    x = torch.randn(64, 512, device=GPU)

    def loss():
        time.sleep(0.004)
        return net(x).pow(2).mean()
    return train(net, opt, loss)


def gemm_fp32(_):
    w = [torch.randn(4096, 4096, device=GPU) * 0.01 for _ in range(4)]
    x = torch.randn(4096, 4096, device=GPU)

    def step():
        h = x
        for m in w:
            h = torch.relu(h @ m)
        return h
    return step


def two_streams(_):
    a, b = [nn.Sequential(*[m for _ in range(6) for m in (nn.Linear(2048, 2048), nn.ReLU())]).to(GPU, bf) for _ in range(2)]
    sa, sb = torch.cuda.Stream(), torch.cuda.Stream()
    x = torch.randn(2048, 2048, device=GPU, dtype=bf)

    def step():
        with torch.no_grad():
            now = torch.cuda.current_stream()
            sa.wait_stream(now), sb.wait_stream(now)
            with torch.cuda.stream(sa):
                u = a(x)
            with torch.cuda.stream(sb):
                v = b(x)
            now.wait_stream(sa), now.wait_stream(sb)
            return (u + v).mean().item()
    return step


def hooks_numpy(_):
    net = nn.Sequential(*[m for _ in range(8) for m in (nn.Linear(512, 512), nn.GELU())]).to(GPU)
    seen = {}

    def hook(m, i, o):
        a = o.detach().float().cpu().numpy()
        seen[id(m)] = (float(a.mean()), float(a.std()), float(np.percentile(a[:16], 99)))
    for m in net:
        if isinstance(m, nn.Linear):
            m.register_forward_hook(hook)
    opt = torch.optim.AdamW(net.parameters(), 1e-4)
    x = torch.randn(256, 512, device=GPU)
    return train(net, opt, lambda: net(x).pow(2).mean())


def vit_amp(_):
    import torchvision
    net = torchvision.models.vit_b_16().to(GPU)
    opt = torch.optim.AdamW(net.parameters(), 1e-4)
    x, y = torch.randn(48, 3, 224, 224, device=GPU), torch.randint(0, 1000, (48,), device=GPU)

    def loss():
        with torch.autocast("cuda", bf):
            return F.cross_entropy(net(x), y)
    return train(net, opt, loss)


class Swish(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * torch.sigmoid(x)

    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        s = torch.sigmoid(x)
        return g * s * (1 + x * (1 - s))


def custom_autograd(_):
    net = nn.ModuleList(nn.Linear(256, 256) for _ in range(24)).to(GPU)
    opt = torch.optim.RMSprop(net.parameters(), 1e-4)
    x = torch.randn(512, 256, device=GPU)

    def loss():
        h = x
        for m in net:
            h = h + Swish.apply(m(h))
        return h.pow(2).mean()
    return train(net, opt, loss)


def python_heavy(_):
    net = nn.Sequential(nn.EmbeddingBag(5000, 128), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 8)).to(GPU)
    opt = torch.optim.Adam(net.parameters(), 1e-3)
    text = ["word%d other%d, thing." % (i % 313, i % 77) for i in range(60)]

    def clean(w):
        return w.strip(".,").lower()

    def tokens(s):
        return [hash(clean(w)) % 5000 for w in s.split()]

    def pad(ids, n=8):
        return (ids + [0] * n)[:n]

    def loss():
        x = torch.tensor([pad(tokens(s)) for s in text]).to(GPU)
        y = torch.tensor([len(s) % 8 for s in text]).to(GPU)
        return F.cross_entropy(net(x), y)
    return train(net, opt, loss)


def penalty(_):
    d = nn.Sequential(nn.Linear(256, 512), nn.LeakyReLU(0.2), nn.Linear(512, 512), nn.LeakyReLU(0.2), nn.Linear(512, 1)).to(GPU)
    opt = torch.optim.Adam(d.parameters(), 1e-4)
    a, b = torch.randn(256, 256, device=GPU), torch.randn(256, 256, device=GPU)

    def step():
        for _ in range(3):
            t = torch.rand(256, 1, device=GPU)
            m = (t * a + (1 - t) * b).requires_grad_()
            g, = torch.autograd.grad(d(m).sum(), m, create_graph=True)
            loss = d(b).mean() - d(a).mean() + 10 * ((g.norm(2, 1) - 1) ** 2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    return step


def per_sample(_):
    from torch.func import functional_call, grad, vmap
    net = nn.Sequential(nn.Linear(128, 128), nn.Tanh(), nn.Linear(128, 128), nn.Tanh(), nn.Linear(128, 10)).to(GPU)
    params = {k: v.detach() for k, v in net.named_parameters()}
    x, y = torch.randn(256, 128, device=GPU), torch.randint(0, 10, (256,), device=GPU)

    def loss(p, a, b):
        return F.cross_entropy(functional_call(net, p, (a[None],)), b[None])
    each = vmap(grad(loss), in_dims=(None, 0, 0))

    def step():
        g = each(params, x, y)
        norm = torch.stack([v.flatten(1).norm(2, 1) for v in g.values()]).norm(2, 0)
        scale = (1 / norm.clamp(min=1))
        for k, v in g.items():
            params[k] = params[k] - 1e-3 * (v * scale.view(-1, *[1] * (v.dim() - 1))).mean(0)
    return step


def beam(_):
    cell, words, head = nn.LSTMCell(256, 256).to(GPU), nn.Embedding(2000, 256).to(GPU), nn.Linear(256, 2000).to(GPU)

    def step():
        with torch.no_grad():
            h = torch.zeros(5, 256, device=GPU)
            c, tok, score, out = h.clone(), torch.zeros(5, dtype=torch.long, device=GPU), torch.zeros(5, device=GPU), []
            for _ in range(24):
                h, c = cell(words(tok), (h, c))
                p = (score[:, None] + head(h).log_softmax(-1)).flatten()
                score, best = p.topk(5)
                tok, back = best % 2000, best // 2000
                h, c = h[back], c[back]
                out.append(tok.tolist())
                if score[0].item() < -1e9:
                    break
        return out
    return step


def accumulate(_):
    net = nn.Sequential(*[Block(512, 8) for _ in range(6)]).to(GPU)
    opt = torch.optim.AdamW(net.parameters(), 1e-4)
    x = torch.randn(4, 4, 128, 512, device=GPU)

    def step():
        total = 0
        for part in x:
            with torch.autocast("cuda", bf):
                loss = net(part).float().pow(2).mean() / 4
            loss.backward()
            total += loss.item()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
        opt.zero_grad()
    return step


def evaluate(_):
    net = _small_conv().eval()
    data = [torch.randn(128, 3, 64, 64) for _ in range(6)]
    y = torch.randint(0, 100, (128,))

    def step():
        right = 0
        with torch.inference_mode():
            for x in data:
                p = net(x.to(GPU)).argmax(1).cpu()
                right += (p == y).sum().item()
                _ = [f"{v:.3f}" for v in p[:40].tolist()]
        return right
    return step


def llama_like(_):
    from transformers import LlamaConfig, LlamaForCausalLM
    net = LlamaForCausalLM(LlamaConfig(hidden_size=768, intermediate_size=2048, num_hidden_layers=8, num_attention_heads=12, num_key_value_heads=4,
                                       vocab_size=8000, use_cache=False)).to(GPU, bf)
    net.gradient_checkpointing_enable()
    net.train()
    opt = torch.optim.AdamW(net.parameters(), 1e-4)
    x = torch.randint(0, 8000, (8, 512), device=GPU)

    def step():
        loss = net(input_ids=x, labels=x).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
        opt.zero_grad()
    return step


def detect(_):
    import torchvision
    boxes = torch.rand(8, 600, 4, device=GPU) * 100
    boxes[..., 2:] += boxes[..., :2] + 1
    scores = torch.rand(8, 600, device=GPU)

    def step():
        out = []
        for b, s in zip(boxes, scores):
            for c in range(3):
                keep = s > 0.3 + 0.2 * c
                bb, ss = b[keep], s[keep]
                k = torchvision.ops.nms(bb, ss, 0.5)[:100]
                out.append(bb[k].cpu().numpy())
        return out
    return step


def decode_small(_):
    """Tokens one after the other with a cache of their own, sampled."""
    net = nn.ModuleList(Block(512, 8) for _ in range(4)).to(GPU, torch.float16).eval()
    words, head = nn.Embedding(4000, 512).to(GPU, torch.float16), nn.Linear(512, 4000).to(GPU, torch.float16)

    def step():
        with torch.no_grad():
            ids = torch.zeros(1, 1, dtype=torch.long, device=GPU)
            for _ in range(12):
                h = words(ids)
                for b in net:
                    h = b(h)
                p = (head(h[:, -1]).float() / 0.8).softmax(-1)
                nxt = torch.multinomial(p, 1)
                ids = torch.cat([ids, nxt], 1)
                if nxt.item() == 4001:
                    break
        return ids
    return step


CASES = {f.__name__: f for f in (
    mlp_tiny, resnet18, resnet50_amp, gpt2_train, gpt2_big, bert_infer, hf_generate, dlrm_like, diffusion_train, diffusion_sample, rl_actor,
    recomputed, block_small, compiled_train, compiled_graphs, graph_train, loader_numpy, loader_workers, host_arith, offload, offload_pageable,
    gan, graph_net, gru_attention, sync_layers, sync_cuda, sleeps, gemm_fp32, two_streams, hooks_numpy, vit_amp, custom_autograd, python_heavy,
    penalty, per_sample, beam, accumulate, evaluate, llama_like, detect, decode_small)}
