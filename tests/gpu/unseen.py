"""Eleven programs of ten fields, each with one thing that costs most, and mended as an expert would. Written before any of
them was recorded. Recorded with PyTorch's profiler, timed without it. Needs a GPU and PyTorch:

    python3 tests/gpu/unseen.py FOLDER [CASE...]

writes FOLDER/CASE_lean.json.gz, CASE_full.json.gz (stacks and shapes) and CASE_mended.json.gz (lean) with four marked steps each, and
prints one JSON line a case: plain_ms and mended_ms (three timings each), the recorded steps and what the expert says.
"""
import gzip
import json
import math
import os
import pathlib
import random
import subprocess
import sys
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.profiler import ProfilerActivity, profile, schedule
from torch.utils.data import DataLoader, Dataset

device = "cuda"


# speech: log-mel features of each batch are computed by the CPU in the training loop
class AcousticModel(nn.Module):
    def __init__(self, n_mels=80, hidden=384, n_tokens=64):
        super().__init__()
        self.front = nn.Sequential(nn.Conv1d(n_mels, hidden, 3, stride=2, padding=1), nn.ReLU(),
                                   nn.Conv1d(hidden, hidden, 3, stride=2, padding=1), nn.ReLU())
        self.rnn = nn.GRU(hidden, hidden, num_layers=3, bidirectional=True, batch_first=True)
        self.head = nn.Linear(2 * hidden, n_tokens)

    def forward(self, feats):
        x = self.front(feats).transpose(1, 2)
        return self.head(self.rnn(x)[0]).log_softmax(-1)


def speech(mended):
    sample_rate, seconds, batch = 16000, 8, 16
    waves = torch.randn(64, sample_rate * seconds) * 0.1
    targets = torch.randint(1, 64, (64, 40))
    mel_weights = torch.rand(80, 201)
    window = torch.hann_window(400)
    model = AcousticModel().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    ctc = nn.CTCLoss(blank=0, zero_infinity=True)

    def log_mel(wave):
        spec = torch.stft(wave, 400, hop_length=160, window=window.to(wave.device), return_complex=True)
        mel = mel_weights.to(wave.device) @ spec.abs().pow(2)
        mel = torch.log(mel.clamp(min=1e-5))
        return (mel - mel.mean(dim=(1, 2), keepdim=True)) / mel.std(dim=(1, 2), keepdim=True)

    def step():
        rows = torch.randint(0, 64, (batch,))
        wave = waves[rows]
        feats = log_mel(wave.to(device)) if mended else log_mel(wave).to(device)
        logp = model(feats).transpose(0, 1)
        lengths = torch.full((batch,), logp.size(0), dtype=torch.long)
        loss = ctc(logp, targets[rows].to(device), lengths, torch.full((batch,), 40, dtype=torch.long))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()

    return step


# diffusion: sampling with float32 weights under autocast, entered anew for each of the denoising steps
class DiTBlock(nn.Module):
    def __init__(self, dim=1152, heads=16):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(dim, elementwise_affine=False), nn.LayerNorm(dim, elementwise_affine=False)
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))
        self.ada = nn.Sequential(nn.SiLU(), nn.Linear(dim, 6 * dim))

    def forward(self, x, c):
        s1, b1, g1, s2, b2, g2 = self.ada(c).unsqueeze(1).chunk(6, dim=-1)
        b, n, d = x.shape
        h = self.norm1(x) * (1 + s1) + b1
        q, k, v = self.qkv(h).view(b, n, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        x = x + g1 * self.proj(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, n, d))
        return x + g2 * self.mlp(self.norm2(x) * (1 + s2) + b2)


class DiT(nn.Module):
    def __init__(self, dim=1152, depth=16):
        super().__init__()
        self.embed, self.out = nn.Linear(16, dim), nn.Linear(dim, 16)
        self.time = nn.Sequential(nn.Linear(256, dim), nn.SiLU(), nn.Linear(dim, dim))
        self.blocks = nn.ModuleList([DiTBlock(dim) for _ in range(depth)])

    def forward(self, x, t):
        freqs = torch.exp(-math.log(10000) * torch.arange(128, device=x.device) / 128)
        args = t[:, None].float() * freqs[None]
        c = self.time(torch.cat([args.cos(), args.sin()], dim=-1).to(x.dtype))
        x = self.embed(x)
        for block in self.blocks:
            x = block(x, c)
        return self.out(x)


def diffusion(mended):
    model = DiT().to(device).eval()
    if mended:
        model = model.to(torch.bfloat16)
    alphas = torch.cumprod(1 - torch.linspace(1e-4, 0.02, 1000), 0).tolist()

    @torch.no_grad()
    def sample():
        x = torch.randn(2, 64, 16, device=device)
        times = list(range(999, 0, -100))
        for i, t in enumerate(times):
            steps = torch.full((2,), t, device=device)
            if mended:
                eps = model(x.bfloat16(), steps).float()
            else:
                with torch.autocast("cuda", dtype=torch.bfloat16):
                    eps = model(x, steps).float()
            a, b = alphas[t], alphas[times[i + 1]] if i + 1 < len(times) else 1.0
            x0 = (x - math.sqrt(1 - a) * eps) / math.sqrt(a)
            x = math.sqrt(b) * x0 + math.sqrt(1 - b) * eps
        return x.clamp(-1, 1)

    return sample


# recommender: the data set hands out one row at a time and the loader stacks thousands of them
class Interactions(Dataset):
    def __init__(self, n=200_000):
        self.user = torch.randint(0, 100_000, (n,))
        self.item = torch.randint(0, 50_000, (n,))
        self.dense = torch.randn(n, 13)
        self.label = torch.randint(0, 2, (n,)).float()

    def __len__(self):
        return len(self.user)

    def __getitem__(self, i):
        return self.user[i], self.item[i], self.dense[i], self.label[i]


class TwoTower(nn.Module):
    def __init__(self, dim=64):
        super().__init__()
        self.users, self.items = nn.Embedding(100_000, dim), nn.Embedding(50_000, dim)
        self.top = nn.Sequential(nn.Linear(2 * dim + 13, 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, 1))

    def forward(self, user, item, dense):
        return self.top(torch.cat([self.users(user), self.items(item), dense], dim=1)).squeeze(1)


def recommender(mended):
    dataset, batch_size = Interactions(), 4096
    model = TwoTower().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

    def batches():
        while True:
            if mended:
                for rows in torch.randperm(len(dataset)).split(batch_size)[:-1]:
                    yield dataset.user[rows], dataset.item[rows], dataset.dense[rows], dataset.label[rows]
            else:
                yield from DataLoader(dataset, batch_size=batch_size, shuffle=True, drop_last=True)

    data = batches()

    def step():
        user, item, dense, label = [x.to(device) for x in next(data)]
        loss = F.binary_cross_entropy_with_logits(model(user, item, dense), label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step


# graph networks: the molecules of a batch go through the network one after another
class MPNN(nn.Module):
    def __init__(self, dim=128, layers=4):
        super().__init__()
        self.embed = nn.Linear(32, dim)
        self.message = nn.ModuleList([nn.Linear(2 * dim, dim) for _ in range(layers)])
        self.update = nn.ModuleList([nn.GRUCell(dim, dim) for _ in range(layers)])
        self.readout = nn.Linear(dim, 1)

    def forward(self, x, edges):
        h = self.embed(x)
        for message, update in zip(self.message, self.update):
            src, dst = edges
            m = F.relu(message(torch.cat([h[src], h[dst]], dim=1)))
            h = update(torch.zeros_like(h).index_add_(0, dst, m), h)
        return h


def graph(mended):
    molecules = []
    for _ in range(256):
        n = random.randint(12, 40)
        molecules.append((torch.randn(n, 32), torch.randint(0, n, (2, 4 * n)), torch.randn(1)))
    model = MPNN().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

    def step():
        picked = random.sample(molecules, 24)
        if mended:
            sizes = torch.tensor([len(x) for x, _, _ in picked])
            offsets = (sizes.cumsum(0) - sizes).tolist()
            x = torch.cat([x for x, _, _ in picked]).to(device)
            edges = torch.cat([e + o for (_, e, _), o in zip(picked, offsets)], dim=1).to(device)
            owner = torch.repeat_interleave(torch.arange(24), sizes).to(device)
            target = torch.cat([y for _, _, y in picked]).to(device)
            h = model(x, edges)
            pooled = torch.zeros(24, h.size(1), device=device).index_add_(0, owner, h)
            pred = model.readout(pooled / sizes.to(device)[:, None]).squeeze(1)
        else:
            preds, targets = [], []
            for x, edges, y in picked:
                h = model(x.to(device), edges.to(device))
                preds.append(model.readout(h.mean(0)))
                targets.append(y.to(device))
            pred, target = torch.cat(preds), torch.cat(targets)
        loss = F.mse_loss(pred, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step


# RL: PPO whose advantages are computed by a loop over time on GPU tensors
class ActorCritic(nn.Module):
    def __init__(self, obs=17, act=6, hidden=256):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(obs, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh())
        self.mean, self.value = nn.Linear(hidden, act), nn.Linear(hidden, 1)
        self.log_std = nn.Parameter(torch.zeros(act))

    def forward(self, obs):
        h = self.body(obs)
        return self.mean(h), self.log_std.exp().expand(obs.size(0), -1), self.value(h).squeeze(-1)


def rl(mended):
    horizon, envs, gamma, lam = 512, 64, 0.99, 0.95
    net = ActorCritic().to(device)
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-4)
    obs = torch.randn(horizon, envs, 17, device=device)
    act = torch.randn(horizon, envs, 6, device=device)
    rewards = torch.randn(horizon, envs, device=device)
    dones = (torch.rand(horizon, envs, device=device) < 0.01).float()

    def advantages(rewards, values, dones, last):
        adv = torch.zeros_like(rewards)
        running = torch.zeros_like(last)
        for t in reversed(range(horizon)):
            following = last if t == horizon - 1 else values[t + 1]
            delta = rewards[t] + gamma * following * (1 - dones[t]) - values[t]
            running = delta + gamma * lam * (1 - dones[t]) * running
            adv[t] = running
        return adv

    def advantages_numpy(rewards, values, dones, last):
        rewards, values, dones, last = [x.cpu().numpy() for x in (rewards, values, dones, last)]
        adv, running = np.zeros_like(rewards), np.zeros_like(last)
        for t in reversed(range(horizon)):
            following = last if t == horizon - 1 else values[t + 1]
            delta = rewards[t] + gamma * following * (1 - dones[t]) - values[t]
            running = delta + gamma * lam * (1 - dones[t]) * running
            adv[t] = running
        return torch.from_numpy(adv).to(device)

    def log_prob(mean, std, a):
        return (-((a - mean) / std) ** 2 / 2 - std.log()).sum(-1)

    def step():
        flat_obs, flat_act = obs.flatten(0, 1), act.flatten(0, 1)
        with torch.no_grad():
            mean, std, value = net(flat_obs)
            old = log_prob(mean, std, flat_act)
            values = value.view(horizon, envs)
            adv = (advantages_numpy if mended else advantages)(rewards, values, dones, values[-1])
            returns = (adv + values).flatten()
            adv = adv.flatten()
            adv = (adv - adv.mean()) / (adv.std() + 1e-8)
        for rows in torch.randperm(horizon * envs, device=device).chunk(4):
            mean, std, value = net(flat_obs[rows])
            ratio = (log_prob(mean, std, flat_act[rows]) - old[rows]).exp()
            a = adv[rows]
            loss = -torch.min(ratio * a, ratio.clamp(0.8, 1.2) * a).mean() + 0.5 * F.mse_loss(value, returns[rows])
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 0.5)
            optimizer.step()

    return step


# detection: pictures of ever new sizes with cudnn.benchmark on
class TinyDetector(nn.Module):
    def __init__(self, classes=20):
        super().__init__()
        chans, layers = [3, 32, 64, 128, 256], []
        for i, o in zip(chans, chans[1:]):
            layers += [nn.Conv2d(i, o, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(o), nn.SiLU(),
                       nn.Conv2d(o, o, 3, padding=1, bias=False), nn.BatchNorm2d(o), nn.SiLU()]
        self.body = nn.Sequential(*layers)
        self.head = nn.Conv2d(256, 5 + classes, 1)

    def forward(self, x):
        return self.head(self.body(x))


def detection(mended):
    torch.backends.cudnn.benchmark = not mended
    model = TinyDetector().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)

    def step():
        height, width = 8 * random.randint(32, 72), 8 * random.randint(32, 72)
        images = torch.rand(4, 3, height, width).to(device)
        out = model(images)
        obj, box, cls = out[:, :1], out[:, 1:5], out[:, 5:]
        truth = (torch.rand(4, 1, *out.shape[2:], device=device) < 0.02).float()
        loss = F.binary_cross_entropy_with_logits(obj, truth) + (box.abs() * truth).mean() + (cls.sigmoid() * truth).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step


# LLM training: a compiled model whose blocks log a number of their activations
class GPTBlock(nn.Module):
    def __init__(self, dim=512, heads=8, stats=None):
        super().__init__()
        self.heads, self.stats = heads, stats
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.up, self.down = nn.Linear(dim, 4 * dim), nn.Linear(4 * dim, dim)

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, n, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        x = x + self.proj(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, n, d))
        x = x + self.down(F.gelu(self.up(self.norm2(x))))
        if self.stats is not None:
            self.stats.append(x.abs().mean().item())
        return x


class GPT(nn.Module):
    def __init__(self, vocab=16000, dim=512, depth=12, stats=None):
        super().__init__()
        self.tok, self.pos = nn.Embedding(vocab, dim), nn.Embedding(512, dim)
        self.blocks = nn.Sequential(*[GPTBlock(dim, stats=stats) for _ in range(depth)])
        self.norm, self.head = nn.LayerNorm(dim), nn.Linear(dim, vocab, bias=False)

    def forward(self, idx, target):
        x = self.tok(idx) + self.pos(torch.arange(idx.size(1), device=idx.device))
        logits = self.head(self.norm(self.blocks(x)))
        return F.cross_entropy(logits.flatten(0, 1), target.flatten())


def llm_train(mended):
    stats = []
    model = GPT(stats=None if mended else stats).to(device)
    compiled = torch.compile(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    text = torch.randint(0, 16000, (64, 513))

    def step():
        stats.clear()
        rows = text[torch.randint(0, 64, (8,))].to(device)
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = compiled(rows[:, :-1], rows[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step


# LLM serving: each sequence of the batch is sampled by itself, and its token read
def llm_serve(mended):
    from transformers import LlamaConfig, LlamaForCausalLM
    torch.manual_seed(0)
    config = LlamaConfig(hidden_size=1024, intermediate_size=2816, num_hidden_layers=6, num_attention_heads=16, num_key_value_heads=16,
                         vocab_size=32000)
    model = LlamaForCausalLM(config).to(device, torch.bfloat16).eval()
    prompts = torch.randint(0, 32000, (24, 64), device=device)

    def pick(logits, temperature=0.8, top_k=50, top_p=0.95):
        logits = logits.float() / temperature
        values, order = logits.sort(dim=-1, descending=True)
        values = values[..., :top_k]
        probs = values.softmax(dim=-1)
        probs = probs.masked_fill(probs.cumsum(-1) - probs > top_p, 0.0)
        choice = torch.multinomial(probs / probs.sum(-1, keepdim=True), 1)
        return order.gather(-1, choice)

    @torch.no_grad()
    def generate():
        out = model(prompts, use_cache=True)
        cache, logits = out.past_key_values, out.logits[:, -1]
        sequences = [[] for _ in range(24)]
        for _ in range(12):
            if mended:
                token = pick(logits)
                for sequence, t in zip(sequences, token.squeeze(1).tolist()):
                    sequence.append(t)
            else:
                for i in range(24):
                    t = pick(logits[i])
                    sequences[i].append(t.item())
                token = torch.tensor([[s[-1]] for s in sequences], device=device)
            out = model(token, past_key_values=cache, use_cache=True)
            cache, logits = out.past_key_values, out.logits[:, -1]
        return sequences

    return generate


# science: a batch of small linear systems is solved one after another
def science(mended):
    n, size = 128, 48
    points = torch.rand(n, size, 3, device=device)
    values = torch.rand(n, size, device=device)
    log_scale = nn.Parameter(torch.zeros(3, device=device))
    noise = nn.Parameter(torch.tensor(-2.0, device=device))
    optimizer = torch.optim.Adam([log_scale, noise], lr=1e-2)

    def kernel(x):
        x = x / log_scale.exp()
        d2 = (x.unsqueeze(-2) - x.unsqueeze(-3)).pow(2).sum(-1)
        return torch.exp(-0.5 * d2) + noise.exp() * torch.eye(size, device=device)

    def step():
        optimizer.zero_grad()
        if mended:
            K = kernel(points)
            alpha = torch.linalg.solve(K, values.unsqueeze(-1)).squeeze(-1)
            loss = 0.5 * (values * alpha).sum() + 0.5 * torch.logdet(K).sum()
        else:
            loss = 0.0
            for i in range(n):
                K = kernel(points[i])
                alpha = torch.linalg.solve(K, values[i])
                loss = loss + 0.5 * values[i] @ alpha + 0.5 * torch.logdet(K)
        loss.backward()
        optimizer.step()

    return step


# vision: a pretrained backbone is left out of the optimizer only, so it still gets gradients
def vision(mended):
    import torchvision
    model = torchvision.models.resnet50()
    model.fc = nn.Linear(2048, 37)
    model = model.to(device)
    if mended:
        for name, parameter in model.named_parameters():
            parameter.requires_grad = name.startswith("fc.")
    optimizer = torch.optim.Adam(model.fc.parameters(), lr=1e-3)
    images, labels = torch.rand(256, 3, 224, 224, device=device), torch.randint(0, 37, (256,), device=device)

    def step():
        rows = torch.randint(0, 256, (64,), device=device)
        x, y = images[rows], labels[rows]
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = F.cross_entropy(model(x), y)
        model.zero_grad()
        loss.backward()
        optimizer.step()

    return step


# segmentation: the whole logits go to the CPU for the scores of each batch
def segmentation(mended):
    classes = 21
    body = nn.Sequential(nn.Conv2d(3, 64, 3, stride=2, padding=1), nn.BatchNorm2d(64), nn.ReLU(),
                         nn.Conv2d(64, 128, 3, stride=2, padding=1), nn.BatchNorm2d(128), nn.ReLU(),
                         nn.Conv2d(128, 128, 3, padding=1), nn.BatchNorm2d(128), nn.ReLU(), nn.Conv2d(128, classes, 1)).to(device)
    optimizer = torch.optim.SGD(body.parameters(), lr=1e-2, momentum=0.9)
    images, labels = torch.rand(32, 3, 384, 384), torch.randint(0, classes, (32, 384, 384))
    confusion = torch.zeros(classes, classes, dtype=torch.long, device=device if mended else "cpu")

    def step():
        rows = torch.randint(0, 32, (8,))
        x, y = images[rows].to(device), labels[rows].to(device)
        logits = F.interpolate(body(x), size=(384, 384), mode="bilinear")
        loss = F.cross_entropy(logits, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if mended:
            pred, truth = logits.detach().argmax(1), y
        else:
            pred, truth = logits.detach().cpu().argmax(1), y.cpu()
        confusion.add_(torch.bincount((truth * classes + pred).flatten(), minlength=classes ** 2).view(classes, classes))

    return step


CASES = {case.__name__: case for case in (speech, diffusion, recommender, graph, rl, detection, llm_train, llm_serve, science, vision,
                                          segmentation)}

# Written before anything was recorded.
EXPERT = {
    "speech": "compute the spectrogram on the GPU: copy the waves, then stft there",
    "diffusion": "the weights are cast to bfloat16 in each denoising step: convert the model once, model.to(torch.bfloat16)",
    "recommender": "take whole batches by one index (tensor[rows]) instead of one row at a time and a stack of 4096",
    "graph": "put the molecules of a batch into one graph with offsets, instead of one after another",
    "rl": "compute the advantages on the CPU (numpy) or by one scan: 512 rounds of tiny kernels each step",
    "detection": "cudnn.benchmark = False where sizes change, or pad to a few sizes: each new size is measured anew",
    "llm_train": "take .item() out of the blocks: it waits and breaks the compiled graph in each",
    "llm_serve": "sample all rows at once and read the tokens once a step",
    "science": "solve all systems in one batched torch.linalg.solve",
    "vision": "requires_grad_(False) for the backbone: its backward pass is for nothing",
    "segmentation": "argmax and bincount on the GPU: copy the counts, not the logits",
}


def timed(step, steps=10):
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


def prepared(case, mended):
    torch.manual_seed(0)
    random.seed(mended)  # other sizes than the other's: libraries remember those that they have seen
    step = CASES[case](mended)
    for _ in range(5):
        step()
    return step


def run(folder, case):
    out = {"case": case, "gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "expert": EXPERT[case]}
    begin = time.perf_counter()
    try:
        for key, mended in (("mended_ms", True), ("plain_ms", False)):  # both before anything is recorded
            step = prepared(case, mended)
            out[key] = [timed(step) for _ in range(3)]
        if os.environ.get("UNSEEN_TIMES"):
            return print(json.dumps(out), flush=True)
        out["lean_ms"] = record(step, f"{folder}/{case}_lean.json.gz")
        out["full_ms"] = record(step, f"{folder}/{case}_full.json.gz", with_stack=True, record_shapes=True)
        out["mended_recorded_ms"] = record(prepared(case, True), f"{folder}/{case}_mended.json.gz")
    except Exception as error:  # the others are worth having
        out["failed"] = f"{type(error).__name__}: {error}"[:300]
    out["took_s"] = round(time.perf_counter() - begin, 1)
    print(json.dumps(out), flush=True)


def main(folder, *cases):
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    if len(cases) == 1:
        return run(folder, cases[0])
    for case in cases or CASES:  # a process each: clean timings, and one failure leaves the others alone
        try:
            subprocess.run([sys.executable, os.path.abspath(__file__), folder, case], timeout=90)
        except subprocess.TimeoutExpired:
            print(json.dumps({"case": case, "failed": "timed out"}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
