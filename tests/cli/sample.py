"""How much of what there is to check is checked: a sample, or all of it with GAPSCOPE_NIGHTLY=1."""
import os
import random

NIGHTLY = os.environ.get("GAPSCOPE_NIGHTLY") == "1"


def some(items, count):
    """In their order. GAPSCOPE_SEED chooses others."""
    items = list(items)
    if NIGHTLY or len(items) <= count:
        return items
    chosen = random.Random(int(os.environ.get("GAPSCOPE_SEED", "1"))).sample(range(len(items)), count)
    return [items[i] for i in sorted(chosen)]
