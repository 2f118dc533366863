"""What counters cost: the GeGLU training workload recorded without and with them, in turn, in one run, and alone. By hand:

    python3 tests/gpu/counters_overhead.py build/gapscope
"""
import statistics
import subprocess
import sys
import tempfile

TRAINING = """
import time, torch
torch.manual_seed(0)
class GeGLU(torch.nn.Module):
    def __init__(self, n):
        super().__init__()
        self.up, self.gate, self.down = torch.nn.Linear(n, 4 * n), torch.nn.Linear(n, 4 * n), torch.nn.Linear(4 * n, n)
    def forward(self, x):
        return self.down(torch.nn.functional.gelu(self.gate(x)) * self.up(x))
model = torch.nn.Sequential(*[GeGLU(1024) for _ in range(4)]).cuda().bfloat16()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
x = torch.randn(4096, 1024, device="cuda", dtype=torch.bfloat16)
def step():
    optimizer.zero_grad()
    model(x).float().square().mean().backward()
    optimizer.step()
for _ in range(20): step()
torch.cuda.synchronize()
time.sleep(0.5)
begin = time.perf_counter()
for _ in range(400): step()
torch.cuda.synchronize()
print((time.perf_counter() - begin) / 400 * 1e6)
"""


def run(prefix, note):
    done = subprocess.run([*prefix, sys.executable, "-c", TRAINING], check=True, capture_output=True, text=True)
    note.update(line for line in done.stderr.splitlines() if "lost" in line or "not recorded" in line)
    return float(done.stdout.split()[-1])


def main(gapscope):
    folder = tempfile.mkdtemp(prefix="gapscope-overhead-")
    recorded = [gapscope, "record", "--no-open", "-o", folder + "/r.json.gz"]
    ways = {"alone": [], "recorded": [*recorded, "--"], "with counters at 20 us": [*recorded, "--counters", "all", "--"],
            "with counters at 100 us": [*recorded, "--counters", "--counter-interval", "100us", "--"]}
    times, notes = {way: [] for way in ways}, set()
    for _ in range(3):
        for way, prefix in ways.items():
            times[way].append(run(prefix, notes))
    base = statistics.median(times["recorded"])
    for way, got in times.items():
        print(f"{way}: {statistics.median(got):.1f} us a step ({min(got):.1f} to {max(got):.1f}), {100 * (statistics.median(got) / base - 1):+.2f} % of recorded")
    for note in sorted(notes):
        print(note)


if __name__ == "__main__":
    main(*sys.argv[1:])
