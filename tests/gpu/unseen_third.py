"""Twelve more programs of twelve fields, each with one thing that costs most, and mended as an expert would. Written before any of
them was recorded. Timed plain, then recorded with PyTorch's profiler. Needs a GPU and PyTorch (without a GPU: tiny sizes, for a check):

    python3 tests/gpu/unseen_third.py FOLDER [CASE...]

writes FOLDER/CASE_lean.json.gz and CASE_full.json.gz (stacks and shapes) and prints one JSON line a case: the plain milliseconds of a
step as written, mended and, where the program has it, followed: the first advice taken to the letter. TRIAL_TIMES=1 only times.
"""
import math
import os
import random
import sys

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

import trial
from trial import device, sized as size


# ------------------------------------------------------------------------------------------------------------------------ distillation
# Costs most: the teacher runs in float32, outside of the autocast region. Expert: give the teacher bfloat16 weights (and inputs).
class Bert(nn.Module):
    def __init__(self, vocab, dim, depth, heads, length):
        super().__init__()
        self.tok, self.pos = nn.Embedding(vocab, dim), nn.Parameter(torch.randn(1, length, dim) * 0.02)
        layer = nn.TransformerEncoderLayer(dim, heads, 4 * dim, dropout=0.1, activation="gelu", batch_first=True)
        self.layers = nn.TransformerEncoder(layer, depth)
        self.norm, self.head = nn.LayerNorm(dim), nn.Linear(dim, vocab)

    def forward(self, ids):
        x = self.tok(ids) + self.pos[:, :ids.size(1)]
        return self.head(self.norm(self.layers(x)))


def distill(how):
    vocab, length, batch, T = size(8192, 100), size(128, 8), size(32, 2), 2.0
    teacher = Bert(vocab, size(1024, 32), size(24, 2), size(16, 2), length).to(device).eval()
    student = Bert(vocab, size(512, 16), size(4, 1), size(8, 2), length).to(device).train()
    if how == "mended":
        teacher.bfloat16()
    opt = torch.optim.AdamW(student.parameters(), lr=5e-4)
    corpus = torch.randint(5, vocab, (256, length))

    def train_step():
        ids = corpus[torch.randint(0, 256, (batch,))].to(device)
        masked = torch.where(torch.rand(ids.shape, device=device) < 0.15, torch.full_like(ids, 3), ids)
        with torch.no_grad(), torch.autocast(device, dtype=torch.bfloat16, enabled=how == "followed"):
            t_logits = teacher(masked).float()
        with torch.autocast(device, dtype=torch.bfloat16):
            s_logits = student(masked)
        s_logits = s_logits.float()
        kd = F.kl_div(F.log_softmax(s_logits / T, -1), F.softmax(t_logits / T, -1), reduction="batchmean") * T * T / length
        mlm = F.cross_entropy(s_logits.flatten(0, 1), ids.flatten())
        loss = 0.7 * kd + 0.3 * mlm
        opt.zero_grad()
        loss.backward()
        opt.step()

    return train_step


# ---------------------------------------------------------------------------------------------------------------------- metric learning
# Costs most: all pairs' differences are laid out as one (N, N, D) tensor. Expert: torch.cdist, a matrix product.
class ProductEmbedder(nn.Module):
    def __init__(self, inp, dim):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(inp, 2 * dim), nn.BatchNorm1d(2 * dim), nn.ReLU(), nn.Linear(2 * dim, 2 * dim),
                                 nn.BatchNorm1d(2 * dim), nn.ReLU(), nn.Linear(2 * dim, dim))

    def forward(self, x):
        return F.normalize(self.net(x), dim=-1)


class BatchHardTripletLoss(nn.Module):
    def __init__(self, margin=0.3, cdist=False):
        super().__init__()
        self.margin, self.cdist = margin, cdist

    def forward(self, emb, labels):
        if self.cdist:
            dist = torch.cdist(emb, emb)
        else:
            dist = ((emb.unsqueeze(0) - emb.unsqueeze(1)) ** 2).sum(-1).clamp(min=1e-12).sqrt()
        same = labels.unsqueeze(0) == labels.unsqueeze(1)
        hardest_pos = (dist * same).max(dim=1)[0]
        hardest_neg = (dist + same * 1e4).min(dim=1)[0]
        return F.relu(hardest_pos - hardest_neg + self.margin).mean()


def products(how):
    n, dim, inp = size(1024, 16), size(512, 8), size(2048, 8)
    features, labels = torch.randn(8 * n, inp, device=device), torch.randint(0, n // 2, (8 * n,), device=device)
    model, criterion = ProductEmbedder(inp, dim).to(device), BatchHardTripletLoss(cdist=how == "mended")
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, weight_decay=1e-5)

    def step():
        rows = torch.randint(0, 8 * n, (n,), device=device)
        optimizer.zero_grad()
        loss = criterion(model(features[rows]), labels[rows])
        loss.backward()
        optimizer.step()

    return step


# ---------------------------------------------------------------------------------------------------------------------- medical patches
# Costs most: each (short) epoch makes a new DataLoader, so eight workers start and end. Expert: one loader, persistent_workers=True.
class PatchSet(Dataset):
    def __init__(self, volumes, labels):
        self.volumes, self.labels = volumes, labels

    def __len__(self):
        return len(self.volumes)

    def __getitem__(self, i):
        x = self.volumes[i]
        for axis in range(3):
            if np.random.rand() < 0.5:
                x = np.flip(x, axis)
        x = x * np.float32(np.random.uniform(0.9, 1.1)) + np.float32(np.random.uniform(-0.1, 0.1))
        return torch.from_numpy(np.ascontiguousarray(x))[None], int(self.labels[i])


def make_net3d(ch):
    def block(a, b):
        return nn.Sequential(nn.Conv3d(a, b, 3, padding=1), nn.BatchNorm3d(b), nn.ReLU(), nn.Conv3d(b, b, 3, padding=1), nn.BatchNorm3d(b),
                             nn.ReLU(), nn.MaxPool3d(2))
    return nn.Sequential(block(1, ch), block(ch, 2 * ch), block(2 * ch, 4 * ch), nn.AdaptiveAvgPool3d(1), nn.Flatten(),
                         nn.Linear(4 * ch, 2))


class Experiment:
    def __init__(self, n_patches, edge, ch, workers, how):
        self.data = PatchSet(np.random.randn(n_patches, edge, edge, edge).astype(np.float32), np.random.randint(0, 2, n_patches))
        self.model = make_net3d(ch).to(device)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01, momentum=0.9)
        self.workers, self.how, self.loader = workers, how, None

    def get_loader(self):
        if self.how == "mended":
            if self.loader is None:
                self.loader = DataLoader(self.data, batch_size=16, shuffle=True, num_workers=self.workers, pin_memory=True,
                                         persistent_workers=True)
            return self.loader
        return DataLoader(self.data, batch_size=16, shuffle=True, num_workers=self.workers, pin_memory=True,
                          persistent_workers=self.how == "followed")

    def train_epoch(self):
        self.model.train()
        total = torch.zeros((), device=device)
        for x, y in self.get_loader():
            x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
            self.optimizer.zero_grad()
            loss = F.cross_entropy(self.model(x), y)
            loss.backward()
            self.optimizer.step()
            total += loss.detach()
        return total.item()


def patches(how):
    run = Experiment(size(128, 32), size(32, 8), size(32, 2), size(8, 2), how)
    return run.train_epoch  # a step is an epoch


# --------------------------------------------------------------------------------------------------------------------- machine sensors
# Costs most: anomaly detection left on from a hunt for NaNs. Expert: turn it off.
class SensorVAE(nn.Module):
    def __init__(self, channels=12, hidden=64, latent=16):
        super().__init__()
        self.enc = nn.Sequential()
        for i in range(4):
            self.enc.append(nn.Conv1d(channels if i == 0 else hidden, hidden, 5, stride=2, padding=2))
            self.enc.append(nn.GroupNorm(8, hidden))
            self.enc.append(nn.SiLU())
        self.mu, self.logvar = nn.Conv1d(hidden, latent, 1), nn.Conv1d(hidden, latent, 1)
        self.dec = nn.Sequential(nn.Conv1d(latent, hidden, 1))
        for i in range(4):
            self.dec.append(nn.SiLU())
            self.dec.append(nn.ConvTranspose1d(hidden, channels if i == 3 else hidden, 4, stride=2, padding=1))

    def forward(self, x):
        h = self.enc(x)
        mu, logvar = self.mu(h), self.logvar(h).clamp(-10, 10)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        return self.dec(z), mu, logvar


def sensors(how):
    torch.autograd.set_detect_anomaly(how != "mended")  # loss went nan in epoch 3?!
    windows = torch.randn(size(4096, 64), 12, size(512, 32), device=device)
    model = SensorVAE().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-4)

    def step():
        x = windows[torch.randint(0, len(windows), (size(128, 4),), device=device)]
        recon, mu, logvar = model(x)
        rec = ((recon - x) ** 2).sum(dim=(1, 2)).mean()
        kl = (-0.5 * (1 + logvar - mu ** 2 - logvar.exp())).sum(dim=(1, 2)).mean()
        spectral = (torch.fft.rfft(recon, dim=-1).abs() - torch.fft.rfft(x, dim=-1).abs()).abs().mean()
        loss = rec + 0.1 * kl + spectral
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()

    return step


# ------------------------------------------------------------------------------------------------------------------------------- music
# Costs most: each layer builds its ALiBi bias and causal mask on the CPU in each forward and copies it. Expert: once, as a GPU buffer.
def get_slopes(n_heads, where):
    return torch.tensor([2 ** (-8 * (i + 1) / n_heads) for i in range(n_heads)], device=where)


def build_bias(n_heads, T, where="cpu"):
    pos = torch.arange(T, device=where)
    bias = -(pos[:, None] - pos[None, :]).abs().float()[None] * get_slopes(n_heads, where)[:, None, None]
    mask = torch.triu(torch.ones(T, T, device=where), diagonal=1).bool()
    return bias.masked_fill(mask[None], float("-inf"))


class AlibiAttention(nn.Module):
    def __init__(self, dim, n_heads, max_len, how):
        super().__init__()
        self.n_heads, self.where = n_heads, device if how == "followed" else "cpu"
        self.to_qkv, self.to_out = nn.Linear(dim, 3 * dim, bias=False), nn.Linear(dim, dim)
        self.cached = how == "mended"
        if self.cached:
            self.register_buffer("bias", build_bias(n_heads, max_len).to(torch.bfloat16), persistent=False)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, self.n_heads, -1).transpose(1, 2) for t in self.to_qkv(x).chunk(3, dim=-1))
        bias = self.bias[:, :T, :T] if self.cached else build_bias(self.n_heads, T, self.where).to(x.device)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=bias.to(q.dtype))
        return self.to_out(out.transpose(1, 2).reshape(B, T, C))


class MusicTransformer(nn.Module):
    def __init__(self, vocab, dim, depth, n_heads, max_len, how):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.attn = nn.ModuleList([AlibiAttention(dim, n_heads, max_len, how) for _ in range(depth)])
        self.ff = nn.ModuleList([nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim)) for _ in range(depth)])
        self.n1 = nn.ModuleList([nn.LayerNorm(dim) for _ in range(depth)])
        self.n2 = nn.ModuleList([nn.LayerNorm(dim) for _ in range(depth)])
        self.out = nn.Linear(dim, vocab)

    def forward(self, x):
        x = self.emb(x)
        for attn, ff, n1, n2 in zip(self.attn, self.ff, self.n1, self.n2):
            x = x + attn(n1(x))
            x = x + ff(n2(x))
        return self.out(x)


def music(how):
    T, B, vocab = size(1024, 16), size(8, 2), size(512, 50)
    model = MusicTransformer(vocab, size(512, 32), size(8, 2), 8, T, how).to(device)
    opt = torch.optim.AdamW(model.parameters(), lr=3e-4)
    pieces = torch.randint(0, vocab, (128, T + 1))

    def step():
        seq = pieces[torch.randint(0, 128, (B,))].to(device)
        with torch.autocast(device, dtype=torch.bfloat16):
            logits = model(seq[:, :-1])
            loss = F.cross_entropy(logits.view(-1, vocab), seq[:, 1:].reshape(-1))
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()

    return step


# --------------------------------------------------------------------------------------------------------------------- mesh simulation
# Costs most: seed_everything() turns deterministic algorithms on, so index_add_ and its like sort and fill. Expert: turn it off.
def seed_everything(seed, deterministic):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    torch.backends.cudnn.benchmark = False
    torch.backends.cudnn.deterministic = deterministic
    torch.use_deterministic_algorithms(deterministic)


def mlp(i, h, o):
    return nn.Sequential(nn.Linear(i, h), nn.ReLU(), nn.Linear(h, h), nn.ReLU(), nn.Linear(h, o), nn.LayerNorm(o))


class MeshGraphNet(nn.Module):
    def __init__(self, h=128, rounds=8):
        super().__init__()
        self.enc_n, self.enc_e = mlp(12, h, h), mlp(4, h, h)
        self.edge = nn.ModuleList([mlp(3 * h, h, h) for _ in range(rounds)])
        self.node = nn.ModuleList([mlp(2 * h, h, h) for _ in range(rounds)])
        self.dec = nn.Linear(h, 3)

    def forward(self, nodes, edges, src, dst):
        v, e = self.enc_n(nodes), self.enc_e(edges)
        for edge, node in zip(self.edge, self.node):
            e = e + edge(torch.cat([e, v.index_select(0, src), v.index_select(0, dst)], dim=-1))
            agg = torch.zeros_like(v).index_add_(0, dst, e)
            v = v + node(torch.cat([v, agg], dim=-1))
        return self.dec(v)


def mesh(how):
    os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
    seed_everything(42, how != "mended")
    n, h = size(15_000, 50), size(128, 8)
    src, dst = torch.randint(0, n, (2, 6 * n), device=device)
    nodes, edges, target = (torch.randn(m, k, device=device) for m, k in ((n, 12), (6 * n, 4), (n, 3)))
    model = MeshGraphNet(h, size(8, 2)).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)

    def step():
        noise = torch.randn_like(nodes) * 0.003
        loss = F.mse_loss(model(nodes + noise, edges, src, dst), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step


# ------------------------------------------------------------------------------------------------------------------------ citation graph
# Costs most: each layer normalises the constant adjacency anew, by two N x N x N products. Expert: normalise once, before training.
def normalize_adj(A, how):
    if how == "followed":
        d = A.sum(1).pow(-0.5)
        return d[:, None] * A * d
    D_inv_sqrt = torch.diag(A.sum(1).pow(-0.5))
    return D_inv_sqrt @ A @ D_inv_sqrt


class GCNLayer(nn.Module):
    def __init__(self, inp, out):
        super().__init__()
        self.W = nn.Parameter(torch.empty(inp, out))
        self.b = nn.Parameter(torch.zeros(out))
        nn.init.xavier_uniform_(self.W)

    def forward(self, X, A, how):
        A_hat = A if how == "mended" else normalize_adj(A, how)
        return A_hat @ (X @ self.W) + self.b


class GCN(nn.Module):
    def __init__(self, inp, hid, classes):
        super().__init__()
        self.l1, self.l2, self.l3 = GCNLayer(inp, hid), GCNLayer(hid, hid), GCNLayer(hid, classes)

    def forward(self, X, A, how):
        h = F.dropout(F.relu(self.l1(X, A, how)), 0.5, self.training)
        h = F.dropout(F.relu(self.l2(h, A, how)), 0.5, self.training)
        return self.l3(h, A, how)


def citations(how):
    n, feats, classes = size(5000, 40), size(1433, 20), 7
    A = (torch.rand(n, n) < 8 / n).float()
    A = ((A + A.T + torch.eye(n)) > 0).float().to(device)
    X, y = torch.rand(n, feats, device=device), torch.randint(0, classes, (n,), device=device)
    train_mask = torch.rand(n, device=device) < 0.3
    if how == "mended":
        A = normalize_adj(A, how)
    model = GCN(feats, 256, classes).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)

    def epoch():
        model.train()
        optimizer.zero_grad()
        out = model(X, A, how)
        loss = F.cross_entropy(out[train_mask], y[train_mask])
        loss.backward()
        optimizer.step()
        return loss

    return epoch


# ----------------------------------------------------------------------------------------------------------------------------- translation
# Costs most: the beam search reads the score and the index of each candidate with .item(). Expert: .tolist() of all, once a token.
class CrossDecoderLayer(nn.Module):
    def __init__(self, dim, heads, max_len):
        super().__init__()
        self.heads, self.max_len = heads, max_len
        self.qkv, self.o = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.cq, self.ckv, self.co = nn.Linear(dim, dim), nn.Linear(dim, 2 * dim), nn.Linear(dim, dim)
        self.ff = nn.Sequential(nn.Linear(dim, 4 * dim), nn.ReLU(), nn.Linear(4 * dim, dim))
        self.n1, self.n2, self.n3 = nn.LayerNorm(dim), nn.LayerNorm(dim), nn.LayerNorm(dim)

    def split(self, x):
        return x.view(x.size(0), x.size(1), self.heads, -1).transpose(1, 2)

    def forward(self, x, cache, memory_kv, t):
        q, k, v = [self.split(y) for y in self.qkv(self.n1(x)).chunk(3, -1)]
        cache[0][:, :, t:t + 1], cache[1][:, :, t:t + 1] = k, v
        a = F.scaled_dot_product_attention(q, cache[0][:, :, :t + 1], cache[1][:, :, :t + 1])
        x = x + self.o(a.transpose(1, 2).flatten(2))
        a = F.scaled_dot_product_attention(self.split(self.cq(self.n2(x))), *memory_kv)
        x = x + self.co(a.transpose(1, 2).flatten(2))
        return x + self.ff(self.n3(x))


class Translator:
    def __init__(self, vocab, dim, depth, heads, max_len, beam, how):
        self.emb, self.out = nn.Embedding(vocab, dim).to(device), nn.Linear(dim, vocab).to(device)
        self.layers = nn.ModuleList([CrossDecoderLayer(dim, heads, max_len) for _ in range(depth)]).to(device)
        for m in (self.emb, self.out, self.layers):
            m.to(size(torch.float16, torch.float32)).eval()
        self.vocab, self.max_len, self.beam, self.how, self.eos = vocab, max_len, beam, how, 2

    @torch.no_grad()
    def translate(self, memory):
        B, K, V = memory.size(0), self.beam, self.vocab
        memory = memory.repeat_interleave(K, 0)
        memory_kv = [[layer.split(y) for y in layer.ckv(memory).chunk(2, -1)] for layer in self.layers]
        shape = (B * K, self.layers[0].heads, self.max_len, memory.size(-1) // self.layers[0].heads)
        caches = [[torch.zeros(shape, device=device, dtype=memory.dtype) for _ in range(2)] for _ in self.layers]
        scores = torch.full((B, K), -1e9, device=device)
        scores[:, 0] = 0
        tokens, finished = torch.ones(B * K, 1, dtype=torch.long, device=device), [[] for _ in range(B)]
        for t in range(self.max_len):
            x = self.emb(tokens)
            for layer, cache, kv in zip(self.layers, caches, memory_kv):
                x = layer(x, cache, kv, t)
            logp = F.log_softmax(self.out(x[:, -1]).float(), -1).view(B, K, V) + scores[:, :, None]
            top_scores, top_idx = logp.view(B, K * V).topk(2 * K)
            if self.how == "mended":
                top_scores, top_idx = top_scores.tolist(), top_idx.tolist()
            elif self.how == "followed":
                top_scores, top_idx = (torch.stack([x[b, j] for b in range(B) for j in range(2 * K)]).view(B, 2 * K).tolist()
                                       for x in (top_scores, top_idx))
            next_scores, next_tokens, next_beams = [], [], []
            for b in range(B):
                taken = 0
                for j in range(2 * K):
                    if self.how != "before":
                        score, idx = top_scores[b][j], top_idx[b][j]
                    else:
                        score, idx = top_scores[b, j].item(), top_idx[b, j].item()
                    if idx % V == self.eos:
                        finished[b].append((score / (t + 1), b * K + idx // V))
                    elif taken < K:
                        next_scores.append(score)
                        next_tokens.append(idx % V)
                        next_beams.append(b * K + idx // V)
                        taken += 1
            scores = torch.tensor(next_scores, device=device).view(B, K)
            tokens = torch.tensor(next_tokens, device=device)[:, None]
            order = torch.tensor(next_beams, device=device)
            for cache in caches:
                cache[0], cache[1] = cache[0].index_select(0, order), cache[1].index_select(0, order)
        return scores


def translate(how):
    dim = size(512, 16)
    model = Translator(size(16_000, 50), dim, size(6, 2), size(8, 2), size(8, 4), 5, how)
    memory = torch.randn(size(8, 2), 30, dim, device=device, dtype=size(torch.float16, torch.float32))
    return lambda: model.translate(memory)


# ------------------------------------------------------------------------------------------------------------------------------ captions
# Costs most: label smoothing by hand on int64 one-hots of the whole vocabulary. Expert: F.cross_entropy(..., label_smoothing=0.1).
class Captioner(nn.Module):
    def __init__(self, vocab, dim, depth, heads):
        super().__init__()
        self.img, self.tok = nn.Linear(768, dim), nn.Embedding(vocab, dim)
        layer = nn.TransformerDecoderLayer(dim, heads, 4 * dim, dropout=0.0, batch_first=True, norm_first=True)
        self.dec, self.out = nn.TransformerDecoder(layer, depth), nn.Linear(dim, vocab)

    def forward(self, feats, ids):
        mask = nn.Transformer.generate_square_subsequent_mask(ids.size(1)).to(ids.device)
        return self.out(self.dec(self.tok(ids), self.img(feats), tgt_mask=mask))


def smooth_loss(logits, target, classes, pad, eps=0.1):
    one_hot = F.one_hot(target, classes)
    smooth = one_hot * (1 - eps) + (1 - one_hot) * eps / (classes - 1)
    logp = torch.log_softmax(logits.float(), dim=-1)
    loss = -(smooth * logp).sum(-1)
    keep = (target != pad).float()
    return (loss * keep).sum() / keep.sum()


def captions(how):
    vocab, T, B = size(32_000, 60), size(40, 6), size(384, 2)  # 96 at first: the gain was no larger than the noise
    model = Captioner(vocab, size(512, 16), size(4, 1), 8).to(device)
    criterion = torch.compile(smooth_loss) if how == "followed" else smooth_loss
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, betas=(0.9, 0.98))
    feats, caps = torch.randn(256, 49, 768, device=device), torch.randint(0, vocab, (256, T + 1), device=device)

    def step():
        rows = torch.randint(0, 256, (B,), device=device)
        f, c = feats[rows], caps[rows]
        with torch.autocast(device, dtype=torch.bfloat16):
            logits = model(f, c[:, :-1])
        logits, target = logits.flatten(0, 1), c[:, 1:].flatten()
        if how == "mended":
            loss = F.cross_entropy(logits, target, label_smoothing=0.1, ignore_index=0)
        else:
            loss = criterion(logits, target, vocab, pad=0)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step


# -------------------------------------------------------------------------------------------------------------------------------- driving
# Costs most: torch.unique(dim=0) over rows of coordinates, at each scale. Expert: one int64 key a voxel, torch.unique of that.
class VoxelEncoder(nn.Module):
    def __init__(self, voxel, ch, keyed):
        super().__init__()
        self.voxel, self.keyed = voxel, keyed
        self.pfn = nn.Sequential(nn.Linear(8, ch), nn.ReLU(), nn.Linear(ch, ch))

    def forward(self, batch_idx, pts, batch, extent):
        grid = int(2 * extent / self.voxel)
        xyz = ((pts[:, :3] + extent) / self.voxel).long().clamp(0, grid - 1)
        coords = torch.cat([batch_idx[:, None], xyz], dim=1)
        if self.keyed:
            b, x, y, z = coords.unbind(1)
            keys, inverse = torch.unique(((b * grid + x) * grid + y) * grid + z, return_inverse=True)
            voxels = torch.stack([keys // grid ** 3, keys // grid ** 2 % grid, keys // grid % grid, keys % grid], dim=1)
        else:
            voxels, inverse = torch.unique(coords, dim=0, return_inverse=True)
        ones = torch.ones(len(pts), 1, device=pts.device)
        count = torch.zeros(len(voxels), 1, device=pts.device).index_add_(0, inverse, ones)
        mean = torch.zeros(len(voxels), 4, device=pts.device).index_add_(0, inverse, pts) / count
        h = self.pfn(torch.cat([pts, pts - mean[inverse]], dim=1))
        pooled = torch.zeros(len(voxels), h.size(1), device=pts.device).index_add_(0, inverse, h) / count
        cells = 128
        canvas = torch.zeros(batch * cells * cells, h.size(1), device=pts.device)
        where = (voxels[:, 0] * cells + voxels[:, 1] * cells // grid) * cells + voxels[:, 2] * cells // grid
        canvas.index_add_(0, where, pooled)
        return canvas.view(batch, cells, cells, -1).permute(0, 3, 1, 2)


class LidarDetector(nn.Module):
    def __init__(self, ch, width, keyed):
        super().__init__()
        self.scales = nn.ModuleList([VoxelEncoder(v, ch, keyed) for v in (0.2, 0.4, 0.8)])
        layers, last = [], 3 * ch
        for _ in range(6):
            layers += [nn.Conv2d(last, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU()]
            last = width
        self.bev, self.heads = nn.Sequential(*layers), nn.Conv2d(width, 2 * (7 + 3), 1)

    def forward(self, batch_idx, pts, batch):
        x = torch.cat([s(batch_idx, pts, batch, 51.2) for s in self.scales], dim=1)
        return self.heads(self.bev(x))


def driving(how):
    batch, points = size(4, 1), size(100_000, 200)
    model = LidarDetector(32, size(96, 8), how == "mended").to(device).eval()
    clouds = torch.cat([torch.randn(4 * points * batch, 3) * torch.tensor([20, 20, 1.5]), torch.rand(4 * points * batch, 1)], dim=1)
    clouds = clouds.view(4, batch * points, 4)
    batch_idx = torch.arange(batch, device=device).repeat_interleave(points)
    frames = iter(range(10 ** 9))

    @torch.no_grad()
    def label_frame():
        pts = clouds[next(frames) % 4].to(device)
        out = model(batch_idx, pts, batch)
        scores = out[:, :3].sigmoid().flatten(1)
        best, cells = scores.topk(100)
        return best.cpu().numpy(), cells.cpu().numpy()

    return label_frame


# -------------------------------------------------------------------------------------------------------------------------------- options
# Costs most: the normal numbers of each time step are drawn by the CPU and copied. Expert: torch.randn(..., device=device).
def options(how):
    n_paths, n_steps, dt = size(100_000, 100), size(52, 4), 1 / 52
    kappa, theta, sigma, rho, r, strike = 2.0, 0.04, 0.3, -0.7, 0.02, 100.0

    def draw():
        if how == "mended":
            return torch.randn(n_paths, 2, device=device)
        return torch.randn(n_paths, 2).to(device)

    def price():
        S0 = torch.tensor(100.0, device=device, requires_grad=True)
        v0 = torch.tensor(0.04, device=device, requires_grad=True)
        S, v, running = S0.expand(n_paths), v0.expand(n_paths), 0
        for _ in range(n_steps):
            z = draw()
            dw_v = z[:, 0]
            dw_s = rho * z[:, 0] + math.sqrt(1 - rho ** 2) * z[:, 1]
            vol = torch.sqrt(v.clamp(min=1e-6))
            S = S * torch.exp((r - 0.5 * vol ** 2) * dt + vol * math.sqrt(dt) * dw_s)
            v = v + kappa * (theta - v) * dt + sigma * vol * math.sqrt(dt) * dw_v
            running = running + S
        payoff = math.exp(-r) * F.relu(running / n_steps - strike).mean()
        delta, vega = torch.autograd.grad(payoff, [S0, v0])
        return payoff.item(), delta.item(), vega.item()

    return price


# ----------------------------------------------------------------------------------------------------------------------------------- nerf
# Costs most: np.random.choice(replace=False) shuffles all rays of all pictures to draw a batch. Expert: torch.randint on the GPU.
class NeRF(nn.Module):
    def __init__(self, D=8, W=256, L=10):
        super().__init__()
        self.L, inp = L, 3 + 6 * L
        self.pts = nn.ModuleList([nn.Linear(inp, W)] + [nn.Linear(W + inp if i == 4 else W, W) for i in range(1, D)])
        self.sigma, self.feat, self.view, self.rgb = nn.Linear(W, 1), nn.Linear(W, W), nn.Linear(W + 3, W // 2), nn.Linear(W // 2, 3)

    def embed(self, x):
        return torch.cat([x] + [f(2.0 ** i * x) for i in range(self.L) for f in (torch.sin, torch.cos)], -1)

    def forward(self, x, d):
        x = h = self.embed(x)
        for i, layer in enumerate(self.pts):
            h = F.relu(layer(torch.cat([h, x], -1) if i == 4 else h))
        rgb = torch.sigmoid(self.rgb(F.relu(self.view(torch.cat([self.feat(h), d], -1)))))
        return rgb, F.relu(self.sigma(h))[..., 0]


def render(net, rays_o, rays_d, near, far, n_samples):
    z = torch.linspace(near, far, n_samples, device=rays_o.device).expand(len(rays_o), n_samples)
    z = z + torch.rand_like(z) * (far - near) / n_samples
    pts = rays_o[:, None] + rays_d[:, None] * z[..., None]
    rgb, sigma = net(pts, rays_d[:, None].expand_as(pts))
    dists = torch.cat([z[:, 1:] - z[:, :-1], torch.full_like(z[:, :1], 1e10)], -1)
    alpha = 1 - torch.exp(-sigma * dists)
    T = torch.cumprod(torch.cat([torch.ones_like(alpha[:, :1]), 1 - alpha + 1e-10], -1), -1)[:, :-1]
    return ((alpha * T)[..., None] * rgb).sum(1)


def nerf(how):
    n_rays, N_rand, n_samples = size(50 * 200 * 200, 500), size(2048, 16), size(64, 8)
    rays_o, rays_d = torch.randn(n_rays, 3, device=device), F.normalize(torch.randn(n_rays, 3, device=device), dim=-1)
    colors = torch.rand(n_rays, 3, device=device)
    net = NeRF().to(device)
    optimizer = torch.optim.Adam(net.parameters(), lr=5e-4)

    def step():
        if how == "mended":
            sel = torch.randint(0, n_rays, (N_rand,), device=device)
        elif how == "followed":
            sel = torch.randperm(n_rays, device=device)[:N_rand]
        else:
            sel = torch.from_numpy(np.random.choice(n_rays, size=[N_rand], replace=False)).to(device)
        pred = render(net, rays_o[sel], rays_d[sel], 2.0, 6.0, n_samples)
        loss = F.mse_loss(pred, colors[sel])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    return step


CASES = {case.__name__: case for case in (distill, products, patches, sensors, music, mesh, citations, translate, captions, driving,
                                          options, nerf)}
FOLLOWED = ("distill", "patches", "music", "citations", "translate", "captions", "nerf")  # in the others it is the mended program

# Written before anything was recorded; the share is of the plain step's time.
EXPERT = {
    "distill": "the teacher runs in float32, outside autocast: teacher.bfloat16() (60-75%)",
    "products": "torch.cdist (or a matrix product) for the (N, N, D) tensor of differences (70-85%)",
    "patches": "make the DataLoader once, persistent_workers=True: eight workers start and end in each short epoch (50-80%)",
    "sensors": "torch.autograd.set_detect_anomaly(False): left on from a hunt for NaNs (40-60%)",
    "music": "build the ALiBi bias once and keep it on the GPU: each layer builds and copies 32 MB in each forward (70-90%)",
    "mesh": "torch.use_deterministic_algorithms(False): index_add_ sorts, and each new tensor is filled (25-50%)",
    "citations": "normalise the adjacency once before training: it's constant, and each layer does two N x N x N products (85-95%)",
    "translate": "top_scores.tolist() and top_idx.tolist() once a token: each candidate is read with two .item() (40-60%)",
    "captions": "F.cross_entropy(label_smoothing=0.1): one-hots of the vocabulary, int64, are written and read several times (20-35%)",
    "driving": "pack the coordinates into one int64 key: torch.unique(dim=0) sorts rows by a slow comparison (50-75%)",
    "options": "torch.randn(..., device='cuda'): the CPU draws all normal numbers, and they are copied (80-90%)",
    "nerf": "draw rays with torch.randint on the GPU: np.random.choice(replace=False) shuffles all 2 million (60-75%)",
}


def hows(case):
    return ("mended", *(["followed"] if case in FOLLOWED else []), "before")


if __name__ == "__main__":
    trial.main(CASES, hows, sys.argv[1:], active=6, largest=2_000_000, case_limit=75, all_limit=480)
