"""An eighth trial: fourteen programs as people of fourteen fields write them, with three things in each that cost time.

None was written with a rule or a profile in mind, and their costs weren't measured while they were written. `how` is "before"
(as written), "a", "b" or "c" (that one thing mended, as an expert would in a line or two) or "all". The comment above each
program says what an expert would change, and what first, written before anything was measured.
`python3 tests/gpu/unseen_eighth.py FOLDER [CASE ...] > times.jsonl` times each way and records each program as it was written;
trial.py says how.
"""
import copy
import itertools
import math
import random
import sys

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

import trial
from trial import device, sized

half = sized(torch.bfloat16, torch.float32)


def mends(how):
    return [how in (one, "all") for one in "abc"]


def mixed(on=True):
    return torch.autocast(device, dtype=torch.bfloat16, enabled=on and device == "cuda")


# Genomics: convolutions and a transformer predict assay tracks from 131,072 letters of DNA.
# a: the letters are one-hot encoded by NumPy on the CPU and sent as 4 floats a letter (draw): medium
# b: relative position biases are looked up by a (bins, bins) index: each backward sorts a million (RelativeBias): largest
# c: no mixed precision (step): medium
# First: b.
def enhancer(how):
    a, b, c = mends(how)
    batch, bins, heads, blocks, tracks = 2, sized(1024, 8), sized(8, 2), sized(8, 2), sized(256, 5)
    channels = sized([64, 96, 128, 192, 256, 384, 512, 512], [8] * 8)
    length, width = bins * 128, channels[-1]
    genome = np.random.randint(0, 4, 4 * length + sized(4_000_000, 0)).astype(np.int8)
    letters = np.eye(4, dtype=np.float32)
    targets = torch.rand(batch, bins, tracks, device=device) * 3

    def draw():
        starts = np.random.randint(0, len(genome) - length, batch)
        windows = np.stack([genome[at:at + length] for at in starts])
        if a:
            return F.one_hot(torch.from_numpy(windows).to(device).long(), 4).transpose(1, 2).float()
        return torch.from_numpy(letters[windows].transpose(0, 2, 1).copy()).to(device)

    class RelativeBias(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Parameter(torch.randn(2 * bins - 1, heads) * 0.02)
            at = torch.arange(bins)
            self.register_buffer("offset", at[None] - at[:, None] + bins - 1)

        def forward(self):
            if b:  # row i of the table, moved by one for each i: a view of copies
                rows = F.pad(self.table.t(), (0, 1))[:, None].expand(-1, bins, -1).reshape(heads, -1)
                return rows[:, :bins * (2 * bins - 1)].view(heads, bins, 2 * bins - 1)[:, :, bins - 1:]
            return self.table[self.offset].permute(2, 0, 1)

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.out, self.bias = nn.Linear(width, 3 * width), nn.Linear(width, width), RelativeBias()
            self.feed = nn.Sequential(nn.Linear(width, 2 * width), nn.ReLU(), nn.Linear(2 * width, width))

        def forward(self, x):
            q, k, v = self.qkv(self.norm1(x)).view(batch, bins, 3, heads, -1).permute(2, 0, 3, 1, 4)
            scores = q @ k.transpose(-1, -2) / math.sqrt(width // heads) + self.bias()
            x = x + self.out((scores.softmax(-1).to(v.dtype) @ v).transpose(1, 2).reshape(batch, bins, width))
            return x + self.feed(self.norm2(x))

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.stem = nn.Conv1d(4, channels[0], 15, padding=7)
            stage = lambda n, m: nn.Sequential(nn.BatchNorm1d(n), nn.GELU(), nn.Conv1d(n, m, 5, padding=2), nn.MaxPool1d(2))
            self.tower = nn.Sequential(*(stage(n, m) for n, m in zip(channels, channels[1:])))
            self.blocks = nn.Sequential(*(Block() for _ in range(blocks)))
            self.head = nn.Linear(width, tracks)

        def forward(self, x):
            x = self.tower(self.stem(x)).transpose(1, 2)
            return F.softplus(self.head(self.blocks(x)))

    net = Net().to(device)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-4)

    def step():
        x = draw()
        with mixed(c):
            rates = net(x)
        loss = F.poisson_nll_loss(rates.float(), targets, log_input=False)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


# Magnetic resonance imaging: an unrolled network learns to reconstruct slices from undersampled coils.
# a: the coil maps come from NumPy as complex128, which all of the data consistency then is (maps): largest
# b: centred transforms shift every coil image four times a cascade; shifted data would need none (fft, kspace): medium
# c: the regularizers are checkpointed, on a GPU with room for all of it (Cascade.forward): medium
# First: a.
def mri(how):
    a, b, c = mends(how)
    slices, coils, size, cascades, width = sized(4, 2), sized(16, 3), sized(320, 16), sized(8, 2), sized(32, 4)
    y, x = np.mgrid[-1:1:size * 1j, -1:1:size * 1j]
    angles = np.arange(coils)[:, None, None] * 2 * np.pi / coils
    maps = np.exp(-(x - np.cos(angles)) ** 2 - (y - np.sin(angles)) ** 2) * np.exp(1j * (x * np.cos(angles) + y))
    maps = maps / np.sqrt((np.abs(maps) ** 2).sum(0))
    maps = torch.from_numpy(maps.astype(np.complex64) if a else maps).to(device)
    both = (-2, -1)

    def fft2c(x):
        return torch.fft.fftshift(torch.fft.fft2(torch.fft.ifftshift(x, both), norm="ortho"), both)

    def ifft2c(x):
        return torch.fft.fftshift(torch.fft.ifft2(torch.fft.ifftshift(x, both), norm="ortho"), both)

    truth = F.avg_pool2d(torch.rand(slices, 1, size + 8, size + 8, device=device), 9, 1)[:, 0]
    mask = (torch.rand(size, device=device) < 0.25).float()
    mask[size // 2 - size // 25 - 1:size // 2 + size // 25 + 1] = 1
    kspace = mask * fft2c(maps * truth[:, None]).to(torch.complex64)
    fft, ifft = fft2c, ifft2c
    if b:
        kspace, mask = torch.fft.fft2(ifft2c(kspace), norm="ortho"), torch.fft.ifftshift(mask)
        fft, ifft = (lambda x: torch.fft.fft2(x, norm="ortho")), (lambda x: torch.fft.ifft2(x, norm="ortho"))

    class Cascade(nn.Module):
        def __init__(self):
            super().__init__()
            inner = [layer for _ in range(3) for layer in (nn.Conv2d(width, width, 3, 1, 1), nn.ReLU())]
            self.regularizer = nn.Sequential(nn.Conv2d(2, width, 3, 1, 1), nn.ReLU(), *inner, nn.Conv2d(width, 2, 3, 1, 1))
            self.weight = nn.Parameter(torch.ones(()))

        def forward(self, image):
            residual = ifft(mask * (fft(maps * image[:, None]) - kspace))
            consistency = (residual * maps.conj()).sum(1)
            planes = torch.view_as_real(image).permute(0, 3, 1, 2).float()
            prior = self.regularizer(planes) if c else checkpoint(self.regularizer, planes, use_reentrant=False)
            prior = torch.view_as_complex(prior.permute(0, 2, 3, 1).contiguous())
            return image - self.weight * consistency - prior

    net = nn.Sequential(*(Cascade() for _ in range(cascades))).to(device)
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-4)
    start = (ifft(kspace) * maps.conj()).sum(1)

    def step():
        image = net(start)
        loss = F.l1_loss(image.abs(), truth.to(image.real.dtype))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step


# Materials: molecular dynamics of 9,261 atoms with a neural potential; a step is a time step of the simulation.
# a: all pairs of atoms are measured at each time step; a list with a skin lasts ten (neighbours): largest
# b: atoms are gathered by indexing, whose backward sorts; index_select's adds (Potential.forward): medium
# c: the thermostat's noise is drawn by NumPy and copied over (step): small
# First: a.
def potential(how):
    a, b, c = mends(how)
    side, hidden, waves, rounds, cutoff, skin = sized(21, 5), sized(64, 8), sized(32, 4), 3, 5.0, 0.4
    atoms, box = side ** 3, 2.57 * side
    take = (lambda x, at: x.index_select(0, at)) if b else (lambda x, at: x[at])

    def neighbours(position, reach):
        delta = position[:, None] - position[None]
        delta = delta - box * torch.round(delta / box)
        distance = delta.norm(dim=-1)
        return ((distance < reach) & (distance > 0)).nonzero().t().contiguous()

    class Potential(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(4, hidden)
            mlp = lambda n: nn.Sequential(nn.Linear(n, hidden), nn.Softplus(), nn.Linear(hidden, hidden))
            self.filters = nn.ModuleList(mlp(waves) for _ in range(rounds))
            self.inputs = nn.ModuleList(nn.Linear(hidden, hidden, bias=False) for _ in range(rounds))
            self.updates = nn.ModuleList(mlp(hidden) for _ in range(rounds))
            self.energy = nn.Sequential(nn.Linear(hidden, hidden), nn.Softplus(), nn.Linear(hidden, 1))
            self.register_buffer("centres", torch.linspace(0, cutoff, waves))

        def forward(self, kinds, position, edges):
            to, source = edges
            delta = take(position, source) - take(position, to)
            delta = delta - box * torch.round(delta / box)
            distance = (delta.square().sum(1) + 1e-8).sqrt()
            basis = torch.exp(-(distance[:, None] - self.centres).square() * 10)
            fade = 0.5 * (torch.cos(distance.clamp(max=cutoff) * math.pi / cutoff) + 1)
            x = self.embed(kinds)
            for filters, inputs, update in zip(self.filters, self.inputs, self.updates):
                messages = take(inputs(x), source) * (filters(basis) * fade[:, None])
                x = x + update(torch.zeros_like(x).index_add(0, to, messages))
            return self.energy(x).sum()

    model = Potential().to(device).requires_grad_(False)
    kinds = torch.randint(0, 4, (atoms,), device=device)
    grid = torch.cartesian_prod(*[torch.arange(side) * 2.57] * 3).to(device)
    state = {"position": grid + 0.2 * torch.randn(atoms, 3, device=device), "velocity": torch.zeros(atoms, 3, device=device)}
    turn = itertools.count()

    def step():
        position = state["position"]
        if a:
            if next(turn) % 10 == 0:
                state["edges"] = neighbours(position, cutoff + skin)
            edges = state["edges"]
        else:
            edges = neighbours(position, cutoff)
        if c:
            noise = torch.randn(atoms, 3, device=device)
        else:
            noise = torch.from_numpy(np.random.normal(size=(atoms, 3))).float().to(device)
        velocity = 0.99 * state["velocity"] + 0.002 * noise
        position.requires_grad_(True)
        energy = model(kinds, position, edges)
        force = -torch.autograd.grad(energy, position)[0]
        with torch.no_grad():
            velocity = velocity + 0.001 * force
            state["position"], state["velocity"] = (position + 0.5 * velocity) % box, velocity

    return step


# Advertising: a click model with 26 categorical features, 5.2 million embeddings in all.
# a: the embeddings' gradients are dense, and Adam goes over all of the table for the few rows of a batch (table): largest
# b: the multilayer perceptrons' products are in full float32 (matmul precision): small
# c: ids are hashed and counts are scaled by NumPy, batch after batch; the log doesn't change (draw): medium
# First: a.
def clicks(how):
    a, b, c = mends(how)
    torch.set_float32_matmul_precision("high" if b else "highest")
    batch, fields, counts, buckets, dim, days = sized(8192, 16), 26, 13, sized(200_000, 50), sized(64, 8), sized(200_000, 500)
    ids = np.random.randint(0, 1 << 30, (days, fields))
    numbers = np.random.exponential(20, (days, counts))
    clicked = torch.from_numpy(np.random.rand(days) < 0.1).float().to(device)
    offsets = np.arange(fields) * buckets

    def prepare(ids, numbers):
        hashed = ids * 2654435761 % buckets + offsets
        scaled = np.log1p(numbers).astype(np.float32)
        return torch.from_numpy(hashed).to(device), torch.from_numpy(scaled).to(device)

    whole = prepare(ids, numbers) if c else None

    def draw():
        rows = np.random.randint(0, days, batch)
        at = torch.from_numpy(rows).to(device)
        if c:
            return whole[0][at], whole[1][at], clicked[at]
        return (*prepare(ids[rows], numbers[rows]), clicked[at])

    def perceptron(*sizes):
        layers = [layer for n, m in zip(sizes, sizes[1:]) for layer in (nn.Linear(n, m), nn.ReLU())]
        return nn.Sequential(*layers[:-1])

    class Clicks(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(fields * buckets, dim, sparse=a, device=device)
            self.bottom = perceptron(counts, sized(512, 16), sized(256, 16), dim)
            pairs = (fields + 1) * fields // 2
            self.top = perceptron(pairs + dim, sized(1024, 16), sized(512, 16), sized(256, 16), 1)
            i, j = torch.tril_indices(fields + 1, fields + 1, -1)
            self.register_buffer("pairs", i * (fields + 1) + j)

        def forward(self, ids, numbers):
            dense = self.bottom(numbers)
            vectors = torch.cat([dense[:, None], self.table(ids)], 1)
            products = torch.bmm(vectors, vectors.transpose(1, 2)).flatten(1).index_select(1, self.pairs)
            return self.top(torch.cat([dense, products], 1))[:, 0]

    model = Clicks().to(device)
    if a:
        rest = [weight for name, weight in model.named_parameters() if name != "table.weight"]
        optimizers = [torch.optim.SparseAdam([model.table.weight], lr=1e-3), torch.optim.Adam(rest, lr=1e-3)]
    else:
        optimizers = [torch.optim.Adam(model.parameters(), lr=1e-3)]

    def step():
        ids, numbers, labels = draw()
        loss = F.binary_cross_entropy_with_logits(model(ids, numbers), labels)
        for optimizer in optimizers:
            optimizer.zero_grad()
        loss.backward()
        for optimizer in optimizers:
            optimizer.step()
        return loss.item()

    return step


# Optics: the phase of a light modulator is optimized so that ten planes behind it show ten pictures.
# a: each plane's transfer function is computed again in each iteration (transfer): medium
# b: fields are padded to 2n - 1 = 1999, a prime; 2000 is as right and far faster to transform (padded): largest
# c: a plane is copied to the CPU and ten errors are read one by one in each iteration (step): small
# First: b.
def hologram(how):
    a, b, c = mends(how)
    planes, n, pitch, wavelength = sized(10, 3), sized(1000, 10), 8e-6, 532e-9
    padded = 2 * n if b else 2 * n - 1
    depths = [0.05 + 0.005 * i for i in range(planes)]
    wanted = F.avg_pool2d(torch.rand(planes, n + 14, n + 14, device=device), 15, 1)
    phase = nn.Parameter(torch.rand(n, n, device=device) * 6.28)
    light = torch.ones(n, n, device=device)
    optimizer = torch.optim.Adam([phase], lr=0.02)
    progress, pictures = [], []

    @torch.no_grad()
    def transfer(depth):
        frequency = torch.fft.fftfreq(padded, pitch, device=device)
        squares = frequency[:, None].square() + frequency[None].square()
        turns = depth * torch.sqrt((1 / wavelength ** 2 - squares).clamp(min=0))
        return torch.exp(2j * math.pi * (turns - depth / wavelength))

    transfers = [transfer(depth) for depth in depths] if a else None

    def step():
        spectrum = torch.fft.fft2(F.pad(torch.polar(light, phase), (0, padded - n, 0, padded - n)))
        loss, errors = 0, []
        for i, depth in enumerate(depths):
            field = torch.fft.ifft2(spectrum * (transfers[i] if a else transfer(depth)))[:n, :n]
            error = F.mse_loss(field.abs(), wanted[i])
            loss = loss + error
            errors.append(error.detach() if c else error.item())
            if i == planes // 2 and not c:
                pictures[:] = [(field.detach().abs() * 255).cpu().numpy()]
        progress.append(torch.stack(errors) if c else errors)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step


# Particle physics: a transformer tags jets, its attention biased by features of each pair of particles.
# a: the pairs' embedding is computed again in each of six blocks, though it's the same (Tagger.forward): largest
# b: jets are padded to 128 particles, though the longest of a batch has about a hundred (draw): medium
# c: the attention modules are asked for the averaged weights too, which nothing reads (Block.forward): small
# First: a.
def jets(how):
    a, b, c = mends(how)
    batch, slots, width, heads, blocks, classes = sized(64, 3), sized(128, 12), sized(128, 16), 8, sized(6, 2), 10
    total = sized(4096, 32)
    counts = np.random.normal(slots * 0.45, slots * 0.12, total).clip(4, slots * 0.8).astype(np.int64)
    momenta = torch.randn(total, slots, 4).abs() + torch.tensor([0.0, 0, 0, 5])
    present = torch.arange(slots)[None] < torch.from_numpy(counts)[:, None]
    momenta, present = (momenta * present[..., None]).to(device), present.to(device)
    labels = torch.randint(0, classes, (total,), device=device)

    def draw():
        rows = np.random.randint(0, total, batch)
        at = torch.from_numpy(rows).to(device)
        keep = int(counts[rows].max()) if b else slots
        return momenta[at][:, :keep], present[at][:, :keep], labels[at]

    @torch.no_grad()
    def pair_features(p):
        transverse = p[..., 0].square().add(p[..., 1].square()).sqrt() + 1e-3
        angle, rapidity = torch.atan2(p[..., 1], p[..., 0]), torch.asinh(p[..., 2] / transverse)
        turn = angle[:, :, None] - angle[:, None]
        apart = ((rapidity[:, :, None] - rapidity[:, None]).square() + turn.square()).sqrt() + 1e-3
        least = torch.minimum(transverse[:, :, None], transverse[:, None])
        share = least / (transverse[:, :, None] + transverse[:, None])
        mass = (p[:, :, None] + p[:, None]).square()
        mass = (mass[..., 3] - mass[..., :3].sum(-1)).clamp(min=1e-3)
        return torch.stack([apart.log(), (least * apart).log(), share.log(), mass.log()], 1)

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
            self.feed = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

        def forward(self, x, bias):
            y = self.norm1(x)
            y, _ = self.attention(y, y, y, attn_mask=bias.flatten(0, 1), need_weights=not c)
            x = x + y
            return x + self.feed(self.norm2(x))

    class Tagger(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Sequential(nn.Linear(4, width), nn.GELU(), nn.Linear(width, width))
            layer = lambda n, m: (nn.Conv2d(n, m, 1), nn.BatchNorm2d(m), nn.GELU())
            self.pairs = nn.Sequential(nn.BatchNorm2d(4), *layer(4, sized(64, 8)), *layer(sized(64, 8), sized(64, 8)),
                                       nn.Conv2d(sized(64, 8), heads, 1))
            self.blocks = nn.ModuleList(Block() for _ in range(blocks))
            self.head = nn.Linear(width, classes)

        def bias(self, features, there):
            return self.pairs(features).masked_fill(~there[:, None, None], -1e4)

        def forward(self, p, there):
            x, features = self.embed(torch.log1p(p)), pair_features(p)
            bias = self.bias(features, there) if a else None
            for block in self.blocks:
                x = block(x, bias if a else self.bias(features, there))
            weight = there[..., None].float()
            return self.head((x * weight).sum(1) / weight.sum(1))

    model = Tagger().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

    def step():
        p, there, label = draw()
        loss = F.cross_entropy(model(p, there), label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step


# Reinforcement learning: an actor and a critic learn continuous control from frames in a replay buffer.
# a: the buffer holds frames as floats, four times the bytes to gather and to send (ReplayBuffer): largest
# b: frames are padded and shifted one by one (shifted): medium
# c: the actor's loss encodes the frames again, and backpropagates into an encoder it doesn't train (step): medium
# First: a.
def pixels(how):
    a, b, c = mends(how)
    capacity, batch, actions, width = sized(2000, 40), sized(128, 6), 6, sized(32, 4)
    latent, side = sized(256, 16), 84

    class ReplayBuffer:
        def __init__(self):
            frames = np.random.randint(0, 256, (capacity, 9, side, side), dtype=np.uint8)
            self.frames = frames if a else frames.astype(np.float32) / 255
            self.actions = np.random.uniform(-1, 1, (capacity, actions)).astype(np.float32)
            self.rewards = np.random.rand(capacity).astype(np.float32)

        def to_device(self, array):
            x = torch.from_numpy(array).to(device)
            return x.float() / 255 if x.dtype == torch.uint8 else x

        def sample(self):
            at = np.random.randint(0, capacity - 1, batch)
            arrays = self.frames[at], self.actions[at], self.rewards[at], self.frames[at + 1]
            return [self.to_device(array) for array in arrays]

    def shifted(frames, pad=4):
        top, left = np.random.randint(0, 2 * pad + 1, (2, len(frames)))
        if b:
            rows, columns = (torch.from_numpy(at[:, None] + np.arange(side)).to(device) for at in (top, left))
            one = torch.arange(len(frames), device=device)[:, None, None]
            padded = F.pad(frames, (pad,) * 4, "replicate").permute(0, 2, 3, 1)
            return padded[one, rows[:, :, None], columns[:, None]].permute(0, 3, 1, 2).contiguous()
        out = []
        for i in range(len(frames)):
            padded = F.pad(frames[i:i + 1], (pad,) * 4, "replicate")
            out.append(padded[0, :, top[i]:top[i] + side, left[i]:left[i] + side])
        return torch.stack(out)

    def perceptron(before, after):
        inner = nn.Linear(before, latent), nn.ReLU(), nn.Linear(latent, latent), nn.ReLU()
        return nn.Sequential(*inner, nn.Linear(latent, after))

    class Encoder(nn.Module):
        def __init__(self):
            super().__init__()
            more = [layer for _ in range(3) for layer in (nn.Conv2d(width, width, 3), nn.ReLU())]
            self.convs = nn.Sequential(nn.Conv2d(9, width, 3, 2), nn.ReLU(), *more)
            self.head = nn.Sequential(nn.Linear(width * 35 * 35, 50), nn.LayerNorm(50), nn.Tanh())

        def forward(self, x):
            return self.head(self.convs(x - 0.5).flatten(1))

    class Critic(nn.Module):
        def __init__(self):
            super().__init__()
            self.q1, self.q2 = perceptron(50 + actions, 1), perceptron(50 + actions, 1)

        def forward(self, features, action):
            x = torch.cat([features, action], 1)
            return self.q1(x)[:, 0], self.q2(x)[:, 0]

    replay, encoder = ReplayBuffer(), Encoder().to(device)
    critic, actor = Critic().to(device), perceptron(50, actions).to(device)
    target = copy.deepcopy(critic).requires_grad_(False)
    critic_optimizer = torch.optim.Adam([*encoder.parameters(), *critic.parameters()], lr=1e-4)
    actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-4)

    def step():
        frames, action, reward, after = replay.sample()
        frames, after = shifted(frames), shifted(after)
        with torch.no_grad():
            later = encoder(after)
            wanted = reward + 0.99 * torch.minimum(*target(later, torch.tanh(actor(later))))
        features = encoder(frames)
        q1, q2 = critic(features, action)
        loss = F.mse_loss(q1, wanted) + F.mse_loss(q2, wanted)
        critic_optimizer.zero_grad()
        loss.backward()
        critic_optimizer.step()
        features = features.detach() if c else encoder(frames)
        actor_loss = -torch.minimum(*critic(features, torch.tanh(actor(features)))).mean()
        actor_optimizer.zero_grad()
        actor_loss.backward()
        actor_optimizer.step()
        with torch.no_grad():
            torch._foreach_lerp_(list(target.parameters()), list(critic.parameters()), 0.01)
        return loss.detach()

    return step


# Chat: a language model writes eight tokens more for each of eight callers.
# a: frozen float32 weights under autocast, which keeps no copies of those: all are cast again for each token: largest
# b: keys and values grow by concatenation, layer by layer and token by token (Layer.forward): small
# c: keys and values are repeated for the query heads of their group (Layer.forward): medium
# First: a.
def chat(how):
    a, b, c = mends(how)
    callers, prompt, fresh, layers = sized(8, 2), sized(1536, 8), sized(8, 3), sized(6, 2)
    heads, groups, size, feed, vocabulary = sized(32, 4), sized(8, 2), sized(128, 8), sized(11008, 48), sized(32000, 100)
    width, longest = heads * size, prompt + fresh
    linear = lambda n, m: nn.Linear(n, m, bias=False, device=device)

    class Norm(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(width, device=device))

        def forward(self, x):
            return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * self.weight

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = Norm(), Norm()
            self.q, self.o = linear(width, width), linear(width, width)
            self.k, self.v = linear(width, groups * size), linear(width, groups * size)
            self.gate, self.up, self.down = linear(width, feed), linear(width, feed), linear(feed, width)

        def forward(self, x, cache, at, turn):
            y = self.norm1(x)
            q, k, v = (layer(y).view(callers, 1, -1, size).transpose(1, 2) for layer in (self.q, self.k, self.v))
            q, k = rotated(q, turn).to(half), rotated(k, turn).to(half)
            if b:
                cache[0][:, :, at:at + 1], cache[1][:, :, at:at + 1] = k, v
                k, v = cache[0][:, :, :at + 1], cache[1][:, :, :at + 1]
            else:
                cache[:] = torch.cat([cache[0], k], 2), torch.cat([cache[1], v.to(half)], 2)
                k, v = cache
            if c:  # the heads of a group are as good as so many queries of one head
                y = F.scaled_dot_product_attention(q.reshape(callers, groups, heads // groups, size), k, v)
            else:
                k, v = (held.repeat_interleave(heads // groups, 1) for held in (k, v))
                y = F.scaled_dot_product_attention(q, k, v)
            x = x + self.o(y.reshape(callers, 1, width))
            y = self.norm2(x)
            return x + self.down(F.silu(self.gate(y)) * self.up(y))

    def rotated(x, turn):
        first, second = x.chunk(2, -1)
        return x * turn[0] + torch.cat([-second, first], -1) * turn[1]

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(vocabulary, width, device=device)
            self.layers = nn.ModuleList(Layer() for _ in range(layers))
            self.norm, self.head = Norm(), linear(width, vocabulary)
            angles = torch.arange(longest)[:, None] * 10000.0 ** (-torch.arange(0, size, 2) / size)
            angles = torch.cat([angles, angles], 1)
            self.register_buffer("turns", torch.stack([angles.cos(), angles.sin()], 1).to(device))

        def forward(self, tokens, caches, at):
            x, turn = self.embed(tokens), self.turns[at]
            for layer, cache in zip(self.layers, caches):
                x = layer(x, cache, at, turn)
            return self.head(self.norm(x[:, -1]))

    model = Model().eval().requires_grad_(False)
    if a:
        model.to(half)
    past = [[torch.randn(callers, groups, prompt, size, device=device, dtype=half) for _ in "kv"] for _ in range(layers)]
    room = [[F.pad(held, (0, 0, 0, fresh)) for held in pair] for pair in past] if b else None
    begin = torch.randint(0, vocabulary, (callers, 1), device=device)

    @torch.no_grad()
    def step():
        caches, tokens, said = room if b else [list(pair) for pair in past], begin, []
        for at in range(prompt, longest):
            with mixed(not a):
                logits = model(tokens, caches, at)
            best, which = logits.float().topk(50)
            tokens = which.gather(1, torch.multinomial((best / 0.8).softmax(-1), 1))
            said.append(tokens)
        return torch.cat(said, 1).tolist()

    return step


# Music: a diffusion transformer makes a clip's latents from a prompt, four steps of the sampler at a time.
# a: thousands of small kernels are launched one by one; a CUDA graph of the network has them at once (graphed): largest
# b: the network runs twice a step, with and without the prompt, a batch of one each (denoise): medium
# c: attention is written out, six small kernels where one would do (Attention.forward): small
# First: a.
def music(how):
    a, b, c = mends(how)
    frames, words, width, heads, blocks, layers, steps = sized(256, 8), sized(48, 4), sized(512, 16), sized(8, 2), 8, 6, 4
    size = width // heads

    def graphed(function, *inputs):
        static, side = [x.clone() for x in inputs], torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.no_grad(), torch.cuda.stream(side):
            for _ in range(3):
                function(*static)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.no_grad(), torch.cuda.graph(graph):
            out = function(*static)

        def replay(*inputs):
            for held, x in zip(static, inputs):
                held.copy_(x)
            graph.replay()
            return out.clone()

        return replay

    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.q, self.kv, self.out = nn.Linear(width, width), nn.Linear(width, 2 * width), nn.Linear(width, width)

        def forward(self, x, other):
            q = self.q(x).unflatten(2, (heads, size)).transpose(1, 2)
            k, v = self.kv(other).unflatten(2, (2, heads, size)).permute(2, 0, 3, 1, 4)
            if c:
                y = F.scaled_dot_product_attention(q, k, v)
            else:
                scores = q @ k.transpose(-1, -2) * size ** -0.5
                y = scores.float().softmax(-1).to(v.dtype) @ v
            return self.out(y.transpose(1, 2).flatten(2))

    def feed():
        return nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norms = nn.ModuleList(nn.LayerNorm(width, elementwise_affine=False) for _ in range(3))
            self.within, self.across, self.feed = Attention(), Attention(), feed()
            self.modulate = nn.Sequential(nn.SiLU(), nn.Linear(width, 6 * width))

        def forward(self, x, time, text):
            shift1, scale1, gate1, shift2, scale2, gate2 = self.modulate(time)[:, None].chunk(6, -1)
            y = self.norms[0](x) * (1 + scale1) + shift1
            x = x + gate1 * self.within(y, y)
            x = x + self.across(self.norms[1](x), text)
            return x + gate2 * self.feed(self.norms[2](x) * (1 + scale2) + shift2)

    class Denoiser(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.last = nn.Linear(64, width), nn.Linear(width, 64)
            self.time = nn.Sequential(nn.Linear(256, width), nn.SiLU(), nn.Linear(width, width))
            self.blocks = nn.ModuleList(Block() for _ in range(blocks))
            self.register_buffer("rates", torch.exp(-torch.arange(128) / 128 * math.log(1e4)))

        def forward(self, x, time, text):
            turns = time[:, None] * 1000 * self.rates
            time = self.time(torch.cat([turns.cos(), turns.sin()], 1))
            x = self.first(x)
            for block in self.blocks:
                x = block(x, time, text)
            return self.last(x)

    class TextEncoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed, self.place = nn.Embedding(1000, width), nn.Parameter(torch.randn(words, width) * 0.02)
            part = lambda: nn.ModuleList([nn.LayerNorm(width), Attention(), nn.LayerNorm(width), feed()])
            self.layers = nn.ModuleList(part() for _ in range(layers))

        def forward(self, tokens):
            x = self.embed(tokens) + self.place
            for norm1, attention, norm2, feed in self.layers:
                y = norm1(x)
                x = x + attention(y, y)
                x = x + feed(norm2(x))
            return x

    denoiser, encoder = Denoiser().to(device, half).eval(), TextEncoder().to(device, half).eval()
    times = torch.linspace(1, 0, steps + 1).tolist()
    prompt, empty = torch.randint(0, 1000, (1, words), device=device), torch.zeros(1, words, dtype=torch.long, device=device)
    network = denoiser
    if a and device == "cuda":
        rows = 2 if b else 1
        zeros = lambda *shape: torch.zeros(rows, *shape, device=device, dtype=half)
        network = graphed(denoiser, zeros(frames, 64), zeros(), zeros(words, width))

    def denoise(x, time, text, nothing):
        if b:
            both = network(x.expand(2, -1, -1), time.expand(2), torch.cat([text, nothing]))
            guided, free = both.chunk(2)
        else:
            guided, free = network(x, time, text), network(x, time, nothing)
        return free + 4 * (guided - free)

    @torch.no_grad()
    def step():
        x = torch.randn(1, frames, 64, device=device, dtype=half)
        text, nothing = encoder(prompt), encoder(empty)
        for i in range(steps):
            time = torch.full((1,), times[i], device=device, dtype=half)
            x = x + (times[i + 1] - times[i]) * denoise(x, time, text, nothing)
        return x.float().cpu().numpy().mean()

    return step


# Finance: a network learns to hedge a call under stochastic volatility, on freshly simulated paths.
# a: a MultivariateNormal is made at each date: one constant covariance is checked and factorized again (simulate): largest
# b: the policy is asked date by date, though it doesn't look at what it said before (step): medium
# c: the simulated paths grow by concatenation, date by date (simulate): small
# First: a.
def hedge(how):
    a, b, c = mends(how)
    paths, dates, width = sized(16384, 64), sized(40, 5), sized(64, 8)
    span, strike, reversion, level, swing, correlation = 1 / 252, 1.0, 2.0, 0.04, 0.4, -0.7
    zero = torch.zeros(2, device=device)
    covariance = torch.tensor([[1.0, correlation], [correlation, 1.0]], device=device)
    policy = nn.Sequential(nn.Linear(3, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1)).to(device)
    premium = nn.Parameter(torch.tensor(0.03, device=device))
    optimizer = torch.optim.Adam([*policy.parameters(), premium], lr=1e-3)
    once = torch.distributions.MultivariateNormal(zero, covariance)

    @torch.no_grad()
    def simulate():
        spot, variance = torch.ones(paths, device=device), torch.full((paths,), level, device=device)
        spots, variances = spot[None], variance[None]
        held = [(spot, variance)]
        for _ in range(dates):
            noise = once if a else torch.distributions.MultivariateNormal(zero, covariance)
            z = noise.sample((paths,)) * math.sqrt(span)
            root = variance.clamp(min=0).sqrt()
            spot = spot * torch.exp(root * z[:, 0] - 0.5 * variance.clamp(min=0) * span)
            variance = variance + reversion * (level - variance) * span + swing * root * z[:, 1]
            if c:
                held.append((spot, variance))
            else:
                spots, variances = torch.cat([spots, spot[None]]), torch.cat([variances, variance[None]])
        return [torch.stack(rows) for rows in zip(*held)] if c else (spots, variances)

    def step():
        spots, variances = simulate()
        left = torch.arange(dates, 0, -1, device=device)[:, None].expand(-1, paths) * span
        features = torch.stack([spots[:-1].log(), variances[:-1].clamp(min=0).sqrt(), left], 2)
        if b:
            holdings = policy(features)[..., 0]
        else:
            holdings = torch.stack([policy(features[i])[:, 0] for i in range(dates)])
        gains = (holdings * (spots[1:] - spots[:-1])).sum(0)
        costs = 1e-4 * ((holdings[1:] - holdings[:-1]).abs() * spots[1:-1]).sum(0)
        losses = (spots[-1] - strike).clamp(min=0) - premium - gains + costs
        loss = losses.topk(paths // 20).values.mean() + premium + losses.square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step


# Energy: a patch transformer forecasts the quantiles of twenty zones' demand.
# a: autograd's anomaly detection was left on after a hunt for a NaN: largest
# b: windows are cut and scaled one by one (draw): medium
# c: nine quantiles' losses are computed in a loop, each read with .item() for the log (step): small
# First: a.
def demand(how):
    a, b, c = mends(how)
    torch.autograd.set_detect_anomaly(not a)
    batch, zones, context, horizon, patch = sized(48, 3), sized(20, 2), sized(336, 48), sized(48, 8), 16
    width, depth, hours = sized(128, 16), 2, sized(50_000, 600)
    levels = [0.05, 0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9, 0.95]
    clock = torch.arange(hours, device=device)[:, None]
    series = torch.sin(clock * 2 * math.pi / 24) + 0.3 * torch.randn(hours, zones, device=device)
    quantiles = torch.tensor(levels, device=device)

    def draw():
        starts = np.random.randint(0, hours - context - horizon, batch)
        if b:
            at = torch.from_numpy(starts[:, None] + np.arange(context + horizon)).to(device)
            past, future = series[at].split([context, horizon], 1)
            mean, deviation = past.mean(1, keepdim=True), past.std(1, keepdim=True) + 1e-3
            return (past - mean) / deviation, (future - mean) / deviation
        pasts, futures = [], []
        for at in starts:
            past, future = series[at:at + context], series[at + context:at + context + horizon]
            mean, deviation = past.mean(0), past.std(0) + 1e-3
            pasts.append((past - mean) / deviation)
            futures.append((future - mean) / deviation)
        return torch.stack(pasts), torch.stack(futures)

    class Forecaster(nn.Module):
        def __init__(self):
            super().__init__()
            patches = (context - patch) // 8 + 1
            self.embed, self.place = nn.Linear(patch, width), nn.Parameter(torch.randn(patches, width) * 0.02)
            self.layers = nn.Sequential(*(nn.TransformerEncoderLayer(width, 8, 2 * width, batch_first=True, norm_first=True)
                                          for _ in range(depth)))
            self.head = nn.Linear(patches * width, horizon * len(levels))

        def forward(self, x):
            x = x.transpose(1, 2).flatten(0, 1).unfold(1, patch, 8)
            x = self.layers(self.embed(x) + self.place)
            return self.head(x.flatten(1)).view(batch, zones, horizon, len(levels))

    model = Forecaster().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    log = {}

    def step():
        past, future = draw()
        forecast, future = model(past), future.transpose(1, 2)
        if c:
            error = future[..., None] - forecast
            losses = torch.maximum(quantiles * error, (quantiles - 1) * error).mean((0, 1, 2))
            log["losses"], loss = losses.detach(), losses.sum()
        else:
            loss = 0
            for i, level in enumerate(levels):
                error = future - forecast[..., i]
                one = torch.maximum(level * error, (level - 1) * error).mean()
                log[f"q{level}"] = one.item()
                loss = loss + one
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step


# Quantum computing: the angles of a circuit of 21 qubits are optimized to cut a graph in two (QAOA).
# a: gradients by central differences, two circuits an angle, where one backward would do (step): largest
# b: the state is complex128; complex64 is enough for angles (dtype): medium
# c: the cost of each bit string is counted again, edge by edge, for each circuit (count): medium
# First: a.
def qaoa(how):
    a, b, c = mends(how)
    qubits, rounds, edges, small = sized(21, 5), 2, sized(24, 5), 0.01
    dtype, real = (torch.complex64, torch.float32) if b else (torch.complex128, torch.float64)
    pairs = [random.sample(range(qubits), 2) for _ in range(edges)]
    strings = torch.arange(1 << qubits, device=device)
    angles = nn.Parameter(torch.rand(2, rounds, device=device, dtype=real))
    optimizer = torch.optim.Adam([angles], lr=0.02)

    def count():
        cut = torch.zeros(1 << qubits, device=device, dtype=real)
        for i, j in pairs:
            cut = cut + ((strings >> i ^ strings >> j) & 1)
        return cut

    counted = count() if c else None

    def energy(angles):
        cut = counted if c else count()
        state = torch.full((1 << qubits,), 2 ** (-qubits / 2), device=device, dtype=dtype)
        for gamma, beta in angles.t():
            state = state * torch.exp(-1j * gamma * cut)
            stay, flip = torch.cos(beta), -1j * torch.sin(beta)
            for qubit in range(qubits):
                halves = state.view(-1, 2, 1 << qubit)
                zero, one = halves[:, 0], halves[:, 1]
                state = torch.stack([stay * zero + flip * one, stay * one + flip * zero], 1).view(-1)
        return -(state.abs().square() * cut).sum()

    def step():
        optimizer.zero_grad()
        if a:
            cost = energy(angles)
            cost.backward()
        else:
            with torch.no_grad():
                angles.grad = torch.zeros_like(angles)
                for at in itertools.product(range(2), range(rounds)):
                    moved = angles.clone()
                    moved[at] += small
                    above = energy(moved)
                    moved[at] -= 2 * small
                    cost = energy(moved)
                    angles.grad[at] = (above - cost) / (2 * small)
        optimizer.step()
        return cost.detach()

    return step


# Language: a model with mixtures of eight experts, two for each token, is trained from scratch.
# a: each expert computes all tokens and is masked after, four times the work (Mixture.forward): largest
# b: 50,257 words: a bfloat16 row of odd length keeps the products off the fast kernels; 50,304 wouldn't (vocabulary): medium
# c: label smoothing by a dense one-hot tensor, words by tokens (step): medium
# First: a.
def experts(how):
    a, b, c = mends(how)
    batch, length, width, heads = sized(8, 2), sized(1024, 8), sized(1024, 16), sized(16, 2)
    layers, count = sized(6, 2), sized(8, 4)
    words = sized(50257, 101)
    vocabulary = sized(50304, 128) if b else words
    linear = lambda n, m, bias=True: nn.Linear(n, m, bias, device=device)

    class Mixture(nn.Module):
        def __init__(self):
            super().__init__()
            self.router = linear(width, count, False)
            feed = lambda: nn.Sequential(linear(width, 2 * width), nn.GELU(), linear(2 * width, width))
            self.experts = nn.ModuleList(feed() for _ in range(count))

        def forward(self, x):
            shape, x = x.shape, x.flatten(0, 1)
            best, which = self.router(x).float().topk(2)
            gates = torch.zeros(len(x), count, device=x.device).scatter(1, which, best.softmax(1))
            out = torch.zeros(x.shape, device=x.device)
            for i, expert in enumerate(self.experts):
                if a:
                    rows = (gates[:, i] > 0).nonzero()[:, 0]
                    out = out.index_add(0, rows, gates[:, i].index_select(0, rows)[:, None] * expert(x.index_select(0, rows)))
                else:
                    out = out + gates[:, i:i + 1] * expert(x)
            return out.view(shape)

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2, self.mixture = nn.LayerNorm(width), nn.LayerNorm(width), Mixture()
            self.qkv, self.out = linear(width, 3 * width), linear(width, width)

        def forward(self, x):
            q, k, v = self.qkv(self.norm1(x)).view(batch, length, 3, heads, -1).permute(2, 0, 3, 1, 4)
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.out(y.transpose(1, 2).reshape(batch, length, width))
            return x + self.mixture(self.norm2(x))

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(vocabulary, width, device=device)
            self.place = nn.Parameter(torch.randn(length, width) * 0.02)
            self.blocks = nn.Sequential(*(Block() for _ in range(layers)))
            self.norm, self.head = nn.LayerNorm(width), linear(width, vocabulary, False)

        def forward(self, tokens):
            return self.head(self.norm(self.blocks(self.embed(tokens) + self.place)))

    model = Model().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, **sized({"fused": True}, {}))
    corpus = torch.randint(0, words, (sized(200_000, 1000),), device=device)

    def step():
        starts = np.random.randint(0, len(corpus) - length - 1, batch)
        span = corpus[torch.from_numpy(starts[:, None] + np.arange(length + 1)).to(device)]
        tokens, target = span[:, :-1], span[:, 1:].flatten()
        with mixed():
            logits = model(tokens).flatten(0, 1)
        if c:
            loss = F.cross_entropy(logits.float(), target, label_smoothing=0.1)
        else:
            smooth = F.one_hot(target, vocabulary).float() * 0.9 + 0.1 / vocabulary
            loss = -(smooth * logits.float().log_softmax(1)).sum(1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step


# Microscopy: a generator learns to sharpen images fourfold, with a perceptual and an adversarial loss.
# a: the perceptual network's weights aren't frozen: it is backpropagated into, for real images too (perceive): largest
# b: convolutions in bfloat16 on channels-first tensors (layout): medium
# c: cuDNN picks its kernels without trying them (benchmark): small
# First: a.
def microscope(how):
    a, b, c = mends(how)
    torch.backends.cudnn.benchmark = c
    batch, side, width, blocks = sized(8, 1), sized(64, 8), sized(64, 4), sized(16, 2)
    layout = torch.channels_last if b else torch.contiguous_format
    conv = lambda n, m, stride=1: nn.Conv2d(n, m, 3, stride, 1)

    class Residual(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.Sequential(conv(width, width), nn.ReLU(), conv(width, width))

        def forward(self, x):
            return x + 0.2 * self.layers(x)

    def generator_net():
        grow = lambda: (conv(width, 4 * width), nn.PixelShuffle(2), nn.LeakyReLU(0.2))
        return nn.Sequential(conv(3, width), *(Residual() for _ in range(blocks)), *grow(), *grow(), conv(width, 3))

    def critic_net():
        sizes = [3, width, 2 * width, 4 * width, 8 * width]
        layers = [layer for n, m in zip(sizes, sizes[1:]) for layer in (conv(n, m, 2), nn.LeakyReLU(0.2))]
        return nn.Sequential(*layers, conv(sizes[-1], 1))

    def perceptual_net():
        layers, before = [], 3
        for after in (1, 1, 0, 2, 2, 0, 4, 4, 4, 4, 0, 8, 8):
            layers += [conv(before, after * width), nn.ReLU()] if after else [nn.MaxPool2d(2)]
            before = after * width or before
        return nn.Sequential(*layers)

    ready = lambda net: net.to(device).to(memory_format=layout)
    generator, critic, perceive = ready(generator_net()), ready(critic_net()), ready(perceptual_net()).eval()
    if a:
        perceive.requires_grad_(False)
    average = copy.deepcopy(generator).requires_grad_(False)
    generator_optimizer = torch.optim.Adam(generator.parameters(), lr=1e-4)
    critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-4)
    sharp = torch.rand(4 * batch, 3, 4 * side, 4 * side, device=device)

    def step():
        at = torch.randint(0, len(sharp), (batch,), device=device)
        real = sharp[at].contiguous(memory_format=layout)
        blurred = F.avg_pool2d(real, 4)
        with mixed():
            fake = generator(blurred)
            judged = critic(real), critic(fake.detach())
        loss = F.relu(1 - judged[0].float()).mean() + F.relu(1 + judged[1].float()).mean()
        critic_optimizer.zero_grad()
        loss.backward()
        critic_optimizer.step()
        with mixed():
            perceived = F.l1_loss(perceive(fake).float(), perceive(real).float())
            fooled = -critic(fake).float().mean()
        loss = F.l1_loss(fake.float(), real) + perceived + 0.005 * fooled
        generator_optimizer.zero_grad()
        loss.backward()
        generator_optimizer.step()
        with torch.no_grad():
            torch._foreach_lerp_(list(average.parameters()), list(generator.parameters()), 0.001)
        return loss.detach()

    return step


CASES = {case.__name__: case for case in (enhancer, mri, potential, clicks, hologram, jets, pixels, chat, music, hedge, demand,
                                          qaoa, experts, microscope)}

if __name__ == "__main__":
    trial.main(CASES, ["a", "b", "c", "all", "before"], sys.argv[1:], active=4, largest=1_900_000, case_limit=60, all_limit=555)
