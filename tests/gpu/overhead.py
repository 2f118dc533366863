"""What recording costs: the same work with and without the recorder, in turn, in one run. Needs a GPU, PyTorch and a gapscope
with the recorder; run it by hand:

    python3 tests/gpu/overhead.py build/gapscope
"""
import statistics
import subprocess
import sys
import tempfile

LAUNCHES = """
import time, torch
x = torch.zeros(1, device="cuda")
for _ in range(2000): x.add_(1)
torch.cuda.synchronize()
begin = time.perf_counter()
for _ in range(100000): x.add_(1)
torch.cuda.synchronize()
print((time.perf_counter() - begin) / 100000 * 1e6)
"""
TRAINING = """
import time, torch
torch.manual_seed(0)
model = torch.nn.Sequential(*[m for _ in range(4) for m in (torch.nn.Linear(2048, 2048), torch.nn.GELU())]).cuda().bfloat16()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
x = torch.randn(4096, 2048, device="cuda", dtype=torch.bfloat16)
def step():
    optimizer.zero_grad()
    model(x).float().square().mean().backward()
    optimizer.step()
for _ in range(20): step()
torch.cuda.synchronize()
begin = time.perf_counter()
for _ in range(300): step()
torch.cuda.synchronize()
print((time.perf_counter() - begin) / 300 * 1e6)
"""


def run(prefix, program):
    return float(subprocess.run([*prefix, sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout.split()[-1])


def main(gapscope):
    folder = tempfile.mkdtemp(prefix="gapscope-overhead-")
    recorded = [gapscope, "record", "--no-open", "-o", folder + "/r.json.gz", "--"]
    for title, program in (("a launch", LAUNCHES), ("an MLP training step", TRAINING)):
        alone, beside = [], []
        for _ in range(3):
            alone.append(run([], program))
            beside.append(run(recorded, program))
        a, b = statistics.median(alone), statistics.median(beside)
        print(f"{title}: {a:.2f} us alone, {b:.2f} us recorded: {b - a:+.2f} us, {(b / a - 1) * 100:+.1f} %")


if __name__ == "__main__":
    main(*sys.argv[1:])
