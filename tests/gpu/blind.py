"""Ten programs as a hurried practitioner writes them.  python3 blind.py OUT [NAME...]"""
import copy
import gc
import json
import math
import os
import random
import re
import subprocess
import sys
import time
import traceback

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, TensorDataset

device = "cuda"


# ----------------------------------------------------------------------------------------------
# speech: listen-attend-spell with a teacher-forced attention decoder
# ----------------------------------------------------------------------------------------------
class Listener(nn.Module):
    def __init__(self, n_mels=80, dim=512):
        super().__init__()
        self.conv = nn.Conv1d(n_mels, dim, 5, stride=2, padding=2)
        layer = nn.TransformerEncoderLayer(dim, 8, 1024, dropout=0.1, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 3)

    def forward(self, mel, pad_mask):
        x = F.gelu(self.conv(mel)).transpose(1, 2)
        return self.layers(x, src_key_padding_mask=pad_mask)


class BahdanauAttention(nn.Module):
    def __init__(self, enc_dim, dec_dim, att_dim=512):
        super().__init__()
        self.attn = nn.Linear(enc_dim + dec_dim, att_dim)
        self.v = nn.Linear(att_dim, 1, bias=False)

    def forward(self, hidden, enc_out, mask):
        hidden = hidden.unsqueeze(1).repeat(1, enc_out.size(1), 1)
        energy = torch.tanh(self.attn(torch.cat((hidden, enc_out), dim=2)))
        score = self.v(energy).squeeze(2)
        score = score.masked_fill(mask == 0, -1e10)
        return F.softmax(score, dim=1)


class Speller(nn.Module):
    def __init__(self, vocab, dim=512):
        super().__init__()
        self.vocab = vocab
        self.embed = nn.Embedding(vocab, 256)
        self.attention = BahdanauAttention(dim, dim)
        self.cell = nn.LSTMCell(256 + dim, dim)
        self.out = nn.Linear(2 * dim, vocab)

    def forward(self, enc_out, mask, text, teacher_forcing=0.9):
        batch, length = text.shape
        outputs = torch.zeros(batch, length, self.vocab).to(enc_out.device)
        h = enc_out.mean(1)
        c = torch.zeros_like(h)
        token = text[:, 0]
        for t in range(1, length):
            weights = self.attention(h, enc_out, mask)
            context = torch.bmm(weights.unsqueeze(1), enc_out).squeeze(1)
            h, c = self.cell(torch.cat((self.embed(token), context), dim=1), (h, c))
            logits = self.out(torch.cat((h, context), dim=1))
            outputs[:, t] = logits
            token = text[:, t] if random.random() < teacher_forcing else logits.argmax(1)
        return outputs


def speech():
    utterances = [(torch.randn(80, random.randint(500, 800)), torch.randint(2, 1000, (36,))) for _ in range(256)]

    def collate(batch):
        mels = torch.zeros(len(batch), 80, 800)
        mask = torch.zeros(len(batch), 400)
        for i, (mel, _) in enumerate(batch):
            mels[i, :, :mel.shape[1]] = mel
            mask[i, :mel.shape[1] // 2] = 1
        return mels, mask, torch.stack([text for _, text in batch])

    loader = DataLoader(utterances, batch_size=32, shuffle=True, collate_fn=collate, drop_last=True)
    encoder, decoder = Listener().to(device), Speller(1000).to(device)
    params = list(encoder.parameters()) + list(decoder.parameters())
    optimizer = torch.optim.Adam(params, lr=3e-4)
    criterion = nn.CrossEntropyLoss(ignore_index=0)
    log = {"loss": [], "ter": []}

    def batches():
        while True:
            yield from loader

    data = batches()

    def step():
        mels, mask, text = [x.to(device) for x in next(data)]
        optimizer.zero_grad()
        enc_out = encoder(mels, mask == 0)
        outputs = decoder(enc_out, mask, text)
        loss = criterion(outputs[:, 1:].reshape(-1, 1000), text[:, 1:].reshape(-1))
        loss.backward()
        nn.utils.clip_grad_norm_(params, 5.0)
        optimizer.step()
        log["loss"].append(loss.item())
        log["ter"].append((outputs[:, 1:].argmax(2) != text[:, 1:]).float().mean().item())

    return step


# ----------------------------------------------------------------------------------------------
# diffusion: DDPM on 64x64 images, UNet with attention, EMA
# ----------------------------------------------------------------------------------------------
class ResBlock(nn.Module):
    def __init__(self, cin, cout, tdim=256):
        super().__init__()
        self.norm1, self.conv1 = nn.GroupNorm(8, cin), nn.Conv2d(cin, cout, 3, padding=1)
        self.norm2, self.conv2 = nn.GroupNorm(8, cout), nn.Conv2d(cout, cout, 3, padding=1)
        self.time = nn.Linear(tdim, cout)
        self.skip = nn.Conv2d(cin, cout, 1) if cin != cout else nn.Identity()

    def forward(self, x, t):
        h = self.conv1(F.silu(self.norm1(x)))
        h = h + self.time(F.silu(t))[:, :, None, None]
        h = self.conv2(F.silu(self.norm2(h)))
        return h + self.skip(x)


class SpatialAttention(nn.Module):
    def __init__(self, dim, heads=4, dim_head=32):
        super().__init__()
        self.heads, self.scale = heads, dim_head ** -0.5
        self.norm = nn.GroupNorm(8, dim)
        self.to_qkv = nn.Conv2d(dim, heads * dim_head * 3, 1, bias=False)
        self.to_out = nn.Conv2d(heads * dim_head, dim, 1)

    def forward(self, x):
        b, c, h, w = x.shape
        q, k, v = [z.reshape(b, self.heads, -1, h * w) for z in self.to_qkv(self.norm(x)).chunk(3, dim=1)]
        sim = torch.einsum("bhdi,bhdj->bhij", q, k) * self.scale
        attn = sim.softmax(dim=-1)
        out = torch.einsum("bhij,bhdj->bhdi", attn, v)
        return x + self.to_out(out.reshape(b, -1, h, w))


class UNet(nn.Module):
    def __init__(self, ch=64):
        super().__init__()
        self.time_mlp = nn.Sequential(nn.Linear(64, 256), nn.SiLU(), nn.Linear(256, 256))
        self.inp = nn.Conv2d(3, ch, 3, padding=1)
        self.down1, self.attn1, self.pool1 = ResBlock(ch, ch), SpatialAttention(ch), nn.Conv2d(ch, ch, 4, 2, 1)
        self.down2, self.attn2, self.pool2 = ResBlock(ch, 128), SpatialAttention(128), nn.Conv2d(128, 128, 4, 2, 1)
        self.mid1, self.mid_attn, self.mid2 = ResBlock(128, 256), SpatialAttention(256), ResBlock(256, 128)
        self.up2, self.up1, self.up_attn = ResBlock(256, 128), ResBlock(128 + ch, ch), SpatialAttention(ch)
        self.out = nn.Sequential(nn.GroupNorm(8, ch), nn.SiLU(), nn.Conv2d(ch, 3, 3, padding=1))

    def forward(self, x, t):
        freqs = torch.exp(-math.log(10000) * torch.arange(32, device=x.device) / 32)
        angles = t[:, None].float() * freqs[None]
        t = self.time_mlp(torch.cat((angles.sin(), angles.cos()), dim=1))
        h1 = self.attn1(self.down1(self.inp(x), t))
        h2 = self.attn2(self.down2(self.pool1(h1), t))
        h = self.mid2(self.mid_attn(self.mid1(self.pool2(h2), t)), t)
        h = self.up2(torch.cat((F.interpolate(h, scale_factor=2), h2), dim=1), t)
        h = self.up1(torch.cat((F.interpolate(h, scale_factor=2), h1), dim=1), t)
        return self.out(self.up_attn(h))


def diffusion():
    dataset = TensorDataset(torch.rand(512, 3, 64, 64) * 2 - 1)
    loader = DataLoader(dataset, batch_size=8, shuffle=True, drop_last=True)
    model = UNet().to(device)
    ema = copy.deepcopy(model).eval()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-4)
    betas = torch.linspace(1e-4, 0.02, 1000)
    alpha_bar = torch.cumprod(1 - betas, dim=0).to(device)
    losses = []

    def batches():
        while True:
            yield from loader

    data = batches()

    def step():
        x0 = next(data)[0].to(device)
        if random.random() < 0.5:
            x0 = torch.flip(x0, dims=[3])
        t = torch.randint(0, 1000, (x0.size(0),), device=device)
        noise = torch.randn_like(x0)
        a = alpha_bar[t].view(-1, 1, 1, 1)
        loss = F.mse_loss(model(a.sqrt() * x0 + (1 - a).sqrt() * noise, t), noise)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        with torch.no_grad():
            for p_ema, p in zip(ema.parameters(), model.parameters()):
                p_ema.mul_(0.9999).add_(p, alpha=1e-4)
        losses.append(loss.item())

    return step


# ----------------------------------------------------------------------------------------------
# recommender: click model with user, item and categorical embeddings, negative sampling
# ----------------------------------------------------------------------------------------------
class DeepRec(nn.Module):
    def __init__(self, n_users, n_items, n_fields=10, dim=64):
        super().__init__()
        self.user_emb = nn.Embedding(n_users, dim, device=device)
        self.item_emb = nn.Embedding(n_items, dim, device=device)
        self.field_embs = nn.ModuleList([nn.Embedding(1000, 16) for _ in range(n_fields)])
        self.mlp = nn.Sequential(nn.Linear(3 * dim + 16 * n_fields, 512), nn.ReLU(), nn.Dropout(0.2),
                                 nn.Linear(512, 256), nn.ReLU(), nn.Dropout(0.2), nn.Linear(256, 1))

    def forward(self, user, item, fields):
        u, i = self.user_emb(user), self.item_emb(item)
        feats = [u, i, u * i]
        for k, emb in enumerate(self.field_embs):
            feats.append(emb(fields[:, k]))
        return self.mlp(torch.cat(feats, dim=1)).squeeze(1)


def auc_score(labels, scores):
    order = np.argsort(scores)
    ranks = np.empty(len(scores))
    ranks[order] = np.arange(1, len(scores) + 1)
    n_pos = labels.sum()
    n_neg = len(labels) - n_pos
    return (ranks[labels == 1].sum() - n_pos * (n_pos + 1) / 2) / (n_pos * n_neg)


def recommender():
    n_users, n_items, n_inter, batch_size, n_neg = 8_000_000, 3_000_000, 500_000, 4096, 4
    users = np.random.randint(0, n_users, n_inter)
    items = np.random.randint(0, n_items, n_inter)
    fields = np.random.randint(0, 1000, (n_inter, 10))
    model = DeepRec(n_users, n_items).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    criterion = nn.BCEWithLogitsLoss()
    state = {"perm": np.random.permutation(n_inter), "pos": 0}
    history = []

    def step():
        if state["pos"] + batch_size > n_inter:
            state["perm"], state["pos"] = np.random.permutation(n_inter), 0
        idx = state["perm"][state["pos"]:state["pos"] + batch_size]
        state["pos"] += batch_size
        user = np.repeat(users[idx], n_neg + 1)
        item = np.random.randint(0, n_items, (batch_size, n_neg + 1))
        item[:, 0] = items[idx]
        label = np.zeros((batch_size, n_neg + 1), dtype=np.float32)
        label[:, 0] = 1
        user = torch.from_numpy(user).to(device)
        item = torch.from_numpy(item.reshape(-1)).to(device)
        field = torch.from_numpy(np.repeat(fields[idx], n_neg + 1, axis=0)).to(device)
        target = torch.from_numpy(label.reshape(-1)).to(device)
        model.train()
        logits = model(user, item, field)
        loss = criterion(logits, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        auc = auc_score(label.reshape(-1), torch.sigmoid(logits).detach().cpu().numpy())
        history.append((loss.item(), auc))

    return step


# ----------------------------------------------------------------------------------------------
# graph network: full-batch GraphSAGE node classification, hand-written message passing
# ----------------------------------------------------------------------------------------------
class SAGEConv(nn.Module):
    def __init__(self, in_dim, out_dim):
        super().__init__()
        self.lin_neigh = nn.Linear(in_dim, out_dim)
        self.lin_self = nn.Linear(in_dim, out_dim)

    def message(self, x_j):
        return self.lin_neigh(x_j)

    def forward(self, x, edge_index):
        src, dst = edge_index
        msg = self.message(x[src])
        out = torch.zeros(x.size(0), msg.size(1), device=x.device)
        out = out.index_add(0, dst, msg)
        deg = torch.zeros(x.size(0), device=x.device)
        deg = deg.index_add(0, dst, torch.ones(dst.size(0), device=x.device))
        return out / deg.clamp(min=1).unsqueeze(1) + self.lin_self(x)


class GraphSAGE(nn.Module):
    def __init__(self, in_dim, hidden, n_classes, dropout=0.5):
        super().__init__()
        self.convs = nn.ModuleList([SAGEConv(in_dim, hidden), SAGEConv(hidden, hidden), SAGEConv(hidden, hidden)])
        self.norms = nn.ModuleList([nn.BatchNorm1d(hidden) for _ in range(3)])
        self.head = nn.Linear(hidden, n_classes)
        self.dropout = dropout

    def forward(self, x, edge_index):
        for conv, norm in zip(self.convs, self.norms):
            x = F.relu(norm(conv(x, edge_index)))
            x = F.dropout(x, self.dropout, training=self.training)
        return self.head(x)


def graph():
    n_nodes, n_edges, n_classes = 60_000, 800_000, 40
    x = torch.randn(n_nodes, 128).to(device)
    y = torch.randint(0, n_classes, (n_nodes,)).to(device)
    edge_index = torch.randint(0, n_nodes, (2, n_edges)).to(device)
    split = torch.rand(n_nodes).to(device)
    train_mask, val_mask, test_mask = split < 0.6, (split >= 0.6) & (split < 0.8), split >= 0.8
    model = GraphSAGE(128, 256, n_classes).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    best = {"val": 0.0, "test": 0.0}

    def train():
        model.train()
        optimizer.zero_grad()
        out = model(x, edge_index)
        loss = F.cross_entropy(out[train_mask], y[train_mask])
        loss.backward()
        optimizer.step()
        return loss.item()

    @torch.no_grad()
    def test():
        model.eval()
        pred = model(x, edge_index).argmax(dim=1)
        accs = []
        for mask in (train_mask, val_mask, test_mask):
            accs.append((pred[mask] == y[mask]).sum().item() / mask.sum().item())
        return accs

    def step():
        train()
        train_acc, val_acc, test_acc = test()
        if val_acc > best["val"]:
            best["val"], best["test"] = val_acc, test_acc

    return step


# ----------------------------------------------------------------------------------------------
# RL: REDQ (soft actor critic with an ensemble of ten critics), a few updates an environment step
# ----------------------------------------------------------------------------------------------
class QNet(nn.Module):
    def __init__(self, obs_dim, act_dim, hidden=256):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(obs_dim + act_dim, hidden), nn.ReLU(),
                                 nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 1))

    def forward(self, obs, act):
        return self.net(torch.cat((obs, act), dim=1))


class Policy(nn.Module):
    def __init__(self, obs_dim, act_dim, hidden=256):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(obs_dim, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.mu, self.log_std = nn.Linear(hidden, act_dim), nn.Linear(hidden, act_dim)

    def sample(self, obs):
        h = self.body(obs)
        dist = torch.distributions.Normal(self.mu(h), self.log_std(h).clamp(-20, 2).exp())
        raw = dist.rsample()
        act = torch.tanh(raw)
        logp = (dist.log_prob(raw) - torch.log(1 - act.pow(2) + 1e-6)).sum(1, keepdim=True)
        return act, logp


def rl():
    obs_dim, act_dim, n_critics, utd, gamma, tau, alpha = 24, 6, 10, 3, 0.99, 0.005, 0.2
    policy = Policy(obs_dim, act_dim).to(device)
    critics = [QNet(obs_dim, act_dim).to(device) for _ in range(n_critics)]
    targets = [copy.deepcopy(q) for q in critics]
    policy_opt = torch.optim.Adam(policy.parameters(), lr=3e-4)
    critic_opts = [torch.optim.Adam(q.parameters(), lr=3e-4) for q in critics]
    size = 100_000
    buf = {"obs": np.random.randn(size, obs_dim), "act": np.random.uniform(-1, 1, (size, act_dim)),
           "rew": np.random.randn(size, 1), "obs2": np.random.randn(size, obs_dim), "done": np.zeros((size, 1))}
    dyn_a, dyn_b = np.eye(obs_dim) * 0.95, np.random.randn(act_dim, obs_dim) * 0.1
    env = {"obs": np.random.randn(obs_dim), "ptr": 0}
    log = []

    def env_step():
        obs = env["obs"]
        with torch.no_grad():
            act = policy.sample(torch.FloatTensor(obs).unsqueeze(0).to(device))[0].cpu().numpy()[0]
        obs2 = obs @ dyn_a + act @ dyn_b + np.random.randn(obs_dim) * 0.01
        for key, value in zip(buf, (obs, act, -np.abs(obs2).sum(), obs2, 0.0)):
            buf[key][env["ptr"]] = value
        env["obs"], env["ptr"] = obs2, (env["ptr"] + 1) % size

    def update(last):
        idx = np.random.randint(0, size, 256)
        obs, act, rew, obs2, done = [torch.FloatTensor(buf[key][idx]).to(device) for key in buf]
        with torch.no_grad():
            act2, logp2 = policy.sample(obs2)
            picked = np.random.choice(n_critics, 2, replace=False)
            q2 = torch.cat([targets[k](obs2, act2) for k in picked], dim=1).min(dim=1, keepdim=True)[0]
            y = rew + gamma * (1 - done) * (q2 - alpha * logp2)
        q_loss = 0
        for q in critics:
            q_loss = q_loss + F.mse_loss(q(obs, act), y)
        for opt in critic_opts:
            opt.zero_grad()
        q_loss.backward()
        for opt in critic_opts:
            opt.step()
        for q, q_target in zip(critics, targets):
            for p, p_target in zip(q.parameters(), q_target.parameters()):
                p_target.data.copy_(tau * p.data + (1 - tau) * p_target.data)
        if last:
            new_act, logp = policy.sample(obs)
            q_new = torch.cat([q(obs, new_act) for q in critics], dim=1).mean(dim=1, keepdim=True)
            pi_loss = (alpha * logp - q_new).mean()
            policy_opt.zero_grad()
            pi_loss.backward()
            policy_opt.step()
        log.append(q_loss.item())

    def step():
        env_step()
        for k in range(utd):
            update(last=k == utd - 1)

    return step


# ----------------------------------------------------------------------------------------------
# detection: a small two-stage detector (RPN, NMS, RoI head)
# ----------------------------------------------------------------------------------------------
IMG, STRIDE = 512, 16


def box_iou(a, b):
    area_a = (a[:, 2] - a[:, 0]) * (a[:, 3] - a[:, 1])
    area_b = (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])
    lt = torch.max(a[:, None, :2], b[None, :, :2])
    rb = torch.min(a[:, None, 2:], b[None, :, 2:])
    wh = (rb - lt).clamp(min=0)
    inter = wh[..., 0] * wh[..., 1]
    return inter / (area_a[:, None] + area_b[None] - inter)


def nms(boxes, scores, thr=0.7, post_nms_top_n=24):
    order = scores.argsort(descending=True)
    keep = []
    while order.numel() > 0 and len(keep) < post_nms_top_n:
        i = order[0].item()
        keep.append(i)
        iou = box_iou(boxes[i].unsqueeze(0), boxes[order[1:]]).squeeze(0)
        order = order[1:][iou <= thr]
    return keep


def make_anchors():
    c = (torch.arange(IMG // STRIDE) + 0.5) * STRIDE
    yy, xx = torch.meshgrid(c, c, indexing="ij")
    out = []
    for size in (64, 128, 256):
        for ratio in (0.5, 1.0, 2.0):
            w, h = size * ratio ** 0.5, size / ratio ** 0.5
            out.append(torch.stack((xx - w / 2, yy - h / 2, xx + w / 2, yy + h / 2), dim=-1))
    return torch.stack(out, dim=2).reshape(-1, 4).to(device)


def encode(anchors, gt):
    wh, gwh = anchors[:, 2:] - anchors[:, :2], gt[:, 2:] - gt[:, :2]
    shift = ((gt[:, :2] + gt[:, 2:]) - (anchors[:, :2] + anchors[:, 2:])) / 2 / wh
    return torch.cat((shift, torch.log(gwh / wh)), dim=1)


def decode(anchors, deltas):
    wh = anchors[:, 2:] - anchors[:, :2]
    center = (anchors[:, :2] + anchors[:, 2:]) / 2 + deltas[:, :2] * wh
    wh = wh * deltas[:, 2:].clamp(max=4).exp()
    return torch.cat((center - wh / 2, center + wh / 2), dim=1).clamp(0, IMG)


class Detector(nn.Module):
    def __init__(self, n_classes=21):
        super().__init__()
        layers, cin = [nn.Conv2d(3, 64, 7, 2, 3), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)], 64
        for cout, stride in ((64, 1), (64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (256, 1)):
            layers += [nn.Conv2d(cin, cout, 3, stride, 1, bias=False), nn.BatchNorm2d(cout), nn.ReLU()]
            cin = cout
        self.backbone = nn.Sequential(*layers)
        self.rpn = nn.Sequential(nn.Conv2d(256, 256, 3, padding=1), nn.ReLU())
        self.objectness, self.rpn_deltas = nn.Conv2d(256, 9, 1), nn.Conv2d(256, 36, 1)
        self.fc = nn.Sequential(nn.Flatten(), nn.Linear(256 * 49, 1024), nn.ReLU())
        self.cls, self.reg = nn.Linear(1024, n_classes), nn.Linear(1024, 4)
        self.anchors = make_anchors()

    def rpn_loss(self, logits, deltas, gt):
        iou = box_iou(self.anchors, gt)
        best, idx = iou.max(dim=1)
        label = torch.full_like(best, -1)
        label[best < 0.3] = 0
        label[best > 0.6] = 1
        label[iou.argmax(dim=0)] = 1
        pos, neg = (label == 1).nonzero().squeeze(1), (label == 0).nonzero().squeeze(1)
        pos = pos[torch.randperm(len(pos), device=device)[:128]]
        neg = neg[torch.randperm(len(neg), device=device)[:256 - len(pos)]]
        sampled = torch.cat((pos, neg))
        cls_loss = F.binary_cross_entropy_with_logits(logits[sampled], label[sampled])
        return cls_loss + F.smooth_l1_loss(deltas[pos], encode(self.anchors[pos], gt[idx[pos]]))

    def roi_pool(self, feat, rois, size=7):
        n, t = rois.size(0), torch.linspace(0, 1, size, device=device)
        xs = rois[:, 0:1] + t * (rois[:, 2:3] - rois[:, 0:1])
        ys = rois[:, 1:2] + t * (rois[:, 3:4] - rois[:, 1:2])
        grid = torch.stack((xs[:, None, :].expand(n, size, size), ys[:, :, None].expand(n, size, size)), dim=-1)
        return F.grid_sample(feat.expand(n, -1, -1, -1), grid / IMG * 2 - 1, align_corners=False)

    def forward(self, images, gt_boxes, gt_labels):
        feats = self.backbone(images)
        h = self.rpn(feats)
        logits = self.objectness(h).permute(0, 2, 3, 1).reshape(len(images), -1)
        deltas = self.rpn_deltas(h).permute(0, 2, 3, 1).reshape(len(images), -1, 4)
        loss = 0
        for i in range(len(images)):
            gt = gt_boxes[i]
            loss = loss + self.rpn_loss(logits[i], deltas[i], gt)
            with torch.no_grad():
                scores, top = logits[i].topk(1000)
                proposals = decode(self.anchors[top], deltas[i][top])
                keep = nms(proposals, scores)
                rois = torch.cat((proposals[keep], gt))
                best, idx = box_iou(rois, gt).max(dim=1)
                target = torch.where(best > 0.5, gt_labels[i][idx], torch.zeros_like(idx))
                fg = best > 0.5
            x = self.fc(self.roi_pool(feats[i:i + 1], rois))
            loss = loss + F.cross_entropy(self.cls(x), target)
            loss = loss + F.smooth_l1_loss(self.reg(x)[fg], (gt[idx] - rois)[fg] / 64)
        return loss / len(images)


def detection():
    model = Detector().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=1e-4)
    images = torch.rand(64, 3, IMG, IMG)
    boxes, labels = [], []
    for _ in range(64):
        n = random.randint(5, 15)
        xy, wh = torch.rand(n, 2) * 350, torch.rand(n, 2) * 120 + 40
        boxes.append(torch.cat((xy, xy + wh), dim=1))
        labels.append(torch.randint(1, 21, (n,)))
    log = []

    def step():
        picked = random.sample(range(64), 4)
        batch = images[picked].to(device)
        loss = model(batch, [boxes[k].to(device) for k in picked], [labels[k].to(device) for k in picked])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 10.0)
        optimizer.step()
        log.append(loss.item())

    return step


# ----------------------------------------------------------------------------------------------
# LLM training: a small GPT with bf16 autocast and gradient accumulation
# ----------------------------------------------------------------------------------------------
class CausalSelfAttention(nn.Module):
    def __init__(self, n_embd, n_head):
        super().__init__()
        self.n_head = n_head
        self.c_attn, self.c_proj = nn.Linear(n_embd, 3 * n_embd), nn.Linear(n_embd, n_embd)

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = [z.view(B, T, self.n_head, C // self.n_head).transpose(1, 2) for z in self.c_attn(x).split(C, dim=2)]
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.c_proj(y.transpose(1, 2).contiguous().view(B, T, C))


class Block(nn.Module):
    def __init__(self, n_embd, n_head):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(n_embd), nn.LayerNorm(n_embd)
        self.attn = CausalSelfAttention(n_embd, n_head)
        self.mlp = nn.Sequential(nn.Linear(n_embd, 4 * n_embd), nn.GELU(), nn.Linear(4 * n_embd, n_embd))

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class GPT(nn.Module):
    def __init__(self, vocab=32000, block_size=256, n_layer=6, n_head=6, n_embd=384):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocab, n_embd), nn.Embedding(block_size, n_embd)
        self.h = nn.ModuleList([Block(n_embd, n_head) for _ in range(n_layer)])
        self.ln_f = nn.LayerNorm(n_embd)
        self.lm_head = nn.Linear(n_embd, vocab, bias=False)
        self.lm_head.weight = self.wte.weight
        nn.init.normal_(self.wte.weight, std=0.02)

    def forward(self, idx, targets):
        pos = torch.arange(idx.size(1), device=idx.device)
        x = self.wte(idx) + self.wpe(pos)
        for block in self.h:
            x = block(x)
        logits = self.lm_head(self.ln_f(x))
        return F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1))


def llm_train():
    batch_size, block_size, grad_accum = 2, 256, 6
    tokens = np.random.randint(0, 32000, 2_000_000).astype(np.uint16)
    model = GPT().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=6e-4, betas=(0.9, 0.95), weight_decay=0.1, fused=True)
    state = {"it": 0, "losses": []}

    def get_batch():
        ix = np.random.randint(0, len(tokens) - block_size - 1, batch_size)
        x = torch.stack([torch.from_numpy(tokens[i:i + block_size].astype(np.int64)) for i in ix])
        y = torch.stack([torch.from_numpy(tokens[i + 1:i + 1 + block_size].astype(np.int64)) for i in ix])
        return x.pin_memory().to(device, non_blocking=True), y.pin_memory().to(device, non_blocking=True)

    def get_lr(it):
        return 6e-4 * min(1.0, (it + 1) / 100) * (0.55 + 0.45 * math.cos(math.pi * min(1.0, it / 5000)))

    def step():
        for group in optimizer.param_groups:
            group["lr"] = get_lr(state["it"])
        total = 0
        for _ in range(grad_accum):
            x, y = get_batch()
            with torch.autocast("cuda", dtype=torch.bfloat16):
                loss = model(x, y) / grad_accum
            loss.backward()
            total = total + loss.detach()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        state["it"] += 1
        state["losses"].append(total.item())

    return step


# ----------------------------------------------------------------------------------------------
# LLM serving: token by token decoding of a batch with a long context, grouped-query attention
# ----------------------------------------------------------------------------------------------
def rotary(x, cos, sin):
    x1, x2 = x.chunk(2, dim=-1)
    return torch.cat((x1 * cos - x2 * sin, x2 * cos + x1 * sin), dim=-1)


def repeat_kv(x, n_rep):
    b, n_kv, t, d = x.shape
    return x[:, :, None].expand(b, n_kv, n_rep, t, d).reshape(b, n_kv * n_rep, t, d)


class LlamaLayer(nn.Module):
    def __init__(self, dim, n_head, n_kv, ffn):
        super().__init__()
        self.n_head, self.n_kv, self.hd = n_head, n_kv, dim // n_head
        self.q_proj, self.o_proj = nn.Linear(dim, dim, bias=False), nn.Linear(dim, dim, bias=False)
        self.k_proj = nn.Linear(dim, n_kv * self.hd, bias=False)
        self.v_proj = nn.Linear(dim, n_kv * self.hd, bias=False)
        self.gate, self.up = nn.Linear(dim, ffn, bias=False), nn.Linear(dim, ffn, bias=False)
        self.down = nn.Linear(ffn, dim, bias=False)
        self.norm1, self.norm2 = nn.RMSNorm(dim), nn.RMSNorm(dim)

    def forward(self, x, cos, sin, past):
        B, T, C = x.shape
        h = self.norm1(x)
        q = self.q_proj(h).view(B, T, self.n_head, self.hd).transpose(1, 2)
        k = self.k_proj(h).view(B, T, self.n_kv, self.hd).transpose(1, 2)
        v = self.v_proj(h).view(B, T, self.n_kv, self.hd).transpose(1, 2)
        q, k = rotary(q, cos, sin), rotary(k, cos, sin)
        if past is not None:
            k = torch.cat((past[0], k), dim=2)
            v = torch.cat((past[1], v), dim=2)
        present = (k, v)
        k = repeat_kv(k, self.n_head // self.n_kv)
        v = repeat_kv(v, self.n_head // self.n_kv)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=past is None)
        x = x + self.o_proj(y.transpose(1, 2).reshape(B, T, C))
        h = self.norm2(x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h)), present


class Llama(nn.Module):
    def __init__(self, vocab=32000, dim=1024, n_layer=12, n_head=16, n_kv=4, ffn=2816, max_len=8192):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.layers = nn.ModuleList([LlamaLayer(dim, n_head, n_kv, ffn) for _ in range(n_layer)])
        self.norm, self.lm_head = nn.RMSNorm(dim), nn.Linear(dim, vocab, bias=False)
        inv = 1.0 / (10000 ** (torch.arange(0, 64, 2).float() / 64))
        angles = torch.outer(torch.arange(max_len).float(), inv)
        self.register_buffer("cos", angles.cos())
        self.register_buffer("sin", angles.sin())

    def forward(self, ids, past=None):
        start = past[0][0].size(2) if past is not None else 0
        cos, sin = self.cos[start:start + ids.size(1)], self.sin[start:start + ids.size(1)]
        x, presents = self.embed(ids), []
        for i, layer in enumerate(self.layers):
            x, present = layer(x, cos, sin, past[i] if past is not None else None)
            presents.append(present)
        return self.lm_head(self.norm(x[:, -1])), presents


def llm_serve():
    batch, prompt_len, max_new, eos, top_k, temperature = 32, 4096, 64, 2, 50, 0.8
    model = Llama().to(device).bfloat16().eval()
    prompt = torch.randint(3, 32000, (batch, prompt_len), device=device)
    with torch.no_grad():
        first_logits, prompt_cache = model(prompt)
    state = {"past": prompt_cache, "logits": first_logits, "tokens": [], "finished": 0}

    @torch.no_grad()
    def next_token():
        logits = state["logits"].float() / temperature
        kth = torch.topk(logits, top_k, dim=-1)[0][:, -1:]
        logits = logits.masked_fill(logits < kth, float("-inf"))
        token = torch.multinomial(F.softmax(logits, dim=-1), num_samples=1)
        state["tokens"].append(token.squeeze(1).tolist())
        if (token == eos).all() or len(state["tokens"]) >= max_new:
            state["finished"] += 1
            state["past"], state["logits"], state["tokens"] = prompt_cache, first_logits, []
            return
        state["logits"], state["past"] = model(token, state["past"])

    def step():
        for _ in range(4):
            next_token()

    return step


# ----------------------------------------------------------------------------------------------
# science: Gray-Scott reaction-diffusion on a periodic grid
# ----------------------------------------------------------------------------------------------
class GrayScott:
    def __init__(self, n=4096, du=0.16, dv=0.08, feed=0.055, kill=0.062, dt=1.0):
        self.du, self.dv, self.feed, self.kill, self.dt = du, dv, feed, kill, dt
        u, v = np.ones((n, n)), np.zeros((n, n))
        for _ in range(200):
            r, c = np.random.randint(0, n - 40, 2)
            u[r:r + 40, c:c + 40] = 0.5
            v[r:r + 40, c:c + 40] = 0.25
        self.u = torch.from_numpy(u).float().to(device)
        self.v = torch.from_numpy(v).float().to(device)
        self.u += 0.02 * torch.rand_like(self.u)
        self.v += 0.02 * torch.rand_like(self.v)

    def laplacian(self, z):
        side = torch.roll(z, 1, 0) + torch.roll(z, -1, 0) + torch.roll(z, 1, 1) + torch.roll(z, -1, 1)
        corner = (torch.roll(z, (1, 1), (0, 1)) + torch.roll(z, (1, -1), (0, 1))
                  + torch.roll(z, (-1, 1), (0, 1)) + torch.roll(z, (-1, -1), (0, 1)))
        return 0.2 * side + 0.05 * corner - z

    def advance(self):
        u, v = self.u, self.v
        uvv = u * v * v
        du = self.du * self.laplacian(u) - uvv + self.feed * (1 - u)
        dv = self.dv * self.laplacian(v) + uvv - (self.feed + self.kill) * v
        self.u = torch.clamp(u + self.dt * du, 0, 1)
        self.v = torch.clamp(v + self.dt * dv, 0, 1)


def science():
    sim = GrayScott()
    log, frames = [], []

    @torch.no_grad()
    def step():
        for _ in range(10):
            sim.advance()
        mass, peak = sim.v.mean().item(), sim.v.max().item()
        if math.isnan(mass):
            raise RuntimeError("simulation blew up")
        log.append((mass, peak, sim.u.std().item()))
        frames.append(F.avg_pool2d(sim.v[None, None], 16)[0, 0].cpu().numpy())
        if len(frames) > 20:
            frames.pop(0)

    return step


# ----------------------------------------------------------------------------------------------
# classic vision: ResNet-18 on 64x64 images with augmentation, fp16 AMP
# ----------------------------------------------------------------------------------------------
MEAN, STD = np.array([0.48, 0.45, 0.40], dtype=np.float32), np.array([0.27, 0.26, 0.28], dtype=np.float32)


class TinyImages(Dataset):
    def __init__(self, n=12800):
        self.images = np.random.randint(0, 256, (n, 64, 64, 3), dtype=np.uint8)
        self.labels = np.random.randint(0, 200, n)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        img = self.images[i].astype(np.float32) / 255.0
        img = np.pad(img, ((4, 4), (4, 4), (0, 0)), mode="reflect")
        y, x = np.random.randint(0, 9, 2)
        img = img[y:y + 64, x:x + 64]
        if random.random() < 0.5:
            img = img[:, ::-1]
        img = np.clip(img * random.uniform(0.6, 1.4), 0, 1)
        mean = img.mean()
        img = np.clip((img - mean) * random.uniform(0.6, 1.4) + mean, 0, 1)
        gray = img.mean(axis=2, keepdims=True)
        img = np.clip((img - gray) * random.uniform(0.6, 1.4) + gray, 0, 1)
        img = img + np.random.normal(0, 0.02, img.shape)
        cy, cx = np.random.randint(0, 48, 2)
        img[cy:cy + 16, cx:cx + 16] = 0
        img = (img - MEAN) / STD
        return torch.tensor(img.transpose(2, 0, 1), dtype=torch.float32), int(self.labels[i])


class BasicBlock(nn.Module):
    def __init__(self, cin, cout, stride):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(cin, cout, 3, stride, 1, bias=False), nn.BatchNorm2d(cout)
        self.conv2, self.bn2 = nn.Conv2d(cout, cout, 3, 1, 1, bias=False), nn.BatchNorm2d(cout)
        self.shortcut = nn.Sequential()
        if stride != 1 or cin != cout:
            self.shortcut = nn.Sequential(nn.Conv2d(cin, cout, 1, stride, bias=False), nn.BatchNorm2d(cout))

    def forward(self, x):
        out = F.relu(self.bn1(self.conv1(x)))
        return F.relu(self.bn2(self.conv2(out)) + self.shortcut(x))


class ResNet18(nn.Module):
    def __init__(self, n_classes=200):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 64, 3, 2, 1, bias=False), nn.BatchNorm2d(64), nn.ReLU())
        blocks, cin = [], 64
        for cout, stride in ((64, 1), (64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1)):
            blocks.append(BasicBlock(cin, cout, stride))
            cin = cout
        self.blocks, self.fc = nn.Sequential(*blocks), nn.Linear(512, n_classes)

    def forward(self, x):
        return self.fc(self.blocks(self.stem(x)).mean(dim=(2, 3)))


def vision():
    train_loader = DataLoader(TinyImages(), batch_size=128, shuffle=True, num_workers=0, drop_last=True)
    model = ResNet18().to(device)
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=5e-4)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.1, total_steps=10_000)
    scaler = torch.amp.GradScaler("cuda")
    meter = {"loss": 0.0, "correct": 0, "seen": 0}

    def batches():
        while True:
            yield from train_loader

    data = batches()

    def step():
        model.train()
        images, labels = next(data)
        images, labels = images.to(device), labels.to(device)
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16):
            logits = model(images)
            loss = criterion(logits, labels)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        scheduler.step()
        meter["loss"] += loss.item() * images.size(0)
        meter["correct"] += (logits.argmax(1) == labels).sum().item()
        meter["seen"] += images.size(0)

    return step


# ----------------------------------------------------------------------------------------------
PROGRAMS = {
    "speech": speech, "diffusion": diffusion, "recommender": recommender, "graph": graph, "rl": rl,
    "detection": detection, "llm_train": llm_train, "llm_serve": llm_serve, "science": science, "vision": vision,
}
FIELD = {
    "speech": "speech", "diffusion": "diffusion", "recommender": "recommender", "graph": "graph network", "rl": "RL",
    "detection": "detection", "llm_train": "LLM training", "llm_serve": "LLM serving", "science": "science",
    "vision": "classic vision",
}

# Written before anything was recorded.
EXPERT = {
    "speech": "Split the attention's Linear into an encoder part and a decoder part and compute the encoder projection "
              "once before the decoding loop, instead of repeat + cat + the whole fp32 matmul at each of 35 steps.",
    "diffusion": "Replace the einsum / softmax / einsum attention, which writes a 4096 x 4096 fp32 matrix a head, by "
                 "F.scaled_dot_product_attention.",
    "recommender": "Make the user and item embeddings sparse=True and train them with SparseAdam, so that the optimizer "
                   "touches the few rows of the batch and not 704 million dense parameters.",
    "graph": "Apply lin_neigh to the nodes and gather afterwards (lin_neigh(x)[src]), so that the fp32 matmul has 60,000 "
             "rows and not 800,000 edge rows.",
    "rl": "Run the ten critics as one batched network (stacked weights with bmm or torch.func.vmap) with one optimizer "
          "and one foreach target update, instead of ten small modules in Python loops.",
    "detection": "Replace the Python while-loop NMS, with two host syncs and some twenty tiny kernels per box, by a "
                 "real NMS kernel (torchvision.ops.nms) or one IoU matrix moved to the host once.",
    "llm_train": "Use micro-batches of 12 with grad_accum 1 in place of 2 with 6: the GPU is starved by launches of "
                 "tiny kernels and there is ample memory.",
    "llm_serve": "Stop copying the KV cache: preallocate it and write the new token in place, and pass the 4 KV heads "
                 "to scaled_dot_product_attention with enable_gqa=True instead of torch.cat and repeat_kv each token.",
    "science": "torch.compile the advance function, so that some sixty memory-bound roll and elementwise kernels a "
               "substep fuse into one or two.",
    "vision": "Give the DataLoader worker processes (num_workers=8, persistent_workers, pin_memory), since the numpy "
              "augmentation runs in the training process while the GPU waits.",
}


def record(step, path, full):
    from torch.profiler import ProfilerActivity, profile, schedule

    def save(prof):
        prof.export_chrome_trace(path)

    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA],
                 schedule=schedule(wait=1, warmup=2, active=4, repeat=1),
                 on_trace_ready=save, record_shapes=full, with_stack=full) as prof:
        for _ in range(7):
            step()
            prof.step()
    with open(path, "rb") as f:
        text = f.read()
    steps = re.findall(rb'"cat": "user_annotation", "name": "ProfilerStep#\d+"[^{}]*?"dur": ([\d.]+)', text)
    kernels = text.count(b'"cat": "kernel"') / 4
    return [round(float(s) / 1000, 2) for s in steps], kernels


def run(name, out):
    line = {"name": name, "field": FIELD[name]}
    start = time.time()
    try:
        step = PROGRAMS[name]()
        for _ in range(6):
            step()
        plain = []
        for _ in range(3):
            torch.cuda.synchronize()
            t = time.perf_counter()
            for _ in range(12):
                step()
            torch.cuda.synchronize()
            plain.append(round((time.perf_counter() - t) / 12 * 1000, 2))
        line["plain_ms"] = plain
        line["peak_gib"] = round(torch.cuda.max_memory_allocated() / 2 ** 30, 2)
        line["lean_ms"], line["kernels"] = record(step, os.path.join(out, name + "_lean.json"), False)
        line["full_ms"], line["kernels_full"] = record(step, os.path.join(out, name + "_full.json"), True)
        del step
        gc.collect()
    except BaseException as e:  # noqa: BLE001
        line["error"] = f"{type(e).__name__}: {e}"[:500]
        line["where"] = traceback.format_exc()[-900:]
    line["took_s"] = round(time.time() - start, 1)
    line["expert"] = EXPERT[name]
    print(json.dumps(line), flush=True)
    return 3 if "error" not in line and not line.get("kernels") else 0


def main():
    out = sys.argv[1]
    os.makedirs(out, exist_ok=True)
    names = sys.argv[2:] or list(PROGRAMS)
    if os.environ.get("BLIND_INLINE"):
        run(names[0], out)
        return
    packers = []
    for name in names:
        # a process a program: clean timings, and one failure leaves the others alone
        pid = os.fork()
        if pid == 0:
            rc = run(name, out)
            sys.stdout.flush()
            os._exit(rc)
        status = os.waitpid(pid, 0)[1]
        if os.waitstatus_to_exitcode(status) == 3:      # no kernels seen in a forked process: once more, started anew
            subprocess.run([sys.executable, os.path.abspath(__file__), out, name], env={**os.environ, "BLIND_INLINE": "1"})
        for kind in ("lean", "full"):
            path = os.path.join(out, f"{name}_{kind}.json")
            if os.path.exists(path):
                packers.append(subprocess.Popen(["nice", "gzip", "-6", "-f", path]))
    for packer in packers:
        packer.wait()


if __name__ == "__main__":
    main()
