"""A sixth trial: fourteen programs as people of fourteen fields write them, with three things in each that cost time.

None was written with a rule or a profile in mind, and their costs weren't measured while they were written. `how` is "before" (as
written), "a", "b" or "c" (that one thing mended, as an expert would in a line or two) or "all". EXPERT says what an expert would
change, and what first, written before anything was measured. `python3 tests/gpu/unseen_sixth.py FOLDER [CASE ...] > times.jsonl`
times each way and records each program as it was written; trial.py says how.
"""
import itertools
import math
import random
import sys

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset, Sampler

import trial
from trial import device, sized

half = sized(torch.bfloat16, torch.float32)
compiled = torch.compile if device == "cuda" else lambda function, **options: function


def mends(how):
    return [how in (one, "all") for one in "abc"]


def attend(q, k, v, mask=None, causal=False):
    if hasattr(F, "scaled_dot_product_attention"):
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=causal)
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if causal:
        mask = torch.full(scores.shape[-2:], -math.inf, device=q.device).triu(1)
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf) if mask.dtype == torch.bool else scores + mask
    return scores.softmax(-1) @ v


# Speech synthesis: a vocoder with a harmonic source serves eight callers, chunk by chunk.
# a: weight norm is still live in the eighty convolutions of a model that only infers (normed): small
# b: 64 frames of the past are synthesized again with every 16 new ones; the receptive field is 14 (synthesize): largest
# c: the harmonics are made caller by caller and one at a time (HarmonicSource.extend): medium
# First: b.
def vocoder(how):
    a, b, c = mends(how)
    callers, chunk, hop, width, harmonics = sized(8, 2), sized(16, 4), 256, sized(512, 32), 8
    context = 16 if b else 64
    weight_norm = getattr(nn.utils.parametrizations, "weight_norm", nn.utils.weight_norm)
    normed = (lambda layer: layer) if a else weight_norm

    class ResBlock(nn.Module):
        def __init__(self, channels, kernel):
            super().__init__()
            conv = lambda d: normed(nn.Conv1d(channels, channels, kernel, 1, d * (kernel - 1) // 2, d))
            self.dilated = nn.ModuleList(conv(d) for d in (1, 3, 5))
            self.plain = nn.ModuleList(conv(1) for _ in range(3))

        def forward(self, x):
            for dilated, plain in zip(self.dilated, self.plain):
                x = x + plain(F.leaky_relu(dilated(F.leaky_relu(x, 0.1)), 0.1))
            return x

    class HarmonicSource:
        def __init__(self):
            self.phase = torch.zeros(callers, device=device)
            self.past = torch.zeros(callers, 1, (context + chunk) * hop, device=device)

        def extend(self, f0):
            f0 = f0.repeat_interleave(hop, 1)
            if c:
                turns = (f0 / 22050).cumsum(1) + self.phase[:, None]
                order = torch.arange(1, harmonics + 1, device=device)[:, None]
                wave = (torch.sin(2 * math.pi * order * turns[:, None]) / order).sum(1)
                self.phase = turns[:, -1] % 1
            else:
                waves = []
                for i in range(callers):
                    turns = (f0[i] / 22050).cumsum(0) + self.phase[i]
                    wave = torch.zeros_like(turns)
                    for n in range(1, harmonics + 1):
                        wave = wave + torch.sin(2 * math.pi * n * turns) / n
                    self.phase[i] = turns[-1] % 1
                    waves.append(wave)
                wave = torch.stack(waves)
            self.past = torch.cat([self.past[..., chunk * hop:], wave[:, None]], 2)
            return self.past

    class Generator(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = normed(nn.Conv1d(80, width, 7, 1, 3))
            self.ups, self.sources, self.blocks = nn.ModuleList(), nn.ModuleList(), nn.ModuleList()
            below = hop
            for i, rate in enumerate((8, 8, 2, 2)):
                channels, below = width >> (i + 1), below // rate
                self.ups.append(normed(nn.ConvTranspose1d(2 * channels, channels, 2 * rate, rate, rate // 2)))
                self.sources.append(nn.Conv1d(1, channels, 2 * below, below, below // 2) if below > 1 else nn.Conv1d(1, channels, 1))
                self.blocks.append(nn.ModuleList(ResBlock(channels, k) for k in (3, 7, 11)))
            self.last = normed(nn.Conv1d(channels, 1, 7, 1, 3))

        def forward(self, mel, source):
            x = self.first(mel)
            for up, inject, blocks in zip(self.ups, self.sources, self.blocks):
                x = up(F.leaky_relu(x, 0.1))
                x = x + inject(source)[..., :x.shape[2]]
                x = sum(block(x) for block in blocks) / len(blocks)
            return torch.tanh(self.last(F.leaky_relu(x)))

    generator, source = Generator().to(device).eval(), HarmonicSource()
    if how == "followed":
        generator = compiled(generator)
    mels = torch.randn(callers, 80, 64 + 40 * chunk, device=device)
    pitch = torch.rand(callers, 64 + 40 * chunk, device=device) * 200 + 80
    position = itertools.cycle(range(64, 64 + 39 * chunk, chunk))

    @torch.no_grad()
    def synthesize(at):
        audio = generator(mels[..., at - context:at + chunk], source.extend(pitch[:, at:at + chunk]))
        return (audio[:, 0, context * hop:] * 32767).short()

    def step():
        audio = synthesize(next(position)).cpu().numpy()
        packets = [row.tobytes() for row in audio]
        return float(np.abs(audio.astype(np.float32)).mean()) + 0 * len(packets)

    return step


# Medical imaging: a 3D U-Net learns to segment fourteen organs from patches.
# a: Dice loss class by class, with an .item() each (DiceLoss.forward): small
# b: deterministic algorithms are left on: trilinear upsampling is then indexed and sorted (volumes): medium
# c: the whole scan is normalized before the patch is cut out of it, on the CPU, in each step (PatchSampler): largest
# First: c.
def volumes(how):
    a, b, c = mends(how)
    torch.use_deterministic_algorithms(not b, warn_only=True)
    torch.backends.cudnn.benchmark = False
    batch, patch, classes, width = 2, sized(96, 16), sized(14, 3), sized(32, 4)

    class PatchSampler:
        def __init__(self, scans):
            self.scans, self.turn = scans, itertools.count()
            self.moments = [(scan.mean(), scan.std()) for scan, _ in scans]

        def draw(self):
            i = next(self.turn) % len(self.scans)
            image, label = self.scans[i]
            corner = [random.randrange(size - patch + 1) for size in image.shape]
            cut = tuple(slice(at, at + patch) for at in corner)
            if c:
                mean, std = self.moments[i]
                return (image[cut] - mean) / std, label[cut].copy()
            image = (image - image.mean()) / image.std()
            return image[cut], label[cut].copy()

        def batch(self):
            images, labels = zip(*(self.draw() for _ in range(batch)))
            return torch.from_numpy(np.stack(images)[:, None]).to(device), torch.from_numpy(np.stack(labels)).to(device)

    class DoubleConv(nn.Sequential):
        def __init__(self, before, after):
            layer = lambda n: (nn.Conv3d(n, after, 3, 1, 1), nn.InstanceNorm3d(after, affine=True), nn.LeakyReLU(inplace=True))
            super().__init__(*layer(before), *layer(after))

    class UNet3D(nn.Module):
        def __init__(self):
            super().__init__()
            sizes = [width, 2 * width, 4 * width, 8 * width]
            self.down = nn.ModuleList(DoubleConv(n, m) for n, m in zip([1] + sizes, sizes))
            self.pool = nn.MaxPool3d(2)
            self.grow = nn.ModuleList([nn.ConvTranspose3d(sizes[1], sizes[0], 2, 2), nn.ConvTranspose3d(sizes[2], sizes[1], 2, 2)])
            self.up = nn.ModuleList([DoubleConv(2 * sizes[0], sizes[0]), DoubleConv(2 * sizes[1], sizes[1]),
                                     DoubleConv(sizes[3] + sizes[2], sizes[2])])
            self.head = nn.Conv3d(width, classes, 1)

        def forward(self, x):
            skips = []
            for i, stage in enumerate(self.down):
                x = stage(x if i == 0 else self.pool(x))
                skips.append(x)
            x = F.interpolate(skips[3], scale_factor=2, mode="trilinear", align_corners=False)
            x = self.up[2](torch.cat([x, skips[2]], 1))
            for i in (1, 0):
                x = self.up[i](torch.cat([self.grow[i](x), skips[i]], 1))
            return self.head(x)

    class DiceLoss(nn.Module):
        def forward(self, logits, target):
            probs = logits.softmax(1)
            onehot = torch.stack([(target == i).float() for i in range(classes)], 1)
            if a:
                overlap, total = (probs * onehot).sum((0, 2, 3, 4)), (probs.square() + onehot).sum((0, 2, 3, 4))
                per_class = 1 - (2 * overlap + 1e-5) / (total + 1e-5)
                self.scores = (1 - per_class).detach()
                return per_class.mean()
            loss, self.scores = 0.0, []
            for i in range(classes):
                overlap = torch.sum(probs[:, i] * onehot[:, i])
                total = torch.sum(probs[:, i] * probs[:, i]) + torch.sum(onehot[:, i] * onehot[:, i])
                dice = 1 - (2 * overlap + 1e-5) / (total + 1e-5)
                self.scores.append(1.0 - dice.item())
                loss = loss + dice
            return loss / classes

    size = sized((128, 224, 224), (24, 24, 24))
    scans = [(np.random.randn(*size).astype(np.float32) * 300 - 500, np.random.randint(0, classes, size)) for _ in range(3)]
    sampler, model, dice = PatchSampler(scans), UNet3D().to(device), DiceLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.99, nesterov=True)

    def step():
        image, label = sampler.batch()
        optimizer.zero_grad()
        with torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda"):
            logits = model(image)
        logits = logits.float()
        loss = F.cross_entropy(logits, label) + dice(logits, label)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 12)
        optimizer.step()
        return loss.item()

    return step


# Robotics: PPO for two thousand simulated walkers.
# a: observations are normalized by running moments in numpy, so each goes to the CPU and back (RunningMoments): medium
# b: finished episodes are noted walker by walker (EpisodeLog.add): medium
# c: a diagonal policy is a MultivariateNormal: a Cholesky factor and a triangular solve a row (Actor.policy): largest
# First: c.
def robots(how):
    a, b, c = mends(how)
    walkers, horizon, observed, joints, epochs, minibatches = sized(2048, 16), sized(16, 4), 48, 12, 3, 4

    class Walkers:
        def __init__(self):
            self.dynamics = torch.randn(observed, observed, device=device) / math.sqrt(observed)
            self.control = torch.randn(joints, observed, device=device) / math.sqrt(joints)
            self.state = torch.randn(walkers, observed, device=device)
            self.age = torch.randint(0, 100, (walkers,), device=device)

        def advance(self, action):
            action = action.clamp(-1, 1)
            self.state = torch.tanh(self.state @ self.dynamics + 0.5 * action @ self.control)
            height, effort = self.state[:, 0], action.square().sum(1)
            reward = 1.0 - (height - 0.3).abs() - 0.01 * effort + 0.1 * self.state[:, 1:4].sum(1)
            self.age = self.age + 1
            done = self.age >= 100
            self.age = torch.where(done, torch.zeros_like(self.age), self.age)
            self.state = torch.where(done[:, None], torch.randn_like(self.state), self.state)
            return self.state, reward, done

    class RunningMoments:
        def __init__(self):
            make = (lambda v: torch.full((observed,), v, device=device)) if a else (lambda v: np.full(observed, v))
            self.mean, self.var, self.count = make(0.0), make(1.0), 1e-4

        def __call__(self, obs):
            x = obs if a else obs.cpu().numpy()
            mean, var, n = x.mean(0), x.var(0), len(x)
            delta, total = mean - self.mean, self.count + n
            self.mean = self.mean + delta * n / total
            self.var = (self.var * self.count + var * n + delta ** 2 * self.count * n / total) / total
            self.count = total
            if a:
                return ((x - self.mean) / (self.var + 1e-8).sqrt()).clamp(-10, 10)
            x = np.clip((x - self.mean) / np.sqrt(self.var + 1e-8), -10, 10)
            return torch.from_numpy(x.astype(np.float32)).to(device)

    class EpisodeLog:
        def __init__(self):
            self.score, self.length = torch.zeros(walkers, device=device), torch.zeros(walkers, device=device)
            self.scores, self.lengths = [], []

        def add(self, reward, done):
            self.score += reward
            self.length += 1
            if b:
                self.scores.append(torch.where(done, self.score, math.nan))
                self.lengths.append(torch.where(done, self.length, math.nan))
                self.score, self.length = self.score * ~done, self.length * ~done
                return
            for i in done.nonzero().flatten():
                self.scores.append(self.score[i].item())
                self.lengths.append(self.length[i].item())
                self.score[i] = 0
                self.length[i] = 0

        def summary(self):
            scores = torch.stack(self.scores).nanmean().item() if b else np.mean(self.scores or [math.nan])
            self.scores, self.lengths = [], []
            return scores

    class Actor(nn.Module):
        def __init__(self):
            super().__init__()
            mlp = lambda out: nn.Sequential(nn.Linear(observed, 256), nn.ELU(), nn.Linear(256, 128), nn.ELU(), nn.Linear(128, out))
            self.mean, self.value = mlp(joints), mlp(1)
            self.register_buffer("variance", torch.full((joints,), 0.36))

        def policy(self, obs):
            mean = self.mean(obs)
            if c:
                normal = torch.distributions.Normal(mean, self.variance.sqrt().expand_as(mean), validate_args=False)
                return torch.distributions.Independent(normal, 1, validate_args=False)
            return torch.distributions.MultivariateNormal(mean, torch.diag_embed(self.variance.expand_as(mean)))

    def advantages(rewards, dones, values, last):
        found, carry = torch.zeros_like(rewards), 0.0
        for t in reversed(range(horizon)):
            following = values[t + 1] if t + 1 < horizon else last
            delta = rewards[t] + 0.99 * following * ~dones[t] - values[t]
            carry = delta + 0.99 * 0.95 * ~dones[t] * carry
            found[t] = carry
        return found

    torch.distributions.Distribution.set_default_validate_args(how != "followed")
    world, moments, log, actor = Walkers(), RunningMoments(), EpisodeLog(), Actor().to(device)
    optimizer = torch.optim.Adam(actor.parameters(), lr=3e-4)

    def rollout():
        rows = []
        with torch.no_grad():
            obs = moments(world.state)
            for _ in range(horizon):
                policy = actor.policy(obs)
                action = policy.sample()
                following, reward, done = world.advance(action)
                log.add(reward, done)
                rows.append((obs, action, policy.log_prob(action), reward, done, actor.value(obs)[:, 0]))
                obs = moments(following)
            obs_, actions, log_probs, rewards, dones, values = map(torch.stack, zip(*rows))
            gain = advantages(rewards, dones, values, actor.value(obs)[:, 0])
        return [x.flatten(0, 1) for x in (obs_, actions, log_probs, gain, gain + values)]

    def improve(data):
        for _ in range(epochs):
            for rows in torch.randperm(walkers * horizon, device=device).chunk(minibatches):
                obs, actions, old, gain, returns = (x[rows] for x in data)
                policy = actor.policy(obs)
                ratio = (policy.log_prob(actions) - old).exp()
                gain = (gain - gain.mean()) / (gain.std() + 1e-8)
                loss = -torch.min(ratio * gain, ratio.clamp(0.8, 1.2) * gain).mean()
                loss = loss + 0.5 * F.mse_loss(actor.value(obs)[:, 0], returns) - 0.001 * policy.entropy().mean()
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(actor.parameters(), 0.5)
                optimizer.step()
        return loss

    def step():
        loss = improve(rollout())
        return loss.item(), log.summary()

    return step


# Captions for pictures: beam search with a cross-attention decoder.
# a: the cross-attention's keys and values are reordered with the beams, which share them (Decoder.reorder): large
# b: repeated trigrams are banned in Python, row by row (ban_repeats): largest
# c: all candidates of a picture are sorted to take ten of them (best_beams): medium
# First: b.
def captions(how):
    a, b, c = mends(how)
    pictures, beams, patches, width, layers = sized(24, 2), 5, sized(1024, 9), sized(768, 32), sized(6, 2)
    heads, vocabulary, length, prompt = sized(12, 2), sized(50000, 60), sized(14, 5), sized(40, 4)
    rows = pictures * beams

    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.q, self.kv, self.out = nn.Linear(width, width), nn.Linear(width, 2 * width), nn.Linear(width, width)

        def split(self, x):
            return x.view(len(x), -1, heads, width // heads).transpose(1, 2)

        def pair(self, x):
            return [self.split(y) for y in self.kv(x).chunk(2, -1)]

        def forward(self, x, k, v, causal=False):
            return self.out(attend(self.split(self.q(x)), k, v, causal=causal).transpose(1, 2).reshape(len(x), -1, width))

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.own, self.cross = Attention(), Attention()
            self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
            self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3))

        def forward(self, x, cache):
            y = self.norms[0](x)
            new = self.own.pair(y)
            cache["own"] = [torch.cat([old, n], 2) for old, n in zip(cache["own"], new)] if "own" in cache else new
            x = x + self.own(y, *cache["own"], causal=x.shape[1] > 1)
            x = x + self.cross(self.norms[1](x), *cache["cross"])
            return x + self.mlp(self.norms[2](x))

    class Decoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed, self.place = nn.Embedding(vocabulary, width), nn.Embedding(64, width)
            self.layers = nn.ModuleList(Layer() for _ in range(layers))
            self.head = nn.Linear(width, vocabulary, bias=False)

        def start(self, memory):
            memory = memory.repeat_interleave(beams, 0)
            return [{"cross": [y.contiguous() for y in layer.cross.pair(memory)]} for layer in self.layers]

        def forward(self, tokens, at, caches):
            x = self.embed(tokens) + self.place.weight[at:at + tokens.shape[1]]
            for layer, cache in zip(self.layers, caches):
                x = layer(x, cache)
            return self.head(x[:, -1])

        def reorder(self, caches, parents):
            for cache in caches:
                cache["own"] = [y.index_select(0, parents) for y in cache["own"]]
                if not a:
                    cache["cross"] = [y.index_select(0, parents) for y in cache["cross"]]

    def ban_repeats(tokens, scores):
        if b:
            again = (tokens[:, :-2] == tokens[:, -2:-1]) & (tokens[:, 1:-1] == tokens[:, -1:])
            return scores.scatter_add(1, tokens[:, 2:], torch.where(again, -math.inf, 0.0))
        for i, history in enumerate(tokens.tolist()):
            seen = {}
            for x, y, z in zip(history, history[1:], history[2:]):
                seen.setdefault((x, y), []).append(z)
            banned = seen.get(tuple(history[-2:]), [])
            if banned:
                scores[i, banned] = -math.inf
        return scores

    def best_beams(scores):
        scores = scores.view(pictures, -1)
        if c:
            return scores.topk(2 * beams, 1)
        values, places = torch.sort(scores, dim=1, descending=True)
        return values[:, :2 * beams], places[:, :2 * beams]

    model = Decoder().to(device=device, dtype=half).eval()
    memory = torch.randn(pictures, patches, width, device=device, dtype=half)
    begin = torch.randint(1, 30, (pictures, prompt), device=device).repeat_interleave(beams, 0)
    first_row = torch.arange(pictures, device=device)[:, None] * beams

    @torch.no_grad()
    def step():
        caches, tokens = model.start(memory), begin
        total = torch.zeros(rows, device=device)
        for turn in range(length):
            logits = model(tokens[:, -1:], prompt + turn - 1, caches) if turn else model(tokens, 0, caches)
            scores = F.log_softmax(logits.float(), -1)
            scores = ban_repeats(tokens, scores) + total[:, None]
            values, places = best_beams(scores)
            values, places = values[:, :beams], places[:, :beams]
            parents = (first_row + places // vocabulary).flatten()
            total = values.flatten()
            tokens = torch.cat([tokens[parents], (places % vocabulary).view(-1, 1)], 1)
            model.reorder(caches, parents)
        return tokens.float().mean().item()

    return step


# Detection: an anchor-free detector with dynamic assignment.
# a: anchors are matched object by object, with k read off the GPU for each (Assigner.match): largest
# b: the classification cost of all pairs repeats both sides to objects x anchors x classes (Assigner.class_cost): medium
# c: the moving average of the weights goes through state_dict, tensor by tensor (Average.update): medium
# First: a.
def detector(how):
    a, b, c = mends(how)
    batch, size, classes, width = sized(8, 2), sized(640, 64), sized(365, 5), sized(32, 4)

    class Conv(nn.Sequential):
        def __init__(self, before, after, kernel=3, stride=1):
            super().__init__(nn.Conv2d(before, after, kernel, stride, kernel // 2, bias=False), nn.BatchNorm2d(after), nn.SiLU())

    class Stage(nn.Module):
        def __init__(self, before, after, depth):
            super().__init__()
            self.down = Conv(before, after, 3, 2)
            self.blocks = nn.ModuleList(nn.Sequential(Conv(after, after // 2, 1), Conv(after // 2, after)) for _ in range(depth))

        def forward(self, x):
            x = self.down(x)
            for block in self.blocks:
                x = x + block(x)
            return x

    class Detector(nn.Module):
        def __init__(self):
            super().__init__()
            self.stem = Conv(3, width, 3, 2)
            self.stages = nn.ModuleList(Stage(width << i, width << (i + 1), d) for i, d in enumerate((1, 3, 3, 2)))
            self.lateral = nn.ModuleList(Conv(width << i, 96 if device == "cuda" else 8, 1) for i in (2, 3, 4))
            n = 96 if device == "cuda" else 8
            self.tower = nn.Sequential(Conv(n, n), Conv(n, n))
            self.out = nn.Conv2d(n, 5 + classes, 1)

        def forward(self, x):
            x, outs, grids = self.stem(x), [], []
            for i, stage in enumerate(self.stages):
                x = stage(x)
                if i:
                    y = self.out(self.tower(self.lateral[i - 1](x)))
                    h, w, stride = *y.shape[2:], 4 << i
                    ys, xs = torch.meshgrid(torch.arange(h, device=x.device), torch.arange(w, device=x.device), indexing="ij")
                    grids.append(torch.stack([xs, ys, torch.ones_like(xs)], -1).view(-1, 3) * stride)
                    outs.append(y.flatten(2).transpose(1, 2))
            out, grid = torch.cat(outs, 1).float(), torch.cat(grids).float()
            centers = (out[..., :2].sigmoid() * 2 - 0.5) * grid[:, 2:] + grid[:, :2]
            extents = out[..., 2:4].clamp(max=4).exp() * grid[:, 2:]
            return torch.cat([centers, extents], -1), out[..., 4], out[..., 5:], grid

    def overlap(p, q):
        low = torch.max(p[..., :2] - p[..., 2:] / 2, q[..., :2] - q[..., 2:] / 2)
        high = torch.min(p[..., :2] + p[..., 2:] / 2, q[..., :2] + q[..., 2:] / 2)
        shared = (high - low).clamp(min=0).prod(-1)
        return shared / (p[..., 2:].prod(-1) + q[..., 2:].prod(-1) - shared + 1e-6)

    class Assigner:
        def class_cost(self, objectness, logits, kinds):
            probs = (logits.sigmoid() * objectness.sigmoid()[:, None]).sqrt()
            if b:
                absent = torch.log1p(-probs).clamp(min=-100)
                return ((absent - probs.log().clamp(min=-100))[:, kinds] - absent.sum(1, keepdim=True)).T
            wanted = F.one_hot(kinds, classes).float().unsqueeze(1).repeat(1, len(probs), 1)
            return F.binary_cross_entropy(probs.unsqueeze(0).repeat(len(kinds), 1, 1), wanted, reduction="none").sum(-1)

        def match(self, cost, ious):
            matching = torch.zeros_like(cost)
            counts = ious.topk(min(10, ious.shape[1]), 1).values.sum(1).int().clamp(min=1)
            if a:
                nearest = cost.topk(min(10, cost.shape[1]), 1, largest=False).indices
                wanted = torch.arange(nearest.shape[1], device=cost.device) < counts[:, None]
                matching.scatter_(1, nearest, wanted.float())
            else:
                for i in range(len(cost)):
                    _, nearest = torch.topk(cost[i], k=counts[i].item(), largest=False)
                    matching[i][nearest] = 1.0
            best = F.one_hot(cost.argmin(0), len(cost)).T.float()
            return torch.where(matching.sum(0) > 1, best, matching)

        @torch.no_grad()
        def __call__(self, boxes, objectness, logits, grid, objects, kinds):
            ious = overlap(objects[:, None], boxes[None])
            far = ((grid[:, :2] - objects[:, None, :2]).abs() > 2.5 * grid[:, 2:]).any(-1)
            cost = self.class_cost(objectness, logits, kinds) - 3 * (ious + 1e-8).log() + 1e5 * far
            matching = self.match(cost, ious)
            return matching.sum(0) > 0, matching.argmax(0)

    class Average:
        def __init__(self, model):
            import copy
            self.model, self.decay = copy.deepcopy(model).eval().requires_grad_(False), 0.999
            floats = lambda m: [t for t in m.state_dict().values() if t.dtype.is_floating_point]
            self.pairs = floats(self.model), floats(model)

        @torch.no_grad()
        def update(self, model):
            if c:
                torch._foreach_mul_(self.pairs[0], self.decay)
                torch._foreach_add_(self.pairs[0], self.pairs[1], alpha=1 - self.decay)
                return
            latest = model.state_dict()
            for name, value in self.model.state_dict().items():
                if value.dtype.is_floating_point:
                    value *= self.decay
                    value += (1 - self.decay) * latest[name].detach()

    model = Detector().to(device)
    average, assign = Average(model), Assigner()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
    images = torch.randn(batch, 3, size, size, device=device)
    truth = []
    for _ in range(batch):
        n = random.randint(sized(12, 2), sized(36, 4))
        truth.append((torch.rand(n, 4, device=device) * size * 0.5 + size * 0.1, torch.randint(0, classes, (n,), device=device)))

    def step():
        boxes, objectness, logits, grid = model(images)
        fronts, box_loss, class_loss = [], 0.0, 0.0
        for i, (objects, kinds) in enumerate(truth):
            front, which = assign(boxes[i], objectness[i], logits[i], grid, objects, kinds)
            fronts.append(front)
            found = overlap(boxes[i][front], objects[which[front]])
            wanted = F.one_hot(kinds[which[front]], classes) * found.detach()[:, None]
            box_loss = box_loss + (1 - found ** 2).sum()
            class_loss = class_loss + F.binary_cross_entropy_with_logits(logits[i][front], wanted, reduction="sum")
        front = torch.stack(fronts)
        object_loss = F.binary_cross_entropy_with_logits(objectness, front.float(), reduction="sum")
        loss = (5 * box_loss + class_loss + object_loss) / front.sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        average.update(model)
        return loss.item()

    return step


# Search: sentence embeddings by contrastive learning, in short rounds.
# a: the loader is made anew in each round, so two workers start for four batches (Rounds.loader): large
# b: cosine similarity of all pairs by broadcasting, sentences x sentences x features (info_nce): medium
# c: sentences of at most 24 words are padded to 64 (Collate): largest
# First: a.
def sentences(how):
    a, b, c = mends(how)
    batch, batches, width, layers, words, longest = sized(1024, 8), sized(4, 2), sized(384, 16), sized(3, 1), sized(30000, 99), 64

    class Sentences(Dataset):
        def __init__(self):
            self.words = [f"w{i}" for i in range(words)]
            self.lengths = [random.randint(6, 24) for _ in range(batch * batches)]

        def __len__(self):
            return batch * batches

        def __getitem__(self, i):
            return " ".join(self.words[(i * 7919 + k * 104729) % (words - 2)] for k in range(self.lengths[i]))

    class Shuffled(Sampler):
        def __init__(self):
            self.round = 0

        def __len__(self):
            return batch * batches

        def __iter__(self):
            self.round += 1
            return iter(random.Random(self.round).sample(range(batch * batches), batch * batches))

    class Collate:
        def __init__(self):
            self.index = {f"w{i}": i + 2 for i in range(words - 2)}

        def __call__(self, texts):
            ids = [[1] + [self.index[word] for word in text.split()] for text in texts]
            size = max(map(len, ids)) if c else longest
            return torch.tensor([row + [0] * (size - len(row)) for row in ids])

    class Encoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed, self.place = nn.Embedding(words, width, padding_idx=0), nn.Embedding(longest, width)
            layer = nn.TransformerEncoderLayer(width, sized(6, 2), 4 * width, 0.1, "gelu", batch_first=True, norm_first=True)
            self.layers = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)

        def forward(self, ids):
            x = self.embed(ids) + self.place.weight[:ids.shape[1]]
            x = self.layers(x, src_key_padding_mask=ids == 0)
            real = (ids != 0).unsqueeze(-1)
            return (x * real).sum(1) / real.sum(1)

    class Rounds:
        def __init__(self):
            self.data, self.sampler, self.collate, self.made = Sentences(), Shuffled(), Collate(), None

        def loader(self):
            if self.made is None or not a:
                self.made = DataLoader(self.data, batch, sampler=self.sampler, collate_fn=self.collate, num_workers=2,
                                       drop_last=True, persistent_workers=a)
            return self.made

    def info_nce(p, q):
        if b:
            scores = F.normalize(p, dim=-1) @ F.normalize(q, dim=-1).T
        else:
            scores = F.cosine_similarity(p.unsqueeze(1), q.unsqueeze(0), dim=-1)
        return F.cross_entropy(scores / 0.05, torch.arange(len(p), device=p.device))

    if how == "followed":
        info_nce = compiled(info_nce)
    rounds, model = Rounds(), Encoder().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-5)

    def train_batch(ids):
        ids = ids.to(device)
        with torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda"):
            first, second = model(ids), model(ids)
        loss = info_nce(first.float(), second.float())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.detach()

    def step():
        return torch.stack([train_batch(ids) for ids in rounds.loader()]).mean().item()

    return step


# Audio: a network separates four talkers in a room.
# a: each talker is reverberated by a direct convolution with 4,000 taps (Room.forward): large
# b: each of the 24 orders of the talkers is scored from the start (permuted_loss): medium
# c: global layer norm is written out (GlobalNorm.forward): largest
# First: c.
def separation(how):
    a, b, c = mends(how)
    batch, talkers, samples, taps = sized(8, 2), sized(4, 2), sized(64000, 800), sized(4000, 50)
    features, narrow, wide = sized(256, 8), sized(128, 8), sized(256, 8)

    class GlobalNorm(nn.Module):
        def __init__(self, channels):
            super().__init__()
            self.gain, self.bias = nn.Parameter(torch.ones(1, channels, 1)), nn.Parameter(torch.zeros(1, channels, 1))

        def forward(self, x):
            if c:
                return F.group_norm(x, 1, self.gain.flatten(), self.bias.flatten(), 1e-8)
            mean = x.mean(dim=1, keepdim=True).mean(dim=2, keepdim=True)
            power = torch.pow(x - mean, 2).mean(dim=1, keepdim=True).mean(dim=2, keepdim=True)
            return self.gain * (x - mean) / torch.pow(power + 1e-8, 0.5) + self.bias

    class Block(nn.Module):
        def __init__(self, dilation):
            super().__init__()
            self.enter, self.leave, self.skip = (nn.Conv1d(n, m, 1) for n, m in ((narrow, wide), (wide, narrow), (wide, narrow)))
            self.depth = nn.Conv1d(wide, wide, 3, 1, dilation, dilation, groups=wide)
            self.norms, self.acts = nn.ModuleList(GlobalNorm(wide) for _ in "12"), nn.ModuleList(nn.PReLU() for _ in "12")

        def forward(self, x):
            y = self.norms[0](self.acts[0](self.enter(x)))
            y = self.norms[1](self.acts[1](self.depth(y)))
            return x + self.leave(y), self.skip(y)

    class Separator(nn.Module):
        def __init__(self):
            super().__init__()
            self.encode, self.decode = nn.Conv1d(1, features, 16, 8, bias=False), nn.ConvTranspose1d(features, 1, 16, 8, bias=False)
            self.norm, self.squeeze = GlobalNorm(features), nn.Conv1d(features, narrow, 1)
            self.blocks = nn.ModuleList(Block(1 << i) for i in range(sized(8, 2)))
            self.mask = nn.Conv1d(narrow, talkers * features, 1)

        def forward(self, mixture):
            spec = self.encode(mixture[:, None])
            x, total = self.squeeze(self.norm(spec)), 0.0
            for block in self.blocks:
                x, skip = block(x)
                total = total + skip
            masks = self.mask(F.relu(total)).sigmoid().view(batch, talkers, features, -1)
            return self.decode((masks * spec[:, None]).flatten(0, 1)).view(batch, talkers, -1)

    class Room(nn.Module):
        def forward(self, voices, responses):
            if a:
                size = 1 << (samples + taps - 1).bit_length()
                return torch.fft.irfft(torch.fft.rfft(voices, size) * torch.fft.rfft(responses, size), size)[..., :samples]
            flat = F.pad(voices.reshape(1, -1, samples), (taps - 1, 0))
            return F.conv1d(flat, responses.reshape(-1, 1, taps).flip(-1), groups=batch * talkers).view(batch, talkers, samples)

    def si_sdr(estimate, target):
        estimate, target = estimate - estimate.mean(-1, keepdim=True), target - target.mean(-1, keepdim=True)
        scaled = (estimate * target).sum(-1, keepdim=True) / (target.square().sum(-1, keepdim=True) + 1e-8) * target
        return 10 * torch.log10(scaled.square().sum(-1) / ((estimate - scaled).square().sum(-1) + 1e-8) + 1e-8)

    def permuted_loss(estimates, targets):
        orders = list(itertools.permutations(range(talkers)))
        if b:
            pairs = si_sdr(estimates[:, :, None], targets[:, None])
            index = torch.tensor(orders, device=device)
            scores = pairs[:, torch.arange(talkers, device=device), index].mean(-1)
        else:
            scores = torch.stack([si_sdr(estimates, targets[:, list(order)]).mean(-1) for order in orders], 1)
        return -scores.max(1).values.mean()

    model, room = Separator().to(device), Room()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    voices = torch.randn(batch, talkers, samples, device=device)
    decay = torch.exp(-torch.arange(taps, device=device) / (taps / 6))

    def augment():
        responses = torch.randn(batch, talkers, taps, device=device) * decay
        responses[..., 0] = 1.0
        return room(voices, responses)

    def step():
        with torch.no_grad():
            wet = augment()
        estimates = model(wet.sum(1))
        loss = permuted_loss(estimates, wet[..., :estimates.shape[-1]])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
        return loss.item()

    return step


# Video: optical flow between the frames of two cameras, refined twenty times.
# a: the flow is upsampled in each iteration, and the last is returned (FlowNet.forward): medium
# b: the context is convolved again in each iteration, in all six gates (SeparableGRU): medium
# c: frames are normalized in numpy and go up as float32 by a side stream that is waited for at once (Uploader): largest
# First: c.
def flow(how):
    a, b, c = mends(how)
    torch.set_float32_matmul_precision("high")
    cameras, height, width, rounds, radius, levels = 2, sized(720, 64), sized(1280, 96), sized(20, 2), 4, sized(4, 2)
    hidden, context = sized(128, 8), sized(128, 8)

    class Encoder(nn.Sequential):
        def __init__(self, out, norm):
            layer = lambda n, m, k, s: (nn.Conv2d(n, m, k, s, k // 2), norm(m), nn.ReLU(inplace=True))
            super().__init__(*layer(3, 64, 7, 2), *layer(64, 64, 3, 1), *layer(64, 96, 3, 2), *layer(96, 96, 3, 1),
                             *layer(96, 128, 3, 2), *layer(128, 128, 3, 1), nn.Conv2d(128, out, 1))

    class SeparableGRU(nn.Module):
        def __init__(self, moving):
            super().__init__()
            conv = lambda k: nn.Conv2d(hidden + context + moving, hidden, k, padding=(k[0] // 2, k[1] // 2))
            self.gates = nn.ModuleList(nn.ModuleList(conv(k) for _ in "zrq") for k in ((1, 5), (5, 1)))

        def prepare(self, inp):
            at = slice(hidden, hidden + context)
            return [[F.conv2d(inp, g.weight[:, at], g.bias, padding=g.padding) for g in gates] for gates in self.gates]

        def part(self, gate, h, moving):
            weight = torch.cat([gate.weight[:, :hidden], gate.weight[:, hidden + context:]], 1)
            return F.conv2d(torch.cat([h, moving], 1), weight, None, padding=gate.padding)

        def forward(self, h, inp, moving, prepared):
            for i, (z, r, q) in enumerate(self.gates):
                if b:
                    za, ra, qa = prepared[i]
                    update, reset = (self.part(z, h, moving) + za).sigmoid(), (self.part(r, h, moving) + ra).sigmoid()
                    h = (1 - update) * h + update * (self.part(q, reset * h, moving) + qa).tanh()
                    continue
                x = torch.cat([inp, moving], 1)
                update, reset = z(torch.cat([h, x], 1)).sigmoid(), r(torch.cat([h, x], 1)).sigmoid()
                h = (1 - update) * h + update * q(torch.cat([reset * h, x], 1)).tanh()
            return h

    class Correlation:
        def __init__(self, first, second):
            n, channels, self.h, self.w = first.shape
            volume = first.flatten(2).transpose(1, 2) @ second.flatten(2) / math.sqrt(channels)
            volume = volume.view(-1, 1, self.h, self.w)
            self.pyramid = [volume]
            for _ in range(levels - 1):
                self.pyramid.append(volume := F.avg_pool2d(volume, 2))
            window = torch.arange(-radius, radius + 1, device=first.device).float()
            self.window = torch.stack(torch.meshgrid(window, window, indexing="ij"), -1).flip(-1)

        def at(self, coords):
            n, _, h, w = coords.shape
            centers, found = coords.permute(0, 2, 3, 1).reshape(-1, 1, 1, 2), []
            for i, volume in enumerate(self.pyramid):
                size = torch.tensor(volume.shape[:1:-1], device=coords.device) - 1
                grid = 2 * (centers / 2 ** i + self.window) / size - 1
                found.append(F.grid_sample(volume, grid, align_corners=True).view(n, h, w, -1))
            return torch.cat(found, -1).permute(0, 3, 1, 2).contiguous()

    class FlowNet(nn.Module):
        def __init__(self):
            super().__init__()
            self.features, self.context = Encoder(256, nn.InstanceNorm2d), Encoder(hidden + context, nn.BatchNorm2d)
            seen = levels * (2 * radius + 1) ** 2
            self.look = nn.Sequential(nn.Conv2d(seen, 256, 1), nn.ReLU(), nn.Conv2d(256, 192, 3, 1, 1), nn.ReLU())
            self.motion = nn.Sequential(nn.Conv2d(2, 128, 7, 1, 3), nn.ReLU(), nn.Conv2d(128, 64, 3, 1, 1), nn.ReLU())
            self.join = nn.Sequential(nn.Conv2d(256, 126, 3, 1, 1), nn.ReLU())
            self.gru = SeparableGRU(128)
            self.head = nn.Sequential(nn.Conv2d(hidden, 256, 3, 1, 1), nn.ReLU(), nn.Conv2d(256, 2, 3, 1, 1))
            self.mask = nn.Sequential(nn.Conv2d(hidden, 256, 3, 1, 1), nn.ReLU(), nn.Conv2d(256, 576, 1))

        def enlarge(self, flow, h):
            n, _, y, x = flow.shape
            mask = (0.25 * self.mask(h)).view(n, 1, 9, 8, 8, y, x).softmax(2)
            patches = F.unfold(8 * flow, 3, padding=1).view(n, 2, 9, 1, 1, y, x)
            return (mask * patches).sum(2).permute(0, 1, 4, 2, 5, 3).reshape(n, 2, 8 * y, 8 * x)

        def forward(self, first, features, following):
            correlation = Correlation(features, following)
            h, inp = self.context(first).split([hidden, context], 1)
            h, inp = h.tanh(), inp.relu()
            n, _, y, x = h.shape
            rows, columns = torch.meshgrid(torch.arange(y, device=h.device), torch.arange(x, device=h.device), indexing="ij")
            base = torch.stack([columns, rows]).float().expand(n, -1, -1, -1)
            coords, prepared, flows = base, self.gru.prepare(inp) if b else None, []
            for i in range(rounds):
                delta = coords - base
                moving = self.join(torch.cat([self.look(correlation.at(coords)), self.motion(delta)], 1))
                h = self.gru(h, inp, torch.cat([moving, delta], 1), prepared)
                coords = coords + self.head(h)
                if not a or i == rounds - 1:
                    flows.append(self.enlarge(coords - base, h))
            return flows[-1]

    class Uploader:
        def __init__(self):
            self.stream = torch.cuda.Stream() if device == "cuda" else None
            self.mean, self.std = np.float32([0.485, 0.456, 0.406]), np.float32([0.229, 0.224, 0.225])
            self.moments = [torch.from_numpy(m).to(device).view(1, 3, 1, 1) for m in (self.mean, self.std)]

        def __call__(self, frames):
            if c:
                x = torch.from_numpy(frames).to(device).permute(0, 3, 1, 2).float() / 255
                return ((x - self.moments[0]) / self.moments[1]).contiguous()
            x = (frames.astype(np.float32) / 255 - self.mean) / self.std
            x = torch.from_numpy(np.ascontiguousarray(x.transpose(0, 3, 1, 2)))
            if not self.stream:
                return x
            with torch.cuda.stream(self.stream):
                x = x.pin_memory().to(device, non_blocking=True)
            self.stream.synchronize()
            return x

    net, upload = FlowNet().to(device).eval(), Uploader()
    video = np.random.randint(0, 256, (6, cameras, height, width, 3), dtype=np.uint8)
    turn = itertools.cycle(range(len(video)))
    last = {}

    @torch.no_grad()
    def step():
        frame = upload(video[next(turn)])
        features = net.features(frame)
        moved = net(last["frame"], last["features"], features) if last else frame
        last.update(frame=frame, features=features)
        return moved.abs().mean().item()

    return step


# Language models: adapters are tuned on instructions, in four micro-batches a step.
# a: the frozen weights are float32 under autocast, which casts them anew in each forward pass (Adapted): small
# b: the head and the loss run over all positions, where three in four are the prompt's (Tuner.forward): medium
# c: a causal mask of floats is made in each layer and keeps flash attention away (SelfAttention.forward): largest
# First: c.
def lora(how):
    a, b, c = mends(how)
    width, layers, heads, vocabulary = sized(2048, 32), sized(8, 2), sized(16, 2), sized(64000, 99)
    length, micro, rank = sized(2048, 16), 4, sized(16, 2)
    frozen = dict(device=device, dtype=half if a else torch.float32)

    class Adapted(nn.Module):
        def __init__(self, before, after):
            super().__init__()
            self.base = nn.Linear(before, after, bias=False, **frozen)
            self.base.weight.requires_grad_(False)
            self.down, self.up = (nn.Linear(n, m, bias=False, device=device) for n, m in ((before, rank), (rank, after)))

        def forward(self, x):
            return self.base(x) + 2.0 * self.up(self.down(x))

    class SelfAttention(nn.Module):
        def __init__(self):
            super().__init__()
            self.q, self.k, self.v, self.o = (Adapted(width, width) for _ in range(4))

        def forward(self, x):
            n, t, _ = x.shape
            q, k, v = (f(x).view(n, t, heads, width // heads).transpose(1, 2) for f in (self.q, self.k, self.v))
            if c:
                y = attend(q, k, v, causal=True)
            else:
                mask = torch.full((t, t), float("-inf"), device=x.device, dtype=q.dtype).triu(1)
                y = attend(q, k, v, mask=mask[None, None].repeat(n, 1, 1, 1))
            return self.o(y.transpose(1, 2).reshape(n, t, width))

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            inner = 11 * width // 4
            self.norm1, self.norm2 = nn.LayerNorm(width, device=device), nn.LayerNorm(width, device=device)
            self.attention = SelfAttention()
            self.gate, self.rise, self.fall = Adapted(width, inner), Adapted(width, inner), Adapted(inner, width)

        def forward(self, x):
            x = x + self.attention(self.norm1(x))
            y = self.norm2(x)
            return x + self.fall(F.silu(self.gate(y)) * self.rise(y))

    class Tuner(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(vocabulary, width, device=device)
            self.layers = nn.ModuleList(Layer() for _ in range(layers))
            self.norm, self.head = nn.LayerNorm(width, device=device), nn.Linear(width, vocabulary, bias=False, **frozen)
            for module in (self.embed, self.head, self.norm):
                module.requires_grad_(False)

        def forward(self, ids, labels, answer):
            x = self.embed(ids)
            for layer in self.layers:
                x = layer(x)
            x = self.norm(x)
            if b:
                x, labels = x[:, answer:-1], labels[:, answer + 1:]
                return F.cross_entropy(self.head(x).float().flatten(0, 1), labels.flatten())
            logits = self.head(x).float()
            logits, labels = logits[:, :-1].contiguous(), labels[:, 1:].contiguous()
            return F.cross_entropy(logits.view(-1, vocabulary), labels.view(-1), ignore_index=-100)

    model, answer = Tuner(), 3 * length // 4
    adapters = [p for p in model.parameters() if p.requires_grad]
    if how == "followed":
        model = compiled(model)
    optimizer = torch.optim.AdamW(adapters, lr=1e-4)
    batches = []
    for _ in range(micro):
        ids = torch.randint(0, vocabulary, (1, length), device=device)
        labels = ids.clone()
        labels[:, :answer + 1] = -100
        batches.append((ids, labels))

    def accumulate():
        total = 0.0
        for ids, labels in batches:
            with torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda"):
                loss = model(ids, labels, answer) / micro
            loss.backward()
            total = total + loss.detach()
        return total

    def step():
        optimizer.zero_grad()
        total = accumulate()
        nn.utils.clip_grad_norm_(adapters, 1.0)
        optimizer.step()
        return total.item()

    return step


# Neuromorphic computing: a spiking network classifies pictures over eight time steps.
# a: the same picture goes through the stem in each time step (SpikingNet.forward): medium
# b: the surrogate gradient is written as a straight-through sum of ten small operations (fire): small
# c: anomaly detection of autograd is left on (spikes): largest
# First: c.
def spikes(how):
    a, b, c = mends(how)
    torch.autograd.set_detect_anomaly(not c)
    batch, size, times, width, classes = sized(64, 2), sized(64, 16), sized(8, 2), sized(64, 4), 10

    class Arctangent(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return (x > 0).to(x.dtype)

        @staticmethod
        def backward(ctx, grad):
            x, = ctx.saved_tensors
            return grad / (1 + (math.pi * x).square())

    def fire(x):
        if b:
            return Arctangent.apply(x)
        hard = (x > 0).float()
        soft = torch.atan(math.pi * x) / math.pi + 0.5
        return hard.detach() + soft - soft.detach()

    class LIF(nn.Module):
        def __init__(self):
            super().__init__()
            self.decay = nn.Parameter(torch.tensor(0.5))

        def reset(self):
            self.voltage = 0.0

        def forward(self, current):
            self.voltage = self.voltage * self.decay + current
            spike = fire(self.voltage - 1.0)
            self.voltage = self.voltage - spike
            return spike

    class SpikingBlock(nn.Module):
        def __init__(self, before, after, stride):
            super().__init__()
            self.conv, self.norm, self.lif = nn.Conv2d(before, after, 3, stride, 1, bias=False), nn.BatchNorm2d(after), LIF()

        def forward(self, x):
            return self.lif(self.norm(self.conv(x)))

    class SpikingNet(nn.Module):
        def __init__(self):
            super().__init__()
            self.stem = nn.Sequential(nn.Conv2d(3, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
                                      nn.Conv2d(width, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width))
            self.first = LIF()
            self.blocks = nn.ModuleList([SpikingBlock(width, 2 * width, 2), SpikingBlock(2 * width, 2 * width, 1),
                                         SpikingBlock(2 * width, 4 * width, 2), SpikingBlock(4 * width, 4 * width, 1)])
            self.head = nn.Linear(4 * width, classes)

        def forward(self, picture):
            for module in self.modules():
                if isinstance(module, LIF):
                    module.reset()
            total, current = 0.0, self.stem(picture) if a else None
            for _ in range(times):
                x = self.first(current if a else self.stem(picture))
                for block in self.blocks:
                    x = block(x)
                total = total + self.head(x.mean((2, 3)))
            return total / times

    net = SpikingNet().to(device)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-4)
    pictures = torch.randn(batch, 3, size, size, device=device)
    labels = torch.randint(0, classes, (batch,), device=device)

    def step():
        loss = F.cross_entropy(net(pictures), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


# Graphics: a picture is fitted by a thousand two-dimensional Gaussians.
# a: the allocator's cache is emptied after each step (step): largest
# b: each Gaussian's color is spread over the picture before they are summed (blend): medium
# c: the picture is rendered again for the PSNR of the progress bar (preview): medium
# First: a.
def splats(how):
    a, b, c = mends(how)
    count, size = sized(1024, 20), sized(256, 16)

    class Gaussians(nn.Module):
        def __init__(self):
            super().__init__()
            self.centers = nn.Parameter(torch.rand(count, 2))
            self.scales = nn.Parameter(torch.full((count, 2), -3.5))
            self.angles = nn.Parameter(torch.rand(count) * math.pi)
            self.colors, self.opacity = nn.Parameter(torch.randn(count, 3)), nn.Parameter(torch.zeros(count))

        def precision(self):
            cos, sin = self.angles.cos(), self.angles.sin()
            turn = torch.stack([torch.stack([cos, -sin], -1), torch.stack([sin, cos], -1)], -2)
            return turn @ torch.diag_embed((-2 * self.scales).exp()) @ turn.transpose(1, 2)

        def density(self, grid):
            offset = grid - self.centers[:, None, None]
            inverse = self.precision()
            x, y = offset[..., 0], offset[..., 1]
            xx, xy, yy = (inverse[:, i, j, None, None] for i, j in ((0, 0), (0, 1), (1, 1)))
            return torch.exp(-0.5 * (xx * x * x + 2 * xy * x * y + yy * y * y)) * self.opacity.sigmoid()[:, None, None]

    class Renderer(nn.Module):
        def __init__(self):
            super().__init__()
            line = torch.linspace(0, 1, size)
            self.register_buffer("grid", torch.stack(torch.meshgrid(line, line, indexing="xy"), -1))

        def blend(self, density, colors):
            if b:
                return (colors.T @ density.flatten(1)).view(3, size, size)
            return (density[:, None] * colors[:, :, None, None]).sum(0)

        def forward(self, gaussians):
            return self.blend(gaussians.density(self.grid), gaussians.colors.sigmoid()).clamp(0, 1)

    gaussians, renderer = Gaussians().to(device), Renderer().to(device)
    if how == "followed":
        renderer = compiled(renderer)
    optimizer = torch.optim.Adam(gaussians.parameters(), lr=1e-3)
    picture = torch.rand(3, size, size, device=device)

    def preview(image):
        with torch.no_grad():
            image = image.detach() if c else renderer(gaussians)
            return -10 * torch.log10(F.mse_loss(image, picture)).item()

    def step():
        image = renderer(gaussians)
        loss = (image - picture).abs().mean() + F.mse_loss(image, picture)
        optimizer.zero_grad()
        loss.backward()
        psnr = preview(image)
        optimizer.step()
        if not a:
            del image, loss
            torch.cuda.empty_cache()
        return psnr

    return step


# Medicine: survival from a table of 160 columns, by a transformer over columns.
# a: each number has its own embedding layer, called in a loop (NumberTokens.forward): largest
# b: the weights are copied to the CPU in each step, to go back to after a spike of the loss (Snapshot.take): medium
# c: the concordance index of the batch by all pairs, in numpy (concordance): medium
# First: a.
def tables(how):
    a, b, c = mends(how)
    rows, micro, numbers, kinds, width = sized(1024, 8), 2, sized(128, 4), sized(32, 2), sized(128, 16)

    class NumberTokens(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList(nn.Linear(1, width) for _ in range(numbers))

        def forward(self, x):
            if a:
                weight, bias = torch.stack([f.weight for f in self.layers]), torch.stack([f.bias for f in self.layers])
                return F.relu(x[:, :, None] * weight[:, :, 0] + bias)
            return torch.stack([F.relu(layer(x[:, i:i + 1])) for i, layer in enumerate(self.layers)], 1)

    class KindTokens(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(kinds * 50, width)
            self.register_buffer("begin", torch.arange(kinds) * 50)

        def forward(self, x):
            return self.table(x + self.begin)

    class TableModel(nn.Module):
        def __init__(self):
            super().__init__()
            self.numbers, self.kinds = NumberTokens(), KindTokens()
            self.summary = nn.Parameter(torch.zeros(1, 1, width))
            layer = nn.TransformerEncoderLayer(width, sized(4, 2), 2 * width, 0.0, batch_first=True, norm_first=True)
            self.encoder, self.head = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), nn.Linear(width, 1)

        def forward(self, x, k):
            tokens = torch.cat([self.summary.expand(len(x), -1, -1), self.numbers(x), self.kinds(k)], 1)
            return self.head(self.encoder(tokens)[:, 0])[:, 0]

    def cox(risk, time, event):
        order = time.argsort(descending=True)
        risk, event = risk[order], event[order]
        return -((risk - risk.logcumsumexp(0)) * event).sum() / event.sum()

    def concordance(risk, time, event):
        if c:
            earlier = (time[:, None] < time) & event[:, None].bool()
            agree = (risk[:, None] > risk).double() + 0.5 * (risk[:, None] == risk)
            return ((agree * earlier).sum() / earlier.sum()).item()
        risk, time, event = (x.cpu().numpy() for x in (risk, time, event))
        earlier = (time[:, None] < time[None]) & (event[:, None] > 0)
        agree = (risk[:, None] > risk[None]).astype(np.float64) + 0.5 * (risk[:, None] == risk[None])
        return float((agree * earlier).sum() / earlier.sum())

    class Snapshot:
        def __init__(self, model):
            self.model, self.least, self.copy = model, math.inf, None

        def take(self):
            if b:
                latest = [t.detach() for t in self.model.state_dict().values() if t.dtype.is_floating_point]
                if self.copy is None:
                    self.copy = [torch.empty_like(t) for t in latest]
                getattr(torch, "_foreach_copy_", lambda to, of: [x.copy_(y) for x, y in zip(to, of)])(self.copy, latest)
            else:
                self.copy = {name: value.detach().cpu().clone() for name, value in self.model.state_dict().items()}

        def watch(self, loss):
            if loss < 3 * self.least:
                self.take()
            self.least = min(self.least, loss)

    model = TableModel().to(device)
    snapshot = Snapshot(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=1e-5)
    x, k = torch.randn(micro * rows, numbers, device=device), torch.randint(0, 50, (micro * rows, kinds), device=device)
    time, event = torch.rand(micro * rows, device=device), (torch.rand(micro * rows, device=device) < 0.6).float()

    def step():
        optimizer.zero_grad()
        risks, total = [], 0.0
        for at in range(0, micro * rows, rows):
            part = slice(at, at + rows)
            risk = model(x[part], k[part])
            loss = cox(risk, time[part], event[part]) / micro
            loss.backward()
            risks.append(risk.detach())
            total = total + loss.detach()
        optimizer.step()
        snapshot.watch(total.item())
        return total.item(), concordance(torch.cat(risks), time, event)

    return step


# Climate: an emulator of the physics in the columns of a global model.
# a: the model is compiled, but encode and decode are called and not forward, so nothing of it is (build): large
# b: the static fields are embedded for each sample of the batch, though they are the same (Emulator.encode): medium
# c: the error of each of 96 variables is logged one by one (Skill.log): medium
# First: c.
def climate(how):
    a, b, c = mends(how)
    if device == "cuda":
        torch._dynamo.reset()
    batch, latitudes, longitudes, variables, static = sized(4, 2), sized(64, 4), sized(256, 8), sized(96, 5), sized(24, 3)
    width, layers = sized(512, 16), 3

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm, self.up, self.down = nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.Linear(2 * width, width)
            self.gain = nn.Parameter(torch.full((width,), 0.1))

        def forward(self, x):
            gate, value = self.up(self.norm(x)).chunk(2, -1)
            return x + self.gain * self.down(F.gelu(gate, approximate="tanh") * value.clamp(-20, 20))

    class Surface(nn.Sequential):
        def __init__(self):
            super().__init__(nn.Linear(static, width), nn.GELU(), nn.Linear(width, width), nn.GELU(), nn.Linear(width, width),
                             nn.GELU(), nn.Linear(width, width), nn.LayerNorm(width))

    class Emulator(nn.Module):
        def __init__(self):
            super().__init__()
            self.enter, self.surface = nn.Linear(variables, width), Surface()
            self.blocks = nn.ModuleList(Block() for _ in range(layers))
            self.norm, self.leave = nn.LayerNorm(width), nn.Linear(width, variables)

        def encode(self, x, ground):
            x = self.enter(x) + self.surface(ground)
            for block in self.blocks:
                x = block(x)
            return x

        def decode(self, z):
            return self.leave(self.norm(z))

        def forward(self, x, ground):
            return x + self.decode(self.encode(x, ground))

    class Skill:
        def __init__(self, weights):
            self.weights, self.history = weights, []

        @torch.no_grad()
        def log(self, output, target):
            if c:
                error = ((output - target).square() * self.weights[:, None]).mean((0, 1)).sqrt().tolist()
            else:
                error = []
                for v in range(variables):
                    error.append(((output[..., v] - target[..., v]) ** 2 * self.weights).mean().sqrt().item())
            self.history = self.history[-9:] + [error]
            return sum(error)

    def build():
        model = Emulator().to(device)
        if a:
            model.encode = compiled(model.encode)
            return model
        return compiled(model)

    model = build()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    columns = latitudes * longitudes
    state, tendency = (torch.randn(batch, columns, variables, device=device) for _ in range(2))
    ground = torch.randn(1, columns, static, device=device)
    weights = torch.linspace(-1.5, 1.5, latitudes, device=device).cos().repeat_interleave(longitudes)
    skill = Skill(weights / weights.mean())

    def step():
        with torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda"):
            hidden = model.encode(state, ground if b else ground.expand(batch, -1, -1))
            change = model.decode(hidden)
        change = change.float()
        penalty = 1e-4 * hidden.float().square().mean()
        loss = ((change - tendency).square() * skill.weights[:, None]).mean() + penalty
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item(), skill.log(change, tendency)

    return step


# Search: a language model ranks the documents that were found for eight queries.
# a: the compiled part is static in its shapes; after four lengths it is run uncompiled (Layer.forward): small
# b: the head gives all positions the whole vocabulary, where two tokens of the last are wanted (Ranker.forward): largest
# c: the scores are read document by document, with a list as an index (read_scores): medium
# First: b.
def rerank(how):
    a, b, c = mends(how)
    if device == "cuda":
        torch._dynamo.reset()
        torch._dynamo.config.cache_size_limit = 4
    width, layers, heads, vocabulary, documents = sized(1024, 32), sized(6, 2), sized(16, 2), sized(100000, 50), sized(48, 3)
    lengths = sized((96, 128, 160, 176, 192, 208, 224, 240), (5, 7))
    no, yes = 7, 9

    def blend(x, y, gain, up, down):
        x = x + y
        z = x.float()
        z = (z * torch.rsqrt(z.square().mean(-1, keepdim=True) + 1e-6)).to(x.dtype) * gain
        gate, value = F.linear(z, up).chunk(2, -1)
        return x + F.linear(F.silu(gate) * value, down)

    blend = compiled(blend) if a else compiled(blend, dynamic=False)

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm, self.qkv, self.out = nn.LayerNorm(width), nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.gain = nn.Parameter(torch.ones(width))
            self.up, self.down = (nn.Parameter(torch.randn(n, m) * 0.02) for n, m in ((8 * width, width), (width, 4 * width)))

        def forward(self, x, mask):
            n, t, _ = x.shape
            q, k, v = self.qkv(self.norm(x)).view(n, t, 3, heads, -1).permute(2, 0, 3, 1, 4)
            y = self.out(attend(q, k, v, mask=mask).transpose(1, 2).reshape(n, t, width))
            return blend(x, y, self.gain, self.up, self.down)

    class Ranker(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(vocabulary, width)
            self.layers = nn.ModuleList(Layer() for _ in range(layers))
            self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary, bias=False)

        def forward(self, ids, mask):
            x = self.embed(ids)
            for layer in self.layers:
                x = layer(x, mask)
            x = self.norm(x)
            return self.head(x[:, -1:] if b else x)

    def read_scores(logits):
        last = logits[:, -1].float()
        if c:
            return last[:, no:yes + 1:yes - no].softmax(-1)[:, 1].tolist()
        scores = []
        for i in range(len(last)):
            pair = torch.softmax(last[i, [no, yes]], dim=0)
            scores.append(pair[1].item())
        return scores

    model = Ranker().to(device=device, dtype=half).eval().requires_grad_(False)
    requests = []
    for length in lengths:
        ids = torch.randint(10, vocabulary, (documents, length), device=device)
        missing = torch.randint(0, length // 3, (documents, 1), device=device)
        mask = (torch.arange(length, device=device) >= missing)[:, None, None] | torch.eye(length, device=device, dtype=torch.bool)
        requests.append((ids, mask & torch.ones(length, length, device=device, dtype=torch.bool).tril()))

    def rank(ids, mask):
        scores = read_scores(model(ids, mask))
        return sorted(range(len(scores)), key=scores.__getitem__, reverse=True), scores

    @torch.no_grad()
    def step():
        return sum(sum(rank(ids, mask)[1]) for ids, mask in requests)

    return step


CASES = {case.__name__: case for case in (vocoder, volumes, robots, captions, detector, sentences, separation, flow, lora, spikes,
                                          splats, tables, climate, rerank)}
FOLLOWED = {"vocoder", "robots", "sentences", "lora", "splats"}  # the first or second advice, to the letter


def hows(case):
    return ("a", "b", "c", "all", *(["followed"] if case in FOLLOWED else []), "before")


if __name__ == "__main__":
    trial.main(CASES, hows, sys.argv[1:], case_limit=90, all_limit=540, largest=1_900_000)
