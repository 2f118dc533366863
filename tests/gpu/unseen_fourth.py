"""Fourteen more programs of fourteen fields, each rebuilt from a public report ("my training is slow") and with one thing that costs
most; mended as an expert would change it first. Written before any of them was recorded. Needs a GPU and PyTorch (without a GPU: tiny
sizes, for a check):

    python3 unseen_fourth.py FOLDER [CASE...]

times each program plain, as written and mended, before any profiler is loaded, then records it as written: FOLDER/CASE_lean.json.gz
(CPU and CUDA activities only) and CASE_full.json.gz (stacks and shapes). Prints one JSON line a case. TRIAL_TIMES=1 only times.
"""
import collections
import random
import sys
import warnings

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

import trial
from trial import device, sized as size

warnings.filterwarnings("ignore")


# --------------------------------------------------------------------------------------------------------------------------- 1. rotations
# Report: QR of many 3x3 matrices is far slower on a GPU than on the CPU, and slower than their SVD.
# Costs most: torch.linalg.qr of a batch of 3x3 matrices, which the GPU library factors one matrix after another.
# Expert, first: don't call torch.linalg.qr for a batch of tiny matrices; write Gram-Schmidt with a cross product, batched.
# Line: orthonormal(), the torch.linalg.qr call.
class CropNet(nn.Module):
    def __init__(self, ch):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, ch, 3, stride=2, padding=1), nn.BatchNorm2d(ch), nn.ReLU(),
            nn.Conv2d(ch, 2 * ch, 3, stride=2, padding=1), nn.BatchNorm2d(2 * ch), nn.ReLU(),
            nn.Conv2d(2 * ch, 4 * ch, 3, stride=2, padding=1), nn.BatchNorm2d(4 * ch), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.pose = nn.Linear(4 * ch, 9)

    def forward(self, x):
        return self.pose(self.features(x)).view(-1, 3, 3) + torch.eye(3, device=x.device)


def orthonormal(m, how):
    if how == "mended":
        a = F.normalize(m[:, :, 0], dim=1)
        b = F.normalize(m[:, :, 1] - (a * m[:, :, 1]).sum(1, keepdim=True) * a, dim=1)
        return torch.stack([a, b, torch.cross(a, b, dim=1)], dim=2)
    if how == "followed":
        q, r = (part.to(m.device) for part in torch.linalg.qr(m.cpu()))
    else:
        q, r = torch.linalg.qr(m)
    return q * torch.sign(torch.diagonal(r, dim1=1, dim2=2)).unsqueeze(1)


def rotations(how):
    batch, edge = size(512, 4), size(64, 16)
    crops = torch.randn(4 * batch, 3, edge, edge, device=device)
    targets = torch.matrix_exp((lambda a: a - a.transpose(1, 2))(torch.randn(4 * batch, 3, 3))).to(device)
    model = CropNet(size(32, 4)).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

    def step():
        rows = torch.randint(0, len(crops), (batch,), device=device)
        R = orthonormal(model(crops[rows]), how)
        loss = ((R - targets[rows]) ** 2).sum(dim=(1, 2)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step


# --------------------------------------------------------------------------------------------------------------------------- 2. molecules
# Report: the gradient of table[index] is extremely slow when the index has many duplicates (forward is fast).
# Costs most: backward of pair_table[pair]: a handful of rows, each fetched tens of thousands of times, added one after another.
# Expert, first: look the rows up with F.embedding(pair, table) (nn.Embedding), whose backward splits runs of the same row.
# Line: Interaction.forward(), self.pair_table[pair].
class Interaction(nn.Module):
    def __init__(self, dim, n_types, n_rbf, how):
        super().__init__()
        self.how = how
        self.pair_table = nn.Parameter(torch.randn(n_types * n_types, dim) * 0.1)
        self.filter = nn.Sequential(nn.Linear(n_rbf, dim), nn.SiLU(), nn.Linear(dim, dim))
        self.update = nn.Sequential(nn.Linear(dim, dim), nn.SiLU(), nn.Linear(dim, dim))

    def forward(self, h, src, dst, rbf, pair):
        if self.how == "mended":
            scale = F.embedding(pair, self.pair_table)
        else:
            scale = self.pair_table[pair]
        message = h.index_select(0, src) * self.filter(rbf) * scale
        return h + self.update(torch.zeros_like(h).index_add_(0, dst, message))


class ForceField(nn.Module):
    def __init__(self, dim, n_types, n_rbf, layers, how):
        super().__init__()
        self.embed = nn.Linear(n_types, dim)
        self.layers = nn.ModuleList([Interaction(dim, n_types, n_rbf, how) for _ in range(layers)])
        self.energy = nn.Sequential(nn.Linear(dim, dim // 2), nn.SiLU(), nn.Linear(dim // 2, 1))

    def forward(self, onehot, src, dst, rbf, pair):
        h = self.embed(onehot)
        for layer in self.layers:
            h = layer(h, src, dst, rbf, pair)
        return self.energy(h)


def molecules(how):
    n_types, n_rbf, n_mols, per = 8, 32, size(512, 8), size(24, 6)
    n, dim = n_mols * per, size(128, 16)
    types = torch.multinomial(torch.tensor([0.5, 0.3, 0.1, 0.06, 0.01, 0.01, 0.01, 0.01]), n, replacement=True).to(device)
    i, j = torch.meshgrid(torch.arange(per), torch.arange(per), indexing="ij")
    i, j = i[i != j], j[i != j]  # all pairs of a molecule
    base = (torch.arange(n_mols) * per).unsqueeze(1)
    src, dst = (base + i).flatten().to(device), (base + j).flatten().to(device)
    pair = types[src] * n_types + types[dst]
    onehot, centres = F.one_hot(types, n_types).float(), torch.linspace(0, 6, n_rbf, device=device)
    dist, target = torch.rand(len(src), 1, device=device) * 6, torch.randn(n_mols, device=device)
    model = ForceField(dim, n_types, n_rbf, 3, how).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-4)

    def step():
        rbf = torch.exp(-4 * (dist + 0.01 * torch.randn_like(dist) - centres) ** 2)
        energy = model(onehot, src, dst, rbf, pair).view(n_mols, per).sum(1)
        loss = F.l1_loss(energy, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step


# ------------------------------------------------------------------------------------------------------------------------------ 3. replay
# Report: DQN with prioritized replay keeps the GPU idle; sampling and updating the sum tree takes most of the time.
# Costs most: the sum tree is walked in Python, sample by sample, level by level, and updated the same way.
# Expert, first: vectorize the sum tree over the batch with NumPy (a level at a time for all samples).
# Line: SumTree._retrieve() / _propagate(), called one by one from PrioritizedReplay.sample() and .update().
class SumTree:
    def __init__(self, capacity):
        self.capacity = capacity  # a power of two
        self.tree = np.zeros(2 * capacity - 1)

    def total(self):
        return self.tree[0]

    def _propagate(self, idx, change):
        parent = (idx - 1) // 2
        self.tree[parent] += change
        if parent != 0:
            self._propagate(parent, change)

    def _retrieve(self, idx, s):
        left = 2 * idx + 1
        if left >= len(self.tree):
            return idx
        if s <= self.tree[left]:
            return self._retrieve(left, s)
        return self._retrieve(left + 1, s - self.tree[left])

    def update(self, idx, p):
        change = p - self.tree[idx]
        self.tree[idx] = p
        self._propagate(idx, change)

    def get(self, s):
        idx = self._retrieve(0, s)
        return idx, self.tree[idx]


class BatchedSumTree(SumTree):
    def get_all(self, s):
        idx, s = np.zeros(len(s), dtype=np.int64), s.copy()
        while idx[0] < self.capacity - 1:
            left = 2 * idx + 1
            right = s > self.tree[left]
            s -= np.where(right, self.tree[left], 0)
            idx = left + right
        return idx, self.tree[idx]

    def update_all(self, idx, p):
        self.tree[idx] = p
        while idx[0] > 0:
            idx = np.unique((idx - 1) // 2)
            self.tree[idx] = self.tree[2 * idx + 1] + self.tree[2 * idx + 2]


class PrioritizedReplay:
    def __init__(self, capacity, obs_dim, n_actions, how):
        self.tree, self.how = (BatchedSumTree if how == "mended" else SumTree)(capacity), how
        self.obs, self.next_obs = (np.random.randn(capacity, obs_dim).astype(np.float32) for _ in range(2))
        self.act, self.rew = np.random.randint(0, n_actions, capacity), np.random.randn(capacity).astype(np.float32)
        self.done = (np.random.rand(capacity) < 0.01).astype(np.float32)
        leaves = np.random.rand(capacity) + 0.01
        self.tree.tree[capacity - 1:] = leaves  # filled already
        for parent in range(capacity - 2, -1, -1):
            self.tree.tree[parent] = self.tree.tree[2 * parent + 1] + self.tree.tree[2 * parent + 2]

    def sample(self, n):
        segment = self.tree.total() / n
        if self.how == "mended":
            where, prios = self.tree.get_all((np.arange(n) + np.random.rand(n)) * segment * (1 - 1e-9))
        else:
            where, prios = [], []
            for i in range(n):
                idx, p = self.tree.get(random.uniform(segment * i, segment * (i + 1)))
                where.append(idx)
                prios.append(p)
            where, prios = np.array(where), np.array(prios)
        rows = where - (self.tree.capacity - 1)
        weights = (self.tree.capacity * prios / self.tree.total() + 1e-9) ** -0.4
        batch = (self.obs[rows], self.act[rows], self.rew[rows], self.next_obs[rows], self.done[rows],
                 (weights / weights.max()).astype(np.float32))
        return where, [torch.from_numpy(b).to(device) for b in batch]

    def update(self, where, errors):
        prios = (np.abs(errors) + 0.01) ** 0.6
        if self.how == "mended":
            self.tree.update_all(where, prios)
        else:
            for idx, p in zip(where, prios):
                self.tree.update(idx, p)


def replay(how):
    obs_dim, n_actions, batch, hidden = size(64, 8), 6, size(768, 8), size(512, 16)

    def make():
        return nn.Sequential(nn.Linear(obs_dim, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, hidden),
                             nn.ReLU(), nn.Linear(hidden, n_actions)).to(device)

    online, target = make(), make()
    target.load_state_dict(online.state_dict())
    memory = PrioritizedReplay(size(2 ** 17, 2 ** 8), obs_dim, n_actions, how)
    optimizer = torch.optim.Adam(online.parameters(), lr=1e-4)

    def learn():
        where, (obs, act, rew, next_obs, done, weights) = memory.sample(batch)
        with torch.no_grad():
            best = online(next_obs).argmax(1, keepdim=True)
            goal = rew + 0.99 * (1 - done) * target(next_obs).gather(1, best).squeeze(1)
        q = online(obs).gather(1, act.unsqueeze(1)).squeeze(1)
        loss = (weights * F.smooth_l1_loss(q, goal, reduction="none")).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        memory.update(where, (goal - q).detach().cpu().numpy())

    return learn


# ------------------------------------------------------------------------------------------------------------------------------ 4. tagger
# Report: the BiLSTM-CRF of the tutorial is slow; its forward algorithm loops over the next tag at each word.
# Costs most: the loop over tags within the loop over words: hundreds of tiny operations, and their backward.
# Expert, first: take the loop over tags out: one broadcast logsumexp over (batch, from, to) a word.
# Line: CRF.partition(), for next_tag in range(...).
class CRF(nn.Module):
    def __init__(self, tags, how):
        super().__init__()
        self.tags, self.how = tags, how
        self.transitions = nn.Parameter(torch.randn(tags, tags) * 0.1)  # [to, from]
        self.start, self.end = nn.Parameter(torch.zeros(tags)), nn.Parameter(torch.zeros(tags))

    def partition(self, emissions):
        alpha = self.start + emissions[:, 0]
        for t in range(1, emissions.size(1)):
            if self.how == "mended":
                alpha = torch.logsumexp(alpha.unsqueeze(1) + self.transitions, dim=2) + emissions[:, t]
                continue
            scores = []
            for next_tag in range(self.tags):
                emit = emissions[:, t, next_tag].unsqueeze(1)
                score = alpha + self.transitions[next_tag] + emit
                scores.append(torch.logsumexp(score, dim=1))
            alpha = torch.stack(scores, dim=1)
        return torch.logsumexp(alpha + self.end, dim=1)

    def gold(self, emissions, tags):
        emit = emissions.gather(2, tags.unsqueeze(2)).squeeze(2).sum(1)
        return emit + self.transitions[tags[:, 1:], tags[:, :-1]].sum(1) + self.start[tags[:, 0]] + self.end[tags[:, -1]]

    def forward(self, emissions, tags):
        return (self.partition(emissions) - self.gold(emissions, tags)).mean()


class Tagger(nn.Module):
    def __init__(self, vocab, dim, tags, how):
        super().__init__()
        self.emb, self.lstm = nn.Embedding(vocab, dim), nn.LSTM(dim, dim // 2, bidirectional=True, batch_first=True)
        self.drop, self.out, self.crf = nn.Dropout(0.3), nn.Linear(dim, tags), CRF(tags, how)

    def forward(self, words, tags):
        hidden, _ = self.lstm(self.drop(self.emb(words)))
        return self.crf(self.out(self.drop(hidden)), tags)


def tagger(how):
    vocab, T, tags, batch = size(8000, 50), size(24, 4), 9, size(64, 2)
    words, labels = torch.randint(0, vocab, (1024, T)), torch.randint(0, tags, (1024, T))
    model = Tagger(vocab, size(256, 8), tags, how).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.015, momentum=0.9)

    def step():
        rows = torch.randint(0, 1024, (batch,))
        loss = model(words[rows].to(device), labels[rows].to(device))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()

    return step


# --------------------------------------------------------------------------------------------------------------------------------- 5. eeg
# Report: "Creating a tensor from a list of numpy.ndarrays is extremely slow": the warning was ignored, the GPU sits idle.
# Costs most: torch.tensor(list of arrays) in the collate function reads number by number through Python objects.
# Expert, first: torch.from_numpy(np.stack(windows)).
# Line: collate(), torch.tensor([...]) of the windows.
class Recordings(torch.utils.data.Dataset):
    def __init__(self, n, channels, length):
        self.signal = np.random.randn(n, channels, length + 64).astype(np.float32)
        self.label, self.length = np.random.randint(0, 4, n), length

    def __len__(self):
        return len(self.signal)

    def __getitem__(self, i):
        begin = np.random.randint(0, 64)
        x = self.signal[i, :, begin:begin + self.length]
        return (x - x.mean(axis=1, keepdims=True)) / (x.std(axis=1, keepdims=True) + 1e-6), self.label[i]


def collate(samples):
    windows, labels = zip(*samples)
    return torch.tensor(list(windows)), torch.tensor(labels)


def collate_stacked(samples):
    windows, labels = zip(*samples)
    return torch.from_numpy(np.stack(windows)), torch.tensor(labels)


class EEGNet(nn.Module):
    def __init__(self, channels, f1, depth, classes):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(1, f1, (1, 65), padding=(0, 32), bias=False), nn.BatchNorm2d(f1),
            nn.Conv2d(f1, f1 * depth, (channels, 1), groups=f1, bias=False), nn.BatchNorm2d(f1 * depth), nn.ELU(), nn.AvgPool2d((1, 4)),
            nn.Dropout(0.25), nn.Conv2d(f1 * depth, 2 * f1 * depth, (1, 17), padding=(0, 8), bias=False), nn.BatchNorm2d(2 * f1 * depth),
            nn.ELU(), nn.AdaptiveAvgPool2d((1, 8)), nn.Flatten(), nn.Dropout(0.25), nn.Linear(16 * f1 * depth, classes))

    def forward(self, x):
        return self.net(x.unsqueeze(1))


def eeg(how):
    channels, length, batch = size(22, 4), size(500, 64), size(32, 4)
    data = Recordings(size(512, 16), channels, length)
    loader = torch.utils.data.DataLoader(data, batch_size=batch, shuffle=True, drop_last=True,
                                         collate_fn=collate_stacked if how == "mended" else collate)

    def endless():
        while True:
            yield from loader

    batches = endless()
    model = EEGNet(channels, size(8, 2), 2, 4).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

    def step():
        x, y = next(batches)
        x, y = x.to(device), y.to(device)
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step


# -------------------------------------------------------------------------------------------------------------------------- 6. filterbank
# Report: Conv1d with a kernel of a thousand samples and more is slow; the library doesn't use an FFT for it.
# Costs most: the first layer, a Conv1d with a 1601-sample kernel on raw audio: direct convolution, forward and weight gradient.
# Expert, first: do this convolution with an FFT (rfft of signal and filters, product, irfft).
# Line: Filterbank.forward(), F.conv1d.
class Filterbank(nn.Module):
    def __init__(self, filters, taps, how):
        super().__init__()
        self.taps, self.how = taps, how
        t = torch.arange(taps) - taps // 2
        freq = torch.logspace(-2.3, -0.4, filters).unsqueeze(1)
        self.weight = nn.Parameter((torch.cos(2 * torch.pi * freq * t) * torch.hann_window(taps) / taps).unsqueeze(1))

    def forward(self, wave):
        pad, T = self.taps // 2, wave.size(-1)
        if self.how == "mended":
            n = 1 << (T + self.taps - 2).bit_length()
            spectrum = torch.fft.rfft(wave, n) * torch.fft.rfft(self.weight.flip(-1), n).transpose(0, 1)
            return torch.fft.irfft(spectrum, n)[..., pad:pad + T]
        return F.conv1d(wave, self.weight, padding=pad)


class EmotionNet(nn.Module):
    def __init__(self, filters, taps, ch, how):
        super().__init__()
        self.bank = Filterbank(filters, taps, how)
        self.net = nn.Sequential(nn.Conv1d(filters, ch, 5, padding=2), nn.BatchNorm1d(ch), nn.ReLU(), nn.MaxPool1d(2),
                                 nn.Conv1d(ch, ch, 5, padding=2), nn.BatchNorm1d(ch), nn.ReLU(), nn.AdaptiveAvgPool1d(1), nn.Flatten(),
                                 nn.Linear(ch, 7))

    def forward(self, wave):
        energy = F.avg_pool1d(self.bank(wave) ** 2, 400, stride=160, ceil_mode=True)
        return self.net(torch.log(energy + 1e-6))


def filterbank(how):
    T, batch = size(32000, 2000), size(16, 2)
    waves, labels = torch.randn(128, 1, T, device=device), torch.randint(0, 7, (128,), device=device)
    model = EmotionNet(size(32, 4), size(1601, 101), size(128, 8), how).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

    def step():
        rows = torch.randint(0, 128, (batch,), device=device)
        gain = 0.5 + torch.rand(batch, 1, 1, device=device)
        loss = F.cross_entropy(model(waves[rows] * gain), labels[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step


# ------------------------------------------------------------------------------------------------------------------------------- 7. video
# Report: depthwise Conv3d is slower than a dense one, above all its backward pass; depthwise Conv2d slices added up are faster.
# Costs most: the depthwise 3x3x3 convolutions (groups=channels), above all their weight gradient.
# Expert, first: replace the depthwise Conv3d (with three depthwise Conv2d of shifted frames, added up, or a dense or factorized one).
# Line: Depthwise3d.forward(), F.conv3d(groups=...).
class Depthwise3d(nn.Module):
    def __init__(self, ch, how):
        super().__init__()
        self.how, self.weight = how, nn.Parameter(torch.randn(ch, 1, 3, 3, 3) * 0.2)

    def forward(self, x):
        if self.how != "mended":
            return F.conv3d(x, self.weight, padding=1, groups=x.size(1))
        N, C, T, H, W = x.shape
        frames = x.transpose(1, 2).reshape(N * T, C, H, W)
        before, now, after = (F.conv2d(frames, self.weight[:, :, k], padding=1, groups=C).view(N, T, C, H, W) for k in range(3))
        out = now + F.pad(before[:, :-1], (0, 0, 0, 0, 0, 0, 1, 0)) + F.pad(after[:, 1:], (0, 0, 0, 0, 0, 0, 0, 1))
        return out.transpose(1, 2).contiguous()


class VideoBlock(nn.Module):
    def __init__(self, ch, wide, how):
        super().__init__()
        self.net = nn.Sequential(nn.Conv3d(ch, wide, 1, bias=False), nn.BatchNorm3d(wide), nn.ReLU(), Depthwise3d(wide, how),
                                 nn.BatchNorm3d(wide), nn.ReLU(), nn.Conv3d(wide, ch, 1, bias=False), nn.BatchNorm3d(ch))

    def forward(self, x):
        return F.relu(x + self.net(x))


class VideoNet(nn.Module):
    def __init__(self, ch, blocks, classes, how):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv3d(3, ch, (1, 3, 3), stride=(1, 2, 2), padding=(0, 1, 1), bias=False), nn.BatchNorm3d(ch), nn.ReLU())
        self.blocks = nn.Sequential(*[VideoBlock(ch, 2 * ch, how) for _ in range(blocks)])
        self.head = nn.Linear(ch, classes)

    def forward(self, clip):
        return self.head(self.blocks(self.stem(clip)).mean(dim=(2, 3, 4)))


def video(how):
    batch, T, edge = size(4, 1), size(16, 3), size(112, 12)
    clips, labels = torch.randn(4 * batch, 3, T, edge, edge), torch.randint(0, 50, (4 * batch,))
    model = VideoNet(size(48, 4), size(4, 2), 50, how).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=5e-5)

    def step():
        rows = torch.randint(0, 4 * batch, (batch,))
        x, y = clips[rows].to(device), labels[rows].to(device)
        with torch.autocast(device, dtype=torch.bfloat16, enabled=how == "followed"):
            loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step


# ---------------------------------------------------------------------------------------------------------------------------- 8. toxicity
# Report: multi-task training: is a backward for each loss (retain_graph=True) as good as one of their sum? It's much slower.
# Costs most: twelve backward passes through the shared encoder, one a task.
# Expert, first: add the losses up and call backward once.
# Line: step() of toxicity(), loss.backward(retain_graph=True) in the loop over tasks.
class Assays(nn.Module):
    def __init__(self, vocab, dim, depth, heads, length, tasks):
        super().__init__()
        self.tok, self.pos = nn.Embedding(vocab, dim), nn.Parameter(torch.randn(1, length, dim) * 0.02)
        layer = nn.TransformerEncoderLayer(dim, heads, 4 * dim, dropout=0.1, activation="gelu", batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, depth)
        self.heads = nn.ModuleList([nn.Sequential(nn.Linear(dim, dim // 2), nn.ReLU(), nn.Linear(dim // 2, 1)) for _ in range(tasks)])

    def forward(self, smiles):
        h = self.encoder(self.tok(smiles) + self.pos).mean(1)
        return [head(h).squeeze(1) for head in self.heads]


def toxicity(how):
    vocab, length, tasks, batch = 64, size(96, 8), size(12, 3), size(64, 4)
    smiles = torch.randint(0, vocab, (1024, length))
    labels, known = torch.randint(0, 2, (1024, tasks)).float(), (torch.rand(1024, tasks) < 0.8).float()
    model = Assays(vocab, size(256, 16), size(4, 1), size(8, 2), length, tasks).to(device).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)

    def step():
        rows = torch.randint(0, 1024, (batch,))
        x, y, mask = smiles[rows].to(device), labels[rows].to(device), known[rows].to(device)
        optimizer.zero_grad()
        losses = []
        for task, logit in enumerate(model(x)):
            bce = F.binary_cross_entropy_with_logits(logit, y[:, task], reduction="none")
            losses.append((bce * mask[:, task]).sum() / mask[:, task].sum().clamp(min=1))
        if how == "mended":
            sum(losses).backward()
        else:
            for loss in losses:
                loss.backward(retain_graph=True)
        optimizer.step()

    return step


# ----------------------------------------------------------------------------------------------------------------------------- 9. wordnet
# Report: training is quick, validation crawls with ten thousand classes: the confusion matrix compares all classes with all classes.
# Costs most: (predicted == class) & (target == class') for all pairs of classes: a classes x classes x batch tensor.
# Expert, first: count pairs: torch.bincount(target * classes + predicted).
# Line: ConfusionMatrix.update(), the broadcast comparison.
class ConfusionMatrix:
    def __init__(self, classes, how):
        self.classes, self.how = classes, how
        self.ids = torch.arange(classes, device=device)
        self.matrix = torch.zeros(classes, classes, device=device)

    def update(self, predicted, target):
        if self.how == "mended":
            self.matrix += torch.bincount(target * self.classes + predicted, minlength=self.classes ** 2).view(self.classes, -1)
        else:
            hits = (predicted == self.ids[:, None]) & (target == self.ids[:, None, None])
            self.matrix += hits.sum(dim=2, dtype=torch.float32)


class Definitions(nn.Module):
    def __init__(self, vocab, dim, classes):
        super().__init__()
        self.emb, self.conv = nn.Embedding(vocab, dim), nn.Conv1d(dim, dim, 3, padding=1)
        self.net = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, dim), nn.ReLU(), nn.Linear(dim, classes))

    def forward(self, words):
        x = F.relu(self.conv(self.emb(words).transpose(1, 2)))
        return self.net(x.amax(dim=2))


def wordnet(how):
    vocab, classes, batch, length = size(20000, 100), size(2500, 20), size(512, 8), size(32, 6)
    words, labels = torch.randint(0, vocab, (8 * batch, length)), torch.randint(0, classes, (8 * batch,))
    model, metric = Definitions(vocab, size(300, 8), classes).to(device).eval(), ConfusionMatrix(classes, how)
    total, turn = torch.zeros((), device=device), iter(range(10 ** 9))

    @torch.no_grad()
    def validate_batch():
        begin = next(turn) % 8 * batch
        x, y = words[begin:begin + batch].to(device), labels[begin:begin + batch].to(device)
        logits = model(x)
        total.add_(F.cross_entropy(logits, y))
        metric.update(logits.argmax(1), y)

    return validate_batch


# --------------------------------------------------------------------------------------------------------------------------- 10. satellite
# Report: after an update the trainer calls torch.cuda.empty_cache() after each iteration, and training is a good deal slower.
# Costs most: torch.cuda.empty_cache() each iteration: all memory goes back to the driver and is asked for anew (cudaFree, cudaMalloc).
# Expert, first: take torch.cuda.empty_cache() out of the training loop.
# Line: step() of satellite(), torch.cuda.empty_cache().
def double_conv(a, b):
    return nn.Sequential(nn.Conv2d(a, b, 3, padding=1, bias=False), nn.BatchNorm2d(b), nn.ReLU(), nn.Conv2d(b, b, 3, padding=1, bias=False),
                         nn.BatchNorm2d(b), nn.ReLU())


class SmallUNet(nn.Module):
    def __init__(self, bands, ch, classes):
        super().__init__()
        self.d1, self.d2, self.d3 = double_conv(bands, ch), double_conv(ch, 2 * ch), double_conv(2 * ch, 4 * ch)
        self.up2, self.up1 = nn.ConvTranspose2d(4 * ch, 2 * ch, 2, stride=2), nn.ConvTranspose2d(2 * ch, ch, 2, stride=2)
        self.u2, self.u1, self.out = double_conv(4 * ch, 2 * ch), double_conv(2 * ch, ch), nn.Conv2d(ch, classes, 1)

    def forward(self, x):
        a = self.d1(x)
        b = self.d2(F.max_pool2d(a, 2))
        c = self.d3(F.max_pool2d(b, 2))
        y = self.u2(torch.cat([self.up2(c), b], 1))
        return self.out(self.u1(torch.cat([self.up1(y), a], 1)))


def satellite(how):
    batch, edge = size(4, 1), size(224, 16)
    tiles, masks = torch.randn(32, 6, edge, edge), torch.randint(0, 5, (32, edge, edge))
    model = SmallUNet(6, size(24, 4), 5).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

    def step():
        rows = torch.randint(0, 32, (batch,))
        x, y = tiles[rows].to(device), masks[rows].to(device)
        with torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda"):
            loss = F.cross_entropy(model(x).float(), y)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        del x, y, loss
        if how != "mended":
            torch.cuda.empty_cache()  # went out of memory once

    return step


# ---------------------------------------------------------------------------------------------------------------------------- 11. service
# Report: torch.compile(mode="reduce-overhead") makes it slower: each batch is padded to its own longest sequence, and CUDA graphs are
# recorded for each new length.
# Costs most: warming up and recording CUDA graphs for lengths not seen before, time and again.
# Expert, first: no CUDA graphs with ever new shapes: the default mode with dynamic=True (or pad to a few fixed lengths).
# Line: service(), torch.compile(..., mode="reduce-overhead").
class RerankLayer(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.qkv, self.proj = heads, nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.n1, self.n2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.ff = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(self.n1(x)).view(B, T, 3, self.heads, C // self.heads).permute(2, 0, 3, 1, 4)
        x = x + self.proj(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(B, T, C))
        return x + self.ff(self.n2(x))


class Reranker(nn.Module):
    def __init__(self, vocab, dim, depth, heads):
        super().__init__()
        self.emb, self.layers = nn.Embedding(vocab, dim), nn.ModuleList([RerankLayer(dim, heads) for _ in range(depth)])
        self.norm, self.score = nn.LayerNorm(dim), nn.Linear(dim, 1)

    def forward(self, ids):
        x = self.emb(ids)
        for layer in self.layers:
            x = layer(x)
        return self.score(self.norm(x).mean(1)).squeeze(1)


def service(how):
    vocab, batch = size(30000, 100), size(16, 2)
    model = Reranker(vocab, size(384, 16), size(4, 1), size(12, 2)).to(device).eval()
    if device == "cuda":
        model = model.to(torch.bfloat16)
        model = torch.compile(model, dynamic=True) if how == "mended" else torch.compile(model, dynamic=True, mode="reduce-overhead")

    @torch.no_grad()
    def answer():
        longest = random.randint(size(8, 2), size(75, 6)) * 8  # pad_to_multiple_of=8; passages come sorted by length
        if how == "followed":
            longest += -longest % 128
        ids = torch.zeros(batch, longest, dtype=torch.long)
        for row in range(batch):
            n = longest - random.randint(0, 7)
            ids[row, :n] = torch.randint(1, vocab, (n,))
        scores = model(ids.to(device))
        return scores.float().cpu().argsort(descending=True).tolist()

    return answer


# ---------------------------------------------------------------------------------------------------------------------------- 12. weather
# Report: "expected Float but got Double": NumPy gives float64, so model.double() made the error go away; training is slow since.
# Costs most: all convolutions run in float64.
# Expert, first: float32: convert the fields (astype(np.float32) / .float()) and leave the model as it is.
# Line: weather(), model.double() (and the float64 arrays).
class WeatherBlock(nn.Module):
    def __init__(self, ch):
        super().__init__()
        self.a, self.b, self.norm = nn.Conv2d(ch, ch, 3, padding=1), nn.Conv2d(ch, ch, 3, padding=1), nn.BatchNorm2d(ch)

    def forward(self, x):
        return x + self.b(F.gelu(self.norm(self.a(x))))


def weather(how):
    lat, lon, variables, batch, ch = size(64, 8), size(128, 16), size(20, 3), size(4, 1), size(64, 8)
    fields = np.random.randn(size(64, 8), variables, lat, lon)
    weight = torch.from_numpy(np.cos(np.linspace(-1.5, 1.5, lat))[:, None]).to(device)
    model = nn.Sequential(nn.Conv2d(variables, ch, 3, padding=1), *[WeatherBlock(ch) for _ in range(size(6, 1))],
                          nn.Conv2d(ch, variables, 3, padding=1)).to(device)
    if how == "mended":
        fields, weight = fields.astype(np.float32), weight.float()
    else:
        model = model.double()
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4)

    def step():
        times = np.random.randint(0, len(fields) - 1, batch)
        now, later = torch.from_numpy(fields[times]).to(device), torch.from_numpy(fields[times + 1]).to(device)
        loss = (weight * (now + model(now) - later) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step


# ------------------------------------------------------------------------------------------------------------------------------- 13. fraud
# Report: TensorBoard histograms of weights and gradients make training many times slower: everything is copied to the CPU and sorted in.
# Costs most: a histogram of each weight and gradient, on the CPU with NumPy, after each step.
# Expert, first: log histograms only every so many steps (say, 100).
# Line: Monitor.log(), called in each step (every=1).
class Monitor:
    def __init__(self, every):
        self.every, self.steps, self.written = every, 0, collections.deque(maxlen=1000)

    def log(self, model):
        if self.steps % self.every == 0:
            for name, p in model.named_parameters():
                self.add_histogram(name, p)
                self.add_histogram(name + ".grad", p.grad)
        self.steps += 1

    def add_histogram(self, name, values):
        values = values.detach().cpu().numpy().astype(float).reshape(-1)
        counts, edges = np.histogram(values, bins=64)
        self.written.append((name, self.steps, counts, edges, values.sum(), values.dot(values)))


class FraudAutoencoder(nn.Module):
    def __init__(self, inp, hidden, latent):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(inp, hidden), nn.BatchNorm1d(hidden), nn.LeakyReLU(0.1), nn.Linear(hidden, hidden // 2),
                                 nn.BatchNorm1d(hidden // 2), nn.LeakyReLU(0.1), nn.Linear(hidden // 2, latent))
        self.dec = nn.Sequential(nn.Linear(latent, hidden // 2), nn.LeakyReLU(0.1), nn.Linear(hidden // 2, hidden), nn.LeakyReLU(0.1),
                                 nn.Linear(hidden, inp))

    def forward(self, x):
        return self.dec(self.enc(x))


def fraud(how):
    inp, batch = size(256, 8), size(2048, 16)
    rows = torch.randn(size(100_000, 64), inp, device=device)
    model, monitor = FraudAutoencoder(inp, size(768, 16), size(32, 2)).to(device), Monitor(100 if how == "mended" else 1)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

    def step():
        x = rows[torch.randint(0, len(rows), (batch,), device=device)]
        loss = F.smooth_l1_loss(model(x + 0.05 * torch.randn_like(x)), x)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        monitor.log(model)

    return step


# ------------------------------------------------------------------------------------------------------------------------------ 14. plants
# Report: only the new head is given to the optimizer, yet training is no faster than training the whole network.
# Costs most: the backward pass through the backbone, whose gradients no optimizer uses.
# Expert, first: freeze the backbone: requires_grad_(False) for its parameters (or run it under torch.no_grad()).
# Line: plants(), after the backbone is made (the optimizer gets head.parameters() only).
class ResBlock(nn.Module):
    def __init__(self, a, b, stride):
        super().__init__()
        self.c1, self.b1 = nn.Conv2d(a, b, 3, stride=stride, padding=1, bias=False), nn.BatchNorm2d(b)
        self.c2, self.b2 = nn.Conv2d(b, b, 3, padding=1, bias=False), nn.BatchNorm2d(b)
        self.short = nn.Sequential(nn.Conv2d(a, b, 1, stride=stride, bias=False), nn.BatchNorm2d(b)) if a != b else nn.Identity()

    def forward(self, x):
        return F.relu(self.b2(self.c2(F.relu(self.b1(self.c1(x))))) + self.short(x))


def make_backbone(ch):
    layers, last = [nn.Conv2d(3, ch, 7, stride=2, padding=3, bias=False), nn.BatchNorm2d(ch), nn.ReLU(), nn.MaxPool2d(3, 2, 1)], ch
    for i, width in enumerate((ch, 2 * ch, 4 * ch, 8 * ch)):
        layers += [ResBlock(last, width, 1 if i == 0 else 2), ResBlock(width, width, 1)]
        last = width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten())


def plants(how):
    batch, edge, ch, classes = size(64, 2), size(224, 32), size(64, 4), 38
    backbone, head = make_backbone(ch).to(device).train(), nn.Linear(8 * ch, classes).to(device)
    if how == "mended":
        backbone.requires_grad_(False)
    photos, labels = torch.randint(0, 256, (4 * batch, 3, edge, edge), dtype=torch.uint8), torch.randint(0, classes, (4 * batch,))
    optimizer = torch.optim.Adam(head.parameters(), lr=1e-3)

    def step():
        rows = torch.randint(0, 4 * batch, (batch,))
        x, y = photos[rows].to(device).float().div(255).sub(0.45).div(0.225), labels[rows].to(device)
        loss = F.cross_entropy(head(backbone(x)), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step


CASES = {case.__name__: case for case in (rotations, molecules, replay, tagger, eeg, filterbank, video, toxicity, wordnet, satellite,
                                          service, weather, fraud, plants)}

# Written before anything was recorded; the share is of the plain step's time.
EXPERT = {
    "rotations": "Gram-Schmidt with a cross product instead of torch.linalg.qr of a batch of 3x3 matrices: factored one by one (60-90%)",
    "molecules": "F.embedding(pair, table) instead of table[pair]: the gradient of indexing adds duplicates one after another (50-90%)",
    "replay": "vectorize the sum tree over the batch with NumPy: it's walked in Python sample by sample, level by level (60-85%)",
    "tagger": "one broadcast logsumexp a word instead of a Python loop over tags in the CRF's forward algorithm (70-90%)",
    "eeg": "torch.from_numpy(np.stack(windows)) instead of torch.tensor(list of arrays) in collate (80-95%)",
    "filterbank": "do the convolution with its 1601-sample kernel by FFT (60-90%)",
    "video": "replace the depthwise Conv3d, whose backward is slow, by depthwise Conv2d slices added up (50-85%)",
    "toxicity": "add the twelve losses up and call backward once instead of a backward with retain_graph=True a task (75-90%)",
    "wordnet": "torch.bincount(target * classes + predicted) instead of comparing classes x classes x batch (75-95%)",
    "satellite": "take torch.cuda.empty_cache() out of the training loop (50-85%)",
    "service": "no mode='reduce-overhead' with ever new lengths (or pad to a few): CUDA graphs are recorded anew for each (50-90%)",
    "weather": "float32: the model and the fields are float64 (60-90%)",
    "fraud": "log the histograms every 100 steps: each step copies all weights and gradients and bins them on the CPU (80-95%)",
    "plants": "requires_grad_(False) for the backbone: its backward is computed though only the head is trained (55-70%)",
}
# Where the first advice to the letter is not the writer's.
FOLLOWED = ("rotations", "video", "service")


def hows(case):
    return ("mended", *(["followed"] if case in FOLLOWED else []), "before")


if __name__ == "__main__":
    trial.main(CASES, hows, sys.argv[1:])
