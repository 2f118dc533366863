"""What counters cost: GeGLU training, in plain CUDA and in PyTorch, alone, recorded, and recorded with counters, in turn. Needs a
GPU, PyTorch, a gapscope with the recorder and gapscope-workload; run it by hand:

    python3 tests/gpu/counters_overhead.py build/gapscope build/gapscope-workload
"""
import re
import sys
import tempfile

from overhead import in_turn, output, python_time

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
WORKLOAD = ["geglu-mlp", "--size", "4096", "--train", "--warmup", "--steps", "1000", "--no-check"]


def workload_time(prefix, workload, notes):
    return float(re.search(r"steps of ([\d.]+) us in the median", output([*prefix, workload, *WORKLOAD], notes)).group(1))


def main(gapscope, workload):
    folder = tempfile.mkdtemp(prefix="gapscope-overhead-")
    recorded = [gapscope, "record", "--no-open", "-o", folder + "/r.json.gz"]
    prefixes = {"alone": [], "recorded": [*recorded, "--"], "with counters at 20 us": [*recorded, "--counters", "all", "--"],
                "with counters at 100 us": [*recorded, "--counters", "--counter-interval", "100us", "--"]}
    for title, run in (("plain CUDA", lambda prefix, notes: workload_time(prefix, workload, notes)),
                       ("PyTorch", lambda prefix, notes: python_time(prefix, TRAINING, notes))):
        notes = set()
        times = in_turn(3, {way: lambda prefix=prefix: run(prefix, notes) for way, prefix in prefixes.items()})
        base = times["recorded"][0]
        for way, (median, least, most) in times.items():
            print(f"{title}, {way}: {median:.1f} us a step ({least:.1f} to {most:.1f}), {100 * (median / base - 1):+.2f} % of recorded")
        for note in sorted(notes):
            print(" ", note)


if __name__ == "__main__":
    main(*sys.argv[1:])
