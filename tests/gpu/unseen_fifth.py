"""A fifth trial: twelve programs as people of twelve fields write them, with three things in each that cost time.

None was written with a rule or a profile in mind, and their costs weren't measured while they were written. `how` is "before" (as
written), "a", "b" or "c" (that one thing mended, as an expert would in a line or two), "all" or "followed" (the first advice of the
program, to the letter, where that is none of them). EXPERT says what an expert would
change, and what first, written before anything was measured. `python3 tests/gpu/unseen_fifth.py FOLDER [CASE ...] > times.jsonl`
times each way and records each program as it was written; trial.py says how.
"""
import itertools
import math
import sys

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

import trial
from trial import device, sized


def mends(how):
    return [how in (one, "all") for one in "abc"]


# Speech recognition: a CTC acoustic model on log-mel features.
# a: SpecAugment masks utterance by utterance, and reads each length off the GPU (SpecAugment.forward): large
# b: everything is float32, without autocast (step): medium
# c: word error rate of the training batch in each step, by an edit distance in Python (edit_distance): largest
# First: c.
def speech(how):
    a, b, c = mends(how)
    torch.set_float32_matmul_precision("high" if how == "followed" else "highest")
    batch, seconds, width, vocabulary = sized(32, 2), sized(12, 1), sized(512, 32), 256

    def mel_filters(n_mels=80, n_fft=512, rate=16000):
        to_mel, to_hz = lambda f: 2595 * np.log10(1 + f / 700), lambda m: 700 * (10 ** (m / 2595) - 1)
        points = to_hz(np.linspace(to_mel(20), to_mel(rate / 2), n_mels + 2))
        bins = np.linspace(0, rate / 2, n_fft // 2 + 1)
        up = (bins - points[:-2, None]) / (points[1:-1] - points[:-2])[:, None]
        down = (points[2:, None] - bins) / (points[2:] - points[1:-1])[:, None]
        return torch.from_numpy(np.maximum(0, np.minimum(up, down))).float()

    class LogMel(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("window", torch.hann_window(400))
            self.register_buffer("filters", mel_filters())

        def forward(self, wave):
            spec = torch.stft(wave, 512, 160, 400, self.window, return_complex=True).abs().square()
            return (self.filters @ spec).clamp(min=1e-10).log()

    class SpecAugment(nn.Module):
        def forward(self, mel, lengths):
            if a:
                begin = torch.rand(len(mel), 10, 1, device=mel.device) * (lengths[:, None, None] - 40)
                step = torch.arange(mel.shape[2], device=mel.device)
                return mel.masked_fill(((step >= begin) & (step < begin + 40)).any(1)[:, None], 0.0)
            mel = mel.clone()
            for i in range(mel.shape[0]):
                for _ in range(10):
                    begin = int(torch.rand(1).item() * (lengths[i].item() - 40))
                    mel[i, :, begin:begin + 40] = 0.0
            return mel

    class AcousticModel(nn.Module):
        def __init__(self):
            super().__init__()
            self.features, self.augment = LogMel(), SpecAugment()
            self.subsample = nn.Sequential(nn.Conv1d(80, width, 3, 2, 1), nn.GELU(), nn.Conv1d(width, width, 3, 2, 1), nn.GELU())
            self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(width, 8, 4 * width, batch_first=True), sized(8, 1))
            self.head = nn.Linear(width, vocabulary)

        def forward(self, wave, lengths):
            with torch.no_grad():
                mel = self.augment(self.features(wave), lengths)
            return self.head(self.encoder(self.subsample(mel).transpose(1, 2)))

    def edit_distance(hypothesis, reference):
        row = list(range(len(reference) + 1))
        for i, h in enumerate(hypothesis, 1):
            last, row[0] = row[0], i
            for j, r in enumerate(reference, 1):
                last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (h != r))
        return row[-1]

    model = AcousticModel().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
    ctc = nn.CTCLoss(zero_infinity=True)
    wave = torch.randn(batch, seconds * 16000, device=device)
    lengths = torch.randint(seconds * 60, seconds * 100, (batch,), device=device)
    targets, target_lengths = torch.randint(1, vocabulary, (batch, sized(60, 5))), torch.full((batch,), sized(60, 5))
    steps = itertools.count(1)

    def step():
        with torch.autocast(device, dtype=torch.bfloat16, enabled=b):
            logits = model(wave, lengths)
        log_probs = logits.float().log_softmax(-1)
        loss = ctc(log_probs.transpose(0, 1), targets.to(device), lengths // 4, target_lengths)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
        if not c or next(steps) % 100 == 0:
            errors = 0
            for path, reference in zip(log_probs.argmax(-1).tolist(), targets.tolist()):
                hypothesis = [k for k, _ in itertools.groupby(path) if k != 0]
                errors += edit_distance(hypothesis, reference)
        return loss.item()

    return step


# Latent diffusion: fine-tuning a U-Net on a small set of pictures.
# a: the frozen VAE encodes the same pictures again in every step, in float32 (VAEEncoder): medium
# b: the moving average of the weights is kept in the CPU's memory (EMA): large
# c: attention is written out, with its matrix kept in float32 (SpatialAttention.forward): largest
# First: a.
def latents(how):
    a, b, c = mends(how)
    batch, side, width = sized(16, 2), sized(256, 32), sized(192, 32)

    class VAEEncoder(nn.Module):
        def __init__(self):
            super().__init__()
            channels = sized(128, 8)
            layers = [nn.Conv2d(3, channels, 3, 1, 1)]
            for _ in range(3):
                layers += [nn.Conv2d(channels, 2 * channels, 3, 2, 1), nn.GroupNorm(8, 2 * channels), nn.SiLU()]
                channels *= 2
                layers += [nn.Conv2d(channels, channels, 3, 1, 1), nn.GroupNorm(8, channels), nn.SiLU()]
            self.net = nn.Sequential(*layers, nn.Conv2d(channels, 8, 3, 1, 1))

        def forward(self, pictures):
            mean, log_variance = self.net(pictures).chunk(2, dim=1)
            return mean, (0.5 * log_variance.clamp(-30, 20)).exp()

    class SpatialAttention(nn.Module):
        def __init__(self, channels, heads=8):
            super().__init__()
            self.norm, self.heads = nn.GroupNorm(8, channels), heads
            self.qkv, self.out = nn.Conv2d(channels, 3 * channels, 1), nn.Conv2d(channels, channels, 1)

        def forward(self, x):
            n, channels, h, w = x.shape
            q, k, v = self.qkv(self.norm(x)).reshape(n, 3, self.heads, channels // self.heads, h * w).transpose(3, 4).unbind(1)
            if c:
                out = F.scaled_dot_product_attention(q, k, v)
            else:
                scores = (q @ k.transpose(-1, -2)).float() * (channels // self.heads) ** -0.5
                out = scores.softmax(dim=-1).to(v.dtype) @ v
            return x + self.out(out.transpose(2, 3).reshape(n, channels, h, w))

    class ResBlock(nn.Module):
        def __init__(self, channels, out):
            super().__init__()
            self.norm1, self.conv1 = nn.GroupNorm(8, channels), nn.Conv2d(channels, out, 3, 1, 1)
            self.norm2, self.conv2 = nn.GroupNorm(8, out), nn.Conv2d(out, out, 3, 1, 1)
            self.time, self.skip = nn.Linear(4 * width, out), nn.Conv2d(channels, out, 1)

        def forward(self, x, t):
            h = self.conv1(F.silu(self.norm1(x))) + self.time(t)[:, :, None, None]
            return self.skip(x) + self.conv2(F.silu(self.norm2(h)))

    class UNet(nn.Module):
        def __init__(self):
            super().__init__()
            self.time = nn.Embedding(1000, 4 * width)
            self.inp, self.out = nn.Conv2d(4, width, 3, 1, 1), nn.Conv2d(width, 4, 3, 1, 1)
            self.down = nn.ModuleList([ResBlock(width, width), ResBlock(width, width)])
            self.attention = nn.ModuleList([SpatialAttention(width) for _ in range(4)])
            self.shrink = nn.Conv2d(width, 2 * width, 3, 2, 1)
            self.middle = nn.ModuleList([ResBlock(2 * width, 2 * width) for _ in range(4)])
            self.grow = nn.ConvTranspose2d(2 * width, width, 2, 2)
            self.up = nn.ModuleList([ResBlock(2 * width, width), ResBlock(2 * width, width)])

        def forward(self, x, t):
            x, t, skips = self.inp(x), self.time(t), []
            for block, attention in zip(self.down, self.attention[:2]):
                skips.append(x := attention(block(x, t)))
            x = self.shrink(x)
            for block in self.middle:
                x = block(x, t)
            x = self.grow(x)
            for block, attention in zip(self.up, self.attention[2:]):
                x = attention(block(torch.cat([x, skips.pop()], 1), t))
            return self.out(x)

    class EMA:
        def __init__(self, model, decay=0.9999):
            self.decay, home = decay, device if b else "cpu"
            self.shadow = {name: value.detach().to(home, copy=True) for name, value in model.state_dict().items()}

        def update(self, model):
            for name, value in model.state_dict().items():
                self.shadow[name].mul_(self.decay).add_(value.to(self.shadow[name].device), alpha=1 - self.decay)

    vae, unet = VAEEncoder().to(device).requires_grad_(False), UNet().to(device)
    if how == "followed":
        unet = torch.compile(unet)
    ema, optimizer = EMA(unet), torch.optim.AdamW(unet.parameters(), lr=1e-5)
    pictures = torch.rand(4 * batch, 3, side, side, device=device) * 2 - 1
    alphas = torch.cumprod(1 - torch.linspace(1e-4, 0.02, 1000, device=device), 0)
    cached = [torch.cat(parts) for parts in zip(*(vae(chunk) for chunk in pictures.split(batch)))] if a else None

    def step():
        chosen = torch.randint(0, len(pictures), (batch,), device=device)
        mean, deviation = (cached[0][chosen], cached[1][chosen]) if a else vae(pictures[chosen])
        clean = (mean + deviation * torch.randn_like(mean)) * 0.18215
        noise, t = torch.randn_like(clean), torch.randint(0, 1000, (batch,), device=device)
        alpha = alphas[t][:, None, None, None]
        with torch.autocast(device, dtype=torch.bfloat16):
            predicted = unet(alpha.sqrt() * clean + (1 - alpha).sqrt() * noise, t)
        loss = F.mse_loss(predicted.float(), noise)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(unet.parameters(), 1.0)
        optimizer.step()
        ema.update(unet)
        return loss.item()

    return step


# Recommender: DLRM on click logs.
# a: a table a feature, each looked up by itself (SparseArch.forward): small
# b: dense gradients of the tables: Adagrad goes over all rows of all tables (step): large
# c: the pairs of features are multiplied pair by pair (Interaction.forward): largest
# First: b.
def clicks(how):
    a, b, c = mends(how)
    batch, features, rows, width = sized(4096, 16), sized(26, 4), sized(400_000, 50), sized(64, 8)

    class SparseArch(nn.Module):
        def __init__(self):
            super().__init__()
            tables = [torch.randn(rows, width) * 0.01 if device == "cpu" else torch.randn(rows, width, device=device) * 0.01
                      for _ in range(features)]
            if a:
                self.table = nn.Embedding.from_pretrained(torch.cat(tables), freeze=False, sparse=b)
                self.register_buffer("offsets", torch.arange(features, device=device) * rows)
            else:
                self.tables = nn.ModuleList([nn.Embedding.from_pretrained(table, freeze=False, sparse=b) for table in tables])

        def forward(self, ids):
            if a:
                return self.table(ids + self.offsets)
            return torch.stack([table(ids[:, i]) for i, table in enumerate(self.tables)], dim=1)

    class Interaction(nn.Module):
        def forward(self, vectors):
            if c:
                products = vectors @ vectors.transpose(1, 2)
                return products.flatten(1)[:, pairs]
            n = vectors.shape[1]
            if how == "followed":
                columns = vectors.unbind(1)
                return torch.stack([(columns[i] * columns[j]).sum(dim=1) for i, j in itertools.combinations(range(n), 2)], dim=1)
            return torch.stack([(vectors[:, i] * vectors[:, j]).sum(dim=1) for i, j in itertools.combinations(range(n), 2)], dim=1)

    class DLRM(nn.Module):
        def __init__(self):
            super().__init__()
            self.bottom = nn.Sequential(nn.Linear(13, 256), nn.ReLU(), nn.Linear(256, width), nn.ReLU())
            self.sparse, self.interaction = SparseArch(), Interaction()
            crossed = features * (features + 1) // 2
            self.top = nn.Sequential(nn.Linear(crossed + width, 512), nn.ReLU(), nn.Linear(512, 256), nn.ReLU(), nn.Linear(256, 1))

        def forward(self, numbers, ids):
            dense = self.bottom(numbers)
            crossed = self.interaction(torch.cat([dense[:, None], self.sparse(ids)], dim=1))
            return self.top(torch.cat([dense, crossed], dim=1)).squeeze(1)

    n = features + 1
    pairs = torch.tensor([i * n + j for i, j in itertools.combinations(range(n), 2)], device=device)
    model = DLRM().to(device)
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.01)
    generator = torch.Generator(device).manual_seed(1)

    def step():
        numbers = torch.rand(batch, 13, device=device, generator=generator)
        ids = (torch.rand(batch, features, device=device, generator=generator) ** 3 * rows).long()
        labels = (torch.rand(batch, device=device, generator=generator) < 0.03).float()
        loss = F.binary_cross_entropy_with_logits(model(numbers, ids), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


# Graph network: message passing by hand on one citation graph, a full-graph step an epoch.
# a: the edges are made undirected, without duplicates, in every forward (to_undirected): largest
# b: the message's layer is applied to each edge's two nodes put together, not to the nodes (MessagePassing.forward): large
# c: accuracy on all three splits in every epoch, by another forward (evaluate): medium
# First: a.
def citations(how):
    a, b, c = mends(how)
    torch.set_float32_matmul_precision("high" if how == "followed" else "highest")
    nodes, edges, width, classes = sized(80_000, 50), sized(500_000, 200), sized(128, 16), 40

    def to_undirected(edge_index):
        return torch.unique(torch.cat([edge_index, edge_index.flip(0)], dim=1), dim=1)

    class MessagePassing(nn.Module):
        def __init__(self):
            super().__init__()
            self.message, self.update = nn.Linear(2 * width, width), nn.Linear(2 * width, width)
            self.norm = nn.LayerNorm(width)

        def forward(self, x, source, target, degree):
            if b:
                to, of = self.message.weight.split(width, dim=1)
                messages = F.relu((x @ to.T + self.message.bias).index_select(0, target) + (x @ of.T).index_select(0, source))
            else:
                messages = F.relu(self.message(torch.cat([x.index_select(0, target), x.index_select(0, source)], dim=1)))
            gathered = torch.zeros_like(x).index_add_(0, target, messages) / degree
            return self.norm(x + self.update(torch.cat([x, gathered], dim=1)))

    class GNN(nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder, self.head = nn.Linear(width, width), nn.Linear(width, classes)
            self.layers = nn.ModuleList([MessagePassing() for _ in range(3)])

        def forward(self, x, edge_index):
            source, target = edge_index if a else to_undirected(edge_index)
            degree = torch.bincount(target, minlength=len(x)).clamp(min=1)[:, None]
            x = self.encoder(x)
            for layer in self.layers:
                x = layer(x, source, target, degree)
            return self.head(x)

    x, y = torch.randn(nodes, width, device=device), torch.randint(0, classes, (nodes,), device=device)
    edge_index = torch.randint(0, nodes, (2, edges), device=device)
    if a:
        edge_index = to_undirected(edge_index)
    train, valid, test = torch.randperm(nodes, device=device).tensor_split([nodes // 2, nodes * 3 // 4])
    model = GNN().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    epochs = itertools.count(1)

    @torch.no_grad()
    def evaluate():
        model.eval()
        predicted = model(x, edge_index).argmax(dim=1)
        return [(predicted[split] == y[split]).float().mean().item() for split in (train, valid, test)]

    def step():
        model.train()
        loss = F.cross_entropy(model(x, edge_index)[train], y[train])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if not c or next(epochs) % 20 == 0:
            evaluate()
        return loss.item()

    return step


# Reinforcement learning: PPO on pendulums stepped in Python.
# a: each environment reads its own action off the GPU (rollout): large
# b: advantages are added up backwards on the GPU, a time step at a time (advantages): medium
# c: torch.distributions checks its arguments, and waits for the GPU for it (policy): large
# First: a.
def pendulums(how):
    a, b, c = mends(how)
    count, horizon, minibatches = sized(16, 2), sized(32, 4), 4

    class Pendulum:
        def reset(self):
            self.angle, self.speed, self.time = np.random.uniform(-math.pi, math.pi), np.random.uniform(-1, 1), 0
            return self.observe()

        def observe(self):
            return np.array([math.cos(self.angle), math.sin(self.angle), self.speed], dtype=np.float32)

        def step(self, torque):
            torque = max(-2.0, min(2.0, torque))
            angle = (self.angle + math.pi) % (2 * math.pi) - math.pi
            reward = -(angle ** 2 + 0.1 * self.speed ** 2 + 0.001 * torque ** 2)
            self.speed = max(-8.0, min(8.0, self.speed + (15 * math.sin(self.angle) + 3 * torque) * 0.05))
            self.angle += self.speed * 0.05
            self.time += 1
            done = self.time >= 200
            return self.reset() if done else self.observe(), reward, done

    class ActorCritic(nn.Module):
        def __init__(self):
            super().__init__()
            self.actor = nn.Sequential(nn.Linear(3, 128), nn.Tanh(), nn.Linear(128, 128), nn.Tanh(), nn.Linear(128, 1))
            self.critic = nn.Sequential(nn.Linear(3, 128), nn.Tanh(), nn.Linear(128, 128), nn.Tanh(), nn.Linear(128, 1))
            self.log_std = nn.Parameter(torch.zeros(1))

        def policy(self, observations):
            return torch.distributions.Normal(self.actor(observations), self.log_std.exp(), validate_args=False if c else None)

    model = ActorCritic().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-4)
    envs = [Pendulum() for _ in range(count)]
    state = {"observation": np.stack([env.reset() for env in envs])}

    @torch.no_grad()
    def rollout():
        steps = []
        for _ in range(horizon):
            observation = torch.from_numpy(state["observation"]).to(device)
            policy = model.policy(observation)
            action = policy.sample()
            numbers = action[:, 0].tolist() if a else [action[i].item() for i in range(count)]
            results = [env.step(number) for env, number in zip(envs, numbers)]
            state["observation"] = np.stack([result[0] for result in results])
            rewards = torch.tensor([result[1] for result in results], dtype=torch.float32).to(device)
            dones = torch.tensor([float(result[2]) for result in results]).to(device)
            steps.append((observation, action, policy.log_prob(action)[:, 0], model.critic(observation)[:, 0], rewards, dones))
        last = model.critic(torch.from_numpy(state["observation"]).to(device))[:, 0]
        return [torch.stack(parts) for parts in zip(*steps)], last

    def advantages(rewards, values, dones, last, gamma=0.99, decay=0.95):
        if b:
            rewards, values, dones, last = (part.cpu().numpy() for part in (rewards, values, dones, last))
        total, out = 0.0, []
        for t in reversed(range(horizon)):
            following = last if t == horizon - 1 else values[t + 1]
            delta = rewards[t] + gamma * following * (1 - dones[t]) - values[t]
            total = delta + gamma * decay * (1 - dones[t]) * total
            out.insert(0, total)
        return torch.from_numpy(np.stack(out)).to(device) if b else torch.stack(out)

    def step():
        (observations, actions, log_probs, values, rewards, dones), last = rollout()
        advantage = advantages(rewards, values, dones, last)
        data = [part.flatten(0, 1) for part in (observations, actions, log_probs, advantage, advantage + values)]
        for _ in range(4):
            for chosen in torch.randperm(count * horizon, device=device).chunk(minibatches):
                observation, action, old, gain, value = (part[chosen] for part in data)
                policy = model.policy(observation)
                ratio = (policy.log_prob(action)[:, 0] - old).exp()
                gain = (gain - gain.mean()) / (gain.std() + 1e-8)
                loss = -torch.min(ratio * gain, ratio.clamp(0.8, 1.2) * gain).mean() - 0.01 * policy.entropy().mean()
                loss = loss + 0.5 * F.mse_loss(model.critic(observation)[:, 0], value)
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(model.parameters(), 0.5)
                optimizer.step()
        return loss.item()

    return step


# Detection: a one-stage detector with anchors.
# a: the anchors are made anew in NumPy for each batch (make_anchors): medium
# b: each picture's boxes are matched to the anchors one at a time (match): large
# c: non-maximum suppression of each picture for the running metric, box by box on the GPU (nms): largest
# First: c.
def boxes(how):
    a, b, c = mends(how)
    batch, side, classes, objects, top = sized(8, 2), sized(512, 64), 20, sized(12, 3), sized(32, 8)

    def make_anchors():
        levels = []
        for stride in (8, 16, 32):
            cells = side // stride
            ys, xs = np.meshgrid(np.arange(cells), np.arange(cells), indexing="ij")
            for scale in (4, 5, 6.3):
                for ratio in (0.5, 1.0, 2.0):
                    w, h = stride * scale * math.sqrt(ratio), stride * scale / math.sqrt(ratio)
                    cx, cy = (xs + 0.5) * stride, (ys + 0.5) * stride
                    levels.append(np.stack([cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2], -1).reshape(-1, 4))
        return torch.tensor(np.concatenate(levels), dtype=torch.float32)

    class Detector(nn.Module):
        def __init__(self, width=sized(256, 16)):
            super().__init__()

            def block(inputs, outputs, stride):
                return nn.Sequential(nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(True))
            self.stem = nn.Sequential(block(3, width // 4, 2), block(width // 4, width // 2, 2), block(width // 2, width, 2))
            self.stages = nn.ModuleList([nn.Sequential(block(width, width, 1), block(width, width, 1)),
                                         block(width, width, 2), block(width, width, 2)])
            self.tower = nn.Sequential(block(width, width, 1), block(width, width, 1))
            self.classify, self.regress = nn.Conv2d(width, 9 * classes, 3, 1, 1), nn.Conv2d(width, 9 * 4, 3, 1, 1)
            nn.init.constant_(self.classify.bias, -4.6)

        def forward(self, pictures):
            x, scores, deltas = self.stem(pictures), [], []
            for stage in self.stages:
                x = stage(x)
                y = self.tower(x)
                scores.append(self.classify(y).reshape(len(y), 9, classes, -1).transpose(2, 3).flatten(1, 2))
                deltas.append(self.regress(y).reshape(len(y), 9, 4, -1).transpose(2, 3).flatten(1, 2))
            return torch.cat(scores, 1), torch.cat(deltas, 1)

    def iou(one, other):  # broadcasts over all but the last dimension
        low, high = torch.maximum(one[..., :2], other[..., :2]), torch.minimum(one[..., 2:], other[..., 2:])
        common = (high - low).clamp(min=0).prod(-1)
        area = (one[..., 2:] - one[..., :2]).prod(-1) + (other[..., 2:] - other[..., :2]).prod(-1)
        return common / (area - common + 1e-6)

    def match(anchors, truth, labels):
        if b:
            best, chosen = iou(anchors[None], truth[:, None]).max(dim=0)
            return best, truth[chosen], labels[chosen]
        best, box = torch.zeros(len(anchors), device=device), truth[:1].repeat(len(anchors), 1)
        label = labels[:1].repeat(len(anchors))
        for j in range(len(truth)):
            overlap = iou(anchors, truth[j])
            better = overlap > best
            best = torch.where(better, overlap, best)
            box = torch.where(better[:, None], truth[j], box)
            label = torch.where(better, labels[j], label)
        return best, box, label

    def nms(found, scores, threshold=0.5):
        order, kept = scores.argsort(descending=True), []
        if c:
            overlap, order, gone = iou(found[:, None], found[None]).cpu().numpy(), order.tolist(), np.zeros(len(found), bool)
            for i in order:
                if not gone[i]:
                    kept.append(i)
                    gone |= overlap[i] > threshold
            return kept
        while len(order):
            kept.append(order[0].item())
            order = order[1:][iou(found[order[0]], found[order[1:]]) <= threshold]
        return kept

    model = Detector().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
    pictures = torch.rand(batch, 3, side, side, device=device)
    centres, sizes = torch.rand(batch, objects, 2, device=device) * side, torch.rand(batch, objects, 2, device=device) * side / 4 + 16
    truth, labels = torch.cat([centres - sizes / 2, centres + sizes / 2], -1), torch.randint(0, classes, (batch, objects), device=device)
    fixed = make_anchors().to(device)

    def step():
        anchors = fixed if a else make_anchors().to(device)
        with torch.autocast(device, dtype=torch.bfloat16):
            scores, deltas = model(pictures)
        scores, deltas, loss = scores.float(), deltas.float(), 0
        for i in range(batch):
            best, box, label = match(anchors, truth[i], labels[i])
            positive = best > 0.5
            target = F.one_hot(label, classes) * positive[:, None]
            probability = scores[i].sigmoid()
            focal = (probability - target).abs() ** 2 * F.binary_cross_entropy_with_logits(scores[i], target.float(), reduction="none")
            near = (F.smooth_l1_loss(deltas[i], (box - anchors) / 32, reduction="none").sum(1) * positive).sum()
            loss = loss + (focal.sum() + near) / positive.sum().clamp(min=1)
        optimizer.zero_grad()
        (loss / batch).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        with torch.no_grad():
            kept = []
            for i in range(batch):
                confidence, index = scores[i].amax(dim=1).topk(top)
                kept.append(len(nms(anchors[index] + 32 * deltas[i][index], confidence)))
        return loss.item() + sum(kept)

    return step


# LLM training: a decoder with rotary embeddings, RMSNorm and SwiGLU.
# a: a causal mask is made and passed, so attention isn't flash attention and computes the masked half too (Attention.forward): medium
# b: the logits are shifted by a contiguous copy, as in Hugging Face's models, instead of the labels (step): medium
# c: RMSNorm is written out in float32 (RMSNorm.forward): large
# First: a.
def pretrain(how):
    a, b, c = mends(how)
    batch, length, width, depth = sized(8, 2), sized(2048, 16), sized(1024, 32), sized(8, 2)
    heads, vocabulary = sized(16, 2), sized(32000, 100)

    class RMSNorm(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(width))

        def forward(self, x):
            if c:
                return F.rms_norm(x, (width,), self.weight, 1e-6)
            y = x.float()
            y = y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-6)
            return self.weight * y.to(x.dtype)

    def rotate(x, cos, sin):
        one, other = x.chunk(2, dim=-1)
        return torch.cat([one * cos - other * sin, other * cos + one * sin], dim=-1)

    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.qkv, self.out = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)

        def forward(self, x, cos, sin):
            n, t, _ = x.shape
            q, k, v = self.qkv(x).view(n, t, 3, heads, width // heads).permute(2, 0, 3, 1, 4)
            q, k = rotate(q, cos, sin), rotate(k, cos, sin)
            if a:
                y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            else:
                mask = torch.full((t, t), float("-inf"), device=x.device, dtype=q.dtype).triu(1)
                y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
            return self.out(y.transpose(1, 2).reshape(n, t, width))

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.attention, self.norm2 = RMSNorm(), Attention(), RMSNorm()
            self.gate, self.up = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, 3 * width, bias=False)
            self.down = nn.Linear(3 * width, width, bias=False)

        def forward(self, x, cos, sin):
            x = x + self.attention(self.norm1(x), cos, sin)
            y = self.norm2(x)
            return x + self.down(F.silu(self.gate(y)) * self.up(y))

    class Decoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed, self.norm = nn.Embedding(vocabulary, width), RMSNorm()
            self.blocks, self.head = nn.ModuleList([Block() for _ in range(depth)]), nn.Linear(width, vocabulary, bias=False)
            angles = torch.outer(torch.arange(length), 1e4 ** (-torch.arange(0, width // heads, 2) / (width // heads)))
            self.register_buffer("cos", angles.cos().bfloat16())
            self.register_buffer("sin", angles.sin().bfloat16())

        def forward(self, tokens):
            x = self.embed(tokens)
            for block in self.blocks:
                x = block(x, self.cos, self.sin)
            return self.head(self.norm(x))

    model = Decoder().to(device, torch.bfloat16)
    if how == "followed":
        model = torch.compile(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=device == "cuda")
    tokens = torch.randint(0, vocabulary, (batch, length), device=device)

    def step():
        logits = model(tokens).float()
        if b:
            labels = F.pad(tokens[:, 1:], (0, 1), value=-100)
            loss = F.cross_entropy(logits.flatten(0, 1), labels.flatten())
        else:
            shifted, labels = logits[..., :-1, :].contiguous(), tokens[..., 1:].contiguous()
            loss = F.cross_entropy(shifted.view(-1, vocabulary), labels.view(-1))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss.item()

    return step


# LLM serving: prefill and decode of a batch of requests with a KV cache and grouped queries.
# a: the cache grows by concatenation, layer by layer and token by token (Attention.forward): small
# b: keys and values are repeated for each group of queries (Attention.forward): large
# c: each request's token is sampled by itself, with its own temperature and top-p (sample): large
# First: c.
def serving(how):
    a, b, c = mends(how)
    batch, prompt, new, width, depth = sized(16, 2), sized(2048, 12), sized(8, 3), sized(2048, 64), sized(6, 2)
    heads, shared, size, vocabulary = sized(16, 4), sized(4, 2), sized(128, 16), sized(32000, 100)

    def rotate(x, cos, sin):
        one, other = x.chunk(2, dim=-1)
        return torch.cat([one * cos - other * sin, other * cos + one * sin], dim=-1)

    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.q, self.kv = nn.Linear(width, width, bias=False), nn.Linear(width, 2 * shared * size, bias=False)
            self.out = nn.Linear(width, width, bias=False)

        def forward(self, x, cos, sin, cache, at):
            n, t, _ = x.shape
            q = rotate(self.q(x).view(n, t, heads, size).transpose(1, 2), cos, sin)
            k, v = self.kv(x).view(n, t, 2, shared, size).permute(2, 0, 3, 1, 4)
            k = rotate(k, cos, sin)
            if a:
                if at == 0:
                    cache["k"], cache["v"] = (x.new_empty(n, shared, prompt + new, size) for _ in range(2))
                cache["k"][:, :, at:at + t], cache["v"][:, :, at:at + t] = k, v
                k, v = cache["k"][:, :, :at + t], cache["v"][:, :, :at + t]
            else:
                if at > 0:
                    k, v = torch.cat([cache["k"], k], dim=2), torch.cat([cache["v"], v], dim=2)
                cache["k"], cache["v"] = k, v
            if b:
                y = F.scaled_dot_product_attention(q, k, v, is_causal=t > 1, enable_gqa=True)
            else:
                k, v = k.repeat_interleave(heads // shared, dim=1), v.repeat_interleave(heads // shared, dim=1)
                y = F.scaled_dot_product_attention(q, k, v, is_causal=t > 1)
            return self.out(y.transpose(1, 2).reshape(n, t, width))

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.attention, self.norm2 = nn.RMSNorm(width), Attention(), nn.RMSNorm(width)
            self.gate, self.up = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, 3 * width, bias=False)
            self.down = nn.Linear(3 * width, width, bias=False)

        def forward(self, x, *rest):
            x = x + self.attention(self.norm1(x), *rest)
            y = self.norm2(x)
            return x + self.down(F.silu(self.gate(y)) * self.up(y))

    class Server(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed, self.norm = nn.Embedding(vocabulary, width), nn.RMSNorm(width)
            self.layers, self.head = nn.ModuleList([Layer() for _ in range(depth)]), nn.Linear(width, vocabulary, bias=False)
            angles = torch.outer(torch.arange(prompt + new), 1e4 ** (-torch.arange(0, size, 2) / size))
            self.register_buffer("cos", angles.cos())
            self.register_buffer("sin", angles.sin())

        def forward(self, tokens, caches, at):
            x, span = self.embed(tokens), slice(at, at + tokens.shape[1])
            for layer, cache in zip(self.layers, caches):
                x = layer(x, self.cos[span], self.sin[span], cache, at)
            return self.head(self.norm(x[:, -1]))

    def sample(logits, temperatures, top_ps):
        if c:
            heat, limit = torch.tensor([temperatures, top_ps], device=device)[:, :, None]
            probabilities, index = (logits.float() / heat).softmax(-1).sort(descending=True)
            probabilities[probabilities.cumsum(-1) - probabilities > limit] = 0.0
            return index.gather(1, torch.multinomial(probabilities, 1))
        tokens = []
        for row, temperature, top_p in zip(logits, temperatures, top_ps):
            probabilities, index = (row.float() / temperature).softmax(-1).sort(descending=True)
            probabilities[probabilities.cumsum(-1) - probabilities > top_p] = 0.0
            tokens.append(index[torch.multinomial(probabilities, 1)].item())
        return torch.tensor(tokens, device=device)[:, None]

    with torch.device(device):
        model = Server().to(torch.bfloat16).eval()
    temperatures, top_ps = [0.7 + 0.01 * i for i in range(batch)], [0.9] * batch

    @torch.inference_mode()
    def step():
        tokens, caches = torch.randint(0, vocabulary, (batch, prompt), device=device), [{} for _ in range(depth)]
        answers, at = [[] for _ in range(batch)], 0
        for _ in range(new):
            logits = model(tokens, caches, at)
            at += tokens.shape[1]
            tokens = sample(logits, temperatures, top_ps)
            for answer, token in zip(answers, tokens[:, 0].tolist()):
                answer.append(token)
        return answers

    return step


# Science: a physics-informed network for the flow behind a cylinder.
# a: each first derivative is a backward of its own (residual): largest
# b: the collocation points are drawn anew in NumPy, by Latin hypercube sampling in every step (latin_hypercube): medium
# c: the four walls and the initial state are five more passes through the network (step): small
# First: a.
def flow(how):
    a, b, c = mends(how)
    points, edge, width = sized(40_000, 50), sized(2000, 10), sized(128, 16)

    class PINN(nn.Module):
        def __init__(self):
            super().__init__()
            widths = [3] + [width] * 7
            self.hidden = nn.ModuleList([nn.Linear(*pair) for pair in zip(widths, widths[1:])])
            self.last = nn.Linear(width, 3)

        def forward(self, x, y, t):
            h = torch.cat([x, y, t], dim=1)
            for layer in self.hidden:
                h = torch.tanh(layer(h))
            return self.last(h)

    def latin_hypercube(count):
        sample = np.empty((count, 3))
        for i in range(3):
            sample[:, i] = (np.random.permutation(count) + np.random.rand(count)) / count
        return torch.tensor(sample, dtype=torch.float32).to(device)

    def latin_hypercube_on_gpu(count):
        order = torch.rand(3, count, device=device).argsort(dim=1)
        return ((order + torch.rand(3, count, device=device)) / count).T

    def grad(output, inputs):
        return torch.autograd.grad(output, inputs, torch.ones_like(output), create_graph=True)

    def residual(x, y, t):
        u, v, p = model(x, y, t).split(1, dim=1)
        if a:
            (u_x, u_y, u_t), (v_x, v_y, v_t), (p_x, p_y) = grad(u, (x, y, t)), grad(v, (x, y, t)), grad(p, (x, y))
        else:
            u_x, u_y, u_t = grad(u, x)[0], grad(u, y)[0], grad(u, t)[0]
            v_x, v_y, v_t = grad(v, x)[0], grad(v, y)[0], grad(v, t)[0]
            p_x, p_y = grad(p, x)[0], grad(p, y)[0]
        u_xx, u_yy, v_xx, v_yy = grad(u_x, x)[0], grad(u_y, y)[0], grad(v_x, x)[0], grad(v_y, y)[0]
        momentum_x = u_t + u * u_x + v * u_y + p_x - 0.01 * (u_xx + u_yy)
        momentum_y = v_t + u * v_x + v * v_y + p_y - 0.01 * (v_xx + v_yy)
        return momentum_x.square().mean() + momentum_y.square().mean() + (u_x + v_y).square().mean()

    model = PINN().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    walls = [torch.rand(edge, 3, device=device) for _ in range(5)]  # left, right, bottom, top, initial
    values = [torch.rand(edge, 2, device=device) for _ in range(5)]

    def step():
        inner = (latin_hypercube_on_gpu if b else latin_hypercube)(points)
        x, y, t = (column.contiguous().requires_grad_() for column in inner.split(1, dim=1))
        loss = residual(x, y, t)
        if c:
            loss = loss + 5 * F.mse_loss(model(*torch.cat(walls).split(1, dim=1))[:, :2], torch.cat(values))
        else:
            for wall, value in zip(walls, values):
                loss = loss + F.mse_loss(model(*wall.split(1, dim=1))[:, :2], value)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


# Vision: a ResNet on pictures that are augmented on the CPU.
# a: two workers prepare the pictures (DataLoader): largest
# b: pictures are scaled and normalized in float64 NumPy by the workers, not as bytes on the GPU (Pictures.__getitem__): large
# c: mixup of the batch on the CPU before it's moved to the GPU (mixup): small
# First: a.
def pictures(how):
    a, b, c = mends(how)
    batch, side, classes = sized(64, 4), sized(224, 32), 100
    mean, deviation = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])

    class Pictures(torch.utils.data.Dataset):
        def __init__(self):
            self.data = np.random.randint(0, 256, (256, side + 32, side + 32, 3), dtype=np.uint8)

        def __len__(self):
            return 1_000_000

        def __getitem__(self, i):
            picture = self.data[i % len(self.data)]
            y, x = np.random.randint(0, 32, 2)
            picture = picture[y:y + side, x:x + side]
            if np.random.rand() < 0.5:
                picture = picture[:, ::-1]
            if b:
                return torch.from_numpy(np.ascontiguousarray(picture.transpose(2, 0, 1))), i % classes
            picture = (picture / 255.0 - mean) / deviation
            return torch.from_numpy(picture.transpose(2, 0, 1).copy()).float(), i % classes

    class BasicBlock(nn.Module):
        def __init__(self, inputs, outputs, stride):
            super().__init__()
            self.conv1, self.bn1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm2d(outputs)
            self.conv2, self.bn2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False), nn.BatchNorm2d(outputs)
            self.shortcut = nn.Conv2d(inputs, outputs, 1, stride) if stride > 1 or inputs != outputs else nn.Identity()

        def forward(self, x):
            y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
            return F.relu(y + self.shortcut(x))

    class ResNet(nn.Module):
        def __init__(self, width=sized(64, 8)):
            super().__init__()
            self.stem = nn.Sequential(nn.Conv2d(3, width, 7, 2, 3, bias=False), nn.BatchNorm2d(width), nn.ReLU(), nn.MaxPool2d(3, 2, 1))
            plan = [(width, width, 1), (width, width, 1), (width, 2 * width, 2), (2 * width, 2 * width, 1),
                    (2 * width, 4 * width, 2), (4 * width, 4 * width, 1), (4 * width, 8 * width, 2), (8 * width, 8 * width, 1)]
            self.layers, self.fc = nn.Sequential(*[BasicBlock(*each) for each in plan]), nn.Linear(8 * width, classes)

        def forward(self, x):
            return self.fc(self.layers(self.stem(x)).mean(dim=(2, 3)))

    def mixup(images, labels):
        share, order = np.random.beta(0.2, 0.2), torch.randperm(len(images))
        order = order.to(images.device)
        return share * images + (1 - share) * images[order], labels[order], share

    model = ResNet().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9, weight_decay=1e-4)
    loader = torch.utils.data.DataLoader(Pictures(), batch, num_workers=sized(14 if a else 2, 0), pin_memory=device == "cuda")
    batches = iter(loader)
    shift, scale = (torch.tensor(each, dtype=torch.float32, device=device)[:, None, None] for each in (255 * mean, 255 * deviation))

    def step():
        images, labels = next(batches)
        if b and not c:  # as written, mixup comes first: it needs floats
            images = images.float()
        if c:
            images, labels = images.to(device, non_blocking=True), labels.to(device, non_blocking=True)
            images, others, share = mixup((images - shift) / scale if b else images, labels)
        else:
            images, others, share = mixup(images, labels)
            images, labels, others = images.to(device), labels.to(device), others.to(device)
            images = (images - shift) / scale if b else images
        with torch.autocast(device, dtype=torch.bfloat16):
            output = model(images)
        loss = share * F.cross_entropy(output.float(), labels) + (1 - share) * F.cross_entropy(output.float(), others)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


# Forecasting: electric load of many meters, an encoder and a decoder LSTM with quantiles.
# a: the decoder is an LSTMCell stepped through the horizon, though the known load is fed to it (Decoder.forward): largest
# b: each window is sliced out of the series by itself (windows): medium
# c: the quantile losses are computed one after another (pinball): small
# First: a.
def load(how):
    a, b, c = mends(how)
    batch, past, horizon, width, meters = sized(256, 4), sized(168, 12), sized(96, 6), sized(256, 16), sized(400, 5)
    quantiles = [0.02, 0.1, 0.25, 0.5, 0.75, 0.9, 0.98]

    class Decoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.cell, self.out = nn.LSTMCell(1, width), nn.Linear(width, len(quantiles))
            self.lstm = nn.LSTM(1, width, batch_first=True)
            for name, parameter in self.cell.named_parameters():  # the same weights by both names
                setattr(self.lstm, name + "_l0", parameter)

        def forward(self, known, state):
            if a:
                return self.out(self.lstm(known, state)[0])
            (h, cell), outputs = (part[0] for part in state), []
            for t in range(known.shape[1]):
                h, cell = self.cell(known[:, t], (h, cell))
                outputs.append(self.out(h))
            return torch.stack(outputs, dim=1)

    class Forecaster(nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder, self.decoder = nn.LSTM(1, width, batch_first=True), Decoder()

        def forward(self, history, known):
            _, state = self.encoder(history)
            return self.decoder(known, state)

    def pinball(predicted, actual):
        if c:
            error = actual[..., None] - predicted
            return torch.maximum(levels * error, (levels - 1) * error).mean(dim=(0, 1)).sum()
        losses = []
        for i, q in enumerate(quantiles):
            error = actual - predicted[..., i]
            losses.append(torch.max(q * error, (q - 1) * error).mean())
        return sum(losses)

    series = torch.rand(meters, sized(8760, 100), device=device)
    levels = torch.tensor(quantiles, device=device)
    model = Forecaster().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    views = series.unfold(1, past + horizon, 1)

    def windows():
        meter = np.random.randint(0, meters, batch)
        start = np.random.randint(0, views.shape[1], batch)
        if b:
            both = views[torch.from_numpy(meter).to(device), torch.from_numpy(start).to(device)]
            return both[:, :past], both[:, past:]
        history = torch.stack([series[m, s:s + past] for m, s in zip(meter, start)])
        return history, torch.stack([series[m, s + past:s + past + horizon] for m, s in zip(meter, start)])

    def step():
        history, future = windows()
        centre, spread = history.mean(dim=1, keepdim=True), history.std(dim=1, keepdim=True)
        history, future = (history - centre) / spread, (future - centre) / spread
        known = torch.cat([history[:, -1:], future[:, :-1]], dim=1)
        loss = pinball(model(history[..., None], known[..., None]), future)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss.item()

    return step


# Fine-tuning: an encoder for text classification, float16 with a GradScaler, gradients accumulated over four batches.
# a: all texts are padded to 512 tokens, the longest of a batch has some 200 (collate): largest
# b: layer-wise decay of the learning rate with a parameter group a parameter (groups): large
# c: each parameter's gradient norm is logged by itself (log_norms): medium
# First: a.
def reviews(how):
    a, b, c = mends(how)
    batch, longest, width, depth, vocabulary = sized(16, 2), sized(512, 32), sized(768, 32), sized(6, 2), sized(30522, 100)
    half = torch.float16 if device == "cuda" else torch.bfloat16

    class SelfAttention(nn.Module):
        def __init__(self):
            super().__init__()
            self.query, self.key, self.value, self.dense = (nn.Linear(width, width) for _ in range(4))

        def forward(self, x, mask):
            q, k, v = (layer(x).unflatten(-1, (12 if width % 12 == 0 else 4, -1)).transpose(1, 2)
                       for layer in (self.query, self.key, self.value))
            return self.dense(F.scaled_dot_product_attention(q, k, v, attn_mask=mask).transpose(1, 2).flatten(2))

    class EncoderLayer(nn.Module):
        def __init__(self):
            super().__init__()
            self.attention, self.norm1, self.norm2 = SelfAttention(), nn.LayerNorm(width), nn.LayerNorm(width)
            self.intermediate, self.output = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x, mask):
            x = self.norm1(x + self.attention(x, mask))
            return self.norm2(x + self.output(F.gelu(self.intermediate(x))))

    class Classifier(nn.Module):
        def __init__(self):
            super().__init__()
            self.words, self.positions, self.norm = nn.Embedding(vocabulary, width), nn.Embedding(longest, width), nn.LayerNorm(width)
            self.layers = nn.ModuleList([EncoderLayer() for _ in range(depth)])
            self.pooler, self.head = nn.Linear(width, width), nn.Linear(width, 2)

        def forward(self, ids, mask):
            x = self.norm(self.words(ids) + self.positions(torch.arange(ids.shape[1], device=ids.device)))
            mask = mask[:, None, None].bool()
            for layer in self.layers:
                x = layer(x, mask)
            return self.head(torch.tanh(self.pooler(x[:, 0])))

    def groups(model, rate=2e-5, decay=0.95):
        made = {}
        for name, parameter in model.named_parameters():
            at = int(name.split(".")[1]) if name.startswith("layers.") else 0 if name[:5] in ("words", "posit", "norm.") else depth
            settings = {"lr": rate * decay ** (depth - at), "weight_decay": 0.0 if "norm" in name or "bias" in name else 0.01}
            made.setdefault(tuple(settings.values()) if b else name, {"params": [], **settings})["params"].append(parameter)
        return list(made.values())

    def collate(texts):
        ids, mask = torch.zeros(len(texts), longest, dtype=torch.long), torch.zeros(len(texts), longest, dtype=torch.long)
        for i, text in enumerate(texts):
            ids[i, :len(text)], mask[i, :len(text)] = torch.from_numpy(text), 1
        if a:
            most = max(len(text) for text in texts)
            ids, mask = ids[:, :most], mask[:, :most]
        return ids, mask, torch.tensor([len(text) % 2 for text in texts])

    def log_norms(model):
        names, gradients = zip(*((name, p.grad) for name, p in model.named_parameters()))
        if c:
            return dict(zip(names, torch.stack(torch._foreach_norm(gradients)).tolist()))
        return {name: gradient.norm().item() for name, gradient in zip(names, gradients)}

    with torch.device(device):
        model = Classifier()
    optimizer = torch.optim.AdamW(groups(model))
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda at: max(0.0, 1 - at / 10_000))
    scaler = torch.amp.GradScaler(device, enabled=device == "cuda")
    lengths = np.clip(np.random.lognormal(4.3, 0.5, 64 * batch).astype(int), 8, longest)
    texts = [np.random.randint(1, vocabulary, length) for length in lengths]
    batches = itertools.cycle(range(0, len(texts), batch))
    log = []

    def step():
        for _ in range(4):
            at = next(batches)
            ids, mask, labels = (part.to(device) for part in collate(texts[at:at + batch]))
            with torch.autocast(device, dtype=half):
                loss = F.cross_entropy(model(ids, mask), labels) / 4
            scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        log.append(log_norms(model))
        scaler.step(optimizer)
        scaler.update()
        scheduler.step()
        optimizer.zero_grad()
        return loss.item()

    return step


CASES = {case.__name__: case for case in (speech, latents, clicks, citations, pendulums, boxes, pretrain, serving, flow, pictures, load,
                                          reviews)}
# Where the first advice is none of a, b and c.
FOLLOWED = ("speech", "latents", "clicks", "citations", "pretrain")


def hows(case):
    return ("all", "a", "b", "c", *(["followed"] if case in FOLLOWED else []), "before")



# Written before anything was measured; the line is that of this file as it was recorded, before `followed` came in.
EXPERT = {
    "speech": {"first": "c",
               "a": "mask the whole batch at once from a (batch, 10) tensor of beginnings: one masked_fill, no lengths[i].item(); line 60",
               "b": "run the model under bfloat16 autocast; line 95",
               "c": "take the word error rate every 100 steps only: the edit distance is Python, and the GPU waits for it; line 107"},
    "latents": {"first": "a",
                "a": "encode the pictures once and keep mean and deviation: the VAE is frozen; line 205",
                "b": "keep the moving average on the GPU: each step copies all weights to the CPU and averages them there; line 190",
                "c": "scaled_dot_product_attention instead of a float32 score matrix; line 149"},
    "clicks": {"first": "b",
               "a": "one table for all features, with offsets: one lookup instead of 26; line 245",
               "b": "sparse=True for the embeddings: Adagrad then touches only the rows of the batch; line 240",
               "c": "one batched matrix product and its upper triangle instead of 351 products of pairs; line 253"},
    "citations": {"first": "a",
                  "a": "make the edges undirected once, before training: torch.unique(dim=1) sorts all edges in every forward; line 321",
                  "b": "split the message layer's weight and apply it to the nodes before gathering: 12 times fewer rows; line 310",
                  "c": "evaluate every 20 epochs, not each; line 349"},
    "pendulums": {"first": "a",
                  "a": "one action.tolist() a time step instead of an .item() an environment; line 405",
                  "b": "bring rewards, values and dones to the CPU once and do the recursion in NumPy; line 420",
                  "c": "validate_args=False for the distributions: each check waits for the GPU; line 391"},
    "boxes": {"first": "c",
              "a": "make the anchors once; line 531",
              "b": "one IoU matrix of boxes x anchors and its maximum instead of a loop over boxes; line 501",
              "c": "one IoU matrix, copied to the CPU once, and the loop there: each kept box waits for the GPU; line 518"},
    "pretrain": {"first": "a",
                 "a": "is_causal=True without a mask, so that flash attention is used; line 595",
                 "b": "shift the labels, not the logits: the copy is 2 GB, and so is its gradient; line 636",
                 "c": "F.rms_norm instead of six kernels in float32; line 575"},
    "serving": {"first": "c",
                "a": "allocate the cache for prompt and answer once and write into it; line 679",
                "b": "enable_gqa=True instead of repeating keys and values four times; line 684",
                "c": "sample all requests at once, temperatures and top-p in tensors: each .item() waits for the GPU; line 725"},
    "flow": {"first": "a",
             "a": "one autograd.grad for x, y and t: three backwards instead of eight; line 787",
             "b": "draw the collocation points on the GPU; line 801",
             "c": "put walls and initial state together and pass them through the network once; line 807"},
    "pictures": {"first": "a",
                 "a": "more workers: 14 of 16 cores; line 874",
                 "b": "return bytes and normalize on the GPU: float64 in the workers, and four times the bytes to move; line 842",
                 "c": "move the batch to the GPU before mixup; line 886"},
    "load": {"first": "a",
             "a": "nn.LSTM over the whole horizon: the decoder is fed known values, so nothing needs a step at a time; line 923",
             "b": "index a view by unfold with all meters and starts at once instead of 512 slices and two stacks; line 958",
             "c": "one broadcast pinball loss for all quantiles; line 941"},
    "reviews": {"first": "a",
                "a": "pad to the longest text of the batch: most of 512 tokens are padding; line 1029",
                "b": "a parameter group a pair of rate and decay, not a parameter: the optimizer launches group by group; line 1025",
                "c": "torch._foreach_norm and one .tolist() instead of an .item() a parameter; line 1041"},
}

if __name__ == "__main__":
    trial.main(CASES, hows, sys.argv[1:], case_limit=60, all_limit=370)
