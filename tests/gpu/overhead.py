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


def output(command, notes=None):
    """What a program prints; what the recorder says of losses goes to `notes`."""
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    if notes is not None:
        notes.update(line for line in done.stderr.splitlines() if "lost" in line or "not recorded" in line)
    return done.stdout


def python_time(prefix, program, notes=None):
    """The last number that it prints."""
    return float(output([*prefix, sys.executable, "-c", program], notes).split()[-1])


def in_turn(rounds, ways):
    """Median, least and most of what each way takes, run one after another so that a noisy machine is noisy to all."""
    times = {way: [] for way in ways}
    for _ in range(rounds):
        for way, run in ways.items():
            times[way].append(run())
    return {way: (statistics.median(got), min(got), max(got)) for way, got in times.items()}


def main(gapscope):
    folder = tempfile.mkdtemp(prefix="gapscope-overhead-")
    recorded = [gapscope, "record", "--no-open", "-o", folder + "/r.json.gz", "--"]
    for title, program in (("a launch", LAUNCHES), ("an MLP training step", TRAINING)):
        times = in_turn(3, {"alone": lambda: python_time([], program), "recorded": lambda: python_time(recorded, program)})
        a, b = times["alone"][0], times["recorded"][0]
        print(f"{title}: {a:.2f} us alone, {b:.2f} us recorded: {b - a:+.2f} us, {(b / a - 1) * 100:+.1f} %")


if __name__ == "__main__":
    main(*sys.argv[1:])
