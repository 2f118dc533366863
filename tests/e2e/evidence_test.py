#!/usr/bin/env python3
"""What proves a finding is read as words, and a kernel's occupancy begins with what it comes to."""
import re
import sys

from harness import ROOT, App

STORM = ROOT / "assets/traces/transformer_baseline.json.gz"
FEW_WARPS = ROOT / "tests/recordings/low_occupancy.json.gz"
KEY_OF_EVIDENCE = re.compile(r"[a-z]+(_[a-z]+)*_(us|share|total|count|bytes|util)")


def words_of(state):
    """The lines of a paragraph are texts of their own."""
    return " ".join(state["texts"])


def scrolled_to_the_end_of_the_card(app):
    """The evidence stands above the button at the end."""
    app.point_at(1450, 500)
    for _ in range(40):
        state = app.wait_until_still()
        if "Mute this rule" in state["texts"]:
            return state
        app.wheel(2)
    raise AssertionError("the card has no end")


def the_evidence_of_a_finding_is_words(program):
    with App(program, STORM) as app:
        app.wait_for(lambda s: s.get("findings") and s["findings"]["open"], "the findings are there")
        app.wait_until_still()
        seen = []
        for _ in range(3):
            app.key("n")
            state = app.wait_for(lambda s: s["findings"]["chosen"] not in [None, *seen] or len(seen) > 2, "N chooses a finding")
            seen.append(state["findings"]["chosen"])
            app.wait_for(lambda s: "What it usually means" in s["texts"], "its card opens")
            state = scrolled_to_the_end_of_the_card(app)
            keys = [text for text in state["texts"] if KEY_OF_EVIDENCE.fullmatch(text)]
            assert not keys, f"{seen[-1]} shows the names of its figures in the file: {keys}"
    with App(program, FEW_WARPS) as app:
        app.wait_for(lambda s: s.get("findings") and s["findings"]["open"], "the findings are there")
        app.wait_until_still()
        app.key("n")
        app.wait_for(lambda s: s["findings"]["chosen"] == "low_occupancy", "N chooses the finding")
        app.wait_for(lambda s: "12.1 % of warp slots, limited by registers." in words_of(s), "it says what the occupancy comes to, and why")


def occupancy_comes_headline_first(program):
    with App(program, FEW_WARPS) as app:
        app.wait_for(lambda s: s.get("findings"), "the rules are through")
        state = app.wait_until_still()
        box = max((box for box in state["slices"] if box["kind"] == "kernel"), key=lambda box: box["x1"] - box["x0"])
        app.click((box["x0"] + box["x1"]) / 2, (box["y0"] + box["y1"]) / 2)
        state = app.wait_for(lambda s: s["selection"] == box["name"] and "occupancy" in s["texts"], "a click shows its resources")
        assert sum(text.startswith("12.1 % of warp slots, limited by") for text in state["texts"]) == 1, state["texts"]


def main(program):
    for test in (the_evidence_of_a_finding_is_words, occupancy_comes_headline_first):
        test(program)
        print("ok:", test.__name__.replace("_", " "))


if __name__ == "__main__":
    main(sys.argv[1])
