#!/usr/bin/env python3
"""Writes a large memory snapshot, opcode by opcode as Python's pickler does, without holding it in memory.

    make_snapshot.py FILE [EVENTS [DEPTH]]        EVENTS allocations and frees (a free is two events) with stacks of DEPTH frames:
    3,400,000 and 70 make 5,000,000 events and about 2 GB
"""
import random
import struct
import sys


class Writer:
    """Values as bytes of protocol 4; texts are memoised the first time."""

    def __init__(self):
        self.memo, self.texts = 0, {}

    def memoize(self):
        self.memo += 1
        return b"\x94"

    def get(self, index):
        return b"h" + bytes([index]) if index < 256 else b"j" + struct.pack("<I", index)

    def text(self, text):
        if text in self.texts:
            return self.get(self.texts[text])
        self.texts[text] = self.memo
        raw = text.encode()
        return b"\x8c" + bytes([len(raw)]) + raw + self.memoize()

    def number(self, n):
        if 0 <= n < 256:
            return b"K" + bytes([n])
        if 0 <= n < 65536:
            return b"M" + struct.pack("<H", n)
        if -2**31 <= n < 2**31:
            return b"J" + struct.pack("<i", n)
        raw = n.to_bytes(n.bit_length() // 8 + 1, "little", signed=True)
        return b"\x8a" + bytes([len(raw)]) + raw

    def dict(self, pairs):
        return b"}" + self.memoize() + b"(" + b"".join(self.text(k) + (v() if callable(v) else v) for k, v in pairs) + b"u"


def main(path, events=3_400_000, depth=70):
    w, rng = Writer(), random.Random(1)
    with open(path, "wb", buffering=1 << 22) as out:
        out.write(b"\x80\x04}" + w.memoize() + b"(" + w.text("device_traces") + b"]" + w.memoize() + b"]" + w.memoize() + b"(")
        frames = []
        live, address, time = [], 1 << 47, 1_700_000_000_000_000
        for n in range(events):
            if n % 1000 == 0 and n:
                out.write(b"e(")
            if n < 3000 or rng.random() < 0.3:  # a new stack: its first frames are new while there are few
                def stack():
                    made = b"]" + w.memoize() + b"("
                    for level in range(depth):
                        if len(frames) < 3000:
                            at = w.memo
                            made += w.dict([("name", lambda: w.text(f"function_{len(frames) % 700}")), ("filename", lambda: w.text(f"/home/me/project/module_{len(frames) % 90}.py")), ("line", lambda: w.number(len(frames)))])
                            frames.append(at)
                        else:
                            made += w.get(frames[(n * 7 + level * 13) % 3000 if n % 50 else rng.randrange(3000)])
                    return made + b"e"
                chosen = stack
            else:
                def chosen():
                    made = b"]" + w.memoize() + b"("
                    first = n % 40
                    return made + b"".join(w.get(frames[(first + level * 13) % len(frames)]) for level in range(depth)) + b"e"
            time += 3
            if live and (len(live) > 5000 or rng.random() < 0.48):
                at, size = live.pop(rng.randrange(len(live)))
                actions = ("free_requested", "free_completed")
            else:
                at, size = address, rng.choice((512, 4096, 1 << 20, 1 << 22))
                address += size
                live.append((at, size))
                actions = ("alloc",)
            for action in actions:
                out.write(w.dict([("action", lambda: w.text(action)), ("addr", w.number(at)), ("size", w.number(size)), ("stream", w.number(0)), ("time_us", w.number(time)),
                                  ("compile_context", lambda: w.text("N/A")), ("user_metadata", lambda: b"\x8c\x00" + w.memoize()), ("frames", chosen)]))
        out.write(b"ea" + w.text("segments") + b"]" + w.memoize() + b"(")
        for at, size in live:
            block = w.dict
            def blocks():
                return b"]" + w.memoize() + block([("address", w.number(at)), ("size", w.number(size)), ("requested_size", w.number(size)), ("state", lambda: w.text("active_allocated")), ("frames", lambda: b"]" + w.memoize())]) + b"a"
            out.write(w.dict([("device", w.number(0)), ("address", w.number(at)), ("total_size", w.number(size)), ("allocated_size", w.number(size)), ("active_size", w.number(size)),
                              ("requested_size", w.number(size)), ("stream", w.number(0)), ("segment_type", lambda: w.text("large")), ("is_expandable", b"\x89"), ("blocks", blocks)]))
        out.write(b"eu.")


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
