"""Twelve programs as a hurried person writes them, each with one fault that costs most, and mended as an expert would. Written
before any of them was recorded. Each program's docstring says the fault and, after "Expert:", what an expert would say first. Recorded
with PyTorch's profiler, timed without it. Needs a GPU and PyTorch, nothing else:

    python3 unseen_again.py FOLDER [CASE...]

writes FOLDER/CASE_lean.json.xz, CASE_full.json.xz (stacks and shapes) and CASE_mended.json.xz (lean) with three or four marked steps
each, and prints one JSON line a case: plain_ms and mended_ms (two timings each), the recorded steps, how busy the GPU was and the
recordings' paths and sizes.
"""
import gzip
import json
import lzma
import math
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.profiler import ProfilerActivity, profile, schedule
from torch.utils.checkpoint import checkpoint

device = "cuda" if torch.cuda.is_available() else "cpu"


def size(gpu, cpu):
    """Little sizes to try the programs where there is no GPU."""
    return gpu if device == "cuda" else cpu


# ---------------------------------------------------------------------------------------------------------------- LoRA fine-tuning
class RMSNorm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim, device=device, dtype=torch.bfloat16), requires_grad=False)

    def forward(self, x):
        h = x.float()
        h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6)
        return self.weight * h.to(x.dtype)


class LoRALinear(nn.Module):
    def __init__(self, n_in, n_out, rank=16, alpha=32):
        super().__init__()
        self.base = nn.Linear(n_in, n_out, bias=False, device=device, dtype=torch.bfloat16)
        self.base.weight.requires_grad = False
        self.lora_a = nn.Parameter(torch.randn(rank, n_in, device=device, dtype=torch.bfloat16) / math.sqrt(n_in))
        self.lora_b = nn.Parameter(torch.zeros(n_out, rank, device=device, dtype=torch.bfloat16))
        self.dropout, self.scale = nn.Dropout(0.05), alpha / rank

    def forward(self, x):
        return self.base(x) + F.linear(F.linear(self.dropout(x), self.lora_a), self.lora_b) * self.scale


def rotate(x, cos, sin):
    a, b = x.chunk(2, dim=-1)
    return x * cos + torch.cat([-b, a], dim=-1) * sin


class LlamaBlock(nn.Module):
    def __init__(self, dim, hidden, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = RMSNorm(dim), RMSNorm(dim)
        self.q, self.k, self.v, self.o = [LoRALinear(dim, dim) for _ in range(4)]
        self.gate, self.up, self.down = LoRALinear(dim, hidden), LoRALinear(dim, hidden), LoRALinear(hidden, dim)

    def forward(self, x, cos, sin):
        b, n, d = x.shape
        h = self.norm1(x)
        q, k, v = [f(h).view(b, n, self.heads, -1).transpose(1, 2) for f in (self.q, self.k, self.v)]
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        x = x + self.o(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, n, d))
        h = self.norm2(x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


class Llama(nn.Module):
    def __init__(self, vocab, dim, hidden, heads, depth, gradient_checkpointing):
        super().__init__()
        self.gradient_checkpointing, self.head_dim = gradient_checkpointing, dim // heads
        self.embed = nn.Embedding(vocab, dim, device=device, dtype=torch.bfloat16)
        self.blocks = nn.ModuleList([LlamaBlock(dim, hidden, heads) for _ in range(depth)])
        self.norm, self.head = RMSNorm(dim), nn.Linear(dim, vocab, bias=False, device=device, dtype=torch.bfloat16)
        self.embed.weight.requires_grad = self.head.weight.requires_grad = False

    def forward(self, ids, labels):
        freqs = 1.0 / 10000 ** (torch.arange(0, self.head_dim, 2, device=ids.device) / self.head_dim)
        angles = torch.arange(ids.size(1), device=ids.device)[:, None] * freqs[None]
        angles = torch.cat([angles, angles], dim=-1)
        cos, sin = angles.cos().bfloat16(), angles.sin().bfloat16()
        x = self.embed(ids)
        for block in self.blocks:
            if self.gradient_checkpointing:
                x = checkpoint(block, x, cos, sin, use_reentrant=False)
            else:
                x = block(x, cos, sin)
        logits = self.head(self.norm(x)).float()
        return F.cross_entropy(logits.flatten(0, 1), labels.flatten())


def lora(mended):
    """Gradient checkpointing copied from a recipe, so each block's forward runs twice although all of it would fit in memory. Expert: turn gradient checkpointing off (memory is mostly free), it recomputes the whole forward within the backward, about a third of the step."""
    vocab, length, batch = size(32000, 100), size(1024, 16), size(4, 2)
    model = Llama(vocab, size(2048, 32), size(5632, 64), size(16, 2), size(8, 2), gradient_checkpointing=not mended)
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-4)
    text = torch.randint(0, vocab, (64, length + 1))

    def step():
        rows = text[torch.randint(0, 64, (batch,))].to(device)
        loss = model(rows[:, :-1], rows[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    return step


# --------------------------------------------------------------------------------------------------------------- mixture of experts
class Expert(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.up, self.down = nn.Linear(dim, hidden), nn.Linear(hidden, dim)

    def forward(self, x):
        return self.down(F.gelu(self.up(x)))


class MoE(nn.Module):
    def __init__(self, dim, hidden, n_experts, top_k=2):
        super().__init__()
        self.top_k = top_k
        self.gate = nn.Linear(dim, n_experts, bias=False)
        self.experts = nn.ModuleList([Expert(dim, hidden) for _ in range(n_experts)])

    def forward(self, x):
        flat = x.reshape(-1, x.size(-1))
        weights, chosen = self.gate(flat).softmax(dim=-1).topk(self.top_k, dim=-1)
        weights = weights / weights.sum(dim=-1, keepdim=True)
        out = torch.zeros_like(flat)
        for e, expert in enumerate(self.experts):
            rows, slot = (chosen == e).nonzero(as_tuple=True)
            if len(rows) == 0:
                continue
            picked = flat.index_select(0, rows)
            out.index_add_(0, rows, expert(picked) * weights[rows, slot, None])
        return out.view_as(x)


class BatchedMoE(nn.Module):
    def __init__(self, moe):
        super().__init__()
        self.top_k, self.gate = moe.top_k, moe.gate
        self.up = nn.Parameter(torch.stack([e.up.weight.detach().t() for e in moe.experts]).contiguous())
        self.down = nn.Parameter(torch.stack([e.down.weight.detach().t() for e in moe.experts]).contiguous())
        self.up_bias = nn.Parameter(torch.stack([e.up.bias.detach() for e in moe.experts])[:, None])
        self.down_bias = nn.Parameter(torch.stack([e.down.bias.detach() for e in moe.experts])[:, None])

    def forward(self, x):
        flat, n_experts = x.reshape(-1, x.size(-1)), self.up.size(0)
        weights, chosen = self.gate(flat).softmax(dim=-1).topk(self.top_k, dim=-1)
        weights = weights / weights.sum(dim=-1, keepdim=True)
        expert, order = chosen.flatten().sort(stable=True)
        counts = torch.zeros(n_experts, dtype=torch.long, device=x.device).scatter_add_(0, expert, torch.ones_like(expert))
        starts = counts.cumsum(0) - counts
        capacity = int(counts.max())  # the one thing read back
        place = expert * capacity + torch.arange(len(expert), device=x.device) - starts[expert]
        token = order // self.top_k
        packed = torch.zeros(n_experts * capacity, flat.size(1), dtype=flat.dtype, device=x.device).index_copy(0, place, flat[token])
        packed = packed.view(n_experts, capacity, -1)
        done = torch.baddbmm(self.down_bias, F.gelu(torch.baddbmm(self.up_bias, packed, self.up)), self.down).flatten(0, 1)
        return torch.zeros_like(flat).index_add(0, token, done[place] * weights.flatten()[order, None]).view_as(x)


class MoEBlock(nn.Module):
    def __init__(self, dim, heads, hidden, n_experts):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.moe = MoE(dim, hidden, n_experts)

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, n, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        x = x + self.proj(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, n, d))
        return x + self.moe(self.norm2(x))


def moe(mended):
    """A Python loop over the experts, with nonzero (which waits for the GPU) and small matmuls for each. Expert: no loop over experts: sort the tokens by expert and run all experts in one batched or grouped matmul; each nonzero waits for the GPU."""
    torch.set_float32_matmul_precision("high")
    vocab, dim, length, batch = size(8000, 50), size(512, 16), size(512, 12), size(8, 2)
    embed = nn.Embedding(vocab, dim)
    blocks = [MoEBlock(dim, size(8, 2), size(1024, 32), size(16, 4)) for _ in range(size(3, 2))]
    head = nn.Linear(dim, vocab)
    if mended:
        for block in blocks:
            block.moe = BatchedMoE(block.moe)
    model = nn.Sequential(embed, *blocks, nn.LayerNorm(dim), head).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    text = torch.randint(0, vocab, (64, length + 1))

    def step():
        rows = text[torch.randint(0, 64, (batch,))].to(device)
        loss = F.cross_entropy(model(rows[:, :-1]).flatten(0, 1), rows[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    return step


# ------------------------------------------------------------------------------------------------------------------ greedy decoding
class DecoderBlock(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.up, self.down = nn.Linear(dim, 4 * dim), nn.Linear(4 * dim, dim)

    def split(self, x):
        b, n, d = x.shape
        return self.qkv(self.norm1(x)).view(b, n, 3, self.heads, -1).permute(2, 0, 3, 1, 4)

    def join(self, x, attended):
        x = x + self.proj(attended.transpose(1, 2).reshape(x.shape))
        return x + self.down(F.gelu(self.up(self.norm2(x))))

    def forward(self, x, past):
        q, k, v = self.split(x)
        if past is not None:
            k, v = torch.cat([past[0], k], dim=2), torch.cat([past[1], v], dim=2)
        return self.join(x, F.scaled_dot_product_attention(q, k, v, is_causal=past is None)), (k, v)

    def static(self, x, keys, values, pos, mask):
        q, k, v = self.split(x)
        keys.index_copy_(2, pos, k)
        values.index_copy_(2, pos, v)
        return self.join(x, F.scaled_dot_product_attention(q, keys, values, attn_mask=mask))


class Decoder(nn.Module):
    def __init__(self, vocab, dim, heads, depth, context):
        super().__init__()
        self.tok, self.pos = nn.Embedding(vocab, dim), nn.Embedding(context, dim)
        self.blocks = nn.ModuleList([DecoderBlock(dim, heads) for _ in range(depth)])
        self.norm, self.head = nn.LayerNorm(dim), nn.Linear(dim, vocab, bias=False)

    def forward(self, ids, past=None):
        start = 0 if past is None else past[0][0].size(2)
        x = self.tok(ids) + self.pos(torch.arange(start, start + ids.size(1), device=ids.device))
        caches = []
        for i, block in enumerate(self.blocks):
            x, kv = block(x, None if past is None else past[i])
            caches.append(kv)
        return self.head(self.norm(x[:, -1])), caches

    def static(self, ids, caches, pos, span):
        x = self.tok(ids) + self.pos(pos)
        mask = span[None] <= pos[:, None]
        for block, (keys, values) in zip(self.blocks, caches):
            x = block.static(x, keys, values, pos, mask)
        return self.head(self.norm(x[:, -1]))


def decode(mended):
    """Greedy decoding of one sequence: the key/value cache grows by torch.cat and each token is read by .item(), so the GPU mostly waits for launches. Expert: tiny kernels launched one by one and a wait per token: a static cache, the token left on the GPU, and a CUDA graph (or torch.compile reduce-overhead) for the one-token step."""
    vocab, dim, heads, depth = size(32000, 60), size(768, 32), size(12, 4), size(6, 2)
    context, prompt_length, new = size(128, 24), size(64, 8), size(20, 6)
    eos = vocab - 1
    model = Decoder(vocab, dim, heads, depth, context).to(device, torch.bfloat16).eval()
    prompt = torch.randint(0, vocab, (1, prompt_length), device=device)

    @torch.no_grad()
    def generate():
        tokens = []
        logits, past = model(prompt)
        for i in range(new):
            token = logits.argmax(dim=-1)
            tokens.append(token.item())
            if tokens[-1] == eos:
                break
            if i + 1 < new:
                logits, past = model(torch.tensor([[tokens[-1]]], device=device), past)
        return tokens

    if not mended:
        return generate

    shape = (1, heads, context, dim // heads)
    caches = [(torch.zeros(shape, device=device, dtype=torch.bfloat16), torch.zeros(shape, device=device, dtype=torch.bfloat16))
              for _ in range(depth)]
    span, prompt_pos = torch.arange(context, device=device), torch.arange(prompt_length, device=device)
    token = torch.zeros(1, 1, dtype=torch.long, device=device)
    pos = torch.full((1,), prompt_length, dtype=torch.long, device=device)
    out = torch.zeros(1, context, dtype=torch.long, device=device)

    @torch.no_grad()
    def advance():
        token.copy_(model.static(token, caches, pos, span).argmax(dim=-1, keepdim=True))
        pos.add_(1)
        out.index_copy_(1, pos, token)

    replay = advance
    if device == "cuda":
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                advance()
        torch.cuda.current_stream().wait_stream(side)
        torch.cuda.synchronize()
        pos.fill_(prompt_length)
        try:
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                advance()
            replay = graph.replay
        except Exception as error:  # the static cache alone is worth timing
            print(f"decode: no CUDA graph: {error}"[:300], file=sys.stderr, flush=True)

    @torch.no_grad()
    def generate_static():
        logits = model.static(prompt, caches, prompt_pos, span)
        token.copy_(logits.argmax(dim=-1, keepdim=True))
        pos.fill_(prompt_length)
        out.index_copy_(1, pos, token)
        for _ in range(new - 1):
            replay()
        tokens = out[0, prompt_length:prompt_length + new].tolist()
        return tokens[:tokens.index(eos) + 1] if eos in tokens else tokens

    return generate_static


# ------------------------------------------------------------------------------------------------------------- contrastive pretraining
class TowerBlock(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, n, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        x = x + self.proj(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, n, d))
        return x + self.mlp(self.norm2(x))


class TwoTowers(nn.Module):
    def __init__(self, dim, heads, image_depth, text_depth, patches, words, vocab, patch=16, out=256):
        super().__init__()
        self.patch = nn.Conv2d(3, dim, patch, stride=patch)
        self.image_pos = nn.Parameter(torch.randn(1, patches, dim) * 0.02)
        self.text_embed, self.text_pos = nn.Embedding(vocab, dim), nn.Parameter(torch.randn(1, words, dim) * 0.02)
        self.image_blocks = nn.Sequential(*[TowerBlock(dim, heads) for _ in range(image_depth)], nn.LayerNorm(dim))
        self.text_blocks = nn.Sequential(*[TowerBlock(dim, heads) for _ in range(text_depth)], nn.LayerNorm(dim))
        self.image_out, self.text_out = nn.Linear(dim, out, bias=False), nn.Linear(dim, out, bias=False)
        self.log_scale = nn.Parameter(torch.tensor(math.log(1 / 0.07)))

    def forward(self, images, words):
        x = self.patch(images).flatten(2).transpose(1, 2) + self.image_pos
        image = self.image_out(self.image_blocks(x).mean(dim=1))
        text = self.text_out(self.text_blocks(self.text_embed(words) + self.text_pos).mean(dim=1))
        return image, text


def contrastive(mended):
    """A CLIP-like pair of towers trained in plain float32 with TF32 off, so the tensor cores idle. Expert: run the matmuls on tensor cores: autocast to bfloat16, or at the least torch.set_float32_matmul_precision("high")."""
    torch.set_float32_matmul_precision("high" if mended else "highest")
    batch, side, words, vocab = size(128, 4), size(224, 32), size(64, 8), size(16000, 50)
    model = TwoTowers(size(512, 16), size(8, 2), size(8, 2), size(6, 2), (side // 16) ** 2, words, vocab).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    images = torch.randn(2 * batch, 3, side, side, device=device)
    texts = torch.randint(0, vocab, (2 * batch, words), device=device)
    labels = torch.arange(batch, device=device)

    def step():
        rows = torch.randperm(2 * batch, device=device)[:batch]
        with torch.autocast(device, dtype=torch.bfloat16, enabled=mended):
            image, text = model(images[rows], texts[rows])
        image, text = F.normalize(image.float(), dim=-1), F.normalize(text.float(), dim=-1)
        logits = model.log_scale.exp() * image @ text.t()
        loss = (F.cross_entropy(logits, labels) + F.cross_entropy(logits.t(), labels)) / 2
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    return step


# ---------------------------------------------------------------------------------------------------------------------- forecasting
class HandLSTM(nn.Module):
    def __init__(self, n_in, hidden):
        super().__init__()
        self.hidden = hidden
        self.ih, self.hh = nn.Linear(n_in, 4 * hidden), nn.Linear(hidden, 4 * hidden)

    def forward(self, x):
        h = torch.zeros(x.size(0), self.hidden, device=x.device)
        c = torch.zeros(x.size(0), self.hidden, device=x.device)
        for t in range(x.size(1)):
            i, f, g, o = (self.ih(x[:, t]) + self.hh(h)).chunk(4, dim=1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
        return h


class LibraryLSTM(nn.Module):
    def __init__(self, hand):
        super().__init__()
        self.rnn = nn.LSTM(hand.ih.in_features, hand.hidden, batch_first=True)
        with torch.no_grad():
            self.rnn.weight_ih_l0.copy_(hand.ih.weight)
            self.rnn.weight_hh_l0.copy_(hand.hh.weight)
            self.rnn.bias_ih_l0.copy_(hand.ih.bias)
            self.rnn.bias_hh_l0.copy_(hand.hh.bias)

    def forward(self, x):
        return self.rnn(x)[1][0][0]


def forecast(mended):
    """An LSTM written by hand as a loop over time, a dozen tiny kernels for each time step and more in the backward. Expert: use nn.LSTM (cuDNN): the loop over time launches thousands of tiny kernels and the GPU idles between them."""
    past, horizon, features, hidden, batch = size(48, 6), size(24, 3), 16, size(256, 8), size(128, 4)
    series = torch.randn(4000, features, device=device).cumsum(0) * 0.05
    rnn, head = HandLSTM(features, hidden), nn.Linear(hidden, horizon)
    model = nn.Sequential(LibraryLSTM(rnn) if mended else rnn, head).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    window, ahead = torch.arange(past, device=device), torch.arange(horizon, device=device)

    def step():
        starts = torch.randint(0, 4000 - past - horizon, (batch, 1), device=device)
        loss = F.mse_loss(model(series[starts + window]), series[starts + past + ahead, 0])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    return step


# ------------------------------------------------------------------------------------------------------------------------- particles
def physics(mended):
    """Energies of particles in a loop over all pairs of types, each with boolean masks of the whole pair matrix (indexing by a mask waits for the GPU). Expert: no loop over types and no boolean indexing: look epsilon and sigma up per pair once and use torch.where over the one matrix of distances."""
    per_side, n_types, cutoff, dt = size(11, 3), 4, 2.5, 1e-4
    n = per_side ** 3
    grid = torch.stack(torch.meshgrid(*[torch.arange(per_side).float()] * 3, indexing="ij"), dim=-1).reshape(n, 3)
    pos = (1.15 * grid + 0.02 * torch.randn(n, 3)).to(device)
    vel, force = torch.zeros(n, 3, device=device), torch.zeros(n, 3, device=device)
    kind = torch.randint(0, n_types, (n,)).to(device)
    epsilon, sigma = 0.5 + torch.rand(n_types, n_types), 0.9 + 0.2 * torch.rand(n_types, n_types)
    epsilon, sigma = ((epsilon + epsilon.t()) / 2).to(device), ((sigma + sigma.t()) / 2).to(device)
    eye = torch.eye(n, device=device)
    pair_epsilon, pair_sigma = epsilon[kind][:, kind], sigma[kind][:, kind]

    def distances(x):
        return ((x[:, None] - x[None]).pow(2).sum(dim=-1) + eye).sqrt()

    def energy_loop(x):
        dist = distances(x)
        total = torch.zeros((), device=device)
        for a in range(n_types):
            for b in range(n_types):
                mask = (kind[:, None] == a) & (kind[None] == b) & (dist < cutoff) & (eye == 0)
                if mask.any():
                    r = sigma[a, b] / dist[mask]
                    total = total + 0.5 * (4 * epsilon[a, b] * (r ** 12 - r ** 6)).sum()
        return total

    def energy_batched(x):
        dist = distances(x)
        r6 = (pair_sigma / dist).pow(6)
        pairs = 4 * pair_epsilon * (r6 * r6 - r6)
        return 0.5 * torch.where((dist < cutoff) & (eye == 0), pairs, 0.0).sum()

    def step():
        vel.add_(0.5 * dt * force)
        pos.add_(dt * vel)
        x = pos.clone().requires_grad_(True)
        energy = (energy_batched if mended else energy_loop)(x)
        force.copy_(-torch.autograd.grad(energy, x)[0])
        vel.add_(0.5 * dt * force)
        return energy

    return step


# ------------------------------------------------------------------------------------------------------------ gradient accumulation
class SmallGPT(nn.Module):
    def __init__(self, vocab, dim, heads, depth, context):
        super().__init__()
        self.tok, self.pos = nn.Embedding(vocab, dim), nn.Embedding(context, dim)
        self.blocks = nn.Sequential(*[CausalBlock(dim, heads) for _ in range(depth)])
        self.norm, self.head = nn.LayerNorm(dim), nn.Linear(dim, vocab, bias=False)

    def forward(self, ids):
        x = self.tok(ids) + self.pos(torch.arange(ids.size(1), device=ids.device))
        return self.head(self.norm(self.blocks(x)))


class CausalBlock(TowerBlock):
    def forward(self, x):
        b, n, d = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, n, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        x = x + self.proj(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, n, d))
        return x + self.mlp(self.norm2(x))


def accumulate(mended):
    """Gradients accumulated over eight micro batches of two although all sixteen rows fit, and the gradient norm read by .item() for each parameter. Expert: use the whole batch of 16 at once (micro batches of two leave the GPU waiting for launches), then clip_grad_norm_ without .item() per parameter."""
    torch.set_float32_matmul_precision("high")
    vocab, length, micro, rounds = size(8000, 50), size(128, 8), 2, 8
    model = SmallGPT(vocab, size(512, 16), size(8, 2), size(3, 2), length).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    text = torch.randint(0, vocab, (256, length + 1))
    log = []

    def step_accumulated():
        optimizer.zero_grad()
        rows, running = text[torch.randint(0, 256, (micro * rounds,))], 0.0
        for i in range(rounds):
            part = rows[i * micro:(i + 1) * micro].to(device)
            loss = F.cross_entropy(model(part[:, :-1]).flatten(0, 1), part[:, 1:].flatten()) / rounds
            loss.backward()
            running += loss.item()
        norm = 0.0
        for p in model.parameters():
            norm += p.grad.norm(2).item() ** 2
        norm = norm ** 0.5
        if norm > 1.0:
            for p in model.parameters():
                p.grad.mul_(1.0 / (norm + 1e-6))
        optimizer.step()
        log.append((running, norm))
        return running

    def step_whole():
        optimizer.zero_grad()
        rows = text[torch.randint(0, 256, (micro * rounds,))].to(device)
        loss = F.cross_entropy(model(rows[:, :-1]).flatten(0, 1), rows[:, 1:].flatten())
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        log.append((loss.detach(), norm))  # read every now and then
        return loss

    return step_whole if mended else step_accumulated


# -------------------------------------------------------------------------------------------------------------- moving average of weights
class DenoiseBlock(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm, self.time = nn.LayerNorm(dim), nn.Linear(dim, dim)
        self.up, self.down = nn.Linear(dim, 2 * dim), nn.Linear(2 * dim, dim)

    def forward(self, x, t):
        return x + self.down(F.silu(self.up(self.norm(x) + self.time(t))))


class Denoiser(nn.Module):
    def __init__(self, features, dim, depth):
        super().__init__()
        self.inp, self.out = nn.Linear(features, dim), nn.Linear(dim, features)
        self.time = nn.Sequential(nn.Linear(1, dim), nn.SiLU(), nn.Linear(dim, dim))
        self.blocks = nn.ModuleList([DenoiseBlock(dim) for _ in range(depth)])

    def forward(self, x, t):
        x, t = self.inp(x), self.time(t)
        for block in self.blocks:
            x = block(x, t)
        return self.out(x)


def ema(mended):
    """The moving average of the weights is a Python loop with three or four small kernels for each parameter, and float(loss) waits in each step. Expert: update the average with torch._foreach_lerp_ over all parameters at once (or every few steps), and keep the loss on the GPU until it's printed."""
    torch.set_float32_matmul_precision("high")
    features, batch, decay = size(64, 8), size(512, 4), 0.999
    model = Denoiser(features, size(256, 16), size(24, 3)).to(device)
    params = list(model.parameters())
    average = [p.detach().clone() for p in params]
    optimizer = torch.optim.AdamW(params, lr=1e-4)
    data = torch.randn(20000, features, device=device)
    history = []

    def step():
        x = data[torch.randint(0, len(data), (batch,), device=device)]
        t, noise = torch.rand(batch, 1, device=device), torch.randn(batch, features, device=device)
        loss = F.mse_loss(model((1 - t) * x + t * noise, t), noise - x)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            if mended:
                torch._foreach_lerp_(average, params, 1 - decay)
                history.append(loss.detach())
            else:
                for a, p in zip(average, params):
                    a.copy_(decay * a + (1 - decay) * p)
                history.append(float(loss))
        return loss

    step.average = average
    return step


# ----------------------------------------------------------------------------------------------------------------- image augmentation
def augment(mended):
    """Augmentation on the GPU image by image in a Python loop, with flips and crops drawn by Python. Expert: augment the batch at once: per-image random tensors, torch.where for the flips and one gather for the crops, instead of ten tiny kernels an image."""
    torch.set_float32_matmul_precision("high")
    batch, side, pad, classes = size(96, 4), size(64, 16), 4, 10
    widths, layers = [3, 64, 128, 256], []
    for i, o in zip(widths, widths[1:]):
        layers += [nn.Conv2d(i, o, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(o), nn.ReLU()]
    model = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(256, classes)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2, momentum=0.9)
    images = torch.randint(0, 256, (1024, 3, side, side), dtype=torch.uint8, device=device)
    labels = torch.randint(0, classes, (1024,), device=device)
    mean, std = torch.tensor([0.5, 0.45, 0.4], device=device), torch.tensor([0.2, 0.2, 0.2], device=device)
    mean, std = mean[:, None, None], std[:, None, None]

    def augment_one(image):
        image = image.float() / 255
        if random.random() < 0.5:
            image = image.flip(-1)
        image = F.pad(image[None], (pad, pad, pad, pad))[0]
        top, left = random.randint(0, 2 * pad), random.randint(0, 2 * pad)
        image = image[:, top:top + side, left:left + side]
        image = image * random.uniform(0.7, 1.3)
        middle = image.mean()
        image = (image - middle) * random.uniform(0.7, 1.3) + middle
        return (image.clamp(0, 1) - mean) / std

    def augment_all(x):
        n = len(x)
        x = x.float() / 255
        x = torch.where(torch.rand(n, 1, 1, 1, device=device) < 0.5, x.flip(-1), x)
        x = F.pad(x, (pad, pad, pad, pad))
        span = torch.arange(side, device=device)
        rows = torch.randint(0, 2 * pad + 1, (n, 1), device=device) + span
        cols = torch.randint(0, 2 * pad + 1, (n, 1), device=device) + span
        which, channel = torch.arange(n, device=device)[:, None, None, None], torch.arange(3, device=device)[:, None, None]
        x = x[which, channel, rows[:, None, :, None], cols[:, None, None, :]]
        x = x * (0.7 + 0.6 * torch.rand(n, 1, 1, 1, device=device))
        middle = x.mean(dim=(1, 2, 3), keepdim=True)
        x = (x - middle) * (0.7 + 0.6 * torch.rand(n, 1, 1, 1, device=device)) + middle
        return (x.clamp(0, 1) - mean) / std

    def step():
        rows = torch.randint(0, 1024, (batch,), device=device)
        picked = images[rows]
        x = augment_all(picked) if mended else torch.stack([augment_one(image) for image in picked])
        loss = F.cross_entropy(model(x), labels[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    return step


# ---------------------------------------------------------------------------------------------------------------------- tokenization
class ByteBPE:
    def __init__(self, words, n_merges):
        self.merges = {}
        words = [list(w.encode()) for w in words]
        for new in range(256, 256 + n_merges):
            counts = {}
            for w in words:
                for pair in zip(w, w[1:]):
                    counts[pair] = counts.get(pair, 0) + 1
            if not counts:
                break
            best = max(counts, key=counts.get)
            self.merges[best] = new
            words = [self.merge(w, best, new) for w in words]

    @staticmethod
    def merge(ids, pair, new):
        a, b = pair
        out, skip = [], False
        for i, x in enumerate(ids):
            if skip:
                skip = False
            elif x == a and ids[i + 1:i + 2] == [b]:
                out += [new]
                skip = True
            else:
                out += [x]
        return out

    def encode(self, text):
        ids, merges = [], self.merges
        for word in text.split(" "):
            w = list(word.encode())
            while True:
                best, rank = None, 1 << 30
                for pair in zip(w, w[1:]):
                    if pair in merges and merges[pair] < rank:
                        best, rank = pair, merges[pair]
                if best is None:
                    break
                w = self.merge(w, best, rank)
            ids += w
            ids += [32]
        return ids


def tokenize(mended):
    """A byte-level tokenizer in plain Python runs in the training loop on the main thread, so the GPU idles while it works. Expert: tokenize before training (save the ids), or in DataLoader workers or with a fast tokenizer: the GPU waits for Python in each step."""
    n_docs, words_per_doc, length, batch = size(256, 16), size(62, 20), size(256, 16), size(64, 2)
    letters = "etaoinshrdlucmfwyp"
    vocabulary = ["".join(random.choices(letters, k=random.randint(2, 9))) for _ in range(800)]
    odds = [1 / (i + 5) for i in range(800)]
    docs = [" ".join(random.choices(vocabulary, odds, k=words_per_doc)) for _ in range(n_docs)]
    bpe = ByteBPE(vocabulary, size(120, 20))
    vocab = 256 + size(120, 20)
    model = SmallGPT(vocab, size(512, 16), size(8, 2), size(6, 2), length).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)

    def prepare(text):
        ids = bpe.encode(text)[:length + 1]
        return ids + [0] * (length + 1 - len(ids))

    encoded = torch.tensor([prepare(doc) for doc in docs]) if mended else None

    def step():
        if mended:
            ids = encoded[torch.randint(0, n_docs, (batch,))]
        else:
            ids = torch.tensor([prepare(doc) for doc in random.sample(docs, batch)])
        ids = ids.to(device)
        with torch.autocast(device, dtype=torch.bfloat16):
            logits = model(ids[:, :-1])
        loss = F.cross_entropy(logits.float().flatten(0, 1), ids[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    return step


# --------------------------------------------------------------------------------------------------------------------- many policies
class ReachEnv:
    """Many little tasks on the CPU: (agents, copies, observation)."""

    def __init__(self, agents, copies, obs, act):
        self.rng = np.random.default_rng(0)
        self.mix = self.rng.normal(size=(act, obs)).astype(np.float32) * 0.3
        self.state = self.rng.normal(size=(agents, copies, obs)).astype(np.float32)

    def observe(self):
        return self.state.copy()

    def step(self, action):
        noise = self.rng.normal(size=self.state.shape).astype(np.float32)
        self.state = 0.95 * self.state + 0.1 * np.tanh(action) @ self.mix + 0.05 * noise
        return self.state.copy(), -(self.state ** 2).mean(axis=-1)


def robot(mended):
    """Sixteen tiny policy networks run and trained one after another, each with its own copies to and from the numpy environment. Expert: stack the networks' weights and run them as one (torch.bmm or torch.func.vmap), with one copy each way for an environment step and one optimizer."""
    agents, copies, obs_dim, act_dim, hidden, horizon, std = size(16, 3), 8, 24, 6, 64, size(6, 3), 0.3
    policies = [nn.Sequential(nn.Linear(obs_dim, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, act_dim))
                .to(device) for _ in range(agents)]
    env = ReachEnv(agents, copies, obs_dim, act_dim)

    def returns(rewards):
        out, running = np.zeros_like(rewards), np.zeros_like(rewards[0])
        for t in reversed(range(horizon)):
            running = rewards[t] + 0.97 * running
            out[t] = running
        return (out - out.mean(axis=(0, 2), keepdims=True)) / (out.std(axis=(0, 2), keepdims=True) + 1e-6)

    if mended:
        weights = [nn.Parameter(torch.stack([p[i].weight.detach().t() for p in policies]).contiguous()) for i in (0, 2, 4)]
        biases = [nn.Parameter(torch.stack([p[i].bias.detach() for p in policies])[:, None]) for i in (0, 2, 4)]
        optimizer = torch.optim.Adam(weights + biases, lr=1e-3)
    else:
        optimizers = [torch.optim.Adam(p.parameters(), lr=1e-3) for p in policies]

    def all_policies(x):
        x = torch.tanh(torch.baddbmm(biases[0], x, weights[0]))
        x = torch.tanh(torch.baddbmm(biases[1], x, weights[1]))
        return torch.baddbmm(biases[2], x, weights[2])

    def step_one_by_one():
        observed, acted, rewards = [], [], []
        obs = env.observe()
        for _ in range(horizon):
            action = np.zeros((agents, copies, act_dim), dtype=np.float32)
            for i, policy in enumerate(policies):
                with torch.no_grad():
                    mean = policy(torch.from_numpy(obs[i]).to(device))
                    action[i] = (mean + std * torch.randn_like(mean)).cpu().numpy()
            observed.append(obs)
            acted.append(action)
            obs, reward = env.step(action)
            rewards.append(reward)
        observed, acted, adv = np.stack(observed), np.stack(acted), returns(np.stack(rewards))
        total = 0.0
        for i, (policy, optimizer) in enumerate(zip(policies, optimizers)):
            o, a, w = [torch.from_numpy(np.ascontiguousarray(x[:, i])).to(device) for x in (observed, acted, adv)]
            logp = -((a - policy(o)) / std).pow(2).sum(dim=-1) / 2
            loss = -(logp * w).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        return total

    def step_at_once():
        observed, acted, rewards = [], [], []
        obs = env.observe()
        for _ in range(horizon):
            with torch.no_grad():
                mean = all_policies(torch.from_numpy(obs).to(device))
                action = (mean + std * torch.randn_like(mean)).cpu().numpy()
            observed.append(obs)
            acted.append(action)
            obs, reward = env.step(action)
            rewards.append(reward)
        # (horizon, agents, copies, ...) to (agents, horizon * copies, ...)
        o = torch.from_numpy(np.stack(observed, axis=1).reshape(agents, horizon * copies, obs_dim)).to(device)
        a = torch.from_numpy(np.stack(acted, axis=1).reshape(agents, horizon * copies, act_dim)).to(device)
        adv = returns(np.stack(rewards)).transpose(1, 0, 2).reshape(agents, horizon * copies)
        w = torch.from_numpy(np.ascontiguousarray(adv)).to(device)
        logp = -((a - all_policies(o)) / std).pow(2).sum(dim=-1) / 2
        loss = -(logp * w).mean(dim=1).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()

    return step_at_once if mended else step_one_by_one


# -------------------------------------------------------------------------------------------------------------------------- encoder
class EncoderBlock(nn.Module):
    def __init__(self, dim, heads, sdpa):
        super().__init__()
        self.heads, self.sdpa = heads, sdpa
        self.q, self.k, self.v, self.o = [nn.Linear(dim, dim) for _ in range(4)]
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.up, self.down = nn.Linear(dim, 4 * dim), nn.Linear(4 * dim, dim)

    def forward(self, x, mask):
        b, n, d = x.shape
        q, k, v = [f(x).view(b, n, self.heads, -1).transpose(1, 2) for f in (self.q, self.k, self.v)]
        if self.sdpa:
            attended = F.scaled_dot_product_attention(q, k, v, attn_mask=mask[:, None, None, :])
        else:
            scores = q @ k.transpose(-1, -2) / math.sqrt(d // self.heads)
            scores = scores.float().masked_fill(~mask[:, None, None, :], -1e9)
            attended = scores.softmax(dim=-1).to(v.dtype) @ v
        x = self.norm1(x + self.o(attended.transpose(1, 2).reshape(b, n, d)))
        return self.norm2(x + self.down(F.gelu(self.up(x))))


class Encoder(nn.Module):
    def __init__(self, vocab, dim, heads, depth, longest, classes, sdpa):
        super().__init__()
        self.tok, self.pos, self.norm = nn.Embedding(vocab, dim), nn.Embedding(longest, dim), nn.LayerNorm(dim)
        self.blocks = nn.ModuleList([EncoderBlock(dim, heads, sdpa) for _ in range(depth)])
        self.head = nn.Linear(dim, classes)

    def forward(self, ids, mask):
        x = self.norm(self.tok(ids) + self.pos(torch.arange(ids.size(1), device=ids.device)))
        for block in self.blocks:
            x = block(x, mask)
        return self.head(x[:, 0])


def encoder(mended):
    """A BERT-like classifier that pads each batch to 512 tokens although the texts have 16 to 96, with attention by an explicit float32 softmax. Expert: pad to the longest text of the batch and put texts of like length together (nine tenths of the tokens are padding), and use scaled_dot_product_attention."""
    vocab, longest, batch, n_texts = size(16000, 50), size(512, 64), size(32, 4), size(2048, 32)
    model = Encoder(vocab, size(768, 16), size(12, 2), size(6, 2), longest, 2, sdpa=mended).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-5)
    lengths = torch.randint(size(16, 4), size(97, 13), (n_texts,))
    ids = torch.randint(1, vocab, (n_texts, longest))
    mask = torch.arange(longest)[None] < lengths[:, None]
    ids = ids * mask
    labels = torch.randint(0, 2, (n_texts,))
    buckets = lengths.argsort().view(-1, batch)

    def step(rows=None):
        if rows is None:
            rows = buckets[random.randrange(len(buckets))] if mended else torch.randint(0, n_texts, (batch,))
        n = -(-int(lengths[rows].max()) // 8) * 8 if mended else longest
        x, m, y = ids[rows, :n].to(device), mask[rows, :n].to(device), labels[rows].to(device)
        with torch.autocast(device, dtype=torch.bfloat16):
            logits = model(x, m)
        loss = F.cross_entropy(logits.float(), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    return step


CASES = {case.__name__: case for case in (lora, moe, decode, contrastive, forecast, physics, accumulate, ema, augment, tokenize, robot,
                                          encoder)}

# Written before anything was recorded: the programs' docstrings.
FAULT = {name: case.__doc__.split(" Expert: ")[0] for name, case in CASES.items()}
EXPERT = {name: case.__doc__.split(" Expert: ")[1] for name, case in CASES.items()}

ACTIVE = {"lora": 4, "contrastive": 4, "ema": 4, "encoder": 4}  # marked steps; 3 for the rest
LARGEST = 3_000_000  # bytes of a packed recording
CASE_LIMIT, ALL_LIMIT = 45, 450  # seconds


def wait():
    if device == "cuda":
        torch.cuda.synchronize()


def timed(step, steps=10):
    wait()
    begin = time.perf_counter()
    for _ in range(steps):
        step()
    wait()
    return round((time.perf_counter() - begin) / steps * 1e3, 3)


def busy_percent(events, marks):
    """The share of the marked steps' time in which the GPU did anything."""
    begin, end = min(e["ts"] for e in marks), max(e["ts"] + e["dur"] for e in marks)
    spans = sorted((e["ts"], e["ts"] + e["dur"]) for e in events
                   if e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset") and "dur" in e)
    busy, reached = 0.0, begin
    for a, b in spans:
        a, b = max(a, reached), min(b, end)
        if b > a:
            busy += b - a
            reached = b
    return round(100 * busy / (end - begin), 1) if end > begin else None


def record(step, folder, scratch, name, active, **flags):
    activities = [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if device == "cuda" else [])
    loose = f"{scratch}/{name}.json.gz"
    while True:
        with profile(activities=activities, schedule=schedule(wait=1, warmup=2, active=active),
                     on_trace_ready=lambda p: p.export_chrome_trace(loose), **flags) as prof:
            for _ in range(3 + active):
                step()
                prof.step()
        wait()
        with gzip.open(loose, "rb") as file:
            raw = file.read()
        packed = lzma.compress(raw, preset=6 if len(raw) < 8_000_000 else 3)
        if len(packed) <= LARGEST or active == 1:
            break
        active = max(1, min(active - 1, int(active * LARGEST / len(packed))))  # fewer steps
    path = f"{folder}/{name}.json.xz"
    pathlib.Path(path).write_bytes(packed)
    os.unlink(loose)
    events = json.loads(raw)
    events = events["traceEvents"] if isinstance(events, dict) else events
    marks = [e for e in events if e.get("cat") == "user_annotation" and e.get("name", "").startswith("ProfilerStep#")]
    kernels = sum(e.get("cat") == "kernel" for e in events)
    return {"path": path, "bytes": len(packed), "raw_mb": round(len(raw) / 1e6, 1), "kernels_a_step": round(kernels / max(1, len(marks))),
            "steps_ms": [round(e["dur"] / 1e3, 3) for e in marks], "gpu_busy_percent": busy_percent(events, marks) if marks else None}


def prepared(case, mended):
    torch.manual_seed(0)
    np.random.seed(0)
    random.seed(0)
    step = CASES[case](mended)
    for _ in range(5):
        step()
    return step


def run(folder, case):
    out = {"case": case, "gpu": torch.cuda.get_device_name() if device == "cuda" else "none", "torch": torch.__version__,
           "fault": FAULT[case], "expert": EXPERT[case]}
    begin, partial = time.perf_counter(), os.environ.get("UNSEEN_PARTIAL")

    def keep():
        out["took_s"] = round(time.perf_counter() - begin, 1)
        if partial:
            pathlib.Path(partial + ".new").write_text(json.dumps(out))
            os.replace(partial + ".new", partial)

    keep()
    try:
        active = ACTIVE.get(case, 3)
        for key, mended in (("mended_ms", True), ("plain_ms", False)):  # both before anything is recorded
            step = prepared(case, mended)
            out[key] = [timed(step) for _ in range(2)]
            keep()
        if not os.environ.get("UNSEEN_TIMES"):
            with tempfile.TemporaryDirectory() as scratch:
                for name, flags in (("lean", {}), ("mended", {}), ("full", {"with_stack": True, "record_shapes": True})):
                    if name != "lean":
                        step = prepared(case, name == "mended")
                    got = record(step, folder, scratch, f"{case}_{name}", active, **flags)
                    out["mended_recorded_ms" if name == "mended" else name + "_ms"] = got.pop("steps_ms")
                    out.setdefault("recordings", {})[name] = got
                    keep()
    except Exception as error:  # the others are worth having
        out["failed"] = f"{type(error).__name__}: {error}"[:300]
    keep()
    if not partial:
        print(json.dumps(out), flush=True)


def main(folder, *cases):
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    if len(cases) == 1:
        return run(folder, cases[0])
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        for case in cases or CASES:  # a process each: clean timings, and one failure leaves the others alone
            partial, why = f"{scratch}/{case}.json", None
            limit = min(CASE_LIMIT, ALL_LIMIT - (time.monotonic() - started))
            try:
                if limit < 5:
                    why = "no time left"
                else:
                    code = subprocess.run([sys.executable, os.path.abspath(__file__), folder, case], timeout=limit,
                                          env={**os.environ, "UNSEEN_PARTIAL": partial}).returncode
                    why = f"exit status {code}" if code else None
            except subprocess.TimeoutExpired:
                why = "timed out"
            out = json.loads(pathlib.Path(partial).read_text()) if os.path.exists(partial) else {"case": case}
            if why:
                out["failed"] = why
            print(json.dumps(out), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
