"""The Python package on a GPU: plain steps against steps that are timed without it, within 2 %, and what it costs the training.

    python3 python_package.py FOLDER       with torch, and gapscope to be imported

Three programs, timed over many steps between two synchronizations, then with gapscope.profile, each in a process of its own. And the
callbacks in trainings with Lightning and Transformers.
"""
import json
import os
import statistics
import subprocess
import sys
import time

MOST = 0.02
STEPS = 40


def gpu_bound(torch):
    model = torch.nn.Sequential(*[torch.nn.Linear(4096, 4096) for _ in range(6)]).cuda().bfloat16()
    data, optimizer = torch.randn(4096, 4096, device="cuda", dtype=torch.bfloat16), torch.optim.SGD(model.parameters(), lr=1e-4)

    def step():  # never waits: the host runs ahead
        model(data).float().square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    return step


def host_bound(torch):
    model = torch.nn.Sequential(*[torch.nn.Linear(64, 64) for _ in range(60)]).cuda()
    data, optimizer = torch.randn(32, 64, device="cuda"), torch.optim.Adam(model.parameters(), foreach=False)

    def step():
        model(data).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    return step


def waiting(torch):
    step = gpu_bound(torch)
    value = torch.ones((), device="cuda")

    def step_and_read():
        step()
        value.item()
        time.sleep(0.002)
    return step_and_read


PROGRAMS = {"gpu_bound": gpu_bound, "host_bound": host_bound, "waiting": waiting}


def timed_ms(step, torch):
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(STEPS):
        step()
    torch.cuda.synchronize()
    return (time.perf_counter() - begin) / STEPS * 1e3


def recorded(step, torch, folder, name):
    import gapscope
    timed_ms(step, torch)
    before = timed_ms(step, torch)
    calls, lengths = [], []
    with gapscope.profile(folder=folder, name=name, wait=STEPS) as prof:
        for _ in range(STEPS + 40):
            begin = time.perf_counter()
            step()
            lengths.append((time.perf_counter() - begin) * 1e3)
            begin = time.perf_counter()
            prof.step()
            calls.append((time.perf_counter() - begin) * 1e3)
        begin = time.perf_counter()
    waited = time.perf_counter() - begin
    # A host alone is not steady between two loops, so where it decides the same steps are timed.
    before = before if name == "gpu_bound" else statistics.median(lengths[1:STEPS])
    out = {"step_ms": before, "plain_step_ms": prof.plain_step_ms, "step_call_median_ms": statistics.median(calls[:STEPS]), "longest_calls_ms": sorted(calls)[-3:],
           "waited_at_end_s": waited, "lines": prof.handler.lines, "bytes": [os.path.getsize(path) for path in prof.paths]}
    begin = time.perf_counter()
    with gapscope.open(prof.paths[0]) as trace:
        out["open_s"] = time.perf_counter() - begin
        out["plain"] = [trace.plain.source, trace.plain.step_ms, trace.plain.gpu_busy]
        out["kernels"] = len(trace.kernels())
    return out


def with_lightning(folder):
    import lightning
    import torch
    import gapscope.lightning

    class Module(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(256, 256)

        def training_step(self, batch, _):
            return self.layer(batch[0]).square().mean()

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=1e-3)

    callback = gapscope.lightning.Callback(folder, name="lightning")
    data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(60 * 32, 256)), batch_size=32)
    lightning.Trainer(max_epochs=1, callbacks=[callback], logger=False, enable_checkpointing=False, enable_progress_bar=False,
                      accelerator="gpu", devices=1).fit(Module(), data)
    return callback.profile


def with_transformers(folder):
    import torch
    import transformers
    import gapscope.transformers
    config = transformers.GPT2Config(n_layer=2, n_head=4, n_embd=128, vocab_size=1000, n_positions=64)
    rows = [{"input_ids": (ids := torch.randint(0, 1000, (64,))), "labels": ids} for _ in range(60 * 8)]
    callback = gapscope.transformers.Callback(folder, name="transformers")
    transformers.Trainer(transformers.GPT2LMHeadModel(config), transformers.TrainingArguments(
        output_dir=folder + "/out", per_device_train_batch_size=8, num_train_epochs=1, report_to=[], save_strategy="no"),
        train_dataset=rows, callbacks=[callback]).train()
    return callback.profile


def main(folder, name=None):
    if name in PROGRAMS:
        import torch
        print(json.dumps(recorded(PROGRAMS[name](torch), torch, folder, name)))
        return 0
    if name:
        prof = globals()[name](folder)
        print(json.dumps({"plain_step_ms": prof.plain_step_ms, "files": len(prof.paths), "lines": prof.handler.lines}))
        return 0
    failed = 0
    for name in [*PROGRAMS, "with_lightning", "with_transformers"]:
        done = subprocess.run([sys.executable, "-W", "ignore", __file__, folder, name], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        said = json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else {"error": done.stderr[-500:]}
        ratio = said["plain_step_ms"] / said["step_ms"] if "step_ms" in said else float(said.get("files") == 2)
        is_good = abs(ratio - 1) <= MOST
        failed |= not is_good
        print("good  " if is_good else "FAILED", name, f"{ratio:.4f}", json.dumps(said), flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
